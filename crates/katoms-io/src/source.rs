//! What a file holds, before anyone asked for a target.

use katoms::operator::Layout;

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
