//! How well a model predicts: rows that its fit has not seen first, then those of the fit.

use katoms_estimate::Nuisance;
use katoms_io::Loss;

use super::Finished;
use crate::judged::Judged;
use crate::responses;
use crate::scores::Scores;

impl Finished<'_> {
    /// The rows of the fit.
    pub(super) fn fitted_rows(&self) -> Option<Judged> {
        let linear = self.features.predictions(self.estimate.coefficients(), &self.estimate.intercepts);
        let thresholds = match &self.estimate.nuisance {
            Nuisance::Thresholds(values) => Some(values.clone()),
            _ => None,
        };
        let measure = self.loaded.measure_at(&self.estimate.nuisance).ok()?;
        Judged::new(measure.loss().clone(), linear, thresholds).ok()
    }

    /// Rows held out, predicted by models that have not seen them.
    pub(super) fn held_out_rows(&self) -> Option<&Judged> {
        self.validated.as_ref().map(|choosing| &choosing.held_out).or(self.held_out.as_ref())
    }

    /// Scores on rows held out, and on the rows of the fit.
    pub(super) fn scores(&self) -> [Option<Scores>; 2] {
        let names = self.responses();
        let of = |rows: Option<&Judged>| match names {
            [] => Scores::new(self.loaded.loss, rows?),
            names => {
                let rows = rows?;
                let each = names.iter().cloned().zip(responses::predictions(rows)?).collect();
                Scores::of_responses(rows.rows(), each)
            }
        };
        [of(self.held_out_rows()), of(self.fitted_rows().as_ref())]
    }

    /// How well the model fits, in a few words.
    pub fn fit_in_words(&self) -> String {
        let [held_out, fitted] = self.scores().map(|scores| scores.map(|scores| scores.first()));
        let held_out = held_out.map(|score| format!("{score} on rows held out; ")).unwrap_or_default();
        let mut fitted = fitted.unwrap_or_else(|| "no R²".into());
        let explained = match self.loaded.loss {
            Loss::Huber => Some("Huber loss"),
            loss => loss.has_classes().then_some("deviance"),
        };
        if let (Some(what), Some(share)) = (explained, self.explained()) {
            fitted += &format!(", {:.1} % of the {what} explained", 100.0 * share);
        }
        format!("{held_out}{fitted} on the rows of the fit")
    }
}
