//! What a job predicts: responses of every kind, and the loss of each.

use std::sync::Arc;

use katoms::Error;
use katoms::loss::{
    AnyLoss, Cox, Custom, Gamma, Huber, LeastSquares, Logistic, Multinomial, NegativeBinomial, Ordinal, Poisson,
    Quantile, RowFunctions, Split, Ties,
};
use katoms::select::Folds;

use crate::scale::{huber_delta, robust_deviation};

/// The width over which the loss of a quantile is smoothed where nobody says, in robust standard deviations of the response.
const SMOOTHING: f64 = 0.05;
/// The dispersion from which its estimate begins.
const FIRST_DISPERSION: f64 = 1.0;

/// A response, with what is known of its rows.
#[derive(Debug, Clone)]
pub struct Response {
    /// What was observed, and how a prediction of it is judged.
    pub values: Values,
    /// The weight of each row.
    pub weights: Option<Vec<f64>>,
    /// A known part of each linear prediction: for a log link, the logarithm of the exposure.
    pub offset: Option<Vec<f64>>,
}

/// What was observed.
#[derive(Debug, Clone)]
pub enum Values {
    /// A number for each row.
    Numbers(NumberLoss, Vec<f64>),
    /// A number for each row, by a loss of one's own.
    Custom {
        /// The loss of a row.
        functions: Arc<dyn RowFunctions>,
        /// The numbers.
        values: Vec<f64>,
        /// What the loss of each row can be at the least.
        least: Vec<f64>,
    },
    /// Several numbers for each row, by least squares: those of all rows for the first response, then for the second.
    Responses {
        /// The numbers.
        values: Vec<f64>,
        /// How many for each row.
        count: usize,
    },
    /// One of some classes, counted from 0.
    Classes {
        /// The class of each row.
        labels: Vec<usize>,
        /// How many there are.
        count: usize,
        /// Whether they have an order.
        ordered: bool,
    },
    /// Times until an event, or until a row was seen last.
    Survival {
        /// The times.
        times: Vec<f64>,
        /// Whether the event happened then.
        events: Vec<bool>,
        /// From when on each row was seen.
        entries: Option<Vec<f64>>,
        /// Rows of the same stratum have the same baseline hazard.
        strata: Option<Vec<usize>>,
        /// How events at the same time are dealt with.
        ties: Ties,
    },
}

/// How a prediction of a number is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberLoss {
    /// Half the square of the residual.
    Squares,
    /// The same of small residuals, and in proportion to large ones.
    Huber {
        /// From where on residuals are large. Without one it is estimated: 1.345 robust standard deviations of the residuals.
        delta: Option<f64>,
    },
    /// The pinball loss of a quantile.
    Quantile {
        /// The quantile, between 0 and 1.
        quantile: f64,
        /// The width over which it is smoothed. Without one: a twentieth of the robust standard deviation of the response.
        smoothing: Option<f64>,
    },
    /// Counts, with a logarithmic link.
    Poisson,
    /// Positive amounts, with a logarithmic link.
    Gamma,
    /// Counts that vary more than Poisson's, with a logarithmic link.
    NegativeBinomial {
        /// α of the variance μ + αμ². Without one the likeliest is estimated.
        dispersion: Option<f64>,
    },
}

/// A loss, and whether its parameter (a dispersion, a δ) is estimated together with the model.
#[derive(Debug, Clone)]
pub struct JobLoss {
    pub(crate) loss: AnyLoss,
    pub(crate) estimated: bool,
}

impl JobLoss {
    /// The loss, with its parameter as it is before the first model.
    pub fn loss(&self) -> &AnyLoss {
        &self.loss
    }
}

impl From<AnyLoss> for JobLoss {
    fn from(loss: AnyLoss) -> Self {
        Self { loss, estimated: false }
    }
}

impl Response {
    /// A response without weights or an offset.
    pub fn new(values: Values) -> Self {
        Self { values, weights: None, offset: None }
    }

