//! Models of many classes as people read them: coefficients of each class, which add up to zero, in place of the contrasts
//! between classes that are fitted.

use katoms::Error;
use katoms::loss::{AnyLoss, Loss, Multinomial};
use katoms::operator::LinearOperator;
use katoms::space::SparseVec;

use super::Features;

type Model = (SparseVec, Vec<f64>);

impl Features<'_> {
    /// The coefficients and the intercept of each class, from those of the contrasts; of other losses as they are.
    pub(super) fn scored(&self, coefficients: &SparseVec, intercepts: &[f64]) -> Result<Model, Error> {
        self.mapped(coefficients, intercepts, Multinomial::scores)
    }

    /// The other way round.
    pub(super) fn contrasted(&self, coefficients: &SparseVec, intercepts: &[f64]) -> Result<Model, Error> {
        if intercepts.len() == self.loss.outputs_per_row() {
            return Ok((coefficients.clone(), intercepts.to_vec()));
        }
        self.mapped(coefficients, intercepts, Multinomial::contrasts)
    }

    fn mapped(&self, x: &SparseVec, constants: &[f64], map: impl Fn(&[f64]) -> Vec<f64>) -> Result<Model, Error> {
        if !matches!(self.loss, AnyLoss::Multinomial(_)) {
            return Ok((x.clone(), constants.to_vec()));
        }
        let n = self.design.domain();
        let mut columns: Vec<usize> = x.indices().iter().map(|j| j % n).collect();
        columns.sort_unstable();
        columns.dedup();
        let outputs = constants.len();
        let of_column = |&j: &usize| map(&(0..outputs).map(|c| x.value_at(c * n + j)).collect::<Vec<f64>>());
        let mapped: Vec<Vec<f64>> = columns.iter().map(of_column).collect();
        let constants = map(constants);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for output in 0..constants.len() {
            indices.extend(columns.iter().map(|j| output * n + j));
            values.extend(mapped.iter().map(|column| column[output]));
        }
        Ok((SparseVec::new(n * constants.len(), indices, values)?, constants))
    }
}
