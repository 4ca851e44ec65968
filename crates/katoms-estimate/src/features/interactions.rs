//! Products of features, two by two, that come into a model beside their factors.
//!
//! There are too many products to store: 12 million for 5,000 features. So the search works in a pool of features and
//! products that is small, and all others are looked at from the models that it finds: those that promise most join it.

mod heredity;
mod labelled;
mod pool;
mod product;

use std::collections::BTreeSet;
use std::time::Instant;

use katoms::driver::Quality;
use katoms::loss::{Loss, Split};
use katoms::operator::LinearOperator;
use katoms::search::{Effort, GoOn};
use katoms::select::{Choice, Criterion, FoldModel, Folds, ModelSize, Validated};
use katoms::set::CoordinateSet;
use katoms::space::SparseVec;
use katoms::{Error, Stop};

pub use heredity::Heredity;
pub use product::{Product, WithProducts};

use self::labelled::Labelled;
use self::pool::{Search, Small};
use super::by_splits::{Anew, validated_by_splits};
use super::path::least;
use super::trained::weight;
use super::{Edge, Estimate, Features, FitOptions, PathModel, PathModels, Trained};
use crate::budget::Budget;
use crate::scale::estimated_at;
use crate::watch::{Unsaved, Unwatched, Watch};

/// How often a parameter of the loss is estimated anew beside the products.
const ESTIMATES: usize = 3;

/// The search for models of k features and products of them.
#[derive(Debug, Clone, Copy)]
pub struct Interactions<'f, 'a> {
    features: &'f Features<'a>,
    heredity: Heredity,
}

