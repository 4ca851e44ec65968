//! A model of each size, judged by criteria or on rows held out.

use katoms::Error;
use katoms::loss::Loss;
use katoms::select::{
    Criterion, CrossValidation, Folds, GoOn, Model, Path, Score, Validated, cross_validate_while, path,
    path_within_bounds,
};
use katoms::set::{Always, AnyAtoms, CoordinateSet};
use katoms::space::SparseVec;

use super::{Features, Ready, Trail, TrailModel};
use crate::watch::Watch;

impl<'a> Features<'a> {
    /// A model of each size, and what the criteria say. Without sizes, those from 0 on while this criterion prefers the
    /// larger ones, up to what it [can be trusted with](Features::trusted_size). The watch hears how many sizes are done.
    ///
    /// # Errors
    /// When sizes do not rise or are out of range.
    pub fn path(&self, sizes: Option<&[usize]>, criterion: Criterion, watch: &mut dyn Watch) -> Result<Trail, Error> {
        if let Some(sizes) = sizes {
            return self.path_of(sizes, watch);
        }
        let which = Trail::CRITERIA.iter().position(|(_, one)| *one == criterion).unwrap_or(0);
        self.growing(
            self.trusted_size(),
            |sizes| self.path_of(sizes, watch),
            |trail| (trail.best[which], trail.complete),
            |before, now| {
                let (passes, seconds) = (before.passes + now.passes, before.seconds + now.seconds);
                // What was stopped on the way to more sizes has fewer than there were.
                let trail = if now.complete { now } else { Trail { complete: false, ..before } };
                Trail { passes, seconds, ..trail }
            },
        )
    }

    /// A model of each of these sizes; that without atoms in any case.
    fn path_of(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<Trail, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        let (f, set) = (self.objective()?, self.preparation.set(&self.atoms)?);
        let asked_for_null = sizes.first() == Some(&0);
        let with_null = if asked_for_null { sizes.to_vec() } else { [&[0], sizes].concat() };
        watch.expect(sizes.len());
        let found = self.path_in(&f, &set, &with_null, &mut |done| {
            watch.counted(done.saturating_sub(usize::from(!asked_for_null))).flow()
        })?;
        let candidates = Some(self.candidates());
        let values = Trail::CRITERIA.map(|(_, criterion)| found.criterion(criterion, candidates));
        let values = values.into_iter().collect::<Result<Vec<_>, _>>()?;
        let one = |(at, model): (usize, &Model<SparseVec>)| {
            let (coefficients, intercept) = self.to_original(&f, &model.point);
            TrailModel {
                atoms: model.atoms,
                chosen: set.chosen(&model.point),
                standardized: coefficients.map(|j, v| v * self.deviation(j)),
                coefficients,
                intercept,
                objective: model.objective,
                loss: model.loss,
                criteria: [0, 1, 2, 3].map(|c: usize| values[c][at]),
                status: model.status,
            }
        };
        let mut models: Vec<TrailModel> = found.models.iter().enumerate().map(one).collect();
        let null = models.first().cloned().ok_or(Error::Empty { what: "the path" })?;
        models.drain(..usize::from(!asked_for_null));
        let best = (0..Trail::CRITERIA.len()).map(|c| least(&models, c)).collect();
        let (complete, passes, seconds) = (found.complete, found.passes, found.seconds);
        Ok(Trail { models, null, complete, passes, seconds, null_loss: self.null_loss(), best })
    }

    /// The path in the objective's own units, within bounds where there are some.
    pub(super) fn path_in(
        &self,
        f: &Ready<'a>,
        set: &Always<Always<AnyAtoms>>,
        sizes: &[usize],
        go_on: &mut GoOn<'_>,
    ) -> Result<Path<SparseVec>, Error> {
        match &self.bounds {
            Some(bounds) => path_within_bounds(f, set, &f.operator().scaled_bounds(bounds)?, sizes, go_on),
            None => path(f, set, sizes.iter().copied(), go_on),
        }
    }

    /// Every size on rows held out. Without sizes, those from 0 on while the held-out loss falls, as far as the rows of
    /// every fold carry them. The watch hears what [`cross_validate_while`] tells.
    ///
    /// # Errors
    /// As [`cross_validate_while`].
    pub fn cross_validate(
        &self,
        sizes: Option<&[usize]>,
        ridges: &[f64],
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        if let Some(sizes) = sizes {
            return self.validate(sizes, ridges, folds, watch);
        }
        self.growing(
            self.carried_in_every_fold(folds),
            |sizes| self.validate(sizes, ridges, folds, watch),
            |validated| (validated.min().atoms, validated.complete),
            |before, now| {
                let (passes, seconds) = (before.passes + now.passes, before.seconds + now.seconds);
                let validated = if now.complete { now } else { Validated { complete: false, ..before } };
                Validated { passes, seconds, ..validated }
            },
        )
    }

    fn validate(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        let options = CrossValidation {
            ridges: ridges.to_vec(),
            standardize: self.preparation.standardize,
            intercept: self.preparation.intercept,
            bounds: self.bounds.clone(),
            ..CrossValidation::new(sizes.iter().copied())
        };
        // For least squares sizes are counted, within bounds for each ridge, otherwise the fits of all folds.
        let fits = match (&self.bounds, self.loss.is_quadratic()) {
            (Some(_), _) => ridges.len(),
            (None, true) => 1,
            (None, false) => ridges.len() * (folds.count() + 1),
        };
        watch.expect(sizes.len() * fits);
        cross_validate_while(self.design, &self.loss, &self.atoms, folds, &options, &mut |done| {
            watch.counted(done).flow()
        })
    }

    /// Predictions for rows by the models of a choice that have not seen them: (row, linear prediction).
    pub fn held_out(&self, score: &Score, folds: &Folds) -> Vec<(usize, f64)> {
        score.held_out(self.design, folds)
    }
}

/// The size that a criterion prefers; of equals the smaller one.
fn least(models: &[TrailModel], criterion: usize) -> usize {
    let better = |a: &'_ TrailModel, b: &'_ TrailModel| b.criteria[criterion] < a.criteria[criterion];
    let best = models.iter().reduce(|a, b| if better(a, b) { b } else { a });
    best.map_or(0, |model| model.atoms)
}
