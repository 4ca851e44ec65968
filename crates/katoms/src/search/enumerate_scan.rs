//! All supports one after the other, the last two coordinates of them in one pass over a row.

use std::ops::Range;
use std::sync::Arc;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::enumerate::{Best, DEPENDENT, LANES, Scaled, TIE, UNCERTAIN, padded};

/// The rounding of a Schur complement in units of G_jj.
const ROUNDING: f64 = 1e-14;
/// Prefixes that share a row of G while it is in the first cache.
const BLOCK: usize = 16;
/// Independent coordinates up to which it is asked whether they fit perfectly.
const INDEPENDENT: usize = 24;
/// A squared slope that is none, as a share of the gain.
const NO_SLOPE: f64 = 1e-20;
/// Rows of one task where there is no prefix.
const ROWS: usize = 64;

/// What a prefix leaves of all coordinates.
#[derive(Debug, Clone)]
pub(super) struct Rest {
    chosen: Vec<usize>,
    pub gain: f64,
    pub q: Vec<f64>,
    pub s: Vec<f64>,
    pub columns: Vec<Arc<Vec<f64>>>,
}

impl Rest {
    /// What may come in.
    fn open(&self) -> impl Iterator<Item = usize> {
        self.s.iter().enumerate().filter(|(_, s)| **s > 0.0).map(|(j, _)| j)
    }

    /// The prefix itself, which is all where nothing more can come in.
    #[inline(always)]
    fn offer(&self, scaled: &Scaled<'_>, best: &mut Best) {
        if self.gain > best.threshold {
            best.offer(scaled, self.chosen.clone());
        }
    }
}

impl Scaled<'_> {
    /// What the kept coordinates leave.
    pub fn root(&self) -> Rest {
        let (mut q, mut s) = (vec![0.0; padded(self.n)], vec![0.0; padded(self.n)]);
        for (j, scale) in self.scale.iter().enumerate() {
            (q[j], s[j]) = (self.q.linear[j] * scale, if *scale > 0.0 { 1.0 } else { 0.0 });
        }
        let mut rest = Rest { chosen: Vec::new(), gain: 0.0, q, s, columns: Vec::new() };
        for &j in &self.kept {
            if rest.s[j] > 0.0 {
                rest = self.enter(&rest, j, 0..self.n);
            }
            rest.s[j] = 0.0;
        }
        rest.chosen.clear();
        rest
    }

    fn enter(&self, rest: &Rest, i: usize, range: Range<usize>) -> Rest {
        self.arch.dispatch(Enter { scaled: self, rest, i, range })
    }

    /// The residual covariances of a coordinate with those from another one on. O(n·|P|).
    #[inline(always)]
    pub fn row(&self, j: usize, from: usize, columns: &[Arc<Vec<f64>>], out: &mut [f64]) {
        let (gram, scale) = (&self.q.gram[j * self.n..][from..self.n], self.scale[j]);
        let out = &mut out[from..self.n];
        for ((out, g), other) in out.iter_mut().zip(gram).zip(&self.scale[from..]) {
            *out = g * scale * other;
        }
        for w in columns {
            let seen = w[j];
            for (out, w) in out.iter_mut().zip(&w[from..]) {
                *out -= seen * w;
            }
        }
    }

    /// The coordinates that bring most one after the other.
    pub fn greedy(&self, root: &Rest, k: usize) -> Vec<usize> {
        let mut rest = root.clone();
        for _ in 0..k {
            // What is certain of it: of coordinates that tie, one that the others do not nearly explain.
            let gain = |j: usize| rest.q[j] * rest.q[j] / rest.s[j] * (1.0 - UNCERTAIN / rest.s[j]);
            let Some(first) = rest.open().reduce(|a, b| if gain(b) > gain(a) { b } else { a }) else { break };
            rest = self.enter(&rest, first, 0..self.n);
        }
        rest.chosen
    }

    /// The coordinates that reach a gain together with some others. O(n·k²).
    pub fn substitutes(&self, root: &Rest, others: &[usize], gain: f64) -> Vec<usize> {
        let mut rest = root.clone();
        for &j in others {
            if rest.s[j] > 0.0 {
                rest = self.enter(&rest, j, 0..self.n);
            }
        }
        rest.open().filter(|&j| rest.gain + rest.q[j] * rest.q[j] / rest.s[j] >= gain).collect()
    }

    /// Whether a support gains as much as all coordinates together, where only a few of these are independent.
    pub fn is_perfect(&self, root: &Rest, best: &Best) -> bool {
        let mut rest = root.clone();
        for _ in 0..INDEPENDENT {
            let Some(first) = rest.open().reduce(|a, b| if rest.s[b] > rest.s[a] { b } else { a }) else {
                let left = rest.q.iter().fold(0.0, |most: f64, q| most.max(q * q));
                return best.sure && left <= NO_SLOPE * rest.gain && best.gain >= rest.gain - TIE * rest.gain;
            };
            rest = self.enter(&rest, first, 0..self.n);
        }
        false
    }

    /// Looks at all supports.
    pub fn scan(&self, root: &Rest, k: usize, best: Best) -> Best {
        let step = match k {
            0..=2 => ROWS,
            3 => BLOCK,
            _ => 1,
        };
        let tasks: Vec<Range<usize>> = (0..self.n).step_by(step).map(|i| i..self.n.min(i + step)).collect();
        let one = |range: &Range<usize>| {
            let mut best = best.clone();
            self.within(root, range.clone(), k, &mut best);
            best
        };
        let found: Vec<Best> = tasks.par_iter().with_max_len(1).map(one).collect();
        found.into_iter().fold(best, Best::or)
    }

    /// Looks at all supports that begin with a prefix, go on within a range, and have so many more coordinates.
    fn within(&self, rest: &Rest, range: Range<usize>, left: usize, best: &mut Best) {
        rest.offer(self, best);
        let open = |i: &usize| rest.s[*i] > 0.0;
        match left {
            0 => {}
            1 => {
                for i in range.filter(open) {
                    if rest.gain + rest.q[i] * rest.q[i] / rest.s[i] > best.threshold {
                        best.offer(self, rest.chosen.iter().copied().chain([i]).collect());
                    }
                }
            }
            2 => self.arch.dispatch(Pairs { scaled: self, block: std::slice::from_ref(rest), range, best }),
            3 => {
                for first in range.clone().step_by(BLOCK) {
                    let some = (first..range.end.min(first + BLOCK)).filter(open);
                    let block: Vec<Rest> = some.map(|i| self.enter(rest, i, i + 1..self.n)).collect();
                    self.arch.dispatch(Pairs { scaled: self, block: &block, range: first + 1..self.n, best });
                }
            }
            _ => {
                for i in range.filter(open) {
                    self.within(&self.enter(rest, i, i + 1..self.n), i + 1..self.n, left - 1, best);
                }
            }
        }
    }
}

