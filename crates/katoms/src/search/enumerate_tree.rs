//! Branch and bound over the supports of a few coordinates (Furnival and Wilson 1974, "Regressions by leaps and
//! bounds"), from both ends: a node has coordinates P inside, R free, and room for so many of R.
//!
//! | | code | one of R comes in | one of R leaves |
//! |---|---|---|---|
//! | C: the residual covariances of R given P | `c` | loses a rank-one term | a block of it |
//! | H = C⁻¹ | `h` | a block of it | loses a rank-one term |
//! | q: the slopes at the minimum over P | `q` | moves along C | part of it |
//! | x: the minimum over P and R | `x` | part of it | moves along H |
//!
//! No support of the node gains more than P and R together. Without some of R, that is less by at least x_j²/H_jj for each j
//! of them. So j has to come in where the best support so far is not beaten otherwise; and as all but `room` leave, the cost
//! of the dearest of these is lost.

use pulp::{Simd, WithSimd};

use super::enumerate::{Best, Scaled, padded};
use super::enumerate_scan::{Rest, Row};
use super::sweep::DEPENDENT;

/// The Schur complement up to which H is too uncertain to be had.
const SINGULAR: f64 = 1e-7;
/// The rounding of the gain of P and R, for the largest H_jj.
const UNCERTAIN: f64 = 1e-14;
/// H_jj loses digits as others leave that j depends on: it was computed to about 1e-15 of its square. It is computed
/// again where it has fallen by the first factor, and lacks the second times 1e-15.
const FALLEN: f64 = 4.0;
const WORN: f64 = 1e5;
/// Coordinates that depend on others, up to which there is a bound soon enough: each makes 1.5 times as many
/// nodes or twice as many (40 coordinates, k = 10).
const DEFICIENT: usize = 12;
/// What a node costs besides its entries, in entries: a dozen allocations.
const PER_NODE: f64 = 500.0;

/// The best support with k coordinates; `None` where the work exceeds the budget.
pub(super) fn tree(scaled: &Scaled, root: &Rest, k: usize, mut best: Best, budget: f64) -> Option<Best> {
    let root = Node::new(scaled, root, k);
    if root.solve().is_err_and(|dependent| dependent.len() > DEFICIENT) {
        return None;
    }
    let (mut nodes, mut spent) = (vec![root], 0.0);
    while let Some(node) = nodes.pop() {
        spent += scaled.arch.dispatch(Expand { node, scaled, nodes: &mut nodes, best: &mut best });
        if spent > budget {
            return None;
        }
    }
    Some(best)
}

struct Node {
    inside: Vec<usize>,
    free: Vec<usize>,
    room: usize,
    gain: f64,
    q: Vec<f64>,
    /// The diagonal of C; 0 for what cannot come in.
    s: Vec<f64>,
    c: Vec<f64>,
    dual: Option<Dual>,
}

/// The minimum over P and R.
struct Dual {
    gain: f64,
    x: Vec<f64>,
    h: Vec<f64>,
    /// The diagonal of H when it was computed.
    fresh: Vec<f64>,
}

/// What becomes of a coordinate.
#[derive(Clone, Copy)]
enum Move {
    In,
    Out,
}

impl Node {
    fn new(scaled: &Scaled, root: &Rest, k: usize) -> Self {
        let free: Vec<usize> = (0..scaled.n).filter(|&j| root.s[j] > 0.0).collect();
        let width = padded(free.len());
        let (mut c, mut scratch) = (vec![0.0; free.len() * width], vec![0.0; root.q.len()]);
        for (&j, out) in free.iter().zip(c.chunks_exact_mut(width.max(1))) {
            let row = scaled.row(j, 0, &root.columns, &mut scratch);
            out.iter_mut().zip(&free).for_each(|(c, &l)| *c = row[l]);
        }
        let (mut q, mut s) = (vec![0.0; width], vec![0.0; width]);
        for (at, &j) in free.iter().enumerate() {
            (q[at], s[at]) = (root.q[j], root.s[j]);
        }
        Self { inside: Vec::new(), free, room: k, gain: root.gain, q, s, c, dual: None }
    }

