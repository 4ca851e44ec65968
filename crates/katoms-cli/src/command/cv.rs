//! `katoms cv`: how many features, by cross-validation.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use katoms::Error;
use katoms::loss::{AnyLoss, Loss as _};
use katoms::select::{Folds, Score, Validated};
use katoms_estimate::score::together;
use katoms_estimate::{Features, Heredity, Measure, Rule, WithProducts, drawn_folds};
use katoms_io::{Loss, Target};
use serde_json::json;

use super::separate;
use crate::Ended;
use crate::data::Loaded;
use crate::finish::{Choosing, Finished, ModelCommand, fit_chosen};
use crate::judged::{Judged, Told};
use crate::sizes::Sizes;
use crate::terminal::{Terminal, aligned, number};
use crate::watch::Monitor;
use crate::words;

/// `katoms cv`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms cv houses.csv --target price
  katoms cv genes.npz --target y -k 0..30 --folds 10 --ridge 0,1,10 --choose 1se --report cv.html
  katoms cv patients.csv --time days --event died --score c-index --repeats 5

`min` is the size with the least held-out loss; `1se` the smallest whose loss is within one standard error of it: a
smaller model that predicts about as well. What is judged is what a fit minimises, on rows held out: for numbers the mean
squared error (MSE), for classes the log loss, for counts and times their deviance; --score takes another measure.
k = 0 is the model without features. Without -k, sizes are tried on a geometric scale from 0 on, further while the
held-out loss falls, and then between the best one and its neighbours. Without --ridge, ridges are tried that fit the scale
of the data: 0, 0.01, 0.1 and 1 times the number of rows (for classes 0.001 in place of 0), for columns of variance 1.

With --separate-features each of several targets has its own k, chosen on the same folds, under one ridge for all.

All folds and sizes share their passes over the data. The models of the folds come from a faster search than the final
fit's: a fit of the same rows may find a better one.")]
pub struct CvArgs {
    #[command(flatten)]
    pub(super) common: ModelCommand,
    /// The sizes, such as 0..30, 0:30, 2..40:2 or 1,5,10 [default: 0 on, further while the held-out loss falls]
    #[arg(short, value_name = "SIZES")]
    pub(super) k: Option<Sizes>,
    /// The parts of which each is held out once
    #[arg(long, default_value_t = 5, help_heading = "Model")]
    folds: usize,
    /// Values of λ of ½λ‖x‖², of which one is chosen with k; 0 for none [default: four that fit the data]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Model")]
    pub(super) ridge: Option<Vec<f64>>,
    /// Which size is fitted in the end
    #[arg(long, default_value = "min", value_parser = rules(), help_heading = "Model")]
    pub(super) choose: Rule,
    /// What folds are drawn with
    #[arg(long, default_value_t = 0, help_heading = "Model")]
    pub(super) seed: u64,
    /// What models are judged by on rows held out; deviance is what a fit minimises
    #[arg(long, default_value = "deviance", value_parser = measures(), help_heading = "Model")]
    pub(super) score: Measure,
    /// How often folds are drawn; scores are those of all draws together
    #[arg(long, default_value_t = 1, value_name = "TIMES", value_parser = repeats, help_heading = "Model")]
    repeats: usize,
    /// A column that says which rows are held out together, such as patients or years
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["folds", "repeats"], help_heading = "Data")]
    fold_column: Option<String>,
}

fn measures() -> impl TypedValueParser<Value = Measure> {
    let measure = |name: String| Measure::named(&name).unwrap_or_default();
    PossibleValuesParser::new(Measure::NAMES.map(|(name, _)| name)).map(measure)
}

fn repeats(text: &str) -> Result<usize, String> {
    let times = text.parse().ok().filter(|times| (1..=1000).contains(times));
    times.ok_or_else(|| format!("`{text}` must be a whole number from 1 to 1000"))
}

fn rules() -> impl TypedValueParser<Value = Rule> {
    let rule = |name: String| if name == "min" { Rule::Least } else { Rule::OneStandardError };
    PossibleValuesParser::new(["min", "1se"]).map(rule)
}

