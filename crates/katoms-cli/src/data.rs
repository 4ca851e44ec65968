//! Arguments about data → a data set, and the problem that a model of it is.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use katoms::Error;
use katoms::loss::Loss as _;
use katoms::operator::{AnyDesign, FirstRead};
use katoms::select::Preparation;
use katoms::set::{AnyAtoms, KSparse};
use katoms_estimate::{Features, Heredity, JobLoss, Nuisance, Product, Response};
use katoms_io::{
    Ask, Dataset, Fingerprint, Genotypes, Loss, Missing, PhenotypeValues, Source, Target, UnknownMembers, Values,
};

use crate::blocks::Blocks;
use crate::card::{Card, Place};
use crate::outputs;
use crate::reading::ReadingArgs;
use crate::response::{ResponseArgs, inferred, name_of, offset};
use crate::responses;
use crate::sizes::Sizes;
use crate::terminal::{Terminal, count};
use crate::workers::named;

/// Which file, and how its columns are meant.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// CSV, TSV, Parquet, Arrow, NPY, NPZ, MatrixMarket, svmlight, or PLINK (.bed with .bim and .fam); .gz and .zst are
    /// unpacked; `-` is CSV on standard input. Several (NPY, NPZ, MatrixMarket) are blocks of columns or of rows of one
    /// matrix, in this order
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<PathBuf>,
    /// Processes that hold such blocks, some each, and share the threads [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = workers, help_heading = "Data")]
    pub workers: Option<usize>,
    /// The column to predict: its name, its number counted from 1, or a file of its own such as y.npy, with
    /// FILE:COLUMN where that has several [default for PLINK: the phenotype of the .fam file]. Several that share their
    /// features: a list, or given repeatedly
    #[arg(short, long, value_name = "COLUMN", help_heading = "Data")]
    pub target: Vec<String>,
    /// A column with the weight of each row
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub weights: Option<String>,
    /// Columns that every model has and that are not counted in k; a list, or given repeatedly
    #[arg(long, value_name = "COLUMNS", help_heading = "Data")]
    pub always: Vec<String>,
    /// A file of groups, which enter or leave a model as one: GMT, CSV of name,member, or JSON
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub groups: Option<PathBuf>,
    /// The most columns of a group that may be in a model; for groups that share none
    #[arg(long, value_name = "N", requires = "groups", help_heading = "Data")]
    pub max_per_group: Option<usize>,
    /// Products of columns, two by two, may come in: beside both of their factors (strong), or beside one (weak)
    #[arg(long, value_name = "HEREDITY", value_parser = heredities(), conflicts_with = "max_per_group", help_heading = "Data")]
    pub interactions: Option<Heredity>,
    /// What to do about unknown members of groups
    #[arg(long, value_enum, default_value_t = UnknownMembers::Refuse, help_heading = "Data")]
    pub unknown_members: UnknownMembers,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

fn workers(text: &str) -> Result<usize, String> {
    let workers = text.parse().ok().filter(|&workers| workers > 0);
    workers.ok_or_else(|| "it must be a whole number above 0".into())
}

fn heredities() -> impl TypedValueParser<Value = Heredity> {
    let named = |name: String| if name == "strong" { Heredity::Strong } else { Heredity::Weak };
    PossibleValuesParser::new(["strong", "weak"]).map(named)
}

/// What a model is made of.
#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(flatten)]
    pub response: ResponseArgs,
    /// No constant in the predictions; columns are then scaled and not centred, since centring them brings one in
    #[arg(long, help_heading = "Model")]
    pub no_intercept: bool,
    /// Leave columns in their own units: what is large then counts more, where there is a ridge
    #[arg(long, help_heading = "Model")]
    pub no_standardize: bool,
    /// Each of several targets has features of its own. With fit, -k counts them over all targets; with path and cv, each
    /// target has its own k
    #[arg(long, help_heading = "Model")]
    pub separate_features: bool,
    /// Where the passes over the data are made: cpu, cuda (an NVIDIA card), or cuda:1 for the second; for dense and sparse
    /// data in one file
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = Place::named, hide_default_value = true, help_heading = "Model")]
    pub device: Place,
}

