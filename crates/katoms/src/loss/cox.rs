//! Survival: the partial likelihood of Cox, with z the logarithm of the hazard ratio.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::curvature::Hessian;
use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_length, check_values};

/// Within a stratum, a hazard below the largest by more than this factor, as a power of e, counts as if it were that much
/// below: e⁻⁵⁰⁰ is 10⁻²¹⁷, and no hazard ratio of anything.
const SMALLEST_EXPONENT: f64 = -500.0;

/// How events at the same time share their risk set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Each sees the others at risk in full: quick, and biased towards 0 where ties are many.
    Breslow,
    /// Each sees the others as likely to have gone before (Efron 1977).
    #[default]
    Efron,
}

/// The cumulative hazard of a row whose prediction is 0: constant from each time of events to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Of which stratum, where there are some.
    pub stratum: Option<usize>,
    /// The times of events, rising.
    pub times: Vec<f64>,
    /// The cumulative hazard from each of them on.
    pub hazards: Vec<f64>,
}

impl Baseline {
    /// The cumulative hazard at a time.
    pub fn at(&self, time: f64) -> f64 {
        let before = self.times.partition_point(|&t| t <= time);
        if before == 0 { 0.0 } else { self.hazards[before - 1] }
    }
}

/// Minus Cox's (weighted) partial log-likelihood, less that of a model that is sure of every event. Only differences of
/// predictions within a stratum matter, so that there is no intercept.
///
/// ```
/// use katoms::loss::{Cox, Loss};
/// // the second dies first, then the first; the third is censored in between
/// let loss = Cox::new(vec![5.0, 2.0, 3.0], vec![true, true, false])?;
/// // who dies at 2 is one of three, who dies at 5 the last one
/// assert!((loss.value(&[0.0; 3]) - 3.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cox {
    times: Vec<f64>,
    /// 1 for an event, 0 for a censored time.
    events: Vec<f64>,
    entries: Option<Vec<f64>>,
    strata: Option<Vec<usize>>,
    ties: Ties,
    weights: Weights,
    offset: Option<Vec<f64>>,
    plan: Arc<Plan>,
}

/// What the order of the times says, once for all predictions.
#[derive(Debug, Clone, Default)]
struct Plan {
    ties: Ties,
    /// The rows of each stratum that are at risk at some event.
    strata: Vec<Stratum>,
    /// The loss of a model that is sure of every event.
    saturated: f64,
}

#[derive(Debug, Clone, Default)]
struct Stratum {
    /// The rows, by falling time.
    leaving: Vec<usize>,
    /// The rows that enter late, by falling time of entry.
    entering: Vec<usize>,
    /// The times of events, falling.
    moments: Vec<Moment>,
}

/// A time at which events happen.
#[derive(Debug, Clone)]
struct Moment {
    /// The rows whose events these are.
    events: Vec<usize>,
    /// Rows of `leaving` that have come by then, and of `entering` that have not entered yet.
    came: usize,
    outside: usize,
    /// The total weight of the events.
    weight: f64,
}

impl Cox {
    /// The loss of these times, each of an event or censored, with Efron's ties.
    ///
    /// # Errors
    /// When there are no times, one is not finite and above 0, their numbers differ, or there is no event.
    pub fn new(times: impl Into<Vec<f64>>, events: impl Into<Vec<bool>>) -> Result<Self, Error> {
        let (times, events) = (times.into(), events.into());
        if times.is_empty() {
            return Err(Error::Empty { what: "the times" });
        }
        check_length("the list of events", events.len(), times.len(), "one for each time")?;
        check_values("list of times", &times, "a time must be finite and above 0", |v| v.is_finite() && v > 0.0)?;
        let events: Vec<f64> = events.into_iter().map(|event| f64::from(u8::from(event))).collect();
        let (entries, strata, offset) = (None, None, None);
        let (ties, weights, plan) = (Ties::default(), Weights::default(), Arc::default());
        Self { times, events, entries, strata, ties, weights, offset, plan }.planned()
    }

    /// Whether at some event another row of its stratum was at risk: else the loss is the same at all predictions.
    pub fn compares(&self) -> bool {
        let moments = self.plan.strata.iter().flat_map(|stratum| &stratum.moments);
        moments.into_iter().any(|moment| moment.came - moment.outside > 1)
    }

