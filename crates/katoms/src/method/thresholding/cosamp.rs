//! Pursuits that optimise over more atoms than wanted before they prune.
//!
//! minimise f(x) subject to x being made of at most k coordinates or groups.
//!
//! CoSaMP: D. Needell and J. Tropp, "CoSaMP: iterative signal recovery from incomplete and inaccurate samples", Appl. Comput.
//! Harmon. Anal. 26 (2009). GraSP, the same for any smooth loss: S. Bahmani, B. Raj and P. Boufounos, "Greedy
//! sparsity-constrained optimization", J. Mach. Learn. Res. 14 (2013). Subspace pursuit: W. Dai and O. Milenkovic, "Subspace
//! pursuit for compressive sensing signal reconstruction", IEEE Trans. Inf. Theory 55 (2009).
//!
//! | CoSaMP | GraSP | subspace pursuit | code | |
//! |---|---|---|---|---|
//! | a | x̂ | x on T^ℓ | `here`, `x` | the iterate |
//! | y = Φ*v | z = ∇f(x̂) | Φ*y_r | `g` | up to its sign |
//! | T = supp(y₂ₖ) ∪ supp(a) | T = supp(z₂ₖ) ∪ supp(x̂) | T̃^ℓ: k in place of 2k | `t` | at most 3k (2k) atoms |
//! | b | b | x_p | `b` | the minimum of f on T, or a step towards it |
//! | bₖ | bₖ | T^ℓ | `pruned` | |
//!
//! CoSaMP prunes b and goes on. In noise that walk often settles at a point that fits worse than an earlier one,
//! since b was optimal for other atoms. Therefore the default refits what is kept (the debiasing of GraSP, and of subspace
//! pursuit); [`Cosamp::published`] does not.
//!
//! f may rise and the walk may cycle: the guarantee needs a restricted isometry of 4k atoms, and none is
//! checked. Therefore the answer is the best point of the walk, and a walk that comes back to where it was ends as
//! stalled. Subspace pursuit ends, as in the paper, when f does not fall: at a fixed point where the support stays, stalled
//! otherwise. So f falls throughout. With fewer rows than T has atoms the least squares on T are not determined: those of
//! least norm are taken. On separable classes f has no minimum on T; the refit's cap on Newton steps, or a ridge, keeps b
//! finite. The paper of GraSP adds a ridge.
//!
//! One pass an iteration. Columns: three times those of T for the refit, and 4k for what is kept.

use serde::{Deserialize, Serialize};

use super::walk::Walk;
use crate::error::Error;
use crate::method::refit::{newton_steps, refit};
use crate::method::smooth::{Algorithm, AtomSet, OnVectors};
use crate::method::{Move, Progress, Refit, line_search, relative_change};
use crate::objective::Evaluated;
use crate::space::{Covector, IndexSet, Point, SparseVec};

/// What is done on the merged support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestrictedEstimate {
    /// f is minimised.
    #[default]
    Minimum,
    /// One Newton step, halved until f does not rise.
    Newton,
    /// One gradient step, of the length of the line search.
    Gradient,
}

/// CoSaMP, and with losses other than squares GraSP.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosamp {
    /// How b is found. Default: the minimum. GraSP has the other ways too.
    pub estimate: RestrictedEstimate,
    /// When f is minimised over the k atoms that are kept. Default: in every iteration.
    pub refit: Refit,
}

impl Default for Cosamp {
    fn default() -> Self {
        Self { estimate: RestrictedEstimate::Minimum, refit: Refit::EveryIteration }
    }
}

impl Cosamp {
    /// As published: what is kept is not refitted.
    pub fn published() -> Self {
        Self { refit: Refit::Never, ..Self::default() }
    }

    /// b on T.
    fn estimate(
        &self,
        f: &OnVectors<'_>,
        x: &Evaluated<SparseVec>,
        g: &Vec<f64>,
        t: &IndexSet,
    ) -> Evaluated<SparseVec> {
        match self.estimate {
            RestrictedEstimate::Minimum => refit(f, x.clone(), t).point,
            RestrictedEstimate::Newton => newton_steps(f, x.clone(), t, 1).point,
            RestrictedEstimate::Gradient => {
                let g_t = f.at(g.on(t));
                Evaluated::combine(1.0, x, -line_search(f, x, &g_t), &g_t)
            }
        }
    }
}

