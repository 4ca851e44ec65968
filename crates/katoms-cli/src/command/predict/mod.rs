//! `katoms predict`: a saved model on new data.

mod identifiers;
mod outcome;
mod parts;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use katoms_io::{Ask, Column, Dataset, Expected, Loss, Model, RowColumns, Source, Values};
use serde_json::{Value, json};

use crate::Ended;
use crate::data::{asked_target, read_phenotype};
use crate::outputs;
use crate::reading::ReadingArgs;
use crate::response::name_of;
use crate::terminal::{Terminal, count};
use crate::workers::named;
use outcome::Outcome;

/// `katoms predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms predict model.json new.csv > predictions.csv
  katoms predict model.json new.parquet --out predictions.parquet
  katoms predict model.json new.csv --id patient --out predictions.csv

  katoms predict survival.json new.csv --at 365,730

  katoms predict model.json parts/*.npy > predictions.csv

Columns are matched by name, in any order. Of the others, one that identifies rows goes with the predictions. For
classes there is a column with the probability of each class; for several targets a column for each; for counts and amounts the prediction is the mean, with the
exposure and offset of each row where the data have them; for survival there are the log hazard ratio, the hazard ratio, and
with --at the probability of no event until then. Where the data have the target, the predictions are scored.")]
pub struct PredictArgs {
    /// A model that katoms saved
    model: PathBuf,
    /// The data, with the columns of the model. Several files (NPY, NPZ, MatrixMarket) are blocks of columns or of rows of one
    /// matrix, in the order of the fit
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Columns that identify rows, to go with the predictions [default: found]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    id: Vec<String>,
    /// The column with what was observed, or a file of its own; of several targets a list, in the order of the model
    /// [default: the model's, where they are there]
    #[arg(short, long, value_name = "COLUMN", help_heading = "Data")]
    target: Vec<String>,
    /// The column of an offset, of exposures, of events (to score) or of strata [default: the model's, where they are there]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    offset: Option<String>,
    /// See --offset
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    exposure: Option<String>,
    /// See --offset
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    event: Option<String>,
    /// See --offset
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    strata: Option<String>,
    /// For survival: the probability of no event until these times
    #[arg(long, value_name = "TIMES", value_delimiter = ',', help_heading = "Data")]
    at: Vec<f64>,
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
        let (target, target_file) = asked_target(&self.target)?;
        let files: Vec<PathBuf> = self.data.iter().flat_map(|file| self.reading.files(file)).collect();
        let read = files.iter().chain([&self.model]).chain(&target_file).map(|file| Some(file.as_path()));
        outputs::check(&read.collect::<Vec<_>>(), &[self.out.as_deref()])?;
        outputs::check_ending(self.out.as_deref(), &["csv", "parquet"])?;
        let bytes = std::fs::read(&self.model).with_context(|| format!("{} cannot be read", self.model.display()))?;
        let model = Model::from_json(&self.model, &bytes)?;
        let (mut source, ids) = self.source(&model)?;
        let mut ask = Ask {
            path: named(&self.data).into(),
            missing: self.reading.missing(&source),
            target,
            target_file,
            loss: model.loss,
            ..Ask::default()
        };
        if let Source::Genotypes(genotypes) = &mut source {
            read_phenotype(genotypes, &mut ask)?;
        }
        let expected = self.expected(&model)?;
        let dataset = model.with_products(Dataset::matching(source, &expected, &ask)?);
        dataset.notes.iter().for_each(|note| terminal.say(format!("note: {note}")));
        self.check_columns(&expected.rows, &dataset, terminal)?;
        let outcome = Outcome::new(&model, &dataset, &self.at)?;
        let scores = dataset.target.as_ref().and_then(|target| Some((target, outcome.scores(target)?)));
        let columns = columns(&dataset, &ids, outcome.columns());
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
            let is = if target.responses.is_empty() { "is" } else { "are" };
            terminal.say(format!("{} {is} known in {rows}: {}", target.name, scores.in_words()));
        }
        if self.json {
            let scores = scores.map(|(_, scores)| scores);
            terminal.print_json(&json!({ "predictions": as_json(&columns), "scores": scores }))?;
        }
        Ok(Ended::Done)
    }

    /// What the model expects of the data, with the columns that are named here.
    fn expected(&self, model: &Model) -> Result<Expected> {
        if !self.at.is_empty() && model.loss != Loss::Cox {
            bail!("--at goes with models of survival (--loss cox), and this is one of --loss {}", name_of(model.loss));
        }
        let mut expected = model.expected();
        let rows = &mut expected.rows;
        for (named, column) in [
            (&self.offset, &mut rows.offset),
            (&self.exposure, &mut rows.exposure),
            (&self.event, &mut rows.event),
            (&self.strata, &mut rows.strata),
        ] {
            *column = named.clone().or(column.take());
        }
        rows.entry = None;
        if self.at.is_empty() {
            rows.strata = None;
        }
        Ok(expected)
    }

    /// Tells which columns the data lack, and what that means; those that were named must be there.
    fn check_columns(&self, wanted: &RowColumns, dataset: &Dataset, terminal: &Terminal) -> Result<()> {
        let (found, path) = (&dataset.known.names, named(&self.data));
        for (option, named, found) in [
            ("--offset", &self.offset, &found.offset),
            ("--exposure", &self.exposure, &found.exposure),
            ("--event", &self.event, &found.event),
            (
                "--strata",
                self.strata.as_ref().filter(|_| wanted.strata.is_some()).map_or(&None, |_| &self.strata),
                &found.strata,
            ),
        ] {
            if let (Some(name), None) = (named, found) {
                bail!("{path} has no column {name} ({option})");
            }
        }
        if let (Some(name), None) = (&wanted.exposure, &found.exposure) {
            terminal
                .say(format!("note: there is no column {name}: the exposure is taken as 1, and predictions are rates"));
        }
        if let (Some(name), None) = (&wanted.offset, &found.offset) {
            terminal.say(format!("note: there is no column {name}: the offset is taken as 0"));
        }
        Ok(())
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
        let [data] = &self.data[..] else {
            return Ok((parts::joined(&self.data, model, options.max_unpacked)?, Vec::new()));
        };
        let mut source = self.reading.read(data, &options)?;
        if let Source::Genotypes(genotypes) = &source {
            let ids = identifiers::of_individuals(&genotypes.individuals);
            return Ok((source, ids));
        }
        let Source::Table(table) = &source else { return Ok((source, Vec::new())) };
        let ids = identifiers::identifiers(table, &self.id, model)?;
        // Only what was read tells whether columns without names stand where they stood, and which identify rows.
        let known = told((!table.has_names).then_some(table.columns.len()), &ids);
        if data != Path::new("-") && known != options {
            source = katoms_io::read_with_problems(data, &known)?;
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

/// What identifies the rows, and the number of each where some were left out; what is predicted.
fn columns(dataset: &Dataset, ids: &[Column], predicted: Vec<Column>) -> Vec<Column> {
    let mut columns = Vec::new();
    if dataset.rows.len() < dataset.file_rows {
        let numbers = dataset.rows.iter().map(|&row| (row + 1) as f64).collect();
        columns.push(Column { name: "row".into(), values: Values::Numbers(numbers) });
    }
    columns.extend(ids.iter().map(|id| identifiers::rows_of(id, &dataset.rows)));
    columns.extend(predicted);
    columns
}
