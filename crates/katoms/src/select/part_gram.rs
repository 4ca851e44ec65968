//! The quadratics of all training sets of a cross-validation, from one set of products.
//!
//! The rows fall into parts, the folds. For a list of columns Z_pᵀWZ_p is known for every part p; the
//! training set that leaves fold q out is the sum over the other parts. So a column that one fold needs
//! is there for all folds, for every ridge and for the fit on all rows, at the price of one.
//!
//! Every part is centred on its own means μ_p, and a training set puts its parts together as Chan, Golub
//! and LeVeque (1983) do:
//!
//! (Z − 1μᵀ)ᵀW(Z − 1μᵀ) = Σ_p (Z_p − 1μ_pᵀ)ᵀW(Z_p − 1μ_pᵀ) + (Σw)_p·(μ_p − μ)(μ_p − μ)ᵀ
//!
//! No term is large where the sum is small, so nothing cancels, and a row that is held out, however far
//! off, is in no term. Scaling is a factor. Z is the design less a centre for each column, the median of
//! its parts' means: a column far from 0 comes near it, and a part that is far off moves no other.

use std::collections::BTreeSet;

use super::products::Products;
use super::sample::Preparation;
use crate::error::Error;
use crate::linalg::parallel;
use crate::loss::Loss;
use crate::operator::{LinearOperator, Parts, Standardized};
use crate::space::{IndexSet, SparseVec};

/// What a training set is centred and scaled with.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    pub weight: f64,
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
    /// Σw(z − mean)².
    pub squared_norms: Vec<f64>,
    /// The mean of y.
    pub target: f64,
    /// The same, where the model has an intercept.
    pub intercept: f64,
}

impl Moments {
    /// A fitted point in units of Z, and the constant that its predictions need.
    pub fn unscaled(&self, x: &SparseVec) -> (SparseVec, f64) {
        let coefficients = x.map(|j, v| v / self.scales[j]);
        let shift: f64 = coefficients.entries().map(|(j, v)| v * self.means[j]).sum();
        (coefficients, self.intercept - shift)
    }
}

/// What is known of the data, part by part.
pub(super) struct PartGram<'a, A> {
    pub(super) design: Standardized<&'a A>,
    parts: Parts,
    weights: Vec<f64>,
    centred: bool,
    pub(super) sums: Vec<Sums>,
    /// The listed coordinates, in the order in which they came.
    pub(super) listed: Vec<usize>,
    /// For each part Z_pᵀWZ_p among them.
    pub(super) products: Vec<Products>,
    /// Passes over the data.
    pub passes: usize,
}

/// The sums over one part, about the part's own means; about 0 where nothing is centred.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// Σw.
    pub weight: f64,
    /// The mean of y.
    pub target: f64,
    /// Σwy².
    pub square: f64,
    /// The means of the columns of Z.
    pub means: Vec<f64>,
    /// ZᵀWy.
    pub products: Vec<f64>,
    /// Σwz².
    pub squared_norms: Vec<f64>,
}

/// The share of a squared norm that is rounding.
const ROUNDING: f64 = 1e-13;
/// A column that varies by less than this share of its mean is constant: a mean of many rows is not
/// known better.
const CONSTANT: f64 = 1e-12;
/// Columns that one task looks at.
const COLUMNS: usize = 1 << 10;

/// A number for each of so many columns.
pub(super) fn of_columns(count: usize, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut all = vec![0.0; count];
    parallel::chunks_mut(&mut all, COLUMNS, &|chunk, some| {
        some.iter_mut().enumerate().for_each(|(at, own)| *own = of(chunk * COLUMNS + at));
    });
    all
}

