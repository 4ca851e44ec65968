//! Any design, chosen at run time: what a file or an array turns out to hold.

use super::forwards_every_call;
use super::magnitude::{elsewhere, no_room};
use super::{
    Beside, ColumnMoments, Csc, Dense, Distributed, FirstRead, Genotypes, Layout, LinearOperator, MatrixFree, Moments,
    OnDevice, f16, is_its_own_base,
};
use crate::error::{Error, check_length};
use crate::linalg::kernels::{self, Real};
use crate::linalg::times_power_of_two;
use crate::space::SparseVec;

/// A design whose storage is known only at run time. A call costs a read of the data, so the choice in
/// front of it is free, and whatever runs on it is compiled once.
///
/// ```
/// use katoms::operator::{AnyDesign, Dense, LinearOperator};
/// let design: AnyDesign = Dense::column_major(vec![1.0_f32, 2.0, 3.0, 4.0], 2, 2)?.into();
/// let mut g = design.new_covector();
/// design.adjoint(&[1.0, 1.0], &mut g);
/// assert_eq!(g, [3.0, 7.0]);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum AnyDesign<'a> {
    /// Dense, whole numbers from −128 to 127.
    I8(Dense<'a, i8>),
    /// Dense, whole numbers from 0 to 255.
    U8(Dense<'a, u8>),
    /// Dense, in half precision.
    F16(Dense<'a, f16>),
    /// Dense, in single precision.
    F32(Dense<'a, f32>),
    /// Dense, in double precision.
    F64(Dense<'a, f64>),
    /// Compressed sparse columns.
    Sparse(Csc<'a, f64, u32, usize>),
    /// Genotypes, 2 bits each.
    Genotypes(Genotypes<'a>),
    /// One of these, and columns of numbers beside it: covariates, products of columns.
    Beside(Box<Beside<AnyDesign<'a>, Dense<'a, f64>>>),
    /// Two functions in place of a matrix.
    Free(MatrixFree),
    /// Blocks that live with workers.
    Distributed(Distributed),
    /// In the memory of a device.
    Device(OnDevice),
}

/// A call on the design that it is.
macro_rules! on_design {
    ($any:expr, $design:ident => $call:expr) => {
        match $any {
            AnyDesign::I8($design) => $call,
            AnyDesign::U8($design) => $call,
            AnyDesign::F16($design) => $call,
            AnyDesign::F32($design) => $call,
            AnyDesign::F64($design) => $call,
            AnyDesign::Sparse($design) => $call,
            AnyDesign::Genotypes($design) => $call,
            AnyDesign::Beside($design) => $call,
            AnyDesign::Free($design) => $call,
            AnyDesign::Distributed($design) => $call,
            AnyDesign::Device($design) => $call,
        }
    };
}

impl AnyDesign<'_> {
    /// A copy in which column j is 2^`exponents[j]` times what it is: what takes [`LinearOperator::extremes`] away. Where
    /// the design was made with a [`FirstRead`], the copy is made with this one. O(mn), and as much memory as the numbers
    /// take in double precision.
    ///
    /// # Errors
    /// When there is not one exponent for each column, or there is no memory for a copy.
    pub fn scaled(&self, exponents: &[i32], first: &FirstRead) -> Result<AnyDesign<'static>, Error> {
        check_length("list of exponents", exponents.len(), self.domain(), "one for each column of the design")?;
        Ok(match self {
            Self::I8(design) => design.scaled(exponents, first)?.into(),
            Self::U8(design) => design.scaled(exponents, first)?.into(),
            Self::F16(design) => design.scaled(exponents, first)?.into(),
            Self::F32(design) => design.scaled(exponents, first)?.into(),
            Self::F64(design) => design.scaled(exponents, first)?.into(),
            Self::Sparse(design) => design.scaled(exponents)?.into(),
            Self::Genotypes(_) | Self::Beside(_) => self.decoded(exponents, first)?.into(),
            Self::Free(design) => design.scaled(exponents).into(),
            Self::Distributed(_) | Self::Device(_) => return Err(elsewhere(self.extremes())),
        })
    }

    /// The largest magnitude in each column, which reads the design; `None` where it has no matrix.
    pub fn sizes(&self) -> Option<Vec<f64>> {
        match self {
            Self::I8(design) => Some(design.sizes()),
            Self::U8(design) => Some(design.sizes()),
            Self::F16(design) => Some(design.sizes()),
            Self::F32(design) => Some(design.sizes()),
            Self::F64(design) => Some(design.sizes()),
            Self::Sparse(design) => Some(design.sizes()),
            Self::Genotypes(_) | Self::Beside(_) => {
                Some(self.columns().map(|column| kernels::largest(&column)).collect())
            }
            Self::Free(_) => None,
            Self::Distributed(design) => Some(design.sizes()),
            Self::Device(design) => Some(design.sizes()),
        }
    }

    /// The number of columns.
    pub(super) fn n_columns(&self) -> usize {
        self.domain()
    }

    /// Its numbers in double precision, where it does not store them one by one; `None` where it does.
    pub(super) fn decoded_unless_dense(&self) -> Option<AnyDesign<'static>> {
        if matches!(self, Self::I8(_) | Self::U8(_) | Self::F16(_) | Self::F32(_) | Self::F64(_)) {
            return None;
        }
        let data: Vec<f64> = self.columns().flatten().collect();
        Dense::column_major(data, self.n_outputs(), self.domain()).map(AnyDesign::from).ok()
    }

    /// Copies of some rows of a dense design: what they hold in the first column, then in the second.
    pub(super) fn copy_rows(&self, rows: &[usize], out: &mut [f64]) {
        match self {
            Self::I8(design) => design.copy_rows(rows, out),
            Self::U8(design) => design.copy_rows(rows, out),
            Self::F16(design) => design.copy_rows(rows, out),
            Self::F32(design) => design.copy_rows(rows, out),
            Self::F64(design) => design.copy_rows(rows, out),
            Self::Sparse(_)
            | Self::Genotypes(_)
            | Self::Beside(_)
            | Self::Free(_)
            | Self::Distributed(_)
            | Self::Device(_) => {}
        }
    }

    /// [`AnyDesign::scaled`] of numbers that are stored as something else.
    fn decoded(&self, exponents: &[i32], first: &FirstRead) -> Result<Dense<'static, f64>, Error> {
        let (rows, columns, mut data) = (self.n_outputs(), self.domain(), Vec::new());
        data.try_reserve_exact(rows.saturating_mul(columns)).map_err(|_| no_room(self.extremes()))?;
        for (column, &exponent) in self.columns().zip(exponents) {
            data.extend(column.iter().map(|&value| times_power_of_two(value, exponent)));
        }
        Dense::with_layout(data, rows, columns, Layout::ColumnMajor, Some(first))
    }

    /// The columns in double precision, one at a time.
    fn columns(&self) -> impl Iterator<Item = Vec<f64>> {
        (0..self.domain()).map(|j| {
            let mut column = vec![0.0; self.n_outputs()];
            self.apply(&SparseVec::sorted(self.domain(), vec![j], vec![1.0]), &mut column);
            column
        })
    }
}

impl LinearOperator for AnyDesign<'_> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();
    forwards_every_call!(on_design);
}

impl ColumnMoments for AnyDesign<'_> {
    fn moments(&self, weights: &[f64]) -> Moments {
        on_design!(self, design => design.moments(weights))
    }
}

