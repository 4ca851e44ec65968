//! Singular pairs to a proven residual, from a start that may be good already.
//!
//! Restarted block Lanczos (Golub, Luk, Overton 1981, "A block Lanczos method for computing the
//! singular values and corresponding singular vectors of a matrix"): a block of right vectors is
//! extended by its residuals and their images under MᵀM, and the best pairs within that space are
//! kept. Unlike [`truncated_svd`](super::truncated_svd) it takes a start, finds how many pairs lie
//! above a threshold, and ends on ‖Mᵀu − σv‖, which bounds how far σ is from a singular value.

use super::truncated_svd::{Multiply, TruncatedSvd, random_block};
use super::{Matrix, extended, norm};

/// Directions beyond the wanted ones: they keep the block's edge away from what is wanted.
const GUARD: usize = 8;
/// Products with MᵀM between two restarts.
const DEPTH: usize = 3;
/// Restarts before the best so far is returned.
const RESTARTS: usize = 60;
/// A largest value that changes by less than this share has settled.
const SETTLED: f64 = 1e-10;

/// Which singular pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wanted {
    /// Those with a value above this.
    Above(f64),
    /// This many of the largest.
    Leading(usize),
}

/// The wanted singular pairs of `m`, each with ‖Mᵀu − σv‖ ≤ `tolerance`·σ₁. M·v = σ·u holds to rounding, so
/// they are the exact pairs of a matrix that is this close to `m`. `start` holds guesses of
/// right vectors in its columns, as many as are known. A restart costs four products with `m` and as
/// many with its transpose, of as many columns as are wanted and some more. The same every time.
///
/// ```
/// use katoms::linalg::{Matrix, Wanted, singular_pairs};
/// let m = Matrix::from_fn(4, 3, |i, j| if i == j { 3.0 - j as f64 } else { 0.0 });
/// let pairs = singular_pairs(&m, Wanted::Above(1.5), &Matrix::zeros(3, 0), 1e-12);
/// assert_eq!(pairs.values.len(), 2);
/// assert!((pairs.values[1] - 2.0).abs() < 1e-12);
/// ```
pub fn singular_pairs(m: &impl Multiply, wanted: Wanted, start: &Matrix, tolerance: f64) -> TruncatedSvd {
    let Some(mut block) = Block::new(m, wanted, start) else { return nothing(m.shape()) };
    for _ in 0..RESTARTS {
        let residual = block.residual(m);
        if block.is_settled(&residual, wanted, tolerance) {
            break;
        }
        match block.improved(m, &residual, wanted) {
            Some(better) => block = better,
            None => break,
        }
    }
    block.leading(wanted)
}

/// The largest singular value. It approaches from below; once a restart changes it by less than a share
/// of 1e-10, it is rounded up by ten times that. Where that does not come to pass, what is left of the pair's
/// equation is added. A value hidden from the start would be missed: this is no proof.
pub fn spectral_norm(m: &impl Multiply) -> f64 {
    let wanted = Wanted::Leading(1);
    let Some(mut block) = Block::new(m, wanted, &Matrix::zeros(m.shape().1, 0)) else { return f64::NAN };
    for _ in 0..RESTARTS {
        if block.is_whole() {
            return block.value(0) * (1.0 + 10.0 * SETTLED);
        }
        let before = block.value(0);
        match block.improved(m, &block.residual(m), wanted) {
            Some(better) => block = better,
            None => break,
        }
        if block.value(0) - before <= SETTLED * before {
            return block.value(0) * (1.0 + 10.0 * SETTLED);
        }
    }
    let unsettled = block.residual(m);
    block.value(0) + if unsettled.columns() > 0 { norm(unsettled.column(0)) } else { 0.0 }
}

fn nothing((rows, columns): (usize, usize)) -> TruncatedSvd {
    TruncatedSvd { left: Matrix::zeros(rows, 0), values: Vec::new(), right: Matrix::zeros(columns, 0) }
}

/// M·right = left·diag(values), both with orthonormal columns and the values falling.
struct Block {
    left: Matrix,
    values: Vec<f64>,
    right: Matrix,
}

