//! The products of the columns of a design, two by two: so many that they are only ever looked at, never stored.
//!
//! For a residual r, all products xᵢxⱼᵀr are the entries of Xᵀ·diag(r)·X, and all their squared norms those of
//! (X²)ᵀ·diag(w)·X², entry by entry squared. Both are products of matrices, tile by tile, and a tile leaves only its best
//! pairs behind.

use std::sync::OnceLock;

use crate::error::{Error, check_length};
use crate::linalg::{Matrix, dot, parallel, top_k};

/// Columns on a side of a tile.
const SIDE: usize = 128;
/// Squared norms that are kept: 256 MiB in single precision. Beyond, they are computed anew for each residual.
const KEPT: usize = 1 << 26;
/// A product that varies by less than this share of its mean square is constant.
const CONSTANT: f64 = 1e-12;

/// All products of two columns of a matrix.
///
/// ```
/// use katoms::{operator::Interactions, simulate};
/// let (m, n) = (200, 30);
/// let x = simulate::gaussian(m, n, 1);
/// let r: Vec<f64> = (0..m).map(|i| x[4 * m + i] * x[9 * m + i]).collect();
/// let all = Interactions::new(x, m, None, true)?;
/// assert_eq!(all.steepest(&[&r], 1, &[]), [(4, 9)]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug)]
pub struct Interactions {
    rows: usize,
    columns: usize,
    /// The columns, of mean 0 where they are centred and of mean square 1.
    data: Vec<f64>,
    weights: Option<Vec<f64>>,
    total: f64,
    centred: bool,
    /// 1 over the squared norms of the products of each tile; 0 for constant ones.
    inverse_norms: Vec<OnceLock<Vec<f32>>>,
}

