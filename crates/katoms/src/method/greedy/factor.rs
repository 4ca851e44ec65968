//! X = Q·R for columns that come and go, kept as Q and R⁻¹.
//!
//! | | code | |
//! |---|---|---|
//! | Q | `basis` | an orthonormal basis of the columns |
//! | R⁻¹ | `inverse` | upper triangular: column l has l + 1 entries |
//!
//! A column has a top of m entries and, below, one entry that no other column has: the root of its ridge.
//! So ridge regression is least squares, and a coordinate outside has no product with the tails inside.
//! A column comes by two rounds of Gram–Schmidt and goes by plane rotations; both cost O(m·k).

use serde::{Deserialize, Serialize};

use super::DEPENDENT;
use crate::linalg::kernels::axpy;
use crate::linalg::{Matrix, dot, norm};

/// An orthonormal factorisation that is updated, never made afresh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Factor {
    rows: usize,
    /// The columns of Q: the top, then a tail entry for each place.
    basis: Vec<Vec<f64>>,
    /// The columns of R⁻¹.
    inverse: Vec<Vec<f64>>,
}

impl Factor {
    /// No column; the tops will have this many rows.
    pub fn new(rows: usize) -> Self {
        Self { rows, basis: Vec::new(), inverse: Vec::new() }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.basis.len()
    }

    /// Adds a column with this top and tail: its distance from the others. `None`, with nothing changed,
    /// when that is too small a share of its norm.
    pub fn add(&mut self, top: &[f64], tail: f64) -> Option<f64> {
        let mut q = top.to_vec();
        q.resize(self.rows + self.len(), 0.0);
        q.push(tail);
        let size = norm(&q);
        let own = q.len() - 1;
        let mut within = vec![0.0; self.len()];
        for _ in 0..2 {
            for (h, b) in within.iter_mut().zip(&self.basis) {
                let c = dot(b, &q[..own]);
                axpy(-c, b, &mut q[..own]);
                *h += c;
            }
        }
        let distance = norm(&q);
        if !(distance * distance > DEPENDENT * size * size) {
            return None;
        }
        q.iter_mut().for_each(|v| *v /= distance);
        let mut column = vec![0.0; self.len() + 1];
        for (h, c) in within.iter().zip(&self.inverse) {
            c.iter().zip(&mut column).for_each(|(c, out)| *out -= h * c / distance);
        }
        column[self.len()] = 1.0 / distance;
        self.basis.iter_mut().for_each(|b| b.push(0.0));
        self.basis.push(q);
        self.inverse.push(column);
        Some(distance)
    }

    /// Removes the column at a place: the top of the direction that only it spans, and its distance from
    /// the others.
    ///
    /// Row p of R⁻¹, on the basis, is that direction. Rotations turn it into the last of the basis, and
    /// leave R⁻¹ without row p triangular.
    pub fn remove(&mut self, place: usize) -> (Vec<f64>, f64) {
        for l in place..self.len() - 1 {
            self.inverse[l].push(0.0);
            let (v, w) = (self.inverse[l][place], self.inverse[l + 1][place]);
            let size = v.hypot(w);
            let turn = (w / size, v / size);
            rotate(&mut self.basis[l..], turn);
            rotate(&mut self.inverse[l..], turn);
        }
        let last = self.inverse.pop().unwrap_or_default();
        let mut q = self.basis.pop().unwrap_or_default();
        for column in self.inverse.iter_mut().skip(place) {
            column.remove(place);
        }
        self.basis.iter_mut().for_each(|b| {
            b.remove(self.rows + place);
        });
        q.truncate(self.rows);
        (q, 1.0 / last[place])
    }

    /// The top of a direction of the basis.
    pub fn direction(&self, l: usize) -> &[f64] {
        &self.basis[l][..self.rows]
    }

    /// Qᵀe of a vector with this top and these tail entries.
    pub fn along(&self, top: &[f64], tail: &[f64]) -> Vec<f64> {
        self.basis.iter().map(|b| dot(&b[..self.rows], top) + dot(&b[self.rows..], tail)).collect()
    }

