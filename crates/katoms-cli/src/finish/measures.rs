//! How well a model predicts: rows that its fit has not seen first, then those of the fit.

use katoms_io::Loss;

use super::Finished;
use crate::report::Predictions;
use crate::scores::Scores;

impl Finished<'_> {
    /// The rows of the fit: numbers, and what is predicted.
    pub(super) fn fitted_rows(&self) -> Option<Predictions> {
        self.beside_truth(self.predictions().into_iter().enumerate())
    }

    /// Rows held out, predicted by models that have not seen them.
    pub(super) fn held_out_rows(&self) -> Option<Predictions> {
        self.beside_truth(self.validated.as_ref()?.held_out.iter().copied())
    }

    fn beside_truth(&self, rows: impl Iterator<Item = (usize, f64)>) -> Option<Predictions> {
        let target = self.loaded.dataset.target.as_ref()?;
        let (rows, predicted): (Vec<usize>, Vec<f64>) = rows.unzip();
        let of = |all: &[f64]| rows.iter().filter_map(|&row| all.get(row).copied()).collect::<Vec<f64>>();
        let weights = self.loaded.dataset.weights.as_deref().map(of).unwrap_or_default();
        Some(Predictions { observed: of(&target.values), predicted, weights })
    }

    /// Scores on rows held out, and on the rows of the fit.
    pub(super) fn scores(&self) -> [Option<Scores>; 2] {
        [self.held_out_rows(), self.fitted_rows()].map(|rows| Scores::new(self.loaded.loss, &rows?))
    }

    /// How well the model fits, in a few words.
    pub fn fit_in_words(&self) -> String {
        let [held_out, fitted] = self.scores().map(|scores| scores.map(|scores| scores.first()));
        let held_out = held_out.map(|score| format!("{score} on rows held out; ")).unwrap_or_default();
        let mut fitted = fitted.unwrap_or_else(|| "no R²".into());
        if let (Loss::Logistic, Some(share)) = (self.loaded.loss, self.explained()) {
            fitted += &format!(", {:.1} % of the deviance explained", 100.0 * share);
        }
        format!("{held_out}{fitted} on the rows of the fit")
    }
}
