//! Arguments about data → a data set, and the problem that a model of it is.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use katoms::Error;
use katoms::loss::{AnyLoss, LeastSquares, Logistic};
use katoms::operator::AnyDesign;
use katoms::select::Preparation;
use katoms::set::{AnyAtoms, KSparse};
use katoms_estimate::Features;
use katoms_io::{Ask, Dataset, Missing, ReadOptions, Source, Target, UnknownMembers, Values};
use serde::Serialize;

use crate::sizes::Sizes;
use crate::told::{Told, count};

/// Which file, and how its columns are meant.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// CSV, TSV, Parquet, Arrow, NPY, NPZ, MatrixMarket or svmlight; .gz and .zst are unpacked; `-` is CSV on
    /// standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// The column to predict: its name, its number counted from 1, or a file of its own such as y.npy
    #[arg(short, long, value_name = "COLUMN", help_heading = "Data")]
    pub target: Option<String>,
    /// A column with the weight of each row
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub weights: Option<String>,
    /// A column that every model has and that counts for nothing; may be given repeatedly
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub always: Vec<String>,
    /// A file of groups, which enter or leave a model as one: GMT, CSV of name,member, or JSON
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub groups: Option<PathBuf>,
    /// What to do about members of groups that are no columns
    #[arg(long, value_enum, default_value_t = UnknownChoice::Refuse, help_heading = "Data")]
    pub unknown_members: UnknownChoice,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How a file is read, and what is done about missing values.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    #[command(flatten)]
    pub format: FormatArgs,
    /// What to do about missing values
    #[arg(long, value_enum, default_value_t = MissingChoice::Refuse, help_heading = "Data")]
    pub missing: MissingChoice,
}

/// How a file is read.
#[derive(Debug, Args)]
pub struct FormatArgs {
    /// A column to leave out, such as an identifier; may be given repeatedly
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub drop: Vec<String>,
    /// A column of categories, also where it looks like numbers; may be given repeatedly
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub categorical: Vec<String>,
    /// What separates the fields of a text table [default: found]
    #[arg(long, value_name = "CHARACTER", help_heading = "Data")]
    pub delimiter: Option<char>,
    /// The first line of a text table holds names, also where these are numbers [default: found]
    #[arg(long, conflicts_with = "no_header", help_heading = "Data")]
    pub header: bool,
    /// The first line of a text table is data [default: found]
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
}

/// What to do about missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissingChoice {
    /// Say where they are
    Refuse,
    /// The mean of the column; for categories a level of its own
    Mean,
    /// Leave such rows out
    Drop,
}

/// What to do about members of groups that are no columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnknownChoice {
    /// Say which they are
    Refuse,
    /// Leave them out
    Skip,
}

/// What the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossChoice {
    /// Numbers: least squares
    Squares,
    /// Two classes: logistic regression
    Logistic,
}

/// What a model is made of.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// [default: squares, or logistic where the target is a word]
    #[arg(long, value_enum, help_heading = "Model")]
    pub loss: Option<LossChoice>,
    /// No constant in the predictions; columns are then scaled and not centred, since centring them brings one in
    #[arg(long, help_heading = "Model")]
    pub no_intercept: bool,
    /// Leave columns in their own units: what is large then counts more, where there is a ridge
    #[arg(long, help_heading = "Model")]
    pub no_standardize: bool,
}

/// A data set with what was made of the arguments.
#[derive(Debug)]
pub struct Loaded {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub dataset: Dataset,
    /// What the target is.
    pub loss: LossChoice,
    /// What was done about missing values.
    pub missing: Missing,
    has_group_file: bool,
}

impl FormatArgs {
    /// How the file is read.
    pub fn options(&self) -> Result<ReadOptions> {
        let delimiter = match self.delimiter {
            Some(c) if c.is_ascii() => Some(c as u8),
            Some(c) => bail!("--delimiter is `{c}`; it must be one ASCII character, such as ; or a tab"),
            None => None,
        };
        Ok(ReadOptions {
            delimiter,
            header: (self.header || self.no_header).then_some(self.header),
            categorical: self.categorical.clone(),
            drop: self.drop.clone(),
        })
    }
}

