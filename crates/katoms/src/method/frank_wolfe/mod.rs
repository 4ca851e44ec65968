//! Frank–Wolfe methods, also called conditional gradients: no projection, one vertex an iteration.
//!
//! minimise f(x) subject to x ∈ conv(𝒜), where a vertex that minimises ⟨∇f(x), ·⟩ is cheap to find.
//!
//! Plain: Frank and Wolfe, "An algorithm for quadratic programming" (1956), as Algorithms 1 and 3 of Jaggi, "Revisiting
//! Frank-Wolfe: Projection-Free Sparse Convex Optimization" (2013). Away steps: Guélat and Marcotte, "Some comments on Wolfe's
//! 'away step'" (1986), as Algorithm 1 of Lacoste-Julien and Jaggi, "On the Global Linear Convergence of Frank-Wolfe
//! Optimization Variants" (2015). Pairwise steps: their Algorithm 2, after Mitchell, Demyanov and Malozemov, "Finding the
//! point of a polyhedron closest to the origin" (1974).
//!
//! | paper | code | |
//! |---|---|---|
//! | x⁽ᵗ⁾ | `state.x` | the iterate |
//! | 𝒮⁽ᵗ⁾, α_v | `state.hull` | the atoms that make up x, and their weights |
//! | ∇f(x⁽ᵗ⁾) | `g` | the gradient that the driver brings: the one pass |
//! | s_t | `s` | the atom that minimises ⟨∇f(x), ·⟩ over 𝒜 |
//! | v_t | `v` | the atom that maximises it over 𝒮 |
//! | g_t^FW, g_t^A | `gap`, `away_gap` | ⟨∇f(x), x − s⟩, at least f(x) − f*, and ⟨∇f(x), v − x⟩ |
//! | γ_t, γ_max | `gamma`, `longest` | the step and the longest one that leaves no weight negative |
//!
//! Where we differ. The start is zero, or wherever the caller says, as a combination of vertices and of zero, where the papers
//! start at a vertex. Zero then counts as an atom until a step drops it; the theory asks for a finite set of atoms, and one
//! more is still finite. With a [`Correction`] f is minimised over the hull of the atoms found so far (Jaggi's Algorithm 4); on
//! matrices, over nonnegative weights of the rank-one atoms found.
//!
//! A move reports the bound for the point that it *arrives* at: f there minus the largest f(x) − gap so far. It is never larger
//! than the gap at the point that was left.
//!
//! An iteration is one pass, the columns of one vertex (none where it is in 𝒮 already) and O(m·|𝒮|) for the images of the
//! atoms, which are kept. The plain method without correction keeps no atoms, and the rank of a matrix grows by one an
//! iteration until it is full; directions are dropped only below rounding.

mod hull;
mod simplex;

use serde::{Deserialize, Serialize};

use super::smooth::{Algorithm, Smooth};
use super::{Move, Progress, relative_change};
use crate::error::Error;
use crate::objective::Evaluated;
use crate::set::LinearMinimize;
use crate::space::{Covector, Point};
pub use hull::Correction;
use hull::{Direction, Hull, descends, step_along};

/// Where a step goes, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrankWolfeRule {
    /// Toward the vertex, to the minimum on the way. f(x) − f* ≤ 2·C_f/(t+2) after t moves (Jaggi, Theorem 1).
    #[default]
    Plain,
    /// Toward the vertex by 2/(t+2): needs no value of f, and f may rise.
    Diminishing,
    /// Toward the vertex or away from the worst atom. Linear convergence on polytopes, such as the ℓ1 ball, where f is
    /// strongly convex or f(x) = ℓ(A·x) with a strongly convex ℓ (Lacoste-Julien and Jaggi, Theorem 1 and its
    /// extension). On sets with round faces the plain rule's rate is what is proven.
    Away,
    /// Weight moves from the worst atom straight to the best one. The same rate in the iterations that are no swaps;
    /// iterates stay sparse.
    Pairwise,
}

