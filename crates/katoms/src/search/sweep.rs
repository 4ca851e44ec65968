//! The minimum of a quadratic over some coordinates S, and what every other coordinate would bring.
//!
//! | | code | |
//! |---|---|---|
//! | x_S = G_SS⁻¹·b_S | `values` | the minimum over S |
//! | ρ = b − G·x | `slopes` | −∇f, zero on S |
//! | B = G_{:,S}·G_SS⁻¹ | `regressions` | each coordinate as seen from S |
//! | s_j = G_jj − B_j·G_{S,j} | `schur` | the curvature along j that S leaves |
//! | G_SS⁻¹ | `inverse` | |
//!
//! Letting j in lowers f by ρ_j²/(2s_j); taking a out raises it by x_a²/(2(G_SS⁻¹)_aa). Both moves
//! change all of this by a rank-one term: O(n·|S|), with one column of G and no look at the data. It is
//! the sweep operator of Beaton (1964), kept for all n rows. Several responses that share G have values and slopes of their
//! own, and everything else in common.

mod exchange;

use super::quadratic::Quadratic;
use crate::linalg::kernels::axpy;
use crate::linalg::parallel;
use crate::linalg::{Matrix, dot, sound_cholesky};

/// Rows that one task updates: they stay in the second cache, and there are enough of them for many threads.
const ROWS: usize = 64;
/// Entries of B below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 16;
/// Rows of these that are multiplied at a time: what is multiplied stays in the first.
const BLOCK: usize = 64;
/// A coordinate that S explains up to this share of its own curvature brings nothing new.
pub(super) const DEPENDENT: f64 = 1e-9;

/// A quadratic, minimised over some of its coordinates.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// S, in the order of entry; where in S each coordinate stands; and x_S, for each response.
    pub inside: Vec<usize>,
    pub position: Vec<Option<usize>>,
    pub values: Vec<f64>,
    pub responses: usize,
    /// G_SS⁻¹, row after row.
    pub inverse: Vec<Vec<f64>>,
    pub strips: Vec<Strip>,
    /// f at the minimum.
    pub objective: f64,
}

/// Some consecutive rows.
#[derive(Debug, Clone)]
pub(super) struct Strip {
    pub first: usize,
    /// Those of the first response, then those of the second.
    pub slopes: Vec<f64>,
    pub schur: Vec<f64>,
    /// The Schur complement below which a coordinate counts as dependent.
    pub floor: Vec<f64>,
    /// The rows of B, column after column.
    regressions: Vec<f64>,
}

impl Strip {
    pub fn len(&self) -> usize {
        self.schur.len()
    }

    /// The rows of the column of B that belongs to a position in S.
    pub fn regression(&self, position: usize) -> &[f64] {
        &self.regressions[position * self.len()..][..self.len()]
    }

    /// The rows from `first` on, at x = 0.
    fn new(q: &dyn Quadratic, first: usize) -> Self {
        let (linear, responses) = (q.linear(), q.responses());
        let rows = first..(first + ROWS).min(q.dim());
        let schur = q.diagonal()[rows.clone()].to_vec();
        let floor = schur.iter().map(|s| DEPENDENT * s).collect();
        let of = |response: usize| rows.clone().map(move |j| linear[j * responses + response]);
        Self { first, slopes: (0..responses).flat_map(of).collect(), schur, floor, regressions: Vec::new() }
    }

    /// From x = 0 to the minimum over S, where the columns of G, G_SS⁻¹, x_S and the places in S are these.
    fn load(&mut self, columns: &[&[f64]], inverse: &Matrix, values: &[f64], position: &[Option<usize>]) {
        let rows = self.len();
        self.regressions.resize(rows * columns.len(), 0.0);
        let blocks = if columns.is_empty() { 0..0 } else { 0..rows };
        for start in blocks.step_by(BLOCK) {
            let some = start..rows.min(start + BLOCK);
            let part = columns.iter().map(|c| &c[self.first..][some.clone()]).collect::<Vec<_>>().concat();
            let part = Matrix::from_columns(some.len(), columns.len(), part);
            part.times_into(inverse, &mut self.regressions[start..], rows);
            for (b, values) in values.chunks(values.len() / columns.len()).enumerate() {
                for (slopes, value) in self.slopes.chunks_mut(rows).zip(values) {
                    axpy(-value, part.column(b), &mut slopes[some.clone()]);
                }
                let seen = &self.regressions[b * rows..][some.clone()];
                for ((schur, g), r) in self.schur[some.clone()].iter_mut().zip(part.column(b)).zip(seen) {
                    *schur -= g * r;
                }
            }
        }
        self.schur.iter_mut().for_each(|schur| *schur = schur.max(0.0));
        for (row, position) in position[self.first..][..rows].iter().enumerate() {
            if let Some(position) = *position {
                self.settle(row, position, columns.len());
            }
        }
    }

