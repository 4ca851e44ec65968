//! Branch and bound over the supports of a few coordinates (Furnival and Wilson 1974, "Regressions by leaps and
//! bounds"), from both ends: a node has coordinates P inside, R free, and room for so many of R.
//!
//! | | code | one of R comes in | one of R leaves |
//! |---|---|---|---|
//! | C: the residual covariances of R given P | `given` | loses a rank-one term | a block of it |
//! | H = C⁻¹ | `whole` | a block of it | loses a rank-one term |
//! | q: the slopes at the minimum over P | `given` | moves along C | part of it |
//! | x: the minimum over P and R | `whole` | part of it | moves along H |
//!
//! No support of the node gains more than P and R together. Without some of R, that is less by at least x_j²/H_jj for each j
//! of them. So j has to come in where the best support so far is not beaten otherwise; and as all but `room` leave, the cost
//! of the dearest of these is lost.

use pulp::{Simd, WithSimd};

use super::enumerate_scan::{Rest, Row};
use super::scaled::{Best, Scaled, padded};
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
    let mut root = Node::new(scaled, root, k);
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
    /// C and q, and the gain of P.
    given: End,
    /// H and x, and the gain of P and R, where they are known.
    whole: Option<End>,
    /// The diagonal of H when it was computed.
    fresh: Vec<f64>,
}

/// A symmetric matrix over R, row after row, each filled up with zeros; a vector; and a gain.
#[derive(Clone)]
struct End {
    count: usize,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    gain: f64,
}

/// What becomes of a coordinate.
#[derive(Clone, Copy, PartialEq)]
enum Move {
    In,
    Out,
}

impl Node {
    fn new(scaled: &Scaled, root: &Rest, k: usize) -> Self {
        let free: Vec<usize> = (0..scaled.n).filter(|&j| root.s[j] > 0.0).collect();
        let (count, width) = (free.len(), padded(free.len()));
        let (mut matrix, mut scratch) = (vec![0.0; count * width], vec![0.0; root.q.len()]);
        for (&j, out) in free.iter().zip(matrix.chunks_exact_mut(width.max(1))) {
            let row = scaled.row(j, 0, &root.columns, &mut scratch);
            out.iter_mut().zip(&free).for_each(|(c, &l)| *c = row[l]);
        }
        let mut vector: Vec<f64> = free.iter().map(|&j| root.q[j]).collect();
        vector.resize(width, 0.0);
        let given = End { count, matrix, vector, gain: root.gain };
        Self { inside: Vec::new(), free, room: k, given, whole: None, fresh: Vec::new() }
    }

    /// The coordinate that matters most, and where it can go; nowhere if no support of the node beats a threshold.
    #[inline(always)]
    fn branch(&mut self, threshold: f64) -> (usize, &'static [Move]) {
        if let Err(dependent) = self.solve() {
            let at = dependent.last().copied().unwrap_or_default();
            return (at, if self.given.at(at) > DEPENDENT { &[Move::Out, Move::In] } else { &[Move::Out] });
        }
        let Some(whole) = &self.whole else { return (0, &[]) };
        let costs: Vec<f64> = (0..whole.count).map(|j| whole.part(j)).collect();
        let at = (0..costs.len()).reduce(|a, b| if costs[b] > costs[a] { b } else { a }).unwrap_or_default();
        let mut sorted = costs.clone();
        let (_, &mut dearest, _) = sorted.select_nth_unstable_by(costs.len() - self.room - 1, f64::total_cmp);
        let enough = whole.gain - threshold;
        if dearest >= enough {
            return (at, &[]);
        }
        (at, if costs[at] >= enough { &[Move::In] } else { &[Move::Out, Move::In] })
    }

    /// H and x, where they are not known, by Gauss-Jordan elimination; or the coordinates that depend on others. O(|R|³).
    #[inline(always)]
    fn solve(&mut self) -> Result<(), Vec<usize>> {
        if self.whole.is_some() {
            return Ok(());
        }
        let End { count, matrix: mut h, vector: mut x, mut gain } = self.given.clone();
        let (width, mut dependent) = (x.len(), Vec::new());
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
        if !dependent.is_empty() {
            return Err(dependent);
        }
        self.fresh = (0..count).map(|j| h[j * width + j]).collect();
        gain += UNCERTAIN * gain * self.fresh.iter().fold(0.0, |a: f64, &b| a.max(b));
        self.whole = Some(End { count, matrix: h, vector: x, gain });
        Ok(())
    }

