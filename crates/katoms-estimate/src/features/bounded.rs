//! A model whose coefficients have bounds.

use std::cell::RefCell;

use katoms::driver::{Event, Options};
use katoms::search::Effort;
use katoms::select::Bounds;
use katoms::set::ConstraintSet;
use katoms::space::SparseVec;
use katoms::{Error, Fit};

use super::{Estimate, Features, FitOptions};
use crate::watch::{Phase, Progress, Watch};

impl Features<'_> {
    pub(super) fn fit_within(
        &self,
        bounds: &Bounds,
        k: usize,
        how: &FitOptions,
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
        let set = self.preparation.set(&self.atoms.with_atoms(k)?, &self.loss)?;
        let (start, bounds) = (self.start(&f, how)?, self.units.scaled_bounds(bounds)?);
        let (phase, watch) = (Phase::Final { atoms: k }, RefCell::new(watch));
        let tell = |event: &Event, _: &SparseVec| {
            let progress = Progress { phase, done: 0, of: 1, event, ended: false, can_save: false };
            watch.borrow_mut().tell(&progress).flow()
        };
        let options = Options { stop: how.stop, ..Options::default() };
        let fit = Fit::new(&f, &set).bounds(f.operator().scaled_bounds(&bounds)?).options(options);
        let fit = fit.observe(tell).poll(|_| watch.borrow_mut().goes_on().flow());
        let outcome = match start {
            Some(start) => fit.start(start).run()?,
            None => fit.run()?,
        };
        self.estimate(&f, &set, outcome)
    }
}