#[derive(Debug)]
pub struct Loaded {
    pub path: PathBuf,
    pub dataset: Dataset,
    /// The design, where it is not in the data set: that has its names alone.
    pub blocks: Option<Blocks>,
    /// The card that the design is copied to, where it is fitted there.
    card: Option<Card>,
    pub loss: Loss,
    pub response: ResponseArgs,
    pub missing: Missing,
    pub na_values: Vec<String>,
    has_group_file: bool,
    max_per_group: Option<usize>,
    /// What products of columns need beside them, where they may come in.
    pub interactions: Option<Heredity>,
    /// Those that models have.
    products: Vec<Product>,
}

/// The file that a target names: `y.npy` is one, and `y.csv:age` a column of one; `y` is a column, whatever else is
/// called so.
pub fn file_of(target: &str) -> Option<(&Path, Option<&str>)> {
    let is_file = |name: &str| Path::new(name).extension().is_some() && Path::new(name).is_file();
    match target.rsplit_once(':') {
        _ if is_file(target) => Some((Path::new(target), None)),
        Some((file, column)) if is_file(file) => Some((Path::new(file), Some(column))),
        _ => None,
    }
}

/// The columns of targets, a list where there are several, and the file that they are in where that is one of its own.
pub fn asked_target(targets: &[String]) -> Result<(Option<String>, Option<PathBuf>)> {
    match (targets, targets.iter().find_map(|target| file_of(target))) {
        ([_], Some((file, column))) => Ok((column.map(String::from), Some(file.into()))),
        (_, Some((file, _))) => {
            let file = file.display();
            bail!("--target names the file {file} and others; several columns of a file are --target {file}:1,2")
        }
        ([], None) => Ok((None, None)),
        (_, None) => Ok((Some(targets.join(",")), None)),
    }
}

impl DataArgs {
    /// Reads the data; `folds` names the column of folds.
    pub fn load(&self, model: &ModelArgs, folds: Option<&str>, terminal: &Terminal) -> Result<Loaded> {
        let response = &model.response;
        let card = self.card(model)?;
        let asked = response.asked(self.target.first().map(String::as_str))?;
        let mut ask = Ask { folds: folds.map(str::to_owned), ..self.ask(response)? };
        let blocks = self.blocks(&ask, terminal)?;
        let mut source = match &blocks {
            Some(blocks) => blocks.outline(),
            None => self.reading.read(&self.data[0], &self.reading.format.options())?,
        };
        if let Source::Genotypes(genotypes) = &mut source {
            read_phenotype(genotypes, &mut ask)?;
            check_phenotype(genotypes, &ask)?;
        }
        let mut loss = asked.unwrap_or_else(|| natural_loss(&source, &ask));
        response.check_exposure(loss)?;
        (ask.loss, ask.missing) = (loss, self.reading.missing(&source));
        let of_words = matches!(source, Source::Table(_)) && asked.is_none();
        let missing = ask.missing;
        let mut dataset = Dataset::new(source, &ask)?;
        if card.is_some() {
            Card::check(&dataset).with_context(|| self.path().display().to_string())?;
        }
        if let Some(target) = &dataset.target {
            if loss == Loss::Multinomial && target.classes.as_ref().is_some_and(|classes| classes.len() == 2) {
                loss = Loss::Logistic;
            }
            let note = match asked {
                None if !target.responses.is_empty() => responses::unlike_scales(target),
                None if loss == Loss::Squares => two_values(target),
                None if of_words => inferred(loss, target),
                None => None,
                Some(loss) => response
                    .implied()
                    .filter(|_| response.loss.is_none())
                    .map(|option| format!("the loss is {}, as {option} is given (--loss {0})", name_of(loss))),
            };
            dataset.notes.extend(note);
        }
        dataset.notes.iter().for_each(|note| terminal.say(format!("note: {note}")));
        dataset.warnings.iter().for_each(|warning| terminal.warn(warning));
        let (path, na_values) = (self.path(), self.reading.format.na_values.clone());
        let (response, has_group_file) = (response.clone(), self.groups.is_some());
        Ok(Loaded {
            path,
            dataset,
            blocks,
            card,
            loss,
            response,
            missing,
            na_values,
            has_group_file,
            max_per_group: self.max_per_group,
            interactions: self.interactions,
            products: Vec::new(),
        })
    }

