//! How fast each method of the table gets to its minimum: gaps against passes, on one sparse problem and
//! on one matrix.

use std::ops::ControlFlow;

use katoms::driver::{Constraint, Options, solve};
use katoms::loss::Loss;
use katoms::method::table::{self, Problem};
use katoms::method::{
    AtomMethod, BlockDescent, Correction, Fista, FrankWolfe, Lasso, Method, RankMethod, SoftImpute, Twist,
};
use katoms::operator::LinearOperator;
use katoms::penalty::{GroupLasso, L1, Nuclear, Penalty};
use katoms::set::{KSparse, L1Ball, NuclearBall, Rank};
use katoms::space::{LowRank, Point};
use katoms::{Error, Objective, Stop, simulate};

use crate::problems::{self, Completion};

/// Gaps below this share of the start's are rounding.
pub const FLOOR: f64 = 1e-13;
/// The most passes that a curve shows.
pub const PASSES: usize = 1000;

/// (objective − minimum)/(objective at zero − minimum) after so many passes.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The method.
    pub name: String,
    /// (passes, gap), passes rising.
    pub points: Vec<(usize, f64)>,
}

impl Curve {
    /// The passes after which the gap stays at or below this.
    pub fn passes_to(&self, gap: f64) -> Option<usize> {
        let last_above = self.points.iter().rposition(|p| !(p.1 <= gap));
        self.points.get(last_above.map_or(0, |at| at + 1)).map(|p| p.0)
    }

    /// Whether another curve can hardly be told from this one: as far after as many passes, give or take two.
    pub fn covers(&self, other: &Self) -> bool {
        [1e-2, 1e-3, 1e-4].iter().all(|&gap| match (self.passes_to(gap), other.passes_to(gap)) {
            (Some(a), Some(b)) => a.abs_diff(b) <= 2,
            (a, b) => a == b,
        })
    }
}

/// Curves that share axes.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// One for each method, in the table's order.
    pub curves: Vec<Curve>,
}

/// Every panel: four families on one sparse problem, two problems on one matrix.
///
/// # Errors
/// When a method refuses its problem.
pub fn panels() -> Result<Vec<Panel>, Error> {
    let mut panels = sparse()?;
    panels.extend(matrix()?);
    Ok(panels)
}

/// 50 of 1000 coordinates from 300 rows without noise: the minimum over 50 atoms, and over the ball of the right
/// size, is zero. For the penalties it is that of the Lasso at a hundredth of its largest λ.
fn sparse() -> Result<Vec<Panel>, Error> {
    let problem = problems::neighbours(0)?;
    let f = problem.squares()?;
    let set = KSparse::new(50, problem.truth.dim())?;
    let greedy = ["oblivious", "omp", "forward-regression", "foba"];
    let (mut thresholding, mut one_by_one) = (Vec::new(), Vec::new());
    for entry in table::entries().iter().filter(|e| e.solves(Problem::Atoms)) {
        let curve = curve(entry.name, &f, &set, &AtomMethod::named(entry.name)?, 0.0)?;
        if greedy.contains(&entry.name) { one_by_one.push(curve) } else { thresholding.push(curve) }
    }
    one_by_one.insert(0, thresholding[0].clone());

    let ball = L1Ball::new(problem.truth.values().iter().map(|v| v.abs()).sum(), problem.truth.dim())?;
    let full = Correction::full();
    let frank_wolfe = vec![
        curve("frank-wolfe", &f, &ball, &FrankWolfe::default(), 0.0)?,
        curve("away-frank-wolfe", &f, &ball, &FrankWolfe::away(), 0.0)?,
        curve("pairwise-frank-wolfe", &f, &ball, &FrankWolfe::pairwise(), 0.0)?,
        curve("frank-wolfe, corrective", &f, &ball, &FrankWolfe { correction: full, ..FrankWolfe::default() }, 0.0)?,
        curve("pairwise, corrective", &f, &ball, &FrankWolfe { correction: full, ..FrankWolfe::pairwise() }, 0.0)?,
    ];

    let largest = L1::new(1.0, problem.truth.dim())?.polar(&gradient_at_zero(&f));
    let l1 = L1::new(0.01 * largest, problem.truth.dim())?;
    let singles =
        GroupLasso::new(l1.lambda(), problem.truth.dim(), (0..problem.truth.dim()).map(|j| vec![j]).collect())?;
    let least = minimum(&f, &l1, &Lasso::default(), 1e-14)?;
    let convex = vec![
        curve("lasso", &f, &l1, &Lasso::default(), least)?,
        curve("block-descent", &f, &singles, &BlockDescent::default(), least)?,
        curve("fista", &f, &l1, &Fista::default(), least)?,
        curve("twist", &f, &l1, &Twist::default(), least)?,
    ];
    let panel = |title: &str, curves| Panel { title: title.into(), curves };
    Ok(vec![
        panel("Hard thresholding: k atoms", thresholding),
        panel("Greedy: k atoms", one_by_one),
        panel("Frank-Wolfe: an l1 ball", frank_wolfe),
        panel("Convex: an l1 penalty", convex),
    ])
}

