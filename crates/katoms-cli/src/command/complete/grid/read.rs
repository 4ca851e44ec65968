//! From a file to the entries that are known.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_io::{Array, Column, Picture, Source, Table, Values};

use super::{Grid, Kind, Names};

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
            Source::Genotypes(_) => bail!(
                "{}: genotypes are not completed here; a fit takes the mean of the variant for what is missing",
                path.display()
            ),
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