    /// The card that the design goes to: before anything is read.
    fn card(&self, model: &ModelArgs) -> Result<Option<Card>> {
        if model.device != Place::Host {
            let found = [
                (self.data.len() > 1 || self.workers.is_some(), "data in several files, which workers hold"),
                (self.interactions.is_some(), "--interactions, which are looked for on the host"),
            ];
            if let Some((_, what)) = found.iter().find(|(is_given, _)| *is_given) {
                bail!("--device does not go with {what}; leave --device out");
            }
        }
        Card::open(model.device)
    }

    pub fn check_outputs(&self, outputs: &[Option<&Path>]) -> Result<()> {
        let files: Vec<PathBuf> = self.data.iter().flat_map(|file| self.reading.files(file)).collect();
        let targets = self.target.iter().map(|target| file_of(target).map(|(file, _)| file));
        let beside = [self.groups.as_deref()].into_iter().chain(targets);
        let inputs: Vec<Option<&Path>> = files.iter().map(|file| Some(file.as_path())).chain(beside).collect();
        outputs::check(&inputs, outputs)
    }

    fn path(&self) -> PathBuf {
        named(&self.data).into()
    }

    fn ask(&self, response: &ResponseArgs) -> Result<Ask> {
        let (target, target_file) = match &response.time {
            Some(time) => asked_target(std::slice::from_ref(time))?,
            None => asked_target(&self.target)?,
        };
        Ok(Ask {
            path: self.path(),
            target,
            target_file,
            weights: self.weights.clone(),
            order: response.order.clone(),
            rows: response.columns(),
            always: self.always.clone(),
            drop: self.reading.format.drop.clone(),
            groups: self.groups.clone(),
            categorical: self.reading.format.categorical.clone(),
            unknown_members: self.unknown_members,
            ..Ask::default()
        })
    }
}

pub fn read_phenotype(genotypes: &mut Genotypes, ask: &mut Ask) -> Result<()> {
    let Some(file) = &ask.target_file else { return Ok(()) };
    let found = genotypes.read_phenotype(file, ask.target.as_deref());
    if let (Err(_), Some(several)) = (&found, ask.target.as_ref().filter(|names| names.contains(','))) {
        bail!(
            "{}: {several} names several columns, and genotypes are fitted to one phenotype at a time; give --target \
             FILE:COLUMN",
            file.display()
        );
    }
    if found? {
        (ask.target, ask.target_file) = (None, None);
    }
    Ok(())
}

fn check_phenotype(genotypes: &Genotypes, ask: &Ask) -> Result<()> {
    if (&ask.target, &ask.target_file) == (&None, &None) && genotypes.phenotype.values == PhenotypeValues::Unknown {
        bail!(
            "{}: the {} of every individual is unknown (-9, 0 or NA); give one with --target FILE: a value for each \
             individual, or the columns FID, IID and that to predict",
            ask.path.display(),
            genotypes.phenotype.name
        );
    }
    Ok(())
}

fn natural_loss(source: &Source, ask: &Ask) -> Loss {
    match source {
        Source::Genotypes(genotypes) if ask.target.is_none() && ask.target_file.is_none() => {
            match genotypes.phenotype.values {
                PhenotypeValues::CaseControl(_) => Loss::Logistic,
                _ => Loss::Squares,
            }
        }
        Source::Table(table) => {
            let column = table.columns.iter().find(|column| Some(&column.name) == ask.target.as_ref());
            match column.map(|column| &column.values) {
                Some(Values::Words { levels, .. }) if levels.len() > 2 => Loss::Multinomial,
                Some(Values::Words { .. }) => Loss::Logistic,
                _ => Loss::Squares,
            }
        }
        _ => Loss::Squares,
    }
}

