//! A quadratic in units in which its diagonal is 1, and the best support of it so far.

use pulp::Arch;

use super::quadratic::Quadratic;
use super::sweep::{DEPENDENT, eliminate};
use crate::space::IndexSet;

/// Gains that differ by this share are tied.
pub(super) const TIE: f64 = 1e-10;
/// The share of f(0) up to which the value of a support has to be certain.
const REPRODUCED: f64 = 1e-9;
/// The rounding of G_jj, of which a Schur complement loses more the smaller it is.
const UNCERTAIN: f64 = 1e-15;
/// Vectors are filled up to a multiple of this, which no register exceeds.
pub(super) const LANES: usize = 8;

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
    pub constant: f64,
    pub kept: Vec<usize>,
    /// 0, 1, …, n − 1.
    pub names: Vec<usize>,
    pub arch: Arch,
}

/// The gain of a support, and how much of it may be rounding.
pub(super) struct Fit {
    pub gain: f64,
    pub doubt: f64,
}

impl Scaled {
    pub fn new(q: &dyn Quadratic, kept: &IndexSet) -> Self {
        let (n, names) = (q.dim(), (0..q.dim()).collect::<Vec<usize>>());
        let scale = |schur: &f64| if *schur > 0.0 { 1.0 / schur.sqrt() } else { 0.0 };
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
    pub fn fit(&self, support: &[usize]) -> Fit {
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

    /// What a support cannot do without to reach a gain; the larger indices go first.
    pub fn needed(&self, mut support: Vec<usize>, gain: f64) -> Vec<usize> {
        for at in (0..support.len()).rev() {
            let out = support.remove(at);
            if !self.reaches(&support, gain) {
                support.insert(at, out);
            }
        }
        support
    }

    pub fn reaches(&self, support: &[usize], gain: f64) -> bool {
        let fit = self.fit(support);
        fit.gain >= gain && self.is_sure(&fit)
    }

    pub fn is_sure(&self, fit: &Fit) -> bool {
        0.5 * fit.doubt <= REPRODUCED * self.constant.abs().max(0.5 * fit.gain)
    }
}

/// The best support so far.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub support: Vec<usize>,
    pub gain: f64,
    /// Whether its value is certain.
    pub sure: bool,
    /// The gain that another one has to exceed.
    pub threshold: f64,
}

impl Best {
    /// A support to begin with; the search is to find it again, or one with smaller indices that ties.
    pub fn new(scaled: &Scaled, support: Vec<usize>) -> Self {
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
