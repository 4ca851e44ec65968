//! The products of some columns with each other. More of them can come, and what is known stays.

use crate::linalg::Matrix;
use crate::linalg::parallel;

/// Columns that one task multiplies with all others.
const BLOCK: usize = 32;

/// Columns, and their products.
#[derive(Debug, Clone)]
pub(super) struct Products {
    columns: Matrix,
    /// Row i has the products of column i with the columns up to i.
    rows: Vec<Vec<f64>>,
}

impl Products {
    /// No column yet, of so many values.
    pub fn new(length: usize) -> Self {
        Self { columns: Matrix::zeros(length, 0), rows: Vec::new() }
    }

    /// The products of column i with the columns up to i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i]
    }

    /// More columns. O(length) for each pair with a new one.
    pub fn extend(&mut self, columns: impl Iterator<Item = impl Iterator<Item = f64>>) {
        let before = self.rows.len();
        columns.for_each(|column| self.columns.push_column(column));
        let count = self.columns.columns();
        let firsts: Vec<usize> = (before..count).step_by(BLOCK).collect();
        let block = |at: usize| {
            let first = firsts[at];
            let end = (first + BLOCK).min(count);
            let products = self.columns.transposed_times_columns(first..end);
            (first..end).map(|i| products.column(i - first)[..=i].to_vec()).collect::<Vec<_>>()
        };
        let blocks: Vec<Vec<Vec<f64>>> = parallel::map(firsts.len(), &block);
        self.rows.extend(blocks.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::simulate;

    #[test]
    fn columns_that_come_later_meet_those_that_are_there() {
        let (length, count) = (17, 2 * BLOCK + 5);
        let values = simulate::gaussian(length, count, 1);
        let column = |i: usize| &values[i * length..][..length];
        let mut products = Products::new(length);
        for range in [0..3, 3..3, 3..count] {
            products.extend(range.map(|i| column(i).iter().copied()));
        }
        for i in 0..count {
            assert_eq!(products.row(i).len(), i + 1);
            for (j, product) in products.row(i).iter().enumerate() {
                assert!((product - dot(column(i), column(j))).abs() < 1e-12);
            }
        }
    }
}
