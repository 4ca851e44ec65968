//! Orthogonal matching pursuit on a quadratic: the coordinate most correlated with the residual comes in, and all are
//! fitted again.
//!
//! Only −∇f is kept for all n coordinates, O(n·k) a step: half of what a [`Tableau`](super::tableau::Tableau) takes,
//! which knows what exchanges would bring.

use super::Quadratic;
use super::swaps::{ROUNDING, TOGETHER};
use super::tableau::Missing;
use crate::linalg::{Matrix, dot, solve_symmetric, top_k};
use crate::set::Atoms;
use crate::space::IndexSet;

/// A model that grows by its correlation with the residual, where atom j is coordinate j.
#[derive(Debug, Clone)]
pub(super) struct Pursuit {
    /// The kept coordinates, then the chosen ones.
    inside: Vec<usize>,
    kept: usize,
    /// −∇f.
    slopes: Vec<f64>,
    /// f there.
    pub objective: f64,
}

impl Pursuit {
    /// Of what is kept, whose columns are known.
    pub fn new(q: &impl Quadratic, kept: &IndexSet) -> Self {
        let (inside, slopes) = (kept.indices().to_vec(), q.linear().to_vec());
        let mut pursuit = Self { kept: inside.len(), inside, slopes, objective: q.constant() };
        pursuit.fit(q);
        pursuit
    }

    /// What is not kept, in the order of coming in.
    pub fn chosen(&self) -> &[usize] {
        &self.inside[self.kept..]
    }

    /// Lets atoms in up to a size, as long as one of them brings more than rounding.
    pub fn grow(&mut self, q: &impl Quadratic, atoms: &Atoms, size: usize) -> Result<(), Missing> {
        while self.chosen().len() < size {
            let score = |(slope, room): (&f64, &f64)| if *room > 0.0 { slope * slope / room } else { 0.0 };
            let mut scores: Vec<f64> = self.slopes.iter().zip(q.diagonal()).map(score).collect();
            self.inside.iter().chain(atoms.empty()).for_each(|&j| scores[j] = f64::NEG_INFINITY);
            let mut best = top_k(&scores, TOGETHER);
            best.retain(|&atom| scores[atom] > ROUNDING * q.constant());
            best.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            let Some(&first) = best.first() else { return Ok(()) };
            if !q.knows(first) {
                return Err(Missing(best));
            }
            self.inside.push(first);
            self.fit(q);
        }
        Ok(())
    }

    /// The minimum over what is inside.
    fn fit(&mut self, q: &impl Quadratic) {
        let right: Vec<f64> = self.inside.iter().map(|&j| q.linear()[j]).collect();
        let block = Matrix::from_columns(right.len(), right.len(), q.block(&self.inside));
        let values = solve_symmetric(&block, &right);
        self.slopes = q.slopes_at(self.inside.iter().copied().zip(values.iter().copied()));
        self.objective = q.constant() - 0.5 * dot(&right, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::explicit::Explicit;
    use super::*;
    use crate::simulate::{gaussian, noisy};

    #[test]
    fn every_step_takes_the_largest_correlation_and_fits_again() {
        let a = Matrix::from_columns(40, 60, gaussian(40, 60, 2));
        let y: Vec<f64> = (0..40).map(|i| 3.0 * a.at(i, 5) - 2.0 * a.at(i, 17) + a.at(i, 40)).collect();
        let y = noisy(&y, 0.5, 2);
        let q = Explicit::new(&a, &y, 0.0);
        let kept = IndexSet::new(60, vec![3]);
        let atoms = Atoms::coordinates(60).without(&kept);
        let mut pursuit = Pursuit::new(&q, &kept);
        let mut inside = vec![3];
        for size in 1..=8 {
            let columns = Matrix::from_fn(40, inside.len(), |i, p| a.at(i, inside[p]));
            let right = columns.transposed_times(&Matrix::from_columns(40, 1, y.clone()));
            let x = solve_symmetric(&columns.transposed_times(&columns), right.data());
            let fitted = columns.times(&Matrix::from_columns(x.len(), 1, x.clone()));
            let residual: Vec<f64> = y.iter().zip(fitted.data()).map(|(y, z)| y - z).collect();
            assert!((pursuit.objective / (0.5 * dot(&residual, &residual)) - 1.0).abs() < 1e-9, "{size}");
            let score = |j: usize| dot(a.column(j), &residual).powi(2) / dot(a.column(j), a.column(j));
            let outside = (0..60).filter(|j| !inside.contains(j));
            inside.extend(outside.max_by(|&a, &b| score(a).total_cmp(&score(b))));
            pursuit.grow(&q, &atoms, size).unwrap();
            assert_eq!(pursuit.chosen(), &inside[1..], "{size}");
        }
    }

    #[test]
    fn what_is_missing_is_asked_for_and_nothing_is_lost() {
        let a = Matrix::from_columns(20, 30, gaussian(20, 30, 4));
        let mut q = Explicit::unknown(&a, a.column(7));
        let (kept, atoms) = (IndexSet::new(30, vec![]), Atoms::coordinates(30));
        let mut pursuit = Pursuit::new(&q, &kept);
        let Err(Missing(wanted)) = pursuit.grow(&q, &atoms, 3) else { panic!("no column is known") };
        assert_eq!((wanted[0], wanted.len()), (7, TOGETHER));
        q.fetch(&wanted);
        // One column explains all: what is left is rounding, and no other comes in.
        pursuit.grow(&q, &atoms, 3).unwrap();
        assert_eq!(pursuit.chosen(), [7]);
        assert!(pursuit.objective.abs() < 1e-12 * q.constant());
    }

    #[test]
    fn a_column_of_zeros_and_a_duplicate_never_come_in() {
        let mut data = gaussian(20, 5, 6);
        data.extend(vec![0.0; 20]);
        data.extend(data[..20].to_vec());
        let a = Matrix::from_columns(20, 7, data);
        let q = Explicit::new(&a, &gaussian(20, 1, 7), 0.0);
        let mut pursuit = Pursuit::new(&q, &IndexSet::new(7, vec![]));
        pursuit.grow(&q, &Atoms::coordinates(7), 7).unwrap();
        assert_eq!(pursuit.chosen().len(), 5);
    }
}
