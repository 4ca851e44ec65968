//! The report about a model of features.

use katoms::method::Move;
use katoms::select::{Preparation, Score};
use katoms_estimate::PathModels;
use katoms_io::Loss;

use super::Finished;
use crate::report::{
    Classification, Coefficient, Coefficients, Convergence, CrossValidation, Fact, HeldOutError, Path, PathSize,
    Regression, Report, RidgeError, Step,
};
use crate::scores::probabilities;
use crate::terminal::{Terminal, number};
use crate::words;

impl Finished<'_> {
    pub fn report(&self, terminal: &Terminal) -> Report {
        let (regression, classification) = match self.loaded.loss {
            Loss::Squares => (self.regression(), None),
            Loss::Logistic => (None, self.classification()),
        };
        let data = self.loaded.dataset.fingerprint();
        Report {
            title: self.title(),
            answer: self.answer(),
            command: terminal.command.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            warnings: self.warnings(),
            question: self.question(),
            certainty: self.certainty(),
            coefficients: Some(self.coefficients()),
            convergence: Some(self.convergence()),
            path: self.path.map(|(path, chosen_by)| self.path(path, chosen_by)),
            cross_validation: self.cross_validation(),
            regression,
            classification,
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
        let loss = match self.loaded.loss {
            Loss::Squares => "least squares",
            Loss::Logistic => "logistic, two classes",
        };
        let mut facts = vec![
            Fact::new("Data", self.loaded.path.display().to_string()),
            Fact::new("Rows", dataset.rows.len().to_string()),
            Fact::new("Candidates", format!("{} {}", self.features.candidates(), self.loaded.atoms_are())),
            Fact::new("Target", target.map_or(String::new(), |target| target.name.clone())),
            Fact::new("Loss", loss),
            Fact::new("k", self.k.to_string()),
        ];
        facts.extend(self.chosen_by.iter().map(|rule| Fact::new("Chosen by", rule.clone())));
        if let Some([zero, one]) = self.classes() {
            facts.push(Fact::new("Modelled", format!("the probability of {one} (against {zero})")));
        }
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
        facts.push(match self.method {
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
        let row = |(j, value): (usize, f64)| {
            let atom = self.atom_of(j);
            let rivals =
                ties.iter().filter(|tie| Some(tie.inside) == atom).map(|tie| self.loaded.atom(tie.outside).into());
            Coefficient {
                name: dataset.features[j].name.clone(),
                group: self.group_of(j),
                value,
                standardised: Some(self.estimate.standardized.value_at(j)),
                chosen_share: self.stability.as_ref().zip(atom).map(|(stability, atom)| stability.frequencies[atom]),
                rivals: rivals.collect(),
            }
        };
        Coefficients {
            rows: self.estimate.coefficients().entries().map(row).collect(),
            intercept: self.preparation.intercept.then_some(self.estimate.intercept()),
            half_samples: self.stability.as_ref().map(|stability| stability.samples),
            log_odds_of: self.classes().map(|[_, one]| one.into()),
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
            Loss::Logistic => "deviance explained",
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
        let validated = self.validated.as_ref()?.validated;
        let (min, one_se) = (validated.min(), validated.one_se());
        let is_square = self.loaded.loss == Loss::Squares;
        // The loss of squares is half the mean squared error.
        let (measure, unit) = if is_square { ("mean squared error", 2.0) } else { ("log loss", 1.0) };
        let size = |score: &Score| HeldOutError {
            k: score.choice.atoms,
            mean: unit * score.mean,
            error: unit * score.error,
            rmse: is_square.then(|| (unit * score.mean).sqrt()),
        };
        // Under several ridges the curve is that of the chosen one.
        let alike = validated.scores.iter().filter(|score| score.choice.ridge == min.ridge);
        let ridges = validated.best_of_ridges();
        let ridge = |&score: &&Score| RidgeError { ridge: score.choice.ridge, best: size(score) };
        Some(CrossValidation {
            measure: measure.into(),
            folds: validated.scores.first().map_or(0, |score| score.folds.len()),
            sizes: alike.map(size).collect(),
            ridge: min.ridge,
            ridges: if ridges.len() > 1 { ridges.iter().map(ridge).collect() } else { Vec::new() },
            null: Some(size(&validated.null)),
            k_min: min.atoms,
            k_1se: one_se.atoms,
            chosen: Some(self.k),
            remark: format!("Note: {}.", words::FOLD_MODELS),
        })
    }

    fn regression(&self) -> Option<Regression> {
        let target = self.loaded.dataset.target.as_ref()?.name.clone();
        Some(Regression { target, held_out: self.held_out_rows(), fitted: self.fitted_rows() })
    }

    fn classification(&self) -> Option<Classification> {
        let target = self.loaded.dataset.target.as_ref()?.name.clone();
        let [negative, positive] = self.classes()?.map(str::to_owned);
        let [held_out, fitted] = [self.held_out_rows(), self.fitted_rows()].map(|rows| rows.map(probabilities));
        Some(Classification { target, positive, negative, held_out, fitted })
    }
}
