//! What is completed: entries, cells or pixels, and how the answer is written.

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueEnum;
use katoms::simulate;
use katoms_estimate::{Completed, CompletedMatrix, Observed};
use katoms_io::{Array, Column, Picture, ReadOptions, Source, Table, Values};
use serde_json::json;

use crate::told::count;

/// Cells that are written out.
const MOST_CELLS: usize = 200_000_000;

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A row, a column and a value on each line
    Entries,
    /// A value in each cell, some of them empty
    Cells,
}

/// A matrix of which some entries are known; a colour picture is three of them side by side.
#[derive(Debug)]
pub struct Grid {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    shape: (usize, usize),
    names: Names,
    is_sparse: bool,
    /// The channels of a picture: so many matrices side by side.
    channels: usize,
    /// What was hidden on purpose.
    hidden: Vec<(usize, usize, f64)>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// What rows and columns are called.
#[derive(Debug, Clone)]
enum Names {
    /// Of the rows and of the columns; those of the entries' three columns first.
    Entries { heads: [String; 3], rows: Vec<String>, columns: Vec<String> },
    /// Columns of a table, and columns of words that are carried along.
    Cells { columns: Vec<String>, carried: Vec<Column> },
    /// Nothing.
    None,
}

/// How far the completed matrix is from what was hidden.
#[derive(Debug, Clone, Copy)]
pub struct HiddenError {
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The peak signal-to-noise ratio of the whole picture, in dB.
    pub psnr: Option<f64>,
}

impl Grid {
    /// What a file holds.
    pub fn new(source: Source, path: &Path, kind: Option<Kind>) -> Result<Self> {
        match source {
            Source::Table(table) => match kind.unwrap_or_else(|| natural_kind(&table)) {
                Kind::Entries => Self::of_entries(&table, path),
                Kind::Cells => Self::of_cells(table, path),
            },
            Source::Array(array) => Self::of_array(&array, path),
            Source::Sparse(sparse) => {
                let mut columns = Vec::with_capacity(sparse.values.len());
                for j in 0..sparse.columns {
                    columns.extend(std::iter::repeat_n(j, sparse.starts[j + 1] - sparse.starts[j]));
                }
                let rows: Vec<usize> = sparse.indices.iter().map(|&i| i as usize).collect();
                if let Some(e) = sparse.values.iter().position(|v| !v.is_finite()) {
                    let place = format!(", row {}, column {}", rows[e] + 1, columns[e] + 1);
                    return Err(infinite(path, place, sparse.values[e]));
                }
                let plain = Self::plain(rows, columns, sparse.values, (sparse.rows, sparse.columns));
                Ok(Self { is_sparse: true, ..plain })
            }
            Source::Arrays { arrays, .. } => Self::of_arrays(&arrays, path),
            Source::Picture(picture) => Ok(Self::of_picture(&picture)),
        }
    }

    fn plain(rows: Vec<usize>, columns: Vec<usize>, values: Vec<f64>, shape: (usize, usize)) -> Self {
        let (hidden, notes) = (Vec::new(), Vec::new());
        Self { rows, columns, values, shape, names: Names::None, is_sparse: false, channels: 0, hidden, notes }
    }

    fn of_entries(table: &Table, path: &Path) -> Result<Self> {
        let [row, column, value] = table.columns.get(..3).and_then(|c| <&[Column; 3]>::try_from(c).ok()).map_or_else(
            || bail!("{}: entries need three columns: a row, a column, a value", path.display()),
            |three| Ok([&three[0], &three[1], &three[2]]),
        )?;
        let Values::Numbers(values) = &value.values else {
            bail!("{}: the third column ({}) must hold the values, as numbers", path.display(), value.name);
        };
        check_finite(table, 3, path)?;
        let ((rows, row_names), (columns, column_names)) = (numbered(table, 0, path)?, numbered(table, 1, path)?);
        let kept: Vec<usize> = (0..values.len()).filter(|&e| !values[e].is_nan()).collect();
        let pick = |all: &[usize]| kept.iter().map(|&e| all[e]).collect();
        let shape = (row_names.len(), column_names.len());
        let mut grid = Self::plain(pick(&rows), pick(&columns), kept.iter().map(|&e| values[e]).collect(), shape);
        if kept.len() < values.len() {
            grid.notes.push(format!("{} lines without a value were left out", values.len() - kept.len()));
        }
        let heads = [row.name.clone(), column.name.clone(), value.name.clone()];
        grid.names = Names::Entries { heads, rows: row_names, columns: column_names };
        grid.is_sparse = true;
        Ok(grid)
    }