/// A matrix of 150 × 120 and rank 6 of which 40 % are seen, without noise.
fn matrix() -> Result<Vec<Panel>, Error> {
    let (left, right) = simulate::low_rank_factors(150, 120, 6, 0);
    let problem = Completion::new(LowRank::from_factors(&left, &right)?, 0.4, 0)?;
    let f = problem.squares()?;
    let set = Rank::new(6, (150, 120))?;
    let by_rank = table::entries().iter().filter(|e| e.solves(Problem::Rank));
    let by_rank = by_rank.map(|e| curve(e.name, &f, &set, &RankMethod::named(e.name)?, 0.0));
    let by_rank = by_rank.collect::<Result<Vec<_>, Error>>()?;

    let radius = problem.truth.singular_values().iter().sum();
    let ball = NuclearBall::new(radius, (150, 120))?;
    let largest = Nuclear::new(1.0, (150, 120))?.polar(&gradient_at_zero(&f));
    let nuclear = Nuclear::new(0.01 * largest, (150, 120))?;
    let least = minimum(&f, &nuclear, &Fista::default(), 1e-9)?;
    let by_norm = vec![
        curve("frank-wolfe (ball)", &f, &ball, &FrankWolfe::default(), 0.0)?,
        curve("soft-impute (penalty)", &f, &nuclear, &SoftImpute::default(), least)?,
        curve("fista (penalty)", &f, &nuclear, &Fista::default(), least)?,
    ];
    Ok(vec![
        Panel { title: "Completion: rank k".into(), curves: by_rank },
        Panel { title: "Completion: the nuclear norm".into(), curves: by_norm },
    ])
}

/// One run, from zero to the end of what can be seen.
fn curve<A, L, S, M>(name: &str, f: &Objective<A, L>, set: &S, method: &M, least: f64) -> Result<Curve, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let most = f.value(&f.at(A::Point::zero(f.operator().domain()))) - least;
    let stop = Stop { tolerance: 0.0, gap: FLOOR, passes: Some(PASSES), ..Stop::default() };
    let mut points = vec![(0, 1.0)];
    solve(f, set, method, Options { stop, ..Options::default() }, |event, _| {
        let gap = (event.objective - least) / most;
        points.push((event.passes, gap.max(FLOOR)));
        if gap <= FLOOR { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(Curve { name: name.into(), points })
}

/// The least objective, proven up to this share.
fn minimum<A, L, S, M>(f: &Objective<A, L>, set: &S, method: &M, gap: f64) -> Result<f64, Error>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let stop = Stop { gap, iterations: 5000, ..Stop::default() };
    let outcome = solve(f, set, method, Options { stop, ..Options::default() }, |_, _| ControlFlow::Continue(()))?;
    Ok(outcome.objective)
}

fn gradient_at_zero<A: LinearOperator, L: Loss>(f: &Objective<A, L>) -> A::Covector {
    let mut g = f.operator().new_covector();
    f.gradient(&f.at(A::Point::zero(f.operator().domain())), &mut g);
    g
}
