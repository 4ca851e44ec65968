//! `katoms path`: a model of each size.

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use katoms::Status;
use katoms_estimate::{PathModel, PathModels, WithProducts};
use serde_json::json;

use super::separate;
use crate::Ended;
use crate::data::Loaded;
use crate::finish::{Finished, ModelCommand, fit_chosen};
use crate::sizes::Sizes;
use crate::terminal::{Terminal, aligned, number};
use crate::words;

/// `katoms path`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms path houses.csv --target price -k 0..12
  katoms path genes.npz --target y -k 0..50 --criterion ebic --out model.json --report path.html

k = 0 is the model without features. AIC and BIC suit few candidates; EBIC and GIC charge for the search among many.
With --separate-features each of several targets has a path of its own, and its own size by the criterion.
Ctrl-C ends with the sizes so far.")]
pub struct PathArgs {
    #[command(flatten)]
    pub(super) common: ModelCommand,
    /// The sizes, such as 0..30, 0:30, 2..40:2 or 1,5,10 [default: 0 on, while the criterion prefers larger ones and can
    /// be trusted]
    #[arg(short, value_name = "SIZES")]
    pub(super) k: Option<Sizes>,
    /// λ of ½λ‖x‖², on the standardised scale
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Model")]
    pub(super) ridge: f64,
    /// Which size --out, --report and --json take for the model
    #[arg(long, default_value = "ebic", value_parser = criteria(), help_heading = "Model")]
    pub(super) criterion: usize,
}

/// The criteria by name, as places in [`PathModels::CRITERIA`].
fn criteria() -> impl TypedValueParser<Value = usize> {
    let place = |name: String| PathModels::criterion(&name).unwrap_or_default();
    PossibleValuesParser::new(["aic", "bic", "ebic", "gic"]).map(place)
}

impl PathArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        common.begin(None)?;
        let mut loaded = common.load(None, terminal)?;
        if common.model.separate_features {
            separate::check_several(&loaded, "--separate-features")?;
            return self.run_separate(&loaded, terminal);
        }
        let preparation = loaded.preparation(&common.model, self.ridge);
        let (name, criterion) = PathModels::CRITERIA[self.criterion];
        let mut monitor = common.monitor(&loaded, terminal, ("path", Some(0)));
        let (sizes, (path, edge), products) = {
            let design = loaded.design(preparation)?;
            let features = loaded.features(&design, preparation)?;
            let sizes = loaded.sizes(self.k.as_ref(), &features, terminal)?;
            let found = match loaded.interactions {
                None => features.path(sizes.as_deref(), criterion, &mut monitor).map(|path| {
                    let edge = features.edge_of_criterion(&path.sizes(), path.best[self.criterion]);
                    (path, edge, Vec::new())
                }),
                Some(heredity) => features.with_interactions(heredity).and_then(|crossed| {
                    let WithProducts { found, products } = crossed.path(sizes.as_deref(), criterion, &mut monitor)?;
                    let edge = crossed.edge_of_criterion(&found.sizes(), found.best[self.criterion]);
                    Ok((found, edge, products))
                }),
            };
            let (path, edge, products) = loaded.whole(found)?;
            (sizes, (path, edge), products)
        };
        loaded.add_products(products);
        let monitor = monitor.next("fitting");
        let design = loaded.design(preparation)?;
        let features = loaded.features(&design, preparation)?;
        terminal.say(table(&loaded, &path));
        let k = path.best[self.criterion];
        terminal.say(format!("{name} prefers k = {k}; {} passes over the data, {:.2} s", path.passes, path.seconds));
        if !path.complete {
            let of = sizes.map(|sizes| format!(" of {}", sizes.len())).unwrap_or_default();
            terminal.warn(format!("ended early: {}{of} sizes are there", path.models.len()));
        }
        let is_sure = path.complete && path.models.iter().all(is_settled);
        let (estimate, cut) = fit_chosen((&loaded, &features), (k, path.model(k)), monitor, terminal)?;
        let mut finished = Finished::new(&loaded, &features, estimate, (k, preparation));
        finished.chosen_by = Some(format!("{name} along the path"));
        finished.path = Some((&path, name));
        let sizes = path.sizes();
        let range = |last: usize| format!("-k 0..{last}");
        finished.edge = words::edge(&format!("{name} prefers"), edge, (&sizes, k), range, "katoms cv");
        if common.output.work.json {
            finished.extra = Some(("path", self.json(&loaded, &path)));
        }
        if !cut.stopped {
            finished.find_selection_frequencies(None, 0, &common.output, terminal);
        }
        Ok(common.ended(finished.deliver(&common.output, terminal)?, is_sure))
    }

    pub(super) fn json(&self, loaded: &Loaded, path: &PathModels) -> serde_json::Value {
        let one = |model: &PathModel| {
            let criteria: serde_json::Map<String, serde_json::Value> = PathModels::CRITERIA
                .iter()
                .zip(model.criteria)
                .map(|((name, _), value)| (name.to_lowercase(), json!(value)))
                .collect();
            let (columns, outputs) = (loaded.dataset.features.len(), model.intercepts.len());
            let responses = loaded.dataset.target.as_ref().map_or(&[][..], |target| &target.responses);
            let coefficient = |(at, value): (usize, f64)| match outputs {
                1 => json!({ "name": loaded.dataset.features[at].name, "value": value }),
                _ if !responses.is_empty() => {
                    let name = &loaded.dataset.features[at % columns].name;
                    json!({ "name": name, "output": at / columns, "target": responses[at / columns], "value": value })
                }
                _ => {
                    json!({ "name": loaded.dataset.features[at % columns].name, "output": at / columns, "value": value })
                }
            };
            let coefficients: Vec<_> = model.coefficients.entries().map(coefficient).collect();
            json!({
                "k": model.atoms, "loss": model.loss, "explained": 1.0 - model.loss / path.null_loss,
                "criteria": criteria, "status": words::status_name(model.status),
                "chosen": model.chosen.iter().map(|&atom| loaded.atom(atom)).collect::<Vec<_>>(),
                "coefficients": coefficients, "intercept": model.intercepts.first(), "intercepts": model.intercepts,
            })
        };
        let best: serde_json::Map<String, serde_json::Value> =
            PathModels::CRITERIA.iter().zip(&path.best).map(|((name, _), k)| (name.to_lowercase(), json!(k))).collect();
        json!({
            "models": path.models.iter().map(one).collect::<Vec<_>>(), "null": one(&path.null), "best": best, "complete": path.complete,
            "passes": path.passes, "seconds": path.seconds,
        })
    }
}

/// Whether the work on a size came to its end: one that was not chosen may separate the classes.
pub(super) fn is_settled(model: &PathModel) -> bool {
    matches!(model.status, Status::Converged | Status::Separated)
}

pub(super) fn table(loaded: &Loaded, path: &PathModels) -> String {
    let mut before: Vec<usize> = Vec::new();
    let mut rows = Vec::new();
    let has_null = path.models.iter().any(|model| model.atoms == 0);
    for model in (!has_null).then_some(&path.null).into_iter().chain(&path.models) {
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
        let mark = |at: usize| if path.best[at] == model.atoms { "*" } else { " " };
        let mut row = vec![model.atoms.to_string(), format!("{:.4}", 1.0 - model.loss / path.null_loss)];
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
