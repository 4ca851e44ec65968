//! Centred and scaled columns, without a copy: a rank-one correction.

use std::borrow::Cow;

use super::magnitude::doubtful;
use super::moments::is_constant;
use super::{
    ColumnMoments, ColumnSize, LinearOperator, Moments, Parts, SampledRows, check_columns, passes_through_base,
};
use crate::error::{Error, check_length, check_values};
use crate::linalg::kernels::largest;
use crate::linalg::{Matrix, parallel, times_power_of_two};
use crate::space::{IndexSet, Point, SparseVec};

/// Columns whose centre is at most so many scales away from 0 lose no more than four digits where products are centred
/// after they were summed.
const NEAR_ZERO: f64 = 100.0;
/// Columns that one task centres and scales.
const COLUMNS: usize = 1 << 14;

/// Columns (x_j − centre_j) / scale_j of the operator it looks at.
///
/// (A − 1·cᵀ)·S⁻¹ is never formed: predictions lose Σ c_j·x_j/s_j, and a gradient loses c·Σr.
#[derive(Debug, Clone)]
pub struct Standardized<A> {
    inner: A,
    centres: Vec<f64>,
    scales: Vec<f64>,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> Standardized<A> {
    /// A view with these centres and scales.
    ///
    /// # Errors
    /// When a length is wrong, a centre is not finite or a scale is not positive.
    pub fn new(inner: A, centres: Vec<f64>, scales: Vec<f64>) -> Result<Self, Error> {
        check_length("centres", centres.len(), inner.domain(), "one for each column")?;
        check_length("scales", scales.len(), inner.domain(), "one for each column")?;
        check_values("centres", &centres, "every centre must be finite", f64::is_finite)?;
        let positive = |v: f64| v.is_finite() && v > 0.0;
        check_values("scales", &scales, "every scale must be finite and above 0", positive)?;
        Ok(Self { inner, centres, scales })
    }

    /// A view whose columns have mean 0 and variance 1 under the row weights. A constant column
    /// becomes zero, which no fit selects for a gain.
    ///
    /// # Errors
    /// When a weight is negative or not finite, all are zero, or squares of a column leave the range of double precision.
    pub fn fit(inner: A, weights: &[f64]) -> Result<Self, Error>
    where
        A: ColumnMoments,
    {
        check_length("weights", weights.len(), inner.n_outputs(), "one for each row")?;
        let admissible = |w: f64| w.is_finite() && w >= 0.0;
        check_values("weights", weights, "every weight must be finite and at least 0", admissible)?;
        if weights.iter().all(|&w| w == 0.0) {
            return Err(Error::Value { what: "weights", index: 0, value: 0.0, right: "at least one must be above 0" });
        }
        let moments = inner.moments(weights);
        Self::with_moments(inner, moments, weights)
    }

    /// The same with moments that are known, of rows that weigh so.
    pub(crate) fn with_moments(inner: A, moments: Moments, weights: &[f64]) -> Result<Self, Error> {
        check_doubtful(&inner, &moments, weights)?;
        let Moments { means, variances } = moments;
        let scale = |(&m, &v): (&f64, &f64)| if is_constant(m, v) { 1.0 } else { v.sqrt() };
        let scales = means.iter().zip(&variances).map(scale).collect();
        Self::new(inner, means, scales)
    }

    /// Columns of root mean square 1 that keep their origin: no constant comes into the predictions. A column of zeros
    /// stays as it is.
    pub(crate) fn about_zero(inner: A, moments: &Moments, weights: &[f64]) -> Result<Self, Error> {
        check_doubtful(&inner, moments, weights)?;
        let scale = |(&mean, &variance): (&f64, &f64)| match mean.hypot(variance.sqrt()) {
            0.0 => 1.0,
            size => size,
        };
        let scales: Vec<f64> = moments.means.iter().zip(&moments.variances).map(scale).collect();
        Self::new(inner, vec![0.0; scales.len()], scales)
    }

    /// The centres that are subtracted.
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// The scales that are divided by.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// A fitted point on the original scale, and the constant that its predictions need.
    pub fn to_original(&self, x: &SparseVec) -> (SparseVec, f64) {
        let original = x.map(|j, v| v / self.scales[j]);
        let constant = -self.shift(&original);
        (original, constant)
    }

    /// Turns the inner gradient of a residual with this total into the view's.
    fn correct(&self, total: f64, g: &mut [f64]) {
        parallel::chunks_mut(g, COLUMNS, &|chunk, g| {
            let (centres, scales) = (&self.centres[chunk * COLUMNS..], &self.scales[chunk * COLUMNS..]);
            for ((g, centre), scale) in g.iter_mut().zip(centres).zip(scales) {
                *g = (*g - total * centre) / scale;
            }
        });
    }

    /// Whether little cancels where the products of a column are centred after they were summed.
    fn is_near_zero(&self, j: usize) -> bool {
        self.centres[j].abs() <= NEAR_ZERO * self.scales[j]
    }

    /// The same for the gradient of r on a support.
    fn corrected_on(&self, r: &[f64], g: SparseVec) -> SparseVec {
        let total: f64 = r.iter().sum();
        g.map(|j, v| (v - total * self.centres[j]) / self.scales[j])
    }

    fn shift(&self, original: &SparseVec) -> f64 {
        original.entries().map(|(j, v)| v * self.centres[j]).sum()
    }
}

/// Refuses columns whose moments overflowed or underflowed: such a column would look constant and be left out. One of
/// zeros, where rows have a weight, is told by its products, which cost a look at the columns in doubt.
fn check_doubtful<A>(inner: &A, moments: &Moments, weights: &[f64]) -> Result<(), Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    let columns = doubtful(moments);
    if columns.is_empty() {
        return Ok(());
    }
    // Factors that no values of a column but zeros cancel out; the large ones tell small numbers.
    let factor = |(i, &w): (usize, &f64)| if w > 0.0 { 1.0 + (i as f64 * 0.754_877).fract() } else { 0.0 };
    let plain: Vec<f64> = weights.iter().enumerate().map(factor).collect();
    let large: Vec<f64> = plain.iter().map(|&r| times_power_of_two(r, 600)).collect();
    let columns = IndexSet::new(inner.domain(), columns);
    let looks = [plain, large].map(|r| inner.adjoint_on(&r, &columns));
    let wrong = |j: usize| looks.iter().any(|products| products.value_at(j) != 0.0);
    let Some(&column) = columns.indices().iter().find(|&&j| wrong(j)) else { return Ok(()) };
    let mut values = vec![0.0; inner.n_outputs()];
    inner.apply(&SparseVec::new(inner.domain(), vec![column], vec![1.0])?, &mut values);
    check_columns(&[ColumnSize { column, size: largest(&values) }])
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LinearOperator for Standardized<A> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    passes_through_base!();
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.inner.sampled_rows()
    }

    fn domain(&self) -> usize {
        self.inner.domain()
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        self.inner.new_covector()
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        let (original, constant) = self.to_original(x);
        self.inner.apply(&original, out);
        out.iter_mut().for_each(|o| *o += constant);
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn fetch(&self, t: &IndexSet) {
        self.inner.fetch(t);
    }
    fn copy_columns(&self, t: &IndexSet, out: &mut [f64]) {
        self.inner.copy_columns(t, out);
        parallel::chunks_mut(out, self.n_outputs().max(1), &|i, column| {
            let (centre, scale) = (self.centres[t.indices()[i]], self.scales[t.indices()[i]]);
            column.iter_mut().for_each(|v| *v = *v * (1.0 / scale) - centre * (1.0 / scale));
        });
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        self.corrected_on(r, self.inner.adjoint_on(r, t))
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let inner = self.inner.adjoint_block_on(rs, t);
        rs.iter().zip(inner).map(|(r, g)| self.corrected_on(r, g)).collect()
    }
    fn gives_all_products(&self) -> bool {
        self.inner.gives_all_products() && (0..self.centres.len()).all(|j| self.is_near_zero(j))
    }
    /// (a − c)ᵀh(b − d) = aᵀhb − c·hᵀb − d·hᵀa + c·d·Σh; `None` where a column lies so far from 0 that this cancels.
    fn products(&self, h: &[f64], left: &IndexSet, right: &IndexSet) -> Option<Matrix> {
        let near = |t: &IndexSet| t.indices().iter().all(|&j| self.is_near_zero(j));
        if !near(left) || !near(right) {
            return None;
        }
        let mut products = self.inner.products(h, left, right)?;
        let total: f64 = h.iter().sum();
        let sums = self.inner.adjoint_on(h, &left.union(right));
        let (on_left, on_right) = (sums.on(left), sums.on(right));
        let (left, right) = (left.indices(), right.indices());
        let of_left = |of: &[f64]| left.iter().map(|&j| of[j]).collect::<Vec<f64>>();
        let (centres, scales) = (of_left(&self.centres), of_left(&self.scales));
        parallel::columns_mut(products.data_mut(), left.len(), &|b, column| {
            let (d, scale, sum) = (self.centres[right[b]], self.scales[right[b]], on_right.values()[b]);
            for (((v, c), own), on_left) in column.iter_mut().zip(&centres).zip(&scales).zip(on_left.values()) {
                *v = (*v - c * sum - d * on_left + c * d * total) / (own * scale);
            }
        });
        Some(products)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        self.inner.adjoint_parts(parts, rs, out);
        for (r, out) in rs.iter().zip(out) {
            for (p, g) in out.iter_mut().enumerate() {
                self.correct(parts.total(p, r), g);
            }
        }
    }
    /// The inner columns are centred before they are squared, so that nothing cancels.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        let shifted: Option<Vec<f64>> = centres.map(|outer| {
            let all = self.centres.iter().zip(&self.scales).zip(outer);
            all.map(|((centre, scale), outer)| centre + scale * outer).collect()
        });
        let mut squared_norms = self.inner.squared_norms(weights, Some(shifted.as_deref().unwrap_or(&self.centres)))?;
        for squared_norms in &mut squared_norms {
            squared_norms.iter_mut().zip(&self.scales).for_each(|(e, scale)| *e = *e / scale / scale);
        }
        Some(squared_norms)
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        self.inner.before_pass(r)
    }
    fn after_pass(&self, r: &[f64], g: &mut Vec<f64>) {
        self.inner.after_pass(r, g);
        self.correct(r.iter().sum(), g);
    }
}
