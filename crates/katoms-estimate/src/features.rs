//! k features, or k groups of them, that predict a target.

mod answers;
mod bounded;
mod by_splits;
mod classes;
mod convex;
mod interactions;
mod nuisance;
mod null;
mod parts;
mod path;
mod per_group;
mod responses;
mod sizes;
mod trained;

use std::sync::Arc;
use std::time::Instant;

use katoms::driver::{Options, Run, Stop};
use katoms::loss::{AnyLoss, Loss, Split, best_constants};
use katoms::method::AtomMethod;
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::search::{Effort, Heredity as Parents, Search};
use katoms::select::{Bounds, Preparation, Sample, Selected, Stability, stability};
use katoms::set::{Always, AnyAtoms, ConstraintSet};
use katoms::space::SparseVec;
use katoms::{Error, Objective, Outcome};

pub use answers::{Estimate, FitOptions, PathModel, PathModels};
pub use interactions::{Heredity, Interactions, Product, WithProducts};
pub use nuisance::Nuisance;
pub use responses::{EachResponse, ResponseSizes, SeparateModels, choice_of_each};
pub(crate) use sizes::lower_edge;
pub use sizes::{Edge, sizes_between};
pub use trained::Trained;

use self::convex::Convex;
use self::parts::Parts;
use self::per_group::Inside;
use crate::response::JobLoss;
use crate::resumed::contained_if_resumed;
use crate::running::{Part, drive, searched};
use crate::units::Units;
use crate::watch::{Phase, Watch};

/// A design, a target, and what a model may be made of.
#[derive(Debug, Clone)]
pub struct Features<'a> {
    design: &'a AnyDesign<'a>,
    /// A copy of the design in other units, where its own cannot be computed with.
    scaled: Option<Arc<AnyDesign<'static>>>,
    loss: AnyLoss,
    /// Whether the parameter of the loss is estimated with the model.
    estimated: bool,
    atoms: AnyAtoms,
    preparation: Preparation,
    bounds: Option<Bounds>,
    /// How many features may be inside each group, where not all may.
    inside: Option<Inside>,
    /// What atoms need beside them in a model.
    parents: Option<Parents>,
    units: Units,
}

/// A saved state is a start already.
const RESUMED_ELSEWHERE: Error = Error::Unsuitable {
    method: "a fit that goes on from a saved state",
    needs: "no other start: leave out either the start or the saved state",
};

const RUNS_ONCE: Error = Error::Unsuitable {
    method: "a method by name",
    needs: "no effort: it runs once, and nothing follows it; leave the effort out, or the method",
};

type Ready<'a> = Objective<Sample<'a, AnyDesign<'a>>, AnyLoss>;

impl<'a> Features<'a> {
    /// Atoms of this design for this loss; the features in `always` are in every model and are not counted in k.
    ///
    /// # Errors
    /// When design, loss and atoms do not fit together, or the loss or a column cannot be computed with in any unit.
    pub fn new(
        design: &'a AnyDesign<'a>,
        loss: impl Into<JobLoss>,
        atoms: AnyAtoms,
        always: Vec<usize>,
        preparation: Preparation,
    ) -> Result<Self, Error> {
        let JobLoss { loss, estimated } = loss.into();
        let (columns, outputs) = (design.domain(), loss.outputs_per_row());
        if let Some(position) = always.iter().position(|&j| j >= columns) {
            return Err(Error::Index {
                what: "feature that is always in",
                position,
                index: always[position],
                bound: columns,
            });
        }
        let always = (0..outputs).flat_map(|output| always.iter().map(move |j| output * columns + j)).collect();
        let atoms = atoms.for_outputs(outputs)?.always(always)?;
        let preparation = preparation.suited_to(&loss);
        let (units, loss) = Units::of_loss(&loss, "the target")?;
        let (units, loss) = if preparation.intercept { units.about_constant(loss)? } else { (units, loss) };
        let (units, scaled) = units.for_columns(design, &loss, preparation)?;
        let scaled = scaled.map(Arc::new);
        let preparation = Preparation { ridge: units.scaled_ridge(preparation.ridge)?, ..preparation };
        Ok(Self {
            design,
            scaled,
            loss,
            estimated,
            atoms,
            preparation,
            bounds: None,
            inside: None,
            parents: None,
            units,
        })
    }

    /// The same with bounds on the coefficients, in the units of the data; the intercept has none. Models of bounded
    /// coefficients have a search of their own: [`FitOptions::method`] and [`FitOptions::resume`] do not go with them.
    ///
    /// # Errors
    /// When there is not one pair for each column of the design.
    pub fn with_bounds(self, bounds: Bounds) -> Result<Self, Error> {
        if self.loss.outputs_per_row() > 1 {
            let needs = "one output: leave the bounds out for several responses or more than two classes";
            return Err(Error::Unsuitable { method: "bounds on coefficients", needs });
        }
        let (found, expected) = (bounds.dim(), self.design.domain());
        if found != expected {
            let why = "one pair for each column of the design";
            return Err(Error::Length { what: "the list of bounds", found, expected, why });
        }
        Ok(Self { bounds: Some(bounds), ..self })
    }