impl<'a> Interactions<'_, 'a> {
    /// The number of features, or groups, and products to choose from.
    pub fn candidates(&self) -> usize {
        let factors = self.features.candidates() + self.always().len();
        self.features.candidates() + factors * factors.saturating_sub(1) / 2
    }

    /// The columns that every model has.
    fn always(&self) -> Vec<usize> {
        let columns = self.features.design.domain();
        let kept: BTreeSet<usize> = self.features.atoms.kept().indices().iter().map(|j| j % columns).collect();
        kept.into_iter().collect()
    }

    /// The largest size up to which a criterion can be trusted, for so many candidates.
    pub fn trusted_size(&self) -> usize {
        self.features.trusted_among(self.candidates())
    }

    /// As [`Features::edge_of_criterion`].
    pub fn edge_of_criterion(&self, sizes: &[usize], chosen: usize) -> Option<Edge> {
        self.features.edge_among(sizes, chosen, self.trusted_size())
    }

    /// The model of k features and products.
    ///
    /// # Errors
    /// As [`Features::fit`].
    pub fn fit(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<WithProducts<Estimate>, Error> {
        if how.method.is_some() || how.resume.is_some() {
            let needs = "its own search: leave the method or the saved state out";
            return Err(Error::Unsuitable { method: "a model with interactions", needs });
        }
        self.check_size(k)?;
        let (budget, watch, clock) = (Budget::new(&how.stop)?, &mut Unsaved::new(watch), Instant::now());
        let (mut now, mut passes) = (Features { estimated: false, ..self.features.clone() }, 0);
        for rest in (0..if self.features.estimated { ESTIMATES } else { 1 }).rev() {
            let here = Interactions { features: &now, ..*self };
            let mut search = here.search(None)?;
            let asked = (how.effort, budget.left(how.stop, 0.0));
            let model = search.model(k, now.preparation.ridge, None, asked, watch)?;
            let labelled = model.labelled(&search);
            let linear = labelled.predictions(&now, (0..now.loss.n_rows()).collect())?;
            let (models, products) = here.joined(vec![labelled]);
            let start = models.into_iter().next();
            passes += search.passes;
            if rest > 0 && !watch.stopped {
                now.loss = estimated_at(&now.loss, &linear)?;
                continue;
            }
            // The answer is that of the whole design with these products: it is compared with all features.
            let again = FitOptions { start, stop: budget.left(how.stop, 0.0), ..how.clone() };
            let whole = Features { estimated: self.features.estimated, ..now.clone() };
            let whole = Interactions { features: &whole, ..*self };
            let mut found = whole.fit_among(&products, k, &again, watch)?;
            found.outcome.passes += passes;
            found.outcome.reads += passes as f64;
            found.outcome.seconds = clock.elapsed().as_secs_f64();
            return Ok(WithProducts { found, products });
        }
        Err(Error::Empty { what: "the list of features" })
    }

    /// The model of k features and of these products alone. A start has coefficients for the columns of both.
    ///
    /// # Errors
    /// As [`Features::fit`].
    pub fn fit_among(
        &self,
        products: &[Product],
        k: usize,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        let design = Product::beside(products, self.features.design.clone())?;
        let whole = self.features.extended(&design, products, self.heredity)?;
        let mut found = whole.fit(k.min(whole.candidates()), how, watch)?;
        // Only some of the products were compared.
        found.outcome.quality = found.outcome.quality.map(|quality| Quality { exhaustive: false, ..quality });
        Ok(found)
    }

    /// As [`Features::path`].
    ///
    /// # Errors
    /// As there.
    pub fn path(
        &self,
        sizes: Option<&[usize]>,
        criterion: Criterion,
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<PathModels>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        if let Some(sizes) = sizes {
            return here.path_of(sizes, watch);
        }
        let which = PathModels::CRITERIA.iter().position(|(_, one)| *one == criterion).unwrap_or(0);
        Features::growing(
            |before| here.features.sizes_of_criterion(here.trusted_size(), before),
            |sizes| here.path_of(sizes, watch),
            |path| (path.found.best[which], path.found.complete),
            |before, now| if now.found.complete { now } else { before },
        )
    }

    fn path_of(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<WithProducts<PathModels>, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        watch.expect(sizes.len());
        let clock = Instant::now();
        let mut search = self.search(None)?;
        let mut found: Vec<(usize, Small)> = Vec::new();
        let ridge = self.features.preparation.ridge;
        let rest: Vec<usize> = sizes.iter().copied().filter(|&k| k > 0).collect();
        for (done, &k) in [0].iter().chain(&rest).enumerate() {
            let before = found.last().map(|(_, small)| small.clone());
            let how = (Effort::Default, Stop::default());
            found.push((k, search.model(k, ridge, before, how, &mut Unwatched)?));
            let asked = done + usize::from(sizes.first() == Some(&0));
            if watch.counted(asked).flow().is_break() {
                break;
            }
        }
        let labelled = found.iter().map(|(_, small)| small.labelled(&search)).collect();
        let (models, products) = self.joined(labelled);
        let passes = search.passes;
        let columns = self.features.design.domain() + products.iter().map(|p| p.factors.len()).sum::<usize>();
        let one = |((k, small), (coefficients, intercepts)): (&(usize, Small), (SparseVec, Vec<f64>))| {
            let standardized = small.standardized(&search, &products, columns);
            self.of_path(*k, small, (coefficients, standardized, intercepts), &search, &products)
        };
        let mut models = found.iter().zip(models).map(one).collect::<Result<Vec<PathModel>, _>>()?;
        let complete = models.len() == rest.len() + 1;
        let null = models[0].clone();
        models.drain(..usize::from(sizes.first() != Some(&0)));
        let found = PathModels {
            best: (0..PathModels::CRITERIA.len()).map(|criterion| least(&models, criterion)).collect(),
            complete,
            passes,
            seconds: clock.elapsed().as_secs_f64(),
            null_loss: self.features.null_loss(),
            models,
            null,
        };
        Ok(WithProducts { found, products })
    }

    /// A model with what the criteria say: it was chosen among all features and products.
    fn of_path(
        &self,
        k: usize,
        small: &Small,
        (coefficients, standardized, intercepts): (SparseVec, SparseVec, Vec<f64>),
        search: &Search<'_, '_>,
        products: &[Product],
    ) -> Result<PathModel, Error> {
        let (estimate, loss) = (&small.estimate, &self.features.loss);
        let constants = usize::from(self.features.preparation.intercept) * loss.outputs_per_row();
        let used: BTreeSet<usize> = estimate.coefficients().indices().iter().map(|at| at % small.columns).collect();
        let size = ModelSize {
            parameters: used.len() * loss.outputs_per_row() + constants,
            atoms: estimate.chosen.len(),
            candidates: self.candidates(),
            samples: loss.observations(),
        };
        // A perfect fit is one up to rounding.
        let deviance = loss.deviance(estimate.loss.max(f64::EPSILON.powi(2) * self.features.null_loss()));
        let mut criteria = [0.0; 4];
        for (value, (_, criterion)) in criteria.iter_mut().zip(PathModels::CRITERIA) {
            *value = criterion.value(deviance, size)?;
        }
        Ok(PathModel {
            atoms: k,
            chosen: search.numbers(&estimate.chosen, products),
            coefficients,
            standardized,
            intercepts,
            objective: estimate.outcome.objective,
            loss: estimate.loss,
            criteria,
            status: estimate.outcome.status,
        })
    }

    /// As [`Features::train`].
    ///
    /// # Errors
    /// As there.
    pub fn train(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        rows: (&[usize], &[usize]),
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<Trained>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        let clock = Instant::now();
        let anew = here.trained_anew(sizes, ridges, rows, &mut |done| watch.counted(done).flow())?;
        let (models, products) = here.joined(anew.models);
        let model = |(coefficients, intercepts)| FoldModel { coefficients, intercepts };
        let found = Trained {
            choices: anew.choices,
            models: models.into_iter().map(model).collect(),
            losses: anew.losses,
            complete: anew.complete,
            passes: anew.passes,
            seconds: clock.elapsed().as_secs_f64(),
        };
        Ok(WithProducts { found, products })
    }

    /// As [`Features::cross_validate`]: the pool of every fold is its own.
    ///
    /// # Errors
    /// As there.
    pub fn cross_validate(
        &self,
        sizes: Option<&[usize]>,
        ridges: Option<&[f64]>,
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<Validated>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        let ridges = ridges.map_or_else(|| here.features.ridges(), <[f64]>::to_vec);
        let validated = |sizes: &[usize], watch: &mut dyn Watch| {
            sizes.iter().try_for_each(|&k| here.check_size(k))?;
            let mut train = |sizes: &[usize], rows: (&[usize], &[usize]), go_on: &mut GoOn<'_>| {
                here.trained_anew(sizes, &ridges, rows, go_on)
            };
            let joined = |models: Vec<Labelled>| here.joined(models);
            validated_by_splits((sizes, &ridges), folds, &mut train, &joined, watch)
        };
        if let Some(sizes) = sizes {
            return validated(sizes, watch);
        }
        let carried = here.features.carried_in_every_fold(folds);
        Features::growing(
            |before| here.features.sizes_after(carried, before),
            |sizes| validated(sizes, watch),
            |found: &WithProducts<Validated>| (found.found.min().atoms, found.found.complete),
            |before, now| if now.found.complete { now } else { before },
        )
    }

    /// Models of some rows, judged on others.
    fn trained_anew(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        (train, test): (&[usize], &[usize]),
        go_on: &mut GoOn<'_>,
    ) -> Result<Anew<Labelled>, Error> {
        let mut search = self.search(Some(train))?;
        let judge = self.features.loss.subset(test)?;
        let mut anew = Anew::default();
        for &ridge in ridges {
            let scaled = self.features.units.scaled_ridge(ridge)? * search.share;
            let mut before: Option<Small> = None;
            for &k in sizes {
                let how = (Effort::Default, Stop::default());
                let small = search.model(k, scaled, before, how, &mut Unwatched)?;
                let model = small.labelled(&search);
                let predicted = model.predictions(self.features, test.to_vec())?;
                anew.choices.push(Choice { atoms: k, ridge, shrinkage: 0.0 });
                let value = judge.value(&predicted);
                anew.losses.push(self.features.units.mean_loss(value / weight(&judge)));
                anew.totals.push(self.features.units.loss(value));
                anew.models.push(model);
                before = Some(small);
                if go_on(anew.choices.len()).is_break() {
                    anew.complete = anew.choices.len() == sizes.len() * ridges.len();
                    anew.passes += search.passes;
                    return Ok(anew);
                }
            }
        }
        anew.passes += search.passes;
        anew.complete = true;
        Ok(anew)
    }

    fn check_size(&self, value: usize) -> Result<(), Error> {
        let max = self.candidates();
        if value > max { Err(Error::OutOfRange { what: "k", value, min: 0, max }) } else { Ok(()) }
    }
}
