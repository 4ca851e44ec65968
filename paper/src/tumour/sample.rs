//! Some tumours to learn from, made ready: columns standardised by these tumours alone, and the loss.

use katoms::loss::{Logistic, Loss};
use katoms::operator::Dense;
use katoms::space::SparseVec;
use katoms::{Error as KatomsError, Objective};

use super::cohort::Cohort;

/// What the contestants minimise.
pub type Problem<'a> = Objective<&'a Dense<'static, f64>, Shifted>;

/// Logistic loss of log-odds that are shifted by a constant: ℓ(z + c).
///
/// A free intercept would be a coordinate that a ball constrains and a set of groups does not. A constant in the loss
/// is the same for all contestants. Columns are centred, so the log-odds of the classes are where it belongs.
#[derive(Debug, Clone)]
pub struct Shifted {
    inner: Logistic,
    constant: f64,
}

impl Shifted {
    fn shifted(&self, z: &[f64]) -> Vec<f64> {
        z.iter().map(|z| z + self.constant).collect()
    }
}

impl Loss for Shifted {
    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }
    fn value(&self, z: &[f64]) -> f64 {
        self.inner.value(&self.shifted(z))
    }
    fn gradient(&self, z: &[f64], r: &mut [f64]) {
        self.inner.gradient(&self.shifted(z), r);
    }
    fn curvature(&self, z: &[f64], h: &mut [f64]) {
        self.inner.curvature(&self.shifted(z), h);
    }
    fn curvature_bound(&self) -> f64 {
        self.inner.curvature_bound()
    }
    fn is_quadratic(&self) -> bool {
        self.inner.is_quadratic()
    }
    fn lower_bound(&self) -> f64 {
        self.inner.lower_bound()
    }
}

/// Tumours to learn from.
pub struct Sample {
    design: Dense<'static, f64>,
    loss: Shifted,
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Sample {
    /// The sample of these rows. With an intercept, the log-odds of the classes among them are the constant.
    pub fn new(cohort: &Cohort, rows: &[usize], intercept: bool) -> Result<Self, KatomsError> {
        let count = rows.len() as f64;
        let mut values = Vec::with_capacity(rows.len() * cohort.genes.len());
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for gene in &cohort.genes {
            let mean = rows.iter().map(|&i| gene[i]).sum::<f64>() / count;
            let variance = rows.iter().map(|&i| (gene[i] - mean).powi(2)).sum::<f64>() / count;
            // A constant column becomes zeros.
            let deviation = if variance.sqrt() > 1e-12 * mean.abs() { variance.sqrt() } else { 1.0 };
            values.extend(rows.iter().map(|&i| (gene[i] - mean) / deviation));
            means.push(mean);
            deviations.push(deviation);
        }
        let labels: Vec<f64> = rows.iter().map(|&i| cohort.classes[i]).collect();
        let ones: f64 = labels.iter().sum();
        let constant = if intercept && ones > 0.0 && ones < count { (ones / (count - ones)).ln() } else { 0.0 };
        let design = Dense::column_major(values, rows.len(), cohort.genes.len())?;
        Ok(Self { design, loss: Shifted { inner: Logistic::new(labels)?, constant }, means, deviations })
    }

    /// What is minimised with this ridge.
    pub fn problem(&self, ridge: f64) -> Result<Problem<'_>, KatomsError> {
        Objective::new(&self.design, self.loss.clone())?.ridge(ridge)
    }

    /// The log-odds of these rows of the cohort.
    pub fn log_odds(&self, x: &SparseVec, cohort: &Cohort, rows: &[usize]) -> Vec<f64> {
        let mut odds = vec![self.loss.constant; rows.len()];
        for (j, v) in x.entries().filter(|entry| entry.1 != 0.0) {
            let (gene, slope) = (&cohort.genes[j], v / self.deviations[j]);
            odds.iter_mut().zip(rows).for_each(|(odds, &i)| *odds += slope * (gene[i] - self.means[j]));
        }
        odds
    }
}

/// How well log-odds tell classes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Judged {
    /// Tumours whose class was not named. Even odds name the larger class, 0.
    pub wrong: usize,
    /// −log-likelihood.
    pub loss: f64,
}

impl Judged {
    /// Holds log-odds against the classes.
    pub fn new(odds: &[f64], classes: impl Iterator<Item = f64>) -> Self {
        let mut judged = Self::default();
        for (&z, class) in odds.iter().zip(classes) {
            judged.wrong += usize::from((z > 0.0) != (class == 1.0));
            let margin = if class == 1.0 { -z } else { z };
            judged.loss += margin.max(0.0) + (-margin.abs()).exp().ln_1p();
        }
        judged
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self { wrong: self.wrong + other.wrong, loss: self.loss + other.loss }
    }
}

#[cfg(test)]
mod tests {
    use katoms::linalg;
    use katoms::operator::LinearOperator;

    use super::*;

    fn cohort() -> Cohort {
        let genes = (0..3).map(|j| (0..8).map(|i| ((i * 7 + j * 3) % 11) as f64 + 4.0).collect()).collect();
        Cohort::new("c".into(), true, genes, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[vec![0, 1], vec![1, 2]])
    }

    #[test]
    fn what_is_not_in_the_sample_changes_nothing() {
        let (cohort, rows) = (cohort(), [0, 1, 3, 4, 5]);
        let mut other = cohort.clone();
        other.genes.iter_mut().for_each(|gene| gene[2] = 1e6);
        let x = SparseVec::from_dense(&[0.3, -1.0, 0.5]);
        let odds = |c: &Cohort| Sample::new(c, &rows, true).unwrap().log_odds(&x, c, &rows);
        assert_eq!(odds(&cohort), odds(&other));
    }

    #[test]
    fn the_odds_of_training_rows_are_the_images_of_the_design() {
        let (cohort, rows) = (cohort(), [0, 1, 3, 4, 5, 7]);
        let sample = Sample::new(&cohort, &rows, true).unwrap();
        let f = sample.problem(0.0).unwrap();
        let x = SparseVec::from_dense(&[0.3, -1.0, 0.5]);
        let at = f.at(x.clone());
        let constant = (2.0_f64 / 4.0).ln();
        let odds = sample.log_odds(&x, &cohort, &rows);
        assert!(odds.iter().zip(at.image()).all(|(o, z)| (o - z - constant).abs() < 1e-12));
        let judged = Judged::new(&odds, rows.iter().map(|&i| cohort.classes[i]));
        assert!((judged.loss - f.value(&at)).abs() < 1e-12);
        // Even odds name the larger class.
        assert_eq!(Judged::new(&[0.0, 0.0, 2.0], [1.0, 0.0, 1.0].into_iter()).wrong, 1);
        let mut sums = f.operator().new_covector();
        f.operator().adjoint(&[1.0; 6], &mut sums);
        assert!(linalg::norm(&sums) < 1e-12, "columns are centred: {sums:?}");
    }

    #[test]
    fn the_slope_of_the_loss_is_its_gradient() {
        let loss = Shifted { inner: Logistic::new(vec![1.0, 0.0]).unwrap(), constant: -0.7 };
        let (z, mut r, mut h) = ([0.4, 1.3], [0.0; 2], [0.0; 2]);
        loss.gradient(&z, &mut r);
        loss.curvature(&z, &mut h);
        let slope = (loss.value(&[0.4 + 1e-6, 1.3]) - loss.value(&[0.4 - 1e-6, 1.3])) / 2e-6;
        assert!((slope - r[0]).abs() < 1e-8);
        let p = Logistic::probability(0.4 - 0.7);
        assert!((h[0] - p * (1.0 - p)).abs() < 1e-15);
    }
}