    /// The loss of predictions of it.
    ///
    /// # Errors
    /// When a value is none of its kind, there is nothing to tell apart, lengths differ, or an offset does not go with the
    /// loss.
    pub fn loss(self) -> Result<JobLoss, Error> {
        let Self { values, weights, offset } = self;
        let rest = Rest { weights, offset };
        Ok(match values {
            Values::Numbers(loss, values) => return rest.of_numbers(loss, values),
            Values::Custom { functions, values, least } => {
                let loss = rest.weighted(Custom::new(functions, values, least)?, Custom::weighted)?;
                match rest.offset {
                    Some(offset) => loss.offset(offset)?.into(),
                    None => loss.into(),
                }
            }
            Values::Responses { values, count } => {
                rest.without_offset("least squares of several responses")?;
                AnyLoss::from(rest.weighted(LeastSquares::of_responses(values, count)?, LeastSquares::weighted)?)
            }
            Values::Classes { labels, count, ordered } => {
                rest.without_offset("a loss of classes")?;
                check_classes(&labels, count, rest.weights.as_deref())?;
                if ordered {
                    rest.weighted(Ordinal::new(labels, count)?, Ordinal::weighted)?.into()
                } else if count == 2 {
                    let labels: Vec<f64> = labels.into_iter().map(|label| label as f64).collect();
                    rest.weighted(Logistic::new(labels)?, Logistic::weighted)?.into()
                } else {
                    rest.weighted(Multinomial::new(labels, count)?, Multinomial::weighted)?.into()
                }
            }
            Values::Survival { times, events, entries, strata, ties } => {
                let mut loss = Cox::new(times, events)?.ties(ties);
                if let Some(entries) = entries {
                    loss = loss.entries(entries)?;
                }
                if let Some(strata) = strata {
                    loss = loss.strata(strata)?;
                }
                loss = rest.weighted(loss, Cox::weighted)?;
                if !loss.compares() {
                    let needs = "an event while another row, of the same stratum, was at risk: here hazards have nothing to be \
                                 compared with";
                    return Err(Error::Unsuitable { method: "a model of hazards", needs });
                }
                match rest.offset {
                    Some(offset) => loss.offset(offset)?.into(),
                    None => loss.into(),
                }
            }
        }
        .into())
    }
}

/// What rows have besides the response.
struct Rest {
    weights: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
}

impl Rest {
    fn weighted<L>(&self, loss: L, with: impl Fn(L, Vec<f64>) -> Result<L, Error>) -> Result<L, Error> {
        match &self.weights {
            Some(weights) => with(loss, weights.clone()),
            None => Ok(loss),
        }
    }

    fn without_offset(&self, method: &'static str) -> Result<(), Error> {
        match self.offset {
            None => Ok(()),
            Some(_) => {
                let needs =
                    "no offset: one goes with numbers and times; leave it out, or make it a column that is always in";
                Err(Error::Unsuitable { method, needs })
            }
        }
    }

    fn of_numbers(self, loss: NumberLoss, values: Vec<f64>) -> Result<JobLoss, Error> {
        if values.iter().all(|&v| v == 0.0) && matches!(loss, NumberLoss::Poisson | NumberLoss::NegativeBinomial { .. })
        {
            let right = "and so do all others: counts that are all 0 have no best mean; there is nothing to predict";
            return Err(Error::Value { what: "target", index: 0, value: 0.0, right });
        }
        if let Some(found) = self.weights.as_ref().map(Vec::len).filter(|&found| found != values.len()) {
            let (expected, why) = (values.len(), "one for each observation");
            return Err(Error::Length { what: "sample weights", found, expected, why });
        }
        macro_rules! with {
            ($loss:expr) => {{
                let loss = self.weighted($loss, |loss, weights| loss.weighted(weights))?;
                match self.offset {
                    Some(offset) => loss.offset(offset)?.into(),
                    None => loss.into(),
                }
            }};
        }
        let estimated =
            matches!(loss, NumberLoss::Huber { delta: None } | NumberLoss::NegativeBinomial { dispersion: None });
        let loss: AnyLoss = match loss {
            NumberLoss::Squares => {
                let target = match &self.offset {
                    Some(offset) if offset.len() == values.len() => {
                        values.iter().zip(offset).map(|(value, known)| value - known).collect()
                    }
                    Some(offset) => {
                        let (found, expected) = (offset.len(), values.len());
                        let why = "one value for each row";
                        return Err(Error::Length { what: "the offset", found, expected, why });
                    }
                    None => values,
                };
                self.weighted(LeastSquares::new(target)?, LeastSquares::weighted)?.into()
            }
            NumberLoss::Huber { delta } => {
                let delta = delta.unwrap_or_else(|| huber_delta(&values, self.weights.as_deref()));
                with!(Huber::new(values, delta)?)
            }
            NumberLoss::Quantile { quantile, smoothing } => {
                let usual = || usual_smoothing(&values, self.weights.as_deref());
                let smoothing = smoothing.unwrap_or_else(usual);
                with!(Quantile::new(values, quantile, smoothing)?)
            }
            NumberLoss::Poisson => with!(Poisson::new(values)?),
            NumberLoss::Gamma => with!(Gamma::new(values)?),
            NumberLoss::NegativeBinomial { dispersion } => {
                with!(NegativeBinomial::new(values, dispersion.unwrap_or(FIRST_DISPERSION))?)
            }
        };
        Ok(JobLoss { loss, estimated })
    }
}

