//! What a file holds, before anyone asked for a target.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use katoms::linalg::kernels::Real;
use katoms::operator::{Layout, f16};

use crate::allocation::MaxUnpacked;
use crate::column_format::{ColumnFormat, DateOrder, Decimal};
use crate::genotypes::Genotypes;
use crate::mapped::Stored;
use crate::table::Table;

/// How a text table is read where it does not tell itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The delimiter; a blank stands for runs of blanks and tabs. Default: found.
    pub delimiter: Option<u8>,
    /// Whether there is a header. Default: found.
    pub header: Option<bool>,
    /// What starts a line that counts for nothing. Default: `#`, above the table only.
    pub comment: Option<u8>,
    /// Lines of the file that are no data, counted from 1.
    pub skip_lines: Vec<RangeInclusive<u64>>,
    /// The decimal mark. Default: found.
    pub decimal: Option<Decimal>,
    /// Whether the day or the month comes first in dates such as 01/02/2024. Default: found.
    pub date_order: Option<DateOrder>,
    /// What stands for missing values besides the usual: lists that commas separate.
    pub na_values: Vec<String>,
    /// The same that a model knows.
    pub na_values_of_model: Vec<String>,
    /// How a model has read columns of these names: it decides where the cells of this file do not.
    pub formats: BTreeMap<String, ColumnFormat>,
    /// Columns that hold categories even where they look like numbers: names, numbers from 1, or lists of them that
    /// commas separate.
    pub categorical: Vec<String>,
    /// Columns that nobody uses, so that nothing in them is a problem: the same.
    pub drop: Vec<String>,
    /// The most that a file may unpack to.
    pub max_unpacked: MaxUnpacked,
}

/// What a file holds.
#[derive(Debug)]
pub enum Source {
    /// Named columns: CSV, TSV, Parquet, Arrow.
    Table(Table),
    /// A matrix or vector of numbers: NPY, dense MatrixMarket.
    Array(Array),
    /// A sparse matrix: MatrixMarket, svmlight.
    Sparse(Sparse),
    /// Named arrays: NPZ. Where `data`, `indices`, `indptr` and `shape` are among them, they are a sparse matrix.
    Arrays {
        /// The arrays by name, but for those of the sparse matrix.
        arrays: Vec<(String, Array)>,
        /// The sparse matrix.
        sparse: Option<Sparse>,
    },
    /// A picture: PNG, JPEG.
    Picture(Picture),
    /// Genotypes: PLINK.
    Genotypes(Genotypes),
}

/// Numbers as a file stores them.
#[derive(Debug, PartialEq)]
pub enum Numbers {
    /// Whole numbers from −128 to 127.
    I8(Stored<i8>),
    /// Whole numbers from 0 to 255.
    U8(Stored<u8>),
    /// Half precision.
    F16(Stored<f16>),
    /// Single precision.
    F32(Stored<f32>),
    /// Double precision.
    F64(Stored<f64>),
}

/// What is done with the numbers, whatever type they have: `on_numbers!(numbers, slice => …)`.
#[macro_export]
macro_rules! on_numbers {
    ($numbers:expr, $slice:ident => $what:expr) => {
        match $numbers {
            $crate::Numbers::I8($slice) => $what,
            $crate::Numbers::U8($slice) => $what,
            $crate::Numbers::F16($slice) => $what,
            $crate::Numbers::F32($slice) => $what,
            $crate::Numbers::F64($slice) => $what,
        }
    };
}

impl Numbers {
    /// How many there are; O(1).
    pub fn len(&self) -> usize {
        on_numbers!(self, numbers => numbers.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy in double precision.
    pub fn to_f64(&self) -> Vec<f64> {
        on_numbers!(self, numbers => numbers.iter().map(|v| Real::to_f64(*v)).collect())
    }
}

/// A matrix; a vector is one of a single column.
#[derive(Debug)]
pub struct Array {
    /// The numbers.
    pub numbers: Numbers,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Their order.
    pub layout: Layout,
    /// Whether the file has a vector, not a matrix of one column.
    pub is_vector: bool,
}

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
        let (start, step) = match self.layout {
            Layout::ColumnMajor => (j * self.rows, 1),
            Layout::RowMajor => (j, self.columns.max(1)),
        };
        on_numbers!(&self.numbers, values => {
            let values = values.get(start..).unwrap_or_default().iter().step_by(step);
            values.take(self.rows).map(|value| Real::to_f64(*value)).collect()
        })
    }

    /// How many values are NaN.
    pub fn count_missing(&self) -> usize {
        on_numbers!(&self.numbers, values => values.iter().filter(|v| Real::to_f64(**v).is_nan()).count())
    }
}

/// A sparse matrix, column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Where each column starts, and the end.
    pub starts: Vec<usize>,
    /// The row of each entry.
    pub indices: Vec<u32>,
    /// The entries.
    pub values: Vec<f64>,
    /// The label of each row, where the file has them (svmlight).
    pub labels: Option<Vec<f64>>,
}

/// A picture: rows of pixels, 1 (grey) or 3 (red, green, blue) channels from 0 to 1, and which pixels are seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// One matrix for each channel, row after row, values from 0 to 1.
    pub channels: Vec<Vec<f64>>,
    /// Which pixels are seen, row after row: those that are not transparent.
    pub seen: Vec<bool>,
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
