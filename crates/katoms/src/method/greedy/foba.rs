//! FoBa: adaptive forward-backward greedy selection.
//!
//! minimise f(x) subject to x being made of at most k atoms.
//!
//! Zhang, "Adaptive forward-backward greedy algorithm for learning sparse representations" (2011; first as
//! "Adaptive forward-backward greedy algorithm for sparse learning with linear models", 2009). For smooth
//! convex losses: Liu, Fujimaki and Ye, "Forward-backward greedy algorithms for general convex smooth
//! functions over a cardinality constraint" (2014).
//!
//! | paper | code | |
//! |---|---|---|
//! | F^(k), w^(k) | `now.model` | the current atoms and the minimum over them |
//! | δ^(k) | `gains_of_levels` | what was gained when k atoms were last reached |
//! | d⁺, d⁻ | `gain`, `cost` | of the last addition, of the cheapest removal |
//! | ε | `threshold` | the least gain, as a share of f at the start |
//! | ½ | `share` | ν: the share of d⁺ up to which a removal is cheap |
//!
//! Where we differ: gains and costs are those after a refit (the "FoBa-obj" of Liu, Fujimaki and Ye), where
//! Zhang's choose by a change of one coefficient. ε is relative, so that scaling the target changes nothing.
//! Zhang's method knows no k and stops by ε alone; here it also stops at `most` atoms, and the answer is
//! the best model of at most k atoms at which the removals came to rest. For losses that are not quadratic
//! the atom that comes and the atom that may go are chosen by the local quadratic model of f; the gains
//! and costs that decide are exact.

use serde::{Deserialize, Serialize};

use super::model::Problem;
use super::state::GreedyState;
use crate::error::{Error, check_option, check_range};
use crate::method::smooth::{Algorithm, CoordinateAtoms, OnVectors};
use crate::method::{Move, Progress};
use crate::objective::Evaluated;
use crate::space::SparseVec;

/// FoBa. A move is one addition and the removals that follow. It costs one pass, and one more where
/// the move before removed an atom (for groups always; for losses other than squares two more), beside one
/// at the start for the norms of the columns. It touches each chosen column once for each atom that
/// comes, twice for each that goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Foba {
    /// ε: the run ends when no addition lowers f by more than this share of f at the start (above its lower
    /// bound). Zhang's theory wants about the noise that one atom fits, σ²·ln n over f at the start. Default 0:
    /// k and `most` end the run.
    pub threshold: f64,
    /// ν: an atom goes when that costs at most this share of what was gained when this number of atoms
    /// was last reached. Default ½, as in the paper.
    pub share: f64,
    /// The most atoms on the way; the answer has at most the set's k. Atoms beyond k may make others
    /// superfluous. Default: 2k.
    pub most: Option<usize>,
}

impl Default for Foba {
    fn default() -> Self {
        Self { threshold: 0.0, share: 0.5, most: None }
    }
}

/// Where [`Foba`] stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FobaState {
    now: GreedyState,
    /// What was gained when each number of atoms was last reached, beyond those of the start.
    gains_of_levels: Vec<f64>,
    /// f at the start, above its lower bound.
    start: f64,
    /// The best model of at most k atoms so far.
    best: Evaluated<SparseVec>,
    objective: f64,
}

impl Foba {
    /// Takes atoms out as long as that is cheap.
    fn go_back(&self, problem: &Problem<'_>, now: &mut GreedyState, gains_of_levels: &mut Vec<f64>) {
        let exact = problem.f.loss().is_quadratic();
        while let Some(gain) = gains_of_levels.last() {
            let limit = self.share * gain;
            let costs = now.model.removal_costs(problem); //           d⁻ for every j
            let Some(least) = (0..costs.len()).reduce(|a, b| if costs[b] < costs[a] { b } else { a }) else { return };
            if exact && costs[least] > limit {
                return;
            }
            let mut smaller = now.clone();
            smaller.leave(problem, now.model.chosen[least]); //        F^(k) = F^(k+1) − {j}
            let cost = smaller.model.objective - now.model.objective;
            if !(cost <= limit) {
                return; //                                             d⁻ > ½·d⁺
            }
            *now = smaller;
            gains_of_levels.pop();
        }
    }
}

impl Algorithm<SparseVec, Vec<f64>> for Foba {
    type State = FobaState;
    type Subject = dyn CoordinateAtoms;

    fn start(&self, f: &OnVectors<'_>, set: &Self::Subject, x0: SparseVec) -> Result<FobaState, Error> {
        let share = |v: f64| (0.0..1.0).contains(&v);
        check_option("threshold", self.threshold, "it must be at least 0 and below 1", share)?;
        check_option("share", self.share, "it must be at least 0 and below 1", share)?;
        check_range("the most atoms on the way", self.most.unwrap_or(usize::MAX), set.atoms(), usize::MAX)?;
        Problem::new(f, set).check()?;
        let now = GreedyState::residualised(&Problem::new(f, set), set.chosen(&set.project(x0)));
        let (best, objective) = (now.model.x.clone(), now.model.objective);
        Ok(FobaState { now, gains_of_levels: Vec::new(), start: objective - f.lower_bound(), best, objective })
    }

    fn query<'s>(&self, state: &'s FobaState) -> &'s Evaluated<SparseVec> {
        &state.now.model.x
    }

    fn iterate<'s>(&self, state: &'s FobaState) -> &'s Evaluated<SparseVec> {
        &state.best
    }

    fn advance(&self, f: &OnVectors<'_>, set: &Self::Subject, state: &mut FobaState, g: &Vec<f64>) -> Progress {
        let problem = Problem::new(f, set);
        let most = self.most.unwrap_or(2 * problem.k);
        let still = Progress::still(state.objective, Move::Fixed);
        if state.now.model.chosen.len() >= most {
            return still;
        }
        let gains = state.now.gains(&problem, g);
        let mut now = state.now.clone();
        if !now.grow(&problem, gains) {
            // F^(k+1) = F^(k) ∪ {i}
            return still;
        }
        let gain = state.now.model.objective - now.model.objective; // δ^(k+1)
        if !(gain > self.threshold * state.start) {
            return still;
        }
        state.gains_of_levels.push(gain);
        self.go_back(&problem, &mut now, &mut state.gains_of_levels);
        let progress = state.settle(now, problem.k);
        let last = state.now.model.chosen.len() >= most;
        Progress { kind: if last { Move::Completed } else { Move::Grown }, ..progress }
    }
}

impl FobaState {
    /// Takes over a model at rest, and keeps it as the answer if it is the best of at most k atoms.
    fn settle(&mut self, now: GreedyState, k: usize) -> Progress {
        self.now = now;
        let model = &self.now.model;
        let better = model.chosen.len() <= k && model.objective < self.objective;
        if !better {
            return Progress::still(self.objective, Move::Grown);
        }
        let progress = Progress::moved(model.objective, model.x.point(), self.best.point());
        (self.best, self.objective) = (model.x.clone(), model.objective);
        progress
    }
}
