//! What others would run: the library's greedy methods and pursuits for k-sparse least squares, with the models on their
//! way. Columns count by their direction: the design is brought to columns of norm 1.

use katoms::driver::{Options, Run};
use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::method::{AtomMethod, Foba, HardThresholdingPursuit, Method, Step};
use katoms::operator::Dense;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::{Error, Objective, Stop};

/// Below this share of ½‖y‖² an objective counts as zero.
const PERFECT: f64 = 1e-24;

/// A column-major design, its columns brought to norm 1, with a target.
pub struct Data<'a> {
    design: Vec<f64>,
    rows: usize,
    y: &'a [f64],
    norms: Vec<f64>,
}

impl<'a> Data<'a> {
    /// A design of `rows` × `columns` values, column by column, and its target.
    ///
    /// # Errors
    /// When lengths disagree, nothing is there, or a value is not finite.
    pub fn new(design: &[f64], rows: usize, columns: usize, y: &'a [f64]) -> Result<Self, Error> {
        Objective::new(Dense::column_major(design, rows, columns)?, LeastSquares::new(y.to_vec())?)?;
        let norms: Vec<f64> = design.chunks(rows).map(linalg::norm).collect();
        let mut design = design.to_vec();
        for (column, &norm) in design.chunks_mut(rows).zip(&norms).filter(|(_, norm)| **norm > 0.0) {
            column.iter_mut().for_each(|v| *v /= norm);
        }
        Ok(Self { design, rows, y, norms })
    }

    /// The answers of a method, move by move.
    fn path<M>(&self, k: usize, method: &M) -> Result<Vec<Model>, Error>
    where
        M: for<'b> Method<&'b Dense<'b, f64>, LeastSquares, KSparse>,
    {
        let columns = self.norms.len();
        let design = Dense::column_major(&self.design, self.rows, columns)?;
        let f = Objective::new(&design, LeastSquares::new(self.y.to_vec())?)?;
        let set = KSparse::new(k, columns)?;
        let stop = Stop { perfect: Some(PERFECT), iterations: usize::MAX, ..Stop::default() };
        let mut run = Run::new(&f, &set, method, Options { stop, ..Options::default() })?;
        let mut models = Vec::new();
        while !run.is_done() {
            let event = run.step();
            let entries = run.iterate().entries().filter(|e| e.1 != 0.0);
            let (support, coefficients) = entries.map(|(j, v)| (j, v / self.norms[j])).unzip();
            models.push(Model { support, coefficients, objective: event.objective });
        }
        models.dedup_by(|next, before| next.support == before.support);
        Ok(models)
    }

    /// The best answer of a method by name.
    ///
    /// # Errors
    /// When k is out of range or there is no such method.
    pub fn best(&self, name: &str, k: usize) -> Result<Model, Error> {
        self.best_of(k, &AtomMethod::named(name)?)
    }

    fn best_of(&self, k: usize, method: &AtomMethod) -> Result<Model, Error> {
        let null = Model { support: vec![], coefficients: vec![], objective: 0.5 * linalg::dot(self.y, self.y) };
        Ok(at_most(&self.path(k, method)?, k).cloned().unwrap_or(null))
    }

    /// The models of k = 1, 2, … atoms of OMP or forward regression.
    ///
    /// # Errors
    /// When `k_max` is 0 or above the number of columns.
    pub fn greedy(&self, name: &str, k_max: usize) -> Result<Vec<Model>, Error> {
        self.path(k_max, &AtomMethod::named(name)?)
    }

    /// FoBa with Zhang's share of ½, grown up to `most` atoms: its best model of at most k.
    ///
    /// # Errors
    /// When k is out of range, or `most` is below it.
    pub fn foba(&self, k: usize, most: usize) -> Result<Model, Error> {
        self.best_of(k, &AtomMethod::Foba(Foba { most: Some(most), ..Foba::default() }))
    }

    /// Hard thresholding pursuit with the step of the line search; unless that ends in a perfect fit, also with the constant
    /// steps 1, 1/2, …, 1/16 (a large one may cycle, a small one may stay where it is). The best model counts.
    ///
    /// # Errors
    /// When k is out of range.
    pub fn htp(&self, k: usize) -> Result<Model, Error> {
        let pursuit = |step| HardThresholdingPursuit { step, ..HardThresholdingPursuit::default() };
        let mut best = self.best("htp", k)?;
        for halvings in 0..5 {
            if best.objective > PERFECT * 0.5 * linalg::dot(self.y, self.y) {
                let step = Step::Fixed(0.5_f64.powi(halvings));
                let other = self.best_of(k, &AtomMethod::HardThresholdingPursuit(pursuit(step)))?;
                best = if other.objective < best.objective { other } else { best };
            }
        }
        Ok(best)
    }
}

/// A model of some atoms, fitted by least squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The chosen columns, rising.
    pub support: Vec<usize>,
    /// Their coefficients.
    pub coefficients: Vec<f64>,
    /// ½‖y − Xβ‖².
    pub objective: f64,
}

impl Model {
    /// The coefficients as a vector of this length.
    ///
    /// # Errors
    /// When the support does not fit into it.
    pub fn vector(&self, dim: usize) -> Result<SparseVec, Error> {
        SparseVec::new(dim, self.support.clone(), self.coefficients.clone())
    }
}

/// The model of a path with at most k atoms that fits best. A path ends early where the fit is perfect.
pub fn at_most(path: &[Model], k: usize) -> Option<&Model> {
    let small = path.iter().filter(|m| m.support.len() <= k);
    small.min_by(|a, b| a.objective.total_cmp(&b.objective))
}

#[cfg(test)]
mod tests {
    use super::*;
    use katoms::linalg::kernels;
    use katoms::simulate;

    #[test]
    fn an_easy_planted_vector_is_found_in_columns_of_any_norm() -> Result<(), Error> {
        for seed in 0..10 {
            let (rows, columns) = (60, 100);
            let mut design = simulate::gaussian(rows, columns, seed);
            for (j, column) in design.chunks_mut(rows).enumerate() {
                column.iter_mut().for_each(|v| *v *= 1.0 + (j % 3) as f64);
            }
            let truth = simulate::sparse_signal(columns, 4, seed).map(|_, v| v.signum());
            let mut y = vec![0.0; rows];
            truth.entries().for_each(|(j, v)| kernels::axpy(v, &design[j * rows..][..rows], &mut y));
            let data = Data::new(&design, rows, columns, &y)?;
            let mut models = vec![("foba", data.foba(4, 8)?), ("htp", data.htp(4)?)];
            for name in ["omp", "forward-regression", "cosamp", "subspace-pursuit"] {
                models.push((name, data.best(name, 4)?));
            }
            for (name, model) in models {
                let found = model.vector(columns)?.to_dense();
                let error = linalg::norm(&linalg::combine(1.0, &found, -1.0, &truth.to_dense()));
                assert!(error < 1e-10, "{name}, seed {seed}: {error:e}");
            }
        }
        Ok(())
    }
}
