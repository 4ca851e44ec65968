//! How the answer is written: pictures, tables, factors.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use katoms_estimate::{Bounds, Completed, CompletedMatrix};
use katoms_io::{Array, CsvText, Picture, Values};
use serde_json::json;

use super::{Grid, Names, Slot};

/// Cells that are written out.
const MOST_CELLS: usize = 200_000_000;
/// Bytes that a cell takes on its way into a file: 17 digits, a point and a comma of text; a number, its copy and a
/// channel of a picture.
const CSV_CELL: usize = 20;
const BINARY_CELL: usize = 24;

impl Grid {
    /// The completed matrix as a picture; what was seen stands as it was.
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

    fn picture(&self, dense: &[f64], seen: Vec<bool>) -> Picture {
        let (rows, columns) = self.picture_size();
        let channel = |c: usize| {
            let row = |i: usize| &dense[i * self.shape.1 + c * columns..][..columns];
            (0..rows).flat_map(|i| row(i).iter().copied()).collect()
        };
        Picture { rows, columns, channels: (0..self.channels).map(channel).collect(), seen }
    }

    /// Whether the completed matrix can be written: asked before the work, and for the memory that it takes.
    pub fn check_room(&self, path: &Path) -> Result<()> {
        let (p, q) = self.shape;
        let ending = ending(path);
        if ending == "png" && !self.is_picture() {
            bail!("{}: only a picture can be written as PNG; choose .csv or .npy", path.display());
        }
        let cells = p.saturating_mul(q);
        if cells > MOST_CELLS {
            bail!(
                "{p} × {q} cells are too many to write out; --factors writes the factors, from which each one follows"
            );
        }
        let bytes = cells.saturating_mul(if ending == "csv" { CSV_CELL } else { BINARY_CELL });
        match Vec::<u8>::new().try_reserve_exact(bytes) {
            Ok(()) => Ok(()),
            Err(_) => Err(no_room(self.shape, bytes)),
        }
    }

    /// The bytes of a file with the completed matrix; what was seen stands as it was.
    pub fn completed_file(&self, path: &Path, matrix: &CompletedMatrix) -> Result<Vec<u8>> {
        self.check_room(path)?;
        match ending(path).as_str() {
            "png" => Ok(katoms_io::write_png(&self.completed_picture(matrix)?)?),
            "npy" => Ok(katoms_io::write_npy(&Array::matrix(self.filled(matrix)?, self.shape.0, self.shape.1))),
            "csv" => self.completed_text(matrix),
            _ => bail!("{}: choose a name that ends in .png, .csv or .npy", path.display()),
        }
    }

    fn filled(&self, matrix: &CompletedMatrix) -> Result<Vec<f64>> {
        let (mut dense, seen) = (matrix.to_dense()?, self.observed()?);
        for ((&i, &j), &value) in seen.rows().iter().zip(seen.columns()).zip(seen.values()) {
            dense[i * self.shape.1 + j] = value;
        }
        Ok(dense)
    }

    /// The same as text, line by line: nothing but the text is in memory.
    fn completed_text(&self, matrix: &CompletedMatrix) -> Result<Vec<u8>> {
        let (p, q) = self.shape;
        let mut text = CsvText::default();
        let no_room = |_| no_room(self.shape, p * q * CSV_CELL);
        let head: Vec<String> = match &self.names {
            Names::Entries { head, columns, .. } => std::iter::once(head).chain(columns).cloned().collect(),
            Names::Table { slots, .. } => slots.iter().map(|slot| slot.name().to_owned()).collect(),
            Names::None => (1..=q).map(|j| format!("x{j}")).collect(),
        };
        text.push(head.iter().map(|name| CsvText::word(name))).map_err(no_room)?;
        let seen = self.observed()?;
        let mut known = seen.rows().iter().zip(seen.columns()).zip(seen.values()).peekable();
        for i in 0..p {
            let mut row = matrix.row(i)?;
            while let Some(((_, &j), &value)) = known.next_if(|((row, _), _)| **row == i) {
                row[j] = value;
            }
            let mut cells: Vec<String> = row.into_iter().map(CsvText::number).collect();
            match &self.names {
                Names::Entries { rows, .. } => cells.insert(0, CsvText::word(&rows[i])),
                Names::Table { slots, .. } => cells = slotted(slots, cells, i),
                Names::None => {}
            }
            text.push(cells.into_iter()).map_err(no_room)?;
        }
        Ok(text.into_bytes())
    }

    pub fn factors(&self, completed: &Completed) -> Result<String> {
        let matrix = &completed.matrix;
        let rows_of = |m: &katoms::linalg::Matrix| -> Vec<Vec<f64>> {
            (0..m.rows()).map(|i| (0..m.columns()).map(|j| m.at(i, j)).collect()).collect()
        };
        let (row_names, column_names) = match &self.names {
            Names::Entries { rows, columns, .. } => (Some(rows.clone()), Some(columns.clone())),
            Names::Table { slots, rows } => {
                let cells = slots.iter().filter(|slot| matches!(slot, Slot::Cells(_)));
                (rows.clone(), Some(cells.map(|slot| slot.name().to_owned()).collect()))
            }
            Names::None => (None, None),
        };
        let pair = |low: f64, high: f64| [low, high].map(|bound| bound.is_finite().then_some(bound));
        let bounds = match &matrix.bounds {
            Bounds::All(low, high) => json!(pair(*low, *high)),
            Bounds::Columns(each) => each.iter().map(|&(low, high)| json!(pair(low, high))).collect(),
        };
        Ok(serde_json::to_string_pretty(&json!({
            "schema": 1, "katoms": env!("CARGO_PKG_VERSION"), "kind": "completion",
            "formula": "mean + row_effects[i] + column_effects[j] + scales[j] * (sum over r of left[i][r] * singular_values[r] * right[j][r]), kept within bounds: a pair for all, or one for each column; where fallback is a number, it stands alone in the rows and columns that nothing is known of (empty_rows, empty_columns, counted from 0)",
            "rank": completed.rank, "ridge": completed.ridge, "rows": row_names, "columns": column_names,
            "mean": matrix.effects.mean, "row_effects": matrix.effects.rows, "column_effects": matrix.effects.columns,
            "scales": matrix.scales, "singular_values": matrix.singular_values, "left": rows_of(&matrix.left), "right": rows_of(&matrix.right),
            "bounds": bounds, "fallback": matrix.fallback, "empty_rows": matrix.empty_rows,
            "empty_columns": matrix.empty_columns,
        }))?)
    }
}

impl Slot {
    fn name(&self) -> &str {
        match self {
            Self::Cells(name) => name,
            Self::Carried(column) => &column.name,
        }
    }
}

fn slotted(slots: &[Slot], cells: Vec<String>, row: usize) -> Vec<String> {
    let mut cells = cells.into_iter();
    let one = |slot: &Slot| match slot {
        Slot::Cells(_) => cells.next().unwrap_or_default(),
        Slot::Carried(column) => match &column.values {
            Values::Numbers(numbers) => CsvText::number(numbers[row]),
            Values::Words { levels, codes } => {
                codes[row].map_or_else(String::new, |code| CsvText::word(&levels[code as usize]))
            }
        },
    };
    slots.iter().map(one).collect()
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What is said where a completed matrix does not fit into memory.
fn no_room((p, q): (usize, usize), bytes: usize) -> anyhow::Error {
    anyhow!(
        "the completed matrix has {p} × {q} cells, and writing it takes about {} MB of memory, which the system does \
         not give; --factors FILE needs little, and each cell follows from it",
        bytes.div_ceil(1_000_000)
    )
}
