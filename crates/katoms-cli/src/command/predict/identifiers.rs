//! Columns that tell rows apart: they go with the predictions, so that these can be joined to other tables.

use std::collections::HashSet;

use anyhow::Result;
use katoms_io::{Column, Individual, Model, Table, Values};

/// The identifiers of a table: the columns that are asked for, or else each that the model does not use, has a different
/// value in every row and either stands first or is called an identifier.
pub fn identifiers(table: &Table, asked: &[String], model: &Model) -> Result<Vec<String>> {
    if !asked.is_empty() {
        return Ok(asked.iter().map(|name| table.require(name, "--id")).collect::<Result<_, _>>()?);
    }
    let beside = &model.row_columns;
    let beside = [&beside.event, &beside.strata, &beside.entry, &beside.offset, &beside.exposure];
    let is_beside = |name: &str| beside.iter().any(|column| column.as_deref() == Some(name));
    let is_feature = |name: &str| model.coefficients.iter().any(|c| c.feature.is_of(name));
    let is_target = |name: &str| name == model.target.name || model.target.responses.iter().any(|one| one == name);
    let is_used = |name: &str| is_target(name) || is_beside(name) || is_feature(name);
    let tells_apart = |(place, column): &(usize, &Column)| {
        (*place == 0 || is_identifier(&column.name)) && is_distinct(&column.values)
    };
    let columns = table.columns.iter().enumerate().filter(|_| table.has_names && table.rows > 1);
    let found = columns.filter(|(_, column)| !is_used(&column.name)).filter(tells_apart);
    Ok(found.map(|(_, column)| column.name.clone()).collect())
}

pub fn of_individuals(individuals: &[Individual]) -> Vec<Column> {
    let column = |name: &str, of: fn(&Individual) -> &String| {
        let levels = individuals.iter().map(|one| of(one).clone()).collect();
        let codes = (0..individuals.len()).map(|row| Some(row as u32)).collect();
        Column { name: name.into(), values: Values::Words { levels, codes } }
    };
    vec![column("FID", |one| &one.family), column("IID", |one| &one.id)]
}

/// `id`, `patient_id`, `PassengerId`, `key`, ….
fn is_identifier(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("id") || ["index", "key", "name"].contains(&name.as_str())
}

/// Whether every row has a value of its own: a word, or a whole number.
fn is_distinct(values: &Values) -> bool {
    match values {
        Values::Words { levels, codes } => levels.len() == codes.len() && codes.iter().all(Option::is_some),
        Values::Numbers(numbers) => {
            let mut seen = HashSet::new();
            numbers.iter().all(|v| v.is_finite() && v.fract() == 0.0 && seen.insert((v + 0.0).to_bits()))
        }
    }
}

pub fn rows_of(column: &Column, rows: &[usize]) -> Column {
    let values = match &column.values {
        Values::Numbers(numbers) => {
            Values::Numbers(rows.iter().map(|&row| numbers.get(row).copied().unwrap_or(f64::NAN)).collect())
        }
        Values::Words { levels, codes } => {
            let codes = rows.iter().map(|&row| codes.get(row).copied().flatten()).collect();
            Values::Words { levels: levels.clone(), codes }
        }
    };
    Column { name: column.name.clone(), values }
}
