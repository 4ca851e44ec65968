//! What a model says in a line.

use super::{Choosing, Finished};
use crate::terminal::{count, number};

impl Finished<'_> {
    /// `10 of 500 features predict price`; or that none does better than a constant.
    pub fn title(&self) -> String {
        let (chosen, all) = (self.estimate.chosen.len(), self.loaded.choices(self.features));
        if let Some(why) = self.no_better_than_none() {
            let (atom, target) = (self.loaded.atoms_are().trim_end_matches('s'), self.target());
            return format!("no {atom} predicts {target} better than {}{why}", self.what_none_is());
        }
        if self.k == 0 {
            let is = if self.responses().is_empty() { "is" } else { "are" };
            return format!("{} {is} predicted by {} alone", self.target(), self.what_none_is());
        }
        let verb = if chosen == 1 { "predicts" } else { "predict" };
        format!("{chosen} of {all} {} {verb} {}", self.loaded.atoms_are(), self.target())
    }

    pub(super) fn target(&self) -> &str {
        self.loaded.dataset.target.as_ref().map_or("the target", |target| target.name.as_str())
    }

    /// Where what chose the size says so: that the model is no better than the one without atoms, and why. Who gave the
    /// size asked for no such judgement.
    fn no_better_than_none(&self) -> Option<String> {
        let with = || count(self.k, self.loaded.atoms_are().trim_end_matches('s'), self.loaded.atoms_are());
        if let Some(choosing) = &self.validated {
            return self.no_better_on_held_out_rows(choosing, &with());
        }
        let (path, name) = self.path?;
        let at = katoms_estimate::PathModels::CRITERIA.iter().position(|(one, _)| *one == name)?;
        let here = path.models.iter().find(|model| model.atoms == self.k)?.criteria[at];
        let none = path.null.criteria[at];
        let worse = || format!(": {name} is {} with {}, {} without", number(here), with(), number(none));
        (self.k == 0).then(|| format!(", by {name}")).or_else(|| (here >= none).then(worse))
    }

    /// The same by rows held out: the folds are compared pair by pair, and a difference within its standard error is none.
    fn no_better_on_held_out_rows(&self, choosing: &Choosing<'_>, with: &str) -> Option<String> {
        let Choosing { validated, score, told, .. } = choosing;
        let least = validated.min().atoms;
        if self.k == 0 {
            let less = format!(" by more than one standard error (k = {least} does by less)");
            return Some(if least > 0 { less } else { String::new() });
        }
        let gains: Vec<f64> = validated.null.folds.iter().zip(&score.folds).map(|(none, here)| none - here).collect();
        let count = gains.len() as f64;
        let gain = gains.iter().sum::<f64>() / count;
        let square: f64 = gains.iter().map(|one| (one - gain).powi(2)).sum();
        let error = (square / (count * (count - 1.0))).sqrt();
        // RMSE in place of the mean squared error.
        let said = |loss: f64| match told.has_root {
            true => format!("RMSE {}", number(told.mean(loss).sqrt())),
            false => format!("{} {}", told.name, number(told.mean(loss))),
        };
        let numbers = format!("held-out {} with {with}, {} without", said(score.mean), said(validated.null.mean));
        match () {
            () if gain > error => None,
            () if gain > 0.0 => Some(format!(" by more than one standard error: {numbers}")),
            () => Some(format!(": {numbers}")),
        }
    }
}