    /// The coordinate that matters most, and where it can go; nowhere if no support of the node beats a threshold.
    #[inline(always)]
    fn branch(&mut self, threshold: f64) -> (usize, &'static [Move]) {
        let (count, width) = (self.free.len(), padded(self.free.len()));
        let dual = match self.dual.take().map_or_else(|| self.solve(), Ok) {
            Ok(dual) => dual,
            Err(dependent) => {
                let at = dependent.last().copied().unwrap_or_default();
                return (at, if self.s[at] > 0.0 { &[Move::Out, Move::In] } else { &[Move::Out] });
            }
        };
        let costs: Vec<f64> = (0..count).map(|j| dual.x[j] * dual.x[j] / dual.h[j * width + j]).collect();
        let at = (0..count).reduce(|a, b| if costs[b] > costs[a] { b } else { a }).unwrap_or_default();
        let mut sorted = costs.clone();
        let (_, &mut dearest, _) = sorted.select_nth_unstable_by(count - self.room - 1, f64::total_cmp);
        let enough = dual.gain - threshold;
        self.dual = Some(dual);
        if dearest >= enough {
            return (at, &[]);
        }
        (at, if costs[at] >= enough { &[Move::In] } else { &[Move::Out, Move::In] })
    }

    /// H and x by Gauss-Jordan elimination, or the coordinates that depend on others. O(|R|³).
    #[inline(always)]
    fn solve(&self) -> Result<Dual, Vec<usize>> {
        let (count, width) = (self.free.len(), padded(self.free.len()));
        let (mut h, mut x, mut gain, mut dependent) = (self.c.clone(), self.q.clone(), self.gain, Vec::new());
        for p in 0..count {
            let (row, pivot, slope) = (h[p * width..][..width].to_vec(), h[p * width + p], x[p]);
            if !(pivot > SINGULAR) {
                dependent.push(p);
                continue;
            }
            gain += slope * slope / pivot;
            for (i, out) in h.chunks_exact_mut(width).enumerate() {
                let share = if i == p { 1.0 - 1.0 / pivot } else { out[p] / pivot };
                out.iter_mut().zip(&row).for_each(|(out, row)| *out -= share * row);
                out[p] = if i == p { 1.0 / pivot } else { -share };
                x[i] -= share * slope;
            }
        }
        let fresh: Vec<f64> = (0..count).map(|j| h[j * width + j]).collect();
        gain += UNCERTAIN * gain * fresh.iter().fold(0.0, |a: f64, &b| a.max(b));
        if dependent.is_empty() { Ok(Dual { gain, x, h, fresh }) } else { Err(dependent) }
    }

    /// The supports of a node with room for one or two.
    #[inline(always)]
    fn last<S: Simd>(&self, simd: S, scaled: &Scaled, best: &mut Best) {
        let Self { inside, free, room, gain, q, s, c, .. } = self;
        for (j, base) in c.chunks_exact(q.len()).enumerate().filter(|(j, _)| s[*j] > 0.0) {
            if *room == 1 && gain + q[j] * q[j] / s[j] > best.threshold {
                best.offer(scaled, [&inside[..], &[free[j]]].concat());
            }
            if *room == 2 {
                let row = Row { j, base, last: base, seen: 0.0, q, s, names: free };
                row.compare(simd, scaled, (inside, *gain), best);
            }
        }
    }

    /// With a coordinate inside, or without it.
    #[inline(always)]
    fn child(&self, at: usize, to: Move) -> Self {
        let (mut inside, mut free) = (self.inside.clone(), self.free.clone());
        let (name, count) = (free.remove(at), self.free.len());
        let (room, gain, factor) = match to {
            Move::In => {
                inside.push(name);
                (self.room - 1, self.gain + self.q[at] * self.q[at] / self.s[at], 1.0 / self.s[at])
            }
            Move::Out => (self.room, self.gain, 0.0),
        };
        let removal = Removal { count, at, factor };
        let (c, q) = (removal.matrix(&self.c), removal.vector(&self.q, &self.c));
        let diagonal = c.iter().step_by(q.len() + 1).map(|&s| if s > DEPENDENT { s } else { 0.0 });
        let mut s: Vec<f64> = diagonal.take(free.len()).collect();
        s.resize(q.len(), 0.0);
        let dual = self.dual.as_ref().and_then(|dual| dual.child(count, at, to));
        Self { inside, free, room, gain, q, s, c, dual }
    }
}

impl Dual {
    /// `None` where too many digits are lost.
    #[inline(always)]
    fn child(&self, count: usize, at: usize, to: Move) -> Option<Self> {
        let row = &self.h[at * padded(count)..][..padded(count)];
        let (gain, factor) = match to {
            Move::In => (self.gain, 0.0),
            Move::Out => (self.gain - self.x[at] * self.x[at] / row[at], 1.0 / row[at]),
        };
        let removal = Removal { count, at, factor };
        let (h, x) = (removal.matrix(&self.h), removal.vector(&self.x, &self.h));
        let mut fresh = self.fresh.clone();
        fresh.remove(at);
        let diagonal = h.iter().step_by(x.len() + 1);
        let worn = fresh.iter().zip(diagonal).any(|(fresh, h)| *fresh > FALLEN * h && fresh * fresh > WORN * h);
        (!worn).then_some(Self { gain, x, h, fresh })
    }
}

