//! The units in which a job computes.
//!
//! A fit squares its target and its columns, and double precision ends at 1e308 and at 1e-308. Data that are so large or
//! so small that squares would leave that range are multiplied by powers of two before the fit, and the answer is taken
//! back the same way. Neither rounds, so that the unit of a target or of a column changes no bit of an answer but its
//! exponent. What no number can hold is refused.

use std::ops::RangeInclusive;

use katoms::Error;
use katoms::driver::{Attempt, Certificate, Event, NearTie, Quality};
use katoms::linalg::{exponent_of_two, times_power_of_two};
use katoms::loss::{AnyLoss, Logistic, Loss, Split, best_constants};
use katoms::operator::{AnyDesign, ColumnSize, FirstRead, LinearOperator};
use katoms::select::{Bounds, Preparation, Score};
use katoms::space::SparseVec;

use crate::watch::{Answer, Progress, Watch};

/// Largest magnitudes of a target and of weights that are left as they are, as exponents of two: 1e-30 to 1e30. Fourth
/// powers of residuals, in standard errors, are numbers there.
const UNSCALED: RangeInclusive<i32> = -100..=100;
/// Curvatures are alike where neither is less than this share of the other: half of the digits.
const ALIKE: f64 = 1.5e-8;
/// Losses that can be reported, as exponents of two: numbers, also where a perfect fit leaves a 2^96th of them.
const REPORTED: RangeInclusive<i32> = -926..=1023;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Units {
    target: i32,
    weights: i32,
    columns: Option<Vec<i32>>,
    ridge: i32,
    /// What predictions are counted from.
    origin: f64,
}

impl Units {
    /// The units in which values are squared; the values are refused where a sum of their squares is no number.
    pub fn of_values(values: &[f64], name: &str) -> Result<Self, Error> {
        let units = Self { target: wanted(values), ..Self::default() };
        if units.target != 0 {
            let square: f64 = units.scaled_target(values).iter().map(|v| v * v).sum();
            check_reported(square, -2 * units.target).map_err(|()| refused(name, values))?;
        }
        Ok(units)
    }

    /// The loss in units in which it is computed with. Its target or its weights are refused where the loss itself is no
    /// number in the units of the data.
    pub fn of_loss(loss: &AnyLoss, name: &str) -> Result<(Self, AnyLoss), Error> {
        let target = match loss {
            AnyLoss::Squares(squares) => wanted(squares.target()),
            _ => 0,
        };
        let scales = matches!(loss, AnyLoss::Squares(_) | AnyLoss::Logistic(_));
        let weights = loss.weights().filter(|_| scales).map_or(0, wanted);
        let units = Self { target, weights, ridge: weights, ..Self::default() };
        let scaled = units.scaled_loss(loss)?;
        if target != 0 || weights != 0 {
            let value = scaled.value(&vec![0.0; scaled.n_outputs()]);
            check_reported(value, -2 * target - weights).map_err(|()| match (loss, loss.weights()) {
                (AnyLoss::Squares(squares), None) => refused(name, squares.target()),
                (AnyLoss::Squares(squares), _) if (2 * target).abs() > weights.abs() => refused(name, squares.target()),
                (_, given) => refused("the list of sample weights", given.unwrap_or(&[])),
            })?;
        }
        Ok((units, scaled))
    }

    /// The same with predictions counted from the best constant, which is then 0, where Newton's method may not find it: of
    /// a quantile the curvature far from the target is next to nothing, of a mean far from 1 it is next to nothing, or all
    /// there is, beside that at the mean, and of a loss of one's own nobody knows.
    pub fn about_constant(self, loss: AnyLoss) -> Result<(Self, AnyLoss), Error> {
        let total = |loss: &AnyLoss, constant: f64| {
            let mut curvature = vec![0.0; loss.n_outputs()];
            loss.curvature(&vec![constant; loss.n_outputs()], &mut curvature);
            curvature.iter().sum::<f64>()
        };
        if !matches!(loss, AnyLoss::Quantile(_) | AnyLoss::Poisson(_) | AnyLoss::Gamma(_) | AnyLoss::Custom(_)) {
            return Ok((self, loss));
        }
        let origin = best_constants(&loss)[0];
        let share = total(&loss, 0.0) / total(&loss, origin);
        let has_mean = matches!(loss, AnyLoss::Poisson(_) | AnyLoss::Gamma(_));
        let is_near = has_mean && (ALIKE..=1.0 / ALIKE).contains(&share);
        if is_near || !origin.is_finite() {
            return Ok((self, loss));
        }
        macro_rules! moved {
            ($loss:expr) => {{
                let known = $loss.known().map_or_else(
                    || vec![origin; $loss.n_outputs()],
                    |known| known.iter().map(|known| known + origin).collect(),
                );
                $loss.offset(known)?.into()
            }};
        }
        let loss = match loss {
            AnyLoss::Quantile(loss) => moved!(loss),
            AnyLoss::Poisson(loss) => moved!(loss),
            AnyLoss::Gamma(loss) => moved!(loss),
            AnyLoss::Custom(loss) => moved!(loss),
            other => other,
        };
        Ok((Self { origin, ..self }, loss))
    }

