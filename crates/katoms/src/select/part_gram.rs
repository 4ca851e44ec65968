//! The quadratics of all training sets of a cross-validation, from one set of passes.
//!
//! The rows fall into parts, the folds. A pass by parts brings columns of Z_pᵀWZ_p for every part p; the
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

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::Quadratic;
use super::sample::Preparation;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::loss::Loss;
use crate::operator::{LinearOperator, Parts, Standardized};
use crate::space::{IndexSet, SparseVec, Subspace};

/// What is known of the data, part by part.
pub(super) struct PartGram<'a, A> {
    design: Standardized<&'a A>,
    parts: Parts,
    weights: Vec<f64>,
    centred: bool,
    sums: Vec<Sums>,
    columns: BTreeMap<usize, Vec<Vec<f64>>>,
    blocks: Mutex<BTreeMap<Vec<usize>, Vec<Vec<f64>>>>,
    /// Passes over the data.
    pub passes: usize,
}

/// The sums over one part, about the part's own means; about 0 where nothing is centred.
#[derive(Debug, Clone)]
struct Sums {
    /// Σw.
    weight: f64,
    /// The mean of y.
    target: f64,
    /// Σwy².
    square: f64,
    /// The means of the columns of Z.
    means: Vec<f64>,
    /// ZᵀWy.
    products: Vec<f64>,
    /// Σwz².
    energies: Vec<f64>,
}

