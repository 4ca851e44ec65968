//! The Lasso path, as a start for fits of k coordinates: minimise f(x) + λ·Σ √G_jj·|x_j| for falling λ.
//!
//! The weights √G_jj make the scale of a column decide nothing: with z_j = √G_jj·x_j and G brought to
//! a diagonal of ones, the penalty is λ‖z‖₁. Below, Gram matrix, gradient and point are those of z.
//!
//! Two loops, one in the other:
//!
//! * The *working set* W holds the coordinates that ever looked worth moving. The minimum over W is checked
//!   against the gradient in all coordinates; those with |gradient| > λ join W. Only they need a column
//!   of G, and the path halts to ask for it: [`Step::Needs`].
//! * The minimum over W is [`Working`]'s: exact, by active sets.

use super::Quadratic;
use crate::error::{Error, check_indices, check_option, check_range};
use crate::method::lasso::{Member, SLACK, Working};
use crate::space::SparseVec;

/// A λ_max below this share of the largest |b| is rounding: the free coordinates explain everything.
const NOTHING_LEFT: f64 = 1e-12;
/// Coordinates that W takes in, and columns that are asked for, in one go: as many at least.
const BATCH: usize = 8;
/// One column for this many coordinates of W is asked for ahead: late on the path few coordinates join
/// at each λ, and every one of these batches would be a pass. Chosen by counting passes and columns.
const AHEAD: usize = 4;

/// The λ of the path: a falling geometric sequence from λ_max, above which every penalised coordinate
/// is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    /// How many λ.
    pub(crate) count: usize,
    /// The last λ, as a share of λ_max.
    pub(crate) smallest: f64,
}

impl Default for Grid {
    fn default() -> Self {
        Self { count: 40, smallest: 1e-3 }
    }
}

impl Grid {
    fn lambda(&self, largest: f64, at: usize) -> f64 {
        largest * self.smallest.powf(at as f64 / (self.count.max(2) - 1) as f64)
    }
}

/// What came of going on along the path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// These columns of G are needed, or will be soon; until they are known the path stays where it is.
    Needs(Vec<usize>),
    /// The minimum at the next λ: its nonzeros and the free coordinates.
    Point {
        /// The weight of the penalty.
        lambda: f64,
        /// Where the minimum lies.
        x: SparseVec,
    },
    /// The grid is through, or there is nothing left to explain.
    Done,
}

/// A walk along the Lasso path of a [`Quadratic`] whose columns come when asked for.
#[derive(Debug, Clone)]
pub(crate) struct LassoPath {
    grid: Grid,
    /// λ_max, once the free coordinates are fitted.
    largest: Option<f64>,
    /// How many points are done.
    at: usize,
    /// √G_jj; 0 for coordinates that never enter.
    scales: Vec<f64>,
    /// Whether a coordinate carries no penalty.
    free: Vec<bool>,
    /// In all coordinates, at the last check.
    gradient: Vec<f64>,
    /// Coordinates on their way into the working set.
    pending: Vec<usize>,
    in_working: Vec<bool>,
    working: Working,
}

impl LassoPath {
    /// The path of q; `free` coordinates carry no penalty.
    ///
    /// # Errors
    /// When a free coordinate is outside, or the grid is empty or does not fall.
    pub(crate) fn new(q: &impl Quadratic, free: &[usize], grid: Grid) -> Result<Self, Error> {
        check_indices("free coordinate", free, q.dim())?;
        check_range("the number of λ", grid.count, 1, usize::MAX)?;
        check_option("smallest", grid.smallest, "it must lie between 0 and 1", |s| s > 0.0 && s < 1.0)?;
        let usable = |d: f64, b: f64| d > 0.0 && d.is_finite() && b.is_finite();
        let scale = |(&d, &b): (&f64, &f64)| if usable(d, b) { d.sqrt() } else { 0.0 };
        let scales: Vec<f64> = q.diagonal().iter().zip(q.linear()).map(scale).collect();
        let gradient = scales.iter().zip(q.linear()).map(|(&s, &b)| if s > 0.0 { -b / s } else { 0.0 }).collect();
        let mut pending: Vec<usize> = free.iter().copied().filter(|&j| scales[j] > 0.0).collect();
        pending.sort_unstable();
        pending.dedup();
        let free = {
            let mut free = vec![false; scales.len()];
            pending.iter().for_each(|&j| free[j] = true);
            free
        };
        let (in_working, working) = (vec![false; scales.len()], Working::default());
        Ok(Self { grid, largest: None, at: 0, scales, free, gradient, pending, in_working, working })
    }

