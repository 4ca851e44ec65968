//! Some coefficients of the discrete cosine transform: compressed sensing without a matrix.

use rustdct::DctPlanner;

use super::MatrixFree;
use crate::error::{Error, check_indices, check_range};

/// The entries `rows` of D·x, where D is the orthonormal DCT-II of length n. O(n·log n) a product, no matrix.
///
/// # Errors
/// When `n` is 0, no row is given, or a row is not below `n`.
///
/// ```
/// use katoms::operator::{LinearOperator, subsampled_dct};
/// use katoms::space::SparseVec;
/// let dct = subsampled_dct(8, vec![0, 3, 5])?;
/// let mut b = vec![0.0; 3];
/// dct.apply(&SparseVec::new(8, vec![2], vec![1.0])?, &mut b);
/// assert!((b[0] - 1.0 / 8.0_f64.sqrt()).abs() < 1e-15);       // the mean
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn subsampled_dct(n: usize, rows: Vec<usize>) -> Result<MatrixFree, Error> {
    check_range("the length of the transform", n, 1, usize::MAX)?;
    check_range("the number of DCT rows", rows.len(), 1, usize::MAX)?;
    check_indices("DCT row", &rows, n)?;
    let mut planner = DctPlanner::new();
    let (forward, backward) = (planner.plan_dct2(n), planner.plan_dct3(n));
    let kept = rows.clone();
    // rustdct's DCT-II is Σ x·cos(…); these factors make its rows orthonormal. Its DCT-III halves
    // the first entry, so the adjoint doubles it beforehand.
    let scale = (2.0 / n as f64).sqrt();
    let mean_scale = (1.0 / n as f64).sqrt();
    let row_scale = move |i: usize| if i == 0 { mean_scale } else { scale };
    MatrixFree::new(
        (rows.len(), n),
        move |x, out| {
            let mut buffer = x.to_vec();
            forward.process_dct2(&mut buffer);
            for (o, &i) in out.iter_mut().zip(&rows) {
                *o = row_scale(i) * buffer[i];
            }
        },
        move |r, out| {
            out.fill(0.0);
            for (v, &i) in r.iter().zip(&kept) {
                out[i] += row_scale(i) * v;
            }
            out[0] *= 2.0;
            backward.process_dct3(out);
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::LinearOperator;
    use crate::space::SparseVec;

    #[test]
    fn agrees_with_the_cosine_formula() {
        let n = 12;
        let all = subsampled_dct(n, (0..n).collect()).unwrap();
        let x: Vec<f64> = (0..n).map(|i| (i * i % 7) as f64 - 2.0).collect();
        let mut found = vec![0.0; n];
        all.apply(&SparseVec::from_dense(&x), &mut found);
        for (row, value) in found.iter().enumerate() {
            let angle = |i: usize| std::f64::consts::PI * row as f64 * (i as f64 + 0.5) / n as f64;
            let scale = if row == 0 { 1.0 / n as f64 } else { 2.0 / n as f64 }.sqrt();
            let naive: f64 = (0..n).map(|i| scale * x[i] * angle(i).cos()).sum();
            assert!((value - naive).abs() < 1e-12);
        }
        let mut back = all.new_covector();
        all.adjoint(&found, &mut back);
        assert!(back.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12), "orthonormal");
    }

    #[test]
    fn a_row_outside_is_named() {
        let error = subsampled_dct(4, vec![1, 4]).unwrap_err();
        assert_eq!(error, Error::Index { what: "DCT row", position: 1, index: 4, bound: 4 });
    }
}