    /// The model of k atoms; of none, that of what is always in.
    ///
    /// # Errors
    /// When k is out of range, there is no such method, an option makes no sense, the start has another length than
    /// the design has columns, or the saved state is another job's.
    pub fn fit(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        contained_if_resumed(how.resume.as_deref(), || self.fitted(k, how, watch))
    }

    fn fitted(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        self.check_size(k)?;
        if self.estimated {
            return self.fit_estimated(k, how, watch);
        }
        if k == 0 {
            return self.null_model(how);
        }
        if let Some(inside) = &self.inside {
            return self.fit_inside(inside, k, how, watch);
        }
        let watch = &mut self.units.watched_by(watch);
        if let Some(bounds) = &self.bounds {
            return self.fit_within(bounds, k, how, watch);
        }
        if let Some(parents) = &self.parents {
            return self.fit_beside_parents(parents, k, how, watch);
        }
        if let Some(convex) = how.method.as_deref().and_then(Convex::named) {
            return self.fit_convex(k, &convex, how, watch);
        }
        if how.penalty.is_some() || how.radius.is_some() {
            let needs = "a method that has one: a penalty goes with lasso, fista and twist, a radius with frank-wolfe";
            return Err(Error::Unsuitable { method: "a penalty or a radius", needs });
        }
        self.fit_narrowing(k, how, watch)
    }

