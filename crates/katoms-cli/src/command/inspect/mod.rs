//! `katoms inspect`: what is in a file.

mod columns;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use katoms::select::{Sign, phase_transition_k};
use katoms_io::{Array, Source, Sparse, Table};
use serde::Serialize;

use crate::Ended;
use crate::data::FormatArgs;
use crate::told::{Told, aligned, count, number};
use columns::Seen;

/// Columns that are listed one by one.
const LISTED: usize = 40;

/// `katoms inspect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms inspect houses.csv
  katoms inspect genes.npz --json")]
pub struct InspectArgs {
    /// Any file that `katoms fit` or `katoms complete` takes
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What is known about a file.
#[derive(Debug, Serialize)]
struct Inspected {
    holds: String,
    rows: usize,
    columns: usize,
    columns_seen: Vec<Seen>,
    would: Vec<String>,
}

impl InspectArgs {
    pub(super) fn run(&self, told: &Told) -> Result<Ended> {
        // Inspecting is for files that are not yet as they should be: only what cannot be read at all is an error.
        let source = katoms_io::read(&self.data, &self.format.options()?)?;
        let inspected = inspect(&source);
        if self.json {
            told.print_json(&inspected)?;
        } else {
            told.show(&text(&inspected))?;
        }
        Ok(Ended::Done)
    }
}

fn inspect(source: &Source) -> Inspected {
    match source {
        Source::Table(table) => of_table(table),
        Source::Array(array) => of_array("a matrix of numbers", array),
        Source::Sparse(sparse) => of_sparse(sparse),
        Source::Arrays { arrays, sparse } => {
            let listed = arrays.iter().map(|(name, a)| format!("{name} ({} × {})", a.rows, a.columns));
            let sparse_shape = sparse.iter().map(|s| format!("a sparse matrix ({} × {})", s.rows, s.columns));
            let holds = format!("arrays: {}", listed.chain(sparse_shape).collect::<Vec<_>>().join(", "));
            let matrix = arrays.iter().map(|(_, array)| array).max_by_key(|a| a.columns);
            match (sparse, matrix) {
                (Some(sparse), _) => Inspected { holds, ..of_sparse(sparse) },
                (None, Some(matrix)) => of_array(&holds, matrix),
                (None, None) => of_shape(holds, 0, 0),
            }
        }
        Source::Picture(picture) => {
            let hidden = picture.seen.iter().filter(|seen| !**seen).count();
            let colours = if picture.channels.len() == 1 { "grey" } else { "colour" };
            let mut inspected = of_shape(format!("a {colours} picture"), picture.rows, picture.columns);
            let pixels = picture.rows * picture.columns;
            inspected.would = vec![match hidden {
                0 => "no pixel is missing: `katoms complete` needs a mask or --observed".into(),
                _ => format!("{hidden} of {pixels} pixels are transparent: `katoms complete` would fill them"),
            }];
            inspected
        }
    }
}

fn of_shape(holds: String, rows: usize, columns: usize) -> Inspected {
    Inspected { holds, rows, columns, columns_seen: Vec::new(), would: Vec::new() }
}

fn of_array(holds: &str, array: &Array) -> Inspected {
    let missing = array.count_missing();
    let mut inspected = of_shape(holds.into(), array.rows, array.columns);
    inspected.would = would(array.rows, array.columns, array.columns, missing);
    inspected.with_columns(columns::of_array(array))
}

fn of_sparse(sparse: &Sparse) -> Inspected {
    let share = 100.0 * sparse.values.len() as f64 / (sparse.rows * sparse.columns).max(1) as f64;
    let labels = if sparse.labels.is_some() { ", with a label for each row" } else { "" };
    let mut inspected =
        of_shape(format!("a sparse matrix, {} % of it stored{labels}", number(share)), sparse.rows, sparse.columns);
    let missing = sparse.values.iter().filter(|v| v.is_nan()).count();
    inspected.would = would(sparse.rows, sparse.columns, sparse.columns, missing);
    inspected.with_columns(columns::of_sparse(sparse))
}

fn of_table(table: &Table) -> Inspected {
    let seen = columns::of_table(table);
    let features = seen.iter().map(|column| column.levels.map_or(1, |levels| levels.saturating_sub(1))).sum();
    let missing = seen.iter().map(|column| column.missing).sum();
    let mut inspected = of_shape("a table".into(), table.rows, table.columns.len());
    inspected.would = would(table.rows, table.columns.len(), features, missing);
    inspected.with_columns(Some(seen))
}

impl Inspected {
    /// The same with what is known about its columns; nothing where they are too many to look at.
    fn with_columns(mut self, seen: Option<Vec<Seen>>) -> Self {
        let Some(seen) = seen else {
            self.would.push("too large to look for constant or duplicated columns".into());
            return self;
        };
        let named = |of: &dyn Fn(&Seen) -> bool| -> Vec<&str> {
            seen.iter().filter(|column| of(column)).map(|column| column.name.as_str()).collect()
        };
        let empty = named(&|column| column.range.is_none() && column.levels.unwrap_or(0) == 0);
        if !empty.is_empty() {
            self.would.push(format!("columns without any value: {}", some(&empty)));
        }
        let constant = named(&|column| column.constant);
        if !constant.is_empty() {
            self.would.push(format!("constant columns can explain nothing: {}", some(&constant)));
        }
        let twice = named(&|column| column.duplicate_of.is_some());
        if !twice.is_empty() {
            self.would
                .push(format!("duplicates of an earlier column, of which a fit takes the first: {}", some(&twice)));
        }
        self.columns_seen = seen;
        self
    }
}

/// A few names, and how many more there are.
fn some(names: &[&str]) -> String {
    let more = if names.len() > 5 { format!(", and {} more", names.len() - 5) } else { String::new() };
    format!("{}{more}", names[..names.len().min(5)].join(", "))
}

/// What a fit would do with data of this shape.
fn would(rows: usize, columns: usize, features: usize, missing: usize) -> Vec<String> {
    let mut told = Vec::new();
    // One of the columns is most likely the target.
    let features = features.saturating_sub(1).max(1);
    let choices = count(features, "feature", "features");
    told.push(match features + 1 > columns {
        true => format!("a fit would choose among {choices}: each category but the first has one, and those of a column enter together"),
        false => format!("a fit would choose among {choices}, with one column as its target"),
    });
    if let Ok(k) = phase_transition_k(rows.max(1), features, Sign::Any) {
        let most = k.min(rows.saturating_sub(1)).max(1);
        told.push(format!("data of this shape carry at most about {most} of them; noise leaves room for fewer"));
    }
    if missing > 0 {
        told.push(format!(
            "{} missing: a fit would refuse; --missing mean or --missing drop takes them, `katoms complete` fills them",
            count(missing, "value is", "values are")
        ));
    }
    told
}

fn text(inspected: &Inspected) -> String {
    let Inspected { holds, rows, columns, columns_seen, would } = inspected;
    let mut text = format!("{holds}: {} × {}\n", count(*rows, "row", "rows"), count(*columns, "column", "columns"));
    let row = |seen: &Seen| {
        let range = match (seen.range, seen.levels) {
            (Some([least, mean, largest]), _) => {
                format!("{} to {}, mean {}", number(least), number(largest), number(mean))
            }
            (None, Some(levels)) => count(levels, "level", "levels"),
            (None, None) => "nothing".into(),
        };
        let remarks = seen.constant.then(|| "constant".to_owned());
        let remarks = remarks.into_iter().chain(seen.duplicate_of.iter().map(|other| format!("the same as {other}")));
        vec![
            seen.name.clone(),
            seen.kind.into(),
            seen.missing.to_string(),
            range,
            remarks.collect::<Vec<_>>().join(", "),
        ]
    };
    if !columns_seen.is_empty() {
        let listed: Vec<Vec<String>> = columns_seen.iter().take(LISTED).map(row).collect();
        text += &format!("\n{}", aligned(&["column", "holds", "missing", "values", "remarks"], &listed));
        if columns_seen.len() > LISTED {
            text += &format!("  … and {} more; --json has them all\n", columns_seen.len() - LISTED);
        }
    }
    would.iter().fold(text + "\n", |text, line| text + &format!("- {line}\n"))
}
