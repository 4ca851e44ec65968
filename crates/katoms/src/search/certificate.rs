//! How far from the best a fit can be at most: a lower bound on f over the whole set.
//!
//! For every α, Fenchel's inequality ℓ(z) ≥ −αᵀz − ℓ*(−α) at z = Aβ gives, with λ the ridge,
//!
//! > f(β) ≥ −ℓ*(−α) + Σⱼ (½λβⱼ² − βⱼ·aⱼᵀα) ≥ −ℓ*(−α) − (1/2λ)·Σ over β's coordinates of (aⱼᵀα)²,
//!
//! as ½λb² − bc ≥ −c²/2λ. The k atoms of β hold at most the k largest squared norms, so
//!
//! > D(α) = −ℓ*(−α) − (1/2λ)·(the k largest squared norms of Aᵀα) ≤ the minimum of f over the set.
//!
//! For least squares −ℓ*(−α) = αᵀy − ½Σαᵢ²/wᵢ. An atom's squared norm is the sum over its coordinates; where
//! groups overlap, what two of them share counts twice, which only lowers D. Coordinates that are always
//! selected add their squared norm to every choice. One that is free of the ridge asks for aⱼᵀα = 0.
//!
//! The largest D is the minimum of the relaxation
//!
//! > ℓ(Aβ) + ½λ·Σ ‖β_g‖²/z_g over 0 ≤ z_g ≤ 1, Σ z_g ≤ k
//!
//! (the k-support norm), and α = −∇ℓ(Aβ) at its minimum attains it. `relaxation` solves it on a few atoms, and one pass says
//! what D is and which atoms are missing.

use super::relaxation::{ROUNDING, Relaxation};
use crate::driver::Certificate;
use crate::error::Error;
use crate::linalg::{Matrix, dot, norm, solve_symmetric, top_k};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{Point, SparseVec, Subspace};

/// Coordinates free of the ridge up to which α is made orthogonal to their columns.
const MOST_FREE: usize = 512;
/// What is left of aⱼᵀα, relative to ‖aⱼ‖·‖α‖, counts as 0 below this.
const ORTHOGONAL: f64 = 1e-11;
/// Passes that could close no more than this share of the gap are not made.
const WORTHWHILE: f64 = 1e-3;
/// Where no bound can be nearer than this share of f, passes for a better one are not made.
const HOPELESS: f64 = 0.5;
/// Cuts of the interval in which the best multiple of α lies, by a third each.
const THIRDS: usize = 24;

/// How hard to try. More passes never give a worse bound; where they can add nothing, they are not made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certify {
    /// The most passes; the first is always made.
    pub passes: usize,
    /// The gap that is small enough.
    pub enough: f64,
}

impl Default for Certify {
    fn default() -> Self {
        Self { passes: 20, enough: 1e-6 }
    }
}

/// Bounds how much better than x a point of the set can be.
///
/// `None` where nothing can be proven in this way: without a ridge, for a loss whose
/// [conjugate](Loss::conjugate) is not known, with very many coordinates free of the ridge, or where f(x)
/// is not finite.
///
/// # Errors
/// When the objective, the set and x do not live in the same space.
///
/// ```
/// use katoms::{Objective, fit, loss::LeastSquares, operator::Dense, set::KSparse};
/// use katoms::search::{Certify, certify};
///
/// let x = [1.0, 2.0, 3.0, 4.0,   1.0, -1.0, 1.0, -1.0,   0.0, 1.0, 1.0, 0.0];
/// let design = Dense::column_major(&x, 4, 3)?;
/// let f = Objective::new(&design, LeastSquares::new(vec![2.0, 4.1, 6.0, 7.9])?)?.ridge(0.1)?;
/// let set = KSparse::new(1, 3)?;
/// let best = f.at(fit(&f, &set)?.point);
/// let proof = certify(&f, &set, &best, Certify::default())?.expect("there is a ridge");
/// assert!(proof.gap < 1e-6, "no other feature is better");
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn certify<A, L, S>(
    f: &Objective<A, L>,
    set: &S,
    x: &Evaluated<SparseVec>,
    options: Certify,
) -> Result<Option<Certificate>, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    let operator = f.operator().domain();
    for domain in [set.domain(), x.point().domain()] {
        if domain != operator {
            return Err(Error::Domain { operator: format!("{operator:?}"), set: format!("{domain:?}") });
        }
    }
    let here = f.value(x);
    let at_zero = f.loss().conjugate(&vec![0.0; x.image().len()]);
    let few_free = f.unridged().is_none_or(|free| free.dimension() <= MOST_FREE);
    let Some(conjugate) = at_zero.filter(|_| f.ridge_weight() > 0.0 && few_free && here.is_finite()) else {
        return Ok(None);
    };
    // α = 0 proves what the loss alone says.
    let first = Certificate { lower_bound: -conjugate, gap: f64::INFINITY, passes: 0 };
    Ok(Some(Relaxation::new(f, set, x).ascend(set.chosen(x.point()), x, here, first, options)))
}

