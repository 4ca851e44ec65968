//! What a file holds, before anyone asked for a target.

use std::collections::BTreeMap;
use std::ops::{Deref, RangeInclusive};

use bytemuck::Pod;
use katoms::linalg::kernels::Real;
use katoms::operator::{Layout, f16};

use crate::allocation::MaxUnpacked;
use crate::column_format::{ColumnFormat, DateOrder, Decimal};
use crate::genotypes::Genotypes;
use crate::mapped::Mapped;
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

/// Numbers of one type: a slice, wherever it is.
#[derive(Debug)]
pub enum Stored<T> {
    /// In memory.
    Held(Vec<T>),
    /// In a file that is mapped into it.
    Mapped(Mapped<T>),
}

impl<T: Pod> Deref for Stored<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Held(numbers) => numbers,
            Self::Mapped(numbers) => numbers.as_slice(),
        }
    }
}

impl<T: Pod + PartialEq> PartialEq for Stored<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T> From<Vec<T>> for Stored<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Held(numbers)
    }
}

impl<T> From<Mapped<T>> for Stored<T> {
    fn from(numbers: Mapped<T>) -> Self {
        Self::Mapped(numbers)
    }
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