    /// The same with these ties.
    pub fn ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self.plan = Arc::new(self.plan());
        self
    }

    /// The same with rows that enter the study late (left truncation): they are at risk after their entry only.
    ///
    /// # Errors
    /// When their number is wrong, or one is not finite and below its time.
    pub fn entries(self, entries: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let entries = entries.into();
        check_length("the list of entries", entries.len(), self.times.len(), "one for each time")?;
        let wrong = (0..entries.len()).find(|&i| !(entries[i].is_finite() && entries[i] < self.times[i]));
        if let Some(index) = wrong {
            let right = "an entry must be finite and before the time of its row";
            return Err(Error::Value { what: "list of entries", index, value: entries[index], right });
        }
        Self { entries: Some(entries), ..self }.planned()
    }

    /// The same with strata, which share coefficients and have hazards of their own.
    ///
    /// # Errors
    /// When their number is wrong.
    pub fn strata(self, strata: impl Into<Vec<usize>>) -> Result<Self, Error> {
        let strata = strata.into();
        check_length("the list of strata", strata.len(), self.times.len(), "one for each time")?;
        Self { strata: Some(strata), ..self }.planned()
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or no event has one.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.times.len())?;
        Self { weights, ..self }.planned()
    }

    /// The same with a known part of each prediction.
    ///
    /// # Errors
    /// When their number is wrong, or one is not finite.
    pub fn offset(self, offset: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let offset = offset.into();
        check_length("the offset", offset.len(), self.times.len(), "one value for each observation")?;
        check_values("offset", &offset, "every value must be finite", f64::is_finite)?;
        Ok(Self { offset: Some(offset), ..self })
    }

    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// 1 for each event, 0 for each censored time.
    pub fn events(&self) -> &[f64] {
        &self.events
    }

    /// The stratum of each row, where there are some.
    pub fn strata_of_rows(&self) -> Option<&[usize]> {
        self.strata.as_deref()
    }

    /// The cumulative hazard of a row whose prediction is 0, by Breslow's estimate: at each time of events, their number
    /// divided by the risks of those who could have had one. One for each stratum, by rising times.
    ///
    /// ```
    /// use katoms::loss::Cox;
    /// let loss = Cox::new(vec![5.0, 2.0, 3.0], vec![true, true, false])?;
    /// let baseline = &loss.baseline(&[0.0; 3])[0];
    /// assert_eq!(baseline.times, [2.0, 5.0]);
    /// assert!((baseline.hazards[1] - (1.0 / 3.0 + 1.0)).abs() < 1e-15);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn baseline(&self, z: &[f64]) -> Vec<Baseline> {
        let (risks, shifts) = self.risks(z);
        let one = |(stratum, shift): (&Stratum, &f64)| {
            let mut steps = Vec::with_capacity(stratum.moments.len());
            stratum.visit(&risks, z, |moment, at_risk, _| {
                steps.push((self.times[moment.events[0]], moment.weight / at_risk[0] * (-shift).exp()));
            });
            let mut sum = 0.0;
            let rising = steps.into_iter().rev().map(|(time, step)| {
                sum += step;
                (time, sum)
            });
            let (times, hazards) = rising.unzip();
            let row = stratum.leaving.first().copied().unwrap_or(0);
            Baseline { stratum: self.strata.as_ref().map(|strata| strata[row]), times, hazards }
        };
        self.plan.strata.iter().zip(&shifts).map(one).collect()
    }

    fn counts(&self, i: usize) -> bool {
        self.events[i] == 1.0 && self.weights.at(i) > 0.0
    }

    fn planned(mut self) -> Result<Self, Error> {
        if !(0..self.times.len()).any(|i| self.counts(i)) {
            let right =
                "at least one row with a weight must have an event; a model of survival has nothing else to learn from";
            return Err(Error::Value { what: "list of events", index: 0, value: self.events[0], right });
        }
        self.plan = Arc::new(self.plan());
        Ok(self)
    }

    fn plan(&self) -> Plan {
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let stratum = |i: usize| self.strata.as_ref().map_or(0, |strata| strata[i]);
        (0..self.times.len()).for_each(|i| rows.entry(stratum(i)).or_default().push(i));
        let mut plan = Plan { ties: self.ties, ..Plan::default() };
        for mut leaving in rows.into_values() {
            leaving.retain(|&i| self.weights.at(i) > 0.0);
            leaving.sort_by(|&a, &b| self.times[b].total_cmp(&self.times[a]));
            let mut entering = if self.entries.is_some() { leaving.clone() } else { Vec::new() };
            let entry = |i: usize| self.entries.as_ref().map_or(f64::NEG_INFINITY, |entries| entries[i]);
            entering.sort_by(|&a, &b| entry(b).total_cmp(&entry(a)));
            let mut moments: Vec<Moment> = Vec::new();
            for group in leaving.chunk_by(|&a, &b| self.times[a] == self.times[b]) {
                let events: Vec<usize> = group.iter().copied().filter(|&i| self.counts(i)).collect();
                if let Some(&first) = events.first() {
                    let now = self.times[first];
                    let came = leaving.partition_point(|&i| self.times[i] >= now);
                    let outside = entering.partition_point(|&i| entry(i) >= now);
                    let weight = events.iter().map(|&i| self.weights.at(i)).sum();
                    plan.saturated += saturated(self.ties, events.len(), weight);
                    moments.push(Moment { events, came, outside, weight });
                }
            }
            if !moments.is_empty() {
                plan.strata.push(Stratum { leaving, entering, moments });
            }
        }
        plan
    }

    fn exponent(&self, z: &[f64], i: usize) -> f64 {
        z[i] + self.offset.as_ref().map_or(0.0, |offset| offset[i])
    }

    /// wᵢ·e^(zᵢ + oᵢ − shift) of every row that counts, and the shift of each stratum, its largest exponent.
    fn risks(&self, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut risks = vec![0.0; z.len()];
        let shift = |stratum: &Stratum| {
            let largest = stratum.leaving.iter().map(|&i| self.exponent(z, i)).fold(f64::NEG_INFINITY, f64::max);
            for &i in &stratum.leaving {
                let exponent = (self.exponent(z, i) - largest).max(SMALLEST_EXPONENT);
                risks[i] = self.weights.at(i) * exponent.exp();
            }
            largest
        };
        let shifts = self.plan.strata.iter().map(shift).collect();
        (risks, shifts)
    }
}

