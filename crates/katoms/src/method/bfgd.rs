//! Bi-factored gradient descent: Park, Kyrillidis, Caramanis and Sanghavi, "Finding low-rank solutions
//! via non-convex matrix factorization, efficiently and provably" (SIAM Journal on Imaging Sciences,
//! 2018). The balancing term is that of Tu, Boczar, Simchowitz, Soltanolkotabi and Recht, "Low-rank
//! solutions of linear matrix equations via Procrustes flow" (2016).
//!
//! minimise f(U·Vᵀ) over U of p × k and V of q × k.
//!
//! | paper | code | |
//! |---|---|---|
//! | U_t, V_t | `u`, `v` | the factors |
//! | X_t = U_t·V_tᵀ | `x` | the iterate, with its image |
//! | ∇f(X)·V, ∇f(X)ᵀ·U | `g_u`, `g_v` | the gradients of the factors |
//! | η | `eta` | the step |
//! | L | `curvature` | the largest curvature of f |
//! | λ·g(UᵀU − VᵀV) | `balance` | (ωL/4)·‖UᵀU − VᵀV‖², where `balance` is ω |
//!
//! Without the balancing term (ω = 0) this is the paper's method for a smooth f; with it, its method
//! for an f that is strongly convex as well. ω = ¼ is Procrustes flow. ω is relative to L, so that
//! scaling the data changes no answer.
//!
//! Steps. [`FactorStep::Theory`] is what the paper proves: 1/(15L‖[U;V]‖² + 3‖∇f(X)‖) for ω = 0, and
//! 1/(12·max(1, ω/2)·L·‖[U₀;V₀]‖²) otherwise, from X₀ = Π_k(−∇f(0)/L). These are safe and short.
//! [`FactorStep::LineSearch`], the default, goes to the minimum along the line:
//! f(X − ηE₁ + η²E₂), with E₁ = g_u·Vᵀ + U·g_vᵀ and E₂ = g_u·g_vᵀ, is a polynomial of degree four in η
//! for least squares, whose coefficients come from the images of E₁ and E₂; for other losses that
//! polynomial is a model, and the step is halved until it descends. X₀ is scaled by a line search too,
//! which in completion makes up for what was not seen.
//!
//! A point of rank below k, such as zero, is first filled up by a spectral step. So is the iterate when
//! the rank grows in [stages](crate::driver::Stages).

use serde::{Deserialize, Serialize};

use super::smooth::{Algorithm, AtomSet, OnMatrices};
use super::step::{check_bounded, curvature_bound};
use super::{Move, Progress, line_search, relative_change};
use crate::error::{Error, check_option};
use crate::linalg::{Matrix, Multiply, spectral_norm};
use crate::objective::Evaluated;
use crate::space::{Covector, LowRank, MatrixCovector, Point};

/// Halvings of a step before it is given up.
const HALVINGS: usize = 40;
/// Armijo's share of the promised decrease.
const SUFFICIENT: f64 = 1e-4;

/// How far the factors go along their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FactorStep {
    /// The minimum along the line: exact for least squares. Two more products with points of rank at
    /// most 2k.
    #[default]
    LineSearch,
    /// The paper's step. L is measured before the run by Lanczos' iteration, two passes a round.
    Theory,
}

/// Bi-factored gradient descent. One pass an iteration; O((p+q)k²) and the products that the step needs
/// besides.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bfgd {
    /// The step. Default: line search.
    pub step: FactorStep,
    /// ω, the weight of the balancing term. Default 0: from balanced factors, the factors of a
    /// gradient method stay nearly balanced by themselves.
    pub balance: f64,
}

/// Where the method stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BfgdState {
    x: Evaluated<LowRank>,
    u: Matrix,
    v: Matrix,
    /// f(X).
    objective: f64,
    /// L: measured for the paper's step, else the curvature along the first move.
    curvature: Option<f64>,
    /// ‖[U₀;V₀]‖².
    first_size: Option<f64>,
    /// Whether the rank was filled up, as far as there was something to fill it with.
    filled: bool,
}

impl BfgdState {
    fn new(x: Evaluated<LowRank>, objective: f64, curvature: Option<f64>) -> Self {
        let (u, v) = balanced(x.point());
        Self { x, u, v, objective, curvature, first_size: None, filled: false }
    }

    /// UᵀU − VᵀV.
    fn imbalance(&self) -> Matrix {
        self.u.transposed_times(&self.u).plus(-1.0, &self.v.transposed_times(&self.v))
    }

    /// ‖[U;V]‖²: the largest eigenvalue of UᵀU + VᵀV.
    fn size(&self) -> f64 {
        let gram = self.u.transposed_times(&self.u).plus(1.0, &self.v.transposed_times(&self.v));
        gram.symmetric_eigen().and_then(|(values, _)| values.first().copied()).unwrap_or(0.0)
    }
}

