//! The best answer: several starts, each polished by exchanges, until one is good enough.
//!
//! An easy problem pays nothing for this: a perfect fit, a residual at the level of the noise, or a
//! first answer that no exchange of atoms improves ends the search. Otherwise the first start was
//! stuck; if the problem is hard, others are tried, and two that lead to the same objective end it.

use std::ops::ControlFlow;

use super::neighbourhood::{GoOn, Searchable};
use super::seeker::Seeker;
use crate::driver::{Event, Options, Outcome, Run, Start, check};
use crate::error::{Error, check_option};
use crate::loss::Loss;
use crate::method::Method;
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::set::Structure;
use crate::space::Point;

/// When a search goes on to another start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escalate {
    /// When the first start was stuck, so that exchanges improved it, and the problem is hard: k is above
    /// half of what the [phase transition](super::phase_transition_k) allows for as many rows and columns.
    /// And when the problem is so small that other starts take milliseconds, unless every atom of the first answer
    /// matters far more than any other would.
    WhenHard,
    /// When the first start was stuck. A large problem may take many times as long for little.
    WhenStuck,
}

/// How hard a search tries.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Where it begins, in this order, until an answer is good enough. A start that the structure does not
    /// have is left out; where none is left, the search begins at zero. [`Start::Detour`] comes after all others
    /// wherever it stands, unless the first start needed no exchange; it is among the attempts where it led to
    /// something better.
    pub starts: Vec<Start>,
    /// Whether atoms are exchanged. Without, a model grows by the method alone.
    pub exchanges: bool,
    /// When starts after the first are tried. Without exchanges none is.
    pub escalate: Escalate,
    /// Whether the answer comes with a statement of its quality. Without exchanges that costs a pass
    /// or two.
    pub quality: bool,
    /// The standard deviation of the noise in a least-squares target, if it is known: an answer whose
    /// residual is no larger ends the search.
    pub noise: Option<f64>,
}

impl Search {
    /// All starts that a structure has.
    pub fn for_structure(structure: Structure) -> Self {
        let starts = match structure {
            Structure::Coordinates => vec![Start::Thresholded, Start::Grown, Start::Lasso, Start::Detour],
            // A matrix grows within its first run: see `Stages::for_set`.
            Structure::RankOne => vec![Start::Thresholded],
        };
        Self { starts, exchanges: true, escalate: Escalate::WhenHard, quality: true, noise: None }
    }

    /// One run of the method from zero, and nothing after it.
    pub fn quick() -> Self {
        let starts = vec![Start::Thresholded];
        Self { starts, exchanges: false, escalate: Escalate::WhenHard, quality: false, noise: None }
    }

    fn check(&self) -> Result<(), Error> {
        let noise = self.noise.unwrap_or(0.0);
        check_option("noise", noise, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
        if self.starts.is_empty() { Err(Error::Empty { what: "the list of starts" }) } else { Ok(()) }
    }
}

/// The best answer that the search finds. The observer sees every move and may stop the search, which
/// then gives the best answer so far.
///
/// # Errors
/// When the set and the operator live in different spaces, or an option makes no sense.
///
/// ```
/// use katoms::{Objective, Options, loss::LeastSquares, method::AcceleratedIht, operator::Dense, set::*, simulate};
/// use katoms::select::{Search, search};
/// use std::ops::ControlFlow;
/// let x = simulate::autoregressive(40, 60, 0.8, 3); // neighbours are alike
/// let y = simulate::noisy(&x[..40], 0.1, 3);
/// let f = Objective::new(Dense::column_major(&x, 40, 60)?, LeastSquares::new(y)?)?;
/// let set = KSparse::new(5, 60)?;
/// let method = AcceleratedIht::for_structure(set.structure());
/// let options = Search::for_structure(set.structure());
/// let outcome = search(&f, &set, &method, Options::for_set(&set), &options, |_, _| ControlFlow::Continue(()))?;
/// let quality = outcome.quality.ok_or("it was asked for")?;
/// assert!(quality.exhaustive && !quality.improvable());
/// assert_eq!(quality.exchanges_compared, 5 * 55);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn search<A, L, S, M>(
    f: &Objective<A, L>,
    set: &S,
    method: &M,
    options: Options,
    search: &Search,
    mut observer: impl FnMut(&Event, &A::Point) -> ControlFlow<()>,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    search.check()?;
    if search.starts.first() == Some(&Start::Thresholded) {
        return search_from(Run::new(f, set, method, options)?, search, observer, &mut |_| ControlFlow::Continue(()));
    }
    check(f, set, &options, &A::Point::zero(set.domain()))?;
    Seeker::new(f, set, method, options, search, &mut observer).search()
}

/// The same search, where a run takes the place of the start at zero: one that the caller has moved by itself
/// and saved on the way, or resumed. It comes first, whatever [`Search::starts`] says of it. `go_on` is asked within
/// long moves as well, between two exchanges or two points of the Lasso path; the observer hears of a move only when it
/// is made.
///
/// # Errors
/// When an option of the search makes no sense.
///
/// ```
/// use katoms::driver::{Options, Run};
/// use katoms::{Objective, loss::LeastSquares, method::AcceleratedIht, operator::Dense, set::*, simulate};
/// use katoms::select::{Search, search_from};
/// use std::ops::ControlFlow;
/// let x = simulate::gaussian(40, 60, 3);
/// let f = Objective::new(Dense::column_major(&x, 40, 60)?, LeastSquares::new(x[..40].to_vec())?)?;
/// let set = KSparse::new(1, 60)?;
/// let method = AcceleratedIht::for_structure(set.structure());
/// let mut run = Run::new(&f, &set, &method, Options::for_set(&set))?;
/// run.step();
/// let state = run.save()?; // to a file, against a power cut
/// let run = Run::resume(&f, &set, &method, Options::for_set(&set), &state)?;
/// let how = Search::for_structure(set.structure());
/// let outcome = search_from(run, &how, |_, _| ControlFlow::Continue(()), &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(outcome.point.indices(), [0]);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn search_from<A, L, S, M>(
    run: Run<'_, A, L, S, M>,
    search: &Search,
    mut observer: impl FnMut(&Event, &A::Point) -> ControlFlow<()>,
    go_on: &mut GoOn<'_>,
) -> Result<Outcome<A::Point>, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Searchable<A, L>,
    M: Method<A, L, S>,
{
    search.check()?;
    Seeker::from(run, search, &mut observer, go_on).search()
}
