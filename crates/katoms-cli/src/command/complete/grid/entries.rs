//! From a table to the entries that are known.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_io::{Table, Values};

use super::layout::Layout;
use super::{Grid, Kind, Names, Slot};
use crate::terminal::count;

#[derive(Debug, Clone, Copy, Default)]
pub struct Meant<'a> {
    pub kind: Option<Kind>,
    pub columns: [Option<&'a str>; 3],
    pub is_header_told: bool,
}

impl Meant<'_> {
    pub fn places(&self, table: &Table, path: &Path) -> Result<[Option<usize>; 3]> {
        let place = |at: usize, role: &str| -> Result<Option<usize>> {
            Ok(self.columns[at].map(|name| table.column(name, path, role)).transpose()?)
        };
        Ok([place(0, "--row")?, place(1, "--column")?, place(2, "--value")?])
    }

    pub fn is_told(&self) -> bool {
        self.kind.is_some() || self.columns.iter().any(Option::is_some)
    }
}

impl Grid {
    pub(super) fn of_table(table: Table, path: &Path, meant: &Meant<'_>) -> Result<Self> {
        if first_line_may_be_names(&table) && !meant.is_header_told {
            bail!(
                "{}: the first line has rising whole numbers, which may be names of columns or values; say --header or \
                 --no-header",
                path.display()
            );
        }
        match Layout::of(&table, path, meant)? {
            Layout::Entries { columns, is_found } => {
                let mut grid = Self::of_entries(&table, columns, path)?;
                grid.notes.extend(how_read(&table, columns, is_found));
                Ok(grid)
            }
            Layout::Table { numbers, names } => Self::of_cells(table, &numbers, names, path),
        }
    }

    pub(super) fn of_entries(table: &Table, [row, column, value]: [usize; 3], path: &Path) -> Result<Self> {
        let name = |j: usize| table.columns[j].name.clone();
        let Values::Numbers(values) = &table.columns[value].values else {
            bail!("{}: column {} ({}) must hold the values, as numbers", path.display(), value + 1, name(value));
        };
        [row, column, value].iter().try_for_each(|&j| check_finite(table, j, path))?;
        let ((rows, row_names), (columns, column_names)) =
            (numbered(table, row, path)?, numbered(table, column, path)?);
        let kept: Vec<usize> = (0..values.len()).filter(|&e| !values[e].is_nan()).collect();
        let pick = |all: &[usize]| kept.iter().map(|&e| all[e]).collect();
        let shape = (row_names.len(), column_names.len());
        let mut grid = Self::plain(pick(&rows), pick(&columns), kept.iter().map(|&e| values[e]).collect(), shape);
        if kept.len() < values.len() {
            let lines = count(values.len() - kept.len(), "line has", "lines have");
            grid.notes.push(format!("{lines} no value: left out"));
        }
        grid.names = Names::Entries { head: name(row), rows: row_names, columns: column_names };
        grid.is_sparse = true;
        Ok(grid)
    }

    fn of_cells(table: Table, numbers: &[usize], names: Option<usize>, path: &Path) -> Result<Self> {
        numbers.iter().try_for_each(|&j| check_finite(&table, j, path))?;
        if let Some(column) = numbers.iter().find(|&&j| is_empty(&table.columns[j].values)) {
            let name = &table.columns[*column].name;
            bail!(
                "{}: column {name} has no value at all, so there is nothing to fill it from; leave it out (--drop {name})",
                path.display()
            );
        }
        let row_names = names.map(|j| numbered(&table, j, path)).transpose()?;
        let row_names = row_names.map(|(codes, labels)| codes.iter().map(|&code| labels[code].clone()).collect());
        let (mut cells, mut slots, mut carried) = (Vec::new(), Vec::new(), Vec::new());
        let rows = table.rows;
        for (j, column) in table.columns.into_iter().enumerate() {
            match column.values {
                Values::Numbers(values) if numbers.contains(&j) => {
                    cells.push(values);
                    slots.push(Slot::Cells(column.name));
                }
                _ => {
                    carried.push(column.name.clone());
                    slots.push(Slot::Carried(column));
                }
            }
        }
        let cells: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
        let mut grid = Self::of_columns(&cells, rows, path)?;
        if !carried.is_empty() {
            grid.notes
                .push(format!("carried along as they are, since they are labels or words: {}", carried.join(", ")));
        }
        grid.names = Names::Table { slots, rows: row_names };
        Ok(grid)
    }
}

fn how_read(table: &Table, columns: [usize; 3], is_found: bool) -> Option<String> {
    let name = |j: usize| table.columns[j].name.as_str();
    let left: Vec<&str> = (0..table.columns.len()).filter(|j| !columns.contains(j)).map(name).collect();
    let [row, column, value] = columns.map(name);
    let out = if left.is_empty() { String::new() } else { format!("; left out: {}", left.join(", ")) };
    let other = if is_found { ". If it is a table, say --as table" } else { "" };
    (is_found || !left.is_empty())
        .then(|| format!("each line is an entry: {row} is its row, {column} its column, {value} its value{out}{other}"))
}

/// Whether the first line of a table without names is one of numbers that count columns: whole, rising, up to more than
/// any value below, of which some are missing. A pivot that pandas writes without its index begins so.
fn first_line_may_be_names(table: &Table) -> bool {
    let numbers = |column: &katoms_io::Column| match &column.values {
        Values::Numbers(values) => Some(values.clone()),
        Values::Words { .. } => None,
    };
    let Some(columns) = table.columns.iter().map(numbers).collect::<Option<Vec<_>>>() else { return false };
    let first: Vec<f64> = columns.iter().filter_map(|column| column.first().copied()).collect();
    let below = || columns.iter().flat_map(|column| column.iter().skip(1));
    let rises = first.len() > 2 && first.is_sorted_by(|a, b| a < b) && first.iter().all(|v| v.fract() == 0.0);
    let last = first.last().copied().unwrap_or(0.0);
    !table.has_names && rises && below().any(|v| v.is_nan()) && below().all(|v| v.is_nan() || *v < last)
}

fn is_empty(values: &Values) -> bool {
    matches!(values, Values::Numbers(values) if values.iter().all(|v| v.is_nan()))
}

/// `, line 7, column 3 (age)`, or `, row 6, …` where a file has no lines.
fn place(table: &Table, row: usize, column: usize) -> String {
    let line = table.lines.as_ref().and_then(|lines| lines.get(row));
    let line = line.map_or_else(|| format!("row {}", row + 1), |line| format!("line {line}"));
    let name = if table.has_names { format!(" ({})", table.columns[column].name) } else { String::new() };
    format!(", {line}, column {}{name}", column + 1)
}

/// Refuses a value that is there and not finite.
fn check_finite(table: &Table, column: usize, path: &Path) -> Result<()> {
    let Values::Numbers(values) = &table.columns[column].values else { return Ok(()) };
    match values.iter().position(|v| v.is_infinite()) {
        Some(row) => Err(super::infinite(path, place(table, row, column), values[row])),
        None => Ok(()),
    }
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