    fn of_cells(table: Table, path: &Path) -> Result<Self> {
        check_finite(&table, table.columns.len(), path)?;
        let rows = table.rows;
        let (mut columns, mut carried) = (Vec::new(), Vec::new());
        for column in table.columns {
            match column.values {
                Values::Numbers(values) => columns.push((column.name, values)),
                Values::Words { .. } => carried.push(column),
            }
        }
        let cells: Vec<&[f64]> = columns.iter().map(|(_, values)| values.as_slice()).collect();
        let mut grid = Self::of_columns(&cells, rows, path)?;
        if !carried.is_empty() {
            let names: Vec<&str> = carried.iter().map(|column| column.name.as_str()).collect();
            grid.notes.push(format!("columns of words are carried along as they are: {}", names.join(", ")));
        }
        grid.names = Names::Cells { columns: columns.into_iter().map(|(name, _)| name).collect(), carried };
        Ok(grid)
    }

    fn of_array(array: &Array, path: &Path) -> Result<Self> {
        let columns: Vec<Vec<f64>> = (0..array.columns).map(|j| array.column(j)).collect();
        let cells: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        Self::of_columns(&cells, array.rows, path)
    }

    /// Cells column by column; NaN is empty.
    fn of_columns(cells: &[&[f64]], rows: usize, path: &Path) -> Result<Self> {
        let (mut at, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (j, column) in cells.iter().enumerate() {
            for (i, &value) in column.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                if value.is_infinite() {
                    return Err(infinite(path, format!(", row {}, column {}", i + 1, j + 1), value));
                }
                at.push(i);
                columns.push(j);
                values.push(value);
            }
        }
        if values.is_empty() {
            bail!("{}: there is no number to begin with", path.display());
        }
        let mut grid = Self::plain(at, columns, values, (rows, cells.len()));
        if grid.values.len() == rows * cells.len() {
            grid.notes.push(
                "no cell is empty: what comes out is a matrix of lower rank that is near; --observed hides some".into(),
            );
        }
        Ok(grid)
    }

    /// Three vectors of the same length, or one matrix.
    fn of_arrays(arrays: &[(String, Array)], path: &Path) -> Result<Self> {
        let named = |names: &[&str]| {
            let found = arrays.iter().find(|(name, a)| a.columns == 1 && names.contains(&name.to_lowercase().as_str()));
            found.map(|(_, array)| array.column(0))
        };
        let rows = named(&["row", "rows", "user", "users", "i"]);
        let columns = named(&["column", "columns", "col", "cols", "item", "items", "j"]);
        let values = named(&["value", "values", "rating", "ratings", "data"]);
        if let (Some(rows), Some(columns), Some(values)) = (rows, columns, values) {
            let column = |name: &str, values| Column { name: name.into(), values: Values::Numbers(values) };
            let rows_there = rows.len();
            let columns = vec![column("row", rows), column("column", columns), column("value", values)];
            return Self::of_entries(&Table::new(columns, rows_there), path);
        }
        match arrays.iter().max_by_key(|(_, array)| array.columns) {
            Some((_, array)) if array.columns > 1 => Self::of_array(array, path),
            _ => bail!(
                "{}: a completion needs arrays named rows, columns and values, or one matrix; there are: {}",
                path.display(),
                arrays.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
            ),
        }
    }

    fn of_picture(picture: &Picture) -> Self {
        let (height, width, channels) = (picture.rows, picture.columns, picture.channels.len());
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (c, channel) in picture.channels.iter().enumerate() {
            for pixel in (0..height * width).filter(|&pixel| picture.seen[pixel]) {
                rows.push(pixel / width);
                columns.push(c * width + pixel % width);
                values.push(channel[pixel]);
            }
        }
        let mut grid = Self::plain(rows, columns, values, (height, channels * width));
        grid.channels = channels;
        grid
    }

