//! What a table holds: an entry of a matrix on each line, or the matrix itself. Where that is in doubt, nobody guesses.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};
use katoms_io::{Column, Table, Values};

use super::roles::{Role, is_label, role};
use super::{Kind, Meant};

/// The share of lines whose row and column no other line has, at least, where each line is an entry.
const UNIQUE_PAIRS: f64 = 0.95;
/// Seconds and milliseconds since 1970 of the years from 1973 to 2600: what a column of times without a name holds.
const TIMES: [std::ops::Range<f64>; 2] = [1e8..2e10, 1e11..2e13];

#[derive(Debug, PartialEq, Eq)]
pub enum Layout {
    /// The columns of rows, of columns and of values; whether that was found and not told.
    Entries { columns: [usize; 3], is_found: bool },
    /// Which columns hold numbers to complete; which one names the rows.
    Table { numbers: Vec<usize>, names: Option<usize> },
}

impl Layout {
    pub fn of(table: &Table, path: &Path, meant: &Meant<'_>) -> Result<Self> {
        let given = meant.places(table, path)?;
        let says_entries = given[1].is_some() || given[2].is_some();
        match meant.kind {
            Some(Kind::Table) if says_entries => {
                bail!("--column and --value tell the columns of entries; a table (--as table) has none of these")
            }
            Some(Kind::Table) => Ok(Self::table(table, given[0])),
            Some(Kind::Entries) => told_entries(table, path, given),
            None if says_entries => told_entries(table, path, given),
            None => match found_entries(table, given) {
                Found::Entries(columns) => Ok(Self::Entries { columns, is_found: true }),
                Found::Unsure(suggested) => bail!("{}", question(table, path, suggested)),
                Found::Nothing => Ok(Self::table(table, given[0])),
            },
        }
    }

    fn table(table: &Table, told: Option<usize>) -> Self {
        let identifiers: Vec<usize> = (0..table.columns.len()).filter(|&j| is_identifier(table, j)).collect();
        let names_rows = |&j: &usize| is_full(&table.columns[j]) && distinct(&table.columns[j]) == table.rows;
        let is_number = |j: &usize| matches!(table.columns[*j].values, Values::Numbers(_));
        let numbers =
            (0..table.columns.len()).filter(is_number).filter(|j| !identifiers.contains(j) && told != Some(*j));
        Self::Table {
            numbers: numbers.collect(),
            names: told.or_else(|| {
                Some(0).filter(|_| {
                    let is_words = table.columns.first().is_some_and(|c| matches!(c.values, Values::Words { .. }));
                    (is_words || identifiers.contains(&0)) && names_rows(&0)
                })
            }),
        }
    }
}

/// Rows, columns and values as they were told; the others by their names, or in order where there are three.
fn told_entries(table: &Table, path: &Path, given: [Option<usize>; 3]) -> Result<Layout> {
    let named = |wanted: Role| {
        let mut found =
            (0..table.columns.len()).filter(|&j| named_role(table, j) == Some(wanted) && !given.contains(&Some(j)));
        found.next().filter(|_| found.next().is_none())
    };
    let by_name = [Role::Row, Role::Column, Role::Value].map(named);
    let mut places: Vec<Option<usize>> = given.iter().zip(by_name).map(|(given, named)| given.or(named)).collect();
    let further = |places: &[Option<usize>]| -> Vec<usize> {
        (0..table.columns.len()).filter(|&j| !places.contains(&Some(j)) && !is_time(table, j)).collect()
    };
    let open = places.iter().filter(|place| place.is_none()).count();
    let left = further(&places);
    if left.len() == open {
        let mut left = left.into_iter();
        places.iter_mut().filter(|place| place.is_none()).for_each(|place| *place = left.next());
    }
    match places[..] {
        [Some(row), Some(column), Some(value)] if row != column && column != value && row != value => {
            Ok(Layout::Entries { columns: [row, column, value], is_found: false })
        }
        [Some(_), Some(_), Some(_)] => bail!("--row, --column and --value must be three columns"),
        _ => bail!(
            "{}: entries need a row, a column and a value on each line; which of the columns are they? Say --row, --column \
             and --value, each with a name or a number from 1. There are: {}",
            path.display(),
            listed(table)
        ),
    }
}

enum Found {
    Entries([usize; 3]),
    Unsure([usize; 3]),
    Nothing,
}

fn found_entries(table: &Table, given: [Option<usize>; 3]) -> Found {
    match by_names(table, given[0]) {
        Found::Nothing if given[0].is_none() => by_look(table),
        found => found,
    }
}