impl<A, L> Relaxation<'_, A, L>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
{
    /// Passes until the gap is small enough, nothing is left to gain, or there were enough of them.
    fn ascend(
        &self,
        chosen: Vec<usize>,
        x: &Evaluated<SparseVec>,
        here: f64,
        first: Certificate,
        options: Certify,
    ) -> Certificate {
        let mut best = first;
        let (mut working, mut iterate) = self.start(&chosen, x.point());
        let (mut reachable, mut steepness) = (f64::INFINITY, 1.0);
        let mut g = self.f.operator().new_covector();
        loop {
            let alpha = self.dual_point(&iterate.at);
            self.f.operator().adjoint(&alpha, &mut g);
            self.f.count_pass();
            let squared_norms = self.squared_norms(&g);
            best.passes += 1;
            best.lower_bound = best.lower_bound.max(self.bound(&alpha, &g, &squared_norms));
            best.gap = gap(here, best.lower_bound);
            let gain = reachable - best.lower_bound;
            let settled = gain <= WORTHWHILE * (here - best.lower_bound);
            let hopeless = gap(here, reachable) > HOPELESS;
            if best.passes >= options.passes || best.gap <= options.enough || settled || hopeless {
                return best;
            }
            self.enter(&mut working, &mut iterate, &squared_norms);
            (iterate, reachable) = self.descend(&working, iterate, &mut steepness);
        }
    }

    /// α = −∇ℓ(Aβ), made orthogonal to the columns that are free of the ridge. At the minimum over
    /// these it already is, but for rounding. The correction follows the curvature: rows without weight
    /// stay at 0, and a small one does not leave where ℓ* is finite.
    fn dual_point(&self, x: &Evaluated<SparseVec>) -> Vec<f64> {
        let mut alpha: Vec<f64> = self.f.residual(x).iter().map(|r| -r).collect();
        if self.free.is_empty() {
            return alpha;
        }
        let h = self.f.curvature(x);
        let curved: Vec<Vec<f64>> = self.free.iter().map(|column| h.times(column)).collect();
        let gram = Matrix::from_fn(curved.len(), curved.len(), |i, j| dot(&self.free[i], &curved[j]));
        // The second time takes away what the first one lost to rounding.
        for _ in 0..2 {
            let along: Vec<f64> = self.free.iter().map(|column| dot(column, &alpha)).collect();
            for (c, column) in solve_symmetric(&gram, &along).into_iter().zip(&curved) {
                alpha.iter_mut().zip(column).for_each(|(alpha, a)| *alpha -= c * a);
            }
        }
        alpha
    }

    /// The squared norm of each atom.
    fn squared_norms(&self, g: &[f64]) -> Vec<f64> {
        let squared_norm = |atom| self.atoms.members(atom).iter().map(|&j| g[j] * g[j]).sum();
        (0..self.atoms.len()).map(squared_norm).collect()
    }

    /// D at the best of the multiples tα, t ≤ 1, where g = Aᵀα; −∞ where α proves nothing. Far from the
    /// minimum of the relaxation D(α) itself may be negative. Energies grow with t²: no pass is needed.
    fn bound(&self, alpha: &[f64], g: &[f64], squared_norms: &[f64]) -> f64 {
        let orthogonal = |column: &Vec<f64>| dot(column, alpha).abs() <= ORTHOGONAL * norm(column) * norm(alpha);
        let kept: f64 = self.ridged.indices().iter().map(|&j| g[j] * g[j]).sum();
        let largest: f64 = top_k(squared_norms, self.k).into_iter().map(|atom| squared_norms[atom]).sum();
        let squared_norm = (kept + largest) / (2.0 * self.f.ridge_weight());
        if !squared_norms.iter().all(|e| e.is_finite()) || !self.free.iter().all(orthogonal) {
            return f64::NEG_INFINITY;
        }
        let d = |t: f64| {
            let scaled: Vec<f64> = alpha.iter().map(|a| -t * a).collect();
            let d = -self.f.loss().conjugate(&scaled).unwrap_or(f64::INFINITY) - t * t * squared_norm;
            if d.is_finite() { d } else { f64::NEG_INFINITY }
        };
        let (mut best, mut low, mut high) = (d(1.0), 0.0, 1.0);
        for _ in 0..THIRDS {
            // D is concave: its largest value does not lie beyond the lower of two.
            let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            let (at_left, at_right) = (d(left), d(right));
            if at_left < at_right {
                low = left
            } else {
                high = right
            }
            best = best.max(at_left).max(at_right);
        }
        best
    }
}