/// The loss of events of this number and total weight whose risk set is themselves, each as likely as it weighs.
fn saturated(ties: Ties, events: usize, weight: f64) -> f64 {
    let share = weight / events as f64;
    weight * weight.ln() + ties.shares(events).map(|gone| share * (1.0 - gone).ln()).sum::<f64>()
}

impl Plan {
    /// out = riskᵢ·Σ ratio over the events at which row i is at risk, less what ties take off, where `ratio` is asked for the
    /// risk set of every event: for its sum of risks and its sum of risks·d.
    fn hazards(&self, risks: &[f64], d: &[f64], ratio: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut out = vec![0.0; risks.len()];
        for stratum in &self.strata {
            // From each moment on, back to the first: its hazard, and the share of it that each of its own events is spared.
            let mut steps: Vec<[f64; 2]> = Vec::with_capacity(stratum.moments.len() + 1);
            stratum.visit(risks, d, |moment, at_risk, own| {
                let share = moment.weight / moment.events.len() as f64;
                let mut step = [0.0; 2];
                for gone in self.ties.shares(moment.events.len()) {
                    let hazard = share * ratio(at_risk[0] - gone * own[0], at_risk[1] - gone * own[1]);
                    step[0] += hazard;
                    step[1] += gone * hazard;
                }
                steps.push(step);
            });
            let mut sums = vec![0.0; steps.len() + 1];
            (0..steps.len()).rev().for_each(|m| sums[m] = sums[m + 1] + steps[m][0]);
            let (mut came, mut outside) = (0, 0);
            for (m, moment) in stratum.moments.iter().enumerate() {
                stratum.leaving[came..moment.came].iter().for_each(|&i| out[i] += sums[m]);
                stratum.entering[outside..moment.outside].iter().for_each(|&i| out[i] -= sums[m]);
                moment.events.iter().for_each(|&i| out[i] -= steps[m][1]);
                (came, outside) = (moment.came, moment.outside);
            }
        }
        out.iter_mut().zip(risks).for_each(|(out, risk)| *out *= risk);
        out
    }

    /// ∇²ℓ·d, where the rows have these risks.
    fn hessian_times(&self, risks: &[f64], d: &[f64]) -> Vec<f64> {
        let mean = self.hazards(risks, d, |risk, weighted| weighted / risk / risk);
        let own = self.hazards(risks, d, |risk, _| 1.0 / risk);
        own.iter().zip(d).zip(mean).map(|((h, d), mean)| h * d - mean).collect()
    }
}

impl Ties {
    /// For each of some tied events, the share of them that has gone before it.
    fn shares(self, events: usize) -> impl Iterator<Item = f64> {
        (0..events).map(move |l| if self == Self::Efron { l as f64 / events as f64 } else { 0.0 })
    }
}

impl Stratum {
    /// Every moment with the sums of risks and of risks·d, over its risk set and over its own events.
    fn visit(&self, risks: &[f64], d: &[f64], mut each: impl FnMut(&Moment, [f64; 2], [f64; 2])) {
        let add = |sums: &mut [f64; 2], i: usize, sign: f64| {
            sums[0] += sign * risks[i];
            sums[1] += sign * risks[i] * d[i];
        };
        let (mut sums, mut late, mut came, mut outside) = ([0.0; 2], [0.0; 2], 0, 0);
        for moment in &self.moments {
            self.leaving[came..moment.came].iter().for_each(|&i| add(&mut sums, i, 1.0));
            self.entering[outside..moment.outside].iter().for_each(|&i| add(&mut late, i, 1.0));
            (came, outside) = (moment.came, moment.outside);
            let mut own = [0.0; 2];
            moment.events.iter().for_each(|&i| add(&mut own, i, 1.0));
            // Rounding must not leave less at risk than those whose events these are.
            let at_risk = [(sums[0] - late[0]).max(own[0]), sums[1] - late[1]];
            each(moment, at_risk, own);
        }
    }
}