/// Numbers of which a dense [`AnyDesign`] is made. Its kernels are compiled here, once, and not wherever a design is made.
pub trait Storage: Real {
    /// The design of these numbers: [`Dense::with_layout`].
    ///
    /// # Errors
    /// As there.
    fn design<'a>(
        data: &'a [Self],
        shape: (usize, usize),
        layout: Layout,
        first: Option<&FirstRead>,
    ) -> Result<AnyDesign<'a>, Error>;
}

macro_rules! storage {
    ($($T:ty => $kind:ident),*) => {$(
        impl Storage for $T {
            fn design<'a>(
                data: &'a [Self],
                (rows, columns): (usize, usize),
                layout: Layout,
                first: Option<&FirstRead>,
            ) -> Result<AnyDesign<'a>, Error> {
                Dense::with_layout(data, rows, columns, layout, first).map(AnyDesign::from)
            }
        }

        impl<'a> From<Dense<'a, $T>> for AnyDesign<'a> {
            fn from(design: Dense<'a, $T>) -> Self {
                Self::$kind(design)
            }
        }
    )*};
}
storage!(i8 => I8, u8 => U8, f16 => F16, f32 => F32, f64 => F64);

impl<'a> From<Csc<'a, f64, u32, usize>> for AnyDesign<'a> {
    fn from(design: Csc<'a, f64, u32, usize>) -> Self {
        Self::Sparse(design)
    }
}

impl<'a> From<Genotypes<'a>> for AnyDesign<'a> {
    fn from(design: Genotypes<'a>) -> Self {
        Self::Genotypes(design)
    }
}

impl<'a> From<Beside<AnyDesign<'a>, Dense<'a, f64>>> for AnyDesign<'a> {
    fn from(design: Beside<AnyDesign<'a>, Dense<'a, f64>>) -> Self {
        Self::Beside(Box::new(design))
    }
}

impl From<Distributed> for AnyDesign<'_> {
    fn from(design: Distributed) -> Self {
        Self::Distributed(design)
    }
}

impl From<OnDevice> for AnyDesign<'_> {
    fn from(design: OnDevice) -> Self {
        Self::Device(design)
    }
}

impl From<MatrixFree> for AnyDesign<'_> {
    fn from(design: MatrixFree) -> Self {
        Self::Free(design)
    }
}