    /// Sets what is known exactly about the coordinate of a row, which stands at a position of S, so that rounding does not
    /// gather there.
    fn settle(&mut self, row: usize, position: usize, inside: usize) {
        let rows = self.len();
        self.schur[row] = 0.0;
        self.slopes[row..].iter_mut().step_by(rows).for_each(|slope| *slope = 0.0);
        for p in 0..inside {
            self.regressions[p * rows + row] = f64::from(u8::from(p == position));
        }
    }

    fn regression_mut(&mut self, position: usize) -> &mut [f64] {
        let rows = self.len();
        &mut self.regressions[position * rows..][..rows]
    }
}

impl Sweep {
    /// x = 0.
    pub fn new(q: &dyn Quadratic) -> Self {
        let mut sweep = Self::without_rows(q);
        sweep.complete(q);
        sweep
    }

    /// x = 0, and nothing told of any coordinate.
    fn without_rows(q: &dyn Quadratic) -> Self {
        let (values, inverse, strips) = (Vec::new(), Vec::new(), Vec::new());
        let (inside, position) = (Vec::new(), vec![None; q.dim()]);
        Self { inside, position, values, responses: q.responses(), inverse, strips, objective: q.constant() }
    }

    /// The minimum over these coordinates. Those that depend on the ones before them are left out.
    pub fn at(q: &dyn Quadratic, coordinates: &[usize]) -> Self {
        if let Some(mut sweep) = Self::minimum(q, coordinates, f64::INFINITY) {
            sweep.complete(q);
            return sweep;
        }
        let mut sweep = Self::new(q);
        coordinates.iter().for_each(|&j| {
            sweep.enter(q, j);
        });
        sweep
    }

    /// The same, and nothing told of any coordinate; `None` where the coordinates are dependent, or f is not below `most`
    /// there. O(|S|³).
    pub fn minimum(q: &dyn Quadratic, coordinates: &[usize], most: f64) -> Option<Self> {
        q.prepare(coordinates);
        let (mut sweep, count) = (Self::without_rows(q), coordinates.len());
        let columns: Vec<&[f64]> = coordinates.iter().map(|&j| q.column(j)).collect();
        let mut gram = vec![0.0; count * count];
        parallel::chunks_mut(&mut gram, BLOCK * count.max(1), &|block, gram| {
            for (own, column) in gram.chunks_mut(count).zip(&columns[block * BLOCK..]) {
                own.iter_mut().zip(coordinates).for_each(|(g, &i)| *g = column[i]);
            }
        });
        let least: Vec<f64> = coordinates.iter().map(|&j| DEPENDENT * q.diagonal()[j]).collect();
        let factor = sound_cholesky(Matrix::from_columns(count, count, gram), &least)?;
        let responses = sweep.responses;
        let of = |response: usize| coordinates.iter().map(move |&j| q.linear()[j * responses + response]).collect();
        let right: Vec<Vec<f64>> = (0..responses).map(of).collect();
        let fall = |right: &Vec<f64>| 0.5 * dot(right, &factor.solve(right));
        if !(sweep.objective - right.iter().map(fall).sum::<f64>() < most) {
            return None;
        }
        let inverse = factor.inverse();
        let right = right.concat();
        let values = inverse.times(&Matrix::from_columns(count, responses, right.clone())).into_data();
        sweep.objective -= 0.5 * dot(&right, &values);
        sweep.values = (0..values.len()).map(|at| values[at % responses * count + at / responses]).collect();
        sweep.inverse = (0..count).map(|i| inverse.column(i).to_vec()).collect();
        sweep.inside = coordinates.to_vec();
        coordinates.iter().enumerate().for_each(|(p, &j)| sweep.position[j] = Some(p));
        Some(sweep)
    }