    /// R⁻¹·v: the coefficients of Q·v.
    pub fn coefficients(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        for (column, z) in self.inverse.iter().zip(v) {
            column.iter().zip(&mut out).for_each(|(c, out)| *out += c * z);
        }
        out
    }

    /// The block of (XᵀX)⁻¹ = R⁻¹·R⁻ᵀ at these places. O(k·d²).
    pub fn inverse_gram(&self, places: &[usize]) -> Matrix {
        let entry = |column: &Vec<f64>, p: usize| column.get(p).copied().unwrap_or(0.0);
        Matrix::from_fn(places.len(), places.len(), |a, b| {
            self.inverse.iter().map(|column| entry(column, places[a]) * entry(column, places[b])).sum()
        })
    }
}

/// The first two columns x and y become c·x − s·y and s·x + c·y.
fn rotate(columns: &mut [Vec<f64>], (c, s): (f64, f64)) {
    if let [x, y, ..] = columns {
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::solve_symmetric;
    use crate::simulate;

    /// The factor against the normal equations of its columns.
    fn check(factor: &Factor, columns: &[Vec<f64>], ridge: f64, y: &[f64]) {
        let k = columns.len();
        let gram = Matrix::from_fn(k, k, |a, b| dot(&columns[a], &columns[b]) + if a == b { ridge } else { 0.0 });
        let right: Vec<f64> = columns.iter().map(|c| dot(c, y)).collect();
        let fresh = solve_symmetric(&gram, &right);
        let found = factor.coefficients(&factor.along(y, &vec![0.0; k]));
        let apart = norm(&crate::linalg::combine(1.0, &found, -1.0, &fresh));
        assert!(apart <= 1e-10 * norm(&fresh), "{apart:e}");
        let places: Vec<usize> = (0..k).collect();
        let unit = gram.times(&factor.inverse_gram(&places));
        let identity = Matrix::from_fn(k, k, |a, b| f64::from(u8::from(a == b)));
        assert!(unit.plus(-1.0, &identity).norm() < 1e-10);
    }

    #[test]
    fn after_many_additions_and_removals_it_is_a_fresh_one() {
        for ridge in [0.0, 0.3_f64] {
            let rows = 40;
            let design = simulate::autoregressive(rows, 30, 0.7, 5);
            let y = simulate::normals(rows, &mut simulate::generator(1, 9));
            let column = |j: usize| design[j * rows..][..rows].to_vec();
            let (mut factor, mut inside) = (Factor::new(rows), Vec::new());
            for round in 0..400 {
                let j = (round * 17) % 30;
                if let Some(place) = inside.iter().position(|&i| i == j) {
                    let places = factor.inverse_gram(&[place]);
                    let (direction, distance) = factor.remove(place);
                    inside.remove(place);
                    assert!((places.at(0, 0) * distance * distance - 1.0).abs() < 1e-10);
                    assert!(ridge > 0.0 || (dot(&direction, &column(j)) - distance).abs() < 1e-10);
                } else if inside.len() < 20 {
                    assert!(factor.add(&column(j), ridge.sqrt()).is_some());
                    inside.push(j);
                } else {
                    factor.remove(round % 20);
                    inside.remove(round % 20);
                }
                let columns: Vec<Vec<f64>> = inside.iter().map(|&j| column(j)).collect();
                check(&factor, &columns, ridge, &y);
            }
        }
    }

    #[test]
    fn what_lies_in_the_span_is_refused() {
        let mut factor = Factor::new(3);
        assert_eq!(factor.add(&[0.0; 3], 0.0), None);
        assert!(factor.add(&[1e-9, 0.0, 0.0], 0.0).is_some());
        assert_eq!(factor.add(&[5e8, 0.0, 0.0], 0.0), None);
        assert_eq!(factor.len(), 1);
        assert!(factor.add(&[5e8, 0.0, 0.0], 1e5).is_some(), "a ridge tells twins apart");
    }
}