    /// Goes on to the next λ, or to the next column that is missing.
    pub(crate) fn advance(&mut self, q: &impl Quadratic) -> Step {
        self.next_point(q).unwrap_or_else(Step::Needs)
    }

    /// `Err` with the columns that are missing.
    fn next_point(&mut self, q: &impl Quadratic) -> Result<Step, Vec<usize>> {
        let largest = match self.largest {
            Some(largest) => largest,
            None => self.fit_free(q)?,
        };
        if self.at == self.grid.count {
            return Ok(Step::Done);
        }
        if largest == 0.0 {
            // what is left is rounding, which no λ would hold at zero
            self.at = self.grid.count;
            return Ok(Step::Point { lambda: 0.0, x: self.point() });
        }
        let lambda = self.grid.lambda(largest, self.at);
        loop {
            self.admit(q)?;
            self.working.minimize(lambda);
            self.check(q)?;
            self.pending = self.violators(lambda);
            if self.pending.is_empty() {
                self.at += 1;
                return Ok(Step::Point { lambda, x: self.point() });
            }
        }
    }

    /// λ_max: the largest gradient where only the free coordinates are fitted.
    fn fit_free(&mut self, q: &impl Quadratic) -> Result<f64, Vec<usize>> {
        self.admit(q)?;
        self.working.minimize(f64::INFINITY);
        let before = self.gradient.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        self.check(q)?;
        let penalised = self.gradient.iter().zip(&self.in_working).filter(|(_, free)| !**free);
        let largest = penalised.fold(0.0_f64, |m, (g, _)| m.max(g.abs()));
        let largest = if largest > NOTHING_LEFT * before { largest } else { 0.0 };
        self.largest = Some(largest);
        Ok(largest)
    }

    /// Takes what is pending into the working set, all of it or, where a column is missing, none.
    fn admit(&mut self, q: &impl Quadratic) -> Result<(), Vec<usize>> {
        let missing: Vec<usize> = self.pending.iter().copied().filter(|&j| !q.knows(j)).collect();
        if !missing.is_empty() {
            return Err(self.with_likely_ones(q, missing));
        }
        for &j in &self.pending {
            if self.in_working[j] {
                continue;
            }
            let Some(column) = q.column(j) else { return Err(vec![j]) };
            let cross: Vec<f64> = self.working.members().iter().map(|&i| column[i]).collect();
            let price = if self.free[j] { 0.0 } else { self.scales[j] };
            let (square, linear) = (self.scales[j].powi(2), q.linear()[j]);
            self.working.admit(&[Member { coordinate: j, cross: &cross, square, linear, price }]);
            self.in_working[j] = true;
        }
        self.pending.clear();
        Ok(())
    }

    /// A pass that brings a few columns may as well bring those that will be asked for next: the ones
    /// with the largest gradients.
    fn with_likely_ones(&self, q: &impl Quadratic, missing: Vec<usize>) -> Vec<usize> {
        let few = BATCH.saturating_sub(missing.len()).max(self.working.members().len() / AHEAD);
        let count = missing.len().max(few);
        let mut taken = self.in_working.clone();
        self.pending.iter().for_each(|&j| taken[j] = true);
        let others = (0..taken.len()).filter(|&j| !taken[j] && self.gradient[j] != 0.0).collect();
        let likely = self.by_gradient(others).into_iter().filter(|&j| !q.knows(j));
        missing.into_iter().chain(likely.take(count)).collect()
    }

    /// The gradient in all coordinates, from the columns of those that are not zero.
    fn check(&mut self, q: &impl Quadratic) -> Result<(), Vec<usize>> {
        if let Some((j, _)) = self.working.entries().find(|&(j, _)| !q.knows(j)) {
            return Err(vec![j]);
        }
        let mut gradient = q.slopes_at(self.working.entries());
        for (g, &s) in gradient.iter_mut().zip(&self.scales) {
            *g = if s > 0.0 { -*g / s } else { 0.0 };
        }
        self.gradient = gradient;
        Ok(())
    }

