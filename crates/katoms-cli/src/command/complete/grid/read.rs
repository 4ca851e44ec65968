//! From a file to the entries that are known.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_io::{Array, Column, Picture, Source, Table, Values};

use super::entries::Meant;
use super::roles::{Role, role};
use super::{Grid, Names};

impl Grid {
    pub fn new(source: Source, path: &Path, meant: &Meant<'_>) -> Result<Self> {
        if meant.is_told() && !matches!(source, Source::Table(_)) {
            bail!("--as, --row, --column and --value go with a table; {} holds something else", path.display());
        }
        match source {
            Source::Table(table) => Self::of_table(table, path, meant),
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

    pub(super) fn plain(rows: Vec<usize>, columns: Vec<usize>, values: Vec<f64>, shape: (usize, usize)) -> Self {
        let (hidden, notes) = (Vec::new(), Vec::new());
        Self { rows, columns, values, shape, names: Names::None, is_sparse: false, channels: 0, hidden, notes }
    }

    fn of_array(array: &Array, path: &Path) -> Result<Self> {
        let columns: Vec<Vec<f64>> = (0..array.columns).map(|j| array.column(j)).collect();
        let cells: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        Self::of_columns(&cells, array.rows, path)
    }

    /// Cells column by column; NaN is empty.
    pub(super) fn of_columns(cells: &[&[f64]], rows: usize, path: &Path) -> Result<Self> {
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
        Ok(Self::plain(at, columns, values, (rows, cells.len())))
    }

    fn of_arrays(arrays: &[(String, Array)], path: &Path) -> Result<Self> {
        let named = |wanted: Role| {
            let mut found = arrays.iter().filter(|(name, a)| a.columns == 1 && role(name) == Some(wanted));
            found.next().filter(|_| found.next().is_none())
        };
        if let (Some(rows), Some(columns), Some(values)) = (named(Role::Row), named(Role::Column), named(Role::Value)) {
            let column = |(name, array): &(String, Array)| Column {
                name: name.clone(),
                values: Values::Numbers(array.column(0)),
            };
            let all = [rows, columns, values];
            if all.iter().any(|(_, array)| array.rows != rows.1.rows) {
                let told = all.map(|(name, array)| format!("{name} ({})", array.rows));
                bail!(
                    "{}: arrays of rows, columns and values must be of one length: {}",
                    path.display(),
                    told.join(", ")
                );
            }
            return Self::of_entries(&Table::new(all.map(column).into(), rows.1.rows), [0, 1, 2], path);
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

pub(super) fn infinite(path: &Path, place: String, value: f64) -> anyhow::Error {
    let problem = format!("{value}, but what is known must be finite; correct it, or leave it out as missing");
    katoms_io::Error::Content { path: path.into(), place, problem }.into()
}
