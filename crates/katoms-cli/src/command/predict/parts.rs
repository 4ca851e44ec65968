//! New data in several files: the columns of a model from blocks of columns or of rows.

use std::path::PathBuf;

use anyhow::{Result, bail};
use katoms_io::{Column, MaxUnpacked, Model, Source, Table, Values};

use crate::terminal::count;
use crate::workers::{Matrix, named};

/// The columns that the model reads, from files that together have those of its fit. No other column is looked at.
pub fn joined(files: &[PathBuf], model: &Model, max_unpacked: MaxUnpacked) -> Result<Source> {
    let Some(wanted) = model.unnamed_columns else {
        bail!(
            "{}: the model's features have names, which files of numbers alone do not; give one file that has the columns",
            named(files)
        );
    };
    let parts: Vec<Matrix> = files.iter().map(|file| Matrix::open(file, max_unpacked)).collect::<Result<_>>()?;
    let shapes: Vec<_> = parts.iter().map(Matrix::shape).collect();
    let hold_rows = shapes.iter().all(|shape| shape.columns == wanted);
    if !hold_rows && shapes.iter().map(|shape| shape.columns).sum::<usize>() != wanted {
        bail!(
            "{}: {} in the first and {} in all; the model was fitted to {wanted}, so either every file has as many (blocks of \
             rows), or all files together (blocks of columns)",
            named(files),
            count(shapes[0].columns, "column", "columns"),
            shapes.iter().map(|shape| shape.columns).sum::<usize>(),
        );
    }
    if let Some(at) = shapes.iter().position(|shape| !hold_rows && shape.rows != shapes[0].rows) {
        bail!(
            "{} has {}, and {} has {}; blocks of columns need the same rows",
            files[at].display(),
            count(shapes[at].rows, "row", "rows"),
            files[0].display(),
            shapes[0].rows
        );
    }
    let values = |mut place: usize| -> Vec<f64> {
        if hold_rows {
            return parts.iter().flat_map(|part| part.column(place)).collect();
        }
        for (part, shape) in parts.iter().zip(&shapes) {
            if place < shape.columns {
                return part.column(place);
            }
            place -= shape.columns;
        }
        Vec::new()
    };
    let column = |name: String| {
        // Columns without names are called x1, x2, ….
        let place = name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok()).unwrap_or_default();
        Column { values: Values::Numbers(place.checked_sub(1).map(&values).unwrap_or_default()), name }
    };
    let rows = if hold_rows { shapes.iter().map(|shape| shape.rows).sum() } else { shapes[0].rows };
    let columns = model.expected().features.into_iter().map(|feature| column(feature.name)).collect();
    Ok(Source::Table(Table::new(columns, rows)))
}
