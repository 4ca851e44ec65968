//! Accelerated iterative hard thresholding: Algorithm 1 of Khanna and Kyrillidis, "IHT dies hard:
//! Provable convergence for accelerated Iterative Hard Thresholding" (2018).
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! | paper | code | |
//! |---|---|---|
//! | x_i, x_{i+1} | `x`, `x_next` | iterates of at most k atoms |
//! | u_i, 𝒰_i | `u`, `u.point().support()` | the extrapolated point, at most 2k atoms |
//! | ∇f(u_i) | `g` | the gradient that the driver brings: the one pass |
//! | 𝒯_i | `t` | where the step may move, at most 3k atoms |
//! | ∇_𝒯 f(u_i) | `g_t` | the restricted gradient, with its image |
//! | μ_i, τ | `mu`, `tau` | step and momentum |
//! | Π_k | `set.project` | |
//!
//! Plain IHT is τ = 0; on matrices that is singular value projection (SVP); HTP is τ = 0 with a
//! refit in every iteration.
//!
//! The line search can cycle on correlated designs, because its step is longer than 1/β. The
//! *safeguard* is a descent test: a step that does not lower f(x) is halved; if no step from the
//! extrapolated point u descends, the momentum is dropped and the next gradient is taken at x; if
//! a step from x leads back to x, x is a fixed point; if no step descends, the run has stalled.

use serde::{Deserialize, Serialize};

use super::momentum::MomentumMemory;
use super::refit::{Refitted, refit};
use super::smooth::{Algorithm, AtomSet, Smooth};
use super::step::StepMemory;
use super::{Momentum, Move, Progress, Refit, Step, relative_change};
use crate::error::Error;
use crate::objective::Evaluated;
use crate::set::Structure;
use crate::space::{Covector, Point};

/// Halvings of a step before the safeguard gives up on it.
const HALVINGS: usize = 30;

/// Whether a step must lower f.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safeguard {
    /// Steps are taken as they come, as in the paper.
    Off,
    /// A step that does not lower f is shortened.
    Descent,
}

/// Algorithm 1 with its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceleratedIht {
    /// How far a step goes. Default: restricted line search.
    pub step: Step,
    /// How far the iterate is extrapolated.
    pub momentum: Momentum,
    /// Whether the iterate is optimised over its support.
    pub refit: Refit,
    /// Whether a step must lower f. Default: it must.
    pub safeguard: Safeguard,
}

impl AcceleratedIht {
    /// The defaults for a structure, chosen by measurement (`cargo run --release -p katoms-bench
    /// --bin heart`): coordinates are refitted in every iteration, which leaves momentum nothing to
    /// gain; matrices, whose refit is dear, are extrapolated by the closed form.
    pub fn for_structure(structure: Structure) -> Self {
        let (momentum, refit) = match structure {
            Structure::Coordinates => (Momentum::Constant(0.0), Refit::EveryIteration),
            Structure::RankOne => (Momentum::ClosedForm, Refit::Never),
        };
        Self { step: Step::LineSearch, momentum, refit, safeguard: Safeguard::Descent }
    }

    /// Plain IHT with this step: no momentum, no refit, no safeguard.
    pub fn plain(step: Step) -> Self {
        Self { step, momentum: Momentum::Constant(0.0), refit: Refit::Never, safeguard: Safeguard::Off }
    }

    /// Singular value projection: plain IHT on [`Rank`](crate::set::Rank), by P. Jain, R. Meka and I. Dhillon,
    /// "Guaranteed rank minimization via singular value projection" (2010). Their step is 1/(1 + δ) for maps
    /// of restricted isometry δ and 1/((1 + δ)·p) for a share p of observed entries; the line search needs
    /// neither. One pass an iteration.
    ///
    /// ```
    /// use katoms::method::{AcceleratedIht, Step};
    /// assert_eq!(AcceleratedIht::svp(Step::LineSearch), AcceleratedIht::plain(Step::LineSearch));
    /// ```
    pub fn svp(step: Step) -> Self {
        Self::plain(step)
    }

    /// Lines 2 and 3 at the first of the steps μ, μ/2, … that passes the safeguard.
    fn descend<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        set: &dyn AtomSet<P, G>,
        state: &IhtState<P>,
        g_t: &Evaluated<P>,
        mut mu: f64,
    ) -> Result<Descent<P>, Stuck> {
        let mut longest = None;
        let mut refused: Option<P::Support> = None;
        for _ in 0..HALVINGS {
            let v = P::combine(1.0, state.u.point(), -mu, g_t.point()); //   2: ū
            let projected = set.project(v);
            if refused.as_ref().is_some_and(|support| *support == projected.support()) {
                mu *= 0.5; // the minimum over these atoms did not pass
                continue;
            }
            let x_next = self.refitted(f, projected, state); //                     3: x⁺ = Π_k(ū)
            let passes = match self.safeguard {
                Safeguard::Off => true,
                Safeguard::Descent => f.value(&x_next.point) < state.objective,
            };
            if passes {
                return Ok(Descent { x_next, mu });
            }
            if x_next.point == state.x {
                return Err(Stuck { kind: Move::Fixed, change: 0.0 }); // shorter steps lead nowhere else
            }
            longest.get_or_insert_with(|| relative_change(x_next.point.point(), state.x.point()));
            if self.refit == Refit::EveryIteration && x_next.settled {
                refused = Some(x_next.point.point().support());
            }
            mu *= 0.5;
        }
        Err(Stuck { kind: Move::Stalled, change: longest.unwrap_or(0.0) })
    }

    /// The projected point with its image, optimised over its support if so chosen. On the support
    /// of x, where that is optimised already, it is x itself.
    fn refitted<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        projected: P,
        state: &IhtState<P>,
    ) -> Refitted<P> {
        if self.refit != Refit::EveryIteration {
            return Refitted { point: f.at(projected), settled: false };
        }
        let support = projected.support();
        if support != state.x.point().support() {
            return refit(f, f.at(projected), &support);
        }
        let point = state.x.clone();
        if state.optimised { Refitted { point, settled: true } } else { refit(f, point, &support) }
    }
}