/// The factors P·√Σ and Q·√Σ of X = P·Σ·Qᵀ, for which UᵀU = VᵀV.
fn balanced(x: &LowRank) -> (Matrix, Matrix) {
    let Some((p, values, q)) = x.core().svd() else { return (x.left().times(x.core()), x.right().clone()) };
    let roots: Vec<f64> = values.iter().map(|s| s.sqrt()).collect();
    let (mut u, mut v) = (x.left().times(&p), x.right().times(&q));
    u.scale_columns(&roots);
    v.scale_columns(&roots);
    (u, v)
}

/// The gradients of the factors.
struct FactorGradient {
    u: Matrix,
    v: Matrix,
}

impl FactorGradient {
    fn square(&self) -> f64 {
        self.u.dot(&self.u) + self.v.dot(&self.v)
    }
}

/// U·Vᵀ. The factors have as many columns each, so this does not fail.
fn product(u: &Matrix, v: &Matrix) -> LowRank {
    LowRank::from_factors(u, v).unwrap_or_else(|_| LowRank::zero((u.rows(), v.rows())))
}

impl Bfgd {
    /// ωL, as far as L is known.
    fn weight(&self, state: &BfgdState) -> f64 {
        self.balance * state.curvature.unwrap_or(0.0)
    }

    /// ∇f(X)·V + ωL·U·D and ∇f(X)ᵀ·U − ωL·V·D, where D = UᵀU − VᵀV.
    fn factor_gradient(&self, state: &BfgdState, g: &MatrixCovector) -> FactorGradient {
        let (u, v) = rayon::join(|| g.times(&state.v), || g.transposed_times(&state.u));
        let weight = self.weight(state);
        if weight == 0.0 {
            return FactorGradient { u, v };
        }
        let d = state.imbalance();
        FactorGradient { u: u.plus(weight, &state.u.times(&d)), v: v.plus(-weight, &state.v.times(&d)) }
    }

    /// f + (ωL/4)·‖UᵀU − VᵀV‖².
    fn total(&self, state: &BfgdState) -> f64 {
        let weight = self.weight(state);
        let balance = if weight == 0.0 { 0.0 } else { 0.25 * weight * state.imbalance().norm().powi(2) };
        state.objective + balance
    }

    /// The step to try first.
    fn first_step(&self, f: &OnMatrices<'_>, state: &mut BfgdState, g: &MatrixCovector, d: &FactorGradient) -> f64 {
        if self.step == FactorStep::LineSearch {
            return self.minimum_along(f, state, d);
        }
        let (size, l) = (state.size(), state.curvature.unwrap_or(0.0));
        let first_size = *state.first_size.get_or_insert(size);
        if self.balance == 0.0 {
            1.0 / (15.0 * l * size + 3.0 * spectral_norm(g))
        } else {
            1.0 / (12.0 * l * (0.5 * self.balance).max(1.0) * first_size)
        }
    }

    /// argmin over η of the total at (U − ηg_u, V − ηg_v), by its model of degree four.
    fn minimum_along(&self, f: &OnMatrices<'_>, state: &mut BfgdState, d: &FactorGradient) -> f64 {
        let e1 = f.at(product(&d.u.beside(&state.u), &state.v.beside(&d.v)));
        let e2 = f.at(product(&d.u, &d.v));
        let (b1, b2) = (f.curvature_along(&state.x, &e1), f.curvature_along(&state.x, &e2));
        // Balanced factors lose nothing by an L that is known only now.
        state.curvature.get_or_insert(b1 / e1.point().norm().powi(2).max(f64::MIN_POSITIVE));
        let x = &state.x;
        let both = f.curvature_along(x, &Evaluated::combine(1.0, &e1, 1.0, &e2));
        let mut c = [-f.slope(x, &e1), f.slope(x, &e2) + 0.5 * b1, -0.5 * (both - b1 - b2), 0.5 * b2];
        let weight = 0.25 * self.weight(state);
        if weight > 0.0 {
            let (d0, d1) =
                (state.imbalance(), state.u.transposed_times(&d.u).plus(-1.0, &state.v.transposed_times(&d.v)));
            let d1 = d1.plus(1.0, &d1.transposed());
            let d2 = d.u.transposed_times(&d.u).plus(-1.0, &d.v.transposed_times(&d.v));
            c[0] -= 2.0 * weight * d0.dot(&d1);
            c[1] += weight * (d1.dot(&d1) + 2.0 * d0.dot(&d2));
            c[2] -= 2.0 * weight * d1.dot(&d2);
            c[3] += weight * d2.dot(&d2);
        }
        first_minimum(c)
    }

