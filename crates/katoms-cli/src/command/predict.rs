//! `katoms predict`: a saved model on new data.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use katoms_io::{Ask, Column, Dataset, Model, Source, Values};
use serde_json::json;

use crate::Ended;
use crate::data::ReadingArgs;
use crate::told::{Told, count};

/// `katoms predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms predict model.json new.csv > predictions.csv
  katoms predict model.json new.parquet --out predictions.parquet

Columns are matched by name, in any order; others are ignored. Classes get a column with the probability of the class
that the model calls the second.")]
pub struct PredictArgs {
    /// A model that katoms saved
    model: PathBuf,
    /// The data, with the columns of the model
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Write the predictions here, as CSV or Parquet by the name's ending [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print them as JSON on standard output
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl PredictArgs {
    pub(super) fn run(&self, told: &Told) -> Result<Ended> {
        let bytes = std::fs::read(&self.model).with_context(|| format!("{} cannot be read", self.model.display()))?;
        let model = Model::from_json(&self.model, &bytes)?;
        let source = self.source(&model)?;
        let ask = Ask { path: self.data.clone(), missing: self.reading.missing(), ..Ask::default() };
        let dataset = model.dataset(source, &ask)?;
        dataset.notes.iter().for_each(|note| told.say(format!("note: {note}")));
        let columns = predictions(&model, &dataset)?;
        if self.json {
            let of = |column: &Column| match &column.values {
                Values::Numbers(values) => json!(values),
                Values::Words { levels, codes } => {
                    json!(codes.iter().map(|c| c.map(|c| levels[c as usize].clone())).collect::<Vec<_>>())
                }
            };
            let all: serde_json::Map<String, serde_json::Value> =
                columns.iter().map(|column| (column.name.clone(), of(column))).collect();
            told.print_json(&all)?;
        }
        match &self.out {
            Some(path) => {
                katoms_io::save(path, &table_file(path, &columns)?)?;
                told.say(format!("{} -> {}", count(dataset.rows.len(), "prediction", "predictions"), path.display()));
            }
            None if !self.json => told.print(&String::from_utf8_lossy(&katoms_io::write_csv(&columns)))?,
            None => {}
        }
        Ok(Ended::Done)
    }

    /// The data, with the model's categories read as such.
    fn source(&self, model: &Model) -> Result<Source> {
        let mut options = self.reading.format.options()?;
        let said = options.categorical.clone();
        options.categorical.extend(model.categorical());
        let source = katoms_io::read(&self.data, &options)?;
        let Source::Table(table) = &source else { return Ok(source) };
        // Only what was read tells whether columns without names stand where they stood.
        let moved = model.categorical_among(table.columns.len());
        if table.has_names || moved == model.categorical() || self.data == Path::new("-") {
            return Ok(source);
        }
        options.categorical = said.into_iter().chain(moved).collect();
        Ok(katoms_io::read(&self.data, &options)?)
    }
}

/// A table as the name's ending wants it.
fn table_file(path: &Path, columns: &[Column]) -> Result<Vec<u8>> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(katoms_io::write_csv(columns)),
        Some("parquet") => Ok(katoms_io::write_parquet(columns)?),
        _ => bail!("{}: choose a name that ends in .csv or .parquet", path.display()),
    }
}

/// The predictions, with probabilities for classes, and the rows that were left out told by number.
fn predictions(model: &Model, dataset: &Dataset) -> Result<Vec<Column>> {
    let z = model.predict(dataset)?;
    let mut columns = Vec::new();
    if dataset.rows.len() < dataset.file_rows {
        let rows = dataset.rows.iter().map(|&row| (row + 1) as f64).collect();
        columns.push(Column { name: "row".into(), values: Values::Numbers(rows) });
    }
    match &model.target.classes {
        None => columns.push(Column { name: "prediction".into(), values: Values::Numbers(z) }),
        Some(classes) => {
            let levels = classes.to_vec();
            let codes = z.iter().map(|&z| Some(u32::from(z > 0.0))).collect();
            columns.push(Column { name: "prediction".into(), values: Values::Words { levels, codes } });
            let probabilities = z.into_iter().map(katoms::loss::Logistic::probability).collect();
            columns.push(Column { name: "probability".into(), values: Values::Numbers(probabilities) });
        }
    }
    Ok(columns)
}