impl Loaded {
    pub fn target(&self) -> Result<&Target> {
        match &self.dataset.target {
            Some(target) => Ok(target),
            None => bail!("{}: which column is to be predicted? Say --target COLUMN", self.path.display()),
        }
    }

    /// The loss of predictions, with the parameter that a model has found.
    pub fn measure_at(&self, nuisance: &Nuisance) -> Result<JobLoss> {
        self.measure_with(&self.response.at(nuisance))
    }

    /// The loss of predictions, in the units of the data.
    pub fn measure(&self) -> Result<JobLoss> {
        self.measure_with(&self.response)
    }

    fn measure_with(&self, response: &ResponseArgs) -> Result<JobLoss> {
        let target = self.target()?;
        if !target.responses.is_empty() {
            return responses::measure(&self.path, target, self.dataset.weights.clone())
                .map_err(|error| self.told(error));
        }
        let (values, first) = (target.values.clone(), target.values.first().copied().unwrap_or(0.0));
        let is_number = !self.loss.has_classes() && self.loss != Loss::Cox;
        if is_number && values.iter().all(|&v| v == first) {
            let (path, name) = (self.path.display(), &target.name);
            bail!("{path}: the target {name} is {first} in every row, so there is nothing to explain");
        }
        let classes = target.classes.as_ref().map_or(0, Vec::len);
        let values = response.observed(self.loss, values, classes, &self.dataset.known);
        let (weights, offset) = (self.dataset.weights.clone(), offset(&self.dataset.known)?);
        Response { values, weights, offset }.loss().map_err(|error| self.error(error))
    }

    /// How the data are prepared: as it is asked for, and as the loss needs it.
    pub fn preparation(&self, model: &ModelArgs, ridge: f64) -> Preparation {
        // Proportional hazards have no constant, and thresholds take its place.
        let intercept = !model.no_intercept && !matches!(self.loss, Loss::Cox | Loss::Ordinal);
        Preparation { standardize: !model.no_standardize, intercept, ridge }
    }

