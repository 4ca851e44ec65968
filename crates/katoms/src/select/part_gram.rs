//! The quadratics of all training sets of a cross-validation, from one set of passes.
//!
//! The rows fall into parts, the folds. A pass by parts brings columns of Z_pᵀWZ_p for every part p; the
//! training set that leaves fold q out is the sum over the other parts. So a column that one fold needs
//! is there for all folds, for every ridge and for the fit on all rows, at the price of one. Centring and
//! scaling with a training set's own moments is a rank-one correction and a factor:
//!
//! (Z − 1μᵀ)ᵀW(Z − 1μᵀ) = ZᵀWZ − (Σw)·μμᵀ
//!
//! Z is the design, standardised with the moments of all rows: then μ is small, and nothing cancels.
//! What the other rows lend to Z in this way the training set's own moments take out again exactly.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::Quadratic;
use super::sample::Preparation;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::loss::Loss;
use crate::operator::{ColumnMoments, LinearOperator, Parts, Standardized};
use crate::space::{IndexSet, SparseVec, Subspace};

/// What is known of the data, part by part.
pub(super) struct PartGram<'a, A> {
    design: Standardized<&'a A>,
    parts: Parts,
    weights: Vec<f64>,
    sums: Vec<Sums>,
    columns: BTreeMap<usize, Vec<Vec<f64>>>,
    blocks: Mutex<BTreeMap<Vec<usize>, Vec<Vec<f64>>>>,
    /// Passes over the data.
    pub passes: usize,
}

/// The sums over one part.
#[derive(Debug, Clone)]
struct Sums {
    /// Σw.
    weight: f64,
    /// Σwy.
    target: f64,
    /// Σwy².
    square: f64,
    /// Zᵀw.
    columns: Vec<f64>,
    /// ZᵀWy.
    products: Vec<f64>,
    /// Σwz².
    energies: Vec<f64>,
}

impl<'a, A> PartGram<'a, A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
{
    /// The first sums. `None` where the columns of the design are not cheap.
    ///
    /// # Errors
    /// When all weights are 0.
    pub fn new(
        design: &'a A,
        loss: &impl Loss,
        parts: Parts,
        preparation: &Preparation,
    ) -> Result<Option<Self>, Error> {
        let m = design.n_outputs();
        let (mut slopes, mut weights) = (vec![0.0; m], vec![0.0; m]);
        loss.gradient(&vec![0.0; m], &mut slopes);
        loss.curvature(&vec![0.0; m], &mut weights);
        let pulls: Vec<f64> = slopes.iter().map(|r| -r).collect();
        let n = design.domain();
        let centred = preparation.standardize || preparation.intercept;
        let design = if centred {
            Standardized::fit(design, &weights)?
        } else {
            Standardized::new(design, vec![0.0; n], vec![1.0; n])?
        };
        let within = |v: &[f64], p: usize| -> Vec<f64> {
            v.iter().zip(parts.labels()).map(|(v, &label)| if label == p { *v } else { 0.0 }).collect()
        };
        let masked: Vec<Vec<f64>> = (0..parts.count()).map(|p| within(&weights, p)).collect();
        let masks: Vec<&[f64]> = masked.iter().map(Vec::as_slice).collect();
        let Some(energies) = design.energies(&masks, None) else { return Ok(None) };
        let mut both = vec![Vec::new(), Vec::new()];
        design.adjoint_parts(&parts, &[&weights, &pulls], &mut both);
        let (Some(products), Some(columns)) = (both.pop(), both.pop()) else { return Ok(None) };
        let square = |(r, w): (&f64, &f64)| if *w > 0.0 { r * r / w } else { 0.0 };
        let sums =
            energies.into_iter().zip(columns).zip(products).enumerate().map(|(p, ((energies, columns), products))| {
                let pulled = within(&pulls, p);
                Sums {
                    weight: masked[p].iter().sum(),
                    target: pulled.iter().sum(),
                    square: pulled.iter().zip(&masked[p]).map(square).sum(),
                    columns,
                    products,
                    energies,
                }
            });
        let sums = sums.collect();
        // Standardising reads the design twice, the sums once and once more.
        let passes = if centred { 4 } else { 2 };
        let (columns, blocks) = (BTreeMap::new(), Mutex::default());
        Ok(Some(Self { design, parts, weights, sums, columns, blocks, passes }))
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

    /// Column j of Z.
    fn image(&self, j: usize) -> Vec<f64> {
        let mut image = vec![0.0; self.weights.len()];
        self.design.apply(&IndexSet::new(self.design.domain(), vec![j]).basis(0), &mut image);
        image
    }

    fn weighted(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.weights).map(|(z, w)| z * w).collect()
    }

    /// The block of Z_pᵀWZ_p for every part.
    fn blocks(&self, coordinates: &[usize]) -> Vec<Vec<f64>> {
        let mut known = self.blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(blocks) = known.get(coordinates) {
            return blocks.clone();
        }
        let images: Vec<Vec<f64>> = coordinates.iter().map(|&j| self.image(j)).collect();
        let one = |p: usize| {
            let rows = self.parts.rows(p);
            let entry = |a: usize, b: usize| rows.iter().map(|&i| images[a][i] * self.weights[i] * images[b][i]).sum();
            Matrix::from_fn(coordinates.len(), coordinates.len(), entry).data().to_vec()
        };
        let blocks: Vec<Vec<f64>> = (0..self.parts.count()).map(one).collect();
        known.insert(coordinates.to_vec(), blocks.clone());
        blocks
    }

