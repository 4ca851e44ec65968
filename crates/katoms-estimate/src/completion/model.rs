//! A completed matrix: factors and effects, predictions at any place.

use katoms::Error;
use katoms::linalg::Matrix;
use katoms::space::LowRank;
use serde::{Deserialize, Serialize};

use super::features::factor_model::FactorModel;
use super::saved;
use super::{Centring, Clip, Columns, Effects, Observed};
use crate::units::Units;

/// What predictions are kept within.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Bounds {
    /// From the first to the second.
    All(f64, f64),
    /// The same for each column.
    Columns(Vec<(f64, f64)>),
}

impl Bounds {
    /// A value of a column that exists, kept within.
    pub fn within(&self, column: usize, value: f64) -> f64 {
        let (low, high) = match self {
            Self::All(low, high) => (*low, *high),
            Self::Columns(each) => each[column],
        };
        value.max(low).min(high)
    }
}

/// How the factors of a row follow from what is seen of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RowModel {
    /// They are fitted under this ridge.
    Ridge(f64),
    /// They are what a factor analysis expects.
    Factors(Box<FactorModel>),
}

/// mean + row effect + column effect + scale of the column·(left·diag(singular values)·rightᵀ), kept within bounds.
/// Never written out unless asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompletedMatrix {
    /// What was taken off.
    pub effects: Effects,
    /// Orthonormal columns, one for each singular value.
    pub left: Matrix,
    /// Falling.
    pub singular_values: Vec<f64>,
    /// Orthonormal columns, one for each singular value.
    pub right: Matrix,
    /// The unit of each column: its standard deviation where columns are features, otherwise 1.
    pub scales: Vec<f64>,
    /// How rows that come later are filled.
    pub row_model: RowModel,
    /// The least and the largest prediction.
    pub bounds: Bounds,
    /// Rows without an observation: their low-rank part is zero, so they have the column's effect and the mean.
    pub empty_rows: Vec<usize>,
    /// Columns without one.
    pub empty_columns: Vec<usize>,
    /// The mean of what was seen: the prediction in empty rows and columns where nothing was taken off.
    pub fallback: Option<f64>,
}

impl CompletedMatrix {
    /// All of it, for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// When it cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        saved::encoded(self)
    }

    /// What [`to_bytes`](Self::to_bytes) has written.
    ///
    /// # Errors
    /// When the bytes are damaged, or something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        saved::decoded(bytes).ok_or_else(|| saved::refused("the bytes are damaged, or no completed matrix".into()))
    }

    pub(super) fn new(x: &LowRank, effects: Effects, ridge: f64, clip: Clip, observed: &Observed) -> Self {
        let (rows, columns) = observed.counts();
        let empty = |counts: Vec<usize>| (0..counts.len()).filter(|&i| counts[i] == 0).collect::<Vec<_>>();
        let (mut left, mut singular_values, mut right) = (x.left().clone(), Vec::new(), x.right().clone());
        if let Some((u, values, v)) = x.core().svd() {
            (left, right, singular_values) = (left.times(&u), right.times(&v), values);
        }
        let n = observed.values().len() as f64;
        let uncentred = effects.centring == Centring::None;
        let fallback = uncentred.then(|| observed.values().iter().map(|v| v / n).sum());
        let (empty_rows, empty_columns) = (empty(rows), empty(columns));
        let bounds = clip.bounds(observed, Columns::Alike);
        let (scales, row_model) = (vec![1.0; right.rows()], RowModel::Ridge(ridge));
        Self { effects, left, singular_values, right, scales, row_model, bounds, empty_rows, empty_columns, fallback }
    }

    pub(super) fn original(mut self, units: &Units) -> Self {
        let levels = |all: &mut Vec<f64>| all.iter_mut().for_each(|v| *v = units.level(*v));
        let Effects { mean, rows, columns, .. } = &mut self.effects;
        *mean = units.level(*mean);
        [rows, columns, &mut self.singular_values].into_iter().for_each(levels);
        if let Bounds::All(low, high) = &mut self.bounds {
            (*low, *high) = (units.level(*low), units.level(*high));
        }
        self.fallback = self.fallback.map(|mean| units.level(mean));
        self
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        (self.left.rows(), self.right.rows())
    }

    /// The prediction at each place (`rows[e]`, `columns[e]`). O(rank) each.
    ///
    /// # Errors
    /// When the lengths differ or an index is outside.
    pub fn predict(&self, rows: &[usize], columns: &[usize]) -> Result<Vec<f64>, Error> {
        let (p, q) = self.shape();
        for (what, indices, bound) in [("row index", rows, p), ("column index", columns, q)] {
            if let Some(position) = indices.iter().position(|&i| i >= bound) {
                return Err(Error::Index { what, position, index: indices[position], bound });
            }
        }
        if rows.len() != columns.len() {
            let (found, expected, why) = (columns.len(), rows.len(), "one for each row index");
            return Err(Error::Length { what: "column index", found, expected, why });
        }
        Ok(rows.iter().zip(columns).map(|(&i, &j)| self.at(i, j, &self.scaled(i))).collect())
    }

    /// All predictions of one row. O(columns·rank).
    ///
    /// # Errors
    /// When the row is outside.
    pub fn row(&self, row: usize) -> Result<Vec<f64>, Error> {
        if row >= self.shape().0 {
            return Err(Error::Index { what: "row index", position: 0, index: row, bound: self.shape().0 });
        }
        let scaled = self.scaled(row);
        Ok((0..self.shape().1).map(|column| self.at(row, column, &scaled)).collect())
    }

    /// The whole matrix, row by row.
    ///
    /// # Errors
    /// When there is not enough memory for it.
    pub fn to_dense(&self) -> Result<Vec<f64>, Error> {
        let (p, q) = self.shape();
        let mut dense = reserved(p, q)?;
        for row in 0..p {
            let scaled = self.scaled(row);
            dense.extend((0..q).map(|column| self.at(row, column, &scaled)));
        }
        Ok(dense)
    }

    /// A row of left·diag(singular values).
    fn scaled(&self, row: usize) -> Vec<f64> {
        self.singular_values.iter().enumerate().map(|(a, s)| s * self.left.at(row, a)).collect()
    }

    fn at(&self, row: usize, column: usize, scaled: &[f64]) -> f64 {
        if let Some(mean) = self.fallback
            && (self.empty_rows.binary_search(&row).is_ok() || self.empty_columns.binary_search(&column).is_ok())
        {
            return self.bounds.within(column, mean);
        }
        let low_rank: f64 = scaled.iter().enumerate().map(|(a, s)| s * self.right.at(column, a)).sum();
        self.bounds.within(column, self.effects.at(row, column) + self.scales[column] * low_rank)
    }
}

/// Room for a dense matrix, asked for before anything is written to it.
///
/// # Errors
/// When it cannot be had.
pub fn reserved(rows: usize, columns: usize) -> Result<Vec<f64>, Error> {
    let mut dense = Vec::new();
    match rows.checked_mul(columns) {
        Some(cells) if dense.try_reserve_exact(cells).is_ok() => Ok(dense),
        _ => Err(Error::Memory {
            what: format!("a dense matrix of {rows} × {columns}"),
            bytes: rows.saturating_mul(columns).saturating_mul(size_of::<f64>()),
            instead: "ask for some places or some rows of it, or keep the factors, which are small",
        }),
    }
}