impl Loss for Cox {
    fn n_outputs(&self) -> usize {
        self.times.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        let (risks, shifts) = self.risks(z);
        let mut value = 0.0;
        for (stratum, shift) in self.plan.strata.iter().zip(&shifts) {
            stratum.visit(&risks, z, |moment, at_risk, own| {
                let share = moment.weight / moment.events.len() as f64;
                let logs = self.ties.shares(moment.events.len()).map(|gone| (at_risk[0] - gone * own[0]).ln());
                value += share * logs.sum::<f64>();
                for &i in &moment.events {
                    value -= self.weights.at(i) * (self.exponent(z, i) - shift);
                }
            });
        }
        (value - self.plan.saturated).max(0.0)
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        self.curvature(z, r);
        for (i, r) in r.iter_mut().enumerate() {
            *r -= self.weights.at(i) * self.events[i];
        }
    }
    /// The expected number of events of each row: ∇²ℓ without what the others at risk take off.
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        let (risks, _) = self.risks(z);
        h.copy_from_slice(&self.plan.hazards(&risks, z, |risk, _| 1.0 / risk));
    }
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        let ((risks, _), plan) = (self.risks(z), Arc::clone(&self.plan));
        Some(Hessian::Product(Box::new(move |d| plan.hessian_times(&risks, d))))
    }
    /// A row cannot be expected to have more than all events.
    fn curvature_bound(&self) -> f64 {
        let weight = |stratum: &Stratum| stratum.moments.iter().map(|moment| moment.weight).sum::<f64>();
        self.plan.strata.iter().map(weight).fold(0.0, f64::max)
    }
    /// The largest there is at z: the bound is far above it.
    fn curvature_scale(&self, z: &[f64]) -> f64 {
        let mut h = vec![0.0; z.len()];
        self.curvature(z, &mut h);
        h.into_iter().fold(0.0, f64::max)
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    /// The number of events: censored times tell little of a coefficient (Volinsky and Raftery 2000).
    fn observations(&self) -> usize {
        let rows: Vec<usize> = (0..self.times.len()).filter(|&i| self.events[i] == 1.0).collect();
        self.weights.subset(&rows).map_or(rows.len(), |weights| weights.observations(rows.len()))
    }
    fn ignores_constants(&self) -> bool {
        true
    }
    fn has_far_minima(&self) -> bool {
        true
    }
    /// Whether every event is the likeliest of those at risk, or hazards are as far apart as can be told: on the way there.
    fn separates(&self, z: &[f64]) -> bool {
        let is_far = |stratum: &Stratum| {
            let exponents = || stratum.leaving.iter().map(|&i| self.exponent(z, i));
            exponents().fold(f64::INFINITY, f64::min) - exponents().fold(f64::NEG_INFINITY, f64::max)
                <= SMALLEST_EXPONENT
        };
        if self.compares() && self.plan.strata.iter().any(is_far) {
            return true;
        }
        self.entries.is_none()
            && self.compares()
            && self.plan.strata.iter().all(|stratum| {
                let (mut came, mut largest) = (0, f64::NEG_INFINITY);
                stratum.moments.iter().all(|moment| {
                    let new = stratum.leaving[came..moment.came].iter().filter(|i| !moment.events.contains(i));
                    largest = new.fold(largest, |most, &i| most.max(z[i]));
                    came = moment.came;
                    let [first, ..] = moment.events[..] else { return true };
                    let alone = moment.events.iter().all(|&i| z[i] == z[first]) && z[first] > largest;
                    largest = largest.max(z[first]);
                    alone
                })
            })
    }
}

impl Split for Cox {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.times.len())?;
        let pick = |all: &Vec<f64>| -> Vec<f64> { rows.iter().map(|&i| all[i]).collect() };
        Self {
            times: pick(&self.times),
            events: pick(&self.events),
            entries: self.entries.as_ref().map(pick),
            strata: self.strata.as_ref().map(|strata| rows.iter().map(|&i| strata[i]).collect()),
            ties: self.ties,
            weights: self.weights.subset(rows)?,
            offset: self.offset.as_ref().map(pick),
            plan: Arc::default(),
        }
        .planned()
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
    }
    fn classes(&self) -> Option<&[f64]> {
        Some(&self.events)
    }
}

#[cfg(test)]
mod tests;