impl CvArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        common.begin(None)?;
        let mut loaded = common.load(self.fold_column.as_deref(), terminal)?;
        let measure = loaded.measure()?;
        self.score.check(measure.loss()).map_err(|error| anyhow!("--score {}: {error}", self.score.name()))?;
        if common.model.separate_features {
            separate::check_several(&loaded, "--separate-features")?;
            return self.run_separate(&loaded, Told::new(loaded.loss, self.score, 1), terminal);
        }
        let told = Told::new(loaded.loss, self.score, measure.loss().outputs_per_row());
        let draws = self.drawn_folds(&loaded, measure.loss())?;
        let mut monitor = common.monitor(&loaded, terminal, ("cross-validating", Some(0)));
        let preparation = loaded.preparation(&common.model, 0.0);
        let (found, products) = {
            let design = loaded.design(preparation)?;
            let features = loaded.features(&design, preparation)?;
            let sizes = loaded.sizes(self.k.as_ref(), &features, terminal)?;
            let asked = (sizes, self.ridge.clone());
            let found = self.validated(&features, loaded.interactions, asked, &draws, &mut monitor);
            WithProducts::aligned(loaded.whole(found)?, loaded.dataset.features.len())
        };
        loaded.add_products(products);
        let monitor = monitor.next("fitting");
        let design = loaded.design(preparation)?;
        let features = loaded.features(&design, preparation)?;
        let judged = found
            .into_iter()
            .zip(&draws)
            .map(|(one, folds)| features.judged_by(self.score, measure.loss(), one, folds));
        let judged = loaded.whole(judged.collect::<Result<Vec<_>, _>>())?;
        let validated = together(judged).ok_or_else(|| loaded.error(Error::Empty { what: "the list of folds" }))?;
        say_scores(&validated, told, terminal);
        let (choice, rule) = match self.choose {
            Rule::Least => (validated.min(), told.chosen()),
            Rule::OneStandardError => (validated.one_se(), "one standard error".into()),
        };
        let preparation = loaded.preparation(&common.model, choice.ridge);
        let features = loaded.features(&design, preparation)?;
        let start = validated.model(choice).map(|model| (model.coefficients.clone(), model.intercepts.clone()));
        let (estimate, cut) = fit_chosen((&loaded, &features), (choice.atoms, start), monitor, terminal)?;
        let mut finished = Finished::new(&loaded, &features, estimate, (choice.atoms, preparation));
        let times = if self.repeats > 1 { format!(", drawn {} times", self.repeats) } else { String::new() };
        finished.chosen_by = Some(format!("{}-fold cross-validation{times}, {rule}", draws[0].count()));
        if let Some(score) = validated.score(choice) {
            let judge = loaded.measure_at(&finished.estimate.nuisance)?;
            let held_out = Judged::held_out(judge.loss(), &features, score, &draws[0]);
            let held_out = held_out.map_err(|error| loaded.error(error))?;
            finished.validated = Some(Choosing { validated: &validated, score, told, held_out, repeats: draws.len() });
        }
        let min = validated.min();
        let alike = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge);
        let tried: Vec<usize> = alike.map(|score| score.choice.atoms).collect();
        let what = format!("the {} is at", told.chosen());
        let (edge, range) = (features.edge(&tried, min.atoms), |last: usize| format!("-k 0..{last}"));
        finished.edge = words::edge(&what, edge, (&tried, min.atoms), range, "katoms cv");
        if common.output.work.json {
            finished.extra = Some(("cross_validation", json(&loaded, &validated, told)));
        }
        if !cut.stopped {
            finished.find_selection_frequencies(None, self.seed, &common.output, terminal);
        }
        Ok(common.ended(finished.deliver(&common.output, terminal)?, validated.complete))
    }

    /// Every size and ridge on the rows that each draw holds out; sizes and ridges are those of the first.
    pub(super) fn validated(
        &self,
        features: &Features<'_>,
        heredity: Option<Heredity>,
        (mut sizes, mut ridges): (Option<Vec<usize>>, Option<Vec<f64>>),
        draws: &[Folds],
        monitor: &mut Monitor,
    ) -> Result<Vec<WithProducts<Validated>>, Error> {
        let mut found: Vec<WithProducts<Validated>> = Vec::new();
        for folds in draws {
            let (tried, ridge) = (sizes.as_deref(), ridges.as_deref());
            let one = match heredity {
                Some(heredity) => features.with_interactions(heredity)?.cross_validate(tried, ridge, folds, monitor)?,
                None => {
                    let found = features.cross_validate(tried, ridge, folds, monitor)?;
                    WithProducts { found, products: Vec::new() }
                }
            };
            sizes = Some(one.found.sizes());
            ridges = Some(one.found.best_of_ridges().iter().map(|score| score.choice.ridge).collect());
            let complete = one.found.complete;
            found.push(one);
            if !complete {
                break;
            }
        }
        Ok(found)
    }

    pub(super) fn drawn_folds(&self, loaded: &Loaded, loss: &AnyLoss) -> Result<Vec<Folds>> {
        if let Some(labels) = &loaded.dataset.known.folds {
            let column = self.fold_column.as_deref().unwrap_or_default();
            return Ok(vec![Folds::given(labels.clone()).map_err(|error| anyhow!("--fold-column {column}: {error}"))?]);
        }
        let rows = loaded.dataset.rows.len();
        if self.folds < 2 || self.folds > rows {
            bail!("--folds is {}; it must lie between 2 and the {rows} rows of the data", self.folds);
        }
        let draw = |seed: usize| drawn_folds(loss, rows, self.folds, self.seed.wrapping_add(seed as u64));
        let named = |error: Error| match error {
            Error::LonelyClass { class, .. } => {
                let (path, what) = (loaded.path.display(), &loaded.dataset.target);
                match what {
                    Some(Target { classes: Some(classes), .. }) => anyhow!(
                        "{path}: class {} is in one row only, and a fit that does not see it cannot predict it; join it with \
                         another class, or leave the row out",
                        classes[class as usize]
                    ),
                    _ if class == 1.0 => anyhow!(
                        "{path}: one row only has an event, and a fit that does not see it has nothing to learn from; rows are \
                         held out where there are at least two events"
                    ),
                    _ => anyhow!(
                        "{path}: one row only is without an event, and it cannot be spread over folds; leave it out, or say the \
                         folds with --fold-column"
                    ),
                }
            }
            error => loaded.error(error),
        };
        (0..self.repeats).map(|repeat| draw(repeat).map_err(named)).collect()
    }
}