/// One more coordinate; those outside of a range cannot come in any more. O(n·|P|).
struct Enter<'r, 'a> {
    scaled: &'r Scaled<'a>,
    rest: &'r Rest,
    i: usize,
    range: Range<usize>,
}

impl WithSimd for Enter<'_, '_> {
    type Output = Rest;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Rest {
        let Self { scaled, rest, i, range } = self;
        let width = rest.q.len();
        let (mut w, mut q, mut s) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        scaled.row(i, range.start, &rest.columns, &mut w);
        let (inverse, root) = (1.0 / rest.s[i].sqrt(), rest.s[i].sqrt());
        let step = rest.q[i] / root;
        let before = rest.q[range.clone()].iter().zip(&rest.s[range.clone()]);
        let after = q[range.clone()].iter_mut().zip(&mut s[range.clone()]);
        for ((w, (q, s)), (q_before, s_before)) in w[range].iter_mut().zip(after).zip(before) {
            *w *= inverse;
            *q = q_before - step * *w;
            let room = s_before - *w * *w;
            *s = if room > DEPENDENT { room } else { 0.0 };
        }
        s[i] = 0.0;
        let chosen = rest.chosen.iter().copied().chain([i]).collect();
        let columns = rest.columns.iter().cloned().chain([Arc::new(w)]).collect();
        Rest { chosen, gain: rest.gain + step * step, q, s, columns }
    }
}

/// All pairs whose first is within a range, after each of some prefixes that differ in the last.
struct Pairs<'r, 'a> {
    scaled: &'r Scaled<'a>,
    block: &'r [Rest],
    range: Range<usize>,
    best: &'r mut Best,
}

impl WithSimd for Pairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { scaled, block, range, best } = self;
        let Some(any) = block.first() else { return };
        let common = &any.columns[..any.columns.len().saturating_sub(1)];
        let mut base = vec![0.0; padded(scaled.n)];
        for rest in block {
            rest.offer(scaled, best);
        }
        for j in range {
            scaled.row(j, start(j), common, &mut base);
            for rest in block {
                if rest.s[j] > 0.0 {
                    let (seen, last) = rest.columns.last().map_or((0.0, &rest.q), |w| (w[j], w));
                    let row = Row { j, base: &base, last, seen, q: &rest.q, s: &rest.s, names: &scaled.names };
                    row.compare(simd, scaled, (&rest.chosen, rest.gain), best);
                }
            }
        }
    }
}