/// (f(x) − bound)/f(x), without the rounding below 0.
fn gap(here: f64, bound: f64) -> f64 {
    let above = here - bound;
    if above <= 0.0 && above >= -ROUNDING * here { 0.0 } else { above / here }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LeastSquares, Logistic};
    use crate::method::refit_on;
    use crate::operator::{Dense, WithIntercept};
    use crate::set::{Always, Groups, KSparse, OverlappingGroups};
    use crate::simulate;
    use crate::space::IndexSet;

    const ROWS: usize = 20;
    const DIM: usize = 12;
    const RIDGES: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

    fn dense(data: &[f64], dim: usize) -> Dense<'_, f64> {
        Dense::column_major(data, data.len() / dim, dim).unwrap()
    }

    fn target(design: &Dense<'_, f64>, k: usize, deviation: f64, seed: u64) -> Vec<f64> {
        let mut y = vec![0.0; design.n_outputs()];
        design.apply(&simulate::sparse_signal(design.domain(), k, seed), &mut y);
        simulate::noisy(&y, deviation, seed)
    }

    fn weights() -> Vec<f64> {
        (0..ROWS).map(|i| [0.0, 0.5, 1.0, 3.0][i % 4]).collect()
    }

    /// Every choice of k atoms out of `len`.
    fn choices(len: usize, k: usize) -> Vec<Vec<usize>> {
        if k == 0 {
            return vec![Vec::new()];
        }
        let with = |last: usize| choices(last, k - 1).into_iter().map(move |c| [c, vec![last]].concat());
        (k - 1..len).flat_map(with).collect()
    }

    /// The best point of a set: every choice of atoms is tried.
    fn optimum<A, L, S>(f: &Objective<A, L>, set: &S) -> Evaluated<SparseVec>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
        S: CoordinateSet,
    {
        let (atoms, dim) = (set.candidates(), set.domain());
        let refit = |choice: Vec<usize>| {
            let members = choice.iter().flat_map(|&a| atoms.members(a)).copied().collect();
            refit_on(f, f.at(SparseVec::zero(dim)), &IndexSet::new(dim, members).union(&set.kept()))
        };
        let points = choices(atoms.len(), set.atoms()).into_iter().map(refit);
        points.min_by(|x, y| f.value(x).total_cmp(&f.value(y))).unwrap()
    }

    /// The bound lies below the optimum from wherever it starts, and more passes do not lower it. Gives
    /// the last gap.
    fn holds<A, L, S>(f: &Objective<A, L>, set: &S) -> f64
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
        S: CoordinateSet,
    {
        let best = optimum(f, set);
        let most = f.value(&best);
        let mut gap = f64::NAN;
        for x in [&f.at(SparseVec::zero(set.domain())), &best] {
            let mut bound = f64::NEG_INFINITY;
            for passes in [1, 2, 3, 4, 20] {
                let proof = certify(f, set, x, Certify { passes, enough: 0.0 }).unwrap().unwrap();
                assert!(proof.passes <= passes);
                assert!(proof.lower_bound <= most * (1.0 + 1e-9), "{} above {most}", proof.lower_bound);
                assert!(proof.lower_bound >= bound, "{} below {bound}", proof.lower_bound);
                assert!((0.0..=1.0).contains(&proof.gap), "{proof:?}");
                (bound, gap) = (proof.lower_bound, proof.gap);
            }
        }
        gap
    }

    fn least_squares(design: &Dense<'_, f64>, seed: u64) -> LeastSquares {
        LeastSquares::new(target(design, 3, 0.1, seed)).unwrap()
    }

    fn ridged<A: LinearOperator, L: Loss>(operator: A, loss: L, ridge: f64) -> Objective<A, L> {
        Objective::new(operator, loss).unwrap().ridge(ridge).unwrap()
    }

    /// With weights, groups, kept coordinates, an intercept, classes: never above the best choice of atoms, and the gap
    /// is closed where the ridge is large and acts on every candidate.
    #[test]
    fn never_above_the_best_choice() {
        let k_sparse = |k| KSparse::new(k, DIM).unwrap();
        let groups = Groups::new(2, DIM, (0..6).map(|g| vec![g, g + 6]).collect()).unwrap();
        let windows = OverlappingGroups::new(2, DIM, (0..10).map(|g| vec![g, g + 1, g + 2]).collect()).unwrap();
        let kept = Always::new(k_sparse(3), vec![0, 7]).unwrap();
        let kept_intercept = Always::intercept(&Always::new(k_sparse(2), vec![3]).unwrap());
        let free = || IndexSet::new(DIM + 1, vec![DIM]);
        for (seed, ridge) in (0..8).flat_map(|seed| RIDGES.map(|ridge| (seed, ridge))) {
            let data = simulate::autoregressive(ROWS, DIM, 0.5, seed);
            let a = &dense(&data, DIM);
            let f = ridged(a, least_squares(a, seed), ridge);
            let weighted = ridged(a, least_squares(a, seed).weighted(weights()).unwrap(), ridge);
            let far: Vec<f64> = target(a, 3, 0.1, seed).into_iter().map(|y| y + 50.0).collect();
            let far = LeastSquares::new(far).unwrap().weighted(weights()).unwrap();
            let odds: Vec<f64> = target(a, 3, 0.1, seed).iter().map(|z| 4.0 * z + 0.5).collect();
            let classes = Logistic::new(simulate::labels(&odds, seed)).unwrap();
            let weighted_classes = ridged(a, classes.clone().weighted(weights()).unwrap(), ridge);
            let classes = ridged(WithIntercept::new(a), classes, ridge).free_of_ridge(free());
            let gaps = [
                holds(&f, &k_sparse(3)),
                holds(&weighted, &k_sparse(3)),
                holds(&f, &groups),
                holds(&f, &kept),
                holds(&ridged(WithIntercept::new(a), far, ridge).free_of_ridge(free()), &kept_intercept),
                holds(&classes, &Always::intercept(&k_sparse(2))),
            ];
            assert!(ridge < 10.0 || gaps.iter().all(|gap| *gap < 0.02), "seed {seed}: {gaps:?}");
            holds(&weighted_classes, &k_sparse(2));
            holds(&f, &windows);
            holds(&f.free_of_ridge(IndexSet::new(DIM, vec![2])), &k_sparse(3));
        }
    }

    /// A fit on a design with unit columns and ten planted atoms at a signal-to-noise ratio of 5.
    fn planted(rows: usize, dim: usize, ridge: f64, scale: f64, options: Certify) -> Certificate {
        let data = simulate::autoregressive(rows, dim, 0.0, 1);
        let design = dense(&data, dim);
        let y = target(&design, 10, (0.2 / rows as f64).sqrt(), 1).into_iter().map(|y| scale * y);
        let f = Objective::new(&design, LeastSquares::new(y.collect::<Vec<_>>()).unwrap()).unwrap();
        let (f, set) = (f.ridge(ridge).unwrap(), KSparse::new(10, dim).unwrap());
        let x = f.at(crate::fit(&f, &set).unwrap().point);
        let before = f.cost().passes;
        let proof = certify(&f, &set, &x, options).unwrap().unwrap();
        assert_eq!(f.cost().passes - before, proof.passes);
        proof
    }

    #[test]
    fn a_few_passes_reach_what_the_relaxation_can_prove() {
        let figures = [
            (1000, 2000, [(0.1, 0.062), (0.3, 0.012), (1.0, 0.002)]),
            (200, 1000, [(0.1, 0.24), (0.3, 0.06), (1.0, 0.013)]),
        ];
        for (rows, dim, gaps) in figures {
            for (ridge, gap) in gaps {
                let first = planted(rows, dim, ridge, 1.0, Certify { passes: 1, ..Certify::default() });
                let last = planted(rows, dim, ridge, 1.0, Certify::default());
                assert!(last.gap < gap && last.gap < 0.5 * first.gap, "{rows}x{dim}, {ridge}: {last:?}");
                assert!(last.passes <= 6, "{last:?}");
            }
        }
    }

    #[test]
    fn the_units_of_the_target_do_not_matter() {
        let gaps = [1.0, 1e3].map(|scale| planted(100, 300, 0.3, scale, Certify::default()).gap);
        assert!((gaps[0] - gaps[1]).abs() < 1e-9, "{gaps:?}");
    }

    #[test]
    fn a_far_intercept_does_not_matter() {
        let data = simulate::autoregressive(ROWS, DIM, 0.5, 3);
        let a = dense(&data, DIM);
        let set = Always::intercept(&KSparse::new(3, DIM).unwrap());
        let gaps = [0.0, 1e5].map(|offset| {
            let y: Vec<f64> = target(&a, 3, 0.1, 3).into_iter().map(|y| y + offset).collect();
            let f = Objective::new(WithIntercept::new(&a), LeastSquares::new(y).unwrap()).unwrap();
            let f = f.ridge(0.1).unwrap().free_of_ridge(IndexSet::new(DIM + 1, vec![DIM]));
            let best = optimum(&f, &set);
            certify(&f, &set, &best, Certify::default()).unwrap().unwrap().gap
        });
        assert!((gaps[0] - gaps[1]).abs() < 1e-6, "{gaps:?}");
    }

    #[test]
    fn an_operator_without_columns_will_do() {
        let (rows, dim) = (60, 128);
        let design = crate::operator::subsampled_dct(dim, (0..rows).map(|i| (i * 37) % dim).collect()).unwrap();
        let mut y = vec![0.0; rows];
        design.apply(&simulate::sparse_signal(dim, 4, 0), &mut y);
        let loss = LeastSquares::new(simulate::noisy(&y, 0.02, 0)).unwrap();
        let f = Objective::new(&design, loss).unwrap().ridge(1.0).unwrap();
        let set = KSparse::new(4, dim).unwrap();
        let x = f.at(crate::fit(&f, &set).unwrap().point);
        let proof = certify(&f, &set, &x, Certify::default()).unwrap().unwrap();
        assert!((0.0..0.05).contains(&proof.gap), "{proof:?}");
    }

    /// A loss that keeps its conjugate to itself.
    #[derive(Debug)]
    struct Secret(LeastSquares);

    impl Loss for Secret {
        fn n_outputs(&self) -> usize {
            self.0.n_outputs()
        }
        fn value(&self, z: &[f64]) -> f64 {
            self.0.value(z)
        }
        fn gradient(&self, z: &[f64], r: &mut [f64]) {
            self.0.gradient(z, r);
        }
        fn curvature(&self, z: &[f64], h: &mut [f64]) {
            self.0.curvature(z, h);
        }
        fn curvature_bound(&self) -> f64 {
            self.0.curvature_bound()
        }
        fn is_quadratic(&self) -> bool {
            true
        }
    }

    #[test]
    fn no_proof_without_a_ridge_or_a_conjugate() {
        let data = simulate::autoregressive(ROWS, DIM, 0.5, 0);
        let (a, set) = (dense(&data, DIM), KSparse::new(3, DIM).unwrap());
        let f = Objective::new(&a, least_squares(&a, 0)).unwrap();
        let x = f.at(SparseVec::zero(DIM));
        assert_eq!(certify(&f, &set, &x, Certify::default()), Ok(None));
        let f = Objective::new(&a, Secret(least_squares(&a, 0))).unwrap().ridge(1.0).unwrap();
        assert_eq!(certify(&f, &set, &x, Certify::default()), Ok(None));
    }

    #[test]
    fn another_space_is_named_and_a_point_outside_shows() {
        let data = simulate::autoregressive(ROWS, DIM, 0.5, 0);
        let a = dense(&data, DIM);
        let f = Objective::new(&a, least_squares(&a, 0)).unwrap().ridge(1.0).unwrap();
        let x = optimum(&f, &KSparse::new(6, DIM).unwrap());
        let larger = KSparse::new(1, DIM + 1).unwrap();
        assert!(matches!(certify(&f, &larger, &x, Certify::default()), Err(Error::Domain { .. })));
        // six atoms where one is allowed
        let proof = certify(&f, &KSparse::new(1, DIM).unwrap(), &x, Certify::default()).unwrap().unwrap();
        assert!(proof.gap < 0.0, "{proof:?}");
    }

    #[test]
    fn nothing_to_explain_is_explained() {
        let data = simulate::autoregressive(ROWS, DIM, 0.5, 0);
        let (a, set) = (dense(&data, DIM), KSparse::new(3, DIM).unwrap());
        let f = Objective::new(&a, LeastSquares::new(vec![0.0; ROWS]).unwrap()).unwrap().ridge(1.0).unwrap();
        let proof = certify(&f, &set, &f.at(SparseVec::zero(DIM)), Certify::default()).unwrap().unwrap();
        assert_eq!((proof.lower_bound, proof.gap), (0.0, 0.0));
    }
}
