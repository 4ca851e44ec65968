//! `katoms predict`: a saved model on new data.

mod identifiers;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use katoms_io::{Ask, Column, Dataset, Model, Source, Values};
use serde_json::{Value, json};

use crate::Ended;
use crate::data::{ReadingArgs, asked_target, read_phenotype};
use crate::outputs;
use crate::report::Predictions;
use crate::scores::Scores;
use crate::terminal::{Terminal, count};

/// `katoms predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms predict model.json new.csv > predictions.csv
  katoms predict model.json new.parquet --out predictions.parquet
  katoms predict model.json new.csv --id patient --out predictions.csv

Columns are matched by name, in any order. Of the others, one that identifies rows goes with the predictions. For
classes there is a column with the probability of each class. Where the data have the target, the predictions are
scored: R², RMSE and mean absolute error, or for classes AUC, accuracy and log loss.")]
pub struct PredictArgs {
    /// A model that katoms saved
    model: PathBuf,
    /// The data, with the columns of the model
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Columns that identify rows, to go with the predictions [default: found]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    id: Vec<String>,
    /// The column with what was observed, or a file of its own [default: the model's target, where it is there]
    #[arg(short, long, value_name = "COLUMN", help_heading = "Data")]
    target: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Write the predictions here, as CSV or Parquet by the name's ending [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print predictions and scores as JSON on standard output
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl PredictArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let (target, target_file) = asked_target(self.target.as_deref());
        let files = self.reading.files(&self.data);
        let read = files.iter().chain([&self.model]).chain(&target_file).map(|file| Some(file.as_path()));
        outputs::check(&read.collect::<Vec<_>>(), &[self.out.as_deref()])?;
        outputs::check_ending(self.out.as_deref(), &["csv", "parquet"])?;
        let bytes = std::fs::read(&self.model).with_context(|| format!("{} cannot be read", self.model.display()))?;
        let model = Model::from_json(&self.model, &bytes)?;
        let (mut source, ids) = self.source(&model)?;
        let mut ask = Ask {
            path: self.data.clone(),
            missing: self.reading.missing(&source),
            target,
            target_file,
            classes: model.target.classes.is_some(),
            ..Ask::default()
        };
        if let Source::Genotypes(genotypes) = &mut source {
            read_phenotype(genotypes, &mut ask)?;
        }
        let dataset = model.dataset(source, &ask)?;
        dataset.notes.iter().for_each(|note| terminal.say(format!("note: {note}")));
        let linear = model.predict(&dataset)?;
        let scores = dataset.target.as_ref().and_then(|target| {
            let known = target.values.iter().zip(&linear).filter(|(y, _)| !y.is_nan());
            let (observed, predicted) = known.unzip();
            Some((target, Scores::new(model.loss, &Predictions { observed, predicted, weights: Vec::new() })?))
        });
        let columns = columns(&model, &dataset, &ids, linear);
        match &self.out {
            Some(path) => {
                katoms_io::save(path, &table_file(path, &columns)?)?;
                terminal.say(format!(
                    "{} -> {}",
                    count(dataset.rows.len(), "prediction", "predictions"),
                    path.display()
                ));
            }
            None if !self.json => terminal.print(&String::from_utf8_lossy(&katoms_io::write_csv(&columns)))?,
            None => {}
        }
        if let Some((target, scores)) = &scores {
            let rows = count(scores.rows, "row", "rows");
            terminal.say(format!("{} is known in {rows}: {}", target.name, scores.in_words()));
        }
        if self.json {
            let scores = scores.map(|(_, scores)| scores);
            terminal.print_json(&json!({ "predictions": as_json(&columns), "scores": scores }))?;
        }
        Ok(Ended::Done)
    }

    /// The data, read as the model's were: its categories as such, numbers and dates in the same way of writing; and the
    /// columns that identify rows.
    fn source(&self, model: &Model) -> Result<(Source, Vec<Column>)> {
        let told = |columns: Option<usize>, ids: &[String]| {
            let mut options = self.reading.format.options();
            model.tell_reader(&mut options, columns);
            // identifiers are text, digit by digit
            options.categorical.extend(ids.iter().cloned());
            options
        };
        let options = told(None, &self.id);
        let mut source = self.reading.read(&self.data, &options)?;
        if let Source::Genotypes(genotypes) = &source {
            let ids = identifiers::of_individuals(&genotypes.individuals);
            return Ok((source, ids));
        }
        let Source::Table(table) = &source else { return Ok((source, Vec::new())) };
        let ids = identifiers::identifiers(table, &self.id, model)?;
        // Only what was read tells whether columns without names stand where they stood, and which identify rows.
        let known = told((!table.has_names).then_some(table.columns.len()), &ids);
        if self.data != Path::new("-") && known != options {
            source = katoms_io::read_with_problems(&self.data, &known)?;
        }
        let Source::Table(table) = &source else { return Ok((source, Vec::new())) };
        let columns = table.columns.iter().filter(|column| ids.contains(&column.name)).cloned().collect();
        Ok((source, columns))
    }
}

fn as_json(columns: &[Column]) -> serde_json::Map<String, Value> {
    let values = |column: &Column| match &column.values {
        Values::Numbers(values) => json!(values),
        Values::Words { levels, codes } => {
            json!(codes.iter().map(|c| c.and_then(|c| levels.get(c as usize))).collect::<Vec<_>>())
        }
    };
    columns.iter().map(|column| (column.name.clone(), values(column))).collect()
}

fn table_file(path: &Path, columns: &[Column]) -> Result<Vec<u8>> {
    let is_parquet = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
    Ok(if is_parquet { katoms_io::write_parquet(columns)? } else { katoms_io::write_csv(columns) })
}

/// What identifies the rows, and the number of each where some were left out; the predictions; for classes the
/// probability of each.
fn columns(model: &Model, dataset: &Dataset, ids: &[Column], linear: Vec<f64>) -> Vec<Column> {
    let numbers = |name: String, values: Vec<f64>| Column { name, values: Values::Numbers(values) };
    let mut columns = Vec::new();
    if dataset.rows.len() < dataset.file_rows {
        columns.push(numbers("row".into(), dataset.rows.iter().map(|&row| (row + 1) as f64).collect()));
    }
    columns.extend(ids.iter().map(|id| identifiers::rows_of(id, &dataset.rows)));
    match &model.target.classes {
        None => columns.push(numbers("prediction".into(), linear)),
        Some(classes) => {
            let codes = linear.iter().map(|&z| Some(u32::from(z > 0.0))).collect();
            let values = Values::Words { levels: classes.to_vec(), codes };
            columns.push(Column { name: "prediction".into(), values });
            for (class, sign) in classes.iter().zip([-1.0, 1.0]) {
                let probabilities = linear.iter().map(|&z| katoms::loss::Logistic::probability(sign * z)).collect();
                columns.push(numbers(format!("probability_{class}"), probabilities));
            }
        }
    }
    columns
}