pub(super) fn say_scores(validated: &Validated, told: Told, terminal: &Terminal) {
    let (min, one_se) = (validated.min(), validated.one_se());
    terminal.say(table(validated, told));
    let best = validated.best_of_ridges();
    let mut with_ridge = String::new();
    if best.len() > 1 {
        terminal.say(table_of_ridges(&best, told));
        with_ridge = format!(" with a ridge of {}", number(min.ridge));
    }
    let (k, fewest, passes) = (min.atoms, one_se.atoms, validated.passes);
    terminal.say(format!(
        "{} at k = {k}{with_ridge}; fewest within one standard error: k = {fewest}\n{passes} passes over \
         the data for all folds and sizes, {:.2} s\n{}",
        told.chosen(),
        validated.seconds,
        words::FOLD_MODELS
    ));
    if !validated.complete {
        terminal.warn("ended early: the sizes above are those that were judged in every fold");
    }
}

fn table(validated: &Validated, told: Told) -> String {
    let (min, one_se) = (validated.min(), validated.one_se());
    let row = |score: &Score| {
        let mut marks = Vec::new();
        if score.choice == min {
            marks.push("min");
        }
        if score.choice == one_se {
            marks.push("1se");
        }
        if score.choice.atoms == 0 {
            marks.push("no features");
        }
        let k = [score.choice.atoms.to_string()].into_iter();
        k.chain(judged(score, told)).chain([marks.join(" ")]).collect()
    };
    let heads = heads(told);
    let head: Vec<&str> = ["k"].into_iter().chain(heads.iter().map(String::as_str)).chain([""]).collect();
    let alike: Vec<&Score> = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge).collect();
    let has_null = alike.iter().any(|score| score.choice.atoms == 0);
    let scores = (!has_null).then_some(&validated.null).into_iter().chain(alike);
    aligned(&head, &scores.map(row).collect::<Vec<Vec<String>>>())
}

fn table_of_ridges(best: &[&Score], told: Told) -> String {
    let row = |score: &&Score| {
        let choice = [number(score.choice.ridge), score.choice.atoms.to_string()];
        choice.into_iter().chain(judged(score, told)).collect()
    };
    let heads = heads(told);
    let head: Vec<&str> = ["ridge", "best k"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    aligned(&head, &best.iter().map(row).collect::<Vec<Vec<String>>>())
}

fn heads(told: Told) -> Vec<String> {
    let root = told.has_root.then(|| "RMSE".to_owned());
    [format!("held-out {}", told.name), "standard error".into()].into_iter().chain(root).collect()
}

fn judged(score: &Score, told: Told) -> Vec<String> {
    let root = told.has_root.then(|| told.mean(score.mean).sqrt());
    [told.mean(score.mean), told.error(score.error)].into_iter().chain(root).map(number).collect()
}

pub(super) fn json(loaded: &Loaded, validated: &Validated, told: Told) -> serde_json::Value {
    let measure = match (told.measure, loaded.loss) {
        (Measure::Deviance, Loss::Squares) if told.unit < 2.0 => "half the mean squared error, summed over the targets",
        (Measure::Deviance, Loss::Squares) => "half the mean squared error",
        (Measure::Deviance, _) if told.unit == 2.0 => "half the deviance of a row",
        (Measure::Deviance, _) => told.name,
        (Measure::Auc | Measure::Concordance, _) => "the opposite of what was asked for, so that less is better",
        _ => told.words,
    };
    let one = |s: &Score| json!({ "k": s.choice.atoms, "ridge": s.choice.ridge, "mean": s.mean, "error": s.error, "folds": s.folds });
    json!({
        "scores": validated.scores.iter().map(one).collect::<Vec<_>>(), "null": one(&validated.null),
        "best_of_ridges": validated.best_of_ridges().into_iter().map(one).collect::<Vec<_>>(),
        "k_min": validated.min().atoms, "k_1se": validated.one_se().atoms,
        "ridge": validated.min().ridge, "complete": validated.complete, "passes": validated.passes,
        "seconds": validated.seconds, "loss": loaded.loss, "mean_is": measure, "score": told.measure.name(),
    })
}