/// Frank–Wolfe.
///
/// ```
/// use katoms::driver::{Options, solve};
/// use katoms::method::{Correction, FrankWolfe};
/// use katoms::{Objective, Status, loss::LeastSquares, operator::Dense, set::L1Ball};
/// # use std::ops::ControlFlow;
/// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 2.5])?)?;
/// let ball = L1Ball::new(1.0, 2)?;
/// let corrected = FrankWolfe { correction: Correction::full(), ..FrankWolfe::default() };
/// for method in [FrankWolfe::away(), FrankWolfe::pairwise(), corrected] {
///     let outcome = solve(&f, &ball, &method, Options::default(), |_, _| ControlFlow::Continue(()))?;
///     assert_eq!(outcome.status, Status::Converged);
///     assert!((outcome.point.value_at(0) - 0.75).abs() < 1e-6);
/// }
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrankWolfe {
    /// Where a step goes. Default: toward the vertex.
    pub rule: FrankWolfeRule,
    /// Whether f is minimised over the atoms found so far. Default: never.
    pub correction: Correction,
}

impl FrankWolfe {
    /// Away-steps Frank–Wolfe.
    pub fn away() -> Self {
        Self { rule: FrankWolfeRule::Away, ..Self::default() }
    }

    /// Pairwise Frank–Wolfe.
    pub fn pairwise() -> Self {
        Self { rule: FrankWolfeRule::Pairwise, ..Self::default() }
    }

    fn keeps_atoms(&self) -> bool {
        self.correction != Correction::Never || matches!(self.rule, FrankWolfeRule::Away | FrankWolfeRule::Pairwise)
    }

    /// γ along d.
    fn step<P: Point, G: Covector<P>>(
        &self,
        f: &dyn Smooth<P, G>,
        state: &FrankWolfeState<P>,
        d: &Evaluated<P>,
        longest: f64,
    ) -> f64 {
        match self.rule {
            FrankWolfeRule::Diminishing => 2.0 / (state.t as f64 + 2.0),
            _ => step_along(f, &state.x, d, longest),
        }
    }
}

/// The iterate, the atoms it is made of, and what is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct FrankWolfeState<P> {
    x: Evaluated<P>,
    objective: f64,
    /// Moves so far.
    t: usize,
    hull: Hull<P>,
    /// The largest number that f is known not to go below on the set.
    lower_bound: f64,
}

impl<P: Point> FrankWolfeState<P> {
    /// The weights and the atoms that make up the iterate; none where the method does not keep them.
    pub fn atoms(&self) -> impl Iterator<Item = (f64, &P)> {
        self.hull.weights.iter().copied().zip(self.hull.atoms.iter().map(Evaluated::point))
    }

    /// The best lower bound so far on f over the set.
    pub fn lower_bound(&self) -> f64 {
        self.lower_bound
    }

    /// v, the atom of the iterate with the largest ⟨∇f(x), v⟩, and ⟨∇f(x), v − x⟩. O(m·atoms).
    fn worst_atom<G: Covector<P>>(&self, f: &dyn Smooth<P, G>) -> (usize, f64) {
        let slopes = f.slopes(&self.x, &self.hull.atoms);
        let worst = (0..slopes.len()).max_by(|&a, &b| slopes[a].total_cmp(&slopes[b]).then(b.cmp(&a))).unwrap_or(0);
        let here: f64 = slopes.iter().zip(&self.hull.weights).map(|(s, w)| s * w).sum();
        (worst, slopes[worst] - here)
    }

    /// Books the gap at x: f does not go below f(x) − gap.
    fn prove(&mut self, gap: f64) {
        self.lower_bound = self.lower_bound.max(self.objective - gap.max(0.0));
    }

    /// How far f(x) is at most from the minimum. Below the rounding of f nothing is proven.
    fn proven(&self) -> Option<f64> {
        Some((self.objective - self.lower_bound).max(f64::EPSILON * self.objective.abs()))
    }

    /// No vertex is better than x, to first order: x is optimal. Nothing is known where the gap is not a number.
    fn without_slope(&mut self, gap: f64) -> Progress {
        if gap.is_nan() {
            return Progress { change: f64::NAN, ..Progress::still(self.objective, Move::Stalled) };
        }
        self.prove(gap);
        Progress { gap: self.proven(), ..Progress::still(self.objective, Move::Fixed) }
    }