    /// A single run of a method, or the search for the best model.
    fn searched_for(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(k)?, &self.loss)?;
        if how.method.is_some() && how.effort != Effort::Default {
            return Err(RUNS_ONCE);
        }
        let method = AtomMethod::named(how.method.as_deref().unwrap_or("accelerated-iht"))?;
        // The watch keeps the time of the run: what a limit of the driver's own ends can be saved no more.
        let options = Options { stop: Stop { seconds: None, ..how.stop }, ..Options::for_set(&set) };
        let search = match how.method {
            None => Search { effort: how.effort, ..Search::default() },
            // What was asked for is that method's answer, not the search's.
            Some(_) => Search { quality: true, ..Search::quick() },
        };
        let start = self.start(&f, how)?;
        let mut run = match (&how.resume, start) {
            (Some(_), Some(_)) => return Err(RESUMED_ELSEWHERE),
            (Some(bytes), None) => Run::resume(&f, &set, &method, options, bytes)?,
            (None, Some(start)) => Run::starting_at(&f, &set, &method, options, start)?,
            (None, None) => Run::new(&f, &set, &method, options)?,
        };
        let clock = Instant::now();
        let phase = Phase::Final { atoms: k };
        drive(&mut run, Part { phase, done: 0, of: 1, can_save: true }, watch)?;
        let earlier = run.trace().last().map_or(0.0, |event| event.seconds) - clock.elapsed().as_secs_f64();
        let seconds = how.stop.seconds.map(|most| most + earlier.max(0.0));
        let run = run.ending_by(Stop { seconds, ..how.stop });
        let outcome = searched(run, &search, phase, watch)?;
        self.estimate(&f, &set, outcome)
    }

    fn start(&self, f: &Ready<'_>, how: &FitOptions) -> Result<Option<SparseVec>, Error> {
        let Some(start) = &how.start else { return Ok(None) };
        let (x, constants) = self.units.scaled_model(start)?;
        let (x, constants) = self.contrasted(&x, &constants)?;
        f.operator().from_original(&x, &constants).map(Some)
    }

    fn estimate(&self, f: &Ready<'_>, set: &Always<AnyAtoms>, outcome: Outcome<SparseVec>) -> Result<Estimate, Error> {
        let Parts { chosen, coefficients, intercepts } = self.parts(f, set, &outcome.point)?;
        let predicted = predictions(self.computed_with(), &coefficients, &intercepts);
        let units = &self.units;
        let value = self.loss.value(&predicted);
        let (coefficients, intercepts) = self.scored(&coefficients, &intercepts)?;
        Ok(Estimate {
            nuisance: Nuisance::at(&self.loss, &predicted),
            loss: units.loss(value),
            null_loss: self.null_loss(),
            chosen,
            standardized: self.standardized(&coefficients),
            intercepts: units.levels(&intercepts),
            outcome: Outcome {
                point: units.coefficients(&coefficients)?,
                objective: units.loss(outcome.objective),
                quality: outcome.quality.map(|quality| units.quality(quality)),
                attempts: outcome.attempts.iter().map(|attempt| units.attempt(attempt)).collect(),
                trace: outcome.trace.iter().map(|event| units.event(event)).collect(),
                ..outcome
            },
        })
    }

    /// Coefficients and intercept of the design that is computed with, within their bounds: units there and back may cost
    /// a last bit.
    fn to_original(&self, f: &Ready<'_>, x: &SparseVec) -> Result<(SparseVec, Vec<f64>), Error> {
        let (coefficients, intercepts) = f.operator().to_original(x);
        Ok(match self.scaled_bounds()? {
            Some(bounds) => (bounds.nearest(&coefficients), intercepts),
            None => (coefficients, intercepts),
        })
    }

    fn scaled_bounds(&self) -> Result<Option<Bounds>, Error> {
        self.bounds.as_ref().map(|bounds| self.units.scaled_bounds(bounds)).transpose()
    }

    fn standardized(&self, coefficients: &SparseVec) -> SparseVec {
        coefficients.map(|j, v| self.units.level(v * self.deviation(j % self.design.domain())))
    }

    fn computed_with(&self) -> &AnyDesign<'_> {
        self.scaled.as_deref().unwrap_or(self.design)
    }

    /// How often half-samples choose each atom.
    ///
    /// # Errors
    /// When there are too few rows for half of them to carry k atoms, or coefficients have bounds.
    pub fn stability(&self, k: usize, pairs: usize, seed: u64) -> Result<Selected, Error> {
        if self.bounds.is_some() {
            let needs = "coefficients without bounds: leave the bounds out";
            return Err(Error::Unsuitable { method: "the choice of half-samples", needs });
        }
        self.check_whole_groups("the choice of half-samples")?;
        if self.parents.is_some() {
            let needs = "features alone: leave the interactions out";
            return Err(Error::Unsuitable { method: "the choice of half-samples", needs });
        }
        if self.estimated {
            return self.settled()?.stability(k, pairs, seed);
        }
        let Preparation { standardize, intercept, ridge } = self.preparation;
        // Half of the rows have half of the loss.
        let options = Stability { pairs, seed, standardize, intercept, ridge: ridge / 2.0, ..Stability::default() };
        let method = AtomMethod::named("accelerated-iht")?;
        stability(self.computed_with(), &self.loss, &self.atoms.with_atoms(k)?, &method, &options)
    }

    /// The linear predictions of a model.
    pub fn predictions(&self, coefficients: &SparseVec, intercepts: &[f64]) -> Vec<f64> {
        predictions(self.design, coefficients, intercepts)
    }

    fn deviation(&self, column: usize) -> f64 {
        let Ok(unit) = SparseVec::new(self.design.domain(), vec![column], vec![1.0]) else { return 0.0 };
        let values = predictions(self.computed_with(), &unit, &[0.0]);
        let weight = |i: usize| self.loss.weights().map_or(1.0, |weights| weights[i]);
        let total: f64 = (0..values.len()).map(weight).sum();
        let mean = values.iter().enumerate().map(|(i, v)| weight(i) * v).sum::<f64>() / total;
        let square: f64 = values.iter().enumerate().map(|(i, v)| weight(i) * (v - mean).powi(2)).sum();
        (square / total).sqrt()
    }

    fn objective(&self) -> Result<Ready<'_>, Error> {
        self.preparation.objective(self.computed_with(), &self.loss, (0..self.design.n_outputs()).collect())
    }

    /// The predictions of the best constants; 0 where there is no intercept.
    fn null_predictions(&self) -> Vec<f64> {
        if !self.preparation.intercept {
            return vec![0.0; self.loss.n_outputs()];
        }
        best_constants(&self.loss).into_iter().flat_map(|constant| vec![constant; self.loss.n_rows()]).collect()
    }

    /// The loss of the best constant; of 0 where there is no intercept.
    fn null_loss(&self) -> f64 {
        self.units.loss(self.loss.value(&self.null_predictions()))
    }
}

/// Those of the first output for all rows, then those of the second.
fn predictions(design: &AnyDesign<'_>, coefficients: &SparseVec, intercepts: &[f64]) -> Vec<f64> {
    let (rows, columns) = (design.n_outputs(), design.domain());
    let mut all = vec![0.0; rows * intercepts.len()];
    for (output, out) in all.chunks_mut(rows.max(1)).enumerate() {
        design.apply(&part(coefficients, columns, output), out);
        out.iter_mut().for_each(|z| *z += intercepts[output]);
    }
    all
}

/// The coefficients of one output.
fn part(coefficients: &SparseVec, columns: usize, output: usize) -> SparseVec {
    if coefficients.dim() == columns {
        return coefficients.clone();
    }
    let own = coefficients.entries().filter(|(j, _)| j / columns == output);
    let (indices, values) = own.map(|(j, v)| (j % columns, v)).unzip();
    SparseVec::new(columns, indices, values).unwrap_or_else(|_| SparseVec::from_dense(&vec![0.0; columns]))
}