    /// The supports of a node with room for one or two.
    #[inline(always)]
    fn last<S: Simd>(&self, simd: S, scaled: &Scaled, best: &mut Best) {
        let (given, q) = (&self.given, &self.given.vector);
        let mut s = vec![0.0; q.len()];
        (0..given.count).filter(|&j| given.at(j) > DEPENDENT).for_each(|j| s[j] = given.at(j));
        for (j, base) in given.matrix.chunks_exact(q.len()).enumerate().filter(|(j, _)| s[*j] > 0.0) {
            if self.room == 1 && given.gain + given.part(j) > best.threshold {
                best.offer(scaled, [&self.inside[..], &[self.free[j]]].concat());
            }
            if self.room == 2 {
                let row = Row { j, base, last: base, seen: 0.0, q, s: &s, names: &self.free };
                row.compare(simd, scaled, (&self.inside, given.gain), best);
            }
        }
    }

    /// With a coordinate inside, or without it.
    #[inline(always)]
    fn child(&self, at: usize, to: Move) -> Self {
        let (mut inside, mut free, mut fresh) = (self.inside.clone(), self.free.clone(), self.fresh.clone());
        let name = free.remove(at);
        if to == Move::In {
            inside.push(name);
        }
        let (given, mut whole) = match to {
            Move::In => (self.given.eliminated(at, 1.0), self.whole.as_ref().map(|whole| whole.dropped(at, 0.0))),
            Move::Out => (self.given.dropped(at, 0.0), self.whole.as_ref().map(|whole| whole.eliminated(at, -1.0))),
        };
        if let Some(end) = &whole {
            fresh.remove(at);
            let worn = |(fresh, h): (&f64, f64)| *fresh > FALLEN * h && fresh * fresh > WORN * h;
            if fresh.iter().zip((0..end.count).map(|j| end.at(j))).any(worn) {
                whole = None;
            }
        }
        Self { room: self.room - usize::from(to == Move::In), inside, free, given, whole, fresh }
    }
}

impl End {
    /// An entry of the diagonal.
    #[inline(always)]
    fn at(&self, j: usize) -> f64 {
        self.matrix[j * self.vector.len() + j]
    }

    /// What a coordinate brings to P, or what its leaving costs.
    #[inline(always)]
    fn part(&self, j: usize) -> f64 {
        self.vector[j] * self.vector[j] / self.at(j)
    }

    /// M − v·vᵀ/v_at and x − v·x_at/v_at without a coordinate, where v is its column of M; the gain moves by its part.
    #[inline(always)]
    fn eliminated(&self, at: usize, sign: f64) -> Self {
        Self { gain: self.gain + sign * self.part(at), ..self.dropped(at, 1.0 / self.at(at)) }
    }

    /// M − factor·v·vᵀ and x − factor·v·x_at without a coordinate.
    #[inline(always)]
    fn dropped(&self, at: usize, factor: f64) -> Self {
        let (count, width, next) = (self.count, self.vector.len(), padded(self.count - 1));
        let v = &self.matrix[at * width..][..width];
        let mut matrix = vec![0.0; (count - 1) * next];
        let rows = self.matrix.chunks_exact(width).enumerate().filter(|(i, _)| *i != at);
        for ((i, row), out) in rows.zip(matrix.chunks_exact_mut(next.max(1))) {
            let share = factor * v[i];
            let (before, after) = out.split_at_mut(at);
            before.iter_mut().zip(row).zip(v).for_each(|((out, m), v)| *out = m - share * v);
            after.iter_mut().zip(&row[at + 1..count]).zip(&v[at + 1..]).for_each(|((out, m), v)| *out = m - share * v);
        }
        let share = factor * self.vector[at];
        let mut vector: Vec<f64> = self.vector.iter().zip(v).map(|(x, v)| x - share * v).collect();
        vector.remove(at);
        vector.resize(next, 0.0);
        Self { count: count - 1, matrix, vector, gain: self.gain }
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
        if node.given.gain > best.threshold {
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
        let solving = if node.whole.is_none() { entries * count as f64 } else { 0.0 };
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
            let mut all = 0.0;
            for step in 0..8 {
                let (before, fresh) = (node.whole.take(), node.fresh.clone());
                assert!(node.solve().is_ok(), "singular");
                let Some(again) = node.whole.take() else { panic!("not solved") };
                all = if step == 0 { again.gain } else { all };
                if let Some(end) = &before {
                    inherited += 1;
                    assert!((end.gain - again.gain).abs() < 1e-7 * all, "order {order}, step {step}");
                    for j in 0..end.count {
                        let (h, x) = (again.at(j), again.vector[j]);
                        assert!((end.at(j) - h).abs() < 1e-7 * h, "order {order}, step {step}");
                        assert!((end.vector[j] - x).abs() < 1e-6 * (x.abs() + h.sqrt()), "order {order}, step {step}");
                    }
                }
                if before.is_some() {
                    node.fresh = fresh;
                }
                node.whole = before.or(Some(again));
                let to = if order >> step & 1 == 1 && node.room > 0 { Move::In } else { Move::Out };
                node = node.child((order * 7 + step * 5) % node.free.len(), to);
            }
        }
        assert!(inherited > 256 * 3, "{inherited}");
    }
}