    /// The factors one step further, where that descends.
    fn descend(
        &self,
        f: &OnMatrices<'_>,
        state: &BfgdState,
        d: &FactorGradient,
        mut eta: f64,
    ) -> Result<(BfgdState, f64), f64> {
        let (here, promise) = (self.total(state), d.square());
        let mut longest = None;
        for _ in 0..HALVINGS {
            let (u, v) = (state.u.plus(-eta, &d.u), state.v.plus(-eta, &d.v)); //   U⁺ = U − η∇f(X)V, V⁺ = V − η∇f(X)ᵀU
            let x = f.at(product(&u, &v));
            let next = BfgdState { objective: f.value(&x), x, u, v, ..state.clone() };
            if self.total(&next) <= here - SUFFICIENT * eta * promise && next.x != state.x {
                return Ok((next, eta));
            }
            longest.get_or_insert_with(|| relative_change(next.x.point(), state.x.point()));
            eta *= 0.5;
        }
        Err(longest.unwrap_or(0.0))
    }

    /// Fills up the rank: X⁺ = Π_k(X − μ·∇_T f(X)), where T holds the leading singular pairs of the
    /// gradient. From zero that is the paper's X₀.
    fn fill(
        f: &OnMatrices<'_>,
        set: &dyn AtomSet<LowRank, MatrixCovector>,
        state: &BfgdState,
        g: &MatrixCovector,
        mu: Option<f64>,
    ) -> Filled {
        let t = set.expand(g, &state.x.point().support());
        let g_t = f.at(g.on(&t));
        let mut mu = mu.unwrap_or_else(|| line_search(f, &state.x, &g_t));
        if !(mu > 0.0) || g_t.point().norm() == 0.0 {
            return None;
        }
        for _ in 0..HALVINGS {
            let x = f.at(set.project(LowRank::combine(1.0, state.x.point(), -mu, g_t.point())));
            if f.value(&x) < state.objective {
                return Some((x, mu));
            }
            mu *= 0.5;
        }
        None
    }
}

/// A point of full rank, and the step that led to it.
type Filled = Option<(Evaluated<LowRank>, f64)>;

/// The first minimum above 0 of c₁η + c₂η² + c₃η³ + c₄η⁴, which falls at 0 and has c₄ ≥ 0: the least
/// positive root of its derivative. 0 where there is none.
fn first_minimum([c1, c2, c3, c4]: [f64; 4]) -> f64 {
    let slope = |t: f64| c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * 4.0 * c4));
    if !(c1 < 0.0) {
        return 0.0;
    }
    // The scale on which the derivative can turn: one of its terms outweighs the first.
    let reach = [-c1 / (2.0 * c2.abs()), (-c1 / (3.0 * c3.abs())).sqrt(), (-c1 / (4.0 * c4)).cbrt()];
    let unit = reach.into_iter().fold(f64::INFINITY, f64::min);
    if !unit.is_finite() {
        return 0.0;
    }
    // Below a third of `unit` the first term wins, so no root is there. Brackets grow until the sign changes.
    let (mut low, mut high) = (unit / 3.0, unit / 3.0);
    for _ in 0..400 {
        high *= 1.1;
        if slope(high) >= 0.0 {
            break;
        }
        low = high;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle) >= 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

impl Algorithm<LowRank, MatrixCovector> for Bfgd {
    type State = BfgdState;
    type Subject = dyn AtomSet<LowRank, MatrixCovector>;

    fn start(&self, f: &OnMatrices<'_>, set: &Self::Subject, x0: LowRank) -> Result<Self::State, Error> {
        check_option("balance", self.balance, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
        let x = f.at(set.project(x0));
        let objective = f.value(&x);
        if self.step == FactorStep::Theory {
            check_bounded(f.loss(), "bi-factored gradient descent with the step of the theory")?;
        }
        let curvature = (self.step == FactorStep::Theory).then(|| curvature_bound(f));
        Ok(BfgdState::new(x, objective, curvature))
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<LowRank> {
        &state.x
    }

    fn advance(
        &self,
        f: &OnMatrices<'_>,
        set: &Self::Subject,
        state: &mut Self::State,
        g: &MatrixCovector,
    ) -> Progress {
        if !state.filled && state.u.columns() < set.atoms() {
            state.filled = true;
            let known = state.curvature.filter(|_| self.step == FactorStep::Theory).map(|l| 1.0 / l);
            if let Some((x, mu)) = Self::fill(f, set, state, g, known) {
                let progress = Progress { step: mu, ..Progress::moved(f.value(&x), x.point(), state.x.point()) };
                let curvature = Some(state.curvature.unwrap_or(1.0 / mu));
                *state = BfgdState { filled: true, ..BfgdState::new(x, progress.objective, curvature) };
                return progress;
            }
        }
        let d = self.factor_gradient(state, g);
        if d.square() == 0.0 {
            return Progress::still(state.objective, Move::Fixed);
        }
        let eta = self.first_step(f, state, g, &d);
        match self.descend(f, state, &d, eta) {
            Ok((next, eta)) => {
                let moved = Progress::moved(next.objective, next.x.point(), state.x.point());
                *state = next;
                Progress { step: eta, ..moved }
            }
            Err(change) => Progress { change, ..Progress::still(state.objective, Move::Stalled) },
        }
    }

    /// The rank may have grown.
    fn restart(&self, state: &mut Self::State) {
        state.filled = false;
    }
}
