//! Least squares on many rows as a problem of few.
//!
//! What a sum of squares says of its rows is their weight W, the means μ of columns and target, and their centred
//! cross-products C, which workers add up in one read. The same are those of 2r rows μ ± √(r/W)·fᵢ of weight W/(2r) each,
//! where C = Σ fᵢ·fᵢᵀ has r terms: every model, with or without an intercept, a ridge or standardised columns, has the same
//! objective on these rows as on all, and part by part of the rows so do the folds of a cross-validation.

use std::sync::Arc;

use super::messages::{Numbers, Request};
use super::{Grid, Inner, Workers, unexpected};
use crate::error::Error;
use crate::linalg::{Matrix, parallel};
use crate::loss::{LeastSquares, Loss, Split};
use crate::operator::{AnyDesign, Dense, Layout};

/// Columns up to which cross-products are taken, and rows for each of them and each part from which on they pay.
const MOST_COLUMNS: usize = 1024;
const ROWS_FOR_EACH: usize = 16;
/// Rows that are multiplied together, and such chunks whose products are held at a time.
const CHUNK: usize = 2048;
const TOGETHER: usize = 32;
/// The share of a squared norm below which a centred column is rounding.
const ROUNDING: f64 = 1e-28;

/// A least-squares problem of few rows in place of one of many.
#[derive(Debug)]
pub struct Condensed {
    /// The rows.
    pub design: Dense<'static, f64>,
    /// Their target and weights; it knows how many observations they stand for.
    pub loss: LeastSquares,
    /// The part that each row belongs to.
    pub labels: Vec<usize>,
}

/// Total weight, means, and centred cross-products of columns and target.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    weight: f64,
    means: Vec<f64>,
    products: Matrix,
}

impl Sums {
    fn none(columns: usize) -> Self {
        Self { weight: 0.0, means: vec![0.0; columns], products: Matrix::zeros(columns, columns) }
    }

    /// Of rows that follow each other in each column, the last of which is the target.
    fn of(mut rows: Matrix, weights: &[f64]) -> Self {
        let (weight, columns) = (weights.iter().sum::<f64>(), rows.columns());
        if !(weight > 0.0) {
            return Self::none(columns);
        }
        let mut means = vec![0.0; columns];
        for (j, mean) in means.iter_mut().enumerate() {
            let column = rows.column_mut(j);
            let average = |about: f64| {
                let deviations = column.iter().zip(weights).map(|(x, w)| w * (x - about));
                deviations.sum::<f64>() / weight
            };
            // Once more about the mean, which the first sum knows to the rounding of the values.
            let about = column[0] + average(column[0]);
            *mean = about + average(about);
            column.iter_mut().zip(weights).for_each(|(x, w)| *x = w.sqrt() * (*x - *mean));
        }
        Self { weight, means, products: rows.symmetric_product(&rows) }
    }

    /// Those of both (Chan, Golub and LeVeque 1983).
    fn join(&mut self, other: &Self) {
        if other.weight == 0.0 {
            return;
        }
        if self.weight == 0.0 {
            *self = other.clone();
            return;
        }
        let total = self.weight + other.weight;
        let apart: Vec<f64> = other.means.iter().zip(&self.means).map(|(b, a)| b - a).collect();
        let factor = self.weight * other.weight / total;
        for (j, &away) in apart.iter().enumerate() {
            let column = self.products.column_mut(j).iter_mut().zip(other.products.column(j)).zip(&apart);
            column.for_each(|((own, other), apart)| *own += other + factor * away * apart);
        }
        self.means.iter_mut().zip(&apart).for_each(|(mean, apart)| *mean += other.weight / total * apart);
        self.weight = total;
    }

    pub(super) fn into_numbers(self) -> Numbers {
        let mut numbers = vec![self.weight];
        numbers.extend(self.means);
        numbers.extend(self.products.into_data());
        Numbers(numbers)
    }

    fn from_numbers(numbers: Numbers, columns: usize) -> Result<Self, Error> {
        if numbers.0.len() != 1 + columns + columns * columns {
            return Err(unexpected());
        }
        let (head, products) = numbers.0.split_at(1 + columns);
        let products = Matrix::from_columns(columns, columns, products.to_vec());
        Ok(Self { weight: head[0], means: head[1..].to_vec(), products })
    }

    /// The rows that stand for all: the columns of each, and the target.
    fn rows(&self) -> Option<Vec<Vec<f64>>> {
        let columns = self.means.len();
        let sizes: Vec<f64> = (0..columns)
            .map(|j| {
                let square = self.products.at(j, j);
                // A constant column keeps a rounding of its mean.
                if square > ROUNDING * self.weight * self.means[j].powi(2) { square.sqrt() } else { 0.0 }
            })
            .collect();
        let inverse = |j: usize| if sizes[j] > 0.0 { 1.0 / sizes[j] } else { 0.0 };
        let correlations = Matrix::from_fn(columns, columns, |i, j| self.products.at(i, j) * inverse(i) * inverse(j));
        let (values, vectors) = correlations.symmetric_eigen()?;
        let step = (columns as f64 / self.weight).sqrt();
        let row = |i: usize, sign: f64| {
            let length = sign * step * values[i].max(0.0).sqrt();
            (0..columns).map(|j| self.means[j] + length * vectors.at(j, i) * sizes[j]).collect::<Vec<f64>>()
        };
        Some((0..columns).flat_map(|i| [row(i, 1.0), row(i, -1.0)]).collect())
    }
}

