use super::*;
use crate::search::quadratic::Terms;
use crate::search::sweep::DEPENDENT;

/// A quadratic whose Gram matrix is written out.
struct Gram<'a> {
    gram: &'a [f64],
    terms: Terms,
}

impl<'a> Gram<'a> {
    fn new(gram: &'a [f64], linear: &[f64], constant: f64) -> Self {
        let diagonal = gram.iter().step_by(linear.len() + 1).copied().collect();
        Self { gram, terms: Terms { linear: linear.to_vec(), diagonal, constant } }
    }
}

impl Quadratic for Gram<'_> {
    fn terms(&self) -> &Terms {
        &self.terms
    }
    fn column(&self, j: usize) -> &[f64] {
        &self.gram[j * self.dim()..][..self.dim()]
    }
    fn block(&self, _: usize, _: &[usize]) -> Vec<f64> {
        Vec::new()
    }
}

/// The best support beside some coordinates.
fn best(q: &Gram<'_>, kept: &[usize], k: usize, start: &[usize], budget: f64) -> Option<Proven> {
    best_subset(q, &IndexSet::new(q.dim(), kept.to_vec()), k, start, budget)
}

fn scaled(q: &Gram<'_>, kept: &[usize]) -> Scaled {
    Scaled::new(q, &IndexSet::new(q.dim(), kept.to_vec()))
}

/// Columns and a target.
struct Data {
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
}

/// xorshift64*.
struct Draws(u64);

