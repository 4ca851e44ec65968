//! ½·Σ wᵢ·(yᵢ − zᵢ)².

use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_length, check_range, check_values};
use crate::linalg::parallel;

/// Half the (weighted) sum of squared residuals: ½‖b − z‖². Of one response, or of several for each row.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    target: Vec<f64>,
    responses: usize,
    weights: Weights,
    /// How many observations each row stands for, where that is not what its weight says.
    standing: Option<Vec<f64>>,
}

impl LeastSquares {
    /// The loss against this target.
    ///
    /// # Errors
    /// When the target is empty or a value is not finite.
    ///
    /// ```
    /// use katoms::loss::{LeastSquares, Loss};
    /// let loss = LeastSquares::new(vec![1.0, 2.0])?;
    /// assert_eq!(loss.value(&[1.0, 0.0]), 2.0);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn new(target: impl Into<Vec<f64>>) -> Result<Self, Error> {
        Self::of_responses(target, 1)
    }

    /// The loss against several responses for each row: all values of the first response, then all of the second. Each
    /// response has [predictions](Loss::outputs_per_row) of its own.
    ///
    /// # Errors
    /// As [`new`](Self::new), or when there is no response or not the same number of values for each.
    ///
    /// ```
    /// use katoms::loss::{LeastSquares, Loss};
    /// let loss = LeastSquares::of_responses(vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0], 2)?;
    /// assert_eq!((loss.n_rows(), loss.outputs_per_row(), loss.n_outputs()), (3, 2, 6));
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn of_responses(target: impl Into<Vec<f64>>, responses: usize) -> Result<Self, Error> {
        let target = target.into();
        check_range("the number of responses", responses, 1, usize::MAX)?;
        if target.is_empty() {
            return Err(Error::Empty { what: "the target" });
        }
        let whole = target.len().next_multiple_of(responses);
        check_length("target", target.len(), whole, "the same number of values for each response")?;
        check_values("target", &target, "every value must be finite", f64::is_finite)?;
        Ok(Self { target, responses, weights: Weights::default(), standing: None })
    }

    /// The target, response by response.
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    /// The same with sample weights, one for each row: all responses of a row have its weight.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.n_rows())?;
        Ok(Self { weights, ..self })
    }

    /// The same where each row stands for so many observations, and their number is not what weights say: a few rows that
    /// are made from many.
    ///
    /// # Errors
    /// When their number is wrong, or one is negative or not finite.
    pub fn standing_for(self, observations: Vec<f64>) -> Result<Self, Error> {
        check_length("list of observations", observations.len(), self.n_rows(), "one for each row")?;
        let admissible = |v: f64| v.is_finite() && v >= 0.0;
        check_values("list of observations", &observations, "every number must be finite and at least 0", admissible)?;
        Ok(Self { standing: Some(observations), ..self })
    }

    /// The same with another target, in other units say.
    ///
    /// # Errors
    /// As [`new`](Self::new), or when the new target has another length.
    pub fn with_target(&self, target: Vec<f64>) -> Result<Self, Error> {
        check_length("target", target.len(), self.target.len(), "as many values as before")?;
        Ok(Self { target: Self::new(target)?.target, ..self.clone() })
    }

    /// The sum of what `one` makes of a row, its target and its value in z, response by response.
    fn sum(&self, z: &[f64], one: impl Fn(usize, f64, f64) -> f64 + Sync) -> f64 {
        self.sum_with(z, z, |i, y, z, _| one(i, y, z))
    }

    /// The same with its value in d as well.
    fn sum_with(&self, z: &[f64], d: &[f64], one: impl Fn(usize, f64, f64, f64) -> f64 + Sync) -> f64 {
        let rows = self.n_rows();
        let of_response = |((target, z), d): ((&[f64], &[f64]), &[f64])| -> f64 {
            parallel::sum(rows, &|some| {
                let both = z[some.clone()].iter().zip(&d[some.clone()]);
                target[some.clone()].iter().zip(both).zip(some).map(|((y, (z, d)), i)| one(i, *y, *z, *d)).sum()
            })
        };
        self.target.chunks(rows).zip(z.chunks(rows)).zip(d.chunks(rows)).map(of_response).sum()
    }
}

