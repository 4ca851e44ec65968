//! How the answer is written: pictures, tables, factors.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_estimate::{Bounds, Completed, CompletedMatrix};
use katoms_io::{Array, Column, Picture, Values};
use serde_json::json;

use super::{Grid, Names};

/// Cells that are written out.
const MOST_CELLS: usize = 200_000_000;

impl Grid {
    /// The completed matrix as a picture; what was seen stands as it was, unless that was all of it.
    pub fn completed_picture(&self, matrix: &CompletedMatrix) -> Result<Picture> {
        Ok(self.picture(&self.filled(matrix)?, vec![true; self.shape.0 * self.picture_size().1]))
    }

    /// What was seen as a picture; the rest is transparent.
    pub fn seen_picture(&self) -> Picture {
        let (height, width) = self.picture_size();
        let (mut dense, mut seen) = (vec![0.0; self.shape.0 * self.shape.1], vec![false; height * width]);
        for ((&i, &j), &value) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            dense[i * self.shape.1 + j] = value;
            seen[i * width + j % width] = true;
        }
        self.picture(&dense, seen)
    }

    /// The picture as it was, where parts of it were hidden on purpose.
    pub fn original_picture(&self) -> Option<Picture> {
        let (height, width) = self.picture_size();
        if self.hidden.is_empty() || self.hidden.len() + self.values.len() < self.shape.0 * self.shape.1 {
            return None;
        }
        let mut dense = vec![0.0; self.shape.0 * self.shape.1];
        for ((&i, &j), &value) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            dense[i * self.shape.1 + j] = value;
        }
        self.hidden.iter().for_each(|&(i, j, value)| dense[i * self.shape.1 + j] = value);
        Some(self.picture(&dense, vec![true; height * width]))
    }

    /// A matrix, row after row, as a picture.
    fn picture(&self, dense: &[f64], seen: Vec<bool>) -> Picture {
        let (rows, columns) = self.picture_size();
        let channel = |c: usize| {
            let row = |i: usize| &dense[i * self.shape.1 + c * columns..][..columns];
            (0..rows).flat_map(|i| row(i).iter().copied()).collect()
        };
        Picture { rows, columns, channels: (0..self.channels).map(channel).collect(), seen }
    }

    /// The bytes of a file with the completed matrix; what was seen stands as it was, unless that was all of it.
    pub fn completed_file(&self, path: &Path, matrix: &CompletedMatrix) -> Result<Vec<u8>> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (p, q) = self.shape;
        if p.saturating_mul(q) > MOST_CELLS {
            bail!(
                "{p} × {q} cells are too many to write out; --factors writes the factors, from which each one follows"
            );
        }
        match (ending.as_str(), self.is_picture()) {
            ("png", true) => Ok(katoms_io::write_png(&self.completed_picture(matrix)?)?),
            ("png", false) => bail!("{}: only a picture can be written as PNG; choose .csv or .npy", path.display()),
            ("npy", _) => Ok(katoms_io::write_npy(&Array::matrix(self.filled(matrix)?, p, q))),
            ("csv", _) => Ok(katoms_io::write_csv(&self.completed_columns(matrix)?)),
            _ => bail!("{}: choose a name that ends in .png, .csv or .npy", path.display()),
        }
    }

    /// The completed matrix, row after row, with what was seen as it was. Where nothing was missing, the matrix of
    /// low rank itself: anything else would give back what came in.
    fn filled(&self, matrix: &CompletedMatrix) -> Result<Vec<f64>> {
        let (mut dense, seen) = (matrix.to_dense()?, self.observed()?);
        if seen.values().len() < dense.len() {
            for ((&i, &j), &value) in seen.rows().iter().zip(seen.columns()).zip(seen.values()) {
                dense[i * self.shape.1 + j] = value;
            }
        }
        Ok(dense)
    }

    fn completed_columns(&self, matrix: &CompletedMatrix) -> Result<Vec<Column>> {
        let dense = self.filled(matrix)?;
        let (p, q) = self.shape;
        let column = |j: usize| Values::Numbers((0..p).map(|i| dense[i * q + j]).collect());
        let (mut columns, names): (Vec<Column>, Vec<String>) = match &self.names {
            Names::Entries { heads, rows, columns } => (vec![words(&heads[0], rows)], columns.clone()),
            Names::Cells { columns, carried } => (carried.clone(), columns.clone()),
            Names::None => (Vec::new(), (1..=q).map(|j| format!("x{j}")).collect()),
        };
        columns.extend(names.into_iter().enumerate().map(|(j, name)| Column { name, values: column(j) }));
        Ok(columns)
    }

    /// The factors, with names, as JSON.
    pub fn factors(&self, completed: &Completed) -> Result<String> {
        let matrix = &completed.matrix;
        let rows_of = |m: &katoms::linalg::Matrix| -> Vec<Vec<f64>> {
            (0..m.rows()).map(|i| (0..m.columns()).map(|j| m.at(i, j)).collect()).collect()
        };
        let (row_names, column_names) = match &self.names {
            Names::Entries { rows, columns, .. } => (Some(rows.clone()), Some(columns.clone())),
            Names::Cells { columns, .. } => (None, Some(columns.clone())),
            Names::None => (None, None),
        };
        let pair = |low: f64, high: f64| [low, high].map(|bound| bound.is_finite().then_some(bound));
        let bounds = match &matrix.bounds {
            Bounds::All(low, high) => json!(pair(*low, *high)),
            Bounds::Columns(each) => each.iter().map(|&(low, high)| json!(pair(low, high))).collect(),
        };
        Ok(serde_json::to_string_pretty(&json!({
            "schema": 1, "katoms": env!("CARGO_PKG_VERSION"), "kind": "completion",
            "formula": "mean + row_effects[i] + column_effects[j] + sum over r of left[i][r] * singular_values[r] * right[j][r], kept within bounds; where fallback is a number, it stands alone in the rows and columns that nothing is known of (empty_rows, empty_columns, counted from 0)",
            "rank": completed.rank, "ridge": completed.ridge, "rows": row_names, "columns": column_names,
            "mean": matrix.effects.mean, "row_effects": matrix.effects.rows, "column_effects": matrix.effects.columns,
            "singular_values": matrix.singular_values, "left": rows_of(&matrix.left), "right": rows_of(&matrix.right),
            "bounds": bounds, "fallback": matrix.fallback, "empty_rows": matrix.empty_rows,
            "empty_columns": matrix.empty_columns,
        }))?)
    }
}

/// A column of labels.
fn words(name: &str, labels: &[String]) -> Column {
    let mut levels = labels.to_vec();
    levels.sort();
    levels.dedup();
    let codes = labels.iter().map(|l| u32::try_from(levels.partition_point(|level| level < l)).ok()).collect();
    Column { name: name.into(), values: Values::Words { levels, codes } }
}
