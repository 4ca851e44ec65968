//! Designs in the memory of NVIDIA graphics cards.
//!
//! The driver is found at run time: without one, everything here compiles, loads and says so. A design that a card holds
//! ([`Held`]) is a [`Device`](katoms::operator::Device), and [`OnDevice`](katoms::operator::OnDevice) makes it a design like
//! any other.
//!
//! The kernels are in `kernels/design.cu`; `kernels/compile.py` compiles them to the files that are built in.
#![deny(unsafe_op_in_unsafe_fn)]

mod cuda;
mod entries;
mod held;
mod machine;
mod room;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use std::any::Any;
use std::sync::Arc;

use katoms::Error;
use katoms::linalg::kernels::Real;
use katoms::operator::{Csc, Device, Layout, LinearOperator, SparseIndex};
use katoms::space::{DeviceEntries, Pattern};

pub use cuda::{Cuda, probe};
use held::Held;
pub use machine::{Numbers, Stored};

/// How a dense matrix lies in memory.
#[derive(Debug, Clone, Copy)]
pub struct Lie {
    /// What it is made of.
    pub numbers: Numbers,
    /// Whether rows follow each other, or columns.
    pub by_rows: bool,
    /// (rows, columns).
    pub shape: (usize, usize),
}

/// A copy on a card of a matrix of the host, given as its bytes, without gaps.
///
/// # Errors
/// When the card has no memory for it, or fails.
pub fn copied(cuda: &Arc<Cuda>, bytes: &[u8], lie: Lie) -> Result<Arc<dyn Device>, Error> {
    let needed = lie.shape.0 * lie.shape.1 * lie.numbers.bytes();
    assert_eq!(bytes.len(), needed, "a matrix has another number of bytes");
    check_shape(lie.shape)?;
    Ok(Arc::new(Held::copied(Arc::clone(cuda), bytes, lie)?))
}

/// The same of numbers.
///
/// # Errors
/// As [`copied`].
pub fn copied_numbers<T: Stored>(
    cuda: &Arc<Cuda>,
    values: &[T],
    layout: Layout,
    shape: (usize, usize),
) -> Result<Arc<dyn Device>, Error> {
    let lie = Lie { numbers: T::NUMBERS, by_rows: layout == Layout::RowMajor, shape };
    copied(cuda, bytemuck::cast_slice(values), lie)
}

/// Kernels count rows and columns in 32 bits.
fn check_shape((rows, columns): (usize, usize)) -> Result<(), Error> {
    if rows.max(columns) <= i32::MAX as usize {
        return Ok(());
    }
    let message = format!(
        "the matrix is {rows} x {columns}, and on a card it may have {} rows and as many columns; fit on the CPU",
        i32::MAX
    );
    Err(Error::Device { message })
}

/// A copy on a card of a sparse matrix of the host, in double precision.
///
/// # Errors
/// When the card has no memory for it, or fails.
pub fn copied_sparse<T: Real, I: SparseIndex, P: SparseIndex>(
    cuda: &Arc<Cuda>,
    matrix: &Csc<'_, T, I, P>,
) -> Result<Arc<dyn Device>, Error> {
    check_shape((matrix.n_outputs(), matrix.domain()))?;
    let (starts, indices, values) = matrix.in_order();
    Ok(Arc::new(Held::sparse(Arc::clone(cuda), matrix.n_outputs(), (&starts, &indices, &values))?))
}

/// A copy on a card of the observed places of a matrix, for [`Entries::on`](katoms::operator::Entries::on).
///
/// # Errors
/// When the card has no memory for it, or fails.
pub fn entries(cuda: &Arc<Cuda>, pattern: &Pattern) -> Result<Arc<dyn DeviceEntries>, Error> {
    Ok(Arc::new(entries::Entries::new(Arc::clone(cuda), pattern)?))
}

/// A matrix that is on a card already: columns (or rows) lie `apart` bytes from each other. Nothing is copied.
///
/// # Safety
/// The matrix is at this address of this card, whole, as long as the lender is kept; nobody writes it, and what wrote it is
/// done.
pub unsafe fn lent(
    cuda: &Arc<Cuda>,
    at: u64,
    apart: usize,
    lie: Lie,
    lender: Box<dyn Any + Send + Sync>,
) -> Arc<dyn Device> {
    let lines = if lie.by_rows { lie.shape.0 } else { lie.shape.1 };
    // SAFETY: the caller's word.
    let memory = unsafe { cuda::Memory::lent(cuda, at, lines * apart, lender) };
    Arc::new(Held::new(Arc::clone(cuda), memory, lie, apart))
}
