//! f(x) = ℓ(A·x) + ½λ‖x‖²: the function that is minimised.
//!
//! A point travels with its image A·x ([`Evaluated`]), so that values, slopes and curvatures cost
//! O(m). Only [`Objective::gradient`] reads all of the data.

mod column_cache;

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, check_length, check_option};
use crate::linalg::parallel;
use crate::linalg::{self, Matrix};
use crate::loss::{Curvature, Loss};
use crate::operator::{LinearOperator, SupportOf, adjoint_many, check_columns};
use crate::space::{Covector, Point, Subspace};

pub use column_cache::ColumnCache;

/// Entries of an image that one thread sums at a time.
const CHUNK: usize = 4096;
/// Residuals that differ by less than this share of the largest are the same but for rounding.
const SAME: f64 = 1e-12;
/// The least gap that counts, relative to that at zero.
const PERFECT: f64 = 1e-20;
/// Losses of the model without atoms with which a fit computes, as exponents of two: 1e-270 to 1e300. Below, what a
/// perfect fit leaves is no normal number; above, sums of a few such losses are none.
const EXPONENTS: std::ops::RangeInclusive<i32> = -900..=1000;

/// A point and its image. The fields are private: an image cannot go stale.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated<P> {
    x: P,
    ax: Vec<f64>,
}

impl<P: Clone> Clone for Evaluated<P> {
    fn clone(&self) -> Self {
        Self { x: self.x.clone(), ax: parallel::copied(&self.ax) }
    }
}

impl<P: Point> Evaluated<P> {
    /// The point.
    pub fn point(&self) -> &P {
        &self.x
    }

    /// Its image A·x: the predictions.
    pub fn image(&self) -> &[f64] {
        &self.ax
    }

    /// a·x + b·y with its image, which is not multiplied out again.
    pub fn combine(a: f64, x: &Self, b: f64, y: &Self) -> Self {
        Self { x: P::combine(a, &x.x, b, &y.x), ax: linalg::combine(a, &x.ax, b, &y.ax) }
    }

    /// The same in the place of y.
    pub(crate) fn combine_into(a: f64, x: &Self, b: f64, mut y: Self) -> Self {
        parallel::fill_parts(&mut y.ax, &|first, out| {
            out.iter_mut().zip(&x.ax[first..]).for_each(|(y, x)| *y = a * x + b * *y);
        });
        Self { x: P::combine(a, &x.x, b, &y.x), ax: y.ax }
    }

    /// Σ wᵢ·xᵢ with its image, which is not multiplied out again. O(m·terms).
    pub(crate) fn sum(domain: P::Domain, weights: &[f64], terms: &[Self], outputs: usize) -> Self {
        let pairs: Vec<(f64, &P)> = weights.iter().zip(terms).map(|(&w, t)| (w, &t.x)).collect();
        let mut ax = vec![0.0; outputs];
        // A thread owns a chunk of the image, so the order of the sums is fixed.
        parallel::chunks_mut(&mut ax, CHUNK, &|chunk, out| {
            for (w, term) in weights.iter().zip(terms).filter(|(w, _)| **w != 0.0) {
                out.iter_mut().zip(&term.ax[chunk * CHUNK..]).for_each(|(o, z)| *o += w * z);
            }
        });
        Self { x: P::sum(domain, &pairs), ax }
    }

    /// The point alone.
    pub fn into_point(self) -> P {
        self.x
    }
}

/// What a fit has read: full passes, rows of partial ones, and columns outside of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Gradients, each one full pass over the data.
    pub passes: usize,
    /// Rows read by partial passes, each as often as it was read.
    pub rows: usize,
    /// Columns touched outside of passes, each as often as it was touched.
    pub columns: usize,
}

