//! What a file holds, before anyone asked for a target.

use katoms::operator::Layout;

use crate::mapped::Mapped;
use crate::table::Table;

/// How a file is read where its name and its bytes do not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The delimiter of a text table. Default: found.
    pub delimiter: Option<u8>,
    /// Whether a text table has a header. Default: found.
    pub header: Option<bool>,
    /// Columns of a text table that hold categories even where they look like numbers: names, or numbers from 1.
    pub categorical: Vec<String>,
    /// Columns of a text table that nobody uses, so that nothing in them is an error: names, or numbers from 1.
    pub drop: Vec<String>,
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
}

/// Numbers in memory or in a file that is mapped into it.
#[derive(Debug)]
pub enum Numbers {
    /// In memory, single precision.
    F32(Vec<f32>),
    /// In memory, double precision.
    F64(Vec<f64>),
    /// In a file, single precision.
    MappedF32(Mapped<f32>),
    /// In a file, double precision.
    MappedF64(Mapped<f64>),
}

/// Numbers, wherever they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

impl Numbers {
    /// The numbers, wherever they are; O(1).
    pub fn as_slice(&self) -> View<'_> {
        match self {
            Self::F32(numbers) => View::F32(numbers),
            Self::F64(numbers) => View::F64(numbers),
            Self::MappedF32(numbers) => View::F32(numbers.as_slice()),
            Self::MappedF64(numbers) => View::F64(numbers.as_slice()),
        }
    }

    /// How many there are; O(1).
    pub fn len(&self) -> usize {
        match self.as_slice() {
            View::F32(numbers) => numbers.len(),
            View::F64(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy in double precision.
    pub fn to_f64(&self) -> Vec<f64> {
        match self.as_slice() {
            View::F32(numbers) => numbers.iter().map(|&v| f64::from(v)).collect(),
            View::F64(numbers) => numbers.to_vec(),
        }
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