/// The share of an energy that is rounding.
const ROUNDING: f64 = 1e-13;
/// A column that varies by less than this share of its mean is constant: a mean of many rows is not
/// known better.
const CONSTANT: f64 = 1e-12;

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
        let centre = |j: usize| middle((0..parts.count()).map(|p| mean(columns[p][j], p)).collect());
        let centres: Vec<f64> = (0..n).map(centre).collect();
        let masked: Vec<Vec<f64>> = (0..parts.count())
            .map(|p| weights.iter().zip(parts.labels()).map(|(w, &label)| if label == p { *w } else { 0.0 }).collect())
            .collect();
        let masks: Vec<&[f64]> = masked.iter().map(Vec::as_slice).collect();
        let Some(energies) = design.energies(&masks, Some(&centres)) else { return Ok(None) };

        let square = |i: usize| if weights[i] > 0.0 { pulls[i] * pulls[i] / weights[i] } else { 0.0 };
        let about_own_mean = |(energy, mean): (f64, &f64), weight: f64| {
            let rest = energy - weight * mean * mean;
            if rest > ROUNDING * energy { rest } else { 0.0 }
        };
        let one = |p: usize, energies: Vec<f64>, columns: Vec<f64>, mut products: Vec<f64>| {
            let means: Vec<f64> = match centred {
                true => columns.iter().zip(&centres).map(|(&sum, centre)| mean(sum, p) - centre).collect(),
                false => vec![0.0; n],
            };
            let left = total(&pulls, p);
            products.iter_mut().zip(&centres).for_each(|(product, centre)| *product -= left * centre);
            Sums {
                weight: totals[p],
                target: targets[p],
                square: parts.rows(p).iter().map(|&i| square(i)).sum(),
                energies: energies.into_iter().zip(&means).map(|e| about_own_mean(e, totals[p])).collect(),
                means,
                products,
            }
        };
        let all = energies.into_iter().zip(columns).zip(products).enumerate();
        let sums = all.map(|(p, ((energies, columns), products))| one(p, energies, columns, products)).collect();
        let design = Standardized::new(design, centres, vec![1.0; n])?;
        let (columns, blocks) = (BTreeMap::new(), Mutex::default());
        Ok(Some(Self { design, parts, weights, centred, sums, columns, blocks, passes: 2 }))
    }

    /// Whether a column is known.
    pub fn knows(&self, j: usize) -> bool {
        self.columns.contains_key(&j)
    }

    /// Brings columns for all parts: one pass, if any of them is not known yet.
    pub fn bring(&mut self, columns: &[usize]) {
        let wanted = IndexSet::new(self.design.domain(), columns.to_vec());
        let wanted: Vec<usize> = wanted.indices().iter().copied().filter(|&j| !self.knows(j)).collect();
        if wanted.is_empty() {
            return;
        }
        let residuals: Vec<Vec<f64>> = wanted.iter().map(|&j| self.weighted(&self.image(j))).collect();
        let residuals: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut out = vec![Vec::new(); wanted.len()];
        self.design.adjoint_parts(&self.parts, &residuals, &mut out);
        self.passes += 1;
        self.columns.extend(wanted.into_iter().zip(out));
    }

    /// Column j of Z, every part about its own mean.
    fn image(&self, j: usize) -> Vec<f64> {
        let mut image = vec![0.0; self.weights.len()];
        self.design.apply(&IndexSet::new(self.design.domain(), vec![j]).basis(0), &mut image);
        if self.centred {
            // From the column itself, which knows its means better than a pass over everything.
            for (p, sums) in self.sums.iter().enumerate().filter(|(_, sums)| sums.weight > 0.0) {
                let rows = self.parts.rows(p);
                let mean = rows.iter().map(|&i| self.weights[i] * image[i]).sum::<f64>() / sums.weight;
                rows.iter().for_each(|&i| image[i] -= mean);
            }
        }
        image
    }

    fn weighted(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.weights).map(|(z, w)| z * w).collect()
    }

    /// The block of Z_pᵀWZ_p for every part.
    fn blocks(&self, coordinates: &[usize]) -> Vec<Vec<f64>> {
        // Not held during the work below: a thread that waits there for others may come here again.
        let known = || self.blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(blocks) = known().get(coordinates) {
            return blocks.clone();
        }
        let images: Vec<Vec<f64>> = coordinates.iter().map(|&j| self.image(j)).collect();
        let one = |p: usize| {
            let rows = self.parts.rows(p);
            let entry = |a: usize, b: usize| rows.iter().map(|&i| images[a][i] * self.weights[i] * images[b][i]).sum();
            Matrix::from_fn(coordinates.len(), coordinates.len(), entry).data().to_vec()
        };
        let blocks: Vec<Vec<f64>> = (0..self.parts.count()).map(one).collect();
        known().insert(coordinates.to_vec(), blocks.clone());
        blocks
    }

    /// The sums of the parts that a training set keeps.
    fn kept(&self, left_out: Option<usize>) -> impl Iterator<Item = &Sums> + Clone {
        self.sums.iter().enumerate().filter(move |(p, _)| Some(*p) != left_out).map(|(_, s)| s)
    }

    /// A fitted point of a training set in the units of the design, and the constant that its
    /// predictions need.
    pub fn to_original(&self, training: &Moments, x: &SparseVec) -> (SparseVec, f64) {
        let coefficients = x.map(|j, v| v / training.scales[j]);
        let shift: f64 = coefficients.entries().map(|(j, v)| v * training.means[j]).sum();
        let (original, constant) = self.design.to_original(&coefficients);
        (original, training.intercept - shift + constant)
    }

    /// The moments of a training set, in units of Z.
    pub fn moments(&self, left_out: Option<usize>, preparation: &Preparation) -> Moments {
        let kept = self.kept(left_out);
        let weight: f64 = kept.clone().map(|s| s.weight).sum();
        let average = |of: &dyn Fn(&Sums) -> f64| kept.clone().map(|s| s.weight * of(s)).sum::<f64>() / weight;
        let n = self.design.domain();
        let means: Vec<f64> = (0..n).map(|j| average(&|s| s.means[j])).collect();
        let target = average(&|s| s.target);
        let energy = |j: usize| kept.clone().map(|s| s.energies[j] + s.weight * (s.means[j] - means[j]).powi(2)).sum();
        let energies: Vec<f64> = (0..n).map(energy).collect();
        let scale = |j: usize| {
            let deviation = (energies[j] / weight).sqrt();
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
        let scales = (0..n).map(scale).collect();
        let intercept = if preparation.intercept { target } else { 0.0 };
        Moments { weight, means, scales, energies, target, intercept }
    }
}

/// The value in the middle; of two the lower one.
fn middle(mut values: Vec<f64>) -> f64 {
    let at = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// What a training set is centred and scaled with.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    pub weight: f64,
    means: Vec<f64>,
    scales: Vec<f64>,
    /// Σw(z − mean)².
    energies: Vec<f64>,
    /// The mean of y.
    target: f64,
    /// The same, where the model has an intercept.
    intercept: f64,
}

/// The quadratic of one training set.
pub(super) struct Training<'g, 'a, A> {
    gram: &'g PartGram<'a, A>,
    setting: &'g Setting,
}

/// What makes a training set: the part that it leaves out, its moments, its ridge; and what follows.
pub(super) struct Setting {
    pub left_out: Option<usize>,
    pub moments: Moments,
    /// The ridge for all rows.
    pub ridge: f64,
    /// The training set's share of it.
    share: f64,
    linear: Vec<f64>,
    diagonal: Vec<f64>,
    constant: f64,
}

