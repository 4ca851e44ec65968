//! k features, or k groups of them, that predict a target.

mod answers;
mod bounded;
mod trained;

use std::time::Instant;

use katoms::driver::{Options, Run, Stop};
use katoms::loss::{AnyLoss, Loss, Split, best_constant};
use katoms::method::AtomMethod;
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::select::{
    Bounds, CrossValidation, Folds, Path, Preparation, Sample, Search, Selected, Sign, Stability, Validated,
    cross_validate_while, path, path_within_bounds, phase_transition_k, stability,
};
use katoms::set::{Always, AnyAtoms, ConstraintSet, CoordinateSet};
use katoms::space::SparseVec;
use katoms::{Error, Objective, Outcome};

pub use answers::{Estimate, How, Trail, TrailModel};
pub use trained::Trained;

use crate::searching::searched;
use crate::watch::{Phase, Progress, Watch};

/// The largest size of a range that nobody chose.
const DEFAULT_MOST: usize = 30;

/// A design, a target, and what a model may be made of.
#[derive(Debug)]
pub struct Features<'a> {
    design: &'a AnyDesign<'a>,
    loss: AnyLoss,
    atoms: Always<AnyAtoms>,
    preparation: Preparation,
    bounds: Option<Bounds>,
}

/// A saved state is a start already.
const RESUMED_ELSEWHERE: Error = Error::Unsuitable {
    method: "a fit that goes on from a saved state",
    needs: "no other start: leave out either the start or the saved state",
};

type Ready<'a> = Objective<Sample<'a, AnyDesign<'a>>, AnyLoss>;

impl<'a> Features<'a> {
    /// Atoms of this design for this loss; the features in `always` are in every model and count for nothing.
    ///
    /// # Errors
    /// When design, loss and atoms do not fit together.
    pub fn new(
        design: &'a AnyDesign<'a>,
        loss: AnyLoss,
        atoms: AnyAtoms,
        always: Vec<usize>,
        preparation: Preparation,
    ) -> Result<Self, Error> {
        Ok(Self { design, loss, atoms: Always::new(atoms, always)?, preparation, bounds: None })
    }

    /// The same with bounds on the coefficients, in the units of the data; the intercept has none. Models of bounded
    /// coefficients have a search of their own: [`How::method`] and [`How::resume`] do not go with them.
    ///
    /// # Errors
    /// When there is not one pair for each column of the design.
    pub fn with_bounds(self, bounds: Bounds) -> Result<Self, Error> {
        let (found, expected) = (bounds.dim(), self.design.domain());
        if found != expected {
            let why = "one pair for each column of the design";
            return Err(Error::Length { what: "the list of bounds", found, expected, why });
        }
        Ok(Self { bounds: Some(bounds), ..self })
    }

    /// The number of atoms that there are to choose from.
    pub fn candidates(&self) -> usize {
        let atoms = self.atoms.candidates();
        (0..atoms.len()).filter(|&atom| !atoms.members(atom).is_empty()).count()
    }

    /// A range of sizes that the data can carry, for a choice among them, from 1 on. It ends where a criterion can no
    /// longer be trusted: at m/(ln ln m · ln p) for m [observations](Loss::observations) and p columns (Fan and Tang
    /// 2013; abess ends there too), at what the phase transition allows, at 30, or with all atoms that there are,
    /// whichever comes first. A row of weight 2 and that row twice give the same range.
    pub fn default_sizes(&self) -> Vec<usize> {
        let (m, p) = (self.loss.observations(), self.design.domain());
        let carried = phase_transition_k(m, p, Sign::Any).unwrap_or(1);
        // For a handful of rows the logarithms mean nothing, and half of the rows is the end.
        let trusted = m as f64 / ((m as f64).ln().ln().max(0.5) * (p as f64).ln()).max(2.0);
        let most = carried.min(trusted as usize).max(1);
        (1..=most.min(self.candidates()).min(DEFAULT_MOST)).collect()
    }