impl<'a, A> PartGram<'a, A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    /// The first sums: two passes. `None` where the columns of the design are not cheap.
    ///
    /// # Errors
    /// When a mean is not finite.
    pub fn new(
        design: &'a A,
        loss: &impl Loss,
        parts: Parts,
        preparation: &Preparation,
    ) -> Result<Option<Self>, Error> {
        let (m, n) = (design.n_outputs(), design.domain());
        let (mut slopes, mut weights) = (vec![0.0; m], vec![0.0; m]);
        loss.gradient(&vec![0.0; m], &mut slopes);
        loss.curvature(&vec![0.0; m], &mut weights);
        let centred = preparation.intercept;
        let total = |v: &[f64], p: usize| parts.rows(p).iter().map(|&i| v[i]).sum::<f64>();
        let totals: Vec<f64> = (0..parts.count()).map(|p| total(&weights, p)).collect();
        let mean = |sum: f64, p: usize| if centred && totals[p] > 0.0 { sum / totals[p] } else { 0.0 };
        let targets: Vec<f64> = (0..parts.count()).map(|p| mean(-total(&slopes, p), p)).collect();
        let pulls: Vec<f64> = (0..m).map(|i| -slopes[i] - weights[i] * targets[parts.labels()[i]]).collect();

        let mut both = vec![Vec::new(), Vec::new()];
        design.adjoint_parts(&parts, &[&weights, &pulls], &mut both);
        let (Some(products), Some(columns)) = (both.pop(), both.pop()) else { return Ok(None) };
        let centres = of_columns(n, |j| middle((0..parts.count()).map(|p| mean(columns[p][j], p)).collect()));
        let masked: Vec<Vec<f64>> = (0..parts.count())
            .map(|p| weights.iter().zip(parts.labels()).map(|(w, &label)| if label == p { *w } else { 0.0 }).collect())
            .collect();
        let masks: Vec<&[f64]> = masked.iter().map(Vec::as_slice).collect();
        let Some(squared_norms) = design.squared_norms(&masks, Some(&centres)) else { return Ok(None) };

        let square = |i: usize| if weights[i] > 0.0 { pulls[i] * pulls[i] / weights[i] } else { 0.0 };
        let about_own_mean = |squared_norm: f64, mean: f64, weight: f64| {
            let rest = squared_norm - weight * mean * mean;
            if rest > ROUNDING * squared_norm { rest } else { 0.0 }
        };
        let sums = parallel::map(parts.count(), &|p| {
            let means = of_columns(n, |j| if centred { mean(columns[p][j], p) - centres[j] } else { 0.0 });
            let left = total(&pulls, p);
            Sums {
                weight: totals[p],
                target: targets[p],
                square: parts.rows(p).iter().map(|&i| square(i)).sum(),
                squared_norms: of_columns(n, |j| about_own_mean(squared_norms[p][j], means[j], totals[p])),
                means,
                products: of_columns(n, |j| products[p][j] - left * centres[j]),
            }
        });
        let design = Standardized::new(design, centres, vec![1.0; n])?;
        let products = (0..parts.count()).map(|p| Products::new(parts.rows(p).len())).collect();
        Ok(Some(Self { design, parts, weights, centred, sums, listed: Vec::new(), products, passes: 2 }))
    }

    /// Coordinates join the list: the products of their columns with all that are listed. No pass.
    pub fn list(&mut self, coordinates: &[usize]) {
        let fresh = IndexSet::new(self.design.domain(), coordinates.to_vec());
        let listed: BTreeSet<usize> = self.listed.iter().copied().collect();
        let fresh: Vec<usize> = fresh.indices().iter().copied().filter(|j| !listed.contains(j)).collect();
        let rows = self.weights.len().max(1);
        let mut images = vec![0.0; rows * fresh.len()];
        self.design.copy_columns(&IndexSet::new(self.design.domain(), fresh.clone()), &mut images);
        parallel::chunks_mut(&mut images, rows, &|_, image| self.weigh(image));
        let parts = &self.parts;
        parallel::each_mut(&mut self.products, &|p, products| {
            products.extend(images.chunks(rows).map(|image| parts.rows(p).iter().map(|&i| image[i])));
        });
        self.listed.extend(fresh);
    }

    /// √W times a column of Z, every part about its own mean.
    fn weigh(&self, image: &mut [f64]) {
        if self.centred {
            // From the column itself, which knows its means better than a pass over everything.
            for (p, sums) in self.sums.iter().enumerate().filter(|(_, sums)| sums.weight > 0.0) {
                let rows = self.parts.rows(p);
                let mean = rows.iter().map(|&i| self.weights[i] * image[i]).sum::<f64>() / sums.weight;
                rows.iter().for_each(|&i| image[i] -= mean);
            }
        }
        image.iter_mut().zip(&self.weights).for_each(|(z, w)| *z *= w.sqrt());
    }

    /// −∇ℓ at the predictions of a training set's model, zero on the rows that it leaves out.
    pub fn residual(&self, loss: &impl Loss, left_out: Option<usize>, predictions: &[f64]) -> Vec<f64> {
        let mut residual = vec![0.0; predictions.len()];
        loss.gradient(predictions, &mut residual);
        let held_out = |part: usize| left_out == Some(part);
        residual.iter_mut().zip(self.parts.labels()).for_each(|(r, &p)| *r = if held_out(p) { 0.0 } else { -*r });
        residual
    }

    /// The sums of the parts that a training set keeps.
    pub fn kept(&self, left_out: Option<usize>) -> impl Iterator<Item = &Sums> + Clone {
        self.sums.iter().enumerate().filter(move |(p, _)| Some(*p) != left_out).map(|(_, s)| s)
    }

    /// A fitted point of a training set in the units of the design, and the constant that its
    /// predictions need.
    pub fn to_original(&self, training: &Moments, x: &SparseVec) -> (SparseVec, f64) {
        let (coefficients, constant) = training.unscaled(x);
        let (original, shift) = self.design.to_original(&coefficients);
        (original, constant + shift)
    }

    /// The moments of a training set, in units of Z.
    pub fn moments(&self, left_out: Option<usize>, preparation: &Preparation) -> Moments {
        let weight: f64 = self.kept(left_out).map(|s| s.weight).sum();
        let average = |of: &dyn Fn(&Sums) -> f64| self.kept(left_out).map(|s| s.weight * of(s)).sum::<f64>() / weight;
        let n = self.design.domain();
        let means = of_columns(n, |j| average(&|s| s.means[j]));
        let target = average(&|s| s.target);
        let squared_norms = of_columns(n, |j| {
            self.kept(left_out).map(|s| s.squared_norms[j] + s.weight * (s.means[j] - means[j]).powi(2)).sum()
        });
        let scale = |j: usize| {
            let deviation = (squared_norms[j] / weight).sqrt();
            let constant = CONSTANT * (self.design.centres()[j] + means[j]).abs();
            match preparation.standardize {
                // A column that is constant in the training set becomes zero, which no fit selects.
                _ if self.centred && deviation <= constant => f64::INFINITY,
                // A column of zeros has no unit.
                true if deviation == 0.0 => 1.0,
                true => deviation,
                false => 1.0,
            }
        };
        let scales = of_columns(n, scale);
        let intercept = if preparation.intercept { target } else { 0.0 };
        Moments { weight, means, scales, squared_norms, target, intercept }
    }
}

/// The value in the middle; of two the lower one.
fn middle(mut values: Vec<f64>) -> f64 {
    let at = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}
