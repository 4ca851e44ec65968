//! Methods that add one atom at a time, and may remove some.

use katoms::linalg::{self, kernels};

use super::{Data, Model, PERFECT};

/// A column whose squared distance from the chosen ones is this share of its squared norm is one of them.
const DEPENDENT: f64 = 1e-10;

/// Orthogonal matching pursuit: the atom of largest |φ_jᵀr|/‖φ_j‖, then least squares. One model for each
/// k = 1, 2, …; k passes.
pub fn omp(data: &Data<'_>, k_max: usize) -> Vec<Model> {
    forward(data, k_max, Chosen::gain_alone)
}

/// Forward regression, or orthogonal least squares: the atom whose addition lowers the objective most,
/// (φ_jᵀr)²/‖P⊥φ_j‖². One model for each k = 1, 2, …; k passes.
pub fn forward_regression(data: &Data<'_>, k_max: usize) -> Vec<Model> {
    forward(data, k_max, Chosen::gain)
}

fn forward<'a>(data: &'a Data<'a>, k_max: usize, score: fn(&Chosen<'a>, usize) -> f64) -> Vec<Model> {
    let (mut chosen, mut path) = (Chosen::new(data), Vec::new());
    while path.len() < k_max && !chosen.perfect() && chosen.grow(score) {
        path.push(chosen.model());
    }
    path
}

/// Zhang's adaptive forward-backward greedy algorithm, FoBa, with exact gains and costs: the atom whose
/// addition lowers the objective most; then, as long as removing some atom raises it by at most
/// `share` (Zhang: ½) of what was gained when this size was last reached, the least useful atom goes.
///
/// It grows up to `most` atoms. That may be more than a caller wants in the end: atoms that turn
/// out to be useless go again. For each k = 1, 2, … the best model of that size on the way.
pub fn foba(data: &Data<'_>, most: usize, share: f64) -> Vec<Model> {
    let (mut chosen, mut gains) = (Chosen::new(data), Vec::new());
    let mut best: Vec<Model> = Vec::new();
    let mut keep = |model: Model| match best.get_mut(model.support.len() - 1) {
        Some(other) if other.objective <= model.objective => {}
        Some(other) => *other = model,
        None => best.push(model),
    };
    while chosen.support.len() < most && !chosen.perfect() {
        let before = chosen.objective();
        if !chosen.grow(Chosen::gain) {
            break;
        }
        gains.push(before - chosen.objective());
        keep(chosen.model());
        // The last atom stays: there is always a smaller model.
        while chosen.support.len() > 1
            && let Some((place, cost)) = chosen.cheapest()
            && gains.last().is_some_and(|gain| cost <= share * gain)
        {
            chosen.remove(place);
            gains.pop();
            keep(chosen.model());
        }
    }
    best
}

/// The chosen columns X = Q·R, kept as Q and R⁻¹ through additions and removals.
pub(super) struct Chosen<'a> {
    data: &'a Data<'a>,
    /// In the order of their coming.
    support: Vec<usize>,
    /// The columns of Q.
    basis: Vec<Vec<f64>>,
    /// The columns of R⁻¹, as far as they are not zero.
    inverse: Vec<Vec<f64>>,
    /// Qᵀy.
    along: Vec<f64>,
    residual: Vec<f64>,
    /// Φᵀ·residual and ‖P⊥φ_j‖², up to what is pending.
    correlations: Vec<f64>,
    remaining: Vec<f64>,
    /// Directions that came (1) or went (-1) since the last pass, with their share of the residual.
    pending: Vec<(Vec<f64>, f64, f64)>,
    free: Vec<bool>,
    passes: usize,
}

impl<'a> Chosen<'a> {
    pub(super) fn new(data: &'a Data<'a>) -> Self {
        Self {
            data,
            support: Vec::new(),
            basis: Vec::new(),
            inverse: Vec::new(),
            along: Vec::new(),
            residual: data.y.to_vec(),
            correlations: data.adjoint(data.y),
            remaining: data.norms.iter().map(|n| n * n).collect(),
            pending: Vec::new(),
            free: data.norms.iter().map(|n| *n > 0.0).collect(),
            passes: 1,
        }
    }

    fn objective(&self) -> f64 {
        0.5 * linalg::dot(&self.residual, &self.residual)
    }

    fn perfect(&self) -> bool {
        self.objective() <= PERFECT * self.data.zero_objective()
    }

    /// What the objective falls by when j comes.
    fn gain(&self, j: usize) -> f64 {
        0.5 * self.correlations[j].powi(2) / self.remaining[j]
    }

    /// The same if the other coefficients stayed as they are.
    fn gain_alone(&self, j: usize) -> f64 {
        0.5 * (self.correlations[j] / self.data.norms[j]).powi(2)
    }

