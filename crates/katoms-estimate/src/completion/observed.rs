//! The entries of a matrix that were seen.

use std::fmt;
use std::sync::Arc;

use katoms::Error;
use katoms::operator::Entries;
use katoms::space::{DeviceEntries, Pattern};

use crate::units::Units;

/// The most different values that a scale of ratings has: from 0 to 10 by halves are 21, and hardly any scale has more.
const RATING_VALUES: usize = 21;

/// Some entries of a matrix, each place once, by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    shape: (usize, usize),
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    repeated: usize,
    device: Option<Upload>,
}

/// Takes places of a matrix to a device.
#[derive(Clone)]
struct Upload(Arc<UploadEntries>);

type UploadEntries = dyn Fn(&Pattern) -> Result<Arc<dyn DeviceEntries>, Error> + Send + Sync;

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a device")
    }
}

/// What was seen is the same, wherever it is.
impl PartialEq for Upload {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Observed {
    /// The values at the places (`rows[e]`, `columns[e]`), in any order. A place that comes repeatedly counts once,
    /// with the mean of its values; [`Observed::repeated`] says how many were merged.
    ///
    /// # Errors
    /// When there is no entry, lengths disagree, an index is outside or a value is not finite.
    ///
    /// ```
    /// use katoms_estimate::Observed;
    /// let seen = Observed::new((2, 3), &[1, 0, 1], &[2, 0, 2], &[4.0, 1.0, 5.0])?;
    /// assert_eq!((seen.values(), seen.repeated()), (&[1.0, 4.5][..], 1));
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(shape: (usize, usize), rows: &[usize], columns: &[usize], values: &[f64]) -> Result<Self, Error> {
        check(shape, rows, columns, values)?;
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&e| (rows[e], columns[e]));
        let mut all =
            Self { shape, rows: Vec::new(), columns: Vec::new(), values: Vec::new(), repeated: 0, device: None };
        let same = |a: &usize, b: &usize| (rows[*a], columns[*a]) == (rows[*b], columns[*b]);
        for place in order.chunk_by(same) {
            let sum: f64 = place.iter().map(|&e| values[e] / place.len() as f64).sum();
            all.rows.push(rows[place[0]]);
            all.columns.push(columns[place[0]]);
            all.values.push(sum);
            all.repeated += place.len() - 1;
        }
        Ok(all)
    }

    /// The same, completed on a device: `upload` takes places there. Where columns are features, nothing is.
    #[must_use]
    pub fn on(
        self,
        upload: impl Fn(&Pattern) -> Result<Arc<dyn DeviceEntries>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { device: Some(Upload(Arc::new(upload))), ..self }
    }

    /// Whether it is completed on a device.
    pub(super) fn is_on_device(&self) -> bool {
        self.device.is_some()
    }

    /// (rows, columns) of the whole matrix.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }
    /// The row of each entry, in rising order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }
    /// The column of each entry, rising within a row.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }
    /// The value of each entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// How many entries were merged into another one at the same place.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// The least and the largest value.
    pub fn range(&self) -> (f64, f64) {
        let first = (f64::INFINITY, f64::NEG_INFINITY);
        self.values.iter().fold(first, |(low, high), &v| (low.min(v), high.max(v)))
    }

    /// Whether a matrix that came as a whole looks like ratings, all in one unit, and not like a table of features: less
    /// than half of it was seen, and there are more than two and at most 21 different values.
    pub fn looks_like_ratings(&self) -> bool {
        let is_sparse = self.values.len() < self.shape.0.saturating_mul(self.shape.1).div_ceil(2);
        let mut different: Vec<f64> = Vec::new();
        let is_few = self.values.iter().all(|value| {
            if !different.contains(value) {
                different.push(*value);
            }
            different.len() <= RATING_VALUES
        });
        is_sparse && is_few && different.len() > 2
    }

    /// The least and the largest value of each column; infinite bounds where it has none.
    pub(super) fn column_ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); self.shape.1];
        for (&j, &v) in self.columns.iter().zip(&self.values) {
            ranges[j] = (ranges[j].0.min(v), ranges[j].1.max(v));
        }
        let empty = |range: (f64, f64)| if range.0 <= range.1 { range } else { (range.1, range.0) };
        ranges.into_iter().map(empty).collect()
    }

    pub(super) fn mapped(&self, f: impl Fn(usize, f64) -> f64) -> Self {
        let values = self.columns.iter().zip(&self.values).map(|(&j, &v)| f(j, v)).collect();
        Self { values, ..self.clone() }
    }

    pub(super) fn counts(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut rows, mut columns) = (vec![0; self.shape.0], vec![0; self.shape.1]);
        self.rows.iter().for_each(|&i| rows[i] += 1);
        self.columns.iter().for_each(|&j| columns[j] += 1);
        (rows, columns)
    }

    pub(super) fn subset(&self, kept: &[usize]) -> Self {
        Self {
            shape: self.shape,
            rows: kept.iter().map(|&e| self.rows[e]).collect(),
            columns: kept.iter().map(|&e| self.columns[e]).collect(),
            values: kept.iter().map(|&e| self.values[e]).collect(),
            repeated: 0,
            device: self.device.clone(),
        }
    }

    pub(super) fn scaled(&self, units: &Units) -> Self {
        Self { values: units.scaled_target(&self.values), ..self.clone() }
    }

    pub(super) fn entries(&self) -> Result<Entries, Error> {
        let entries = Entries::new(self.shape, &self.rows, &self.columns)?;
        match &self.device {
            Some(Upload(upload)) => upload(entries.pattern()).map(|device| entries.on(device)),
            None => Ok(entries),
        }
    }
}

fn check(shape: (usize, usize), rows: &[usize], columns: &[usize], values: &[f64]) -> Result<(), Error> {
    if values.is_empty() {
        return Err(Error::Empty { what: "the list of observed entries" });
    }
    let why = "one for each observed value";
    for (what, indices, bound) in [("row index", rows, shape.0), ("column index", columns, shape.1)] {
        if indices.len() != values.len() {
            return Err(Error::Length { what, found: indices.len(), expected: values.len(), why });
        }
        if let Some(position) = indices.iter().position(|&i| i >= bound) {
            return Err(Error::Index { what, position, index: indices[position], bound });
        }
    }
    if let Some(index) = values.iter().position(|v| !v.is_finite()) {
        let right = "every observed value must be finite; leave unknown ones out";
        return Err(Error::Value { what: "list of observed values", index, value: values[index], right });
    }
    Ok(())
}