/// The file that a target names: `y.npy` is one; `y` is a column, whatever else is called so.
pub fn file_of(target: &str) -> Option<&Path> {
    let name = Path::new(target);
    (name.extension().is_some() && name.is_file()).then_some(name)
}

impl ReadingArgs {
    /// What is done about missing values.
    pub fn missing(&self) -> Missing {
        match self.missing {
            MissingChoice::Refuse => Missing::Refuse,
            MissingChoice::Mean => Missing::Mean,
            MissingChoice::Drop => Missing::Drop,
        }
    }
}

impl DataArgs {
    /// Reads the file.
    pub fn load(&self, model: &ModelArgs, told: &Told) -> Result<Loaded> {
        let options = self.reading.format.options()?;
        let source = katoms_io::read(&self.data, &options)?;
        let loss = model.loss.unwrap_or_else(|| self.natural_loss(&source));
        let mut dataset = Dataset::new(source, &self.ask(loss))?;
        if model.loss.is_none() && loss == LossChoice::Squares {
            dataset.notes.extend(dataset.target.as_ref().and_then(two_values));
        }
        dataset.notes.iter().for_each(|note| told.say(format!("note: {note}")));
        let (path, missing) = (self.data.clone(), self.reading.missing());
        Ok(Loaded { path, dataset, loss, missing, has_group_file: self.groups.is_some() })
    }

    /// The files that are read.
    pub fn files(&self) -> [Option<&Path>; 3] {
        [Some(&self.data), self.groups.as_deref(), self.target_file()]
    }

    fn target_file(&self) -> Option<&Path> {
        file_of(self.target.as_ref()?)
    }

    /// Squares for numbers, logistic for words.
    fn natural_loss(&self, source: &Source) -> LossChoice {
        let Source::Table(table) = source else { return LossChoice::Squares };
        let column = table.columns.iter().find(|column| Some(&column.name) == self.target.as_ref());
        match column.map(|column| &column.values) {
            Some(Values::Words { .. }) => LossChoice::Logistic,
            _ => LossChoice::Squares,
        }
    }

    fn ask(&self, loss: LossChoice) -> Ask {
        let target_file = self.target_file().map(PathBuf::from);
        Ask {
            path: self.data.clone(),
            target: if target_file.is_some() { None } else { self.target.clone() },
            target_file,
            classes: loss == LossChoice::Logistic,
            weights: self.weights.clone(),
            always: self.always.clone(),
            drop: self.reading.format.drop.clone(),
            groups: self.groups.clone(),
            missing: self.reading.missing(),
            categorical: self.reading.format.categorical.clone(),
            unknown_members: match self.unknown_members {
                UnknownChoice::Refuse => UnknownMembers::Refuse,
                UnknownChoice::Skip => UnknownMembers::Skip,
            },
        }
    }
}

impl ModelArgs {
    /// How columns are made ready.
    pub fn preparation(&self, ridge: f64) -> Preparation {
        Preparation { standardize: !self.no_standardize, intercept: !self.no_intercept, ridge }
    }
}

impl Loaded {
    /// What is predicted.
    ///
    /// # Errors
    /// When nothing was asked for.
    pub fn target(&self) -> Result<&Target> {
        match &self.dataset.target {
            Some(target) => Ok(target),
            None => bail!("{}: which column is to be predicted? Say --target COLUMN", self.path.display()),
        }
    }

    /// What is minimised on the target.
    fn measure(&self) -> Result<AnyLoss> {
        let target = self.target()?;
        let (values, first) = (target.values.clone(), target.values.first().copied().unwrap_or(0.0));
        if self.loss == LossChoice::Squares && values.iter().all(|&v| v == first) {
            let (path, name) = (self.path.display(), &target.name);
            bail!("{path}: the target {name} is {first} in every row, so there is nothing to explain");
        }
        let weights = self.dataset.weights.clone();
        Ok(match self.loss {
            LossChoice::Squares => {
                let loss = LeastSquares::new(values)?;
                weights.map_or(Ok(loss.clone()), |weights| loss.weighted(weights))?.into()
            }
            LossChoice::Logistic => {
                let loss = Logistic::new(values)?;
                weights.map_or(Ok(loss.clone()), |weights| loss.weighted(weights))?.into()
            }
        })
    }

