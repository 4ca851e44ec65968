//! At most q features inside each of at most k groups.
//!
//! A group stands for the q of its features that matter most beside the model so far. Groups of these are searched as others
//! are; then the features inside each chosen group are chosen anew beside the rest, and those of the others by their slopes
//! there. Both go on in turn while the objective falls.

use std::sync::Arc;
use std::time::Instant;

use katoms::Error;
use katoms::driver::Quality;
use katoms::loss::{Loss, Split};
use katoms::operator::{AnyDesign, ColumnMoments, Dense, LinearOperator};
use katoms::search::GoOn;
use katoms::select::{Choice, Folds, ModelSize, Preparation, Validated};
use katoms::set::{AnyAtoms, CoordinateSet};
use katoms::space::SparseVec;

use super::by_splits::{Anew, validated_by_splits};
use super::nuisance::{Work, after};
use super::path::least;
use super::trained::weight;
use super::{Estimate, Features, FitOptions, PathModel, PathModels, predictions};
use crate::budget::Budget;
use crate::watch::{Unsaved, Unwatched, Watch};

/// How often the features inside groups are chosen anew.
const ROUNDS: usize = 20;
/// A share of the objective by which a better model is better.
const IMPROVES: f64 = 1e-10;

/// Groups of which only some features may be in.
#[derive(Debug, Clone)]
pub(super) struct Inside {
    most: usize,
    /// The columns of each group, without those that are always in.
    groups: Vec<Vec<usize>>,
    always: Vec<usize>,
}

