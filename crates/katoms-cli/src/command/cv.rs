//! `katoms cv`: how many features, by cross-validation.

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use katoms::select::{Folds, Score, Validated};
use katoms_estimate::Rule;
use katoms_io::Loss;
use serde_json::json;

use crate::Ended;
use crate::data::Loaded;
use crate::finish::{Choosing, Finished, ModelCommand, fit_chosen};
use crate::sizes::Sizes;
use crate::terminal::{Terminal, aligned, number};
use crate::words;

/// `katoms cv`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms cv houses.csv --target price
  katoms cv genes.npz --target y -k 0..30 --folds 10 --ridge 0,1,10 --choose 1se --report cv.html

`min` is the size with the least held-out loss; `1se` the smallest whose loss is within one standard error of it: a
smaller model that predicts about as well. Numbers are judged by the mean squared error (MSE), classes by the log loss.
k = 0 is the model without features. Without -k, sizes are tried on a geometric scale from 0 on, further while the
held-out loss falls, and then between the best one and its neighbours. Without --ridge, ridges are tried that fit the scale
of the data: 0, 0.01, 0.1 and 1 times the number of rows (for classes 0.001 in place of 0), for columns of variance 1.

All folds and sizes share their passes over the data. The models of the folds come from a faster search than the final
fit's: a fit of the same rows may find a better one.")]
pub struct CvArgs {
    #[command(flatten)]
    common: ModelCommand,
    /// The sizes, such as 0..30, 0:30, 2..40:2 or 1,5,10 [default: 0 on, further while the held-out loss falls]
    #[arg(short, value_name = "SIZES")]
    k: Option<Sizes>,
    /// The parts of which each is held out once
    #[arg(long, default_value_t = 5, help_heading = "Model")]
    folds: usize,
    /// Values of λ of ½λ‖x‖², of which one is chosen with k; 0 for none [default: four that fit the data]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Model")]
    ridge: Option<Vec<f64>>,
    /// Which size is fitted in the end
    #[arg(long, default_value = "min", value_parser = rules(), help_heading = "Model")]
    choose: Rule,
    /// What folds are drawn with
    #[arg(long, default_value_t = 0, help_heading = "Model")]
    seed: u64,
}

fn rules() -> impl TypedValueParser<Value = Rule> {
    let rule = |name: String| if name == "min" { Rule::Least } else { Rule::OneStandardError };
    PossibleValuesParser::new(["min", "1se"]).map(rule)
}

impl CvArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        common.begin(None)?;
        let loaded = common.load(terminal)?;
        let design = loaded.design(common.model.preparation(0.0))?;
        let features = loaded.features(&design, common.model.preparation(0.0))?;
        let sizes = loaded.sizes(self.k.as_ref(), &features, terminal)?;
        let folds = self.drawn_folds(&loaded)?;
        let mut monitor = common.monitor(terminal, "cross-validating", Some(0));
        let validated = features.cross_validate(sizes.as_deref(), self.ridge.as_deref(), &folds, &mut monitor);
        let monitor = monitor.next("fitting");
        let validated = validated.map_err(|error| loaded.error(error))?;
        say_scores(&validated, loaded.loss, terminal);
        let (choice, rule) = match self.choose {
            Rule::Least => (validated.min(), "least held-out loss"),
            Rule::OneStandardError => (validated.one_se(), "one standard error"),
        };
        let preparation = common.model.preparation(choice.ridge);
        let features = loaded.features(&design, preparation)?;
        let start = validated.model(choice).map(|model| (model.coefficients.clone(), model.intercepts.clone()));
        let (estimate, cut) = fit_chosen((&loaded, &features), (choice.atoms, start), monitor, terminal)?;
        let mut finished = Finished::new(&loaded, &features, estimate, (choice.atoms, preparation));
        finished.chosen_by = Some(format!("{}-fold cross-validation, {rule}", self.folds));
        finished.validated = validated.score(choice).map(|score| {
            let held_out = features.held_out(score, &folds).into_iter().map(|(row, linear)| (row, linear[0])).collect();
            Choosing { validated: &validated, score, held_out }
        });
        let min = validated.min();
        let alike = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge);
        let tried: Vec<usize> = alike.map(|score| score.choice.atoms).collect();
        finished.edge = features.edge(&tried, min.atoms).map(|edge| {
            words::edge("the least held-out loss is at", &edge, &format!("-k 0..{}", edge.further), "katoms cv")
        });
        if common.output.work.json {
            finished.extra = Some(("cross_validation", json(&loaded, &validated)));
        }
        if !cut.stopped {
            finished.find_selection_frequencies(None, self.seed, &common.output, terminal);
        }
        Ok(common.ended(finished.deliver(&common.output, terminal)?, validated.complete))
    }

    fn drawn_folds(&self, loaded: &Loaded) -> Result<Folds> {
        let values = &loaded.target()?.values;
        let rows = values.len();
        if self.folds < 2 || self.folds > rows {
            bail!("--folds is {}; it must lie between 2 and the {rows} rows of the data", self.folds);
        }
        Ok(match loaded.loss {
            Loss::Squares => Folds::random(rows, self.folds, self.seed)?,
            Loss::Logistic => Folds::stratified(values, self.folds, self.seed)?,
        })
    }
}

