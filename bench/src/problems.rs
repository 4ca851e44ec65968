//! The problems whose figures are claimed: one function each, used by the benches and the tests.

use std::path::Path;

use katoms::linalg::{self, Matrix};
use katoms::loss::{LeastSquares, Logistic};
use katoms::operator::{Dense, Entries, LinearOperator};
use katoms::simulate;
use katoms::space::{LowRank, SparseVec};
use katoms::{Error, Objective};

/// A planted sparse problem.
pub struct Sparse<T> {
    /// The design, column-major.
    pub design: Vec<T>,
    /// Its number of rows.
    pub rows: usize,
    /// The planted vector.
    pub truth: SparseVec,
    /// The target.
    pub target: Vec<f64>,
}

/// A planted matrix, seen at some places.
pub struct Completion {
    /// The planted matrix.
    pub truth: LowRank,
    /// Where it is seen.
    pub seen: Entries,
    /// What is seen there.
    pub values: Vec<f64>,
}

/// Noiseless, wide, Gaussian, f32: 750 × 20,000 with 50 planted entries.
pub fn wide(seed: u64) -> Result<Sparse<f32>, Error> {
    let (rows, columns, k) = (750, 20_000, 50);
    noiseless(simulate::gaussian_f32(rows, columns, seed), simulate::sparse_signal(columns, k, seed))
}

/// The same from a folder that `bench/numpy_draw.py` wrote.
///
/// # Errors
/// When a file is missing or the data are not finite.
pub fn stored(folder: &Path) -> Result<Sparse<f32>, Box<dyn std::error::Error>> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|e| format!("{}: {e}; bench/numpy_draw.py writes it", path.display()))
    };
    let design = read("design.f32")?.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let signal = read("signal.f64")?;
    let values = signal.chunks_exact(8).map(|b| b.try_into().map_or(f64::NAN, f64::from_le_bytes));
    Ok(noiseless(design, SparseVec::from_dense(&values.collect::<Vec<_>>()))?)
}

fn noiseless(design: Vec<f32>, truth: SparseVec) -> Result<Sparse<f32>, Error> {
    let columns = truth.dim();
    let rows = design.len() / columns.max(1);
    let mut target = vec![0.0; rows];
    Dense::column_major(&design, rows, columns)?.apply(&truth, &mut target);
    Ok(Sparse { design, rows, truth, target })
}

/// The training half of the paper's `correlated` problem: 400 × 200, AR(1) 0.4, 20 planted
/// entries, a signal-to-noise ratio of 10 (of variances).
pub fn correlated(seed: u64) -> Result<Sparse<f64>, Error> {
    let (all, rows, columns, k) = (800, 400, 200, 20);
    let whole = simulate::autoregressive(all, columns, 0.4, seed);
    let design: Vec<f64> = whole.chunks(all).flat_map(|column| column[..rows].to_vec()).collect();
    let truth = simulate::sparse_signal(columns, k, seed);
    let mut clean = vec![0.0; rows];
    Dense::column_major(&design, rows, columns)?.apply(&truth, &mut clean);
    let deviation = linalg::norm(&clean) / (10.0 * rows as f64).sqrt();
    let target = simulate::noisy(&clean, deviation, seed);
    Ok(Sparse { design, rows, truth, target })
}

/// Two classes: 1000 × 3000, AR(1) 0.4, columns of variance 1, 20 planted coefficients ±1.
pub fn classes(seed: u64) -> Result<Sparse<f64>, Error> {
    let (rows, columns, k) = (1000, 3000, 20);
    let mut design = simulate::autoregressive(rows, columns, 0.4, seed);
    design.iter_mut().for_each(|v| *v *= (rows as f64).sqrt());
    let truth = simulate::sparse_signal(columns, k, seed).map(|_, v| v.signum());
    let mut odds = vec![0.0; rows];
    Dense::column_major(&design, rows, columns)?.apply(&truth, &mut odds);
    let target = simulate::labels(&odds, seed);
    Ok(Sparse { design, rows, truth, target })
}

impl<T: linalg::kernels::Real> Sparse<T> {
    /// The design as an operator, borrowed.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn operator(&self) -> Result<Dense<'_, T>, Error> {
        Dense::column_major(&self.design, self.rows, self.truth.dim())
    }

    /// Least squares.
    ///
    /// # Errors
    /// When the data are not finite.
    pub fn squares(&self) -> Result<Objective<Dense<'_, T>, LeastSquares>, Error> {
        Objective::new(self.operator()?, LeastSquares::new(self.target.clone())?)
    }

    /// Logistic loss.
    ///
    /// # Errors
    /// When the target is not 0/1.
    pub fn logistic(&self) -> Result<Objective<Dense<'_, T>, Logistic>, Error> {
        Objective::new(self.operator()?, Logistic::new(self.target.clone())?)
    }
}

impl Completion {
    /// `truth`, seen at each place with this probability.
    ///
    /// # Errors
    /// When nothing is seen.
    pub fn new(truth: LowRank, share: f64, seed: u64) -> Result<Self, Error> {
        let shape = (truth.left().rows(), truth.right().rows());
        let (rows, columns) = simulate::observed_places(shape.0, shape.1, share, seed);
        let seen = Entries::new(shape, &rows, &columns)?;
        let mut values = vec![0.0; rows.len()];
        seen.apply(&truth, &mut values);
        Ok(Self { truth, seen, values })
    }

    /// A Gaussian product of rank 30, 256 × 384, 35 % seen.
    ///
    /// # Errors
    /// Never in practice.
    pub fn gaussian(seed: u64) -> Result<Self, Error> {
        let (left, right) = simulate::low_rank_factors(256, 384, 30, seed);
        Self::new(LowRank::from_factors(&left, &right)?, 0.35, seed)
    }

    /// A picture reduced to this rank, 35 % of its pixels seen.
    ///
    /// # Errors
    /// When the picture has values that are not finite.
    pub fn picture(picture: &Matrix, rank: usize, seed: u64) -> Result<Self, Error> {
        let Some((mut left, values, right)) = picture.svd() else {
            return Err(Error::NotFinite { what: "picture", row: 0, column: 0, value: f64::NAN });
        };
        left.scale_columns(&values);
        let truth = LowRank::from_factors(&left.leading_columns(rank), &right.leading_columns(rank))?;
        Self::new(truth, 0.35, seed)
    }

    /// Least squares on what is seen.
    ///
    /// # Errors
    /// Never in practice.
    pub fn squares(&self) -> Result<Objective<&Entries, LeastSquares>, Error> {
        Objective::new(&self.seen, LeastSquares::new(self.values.clone())?)
    }
}