impl Draws {
    fn new(seed: u64) -> Self {
        let mut draws = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            draws.uniform();
        });
        draws
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Bates's approximation to a normal variable.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn vector(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.normal()).collect()
    }

    fn data(&mut self, rows: usize, n: usize) -> Data {
        let columns: Vec<Vec<f64>> = (0..n).map(|_| self.vector(rows)).collect();
        let mut y = self.vector(rows);
        for (j, column) in columns.iter().enumerate().filter(|(j, _)| j % 3 == 1) {
            let weight = 0.7 - 0.1 * j as f64;
            y.iter_mut().zip(column).for_each(|(y, a)| *y += weight * a);
        }
        Data { columns, y }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Data {
    /// As if there were a row √ridge·e_j for each column.
    fn with_ridge(mut self, ridge: f64) -> Self {
        let n = self.columns.len();
        for (j, column) in self.columns.iter_mut().enumerate() {
            column.extend((0..n).map(|i| if i == j { ridge.sqrt() } else { 0.0 }));
        }
        self.y.extend(vec![0.0; n]);
        self
    }

    /// Columns in other units.
    fn scaled(mut self, draws: &mut Draws) -> Self {
        for column in &mut self.columns {
            let unit = 10_f64.powf(12.0 * draws.uniform() - 6.0);
            column.iter_mut().for_each(|a| *a *= unit);
        }
        self
    }

    fn gram(&self) -> (Vec<f64>, Vec<f64>, f64) {
        let gram = self.columns.iter().flat_map(|a| self.columns.iter().map(move |b| dot(a, b))).collect();
        (gram, self.columns.iter().map(|a| dot(a, &self.y)).collect(), 0.5 * dot(&self.y, &self.y))
    }

    /// Half the squared residual after some columns, by Gram-Schmidt on the columns themselves, twice.
    fn objective(&self, support: &[usize]) -> f64 {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let project = |v: &mut Vec<f64>, basis: &[Vec<f64>]| {
            for e in basis.iter().chain(basis) {
                let along = dot(v, e);
                v.iter_mut().zip(e).for_each(|(v, e)| *v -= along * e);
            }
        };
        for &j in support {
            let mut v = self.columns[j].clone();
            project(&mut v, &basis);
            let norm = dot(&v, &v);
            if norm > DEPENDENT * dot(&self.columns[j], &self.columns[j]) {
                basis.push(v.iter().map(|v| v / norm.sqrt()).collect());
            }
        }
        let mut y = self.y.clone();
        project(&mut y, &basis);
        0.5 * dot(&y, &y)
    }

    /// The least objective of all supports, each solved.
    fn least(&self, kept: &[usize], k: usize) -> f64 {
        let free: Vec<usize> = (0..self.columns.len()).filter(|j| !kept.contains(j)).collect();
        let mut least = f64::INFINITY;
        every(&free, k.min(free.len()), &mut kept.to_vec(), &mut |support| least = least.min(self.objective(support)));
        least
    }

    /// That what is found is feasible, has the value that is said, and that no support has a lower one: as a whole, by
    /// a scan alone and by the tree alone. Where rounding decides there may be no answer.
    fn check_unless(&self, refusable: bool, kept: &[usize], k: usize) {
        let (gram, linear, constant) = self.gram();
        let q = Gram::new(&gram, &linear, constant);
        let about = format!("n = {}, rows = {}, k = {k}, kept = {kept:?}", linear.len(), self.y.len());
        let least = self.least(kept, k);
        let k = k.min(linear.len() - kept.len());
        let scaled = scaled(&q, kept);
        let root = scaled.root();
        let nothing = || Best::new(&scaled, Vec::new());
        let by_scan = proven(&scaled, &root, scaled.scan(&root, k, nothing()), 0.0);
        let by_tree = tree(&scaled, &root, k, nothing(), 1e9).and_then(|best| proven(&scaled, &root, best, 0.0));
        let whole = best(&q, kept, k, &[], 1e9);
        assert!(whole.is_some() || refusable, "nothing for {about}");
        for found in by_tree.iter().chain(&by_scan).chain(&whole) {
            assert!(found.support.len() <= k && found.support.is_sorted(), "{found:?}, {about}");
            assert!(found.support.iter().all(|j| !kept.contains(j)), "{found:?}, {about}");
            let own = self.objective(&[kept, &found.support].concat());
            assert!((found.objective - own).abs() <= 1e-9 * constant, "{found:?} is {own}, {about}");
            assert!(found.objective <= least + 1e-9 * constant, "{found:?} instead of {least}, {about}");
        }
    }

    fn check(&self, kept: &[usize], k: usize) {
        self.check_unless(false, kept, k);
    }
}

/// Calls something with each choice of k more.
fn every(of: &[usize], k: usize, chosen: &mut Vec<usize>, then: &mut impl FnMut(&[usize])) {
    if k == 0 {
        return then(chosen);
    }
    for at in 0..=of.len() - k {
        chosen.push(of[at]);
        every(&of[at + 1..], k - 1, chosen, then);
        chosen.pop();
    }
}

#[test]
fn is_the_best_of_all_on_tall_wide_and_scaled_data() {
    for seed in 0..12 {
        let draws = &mut Draws::new(seed);
        for (rows, n) in [(20, 9), (30, 12), (5, 11), (3, 8), (12, 12), (1, 4), (7, 1)] {
            let data = draws.data(rows, n).scaled(draws);
            for k in 0..=5.min(n) {
                data.check(&[], k);
            }
            data.check(&[], n);
            data.check(&[], n - 1);
        }
    }
}

/// More coordinates than a register, a block of prefixes and a task's rows hold.
#[test]
fn is_the_best_of_many() {
    for seed in 50..53 {
        let draws = &mut Draws::new(seed);
        for (rows, n, k) in [(9, 150, 2), (150, 151, 2), (8, 41, 3), (60, 35, 3), (7, 20, 4), (40, 21, 4), (25, 17, 7)]
        {
            let data = draws.data(rows, n).scaled(draws);
            data.check(&[], k);
            data.check(&[n / 2], k - 1);
        }
    }
}

#[test]
fn is_the_best_with_what_is_kept_and_with_a_ridge() {
    for seed in 100..108 {
        let draws = &mut Draws::new(seed);
        for (rows, n, ridge) in [(20, 10, 0.0), (6, 11, 0.3), (6, 10, 0.0), (25, 9, 2.0)] {
            let mut data = draws.data(rows, n);
            data.columns[2].fill(1.0);
            let data = if ridge > 0.0 { data.with_ridge(ridge) } else { data.scaled(draws) };
            for k in 0..=4 {
                data.check(&[2], k);
                data.check(&[2, 5, 7], k);
            }
        }
    }
}

/// Duplicates, zeros, sums, and columns whose small differences make the target.
fn collinear(draws: &mut Draws, rows: usize, small: f64) -> Data {
    let mut data = draws.data(rows, 10);
    data.columns[3] = data.columns[1].iter().map(|a| -2.0 * a).collect();
    data.columns[6].fill(0.0);
    data.columns[8] = data.columns[0].iter().zip(&data.columns[4]).map(|(a, b)| a + b).collect();
    let other = draws.vector(rows);
    data.columns[9] = data.columns[5].iter().zip(&other).map(|(a, b)| a + small * b).collect();
    data.y.iter_mut().zip(&other).for_each(|(y, b)| *y += 3.0 * b);
    data
}

#[test]
fn is_the_best_of_columns_that_depend_on_each_other() {
    for seed in 200..212 {
        let draws = &mut Draws::new(seed);
        for (rows, small) in [(20, 0.1), (20, 1e-2), (20, 1e-3), (20, 1e-4), (20, 1e-8), (6, 1e-2), (3, 1e-2)] {
            // The squares of these, 1e-6 and 1e-8 of G_jj, have lost too many digits, or nearly so.
            let uncertain = (1e-5..5e-3).contains(&small);
            let data = collinear(draws, rows, small);
            let data = if seed % 2 == 0 { data.scaled(draws) } else { data };
            for k in 0..=5 {
                data.check_unless(uncertain, &[], k);
                data.check_unless(uncertain, &[8], k);
            }
            data.check_unless(uncertain, &[], 10);
        }
        collinear(draws, 20, 1e-4).with_ridge(0.01).check(&[], 3);
    }
}

/// A problem that is not small: what rows, columns and a k.
fn gram_of(seed: u64, rows: usize, n: usize) -> (Vec<f64>, Vec<f64>, f64) {
    Draws::new(seed).data(rows, n).gram()
}

#[test]
fn of_two_that_tie_has_smaller_indices() {
    for ridge in [0.0, 0.5] {
        let mut data = Draws::new(300).data(30, 12);
        data.y.iter_mut().zip(&data.columns[9]).for_each(|(y, a)| *y += 5.0 * a);
        data.columns[2] = data.columns[9].iter().map(|a| 3.0 * a).collect();
        if ridge > 0.0 {
            data.columns[2] = data.columns[9].clone();
            data = data.with_ridge(ridge);
        }
        let (gram, linear, constant) = data.gram();
        let q = Gram::new(&gram, &linear, constant);
        let scaled = scaled(&q, &[]);
        let root = scaled.root();
        for k in 1..=4 {
            let with_nine = best(&q, &[], k, &[9], 1e9).map(|found| found.support);
            assert_eq!(with_nine, best(&q, &[], k, &[], 1e9).map(|found| found.support));
            assert!(with_nine.is_some_and(|support| support.contains(&2)), "k = {k}");
            let found = tree(&scaled, &root, k, Best::new(&scaled, vec![9]), 1e9);
            let found = found.and_then(|best| proven(&scaled, &root, best, 0.0));
            assert!(found.is_some_and(|found| found.support.contains(&2)), "k = {k}");
        }
    }
}

#[test]
fn does_not_hold_what_brings_nothing() {
    let mut data = Draws::new(310).data(20, 6);
    data.y = data.columns[4].iter().zip(&data.columns[1]).map(|(a, b)| a - 2.0 * b).collect();
    let (gram, linear, constant) = data.gram();
    let q = Gram::new(&gram, &linear, constant);
    for k in 2..=6 {
        let found = best(&q, &[], k, &[], 1e9);
        assert_eq!(found.map(|found| found.support), Some(vec![1, 4]), "k = {k}");
    }
}

#[test]
fn a_perfect_fit_holds_what_it_needs() {
    let mut data = Draws::new(320).data(2, 6);
    data.y = data.columns[0].iter().map(|a| 2.0 * a).collect();
    let (gram, linear, constant) = data.gram();
    let q = Gram::new(&gram, &linear, constant);
    let scaled = scaled(&q, &[]);
    let any = proven(&scaled, &scaled.root(), Best::new(&scaled, vec![3, 4]), 15.0);
    for found in [best(&q, &[], 2, &[], 1e9), best(&q, &[], 2, &[3, 4], 1e9), any] {
        assert_eq!(found.map(|found| (found.support, found.subsets)), Some((vec![0], 15.0)));
    }
}

#[test]
fn the_tree_finds_the_same_with_any_budget() {
    let mut tried = 0;
    for seed in 410..440 {
        let (gram, linear, constant) = gram_of(seed, 40, 26);
        let q = Gram::new(&gram, &linear, constant);
        let scaled = scaled(&q, &[]);
        let root = scaled.root();
        let found = |budget: f64| tree(&scaled, &root, 7, Best::new(&scaled, Vec::new()), budget);
        let support = found(1e9).map(|best| best.support);
        // The budgets that are hardly enough.
        for best in (60..100).filter_map(|step| found(1.2_f64.powi(step))).take(3) {
            tried += 1;
            assert_eq!(Some(best.support), support, "seed {seed}");
        }
    }
    assert_eq!(tried, 90);
}

#[test]
fn does_not_depend_on_threads_or_the_start() {
    let problems = [(60, 130, 2), (12, 90, 3), (15, 40, 4), (100, 36, 8), (90, 30, 12)];
    for (seed, (rows, n, k)) in problems.into_iter().enumerate() {
        let (gram, linear, constant) = gram_of(400 + seed as u64, rows, n);
        let q = Gram::new(&gram, &linear, constant);
        let on = |threads: usize, budget: f64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| best(&q, &[3], k, &[], budget))
        };
        let found = on(1, 1e9);
        assert!(found.is_some());
        assert_eq!(found, on(2, 1e9));
        assert_eq!(found, on(3, 1e9));
        let poor: Vec<usize> = (n - k..n).collect();
        assert_eq!(found, best(&q, &[3], k, &poor, 1e9));
        assert_eq!(found, best(&q, &[3], k, found.as_ref().map_or(&[], |found| &found.support[..]), 1e9));
        for budget in (3..27).map(|exponent| 2_f64.powi(exponent)) {
            assert_eq!(on(1, budget), on(2, budget), "budget {budget}");
        }
    }
}

