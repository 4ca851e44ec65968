//! Some of the rows, made ready for a fit: what folds and half-samples have in common.
//!
//! A fit on a sample must know nothing of the other rows. So its columns are centred and scaled with
//! the sample's own moments, and its intercept is its own. All of that is a view, so samples of one
//! design share their passes. [`Preparation::objective`] makes a sample's objective,
//! [`Preparation::set`] the set that goes with it, and [`Sample::to_original`] takes the fitted point
//! back to the units of the design.

use std::borrow::Cow;

use super::Bounds;
use super::moments::{moments_of_all, weightings};
use crate::error::{Error, check_length, check_option};
use crate::linalg::Matrix;
use crate::loss::{Loss, Split};
use crate::objective::Objective;
use crate::operator::{
    ColumnMoments, LinearOperator, Moments, PerOutput, Rows, SampledRows, Standardized, WithIntercept, of_output,
};
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
/// let outcome = fit(&f, &preparation.set(&KSparse::new(1, 2)?, f.loss())?)?;
/// let (coefficients, constants) = f.operator().to_original(&outcome.point);
/// assert_eq!(coefficients.indices(), [1]);
/// assert!((coefficients.value_at(1) - 2.0).abs() < 1e-9 && (constants[0] - 100.0).abs() < 1e-9);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preparation {
    /// Whether columns get mean 0 and variance 1 within the sample. Without an intercept they get a mean square of 1
    /// and keep their origin, since centred columns would bring a constant in. Default: they do.
    pub standardize: bool,
    /// Whether predictions get a constant that counts as no atom: one for each output of the loss. Default: they do.
    pub intercept: bool,
    /// λ of ½λ‖x‖², for the columns as they are after standardising; never on an intercept. Default 0.
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
    /// all of them have weight 0, the ridge is negative or not finite, or squares of a column or of the target leave the
    /// range of double precision.
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
        check_length("target", loss.n_rows(), design.n_outputs(), "one value for each row of the design")?;
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
            let weights = loss.weights().unwrap_or(&ones);
            let moments = rows.moments(weights);
            self.standardized(rows, moments, weights, loss)?
        } else {
            Standardized::new(rows, vec![0.0; design.domain()], vec![1.0; design.domain()])?
        };
        self.view(columns, loss)
    }

    /// The columns of a sample, for each output of its loss, and the intercepts.
    fn view<'a, A, L>(&self, columns: Standardized<Rows<&'a A>>, loss: &L) -> Result<Sample<'a, A>, Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        Ok(Sample { columns: PerOutput::new(columns, loss.outputs_per_row())?, intercept: self.intercept })
    }

    /// The views of many samples, and how often their standardising read the design: four times for all
    /// of them, where columns are cheap, and twice for each one that needs a look of its own.
    pub(super) fn samples<'a, A, L>(
        &self,
        design: &'a A,
        losses: &[L],
        rows: Vec<Vec<usize>>,
    ) -> Result<(Vec<Sample<'a, A>>, usize), Error>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
        L: Split,
    {
        let mut known: Vec<Option<Moments>> = vec![None; rows.len()];
        let mut reads = 0;
        if self.standardize && rows.len() > 2 && design.has_cheap_columns() {
            known = moments_of_all(design, &weightings(design.n_outputs(), losses, &rows)?).unwrap_or(known);
            reads = 4;
        }
        let mut samples = Vec::with_capacity(rows.len());
        for ((rows, loss), known) in rows.into_iter().zip(losses).zip(known) {
            samples.push(match known {
                Some(moments) => {
                    let ones = vec![1.0; rows.len()];
                    let weights = loss.weights().unwrap_or(&ones);
                    self.view(self.standardized(Rows::new(design, rows)?, moments, weights, loss)?, loss)?
                }
                None => {
                    reads += if self.standardize { 2 } else { 0 };
                    self.sample(design, loss, rows)?
                }
            });
        }
        Ok((samples, reads))
    }

    /// Columns that are centred and scaled; only scaled, where no intercept takes up what centring leaves, and the loss does
    /// not ignore it.
    fn standardized<B>(
        &self,
        columns: B,
        moments: Moments,
        weights: &[f64],
        loss: &impl Loss,
    ) -> Result<Standardized<B>, Error>
    where
        B: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    {
        if self.intercept || loss.ignores_constants() {
            Standardized::with_moments(columns, moments, weights)
        } else {
            Standardized::about_zero(columns, &moments, weights)
        }
    }

    /// The objective of a sample, owned or borrowed, of a design with this many columns.
    pub(super) fn objective_on<B, L>(&self, sample: B, columns: usize, loss: L) -> Result<Objective<B, L>, Error>
    where
        B: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Split,
    {
        let coefficients = columns * loss.outputs_per_row();
        let free = IndexSet::new(sample.domain(), (coefficients..sample.domain()).collect());
        Ok(Objective::new(sample, loss)?.ridge(self.ridge)?.free_of_ridge(free))
    }

    /// The same for this loss: without an intercept where the loss has none.
    pub fn suited_to(self, loss: &impl Loss) -> Self {
        Self { intercept: self.intercept && !loss.ignores_constants(), ..self }
    }

    /// The set that goes with the objective: with room for the intercept of each output of the loss, where there is one.
    /// Its atoms have the numbers that they have in `set`, whose coordinates are the columns for the first output, then
    /// those for the second: [`PerOutput::groups`] are the features that all outputs share.
    ///
    /// # Errors
    /// When `set` has no coordinates.
    pub fn set<S: CoordinateSet>(&self, set: &S, loss: &impl Loss) -> Result<Always<S>, Error> {
        let outputs = loss.outputs_per_row();
        if self.intercept { Ok(Always::intercepts(set, outputs)) } else { Always::new(set.clone(), Vec::new()) }
    }
}