impl Loss for LeastSquares {
    fn n_outputs(&self) -> usize {
        self.target.len()
    }
    fn outputs_per_row(&self) -> usize {
        self.responses
    }
    fn value(&self, z: &[f64]) -> f64 {
        0.5 * self.sum(z, |i, y, z| self.weights.at(i) * (z - y).powi(2))
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        let rows = self.n_rows();
        for ((target, z), r) in self.target.chunks(rows).zip(z.chunks(rows)).zip(r.chunks_mut(rows)) {
            parallel::fill_parts(r, &|first, r| {
                for (i, r) in (first..).zip(r) {
                    *r = self.weights.at(i) * (z[i] - target[i]);
                }
            });
        }
    }
    fn curvature(&self, _: &[f64], h: &mut [f64]) {
        for h in h.chunks_mut(self.n_rows()) {
            parallel::fill_parts(h, &|first, h| (first..).zip(h).for_each(|(i, h)| *h = self.weights.at(i)));
        }
    }
    fn slope(&self, z: &[f64], d: &[f64]) -> f64 {
        self.sum_with(z, d, |i, y, z, d| self.weights.at(i) * (z - y) * d)
    }
    fn curvature_along(&self, z: &[f64], d: &[f64]) -> f64 {
        self.sum_with(z, d, |i, _, _, d| self.weights.at(i) * d * d)
    }
    fn curvature_bound(&self) -> f64 {
        self.weights.largest()
    }
    fn observations(&self) -> usize {
        match &self.standing {
            Some(standing) => standing.iter().sum::<f64>().round() as usize,
            None => self.weights.observations(self.n_rows()),
        }
    }
    fn is_quadratic(&self) -> bool {
        true
    }
    /// aᵀy + ½·Σ aᵢ²/wᵢ.
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        // 0/0 for a row that weighs nothing: it asks for a = 0 and gives 0
        Some(self.sum(a, |i, y, a| if a == 0.0 { 0.0 } else { a * y + 0.5 * a * a / self.weights.at(i) }))
    }
    /// m·ln(2·value/m): normal noise of unknown variance over the m [observations](Loss::observations): of variance
    /// σ²/wᵢ where weights are precisions, all of which may be scaled for a constant; repeated where they are counts.
    /// Of q responses m is q times as many: their noise is independent and of one common variance, so responses in
    /// different units should be scaled first. −∞ at a perfect fit.
    fn deviance(&self, value: f64) -> f64 {
        let m = (self.observations() * self.responses) as f64;
        m * (2.0 * value / m).ln()
    }
}

