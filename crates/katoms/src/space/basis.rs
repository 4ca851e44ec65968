//! Orthonormal bases that share their leading columns.
//!
//! In Algorithm 1 on matrices, the restricted gradient extends the basis of the point that it is
//! added to. Recognising that (a comparison of memory) saves every factorisation of a sum.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Par, Side};

use crate::linalg::Matrix;

/// Directions whose share is below this are rounding, not content.
const NEGLIGIBLE: f64 = 1e-13;

/// The least ratio of pivots for which a Cholesky factor of the Gram matrix can be trusted.
const CONDITION: f64 = 1e-6;

/// A basis that holds two others: `first` is its leading part, `second = basis·of_second`, where
/// `None` says that `second` is its leading part too.
pub(super) struct Joined {
    pub basis: Matrix,
    pub of_second: Option<Matrix>,
}

impl Joined {
    /// of_second·m: the coordinates that m has in `second`, in the joined basis.
    pub(super) fn embed(&self, m: &Matrix) -> Matrix {
        match &self.of_second {
            Some(of_second) => of_second.times(m),
            None => padded(m, self.basis.columns(), m.columns()),
        }
    }
}

/// The span of both bases. O(rows·columns²), or O(rows·columns) where one extends the other.
pub(super) fn join(first: &Matrix, second: &Matrix) -> Joined {
    if extends(second, first) {
        return Joined { basis: second.clone(), of_second: None };
    }
    if extends(first, second) {
        return Joined { basis: first.clone(), of_second: None };
    }
    let shared =
        (0..first.columns().min(second.columns())).take_while(|&j| first.column(j) == second.column(j)).count();
    let own = second.block(0, shared, second.rows(), second.columns() - shared);
    let basis = extended(first, &own);
    let of_second = Some(basis.transposed_times(second));
    Joined { basis, of_second }
}

/// `core` as the upper left block of a larger matrix of zeros.
pub(super) fn padded(core: &Matrix, rows: usize, columns: usize) -> Matrix {
    let inside = |i, j| i < core.rows() && j < core.columns();
    Matrix::from_fn(rows, columns, |i, j| if inside(i, j) { core.at(i, j) } else { 0.0 })
}

/// [basis E]: an orthonormal basis of the span of `basis` and `more`, whose columns need not be
/// orthonormal. Column pivoting drops what is dependent up to rounding.
pub(super) fn extended(basis: &Matrix, more: &Matrix) -> Matrix {
    let scale = (0..more.columns()).map(|j| crate::linalg::norm(more.column(j))).fold(0.0, f64::max);
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
    let qr = outside.faer().col_piv_qr();
    let r = qr.thin_R();
    let free = basis.rows() - basis.columns();
    let rank = (0..r.nrows().min(free)).take_while(|&i| r[(i, i)].abs() > NEGLIGIBLE * scale).count();
    let q = Matrix::from(&qr.compute_thin_Q()).leading_columns(rank);
    // A direction that was nearly inside is now blown up to length 1 with its rounding: once more.
    basis.beside(&orthogonal_to(basis, &q).orthonormalized())
}

/// An orthonormal basis of well-conditioned columns, by products alone: m·L⁻ᵀ where mᵀm = L·Lᵀ.
/// It is several times faster than Householder reflections. `None` where the columns are too
/// close to dependent for it, or smaller than `floor`.
fn cholesky_qr(m: &Matrix, floor: f64) -> Option<Matrix> {
    let gram = m.transposed_times(m);
    let cholesky = gram.faer().llt(Side::Lower).ok()?;
    let l = cholesky.L();
    let pivots = (0..gram.columns()).map(|j| l[(j, j)]);
    let (least, most) = pivots.fold((f64::INFINITY, 0.0_f64), |(a, b), p| (a.min(p), b.max(p)));
    if !(least > floor.max(CONDITION * most)) {
        return None;
    }
    let mut inverse = identity(gram.columns());
    solve_lower_triangular_in_place(l, inverse.faer_mut(), Par::Seq);
    Some(m.times_transposed(&inverse))
}

fn identity(size: usize) -> Matrix {
    Matrix::from_fn(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
}

fn orthogonal_to(basis: &Matrix, m: &Matrix) -> Matrix {
    m.plus(-1.0, &basis.times(&basis.transposed_times(m)))
}

/// Whether the columns of `shorter` lead in `longer`. O(entries of `shorter`).
pub(super) fn extends(longer: &Matrix, shorter: &Matrix) -> bool {
    longer.columns() >= shorter.columns() && longer.data()[..shorter.data().len()] == *shorter.data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(rows: usize, columns: usize, seed: usize) -> Matrix {
        Matrix::from_fn(rows, columns, |i, j| ((i * 31 + j * 17 + seed * 7) % 23) as f64 - 11.0)
    }

    fn assert_orthonormal(m: &Matrix) {
        let gram = m.transposed_times(m);
        assert!(gram.plus(-1.0, &identity(m.columns())).norm() < 1e-13);
    }

    #[test]
    fn a_joined_basis_is_orthonormal_and_holds_both() {
        let (a, b) = (some(20, 4, 0).orthonormalized(), some(20, 3, 5).orthonormalized());
        let joined = join(&a, &b);
        assert_orthonormal(&joined.basis);
        assert!(extends(&joined.basis, &a));
        assert!(joined.basis.times(&joined.embed(&identity(b.columns()))).plus(-1.0, &b).norm() < 1e-13);
    }

    #[test]
    fn nearly_equal_bases_stay_orthonormal() {
        let a = some(30, 4, 1).orthonormalized();
        for size in [1e-4, 1e-9, 1e-12, 1e-15] {
            let b = a.plus(size, &some(30, 4, 2)).orthonormalized();
            let joined = join(&a, &b);
            assert_orthonormal(&joined.basis);
            assert!(joined.basis.times(&joined.embed(&identity(b.columns()))).plus(-1.0, &b).norm() < 1e-12);
        }
    }

    #[test]
    fn a_turned_basis_adds_no_directions() {
        let a = some(20, 3, 0).orthonormalized();
        let turned = a.times(&some(3, 3, 4).orthonormalized());
        assert_eq!(join(&a, &turned).basis.columns(), 3);
    }

    #[test]
    fn a_basis_never_outgrows_its_space() {
        let (a, b) = (some(5, 4, 0).orthonormalized(), some(5, 4, 9).orthonormalized());
        let joined = join(&a, &b);
        assert!(joined.basis.columns() <= 5);
        assert!(joined.basis.times(&joined.embed(&identity(b.columns()))).plus(-1.0, &b).norm() < 1e-12);
    }
}
