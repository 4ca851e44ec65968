//! `katoms path`: a model of each size.

use anyhow::{Context, Result};
use clap::Args;
use katoms::Status;
use katoms_estimate::{How, Trail};
use serde_json::json;

use crate::Ended;
use crate::data::{DataArgs, Loaded, ModelArgs};
use crate::finish::{self, OutputArgs};
use crate::sizes::Sizes;
use crate::told::{Told, aligned, number};
use crate::watch::{self, Companion};
use crate::words;

/// `katoms path`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms path houses.csv --target price -k 0..12
  katoms path genes.npz --target y -k 0..50 --criterion ebic --out model.json --report path.html

k = 0 is the model without features. AIC and BIC suit few candidates; EBIC and GIC charge for the search among many.
Ctrl-C ends with the sizes so far.")]
pub struct PathArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The sizes, such as 0..30, 0:30, 2..40:2 or 1,5,10 [default: 0 on, while the criterion prefers larger ones and can
    /// be trusted]
    #[arg(short, value_name = "SIZES")]
    k: Option<Sizes>,
    #[command(flatten)]
    model: ModelArgs,
    /// λ of ½λ‖x‖², on the standardised scale
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Model")]
    ridge: f64,
    /// Which size --out, --report and --json take for the model
    #[arg(long, value_enum, default_value_t = CriterionChoice::Ebic, help_heading = "Model")]
    criterion: CriterionChoice,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CriterionChoice {
    Aic,
    Bic,
    Ebic,
    Gic,
}

impl PathArgs {
    pub(super) fn run(&self, told: &Told) -> Result<Ended> {
        watch::listen(watch::BEST_SO_FAR);
        self.data.check_outputs(&[self.output.out.as_deref(), self.output.report.as_deref()])?;
        let loaded = self.data.load(&self.model, told)?;
        loaded.target()?;
        let design = loaded.design(self.model.preparation(self.ridge))?;
        let features = loaded.features(&design, self.model.preparation(self.ridge))?;
        let sizes = loaded.sizes(self.k.as_ref(), &features, told)?;
        let mut companion = Companion::new(told, "path", Some(0), self.output.work.time_limit);
        let (name, criterion) = Trail::CRITERIA[self.criterion as usize];
        let trail = features.path(sizes.as_deref(), criterion, &mut companion);
        let stopped = companion.finish(told).stopped;
        let named = |error| loaded.named(error);
        let trail = trail.map_err(named).with_context(|| self.data.data.display().to_string())?;
        told.say(table(&loaded, &trail));
        let k = trail.best[self.criterion as usize];
        told.say(format!("{name} prefers k = {k}; {} passes over the data, {:.2} s", trail.passes, trail.seconds));
        if !trail.complete {
            let of = sizes.map(|sizes| format!(" of {}", sizes.len())).unwrap_or_default();
            told.warn(format!("ended early: {}{of} sizes are there", trail.models.len()));
        }
        let sure = trail.complete
            && trail.models.iter().all(|model| {
                // A size that was not chosen may separate the classes.
                matches!(model.status, Status::Converged | Status::Separated)
            });
        let mut companion = Companion::new(told, "fitting", None, None);
        let fitted = features.fit(k, &How::default(), &mut companion);
        companion.finish(told);
        let estimate = fitted.map_err(named).with_context(|| self.data.data.display().to_string())?;
        let mut finished = finish::Finished::new(&loaded, &features, estimate, k);
        finished.ridge = self.ridge;
        finished.preparation = self.model.preparation(finished.ridge);
        finished.chosen_by = Some(format!("{name} along the path"));
        finished.path = Some((&trail, name));
        finished.edge = features.edge_of_criterion(&trail.sizes(), k).map(|edge| {
            words::edge(&format!("{name} prefers"), &edge, &format!("-k 0..{}", edge.further), "katoms cv")
        });
        if self.output.work.json {
            finished.extra = Some(("path", self.json(&loaded, &trail)));
        }
        if !stopped {
            finished.look_at_halves(None, 0, self.output.report.is_some(), told);
        }
        let ended = finished.deliver(&self.output, told)?;
        Ok(if self.output.work.strict && !sure { Ended::Short } else { ended })
    }

    fn json(&self, loaded: &Loaded, trail: &Trail) -> serde_json::Value {
        let one = |model: &katoms_estimate::TrailModel| {
            let criteria: serde_json::Map<String, serde_json::Value> = Trail::CRITERIA
                .iter()
                .zip(model.criteria)
                .map(|((name, _), value)| (name.to_lowercase(), json!(value)))
                .collect();
            let coefficients: Vec<_> = model
                .coefficients
                .entries()
                .map(|(j, value)| json!({ "name": loaded.dataset.features[j].name, "value": value }))
                .collect();
            json!({
                "k": model.atoms, "loss": model.loss, "explained": 1.0 - model.loss / trail.null_loss,
                "criteria": criteria, "status": words::status_name(model.status),
                "chosen": model.chosen.iter().map(|&atom| loaded.atom(atom)).collect::<Vec<_>>(),
                "coefficients": coefficients, "intercept": model.intercept,
            })
        };
        let best: serde_json::Map<String, serde_json::Value> =
            Trail::CRITERIA.iter().zip(&trail.best).map(|((name, _), k)| (name.to_lowercase(), json!(k))).collect();
        json!({
            "models": trail.models.iter().map(one).collect::<Vec<_>>(), "null": one(&trail.null), "best": best, "complete": trail.complete,
            "passes": trail.passes, "seconds": trail.seconds,
        })
    }
}

/// A line for each size.
fn table(loaded: &Loaded, trail: &Trail) -> String {
    let mut before: Vec<usize> = Vec::new();
    let mut rows = Vec::new();
    let has_null = trail.models.iter().any(|model| model.atoms == 0);
    for model in (!has_null).then_some(&trail.null).into_iter().chain(&trail.models) {
        let named = |from: &[usize], other: &[usize]| {
            let new: Vec<&str> = from.iter().filter(|a| !other.contains(a)).map(|&a| loaded.atom(a)).collect();
            if new.len() > 3 { format!("{}, … ({})", new[..3].join(", "), new.len()) } else { new.join(", ") }
        };
        let (entered, left) = (named(&model.chosen, &before), named(&before, &model.chosen));
        let change = match (model.atoms, entered.is_empty(), left.is_empty()) {
            (0, ..) => "no features".into(),
            (_, true, true) => "nothing more could add anything".into(),
            (_, false, true) => format!("+ {entered}"),
            (_, true, false) => format!("- {left}"),
            (_, false, false) => format!("+ {entered}  - {left}"),
        };
        let mark = |at: usize| if trail.best[at] == model.atoms { "*" } else { " " };
        let mut row = vec![model.atoms.to_string(), format!("{:.4}", 1.0 - model.loss / trail.null_loss)];
        row.extend(model.criteria.iter().enumerate().map(|(at, value)| format!("{}{}", number(*value), mark(at))));
        rows.push((row, change));
        before.clone_from(&model.chosen);
    }
    let table = aligned(
        &["k", "explained", "AIC ", "BIC ", "EBIC ", "GIC "],
        &rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>(),
    );
    let changes = ["what enters (+) and leaves (-)"].into_iter().chain(rows.iter().map(|row| row.1.as_str()));
    table.lines().zip(changes).map(|(line, change)| format!("{line:<66}  {change}\n")).collect()
}