impl Features<'_> {
    /// The same with at most so many features inside each group.
    ///
    /// # Errors
    /// When there are no groups, groups share features, coefficients have bounds, or no feature may be in.
    pub fn with_most_inside(self, most: usize) -> Result<Self, Error> {
        let unsuitable = |needs| Err(Error::Unsuitable { method: "a number of features inside each group", needs });
        if most == 0 {
            return Err(Error::OutOfRange { what: "features per group", value: 0, min: 1, max: usize::MAX });
        }
        let atoms = self.atoms.candidates();
        if atoms.shared() {
            return unsuitable("groups that share no feature");
        }
        if self.bounds.is_some() {
            return unsuitable("coefficients without bounds: leave the bounds out");
        }
        let columns = self.design.domain();
        let of = |coordinates: &[usize]| {
            let mut found: Vec<usize> = coordinates.iter().map(|j| j % columns).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let groups: Vec<Vec<usize>> = (0..atoms.len()).map(|atom| of(atoms.members(atom))).collect();
        if groups.iter().all(|group| group.len() <= 1) {
            return unsuitable("groups of features");
        }
        let inside = Inside { most, groups, always: of(self.atoms.kept().indices()) };
        Ok(Self { inside: Some(inside), ..self })
    }

    pub(super) fn fit_inside(
        &self,
        inside: &Inside,
        k: usize,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        if how.method.is_some() || how.resume.is_some() {
            let needs = "its own search: leave the method or the saved state out";
            return Err(Error::Unsuitable { method: "a number of features inside each group", needs });
        }
        let (budget, watch) = (Budget::new(&how.stop)?, &mut Unsaved::new(watch));
        let mut model = self.among(&inside.groups, &inside.always)?.fit(0, &FitOptions::default(), watch)?;
        let (mut work, mut subsets) = (Work::of(&model), inside.groups.clone());
        self.price(inside, &model, &[], &mut subsets)?;
        let mut best: Option<Estimate> = None;
        for _ in 0..ROUNDS {
            let found = self.among(&subsets, &inside.always)?.fit(k, &after(&model, how, &budget), watch)?;
            let found = work.with(found);
            let objective = |one: &Estimate| one.outcome.objective;
            if best.as_ref().is_some_and(|best| objective(&found) >= objective(best) * (1.0 - IMPROVES)) {
                break;
            }
            model = found.clone();
            for &group in &found.chosen {
                let rest = found.chosen.iter().filter(|&&other| other != group);
                let always = rest.flat_map(|&other| &subsets[other]).chain(&inside.always).copied().collect::<Vec<_>>();
                let single: Vec<Vec<usize>> = inside.groups[group].iter().map(|&j| vec![j]).collect();
                if single.len() > inside.most && !watch.stopped {
                    let within = self.among(&single, &always)?;
                    model = work.with(within.fit(inside.most, &after(&model, how, &budget), watch)?);
                    subsets[group] = model.chosen.iter().map(|&at| single[at][0]).collect();
                }
            }
            self.price(inside, &model, &found.chosen, &mut subsets)?;
            best = Some(found);
            if watch.stopped {
                break;
            }
        }
        let mut best = best.ok_or(Error::Empty { what: "the list of groups" })?;
        // Only some of the features of each group were compared.
        best.outcome.quality = best.outcome.quality.map(|quality| Quality {
            exhaustive: false,
            proven: None,
            certificate: None,
            ..quality
        });
        Ok(work.total(best))
    }

    /// Models of rising sizes, each looked for from the one before.
    pub(super) fn path_inside(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<PathModels, Error> {
        watch.expect(sizes.len());
        let clock = Instant::now();
        let null = self.fit(0, &FitOptions::default(), &mut Unwatched)?;
        let mut found: Vec<(usize, Estimate)> = vec![(0, null)];
        for (done, &k) in sizes.iter().enumerate().filter(|(_, k)| **k > 0) {
            let start = found.last().map(|(_, one)| (one.coefficients().clone(), one.intercepts.clone()));
            found.push((k, self.fit(k, &FitOptions { start, ..FitOptions::default() }, &mut Unwatched)?));
            if watch.counted(done + 1).flow().is_break() {
                break;
            }
        }
        let mut models = found.iter().map(|(k, one)| self.of_path(*k, one)).collect::<Result<Vec<PathModel>, _>>()?;
        let null = models[0].clone();
        models.drain(..usize::from(sizes.first() != Some(&0)));
        Ok(PathModels {
            best: (0..PathModels::CRITERIA.len()).map(|criterion| least(&models, criterion)).collect(),
            complete: found.last().map(|(k, _)| *k) >= sizes.last().copied(),
            passes: found.iter().map(|(_, one)| one.outcome.passes).sum(),
            seconds: clock.elapsed().as_secs_f64(),
            null_loss: self.null_loss(),
            models,
            null,
        })
    }

    /// Models of some rows, judged on others.
    pub(super) fn train_inside(
        &self,
        inside: &Inside,
        (sizes, ridges): (&[usize], &[f64]),
        (train, test): (&[usize], &[usize]),
        go_on: &mut GoOn<'_>,
    ) -> Result<Anew<(SparseVec, Vec<f64>)>, Error> {
        let design = copied_rows(self.design, train)?;
        let scaled = self.scaled.as_deref().map(|scaled| copied_rows(scaled, train)).transpose()?.map(Arc::new);
        let (loss, judge) = (self.loss.subset(train)?, self.loss.subset(test)?);
        let share = weight(&loss) / weight(&self.loss);
        let mut anew = Anew::default();
        for &ridge in ridges {
            let preparation = Preparation { ridge: self.units.scaled_ridge(ridge)? * share, ..self.preparation };
            let here = Features {
                design: &design,
                scaled: scaled.clone(),
                loss: loss.clone(),
                preparation,
                inside: Some(inside.clone()),
                ..self.clone()
            };
            let mut start = None;
            for &k in sizes {
                let found = here.fit(k, &FitOptions { start, ..FitOptions::default() }, &mut Unwatched)?;
                let model = (found.coefficients().clone(), found.intercepts.clone());
                let (x, constants) = self.units.scaled_model(&model)?;
                let (x, constants) = self.contrasted(&x, &constants)?;
                let all = predictions(self.computed_with(), &x, &constants);
                let rows = self.loss.n_rows();
                let of_output = |all: &[f64]| test.iter().map(|&row| all[row]).collect::<Vec<f64>>();
                let value = judge.value(&all.chunks(rows).flat_map(of_output).collect::<Vec<f64>>());
                anew.choices.push(Choice { atoms: k, ridge, shrinkage: 0.0 });
                anew.losses.push(self.units.mean_loss(value / weight(&judge)));
                anew.totals.push(self.units.loss(value));
                anew.passes += found.outcome.passes;
                anew.models.push(model.clone());
                start = Some(model);
                anew.complete = anew.choices.len() == sizes.len() * ridges.len();
                if go_on(anew.choices.len()).is_break() {
                    return Ok(anew);
                }
            }
        }
        Ok(anew)
    }

    pub(super) fn validate_inside(
        &self,
        inside: &Inside,
        (sizes, ridges): (&[usize], &[f64]),
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        let mut train = |sizes: &[usize], rows: (&[usize], &[usize]), go_on: &mut GoOn<'_>| {
            self.train_inside(inside, (sizes, ridges), rows, go_on)
        };
        let joined = |models| (models, Vec::new());
        Ok(validated_by_splits((sizes, ridges), folds, &mut train, &joined, watch)?.found)
    }

    /// A model with what the criteria say: its features were chosen from all features.
    fn of_path(&self, k: usize, one: &Estimate) -> Result<PathModel, Error> {
        let (columns, outputs) = (self.design.domain(), self.loss.outputs_per_row());
        let mut features: Vec<usize> = one.coefficients().indices().iter().map(|j| j % columns).collect();
        features.sort_unstable();
        features.dedup();
        let constants = usize::from(self.preparation.intercept);
        let size = ModelSize {
            parameters: (features.len() + constants) * outputs,
            atoms: features.len(),
            candidates: columns,
            samples: self.loss.observations(),
        };
        let deviance = self.loss.deviance(one.loss);
        let criteria = PathModels::CRITERIA.map(|(_, criterion)| criterion.value(deviance, size));
        let mut values = [0.0; 4];
        for (value, criterion) in values.iter_mut().zip(criteria) {
            *value = criterion?;
        }
        Ok(PathModel {
            atoms: k,
            chosen: one.chosen.clone(),
            coefficients: one.coefficients().clone(),
            standardized: one.standardized.clone(),
            intercepts: one.intercepts.clone(),
            objective: one.outcome.objective,
            loss: one.loss,
            criteria: values,
            status: one.outcome.status,
        })
    }

    /// That whole groups are chosen, which some jobs need.
    pub(super) fn check_whole_groups(&self, method: &'static str) -> Result<(), Error> {
        match self.inside {
            None => Ok(()),
            Some(_) => {
                let needs = "whole groups: leave the number of features inside a group out, or choose k by a criterion";
                Err(Error::Unsuitable { method, needs })
            }
        }
    }

    /// The same data with these groups of columns.
    fn among(&self, groups: &[Vec<usize>], always: &[usize]) -> Result<Self, Error> {
        let (columns, outputs) = (self.design.domain(), self.loss.outputs_per_row());
        let always = (0..outputs).flat_map(|output| always.iter().map(move |j| output * columns + j)).collect();
        let atoms = AnyAtoms::groups(1, columns, groups.to_vec())?.for_outputs(outputs)?.always(always)?;
        Ok(Self { atoms, inside: None, ..self.clone() })
    }

    /// The features that stand for each group but those that are chosen: where the loss falls most along a column, beside a
    /// model. One pass.
    fn price(
        &self,
        inside: &Inside,
        model: &Estimate,
        chosen: &[usize],
        subsets: &mut [Vec<usize>],
    ) -> Result<(), Error> {
        let f = self.objective()?;
        let (columns, outputs) = (self.design.domain(), self.loss.outputs_per_row());
        let (x, constants) = self.units.scaled_model(&(model.coefficients().clone(), model.intercepts.clone()))?;
        let (x, constants) = self.contrasted(&x, &constants)?;
        let mut g = f.operator().new_covector();
        f.gradient(&f.at(f.operator().from_original(&x, &constants)?), &mut g);
        let scales = if self.preparation.standardize { vec![1.0; columns] } else { self.squares() };
        let fall =
            |j: usize| (0..outputs).map(|c| g[c * columns + j].powi(2)).sum::<f64>() / scales[j].max(f64::MIN_POSITIVE);
        for (group, subset) in subsets.iter_mut().enumerate().filter(|(group, _)| !chosen.contains(group)) {
            subset.clone_from(&inside.groups[group]);
            subset.sort_by(|&a, &b| fall(b).total_cmp(&fall(a)).then(a.cmp(&b)));
            subset.truncate(inside.most);
        }
        Ok(())
    }

    /// The mean square of each column, about its mean where there is an intercept.
    fn squares(&self) -> Vec<f64> {
        let ones = vec![1.0; self.loss.n_rows()];
        let moments = self.computed_with().moments(self.loss.weights().unwrap_or(&ones));
        let about = |mean: f64| if self.preparation.intercept { 0.0 } else { mean * mean };
        moments.variances.iter().zip(&moments.means).map(|(variance, &mean)| variance + about(mean)).collect()
    }
}

/// Some rows of a design, copied in double precision.
fn copied_rows(design: &AnyDesign<'_>, rows: &[usize]) -> Result<AnyDesign<'static>, Error> {
    let (columns, mut data) = (design.domain(), Vec::new());
    let needs = "memory for a copy of its rows in double precision: choose k by a criterion";
    let no_room = |_| Error::Unsuitable { method: "cross-validation of features inside groups", needs };
    data.try_reserve_exact(rows.len().saturating_mul(columns)).map_err(no_room)?;
    let mut all = vec![0.0; design.n_outputs()];
    for j in 0..columns {
        design.apply(&SparseVec::new(columns, vec![j], vec![1.0])?, &mut all);
        data.extend(rows.iter().map(|&row| all[row]));
    }
    Ok(Dense::column_major(data, rows.len(), columns)?.into())
}