    fn scaled_loss(&self, loss: &AnyLoss) -> Result<AnyLoss, Error> {
        let weights = loss.weights().map(|weights| self.scaled_weights(weights)).transpose()?;
        if self.target == 0 && self.weights == 0 {
            return Ok(loss.clone());
        }
        match loss {
            AnyLoss::Squares(loss) => {
                let scaled = loss.with_target(self.scaled_target(loss.target()).to_vec())?;
                Ok(match weights {
                    Some(weights) => scaled.weighted(weights)?.into(),
                    None => scaled.into(),
                })
            }
            AnyLoss::Logistic(loss) => match weights {
                None => Ok(loss.clone().into()),
                Some(weights) => Ok(Logistic::new(loss.classes().unwrap_or(&[]).to_vec())?.weighted(weights)?.into()),
            },
            other => Ok(other.clone()),
        }
    }

    fn scaled_weights(&self, weights: &[f64]) -> Result<Vec<f64>, Error> {
        let scaled: Vec<f64> = weights.iter().map(|&w| times_power_of_two(w, self.weights)).collect();
        let lost = |i: &usize| weights[*i] != 0.0 && !scaled[*i].is_normal();
        match (0..weights.len()).find(lost) {
            Some(index) => {
                let right = "beside the largest weight that is nothing, and its digits are lost; make it 0 or larger";
                Err(Error::Value { what: "list of sample weights", index, value: weights[index], right })
            }
            None => Ok(scaled),
        }
    }

