//! Block coordinate descent on working sets, for the group Lasso.
//!
//! minimise F(x) = f(x) + λ·Σ w_G‖x_G‖₂ over disjoint groups.
//!
//! Yuan and Lin, "Model selection and estimation in regression with grouped variables" (2006): the block step.
//! Massias, Gramfort and Salmon, "Celer: a fast solver for the Lasso with dual extrapolation" (2018), and
//! Bertrand, Klopfenstein, Bannier, Gidel and Massias, "Beyond L1: faster and better sparse models with skglm" (2022):
//! working sets and their sizes, Anderson extrapolation of the epochs.
//!
//! | paper | code | |
//! |---|---|---|
//! | β, β_W | `x`, `Working` | the iterate; its part on the working set, with columns, image and residual |
//! | W | `chosen` | the working set: all groups in use and the strongest others |
//! | ∇f(β) | `g` | the gradient that the driver brings: the one pass |
//! | L_g | `lipschitz` | largest curvature of f within a group |
//! | BST(v, t) | `shrink` | block soft thresholding |
//! | p₀ | `first` | groups in the first working set |
//! | M | `MEMORY` | epochs that an extrapolation looks at |
//!
//! Where this differs from the papers: groups are ranked by ‖∇_G f‖/(λw_G), which needs no norms of columns that
//! were not read. The dual point is the rescaled residual. For least squares L_g uses the weights of the rows; for
//! other losses it is the bound on the curvature times λ_max(A_GᵀA_G).
//!
//! An iteration costs one pass, the columns of the working set once, and those in use again once in ten epochs.
//! Columns are asked for one by one: an operator without cheap columns is better served by
//! [`Fista`](super::Fista).

mod working;

use serde::{Deserialize, Serialize};

use super::proximal::{at, gap_above, value};
use super::smooth::{Algorithm, OnVectors};
use super::step::check_bounded;
use super::{Move, Progress, duality, relative_change};
use crate::error::{Error, check_option, check_range};
use crate::linalg::{norm, top_k};
use crate::objective::Evaluated;
use crate::penalty::{GroupLasso, Penalty};
use crate::space::SparseVec;
use working::{Chosen, Working};

/// Epochs between two looks at the gap on the working set.
const EPOCHS_BETWEEN: usize = 10;
/// A gap below this share of F is rounding.
const ROUNDING: f64 = 1e-15;
/// A rise of F by less than this share is too.
const RISE: f64 = 1e-14;

/// Block coordinate descent on working sets, for [`GroupLasso`] and any loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockDescent {
    /// Groups in the first working set, at least. Later ones hold twice as many as are in use. Default 10, as in
    /// skglm.
    pub first: usize,
    /// A working set is left when its gap is this share of the whole one. An epoch is much cheaper than a
    /// pass, so that less than celer's 0.3 pays. Default 0.01.
    pub share: f64,
    /// The most epochs on one working set. Default 50 000, as in celer and skglm.
    pub epochs: usize,
}

impl Default for BlockDescent {
    fn default() -> Self {
        Self { first: 10, share: 0.01, epochs: 50_000 }
    }
}

impl BlockDescent {
    /// All groups in use, the strongest others, and what is free: those last, so that an epoch ends with them.
    fn choose(&self, penalty: &GroupLasso, x: &SparseVec, g: &[f64]) -> Vec<Chosen> {
        let members = penalty.members();
        let mut used = vec![false; members.len()];
        x.entries().filter(|e| e.1 != 0.0).filter_map(|e| penalty.group_of(e.0)).for_each(|group| used[group] = true);
        let score = |group: usize| {
            let part: Vec<f64> = members[group].iter().map(|&j| g[j]).collect();
            match penalty.price(group) {
                0.0 => f64::NEG_INFINITY, // free: they come below
                _ if used[group] => f64::INFINITY,
                price => norm(&part) / price,
            }
        };
        let scores: Vec<f64> = (0..members.len()).map(score).collect();
        let in_use = scores.iter().filter(|s| **s == f64::INFINITY).count();
        let mut groups = top_k(&scores, self.first.max(2 * in_use).min(members.len()));
        groups.retain(|&group| scores[group] > 0.0);
        groups.sort_unstable();
        let priced =
            groups.iter().map(|&group| Chosen { members: members[group].clone(), price: penalty.price(group) });
        let free = penalty.free().map_or_else(Vec::new, |free| free.indices().to_vec());
        priced.chain(free.into_iter().map(|j| Chosen { members: vec![j], price: 0.0 })).collect()
    }

