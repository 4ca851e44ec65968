//! A model of each size, judged by criteria or on rows held out.

use katoms::search::GoOn;
use katoms::select::{Choice, Criterion, CrossValidation, Folds, Model, Path, Score, Validated};
use katoms::set::{Always, AnyAtoms};
use katoms::space::SparseVec;
use katoms::{Error, Fit};

use super::parts::Parts;
use super::sizes::sizes_between;
use super::{Features, PathModel, PathModels, Ready};
use crate::watch::Watch;

impl Features<'_> {
    /// A model of each size, and what the criteria say. Without sizes, those from 0 on while this criterion prefers the
    /// larger ones, up to what it [can be trusted with](Features::trusted_size). The watch hears how many sizes are done.
    ///
    /// # Errors
    /// When sizes do not rise or are out of range.
    pub fn path(
        &self,
        sizes: Option<&[usize]>,
        criterion: Criterion,
        watch: &mut dyn Watch,
    ) -> Result<PathModels, Error> {
        if self.estimated {
            return self.settled()?.path(sizes, criterion, watch);
        }
        if let Some(sizes) = sizes {
            return self.path_of(sizes, watch);
        }
        let which = PathModels::CRITERIA.iter().position(|(_, one)| *one == criterion).unwrap_or(0);
        Self::growing(
            |before| self.sizes_of_criterion(self.trusted_size(), before),
            |sizes| self.path_of(sizes, watch),
            |path| (path.best[which], path.complete),
            |before, now| {
                let (passes, seconds) = (before.passes + now.passes, before.seconds + now.seconds);
                // What was stopped on the way to more sizes has fewer than there were.
                let path = if now.complete { now } else { PathModels { complete: false, ..before } };
                PathModels { passes, seconds, ..path }
            },
        )
    }

    /// A model of each of these sizes; that without atoms in any case.
    fn path_of(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<PathModels, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        if self.inside.is_some() {
            return self.path_inside(sizes, watch);
        }
        let (f, set) = (self.objective()?, self.preparation.set(&self.atoms, &self.loss)?);
        let asked_for_null = sizes.first() == Some(&0);
        let with_null = if asked_for_null { sizes.to_vec() } else { [&[0], sizes].concat() };
        watch.expect(sizes.len());
        let mut found = self.path_in(&f, &set, &with_null, &mut |done| {
            watch.counted(done.saturating_sub(usize::from(!asked_for_null))).flow()
        })?;
        found.models.iter_mut().for_each(|model| model.deviance = self.units.deviance(&self.loss, model.deviance));
        let candidates = Some(self.candidates());
        let values = PathModels::CRITERIA.map(|(_, criterion)| found.criterion(criterion, candidates));
        let values = values.into_iter().collect::<Result<Vec<_>, _>>()?;
        let one = |(at, model): (usize, &Model<SparseVec>)| {
            let Parts { chosen, coefficients, intercepts } = self.parts(&f, &set, &model.point)?;
            let (coefficients, intercepts) = self.scored(&coefficients, &intercepts)?;
            Ok(PathModel {
                atoms: model.atoms,
                chosen,
                standardized: self.standardized(&coefficients),
                coefficients: self.units.coefficients(&coefficients)?,
                intercepts: self.units.levels(&intercepts),
                objective: self.units.loss(model.objective),
                loss: self.units.loss(model.loss),
                criteria: [0, 1, 2, 3].map(|c: usize| values[c][at]),
                status: model.status,
            })
        };
        let mut models: Vec<PathModel> = found.models.iter().enumerate().map(one).collect::<Result<_, Error>>()?;
        let null = models.first().cloned().ok_or(Error::Empty { what: "the path" })?;
        models.drain(..usize::from(!asked_for_null));
        let best = (0..PathModels::CRITERIA.len()).map(|c| least(&models, c)).collect();
        let (complete, passes, seconds) = (found.complete, found.passes, found.seconds);
        Ok(PathModels { models, null, complete, passes, seconds, null_loss: self.null_loss(), best })
    }

    pub(super) fn path_in(
        &self,
        f: &Ready<'_>,
        set: &Always<AnyAtoms>,
        sizes: &[usize],
        go_on: &mut GoOn<'_>,
    ) -> Result<Path<SparseVec>, Error> {
        let fit = Fit::new(f, set).poll(go_on);
        match self.scaled_bounds()? {
            Some(bounds) => fit.bounds(f.operator().scaled_bounds(&bounds)?).path(sizes.iter().copied()),
            None => fit.path(sizes.iter().copied()),
        }
    }

    /// Every size and ridge on rows held out. Without sizes, those on a [geometric scale](Features::sizes_after) from 0 on,
    /// and between the choice among them and its neighbours under the ridge that is chosen. Without ridges, [some for the
    /// scale of the data](Features::ridges). The watch hears how many sizes are done.
    ///
    /// # Errors
    /// As [`cross_validate`](katoms::select::cross_validate).
    pub fn cross_validate(
        &self,
        sizes: Option<&[usize]>,
        ridges: Option<&[f64]>,
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        if self.estimated {
            return self.settled()?.cross_validate(sizes, ridges, folds, watch);
        }
        let ridges = ridges.map_or_else(|| self.ridges(), <[f64]>::to_vec);
        if let Some(sizes) = sizes {
            return self.validate(sizes, &ridges, folds, watch);
        }
        let carried = self.carried_in_every_fold(folds);
        let found = Self::growing(
            |before| self.sizes_after(carried, before),
            |sizes| self.validate(sizes, &ridges, folds, watch),
            |validated| (validated.min().atoms, validated.complete),
            |before, now| {
                let (passes, seconds) = (before.passes + now.passes, before.seconds + now.seconds);
                let validated = if now.complete { now } else { Validated { complete: false, ..before } };
                Validated { passes, seconds, ..validated }
            },
        )?;
        let Choice { atoms, ridge, .. } = found.min();
        let between = sizes_between(&found.sizes(), atoms);
        if !found.complete || between.is_empty() {
            return Ok(found);
        }
        Ok(found.with(self.validate(&between, &[ridge], folds, watch)?))
    }

    fn validate(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        if let Some(inside) = &self.inside {
            return self.validate_inside(inside, (sizes, ridges), folds, watch);
        }
        let options = CrossValidation {
            ridges: ridges.iter().map(|&ridge| self.units.scaled_ridge(ridge)).collect::<Result<_, _>>()?,
            standardize: self.preparation.standardize,
            intercept: self.preparation.intercept,
            bounds: self.scaled_bounds()?,
            ..CrossValidation::new(sizes.iter().copied())
        };
        // Sizes are counted, within bounds for each ridge.
        watch.expect(sizes.len() * if self.bounds.is_some() { ridges.len() } else { 1 });
        let mut poll = |done| watch.counted(done).flow();
        let mut found = options.poll(&mut poll).run(self.computed_with(), &self.loss, &self.atoms, folds)?;
        for score in found.scores.iter_mut().chain([&mut found.null]) {
            for model in &mut score.models {
                (model.coefficients, model.intercepts) = self.scored(&model.coefficients, &model.intercepts)?;
            }
            self.units.rescale_score(score)?;
        }
        for model in &mut found.models {
            let (coefficients, intercepts) = self.scored(&model.coefficients, &model.intercepts)?;
            model.coefficients = self.units.coefficients(&coefficients)?;
            (model.intercepts, model.loss) = (self.units.levels(&intercepts), self.units.loss(model.loss));
            model.choice.ridge = self.units.ridge(model.choice.ridge);
        }
        Ok(found)
    }

    /// Predictions for rows by the models of a choice that have not seen them: (row, linear prediction of each output).
    pub fn held_out(&self, score: &Score, folds: &Folds) -> Vec<(usize, Vec<f64>)> {
        score.held_out(self.design, folds)
    }
}

/// The size that a criterion prefers; of equals the smaller one.
pub(super) fn least(models: &[PathModel], criterion: usize) -> usize {
    let better = |a: &'_ PathModel, b: &'_ PathModel| b.criteria[criterion] < a.criteria[criterion];
    let best = models.iter().reduce(|a, b| if better(a, b) { b } else { a });
    best.map_or(0, |model| model.atoms)
}