    /// Values of the target in these units.
    pub fn scaled_target(&self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|&v| times_power_of_two(v, self.target)).collect()
    }

    /// The same with units for the columns of a design, and a copy of it in them; `None` where it is computed with as it is.
    /// Standardised columns have units of their own; others only one for all, and are refused where that does not do.
    pub fn for_columns(
        mut self,
        design: &AnyDesign<'_>,
        loss: &AnyLoss,
        preparation: Preparation,
    ) -> Result<(Self, Option<AnyDesign<'static>>), Error> {
        let Some(&extreme) = design.extremes().first() else { return Ok((self, None)) };
        let mut exponents = vec![0; design.domain()];
        if preparation.standardize {
            for extreme in design.extremes() {
                exponents[extreme.column] = -exponent_of_two(extreme.size).unwrap_or(0);
            }
        } else {
            let common = common_exponent(&design.sizes().unwrap_or_default(), extreme)?;
            exponents.fill(common);
            self.ridge = self.ridge.saturating_add(2 * common);
        }
        let copy = design.scaled(&exponents, &FirstRead::of(loss, preparation.intercept))?;
        self.columns = Some(exponents);
        Ok((self, Some(copy)))
    }

    /// The same for an operator without a matrix, whose size is `size`.
    pub fn for_operator(
        mut self,
        design: &AnyDesign<'_>,
        loss: &AnyLoss,
        size: f64,
    ) -> Result<(Self, Option<AnyDesign<'static>>), Error> {
        let exponent = match exponent_of_two(size) {
            Some(e) if !UNSCALED.contains(&e) => -e,
            _ => return Ok((self, None)),
        };
        let exponents = vec![exponent; design.domain()];
        let copy = design.scaled(&exponents, &FirstRead::of(loss, false))?;
        self.columns = Some(exponents);
        Ok((self, Some(copy)))
    }

    fn column(&self, j: usize) -> i32 {
        self.columns.as_ref().map_or(0, |columns| columns[j % columns.len()])
    }

    /// λ in these units.
    pub fn scaled_ridge(&self, ridge: f64) -> Result<f64, Error> {
        let scaled = times_power_of_two(ridge, self.ridge);
        if ridge.is_finite() && !scaled.is_finite() {
            let right = "beside weights or columns this small it is no number; multiply them by a power of ten";
            return Err(Error::Option { name: "ridge", value: ridge, right });
        }
        Ok(scaled)
    }

    /// A λ of the data.
    pub fn ridge(&self, ridge: f64) -> f64 {
        times_power_of_two(ridge, -self.ridge)
    }

    /// λ of an ℓ1 penalty in these units.
    pub fn scaled_penalty(&self, lambda: f64) -> f64 {
        times_power_of_two(lambda, self.target + (self.ridge + self.weights) / 2)
    }

    /// An ℓ1 norm of coefficients in these units.
    pub fn scaled_radius(&self, radius: f64) -> f64 {
        times_power_of_two(radius, self.target - (self.ridge - self.weights) / 2)
    }

    /// Bounds in these units.
    pub fn scaled_bounds(&self, bounds: &Bounds) -> Result<Bounds, Error> {
        let times = |all: &[f64]| -> Vec<f64> {
            let exponent = |j: usize| self.target - self.column(j);
            all.iter().enumerate().map(|(j, &v)| times_power_of_two(v, exponent(j))).collect()
        };
        Bounds::new(times(bounds.lower()), times(bounds.upper()))
    }

    /// A model's coefficients and intercepts in these units. What overflows is no start.
    pub fn scaled_model(&self, (x, constants): &(SparseVec, Vec<f64>)) -> Result<(SparseVec, Vec<f64>), Error> {
        let scaled = match &self.columns {
            Some(columns) if x.dim() % columns.len() == 0 => {
                x.map(|j, v| times_power_of_two(v, self.target - columns[j % columns.len()]))
            }
            _ => x.map(|_, v| times_power_of_two(v, self.target)),
        };
        if let Some((index, value)) = x.entries().find(|&(j, v)| v.is_finite() && !scaled.value_at(j).is_finite()) {
            let right = "beside the target and the column it is no number; leave the start out";
            return Err(Error::Value { what: "start", index, value, right });
        }
        Ok((scaled, constants.iter().map(|&v| times_power_of_two(v, self.target) - self.origin).collect()))
    }

    /// A number in the unit of the target, in these units.
    pub fn scaled_level(&self, v: f64) -> f64 {
        times_power_of_two(v, self.target)
    }

    /// Coefficients in the units of the data; refused where one is no normal number.
    pub fn coefficients(&self, x: &SparseVec) -> Result<SparseVec, Error> {
        self.original(x, coefficient_refused)
    }

    /// The same of a signal.
    pub fn signal(&self, x: &SparseVec) -> Result<SparseVec, Error> {
        self.original(x, entry_refused)
    }

    fn original(&self, x: &SparseVec, refused: impl Fn(usize, f64) -> Error) -> Result<SparseVec, Error> {
        let exponent = |j: usize| self.column(j) - self.target;
        let original = x.map(|j, v| times_power_of_two(v, exponent(j)));
        let lost = |&(j, v): &(usize, f64)| v.is_normal() && !original.value_at(j).is_normal();
        match x.entries().find(lost) {
            Some((column, v)) => Err(refused(column, v.abs().log10() + decimal(exponent(column)))),
            None => Ok(original),
        }
    }

    /// A number in the unit of the target.
    pub fn level(&self, v: f64) -> f64 {
        times_power_of_two(v, -self.target)
    }

    /// Intercepts in the unit of the target.
    pub fn levels(&self, intercepts: &[f64]) -> Vec<f64> {
        intercepts.iter().map(|&v| self.level(v + self.origin)).collect()
    }

    /// A loss, or a part of one.
    pub fn loss(&self, v: f64) -> f64 {
        times_power_of_two(v, -2 * self.target - self.weights)
    }

    /// A loss for a unit of weight.
    pub fn mean_loss(&self, v: f64) -> f64 {
        times_power_of_two(v, -2 * self.target)
    }

    /// What held-out rows say, taken to the units of the data.
    pub fn rescale_score(&self, score: &mut Score) -> Result<(), Error> {
        score.folds.iter_mut().for_each(|loss| *loss = self.mean_loss(*loss));
        (score.mean, score.error) = (self.mean_loss(score.mean), self.mean_loss(score.error));
        score.choice.ridge = self.ridge(score.choice.ridge);
        for model in &mut score.models {
            (model.coefficients, model.intercepts) =
                (self.coefficients(&model.coefficients)?, self.levels(&model.intercepts));
        }
        Ok(())
    }

    /// A deviance of this loss, as criteria have it.
    pub fn deviance(&self, loss: &AnyLoss, v: f64) -> f64 {
        let exponent = -2 * self.target - self.weights;
        match loss {
            AnyLoss::Squares(_) => {
                let count = (loss.observations() * loss.outputs_per_row()) as f64;
                v + count * f64::from(exponent) * std::f64::consts::LN_2
            }
            _ => times_power_of_two(v, exponent),
        }
    }

    /// A move.
    pub fn event(&self, event: &Event) -> Event {
        let step = times_power_of_two(event.step, self.ridge);
        Event { objective: self.loss(event.objective), gap: event.gap.map(|gap| self.loss(gap)), step, ..*event }
    }

    /// Where a start led.
    pub fn attempt(&self, attempt: &Attempt) -> Attempt {
        Attempt { objective: self.loss(attempt.objective), ..*attempt }
    }

    /// How good a point is.
    pub fn quality(&self, quality: Quality) -> Quality {
        let tie = |tie: &NearTie| NearTie { rise: self.loss(tie.rise), ..*tie };
        let certificate = quality.certificate.map(|c| Certificate { lower_bound: self.loss(c.lower_bound), ..c });
        let near_ties = quality.near_ties.iter().map(tie).collect();
        Quality { exchange_gain: self.loss(quality.exchange_gain), near_ties, certificate, ..quality }
    }

    /// Somebody who hears of everything in the units of the data.
    pub fn watched_by<'w>(&self, watch: &'w mut dyn Watch) -> RescaledWatch<'w> {
        RescaledWatch { units: self.clone(), watch }
    }
}

