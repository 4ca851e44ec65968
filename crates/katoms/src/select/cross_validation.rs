//! Cross-validation of k, and of a ridge: every fold and every k from shared passes.
//!
//! The paths of all training sets and ridges grow side by side within one working set of atoms, and the passes that let others
//! in serve all of them. Every training set is centred and scaled with its own moments, so nothing of a held-out row reaches
//! the model that is judged on it.

use super::Bounds;
use super::path::null_and_rest;
use super::sample::Preparation;
use super::scores::Choice;
use crate::error::{Error, check_option};
use crate::loss::Split;

/// What is validated, and how the data are prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// Numbers of atoms, rising. 0 is the model of what is always in, an intercept say.
    pub sizes: Vec<usize>,
    /// Ridges on the standardised scale, for all rows; a training set gets its share. Default: 0 alone.
    pub ridges: Vec<f64>,
    /// How strongly weak atoms of a chosen model are pulled towards zero: a coefficient of t standard
    /// errors keeps about t²/(t² + c). For least squares. Default: 0 alone, which is not at all. It pays
    /// where k may be larger than the number of atoms that matter; 4, 9 and 16 are good to try.
    pub shrinkages: Vec<f64>,
    /// Whether columns are scaled to variance 1 in each training set; to a mean square of 1 without an intercept.
    /// Default: they are.
    pub standardize: bool,
    /// Whether a model has an intercept. Default: it has.
    pub intercept: bool,
    /// Bounds on the coefficients, in the units of the design: one pair for each coordinate of the set. Default: none.
    pub bounds: Option<Bounds>,
}

impl CrossValidation {
    /// These numbers of atoms, with every default.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Self {
        Self {
            sizes: sizes.into_iter().collect(),
            ridges: vec![0.0],
            shrinkages: vec![0.0],
            standardize: true,
            intercept: true,
            bounds: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        null_and_rest(&self.sizes)?;
        for (what, list) in [("ridge", &self.ridges), ("shrinkage", &self.shrinkages)] {
            if list.is_empty() {
                let what = if what == "ridge" { "the list of ridges" } else { "the list of shrinkages" };
                return Err(Error::Empty { what });
            }
            let admissible = |v: f64| v.is_finite() && v >= 0.0;
            list.iter().try_for_each(|&v| check_option(what, v, "it must be finite and at least 0", admissible))?;
        }
        Ok(())
    }

    /// Everything that is validated: ridge by ridge, shrinkage by shrinkage, size by size.
    pub(super) fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        self.ridges.iter().flat_map(move |&ridge| {
            self.shrinkages
                .iter()
                .flat_map(move |&shrinkage| self.sizes.iter().map(move |&atoms| Choice { atoms, ridge, shrinkage }))
        })
    }

    pub(super) fn preparation(&self, ridge: f64) -> Preparation {
        Preparation { standardize: self.standardize, intercept: self.intercept, ridge }
    }
}

/// What the rows of a loss weigh together.
pub(super) fn weight<L: Split>(loss: &L) -> f64 {
    loss.weights().map_or(loss.n_rows() as f64, |weights| weights.iter().sum())
}