impl Interactions {
    /// The products of columns that lie one after the other; with rows of these weights. `centred`: of columns less their
    /// means, and products less theirs, as an intercept leaves them.
    ///
    /// # Errors
    /// When there are no columns of so many rows, or not one weight for each row.
    pub fn new(mut data: Vec<f64>, rows: usize, weights: Option<&[f64]>, centred: bool) -> Result<Self, Error> {
        if rows == 0 || data.is_empty() {
            return Err(Error::Empty { what: "the design" });
        }
        let columns = data.len() / rows;
        check_length("design", data.len(), rows * columns, "whole columns")?;
        if let Some(weights) = weights {
            check_length("list of weights", weights.len(), rows, "one for each row")?;
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let total: f64 = (0..rows).map(weight).sum();
        parallel::chunks_mut(&mut data, rows, &|_, column| {
            let mean = if centred { (0..rows).map(|i| weight(i) * column[i]).sum::<f64>() / total } else { 0.0 };
            column.iter_mut().for_each(|v| *v -= mean);
            let square = (0..rows).map(|i| weight(i) * column[i] * column[i]).sum::<f64>() / total;
            let scale = if square > 0.0 { square.sqrt().recip() } else { 0.0 };
            column.iter_mut().for_each(|v| *v *= scale);
        });
        let sides = columns.div_ceil(SIDE);
        let mut inverse_norms = Vec::new();
        inverse_norms.resize_with(sides * (sides + 1) / 2, OnceLock::new);
        Ok(Self { rows, columns, data, weights: weights.map(<[f64]>::to_vec), total, centred, inverse_norms })
    }

    /// The pairs along whose products a quadratic with this gradient in the predictions, for each of several outputs, falls
    /// most: those with the largest (xᵢxⱼᵀr)²/‖xᵢxⱼ‖², summed over the outputs, without some pairs (i, j), i < j. The
    /// steepest first; of equals the one of smaller numbers. O(rows·columns²).
    pub fn steepest(&self, residuals: &[&[f64]], count: usize, without: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let sides = self.columns.div_ceil(SIDE);
        let tiles: Vec<(usize, usize)> = (0..sides).flat_map(|b| (0..=b).map(move |a| (a, b))).collect();
        let one = |at: usize| self.best_of_tile(at, tiles[at], residuals, count, without);
        let mut best: Vec<(f64, usize, usize)> = parallel::map(tiles.len(), &one).into_iter().flatten().collect();
        best.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        best.into_iter().take(count).map(|(_, i, j)| (i, j)).collect()
    }

    /// The squares of all xᵀr, of columns as they are here, summed over some residuals.
    pub fn slopes(&self, residuals: &[&[f64]]) -> Vec<f64> {
        let one = |j: usize| residuals.iter().map(|r| dot(&self.data[j * self.rows..][..self.rows], r).powi(2)).sum();
        parallel::map(self.columns, &one)
    }

    fn best_of_tile(
        &self,
        at: usize,
        (a, b): (usize, usize),
        residuals: &[&[f64]],
        count: usize,
        without: &[(usize, usize)],
    ) -> Vec<(f64, usize, usize)> {
        let (left, right) = (self.block(a), self.block(b));
        let kept = self.columns * self.columns / 2 <= KEPT;
        let computed;
        let inverse_norms = if kept {
            self.inverse_norms[at].get_or_init(|| self.inverse_norms(&left, &right))
        } else {
            computed = self.inverse_norms(&left, &right);
            &computed
        };
        let mut scores = vec![0.0; inverse_norms.len()];
        for r in residuals {
            let mean = if self.centred { r.iter().sum::<f64>() / self.total } else { 0.0 };
            // With the mean taken off the residual, that of the product needs not be.
            let shifted = |i: usize| r[i] - mean * self.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let by_row: Vec<f64> = (0..self.rows).map(shifted).collect();
            let products = left.transposed_times(&times_rows(&right, &by_row));
            for ((score, product), inverse) in scores.iter_mut().zip(products.data()).zip(inverse_norms) {
                *score += product * product * f64::from(*inverse);
            }
        }
        let tall = left.columns();
        let pair = |place: usize| (a * SIDE + place % tall, b * SIDE + place / tall);
        if a == b {
            (0..scores.len()).filter(|place| place % tall >= place / tall).for_each(|place| scores[place] = 0.0);
        }
        for &(i, j) in without.iter().filter(|(i, j)| (i / SIDE, j / SIDE) == (a, b)) {
            scores[(j % SIDE) * tall + i % SIDE] = 0.0;
        }
        let best = top_k(&scores, count).into_iter().filter(|&place| scores[place] > 0.0);
        best.map(|place| (scores[place], pair(place).0, pair(place).1)).collect()
    }

    fn block(&self, side: usize) -> Matrix {
        let columns = SIDE.min(self.columns - side * SIDE);
        let from = side * SIDE * self.rows;
        Matrix::from_columns(self.rows, columns, self.data[from..from + columns * self.rows].to_vec())
    }

    fn inverse_norms(&self, left: &Matrix, right: &Matrix) -> Vec<f32> {
        let square = |block: &Matrix| {
            Matrix::from_columns(self.rows, block.columns(), block.data().iter().map(|v| v * v).collect())
        };
        let weighted = |block: Matrix| match &self.weights {
            Some(weights) => times_rows(&block, weights),
            None => block,
        };
        let squares = square(left).transposed_times(&weighted(square(right)));
        let means = self.centred.then(|| left.transposed_times(&weighted(right.clone())));
        let inverse = |at: usize| {
            let square = squares.data()[at];
            let about_mean = square - means.as_ref().map_or(0.0, |means| means.data()[at].powi(2) / self.total);
            if about_mean > CONSTANT * square { about_mean.recip() as f32 } else { 0.0 }
        };
        (0..squares.data().len()).map(inverse).collect()
    }
}

/// Each row of a matrix times a number.
fn times_rows(block: &Matrix, by: &[f64]) -> Matrix {
    let scaled = block.data().chunks(block.rows().max(1)).flat_map(|column| column.iter().zip(by).map(|(v, w)| v * w));
    Matrix::from_columns(block.rows(), block.columns(), scaled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::gaussian;

    /// Every pair by its definition, the steepest first.
    fn by_definition(x: &[f64], rows: usize, weights: &[f64], r: &[&[f64]], centred: bool) -> Vec<(f64, usize, usize)> {
        let total: f64 = weights.iter().sum();
        let about_mean = |v: Vec<f64>| {
            let mean = if centred { dot(&v, weights) / total } else { 0.0 };
            v.iter().map(|v| v - mean).collect::<Vec<f64>>()
        };
        let n = x.len() / rows;
        let columns: Vec<Vec<f64>> = (0..n).map(|j| about_mean(x[j * rows..][..rows].to_vec())).collect();
        let mut all = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                let product = about_mean(columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).collect());
                let norm: f64 = product.iter().zip(weights).map(|(v, w)| w * v * v).sum();
                all.push((r.iter().map(|r| dot(r, &product).powi(2)).sum::<f64>() / norm, i, j));
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    }

    #[test]
    fn the_steepest_pairs_are_those_of_the_definition() {
        let (rows, n) = (50, SIDE + 40);
        let x: Vec<f64> = gaussian(rows, n, 1).iter().map(|v| 3.0 + v).collect();
        let (r, s) = (gaussian(rows, 1, 2), gaussian(rows, 1, 3));
        let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        for (weights, centred) in [(None, true), (None, false), (Some(weights), true)] {
            let all = Interactions::new(x.clone(), rows, weights.as_deref(), centred).unwrap();
            let ones = vec![1.0; rows];
            let weights = weights.as_deref().unwrap_or(&ones);
            let expected = by_definition(&x, rows, weights, &[&r, &s], centred);
            let pairs = |count: usize| expected.iter().map(|&(_, i, j)| (i, j)).take(count).collect::<Vec<_>>();
            for _ in 0..2 {
                assert_eq!(all.steepest(&[&r, &s], 40, &[]), pairs(40));
            }
            assert_eq!(all.steepest(&[&r, &s], 1, &pairs(2)), [pairs(3)[2]]);
        }
    }

    #[test]
    fn a_product_that_does_not_vary_is_no_candidate() {
        // x₀·x₁ is 1 in every row
        let x = vec![1.0, 2.0, 4.0, 1.0, 0.5, 0.25, 1.0, -1.0, 3.0];
        let all = Interactions::new(x, 3, None, false).unwrap();
        assert_eq!(all.steepest(&[&[1.0, 1.0, 1.0]], 9, &[]).len(), 3);
        let same = Interactions::new(vec![1.0, -1.0, 1.0, -1.0], 2, None, true).unwrap();
        assert_eq!(same.steepest(&[&[1.0, 0.0]], 9, &[]), []);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Interactions::new(Vec::new(), 0, None, true).is_err());
        assert!(Interactions::new(vec![1.0; 5], 2, None, true).is_err());
        assert!(Interactions::new(vec![1.0; 4], 2, Some(&[1.0]), true).is_err());
    }
}