pub(crate) struct RescaledWatch<'w> {
    units: Units,
    watch: &'w mut dyn Watch,
}

impl Watch for RescaledWatch<'_> {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        self.watch.tell(&Progress { event: &self.units.event(progress.event), ..*progress })
    }
    fn expect(&mut self, count: usize) {
        self.watch.expect(count);
    }
    fn counted(&mut self, done: usize) -> Answer {
        self.watch.counted(done)
    }
    fn goes_on(&mut self) -> Answer {
        self.watch.goes_on()
    }
    fn keep(&mut self, state: &[u8]) {
        self.watch.keep(state);
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
}

/// The exponent that brings the largest of these to about 1, where they are not left as they are. It is even, for the root
/// of its power is a power too.
fn wanted(values: &[f64]) -> i32 {
    exponent_of_two(largest(values)).filter(|e| !UNSCALED.contains(e)).map_or(0, |e| -2 * (e / 2))
}

/// Whether v·2^exponent can be reported, where v is not 0.
fn check_reported(v: f64, exponent: i32) -> Result<(), ()> {
    match exponent_of_two(v) {
        Some(e) if !REPORTED.contains(&(e + exponent)) => Err(()),
        _ => Ok(()),
    }
}

fn decimal(exponent: i32) -> f64 {
    f64::from(exponent) * std::f64::consts::LOG10_2
}

fn refused(what: &str, values: &[f64]) -> Error {
    let value = largest(values);
    let factor = -value.log10().round() as i32;
    let right = format!("sums of squares of them leave the range of double precision; multiply it by 1e{factor}");
    Error::Magnitude { what: what.into(), column: None, value, right }
}

/// A coefficient of about 10^magnitude. The remedy goes half of the way.
fn coefficient_refused(column: usize, magnitude: f64) -> Error {
    let (exponent, half) = (magnitude.round() as i32, (magnitude / 2.0).round() as i32);
    let what = format!("the coefficient of column {column} of the design (counted from 0)");
    let right = format!("multiply the column by 1e{half}, or the target by 1e{}", -half);
    Error::Coefficient { what, column, exponent, right }
}

/// An entry of a signal of about 10^magnitude.
fn entry_refused(column: usize, magnitude: f64) -> Error {
    let (exponent, half) = (magnitude.round() as i32, (magnitude / 2.0).round() as i32);
    let what = format!("entry {column} of the signal (counted from 0)");
    let right = format!("multiply the matrix by 1e{half}, or the measurements by 1e{}", -half);
    Error::Coefficient { what, column, exponent, right }
}

/// The exponent that brings the largest column to about 1, where all others stay large enough to be squared.
fn common_exponent(sizes: &[f64], extreme: ColumnSize) -> Result<i32, Error> {
    let common = -exponent_of_two(largest(sizes)).unwrap_or(0);
    let scaled = |(column, &size): (usize, &f64)| ColumnSize { column, size: times_power_of_two(size, common) };
    // A column that underflows was not of zeros.
    let fits = |(j, size): (usize, &f64)| {
        let scaled = scaled((j, size));
        scaled.is_moderate() && (scaled.size != 0.0 || *size == 0.0)
    };
    if sizes.iter().enumerate().all(fits) {
        return Ok(common);
    }
    let ColumnSize { column, size } = extreme;
    let factor = -size.log10().round() as i32;
    let right = format!(
        "squares of it and of other columns cannot be added up in double precision; standardise the columns, or multiply \
         this one by 1e{factor}"
    );
    Err(Error::column_magnitude(column, size, right))
}
