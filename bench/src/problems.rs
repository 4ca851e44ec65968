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

fn noiseless<T: linalg::kernels::Real>(design: Vec<T>, truth: SparseVec) -> Result<Sparse<T>, Error> {
    let columns = truth.dim();
    let rows = design.len() / columns.max(1);
    let mut target = vec![0.0; rows];
    Dense::column_major(&design, rows, columns)?.apply(&truth, &mut target);
    Ok(Sparse { design, rows, truth, target })
}

/// How the planted entries of [`recovery`] are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Normal values: some are small.
    Gaussian,
    /// All of the same size.
    Signs,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Gaussian, Self::Signs];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Signs => "signs",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Exact recovery: 200 × 1000, Gaussian, noiseless, k planted entries. All k and kinds of a draw share
/// its design; places are drawn anew for each k.
pub fn recovery(draw: u64, k: usize, kind: Kind) -> Result<Sparse<f64>, Error> {
    let (rows, columns) = (200, 1000);
    let signal = simulate::sparse_signal(columns, k, 1000 * draw + k as u64);
    let truth = match kind {
        Kind::Gaussian => signal,
        Kind::Signs => signal.map(|_, v| v.signum()),
    };
    noiseless(simulate::gaussian(rows, columns, draw), truth)
}

/// 300 × 1000, AR(1) with a correlation of 0.5 between neighbours, noiseless, 50 planted entries: a problem that
/// not every method solves.
pub fn neighbours(seed: u64) -> Result<Sparse<f64>, Error> {
    noiseless(simulate::autoregressive(300, 1000, 0.5, seed), simulate::sparse_signal(1000, 50, seed))
}

/// A path over k: 1000 × 20,000, Gaussian, 25 planted entries, a signal-to-noise ratio of 5 (of
/// variances).
pub fn path_problem(seed: u64) -> Result<Sparse<f64>, Error> {
    let (rows, columns, k) = (1000, 20_000, 25);
    let clean = noiseless(simulate::gaussian(rows, columns, seed), simulate::sparse_signal(columns, k, seed))?;
    let deviation = linalg::norm(&clean.target) / (5.0 * rows as f64).sqrt();
    Ok(Sparse { target: simulate::noisy(&clean.target, deviation, seed), ..clean })
}

/// A problem with rows kept back to test on.
pub struct Halves {
    /// What is fitted.
    pub train: Sparse<f64>,
    /// The design of the other half, column-major.
    pub test_design: Vec<f64>,
    /// Its target.
    pub test_target: Vec<f64>,
}

/// The training half of [`correlated_halves`].
pub fn correlated(seed: u64) -> Result<Sparse<f64>, Error> {
    Ok(correlated_halves(seed)?.train)
}

/// The paper's `correlated` problem: two halves of 400 × 200, AR(1) 0.4, 20 planted entries, a
/// signal-to-noise ratio of 10 (of variances, in the training half).
pub fn correlated_halves(seed: u64) -> Result<Halves, Error> {
    let (all, rows, columns, k) = (800, 400, 200, 20);
    let whole = simulate::autoregressive(all, columns, 0.4, seed);
    let half = |from: usize| whole.chunks(all).flat_map(|column| column[from..from + rows].to_vec()).collect();
    let truth = simulate::sparse_signal(columns, k, seed);
    let train = noiseless::<f64>(half(0), truth.clone())?;
    let test = noiseless::<f64>(half(rows), truth)?;
    let deviation = linalg::norm(&train.target) / (10.0 * rows as f64).sqrt();
    let mut target = simulate::noisy(&[train.target.as_slice(), &test.target].concat(), deviation, seed);
    let test_target = target.split_off(rows);
    Ok(Halves { train: Sparse { target, ..train }, test_design: test.design, test_target })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_has_one_design_and_its_own_signals() -> Result<(), Error> {
        let (a, b) = (recovery(3, 30, Kind::Gaussian)?, recovery(3, 40, Kind::Signs)?);
        assert_eq!(a.design, b.design);
        assert_eq!((a.truth.indices().len(), b.truth.indices().len()), (30, 40));
        assert!(b.truth.values().iter().all(|v| v.abs() == 1.0));
        assert_eq!(recovery(3, 40, Kind::Gaussian)?.truth.indices(), b.truth.indices());
        assert_ne!(recovery(4, 30, Kind::Gaussian)?.truth.indices(), a.truth.indices());
        Ok(())
    }

    /// The halves continue the draws of the training half as it always was.
    #[test]
    fn the_training_half_is_what_it_was() -> Result<(), Error> {
        let (all, rows, columns) = (800, 400, 200);
        for seed in 0..3 {
            let halves = correlated_halves(seed)?;
            let whole = simulate::autoregressive(all, columns, 0.4, seed);
            let design: Vec<f64> = whole.chunks(all).flat_map(|column| column[..rows].to_vec()).collect();
            let mut clean = vec![0.0; rows];
            Dense::column_major(&design, rows, columns)?.apply(&halves.train.truth, &mut clean);
            let deviation = linalg::norm(&clean) / (10.0 * rows as f64).sqrt();
            assert_eq!(halves.train.target, simulate::noisy(&clean, deviation, seed));
            assert_eq!(halves.train.design, design);
            assert_eq!(halves.test_design[rows], whole[all + rows]);
            assert_eq!(halves.test_target.len(), rows);
        }
        Ok(())
    }
}
