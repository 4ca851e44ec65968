//! A running state as bytes: Ctrl-C loses no work.

use serde::{Deserialize, Serialize};

use super::run::{Standing, check};
use super::{Constraint, Options, Run, Status};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::Method;
use crate::objective::Objective;
use crate::operator::LinearOperator;

/// Goes up whenever the bytes change their meaning.
const VERSION: u32 = 3;
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
    fn header(&self) -> Header {
        Header {
            magic: MAGIC,
            version: VERSION,
            domain: format!("{:?}", self.f.operator().domain()),
            outputs: self.f.operator().n_outputs(),
            atoms: self.target.most_atoms(),
            constraint: checksum(format!("{:?}", self.target).as_bytes()),
            method: self.method.label().into(),
            objective: self.f.value(&self.f.at(self.iterate().clone())),
        }
    }

    /// The state as bytes; [`Run::resume`] goes on from them with the same moves.
    ///
    /// # Errors
    /// When the state cannot be written down, which no state of this crate does.
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = postcard::to_stdvec(&(self.header(), &self.progress))
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
            return Err(refused("the bytes are damaged, cut off or no saved state".into()));
        }
        let (header, rest) = postcard::take_from_bytes::<Header>(body).map_err(damaged)?;
        let (magic, version) = (header.magic, header.version);
        if magic != MAGIC || version != VERSION {
            return Err(refused(format!("it is of version {version}, this program reads version {VERSION}")));
        }
        if header.method != method.label() {
            let (then, now) = (&header.method, method.label());
            return Err(refused(format!("it was saved by the method {then}, now the method is {now}")));
        }
        let mut progress: Standing<M::State> = postcard::from_bytes(rest).map_err(damaged)?;
        if progress.stage > options.stages.before.len() {
            return Err(refused("it was saved with more stages than are now asked for".into()));
        }
        // A cap that ended the saved run is not this run's.
        progress.status = progress.status.filter(|status| matches!(status, Status::Converged | Status::Diverged));
        check(f, set, &options, method.iterate(&progress.state).point())?;
        let run = Self::standing(f, set, method, options, progress)?;
        run.check_header(&header)?;
        Ok(run)
    }

    fn check_header(&self, saved: &Header) -> Result<(), Error> {
        let now = self.header();
        let differs = |what: &str, then: String, now: String| {
            Err(Error::Checkpoint {
                reason: format!("it belongs to another problem: {what} was {then}, now it is {now}"),
            })
        };
        if saved.domain != now.domain {
            return differs("the design's domain", saved.domain.clone(), now.domain);
        }
        if saved.outputs != now.outputs {
            return differs("the number of rows", saved.outputs.to_string(), now.outputs.to_string());
        }
        if saved.atoms != now.atoms {
            return differs("k", saved.atoms.to_string(), now.atoms.to_string());
        }
        if saved.constraint != now.constraint {
            let reason = "it belongs to another problem: the set or the penalty was another one";
            return Err(Error::Checkpoint { reason: reason.into() });
        }
        if saved.objective != now.objective {
            return differs("f at the saved point", saved.objective.to_string(), now.objective.to_string());
        }
        Ok(())
    }
}

/// FNV-1a: enough to tell damage, not a safeguard against intent.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
