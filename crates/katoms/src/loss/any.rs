//! Any loss, chosen at run time.

use super::curvature::Hessian;
use super::{
    Cox, Custom, Gamma, Huber, LeastSquares, Logistic, Loss, Multinomial, NegativeBinomial, Ordinal, Poisson, Quantile,
    Split,
};
use crate::error::Error;

/// The losses, each once.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($loss:ty),)*) => {
        /// A loss that is known only at run time.
        ///
        /// ```
        /// use katoms::loss::{AnyLoss, LeastSquares, Loss};
        /// let loss: AnyLoss = LeastSquares::new(vec![1.0, 3.0])?.into();
        /// assert_eq!(loss.value(&[0.0, 3.0]), 0.5);
        /// # Ok::<(), katoms::Error>(())
        /// ```
        #[derive(Debug, Clone)]
        pub enum AnyLoss {
            $($(#[$doc])* $kind($loss),)*
        }

        $(impl From<$loss> for AnyLoss {
            fn from(loss: $loss) -> Self {
                Self::$kind(loss)
            }
        })*

        impl AnyLoss {
            fn as_loss(&self) -> &dyn Loss {
                match self {
                    $(Self::$kind(loss) => loss,)*
                }
            }
        }

        impl Split for AnyLoss {
            fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
                Ok(match self {
                    $(Self::$kind(loss) => loss.subset(rows)?.into(),)*
                })
            }
            fn weights(&self) -> Option<&[f64]> {
                match self {
                    $(Self::$kind(loss) => loss.weights(),)*
                }
            }
            fn classes(&self) -> Option<&[f64]> {
                match self {
                    $(Self::$kind(loss) => loss.classes(),)*
                }
            }
        }
    };
}

kinds! {
    /// Half the squared distance.
    Squares(LeastSquares),
    /// The logistic loss of two classes.
    Logistic(Logistic),
    /// Counts.
    Poisson(Poisson),
    /// Positive amounts.
    Gamma(Gamma),
    /// Counts that vary more than Poisson's.
    NegativeBinomial(NegativeBinomial),
    /// Squares, but for outliers.
    Huber(Huber),
    /// A quantile.
    Quantile(Quantile),
    /// Survival.
    Cox(Cox),
    /// Many classes.
    Multinomial(Multinomial),
    /// Classes in an order.
    Ordinal(Ordinal),
    /// One of somebody's own.
    Custom(Custom),
}

impl Loss for AnyLoss {
    fn n_outputs(&self) -> usize {
        self.as_loss().n_outputs()
    }
    fn outputs_per_row(&self) -> usize {
        self.as_loss().outputs_per_row()
    }
    fn value(&self, z: &[f64]) -> f64 {
        self.as_loss().value(z)
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        self.as_loss().gradient(z, r);
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        self.as_loss().curvature(z, h);
    }
    fn slope(&self, z: &[f64], d: &[f64]) -> f64 {
        self.as_loss().slope(z, d)
    }
    fn curvature_along(&self, z: &[f64], d: &[f64]) -> f64 {
        self.as_loss().curvature_along(z, d)
    }
    fn hessian(&self, z: &[f64]) -> Option<Hessian> {
        self.as_loss().hessian(z)
    }
    fn curvature_bound(&self) -> f64 {
        self.as_loss().curvature_bound()
    }
    fn curvature_scale(&self, z: &[f64]) -> f64 {
        self.as_loss().curvature_scale(z)
    }
    fn is_quadratic(&self) -> bool {
        self.as_loss().is_quadratic()
    }
    fn observations(&self) -> usize {
        self.as_loss().observations()
    }
    fn lower_bound(&self) -> f64 {
        self.as_loss().lower_bound()
    }
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        self.as_loss().conjugate(a)
    }
    fn deviance(&self, value: f64) -> f64 {
        self.as_loss().deviance(value)
    }
    fn ignores_constants(&self) -> bool {
        self.as_loss().ignores_constants()
    }
    fn separates(&self, z: &[f64]) -> bool {
        self.as_loss().separates(z)
    }
    fn has_far_minima(&self) -> bool {
        self.as_loss().has_far_minima()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::contract;

    #[test]
    fn keeps_the_contract_of_what_it_is() {
        let weights = vec![2.0, 0.0, 0.3, 1.0];
        let squares = LeastSquares::new(vec![1.0, -2.0, 0.5, 3.0]).unwrap().weighted(weights.clone()).unwrap();
        let logistic = Logistic::new(vec![1.0, 0.0, 1.0, 0.0]).unwrap().weighted(weights).unwrap();
        for loss in [AnyLoss::from(squares), AnyLoss::from(logistic)] {
            contract::check(&loss);
            contract::check_subset(&loss);
        }
    }

    /// Least squares has a deviance of its own, which the default would hide.
    #[test]
    fn answers_are_those_of_the_loss_itself() {
        let squares = LeastSquares::new(vec![1.0, -2.0]).unwrap();
        let any = AnyLoss::from(squares.clone());
        assert_eq!(any.deviance(0.7), squares.deviance(0.7));
        assert_eq!(any.conjugate(&[0.1, 0.2]), squares.conjugate(&[0.1, 0.2]));
        let counts = AnyLoss::from(squares.weighted(vec![2.0, 3.0]).unwrap());
        assert_eq!((any.observations(), counts.observations()), (2, 5));
        assert!(any.is_quadratic() && any.classes().is_none());
    }
}
