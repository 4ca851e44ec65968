//! `katoms inspect`: what is in a file.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use katoms::select::{Sign, phase_transition_k};
use katoms_io::{Array, Column, Source, Sparse, Table, Values};
use serde::Serialize;

use crate::Ended;
use crate::data::ReadingArgs;
use crate::told::{Told, aligned, count, number};

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
    reading: ReadingArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What is known about a column.
#[derive(Debug, Serialize)]
struct Seen {
    name: String,
    kind: &'static str,
    missing: usize,
    /// Different values; words only.
    levels: Option<usize>,
    /// Least, mean and largest; numbers only.
    range: Option<[f64; 3]>,
    constant: bool,
    /// The first column that holds the same.
    duplicate_of: Option<String>,
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
        let source = katoms_io::read(&self.data, &self.reading.options()?)?;
        let inspected = inspect(&source);
        if self.json {
            told.print_json(&inspected)?;
        } else {
            told.print(&text(&inspected))?;
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
    inspected
}

fn of_sparse(sparse: &Sparse) -> Inspected {
    let share = 100.0 * sparse.values.len() as f64 / (sparse.rows * sparse.columns).max(1) as f64;
    let labels = if sparse.labels.is_some() { ", with a label for each row" } else { "" };
    let mut inspected =
        of_shape(format!("a sparse matrix, {} % of it stored{labels}", number(share)), sparse.rows, sparse.columns);
    let missing = sparse.values.iter().filter(|v| v.is_nan()).count();
    inspected.would = would(sparse.rows, sparse.columns, sparse.columns, missing);
    inspected
}

fn of_table(table: &Table) -> Inspected {
    let mut first_with: HashMap<u64, &str> = HashMap::new();
    let mut columns_seen = Vec::new();
    let (mut features, mut atoms, mut missing) = (0, 0, 0);
    for column in &table.columns {
        let same = first_with.get(&digest(column)).map(|name| (*name).to_owned());
        first_with.entry(digest(column)).or_insert(&column.name);
        let seen = Seen { duplicate_of: same, ..look_at(column) };
        missing += seen.missing;
        atoms += 1;
        features += seen.levels.map_or(1, |levels| levels.saturating_sub(1));
        columns_seen.push(seen);
    }
    let mut told = would(table.rows, atoms, features, missing);
    let constant: Vec<&str> = columns_seen.iter().filter(|s| s.constant).map(|s| s.name.as_str()).collect();
    if !constant.is_empty() {
        told.push(format!("constant columns can explain nothing: {}", some(&constant)));
    }
    let twice: Vec<&str> = columns_seen.iter().filter(|s| s.duplicate_of.is_some()).map(|s| s.name.as_str()).collect();
    if !twice.is_empty() {
        told.push(format!("duplicates of an earlier column, of which a fit takes the first: {}", some(&twice)));
    }
    let holds = "a table".into();
    Inspected { holds, rows: table.rows, columns: table.columns.len(), columns_seen, would: told }
}

/// A few names, and how many more there are.
fn some(names: &[&str]) -> String {
    let more = if names.len() > 5 { format!(", and {} more", names.len() - 5) } else { String::new() };
    format!("{}{more}", names[..names.len().min(5)].join(", "))
}

fn look_at(column: &Column) -> Seen {
    let name = column.name.clone();
    match &column.values {
        Values::Numbers(values) => {
            let there: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
            let (least, largest) =
                there.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
            let mean = there.iter().sum::<f64>() / there.len() as f64;
            let range = (!there.is_empty()).then_some([least, mean, largest]);
            let missing = values.len() - there.len();
            let constant = there.iter().all(|&v| v == least);
            Seen { name, kind: "numbers", missing, levels: None, range, constant, duplicate_of: None }
        }
        Values::Words { levels, codes } => {
            let missing = codes.iter().filter(|code| code.is_none()).count();
            let (kind, levels) = ("categories", levels.len());
            Seen { name, kind, missing, levels: Some(levels), range: None, constant: levels < 2, duplicate_of: None }
        }
    }
}

/// Equal columns have equal digests; different ones practically never.
fn digest(column: &Column) -> u64 {
    let mut hasher = DefaultHasher::new();
    match &column.values {
        Values::Numbers(values) => values.iter().for_each(|v| v.to_bits().hash(&mut hasher)),
        Values::Words { levels, codes } => (levels, codes).hash(&mut hasher),
    }
    hasher.finish()
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