    /// The design, read for a fit to the target.
    pub fn design(&self, preparation: Preparation) -> Result<AnyDesign<'_>> {
        Ok(self.dataset.design_for(&self.measure()?, preparation.intercept)?)
    }

    /// The problem that a model of this data is.
    ///
    /// # Errors
    /// When the target does not go with the loss.
    pub fn features<'a>(&self, design: &'a AnyDesign<'a>, preparation: Preparation) -> Result<Features<'a>> {
        let columns = self.dataset.features.len();
        let atoms = match &self.dataset.groups {
            Some(groups) => AnyAtoms::groups(1, columns, groups.iter().map(|g| g.members.clone()).collect())?,
            None => AnyAtoms::Coordinates(KSparse::new(1, columns)?),
        };
        let features = Features::new(design, self.measure()?, atoms, self.dataset.always.clone(), preparation);
        features.map_err(|error| anyhow!("{}: {}", self.path.display(), self.named(error)))
    }

    /// An error about numbers that are too large or too small, with the names of the file.
    pub fn named(&self, error: Error) -> Error {
        let column = |column: usize| match self.dataset.features.get(column) {
            Some(feature) => format!("column {}", feature.name),
            None => format!("column {column} (counted from 0)"),
        };
        match error {
            Error::Magnitude { column: Some(place), value, right, .. } => {
                Error::Magnitude { what: column(place), column: Some(place), value, right }
            }
            Error::Magnitude { what, column: None, value, right } => {
                let name = self.dataset.target.as_ref().filter(|_| what == "the target");
                let what = name.map_or(what, |target| format!("the target {}", target.name));
                Error::Magnitude { what, column: None, value, right }
            }
            Error::Coefficient { column: place, exponent, right, .. } => {
                let what = format!("the coefficient of {}", column(place));
                Error::Coefficient { what, column: place, exponent, right }
            }
            error => error,
        }
    }

    /// The name of an atom: of a feature, or of a group.
    pub fn atom(&self, atom: usize) -> &str {
        match &self.dataset.groups {
            Some(groups) => &groups[atom].name,
            None => &self.dataset.features[atom].name,
        }
    }

    /// What atoms are called.
    pub fn atoms_are(&self) -> &'static str {
        match (&self.dataset.groups, self.has_group_file) {
            (Some(_), true) => "groups",
            // Only the indicators of a column of words make a group.
            (Some(_), false) => "columns",
            (None, _) => "features",
        }
    }

    /// Whether there are so many atoms to choose from.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn check_size(&self, k: usize, features: &Features<'_>) -> Result<()> {
        let most = features.candidates();
        if k > most {
            bail!(
                "-k is {k}, but {} has {} to choose from; k must lie between 0 and {most}",
                self.path.display(),
                count(most, self.atoms_are().trim_end_matches('s'), self.atoms_are()),
            );
        }
        Ok(())
    }
}

impl Loaded {
    /// The sizes that were asked for, as far as there are so many atoms.
    ///
    /// # Errors
    /// When there are fewer atoms than the smallest size.
    pub fn sizes(&self, asked: Option<&Sizes>, features: &Features<'_>, told: &Told) -> Result<Option<Vec<usize>>> {
        let Some(Sizes(sizes)) = asked else { return Ok(None) };
        let most = features.candidates();
        let kept: Vec<usize> = sizes.iter().copied().filter(|&k| k <= most).collect();
        match (kept.is_empty(), sizes.first(), sizes.last()) {
            (true, Some(&least), _) => self.check_size(least, features)?,
            (false, _, Some(&last)) if last > most => {
                told.say(format!("note: sizes above {most} are left out: there are no more {}", self.atoms_are()));
            }
            _ => {}
        }
        Ok(Some(kept))
    }
}

/// What is said of a target of two numbers that nobody called classes.
fn two_values(target: &Target) -> Option<String> {
    let (least, most) =
        target.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let two = least < most && target.values.iter().all(|&v| v == least || v == most);
    two.then(|| {
        let (name, least, most) = (&target.name, least + 0.0, most + 0.0);
        format!(
            "the target {name} has two values, {least} and {most}, and is fitted by least squares as a number; for the \
             probability of {most}: --loss logistic (--loss squares keeps this note away)"
        )
    })
}