/// Where the row of a coordinate begins: at a register, so that a few pairs are compared twice.
#[inline(always)]
fn start(j: usize) -> usize {
    j / LANES * LANES
}

/// A coordinate after a prefix, and those that may follow as the last.
pub(super) struct Row<'r> {
    pub j: usize,
    /// The residual covariances with j, before the last coordinate of the prefix.
    pub base: &'r [f64],
    /// The column of the Cholesky factor that the last one added, and j's entry of it.
    pub last: &'r [f64],
    pub seen: f64,
    pub q: &'r [f64],
    pub s: &'r [f64],
    /// The coordinates that the entries of these vectors stand for; what fills them up stands for none.
    pub names: &'r [usize],
}

/// What the last coordinate has to bring. Its gain is a fraction; it is compared by products, with what they may lack
/// from rounding.
#[derive(Clone, Copy)]
struct Need {
    step: f64,
    inverse: f64,
    gain: f64,
    slack: f64,
}

impl Row<'_> {
    /// Offers what beats the best support so far, after a prefix with a gain. O(n).
    #[inline(always)]
    pub fn compare<S: Simd>(&self, simd: S, scaled: &Scaled<'_>, prefix: (&[usize], f64), best: &mut Best) {
        let need = self.need(prefix.1, best.threshold);
        if need.gain < 0.0 || self.is_promising(simd, need) {
            self.offer(scaled, prefix, best);
        }
    }

    #[inline(always)]
    fn need(&self, gain: f64, threshold: f64) -> Need {
        let inverse = 1.0 / self.s[self.j];
        let step = self.q[self.j] * inverse;
        Need { step, inverse, gain: threshold - gain - self.q[self.j] * step, slack: ROUNDING * threshold }
    }

    /// Whether any of the last coordinates may bring enough.
    #[inline(always)]
    fn is_promising<S: Simd>(&self, simd: S, need: Need) -> bool {
        let from = start(self.j);
        let (seen, step, inverse) =
            (simd.splat_f64s(-self.seen), simd.splat_f64s(-need.step), simd.splat_f64s(-need.inverse));
        let (gain, slack, least) =
            (simd.splat_f64s(need.gain), simd.splat_f64s(-need.slack), simd.splat_f64s(DEPENDENT));
        let (base, last) = (S::as_simd_f64s(&self.base[from..]).0, S::as_simd_f64s(&self.last[from..]).0);
        let (q, s) = (S::as_simd_f64s(&self.q[from..]).0, S::as_simd_f64s(&self.s[from..]).0);
        let mut any = simd.greater_than_f64s(least, least);
        for (((&base, &last), &q), &s) in base.iter().zip(last).zip(q).zip(s) {
            let c = simd.mul_add_e_f64s(seen, last, base);
            let slope = simd.mul_add_e_f64s(step, c, q);
            let room = simd.mul_add_e_f64s(simd.mul_f64s(inverse, c), c, s);
            let enough = simd.mul_add_e_f64s(gain, room, slack);
            let better = simd.greater_than_f64s(simd.mul_f64s(slope, slope), enough);
            any = simd.or_m64s(any, simd.and_m64s(simd.greater_than_f64s(room, least), better));
        }
        simd.first_true_m64s(any) < S::F64_LANES
    }

    /// The same one by one.
    #[cold]
    fn offer(&self, scaled: &Scaled<'_>, (prefix, gain): (&[usize], f64), best: &mut Best) {
        let with = |more: &[usize]| prefix.iter().chain(more).copied().collect::<Vec<usize>>();
        if self.need(gain, best.threshold).gain < 0.0 {
            best.offer(scaled, with(&[self.names[self.j]]));
        }
        for l in self.j + 1..self.names.len() {
            let need = self.need(gain, best.threshold);
            let c = self.base[l] - self.seen * self.last[l];
            let (slope, room) = (self.q[l] - need.step * c, self.s[l] - need.inverse * c * c);
            if room > DEPENDENT && slope * slope > need.gain * room - need.slack {
                best.offer(scaled, with(&[self.names[self.j], self.names[l]]));
            }
        }
    }
}