impl Split for LeastSquares {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.n_rows())?;
        let of_response = |target: &[f64]| rows.iter().map(|&i| target[i]).collect::<Vec<f64>>();
        let target: Vec<f64> = self.target.chunks(self.n_rows()).flat_map(of_response).collect();
        let standing = self.standing.as_ref().map(|all| rows.iter().map(|&i| all[i]).collect());
        Ok(Self { weights: self.weights.subset(rows)?, standing, ..Self::of_responses(target, self.responses)? })
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::contract;

    #[test]
    fn keeps_the_contract() {
        let loss = LeastSquares::new(vec![1.0, -2.0, 0.5]).unwrap();
        contract::check(&loss);
        contract::check(&loss.weighted(vec![2.0, 0.0, 0.3]).unwrap());
        let two = LeastSquares::of_responses(vec![1.0, -2.0, 0.5, 3.0, 0.0, 0.7], 2).unwrap();
        for loss in [two.clone(), two.weighted(vec![2.0, 0.0, 0.3]).unwrap()] {
            contract::check(&loss);
            contract::check_subset(&loss);
        }
    }

    /// A row has one weight and is one observation, whatever the number of its responses.
    #[test]
    fn responses_add_up() {
        let (y, z) = ([1.0, -2.0, 0.5, 3.0, 0.0, 0.7], [0.3, 1.0, -1.0, 0.0, 2.0, 0.1]);
        let weights = [2.0, 0.0, 3.0];
        let both = LeastSquares::of_responses(y, 2).unwrap().weighted(weights).unwrap();
        let one = |c: usize| LeastSquares::new(&y[3 * c..][..3]).unwrap().weighted(weights).unwrap();
        assert_eq!(both.value(&z), one(0).value(&z[..3]) + one(1).value(&z[3..]));
        assert_eq!((both.observations(), Split::weights(&both)), (5, Some(&weights[..])));
        assert!((both.deviance(2.0) - 10.0 * 0.4_f64.ln()).abs() < 1e-14);
        let error = LeastSquares::of_responses(vec![1.0; 5], 2).unwrap_err();
        assert!(matches!(error, Error::Length { what: "target", found: 5, expected: 6, .. }), "{error}");
        assert!(LeastSquares::of_responses(y, 0).is_err());
        assert!(
            both.subset(&[3]).is_err() && LeastSquares::of_responses(y, 2).unwrap().weighted(vec![1.0; 6]).is_err()
        );
    }

    #[test]
    fn the_deviance_is_that_of_normal_noise() {
        // RSS = 8 over four observations: variance 2
        let loss = LeastSquares::new(vec![2.0, -2.0, 0.0, 0.0]).unwrap();
        let value = loss.value(&[0.0; 4]);
        assert!((loss.deviance(value) - 4.0 * 2.0_f64.ln()).abs() < 1e-14);
        assert_eq!(loss.deviance(0.0), f64::NEG_INFINITY);
        // a weight of zero is an observation that is not there
        let fewer = LeastSquares::new(vec![2.0, -2.0]).unwrap();
        let masked = loss.clone().weighted(vec![1.0, 1.0, 0.0, 0.0]).unwrap();
        assert_eq!(masked.deviance(3.0), fewer.deviance(3.0));
        // weights in another unit: differences between models stay
        let (light, heavy) = (loss.clone().weighted([0.1, 0.2, 0.3, 0.4]), loss.weighted([2.5, 5.0, 7.5, 10.0]));
        let gain = |loss: LeastSquares| {
            loss.deviance(loss.value(&[0.0; 4])) - loss.deviance(loss.value(&[1.0, -1.0, 0.5, 0.0]))
        };
        assert!((gain(light.unwrap()) - gain(heavy.unwrap())).abs() < 1e-13);
    }

    #[test]
    fn rows_may_stand_for_many_observations() {
        let loss = LeastSquares::new(vec![2.0, -2.0, 1.0]).unwrap().weighted(vec![0.5, 0.5, 2.0]).unwrap();
        let many = loss.clone().standing_for(vec![7.5, 7.5, 3.0]).unwrap();
        assert_eq!((many.observations(), many.subset(&[0, 1]).unwrap().observations()), (18, 15));
        assert_eq!(many.value(&[0.0; 3]), loss.value(&[0.0; 3]));
        assert_eq!(many.with_target(vec![1.0; 3]).unwrap().observations(), 18);
        assert!(loss.clone().standing_for(vec![1.0]).is_err() && loss.standing_for(vec![-1.0, 1.0, 1.0]).is_err());
    }

    #[test]
    fn bad_targets_and_weights_are_named() {
        let right = "every value must be finite";
        let error = LeastSquares::new(vec![1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error, Error::Value { what: "target", index: 1, value: f64::INFINITY, right });
        assert!(LeastSquares::new(Vec::new()).is_err());
        let loss = LeastSquares::new(vec![1.0, 2.0]).unwrap();
        assert!(loss.clone().weighted(vec![1.0]).is_err());
        assert!(loss.clone().weighted(vec![1.0, -1.0]).is_err());
        assert!(loss.weighted(vec![0.0, 0.0]).is_err());
    }

    #[test]
    fn rows_and_their_weights_make_a_loss() {
        let loss = LeastSquares::new(vec![1.0, -2.0, 0.5]).unwrap();
        contract::check_subset(&loss);
        contract::check_subset(&loss.clone().weighted(vec![2.0, 0.0, 0.3]).unwrap());
        assert_eq!(loss.subset(&[0, 3]).unwrap_err(), Error::Index { what: "row", position: 1, index: 3, bound: 3 });
        assert_eq!(loss.subset(&[]).unwrap_err(), Error::Empty { what: "the target" });
        let error = loss.weighted(vec![2.0, 0.0, 0.3]).unwrap().subset(&[1, 1]).unwrap_err();
        let right = "among the rows of a sample at least one weight must be above zero";
        assert_eq!(error, Error::Value { what: "list of sample weights", index: 1, value: 0.0, right });
    }
}