    /// The strongest coordinates outside the working set that λ does not hold at zero: not more than
    /// double it.
    fn violators(&self, lambda: f64) -> Vec<usize> {
        let held = lambda * (1.0 + SLACK);
        let outside = (0..self.scales.len()).filter(|&j| self.gradient[j].abs() > held && !self.in_working[j]);
        let mut violators = self.by_gradient(outside.collect());
        violators.truncate(self.working.members().len().max(BATCH));
        violators
    }

    fn by_gradient(&self, mut coordinates: Vec<usize>) -> Vec<usize> {
        let size = |j: usize| self.gradient[j].abs();
        coordinates.sort_unstable_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        coordinates
    }

    fn point(&self) -> SparseVec {
        let mut entries: Vec<(usize, f64)> = self.working.entries().collect();
        entries.sort_unstable_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.scales.len(), indices, values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::explicit::Explicit;
    use super::*;
    use crate::linalg::kernels::axpy;
    use crate::linalg::{Matrix, top_k};
    use crate::simulate::{autoregressive, gaussian, noisy, sparse_signal};
    use proptest::prelude::*;

    /// The whole path, each point checked.
    fn path(q: &mut Explicit, free: &[usize], grid: Grid) -> Vec<(f64, SparseVec)> {
        let mut path = LassoPath::new(q, free, grid).unwrap();
        let mut points = Vec::new();
        loop {
            match path.advance(q) {
                Step::Needs(columns) => {
                    assert!(!columns.is_empty() && columns.iter().all(|&j| !q.known[j]), "{columns:?}");
                    q.fetch(&columns);
                }
                Step::Point { lambda, x } => {
                    assert_optimal(q, free, lambda, &x);
                    points.push((lambda, x));
                }
                Step::Done => return points,
            }
        }
    }

    /// The conditions that hold at the minimum of f(x) + λ‖Dx‖₁ and nowhere else.
    fn assert_optimal(q: &Explicit, free: &[usize], lambda: f64, x: &SparseVec) {
        let mut gradient: Vec<f64> = q.linear.iter().map(|b| -b).collect();
        x.entries().for_each(|(j, v)| axpy(v, q.gram.column(j), &mut gradient));
        let size = (0..q.dim()).filter(|&j| q.diagonal[j] > 0.0).map(|j| q.linear[j].abs() / q.diagonal[j].sqrt());
        let rounding = 1e-12 * size.fold(0.0, f64::max);
        for (j, g) in gradient.iter().enumerate().filter(|(j, _)| q.diagonal[*j] > 0.0) {
            let (g, value) = (g / q.diagonal[j].sqrt(), x.value_at(j));
            if free.contains(&j) {
                assert!(g.abs() <= 1e-6 * lambda + rounding, "free {j} at {lambda}: {g}");
            } else if value != 0.0 {
                assert!((g + lambda * value.signum()).abs() <= 1e-6 * lambda + rounding, "{j} at {lambda}: {g}");
            } else {
                assert!(g.abs() <= (1.0 + 1e-6) * lambda + rounding, "{j} at {lambda}: {g}");
            }
        }
    }

    fn matrix(rows: usize, columns: usize, data: Vec<f64>) -> Matrix {
        Matrix::from_columns(rows, columns, data)
    }

    /// k planted coordinates of size 1, and A times them.
    fn planted(a: &Matrix, k: usize, seed: u64) -> (SparseVec, Vec<f64>) {
        let signal = sparse_signal(a.columns(), k, seed).map(|_, v| v.signum());
        let mut y = vec![0.0; a.rows()];
        signal.entries().for_each(|(j, v)| axpy(v, a.column(j), &mut y));
        (signal, y)
    }

    #[test]
    fn columns_that_come_when_asked_for_give_the_same_path() {
        for (seed, correlation) in [(0, 0.0), (1, 0.9)] {
            let a = matrix(50, 120, autoregressive(50, 120, correlation, seed));
            let y = noisy(&planted(&a, 8, seed).1, 0.1, seed);
            let (mut asked, mut known) = (Explicit::unknown(&a, &y), Explicit::new(&a, &y, 0.0));
            let points = path(&mut asked, &[7], Grid::default());
            assert_eq!(points, path(&mut known, &[7], Grid::default()));
            assert_eq!(points.len(), Grid::default().count);
            assert_eq!(known.passes, 0);
        }
    }

    #[test]
    fn what_is_not_fetched_is_asked_for_again() {
        let a = matrix(20, 30, gaussian(20, 30, 3));
        let y = planted(&a, 3, 3).1;
        let q = Explicit::unknown(&a, &y);
        let mut path = LassoPath::new(&q, &[], Grid::default()).unwrap();
        assert!(matches!(path.advance(&q), Step::Point { x, .. } if x.indices().is_empty()));
        let needs = path.advance(&q);
        assert!(matches!(&needs, Step::Needs(columns) if columns.len() >= BATCH));
        assert_eq!(path.advance(&q), needs);
    }

    #[test]
    fn a_column_that_is_forgotten_is_asked_for_again() {
        let a = matrix(20, 30, gaussian(20, 30, 3));
        let mut q = Explicit::new(&a, &planted(&a, 3, 3).1, 0.0);
        let expected = path(&mut q, &[], Grid::default());
        let mut path = LassoPath::new(&q, &[], Grid::default()).unwrap();
        let mut points = Vec::new();
        loop {
            match path.advance(&q) {
                Step::Needs(columns) => q.fetch(&columns),
                Step::Point { lambda, x } => {
                    x.indices().first().into_iter().for_each(|&j| q.known[j] = false);
                    points.push((lambda, x));
                }
                Step::Done => break,
            }
        }
        assert!(q.passes > 0);
        assert_eq!(points, expected);
    }

    #[test]
    fn few_passes_bring_the_columns() {
        let a = matrix(200, 1000, gaussian(200, 1000, 0));
        for noise in [0.0, 0.1] {
            let mut q = Explicit::unknown(&a, &noisy(&planted(&a, 35, 0).1, noise, 0));
            let points = path(&mut q, &[], Grid::default());
            let (columns, nonzeros) = (q.known.iter().filter(|k| **k).count(), points[39].1.indices().len());
            assert!(q.passes <= 16 && columns <= 2 * nonzeros, "{} passes, {columns} for {nonzeros}", q.passes);
        }
    }

    #[test]
    fn nearly_parallel_columns_and_an_interpolating_end() {
        for seed in 0..3 {
            let a = matrix(60, 300, autoregressive(60, 300, 0.99, seed));
            let y = noisy(&planted(&a, 10, seed).1, 0.2, seed);
            let points = path(&mut Explicit::unknown(&a, &y), &[], Grid { count: 30, smallest: 1e-5 });
            assert!(points[29].1.indices().len() > 50);
        }
    }

    #[test]
    fn orthogonal_columns_are_soft_thresholded() {
        // columns of length 1, 2, 3, ... along the axes
        let a = Matrix::from_fn(9, 9, |i, j| if i == j { (j + 1) as f64 } else { 0.0 });
        let y = [3.0, -1.0, 0.5, 0.0, 2.0, -2.5, 0.1, 1.5, -0.01];
        for (lambda, x) in path(&mut Explicit::unknown(&a, &y), &[], Grid::default()) {
            for (j, &v) in y.iter().enumerate() {
                let expected = v.signum() * (v.abs() - lambda).max(0.0) / (j + 1) as f64;
                assert!((x.value_at(j) - expected).abs() < 1e-14, "{j} at {lambda}");
            }
        }
    }

    #[test]
    fn the_scale_of_a_column_or_of_y_decides_nothing() {
        let mut a = matrix(40, 60, gaussian(40, 60, 5));
        let y = noisy(&planted(&a, 6, 5).1, 0.05, 5);
        let plain = path(&mut Explicit::unknown(&a, &y), &[], Grid::default());
        let scales: Vec<f64> = (0..60).map(|j| [1e6, 1.0, 1e-6][j % 3]).collect();
        a.scale_columns(&scales);
        let big: Vec<f64> = y.iter().map(|v| 1e6 * v).collect();
        let scaled = path(&mut Explicit::unknown(&a, &big), &[], Grid::default());
        assert_eq!(plain.len(), scaled.len());
        for ((lambda, x), (big_lambda, big_x)) in plain.iter().zip(&scaled) {
            assert!((big_lambda / lambda / 1e6 - 1.0).abs() < 1e-12);
            assert_eq!(x.indices(), big_x.indices());
            for (j, v) in x.entries() {
                assert!((big_x.value_at(j) * scales[j] / 1e6 - v).abs() < 1e-8 * v.abs() + 1e-10, "{j} at {lambda}");
            }
        }
    }

    #[test]
    fn columns_that_are_zero_or_twice_there_do_no_harm() {
        let half = gaussian(30, 20, 6);
        let mut data = half.clone();
        data.extend(vec![0.0; 30]); //                  20: zero
        data.extend(&half); //                          21 to 40: the first ones again,
        data.extend(half.iter().map(|v| -2.0 * v)); //  41 to 60: and turned round
        let (once, a) = (matrix(30, 20, half), matrix(30, 61, data));
        let y = noisy(&planted(&once, 4, 6).1, 0.1, 6);
        let expected = path(&mut Explicit::unknown(&once, &y), &[], Grid::default());
        let found = path(&mut Explicit::unknown(&a, &y), &[], Grid::default());
        for ((_, expected), (lambda, x)) in expected.iter().zip(&found) {
            assert_eq!(x.value_at(20), 0.0);
            for j in 0..20 {
                let together = x.value_at(j) + x.value_at(21 + j) - 2.0 * x.value_at(41 + j);
                assert!((together - expected.value_at(j)).abs() < 1e-5, "{j} at {lambda}");
            }
        }
    }

    #[test]
    fn free_coordinates_are_fitted_at_every_point() {
        // a constant column makes the other columns of a positive design nearly parallel to it
        let mut data = vec![1.0; 40];
        data.extend(gaussian(40, 30, 8).iter().map(|v| v + 5.0));
        data.extend(vec![2.0; 40]); // depends on the first
        let a = matrix(40, 32, data);
        let y: Vec<f64> = (0..40).map(|i| 7.0 + a.at(i, 3) - a.at(i, 9)).collect();
        let points = path(&mut Explicit::unknown(&a, &y), &[31, 0, 0], Grid::default());
        assert_eq!(points[0].1.indices(), [0, 31]);
        let mean = y.iter().sum::<f64>() / 40.0;
        assert!((points[0].1.value_at(0) - mean).abs() < 1e-9, "{:?}", points[0]);
        let last = &points[points.len() - 1].1;
        assert!((last.value_at(3) - 1.0).abs() < 0.1 && (last.value_at(9) + 1.0).abs() < 0.1, "{last:?}");
    }

    #[test]
    fn nothing_to_explain_is_one_point() {
        let a = matrix(10, 5, gaussian(10, 5, 9));
        let none = path(&mut Explicit::unknown(&a, &[0.0; 10]), &[], Grid::default());
        assert_eq!(none, [(0.0, SparseVec::from_dense(&[0.0; 5]))]);
        let y: Vec<f64> = a.column(2).iter().map(|v| 3.0 * v).collect();
        let all = path(&mut Explicit::unknown(&a, &y), &[2], Grid::default());
        assert_eq!((all.len(), all[0].1.indices()), (1, &[2][..]));
        assert!((all[0].1.value_at(2) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn bad_options_are_named() {
        let q = Explicit::unknown(&matrix(10, 5, gaussian(10, 5, 9)), &[1.0; 10]);
        assert!(LassoPath::new(&q, &[5], Grid::default()).is_err());
        assert!(LassoPath::new(&q, &[], Grid { count: 0, ..Grid::default() }).is_err());
        for smallest in [0.0, 1.0, f64::NAN] {
            assert!(LassoPath::new(&q, &[], Grid { smallest, ..Grid::default() }).is_err());
        }
    }

    #[test]
    fn the_end_of_the_path_finds_planted_signs() {
        for seed in 0..5 {
            let a = matrix(200, 1000, gaussian(200, 1000, seed));
            let (signal, y) = planted(&a, 35, seed);
            let mut q = Explicit::unknown(&a, &y);
            let points = path(&mut q, &[], Grid::default());
            let x = points[points.len() - 1].1.to_dense();
            let weights: Vec<f64> = x.iter().zip(&q.diagonal).map(|(x, d)| x.abs() * d.sqrt()).collect();
            assert_eq!(top_k(&weights, 35), signal.indices(), "seed {seed}");
        }
    }

    proptest! {
        #[test]
        fn every_point_is_optimal_on_degenerate_designs(
            entries in prop::collection::vec(-2i8..3, 60),
            y in prop::collection::vec(-3i8..4, 5),
            free in prop::collection::vec(0usize..12, 0..3),
        ) {
            // five rows of small integers: ties, duplicates, zeros, and more columns than rows
            let a = matrix(5, 12, entries.into_iter().map(f64::from).collect());
            let y: Vec<f64> = y.into_iter().map(f64::from).collect();
            path(&mut Explicit::unknown(&a, &y), &free, Grid { count: 15, smallest: 1e-4 });
        }
    }
}
