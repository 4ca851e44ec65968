//! What is to be predicted, and its loss.

use std::sync::Arc;

use katoms::loss::{RowFunctions, Ties};
use katoms_estimate::{JobLoss, NumberLoss, Response, Values, offset_of};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::ended::Ended;
use crate::error::{invalid, raised};

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// A response as Python gives it. What a loss does not need is None.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Observed<'py> {
    /// The name of the loss.
    pub loss: String,
    /// Numbers, labels of classes, or times; of several responses, those of the first, then those of the second.
    target: Numbers<'py>,
    weights: Option<Numbers<'py>>,
    offset: Option<Numbers<'py>>,
    exposure: Option<Numbers<'py>>,
    /// How many classes or responses there are.
    count: Option<usize>,
    quantile: Option<f64>,
    smoothing: Option<f64>,
    delta: Option<f64>,
    dispersion: Option<f64>,
    events: Option<PyReadonlyArray1<'py, bool>>,
    entries: Option<Numbers<'py>>,
    strata: Option<Vec<usize>>,
    ties: Option<String>,
    /// A loss of one's own: functions of (y, z) for its values, slopes and curvatures, and the least that each row's can be.
    functions: Option<[Py<PyAny>; 3]>,
    least: Option<Numbers<'py>>,
}

/// Functions of Python. What they raise is kept in `ended`, and the fit ends.
struct Functions {
    functions: [Py<PyAny>; 3],
    ended: Ended,
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("functions of Python")
    }
}

impl Functions {
    fn called(&self, which: usize, y: &[f64], z: &[f64]) -> Vec<f64> {
        if self.ended.has_failed() {
            return Vec::new();
        }
        let found = Python::attach(|py| -> PyResult<Vec<f64>> {
            let arguments = (PyArray1::from_slice(py, y), PyArray1::from_slice(py, z));
            let answer = self.functions[which].bind(py).call1(arguments)?;
            Ok(answer.extract::<Numbers<'_>>()?.as_slice()?.to_vec())
        });
        found.unwrap_or_else(|error| {
            self.ended.keep(error);
            Vec::new()
        })
    }
}

impl RowFunctions for Functions {
    fn values(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
        self.called(0, y, z)
    }
    fn slopes(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
        self.called(1, y, z)
    }
    fn curvatures(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
        self.called(2, y, z)
    }
}

impl Observed<'_> {
    /// The number of rows.
    pub fn rows(&self) -> PyResult<usize> {
        let per_row = if self.loss == "responses" { self.count.unwrap_or(1) } else { 1 };
        Ok(self.target.as_slice()?.len() / per_row.max(1))
    }

    /// The loss. What functions of one's own raise is kept in `ended`.
    pub fn loss(&self, ended: &Ended) -> PyResult<JobLoss> {
        let mut offset = owned(self.offset.as_ref())?;
        if let Some(exposure) = &self.exposure {
            let known = offset_of(exposure.as_slice()?).map_err(raised)?;
            offset = Some(match offset {
                Some(mut offset) if offset.len() == known.len() => {
                    offset.iter_mut().zip(known).for_each(|(offset, known)| *offset += known);
                    offset
                }
                Some(_) => {
                    return Err(invalid(
                        "offset and exposure have different lengths; each must have one value for each row",
                    ));
                }
                None => known,
            });
        }
        let response = Response { values: self.values(ended)?, weights: owned(self.weights.as_ref())?, offset };
        response.loss().map_err(raised)
    }

    fn values(&self, ended: &Ended) -> PyResult<Values> {
        let numbers = self.target.as_slice()?.to_vec();
        if let (Some(given), Some(least)) = (&self.functions, &self.least) {
            let functions = Python::attach(|py| given.each_ref().map(|function| function.clone_ref(py)));
            let functions = Arc::new(Functions { functions, ended: ended.clone() });
            return Ok(Values::Custom { functions, values: numbers, least: least.as_slice()?.to_vec() });
        }
        let number = |loss| Ok(Values::Numbers(loss, numbers.clone()));
        let labels = || numbers.iter().map(|&v| v as usize).collect();
        let count = self.count.unwrap_or(2);
        match self.loss.as_str() {
            "squares" => number(NumberLoss::Squares),
            "huber" => number(NumberLoss::Huber { delta: self.delta }),
            "quantile" => {
                number(NumberLoss::Quantile { quantile: self.quantile.unwrap_or(0.5), smoothing: self.smoothing })
            }
            "poisson" => number(NumberLoss::Poisson),
            "gamma" => number(NumberLoss::Gamma),
            "negative_binomial" => number(NumberLoss::NegativeBinomial { dispersion: self.dispersion }),
            "responses" => Ok(Values::Responses { values: numbers.clone(), count }),
            "logistic" | "multinomial" => Ok(Values::Classes { labels: labels(), count, ordered: false }),
            "ordinal" => Ok(Values::Classes { labels: labels(), count, ordered: true }),
            "cox" => Ok(Values::Survival {
                events: self
                    .events
                    .as_ref()
                    .map_or(Ok(Vec::new()), |events| events.as_slice().map(<[bool]>::to_vec))?,
                entries: owned(self.entries.as_ref())?,
                strata: self.strata.clone(),
                ties: match self.ties.as_deref() {
                    Some("breslow") => Ties::Breslow,
                    _ => Ties::Efron,
                },
                times: numbers,
            }),
            other => Err(invalid(format!("there is no loss {other:?}"))),
        }
    }
}

fn owned(values: Option<&Numbers<'_>>) -> PyResult<Option<Vec<f64>>> {
    Ok(values.map(|values| values.as_slice().map(<[f64]>::to_vec)).transpose()?)
}