    /// The move to the next iterate, or none where the step has no length or raises f.
    fn descend_to(&mut self, next: Evaluated<P>, objective: f64, step: f64) -> Progress {
        if step > 0.0 && descends(objective, self.objective) {
            return self.move_to(next, objective, step);
        }
        let change = relative_change(next.point(), self.x.point());
        Progress { gap: self.proven(), change, step, ..Progress::still(self.objective, Move::Stalled) }
    }

    fn move_to(&mut self, next: Evaluated<P>, objective: f64, step: f64) -> Progress {
        let moved = Progress::moved(objective, next.point(), self.x.point());
        (self.x, self.objective) = (next, objective);
        self.t += 1;
        Progress { gap: self.proven(), step, ..moved }
    }
}

impl<P: Point, G: Covector<P>> Algorithm<P, G> for FrankWolfe {
    type State = FrankWolfeState<P>;
    type Subject = dyn LinearMinimize<G, Point = P>;

    /// x0 is brought into the set, as a combination of atoms. Touches only their columns.
    fn start(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, x0: P) -> Result<Self::State, Error> {
        self.correction.check()?;
        let mut hull = Hull::new(set.decompose(x0).into_iter().map(|(w, atom)| (w, f.at(atom))).collect());
        let x = hull.combined(f.domain(), &hull.weights);
        let objective = f.value(&x);
        if !self.keeps_atoms() {
            hull = Hull::new(Vec::new());
        }
        Ok(FrankWolfeState { x, objective, t: 0, hull, lower_bound: f.lower_bound() })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        &state.x
    }

    fn advance(&self, f: &dyn Smooth<P, G>, set: &Self::Subject, state: &mut Self::State, g: &G) -> Progress {
        let s = set.argmin(g); //                                                   s_t := LMO(∇f(x)), with its image
        let s = state.hull.find(&s).map_or_else(|| f.at(s), |i| state.hull.atoms[i].clone());
        let toward = Evaluated::combine(-1.0, &state.x, 1.0, &s);
        let gap = -f.slope(&state.x, &toward);
        if !(gap > 0.0) {
            return state.without_slope(gap);
        }
        state.prove(gap);
        if !self.keeps_atoms() {
            let gamma = self.step(f, state, &toward, 1.0);
            // x := (1 − γ)·x + γ·s; a full step is s itself, without zeros where x was.
            let next = if gamma < 1.0 { Evaluated::combine(1.0, &state.x, gamma, &toward) } else { s };
            let objective = f.value(&next);
            return match self.rule {
                FrankWolfeRule::Diminishing => state.move_to(next, objective, gamma),
                _ => state.descend_to(next, objective, gamma),
            };
        }
        let (v, away_gap) = match self.rule {
            FrankWolfeRule::Away | FrankWolfeRule::Pairwise => state.worst_atom(f), // v_t, the worst atom of 𝒮
            FrankWolfeRule::Plain | FrankWolfeRule::Diminishing => (0, f64::NEG_INFINITY),
        };
        let s = state.hull.admit(s);
        let direction = match self.rule {
            FrankWolfeRule::Pairwise => Direction::Pairwise { from: v, to: s }, //   d := s − v, γ_max := α_v
            _ if gap >= away_gap => Direction::Toward(s), //                        d := s − x, γ_max := 1
            _ => Direction::Away(v), //                                             d := x − v, γ_max := α_v/(1 − α_v)
        };
        let gamma = self.step(f, state, &state.hull.vector(&state.x, direction), state.hull.longest(direction));
        let before = state.hull.weights.clone();
        state.hull.shift(direction, gamma); //                                      x, α and 𝒮
        let next = match self.correction {
            Correction::Never => state.hull.combined(f.domain(), &state.hull.weights),
            Correction::Full { tolerance } => state.hull.correct(f, tolerance * gap),
        };
        let objective = f.value(&next);
        let progress = state.descend_to(next, objective, gamma);
        if progress.kind == Move::Stalled {
            state.hull.weights = before;
        }
        state.hull.drop_zeros();
        progress
    }
}