    /// Brings in what is told of every coordinate, by matrix products: of all, or of those that have come to the quadratic.
    pub fn complete(&mut self, q: &dyn Quadratic) {
        self.position.resize(q.dim(), None);
        let known: usize = self.strips.iter().map(Strip::len).sum();
        if known == q.dim() {
            return;
        }
        self.strips.truncate(known / ROWS);
        let columns: Vec<&[f64]> = self.inside.iter().map(|&j| q.column(j)).collect();
        let inverse = Matrix::from_columns(columns.len(), columns.len(), self.inverse.concat());
        let mut new: Vec<Strip> =
            (self.strips.len() * ROWS..q.dim()).step_by(ROWS).map(|first| Strip::new(q, first)).collect();
        for_each(&mut new, columns.len(), &|_, strip| strip.load(&columns, &inverse, &self.values, &self.position));
        self.strips.append(&mut new);
    }

    /// x at a position of S, for each response.
    pub fn values_at(&self, position: usize) -> &[f64] {
        &self.values[position * self.responses..][..self.responses]
    }

    /// −∇f along a coordinate, of the first response.
    pub fn slope(&self, j: usize) -> f64 {
        self.strips[j / ROWS].slopes[j % ROWS]
    }

    /// The curvature along a coordinate that S leaves.
    pub fn schur(&self, j: usize) -> f64 {
        self.strips[j / ROWS].schur[j % ROWS]
    }

    /// The Schur complement below which a coordinate counts as dependent.
    pub fn floor(&self, j: usize) -> f64 {
        self.strips[j / ROWS].floor[j % ROWS]
    }

    /// Coordinate j as seen from the one at a position of S.
    pub fn regression(&self, j: usize, position: usize) -> f64 {
        self.strips[j / ROWS].regression(position)[j % ROWS]
    }

    /// Lets j in, if it is not dependent: for every coordinate its residual
    /// covariance with j, and the curvature along j; `None` where nothing was done.
    pub fn enter(&mut self, q: &dyn Quadratic, j: usize) -> Option<(Vec<f64>, f64)> {
        if self.position[j].is_some() || !(self.schur(j) > self.floor(j)) {
            return None;
        }
        let column = q.column(j);
        let (strip, row) = (&self.strips[j / ROWS], j % ROWS);
        let pivot = strip.schur[row];
        let slopes: Vec<f64> = strip.slopes[row..].iter().step_by(strip.len()).copied().collect();
        let seen: Vec<f64> = (0..self.inside.len()).map(|p| strip.regression(p)[row]).collect();
        let shared: Vec<f64> = self.inside.iter().map(|&i| column[i]).collect();
        let steps: Vec<f64> = slopes.iter().map(|slope| slope / pivot).collect();
        let mut residual = column.to_vec();
        for_each_strip(&mut self.strips, shared.len(), &mut residual, &|strip, w| {
            for (p, g) in shared.iter().enumerate() {
                axpy(-g, strip.regression(p), w);
            }
            for (p, b) in seen.iter().enumerate() {
                axpy(-b / pivot, w, strip.regression_mut(p));
            }
            for (slopes, step) in strip.slopes.chunks_mut(w.len()).zip(&steps) {
                axpy(-step, w, slopes);
            }
            for (schur, w) in strip.schur.iter_mut().zip(&*w) {
                *schur = (*schur - w * w / pivot).max(0.0);
            }
            strip.regressions.extend(w.iter().map(|w| w / pivot));
        });
        for (p, row) in self.inverse.iter_mut().enumerate() {
            row.iter_mut().zip(&seen).for_each(|(v, b)| *v += seen[p] * b / pivot);
            row.push(-seen[p] / pivot);
        }
        self.inverse.push(seen.iter().map(|b| -b / pivot).chain([1.0 / pivot]).collect());
        for (values, b) in self.values.chunks_mut(steps.len()).zip(&seen) {
            values.iter_mut().zip(&steps).for_each(|(x, step)| *x -= step * b);
        }
        slopes.iter().zip(&steps).for_each(|(slope, step)| self.objective -= 0.5 * slope * step);
        self.values.extend(steps);
        self.position[j] = Some(self.inside.len());
        self.inside.push(j);
        self.inside.iter().for_each(|&i| residual[i] = 0.0);
        residual[j] = pivot;
        // The rows of the others are as they were: along them the residual is 0.
        let inside = self.inside.len();
        self.strips[j / ROWS].settle(j % ROWS, inside - 1, inside);
        Some((residual, pivot))
    }

