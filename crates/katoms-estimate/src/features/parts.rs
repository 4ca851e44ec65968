//! A point of the objective as a model.

use katoms::Error;
use katoms::operator::LinearOperator;
use katoms::set::{Always, AnyAtoms, CoordinateSet};
use katoms::space::{IndexSet, Point, SparseVec};

use super::{Features, Ready, predictions};

pub(super) struct Parts {
    pub chosen: Vec<usize>,
    pub coefficients: SparseVec,
    pub intercepts: Vec<f64>,
}

impl Features<'_> {
    /// The model at a point. With an intercept, a column that does not vary predicts nothing: it is in no model but where
    /// it always is, and what it would add is part of the intercept.
    pub(super) fn parts(&self, f: &Ready<'_>, set: &Always<AnyAtoms>, point: &SparseVec) -> Result<Parts, Error> {
        let (coefficients, mut levels) = self.to_original(f, point)?;
        let (mut constant, columns) = (Vec::new(), self.design.domain());
        if self.preparation.intercept {
            let always = self.atoms.kept();
            for (j, v) in coefficients.entries().filter(|&(j, _)| !always.contains(j)) {
                if let Some(value) = self.constant(j % columns)? {
                    constant.push(j);
                    levels[j / columns] += v * value;
                }
            }
        }
        let varying = |x: &SparseVec| x.on(&x.support().without(&IndexSet::new(x.dim(), constant.clone())));
        let (chosen, coefficients) = (set.chosen(&varying(point)), varying(&coefficients));
        Ok(Parts { chosen, coefficients, intercepts: levels })
    }

    fn constant(&self, column: usize) -> Result<Option<f64>, Error> {
        let unit = SparseVec::new(self.design.domain(), vec![column], vec![1.0])?;
        let values = predictions(self.computed_with(), &unit, &[0.0]);
        let first = values.first().copied();
        Ok(first.filter(|first| values.iter().all(|v| v == first)))
    }
}
