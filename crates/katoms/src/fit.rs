//! The one way in: what is fitted, how, and who looks on.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::driver::{Event, Options, Outcome, Run};
use crate::error::Error;
use crate::loss::{Loss, Split};
use crate::method::{AcceleratedIht, Method};
use crate::objective::Objective;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::search::{Effort, GoOn, Heredity, Observer, Search, Searchable, search_from};
use crate::select::{Bounds, Path, Preparation, path, path_within_bounds, search_with_heredity, search_within_bounds};
use crate::set::{ConstraintSet, CoordinateSet};
use crate::space::SparseVec;

/// A fit: the best k atoms for an objective, by default with accelerated IHT and a search from its end.
///
/// ```
/// use katoms::{Fit, Objective, loss::LeastSquares, operator::Dense, search::Effort, select::Bounds, set::KSparse, simulate};
/// use std::ops::ControlFlow;
/// use std::time::Duration;
///
/// let x = simulate::gaussian(50, 20, 1);
/// let y: Vec<f64> = (0..50).map(|i| 3.0 * x[i] - 5.0 * x[50 + i] + 2.0 * x[100 + i]).collect();
/// let f = Objective::new(Dense::column_major(&x, 50, 20)?, LeastSquares::new(y)?)?;
/// let set = KSparse::new(2, 20)?;
///
/// let outcome = Fit::new(&f, &set).effort(Effort::THOROUGH).deadline(Duration::from_secs(60)).run()?;
/// assert_eq!(outcome.point.indices(), [0, 1]);
///
/// // no coefficient may be negative
/// let bounded = Fit::new(&f, &set).bounds(Bounds::nonnegative(20)?).run()?;
/// assert_eq!(bounded.point.indices(), [0, 2]);
///
/// // a model of each size; whoever looks on may stop the work
/// let path = Fit::new(&f, &set).poll(|_sizes_done| ControlFlow::Continue(())).path(0..=5)?;
/// assert_eq!(path.models.len(), 6);
/// # Ok::<(), katoms::Error>(())
/// ```
#[must_use = "a fit does nothing until it is run"]
pub struct Fit<'a, A: LinearOperator, L, S, M = AcceleratedIht, B = ()> {
    f: &'a Objective<A, L>,
    set: &'a S,
    method: M,
    restriction: B,
    options: Options,
    search: Search,
    start: Option<A::Point>,
    observer: Box<Observer<'a, A::Point>>,
    poll: Box<GoOn<'a>>,
}

impl<'a, A, L, S> Fit<'a, A, L, S>
where
    A: LinearOperator,
    S: ConstraintSet<Point = A::Point>,
{
    /// A fit with every default.
    pub fn new(f: &'a Objective<A, L>, set: &'a S) -> Self {
        Self {
            f,
            set,
            method: AcceleratedIht::for_structure(set.structure()),
            restriction: (),
            options: Options::for_set(set),
            search: Search::default(),
            start: None,
            observer: Box::new(|_, _| ControlFlow::Continue(())),
            poll: Box::new(|_| ControlFlow::Continue(())),
        }
    }

    /// The same with another method for its run.
    pub fn method<M>(self, method: M) -> Fit<'a, A, L, S, M> {
        let Self { f, set, restriction, options, search, start, observer, poll, .. } = self;
        Fit { f, set, method, restriction, options, search, start, observer, poll }
    }

    /// The same with lower and upper bounds on the coefficients. A model then grows atom by atom, and the search goes on
    /// from there: method and effort have no part in it.
    pub fn bounds(self, bounds: Bounds) -> Fit<'a, A, L, S, AcceleratedIht, Bounds> {
        let Self { f, set, method, search, start, observer, poll, options, .. } = self;
        let options = Options { stop: options.stop, ..Options::default() };
        Fit { f, set, method, restriction: bounds, options, search, start, observer, poll }
    }

    /// The same where some atoms come into a model only beside others: products of features beside their factors, say. The
    /// method has no part in it.
    pub fn heredity(self, heredity: Heredity) -> Fit<'a, A, L, S, AcceleratedIht, Heredity> {
        let Self { f, set, method, search, start, observer, poll, options, .. } = self;
        let options = Options { stop: options.stop, ..Options::default() };
        Fit { f, set, method, restriction: heredity, options, search, start, observer, poll }
    }
}

