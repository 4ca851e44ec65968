//! The model without atoms.

use katoms::Error;
use katoms::driver::{Outcome, Trace};

use super::{Estimate, Features, FitOptions};

impl Features<'_> {
    pub(super) fn null_model(&self, how: &FitOptions) -> Result<Estimate, Error> {
        if how.resume.is_some() {
            let needs = "no saved state, since it is not searched for: leave the state out";
            return Err(Error::Unsuitable { method: "a model without atoms", needs });
        }
        let (f, set) = (self.objective()?, self.preparation.set(&self.atoms, &self.loss)?);
        let found = self.path_in(&f, &set, &[0], &mut |_| std::ops::ControlFlow::Continue(()))?;
        let (passes, columns, seconds) = (found.passes, found.columns, found.seconds);
        let model = found.models.into_iter().next().ok_or(Error::Empty { what: "the path" })?;
        let outcome = Outcome {
            point: model.point,
            status: model.status,
            iterations: 0,
            passes,
            reads: passes as f64,
            columns,
            seconds,
            objective: model.objective,
            quality: None,
            attempts: Vec::new(),
            trace: Trace::new(),
        };
        self.estimate(&f, &set, outcome)
    }
}
