//! What a saved model says of each row.

use anyhow::{Result, bail};
use katoms::Error;
use katoms::loss::{AnyLoss, Logistic, Multinomial, Ordinal};
use katoms_estimate::score::{class_probabilities, most_probable};
use katoms_estimate::{Linear, Response};
use katoms_io::{Baseline, Column, Dataset, Known, Loss, Model, Target, Values};

use crate::judged::Judged;
use crate::report::Predictions;
use crate::response::{ResponseArgs, offset};
use crate::scores::Scores;

/// Linear predictions of the rows of some data.
pub struct Outcome<'a> {
    model: &'a Model,
    known: &'a Known,
    /// Without an offset, output after output.
    linear: Vec<f64>,
    offset: Option<Vec<f64>>,
    /// Of survival: a column for each time.
    survival: Vec<(f64, Vec<f64>)>,
}

impl<'a> Outcome<'a> {
    pub fn new(model: &'a Model, dataset: &'a Dataset, times: &[f64]) -> Result<Self> {
        let (linear, known) = (model.predict(dataset)?, &dataset.known);
        let mut found = Self { model, known, linear, offset: offset(known)?, survival: Vec::new() };
        if !times.is_empty() {
            found.survival = found.survival_at(dataset, times)?;
        }
        Ok(found)
    }

    fn rows(&self) -> usize {
        self.linear.len() / self.model.outputs()
    }

    /// The linear prediction of each row and output, with its offset.
    fn whole(&self) -> Vec<f64> {
        let rows = self.rows().max(1);
        let known = |at: usize| self.offset.as_ref().map_or(0.0, |offset| offset[at % rows]);
        self.linear.iter().enumerate().map(|(at, z)| z + known(at)).collect()
    }

    /// The probability of no event until each time.
    fn survival_at(&self, dataset: &Dataset, times: &[f64]) -> Result<Vec<(f64, Vec<f64>)>> {
        let baselines = self.baselines(dataset)?;
        let risks: Vec<f64> = self.whole().iter().map(|z| z.exp()).collect();
        let at = |&time: &f64| {
            let one = |(risk, baseline): (&f64, &&Baseline)| {
                let before = baseline.times.partition_point(|&t| t <= time);
                let hazard = before.checked_sub(1).map_or(0.0, |last| baseline.hazards[last]);
                (-hazard * risk).exp()
            };
            (time, risks.iter().zip(&baselines).map(one).collect())
        };
        Ok(times.iter().map(at).collect())
    }

    /// The baseline of each row's stratum.
    fn baselines(&self, dataset: &Dataset) -> Result<Vec<&Baseline>> {
        let all = &self.model.baseline;
        if let [only @ Baseline { stratum: None, .. }] = &all[..] {
            return Ok(vec![only; self.rows()]);
        }
        let Some(strata) = &self.known.strata else {
            let column = self.model.row_columns.strata.as_deref().unwrap_or("COLUMN");
            bail!(
                "the model has strata, each with hazards of its own: --at needs their column in the data (--strata {column})"
            );
        };
        let of = |(i, &code): (usize, &usize)| {
            let name = &strata.levels[code];
            let found = all.iter().find(|one| one.stratum.as_ref() == Some(name));
            found.ok_or_else(|| {
                let row = dataset.rows[i] + 1;
                anyhow::anyhow!(
                    "row {row} is of stratum {name}, of which the fit saw no event: there is no hazard for it"
                )
            })
        };
        strata.codes.iter().enumerate().map(of).collect()
    }

    fn probabilities(&self, classes: usize) -> Vec<Vec<f64>> {
        let thresholds = (self.model.loss == Loss::Ordinal).then_some(&self.model.thresholds[..]);
        class_probabilities(Linear { values: &self.linear, thresholds }, self.rows(), classes)
    }

