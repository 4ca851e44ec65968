//! What a loss calls things: its coefficients, the model without features, and what a model has besides.

use katoms_estimate::Nuisance;
use katoms_io::Loss;

use super::Finished;
use crate::command::separate::sizes_in_words;
use crate::report::Scale;
use crate::terminal::number;

/// A loss in words.
pub fn in_words(loss: Loss) -> &'static str {
    match loss {
        Loss::Squares => "least squares",
        Loss::Logistic => "logistic, two classes",
        Loss::Huber => "Huber's: squares, and beyond a bound in proportion",
        Loss::Quantile => "pinball, a quantile",
        Loss::Poisson => "Poisson, counts",
        Loss::Gamma => "gamma, amounts",
        Loss::NegativeBinomial => "negative binomial, counts",
        Loss::Multinomial => "multinomial, classes",
        Loss::Ordinal => "ordinal, classes in an order",
        Loss::Cox => "Cox's proportional hazards",
    }
}

/// What the exponential of a coefficient is.
pub fn ratio(loss: Loss) -> Option<&'static str> {
    match loss {
        Loss::Logistic | Loss::Ordinal => Some("odds ratio"),
        Loss::Poisson | Loss::NegativeBinomial => Some("rate ratio"),
        Loss::Gamma => Some("ratio of means"),
        Loss::Cox => Some("hazard ratio"),
        Loss::Squares | Loss::Huber | Loss::Quantile | Loss::Multinomial => None,
    }
}

impl Finished<'_> {
    pub(super) fn classes(&self) -> &[String] {
        self.loaded.dataset.target.as_ref().and_then(|target| target.classes.as_deref()).unwrap_or_default()
    }

    /// The names of several responses; nothing where there is one.
    pub(super) fn responses(&self) -> &[String] {
        self.loaded.dataset.target.as_ref().map_or(&[], |target| &target.responses)
    }

    /// The size of each target, where they have features of their own.
    pub(super) fn sizes_of_targets(&self) -> Option<String> {
        self.separate.as_ref().map(|separate| sizes_in_words(self.responses(), &separate.sizes))
    }

    /// The names of several outputs; nothing where there is one.
    pub(super) fn outputs(&self) -> Vec<String> {
        let outputs = self.estimate.intercepts.len();
        let names = if self.responses().is_empty() { self.classes() } else { self.responses() };
        let name = |output: usize| names.get(output).cloned().unwrap_or_else(|| format!("{}", output + 1));
        if outputs > 1 { (0..outputs).map(name).collect() } else { Vec::new() }
    }

    /// What the model without atoms is.
    pub(super) fn what_none_is(&self) -> &'static str {
        match (self.loaded.dataset.always.is_empty(), self.preparation.intercept, self.loaded.loss) {
            (false, ..) => "what is always in",
            (true, _, Loss::Cox) => "the same hazard for all",
            (true, _, Loss::Ordinal) => "the frequencies of its classes",
            (true, false, _) => "zero",
            (true, true, Loss::Logistic | Loss::Multinomial) => "the frequencies of its classes",
            (true, true, Loss::Huber | Loss::Quantile) => "a constant",
            (true, true, _) if !self.responses().is_empty() => "their means",
            (true, true, _) => "its mean",
        }
    }

    /// What the coefficients change, for a report.
    pub(super) fn scale(&self) -> Option<Scale> {
        let target = self.target();
        let (on, multiplied) = match (self.loaded.loss, self.classes()) {
            (Loss::Logistic, [_, one]) => (format!("the log-odds of “{one}”"), format!("the odds of “{one}” are")),
            (Loss::Ordinal, _) => {
                ("the log-odds of a higher class".to_owned(), "the odds of a higher class are".to_owned())
            }
            (Loss::Multinomial, _) => ("the score of a class".into(), String::new()),
            (Loss::Poisson | Loss::NegativeBinomial, _) => {
                (format!("the logarithm of the mean of {target}"), "the rate is".into())
            }
            (Loss::Gamma, _) => (format!("the logarithm of the mean of {target}"), "the mean is".into()),
            (Loss::Cox, _) => ("the logarithm of the hazard".into(), "the hazard is".into()),
            _ => return None,
        };
        Some(Scale { on, ratio: ratio(self.loaded.loss).map(str::to_owned), multiplied })
    }

    /// The same for the terminal, in a line.
    pub(super) fn coefficients_are(&self) -> Option<String> {
        let target = self.target();
        Some(match (self.loaded.loss, self.classes()) {
            (Loss::Logistic, [zero, one]) => format!("coefficients are of the log-odds of {one} (against {zero})"),
            (Loss::Ordinal, classes) => {
                format!("coefficients are of the log-odds of a higher class of {target} ({})", classes.join(" < "))
            }
            (Loss::Multinomial, _) => {
                "coefficients are of the scores of the classes, of which only differences matter".into()
            }
            (Loss::Poisson | Loss::NegativeBinomial | Loss::Gamma, _) => {
                format!("coefficients are of the logarithm of the mean of {target}")
            }
            (Loss::Quantile, _) => format!("what is predicted is the {} quantile of {target}", self.quantile()),
            (Loss::Cox, _) => "coefficients are of the logarithm of the hazard".into(),
            _ => return None,
        })
    }

    pub(super) fn quantile(&self) -> f64 {
        self.loaded.response.quantile.unwrap_or(0.5)
    }

    /// What a model has besides coefficients: names and numbers.
    pub(super) fn besides(&self) -> Vec<(String, f64)> {
        match &self.estimate.nuisance {
            Nuisance::Dispersion(value) => vec![("dispersion".into(), *value)],
            Nuisance::Delta(value) => vec![("delta".into(), *value)],
            Nuisance::Smoothing(value) => vec![("smoothing".into(), *value)],
            Nuisance::Thresholds(values) => {
                let names = self.classes().windows(2).map(|pair| format!("{} | {}", pair[0], pair[1]));
                names.zip(values.iter().copied()).collect()
            }
            Nuisance::None | Nuisance::Baseline(_) => Vec::new(),
        }
    }

    /// That larger coefficients always fit better.
    pub(super) fn separated(&self) -> String {
        let what = match (self.loaded.loss, self.classes()) {
            (Loss::Logistic, [zero, one]) => format!("separation of {one} and {zero}, wholly or in part,"),
            (loss, _) if loss.has_classes() => "separation of the classes, wholly or in part,".into(),
            (loss, _) if loss.has_log_link() => "a feature tells rows whose counts are all 0".into(),
            (Loss::Cox, _) => "separation: the features tell which rows have their events first,".into(),
            _ => "separation".into(),
        };
        format!(
            "{what} on the rows of the fit: larger coefficients always fit better, and these are no estimates; --ridge 1 \
             gives finite ones"
        )
    }

    /// The lines of the terminal below the coefficients.
    pub(super) fn constants(&self) -> String {
        let mut text = String::new();
        let outputs = self.outputs();
        if self.preparation.intercept && outputs.is_empty() {
            text += &format!("  (intercept)  {}\n", number(self.estimate.intercept()));
        }
        for (name, value) in outputs.iter().zip(&self.estimate.intercepts).filter(|_| self.preparation.intercept) {
            text += &format!("  (intercept, {name})  {}\n", number(*value));
        }
        for (name, value) in self.besides() {
            text += &format!("  ({name})  {}\n", number(value));
        }
        text
    }
}
