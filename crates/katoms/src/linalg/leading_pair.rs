//! The leading singular pair of a matrix that can only be multiplied.
//!
//! Golub and Kahan, "Calculating the singular values and pseudo-inverse of a matrix" (1965): Lanczos'
//! bidiagonalisation, here with full reorthogonalisation. Where the singular values crowd below the first, as
//! those of a residual do, it needs the square root of the products of a subspace iteration.

use super::{Matrix, Multiply, dot, norm};

/// Steps between two looks at the singular values.
const LOOK: usize = 6;

/// σ·u·vᵀ.
#[derive(Debug, Clone)]
pub struct SingularPair {
    /// The left singular vector, of norm 1.
    pub left: Vec<f64>,
    /// The singular value.
    pub value: f64,
    /// The right singular vector, of norm 1.
    pub right: Vec<f64>,
}

/// The leading singular pair of `m`, until ‖Mᵀu − σv‖ ≤ tolerance·σ (M·v = σ·u holds throughout) or after
/// `most` steps. The error of σ is of the order of the tolerance's square. A step costs one product with `m` and
/// one with its transpose, each with one column. The start is the same every time. `None` where a product
/// is not finite.
pub fn leading_pair(m: &impl Multiply, tolerance: f64, most: usize) -> Option<SingularPair> {
    let (rows, columns) = m.shape();
    if rows >= columns {
        return bidiagonalised((rows, columns), |v| m.times(v), |u| m.transposed_times(u), tolerance, most);
    }
    // From the shorter side: its vectors are then all there after as many steps.
    let turned = bidiagonalised((columns, rows), |v| m.transposed_times(v), |u| m.times(u), tolerance, most)?;
    Some(SingularPair { left: turned.right, right: turned.left, ..turned })
}

/// The leading pair of a matrix of at least as many rows as columns, from its products.
fn bidiagonalised(
    (rows, columns): (usize, usize),
    times: impl Fn(&Matrix) -> Matrix,
    transposed_times: impl Fn(&Matrix) -> Matrix,
    tolerance: f64,
    most: usize,
) -> Option<SingularPair> {
    let column = |v: &[f64]| Matrix::from_columns(v.len(), 1, v.to_vec());
    let finite = |m: Matrix| m.data().iter().all(|v| v.is_finite()).then(|| m.data().to_vec());
    let (mut us, mut vs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let (mut alphas, mut betas) = (Vec::new(), Vec::new());
    let mut v = unit(super::truncated_svd::random_block(columns, 1).data().to_vec())?.0;
    let most = most.clamp(1, columns);
    loop {
        let (u, alpha) = match unit(orthogonal_to(&us, finite(times(&column(&v)))?)) {
            Some(direction) => direction,
            None if us.is_empty() => (first_axis(rows), 0.0),
            // M·v lies in what is known already: a row of zeros ends the search.
            None => (vec![0.0; rows], 0.0),
        };
        let image = finite(transposed_times(&column(&u)))?;
        alphas.push(alpha);
        us.push(u);
        vs.push(v);
        let next = unit(orthogonal_to(&vs, image));
        let rest = next.as_ref().map_or(0.0, |n| n.1);
        let scale = alphas.iter().fold(0.0_f64, |m, a| m.max(*a));
        let last = us.len() == most || !(rest > f64::EPSILON * scale);
        if last || us.len().is_multiple_of(LOOK) {
            let (pair, end) = assembled(&us, &vs, &alphas, &betas)?;
            if last || rest * end <= tolerance * pair.value {
                return Some(pair);
            }
        }
        betas.push(rest);
        v = next?.0;
    }
}

/// The leading pair within the bases, and the share of the last left vector in it.
fn assembled(us: &[Vec<f64>], vs: &[Vec<f64>], alphas: &[f64], betas: &[f64]) -> Option<(SingularPair, f64)> {
    let size = alphas.len();
    let bidiagonal = Matrix::from_fn(size, size, |i, j| match j.checked_sub(i) {
        Some(0) => alphas[i],
        Some(1) => betas[i],
        _ => 0.0,
    });
    let (p, values, q) = bidiagonal.svd()?;
    let combined = |basis: &[Vec<f64>], weights: &[f64]| {
        let mut sum = vec![0.0; basis[0].len()];
        for (b, w) in basis.iter().zip(weights) {
            sum.iter_mut().zip(b).for_each(|(s, b)| *s += w * b);
        }
        sum
    };
    let pair = SingularPair { left: combined(us, p.column(0)), value: values[0], right: combined(vs, q.column(0)) };
    Some((pair, p.at(size - 1, 0).abs()))
}

/// v without its parts along an orthonormal basis, twice: rounding would bring them back.
fn orthogonal_to(basis: &[Vec<f64>], mut v: Vec<f64>) -> Vec<f64> {
    for b in basis.iter().chain(basis) {
        let along = dot(b, &v);
        v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
    }
    v
}

/// v/‖v‖ and ‖v‖; `None` for a zero vector.
fn unit(mut v: Vec<f64>) -> Option<(Vec<f64>, f64)> {
    let length = norm(&v);
    if length == 0.0 {
        return None;
    }
    v.iter_mut().for_each(|v| *v /= length);
    Some((v, length))
}

fn first_axis(size: usize) -> Vec<f64> {
    let mut axis = vec![0.0; size];
    axis[0] = 1.0;
    axis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, normals};

    fn agrees(m: &Matrix) {
        let (_, values, _) = m.svd().unwrap();
        let pair = leading_pair(m, 1e-7, 500).unwrap();
        assert!((pair.value - values[0]).abs() <= 1e-12 * values[0], "{} {}", pair.value, values[0]);
        let u = Matrix::from_columns(m.rows(), 1, pair.left.clone());
        let along = m.transposed_times(&u);
        assert!((dot(along.data(), &pair.right) - values[0]).abs() <= 1e-12 * values[0]);
        for v in [&pair.left, &pair.right] {
            assert!((norm(v) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_leading_pair_is_that_of_the_svd() {
        for (rows, columns) in [(40, 60), (60, 40), (1, 5), (5, 1), (1, 1), (7, 7)] {
            for seed in 0..3 {
                agrees(&Matrix::from_columns(rows, columns, normals(rows * columns, &mut generator(seed, 11))));
            }
        }
        // equal values, and a rank of one
        agrees(&Matrix::from_fn(20, 20, |i, j| if i == j { 3.0 } else { 0.0 }));
        agrees(&Matrix::from_fn(20, 10, |i, j| (i + 1) as f64 * (j as f64 - 4.5)));
    }

    #[test]
    fn zeros_and_what_is_not_finite() {
        let pair = leading_pair(&Matrix::zeros(3, 2), 1e-7, 10).unwrap();
        assert_eq!((pair.value, norm(&pair.left)), (0.0, 1.0));
        assert!(leading_pair(&Matrix::from_fn(3, 2, |_, _| f64::NAN), 1e-7, 10).is_none());
    }
}
