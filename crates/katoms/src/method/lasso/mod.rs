//! The Lasso by working sets and a duality gap.
//!
//! minimise F(x) = f(x) + λ·Σ wⱼ|xⱼ|, where f(x) = ℓ(Ax) + ½ρ‖x‖².
//!
//! The problem is Tibshirani's, "Regression shrinkage and selection via the Lasso" (1996); with ρ > 0 it is
//! the elastic net of Zou and Hastie (2005). The method follows Massias, Gramfort, Salmon, "Celer: a fast
//! solver for the Lasso with dual extrapolation" (2018), Algorithm 4.
//!
//! | paper | code | |
//! |---|---|---|
//! | β^t | `x` | the iterate |
//! | Xᵀ(y − Xβ^t) | `g` | minus the gradient that the driver brings: the one pass |
//! | 𝒟(θ^t) | `bound` | the best lower bound so far |
//! | g^t | `gap` | F(x) − bound |
//! | 𝒲_t | `restricted` | the working set |
//! | p_1 | `first` | its size at the start |
//! | p_t = 2·‖β^t‖₀ | `growth` | how fast it grows |
//! | ε̲ | `accuracy` | the restricted problem is solved to this share of the gap |
//!
//! Where we differ. The working set takes in only coordinates that violate the optimality conditions, ranked
//! by |gⱼ|/(λwⱼ): the distance of the paper needs the norms of all columns, which is a pass. It never
//! lets one go. The restricted problem is no coordinate descent but an [active set](working) method,
//! exact for least squares; other losses go through a sequence of quadratics. An exact minimum needs no
//! extrapolated dual point.

mod factor;
mod local_model;
mod newton;
mod path;
mod restricted;
mod working;

use serde::{Deserialize, Serialize};

use super::duality::lower_bound;
use super::smooth::{Algorithm, OnVectors};
use super::{Move, Progress};
use crate::error::{Error, check_option, check_range};
use crate::objective::Evaluated;
use crate::penalty::{L1, Penalty};
use crate::space::{Point, SparseVec};

pub use path::{LassoPath, LassoPathOptions, LassoPoint, lasso_path};
use restricted::{Proven, Restricted, Standpoint};

/// The Lasso, the elastic net (with the objective's ridge) and their kin for other losses.
///
/// An iteration is one pass, and touches the columns of the working set: for least squares once for every
/// 64 coordinates that join it, for other losses once for each local quadratic model. Beside the data it
/// holds a square matrix of the size of the working set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lasso {
    /// As many coordinates may join the working set in an iteration at least. Default 100, as in the paper.
    pub first: usize,
    /// As many may join as this many times the support, where that is more. Default 2; in the paper that is the size of
    /// the working set, from which coordinates leave again.
    pub growth: usize,
    /// The accuracy of the restricted problem, as a share of the gap, where it is not solved exactly. Default
    /// 0.3, as in the paper.
    pub accuracy: f64,
}

impl Default for Lasso {
    fn default() -> Self {
        Self { first: 100, growth: 2, accuracy: 0.3 }
    }
}

impl Lasso {
    pub(crate) fn check(&self, f: &OnVectors<'_>) -> Result<(), Error> {
        check_range("the first size of a working set", self.first, 1, usize::MAX)?;
        check_range("the growth of a working set", self.growth, 1, usize::MAX)?;
        let right = "it must lie above 0 and below 1";
        check_option("accuracy", self.accuracy, right, |v| v > 0.0 && v < 1.0)?;
        let method = "the Lasso by working sets";
        if !f.has_cheap_columns() {
            return Err(Error::Unsuitable {
                method,
                needs: "an operator with cheap columns; Fista serves every operator",
            });
        }
        if f.loss().conjugate(&vec![0.0; f.loss().n_outputs()]).is_none() {
            return Err(Error::Unsuitable {
                method,
                needs: "a loss that knows its conjugate; Fista serves every loss",
            });
        }
        Ok(())
    }
}

/// What changes from move to move.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LassoState {
    restricted: Restricted,
    /// The best lower bound so far.
    bound: f64,
}

impl Algorithm<SparseVec, Vec<f64>> for Lasso {
    type State = LassoState;
    type Subject = L1;

    /// The restricted minimum on what is free and the support of x0. No pass.
    fn start(&self, f: &OnVectors<'_>, penalty: &L1, x0: SparseVec) -> Result<LassoState, Error> {
        self.check(f)?;
        let mut restricted = Restricted::new(f, penalty, x0);
        if restricted.size() > 0 {
            restricted.minimize(f, penalty, 0.0);
        }
        Ok(LassoState { restricted, bound: f.lower_bound() })
    }

    fn query<'s>(&self, state: &'s LassoState) -> &'s Evaluated<SparseVec> {
        state.restricted.x()
    }

    fn advance(&self, f: &OnVectors<'_>, penalty: &L1, state: &mut LassoState, g: &Vec<f64>) -> Progress {
        let value = |x: &Evaluated<SparseVec>| f.value(x) + penalty.value(x.point());
        let LassoState { restricted, bound } = state;
        let x = restricted.x().clone();
        // 𝒟(θ): the best dual point so far
        let before = *bound;
        *bound = bound.max(lower_bound(f, penalty, &x, g).unwrap_or(f64::NEG_INFINITY));
        let gap = value(&x) - *bound;
        // 𝒲: those that violate the optimality conditions join
        let most = self.first.max(self.growth.saturating_mul(x.point().support_size()));
        let violators = restricted.violators(penalty, g, most);
        restricted.admit(f, penalty, &violators);
        // β: the restricted problem
        restricted.minimize(f, penalty, self.accuracy * gap);
        let objective = value(restricted.x());
        let gap = Some((objective - *bound).max(0.0));
        if violators.is_empty() && objective >= value(&x) && (*bound <= before || restricted.x() == &x) {
            // Nothing to take in and nothing to gain on either side: what is left of the gap is rounding.
            let kind = if gap == Some(0.0) { Move::Fixed } else { Move::Stalled };
            return Progress { gap, ..Progress::still(objective, kind) };
        }
        Progress { gap, ..Progress::moved(objective, restricted.x().point(), x.point()) }
    }
}
