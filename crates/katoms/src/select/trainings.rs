//! The training sets of a cross-validation by least squares: what each is centred and scaled with, and its quadratic.

use super::part_gram::{Moments, PartGram, Sums, of_columns};
use super::sample::Preparation;
use crate::linalg::parallel;
use crate::loss::Loss;
use crate::operator::{LinearOperator, apply_many};
use crate::search::{Quadratic, Terms};
use crate::space::SparseVec;

/// Rows of a quadratic that one task adds up.
const BLOCK: usize = 32;

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
        let product = |j: usize| {
            let apart = |s: &Sums| s.weight * (s.means[j] - moments.means[j]) * (s.target - moments.target);
            gram.kept(left_out).map(|s| s.products[j] + apart(s)).sum::<f64>() / moments.scales[j]
        };
        let linear = of_columns(gram.design.domain(), product);
        let second = |j: usize| moments.squared_norms[j] / moments.scales[j].powi(2) + share;
        let diagonal = of_columns(gram.design.domain(), second);
        let constant = 0.5
            * gram.kept(left_out).map(|s| s.square + s.weight * (s.target - moments.intercept).powi(2)).sum::<f64>();
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
        let rows = parallel::map_by(BLOCK, means.len(), &row);
        let column = |j: usize| rows[j].iter().copied().chain(rows[j + 1..].iter().map(|row| row[j])).collect();
        let columns = parallel::map_by(BLOCK, rows.len(), &column);
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
        let setting = |at: usize| &self.settings[points[at].0];
        let (coefficients, constants): (Vec<SparseVec>, Vec<f64>) =
            points.iter().enumerate().map(|(at, (_, x))| setting(at).moments.unscaled(x)).unzip();
        let images = apply_many(&self.gram.design, &coefficients);
        let residuals = parallel::map(points.len(), &|at| {
            let predictions: Vec<f64> = images[at].iter().map(|z| z + constants[at]).collect();
            self.gram.residual(self.loss, setting(at).left_out, &predictions)
        });
        let residuals: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).collect();
        let mut slopes = vec![Vec::new(); points.len()];
        self.gram.design.adjoint_block(&residuals, &mut slopes);
        self.gram.passes += 1;
        parallel::each_mut(&mut slopes, &|at, slopes| {
            slopes.iter_mut().zip(&setting(at).moments.scales).for_each(|(slope, scale)| *slope /= scale);
        });
        slopes
    }
}