    /// Adds the free atom of largest score; false when every one left is in the span.
    fn grow(&mut self, score: fn(&Self, usize) -> f64) -> bool {
        self.catch_up();
        loop {
            let apart = |j: &usize| self.free[*j] && self.remaining[*j] > DEPENDENT * self.data.norms[*j].powi(2);
            let scored = (0..self.data.columns()).filter(apart).map(|j| (j, score(self, j)));
            let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((j, _)) = best else { return false };
            self.free[j] = false;
            if self.add(j) {
                return true;
            }
        }
    }

    /// One pass for each pending direction.
    fn catch_up(&mut self) {
        for (q, sign, share) in std::mem::take(&mut self.pending) {
            let products = self.data.adjoint(&q);
            self.passes += 1;
            for ((c, left), p) in self.correlations.iter_mut().zip(&mut self.remaining).zip(&products) {
                *c -= sign * share * p;
                *left -= sign * p * p;
            }
        }
    }

    /// Adds column j; false when it lies in the span.
    pub(super) fn add(&mut self, j: usize) -> bool {
        let mut q = self.data.column(j).to_vec();
        let mut within = vec![0.0; self.basis.len()];
        for _ in 0..2 {
            for (h, b) in within.iter_mut().zip(&self.basis) {
                let c = linalg::dot(b, &q);
                kernels::axpy(-c, b, &mut q);
                *h += c;
            }
        }
        let left = linalg::norm(&q);
        if !(left * left > DEPENDENT * self.data.norms[j].powi(2)) {
            return false;
        }
        q.iter_mut().for_each(|v| *v /= left);
        let mut column = vec![0.0; self.basis.len() + 1];
        for (h, c) in within.iter().zip(&self.inverse) {
            c.iter().zip(&mut column).for_each(|(c, out)| *out -= h * c / left);
        }
        column[self.basis.len()] = 1.0 / left;
        let share = linalg::dot(&q, &self.residual);
        kernels::axpy(-share, &q, &mut self.residual);
        self.support.push(j);
        self.inverse.push(column);
        self.along.push(share);
        self.pending.push((q.clone(), 1.0, share));
        self.basis.push(q);
        true
    }

    /// The place of the atom whose removal costs least, and the cost.
    pub(super) fn cheapest(&self) -> Option<(usize, f64)> {
        let costs = self.costs().into_iter().enumerate();
        costs.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// What the objective rises by when the atom at each place goes: ½β_p²/(G⁻¹)_pp. O(k²).
    pub(super) fn costs(&self) -> Vec<f64> {
        let (mut beta, mut square) = (vec![0.0; self.support.len()], vec![0.0; self.support.len()]);
        for (column, z) in self.inverse.iter().zip(&self.along) {
            for (p, v) in column.iter().enumerate() {
                beta[p] += v * z;
                square[p] += v * v;
            }
        }
        beta.iter().zip(square).map(|(b, s): (&f64, f64)| 0.5 * b * b / s).collect()
    }

    /// Removes the atom at a place. O(k² + mk).
    ///
    /// Row p of R⁻¹, on the basis, is the direction that only atom p spans. Rotations turn it into the
    /// last of the basis, and leave R⁻¹ without row p triangular.
    pub(super) fn remove(&mut self, place: usize) {
        let last = self.support.len() - 1;
        for l in place..last {
            self.inverse[l].push(0.0);
            let (v, w) = (self.inverse[l][place], self.inverse[l + 1][place]);
            let size = v.hypot(w);
            let (c, s) = (w / size, v / size);
            rotate(&mut self.basis, l, c, s);
            rotate(&mut self.inverse, l, c, s);
            let (a, b) = (self.along[l], self.along[l + 1]);
            (self.along[l], self.along[l + 1]) = (c * a - s * b, s * a + c * b);
        }
        self.inverse.pop();
        for column in &mut self.inverse[place..] {
            column.remove(place);
        }
        self.free[self.support.remove(place)] = true;
        if let (Some(q), Some(share)) = (self.basis.pop(), self.along.pop()) {
            kernels::axpy(share, &q, &mut self.residual);
            self.pending.push((q, -1.0, share));
        }
    }

    pub(super) fn model(&self) -> Model {
        let mut beta = vec![0.0; self.support.len()];
        for (column, z) in self.inverse.iter().zip(&self.along) {
            column.iter().zip(&mut beta).for_each(|(v, b)| *b += v * z);
        }
        let mut entries: Vec<(usize, f64)> = self.support.iter().copied().zip(beta).collect();
        entries.sort_by_key(|e| e.0);
        let (support, coefficients) = entries.into_iter().unzip();
        Model { support, coefficients, objective: self.objective(), passes: self.passes }
    }
}

/// Columns l and l + 1 become c·x_l − s·x_{l+1} and s·x_l + c·x_{l+1}.
fn rotate(columns: &mut [Vec<f64>], l: usize, c: f64, s: f64) {
    if let [x, y, ..] = &mut columns[l..] {
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    }
}
