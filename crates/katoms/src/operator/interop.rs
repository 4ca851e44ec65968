//! Dense designs from the arrays of other crates.

use super::{Dense, Layout};
use crate::error::Error;
use crate::linalg::kernels::Real;

/// Around the array where its values lie one after the other, by rows or by columns; else of a copy.
///
/// ```
/// use katoms::operator::{Dense, LinearOperator};
/// let x = ndarray::array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// for (view, sums) in [(x.view(), vec![9.0, 12.0]), (x.slice(ndarray::s![..;2, ..]), vec![6.0, 8.0])] {
///     let design = Dense::try_from(view)?;
///     let mut out = design.new_covector();
///     design.adjoint(&vec![1.0; design.n_outputs()], &mut out);
///     assert_eq!(out, sums);
/// }
/// # Ok::<(), katoms::Error>(())
/// ```
#[cfg(feature = "ndarray")]
impl<'a, T: Real> TryFrom<ndarray::ArrayView2<'a, T>> for Dense<'a, T> {
    type Error = Error;

    fn try_from(x: ndarray::ArrayView2<'a, T>) -> Result<Self, Error> {
        let (rows, columns) = x.dim();
        let copy = || x.t().iter().copied().collect::<Vec<T>>();
        match (x.to_slice(), x.reversed_axes().to_slice()) {
            (Some(values), _) => Dense::with_layout(values, rows, columns, Layout::RowMajor, None),
            (None, Some(values)) => Dense::with_layout(values, rows, columns, Layout::ColumnMajor, None),
            (None, None) => Dense::with_layout(copy(), rows, columns, Layout::ColumnMajor, None),
        }
    }
}

/// Of a copy: columns of a `faer` matrix are padded.
///
/// ```
/// use katoms::operator::{Dense, LinearOperator};
/// let x = faer::mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let design = Dense::try_from(x.as_ref())?;
/// assert_eq!((design.n_outputs(), design.domain()), (3, 2));
/// # Ok::<(), katoms::Error>(())
/// ```
#[cfg(feature = "faer")]
impl<T: Real> TryFrom<faer::MatRef<'_, T>> for Dense<'static, T> {
    type Error = Error;

    fn try_from(x: faer::MatRef<'_, T>) -> Result<Self, Error> {
        let (rows, columns) = x.shape();
        let places = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        let values: Vec<T> = places.map(|(i, j)| x[(i, j)]).collect();
        Dense::with_layout(values, rows, columns, Layout::ColumnMajor, None)
    }
}
