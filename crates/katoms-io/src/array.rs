//! What a program does with an array: columns, blanks, new ones.

use katoms::linalg::kernels::Real;
use katoms::operator::Layout;

use crate::on_numbers;
use crate::source::{Array, Numbers};

impl Array {
    /// A vector.
    pub fn vector(values: Vec<f64>) -> Self {
        let rows = values.len();
        Self { numbers: Numbers::F64(values.into()), rows, columns: 1, layout: Layout::ColumnMajor, is_vector: true }
    }

    /// A matrix whose rows follow each other.
    pub fn matrix(values: Vec<f64>, rows: usize, columns: usize) -> Self {
        Self { numbers: Numbers::F64(values.into()), rows, columns, layout: Layout::RowMajor, is_vector: false }
    }

    /// A copy of a column below `columns`.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let place = |i: usize| match self.layout {
            Layout::ColumnMajor => j * self.rows + i,
            Layout::RowMajor => i * self.columns + j,
        };
        on_numbers!(&self.numbers, values => (0..self.rows).map(|i| Real::to_f64(values[place(i)])).collect())
    }

    /// How many values are NaN.
    pub fn count_missing(&self) -> usize {
        on_numbers!(&self.numbers, values => values.iter().filter(|v| Real::to_f64(**v).is_nan()).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_in_either_order() {
        let by_rows = Array::matrix(vec![1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0], 2, 3);
        assert_eq!(by_rows.column(2), [3.0, 6.0]);
        assert_eq!(by_rows.count_missing(), 1);
        let by_columns = Array { layout: Layout::ColumnMajor, ..Array::matrix(vec![1.0, 2.0, 3.0, 4.0], 2, 2) };
        assert_eq!(by_columns.column(1), [3.0, 4.0]);
        assert_eq!(Array::vector(vec![7.0, 8.0]).column(0), [7.0, 8.0]);
    }
}
