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

use pulp::Arch;

use super::enumerate_scan::Rest;
use super::enumerate_tree::tree;
use super::quadratic::Quadratic;
use super::sweep::{DEPENDENT, eliminate};
use crate::space::IndexSet;

/// Gains that differ by this share are tied.
pub(super) const TIE: f64 = 1e-10;
/// The share of f(0) up to which the value of a support has to be certain.
const REPRODUCED: f64 = 1e-9;
/// Gains that differ by this share are worth being solved.
const NEARLY: f64 = 1e-6;
/// The rounding of G_jj, of which a Schur complement loses more the smaller it is.
const UNCERTAIN: f64 = 1e-15;
/// Vectors are filled up to a multiple of this, which no register exceeds.
pub(super) const LANES: usize = 8;
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
    scaled.proven(&root, best, choose(free, k))
}

/// C(n, k).
fn choose(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>().round()
}

/// The pairs that a scan compares, and what its rows cost besides: one for each support of k − 1.
fn predicted(n: usize, k: usize) -> f64 {
    if k == 0 { 1.0 } else { choose(n, k) + PER_ROW * k as f64 * choose(n, k - 1) }
}

/// The length of vectors for n coordinates.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// A quadratic in units in which G_jj = 1; columns of zeros stay so.
pub(super) struct Scaled {
    pub n: usize,
    /// G, row after row, each filled up with zeros; and b.
    pub gram: Vec<f64>,
    pub linear: Vec<f64>,
    constant: f64,
    pub kept: Vec<usize>,
    /// 0, 1, …, n − 1.
    pub names: Vec<usize>,
    pub arch: Arch,
}

/// The gain of a support, and how much of it may be rounding.
struct Fit {
    gain: f64,
    doubt: f64,
}

impl Scaled {
    pub fn new(q: &dyn Quadratic, kept: &IndexSet) -> Self {
        let (n, names) = (q.dim(), (0..q.dim()).collect::<Vec<usize>>());
        let scale = |room: &f64| if *room > 0.0 { 1.0 / room.sqrt() } else { 0.0 };
        let scale: Vec<f64> = q.diagonal().iter().map(scale).collect();
        q.prepare(&names);
        let mut gram = vec![0.0; n * padded(n)];
        for (j, row) in gram.chunks_exact_mut(padded(n).max(1)).enumerate() {
            row.iter_mut().zip(q.column(j)).zip(&scale).for_each(|((out, g), other)| *out = g * scale[j] * other);
        }
        let linear = q.linear().iter().zip(&scale).map(|(b, scale)| b * scale).collect();
        Self { n, gram, linear, constant: q.constant(), kept: kept.indices().to_vec(), names, arch: Arch::new() }
    }

    /// The gain of a support and of what is kept. O((k + kept)³).
    fn fit(&self, support: &[usize]) -> Fit {
        let all: Vec<usize> = self.kept.iter().chain(support).copied().collect();
        let entry = |i: usize, j: usize| self.gram[i * padded(self.n) + j];
        let mut c: Vec<f64> = all.iter().flat_map(|&i| all.iter().map(move |&j| entry(i, j))).collect();
        let mut q: Vec<f64> = all.iter().map(|&j| self.linear[j]).collect();
        let mut fit = Fit { gain: 0.0, doubt: 0.0 };
        eliminate(&mut c, &mut q, &vec![DEPENDENT; all.len()], |slope, pivot| {
            let part = slope * slope / pivot;
            fit.gain += part;
            fit.doubt += part * UNCERTAIN / pivot;
        });
        fit
    }

    /// What was found, with the smaller of two coordinates that bring the same, and without what brings nothing.
    fn proven(&self, root: &Rest, best: Best, subsets: f64) -> Option<Proven> {
        let least = best.gain - TIE * best.gain - 2.0 * self.fit(&best.support).doubt;
        let mut support = self.needed(best.support, least);
        for at in (0..support.len()).rev() {
            let mut others = support.clone();
            let last = others.remove(at);
            let ties = self.substitutes(root, &others, least - NEARLY * least);
            let smaller = ties.into_iter().find(|&j| j < last && self.reaches(&[&others[..], &[j]].concat(), least));
            support[at] = smaller.unwrap_or(last);
        }
        support.sort_unstable();
        let support = self.needed(support, least);
        let fit = self.fit(&support);
        let objective = self.constant - 0.5 * fit.gain;
        (best.sure && self.is_sure(&fit) && objective.is_finite()).then_some(Proven { support, objective, subsets })
    }

    /// What a support cannot do without to reach a gain; the larger indices go first.
    fn needed(&self, mut support: Vec<usize>, gain: f64) -> Vec<usize> {
        for at in (0..support.len()).rev() {
            let out = support.remove(at);
            if !self.reaches(&support, gain) {
                support.insert(at, out);
            }
        }
        support
    }

    fn reaches(&self, support: &[usize], gain: f64) -> bool {
        let fit = self.fit(support);
        fit.gain >= gain && self.is_sure(&fit)
    }

    fn is_sure(&self, fit: &Fit) -> bool {
        0.5 * fit.doubt <= REPRODUCED * self.constant.abs().max(0.5 * fit.gain)
    }
}

/// The best support so far.
#[derive(Debug, Clone)]
pub(super) struct Best {
    support: Vec<usize>,
    pub gain: f64,
    /// Whether its value is certain.
    pub sure: bool,
    /// The gain that another one has to exceed.
    pub threshold: f64,
}

impl Best {
    /// A support to begin with; the search is to find it again, or one with smaller indices that ties.
    fn new(scaled: &Scaled, support: Vec<usize>) -> Self {
        let mut best = Self { support: Vec::new(), gain: 0.0, sure: true, threshold: -1.0 };
        best.offer(scaled, support);
        Self { threshold: best.gain - 2.0 * TIE * best.gain, ..best }
    }

    /// Solves a support that looks better; what counts of its gain is what is certain of it.
    pub fn offer(&mut self, scaled: &Scaled, mut support: Vec<usize>) {
        let fit = scaled.fit(&support);
        if fit.gain - fit.doubt > self.threshold {
            support.sort_unstable();
            let (gain, sure) = (fit.gain, scaled.is_sure(&fit));
            *self = Self { support, gain, sure, threshold: gain + TIE * gain };
        }
    }

    /// The better of two, the first where they tie.
    pub fn or(self, other: Self) -> Self {
        if other.gain > self.threshold { other } else { self }
    }
}

#[cfg(test)]
mod tests;
