//! The minimum over a ball, off the clock: what Frank–Wolfe runs are held against.
//!
//! Their own gaps prove little where they are slow, and a run must not be called unfinished for want of a proof.
//! Projected gradients with Nesterov's momentum, started again where f rises, get there in some hundred passes.

use katoms::Evaluated;
use katoms::driver::frank_wolfe_gap;
use katoms::method::largest_curvature;
use katoms::operator::LinearOperator;
use katoms::set::L1Ball;
use katoms::space::{Point, SparseVec};

use super::sample::Problem;

/// Iterations before what is proven must do.
const MOST: usize = 2000;

/// A number that f does not go below on the ball, and does come near to: by this share of its descent from f(0), or
/// as near as the iterations allow.
pub fn minimum(f: &Problem<'_>, ball: &L1Ball, accuracy: f64) -> f64 {
    let step = 1.0 / largest_curvature(f);
    let mut x = f.at(SparseVec::zero(ball.dim()));
    let (start, mut y, mut t) = (f.value(&x), x.clone(), 1.0_f64);
    let (mut g, mut proven) = (f.operator().new_covector(), f.lower_bound());
    for _ in 0..MOST {
        f.gradient(&y, &mut g);
        // f lies above its tangent at y, on the whole ball; y itself may be outside.
        proven = proven.max(f.value(&y) - frank_wolfe_gap(f, ball, &y, &g));
        if f.value(&x) - proven <= accuracy * (start - proven) {
            break;
        }
        let next = f.at(ball.project(SparseVec::combine(1.0, y.point(), -step, &SparseVec::full(&g))));
        if f.value(&next) > f.value(&x) && t > 1.0 {
            (y, t) = (x.clone(), 1.0);
            continue;
        }
        let longer = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let momentum = (t - 1.0) / longer;
        y = Evaluated::combine(1.0 + momentum, &next, -momentum, &x);
        (x, t) = (next, longer);
    }
    proven
}

#[cfg(test)]
mod tests {
    use katoms::driver::{Options, Run, Stop};
    use katoms::method::FrankWolfe;

    use super::super::cohort::Cohort;
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn it_is_the_minimum_that_frank_wolfe_finds() {
        let genes: Vec<Vec<f64>> = (0..12).map(|j| katoms::simulate::gaussian(30, 1, j)).collect();
        let classes = (0..30).map(|i| f64::from(u8::from(genes[0][i] + 0.5 * genes[1][i] > 0.05))).collect();
        let cohort = Cohort::new("c".into(), true, genes, classes, &[(0..12).collect()]);
        let sample = Sample::new(&cohort, &(0..30).collect::<Vec<_>>(), true).unwrap();
        for (ridge, radius) in [(0.01, 0.5), (1.0, 2.0), (5.0, 100.0)] {
            let f = sample.problem(ridge).unwrap();
            let ball = L1Ball::new(radius, 12).unwrap();
            let stop = Stop { gap: 1e-8, iterations: 20_000, ..Stop::default() };
            let method = FrankWolfe::pairwise();
            let mut run = Run::new(&f, &ball, &method, Options { stop, ..Options::default() }).unwrap();
            while !run.is_done() {
                run.step();
            }
            let found = run.outcome_unchecked().objective;
            let least = minimum(&f, &ball, 1e-6);
            let start = f.value(&f.at(SparseVec::zero(12)));
            assert!(
                least <= found + 1e-9 && found - least < 1e-5 * (start - least),
                "{ridge} {radius}: {found} {least}"
            );
        }
    }
}
