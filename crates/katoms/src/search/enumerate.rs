//! The best of all supports with k coordinates, proven by looking at every one of them, or at a bound on many at once.
//!
//! f(x) = constant − bᵀx + ½xᵀGx. A support S lowers f by half of its gain b_Sᵀ·G_SS⁻¹·b_S. Given a prefix P of a
//! support, what the others would bring is told by
//!
//! | | code | |
//! |---|---|---|
//! | q_j | `q` | the slope along j at the minimum over P |
//! | c_jl = G_jl − Σ w_j·w_l | `row` | the residual covariance of j and l |
//! | s_j = c_jj | `s` | the curvature along j that P leaves, its Schur complement; 0 for what cannot come in |
//! | w | `columns` | the columns of the Cholesky factor of G_PP, continued to all n rows |
//!
//! all in units in which G_jj = 1. With j, P gains q_j²/s_j more, and with l on top of it (q_l − c_jl·q_j/s_j)² over
//! s_l − c_jl²/s_j. The last two coordinates are therefore compared in one pass over the row of j, without a division:
//! whether a pair beats the best support so far is a comparison of products, and the few that do are solved again. It holds
//! for any G, also of wide data, where no bound would help: `enumerate_scan`. Where there are too many supports for that, and
//! G has few columns and full rank, branch and bound sees less of them: `enumerate_tree`.
//!
//! Rows are looked at in the order of the coordinates, so that of supports that tie the one with smaller indices stays.

use super::enumerate_scan::Rest;
use super::enumerate_tree::tree;
use super::quadratic::Quadratic;
use super::scaled::{Best, Scaled, TIE};
use crate::space::IndexSet;

/// Gains that differ by this share are worth being solved.
const NEARLY: f64 = 1e-6;
/// What a row costs besides its pairs, in pairs for each coordinate of the support: measured, from 15 ns for four of
/// 200 coordinates to 200 ns for seven of 28, where prefixes are many and rows short.
const PER_ROW: f64 = 24.0;
/// Coordinates up to which branch and bound is tried: a node has two matrices, here of 128 kB each.
const FEW: usize = 128;
/// Coordinates of which all subsets, of any size, are few.
const TINY: usize = 14;

/// A support that no other one with as many coordinates is better than.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proven {
    /// In increasing order, without what is kept, and without what brings nothing.
    pub support: Vec<usize>,
    /// The minimum of f over the support and what is kept.
    pub objective: f64,
    /// The number of supports that it is the best of.
    pub subsets: f64,
}

/// The best of all supports with k coordinates beside those kept, up to 1e-9 of f(0); the same at any number of threads.
///
/// `None` where the work exceeds the budget, or where rounding decides: the columns of what looks best depend on each
/// other so much that G does not tell its value to 1e-9 of f(0). `start` is a good support, or nothing. The budget
/// counts entries of residual covariances that are computed and compared, each about half a nanosecond: C(n, k) and a
/// little more for a scan, which is refused before it begins, and what is met on the way for a tree.
pub(super) fn best_subset(
    q: &dyn Quadratic,
    kept: &IndexSet,
    k: usize,
    start: &[usize],
    budget: f64,
) -> Option<Proven> {
    let free = q.dim() - kept.indices().len();
    let k = k.min(free);
    let affordable = predicted(free, k) <= budget;
    // Of more than half of many, prefixes are many more than supports.
    let hopeless = (2 * k > free && free > TINY) || (q.dim() > FEW && !affordable);
    let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    if hopeless || !finite(q.linear()) || !finite(q.diagonal()) {
        return None;
    }
    let scaled = Scaled::new(q, kept);
    let root = scaled.root();
    let mut best = Best::new(&scaled, start.iter().copied().filter(|&j| j < scaled.n).take(k).collect());
    if k < 2 || !scaled.is_perfect(&root, &best) {
        best = if affordable { scaled.scan(&root, k, best) } else { tree(&scaled, &root, k, best, budget)? };
    }
    proven(&scaled, &root, best, choose(free, k))
}

/// C(n, k).
fn choose(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>().round()
}

/// The pairs that a scan compares, and what its rows cost besides: one for each support of k − 1.
fn predicted(n: usize, k: usize) -> f64 {
    if k == 0 { 1.0 } else { choose(n, k) + PER_ROW * k as f64 * choose(n, k - 1) }
}

/// What was found, with the smaller of two coordinates that bring the same, and without what brings nothing.
fn proven(scaled: &Scaled, root: &Rest, best: Best, subsets: f64) -> Option<Proven> {
    let least = best.gain - TIE * best.gain - 2.0 * scaled.fit(&best.support).doubt;
    let mut support = scaled.needed(best.support, least);
    for at in (0..support.len()).rev() {
        let mut others = support.clone();
        let last = others.remove(at);
        let ties = scaled.substitutes(root, &others, least - NEARLY * least);
        let smaller = ties.into_iter().find(|&j| j < last && scaled.reaches(&[&others[..], &[j]].concat(), least));
        support[at] = smaller.unwrap_or(last);
    }
    support.sort_unstable();
    let support = scaled.needed(support, least);
    let fit = scaled.fit(&support);
    let objective = scaled.constant - 0.5 * fit.gain;
    (best.sure && scaled.is_sure(&fit) && objective.is_finite()).then_some(Proven { support, objective, subsets })
}

#[cfg(test)]
mod tests;