impl Setting {
    pub fn new<A>(gram: &PartGram<'_, A>, left_out: Option<usize>, preparation: &Preparation, ridge: f64) -> Self
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    {
        let moments = gram.moments(left_out, preparation);
        let share = ridge * moments.weight / gram.sums.iter().map(|s| s.weight).sum::<f64>();
        let kept = gram.kept(left_out);
        let product = |j: usize| {
            let apart = |s: &Sums| s.weight * (s.means[j] - moments.means[j]) * (s.target - moments.target);
            kept.clone().map(|s| s.products[j] + apart(s)).sum::<f64>() / moments.scales[j]
        };
        let linear = (0..gram.design.domain()).map(product).collect();
        let energies = moments.energies.iter().zip(&moments.scales);
        let diagonal = energies.map(|(energy, scale)| energy / scale.powi(2) + share).collect();
        let constant = 0.5 * kept.map(|s| s.square + s.weight * (s.target - moments.intercept).powi(2)).sum::<f64>();
        Self { left_out, moments, ridge, share, linear, diagonal, constant }
    }

    pub fn training<'g, 'a, A>(&'g self, gram: &'g PartGram<'a, A>) -> Training<'g, 'a, A> {
        Training { gram, setting: self }
    }
}

impl<A> Training<'_, '_, A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    /// A sum over parts at (i, j), about the means of the training set and scaled.
    fn scaled(&self, sum: f64, i: usize, j: usize) -> f64 {
        let scales = &self.setting.moments.scales;
        let ridge = if i == j { self.setting.share } else { 0.0 };
        sum / (scales[i] * scales[j]) + ridge
    }

    /// The parts that the training set keeps, with their sums.
    fn kept<'v>(&'v self, parts: &'v [Vec<f64>]) -> impl Iterator<Item = (&'v Vec<f64>, &'v Sums)> {
        let left_out = self.setting.left_out;
        let all = parts.iter().zip(&self.gram.sums).enumerate();
        all.filter(move |(p, _)| Some(*p) != left_out).map(|(_, both)| both)
    }

    /// How far a part's mean of column j is from the training set's.
    fn apart(&self, sums: &Sums, j: usize) -> f64 {
        sums.means[j] - self.setting.moments.means[j]
    }
}

impl<A> Quadratic for Training<'_, '_, A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
{
    fn dim(&self) -> usize {
        self.setting.linear.len()
    }
    fn linear(&self) -> &[f64] {
        &self.setting.linear
    }
    fn diagonal(&self) -> &[f64] {
        &self.setting.diagonal
    }
    fn constant(&self) -> f64 {
        self.setting.constant
    }
    fn knows(&self, j: usize) -> bool {
        self.gram.knows(j)
    }
    fn column(&self, j: usize) -> Option<Vec<f64>> {
        let parts = self.gram.columns.get(&j)?;
        let mut column = vec![0.0; self.dim()];
        let centre = &self.setting.moments.means;
        for (part, sums) in self.kept(parts) {
            let apart = sums.weight * self.apart(sums, j);
            for ((c, v), (mean, centre)) in column.iter_mut().zip(part).zip(sums.means.iter().zip(centre)) {
                *c += v + apart * (mean - centre);
            }
        }
        column.iter_mut().enumerate().for_each(|(i, c)| *c = self.scaled(*c, i, j));
        Some(column)
    }
    fn entry(&self, i: usize, j: usize) -> Option<f64> {
        let parts = self.gram.columns.get(&j)?;
        let one = |(part, sums): (&Vec<f64>, &Sums)| part[i] + sums.weight * self.apart(sums, i) * self.apart(sums, j);
        Some(self.scaled(self.kept(parts).map(one).sum(), i, j))
    }
    fn block(&self, coordinates: &[usize]) -> Vec<f64> {
        if let [j] = coordinates {
            return vec![self.setting.diagonal[*j]];
        }
        let parts = self.gram.blocks(coordinates);
        let d = coordinates.len();
        let entry = |a: usize, b: usize| {
            let (i, j) = (coordinates[a], coordinates[b]);
            let one = |(part, sums): (&Vec<f64>, &Sums)| {
                part[a + b * d] + sums.weight * self.apart(sums, i) * self.apart(sums, j)
            };
            self.scaled(self.kept(&parts).map(one).sum(), i, j)
        };
        Matrix::from_fn(d, d, entry).data().to_vec()
    }
}