    /// The same without the pixels that are transparent or black in another picture.
    pub fn masked(self, mask: &Path) -> Result<Self> {
        if !self.is_picture() {
            bail!("--mask goes with a picture (PNG, JPEG); leave the cells of a table empty that are missing");
        }
        let Source::Picture(picture) = katoms_io::read(mask, &ReadOptions::default())? else {
            bail!("{}: the mask must be a picture (PNG), white where a pixel is seen", mask.display());
        };
        let (height, width) = self.picture_size();
        if (picture.rows, picture.columns) != (height, width) {
            bail!(
                "{}: the mask has {} × {} pixels, the picture {height} × {width}; they must agree",
                mask.display(),
                picture.rows,
                picture.columns
            );
        }
        // Where a mask has transparent pixels, they are what is missing, whatever the colour of the others.
        let by_transparency = picture.seen.iter().any(|seen| !seen);
        let is_light = |pixel: usize| picture.channels.iter().any(|channel| channel[pixel] >= 0.5);
        let is_seen = |pixel: usize| if by_transparency { picture.seen[pixel] } else { is_light(pixel) };
        // What lies under a mask is no truth to compare with: often it is paint.
        Ok(self.parted(|_, i, j| is_seen(i * width + j % width)).0)
    }

    /// The same without all but this share of what is there, which is kept to compare with.
    pub fn hiding(self, share: f64, seed: u64) -> Result<Self> {
        let (height, width) = self.picture_size();
        // The pixels of a picture lie densely; of any other matrix only the entries count.
        let places = if self.is_picture() { height * width } else { self.values.len() };
        let mut seen = vec![false; places];
        simulate::observed_places(1, places, share, seed).1.iter().for_each(|&place| seen[place] = true);
        let is_picture = self.is_picture();
        let (grid, hidden) = self.parted(|e, i, j| seen[if is_picture { i * width + j % width } else { e }]);
        if grid.values.is_empty() {
            bail!("--observed leaves nothing; give a larger share");
        }
        Ok(Self { hidden, ..grid })
    }

    /// What passes a test of entry, row and column, and the rest. The pixels of a colour picture are seen or hidden as
    /// one.
    fn parted(mut self, test: impl Fn(usize, usize, usize) -> bool) -> (Self, Vec<(usize, usize, f64)>) {
        let (mut seen, mut hidden) = (Vec::new(), Vec::new());
        for (e, ((&i, &j), &v)) in self.rows.iter().zip(&self.columns).zip(&self.values).enumerate() {
            if test(e, i, j) { &mut seen } else { &mut hidden }.push((i, j, v));
        }
        self.rows = seen.iter().map(|e| e.0).collect();
        self.columns = seen.iter().map(|e| e.1).collect();
        self.values = seen.iter().map(|e| e.2).collect();
        (self, hidden)
    }

    fn picture_size(&self) -> (usize, usize) {
        (self.shape.0, self.shape.1 / self.channels.max(1))
    }

    /// Whether it is a picture.
    pub fn is_picture(&self) -> bool {
        self.channels > 0
    }

    /// Whether it came entry by entry, as ratings do.
    pub fn is_sparse(&self) -> bool {
        self.is_sparse
    }

    /// (rows, columns) of the matrix.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// The number of entries that are known.
    pub fn seen(&self) -> usize {
        self.values.len()
    }

    /// The entries that are known.
    pub fn observed(&self) -> Result<Observed> {
        Ok(Observed::new(self.shape, &self.rows, &self.columns, &self.values)?)
    }

    /// The same with a note on how many entries came at a place that another one has.
    pub fn noting(mut self, repeated: usize) -> Self {
        if repeated > 0 {
            let entries = count(repeated, "entry repeats", "entries repeat");
            self.notes
                .push(format!("{entries} the place of another one; a place counts once, with the mean of its values"));
        }
        self
    }

    /// What was done, in a line.
    pub fn title(&self, rank: usize) -> String {
        let share = 100.0 * self.values.len() as f64 / (self.shape.0 * self.shape.1).max(1) as f64;
        let (height, width) = self.picture_size();
        match self.channels {
            0 => format!("a matrix of rank {rank}: {} × {}, {share:.1} % of it seen", self.shape.0, self.shape.1),
            _ => format!("a picture of rank {rank}: {width} × {height} pixels, {share:.1} % of them seen"),
        }
    }