type VectorSet = dyn AtomSet<SparseVec, Vec<f64>>;

/// The support of x and the `count` atoms that are strongest in g, those of x among them; as many as there are.
fn candidates(set: &VectorSet, x: &Evaluated<SparseVec>, g: &Vec<f64>, count: usize) -> IndexSet {
    let nothing = SparseVec::zero(x.point().domain()).support();
    set.expand_by(count, g, &nothing).union(&x.point().support())
}

/// The k atoms of b, optimised if so chosen.
fn pruned(f: &OnVectors<'_>, set: &VectorSet, b: Evaluated<SparseVec>, when: Refit) -> Evaluated<SparseVec> {
    let a = set.project(b.into_point());
    let support = a.support();
    match when {
        Refit::EveryIteration => refit(f, f.at(a), &support).point,
        Refit::Never | Refit::AtEnd => f.at(a),
    }
}

impl Algorithm<SparseVec, Vec<f64>> for Cosamp {
    type State = Walk<SparseVec>;
    type Subject = VectorSet;

    fn start(&self, f: &OnVectors<'_>, set: &VectorSet, x0: SparseVec) -> Result<Self::State, Error> {
        Ok(Walk::starting_at(f, f.at(set.project(x0))))
    }

    fn query<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.here()
    }

    fn iterate<'s>(&self, walk: &'s Self::State) -> &'s Evaluated<SparseVec> {
        walk.best()
    }

    fn advance(&self, f: &OnVectors<'_>, set: &VectorSet, walk: &mut Self::State, g: &Vec<f64>) -> Progress {
        let t = candidates(set, walk.here(), g, 2 * set.atoms()); // identify, merge: T ← supp(y₂ₖ) ∪ supp(a)
        let b = self.estimate(f, walk.here(), g, &t); //             estimate: b on T
        let next = pruned(f, set, b, self.refit); //                 prune: a ← bₖ
        walk.go(f, next) //                                          update: the next gradient is there
    }

    fn finish(&self, f: &OnVectors<'_>, walk: &mut Self::State) {
        if self.refit == Refit::AtEnd {
            walk.refit(f);
        }
    }

    fn restart(&self, walk: &mut Self::State) {
        walk.restart();
    }
}

/// Subspace pursuit. It has no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubspacePursuit;

/// Where subspace pursuit stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubspaceState {
    x: Evaluated<SparseVec>,
    objective: f64,
}

impl Algorithm<SparseVec, Vec<f64>> for SubspacePursuit {
    type State = SubspaceState;
    type Subject = VectorSet;

    fn start(&self, f: &OnVectors<'_>, set: &VectorSet, x0: SparseVec) -> Result<Self::State, Error> {
        let x0 = set.project(x0);
        let support = x0.support();
        let x = refit(f, f.at(x0), &support).point;
        Ok(SubspaceState { objective: f.value(&x), x })
    }

    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<SparseVec> {
        &state.x
    }

    fn advance(&self, f: &OnVectors<'_>, set: &VectorSet, state: &mut Self::State, g: &Vec<f64>) -> Progress {
        let x = &state.x;
        let t = candidates(set, x, g, set.atoms()); //                   1: T̃ ← T ∪ {k strongest in Φ*y_r}
        let wide = refit(f, x.clone(), &t).point; //                     2: x_p on T̃
        let x_next = pruned(f, set, wide, Refit::EveryIteration); //     3, 4: T ← the k largest of x_p, refitted
        let objective = f.value(&x_next);
        if objective < state.objective {
            let moved = Progress::moved(objective, x_next.point(), x.point());
            *state = SubspaceState { x: x_next, objective };
            return moved;
        }
        let stays = x_next.point().support() == x.point().support(); //  5: the residual does not fall
        let kind = if stays { Move::Fixed } else { Move::Stalled };
        let change = if stays { 0.0 } else { relative_change(x_next.point(), x.point()) };
        Progress { change, ..Progress::still(state.objective, kind) }
    }
}
