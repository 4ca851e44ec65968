//! Jobs that go on from saved bytes.

use katoms::{Error, contained};

/// What a job gives. The parts of a saved state may not fit together though its checksum is right; a method meets that
/// with a panic, which becomes an error where the job goes on from such a state.
pub(crate) fn contained_if_resumed<T>(
    resume: Option<&[u8]>,
    job: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    if resume.is_none() {
        return job();
    }
    let refused = |panic| Err(Error::Checkpoint { reason: format!("its parts do not fit together ({panic})") });
    contained(job).unwrap_or_else(refused)
}