    /// The minimum over the chosen groups, up to a gap of `enough`; without a gap, until nothing moves.
    fn descend(
        &self,
        f: &OnVectors<'_>,
        penalty: &GroupLasso,
        mut working: Working,
        enough: Option<f64>,
    ) -> Evaluated<SparseVec> {
        let mut done = 0;
        loop {
            let epochs = EPOCHS_BETWEEN.min(self.epochs - done);
            let moved = (0..epochs).fold(true, |_, _| working.epoch(f, penalty));
            done += epochs;
            let x = at(f, penalty, working.point());
            working.stand_at(f, &x);
            let settled = match enough {
                Some(enough) => {
                    let bound = duality::lower_bound(f, penalty, &x, &working.gradient());
                    let here = value(f, penalty, &x);
                    bound.is_none_or(|bound| here - bound <= enough.max(ROUNDING * here.abs()))
                }
                None => false,
            };
            if settled || !moved || done >= self.epochs {
                return x;
            }
        }
    }
}

/// Where block descent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockDescentState {
    x: Evaluated<SparseVec>,
    objective: f64,
    /// The best lower bound on F so far.
    bound: f64,
}

impl Algorithm<SparseVec, Vec<f64>> for BlockDescent {
    type State = BlockDescentState;
    type Subject = GroupLasso;

    fn start(&self, f: &OnVectors<'_>, penalty: &GroupLasso, x0: SparseVec) -> Result<Self::State, Error> {
        check_range("the first working set", self.first, 1, usize::MAX)?;
        check_range("the cap on epochs", self.epochs, 1, usize::MAX)?;
        check_option("share", self.share, "it must be above 0 and below 1", |v| v > 0.0 && v < 1.0)?;
        check_bounded(f.loss(), "block coordinate descent")?;
        let x = at(f, penalty, x0);
        let objective = value(f, penalty, &x);
        Ok(BlockDescentState { x, objective, bound: f64::NEG_INFINITY })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn advance(&self, f: &OnVectors<'_>, penalty: &GroupLasso, state: &mut Self::State, g: &Vec<f64>) -> Progress {
        let known = state.bound;
        if let Some(bound) = duality::lower_bound(f, penalty, &state.x, g) {
            state.bound = known.max(bound);
        }
        let chosen = self.choose(penalty, state.x.point(), g); //                    W
        let working = Working::new(f, &state.x, chosen);
        let enough = gap_above(state.bound, state.objective).map(|gap| self.share * gap);
        let x_next = self.descend(f, penalty, working, enough); //                   β_W by block descent
        let objective = value(f, penalty, &x_next);
        let change = relative_change(x_next.point(), state.x.point());
        // Near the minimum F is flat long before x is there; then the bound still rises.
        let stuck = !(objective < state.objective) && state.bound <= known;
        if change == 0.0 || stuck || objective > (1.0 + RISE) * state.objective {
            let gap = gap_above(state.bound, state.objective);
            // That the working set does not move proves nothing; a gap of zero does.
            let kind = if change == 0.0 && gap.is_none_or(|gap| gap == 0.0) { Move::Fixed } else { Move::Stalled };
            return Progress { change, gap, ..Progress::still(state.objective, kind) };
        }
        let progress = Progress::moved(objective, x_next.point(), state.x.point());
        (state.x, state.objective) = (x_next, objective);
        Progress { gap: gap_above(state.bound, objective), ..progress }
    }
}
