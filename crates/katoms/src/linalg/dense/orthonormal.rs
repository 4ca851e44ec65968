//! Orthonormal bases, extended by further directions.

use super::Matrix;
use super::cholesky::Cholesky;
use crate::linalg::kernels::{axpy, dot};
use crate::linalg::norm;

/// Directions whose share is below this are rounding, not content.
const NEGLIGIBLE: f64 = 1e-13;

/// The least ratio of pivots for which a Cholesky factor of the Gram matrix can be trusted.
const CONDITION: f64 = 1e-6;

/// [basis E]: an orthonormal basis of the span of `basis` and `more`, whose columns need not be
/// orthonormal. Column pivoting drops what is dependent up to rounding.
pub(crate) fn extended(basis: &Matrix, more: &Matrix) -> Matrix {
    let scale = (0..more.columns()).map(|j| norm(more.column(j))).fold(0.0, f64::max);
    if scale == 0.0 {
        return basis.clone();
    }
    let outside = orthogonal_to(basis, more);
    if basis.columns() + more.columns() <= basis.rows()
        && let Some(q) = cholesky_qr(&outside, NEGLIGIBLE * scale)
    {
        // Twice is enough: the second round removes what the first one's rounding left.
        if let Some(q) = cholesky_qr(&orthogonal_to(basis, &q), 0.0) {
            return basis.beside(&q);
        }
    }
    let q = pivoted(outside, basis.rows() - basis.columns(), NEGLIGIBLE * scale);
    // A direction that was nearly inside is now blown up to length 1 with its rounding: once more.
    basis.beside(&orthogonal_to(basis, &q).orthonormalized())
}

/// An orthonormal basis of columns that are far from dependent; `None` where they are not.
pub(super) fn basis(m: &Matrix) -> Option<Matrix> {
    // Twice is enough, as above.
    cholesky_qr(&cholesky_qr(m, 0.0)?, 0.0)
}

/// An orthonormal basis of well-conditioned columns, by products alone: m·L⁻ᵀ where mᵀm = L·Lᵀ.
/// It is several times faster than Householder reflections. `None` where the columns are too
/// close to dependent for it, or smaller than `floor`.
fn cholesky_qr(m: &Matrix, floor: f64) -> Option<Matrix> {
    let gram = m.transposed_times(m);
    let cholesky = Cholesky::new(gram)?;
    let (least, most) = cholesky.pivots().fold((f64::INFINITY, 0.0_f64), |(a, b), p| (a.min(p), b.max(p)));
    if !(least > floor.max(CONDITION * most)) {
        return None;
    }
    Some(m.times_transposed(&cholesky.inverse_factor()))
}

/// An orthonormal basis of the columns, the longest of what is left first, until none is longer than `floor` or there are
/// `most`. O(rows·columns²).
fn pivoted(mut left: Matrix, most: usize, floor: f64) -> Matrix {
    let mut basis = Matrix::zeros(left.rows(), 0);
    while basis.columns() < most {
        let lengths = (0..left.columns()).map(|j| norm(left.column(j)));
        let longest = lengths.enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((j, length)) = longest.filter(|longest| longest.1 > floor) else { break };
        let next: Vec<f64> = left.column(j).iter().map(|v| v / length).collect();
        for c in 0..left.columns() {
            let column = left.column_mut(c);
            axpy(-dot(&next, column), &next, column);
        }
        left.column_mut(j).fill(0.0);
        basis.push_column(next.into_iter());
    }
    basis
}

fn orthogonal_to(basis: &Matrix, m: &Matrix) -> Matrix {
    m.plus(-1.0, &basis.times(&basis.transposed_times(m)))
}
