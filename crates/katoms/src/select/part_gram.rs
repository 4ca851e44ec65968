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

use rayon::prelude::*;

use super::products::Products;
use super::sample::Preparation;
use crate::error::Error;
use crate::loss::Loss;
use crate::operator::{LinearOperator, Parts, Standardized};
use crate::search::{Quadratic, Terms};
use crate::space::{IndexSet, SparseVec, Subspace};

/// What is known of the data, part by part.
pub(super) struct PartGram<'a, A> {
    design: Standardized<&'a A>,
    parts: Parts,
    weights: Vec<f64>,
    centred: bool,
    sums: Vec<Sums>,
    /// The listed coordinates, in the order in which they came.
    listed: Vec<usize>,
    /// For each part Z_pᵀWZ_p among them.
    products: Vec<Products>,
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
        let products = (0..parts.count()).map(|p| Products::new(parts.rows(p).len())).collect();
        Ok(Some(Self { design, parts, weights, centred, sums, listed: Vec::new(), products, passes: 2 }))
    }

    /// Coordinates join the list: the products of their columns with all that are listed. No pass.
    fn list(&mut self, coordinates: &[usize]) {
        let fresh = IndexSet::new(self.design.domain(), coordinates.to_vec());
        let listed: BTreeSet<usize> = self.listed.iter().copied().collect();
        let fresh: Vec<usize> = fresh.indices().iter().copied().filter(|j| !listed.contains(j)).collect();
        let images: Vec<Vec<f64>> = fresh.par_iter().map(|&j| self.image(j)).collect();
        for (p, products) in self.products.iter_mut().enumerate() {
            let rows = self.parts.rows(p);
            products.extend(images.iter().map(|image| rows.iter().map(|&i| image[i])));
        }
        self.listed.extend(fresh);
    }

    /// √W times column j of Z, every part about its own mean.
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
        image.iter_mut().zip(&self.weights).for_each(|(z, w)| *z *= w.sqrt());
        image
    }

    /// −∇ℓ at a model of a training set, zero on the rows that it leaves out.
    fn residual(&self, loss: &impl Loss, setting: &Setting, x: &SparseVec) -> Vec<f64> {
        let (coefficients, constant) = setting.moments.unscaled(x);
        let mut predictions = vec![0.0; self.weights.len()];
        self.design.apply(&coefficients, &mut predictions);
        predictions.iter_mut().for_each(|z| *z += constant);
        let mut residual = vec![0.0; predictions.len()];
        loss.gradient(&predictions, &mut residual);
        let held_out = |part: usize| setting.left_out == Some(part);
        residual.iter_mut().zip(self.parts.labels()).for_each(|(r, &p)| *r = if held_out(p) { 0.0 } else { -*r });
        residual
    }

    /// The sums of the parts that a training set keeps.
    fn kept(&self, left_out: Option<usize>) -> impl Iterator<Item = &Sums> + Clone {
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

impl Moments {
    /// A fitted point in units of Z, and the constant that its predictions need.
    fn unscaled(&self, x: &SparseVec) -> (SparseVec, f64) {
        let coefficients = x.map(|j, v| v / self.scales[j]);
        let shift: f64 = coefficients.entries().map(|(j, v)| v * self.means[j]).sum();
        (coefficients, self.intercept - shift)
    }
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

    /// The quadratic of the training set among the coordinates of the list.
    fn among<A>(&self, gram: &PartGram<'_, A>) -> Training {
        let picked = |all: &[f64]| gram.listed.iter().map(|&j| all[j]).collect::<Vec<f64>>();
        let (scales, means) = (picked(&self.moments.scales), picked(&self.moments.means));
        let kept = gram.sums.iter().zip(&gram.products).enumerate().filter(|(p, _)| Some(*p) != self.left_out);
        // How far the means of each part are from the training set's.
        let apart = |own: &[f64]| picked(own).iter().zip(&means).map(|(own, all)| own - all).collect::<Vec<f64>>();
        let parts: Vec<_> = kept.map(|(_, (sums, products))| (sums.weight, apart(&sums.means), products)).collect();
        let row = |i: usize| {
            let mut row = vec![0.0; i + 1];
            for (weight, apart, products) in &parts {
                let weight = weight * apart[i];
                row.iter_mut().zip(products.row(i)).zip(apart).for_each(|((g, v), apart)| *g += v + weight * apart);
            }
            row.iter_mut().zip(&scales).for_each(|(g, scale)| *g /= scale * scales[i]);
            row[i] += self.share;
            row
        };
        let rows: Vec<Vec<f64>> = (0..means.len()).map(row).collect();
        let column = |j: usize| (0..rows.len()).map(|i| if i < j { rows[j][i] } else { rows[i][j] }).collect();
        let columns = (0..rows.len()).map(column).collect();
        let terms = Terms { linear: picked(&self.linear), diagonal: picked(&self.diagonal), constant: self.constant };
        Training { terms, columns }
    }
}

/// The quadratic of a training set among the listed coordinates.
#[derive(Debug)]
pub(super) struct Training {
    terms: Terms,
    columns: Vec<Vec<f64>>,
}

impl Quadratic for Training {
    fn terms(&self) -> &Terms {
        &self.terms
    }
    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j]
    }
    fn block(&self, _: usize, members: &[usize]) -> Vec<f64> {
        members.iter().flat_map(|&b| members.iter().map(move |&a| self.columns[b][a])).collect()
    }
}

/// Training sets side by side.
pub(super) struct Trainings<'g, 'a, A, L> {
    pub gram: &'g mut PartGram<'a, A>,
    pub loss: &'g L,
    pub settings: &'g [Setting],
}

impl<A, L> Trainings<'_, '_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// How many there are.
    pub fn count(&self) -> usize {
        self.settings.len()
    }

    /// b = −∇f(0) of one of them.
    pub fn linear(&self, which: usize) -> &[f64] {
        &self.settings[which].linear
    }

    /// The diagonal of its G, the ridge included.
    pub fn diagonal(&self, which: usize) -> &[f64] {
        &self.settings[which].diagonal
    }

    /// Its f(0).
    pub fn constant(&self, which: usize) -> f64 {
        self.settings[which].constant
    }

    /// Coordinates join the list. No pass.
    pub fn list(&mut self, coordinates: &[usize]) {
        self.gram.list(coordinates);
    }

    /// The listed coordinates, in the order in which they came.
    pub fn listed(&self) -> &[usize] {
        &self.gram.listed
    }

    /// One of them among the coordinates of the list.
    pub fn among(&self, which: usize) -> Training {
        self.settings[which].among(self.gram)
    }

    /// −∇f of some of them at points of theirs: one pass. Right outside of the points' supports.
    pub fn slopes(&mut self, points: &[(usize, SparseVec)]) -> Vec<Vec<f64>> {
        let residual = |(which, x): &(usize, SparseVec)| self.gram.residual(self.loss, &self.settings[*which], x);
        let residuals: Vec<Vec<f64>> = points.par_iter().map(residual).collect();
        let residuals: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut slopes = vec![Vec::new(); points.len()];
        self.gram.design.adjoint_block(&residuals, &mut slopes);
        self.gram.passes += 1;
        for (slopes, (which, _)) in slopes.iter_mut().zip(points) {
            let scales = &self.settings[*which].moments.scales;
            slopes.iter_mut().zip(scales).for_each(|(slope, scale)| *slope /= scale);
        }
        slopes
    }
}
