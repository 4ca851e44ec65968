//! Some coefficients of the discrete cosine transform: compressed sensing without a matrix.

use std::f64::consts::PI;
use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlannerScalar};

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
    let dct = Arc::new(Dct::new(n));
    let (transposed, kept) = (dct.clone(), rows.clone());
    MatrixFree::new(
        (rows.len(), n),
        move |x, out| {
            let mut buffer = x.to_vec();
            dct.forward(&mut buffer);
            out.iter_mut().zip(&rows).for_each(|(o, &i)| *o = buffer[i]);
        },
        move |r, out| {
            out.fill(0.0);
            r.iter().zip(&kept).for_each(|(v, &i)| out[i] += v);
            transposed.backward(out);
        },
    )
}

/// The orthonormal DCT-II of one length, by a complex FFT of that length (Makhoul 1980): the even places in order, then the
/// odd ones backwards, are the input of the FFT; coefficient k is the real part of its k-th output turned by `turns[k]`.
struct Dct {
    fft: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    /// e^(−iπk/2n), times what makes row k have length 1.
    turns: Vec<Complex<f64>>,
}

impl Dct {
    fn new(n: usize) -> Self {
        let mut planner = FftPlannerScalar::new();
        let scale = |k: usize| if k == 0 { 1.0 / n as f64 } else { 2.0 / n as f64 }.sqrt();
        let turn = |k: usize| Complex::from_polar(scale(k), -PI * k as f64 / (2 * n) as f64);
        let (fft, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        Self { fft, inverse, turns: (0..n).map(turn).collect() }
    }

    /// Where the FFT's input has the i-th value.
    fn place(i: usize, n: usize) -> usize {
        if i.is_multiple_of(2) { i / 2 } else { n - 1 - i / 2 }
    }

    fn forward(&self, x: &mut [f64]) {
        let n = x.len();
        let mut v = vec![Complex::default(); n];
        x.iter().enumerate().for_each(|(i, &x)| v[Self::place(i, n)].re = x);
        self.fft.process(&mut v);
        x.iter_mut().zip(&v).zip(&self.turns).for_each(|((x, v), turn)| *x = (v * turn).re);
    }

    /// The transpose, which is the inverse.
    fn backward(&self, c: &mut [f64]) {
        let mut v: Vec<Complex<f64>> = c.iter().zip(&self.turns).map(|(&c, turn)| turn.conj() * c).collect();
        self.inverse.process(&mut v);
        let n = c.len();
        c.iter_mut().enumerate().for_each(|(i, c)| *c = v[Self::place(i, n)].re);
    }
}
