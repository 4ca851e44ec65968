//! A model whose coefficients have bounds.

use std::cell::RefCell;

use katoms::Error;
use katoms::search::Effort;
use katoms::select::{Bounded, Bounds, search_within_bounds};
use katoms::set::ConstraintSet;

use super::{Estimate, Features, How};
use crate::watch::{Phase, Progress, Watch};

impl Features<'_> {
    /// The model of k atoms within bounds.
    pub(super) fn fit_within(
        &self,
        bounds: &Bounds,
        k: usize,
        how: &How,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        let unsuitable = |needs| Err(Error::Unsuitable { method: "a fit within bounds", needs });
        if how.method.is_some() {
            return unsuitable("its own search: leave the method out, or the bounds");
        }
        if how.effort != Effort::Default {
            return unsuitable("its own search: leave the effort out, or the bounds");
        }
        if how.resume.is_some() {
            return unsuitable("no saved state: leave it out, or the bounds; a start may be given in its place");
        }
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(k)?)?;
        let (start, bounds) = (self.start(&f, how)?, self.units.scaled_bounds(bounds)?);
        let bounded = Bounded { bounds: f.operator().scaled_bounds(&bounds)?, stop: how.stop, start };
        let (phase, watch) = (Phase::Final { atoms: k }, RefCell::new(watch));
        let outcome = search_within_bounds(
            &f,
            &set,
            &bounded,
            |event, _| {
                let progress = Progress { phase, done: 0, of: 1, event, ended: false, can_save: false };
                watch.borrow_mut().tell(&progress).flow()
            },
            &mut |_| watch.borrow_mut().goes_on().flow(),
        )?;
        self.estimate(&f, &set, outcome)
    }
}
