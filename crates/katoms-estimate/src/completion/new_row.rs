//! A row that the fit did not see, from some of its entries.

use katoms::Error;
use katoms::linalg::{Matrix, solve_symmetric};

use super::model::RowModel;
use super::{CompletedMatrix, Observed};

/// What is wrong with a row of values that no prediction can be made of.
const OVERFLOWS: &str = "the values of the row are too large to compute with; give them in the unit of the matrix";

impl CompletedMatrix {
    /// All predictions of a row that comes later, from its values at some columns. A column that comes repeatedly
    /// counts once, with the mean of its values.
    ///
    /// The row gets an effect and factors as the rows of the matrix have them, with the columns as they are: the
    /// effect e that minimises Σ(value − mean − column effect − e)² + 5e² where rows have one, then the w that
    /// minimises ½Σ(value − effects − ⟨w, right⟩)² + ½λ‖w‖², the smallest w where there are many. Where columns are
    /// features, the factors are what the factor analysis expects. So a row of the matrix gives what it has there, up to
    /// the tolerance of the fit, and a row without values what an empty row has.
    /// O(n·rank·min(n, rank) + columns·rank) for n values.
    ///
    /// # Errors
    /// When the lengths differ, an index is outside, a value is not finite, or values are so large that a prediction is not.
    ///
    /// ```
    /// use katoms_estimate::{Completion, Observed, Unwatched, complete};
    /// // (i+1)·(j+1)
    /// let (rows, columns) = ([0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1]);
    /// let seen = Observed::new((3, 3), &rows, &columns, &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0])?;
    /// let completed = complete(&seen, &Completion::exact(1), None, &mut Unwatched)?;
    /// let row = completed.matrix.complete_row(&[1], &[20.0])?;
    /// assert!((row[0] - 10.0).abs() < 1e-3 && (row[2] - 30.0).abs() < 1e-3);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn complete_row(&self, columns: &[usize], values: &[f64]) -> Result<Vec<f64>, Error> {
        if columns.is_empty() && values.is_empty() {
            return self.predicted(0.0, &|_| 0.0, self.fallback.is_some());
        }
        let seen = Observed::new((1, self.right.rows()), &vec![0; columns.len()], columns, values)?;
        let effect = self.effects.of_row(seen.columns(), seen.values());
        let places = seen.columns().iter().zip(seen.values());
        let left: Vec<f64> = places.map(|(&j, value)| (value - self.level(effect, j)) / self.scales[j]).collect();
        match &self.row_model {
            RowModel::Ridge(ridge) => {
                let factors = self.factors(seen.columns(), &left, *ridge);
                let low_rank = |j: usize| factors.iter().enumerate().map(|(a, w)| w * self.right.at(j, a)).sum();
                self.predicted(effect, &low_rank, false)
            }
            RowModel::Factors(model) => {
                let factors = model.factors(seen.columns(), &left);
                self.predicted(effect, &|j| model.predicted(j, &factors), false)
            }
        }
    }

    fn level(&self, effect: f64, column: usize) -> f64 {
        self.effects.mean + effect + self.effects.columns[column]
    }

    /// argmin ½‖left − V·w‖² + ½λ‖w‖², V being the right factors of these columns.
    fn factors(&self, columns: &[usize], left: &[f64], ridge: f64) -> Vec<f64> {
        let (n, rank) = (columns.len(), self.singular_values.len());
        let v = Matrix::from_fn(n, rank, |e, a| self.right.at(columns[e], a));
        let ridged =
            |g: Matrix| Matrix::from_fn(g.rows(), g.rows(), |i, j| g.at(i, j) + if i == j { ridge } else { 0.0 });
        let column = |of: &[f64]| Matrix::from_columns(of.len(), 1, of.to_vec());
        if n < rank {
            // Vᵀ(VVᵀ + λI)⁻¹·left: without a ridge the smallest of many answers
            let dual = solve_symmetric(&ridged(v.times_transposed(&v)), left);
            v.transposed_times(&column(&dual)).data().to_vec()
        } else {
            let right = v.transposed_times(&column(left));
            solve_symmetric(&ridged(v.transposed_times(&v)), right.data())
        }
    }

    fn predicted(&self, effect: f64, low_rank: &dyn Fn(usize) -> f64, is_empty: bool) -> Result<Vec<f64>, Error> {
        let one = |column: usize| match self.fallback {
            Some(mean) if is_empty || self.empty_columns.binary_search(&column).is_ok() => mean,
            _ => self.level(effect, column) + self.scales[column] * low_rank(column),
        };
        let clipped = |column: usize| match one(column) {
            value if value.is_finite() => Ok(self.bounds.within(column, value)),
            value => Err(Error::Value { what: "row of predictions", index: column, value, right: OVERFLOWS }),
        };
        (0..self.right.rows()).map(clipped).collect()
    }
}
