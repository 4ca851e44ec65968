//! Rows multiplied by numbers.

use std::borrow::Cow;

use super::{DomainOf, LinearOperator, Parts, SampledRows, SupportOf, passes_through_base};
use crate::error::{Error, check_length, check_values};
use crate::linalg::Matrix;

/// diag(w)·A. Least squares with weights √v on both sides is the weighted problem; a loss
/// takes sample weights directly, so this view is for rows that carry units.
#[derive(Debug, Clone)]
pub struct RowWeights<A> {
    inner: A,
    weights: Vec<f64>,
}

impl<A: LinearOperator> RowWeights<A> {
    /// A view with these factors.
    ///
    /// # Errors
    /// When the length is wrong or a factor is not finite.
    pub fn new(inner: A, weights: Vec<f64>) -> Result<Self, Error> {
        check_length("row weights", weights.len(), inner.n_outputs(), "one for each row")?;
        check_values("row weights", &weights, "every weight must be finite", f64::is_finite)?;
        Ok(Self { inner, weights })
    }

    fn weighted(&self, r: &[f64]) -> Vec<f64> {
        r.iter().zip(&self.weights).map(|(r, w)| r * w).collect()
    }
}

impl<A: LinearOperator> LinearOperator for RowWeights<A> {
    type Point = A::Point;
    type Covector = A::Covector;
    passes_through_base!();
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.inner.sampled_rows()
    }

    fn domain(&self) -> DomainOf<A> {
        self.inner.domain()
    }
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn new_covector(&self) -> A::Covector {
        self.inner.new_covector()
    }
    fn apply(&self, x: &A::Point, out: &mut [f64]) {
        self.inner.apply(x, out);
        out.iter_mut().zip(&self.weights).for_each(|(o, w)| *o *= w);
    }
    fn apply_covector(&self, g: &A::Covector, out: &mut [f64]) {
        self.inner.apply_covector(g, out);
        out.iter_mut().zip(&self.weights).for_each(|(o, w)| *o *= w);
    }
    fn fetch(&self, t: &SupportOf<A>) {
        self.inner.fetch(t);
    }
    fn adjoint_on(&self, r: &[f64], t: &SupportOf<A>) -> A::Point {
        self.inner.adjoint_on(&self.weighted(r), t)
    }
    fn gives_all_products(&self) -> bool {
        self.inner.gives_all_products()
    }
    fn products(&self, h: &[f64], left: &SupportOf<A>, right: &SupportOf<A>) -> Option<Matrix> {
        self.inner.products(&self.weighted(&self.weighted(h)), left, right)
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<A::Covector>]) {
        let weighted: Vec<Vec<f64>> = rs.iter().map(|r| self.weighted(r)).collect();
        let weighted: Vec<&[f64]> = weighted.iter().map(Vec::as_slice).collect();
        self.inner.adjoint_parts(parts, &weighted, out);
    }
    /// `None` with centres: they are other ones in every row of the inner columns, c / factor.
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if centres.is_some() {
            return None;
        }
        let squared: Vec<Vec<f64>> = weights.iter().map(|w| self.weighted(&self.weighted(w))).collect();
        let squared: Vec<&[f64]> = squared.iter().map(Vec::as_slice).collect();
        self.inner.squared_norms(&squared, None)
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        let weighted = self.weighted(r);
        Cow::Owned(self.inner.before_pass(&weighted).into_owned())
    }
    fn after_pass(&self, r: &[f64], g: &mut A::Covector) {
        self.inner.after_pass(&self.weighted(r), g);
    }
}
