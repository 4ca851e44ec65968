//! Householder's QR factorisation of a tall matrix.

use super::Matrix;
use super::product::{View, add_product};
use crate::linalg::kernels::{axpy, dot};

/// Columns whose reflections are applied together.
const BLOCK: usize = 16;

/// A = Q·R with orthonormal columns of Q and an upper triangular R. O(rows·columns²).
///
/// There are as many columns of Q as A has, or rows if these are fewer.
pub(crate) fn thin_qr(a: &Matrix) -> (Matrix, Matrix) {
    let (rows, columns) = (a.rows(), a.columns());
    let rank = rows.min(columns);
    let mut work = a.clone();
    // Reflection j is I − v·vᵀ with v of length √2, or nothing where v is 0.
    let mut reflections = Matrix::zeros(rows, rank);
    for first in (0..rank).step_by(BLOCK) {
        let end = (first + BLOCK).min(rank);
        for j in first..end {
            let v = reflection(&work.column(j)[j..]);
            (j..end).for_each(|c| reflect(&v, &mut work.column_mut(c)[j..]));
            reflections.column_mut(j)[j..].copy_from_slice(&v);
        }
        let behind = work.data_mut().split_at_mut(end * rows).1;
        apply(&reflections, first..end, behind, Order::Forward);
    }
    let r = Matrix::from_fn(rank, columns, |i, j| if i <= j { work.at(i, j) } else { 0.0 });
    let mut q = Matrix::from_fn(rows, rank, |i, j| f64::from(u8::from(i == j)));
    for first in (0..rank).step_by(BLOCK).rev() {
        apply(&reflections, first..(first + BLOCK).min(rank), q.data_mut(), Order::Backward);
    }
    (q, r)
}

/// The v of length √2 with (I − v·vᵀ)·x along the first axis; 0 where x is.
fn reflection(x: &[f64]) -> Vec<f64> {
    let norm = crate::linalg::norm(x);
    if norm == 0.0 || x[1..].iter().all(|v| *v == 0.0) {
        return vec![0.0; x.len()];
    }
    let mut v: Vec<f64> = x.iter().map(|v| v / norm).collect();
    v[0] += if v[0] < 0.0 { -1.0 } else { 1.0 };
    let scale = 1.0 / v[0].abs().sqrt();
    v.iter_mut().for_each(|v| *v *= scale);
    v
}

fn reflect(v: &[f64], x: &mut [f64]) {
    axpy(-dot(v, x), v, x);
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Forward,
    Backward,
}

/// Applies some reflections to all columns of `x` by products of matrices: H₁·…·H_b = I − V·T·Vᵀ with an upper triangular T,
/// and the other order has its transpose (Schreiber and Van Loan 1989).
fn apply(reflections: &Matrix, range: std::ops::Range<usize>, x: &mut [f64], order: Order) {
    let (rows, width) = (reflections.rows(), range.len());
    if x.is_empty() {
        return;
    }
    let columns = x.len() / rows;
    let v = View::new(&reflections.data()[range.start * rows..range.end * rows], rows, width);
    let mut t = Matrix::zeros(width, width);
    for j in 0..width {
        // T's column j is −T·Vᵀ·v_j above the diagonal, which is 1 but for reflections that do nothing.
        let own = reflections.column(range.start + j);
        let seen: Vec<f64> = (0..j).map(|i| dot(reflections.column(range.start + i), own)).collect();
        for i in 0..j {
            t.column_mut(j)[i] = -(i..j).map(|l| t.at(i, l) * seen[l]).sum::<f64>();
        }
        t.column_mut(j)[j] = 1.0;
    }
    let mut along = Matrix::zeros(width, columns);
    add_product(1.0, v.transposed(), View::new(x, rows, columns), along.data_mut(), width);
    let along = if order == Order::Forward { t.transposed_times(&along) } else { t.times(&along) };
    add_product(-1.0, v, View::new(along.data(), width, columns), x, rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_rebuild_the_matrix_and_q_is_orthonormal() {
        for (rows, columns) in [(1, 1), (5, 3), (3, 5), (40, 16), (200, 37), (60, 60)] {
            let a = Matrix::from_fn(rows, columns, |i, j| ((i * 31 + j * 17) % 23) as f64 - 11.0);
            let mut degenerate = a.clone();
            (0..columns / 2).for_each(|j| degenerate.column_mut(columns - 1 - j).copy_from_slice(a.column(j)));
            for a in [a, degenerate, Matrix::zeros(rows, columns)] {
                let (q, r) = thin_qr(&a);
                let rank = rows.min(columns);
                assert!(
                    q.transposed_times(&q).plus(-1.0, &Matrix::identity(rank)).norm() < 1e-13 * (rank as f64 + 1.0)
                );
                assert!(q.times(&r).plus(-1.0, &a).norm() <= 1e-13 * a.norm());
            }
        }
    }
}