impl Block {
    /// The start and random directions. `None` where a product is not finite.
    fn new(m: &impl Multiply, wanted: Wanted, start: &Matrix) -> Option<Self> {
        let (rows, columns) = m.shape();
        let known = match wanted {
            Wanted::Above(_) => start.columns(),
            Wanted::Leading(count) => count.max(start.columns()),
        };
        let width = (known + GUARD).min(rows).min(columns);
        if (DEPTH + 1) * width >= rows.min(columns) {
            return Self::whole(m);
        }
        let known = extended(&Matrix::zeros(columns, 0), start);
        let fresh = random_block(columns, width.saturating_sub(known.columns()));
        let right = extended(&known, &fresh);
        let image = m.times(&right);
        Self::best(&right, &image, width)
    }

    /// All pairs at once, where the space of a restart would be as large as the matrix.
    fn whole(m: &impl Multiply) -> Option<Self> {
        let (rows, columns) = m.shape();
        // By the shorter side: an identity of the longer one could be far larger than the matrix.
        if rows < columns {
            let (right, values, left) = m.transposed_times(&Matrix::identity(rows)).svd()?;
            return Some(Self { left, values, right });
        }
        let (left, values, right) = m.times(&Matrix::identity(columns)).svd()?;
        Some(Self { left, values, right })
    }

    /// The best `width` pairs with right vectors in the span of `basis`, whose images are known.
    fn best(basis: &Matrix, image: &Matrix, width: usize) -> Option<Self> {
        let (u, values, z) = image.svd()?;
        let width = width.min(values.len());
        let right = basis.times(&z.leading_columns(width));
        Some(Self { left: u.leading_columns(width), values: values[..width].to_vec(), right })
    }

    fn value(&self, i: usize) -> f64 {
        self.values.get(i).copied().unwrap_or(0.0)
    }

    fn count(&self, wanted: Wanted) -> usize {
        match wanted {
            Wanted::Above(threshold) => self.values.iter().take_while(|&&s| s > threshold).count(),
            Wanted::Leading(count) => count.min(self.values.len()),
        }
    }

    fn leading(self, wanted: Wanted) -> TruncatedSvd {
        let count = self.count(wanted);
        let values = self.values[..count].to_vec();
        TruncatedSvd { left: self.left.leading_columns(count), values, right: self.right.leading_columns(count) }
    }

    /// Mᵀ·left − right·diag(values): orthogonal to `right`.
    fn residual(&self, m: &impl Multiply) -> Matrix {
        let mut scaled = self.right.clone();
        scaled.scale_columns(&self.values);
        m.transposed_times(&self.left).plus(-1.0, &scaled)
    }

    fn is_settled(&self, residual: &Matrix, wanted: Wanted, tolerance: f64) -> bool {
        let (count, largest) = (self.count(wanted), self.value(0));
        let error = |i: usize| norm(residual.column(i));
        if (0..count).any(|i| !(error(i) <= tolerance * largest)) {
            return false;
        }
        let Wanted::Above(threshold) = wanted else { return true };
        if count == self.values.len() {
            return self.is_whole();
        }
        // The first value below must stay there, or what it may still gain must be nothing.
        self.value(count) + error(count) <= threshold || error(count) <= tolerance.sqrt() * largest
    }

    fn is_whole(&self) -> bool {
        self.right.columns() == self.right.rows().min(self.left.rows())
    }

    /// The best pairs of the space that the residuals and their images under MᵀM add.
    fn improved(&self, m: &impl Multiply, residual: &Matrix, wanted: Wanted) -> Option<Self> {
        let (rows, columns) = m.shape();
        let count = self.count(wanted);
        let missing = (count + GUARD / 2).saturating_sub(self.values.len());
        // Too few directions are left beyond the wanted ones: more of them than last time.
        let fresh = if missing > 0 { count.max(GUARD) } else { 0 };
        let width = (self.values.len() + fresh).min(rows).min(columns);
        let fresh = width - self.values.len();
        if (DEPTH + 1) * width >= rows.min(columns) {
            return Self::whole(m);
        }
        let mut known = self.left.clone();
        known.scale_columns(&self.values);
        let mut basis = self.right.clone();
        let unused = random_block(columns, width).block(0, width - fresh, columns, fresh);
        let mut more = residual.beside(&unused.scaled(norm_of_columns(residual)));
        for _ in 0..DEPTH {
            let before = basis.columns();
            basis = extended(&basis, &more);
            let new = basis.block(0, before, columns, basis.columns() - before);
            if new.columns() == 0 {
                break;
            }
            let image = m.times(&new);
            known = known.beside(&image);
            more = m.transposed_times(&image);
        }
        Self::best(&basis, &known, width)
    }
}

