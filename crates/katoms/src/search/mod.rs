//! The best answer: the search for the k atoms with which f is least.
//!
//! A run of the method comes first. An easy problem pays for nothing else: a perfect fit, a residual at the level of the
//! noise, or a model of which every atom matters far more than any other would ends the search. Otherwise the search goes on
//! from there, on a **working set** of atoms whose columns are at hand:
//!
//! 1. **local search** on the quadratic of f over the working set, which reads no data: atoms are added, dropped and
//!    exchanged in closed form, models of neighbouring sizes improve each other, kicks lead to
//!    others;
//! 2. **accept** on f: for least squares the quadratic is f, for other losses it is the Newton model around a point, and the
//!    best of what it proposes are refitted on f;
//! 3. **pricing**: one pass over the data with the best few models, which looks at all atoms outside; those that promise
//!    most join the working set;
//!
//! until nothing better is found. Then every exchange of one atom for another has been compared, or
//! [`Quality`](crate::driver::Quality) says how many were. The loop itself is `squares::Squares::best` and, for other
//! losses, `accept::Accept::best`.

mod accept;
pub(crate) mod bounds;
mod box_minimum;
mod boxed;
mod certificate;
mod coordinates;
mod enumerate;
mod enumerate_scan;
mod enumerate_tree;
mod exchanges;
mod explore;
mod found;
mod group_gains;
mod grow;
mod heredity;
mod kicks;
mod large;
mod local_search;
mod partners;
mod pricing;
mod problem;
mod propose;
pub(crate) mod quadratic;
mod rank;
mod relaxation;
mod responses;
mod scaled;
mod session;
mod size_path;
mod sizes;
mod squares;
mod state;
mod swap;
mod sweep;
pub(crate) mod tableau;
mod within;
mod working_set;

use std::ops::ControlFlow;

pub use certificate::{Certify, certify};
pub(crate) use coordinates::{explore_with_heredity, explore_within};
pub(crate) use explore::Observer;
pub use explore::{Explore, GoOn, Improved, Searchable};
pub(crate) use grow::Grow;
pub use heredity::Heredity;
pub(crate) use local_search::{LocalSearch, Model, Work};
pub(crate) use pricing::falls;
pub(crate) use problem::Problem;
pub(crate) use propose::FLAT;
pub(crate) use quadratic::{Quadratic, Terms};
pub(crate) use size_path::SizePath;
pub(crate) use within::{SETTLED, null_model};
pub(crate) use working_set::{Local, WorkingSet};

use crate::driver::{Event, Outcome, Run, Status};
use crate::error::{Error, check_option};
use crate::loss::Loss;
use crate::method::Method;
use crate::operator::LinearOperator;
use session::Session;

/// How hard a search tries. Work is counted, not timed: the answer is the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Effort {
    /// The run of the method alone.
    Quick,
    /// A search that takes about as long as the passes over the data.
    #[default]
    Default,
    /// A search with so many times the work of the default: 1 is the default itself.
    Times(f64),
}

impl Effort {
    /// A search that goes on long after the default one would end.
    pub const THOROUGH: Self = Self::Times(30.0);

    /// "quick", "default", "thorough", or how many times the work of the default; `None` for anything else.
    ///
    /// ```
    /// use katoms::search::Effort;
    /// assert_eq!(Effort::named("thorough"), Some(Effort::THOROUGH));
    /// assert_eq!(Effort::named("2.5"), Some(Effort::Times(2.5)));
    /// assert_eq!(Effort::named("-1"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "quick" => Some(Self::Quick),
            "default" => Some(Self::Default),
            "thorough" => Some(Self::THOROUGH),
            number => number.parse().ok().filter(|times: &f64| times.is_finite() && *times > 0.0).map(Self::Times),
        }
    }

    /// The work as a multiple of the default.
    pub(crate) fn times(self) -> f64 {
        match self {
            Self::Quick => 0.0,
            Self::Default => 1.0,
            Self::Times(times) => times,
        }
    }

    /// Rounds without a better model that a search goes on for, beyond those of the default.
    pub(crate) fn extra(self) -> usize {
        self.times().log2().clamp(0.0, 4.0) as usize
    }
}

/// What a search is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// How hard it tries.
    pub effort: Effort,
    /// Whether the answer comes with a statement of its quality. After a quick run that costs a pass or two.
    pub quality: bool,
    /// The standard deviation of the noise in a least-squares target, if it is known: an answer whose
    /// residual is no larger ends the search.
    pub noise: Option<f64>,
}

impl Default for Search {
    fn default() -> Self {
        Self { effort: Effort::Default, quality: true, noise: None }
    }
}

impl Search {
    /// One run of the method from zero, and nothing after it.
    pub fn quick() -> Self {
        Self { effort: Effort::Quick, quality: false, noise: None }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let noise = self.noise.unwrap_or(0.0);
        check_option("noise", noise, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
        let times = self.effort.times();
        check_option("effort", times, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)
    }
}

/// The best answer from a run. `go_on` is asked within long moves as well; the observer hears of a move only when it is made.
pub(crate) fn search_from<A, L, S, M>(
    run: Run<'_, A, L, S, M>,
    search: &Search,
    observer: &mut Observer<'_, A::Point>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    let (f, set, ..) = run.problem();
    let mut explore = set.explore(f);
    search_with(run, explore.as_mut(), search, observer, go_on)
}

/// The same among the points of a structure.
pub(crate) fn search_with<'a, A, L, S, M>(
    run: Run<'a, A, L, S, M>,
    explore: &mut (dyn Explore<A::Point> + 'a),
    search: &Search,
    observer: &mut Observer<'_, A::Point>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    search.check()?;
    Session::new(run, explore, search, &mut |event, x| observer(event, x), &mut |done| go_on(done)).search()
}

/// The best answer with every default and a statement of its quality, from a run for one size of a path: the fit of that
/// size. No certificate is looked for.
pub(crate) fn best_from<'a, A, L, S, M>(
    run: Run<'a, A, L, S, M>,
    explore: &mut (dyn Explore<A::Point> + 'a),
) -> Result<(Improved<A::Point>, Status), Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    let search = Search::default();
    let (mut observer, mut go_on) =
        (|_: &Event, _: &A::Point| ControlFlow::Continue(()), |_| ControlFlow::Continue(()));
    Session::new(run, explore, &search, &mut observer, &mut go_on).answer()
}
