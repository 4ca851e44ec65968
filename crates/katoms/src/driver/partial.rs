//! Partial passes: the search for atoms reads a share of the rows.
//!
//! Which atoms a step may take is decided by the largest entries of the gradient, and an estimate is enough to name
//! candidates for these. So after a first full pass the driver answers a query in two steps: an estimate of the gradient
//! from a [sample of the rows](crate::operator::SampledRows) names several times as many candidates as are wanted, and
//! the exact gradient on these alone goes to the method.
//!
//! The estimate goes out from the last full pass, Aᵀr₀. Of the residual r here only the part that r₀ does not explain is
//! multiplied by the rows of the sample, B, of which there are b among m:
//!
//! > Aᵀr ≈ c·Aᵀr₀ + (m/b)·A_Bᵀ(r − c·r₀)_B,  c = ⟨r, r₀⟩/⟨r₀, r₀⟩
//!
//! Its error is that of r − c·r₀, which is short where moves are small.
//!
//! What the method does with the candidates is exact: its step, its refit and its test of descent see all rows. Only
//! atoms that are no candidates are not seen. So a move is worth what it says, but that there is none proves
//! nothing: then a full pass decides, and the run goes on from there. Nothing but a full pass, or a perfect fit, ends it.

use crate::linalg::dot;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::{LinearOperator, SampledRows};
use crate::space::Covector;

/// Candidates for each atom. Twice as many cost more than they find.
pub(super) const CANDIDATES: usize = 8;

/// Whether a run uses partial passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Partial {
    /// Every gradient of the run is a full pass.
    Never,
    /// Where the method takes candidates and the operator has a sample of its rows.
    #[default]
    WhereItPays,
}

/// What is known from a full pass.
pub(crate) struct Reference<G> {
    residual: Vec<f64>,
    /// Aᵀ·residual.
    pass: G,
}

impl<G> Reference<G> {
    pub fn new(residual: Vec<f64>, pass: G) -> Self {
        Self { residual, pass }
    }

    /// Residual and pass.
    pub fn into_parts(self) -> (Vec<f64>, G) {
        (self.residual, self.pass)
    }

    /// The gradients at some points as the sample sees them.
    pub fn estimates<A, L>(&self, f: &Objective<A, L>, xs: &[Evaluated<A::Point>], sampled: SampledRows) -> Vec<G>
    where
        A: LinearOperator<Covector = G>,
        L: Loss,
        G: Covector<A::Point>,
    {
        let square = dot(&self.residual, &self.residual);
        let unexplained = |x: &Evaluated<A::Point>| {
            let mut r = f.residual(x);
            let explained = if square > 0.0 { dot(&r, &self.residual) / square } else { 0.0 };
            let scale = r.len() as f64 / sampled.count() as f64;
            for (row, (r, r0)) in r.iter_mut().zip(&self.residual).enumerate() {
                *r = if sampled.contains(row) { scale * (*r - explained * r0) } else { 0.0 };
            }
            (r, explained)
        };
        let (residuals, explained): (Vec<Vec<f64>>, Vec<f64>) = xs.iter().map(unexplained).unzip();
        let mut estimates: Vec<G> = xs.iter().map(|_| f.operator().new_covector()).collect();
        f.operator().adjoint_sampled_block(&residuals.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut estimates);
        f.count_rows(xs.len() * sampled.cost());
        for ((g, explained), x) in estimates.iter_mut().zip(explained).zip(xs) {
            g.add_covector(explained, &self.pass);
            f.add_ridge(x.point(), g);
        }
        estimates
    }
}
