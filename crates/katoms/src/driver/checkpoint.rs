//! A running state as bytes: Ctrl-C loses no work.

use serde::{Deserialize, Serialize};

use super::run::{RunState, check};
use super::{Constraint, Options, Run, Status};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::Method;
use crate::objective::Objective;
use crate::operator::LinearOperator;

/// Goes up whenever the bytes change their meaning.
const VERSION: u32 = 4;
const MAGIC: [u8; 8] = *b"katoms\0s";

/// What a saved state belongs to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    magic: [u8; 8],
    version: u32,
    domain: String,
    outputs: usize,
    atoms: usize,
    /// Of all that the constraint says of itself: groups, a radius, a weight of a penalty.
    constraint: u64,
    /// Which method's state it is.
    method: String,
    /// f at the saved iterate, computed afresh: found again only on the same data, unless the iterate is zero.
    objective: f64,
}

impl<'a, A, L, S, M> Run<'a, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    /// What a state of this problem belongs to, at an iterate of this value.
    fn header(f: &Objective<A, L>, set: &S, method: &M, objective: f64) -> Header {
        Header {
            magic: MAGIC,
            version: VERSION,
            domain: format!("{:?}", f.operator().domain()),
            outputs: f.operator().n_outputs(),
            atoms: set.most_atoms(),
            constraint: checksum(format!("{set:?}").as_bytes()),
            method: method.label().into(),
            objective,
        }
    }

    /// f at the iterate, computed afresh.
    fn fresh_objective(&self) -> f64 {
        self.f.value(&self.f.at(self.iterate().clone()))
    }

    /// The state as bytes; [`Run::resume`] goes on from them with the same moves.
    ///
    /// # Errors
    /// When the state cannot be written down, which no state of this crate does.
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let header = Self::header(self.f, self.target, self.method, self.fresh_objective());
        let mut bytes = postcard::to_stdvec(&(header, &self.progress))
            .map_err(|e| Error::Checkpoint { reason: format!("it could not be encoded ({e})") })?;
        bytes.extend(checksum(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// A run that continues where [`Run::save`] was called. The method, the stages and the stop rules are the
    /// caller's: a longer time limit is a reason to resume. A run that was saved after it converged stays
    /// ended.
    ///
    /// # Errors
    /// When the bytes are damaged, of another version or of another problem.
    pub fn resume(
        f: &'a Objective<A, L>,
        set: &'a S,
        method: &'a M,
        options: Options,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let refused = |reason: String| Error::Checkpoint { reason };
        let damaged = |e: postcard::Error| refused(format!("the bytes are damaged ({e})"));
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
        if checksum(body).to_le_bytes() != sum {
            let what =
                if bytes.starts_with(&MAGIC) { "are damaged or cut off" } else { "are damaged, or no saved state" };
            return Err(refused(format!("the bytes {what}")));
        }
        let (header, rest) = postcard::take_from_bytes::<Header>(body).map_err(damaged)?;
        let (magic, version) = (header.magic, header.version);
        if magic != MAGIC || version != VERSION {
            return Err(refused(format!(
                "it was saved by another version of katoms, in format {version}; this one reads format {VERSION}"
            )));
        }
        header.check(&Self::header(f, set, method, header.objective))?;
        let mut progress: RunState<M::State> = postcard::from_bytes(rest).map_err(damaged)?;
        if progress.stage > options.stages.before.len() {
            return Err(refused("it was saved with more stages than are now asked for".into()));
        }
        // A cap that ended the saved run is not this run's.
        progress.status = progress.status.filter(|status| matches!(status, Status::Converged | Status::Diverged));
        check(f, set, &options, method.iterate(&progress.state).point())?;
        let run = Self::standing(f, set, method, options, progress)?;
        header.check(&Self::header(f, set, method, run.fresh_objective()))?;
        Ok(run)
    }
}

impl Header {
    /// Refuses a problem that is not the one that was saved.
    fn check(&self, now: &Self) -> Result<(), Error> {
        let saved = self;
        let reason = if saved.method != now.method {
            format!("it was saved by the method {}, and now the method is {}", saved.method, now.method)
        } else if (saved.outputs, &saved.domain) != (now.outputs, &now.domain) {
            format!(
                "it was saved for other data, of {} rows and {} columns; now there are {} and {}",
                saved.outputs, saved.domain, now.outputs, now.domain
            )
        } else if saved.atoms != now.atoms {
            format!("it was saved for k = {}, and now k is {}", saved.atoms, now.atoms)
        } else if saved.constraint != now.constraint {
            "it was saved for other groups, or another set or penalty".into()
        } else if saved.objective.to_bits() != now.objective.to_bits() {
            let (then, now) = (saved.objective, now.objective);
            format!("it was saved for other data: the objective at the saved point was {then}, and is {now}")
        } else {
            return Ok(());
        };
        Err(Error::Checkpoint { reason })
    }
}

/// FNV-1a: enough to tell damage, not a safeguard against intent.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
