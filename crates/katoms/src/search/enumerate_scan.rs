//! All supports one after the other, the last two coordinates of them in one pass over a row.

use std::sync::Arc;

use pulp::{Simd, WithSimd};

use super::scaled::{Best, LANES, Scaled, TIE, padded};
use super::sweep::DEPENDENT;
use crate::linalg::parallel;

/// The rounding of a Schur complement in units of G_jj.
const ROUNDING: f64 = 1e-14;
/// Independent coordinates up to which it is asked whether they fit perfectly.
const INDEPENDENT: usize = 24;
/// A squared slope that is none, as a share of the gain.
const NO_SLOPE: f64 = 1e-20;

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
    fn offer(&self, scaled: &Scaled, best: &mut Best) {
        if self.gain > best.threshold {
            best.offer(scaled, self.chosen.clone());
        }
    }
}

impl Scaled {
    /// What the kept coordinates leave.
    pub fn root(&self) -> Rest {
        let width = padded(self.n);
        let mut s: Vec<f64> = self.gram.iter().step_by(width + 1).map(|g| if *g > 0.0 { 1.0 } else { 0.0 }).collect();
        let mut q = self.linear.clone();
        q.resize(width, 0.0);
        s.resize(width, 0.0);
        let mut rest = Rest { chosen: Vec::new(), gain: 0.0, q, s, columns: Vec::new() };
        for &j in &self.kept {
            if rest.s[j] > 0.0 {
                rest = self.enter(&rest, j, 0);
            }
            rest.s[j] = 0.0;
        }
        rest.chosen.clear();
        rest
    }

    fn enter(&self, rest: &Rest, i: usize, from: usize) -> Rest {
        self.arch.dispatch(Enter { scaled: self, rest, i, from })
    }

    /// The residual covariances of a coordinate after a prefix, in `out` or in G itself; those before `from` may be wrong.
    /// O(n·|P|).
    #[inline(always)]
    pub fn row<'r>(&'r self, j: usize, from: usize, columns: &[Arc<Vec<f64>>], out: &'r mut [f64]) -> &'r [f64] {
        let gram = &self.gram[j * out.len()..][..out.len()];
        if columns.is_empty() {
            return gram;
        }
        out[from..].copy_from_slice(&gram[from..]);
        for w in columns {
            let seen = w[j];
            out[from..].iter_mut().zip(&w[from..]).for_each(|(out, w)| *out -= seen * w);
        }
        out
    }

    /// The coordinates that reach a gain together with some others. O(n·k²).
    pub fn substitutes(&self, root: &Rest, others: &[usize], gain: f64) -> Vec<usize> {
        let mut rest = root.clone();
        for &j in others {
            if rest.s[j] > 0.0 {
                rest = self.enter(&rest, j, 0);
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
            rest = self.enter(&rest, first, 0);
        }
        false
    }

    /// Looks at all supports.
    pub fn scan(&self, root: &Rest, k: usize, mut best: Best) -> Best {
        if k < 3 {
            self.within(root, k, &mut best);
            return best;
        }
        root.offer(self, &mut best);
        let open: Vec<usize> = root.open().collect();
        let one = |at: usize| {
            let (i, mut best) = (open[at], best.clone());
            self.within(&self.enter(root, i, i + 1), k - 1, &mut best);
            best
        };
        let found: Vec<Best> = parallel::map(open.len(), &one);
        found.into_iter().fold(best, Best::or)
    }

    /// Looks at all supports that begin with a prefix and have so many more coordinates.
    fn within(&self, rest: &Rest, left: usize, best: &mut Best) {
        rest.offer(self, best);
        match left {
            0 => {}
            1 => {
                for i in rest.open() {
                    if rest.gain + rest.q[i] * rest.q[i] / rest.s[i] > best.threshold {
                        best.offer(self, rest.chosen.iter().copied().chain([i]).collect());
                    }
                }
            }
            2 => self.arch.dispatch(Pairs { scaled: self, rest, best }),
            _ => rest.open().for_each(|i| self.within(&self.enter(rest, i, i + 1), left - 1, best)),
        }
    }
}

/// One more coordinate; those before `from` cannot come in any more. O(n·|P|).
struct Enter<'r> {
    scaled: &'r Scaled,
    rest: &'r Rest,
    i: usize,
    from: usize,
}

impl WithSimd for Enter<'_> {
    type Output = Rest;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Rest {
        let Self { scaled, rest, i, from } = self;
        let width = rest.q.len();
        let (mut w, mut q, mut s) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        let mut scratch = vec![0.0; width];
        let row = scaled.row(i, from, &rest.columns, &mut scratch);
        let root = rest.s[i].sqrt();
        let (inverse, step) = (1.0 / root, rest.q[i] / root);
        for j in from..width {
            w[j] = row[j] * inverse;
            q[j] = rest.q[j] - step * w[j];
            let room = rest.s[j] - w[j] * w[j];
            s[j] = if room > DEPENDENT { room } else { 0.0 };
        }
        s[i] = 0.0;
        let chosen = rest.chosen.iter().copied().chain([i]).collect();
        let columns = rest.columns.iter().cloned().chain([Arc::new(w)]).collect();
        Rest { chosen, gain: rest.gain + step * step, q, s, columns }
    }
}

/// All pairs after a prefix.
struct Pairs<'r> {
    scaled: &'r Scaled,
    rest: &'r Rest,
    best: &'r mut Best,
}

impl WithSimd for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { scaled, rest, best } = self;
        let mut scratch = vec![0.0; rest.q.len()];
        // The last column is taken from the row on the way.
        let before = &rest.columns[..rest.columns.len().saturating_sub(1)];
        for j in rest.open() {
            let base = scaled.row(j, start(j), before, &mut scratch);
            let (seen, last) = rest.columns.last().map_or((0.0, &rest.q), |w| (w[j], w));
            let row = Row { j, base, last, seen, q: &rest.q, s: &rest.s, names: &scaled.names };
            row.compare(simd, scaled, (&rest.chosen, rest.gain), best);
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
    pub fn compare<S: Simd>(&self, simd: S, scaled: &Scaled, prefix: (&[usize], f64), best: &mut Best) {
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
    fn offer(&self, scaled: &Scaled, (prefix, gain): (&[usize], f64), best: &mut Best) {
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