#[test]
fn a_budget_refuses() {
    // Nothing of this is looked at.
    let (gram, linear) = (vec![0.0; 3000 * 3000], vec![1.0; 3000]);
    let q = Gram::new(&gram, &linear, 1.0);
    assert_eq!(best(&q, &[], 10, &[], 1e12), None);
    assert_eq!(best(&q, &[], 1500, &[], 1e12), None);
    let (gram, linear, constant) = gram_of(500, 10, 60);
    let q = Gram::new(&gram, &linear, constant);
    assert_eq!(best(&q, &[], 3, &[], 3e4), None);
    assert_eq!(best(&q, &[], 3, &[], 1e6).map(|found| found.subsets), Some(34220.0));
    // By the tree: the scan would compare 1e8.
    let (gram, linear, constant) = gram_of(501, 100, 30);
    let q = Gram::new(&gram, &linear, constant);
    assert_eq!(best(&q, &[], 12, &[], 2e4), None);
    assert_eq!(best(&q, &[0], 12, &[], 2e7).map(|found| found.subsets), Some(51_895_935.0));
}

#[test]
fn looks_at_what_it_is_given() {
    let (gram, linear, constant) = gram_of(600, 20, 5);
    let q = Gram::new(&gram, &linear, constant);
    let found = best(&q, &[1], 2, &[], 1e6);
    assert!(found.is_some());
    assert_eq!(found, best(&q, &[1, 1], 2, &[], 1e6));
    assert_eq!(found, best(&q, &[1], 2, &[77, 2], 1e6));
    assert_eq!(found, best(&q, &[1], 2, &[1, 1], 1e6));
    assert_eq!(found, best(&q, &[1], 2, &[0, 2, 3], 1e6));
    assert_eq!(best(&q, &[], 9, &[], 1e6), best(&q, &[], 5, &[], 1e6));
    let none = best(&Gram::new(&[], &[], 2.0), &[], 3, &[], 1.0);
    assert_eq!(none, Some(Proven { support: Vec::new(), objective: 2.0, subsets: 1.0 }));
    assert_eq!(best(&Gram::new(&gram, &[f64::NAN; 5], constant), &[], 2, &[], 1e6), None);
    assert_eq!(best(&Gram::new(&gram, &linear, f64::INFINITY), &[], 2, &[], 1e6), None);
    let flat = best(&Gram::new(&gram, &[0.0; 5], constant), &[], 2, &[], 1e6);
    assert_eq!(flat.map(|found| found.support), Some(Vec::new()));
}
