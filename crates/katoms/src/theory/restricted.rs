//! Restricted curvature of a small matrix, by visiting every support.

use super::{Conditioning, TheoryError};

/// The most supports we enumerate.
const MOST_SUPPORTS: f64 = 5e6;

/// The most work, as supports × size³: from size 11 on this limits the supports further.
const MOST_WORK: f64 = 5e9;

/// α_s and β_s: the extreme eigenvalues of Φ_SᵀΦ_S over the supports S of one size s.
///
/// ```
/// use katoms::theory::{RestrictedCurvature, restricted_curvature};
///
/// let identity = [1.0, 0.0, 0.0, 1.0];
/// let expected = RestrictedCurvature { alpha: 1.0, beta: 1.0 };
/// assert_eq!(restricted_curvature(&identity, 2, 2, 1)?, expected);
/// # Ok::<(), katoms::theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestrictedCurvature {
    /// α_s, the least eigenvalue; 0 where a support is singular to rounding.
    pub alpha: f64,
    /// β_s, the greatest eigenvalue.
    pub beta: f64,
}

impl RestrictedCurvature {
    /// The same as a [`Conditioning`]; an error where α_s = 0.
    ///
    /// ```
    /// use katoms::theory::restricted_curvature;
    ///
    /// let stretched = [1.0, 0.0, 0.0, 2.0];
    /// assert_eq!(restricted_curvature(&stretched, 2, 2, 2)?.conditioning()?.kappa(), 4.0);
    /// # Ok::<(), katoms::theory::TheoryError>(())
    /// ```
    pub fn conditioning(&self) -> Result<Conditioning, TheoryError> {
        Conditioning::new(self.alpha, self.beta)
    }

    /// What no eigenvalue has widened yet.
    const NOTHING: Self = Self { alpha: f64::INFINITY, beta: 0.0 };

    /// Takes one more eigenvalue in.
    fn widen(&mut self, eigenvalue: f64) {
        self.alpha = self.alpha.min(eigenvalue);
        self.beta = self.beta.max(eigenvalue);
    }
}

/// α_s and β_s of the column-major rows × columns matrix, by enumeration of all C(columns, size)
/// supports.
///
/// O(rows·columns²) for the Gram matrix, then O(size³) with a constant near 10 for each support.
/// An error where there are over 5 million supports, or over 5·10⁹/size³.
/// An α_s that rounding cannot tell from 0 is 0.
///
/// ```
/// use katoms::theory::restricted_curvature;
///
/// // Columns (1, 0), (0, 1), (0, 1): the last two are the same.
/// let phi = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
/// let pairs = restricted_curvature(&phi, 2, 3, 2)?;
/// assert!(pairs.alpha == 0.0 && (pairs.beta - 2.0).abs() < 1e-14);
/// # Ok::<(), katoms::theory::TheoryError>(())
/// ```
pub fn restricted_curvature(
    matrix: &[f64],
    rows: usize,
    columns: usize,
    size: usize,
) -> Result<RestrictedCurvature, TheoryError> {
    check_matrix(matrix, rows, columns)?;
    check_size(columns, size)?;
    // A power of two near the largest entry: exact to divide by, and squares stay in range.
    let largest = matrix.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 {
        return Ok(RestrictedCurvature { alpha: 0.0, beta: 0.0 });
    }
    let unit = largest.log2().floor().min(1023.0).exp2();
    let scaled: Vec<f64> = matrix.iter().map(|v| v / unit).collect();

    let mut found = if size == 1 {
        // Only the diagonal is needed, and there may be millions of columns.
        let mut found = RestrictedCurvature::NOTHING;
        scaled.chunks_exact(rows).for_each(|column| found.widen(dot(column, column)));
        found
    } else {
        extremes(&gram(&scaled, rows), columns, size)
    };
    // The Gram matrix carries errors of rows·ulp, the rotations of size·ulp; a single column
    // has no cancellation.
    let blur = (rows + size) as f64 * f64::EPSILON * found.beta;
    if size > 1 && found.alpha <= blur {
        found.alpha = 0.0;
    }
    Ok(RestrictedCurvature { alpha: found.alpha * unit * unit, beta: found.beta * unit * unit })
}

