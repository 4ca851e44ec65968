//! Eigenvalues of symmetric matrices, and singular values.

use super::Matrix;
use super::qr::thin_qr;
use crate::linalg::kernels::{axpy, dot};
use crate::linalg::{exponent_of_two, norm, times_power_of_two};

/// Squares of columns below this leave the range of double precision. The largest entry is about 1.
const NOTHING: f64 = 1e-140;
/// Rounds after which an iteration that has not ended is given up. It ends after a handful.
const ROUNDS: usize = 60;

/// Eigenvalues in falling order, and their vectors; `None` where values are not finite. O(n³).
///
/// Householder's reflections to a tridiagonal matrix, then the implicit QL iteration with Wilkinson's shift (Bowdler,
/// Martin, Reinsch and Wilkinson 1968).
pub(crate) fn symmetric_eigen(g: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let n = g.columns();
    if !g.data().iter().all(|v| v.is_finite()) {
        return None;
    }
    let (mut diagonal, mut beside, mut q) = tridiagonal(g);
    for first in 0..n {
        for round in 0.. {
            let end = (first..n.saturating_sub(1))
                .find(|&i| beside[i].abs() <= f64::EPSILON * (diagonal[i].abs() + diagonal[i + 1].abs()))
                .unwrap_or(n - 1);
            if end == first {
                break;
            }
            if round == ROUNDS {
                return None;
            }
            ql_step(&mut diagonal, &mut beside, &mut q, first, end);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| diagonal[b].total_cmp(&diagonal[a]));
    Some((order.iter().map(|&j| diagonal[j]).collect(), q.columns_at(&order)))
}

/// The diagonal, what lies beside it, and the Q of G = Q·T·Qᵀ.
fn tridiagonal(g: &Matrix) -> (Vec<f64>, Vec<f64>, Matrix) {
    let (n, mut a, mut q) = (g.columns(), g.clone(), Matrix::identity(g.columns()));
    let mut reflections = Vec::new();
    for j in 0..n.saturating_sub(2) {
        let mut v = a.column(j)[j + 1..].to_vec();
        let length = norm(&v);
        if v[1..].iter().all(|x| *x == 0.0) {
            continue;
        }
        v.iter_mut().for_each(|x| *x /= length);
        v[0] += if v[0] < 0.0 { -1.0 } else { 1.0 };
        let scale = 1.0 / v[0].abs().sqrt();
        v.iter_mut().for_each(|x| *x *= scale);
        // A ← (I − v·vᵀ)·A·(I − v·vᵀ) = A − v·wᵀ − w·vᵀ with p = A·v and w = p − ½·(vᵀp)·v.
        let mut w = vec![0.0; n - j - 1];
        (0..v.len()).for_each(|c| axpy(v[c], &a.column(j + 1 + c)[j + 1..], &mut w));
        let half = 0.5 * dot(&v, &w);
        axpy(-half, &v, &mut w);
        for c in 0..v.len() {
            let column = &mut a.column_mut(j + 1 + c)[j + 1..];
            axpy(-w[c], &v, column);
            axpy(-v[c], &w, column);
        }
        let along = dot(&v, &a.column(j)[j + 1..]);
        axpy(-along, &v, &mut a.column_mut(j)[j + 1..]);
        reflections.push((j, v));
    }
    for (j, v) in reflections.iter().rev() {
        for c in j + 1..n {
            let column = &mut q.column_mut(c)[j + 1..];
            axpy(-dot(v, column), v, column);
        }
    }
    let beside = (0..n.saturating_sub(1)).map(|j| a.at(j + 1, j)).collect();
    ((0..n).map(|j| a.at(j, j)).collect(), beside, q)
}

/// One implicit QL step on the rows `first..=end` of a tridiagonal matrix.
fn ql_step(d: &mut [f64], e: &mut [f64], q: &mut Matrix, first: usize, end: usize) {
    let slope = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let root = slope.hypot(1.0);
    let mut g = d[end] - d[first] + e[first] / (slope + root.copysign(slope));
    let (mut sine, mut cosine, mut p) = (1.0, 1.0, 0.0);
    for i in (first..end).rev() {
        let (f, b) = (sine * e[i], cosine * e[i]);
        let r = f.hypot(g);
        if let Some(next) = e.get_mut(i + 1) {
            *next = if i + 1 < end { r } else { 0.0 };
        }
        if r == 0.0 {
            // The matrix falls apart here: the next step works on its parts.
            d[i + 1] -= p;
            return;
        }
        (sine, cosine) = (f / r, g / r);
        g = d[i + 1] - p;
        let r = (d[i] - g) * sine + 2.0 * cosine * b;
        p = sine * r;
        d[i + 1] = g + p;
        g = cosine * r - b;
        q.rotate(i, i + 1, cosine, sine);
    }
    d[first] -= p;
    e[first] = g;
}

/// Thin SVD as (U, singular values in falling order, V); `None` where values are not finite.
///
/// A QR factorisation, then rotations of pairs of columns until all are orthogonal (Hestenes 1958): small singular values
/// keep their relative accuracy (Demmel and Veselić 1992). O(rows·columns²), and columns³ for each of a few sweeps.
pub(crate) fn svd(a: &Matrix) -> Option<(Matrix, Vec<f64>, Matrix)> {
    if a.rows() < a.columns() {
        let (u, values, v) = svd(&a.transposed())?;
        return Some((v, values, u));
    }
    let size = a.data().iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if !a.data().iter().all(|v| v.is_finite()) {
        return None;
    }
    let exponent = exponent_of_two(size).map_or(0, |e| -e);
    let scaled = Matrix::from_fn(a.rows(), a.columns(), |i, j| times_power_of_two(a.at(i, j), exponent));
    let n = a.columns();
    let (q, r) = thin_qr(&scaled);
    // Rows of R fall in size: its transpose is nearer to orthogonal columns than R is.
    let (mut w, mut v) = (r.transposed(), Matrix::identity(n));
    for round in 0.. {
        if !sweep(&mut w, &mut v) {
            break;
        }
        if round == ROUNDS {
            return None;
        }
    }
    let sizes: Vec<f64> = (0..n).map(|j| norm(w.column(j))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    let mut right = w.columns_at(&order);
    let values: Vec<f64> = order.iter().map(|&j| sizes[j]).collect();
    complete(&mut right, &values);
    let left = q.times(&v.columns_at(&order));
    Some((left, values.iter().map(|v| times_power_of_two(*v, -exponent)).collect(), right))
}

/// Rotates each pair of columns that are not orthogonal; whether there was one.
fn sweep(w: &mut Matrix, v: &mut Matrix) -> bool {
    let (n, mut rotated) = (w.columns(), false);
    let tolerance = f64::EPSILON * 2.0 * (n as f64).sqrt();
    let mut squares: Vec<f64> = (0..n).map(|j| dot(w.column(j), w.column(j))).collect();
    for p in 0..n {
        for q in p + 1..n {
            let (alpha, beta, gamma) = (squares[p], squares[q], dot(w.column(p), w.column(q)));
            if gamma.abs() <= tolerance * alpha.sqrt() * beta.sqrt() || alpha.min(beta) <= NOTHING * NOTHING {
                continue;
            }
            rotated = true;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let tangent = 1.0_f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            (squares[p], squares[q]) = ((alpha - tangent * gamma).max(0.0), beta + tangent * gamma);
            w.rotate(p, q, cosine, cosine * tangent);
            v.rotate(p, q, cosine, cosine * tangent);
        }
    }
    rotated
}

/// Columns to length 1, where the longest come first; those of no length become directions that are orthogonal to the others.
fn complete(m: &mut Matrix, sizes: &[f64]) {
    let mut axis = 0;
    for (j, &size) in sizes.iter().enumerate() {
        if size > NOTHING {
            m.column_mut(j).iter_mut().for_each(|v| *v /= size);
            continue;
        }
        loop {
            let mut candidate = vec![0.0; m.rows()];
            candidate[axis] = 1.0;
            axis += 1;
            for _ in 0..2 {
                (0..j).for_each(|i| {
                    let along = dot(m.column(i), &candidate);
                    axpy(-along, m.column(i), &mut candidate);
                });
            }
            let length = norm(&candidate);
            if length > 0.5 / (m.rows() as f64).sqrt() {
                m.column_mut(j).iter_mut().zip(candidate).for_each(|(v, c)| *v = c / length);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orthonormal(m: &Matrix) -> bool {
        m.transposed_times(m).plus(-1.0, &Matrix::identity(m.columns())).norm() < 1e-13 * (m.columns() as f64 + 1.0)
    }

    /// Random, of low rank, zero, graded over 200 orders of magnitude, huge and tiny.
    fn hard(rows: usize, columns: usize) -> Vec<Matrix> {
        let some = Matrix::from_fn(rows, columns, |i, j| ((i * 37 + j * 101 + i * j) as f64 * 0.7).sin());
        let low =
            Matrix::from_fn(rows, columns, |i, j| (i + 1) as f64 * (j as f64 - 1.5) + 0.5 * (i % 2 * (j % 3)) as f64);
        let graded =
            Matrix::from_fn(rows, columns, |i, j| some.at(i, j) * 10.0_f64.powi(-(200 * j as i32) / columns as i32));
        vec![some.scaled(1e150), some.scaled(1e-150), some, low, graded, Matrix::zeros(rows, columns)]
    }

    #[test]
    fn svd_rebuilds_every_matrix_with_orthonormal_factors() {
        for (rows, columns) in [(1, 1), (5, 3), (3, 5), (8, 8), (60, 20), (40, 40)] {
            for a in hard(rows, columns) {
                let (mut u, s, v) = svd(&a).unwrap();
                assert!(s.windows(2).all(|w| w[0] >= w[1]) && s.iter().all(|s| *s >= 0.0));
                assert!(orthonormal(&u) && orthonormal(&v), "{rows}x{columns}");
                u.scale_columns(&s);
                assert!(u.times_transposed(&v).plus(-1.0, &a).norm() <= 1e-13 * a.norm());
            }
        }
        assert!(svd(&Matrix::from_columns(1, 2, vec![1.0, f64::NAN])).is_none());
    }

    #[test]
    fn eigenvectors_rebuild_every_symmetric_matrix() {
        for n in [1, 2, 3, 10, 33] {
            for a in hard(n, n) {
                let g = Matrix::from_fn(n, n, |i, j| a.at(i.max(j), i.min(j)));
                let (values, vectors) = symmetric_eigen(&g).unwrap();
                assert!(values.windows(2).all(|w| w[0] >= w[1]) && orthonormal(&vectors));
                let mut scaled = vectors.clone();
                scaled.scale_columns(&values);
                assert!(scaled.times_transposed(&vectors).plus(-1.0, &g).norm() <= 1e-13 * n as f64 * g.norm(), "{n}");
            }
        }
        assert!(symmetric_eigen(&Matrix::from_columns(1, 1, vec![f64::INFINITY])).is_none());
    }
}