    /// How far the completed matrix is from what was hidden; `None` where nothing was.
    pub fn hidden_error(&self, matrix: &CompletedMatrix) -> Option<HiddenError> {
        let (rows, columns): (Vec<usize>, Vec<usize>) = self.hidden.iter().map(|e| (e.0, e.1)).unzip();
        let square = |predicted: Vec<f64>, truth: &mut dyn Iterator<Item = f64>| -> f64 {
            predicted.iter().zip(truth).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let hidden = square(matrix.predict(&rows, &columns).ok()?, &mut self.hidden.iter().map(|e| e.2));
        if self.hidden.is_empty() {
            return None;
        }
        let seen = square(matrix.predict(&self.rows, &self.columns).ok()?, &mut self.values.iter().copied());
        let mean = (hidden + seen) / (self.hidden.len() + self.values.len()) as f64;
        let psnr = (self.channels > 0 && mean > 0.0).then(|| -10.0 * mean.log10());
        Some(HiddenError { rmse: (hidden / self.hidden.len() as f64).sqrt(), psnr })
    }

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
        let (mut dense, seen) = (matrix.to_dense(), self.observed()?);
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
        let bounds = [matrix.bounds.0, matrix.bounds.1].map(|bound| bound.is_finite().then_some(bound));
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

/// Entries where there are three full columns, of which the last holds numbers and the others repeat.
fn natural_kind(table: &Table) -> Kind {
    let full = |column: &Column| match &column.values {
        Values::Numbers(values) => values.iter().all(|v| !v.is_nan()),
        Values::Words { codes, .. } => codes.iter().all(Option::is_some),
    };
    let whole = |column: &Column| match &column.values {
        Values::Numbers(values) => values.iter().all(|v| v.fract() == 0.0),
        Values::Words { .. } => true,
    };
    let entries = table.columns.len() == 3
        && table.columns.iter().all(full)
        && table.columns[..2].iter().all(whole)
        && matches!(table.columns[2].values, Values::Numbers(_));
    if entries { Kind::Entries } else { Kind::Cells }
}

/// `, line 7, column 3 (age)`, or `, row 6, …` where a file has no lines.
fn place(table: &Table, row: usize, column: usize) -> String {
    let line = table.lines.as_ref().and_then(|lines| lines.get(row));
    let line = line.map_or_else(|| format!("row {}", row + 1), |line| format!("line {line}"));
    let name = if table.has_names { format!(" ({})", table.columns[column].name) } else { String::new() };
    format!(", {line}, column {}{name}", column + 1)
}

/// Refuses a value that is there and not finite, in the first columns of a table.
fn check_finite(table: &Table, columns: usize, path: &Path) -> Result<()> {
    for (j, column) in table.columns.iter().take(columns).enumerate() {
        let Values::Numbers(values) = &column.values else { continue };
        if let Some(i) = values.iter().position(|v| v.is_infinite()) {
            return Err(infinite(path, place(table, i, j), values[i]));
        }
    }
    Ok(())
}

fn infinite(path: &Path, place: String, value: f64) -> anyhow::Error {
    let problem = format!("{value}, but what is known must be finite; correct it, or leave it out as missing");
    katoms_io::Error::Content { path: path.into(), place, problem }.into()
}

/// A column of labels as numbers from 0 on, and the label of each.
fn numbered(table: &Table, column: usize, path: &Path) -> Result<(Vec<usize>, Vec<String>)> {
    let empty = |row: usize| {
        let problem = "the cell is empty; every entry needs a row and a column".into();
        katoms_io::Error::Content { path: path.into(), place: place(table, row, column), problem }
    };
    match &table.columns[column].values {
        Values::Words { levels, codes } => {
            let code = |(row, code): (usize, &Option<u32>)| code.map(|c| c as usize).ok_or_else(|| empty(row));
            Ok((codes.iter().enumerate().map(code).collect::<Result<_, _>>()?, levels.clone()))
        }
        Values::Numbers(values) => {
            if let Some(row) = values.iter().position(|v| v.is_nan()) {
                return Err(empty(row).into());
            }
            let mut levels = values.clone();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            let place = |v: &f64| levels.partition_point(|level| level < v);
            Ok((values.iter().map(place).collect(), levels.iter().map(f64::to_string).collect()))
        }
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
