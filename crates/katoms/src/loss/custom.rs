//! A loss that is made at run time: a sum over the rows of functions that somebody hands over.

use std::fmt::Debug;
use std::sync::Arc;

use super::weights::Weights;
use super::{Loss, Split};
use crate::error::{Error, check_indices, check_length, check_values};

/// A convex loss φ(z; y) of one row and its derivatives in z, for many rows at once. A loss that is known when a program is
/// compiled is better a [`Family`](super::Family).
pub trait RowFunctions: Debug + Send + Sync {
    /// Each φ(zᵢ; yᵢ).
    fn values(&self, y: &[f64], z: &[f64]) -> Vec<f64>;
    /// Each ∂φ/∂z.
    fn slopes(&self, y: &[f64], z: &[f64]) -> Vec<f64>;
    /// Each ∂²φ/∂z², which is nowhere below 0.
    fn curvatures(&self, y: &[f64], z: &[f64]) -> Vec<f64>;
}

/// The (weighted) sum of a loss of one's own over the rows, less the least that it can be.
///
/// ```
/// use katoms::loss::{Custom, Loss, RowFunctions};
/// /// eᶻ − yz: Poisson's.
/// #[derive(Debug)]
/// struct Counts;
/// impl RowFunctions for Counts {
///     fn values(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
///         y.iter().zip(z).map(|(y, z)| z.exp() - y * z).collect()
///     }
///     fn slopes(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
///         y.iter().zip(z).map(|(y, z)| z.exp() - y).collect()
///     }
///     fn curvatures(&self, _: &[f64], z: &[f64]) -> Vec<f64> {
///         z.iter().map(|z| z.exp()).collect()
///     }
/// }
/// // the least of e^z - y*z is y - y*ln(y)
/// let loss = Custom::new(std::sync::Arc::new(Counts), vec![1.0, 1.0], vec![1.0, 1.0])?;
/// assert_eq!(loss.value(&[0.0, 0.0]), 0.0);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Custom {
    functions: Arc<dyn RowFunctions>,
    target: Vec<f64>,
    least: Vec<f64>,
    weights: Weights,
    offset: Option<Vec<f64>>,
}

impl Custom {
    /// The loss of these functions against a target; `least` is what each row's loss can be at the least.
    ///
    /// # Errors
    /// When the target is empty, lengths differ, or a value is not finite.
    pub fn new(functions: Arc<dyn RowFunctions>, target: Vec<f64>, least: Vec<f64>) -> Result<Self, Error> {
        if target.is_empty() {
            return Err(Error::Empty { what: "the target" });
        }
        check_values("target", &target, "every value must be finite", f64::is_finite)?;
        check_length("the list of least losses", least.len(), target.len(), "one for each row")?;
        check_values("list of least losses", &least, "every value must be finite", f64::is_finite)?;
        Ok(Self { functions, target, least, weights: Weights::default(), offset: None })
    }

    /// The same with sample weights.
    ///
    /// # Errors
    /// When their number is wrong, one is negative or not finite, or all are zero.
    pub fn weighted(self, weights: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let weights = Weights::new(weights.into(), self.target.len())?;
        Ok(Self { weights, ..self })
    }

    /// The same with a known part of each prediction.
    ///
    /// # Errors
    /// When their number is wrong, or one is not finite.
    pub fn offset(self, offset: impl Into<Vec<f64>>) -> Result<Self, Error> {
        let offset = offset.into();
        check_length("the offset", offset.len(), self.target.len(), "one value for each observation")?;
        check_values("offset", &offset, "every value must be finite", f64::is_finite)?;
        Ok(Self { offset: Some(offset), ..self })
    }

    /// The known part of each prediction.
    pub fn known(&self) -> Option<&[f64]> {
        self.offset.as_deref()
    }

    /// What a function says of each row at these predictions, times its weight.
    fn weighed(&self, z: &[f64], of: impl Fn(&[f64], &[f64]) -> Vec<f64>) -> Vec<f64> {
        let mut found = match &self.offset {
            Some(offset) => of(&self.target, &z.iter().zip(offset).map(|(z, o)| z + o).collect::<Vec<f64>>()),
            None => of(&self.target, z),
        };
        // What is missing is no number, and ends the fit.
        found.resize(self.target.len(), f64::NAN);
        self.weights.scale(&mut found);
        found
    }
}