impl Cost {
    /// What has been spent since the cost was `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        let Self { passes, rows, columns } = before;
        Self { passes: self.passes - passes, rows: self.rows - rows, columns: self.columns - columns }
    }

    /// Both together.
    pub(crate) fn plus(self, more: Self) -> Self {
        let Self { passes, rows, columns } = more;
        Self { passes: self.passes + passes, rows: self.rows + rows, columns: self.columns + columns }
    }

    /// Reads of data with `outputs` rows: full passes, and partial ones by their share of the rows.
    pub fn reads(self, outputs: usize) -> f64 {
        self.passes as f64 + self.rows as f64 / outputs.max(1) as f64
    }
}

/// ℓ(A·x) + ½λ‖x‖², where some coordinates may be free of the ridge.
#[derive(Debug)]
pub struct Objective<A: LinearOperator, L> {
    operator: A,
    loss: L,
    ridge: f64,
    free_of_ridge: Option<SupportOf<A>>,
    passes: AtomicUsize,
    rows: AtomicUsize,
    columns: AtomicUsize,
    /// The residual with which a run ended, and its pass: what comes after the run asks for it again.
    last: Mutex<Option<(Vec<f64>, A::Covector)>>,
    /// The pass with which the first run began: the atoms that promise most by themselves.
    first: Mutex<Option<(Vec<f64>, A::Covector)>>,
    /// The columns of the last refit.
    refitted: Mutex<Option<ColumnCache<SupportOf<A>>>>,
}

/// Refuses columns and targets whose squares leave the range of double precision: what is computed from them would be
/// wrong, and look right. O(m).
pub(crate) fn check_magnitudes<A: LinearOperator, L: Loss>(operator: &A, loss: &L) -> Result<(), Error> {
    check_columns(operator.base().extremes())?;
    let zeros = vec![0.0; loss.n_outputs()];
    let value = loss.value(&zeros) - loss.lower_bound();
    if linalg::exponent_of_two(value).is_some_and(|e| EXPONENTS.contains(&e)) {
        return Ok(());
    }
    let mut slopes = vec![0.0; zeros.len()];
    loss.gradient(&zeros, &mut slopes);
    // Where only comparisons count, slopes are differences of numbers of about 1, and known to their rounding.
    let rounding = if loss.ignores_constants() { 1e-12 } else { 0.0 };
    if value == 0.0 && slopes.iter().all(|&r| r.abs() <= rounding) {
        return Ok(()); // nothing to explain
    }
    let what = "the slope of the loss of the model without atoms".into();
    let value = slopes.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
    let right =
        "its squares cannot be added up in double precision; multiply the target or the weights by a power of two";
    Err(Error::Magnitude { what, column: None, value, right: right.into() })
}

impl<A: LinearOperator, L: Loss> Objective<A, L> {
    /// The loss of the operator's predictions.
    ///
    /// # Errors
    /// When the loss wants another number of predictions than the operator gives, or squares of the operator's columns or
    /// of the target leave the range of double precision.
    ///
    /// ```
    /// use katoms::{Objective, loss::LeastSquares, operator::Dense};
    /// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
    /// let error = Objective::new(&design, LeastSquares::new(vec![1.0])?).unwrap_err();
    /// assert!(error.to_string().contains("length 1, but 2 is needed"));
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(operator: A, loss: L) -> Result<Self, Error> {
        check_length("target", loss.n_outputs(), operator.n_outputs(), "one value for each row of the design")?;
        check_magnitudes(&operator, &loss)?;
        linalg::keep_freed_memory();
        let [passes, rows, columns] = [0, 0, 0].map(AtomicUsize::new);
        let (last, first, refitted) = (Mutex::new(None), Mutex::new(None), Mutex::new(None));
        Ok(Self { operator, loss, ridge: 0.0, free_of_ridge: None, passes, rows, columns, last, first, refitted })
    }