impl<'a, A: LinearOperator, L, S, M, B> Fit<'a, A, L, S, M, B> {
    /// How hard the search after the run tries; [`Effort::Quick`] is the run alone.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.search.effort = effort;
        self
    }

    /// What the search is asked for: effort, a statement of quality, the noise in the target.
    pub fn search(mut self, search: Search) -> Self {
        self.search = search;
        self
    }

    /// When a run ends, how k grows, and whether passes may be partial.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How long the work may take, from its beginning: then it ends with the best so far.
    pub fn deadline(mut self, most: Duration) -> Self {
        self.options.stop.seconds = Some(most.as_secs_f64());
        self
    }

    /// A point to begin with.
    pub fn start(mut self, x: A::Point) -> Self {
        self.start = Some(x);
        self
    }

    /// Who sees every move, and may stop the work: the outcome is then the best so far.
    pub fn observe(mut self, observer: impl FnMut(&Event, &A::Point) -> ControlFlow<()> + 'a) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Who is asked, also within long moves, whether the work shall go on; it hears how many moves, or sizes of a path, are
    /// done.
    pub fn poll(mut self, poll: impl FnMut(usize) -> ControlFlow<()> + 'a) -> Self {
        self.poll = Box::new(poll);
        self
    }

    /// The poll, which also ends when the deadline is over.
    fn within_deadline(&mut self) -> impl FnMut(usize) -> ControlFlow<()> + '_ {
        let (clock, seconds, poll) = (Instant::now(), self.options.stop.seconds, &mut self.poll);
        move |done| match seconds {
            Some(most) if clock.elapsed().as_secs_f64() > most => ControlFlow::Break(()),
            _ => poll(done),
        }
    }
}

impl<A, L, S, M> Fit<'_, A, L, S, M>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
{
    /// The best answer that the search finds.
    ///
    /// # Errors
    /// When the objective, the set and the start live in different spaces, or an option makes no sense.
    pub fn run(mut self) -> Result<Outcome<A::Point>, Error>
    where
        M: Method<A, L, S>,
    {
        self.search.check()?;
        let run = match self.start.take() {
            Some(x) => Run::starting_at(self.f, self.set, &self.method, self.options, x)?,
            None => Run::new(self.f, self.set, &self.method, self.options)?,
        };
        search_from(run, &self.search, &mut *self.observer, &mut *self.poll)
    }

    /// The best answer from a run that the caller has moved by itself and saved on the way, or resumed. Its objective, its
    /// set and its options count.
    ///
    /// # Errors
    /// When an option of the search makes no sense.
    ///
    /// ```
    /// use katoms::driver::{Options, Run};
    /// use katoms::{Fit, Objective, loss::LeastSquares, method::AcceleratedIht, operator::Dense, set::*, simulate};
    /// let x = simulate::gaussian(40, 60, 3);
    /// let f = Objective::new(Dense::column_major(&x, 40, 60)?, LeastSquares::new(x[..40].to_vec())?)?;
    /// let set = KSparse::new(1, 60)?;
    /// let method = AcceleratedIht::for_structure(set.structure());
    /// let mut run = Run::new(&f, &set, &method, Options::for_set(&set))?;
    /// run.step();
    /// let state = run.save()?; // to a file, against a power cut
    /// let run = Run::resume(&f, &set, &method, Options::for_set(&set), &state)?;
    /// let outcome = Fit::new(&f, &set).run_from(run)?;
    /// assert_eq!(outcome.point.indices(), [0]);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn run_from<N: Method<A, L, S>>(mut self, run: Run<'_, A, L, S, N>) -> Result<Outcome<A::Point>, Error> {
        search_from(run, &self.search, &mut *self.observer, &mut *self.poll)
    }

    /// A model of each of the sizes, which rise, each with exactly that many atoms where the data have so many that matter.
    /// The model of size 0 is what is always in, an intercept say, and nothing else. When the poll stops the work, the
    /// models that are there remain.
    ///
    /// # Errors
    /// When no size is given, sizes do not rise or are out of range, or the objective and the set live in different spaces.
    ///
    /// ```
    /// use katoms::{Fit, Objective, loss::LeastSquares, operator::Dense, select::Criterion, set::KSparse, simulate};
    /// let design = simulate::gaussian(50, 30, 1);
    /// let y: Vec<f64> = (0..50).map(|i| 3.0 * design[i] - 2.0 * design[50 + i]).collect();
    /// let y = simulate::noisy(&y, 0.1, 1);
    /// let f = Objective::new(Dense::column_major(&design, 50, 30)?, LeastSquares::new(y)?)?;
    /// let path = Fit::new(&f, &KSparse::new(1, 30)?).path(0..=8)?;
    /// let best = path.best(Criterion::EBIC, None)?;
    /// assert_eq!(best.point.indices(), [0, 1]);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn path(mut self, sizes: impl IntoIterator<Item = usize>) -> Result<Path<A::Point>, Error> {
        let (f, set, sizes) = (self.f, self.set, sizes.into_iter().collect::<Vec<_>>());
        path(f, set, &sizes, &mut self.within_deadline())
    }
}