    pub fn design(&self, preparation: Preparation) -> Result<AnyDesign<'_>> {
        let measure = self.measure()?;
        let has_one_output = measure.loss().outputs_per_row() == 1;
        if let Some(card) = &self.card {
            let first = has_one_output.then(|| FirstRead::of(measure.loss(), preparation.intercept));
            return card.design(&self.dataset, first.as_ref()).map_err(|error| self.told(error));
        }
        match &self.blocks {
            Some(blocks) => blocks.design(has_one_output.then(|| FirstRead::of(measure.loss(), preparation.intercept))),
            None if has_one_output => Ok(self.dataset.design_for(measure.loss(), preparation.intercept)?),
            None => Ok(self.dataset.design()?),
        }
    }

    /// What tells the data from others.
    pub fn fingerprint(&self) -> Fingerprint {
        let own = self.dataset.fingerprint();
        self.blocks.as_ref().map_or(own.clone(), |blocks| blocks.fingerprint(own))
    }

    /// Why nothing more can be computed, where workers hold the data and are lost, or a card that has failed.
    pub fn lost(&self) -> Option<anyhow::Error> {
        self.blocks.as_ref().and_then(Blocks::lost).or_else(|| self.failed())
    }

    /// Tells whether nothing more can be computed.
    pub fn are_lost(&self) -> impl Fn() -> bool + use<> {
        let workers = self.blocks.as_ref().map(|blocks| blocks.failure().clone());
        let card = self.card.clone();
        move || {
            workers.as_ref().is_some_and(|failure| failure.get().is_some())
                || card.as_ref().and_then(Card::failure).is_some()
        }
    }

    /// Why the card has failed, where it has.
    pub fn failed(&self) -> Option<anyhow::Error> {
        self.card.as_ref().and_then(Card::failure).map(|error| anyhow!(error))
    }

    /// What was computed, where the data could be had to the end.
    pub fn whole<T>(&self, found: Result<T, Error>) -> Result<T> {
        match self.lost() {
            Some(lost) => Err(lost),
            None => found.map_err(|error| self.error(error)),
        }
    }

    pub fn features<'a>(&self, design: &'a AnyDesign<'a>, preparation: Preparation) -> Result<Features<'a>> {
        self.features_for(self.measure()?, design, preparation).map_err(|error| self.error(error))
    }

    /// The same for another loss of the same rows, such as that of one of several targets.
    pub fn features_for<'a>(
        &self,
        loss: JobLoss,
        design: &'a AnyDesign<'a>,
        preparation: Preparation,
    ) -> Result<Features<'a>, Error> {
        let columns = self.dataset.features.len();
        let atoms = match &self.dataset.groups {
            Some(groups) => AnyAtoms::groups(1, columns, groups.iter().map(|g| g.members.clone()).collect())?,
            None => AnyAtoms::Coordinates(KSparse::new(1, columns)?),
        };
        let features = Features::new(design, loss, atoms, self.dataset.always.clone(), preparation);
        features
            .and_then(|features| match self.max_per_group {
                Some(most) => features.with_most_inside(most),
                None => Ok(features),
            })
            .and_then(|features| match self.interactions.filter(|_| !self.products.is_empty()) {
                Some(heredity) => features.with_products(&self.products, heredity),
                None => Ok(features),
            })
    }

    /// The products that models have become columns of the data.
    pub fn add_products(&mut self, products: Vec<Product>) {
        let factors: Vec<Vec<[usize; 2]>> = products.iter().map(|product| product.factors.clone()).collect();
        self.dataset.add_products(&factors);
        self.products = products;
    }

    /// The same where it is an error of the library.
    fn told(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<Error>() {
            Ok(error) => self.error(error),
            Err(error) => error,
        }
    }

    /// An error with the names of the data; where workers are lost, that is why.
    pub fn error(&self, error: Error) -> anyhow::Error {
        self.lost().unwrap_or_else(|| anyhow!("{}: {}", self.path.display(), self.named(error)))
    }

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

    pub fn atoms_are(&self) -> &'static str {
        if self.interactions.is_some() {
            return "terms";
        }
        match (&self.dataset.groups, self.has_group_file) {
            (Some(_), true) => "groups",
            // Only the indicators of a column of words make a group.
            (Some(_), false) => "columns",
            (None, _) => "features",
        }
    }

    /// How many atoms there are to choose from, products among them.
    pub fn choices(&self, features: &Features<'_>) -> usize {
        let alone = features.candidates() - self.products.len();
        let factors = alone + self.dataset.always.len();
        alone + self.interactions.map_or(0, |_| factors * factors.saturating_sub(1) / 2)
    }

    pub fn check_size(&self, k: usize, features: &Features<'_>) -> Result<()> {
        let most = self.choices(features);
        if k > most {
            bail!(
                "-k is {k}, but {} has {} to choose from; k must lie between 0 and {most}",
                self.path.display(),
                count(most, self.atoms_are().trim_end_matches('s'), self.atoms_are()),
            );
        }
        Ok(())
    }

    pub fn sizes(
        &self,
        asked: Option<&Sizes>,
        features: &Features<'_>,
        terminal: &Terminal,
    ) -> Result<Option<Vec<usize>>> {
        let Some(Sizes(sizes)) = asked else { return Ok(None) };
        let most = self.choices(features);
        let kept: Vec<usize> = sizes.iter().copied().filter(|&k| k <= most).collect();
        match (kept.is_empty(), sizes.first(), sizes.last()) {
            (true, Some(&least), _) => self.check_size(least, features)?,
            (false, _, Some(&last)) if last > most => {
                terminal.say(format!("note: sizes above {most} are left out: there are no more {}", self.atoms_are()));
            }
            _ => {}
        }
        Ok(Some(kept))
    }
}

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
