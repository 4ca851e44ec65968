//! Methods that exchange many atoms at a time. Each keeps its best iterate.

use std::collections::HashSet;

use katoms::linalg::{self, kernels, top_k};

use super::{Data, Model, PERFECT};

/// Iterations of one run at most.
const ITERATIONS: usize = 200;
/// A run ends after so many iterations without a better model.
const PATIENCE: usize = 50;

/// The k atoms of largest |φ_jᵀy|/‖φ_j‖, refitted. One pass.
pub fn oblivious(data: &Data<'_>, k: usize) -> Model {
    let scores = data.normalised(&data.adjoint(data.y));
    data.refit(top_k(&scores, k), 1).0
}

/// CoSaMP (Needell and Tropp): least squares on the support and the 2k atoms most correlated with
/// the residual, the k largest of it, refitted. One pass an iteration.
pub fn cosamp(data: &Data<'_>, k: usize) -> Model {
    candidates(data, k, 2 * k)
}

/// Subspace pursuit (Dai and Milenkovic): CoSaMP with k candidates in place of 2k.
pub fn subspace_pursuit(data: &Data<'_>, k: usize) -> Model {
    candidates(data, k, k)
}

fn candidates(data: &Data<'_>, k: usize, count: usize) -> Model {
    let mut best = Best::new(data);
    let (mut support, mut residual) = (Vec::new(), data.y.to_vec());
    while best.goes_on() {
        let scores = data.normalised(&data.adjoint(&residual));
        best.passes += 1;
        let mut union = [top_k(&scores, count), support].concat();
        union.sort_unstable();
        union.dedup();
        let (wide, _) = data.refit(union, 0);
        let sizes: Vec<f64> = entries(&wide).map(|(j, c)| (c * data.norms[j]).abs()).collect();
        support = top_k(&sizes, k).into_iter().map(|p| wide.support[p]).collect();
        let (model, left) = data.refit(support.clone(), best.passes);
        residual = left;
        best.see(model);
    }
    best.model
}

/// Hard thresholding pursuit (Foucart): the k largest of β + μ·Φᵀr, refitted, on columns of norm 1.
///
/// The step μ is the one of the line search along the k largest entries of Φᵀr ("normalised HTP"); unless
/// that ends in a perfect fit, the constant steps 1, 1/2, …, 1/16 are tried as well (a large one
/// may cycle, a small one may stay where it is) and the best model is kept. Two passes an iteration
/// with the line search count as one: its second product has k columns only.
pub fn htp(data: &Data<'_>, k: usize) -> Model {
    let mut best = Best::new(data);
    for step in [None, Some(1.0), Some(0.5), Some(0.25), Some(0.125), Some(0.0625)] {
        best.restart();
        let (mut model, mut residual) = data.refit(Vec::new(), 0);
        while best.goes_on() {
            let mut gradient = data.adjoint(&residual);
            best.passes += 1;
            for (g, norm) in gradient.iter_mut().zip(&data.norms) {
                *g = if *norm > 0.0 { *g / norm } else { 0.0 };
            }
            let step = step.unwrap_or_else(|| line_search(data, &gradient, k));
            let mut moved: Vec<f64> = gradient.iter().map(|g| step * g).collect();
            entries(&model).for_each(|(j, c)| moved[j] += c * data.norms[j]);
            moved.iter_mut().for_each(|v| *v = v.abs());
            (model, residual) = data.refit(top_k(&moved, k), best.passes);
            best.see(model.clone());
        }
    }
    best.model
}

/// ‖g_T‖²/‖Φg_T‖² for the k largest entries of g.
fn line_search(data: &Data<'_>, gradient: &[f64], k: usize) -> f64 {
    let sizes: Vec<f64> = gradient.iter().map(|g| g.abs()).collect();
    let (mut square, mut image) = (0.0, vec![0.0; data.rows]);
    for j in top_k(&sizes, k) {
        if data.norms[j] > 0.0 {
            square += gradient[j].powi(2);
            kernels::axpy(gradient[j] / data.norms[j], data.column(j), &mut image);
        }
    }
    let across = linalg::dot(&image, &image);
    if across > 0.0 { square / across } else { 1.0 }
}

fn entries(model: &Model) -> impl Iterator<Item = (usize, f64)> {
    model.support.iter().copied().zip(model.coefficients.iter().copied())
}

/// The best iterate so far, and whether to go on: not from a perfect fit, a support seen before, or
/// many iterations without a better one.
struct Best {
    model: Model,
    perfect: f64,
    seen: HashSet<Vec<usize>>,
    cycles: bool,
    idle: usize,
    passes: usize,
}

impl Best {
    fn new(data: &Data<'_>) -> Self {
        let model = data.refit(Vec::new(), 0).0;
        let perfect = PERFECT * data.zero_objective();
        Self { model, perfect, seen: HashSet::new(), cycles: false, idle: 0, passes: 0 }
    }

    fn restart(&mut self) {
        (self.cycles, self.idle) = (false, 0);
        self.seen.clear();
    }

    fn goes_on(&self) -> bool {
        let lasts = self.seen.len() < ITERATIONS && self.idle < PATIENCE;
        lasts && !self.cycles && self.model.objective > self.perfect
    }

    fn see(&mut self, model: Model) {
        self.cycles = !self.seen.insert(model.support.clone());
        self.idle += 1;
        if model.objective < self.model.objective {
            (self.model, self.idle) = (model, 0);
        }
    }
}
