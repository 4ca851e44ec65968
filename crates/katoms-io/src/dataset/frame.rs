//! A source as columns with names and places, whatever its format.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::packed::Packed;
use super::storage::{Held, Storage};
use super::types::{Ask, Expected};
use crate::column_format::ColumnFormat;
use crate::error::Error;
use crate::genotypes::{Genotypes, PhenotypeValues};
use crate::names::{Context, counted, listed};
use crate::problem::Problem;
use crate::source::{Array, Source};
use crate::table::Values;

/// Columns with names.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) path: PathBuf,
    pub(super) names: Vec<String>,
    pub(super) rows: usize,
    pub(super) body: Body,
    /// Whether the file has names. If not they are x1, x2, ….
    pub(super) is_named: bool,
    /// For each variant, where the columns are such, the allele that is counted and the other one.
    pub(super) alleles: Vec<[String; 2]>,
    /// How columns were read that hold no plain numbers, by name.
    pub(super) formats: BTreeMap<String, ColumnFormat>,
    /// What a person should know about the reading.
    pub(super) notes: Vec<String>,
    /// What is most likely not meant.
    pub(super) problems: Vec<Problem>,
    lines: Option<Vec<u64>>,
}

/// What the columns hold.
#[derive(Debug)]
pub(super) enum Body {
    Columns(Vec<Values>),
    Numbers(Storage),
}

/// A frame, and what else the file has.
pub(super) struct Opened {
    pub(super) frame: Frame,
    /// The arrays beside the design, by name.
    pub(super) arrays: Vec<(String, Array)>,
    pub(super) labels: Option<(String, Values)>,
    /// Columns that every model has.
    pub(super) always: Vec<String>,
}

impl Opened {
    pub(super) fn new(source: Source, ask: &Ask) -> Result<Self, Error> {
        let unnamed = |held: Held| Frame::unnamed(ask, held);
        let labelled = |labels: Vec<f64>| ("label".to_owned(), Values::Numbers(labels));
        let (frame, arrays, labels) = match source {
            Source::Table(table) => {
                let (names, columns) = table.columns.into_iter().map(|c| (c.name, c.values)).unzip();
                let frame = Frame {
                    is_named: table.has_names,
                    formats: table.formats,
                    notes: table.notes,
                    problems: table.problems,
                    lines: table.lines,
                    ..Frame::new(ask, names, table.rows, Body::Columns(columns))
                };
                (frame, Vec::new(), None)
            }
            Source::Array(array) => (unnamed(Held::Dense(array)), Vec::new(), None),
            Source::Sparse(mut sparse) => {
                let labels = sparse.labels.take().map(labelled);
                (unnamed(Held::Sparse(sparse)), Vec::new(), labels)
            }
            Source::Arrays { arrays, sparse: Some(sparse) } => (unnamed(Held::Sparse(sparse)), arrays, None),
            Source::Arrays { mut arrays, sparse: None } => {
                let place = design_among(&arrays, ask)?;
                let (_, array) = arrays.swap_remove(place);
                (unnamed(Held::Dense(array)), arrays, None)
            }
            Source::Picture(_) => {
                let path = ask.path.display();
                let problem = format!("{path} is a picture, not a table; `katoms complete` takes pictures");
                return Err(Error::Request(problem));
            }
            Source::Genotypes(genotypes) => return Ok(Self::of_genotypes(genotypes, ask)),
        };
        if frame.rows == 0 {
            return Err(Error::Request(format!("{}: there are no rows", ask.path.display())));
        }
        Ok(Self { frame, arrays, labels, always: Vec::new() })
    }

    /// Whether a column or array has a name that a model knows.
    pub(super) fn has(&self, name: &String, expected: &Expected) -> bool {
        // the place of a column is its name only in a file of as many columns
        let places_agree = self.frame.is_named || expected.unnamed_columns == Some(self.frame.names.len());
        (places_agree && self.frame.names.contains(name)) || self.arrays.iter().any(|(array, _)| array == name)
    }

