//! Losses that are not quadratic, operators without norms.

use katoms::driver::Options;
use katoms::linalg::{self, Matrix, solve_symmetric};
use katoms::loss::{LeastSquares, Logistic};
use katoms::method::{AtomMethod, ForwardRegression, Method, Omp};
use katoms::operator::{LinearOperator, subsampled_dct};
use katoms::set::KSparse;
use katoms::space::{IndexSet, Point, SparseVec};
use katoms::{Error, Objective, Status, simulate};

use super::{Design, Explicit, Kept, overlapping};
use crate::planted::Planted;
use crate::runs::run;

#[test]
fn other_losses_are_refitted_by_newton() -> Result<(), Error> {
    for seed in 0..3 {
        let problem = Planted::new(300, 60, 3, 0.0, seed);
        let z: Vec<f64> = problem.target.iter().map(|v| 60.0 * v).collect();
        let a = problem.operator();
        let f = Objective::new(&a, Logistic::new(simulate::labels(&z, seed))?)?;
        let set = KSparse::new(3, 60)?;
        for (name, most) in [("omp", 4), ("forward-regression", 9), ("foba", 30), ("oblivious", 2)] {
            let found = run(&f, &set, &AtomMethod::named(name)?, Options::for_set(&set));
            let x = f.at(found.point.clone());
            let slope = f.gradient_on(&x, &found.point.support()).norm();
            assert!(slope < 1e-5 * f.value(&x), "{name}, seed {seed}: {slope:e}");
            assert_eq!((found.status, found.point.indices().len()), (Status::Converged, 3), "{name}");
            assert!(found.passes <= most, "{name}: {}", found.passes);
        }
    }
    Ok(())
}

/// ½·cᵀ(H_JJ − H_JS·H_SS⁻¹·H_SJ)⁻¹c of the coordinates J at a model with the support S.
fn second_order_gain(f: &Objective<&Design<'_>, Logistic>, design: &Matrix, x: &SparseVec, group: &[usize]) -> f64 {
    let (at, inside) = (f.at(x.clone()), x.indices());
    let free: Vec<usize> = group.iter().copied().filter(|j| !inside.contains(j)).collect();
    let h = f.curvature(&at).bound().to_vec();
    let entry = |i: usize, j: usize| {
        let curved: Vec<f64> = design.column(j).iter().zip(&h).map(|(v, h)| v * h).collect();
        linalg::dot(design.column(i), &curved) + if i == j { f.ridge_weight() } else { 0.0 }
    };
    let block =
        |left: &[usize], right: &[usize]| Matrix::from_fn(left.len(), right.len(), |a, b| entry(left[a], right[b]));
    let (own, across) = (block(inside, inside), block(inside, &free));
    let seen = (0..free.len()).flat_map(|b| solve_symmetric(&own, across.column(b))).collect();
    let seen = Matrix::from_columns(inside.len(), free.len(), seen);
    let schur = block(&free, &free).plus(-1.0, &across.transposed_times(&seen));
    let slopes = f.gradient_on(&at, &IndexSet::new(x.dim(), free)).values().to_vec();
    0.5 * linalg::dot(&slopes, &solve_symmetric(&schur, &slopes))
}

#[test]
fn forward_regression_makes_score_tests() -> Result<(), Error> {
    let mut problem = Explicit::new(2, 120, 18);
    problem.design.column_mut(0).fill(1.0); // kept: an intercept
    let z: Vec<f64> = (0..120).map(|i| 1.0 + 9.0 * problem.design.at(i, 5) - 9.0 * problem.design.at(i, 9)).collect();
    let a = problem.operator();
    let f = Objective::new(&a, Logistic::new(simulate::labels(&z, 2))?)?.ridge(0.01)?;
    let (catalogue, k) = (overlapping(), 4);
    let set = catalogue.set(k, 18);
    let mut state = ForwardRegression.start(&f, &set, SparseVec::zero(18))?;
    let mut chosen = Vec::new();
    for _ in 0..k {
        let x = Method::<&Design<'_>, Logistic, Kept>::query(&ForwardRegression, &state).clone();
        let free = (0..catalogue.groups.len()).filter(|g| !chosen.contains(g));
        let gain = |g: &usize| second_order_gain(&f, &problem.design, x.point(), &catalogue.groups[*g]);
        chosen.push(free.max_by(|a, b| gain(a).total_cmp(&gain(b))).expect("atoms are left"));
        let mut g = a.new_covector();
        f.gradient(&x, &mut g);
        ForwardRegression.advance(&f, &set, &mut state, &g);
        let now = Method::<&Design<'_>, Logistic, Kept>::query(&ForwardRegression, &state);
        assert_eq!(now.point().indices(), catalogue.support(&chosen));
    }
    Ok(())
}

/// A transform gives no norms: OMP does without, forward regression looks at each column.
#[test]
fn operators_without_norms_serve_too() -> Result<(), Error> {
    let dct = subsampled_dct(128, (0..60).map(|i| (37 * i) % 128).collect())?;
    let truth = simulate::sparse_signal(128, 4, 1);
    let mut y = vec![0.0; 60];
    dct.apply(&truth, &mut y);
    let f = Objective::new(&dct, LeastSquares::new(y)?)?;
    let set = KSparse::new(4, 128)?;
    for method in [Omp, ForwardRegression] {
        let found = run(&f, &set, &method, Options::for_set(&set));
        assert_eq!((found.point.indices(), found.passes), (truth.indices(), 4));
    }
    Ok(())
}