/// A step that passed the safeguard.
struct Descent<P> {
    x_next: Refitted<P>,
    mu: f64,
}

/// Why no step did, and how far the longest one would have moved.
struct Stuck {
    kind: Move,
    change: f64,
}

/// Where Algorithm 1 stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct IhtState<P> {
    x: Evaluated<P>,
    u: Evaluated<P>,
    objective: f64,
    /// Whether x is known to be the minimum over its support.
    optimised: bool,
    extrapolated: bool,
    step: StepMemory,
    momentum: MomentumMemory,
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for AcceleratedIht {
    type State = IhtState<P>;
    type Subject = dyn AtomSet<P, G>;

    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.step.check(f.loss())?;
        self.momentum.check()?;
        let x0 = set.project(x0);
        let support = x0.support();
        let start = match self.refit {
            Refit::EveryIteration => refit(f, f.at(x0), &support),
            Refit::Never | Refit::AtEnd => Refitted { point: f.at(x0), settled: false },
        };
        let Refitted { point: x, settled: optimised } = start;
        let (u, objective) = (x.clone(), f.value(&x));
        let (step, momentum) = (self.step.prepare(f), MomentumMemory::default());
        Ok(IhtState { x, u, objective, optimised, extrapolated: false, step, momentum })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.u
    }

    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let t = set.expand(g, &state.u.point().support()); //            1: 𝒯 ← supp Π_k(∇_{𝒰ᶜ} f(u)) ∪ 𝒰
        let g_t = g.on(&t);
        f.fetch(&g_t.support()); //                                         all that the move asks for
        let g_t = f.at(g_t); //                                             ∇_𝒯 f(u), with its image
        let mu = self.step.size(f, &state.u, &g_t, &mut state.step);
        if mu == 0.0 && g_t.point().norm() > 0.0 {
            // f is flat along its own gradient: nothing says that u is stationary.
            return no_descent(state, mu, &Stuck { kind: Move::Stalled, change: f64::INFINITY });
        }
        let (x_next, mu) = match self.descend(f, set, state, &g_t, mu) {
            Ok(Descent { x_next, mu }) => (x_next, mu),
            Err(stuck) => return no_descent(state, mu, &stuck),
        };
        let Refitted { point: x_next, settled: optimised } = x_next;
        let moved = Evaluated::combine(1.0, &x_next, -1.0, &state.x);
        let tau = self.momentum.tau(f, &x_next, &moved, &mut state.momentum);
        let length = moved.point().norm();
        let u_next = Evaluated::combine_into(1.0, &x_next, tau, moved); // 4: u⁺ = x⁺ + τ(x⁺ − x)

        let objective = f.value(&x_next);
        let progress = Progress::moved_by(length, objective, x_next.point(), state.x.point());
        let progress = Progress { step: mu, momentum: tau, ..progress };
        (state.x, state.u) = (x_next, u_next);
        (state.objective, state.optimised, state.extrapolated) = (objective, optimised, tau != 0.0);
        progress
    }

    fn finish(&self, f: &dyn Smooth<P, G>, state: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            let support = state.x.point().support();
            state.x = refit(f, state.x.clone(), &support).point;
            state.objective = f.value(&state.x);
            state.restart();
        }
    }

    fn takes_candidates(&self) -> bool {
        self.safeguard == Safeguard::Descent && self.refit == Refit::EveryIteration
    }

    fn restart(&self, state: &mut Self::State) {
        state.restart();
    }
}

impl<P: Point> IhtState<P> {
    /// Back to the iterate, without momentum.
    fn restart(&mut self) {
        self.u = self.x.clone();
        self.extrapolated = false;
        self.momentum = MomentumMemory::default();
    }
}

/// No step lowers f: from the extrapolated point back to the iterate, from the iterate nowhere.
fn no_descent<P: Point>(state: &mut IhtState<P>, mu: f64, stuck: &Stuck) -> Progress {
    let kind = if state.extrapolated { Move::Restarted } else { stuck.kind };
    state.restart();
    Progress { change: stuck.change, step: mu, ..Progress::still(state.objective, kind) }
}