    /// What goes into a table.
    pub fn columns(&self) -> Vec<Column> {
        let numbers = |name: String, values: Vec<f64>| Column { name, values: Values::Numbers(values) };
        if let Some(classes) = &self.model.target.classes {
            let found = self.probabilities(classes.len());
            let codes = found.iter().map(|row| Some(most_probable(row) as u32)).collect();
            let values = Values::Words { levels: classes.clone(), codes };
            let class = Column { name: "prediction".into(), values };
            let of = |(at, class): (usize, &String)| {
                numbers(format!("probability_{class}"), found.iter().map(|row| row[at]).collect())
            };
            return [class].into_iter().chain(classes.iter().enumerate().map(of)).collect();
        }
        let whole = self.whole();
        let exponentials = || whole.iter().map(|z| z.exp()).collect::<Vec<f64>>();
        match self.model.loss {
            Loss::Cox => {
                let risks = [numbers("hazard_ratio".into(), exponentials())];
                let survival = self.survival.iter().map(|(time, p)| numbers(format!("survival_{time}"), p.clone()));
                [numbers("log_hazard_ratio".into(), whole.clone())].into_iter().chain(risks).chain(survival).collect()
            }
            loss if loss.has_log_link() => vec![numbers("prediction".into(), exponentials())],
            _ if self.model.outputs() == 1 => vec![numbers("prediction".into(), whole)],
            _ => {
                let each = whole.chunks(self.rows().max(1)).enumerate();
                let name = |output: usize| match self.model.target.responses.get(output) {
                    Some(name) => format!("prediction_{name}"),
                    None => format!("prediction_{}", output + 1),
                };
                each.map(|(output, z)| numbers(name(output), z.to_vec())).collect()
            }
        }
    }

    /// How well rows are predicted of which the target is known; `None` where that cannot be told.
    pub fn scores(&self, target: &Target) -> Option<Scores> {
        if self.model.outputs() > 1 && self.model.loss == Loss::Squares {
            return self.scores_of_responses(target);
        }
        let rows: Vec<usize> = (0..self.rows()).filter(|&i| !target.values[i].is_nan()).collect();
        let values = rows.iter().map(|&i| target.values[i]).collect();
        let loss = self.loss(values, &rows).ok()?;
        let places = (0..self.model.outputs()).flat_map(|q| rows.iter().map(move |i| q * self.rows() + i));
        let linear = places.map(|at| self.linear[at]).collect();
        let thresholds = (self.model.loss == Loss::Ordinal).then(|| self.model.thresholds.clone());
        Scores::new(self.model.loss, &Judged::new(loss, linear, thresholds).ok()?)
    }

    /// Each response on the rows of which it is known.
    fn scores_of_responses(&self, target: &Target) -> Option<Scores> {
        let rows = self.rows();
        if target.values.len() != self.linear.len() {
            return None;
        }
        let parts = target.values.chunks(rows.max(1)).zip(self.linear.chunks(rows.max(1)));
        let one = |(output, (observed, linear)): (usize, (&[f64], &[f64]))| {
            let known = || observed.iter().zip(linear).filter(|(y, _)| !y.is_nan());
            let predictions = Predictions {
                observed: known().map(|(y, _)| *y).collect(),
                predicted: known().map(|(_, z)| *z).collect(),
                weights: Vec::new(),
            };
            let name = target.responses.get(output).cloned().unwrap_or_else(|| (output + 1).to_string());
            (!predictions.observed.is_empty()).then_some((name, predictions))
        };
        let each: Vec<(String, Predictions)> = parts.enumerate().filter_map(one).collect();
        let is_known = |i: &usize| (0..self.model.outputs()).any(|output| !target.values[output * rows + i].is_nan());
        Scores::of_responses((0..rows).filter(is_known).count(), each)
    }

    /// The loss of these rows, with the parameters of the model. Classes that the rows lack are no error.
    fn loss(&self, values: Vec<f64>, rows: &[usize]) -> Result<AnyLoss, Error> {
        let classes = self.model.target.classes.as_ref().map_or(0, Vec::len);
        let labels = || values.iter().map(|&v| v as usize).collect::<Vec<usize>>();
        let parameters = &self.model.parameters;
        match self.model.loss {
            Loss::Logistic => return Ok(Logistic::new(values)?.into()),
            Loss::Ordinal => return Ok(Ordinal::new(labels(), classes)?.into()),
            Loss::Multinomial => return Ok(Multinomial::new(labels(), classes)?.into()),
            _ => {}
        }
        let response = ResponseArgs {
            quantile: parameters.quantile,
            smoothing: parameters.smoothing,
            delta: parameters.delta,
            dispersion: parameters.dispersion,
            ..ResponseArgs::default()
        };
        let events = self.known.events.as_ref().map(|events| rows.iter().map(|&i| events[i]).collect());
        let known = Known { events, ..Known::default() };
        let offset = self.offset.as_ref().map(|offset| rows.iter().map(|&i| offset[i]).collect());
        let values = response.observed(self.model.loss, values, classes, &known);
        Ok(Response { values, weights: None, offset }.loss()?.loss().clone())
    }
}
