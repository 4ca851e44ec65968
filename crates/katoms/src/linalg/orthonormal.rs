//! Orthonormal bases, extended by further directions.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Par, Side};

use super::Matrix;
use super::registers::cleared;

/// Directions whose share is below this are rounding, not content.
const NEGLIGIBLE: f64 = 1e-13;

/// The least ratio of pivots for which a Cholesky factor of the Gram matrix can be trusted.
const CONDITION: f64 = 1e-6;

/// [basis E]: an orthonormal basis of the span of `basis` and `more`, whose columns need not be
/// orthonormal. Column pivoting drops what is dependent up to rounding.
pub(crate) fn extended(basis: &Matrix, more: &Matrix) -> Matrix {
    let scale = (0..more.columns()).map(|j| super::norm(more.column(j))).fold(0.0, f64::max);
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
    let qr = cleared(|| outside.faer().col_piv_qr());
    let r = qr.thin_R();
    let free = basis.rows() - basis.columns();
    let rank = (0..r.nrows().min(free)).take_while(|&i| r[(i, i)].abs() > NEGLIGIBLE * scale).count();
    let q = Matrix::from(&cleared(|| qr.compute_thin_Q())).leading_columns(rank);
    // A direction that was nearly inside is now blown up to length 1 with its rounding: once more.
    basis.beside(&orthogonal_to(basis, &q).orthonormalized())
}

/// An orthonormal basis of well-conditioned columns, by products alone: m·L⁻ᵀ where mᵀm = L·Lᵀ.
/// It is several times faster than Householder reflections. `None` where the columns are too
/// close to dependent for it, or smaller than `floor`.
fn cholesky_qr(m: &Matrix, floor: f64) -> Option<Matrix> {
    let gram = m.transposed_times(m);
    let cholesky = cleared(|| gram.faer().llt(Side::Lower)).ok()?;
    let l = cholesky.L();
    let pivots = (0..gram.columns()).map(|j| l[(j, j)]);
    let (least, most) = pivots.fold((f64::INFINITY, 0.0_f64), |(a, b), p| (a.min(p), b.max(p)));
    if !(least > floor.max(CONDITION * most)) {
        return None;
    }
    let mut inverse = identity(gram.columns());
    cleared(|| solve_lower_triangular_in_place(l, inverse.faer_mut(), Par::Seq));
    Some(m.times_transposed(&inverse))
}

fn identity(size: usize) -> Matrix {
    Matrix::from_fn(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
}

fn orthogonal_to(basis: &Matrix, m: &Matrix) -> Matrix {
    m.plus(-1.0, &basis.times(&basis.transposed_times(m)))
}
