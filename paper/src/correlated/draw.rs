//! One draw: a design whose neighbouring columns are alike, in two halves.

use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::operator::{Dense, LinearOperator};
use katoms::simulate;
use katoms::space::SparseVec;
use katoms::{Error as KatomsError, Objective};

use super::Config;
use crate::scores;

/// The three measures of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scores {
    /// The area under the ROC curve of the support.
    pub auc: f64,
    /// R² on the half that was not fitted.
    pub test: f64,
    /// The logarithm of the likelihood on the half that was.
    pub likelihood: f64,
    /// Full passes over the data that the fit took.
    pub passes: f64,
}

/// Half of the rows, column-major, with its target.
struct Half {
    design: Vec<f64>,
    target: Vec<f64>,
}

/// A planted problem.
pub(super) struct Draw {
    train: Half,
    test: Half,
    pub truth: SparseVec,
}

impl Draw {
    /// The draw of a seed. Rows are independent, so the first and the last half are as good as a random split.
    pub fn new(config: &Config, seed: u64) -> Result<Self, KatomsError> {
        let (all, rows) = (config.rows, config.rows / 2);
        let whole = simulate::autoregressive(all, config.columns, config.correlation, seed);
        let truth = simulate::sparse_signal(config.columns, config.k, seed);
        let half = |from: usize| -> Result<Half, KatomsError> {
            let design: Vec<f64> = whole.chunks(all).flat_map(|column| column[from..from + rows].to_vec()).collect();
            let mut target = vec![0.0; rows];
            Dense::column_major(&design, rows, config.columns)?.apply(&truth, &mut target);
            Ok(Half { design, target })
        };
        let (mut train, mut test) = (half(0)?, half(rows)?);
        let deviation = linalg::norm(&train.target) / (config.snr * rows as f64).sqrt();
        let mut target = simulate::noisy(&[train.target, test.target].concat(), deviation, seed);
        test.target = target.split_off(rows);
        train.target = target;
        Ok(Self { train, test, truth })
    }

    /// Least squares on the half that is fitted.
    pub fn objective(&self) -> Result<Objective<Dense<'_, f64>, LeastSquares>, KatomsError> {
        let rows = self.train.target.len();
        let design = Dense::column_major(&self.train.design, rows, self.truth.dim())?;
        Objective::new(design, LeastSquares::new(self.train.target.clone())?)
    }

    /// How good a model is that took so many passes.
    pub fn scores(&self, found: &SparseVec, passes: usize) -> Scores {
        let Self { train, test, truth } = self;
        Scores {
            auc: scores::support_auc(found, truth),
            test: scores::r_squared(&test.design, &test.target, found),
            likelihood: scores::log_likelihood(&train.design, &train.target, found),
            passes: passes as f64,
        }
    }
}
