//! A signal of k entries from fewer measurements than it has places: compressed sensing.
//!
//! > minimise ½‖b − A·x‖² subject to at most k entries of x not being 0
//!
//! Columns are taken as they are: nothing is centred or scaled, and there is no intercept. A is a matrix, or two
//! functions in place of one, such as some rows of a cosine transform.

use katoms::driver::{Attempt, Quality, Run, Stages, Status, Trace};
use katoms::linalg::{self, exponent_of_two, times_power_of_two};
use katoms::loss::{AnyLoss, LeastSquares, Loss};
use katoms::method::AtomMethod;
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::search::Search;
use katoms::select::{Preparation, Sample, Sign, phase_transition_k};
use katoms::set::{Always, AnyAtoms, KSparse};
use katoms::space::{Point, SparseVec};
use katoms::{Error, Objective, Options, Outcome, Stop};

use crate::budget::Budget;
use crate::resumed::contained_if_resumed;
use crate::running::{Part, drive, searched};
use crate::units::Units;
use crate::watch::{Phase, Watch};

/// Columns and measurements as they are.
const PLAIN: Preparation = Preparation { standardize: false, intercept: false, ridge: 0.0 };
/// Numbers up to which an operator without a matrix is written out as one: a search needs its columns. 128 MiB.
const WRITTEN_OUT: usize = 1 << 24;
/// A residual this small, relative to b, leaves nothing to look for.
const EXACT: f64 = 1e-8;

/// What is tried in turn where columns are dear, until a try explains b. On 1024 rows of a cosine transform of length
/// 4096, whose transition is at 274, the first finds 6 of 6 signals of 219 signs and none of 246, the second all of
/// these; of 328 normal values the first finds 5 of 6, the others all.
const IN_TURN: [(&str, Growth); 4] = [
    ("accelerated-iht", Growth::Direct),
    ("dore", Growth::Direct),
    ("accelerated-iht", Growth::Staged),
    ("subspace-pursuit", Growth::Direct),
];

type Squares<'d> = Objective<Sample<'d, AnyDesign<'d>>, AnyLoss>;
type Entries = Always<AnyAtoms>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    Direct,
    Staged,
}

/// How a signal is recovered. Checked once, before anything is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovery {
    /// The most entries that are not 0.
    pub k: usize,
    /// A single run of this method. Default: accelerated IHT, and a search from its end for better entries. An operator without a matrix is written out for it; where it is too large, a few
    /// methods are tried in turn.
    pub method: Option<AtomMethod>,
    /// The standard deviation of the noise in the real numbers of b, if it is known: a residual at its level ends the
    /// search.
    pub noise: Option<f64>,
    /// When it ends; the seconds are those of the whole job.
    pub stop: Stop,
    /// What an entry is. Default: a number.
    pub entries: Places,
}

/// What an entry of the signal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Places {
    /// A real number.
    #[default]
    Real,
    /// A complex number. A and b are then written in real numbers: with A = R + i·S of shape m × n, the matrix
    /// \[R, −S; S, R\] of shape 2m × 2n, the real parts of b followed by the imaginary ones, and x likewise. An entry
    /// enters or leaves with both of its parts.
    Complex,
}

impl Places {
    fn atoms(self, k: usize, numbers: usize) -> Result<AnyAtoms, Error> {
        match self {
            Self::Real => KSparse::new(k, numbers).map(AnyAtoms::Coordinates),
            Self::Complex => AnyAtoms::groups(k, numbers, (0..numbers / 2).map(|j| vec![j, j + numbers / 2]).collect()),
        }
    }

    /// The most entries that measurements carry, from the shape of the matrix of real numbers.
    ///
    /// # Errors
    /// When it has no rows or no columns.
    pub fn most_entries(self, (rows, columns): (usize, usize)) -> Result<usize, Error> {
        match self {
            Self::Real => phase_transition_k(rows, columns, Sign::Any),
            Self::Complex => phase_transition_k(rows / 2, columns / 2, Sign::Complex),
        }
    }
}

impl Recovery {
    /// k entries, with every default.
    pub fn new(k: usize) -> Self {
        Self { k, method: None, noise: None, stop: Stop::default(), entries: Places::Real }
    }
}

/// A recovered signal, and how far it can be trusted.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The signal.
    pub x: SparseVec,
    /// ‖b − A·x‖.
    pub residual_norm: f64,
    /// The same as a share of ‖b‖.
    pub relative_residual: f64,
    /// The most entries that so many measurements of so many places carry, were A Gaussian.
    pub most_entries: usize,
    /// Whether the job was neither stopped nor out of time.
    pub complete: bool,
    /// How it ended.
    pub status: Status,
    /// How good x is; `None` where that was not asked for.
    pub quality: Option<Quality>,
    /// The starts of a search; empty for single runs.
    pub attempts: Vec<Attempt>,
    /// Moves of all runs.
    pub iterations: usize,
    /// Products with all of A.
    pub passes: usize,
    /// Seconds of work.
    pub seconds: f64,
    /// Every move.
    pub trace: Trace,
}

