//! A running state as bytes: Ctrl-C loses no work.

use serde::{Deserialize, Serialize};

use super::run::Standing;
use super::{Options, Run};
use crate::error::Error;
use crate::loss::Loss;
use crate::method::Method;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::set::Expand;

/// Goes up whenever the bytes change their meaning.
const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"katoms\0s";

/// What a saved state belongs to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    magic: [u8; 8],
    version: u32,
    domain: String,
    outputs: usize,
    atoms: usize,
    /// f at the saved iterate, to be found again: the data are the same.
    objective: f64,
}

impl<'a, A, L, S, M> Run<'a, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Expand<A::Covector, Point = A::Point>,
    M: Method<A, L, S>,
{
    fn header(&self) -> Header {
        Header {
            magic: MAGIC,
            version: VERSION,
            domain: format!("{:?}", self.f.operator().domain()),
            outputs: self.f.operator().n_outputs(),
            atoms: self.target.atoms(),
            objective: self.f.value(self.method.iterate(&self.progress.state)),
        }
    }

    /// The state as bytes; [`Run::resume`] goes on from them with the same moves.
    ///
    /// # Errors
    /// When the state cannot be written down, which no state of this crate does.
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_stdvec(&(self.header(), &self.progress))
            .map_err(|e| Error::Checkpoint { reason: format!("it could not be encoded ({e})") })
    }

    /// A run that continues where [`Run::save`] was called. The method, the stages and the stop rules are the
    /// caller's: a longer time limit is a reason to resume.
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
        let damaged = |e: postcard::Error| Error::Checkpoint { reason: format!("the bytes are damaged ({e})") };
        let (header, rest) = postcard::take_from_bytes::<Header>(bytes).map_err(damaged)?;
        let (magic, version) = (header.magic, header.version);
        if magic != MAGIC || version != VERSION {
            let reason = format!("it is of version {version}, this program reads version {VERSION}");
            return Err(Error::Checkpoint { reason });
        }
        let progress: Standing<M::State> = postcard::from_bytes(rest).map_err(damaged)?;
        let mut run = Self::new(f, set, method, options)?;
        if progress.stage > run.options.stages.before.len() {
            return Err(Error::Checkpoint { reason: "it was saved with more stages than are now asked for".into() });
        }
        run.set = match run.options.stages.before.get(progress.stage) {
            Some(&k) => set.with_atoms(k)?,
            None => set.clone(),
        };
        run.progress = progress;
        run.check_header(&header)?;
        // A cap that ended the saved run is not this run's.
        run.progress.status = None;
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
        if saved.objective != now.objective {
            return differs("f at the saved point", saved.objective.to_string(), now.objective.to_string());
        }
        Ok(())
    }
}