    /// The model of k atoms.
    ///
    /// # Errors
    /// When k is out of range, there is no such method, an option makes no sense, the start has another length than
    /// the design has columns, or the saved state is another job's.
    pub fn fit(&self, k: usize, how: &How, watch: &mut dyn Watch) -> Result<Estimate, Error> {
        if let Some(bounds) = &self.bounds {
            return self.fit_within(bounds, k, how, watch);
        }
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(k)?)?;
        let method = AtomMethod::named(how.method.as_deref().unwrap_or("accelerated-iht"))?;
        // The watch keeps the time of the run: what a limit of the driver's own ends can be saved no more.
        let options = Options { stop: Stop { seconds: None, ..how.stop }, ..Options::for_set(&set) };
        let search = match how.method {
            None => Search::for_structure(set.structure()),
            // What was asked for is that method's answer, not the search's.
            Some(_) => Search { quality: true, ..Search::quick() },
        };
        let start = how.start.as_ref().map(|(x, constant)| f.operator().from_original(x, *constant)).transpose()?;
        let mut run = match (&how.resume, start) {
            (Some(_), Some(_)) => return Err(RESUMED_ELSEWHERE),
            (Some(bytes), None) => Run::resume(&f, &set, &method, options, bytes)?,
            (None, Some(start)) => Run::starting_at(&f, &set, &method, options, start)?,
            (None, None) => Run::new(&f, &set, &method, options)?,
        };
        let clock = Instant::now();
        let phase = Phase::Final { atoms: k };
        while !run.is_done() {
            let event = run.step();
            let ended = run.is_done();
            let answer = watch.tell(&Progress { phase, done: 0, of: 1, event: &event, ended, can_save: true });
            if answer.saves() {
                watch.keep(&run.save()?);
            }
            if answer.stops() {
                run.stop();
            }
        }
        let earlier = run.trace().last().map_or(0.0, |event| event.seconds) - clock.elapsed().as_secs_f64();
        let seconds = how.stop.seconds.map(|most| most + earlier.max(0.0));
        let run = run.ending_by(Stop { seconds, ..how.stop });
        let outcome = searched(run, &search, phase, watch)?;
        Ok(self.estimate(&f, &set, outcome))
    }

    /// What a search found, in the units of the data.
    fn estimate(&self, f: &Ready<'a>, set: &Always<Always<AnyAtoms>>, outcome: Outcome<SparseVec>) -> Estimate {
        let (coefficients, intercept) = self.to_original(f, &outcome.point);
        let predicted = self.predictions(&coefficients, intercept);
        Estimate {
            loss: self.loss.value(&predicted),
            separates: self.separates(&predicted),
            null_loss: self.null_loss(),
            chosen: set.chosen(&outcome.point),
            standardized: coefficients.map(|j, v| v * self.deviation(j)),
            coefficients,
            intercept,
            status: outcome.status,
            iterations: outcome.iterations,
            passes: outcome.passes,
            reads: outcome.reads,
            columns: outcome.columns,
            seconds: outcome.seconds,
            objective: outcome.objective,
            quality: outcome.quality,
            attempts: outcome.attempts,
            trace: outcome.trace,
        }
    }

    /// Coefficients and intercept in the units of the data, within their bounds: units there and back may cost a last
    /// bit.
    fn to_original(&self, f: &Ready<'a>, x: &SparseVec) -> (SparseVec, f64) {
        let (coefficients, intercept) = f.operator().to_original(x);
        match &self.bounds {
            Some(bounds) => (bounds.nearest(&coefficients), intercept),
            None => (coefficients, intercept),
        }
    }

    /// A model of each size, and what the criteria say. The watch hears how many sizes are done.
    ///
    /// # Errors
    /// When sizes do not rise or are out of range.
    pub fn path(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<Trail, Error> {
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(sizes.first().copied().unwrap_or(1))?)?;
        let go_on = |done| watch.counted(done).flow();
        let found: Path<SparseVec> = match &self.bounds {
            Some(bounds) => path_within_bounds(&f, &set, &f.operator().scaled_bounds(bounds)?, sizes, go_on)?,
            None => path(&f, &set, sizes.iter().copied(), go_on)?,
        };
        let candidates = Some(self.candidates());
        let values = Trail::CRITERIA.map(|(_, criterion)| found.criterion(criterion, candidates));
        let best = Trail::CRITERIA.map(|(_, criterion)| found.best(criterion, candidates).map(|model| model.atoms));
        let (values, best) = (all_of(values)?, all_of(best)?);
        let one = |(at, model): (usize, &katoms::select::Model<SparseVec>)| {
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
        Ok(Trail {
            models: found.models.iter().enumerate().map(one).collect(),
            complete: found.complete,
            passes: found.passes,
            seconds: found.seconds,
            null_loss: self.null_loss(),
            best,
        })
    }

    /// Every size on rows held out. The watch hears what [`cross_validate_while`] tells.
    ///
    /// # Errors
    /// As [`cross_validate_while`].
    pub fn cross_validate(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<Validated, Error> {
        let options = CrossValidation {
            ridges: ridges.to_vec(),
            standardize: self.preparation.standardize,
            intercept: self.preparation.intercept,
            bounds: self.bounds.clone(),
            ..CrossValidation::new(sizes.iter().copied())
        };
        cross_validate_while(self.design, &self.loss, &self.atoms, folds, &options, &mut |done| {
            watch.counted(done).flow()
        })
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
        let Preparation { standardize, intercept, ridge } = self.preparation;
        // Half of the rows have half of the loss.
        let options = Stability { pairs, seed, standardize, intercept, ridge: ridge / 2.0, ..Stability::default() };
        let method = AtomMethod::named("accelerated-iht")?;
        stability(self.design, &self.loss, &self.atoms.with_atoms(k)?, &method, &options)
    }

    /// The linear predictions of a model.
    pub fn predictions(&self, coefficients: &SparseVec, intercept: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.design.n_outputs()];
        self.design.apply(coefficients, &mut out);
        out.iter_mut().for_each(|z| *z += intercept);
        out
    }

    /// Whether these predictions tell two classes apart without an error, and no ridge keeps the coefficients finite.
    fn separates(&self, predicted: &[f64]) -> bool {
        let Some(classes) = self.loss.classes() else { return false };
        let counts = |i: usize| self.loss.weights().is_none_or(|weights| weights[i] > 0.0);
        let of =
            |class: f64| (0..classes.len()).filter(move |&i| classes[i] == class && counts(i)).map(|i| predicted[i]);
        let (most, least) = (of(0.0).fold(f64::NEG_INFINITY, f64::max), of(1.0).fold(f64::INFINITY, f64::min));
        self.preparation.ridge == 0.0 && most < least
    }

    /// The weighted standard deviation of a column.
    fn deviation(&self, column: usize) -> f64 {
        let Ok(unit) = SparseVec::new(self.design.domain(), vec![column], vec![1.0]) else { return 0.0 };
        let values = self.predictions(&unit, 0.0);
        let weight = |i: usize| self.loss.weights().map_or(1.0, |weights| weights[i]);
        let total: f64 = (0..values.len()).map(weight).sum();
        let mean = values.iter().enumerate().map(|(i, v)| weight(i) * v).sum::<f64>() / total;
        let square: f64 = values.iter().enumerate().map(|(i, v)| weight(i) * (v - mean).powi(2)).sum();
        (square / total).sqrt()
    }

    fn objective(&self) -> Result<Ready<'a>, Error> {
        self.preparation.objective(self.design, &self.loss, (0..self.design.n_outputs()).collect())
    }

    /// The loss of the best constant; of 0 where there is no intercept.
    fn null_loss(&self) -> f64 {
        let constant = if self.preparation.intercept { best_constant(&self.loss) } else { 0.0 };
        self.loss.value(&vec![constant; self.loss.n_outputs()])
    }
}

/// What is asked for all of an array, or the first error.
fn all_of<T, const N: usize>(results: [Result<T, Error>; N]) -> Result<Vec<T>, Error> {
    results.into_iter().collect()
}