fn say_scores(validated: &Validated, loss: Loss, terminal: &Terminal) {
    let (min, one_se) = (validated.min(), validated.one_se());
    terminal.say(table(validated, loss));
    let best = validated.best_of_ridges();
    let mut with_ridge = String::new();
    if best.len() > 1 {
        terminal.say(table_of_ridges(&best, loss));
        with_ridge = format!(" with a ridge of {}", number(min.ridge));
    }
    let (k, fewest, passes) = (min.atoms, one_se.atoms, validated.passes);
    terminal.say(format!(
        "least held-out loss at k = {k}{with_ridge}; fewest within one standard error: k = {fewest}\n{passes} passes over \
         the data for all folds and sizes, {:.2} s\n{}",
        validated.seconds,
        words::FOLD_MODELS
    ));
    if !validated.complete {
        terminal.warn("ended early: the sizes above are those that were judged in every fold");
    }
}

fn table(validated: &Validated, loss: Loss) -> String {
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
        k.chain(judged(score, loss)).chain([marks.join(" ")]).collect()
    };
    let head: Vec<&str> = [&["k"], heads(loss), &[""]].concat();
    let alike: Vec<&Score> = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge).collect();
    let has_null = alike.iter().any(|score| score.choice.atoms == 0);
    let scores = (!has_null).then_some(&validated.null).into_iter().chain(alike);
    aligned(&head, &scores.map(row).collect::<Vec<Vec<String>>>())
}

fn table_of_ridges(best: &[&Score], loss: Loss) -> String {
    let row = |score: &&Score| {
        let choice = [number(score.choice.ridge), score.choice.atoms.to_string()];
        choice.into_iter().chain(judged(score, loss)).collect()
    };
    aligned(&[&["ridge", "best k"], heads(loss)].concat(), &best.iter().map(row).collect::<Vec<Vec<String>>>())
}

fn heads(loss: Loss) -> &'static [&'static str] {
    match loss {
        Loss::Squares => &["held-out MSE", "standard error", "RMSE"],
        Loss::Logistic => &["held-out log loss", "standard error"],
    }
}

fn judged(score: &Score, loss: Loss) -> Vec<String> {
    let numbers = match loss {
        // The loss is half the mean squared error.
        Loss::Squares => vec![2.0 * score.mean, 2.0 * score.error, (2.0 * score.mean).sqrt()],
        Loss::Logistic => vec![score.mean, score.error],
    };
    numbers.into_iter().map(number).collect()
}

fn json(loaded: &Loaded, validated: &Validated) -> serde_json::Value {
    let measure = match loaded.loss {
        Loss::Squares => "half the mean squared error",
        Loss::Logistic => "log loss",
    };
    let one = |s: &Score| json!({ "k": s.choice.atoms, "ridge": s.choice.ridge, "mean": s.mean, "error": s.error, "folds": s.folds });
    json!({
        "scores": validated.scores.iter().map(one).collect::<Vec<_>>(), "null": one(&validated.null),
        "best_of_ridges": validated.best_of_ridges().into_iter().map(one).collect::<Vec<_>>(),
        "k_min": validated.min().atoms, "k_1se": validated.one_se().atoms,
        "ridge": validated.min().ridge, "complete": validated.complete, "passes": validated.passes,
        "seconds": validated.seconds, "loss": loaded.loss, "mean_is": measure,
    })
}