/// Some rows of a design, with centred and scaled columns and a column of ones where wanted, and without
/// a copy. [`Preparation::objective`] makes it. Where the loss has several outputs for each row, each has coefficients of
/// its own, one output after the other; then come the intercepts of all of them.
#[derive(Debug, Clone)]
pub struct Sample<'a, A> {
    columns: PerOutput<Standardized<Rows<&'a A>>>,
    intercept: bool,
}

impl<A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>> Sample<'_, A> {
    /// The number of coefficients, without the intercepts: one for each column of the design, and each output.
    pub fn coefficients(&self) -> usize {
        self.columns.domain()
    }

    /// A fitted point in the units of the design, and the constant that the predictions of each output need: the
    /// intercept, and what centred columns leave. 0 where there is no intercept.
    pub fn to_original(&self, x: &SparseVec) -> (SparseVec, Vec<f64>) {
        let (columns, n) = (self.columns.inner(), self.columns.inner().domain());
        let (mut indices, mut values, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        for c in 0..self.columns.outputs() {
            let (coefficients, shift) = columns.to_original(&of_output(x, c, n));
            indices.extend(coefficients.indices().iter().map(|j| c * n + j));
            values.extend(coefficients.values());
            constants.push(if self.intercept { x.value_at(self.columns.domain() + c) + shift } else { 0.0 });
        }
        (SparseVec::sorted(self.columns.domain(), indices, values), constants)
    }

    /// Bounds in the units of the design, for the sample's own points: an intercept has none.
    ///
    /// # Errors
    /// When there is not one pair for each column of the design, and each output.
    pub fn scaled_bounds(&self, bounds: &Bounds) -> Result<Bounds, Error> {
        let needed = self.columns.domain();
        check_length("the list of bounds", bounds.dim(), needed, "one pair for each column of the design")?;
        Ok(bounds.scaled(&self.columns.inner().scales().repeat(self.columns.outputs()), self.domain()))
    }

    /// The point whose predictions are these coefficients' and these constants', one for each output, all in the units of
    /// the design: what [`Sample::to_original`] takes back. Without an intercept there is no room for the constants, and
    /// they are left out.
    ///
    /// # Errors
    /// When there is not one coefficient for each column of the design and each output, not one constant for each output,
    /// or a constant is not finite.
    #[allow(clippy::wrong_self_convention)] // the units are the sample's, so it must be asked
    pub fn from_original(&self, coefficients: &SparseVec, constants: &[f64]) -> Result<SparseVec, Error> {
        let (needed, n) = (self.columns.domain(), self.columns.inner().domain());
        check_length("start", coefficients.dim(), needed, "one coefficient for each column of the design")?;
        check_length("intercepts of the start", constants.len(), self.columns.outputs(), "one for each output")?;
        for &constant in constants {
            check_option("intercept of the start", constant, "it must be finite", f64::is_finite)?;
        }
        let (centres, scales) = (self.columns.inner().centres(), self.columns.inner().scales());
        let mut entries: Vec<(usize, f64)> = coefficients.entries().map(|(j, v)| (j, v * scales[j % n])).collect();
        if self.intercept {
            let shift = |c: usize| of_output(coefficients, c, n).entries().map(|(j, v)| v * centres[j]).sum::<f64>();
            entries.extend(constants.iter().enumerate().map(|(c, constant)| (needed + c, constant + shift(c))));
        }
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::new(self.domain(), indices, values)
    }
}