    /// Adds ½λ‖x‖².
    ///
    /// # Errors
    /// When λ is negative or not finite.
    pub fn ridge(mut self, lambda: f64) -> Result<Self, Error> {
        check_option("ridge", lambda, "it must be finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
        self.ridge = lambda;
        Ok(self)
    }

    /// Takes the ridge off a subspace: an intercept is not shrunk.
    pub fn free_of_ridge(mut self, subspace: SupportOf<A>) -> Self {
        self.free_of_ridge = Some(subspace);
        self
    }

    /// A gap to the lower bound this small, relative to that at zero, is rounding: the fit is perfect. 1e-20, a residual of
    /// 1e-10; more where the values of the design are less exact.
    pub fn perfect(&self) -> f64 {
        self.operator.base().rounding().powi(2).max(PERFECT)
    }

    /// What multiplies.
    pub fn operator(&self) -> &A {
        &self.operator
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// λ.
    pub fn ridge_weight(&self) -> f64 {
        self.ridge
    }

    /// What the ridge leaves alone.
    pub(crate) fn unridged(&self) -> Option<&SupportOf<A>> {
        self.free_of_ridge.as_ref()
    }

    /// What has been read through this objective so far.
    pub fn cost(&self) -> Cost {
        let [passes, rows, columns] =
            [&self.passes, &self.rows, &self.columns].map(|count| count.load(Ordering::Relaxed));
        Cost { passes, rows, columns }
    }

    pub(crate) fn count_pass(&self) {
        self.passes.fetch_add(1, Ordering::Relaxed);
    }

    /// Rows that a partial pass has read.
    pub(crate) fn count_rows(&self, rows: usize) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn count_columns(&self, columns: usize) {
        self.columns.fetch_add(columns, Ordering::Relaxed);
    }

    /// x with its image. Touches only x's columns.
    ///
    /// # Panics
    /// When x lives in another space than the operator.
    pub fn at(&self, x: A::Point) -> Evaluated<A::Point> {
        let ax = self.uncounted_image(&x);
        self.count_columns(x.support_size());
        Evaluated { x, ax }
    }

    /// Brings the columns of a support near, where they are far away: see [`LinearOperator::fetch`].
    pub(crate) fn fetch(&self, t: &SupportOf<A>) {
        self.operator.fetch(t);
    }

    /// A·x, where the caller counts the columns.
    pub(crate) fn uncounted_image(&self, x: &A::Point) -> Vec<f64> {
        assert_eq!(x.domain(), self.operator.domain(), "the point lives in another space than the operator");
        let mut ax = vec![0.0; self.operator.n_outputs()];
        self.operator.apply(x, &mut ax);
        ax
    }

    /// The columns of the last refit, which are then gone.
    pub(crate) fn take_columns(&self) -> Option<ColumnCache<SupportOf<A>>> {
        self.refitted.lock().ok()?.take()
    }

    /// Keeps the columns of a refit for the next one.
    pub(crate) fn keep_columns(&self, columns: ColumnCache<SupportOf<A>>) {
        if let Ok(mut refitted) = self.refitted.lock() {
            *refitted = Some(columns);
        }
    }

    /// f(x). O(m).
    pub fn value(&self, x: &Evaluated<A::Point>) -> f64 {
        self.loss.value(&x.ax) + 0.5 * self.ridge * self.ridged(&x.x, &x.x)
    }

    /// A number that f never goes below.
    pub fn lower_bound(&self) -> f64 {
        self.loss.lower_bound()
    }

    /// Whether f(t·x) falls for ever as t grows, so that no finite point is the best: x
    /// [separates](Loss::separates) two classes, and there is no ridge. O(m).
    pub fn is_separated_by(&self, x: &Evaluated<A::Point>) -> bool {
        self.ridge == 0.0 && self.loss.separates(&x.ax)
    }

    /// ∇ℓ at the image: the residual that a pass multiplies. O(m).
    pub fn residual(&self, x: &Evaluated<A::Point>) -> Vec<f64> {
        let mut r = vec![0.0; x.ax.len()];
        self.loss.gradient(&x.ax, &mut r);
        r
    }

    /// g = ∇f(x): the one full pass over the data; none at the point where a run has just ended with one.
    pub fn gradient(&self, x: &Evaluated<A::Point>, g: &mut A::Covector) {
        let residual = self.residual(x);
        match self.recalled(&residual) {
            Some(pass) => *g = pass,
            None => {
                self.operator.adjoint(&residual, g);
                self.count_pass();
            }
        }
        self.add_ridge(&x.x, g);
    }

    /// Keeps the last pass of a run.
    pub(crate) fn remember(&self, residual: Vec<f64>, pass: A::Covector) {
        if let Ok(mut last) = self.last.lock() {
            *last = Some((residual, pass));
        }
    }

    /// Keeps the first pass of a run, if it is the first run.
    pub(crate) fn remember_first(&self, residual: &[f64], pass: &A::Covector) {
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert_with(|| (residual.to_vec(), pass.clone()));
        }
    }

    /// The pass with which the first run began, where it was for this residual up to rounding.
    pub(crate) fn first_pass(&self, residual: &[f64]) -> Option<A::Covector> {
        let first = self.first.lock().ok()?;
        let most = residual.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        let same = |known: &[f64]| known.iter().zip(residual).all(|(a, b)| (a - b).abs() <= SAME * most);
        first.as_ref().filter(|(known, _)| same(known)).map(|(_, pass)| pass.clone())
    }

    fn recalled(&self, residual: &[f64]) -> Option<A::Covector> {
        let last = self.last.lock().ok()?;
        last.as_ref().filter(|(known, _)| known == residual).map(|(_, pass)| pass.clone())
    }

    /// The gradients at several points, in one pass.
    pub fn gradients(&self, xs: &[Evaluated<A::Point>]) -> Vec<A::Covector> {
        let residuals: Vec<Vec<f64>> = xs.iter().map(|x| self.residual(x)).collect();
        let residuals: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut gradients: Vec<A::Covector> = xs.iter().map(|_| self.operator.new_covector()).collect();
        adjoint_many(&vec![&self.operator; xs.len()], &residuals, &mut gradients);
        self.count_pass();
        gradients.iter_mut().zip(xs).for_each(|(g, x)| self.add_ridge(&x.x, g));
        gradients
    }

    /// What the ridge adds to a gradient at x.
    pub(crate) fn add_ridge(&self, x: &A::Point, g: &mut A::Covector) {
        if self.ridge > 0.0 {
            g.add(self.ridge, &self.ridged_part(x));
        }
    }

    /// ∇f(x) restricted to a support. Touches only its columns.
    pub fn gradient_on(&self, x: &Evaluated<A::Point>, t: &SupportOf<A>) -> A::Point {
        let g = self.pulled_back_on(&self.residual(x), t);
        A::Point::combine(1.0, &g, self.ridge, &self.ridged_part(&x.x).on(t))
    }

    /// The same at several points. Touches each of the columns once.
    pub(crate) fn gradients_on(&self, xs: &[Evaluated<A::Point>], t: &SupportOf<A>) -> Vec<A::Point> {
        let residuals: Vec<Vec<f64>> = xs.iter().map(|x| self.residual(x)).collect();
        let views: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let pulled = self.pulled_back_block_on(&views, t).into_iter().zip(xs);
        pulled.map(|(g, x)| A::Point::combine(1.0, &g, self.ridge, &self.ridged_part(&x.x).on(t))).collect()
    }

    /// The Hessian at a point whose curvature is `h`, times d, restricted to a support that d
    /// lies in.
    pub fn hessian_times(&self, h: &Curvature, d: &Evaluated<A::Point>, t: &SupportOf<A>) -> A::Point {
        let curved = if h.is_identity() { Cow::Borrowed(&d.ax) } else { Cow::Owned(h.times(&d.ax)) };
        let curved = self.pulled_back_on(&curved, t);
        A::Point::combine(1.0, &curved, self.ridge, &self.ridged_part(&d.x).on(t))
    }

    /// Aᵀ·r restricted to a support. Touches only its columns.
    pub(crate) fn pulled_back_on(&self, r: &[f64], t: &SupportOf<A>) -> A::Point {
        self.count_columns(t.dimension());
        self.operator.adjoint_on(r, t)
    }

    /// The same for many r. Touches each of the columns once.
    pub(crate) fn pulled_back_block_on(&self, rs: &[&[f64]], t: &SupportOf<A>) -> Vec<A::Point> {
        self.count_columns(t.dimension());
        self.operator.adjoint_block_on(rs, t)
    }

    /// A_leftᵀ·H·A_right for a diagonal H, where the operator is quicker at it than copies of the columns are.
    pub(crate) fn products(&self, h: &Curvature, left: &SupportOf<A>, right: &SupportOf<A>) -> Option<Matrix> {
        let products = self.operator.products(h.as_diagonal()?, left, right)?;
        self.count_columns(left.dimension() + right.entered_since(left));
        Some(products)
    }

    /// ∇²ℓ at the image. O(m).
    pub fn curvature(&self, x: &Evaluated<A::Point>) -> Curvature {
        let mut h = vec![0.0; x.ax.len()];
        self.loss.curvature(&x.ax, &mut h);
        Curvature::new(h, self.loss.hessian(&x.ax))
    }

    /// ⟨∇f(x), d⟩, from the images alone. O(m).
    pub fn slope(&self, x: &Evaluated<A::Point>, d: &Evaluated<A::Point>) -> f64 {
        self.loss.slope(&x.ax, &d.ax) + self.ridge * self.ridged(&x.x, &d.x)
    }

    /// ⟨∇f(x), d⟩ for several d, from the images alone. O(m) each.
    pub(crate) fn slopes(&self, x: &Evaluated<A::Point>, ds: &[Evaluated<A::Point>]) -> Vec<f64> {
        let residual = self.residual(x);
        parallel::map(ds.len(), &|i| linalg::dot(&residual, &ds[i].ax) + self.ridge * self.ridged(&x.x, &ds[i].x))
    }

    /// ⟨d, ∇²f·e⟩ for several e, where the Hessian is that of a point with the curvature `h`. O(m) each.
    pub(crate) fn curvatures_along(
        &self,
        h: &Curvature,
        d: &Evaluated<A::Point>,
        es: &[Evaluated<A::Point>],
    ) -> Vec<f64> {
        let curved = h.times(&d.ax);
        parallel::map(es.len(), &|i| linalg::dot(&curved, &es[i].ax) + self.ridge * self.ridged(&d.x, &es[i].x))
    }

    /// ⟨d, ∇²f(x)·d⟩, from the images alone. O(m).
    pub fn curvature_along(&self, x: &Evaluated<A::Point>, d: &Evaluated<A::Point>) -> f64 {
        self.loss.curvature_along(&x.ax, &d.ax) + self.ridge * self.ridged(&d.x, &d.x)
    }

    /// ⟨c, ∇²f(x)·d⟩, from the images alone. O(m).
    pub fn bend_between(&self, x: &Evaluated<A::Point>, c: &Evaluated<A::Point>, d: &Evaluated<A::Point>) -> f64 {
        self.curvature(x).between(&c.ax, &d.ax) + self.ridge * self.ridged(&c.x, &d.x)
    }

    /// The second derivative of the ridge along basis vector `i` of a support.
    pub(crate) fn ridge_on_basis(&self, t: &SupportOf<A>, i: usize) -> f64 {
        let e = t.basis(i);
        self.ridge * self.ridged(&e, &e)
    }

    /// ⟨x, y⟩ outside of what is free of the ridge.
    fn ridged(&self, x: &A::Point, y: &A::Point) -> f64 {
        if self.ridge == 0.0 { 0.0 } else { self.ridged_part(x).dot(y) }
    }

    fn ridged_part(&self, x: &A::Point) -> A::Point {
        match &self.free_of_ridge {
            Some(free) => A::Point::combine(1.0, x, -1.0, &x.on(free)),
            None => x.clone(),
        }
    }
}
