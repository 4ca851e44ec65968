//! The report about a model of features.

use katoms::method::Move;
use katoms::select::{Preparation, Score};
use katoms_estimate::{Heredity, Nuisance, PathModels};
use katoms_io::Loss;

use super::{Choosing, Finished, family};
use crate::judged::Judged;
use crate::report::{
    Classification, Coefficient, Coefficients, Convergence, CrossValidation, Fact, HeldOutError, ManyClasses, Path,
    PathSize, Predictions, Regression, RegressionKind, Report, Response, Responses, RidgeError, Risks, Step, Survival,
};
use crate::responses;
use crate::terminal::{Terminal, number};
use crate::words;

impl Finished<'_> {
    pub fn report(&self, terminal: &Terminal) -> Report {
        let loss = self.loaded.loss;
        let is_number = !loss.has_classes() && loss != Loss::Cox;
        let data = self.loaded.fingerprint();
        Report {
            title: self.title(),
            answer: self.answer(),
            command: terminal.command.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            warnings: self.all_warnings(),
            question: self.question(),
            certainty: self.certainty(),
            coefficients: Some(self.coefficients()),
            convergence: Some(self.convergence()),
            path: self.path.map(|(path, chosen_by)| self.path(path, chosen_by)),
            cross_validation: self.cross_validation(),
            regression: (is_number && self.responses().is_empty()).then(|| self.regression()).flatten(),
            responses: (!self.responses().is_empty()).then(|| self.each_response()),
            classification: (loss == Loss::Logistic).then(|| self.classification()).flatten(),
            many_classes: matches!(loss, Loss::Multinomial | Loss::Ordinal).then(|| self.many_classes()).flatten(),
            survival: (loss == Loss::Cox).then(|| self.survival()),
            completion: None,
            fingerprint: Some(format!("{} rows, {} columns, checksum {}", data.rows, data.columns, data.checksum)),
        }
    }

    fn answer(&self) -> String {
        if self.k == 0 {
            return format!("Every row is predicted by {}: {}.", self.what_none_is(), self.fit_in_words());
        }
        let mut names: Vec<&str> = self.estimate.chosen.iter().map(|&atom| self.loaded.atom(atom)).collect();
        let more = names.len().saturating_sub(10);
        names.truncate(10);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let verb = if self.estimate.chosen.len() == 1 { "was" } else { "were" };
        format!("{}{rest} {verb} chosen: {}.", names.join(", "), self.fit_in_words())
    }

    fn question(&self) -> Vec<Fact> {
        let dataset = &self.loaded.dataset;
        let target = dataset.target.as_ref();
        let mut facts = vec![
            Fact::new("Data", self.loaded.path.display().to_string()),
            Fact::new("Rows", dataset.rows.len().to_string()),
            Fact::new("Candidates", format!("{} {}", self.loaded.choices(self.features), self.loaded.atoms_are())),
            Fact::new("Target", target.map_or(String::new(), |target| target.name.clone())),
            Fact::new("Loss", family::in_words(self.loaded.loss)),
            Fact::new("k", self.k.to_string()),
        ];
        facts.extend(self.sizes_of_targets().map(|sizes| Fact::new("k of each target", sizes)));
        facts.extend(self.chosen_by.iter().map(|rule| Fact::new("Chosen by", rule.clone())));
        match (self.loaded.loss, self.classes()) {
            (Loss::Logistic, [zero, one]) => {
                facts.push(Fact::new("Modelled", format!("the probability of {one} (against {zero})")));
            }
            (Loss::Quantile, _) => facts.push(Fact::new("Modelled", format!("the {} quantile", self.quantile()))),
            (_, classes) if !classes.is_empty() => facts.push(Fact::new("Classes", classes.join(", "))),
            _ => {}
        }
        let columns = &dataset.known.names;
        let columns = [
            ("Event", &columns.event),
            ("Strata", &columns.strata),
            ("Entry", &columns.entry),
            ("Offset", &columns.offset),
            ("Exposure", &columns.exposure),
        ];
        facts.extend(columns.into_iter().filter_map(|(name, column)| Some(Fact::new(name, column.clone()?))));
        if self.preparation.ridge > 0.0 {
            facts.push(Fact::new("Ridge", number(self.preparation.ridge)));
        }
        if !dataset.always.is_empty() {
            let names: Vec<&str> = dataset.always.iter().map(|&j| dataset.features[j].name.as_str()).collect();
            facts.push(Fact::new("Always in", names.join(", ")));
        }
        let Preparation { standardize, intercept, .. } = self.preparation;
        let columns = if standardize { "standardised" } else { "in their own units" };
        facts.push(Fact::new("Columns", columns));
        facts.push(Fact::new("Intercept", if intercept { "yes" } else { "no" }));
        facts.extend(self.loaded.interactions.map(|heredity| {
            let factors = match heredity {
                Heredity::Strong => "both factors",
                Heredity::Weak => "one of its factors",
            };
            Fact::new("Interactions", format!("each with {factors} in the model"))
        }));
        facts.push(match self.method {
            _ if self.loaded.interactions.is_some() => {
                Fact::new("Method", "a search in a pool of features and products")
            }
            _ if self.k == 0 => Fact::new("Method", "no search: there is nothing to choose"),
            Some(method) => Fact::new("Method", words::single_run(method)),
            None => Fact::new("Method", "accelerated IHT and a search"),
        });
        facts.extend(dataset.notes.iter().map(|note| Fact::new("Note", note.clone())));
        facts
    }

    fn certainty(&self) -> Vec<Fact> {
        let estimate = &self.estimate;
        let mut facts = vec![
            Fact::new("Status", words::status(estimate.outcome.status)),
            Fact::new("Fit", self.fit_in_words()),
            Fact::new("Objective", number(estimate.outcome.objective)),
            Fact::new(
                "Cost",
                format!(
                    "{}, {:.2} s",
                    words::reads(estimate.outcome.passes, estimate.outcome.reads),
                    estimate.outcome.seconds
                ),
            ),
        ];
        let is_parameter = !matches!(estimate.nuisance, Nuisance::Thresholds(_));
        let capital = |name: String| name[..1].to_uppercase() + &name[1..];
        facts.extend(
            self.besides()
                .into_iter()
                .filter(|_| is_parameter)
                .map(|(name, value)| Fact::new(capital(name), number(value))),
        );
        let quality = self.quality_in_words();
        facts.extend((!quality.is_empty()).then(|| Fact::new("Quality", quality.join("; "))));
        if let Some(stability) = &self.stability {
            let often = estimate.chosen.iter().filter(|&&atom| stability.frequencies[atom] >= 0.9).count();
            facts.push(Fact::new(
                "Half-samples",
                format!("{often} of {} have a selection frequency of 90 % or more", estimate.chosen.len()),
            ));
        }
        facts
    }

    fn coefficients(&self) -> Coefficients {
        let dataset = &self.loaded.dataset;
        let ties = self.estimate.outcome.quality.as_ref().map_or(&[][..], |quality| &quality.near_ties);
        let (outputs, columns) = (self.outputs(), dataset.features.len());
        let row = |(at, value): (usize, f64)| {
            let j = at % columns;
            let atom = self.atom_of(j);
            let name = &dataset.features[j].name;
            let rivals =
                ties.iter().filter(|tie| Some(tie.inside) == atom).map(|tie| self.loaded.atom(tie.outside).into());
            Coefficient {
                name: outputs.get(at / columns).map_or_else(|| name.clone(), |class| format!("{name} → {class}")),
                group: self.group_of(j),
                value,
                standardised: Some(self.estimate.standardized.value_at(at)),
                chosen_share: self.stability.as_ref().zip(atom).map(|(stability, atom)| stability.frequencies[atom]),
                rivals: rivals.collect(),
            }
        };
        Coefficients {
            rows: self.estimate.coefficients().entries().map(row).collect(),
            intercept: (self.preparation.intercept && outputs.is_empty()).then_some(self.estimate.intercept()),
            half_samples: self.stability.as_ref().map(|stability| stability.samples),
            scale: self.scale(),
        }
    }

    fn convergence(&self) -> Convergence {
        let step = |event: &katoms::driver::Event| Step {
            passes: event.reads,
            objective: event.objective,
            gap: event.gap,
            label: match event.kind {
                Move::Exchanged => Some("exchange".into()),
                Move::Restarted => Some("restart".into()),
                Move::Grown => Some("growth".into()),
                _ => None,
            },
        };
        Convergence {
            moves: self.estimate.outcome.trace.iter().map(step).collect(),
            passes: Some(self.estimate.outcome.reads),
        }
    }

    fn path(&self, path: &PathModels, chosen_by: &str) -> Path {
        let size = |model: &katoms_estimate::PathModel| {
            let [aic, bic, ebic, gic] = model.criteria;
            PathSize {
                k: model.atoms,
                loss: model.loss,
                explained: Some(1.0 - model.loss / path.null_loss),
                aic: Some(aic),
                bic: Some(bic),
                ebic: Some(ebic),
                gic: Some(gic),
                features: model.chosen.iter().map(|&atom| self.loaded.atom(atom).into()).collect(),
            }
        };
        let explained_name = match self.loaded.loss {
            Loss::Squares => "R²",
            Loss::Huber | Loss::Quantile => "loss explained",
            _ => "deviance explained",
        };
        let has_null = path.models.iter().any(|model| model.atoms == 0);
        let models = (!has_null).then_some(&path.null).into_iter().chain(&path.models);
        Path {
            sizes: models.map(size).collect(),
            chosen: Some(self.k),
            chosen_by: Some(chosen_by.into()),
            explained_name: explained_name.into(),
        }
    }

    fn cross_validation(&self) -> Option<CrossValidation> {
        let Choosing { validated, told, repeats, .. } = self.validated.as_ref()?;
        let (min, one_se) = (validated.min(), validated.one_se());
        let size = |score: &Score| HeldOutError {
            k: score.choice.atoms,
            mean: told.mean(score.mean),
            error: told.error(score.error),
            rmse: told.has_root.then(|| told.mean(score.mean).sqrt()),
        };
        // Under several ridges the curve is that of the chosen one.
        let alike = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge);
        let ridges = validated.best_of_ridges();
        let ridge = |&score: &&Score| RidgeError { ridge: score.choice.ridge, best: size(score) };
        Some(CrossValidation {
            measure: told.words.into(),
            folds: validated.scores.first().map_or(0, |score| score.folds.len()),
            sizes: alike.map(size).collect(),
            ridge: min.ridge,
            ridges: if ridges.len() > 1 { ridges.iter().map(ridge).collect() } else { Vec::new() },
            null: Some(size(&validated.null)),
            k_min: min.atoms,
            k_1se: one_se.atoms,
            chosen: Some(self.k),
            remark: match repeats {
                1 => format!("Note: {}.", words::FOLD_MODELS),
                _ => format!(
                    "Note: {}. Folds were drawn {repeats} times; charts of rows held out are those of the first draw.",
                    words::FOLD_MODELS
                ),
            },
            larger_is_better: told.measure.is_better_when_larger(),
        })
    }

    /// Something of rows held out, and of those of the fit.
    fn both<T>(&self, of: impl Fn(&Judged) -> Option<T>) -> [Option<T>; 2] {
        [self.held_out_rows().and_then(&of), self.fitted_rows().as_ref().and_then(&of)]
    }

    fn regression(&self) -> Option<Regression> {
        let [held_out, fitted] = self.both(Judged::numbers);
        let kind = match self.loaded.loss {
            Loss::Quantile => RegressionKind::Quantile(self.quantile()),
            loss if loss.has_log_link() => RegressionKind::Mean,
            _ => RegressionKind::Number,
        };
        let target = self.target().to_owned();
        Some(Regression { target, kind, explained: self.both(Judged::explained), held_out, fitted })
    }

    fn each_response(&self) -> Responses {
        let [held_out, fitted] = self.both(responses::predictions);
        let of = |all: &Option<Vec<Predictions>>, output: usize| all.as_ref().map(|all| all[output].clone());
        let one = |(output, name): (usize, &String)| {
            let intercept = self.preparation.intercept.then(|| self.estimate.intercepts[output]);
            let k = self.separate.as_ref().map(|separate| separate.sizes[output]);
            Response { k, ..Response::new(name.clone(), intercept, [of(&held_out, output), of(&fitted, output)]) }
        };
        Responses::new(self.responses().iter().enumerate().map(one).collect())
    }

    fn classification(&self) -> Option<Classification> {
        let [negative, positive] = self.classes() else { return None };
        let [held_out, fitted] = self.both(Judged::two_classes);
        let (target, positive, negative) = (self.target().to_owned(), positive.clone(), negative.clone());
        Some(Classification { target, positive, negative, held_out, fitted })
    }

    fn many_classes(&self) -> Option<ManyClasses> {
        let [held_out, fitted] = self.both(Judged::classes);
        let thresholds = match &self.estimate.nuisance {
            Nuisance::Thresholds(values) => values.clone(),
            _ => Vec::new(),
        };
        let (target, names) = (self.target().to_owned(), self.classes().to_vec());
        Some(ManyClasses { target, names, thresholds, held_out, fitted })
    }

    fn survival(&self) -> Survival {
        // Curves of rows that were not seen from the start would need their entries.
        let known = &self.loaded.dataset.known;
        let whole = |risks: Risks| match known.entries {
            Some(_) => Risks { concordance: risks.concordance, ..Risks::default() },
            None => risks,
        };
        let [held_out, fitted] = self.both(Judged::risks).map(|risks| risks.map(whole));
        Survival { target: self.target().to_owned(), held_out, fitted }
    }
}
