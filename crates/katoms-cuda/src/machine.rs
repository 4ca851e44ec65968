//! What a design in device memory asks of the machine that holds it: memory, copies, and a few kernels.
//!
//! A graphics card is such a machine, and so is [`Twin`](crate::twin::Twin), which computes the same in safe Rust.

use std::fmt;

use bytemuck::NoUninit;
use half::f16;
use katoms::Error;

/// How numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// Half precision with the exponents of single precision.
    BF16,
    /// Whole numbers from 0 to 255.
    U8,
    /// Whole numbers from −128 to 127.
    I8,
}

impl Numbers {
    /// The bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::U8 | Self::I8 => 1,
        }
    }

    /// How many a lane takes at a time.
    pub fn lane(self) -> usize {
        16 / self.bytes()
    }

    /// The relative rounding of one.
    pub fn rounding(self) -> f64 {
        match self {
            Self::F64 => f64::EPSILON,
            Self::F32 => f64::from(f32::EPSILON),
            Self::F16 => 2.0_f64.powi(-10),
            Self::BF16 => 2.0_f64.powi(-7),
            Self::U8 | Self::I8 => 1.0 / 256.0,
        }
    }
}

/// Numbers of the host that a design can be made of.
pub trait Stored: NoUninit {
    /// What they are called here.
    const NUMBERS: Numbers;
}

macro_rules! stored {
    ($($number:ty => $numbers:ident),*) => {
        $(impl Stored for $number {
            const NUMBERS: Numbers = Numbers::$numbers;
        })*
    };
}

stored!(f64 => F64, f32 => F32, f16 => F16, u8 => U8, i8 => I8);

/// A matrix in memory.
#[derive(Debug)]
pub struct Laid<'a, M> {
    /// Where it is.
    pub memory: &'a M,
    /// What it is made of.
    pub numbers: Numbers,
    /// Whether rows follow each other, or columns.
    pub by_rows: bool,
    /// Bytes from one of them to the next.
    pub apart: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

impl<M> Clone for Laid<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Laid<'_, M> {}

/// Columns of which few entries are stored: row numbers of four bytes and values in double precision, and where each column
/// begins, in numbers of eight bytes.
#[derive(Debug)]
pub struct SparselyLaid<'a, M> {
    /// The values.
    pub values: &'a M,
    /// Their rows.
    pub indices: &'a M,
    /// Where columns begin.
    pub starts: &'a M,
    /// Columns, or those of the list.
    pub columns: usize,
    /// Which columns.
    pub list: Option<&'a M>,
}

impl<M> Clone for SparselyLaid<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for SparselyLaid<'_, M> {}

/// A kernel and what it works on. What lies in memory is told in numbers, not bytes.
pub enum Call<'a, M> {
    /// Sums of products of the columns with packed vectors, eight times `blocks` of them, for parts of `split` rows:
    /// `out[part][vector][column]`. With a list, the columns are those of the list, as many as the design says. With `squares`, there is one block, columns count less their centres, and the sums of
    /// products of their squares come behind.
    Pass {
        design: Laid<'a, M>,
        list: Option<&'a M>,
        squares: bool,
        packed: &'a M,
        blocks: usize,
        centres: Option<&'a M>,
        split: usize,
        out: &'a M,
    },
    /// `out[vector][column]` = sums of products of the columns with `count` packed vectors, one number of a lane at a time.
    SparsePass { design: SparselyLaid<'a, M>, packed: &'a M, blocks: usize, count: usize, out: &'a M },
    /// `out[weighting][column]` = sums of squares about centres under packed weights, at most eight, that have these totals.
    SparseSquares {
        design: SparselyLaid<'a, M>,
        packed: &'a M,
        count: usize,
        totals: &'a M,
        centres: &'a M,
        out: &'a M,
    },
    /// As `Gather`, from a design whose list says which columns.
    SparseGather { design: SparselyLaid<'a, M>, h: Option<&'a M>, apart: usize, out: &'a M },
    /// Copies of listed columns, times h where there is one, `apart` numbers from one to the next, zeros behind each.
    Gather { design: Laid<'a, M>, list: &'a M, count: usize, h: Option<&'a M>, apart: usize, out: &'a M },
    /// `out[e]` = `values[which[e]]`.
    Take { values: &'a M, which: &'a M, count: usize, out: &'a M },
    /// `out[e]` = the product of row `places[2e]` of the left factor and row `places[2e + 1]` of the right one, whose columns
    /// follow each other, as many as the rank.
    Dots { left: &'a M, right: &'a M, shape: (usize, usize), rank: usize, places: &'a M, count: usize, out: &'a M },
    /// A row of a design.
    Row { design: Laid<'a, M>, row: usize, out: &'a M },
    /// Vectors in the order in which a pass takes them: `lane` numbers of each lane follow each other.
    Pack { vectors: &'a M, apart: usize, rows: usize, count: usize, lane: usize, blocks: usize, out: &'a M },
    /// out = the sum of `count` parts, in their order.
    AddUp { parts: &'a M, count: usize, length: usize, out: &'a M },
    /// `out[part][row]` = the sum of `each` columns, each times its value.
    Apply { columns: &'a M, apart: usize, rows: usize, count: usize, values: &'a M, each: usize, out: &'a M },
    /// Means, variances and a product, one after the other, from what a pass with squares gave for weights and a vector.
    Finish { sums: &'a M, centres: &'a M, columns: usize, total: f64, sum: f64, out: &'a M },
    /// Codes of sampled rows, a byte each, with the centres and steps of the columns.
    Code {
        design: Laid<'a, M>,
        block: usize,
        every: usize,
        count: usize,
        length: usize,
        means: &'a M,
        codes: &'a M,
        centres: &'a M,
        steps: &'a M,
    },
    /// Products with codes become products with what they stand for.
    Decode { products: &'a M, steps: &'a M, centres: &'a M, columns: usize, count: usize, units: &'a M, totals: &'a M },
}

/// Memory and kernels.
pub trait Machine: Send + Sync + fmt::Debug {
    /// Some bytes.
    type Memory: Send + Sync + fmt::Debug;
    /// Memory of this size, holding anything.
    ///
    /// # Errors
    /// When there is not so much.
    fn reserve(&self, bytes: usize) -> Result<Self::Memory, Error>;
    /// Copies bytes to the memory from a place on.
    ///
    /// # Errors
    /// When the machine fails.
    fn write(&self, to: &Self::Memory, place: usize, bytes: &[u8]) -> Result<(), Error>;
    /// Copies bytes from the memory from a place on to several ends one after the other, when all kernels before are done.
    ///
    /// # Errors
    /// When the machine fails.
    fn read(&self, from: &Self::Memory, place: usize, outs: &mut [&mut [u8]]) -> Result<(), Error>;
    /// Begins a kernel. Kernels and copies run in the order in which they were begun.
    ///
    /// # Errors
    /// When the machine fails.
    fn launch(&self, call: &Call<'_, Self::Memory>) -> Result<(), Error>;
}
