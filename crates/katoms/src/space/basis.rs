//! Orthonormal bases that share their leading columns.
//!
//! In Algorithm 1 on matrices, the restricted gradient extends the basis of the point that it is
//! added to. Recognising that (a comparison of memory) saves every factorisation of a sum.

pub(super) use crate::linalg::extended;
use crate::linalg::{Matrix, parallel};

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

/// Whether the columns of `shorter` lead in `longer`. O(entries of `shorter`).
pub(super) fn extends(longer: &Matrix, shorter: &Matrix) -> bool {
    longer.columns() >= shorter.columns() && parallel::equal(&longer.data()[..shorter.data().len()], shorter.data())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(size: usize) -> Matrix {
        Matrix::from_fn(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
    }

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
