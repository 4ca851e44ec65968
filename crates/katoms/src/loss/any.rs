//! Any loss, chosen at run time.

use super::{LeastSquares, Logistic, Loss, Split};
use crate::error::Error;

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
    /// Half the squared distance.
    Squares(LeastSquares),
    /// The logistic loss of two classes.
    Logistic(Logistic),
}

/// A call on the loss that it is.
macro_rules! on_loss {
    ($any:expr, $loss:ident => $call:expr) => {
        match $any {
            AnyLoss::Squares($loss) => $call,
            AnyLoss::Logistic($loss) => $call,
        }
    };
}

impl Loss for AnyLoss {
    fn n_outputs(&self) -> usize {
        on_loss!(self, loss => loss.n_outputs())
    }
    fn value(&self, z: &[f64]) -> f64 {
        on_loss!(self, loss => loss.value(z))
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        on_loss!(self, loss => loss.gradient(z, r));
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        on_loss!(self, loss => loss.curvature(z, h));
    }
    fn curvature_bound(&self) -> f64 {
        on_loss!(self, loss => loss.curvature_bound())
    }
    fn is_quadratic(&self) -> bool {
        on_loss!(self, loss => loss.is_quadratic())
    }
    fn observations(&self) -> usize {
        on_loss!(self, loss => loss.observations())
    }
    fn lower_bound(&self) -> f64 {
        on_loss!(self, loss => loss.lower_bound())
    }
    fn conjugate(&self, a: &[f64]) -> Option<f64> {
        on_loss!(self, loss => loss.conjugate(a))
    }
    fn deviance(&self, value: f64) -> f64 {
        on_loss!(self, loss => loss.deviance(value))
    }
    fn separates(&self, z: &[f64]) -> bool {
        on_loss!(self, loss => loss.separates(z))
    }
}

impl Split for AnyLoss {
    fn subset(&self, rows: &[usize]) -> Result<Self, Error> {
        Ok(match self {
            Self::Squares(loss) => loss.subset(rows)?.into(),
            Self::Logistic(loss) => loss.subset(rows)?.into(),
        })
    }
    fn weights(&self) -> Option<&[f64]> {
        on_loss!(self, loss => loss.weights())
    }
    fn classes(&self) -> Option<&[f64]> {
        on_loss!(self, loss => loss.classes())
    }
}

impl From<LeastSquares> for AnyLoss {
    fn from(loss: LeastSquares) -> Self {
        Self::Squares(loss)
    }
}

impl From<Logistic> for AnyLoss {
    fn from(loss: Logistic) -> Self {
        Self::Logistic(loss)
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
