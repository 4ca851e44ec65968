//! Some of the rows, made ready for a fit: what folds and half-samples have in common.
//!
//! A fit on a sample must know nothing of the other rows. So its columns are centred and scaled with
//! the sample's own moments, and its intercept is its own. All of that is a view, so samples of one
//! design share their passes. [`Preparation::objective`] makes a sample's objective,
//! [`Preparation::set`] the set that goes with it, and [`Sample::to_original`] takes the fitted point
//! back to the units of the design.

use std::borrow::Cow;

use crate::error::{Error, check_length};
use crate::loss::Split;
use crate::objective::Objective;
use crate::operator::{ColumnMoments, LinearOperator, Rows, Standardized, WithIntercept};
use crate::set::{Always, CoordinateSet};
use crate::space::{IndexSet, SparseVec};

/// What is done to every sample before its fit.
///
/// ```
/// use katoms::select::Preparation;
/// use katoms::{fit, loss::LeastSquares, operator::Dense, set::KSparse};
/// // y = 100 + 2·x₁, but for the last row, which the sample leaves out
/// let x = [5.0, 3.0, 8.0, 1.0, 4.0, 7.0,   0.001, 0.005, 0.002, 0.009, 0.004, 0.003];
/// let design = Dense::column_major(&x, 6, 2)?;
/// let mut y: Vec<f64> = x[6..].iter().map(|v| 100.0 + 2.0 * v).collect();
/// y[5] = -1e3;
///
/// let preparation = Preparation::default();
/// let f = preparation.objective(&design, &LeastSquares::new(y)?, vec![0, 1, 2, 3, 4])?;
/// let outcome = fit(&f, &preparation.set(&KSparse::new(1, 2)?)?)?;
/// let (coefficients, constant) = f.operator().to_original(&outcome.point);
/// assert_eq!(coefficients.indices(), [1]);
/// assert!((coefficients.value_at(1) - 2.0).abs() < 1e-9 && (constant - 100.0).abs() < 1e-9);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preparation {
    /// Whether columns get mean 0 and variance 1 within the sample. Default: they do.
    pub standardize: bool,
    /// Whether predictions get a constant that counts as no atom. Default: they do.
    pub intercept: bool,
    /// λ of ½λ‖x‖², for the columns as they are after standardising; never on the intercept. Default 0.
    pub ridge: f64,
}

impl Default for Preparation {
    fn default() -> Self {
        Self { standardize: true, intercept: true, ridge: 0.0 }
    }
}

impl Preparation {
    /// The objective of a fit on these rows; a row may come repeatedly. Standardising reads the design
    /// twice, and weighs the rows as the loss does.
    ///
    /// # Errors
    /// When the loss wants another number of rows than the design has, no row is given, one is outside,
    /// all of them have weight 0, or the ridge is negative or not finite.
    pub fn objective<'a, A, L>(
        &self,
        design: &'a A,
        loss: &L,
        rows: Vec<usize>,
    ) -> Result<Objective<Sample<'a, A>, L>, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
        L: Split,
    {
        check_length("target", loss.n_outputs(), design.n_outputs(), "one value for each row of the design")?;
        let loss = loss.subset(&rows)?;
        self.objective_on(self.sample(design, &loss, rows)?, design.domain(), loss)
    }

    /// The view of these rows; `loss` is the loss on them.
    pub(super) fn sample<'a, A, L>(&self, design: &'a A, loss: &L, rows: Vec<usize>) -> Result<Sample<'a, A>, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
        L: Split,
    {
        let ones = vec![1.0; rows.len()];
        let rows = Rows::new(design, rows)?;
        let columns = if self.standardize {
            Standardized::fit(rows, loss.weights().unwrap_or(&ones))?
        } else {
            Standardized::new(rows, vec![0.0; design.domain()], vec![1.0; design.domain()])?
        };
        Ok(Sample { columns, intercept: self.intercept })
    }

    /// The objective of a sample, owned or borrowed, of a design with this many columns.
    pub(super) fn objective_on<B, L>(&self, sample: B, columns: usize, loss: L) -> Result<Objective<B, L>, Error>
    where
        B: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Split,
    {
        let free = IndexSet::new(sample.domain(), (columns..sample.domain()).collect());
        Ok(Objective::new(sample, loss)?.ridge(self.ridge)?.free_of_ridge(free))
    }

    /// The set that goes with the objective: with room for the intercept, where there is one. Its atoms
    /// have the numbers that they have in `set`.
    ///
    /// # Errors
    /// When `set` has no coordinates.
    pub fn set<S: CoordinateSet>(&self, set: &S) -> Result<Always<S>, Error> {
        if self.intercept { Ok(Always::intercept(set)) } else { Always::new(set.clone(), Vec::new()) }
    }
}

/// Some rows of a design, with centred and scaled columns and a column of ones where wanted, and without
/// a copy. [`Preparation::objective`] makes it.
#[derive(Debug, Clone)]
pub struct Sample<'a, A> {
    columns: Standardized<Rows<&'a A>>,
    intercept: bool,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> Sample<'_, A> {
    /// A fitted point in the units of the design, and the constant that its predictions need: the
    /// intercept, and what centred columns leave.
    pub fn to_original(&self, x: &SparseVec) -> (SparseVec, f64) {
        if !self.intercept {
            return self.columns.to_original(x);
        }
        let (scaled, intercept) = WithIntercept::new(&self.columns).split(x);
        let (coefficients, shift) = self.columns.to_original(&scaled);
        (coefficients, intercept + shift)
    }
}

/// A call on the view that the sample is: with or without the column of ones.
macro_rules! on_view {
    ($sample:expr, $view:ident => $call:expr) => {
        if $sample.intercept {
            let $view = WithIntercept::new(&$sample.columns);
            $call
        } else {
            let $view = &$sample.columns;
            $call
        }
    };
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> LinearOperator for Sample<'_, A> {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    type Base = A::Base;

    fn domain(&self) -> usize {
        on_view!(self, view => view.domain())
    }
    fn n_outputs(&self) -> usize {
        self.columns.n_outputs()
    }
    fn new_covector(&self) -> Vec<f64> {
        on_view!(self, view => view.new_covector())
    }
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        on_view!(self, view => view.apply(x, out));
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        on_view!(self, view => view.adjoint(r, out));
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        on_view!(self, view => view.adjoint_on(r, t))
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        on_view!(self, view => view.adjoint_block(rs, out));
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        on_view!(self, view => view.apply_covector(g, out));
    }
    fn has_cheap_columns(&self) -> bool {
        self.columns.has_cheap_columns()
    }
    fn energies(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        on_view!(self, view => view.energies(weights, centres))
    }
    fn base(&self) -> &A::Base {
        self.columns.base()
    }
    fn before_pass<'r>(&self, r: &'r [f64]) -> Cow<'r, [f64]> {
        on_view!(self, view => view.before_pass(r))
    }
    fn after_pass(&self, r: &[f64], g: &mut Vec<f64>) {
        on_view!(self, view => view.after_pass(r, g));
    }
}