    /// Takes the coordinate at a position of S out: how every coordinate was seen from it, and its
    /// entry of G_SS⁻¹.
    pub fn leave(&mut self, position: usize) -> (Vec<f64>, f64) {
        let corner = self.inverse[position][position];
        let (values, across) = (self.values_at(position).to_vec(), self.inverse[position].clone());
        let mut seen = vec![0.0; self.position.len()];
        for_each_strip(&mut self.strips, across.len(), &mut seen, &|strip, t| {
            t.copy_from_slice(strip.regression(position));
            for (p, v) in across.iter().enumerate().filter(|(p, _)| *p != position) {
                axpy(-v / corner, t, strip.regression_mut(p));
            }
            for (slopes, value) in strip.slopes.chunks_mut(t.len()).zip(&values) {
                axpy(value / corner, t, slopes);
            }
            for (schur, t) in strip.schur.iter_mut().zip(&*t) {
                *schur += t * t / corner;
            }
            let rows = strip.len();
            strip.regressions.drain(position * rows..(position + 1) * rows);
        });
        for (p, row) in self.inverse.iter_mut().enumerate() {
            row.iter_mut().zip(&across).for_each(|(v, a)| *v -= across[p] * a / corner);
            row.remove(position);
        }
        self.inverse.remove(position);
        for (own, a) in self.values.chunks_mut(self.responses).zip(&across) {
            own.iter_mut().zip(&values).for_each(|(x, value)| *x -= a * value / corner);
        }
        self.values.drain(position * self.responses..(position + 1) * self.responses);
        values.iter().for_each(|value| self.objective += 0.5 * value * value / corner);
        let left = self.inside.remove(position);
        self.position[left] = None;
        for (p, &j) in self.inside.iter().enumerate() {
            self.position[j] = Some(p);
        }
        (seen, corner)
    }
}

/// Some work on every strip and its part of a vector, where S has so many coordinates.
fn for_each_strip(strips: &mut [Strip], inside: usize, v: &mut [f64], work: &(dyn Fn(&mut Strip, &mut [f64]) + Sync)) {
    let mut pairs: Vec<_> = strips.iter_mut().zip(v.chunks_mut(ROWS)).collect();
    for_each(&mut pairs, inside, &|_, (strip, part)| work(strip, part));
}

/// Some work on every strip: in parallel where that pays.
fn for_each<T: Send>(strips: &mut [T], inside: usize, work: &(dyn Fn(usize, &mut T) + Sync)) {
    if strips.len() * ROWS * (inside + 1) < PARALLEL_WORK {
        strips.iter_mut().enumerate().for_each(|(at, strip)| work(at, strip));
    } else {
        parallel::each_mut(strips, work);
    }
}

/// Takes the coordinates of a small quadratic with Gram matrix c and slopes q one after the other, the largest first in
/// units of their floors, as long as one exceeds its floor: tells the slope along each and the curvature that those before
/// it leave. A quadratic falls by slope²/(2·curvature) with each. O(m³).
pub(super) fn eliminate(c: &mut [f64], q: &mut [f64], floors: &[f64], mut tell: impl FnMut(f64, f64)) {
    let m = q.len();
    let mut open: Vec<usize> = (0..m).collect();
    loop {
        let schur = |i: usize| c[i * m + i] / floors[i];
        let largest = (0..open.len()).reduce(|a, b| if schur(open[b]) > schur(open[a]) { b } else { a });
        let Some(at) = largest.filter(|&at| schur(open[at]) > 1.0) else { return };
        let p = open.remove(at);
        let pivot = c[p * m + p];
        tell(q[p], pivot);
        for &i in &open {
            let share = c[p * m + i] / pivot;
            q[i] -= share * q[p];
            open.iter().for_each(|&j| c[i * m + j] -= share * c[p * m + j]);
        }
    }
}