/// The smoothing of a quantile where nobody says.
pub(crate) fn usual_smoothing(values: &[f64], weights: Option<&[f64]>) -> f64 {
    SMOOTHING * robust_deviation(values, weights)
}

fn check_classes(labels: &[usize], count: usize, weights: Option<&[f64]>) -> Result<(), Error> {
    let refused = |index: usize, right| Err(Error::Value { what: "labels", index, value: labels[index] as f64, right });
    if let Some(&first) = labels.first()
        && labels.iter().all(|&label| label == first)
    {
        return refused(0, "and so do all others: there is one class only, and two are needed to tell them apart");
    }
    if classes_are_rows(classes_of_one_row(labels, count).len(), labels.len(), count) {
        let needs = "rows that share a class: more than half of them have a class of their own here; join classes, or predict \
                     numbers";
        return Err(Error::Unsuitable { method: "a model of classes", needs });
    }
    let Some(weights) = weights.filter(|weights| weights.len() == labels.len()) else { return Ok(()) };
    let mut totals = vec![0.0; count];
    labels
        .iter()
        .zip(weights)
        .filter(|(label, _)| **label < count)
        .for_each(|(&label, weight)| totals[label] += weight);
    match labels.iter().position(|&label| totals.get(label) == Some(&0.0)) {
        Some(index) => refused(index, "but every row of this class has a weight of zero: leave these rows out"),
        None => Ok(()),
    }
}

/// Whether so many classes are names of rows rather than classes: more than half of the rows have one of their own.
fn classes_are_rows(alone: usize, rows: usize, classes: usize) -> bool {
    classes > 2 && 2 * alone > rows
}

/// The classes that one row alone has: (class, row).
pub fn classes_of_one_row(labels: &[usize], count: usize) -> Vec<(usize, usize)> {
    let mut rows = vec![(0, 0); count];
    for (row, &label) in labels.iter().enumerate().filter(|(_, label)| **label < count) {
        rows[label] = (rows[label].0 + 1, row);
    }
    (0..count).filter(|&class| rows[class].0 == 1).map(|class| (class, rows[class].1)).collect()
}

/// Rows that are held out together, drawn with a seed: of each class, or of events and others, about the same share.
///
/// # Errors
/// When there are fewer than two folds, or more than rows.
pub fn drawn_folds(loss: &AnyLoss, rows: usize, count: usize, seed: u64) -> Result<Folds, Error> {
    match loss.classes() {
        Some(classes) => Folds::stratified(classes, count, seed),
        None => Folds::random(rows, count, seed),
    }
}

/// The offset of an exposure: its logarithm.
///
/// # Errors
/// When an exposure is not finite and above 0.
pub fn offset_of(exposure: &[f64]) -> Result<Vec<f64>, Error> {
    let wrong = exposure.iter().position(|&v| !(v > 0.0 && v.is_finite()));
    if let Some(index) = wrong {
        let right = "an exposure must be finite and above 0; leave out rows that were not exposed";
        return Err(Error::Value { what: "exposure", index, value: exposure[index], right });
    }
    Ok(exposure.iter().map(|v| v.ln()).collect())
}