    /// A fitted point of a training set in the units of the design, and the constant that its
    /// predictions need.
    pub fn to_original(&self, training: &Moments, x: &SparseVec) -> (SparseVec, f64) {
        let coefficients = x.map(|j, v| v / training.scales[j]);
        let shift: f64 = coefficients.entries().map(|(j, v)| v * training.means[j]).sum();
        let (original, constant) = self.design.to_original(&coefficients);
        (original, training.target - shift + constant)
    }

    /// The moments of a training set, in units of Z.
    pub fn moments(&self, left_out: Option<usize>, preparation: &Preparation) -> Moments {
        let kept: Vec<&Sums> = (0..self.sums.len()).filter(|&p| Some(p) != left_out).map(|p| &self.sums[p]).collect();
        let weight: f64 = kept.iter().map(|s| s.weight).sum();
        let n = self.design.domain();
        let total =
            |of: fn(&Sums) -> &Vec<f64>| -> Vec<f64> { (0..n).map(|j| kept.iter().map(|s| of(s)[j]).sum()).collect() };
        let centred = preparation.standardize || preparation.intercept;
        let mut means = if centred { total(|s| &s.columns) } else { vec![0.0; n] };
        means.iter_mut().for_each(|m| *m /= weight);
        let energies = total(|s| &s.energies);
        let variance = |j: usize| (energies[j] / weight - means[j] * means[j]).max(0.0);
        // A column that is constant in the training set becomes zero, which no fit selects.
        let scale = |j: usize| if variance(j) > 1e-20 { variance(j).sqrt() } else { f64::INFINITY };
        let scales = (0..n).map(|j| if preparation.standardize { scale(j) } else { 1.0 }).collect();
        let target = if preparation.intercept { kept.iter().map(|s| s.target).sum::<f64>() / weight } else { 0.0 };
        Moments { weight, means, scales, target }
    }
}

/// What a training set is centred and scaled with.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    pub weight: f64,
    means: Vec<f64>,
    scales: Vec<f64>,
    target: f64,
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
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    {
        let moments = gram.moments(left_out, preparation);
        let share = ridge * moments.weight / gram.sums.iter().map(|s| s.weight).sum::<f64>();
        let kept = || gram.sums.iter().enumerate().filter(|(p, _)| Some(*p) != left_out).map(|(_, s)| s);
        let target: f64 = kept().map(|s| s.target).sum();
        let n = gram.design.domain();
        let linear = (0..n)
            .map(|j| (kept().map(|s| s.products[j]).sum::<f64>() - moments.means[j] * target) / moments.scales[j])
            .collect();
        let diagonal = (0..n)
            .map(|j| {
                let energy = kept().map(|s| s.energies[j]).sum::<f64>() - moments.weight * moments.means[j].powi(2);
                energy.max(0.0) / moments.scales[j].powi(2) + share
            })
            .collect();
        let square: f64 = kept().map(|s| s.square).sum();
        let constant = 0.5 * (square - moments.weight * moments.target * moments.target).max(0.0);
        Self { left_out, moments, ridge, share, linear, diagonal, constant }
    }

    pub fn training<'g, 'a, A>(&'g self, gram: &'g PartGram<'a, A>) -> Training<'g, 'a, A> {
        Training { gram, setting: self }
    }
}

impl<A> Training<'_, '_, A> {
    /// A sum of parts at (i, j), centred and scaled.
    fn corrected(&self, sum: f64, i: usize, j: usize) -> f64 {
        let Moments { weight, means, scales, .. } = &self.setting.moments;
        let ridge = if i == j { self.setting.share } else { 0.0 };
        (sum - weight * means[i] * means[j]) / (scales[i] * scales[j]) + ridge
    }

    fn kept<'v>(&self, parts: &'v [Vec<f64>]) -> impl Iterator<Item = &'v Vec<f64>> {
        let left_out = self.setting.left_out;
        parts.iter().enumerate().filter(move |(p, _)| Some(*p) != left_out).map(|(_, v)| v)
    }
}

impl<A> Quadratic for Training<'_, '_, A>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
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
        self.kept(parts).for_each(|part| column.iter_mut().zip(part).for_each(|(c, v)| *c += v));
        column.iter_mut().enumerate().for_each(|(i, c)| *c = self.corrected(*c, i, j));
        Some(column)
    }
    fn entry(&self, i: usize, j: usize) -> Option<f64> {
        let parts = self.gram.columns.get(&j)?;
        Some(self.corrected(self.kept(parts).map(|part| part[i]).sum(), i, j))
    }
    fn block(&self, coordinates: &[usize]) -> Vec<f64> {
        if let [j] = coordinates {
            return vec![self.setting.diagonal[*j]];
        }
        let parts = self.gram.blocks(coordinates);
        let d = coordinates.len();
        let entry = |a: usize, b: usize| {
            let sum = self.kept(&parts).map(|part| part[a + b * d]).sum();
            self.corrected(sum, coordinates[a], coordinates[b])
        };
        Matrix::from_fn(d, d, entry).data().to_vec()
    }
}