impl Recovered {
    /// Whether k is larger than what the shape of A carries: then x may explain b and still be another signal.
    pub fn is_beyond_transition(&self, k: usize) -> bool {
        k > self.most_entries
    }
}

/// Recovers x of k entries from b = A·x. `resume` are bytes that [`Watch::keep`] was given by the same job on the same
/// data. Of a search the first run is saved; methods that are tried in turn are not.
///
/// # Errors
/// When k is out of range, b has the wrong length or a value that is not finite, an option makes no sense, the saved state
/// is damaged or another job's, or squares of b, of A or an entry of x are no numbers in double precision.
///
/// ```
/// use katoms::operator::{AnyDesign, LinearOperator, subsampled_dct};
/// use katoms::space::SparseVec;
/// use katoms_estimate::{Recovery, Unwatched, recover};
/// let transform = AnyDesign::from(subsampled_dct(32, vec![0, 3, 4, 9, 13, 17, 22, 26, 30, 31])?);
/// let mut b = vec![0.0; 10];
/// transform.apply(&SparseVec::new(32, vec![5, 20], vec![1.0, -2.0])?, &mut b);
/// let found = recover(&transform, &b, &Recovery::new(2), None, &mut Unwatched)?;
/// assert_eq!(found.x.indices(), [5, 20]);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn recover(
    design: &AnyDesign<'_>,
    b: &[f64],
    how: &Recovery,
    resume: Option<&[u8]>,
    watch: &mut dyn Watch,
) -> Result<Recovered, Error> {
    contained_if_resumed(resume, || recovered(design, b, how, resume, watch))
}

fn recovered(
    design: &AnyDesign<'_>,
    b: &[f64],
    how: &Recovery,
    resume: Option<&[u8]>,
    watch: &mut dyn Watch,
) -> Result<Recovered, Error> {
    let budget = Budget::new(&how.stop)?;
    let columns = design.domain();
    let set = how.entries.atoms(how.k, columns)?;
    let written = match (&how.method, design) {
        (None, AnyDesign::Free(_)) if design.n_outputs().saturating_mul(columns) <= WRITTEN_OUT => {
            Some(written_out(design)?)
        }
        _ => None,
    };
    let design = written.as_ref().unwrap_or(design);
    let (units, loss) = Units::of_loss(&LeastSquares::new(b)?.into(), "the list of measurements")?;
    let ((units, scaled), products) = match design {
        AnyDesign::Free(_) => {
            let (size, products) = size_of_operator(design, &loss);
            (units.for_operator(design, &loss, size)?, products)
        }
        _ => (units.for_columns(design, &loss, PLAIN)?, 0),
    };
    let design = scaled.as_ref().unwrap_or(design);
    let how = &Recovery { noise: how.noise.map(|noise| units.scaled_level(noise)), ..how.clone() };
    let f = PLAIN.objective(design, &loss, (0..design.n_outputs()).collect())?;
    let set = PLAIN.set(&set, &loss)?;
    let watch = &mut units.watched_by(watch);
    let job = Job { f: &f, set: &set, how, budget };
    let outcome = match &how.method {
        Some(method) => job.moved(method, resume, watch)?.outcome(),
        None if f.operator().has_cheap_columns() => job.searched(resume, watch)?,
        None if resume.is_some() => {
            let reason = "methods that are tried in turn are not saved; name the method whose run was saved".into();
            return Err(Error::Checkpoint { reason });
        }
        None => job.in_turn(watch)?,
    };
    let outcome = Outcome { passes: outcome.passes + products, ..outcome };
    job.recovered(outcome, &units)
}

/// How large the products of an operator without a matrix are: a power of two near the largest entry of Aᵀ·b, where b is
/// of moderate size; 1 where that is 0. With the products that it took.
fn size_of_operator(design: &AnyDesign<'_>, loss: &AnyLoss) -> (f64, usize) {
    let (rows, mut g) = (design.n_outputs(), design.new_covector());
    let mut b = vec![0.0; rows];
    loss.gradient(&vec![0.0; rows], &mut b);
    // Where products overflow or underflow, those of a b that is that much smaller or larger tell.
    for (products, exponent) in [0, -700, 700].into_iter().enumerate() {
        let scaled: Vec<f64> = b.iter().map(|&v| times_power_of_two(v, exponent)).collect();
        design.adjoint(&scaled, &mut g);
        let most = g.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if let (true, Some(found)) = (g.iter().all(|v| v.is_finite()), exponent_of_two(most)) {
            return (times_power_of_two(1.0, (found - exponent).clamp(-1020, 1020)), products + 1);
        }
    }
    (1.0, 3)
}

