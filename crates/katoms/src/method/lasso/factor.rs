//! A Cholesky factor that follows its matrix.

use serde::{Deserialize, Serialize};

use crate::linalg::{dot, kernels::axpy};

/// What a column must keep of its squared norm, beside the others, to be independent of them.
const INDEPENDENT: f64 = 1e-10;

/// The Cholesky factor L of a Gram matrix with a diagonal of ones that gains and loses one column at a time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Factor {
    /// The rows of L, each up to its diagonal, one after the other.
    packed: Vec<f64>,
    size: usize,
}

/// Where row i begins.
fn begins(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Factor {
    fn row(&self, i: usize) -> &[f64] {
        &self.packed[begins(i)..begins(i + 1)]
    }

    /// Appends a column with these products with the others and this square; whether it is independent
    /// of them. O(columns²).
    pub(super) fn push(&mut self, cross: Vec<f64>, square: f64) -> bool {
        let row = self.forward(cross);
        let left = square - dot(&row, &row);
        self.packed.extend(row);
        self.packed.push(left.max(INDEPENDENT).sqrt());
        self.size += 1;
        left > INDEPENDENT
    }

    /// Takes a column out; rotations bring what is left back to a triangle. O(columns²).
    pub(super) fn remove(&mut self, place: usize) {
        // (cosine, sine) of the rotation of columns place, place + 1; of the next two; and so on
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.size - place);
        for i in place + 1..self.size {
            let (old, new) = (begins(i), begins(i - 1));
            self.packed.copy_within(old..old + place, new);
            // what the rotation before left in the column that the next one takes
            let mut carried = self.packed[old + place];
            for (k, &(c, s)) in rotations.iter().enumerate() {
                let b = self.packed[old + place + k + 1];
                self.packed[new + place + k] = c * carried + s * b;
                carried = c * b - s * carried;
            }
            let b = self.packed[old + i];
            let length = carried.hypot(b);
            rotations.push((carried / length, b / length));
            self.packed[new + i - 1] = length;
        }
        self.size -= 1;
        self.packed.truncate(begins(self.size));
    }

    /// The solution of L·Lᵀ·x = b. O(columns²).
    pub(super) fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..self.size).rev() {
            let row = self.row(i);
            x[i] /= row[i];
            let xi = x[i];
            axpy(-xi, &row[..i], &mut x[..i]);
        }
        x
    }

    /// The solution of L·x = b.
    fn forward(&self, mut b: Vec<f64>) -> Vec<f64> {
        for i in 0..self.size {
            let row = self.row(i);
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::simulate::gaussian;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_factor_follows_its_columns(places in prop::collection::vec(0usize..6, 1..6), seed in 0u64..100) {
            let a = Matrix::from_columns(10, 7, gaussian(10, 7, seed));
            let gram = a.transposed_times(&a);
            let mut factor = Factor::default();
            let mut kept: Vec<usize> = Vec::new();
            for j in 0..7 {
                let cross = kept.iter().map(|&i| gram.at(i, j)).collect();
                prop_assert!(factor.push(cross, gram.at(j, j)));
                kept.push(j);
            }
            for place in places {
                let place = place % kept.len();
                factor.remove(place);
                kept.remove(place);
                let b: Vec<f64> = (0..kept.len()).map(|i| 1.0 + i as f64).collect();
                let x = factor.solve(b.clone());
                for (i, b) in kept.iter().zip(b) {
                    let product: f64 = kept.iter().zip(&x).map(|(&j, x)| gram.at(*i, j) * x).sum();
                    prop_assert!((product - b).abs() < 1e-8, "{product} {b}");
                }
            }
        }
    }
}
