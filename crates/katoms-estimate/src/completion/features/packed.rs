//! Small symmetric matrices: the lower triangle, row after row, in one slice.

/// A pivot is at least this share of its diagonal entry: what rounding leaves of a dependent column divides nothing.
const LEAST_PIVOT: f64 = 1e-14;

/// The number of entries for this order.
pub fn length(order: usize) -> usize {
    order * (order + 1) / 2
}

/// s += a·v·vᵀ.
pub fn add_outer(s: &mut [f64], a: f64, v: &[f64]) {
    let mut at = 0;
    for (i, &vi) in v.iter().enumerate() {
        for (entry, &vj) in s[at..=at + i].iter_mut().zip(v) {
            *entry += a * vi * vj;
        }
        at += i + 1;
    }
}

/// s += a·t.
pub fn add(s: &mut [f64], a: f64, t: &[f64]) {
    s.iter_mut().zip(t).for_each(|(s, t)| *s += a * t);
}

/// vᵀ·S·v.
pub fn quadratic(s: &[f64], v: &[f64]) -> f64 {
    let (mut at, mut sum) = (0, 0.0);
    for (i, &vi) in v.iter().enumerate() {
        let row: f64 = s[at..at + i].iter().zip(v).map(|(s, v)| s * v).sum();
        sum += vi * (2.0 * row + s[at + i] * vi);
        at += i + 1;
    }
    sum
}

/// S + I.
pub fn plus_identity(mut s: Vec<f64>, order: usize) -> Vec<f64> {
    (0..order).for_each(|i| s[length(i) + i] += 1.0);
    s
}

/// L·Lᵀ = S for a positive definite S.
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    order: usize,
    l: Vec<f64>,
}

impl Cholesky {
    /// O(order³).
    pub fn new(order: usize, mut s: Vec<f64>) -> Self {
        for i in 0..order {
            let (above, row) = s.split_at_mut(length(i));
            for j in 0..i {
                let other = &above[length(j)..=length(j) + j];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / other[j];
            }
            let diagonal = row[i];
            let left = diagonal - row[..i].iter().map(|v| v * v).sum::<f64>();
            row[i] = left.max(LEAST_PIVOT * diagonal).max(f64::MIN_POSITIVE).sqrt();
        }
        Self { order, l: s }
    }

    /// Row i of L.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.l[length(i)..=length(i) + i]
    }

    /// log det S.
    pub fn log_det(&self) -> f64 {
        (0..self.order).map(|i| 2.0 * self.row(i)[i].ln()).sum()
    }

    /// b becomes L⁻¹·b.
    pub fn forward(&self, b: &mut [f64]) {
        for i in 0..self.order {
            let row = self.row(i);
            let sum: f64 = row[..i].iter().zip(b.iter()).map(|(l, b)| l * b).sum();
            b[i] = (b[i] - sum) / row[i];
        }
    }

    /// b becomes L⁻ᵀ·b.
    pub fn backward(&self, b: &mut [f64]) {
        for i in (0..self.order).rev() {
            let row = self.row(i);
            b[i] /= row[i];
            let value = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * value);
        }
    }

    /// S⁻¹·b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.forward(&mut x);
        self.backward(&mut x);
        x
    }

    /// S⁻¹, packed.
    pub fn inverse(&self) -> Vec<f64> {
        let mut inverse = Vec::with_capacity(self.l.len());
        for i in 0..self.order {
            let mut column = vec![0.0; self.order];
            column[i] = 1.0;
            self.forward(&mut column);
            self.backward(&mut column);
            inverse.extend_from_slice(&column[..=i]);
        }
        inverse
    }
}