    fn of_genotypes(genotypes: Genotypes, ask: &Ask) -> Self {
        let Genotypes { codes, individuals, variants, phenotype, covariates, mut notes } = genotypes;
        notes.push("genotypes count allele 1 of the .bim file: the name of a feature ends with it".into());
        let cases = phenotype.values.cases_and_controls();
        let values = match phenotype.values {
            PhenotypeValues::Unknown => None,
            PhenotypeValues::Quantitative(numbers) => Some(Values::Numbers(numbers)),
            // a case is the second class, whose probability is modelled
            PhenotypeValues::CaseControl(is_case) if ask.loss.has_classes() => {
                let codes = is_case.into_iter().map(|c| c.map(u32::from)).collect();
                Some(Values::Words { levels: vec!["control".into(), "case".into()], codes })
            }
            PhenotypeValues::CaseControl(is_case) => Some(Values::Numbers(
                is_case.into_iter().map(|c| c.map_or(f64::NAN, |c| f64::from(u8::from(c)))).collect(),
            )),
        };
        if let (Some((cases, controls)), true, None, None) =
            (cases, ask.loss.has_classes(), &ask.target, &ask.target_file)
        {
            notes.push(format!("{}: {}, {}", phenotype.name, counted(cases, "case"), counted(controls, "control")));
        }
        let (rows, columns) = (individuals.len(), variants.len());
        let (always, covariates): (Vec<String>, Vec<Vec<f64>>) = covariates.into_iter().unzip();
        let (mut names, alleles): (Vec<String>, Vec<[String; 2]>) =
            variants.into_iter().map(|v| (v.name, v.alleles)).unzip();
        names.extend_from_slice(&always);
        let packed = Packed { codes, rows, variants: columns, means: None, covariates: covariates.concat() };
        let body = Body::Numbers(Held::Genotypes(packed).into());
        let frame = Frame { alleles, notes, ..Frame::new(ask, names, rows, body) };
        let labels = values.map(|values| (phenotype.name, values));
        Self { frame, arrays: Vec::new(), labels, always }
    }
}

/// The array that is the design: X, or the only matrix.
fn design_among(arrays: &[(String, Array)], ask: &Ask) -> Result<usize, Error> {
    if let Some(place) = arrays.iter().position(|(name, _)| name == "X") {
        return Ok(place);
    }
    let mut matrices = arrays.iter().enumerate().filter(|(_, (_, array))| !array.is_vector);
    match (matrices.next(), matrices.next()) {
        (Some((place, _)), None) => Ok(place),
        (first, _) => {
            let found = if first.is_some() { "several matrices" } else { "no matrix" };
            let list = listed(arrays.iter().map(|(name, _)| name.as_str()));
            let path = ask.path.display();
            let problem = format!("{path} has {found} and no array called X; name the design X. There are: {list}");
            Err(Error::Request(problem))
        }
    }
}

impl Frame {
    fn new(ask: &Ask, names: Vec<String>, rows: usize, body: Body) -> Self {
        Self {
            path: ask.path.clone(),
            names,
            rows,
            body,
            is_named: true,
            alleles: Vec::new(),
            formats: BTreeMap::new(),
            notes: Vec::new(),
            problems: Vec::new(),
            lines: None,
        }
    }

    fn unnamed(ask: &Ask, held: Held) -> Self {
        let storage = Storage::from(held);
        let (rows, columns) = storage.shape();
        let names = (1..=columns).map(|j| format!("x{j}")).collect();
        Self { is_named: false, ..Self::new(ask, names, rows, Body::Numbers(storage)) }
    }

    /// What an error about a name says.
    pub(super) fn context<'c>(&self, role: &'c str) -> Context<'c> {
        Context { path: self.path.display().to_string(), kind: "column", role }
    }

    pub(super) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }

    /// The genotypes of the frame, where it holds such.
    pub(super) fn genotypes(&self) -> Option<&Packed> {
        match &self.body {
            Body::Numbers(Storage { held: Held::Genotypes(packed), .. }) => Some(packed),
            _ => None,
        }
    }

    /// Whether the file is a text, of which a person can say how it is read.
    pub(super) fn is_text(&self) -> bool {
        self.lines.is_some()
    }

    /// `column 3 (age)`.
    fn column_place(&self, column: usize) -> String {
        let name = if self.is_named { format!(" ({})", self.name(column)) } else { String::new() };
        format!("column {}{name}", column + 1)
    }

    /// A problem of a column.
    pub(super) fn problem(&self, column: usize, problem: String) -> Problem {
        Problem::of_column(column, self.column_place(column), problem)
    }

    /// `line 7`, or `row 6` where a file has no lines.
    pub(super) fn row_place(&self, row: usize) -> String {
        let line = self.lines.as_ref().and_then(|lines| lines.get(row));
        line.map_or_else(|| format!("row {}", row + 1), |line| format!("line {line}"))
    }

    /// A problem of a value: `line 7, column 3 (age)`, or `row 6, …` where a file has no lines.
    pub(super) fn problem_at(&self, row: usize, column: usize, problem: String) -> Problem {
        Problem::of_column(column, format!("{}, {}", self.row_place(row), self.column_place(column)), problem)
    }

    pub(super) fn error(&self, row: usize, column: usize, problem: String) -> Error {
        Error::Problems { path: self.path.clone(), problems: vec![self.problem_at(row, column, problem)] }
    }

    /// A column of a table; `None` where the file is a matrix.
    pub(super) fn values(&self, column: usize) -> Option<&Values> {
        match &self.body {
            Body::Columns(columns) => columns.get(column),
            Body::Numbers(_) => None,
        }
    }

    /// A copy of a column.
    pub(super) fn column(&self, column: usize) -> Values {
        match &self.body {
            Body::Columns(_) => self.values(column).cloned().unwrap_or(Values::Numbers(Vec::new())),
            Body::Numbers(storage) => Values::Numbers(storage.column(column)),
        }
    }
}