/// What a worker adds up: of each part that its rows belong to.
pub(super) fn sums(
    design: &AnyDesign<'_>,
    weights: &[f64],
    target: &[f64],
    labels: &[usize],
    parts: &[usize],
) -> Vec<Sums> {
    let (decoded, columns) = (design.decoded_unless_dense(), design.n_columns() + 1);
    let design = decoded.as_ref().unwrap_or(design);
    let rows_of = |part: usize| (0..labels.len()).filter(|&i| labels[i] == part).collect::<Vec<usize>>();
    let one = |part: &usize| {
        let (rows, mut all) = (rows_of(*part), Sums::none(columns));
        let chunks: Vec<&[usize]> = rows.chunks(CHUNK).collect();
        for some in chunks.chunks(TOGETHER) {
            let chunk = |at: usize| {
                let rows = some[at];
                let mut data = vec![0.0; rows.len() * columns];
                let (of_design, of_target) = data.split_at_mut(rows.len() * (columns - 1));
                design.copy_rows(rows, of_design);
                of_target.iter_mut().zip(rows).for_each(|(y, &i)| *y = target[i]);
                let weights: Vec<f64> = rows.iter().map(|&i| weights[i]).collect();
                Sums::of(Matrix::from_columns(rows.len(), columns, data), &weights)
            };
            parallel::map(some.len(), &chunk).iter().for_each(|sums| all.join(sums));
        }
        all
    };
    parts.iter().map(one).collect()
}

impl Condensed {
    /// A problem of few rows that says of every model what all rows say, part by part where there are labels. `None` where
    /// columns are cut, or rows are not many beside the columns. One round trip.
    ///
    /// # Errors
    /// When the workers fail, a value is not finite, or the rows of a part have no weight.
    pub fn new(
        grid: &Grid,
        workers: &Arc<dyn Workers>,
        loss: &LeastSquares,
        labels: Option<&[usize]>,
    ) -> Result<Option<Self>, Error> {
        let parts = labels.map_or(1, |labels| labels.iter().max().map_or(1, |most| most + 1));
        let (rows, columns) = (grid.n_rows(), grid.n_columns() + 1);
        let is_tall = columns <= MOST_COLUMNS && rows >= ROWS_FOR_EACH * columns * parts;
        if grid.column_ranges().len() > 1 || loss.outputs_per_row() > 1 || loss.n_rows() != rows || !is_tall {
            return Ok(None);
        }
        let everything = vec![0; rows];
        let (labels, ones) = (labels.unwrap_or(&everything), vec![1.0; rows]);
        let weights = loss.weights().unwrap_or(&ones);
        let inner = Inner::unread(grid.clone(), Arc::clone(workers));
        let replies = inner.vectors_of_rows(|rows| {
            let (weights, target) = (Numbers(weights[rows.clone()].to_vec()), loss.target()[rows.clone()].to_vec());
            Request::CrossProducts(weights, Numbers(target), labels[rows].to_vec(), parts)
        })?;
        let mut all = vec![Sums::none(columns); parts];
        for (rows, (_, replies)) in grid.row_ranges().zip(replies) {
            let present = super::worker::present(&labels[rows], parts);
            if present.len() != replies.len() {
                return Err(unexpected());
            }
            for (part, numbers) in present.into_iter().zip(replies) {
                all[part].join(&Sums::from_numbers(numbers, columns)?);
            }
        }
        Self::of(&all, loss, labels)
    }

    fn of(all: &[Sums], loss: &LeastSquares, labels: &[usize]) -> Result<Option<Self>, Error> {
        let (mut rows, mut weights, mut observations, mut part_of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (part, sums) in all.iter().enumerate() {
            let own: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == part).collect();
            let seen = loss.subset(&own)?.observations() as f64;
            let Some(new) = sums.rows() else { return Ok(None) };
            let count = new.len();
            weights.extend(vec![sums.weight / count as f64; count]);
            observations.extend(vec![seen / count as f64; count]);
            part_of.extend(vec![part; count]);
            rows.extend(new);
        }
        let columns = rows[0].len() - 1;
        if rows.iter().flatten().any(|v| !v.is_finite()) {
            return Ok(None);
        }
        let data = (0..columns).flat_map(|j| rows.iter().map(move |row| row[j])).collect::<Vec<f64>>();
        let design = Dense::with_layout(data, rows.len(), columns, Layout::ColumnMajor, None)?;
        let target: Vec<f64> = rows.iter().map(|row| row[columns]).collect();
        let loss = LeastSquares::new(target)?.weighted(weights)?.standing_for(observations)?;
        Ok(Some(Self { design, loss, labels: part_of }))
    }
}