/// A call on the view that the sample is: with or without columns of ones, for one output or several.
macro_rules! on_view {
    ($sample:expr, $view:ident => $call:expr) => {
        match ($sample.columns.outputs(), $sample.intercept) {
            (1, true) => {
                let $view = WithIntercept::new($sample.columns.inner());
                $call
            }
            (1, false) => {
                let $view = $sample.columns.inner();
                $call
            }
            (_, true) => {
                let $view = WithIntercept::new(&$sample.columns);
                $call
            }
            (_, false) => {
                let $view = &$sample.columns;
                $call
            }
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
    fn fetch(&self, t: &IndexSet) {
        on_view!(self, view => view.fetch(t));
    }
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        on_view!(self, view => view.adjoint_on(r, t))
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        on_view!(self, view => view.adjoint_block_on(rs, t))
    }
    fn products(&self, h: &[f64], left: &IndexSet, right: &IndexSet) -> Option<Matrix> {
        on_view!(self, view => view.products(h, left, right))
    }
    fn gives_all_products(&self) -> bool {
        on_view!(self, view => view.gives_all_products())
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        on_view!(self, view => view.adjoint_block(rs, out));
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        on_view!(self, view => view.apply_covector(g, out));
    }
    fn outputs(&self) -> usize {
        self.columns.outputs()
    }
    fn column_of(&self, j: usize) -> (usize, usize) {
        on_view!(self, view => view.column_of(j))
    }
    fn has_cheap_columns(&self) -> bool {
        self.columns.has_cheap_columns()
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        on_view!(self, view => view.sampled_rows())
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        on_view!(self, view => view.adjoint_sampled(r, out));
    }
    fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        on_view!(self, view => view.adjoint_sampled_block(rs, out));
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        on_view!(self, view => view.squared_norms(weights, centres))
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
    fn residuals_of_pass<'r>(&self, r: &'r [f64]) -> Vec<Cow<'r, [f64]>> {
        on_view!(self, view => view.residuals_of_pass(r))
    }
    fn joined_after_pass(&self, r: &[f64], parts: Vec<Vec<f64>>) -> Vec<f64> {
        on_view!(self, view => view.joined_after_pass(r, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LeastSquares;
    use crate::operator::Dense;
    use crate::simulate::{generator, normals};

    const ROWS: usize = 40;

    /// A plain column, one far from 0, a constant one, one of a single row, and a plain one.
    fn columns(wild: f64) -> Vec<f64> {
        let mut data = normals(5 * ROWS, &mut generator(3, 0));
        data[ROWS..2 * ROWS].iter_mut().for_each(|v| *v += 1e6);
        data[2 * ROWS..3 * ROWS].fill(0.1);
        data[3 * ROWS..4 * ROWS].fill(0.0);
        data[3 * ROWS + 7] = 2.0;
        data[4 * ROWS + 7] *= wild;
        data
    }

    /// Samples together and one by one have the same centres and scales; the reads that it took.
    fn reads(wild: f64, weighted: bool, preparation: Preparation) -> usize {
        let data = columns(wild);
        let design = Dense::column_major(&data, ROWS, 5).unwrap();
        let mut loss = LeastSquares::new(vec![1.0; ROWS]).unwrap();
        if weighted {
            loss = loss.weighted((0..ROWS).map(|i| (i % 4) as f64).collect::<Vec<_>>()).unwrap();
        }
        // Two of five samples have row 7; the first has it twice.
        let rows: Vec<Vec<usize>> = vec![
            (0..20).chain([7, 3]).collect(),
            (20..40).collect(),
            (0..40).step_by(2).collect(),
            (7..33).collect(),
            (8..20).collect(),
        ];
        let losses: Vec<LeastSquares> = rows.iter().map(|rows| loss.subset(rows).unwrap()).collect();
        let (samples, reads) = preparation.samples(&design, &losses, rows.clone()).unwrap();
        for ((sample, loss), rows) in samples.iter().zip(&losses).zip(rows) {
            let alone = preparation.sample(&design, loss, rows).unwrap();
            for j in 0..5 {
                let (found, expected) = (sample.columns.inner().centres()[j], alone.columns.inner().centres()[j]);
                assert!((found - expected).abs() <= 1e-14 * (1.0 + expected.abs()), "centre {j}: {found} {expected}");
                let (found, expected) = (sample.columns.inner().scales()[j], alone.columns.inner().scales()[j]);
                assert!((found - expected).abs() <= 1e-9 * expected, "scale {j}: {found} {expected}");
            }
        }
        reads
    }

    #[test]
    fn many_samples_are_standardised_as_one_by_one() {
        for intercept in [true, false] {
            let preparation = Preparation { intercept, ..Preparation::default() };
            assert_eq!((reads(1.0, false, preparation), reads(1.0, true, preparation)), (4, 4));
        }
    }

    /// A row beyond all measure shifts the common centre; the samples without it look for themselves.
    #[test]
    fn samples_without_a_wild_row_get_a_look_of_their_own() {
        for wild in [1e6, 1e12] {
            assert_eq!(reads(wild, false, Preparation::default()), 4 + 2 * 3);
        }
    }
}