impl Loss for Custom {
    fn n_outputs(&self) -> usize {
        self.target.len()
    }
    fn value(&self, z: &[f64]) -> f64 {
        let above = |y: &[f64], z: &[f64]| {
            let values = self.functions.values(y, z);
            values.iter().zip(&self.least).map(|(value, least)| value - least).collect()
        };
        let sum: f64 = self.weighed(z, above).iter().sum();
        if sum < 0.0 { 0.0 } else { sum }
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        r.copy_from_slice(&self.weighed(z, |y, z| self.functions.slopes(y, z)));
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        h.copy_from_slice(&self.weighed(z, |y, z| self.functions.curvatures(y, z)));
    }
    fn curvature_bound(&self) -> f64 {
        f64::INFINITY
    }
    fn is_quadratic(&self) -> bool {
        false
    }
    fn observations(&self) -> usize {
        self.weights.observations(self.target.len())
    }
}

impl Split for Custom {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        check_indices("row", rows, self.target.len())?;
        let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&i| all[i]).collect() };
        let part = Self::new(Arc::clone(&self.functions), pick(&self.target), pick(&self.least))?;
        Ok(Self { weights: self.weights.subset(rows)?, offset: self.offset.as_deref().map(pick), ..part })
    }
    fn weights(&self) -> Option<&[f64]> {
        self.weights.given()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Poisson, contract};

    #[derive(Debug)]
    struct Counts;

    impl RowFunctions for Counts {
        fn values(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
            y.iter().zip(z).map(|(y, z)| z.min(300.0).exp() - y * z).collect()
        }
        fn slopes(&self, y: &[f64], z: &[f64]) -> Vec<f64> {
            y.iter().zip(z).map(|(y, z)| z.min(300.0).exp() - y).collect()
        }
        fn curvatures(&self, _: &[f64], z: &[f64]) -> Vec<f64> {
            z.iter().map(|z| z.min(300.0).exp()).collect()
        }
    }

    #[test]
    fn poissons_functions_are_poissons_loss() {
        let (counts, z) = (vec![1.0, 4.0, 2.0], [0.3, 1.2, -0.4]);
        let least = counts.iter().map(|y: &f64| y - y * y.ln()).collect();
        let (weights, offset) = (vec![2.0, 0.0, 0.5], vec![0.1, 0.0, -0.2]);
        let own = Custom::new(Arc::new(Counts), counts.clone(), least).unwrap();
        let own = own.weighted(weights.clone()).unwrap().offset(offset.clone()).unwrap();
        let poisson = Poisson::new(counts).unwrap().weighted(weights).unwrap().offset(offset).unwrap();
        assert!((own.value(&z) - poisson.value(&z)).abs() < 1e-14);
        let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
        own.gradient(&z, &mut a);
        poisson.gradient(&z, &mut b);
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
        contract::check_subset(&own);
        assert!(Custom::new(Arc::new(Counts), vec![1.0], vec![]).is_err());
    }

    /// What is too short or no number ends a fit, and nothing panics.
    #[test]
    fn functions_that_fail_leave_no_number() {
        #[derive(Debug)]
        struct Failing;
        impl RowFunctions for Failing {
            fn values(&self, _: &[f64], _: &[f64]) -> Vec<f64> {
                Vec::new()
            }
            fn slopes(&self, _: &[f64], _: &[f64]) -> Vec<f64> {
                Vec::new()
            }
            fn curvatures(&self, _: &[f64], _: &[f64]) -> Vec<f64> {
                Vec::new()
            }
        }
        let loss = Custom::new(Arc::new(Failing), vec![1.0, 2.0], vec![0.0, 0.0]).unwrap();
        let mut r = [0.0; 2];
        loss.gradient(&[0.0, 0.0], &mut r);
        assert!(loss.value(&[0.0, 0.0]).is_nan() && r.iter().all(|v| v.is_nan()));
    }
}