impl<A, L, S, M> Fit<'_, A, L, S, M, Bounds>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// The best model of k atoms within bounds that a search finds. The
    /// [stationarity](crate::driver::Quality::stationarity) of the answer is what its atoms miss of the conditions of
    /// Karush, Kuhn and Tucker.
    ///
    /// # Errors
    /// When set, bounds, start and operator live in different spaces, an option makes no sense, or the design has no
    /// columns to be had one by one.
    pub fn run(self) -> Result<Outcome<SparseVec>, Error> {
        let Self { f, set, restriction: bounds, options, start, mut observer, poll, .. } = self;
        let poll = RefCell::new(poll);
        search_within_bounds(f, set, (&bounds, start, options), &mut *observer, &mut |done| (poll.borrow_mut())(done))
    }

    /// A model of each of the sizes within bounds, each looked for from the one before. A model has fewer atoms than its
    /// size where the bounds leave no others that lower f.
    ///
    /// # Errors
    /// As for a path without bounds, or as [`run`](Self::run).
    pub fn path(mut self, sizes: impl IntoIterator<Item = usize>) -> Result<Path<SparseVec>, Error> {
        let (f, set, sizes) = (self.f, self.set, sizes.into_iter().collect::<Vec<_>>());
        let bounds = self.restriction.clone();
        path_within_bounds(f, set, &bounds, &sizes, &mut self.within_deadline())
    }
}

impl<A, L, S, M> Fit<'_, A, L, S, M, Heredity>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// The best model of at most k atoms that a search among those that heredity allows finds.
    ///
    /// # Errors
    /// When set, parents, start and operator do not fit together, an option makes no sense, or the design has no columns to
    /// be had one by one.
    pub fn run(self) -> Result<Outcome<SparseVec>, Error> {
        let Self { f, set, restriction: heredity, options, search, start, mut observer, poll, .. } = self;
        search.check()?;
        let poll = RefCell::new(poll);
        let asked = (&heredity, start, options);
        search_with_heredity(f, set, asked, search.effort, &mut *observer, &mut |done| (poll.borrow_mut())(done))
    }
}

/// A model in the units of its design, and how it was found.
#[derive(Debug, Clone)]
pub struct LinearModel {
    /// The coefficients: of several outputs those of the first, then those of the second.
    pub coefficients: SparseVec,
    /// The constant of the predictions of each output.
    pub intercepts: Vec<f64>,
    /// The fit, in the units in which it was made.
    pub outcome: Outcome<SparseVec>,
}

impl LinearModel {
    /// The constant of the predictions of the first output, most often the only one.
    pub fn intercept(&self) -> f64 {
        self.intercepts[0]
    }
}

impl Preparation {
    /// The best k atoms of a design that is standardised for the fit, with an intercept, as far as this preparation says so and
    /// the loss has one.
    ///
    /// # Errors
    /// When design, loss and set do not fit together, the ridge is negative or not finite, or squares of a column or of the
    /// target leave the range of double precision.
    ///
    /// ```
    /// use katoms::{loss::LeastSquares, operator::Dense, select::Preparation, set::KSparse};
    /// let x = [5.0, 3.0, 8.0, 1.0, 4.0,   0.001, 0.005, 0.002, 0.009, 0.004];
    /// let y: Vec<f64> = x[5..].iter().map(|v| 100.0 + 2.0 * v).collect();
    /// let model = Preparation::default().fit(&Dense::column_major(&x, 5, 2)?, &LeastSquares::new(y)?, &KSparse::new(1, 2)?)?;
    /// assert_eq!(model.coefficients.indices(), [1]);
    /// assert!((model.coefficients.value_at(1) - 2.0).abs() < 1e-9 && (model.intercept() - 100.0).abs() < 1e-9);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn fit<A, L, S>(&self, design: &A, loss: &L, set: &S) -> Result<LinearModel, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
        L: Split,
        S: CoordinateSet,
    {
        let suited = self.suited_to(loss);
        let f = suited.objective(design, loss, (0..design.n_outputs()).collect())?;
        let outcome = Fit::new(&f, &suited.set(set, loss)?).run()?;
        let (coefficients, intercepts) = f.operator().to_original(&outcome.point);
        Ok(LinearModel { coefficients, intercepts, outcome })
    }
}
