//! What rows that come after the fit are completed with.

use katoms::linalg::Matrix;
use serde::{Deserialize, Serialize};

use super::em::RowEvidence;
use super::packed;
use super::rows::{Prior, RowPrior};

/// A factor analysis of scaled columns: what rows that come later are filled by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorModel {
    /// A row for each column of the table, in units of its standard deviation.
    pub loadings: Matrix,
    /// The variance of what no factor explains, of each column, in the same units.
    pub noise: Vec<f64>,
    pub(super) prior: Prior,
}

impl FactorModel {
    /// What is known of a row's factors before anything is seen of it.
    pub fn row_prior(&self) -> RowPrior {
        self.prior.kind()
    }

    pub(in super::super) fn factors(&self, columns: &[usize], left: &[f64]) -> Vec<f64> {
        let rank = self.loadings.columns();
        let (mut precision, mut pull) = (vec![0.0; packed::length(rank)], vec![0.0; rank]);
        for (&j, &value) in columns.iter().zip(left) {
            let loading: Vec<f64> = (0..rank).map(|a| self.loadings.at(j, a)).collect();
            packed::add_outer(&mut precision, 1.0 / self.noise[j], &loading);
            packed::add(&mut pull, value / self.noise[j], &loading);
        }
        self.prior.factors(&RowEvidence { seen: columns.len(), precision, pull })
    }

    pub(in super::super) fn predicted(&self, column: usize, factors: &[f64]) -> f64 {
        factors.iter().enumerate().map(|(a, z)| z * self.loadings.at(column, a)).sum()
    }
}