fn written_out(design: &AnyDesign<'_>) -> Result<AnyDesign<'static>, Error> {
    let (rows, columns) = (design.n_outputs(), design.domain());
    let mut data = vec![0.0; rows * columns];
    for (j, column) in data.chunks_mut(rows).enumerate() {
        design.apply(&SparseVec::new(columns, vec![j], vec![1.0])?, column);
    }
    Ok(Dense::column_major(data, rows, columns)?.into())
}

type Moving<'a, 'd> = Run<'a, Sample<'d, AnyDesign<'d>>, AnyLoss, Entries, AtomMethod>;

fn is_cut(status: Status) -> bool {
    matches!(status, Status::Stopped | Status::TimeLimit)
}

fn better(a: Outcome<SparseVec>, b: Outcome<SparseVec>) -> Outcome<SparseVec> {
    let reads = a.reads + b.reads;
    let (iterations, passes, seconds) = (a.iterations + b.iterations, a.passes + b.passes, a.seconds + b.seconds);
    let columns = a.columns + b.columns;
    let cut = is_cut(b.status).then_some(b.status);
    let best = if b.objective < a.objective { b } else { a };
    Outcome { status: cut.unwrap_or(best.status), iterations, passes, reads, columns, seconds, ..best }
}

struct Job<'a, 'd> {
    f: &'a Squares<'d>,
    set: &'a Entries,
    how: &'a Recovery,
    budget: Budget,
}

impl<'d> Job<'_, 'd> {
    fn phase(&self) -> Phase {
        Phase::Final { atoms: self.how.k }
    }

    fn moved<'m>(
        &'m self,
        method: &'m AtomMethod,
        resume: Option<&[u8]>,
        watch: &mut dyn Watch,
    ) -> Result<Moving<'m, 'd>, Error> {
        let options = Options { stop: self.how.stop, ..Options::default() };
        let mut run = match resume {
            Some(state) => Run::resume(self.f, self.set, method, options, state)?,
            None => Run::new(self.f, self.set, method, options)?,
        };
        drive(&mut run, Part { phase: self.phase(), done: 0, of: 1, can_save: true }, watch)?;
        Ok(run)
    }

    fn in_turn(&self, watch: &mut dyn Watch) -> Result<Outcome<SparseVec>, Error> {
        let mut best: Option<Outcome<SparseVec>> = None;
        let of = IN_TURN.len();
        for (done, &(name, growth)) in IN_TURN.iter().enumerate() {
            let method = AtomMethod::named(name)?;
            let stages = match growth {
                Growth::Direct => Stages::direct(),
                Growth::Staged => Stages::growing(self.how.k),
            };
            let stop = self.budget.left(self.how.stop, 0.0);
            let mut run = Run::new(self.f, self.set, &method, Options { stop, stages, ..Options::default() })?;
            drive(&mut run, Part { phase: self.phase(), done, of, can_save: false }, watch)?;
            let next = run.outcome();
            let ended = is_cut(next.status) || self.explains(&next);
            best = Some(match best {
                None => next,
                Some(best) => better(best, next),
            });
            if ended {
                break;
            }
        }
        best.ok_or(Error::Empty { what: "the list of methods" })
    }

    /// Whether nothing, or nothing but noise, is left of b.
    fn explains(&self, outcome: &Outcome<SparseVec>) -> bool {
        let zero = self.f.value(&self.f.at(SparseVec::zero(self.f.operator().domain())));
        let noise = self.how.noise.map_or(0.0, |s| 0.5 * s * s * self.f.operator().n_outputs() as f64);
        outcome.objective <= (EXACT * EXACT * zero).max(noise)
    }

    fn searched(&self, resume: Option<&[u8]>, watch: &mut dyn Watch) -> Result<Outcome<SparseVec>, Error> {
        let how = Search { noise: self.how.noise, ..Search::default() };
        let method = AtomMethod::named("accelerated-iht")?;
        let run = self.moved(&method, resume, watch)?;
        searched(run, &how, self.phase(), watch)
    }

    fn recovered(&self, outcome: Outcome<SparseVec>, units: &Units) -> Result<Recovered, Error> {
        let Outcome { point, status, iterations, passes, seconds, quality, attempts, trace, .. } = outcome;
        let x = self.f.operator().to_original(&point).0;
        let zero = self.f.residual(&self.f.at(SparseVec::zero(point.dim())));
        let residual_norm = linalg::norm(&self.f.residual(&self.f.at(point)));
        let size = linalg::norm(&zero);
        let relative_residual = if residual_norm == 0.0 { 0.0 } else { residual_norm / size };
        let most_entries = self.how.entries.most_entries((zero.len(), x.dim()))?;
        let complete = !is_cut(status);
        let attempts = attempts.iter().map(|attempt| units.attempt(attempt)).collect();
        let trace = trace.iter().map(|event| units.event(event)).collect();
        let quality = quality.map(|quality| units.quality(quality));
        Ok(Recovered {
            x: units.signal(&x)?,
            residual_norm: units.level(residual_norm),
            relative_residual,
            most_entries,
            complete,
            status,
            quality,
            attempts,
            iterations,
            passes,
            seconds,
            trace,
        })
    }
}