/// The size of random columns that are not to drown beside these; 1 where these are zero.
fn norm_of_columns(m: &Matrix) -> f64 {
    let size = m.norm() / (m.rows().max(1) as f64).sqrt();
    if size > 0.0 { size } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_spectrum(rows: usize, columns: usize, values: &[f64]) -> Matrix {
        let mut u = random_block(rows, values.len()).orthonormalized();
        let v = random_block(columns, values.len() + 1).orthonormalized();
        u.scale_columns(values);
        u.times_transposed(&v.leading_columns(values.len()))
    }

    fn none(columns: usize) -> Matrix {
        Matrix::zeros(columns, 0)
    }

    #[test]
    fn finds_all_pairs_above_a_threshold() {
        // 16 values lie above 0.9, twice what the first block holds, and the edge is narrow.
        let values: Vec<f64> = (0..150).map(|i| 1.0 - 0.0066 * f64::from(i)).collect();
        let m = with_spectrum(260, 200, &values);
        let pairs = singular_pairs(&m, Wanted::Above(0.9), &none(200), 1e-11);
        assert_eq!(pairs.values.len(), values.iter().filter(|&&v| v > 0.9).count());
        for (found, value) in pairs.values.iter().zip(&values) {
            assert!((found - value).abs() < 1e-10, "{found} {value}");
        }
        let mut scaled = pairs.right.clone();
        scaled.scale_columns(&pairs.values);
        assert!(m.transposed_times(&pairs.left).plus(-1.0, &scaled).norm() < 1e-9);
    }

    #[test]
    fn a_short_and_wide_matrix_is_taken_by_its_short_side() {
        // An identity of the long side would take 80 GB.
        let wide = Matrix::from_fn(3, 100_000, |i, j| if j % 3 == i { (i + 1) as f64 } else { 0.0 });
        let pairs = singular_pairs(&wide, Wanted::Leading(2), &none(100_000), 1e-11);
        let expected = [3.0 * 33_333_f64.sqrt(), 2.0 * 33_333_f64.sqrt()];
        assert!(pairs.values.iter().zip(expected).all(|(v, e)| (v / e - 1.0).abs() < 1e-9), "{:?}", pairs.values);
        assert_eq!((pairs.left.shape(), pairs.right.shape()), ((3, 2), (100_000, 2)));
        assert!((spectral_norm(&wide) / expected[0] - 1.0).abs() < 2e-9);
    }

    #[test]
    fn the_spectral_norm_of_clustered_values() {
        for values in [vec![2.0; 12], vec![3.0, 3.0 - 1e-9, 1.0], vec![5.0]] {
            let m = with_spectrum(40, 30, &values);
            assert!((spectral_norm(&m) / values[0] - 1.0).abs() < 2e-9, "{}", spectral_norm(&m));
        }
        assert_eq!(spectral_norm(&Matrix::zeros(5, 4)), 0.0);
        assert!(spectral_norm(&Matrix::from_fn(3, 3, |_, _| f64::NAN)).is_nan());
    }

    #[test]
    fn a_good_start_is_kept_and_the_edges_are_no_trouble() {
        let m = with_spectrum(30, 20, &[4.0, 2.0, 1.0]);
        let first = singular_pairs(&m, Wanted::Leading(3), &none(20), 1e-12);
        let again = singular_pairs(&m, Wanted::Above(0.5), &first.right, 1e-12);
        assert_eq!(again.values.len(), 3);
        assert!(
            again.right.times_transposed(&again.right).plus(-1.0, &first.right.times_transposed(&first.right)).norm()
                < 1e-9
        );
        assert_eq!(singular_pairs(&m, Wanted::Above(5.0), &first.right, 1e-12).values.len(), 0);
        assert_eq!(singular_pairs(&m, Wanted::Leading(99), &none(20), 1e-12).values.len(), 20);
        let wide = with_spectrum(3, 9, &[2.0, 1.0]);
        assert_eq!(
            singular_pairs(&wide, Wanted::Above(0.0), &none(9), 1e-12).values.iter().filter(|&&v| v > 1e-9).count(),
            2
        );
    }
}