/// By the names of the columns: one says rows, one columns, and one values, or it is the only one left.
fn by_names(table: &Table, row: Option<usize>) -> Found {
    let with = |wanted: Role| -> Vec<usize> {
        (0..table.columns.len()).filter(|&j| Some(j) != row && named_role(table, j) == Some(wanted)).collect()
    };
    let rows = row.map_or_else(|| with(Role::Row), |row| vec![row]);
    let (columns, mut values) = (with(Role::Column), with(Role::Value));
    let (Some(&row), Some(&column)) = (rows.first(), columns.first()) else { return Found::Nothing };
    let is_number = |j: &usize| matches!(table.columns[*j].values, Values::Numbers(_));
    let is_said = !values.is_empty();
    values.retain(is_number);
    if !is_said {
        let is_open = |j: &usize| ![row, column].contains(j) && named_role(table, *j).is_none();
        values = (0..table.columns.len()).filter(is_number).filter(is_open).collect();
    }
    let Some(&value) = values.first() else { return Found::Nothing };
    let is_id = |j: usize| is_full(&table.columns[j]) && is_whole(&table.columns[j]);
    // Where no row or no column comes twice, the lines are the rows of a table.
    let repeats = |j: usize| distinct(&table.columns[j]) < table.rows;
    if !is_id(row) || !is_id(column) || !repeats(row) || !repeats(column) {
        return Found::Nothing;
    }
    match [rows.len(), columns.len(), values.len()] {
        [1, 1, 1] => Found::Entries([row, column, value]),
        // several values of a row and a column, and nobody says which: a table of features as well
        [1, 1, _] if !is_said && table.columns.iter().any(|column| !is_full(column)) => Found::Nothing,
        _ => Found::Unsure([row, column, value]),
    }
}

/// By what is in the columns: two of labels, whose pairs are (nearly) all different, and a number; nothing is missing.
fn by_look(table: &Table) -> Found {
    let [row, column, value, further @ ..] = &table.columns[..] else { return Found::Nothing };
    let ids = [row, column].into_iter().all(|c| is_whole(c) && distinct(c) < table.rows);
    let is_number = matches!(value.values, Values::Numbers(_));
    if !ids || !is_number || !table.columns.iter().all(is_full) || unique_pairs(row, column) < UNIQUE_PAIRS {
        return Found::Nothing;
    }
    let are_words = [row, column].into_iter().all(|c| matches!(c.values, Values::Words { .. }));
    let only_times = (3..3 + further.len()).all(|j| is_time(table, j));
    // Whole numbers under names that say something else may be features.
    match only_times && (are_words || !table.has_names) {
        true => Found::Entries([0, 1, 2]),
        false => Found::Unsure([0, 1, 2]),
    }
}

fn question(table: &Table, path: &Path, [row, column, value]: [usize; 3]) -> String {
    let name = |j: usize| {
        let name = if table.has_names { table.columns[j].name.clone() } else { (j + 1).to_string() };
        if name.contains(char::is_whitespace) { format!("'{name}'") } else { name }
    };
    format!(
        "{}: is this a table, or is each line an entry of a matrix, with a row, a column and a value? Say --as table, or \
         --as entries with the columns that hold them, perhaps --row {} --column {} --value {}. There are: {}",
        path.display(),
        name(row),
        name(column),
        name(value),
        listed(table)
    )
}

fn listed(table: &Table) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(SHOWN).collect();
    let more = table.columns.len().saturating_sub(SHOWN);
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn named_role(table: &Table, column: usize) -> Option<Role> {
    table.has_names.then(|| role(&table.columns[column].name)).flatten()
}

fn is_time(table: &Table, column: usize) -> bool {
    let of = &table.columns[column];
    let looks = match &of.values {
        Values::Numbers(values) => TIMES.iter().any(|range| values.iter().all(|v| range.contains(v))),
        Values::Words { .. } => false,
    };
    named_role(table, column) == Some(Role::Time) || (!table.has_names && is_whole(of) && looks)
}

/// Whether a column of whole numbers labels rows and measures nothing: the first one, where its name says so or is
/// missing, as pandas writes an index; any other one, where its name says so and no number comes twice. Without names,
/// a first column that counts the rows.
fn is_identifier(table: &Table, column: usize) -> bool {
    let of = &table.columns[column];
    let Values::Numbers(values) = &of.values else { return false };
    if !is_whole(of) || !is_full(of) || table.rows < 2 {
        return false;
    }
    let is_unnamed = of.name == format!("x{}", column + 1);
    let says = matches!(named_role(table, column), Some(Role::Row | Role::Column | Role::Label));
    match (column, table.has_names) {
        (0, true) => says || (is_unnamed && distinct(of) == table.rows),
        (0, false) => {
            let counts = |first: f64| values.iter().enumerate().all(|(i, v)| *v == first + i as f64);
            counts(0.0) || counts(1.0)
        }
        (_, true) => is_label(&of.name) && distinct(of) == table.rows,
        (_, false) => false,
    }
}

fn is_full(column: &Column) -> bool {
    match &column.values {
        Values::Numbers(values) => values.iter().all(|v| !v.is_nan()),
        Values::Words { codes, .. } => codes.iter().all(Option::is_some),
    }
}

/// Whether labels could look so: words, or whole numbers from 0 on.
fn is_whole(column: &Column) -> bool {
    match &column.values {
        Values::Numbers(values) => values.iter().all(|v| v.is_nan() || (v.fract() == 0.0 && *v >= 0.0)),
        Values::Words { .. } => true,
    }
}

fn keys(column: &Column) -> Vec<u64> {
    match &column.values {
        Values::Numbers(values) => values.iter().map(|v| v.to_bits()).collect(),
        Values::Words { codes, .. } => codes.iter().map(|code| code.map_or(u64::MAX, u64::from)).collect(),
    }
}

fn distinct(column: &Column) -> usize {
    keys(column).into_iter().collect::<HashSet<_>>().len()
}

fn unique_pairs(row: &Column, column: &Column) -> f64 {
    let pairs: Vec<(u64, u64)> = keys(row).into_iter().zip(keys(column)).collect();
    let different = pairs.iter().collect::<HashSet<_>>().len();
    different as f64 / pairs.len().max(1) as f64
}