/// Shape and finiteness. O(rows·columns).
fn check_matrix(matrix: &[f64], rows: usize, columns: usize) -> Result<(), TheoryError> {
    let entries = matrix.len();
    if entries == 0 || rows.checked_mul(columns) != Some(entries) {
        return Err(TheoryError::Shape { entries, rows, columns });
    }
    match matrix.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => Err(TheoryError::Entry { row: at % rows, column: at / rows, value: matrix[at] }),
    }
}

/// 1 ≤ size ≤ columns, and few enough supports. O(min(size, columns − size)).
fn check_size(columns: usize, size: usize) -> Result<(), TheoryError> {
    if size == 0 || size > columns {
        return Err(TheoryError::SupportSize { size, columns });
    }
    // Each factor leaves a binomial coefficient: exact in f64 far beyond the limit.
    let supports = (0..size.min(columns - size)).fold(1.0, |count, i| count * (columns - i) as f64 / (i + 1) as f64);
    let limit = MOST_SUPPORTS.min((MOST_WORK / (size as f64).powi(3)).floor());
    if supports > limit {
        return Err(TheoryError::TooManySupports { size, columns, supports, limit });
    }
    Ok(())
}

/// ⟨a, b⟩.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// ΦᵀΦ, columns × columns. O(rows·columns²).
fn gram(matrix: &[f64], rows: usize) -> Vec<f64> {
    matrix.chunks_exact(rows).flat_map(|a| matrix.chunks_exact(rows).map(move |b| dot(a, b))).collect()
}

/// The extreme eigenvalues of the principal size × size submatrices. O(C(columns, size)·size³).
fn extremes(gram: &[f64], columns: usize, size: usize) -> RestrictedCurvature {
    let mut support: Vec<usize> = (0..size).collect();
    let mut block = vec![0.0; size * size];
    let mut found = RestrictedCurvature::NOTHING;
    loop {
        for (r, &i) in support.iter().enumerate() {
            for (c, &j) in support.iter().enumerate() {
                block[r * size + c] = gram[i * columns + j];
            }
        }
        diagonalise(&mut block, size);
        (0..size).for_each(|i| found.widen(block[i * size + i]));

        // The next support in lexicographic order: raise the last index that has room.
        let Some(at) = (0..size).rfind(|&i| support[i] < columns - size + i) else {
            return found;
        };
        let next = support[at] + 1;
        (at..size).for_each(|i| support[i] = next + (i - at));
    }
}

/// Cyclic Jacobi: turns a symmetric n × n matrix until its diagonal holds the eigenvalues.
/// O(n³) a sweep; convergence is quadratic, in fewer than ten sweeps as a rule.
fn diagonalise(matrix: &mut [f64], n: usize) {
    let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
    let negligible = 0.5 * f64::EPSILON * trace / n as f64;
    for _sweep in 0..60 {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                if matrix[p * n + q].abs() > negligible {
                    rotate(matrix, n, p, q);
                    turned = true;
                }
            }
        }
        if !turned {
            return;
        }
    }
}

/// Annihilates entry (p, q) ≠ 0 by the smaller of the two rotations. O(n).
fn rotate(matrix: &mut [f64], n: usize, p: usize, q: usize) {
    let off = matrix[p * n + q];
    let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * off);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for i in (0..n).filter(|&i| i != p && i != q) {
        let (a, b) = (matrix[i * n + p], matrix[i * n + q]);
        let (a, b) = (cosine * a - sine * b, sine * a + cosine * b);
        (matrix[i * n + p], matrix[p * n + i]) = (a, a);
        (matrix[i * n + q], matrix[q * n + i]) = (b, b);
    }
    matrix[p * n + p] -= tangent * off;
    matrix[q * n + q] += tangent * off;
    (matrix[p * n + q], matrix[q * n + p]) = (0.0, 0.0);
}