/// A coordinate that is taken from a symmetric matrix of so many, with a multiple of the square of its column.
#[derive(Clone, Copy)]
struct Removal {
    count: usize,
    at: usize,
    factor: f64,
}

impl Removal {
    /// M − factor·v·vᵀ without a row and a column, where v is this column of M.
    #[inline(always)]
    fn matrix(self, m: &[f64]) -> Vec<f64> {
        let Self { count, at, factor } = self;
        let (width, next) = (padded(count), padded(count - 1));
        let v = &m[at * width..][..width];
        let mut out = vec![0.0; (count - 1) * next];
        let rows = m.chunks_exact(width).enumerate().filter(|(i, _)| *i != at);
        for ((i, row), out) in rows.zip(out.chunks_exact_mut(next.max(1))) {
            let share = factor * v[i];
            let (before, after) = out.split_at_mut(at);
            before.iter_mut().zip(row).zip(v).for_each(|((out, m), v)| *out = m - share * v);
            after.iter_mut().zip(&row[at + 1..count]).zip(&v[at + 1..]).for_each(|((out, m), v)| *out = m - share * v);
        }
        out
    }

    /// x − factor·x_at·v without an entry.
    #[inline(always)]
    fn vector(self, x: &[f64], m: &[f64]) -> Vec<f64> {
        let (v, share) = (&m[self.at * x.len()..], self.factor * x[self.at]);
        let mut out: Vec<f64> = x.iter().zip(v).map(|(x, v)| x - share * v).collect();
        out.remove(self.at);
        out.resize(padded(self.count - 1), 0.0);
        out
    }
}

/// Looks at the supports of a node, or leaves others in its place; returns the work.
struct Expand<'n> {
    node: Node,
    scaled: &'n Scaled,
    nodes: &'n mut Vec<Node>,
    best: &'n mut Best,
}

impl WithSimd for Expand<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { mut node, scaled, nodes, best } = self;
        let count = node.free.len();
        let entries = (count * padded(count)) as f64 + PER_NODE;
        if node.gain > best.threshold {
            best.offer(scaled, node.inside.clone());
        }
        if count <= node.room {
            best.offer(scaled, [&node.inside[..], &node.free].concat());
            return entries;
        }
        if node.room <= 2 {
            node.last(simd, scaled, best);
            return entries;
        }
        let solving = if node.dual.is_none() { entries * count as f64 } else { 0.0 };
        let (at, moves) = node.branch(best.threshold);
        nodes.extend(moves.iter().map(|&to| node.child(at, to)));
        solving + entries * (1 + 2 * moves.len()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::search::quadratic::explicit::Explicit;
    use crate::space::IndexSet;

    /// Some columns that others nearly explain, and moves in which these come in and leave.
    #[test]
    fn the_inverse_keeps_its_digits() {
        let (rows, n) = (40, 12);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..n {
            let own = |i: usize| (1.0 + (i * (2 * j + 3)) as f64 * 0.37).sin();
            let near = |i: usize| columns[j - 1][i] + 1e-3 * own(i);
            columns.push((0..rows).map(|i| if j % 3 == 2 { near(i) } else { own(i) }).collect());
        }
        let mut y = columns[7].clone();
        y[0] += 1.0;
        let q = Explicit::new(&Matrix::from_columns(rows, n, columns.concat()), &y, 0.0);
        let scaled = Scaled::new(&q, &IndexSet::new(n, Vec::new()));
        let mut inherited = 0;
        for order in 0..256_usize {
            let mut node = Node::new(&scaled, &scaled.root(), 6);
            let all = node.solve().map_or(0.0, |dual| dual.gain);
            for step in 0..8 {
                let (count, width) = (node.free.len(), padded(node.free.len()));
                let Ok(again) = node.solve() else { panic!("singular") };
                if let Some(dual) = &node.dual {
                    inherited += 1;
                    assert!((dual.gain - again.gain).abs() < 1e-7 * all, "order {order}, step {step}");
                    for j in 0..count {
                        let (h, x) = (again.h[j * width + j], again.x[j]);
                        assert!((dual.h[j * width + j] - h).abs() < 1e-7 * h, "order {order}, step {step}");
                        assert!((dual.x[j] - x).abs() < 1e-6 * (x.abs() + h.sqrt()), "order {order}, step {step}");
                    }
                }
                node.dual = node.dual.take().or(Some(again));
                let to = if order >> step & 1 == 1 && node.room > 0 { Move::In } else { Move::Out };
                node = node.child((order * 7 + step * 5) % count, to);
            }
        }
        assert!(inherited > 256 * 3, "{inherited}");
    }
}
