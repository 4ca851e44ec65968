use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::loss::{LeastSquares, Logistic, Loss, Split};
use crate::operator::{AnyDesign, Csc, Dense, Layout};
use crate::select::Preparation;
use crate::set::KSparse;
use crate::space::Point;
use crate::{Fit, simulate};

/// Blocks of a matrix as a worker has them.
struct Held {
    grid: Grid,
    blocks: Vec<Vec<f32>>,
    is_sparse: bool,
}

impl Blocks for Held {
    fn design(&self, block: usize, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error> {
        let (rows, columns) = self.grid.ranges(block);
        let data = &self.blocks[block];
        if self.is_sparse {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for column in data.chunks(rows.len()) {
                for (i, v) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    indices.push(i as u32);
                    values.push(f64::from(*v));
                }
                starts.push(indices.len());
            }
            return Csc::new(rows.len(), columns.len(), starts, indices, values).map(AnyDesign::from);
        }
        Dense::with_layout(data.as_slice(), rows.len(), columns.len(), Layout::ColumnMajor, first).map(AnyDesign::from)
    }
}

/// Workers in this process; after some round trips they are gone.
struct Here {
    workers: Vec<Mutex<Worker<'static>>>,
    trips: AtomicUsize,
    last: usize,
}

impl Workers for Here {
    fn ask(&self, _: &str, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Vec<u8>>, Error> {
        if self.trips.fetch_add(1, Ordering::SeqCst) >= self.last {
            return Err(Error::Workers { message: "all workers are lost".into() });
        }
        let mut replies = vec![Vec::new(); tasks.len()];
        // The last worker answers first.
        for (at, worker) in self.workers.iter().enumerate().rev() {
            let own: Vec<usize> = (0..tasks.len()).filter(|&t| tasks[t].0 % self.workers.len() == at).collect();
            let asked: Vec<(usize, usize)> = own.iter().map(|&t| tasks[t]).collect();
            let answers = worker.lock().unwrap().reply(messages, &asked);
            own.into_iter().zip(answers).for_each(|(t, answer)| replies[t] = answer);
        }
        Ok(replies)
    }
}

/// Lengths of ranges: rows, columns.
type Cut<'a> = (&'a [usize], &'a [usize]);

fn here(x: &[f32], cut: Cut<'_>, workers: usize, is_sparse: bool) -> (Grid, Arc<Here>) {
    let grid = Grid::new(cut.0, cut.1).unwrap();
    let m = grid.n_rows();
    let block = |block| {
        let (rows, columns) = grid.ranges(block);
        columns.flat_map(|j| x[j * m..][rows.clone()].to_vec()).collect()
    };
    let blocks = (0..grid.count()).map(block).collect();
    let held: &'static Held = Box::leak(Box::new(Held { grid: grid.clone(), blocks, is_sparse }));
    let workers = (0..workers).map(|_| Mutex::new(Worker::new(held))).collect();
    (grid, Arc::new(Here { workers, trips: AtomicUsize::new(0), last: usize::MAX }))
}

fn distributed(x: &[f32], cut: Cut<'_>, workers: usize, first: Option<&FirstRead>) -> Distributed {
    let (grid, here) = here(x, cut, workers, false);
    Distributed::new(grid, here, first).unwrap()
}

fn near(a: &[f64], b: &[f64], size: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() <= 1e-10 * size, "{a} {b}"));
}

const CUTS: [Cut<'static>; 4] =
    [(&[60], &[90]), (&[60], &[40, 3, 47]), (&[13, 20, 27], &[90]), (&[31, 29], &[1, 44, 45])];

/// Every product is that of the whole matrix: to the bit where columns are whole, but for rounding where rows are cut.
#[test]
fn products_are_those_of_the_whole() {
    let (m, n) = (60, 90);
    let x = simulate::gaussian_f32(m, n, 1);
    let whole = Dense::column_major(&x, m, n).unwrap();
    let rs: Vec<Vec<f64>> = (0..3).map(|q| simulate::gaussian(m, 1, 10 + q)).collect();
    let views: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
    let t = IndexSet::new(n, vec![0, 2, 40, 41, 44, 89]);
    let point = SparseVec::new(n, vec![1, 43, 88], vec![1.0, -2.0, 0.5]).unwrap();
    let weights: Vec<f64> = (0..m).map(|i| (i % 3) as f64).collect();
    let parts = Parts::new((0..m).map(|i| if i < 20 { 0 } else { 1 + i % 2 }).collect(), 3).unwrap();
    for cut in CUTS {
        let a = distributed(&x, cut, 2, None);
        let exact = cut.0.len() == 1;
        let same = |a: &[f64], b: &[f64]| {
            near(a, b, 1.0);
            assert!(!exact || a == b);
        };
        let (mut found, mut expected) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
        a.adjoint_block(&views, &mut found);
        whole.adjoint_block(&views, &mut expected);
        found.iter().zip(&expected).for_each(|(a, b)| same(a, b));
        same(a.adjoint_on(&rs[0], &t).values(), whole.adjoint_on(&rs[0], &t).values());
        let block = a.adjoint_block_on(&views, &t).into_iter().zip(whole.adjoint_block_on(&views, &t));
        block.for_each(|(a, b)| near(a.values(), b.values(), 1.0));
        let (mut found, mut expected) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
        a.adjoint_parts(&parts, &views, &mut found);
        whole.adjoint_parts(&parts, &views, &mut expected);
        let pairs = found.iter().flatten().zip(expected.iter().flatten());
        pairs.for_each(|(a, b)| same(a, b));
        let (mut found, mut expected) = (vec![0.0; m], vec![0.0; m]);
        a.apply(&point, &mut found);
        whole.apply(&point, &mut expected);
        near(&found, &expected, 1.0);
        a.fetch(&point.support());
        a.apply(&point, &mut found);
        assert_eq!(found, expected, "columns that are near are added up as those of a whole matrix");
        a.fetch(&t);
        same(a.adjoint_on(&rs[1], &t).values(), whole.adjoint_on(&rs[1], &t).values());
        let (found, expected) = (a.moments(&weights), whole.moments(&weights));
        same(&found.means, &expected.means);
        same(&found.variances, &expected.variances);
        let centres = simulate::gaussian(n, 1, 3);
        for centres in [None, Some(centres.as_slice())] {
            let found = a.squared_norms(&[&weights], centres).unwrap();
            near(&found[0], &whole.squared_norms(&[&weights], centres).unwrap()[0], 1e3);
        }
        let g = simulate::gaussian(n, 1, 5);
        let (mut found, mut expected) = (vec![0.0; m], vec![0.0; m]);
        a.apply_covector(&g, &mut found);
        whole.apply_covector(&g, &mut expected);
        near(&found, &expected, 10.0);
    }
}

/// What fits say, and how many round trips they took.
fn fitted(design: &AnyDesign<'_>, y: &[f64], classes: bool, k: usize) -> (Vec<usize>, Vec<f64>, f64) {
    let rows = (0..y.len()).collect();
    let set = KSparse::new(k, design.domain()).unwrap();
    let preparation = Preparation::default();
    let outcome = if classes {
        let f = preparation.objective(design, &Logistic::new(y.to_vec()).unwrap(), rows).unwrap();
        let set = preparation.set(&set, f.loss()).unwrap();
        Fit::new(&f, &set).run().unwrap()
    } else {
        let f = preparation.objective(design, &LeastSquares::new(y.to_vec()).unwrap(), rows).unwrap();
        let set = preparation.set(&set, f.loss()).unwrap();
        Fit::new(&f, &set).run().unwrap()
    };
    (outcome.point.indices().to_vec(), outcome.point.values().to_vec(), outcome.objective)
}

/// Any number of workers gives the same bits; any cut the support of the whole matrix.
#[test]
fn a_fit_does_not_depend_on_the_workers() {
    let (m, n, k) = (60, 90, 5);
    let x = simulate::gaussian_f32(m, n, 1);
    let mut z = simulate::gaussian(m, 1, 2);
    for (at, j) in [3, 41, 42, 60, 89].into_iter().enumerate() {
        let column = &x[j * m..][..m];
        z.iter_mut().zip(column).for_each(|(z, x)| *z = 0.5 * *z + (1.0 + at as f64) * 10.0 * f64::from(*x));
    }
    let classes: Vec<f64> = z.iter().map(|z| f64::from(u8::from(*z > 0.0))).collect();
    for (y, is_classes) in [(&z, false), (&classes, true)] {
        let first = match is_classes {
            true => FirstRead::of(&Logistic::new(y.clone()).unwrap(), true),
            false => FirstRead::of(&LeastSquares::new(y.clone()).unwrap(), true),
        };
        let whole = Dense::with_layout(&x[..], m, n, Layout::ColumnMajor, Some(&first)).unwrap().into();
        let expected = fitted(&whole, y, is_classes, k);
        for cut in CUTS {
            let found: Vec<_> = [1, 2, 3]
                .into_iter()
                .map(|workers| fitted(&distributed(&x, cut, workers, Some(&first)).into(), y, is_classes, k))
                .collect();
            assert!(found.iter().all(|one| *one == found[0]), "{cut:?}");
            assert_eq!(found[0].0, expected.0, "{cut:?}");
            near(&[found[0].2], &[expected.2], expected.2.max(1.0));
        }
    }
}

/// Zeros that nobody stores are zeros.
#[test]
fn sparse_blocks_fit_as_dense_ones() {
    let (m, n) = (60, 90);
    let x: Vec<f32> = simulate::gaussian_f32(m, n, 1).iter().map(|v| if v.abs() > 0.1 { *v } else { 0.0 }).collect();
    let y: Vec<f64> = x[7 * m..8 * m].iter().zip(&x[50 * m..]).map(|(a, b)| f64::from(a - 2.0 * b)).collect();
    let first = FirstRead::of(&LeastSquares::new(y.clone()).unwrap(), true);
    for cut in CUTS {
        let (grid, here) = here(&x, cut, 2, true);
        let sparse = Distributed::new(grid, here, Some(&first)).unwrap().into();
        let (support, values, _) = fitted(&sparse, &y, false, 2);
        let (other, expected, _) = fitted(&distributed(&x, cut, 2, Some(&first)).into(), &y, false, 2);
        assert_eq!((&support[..2], &support), (&[7, 50][..], &other));
        near(&values, &expected, 1.0);
    }
}

/// Blocks of a wide design sample the rows that the whole samples.
#[test]
fn blocks_sample_the_rows_of_the_whole() {
    let (m, n) = (512, 20_000);
    let x = simulate::gaussian_f32(m, n, 4);
    let y = simulate::gaussian(m, 1, 5);
    let first = FirstRead::of(&LeastSquares::new(y.clone()).unwrap(), true);
    let whole = Dense::with_layout(&x[..], m, n, Layout::ColumnMajor, Some(&first)).unwrap();
    let a = distributed(&x, (&[512], &[7000, 300, 12_700]), 2, Some(&first));
    let sampled = whole.sampled_rows().unwrap();
    assert_eq!(a.sampled_rows(), Some(sampled));
    let r: Vec<f64> = y.iter().enumerate().map(|(i, y)| if sampled.contains(i) { *y } else { 0.0 }).collect();
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    a.adjoint_sampled(&r, &mut found);
    whole.adjoint_sampled(&r, &mut expected);
    assert_eq!(found, expected);
}

#[test]
fn what_is_wrong_with_a_block_is_told_with_its_place() {
    let mut x = simulate::gaussian_f32(60, 90, 1);
    x[41 * 60 + 35] = f32::NAN;
    for cut in CUTS {
        let (grid, here) = here(&x, cut, 2, false);
        let told = Distributed::new(grid, here, None).unwrap_err();
        assert!(matches!(told, Error::NotFinite { row: 35, column: 41, .. }), "{told}");
    }
    let x = simulate::gaussian_f32(60, 90, 1);
    let (_, here) = here(&x, (&[30, 30], &[30, 60]), 2, false);
    let told = Distributed::new(Grid::new(&[30, 30], &[60, 30]).unwrap(), here, None).unwrap_err().to_string();
    assert!(told.contains("block 0 (rows 0 to 29, columns 0 to 59) has 30 rows and 30 columns"), "{told}");
    assert!(Grid::new(&[3, 0], &[1]).unwrap_err().to_string().contains("range 1 of the rows"));
    assert!(Grid::new(&[], &[1]).is_err());
}

/// A column that is small on some rows and not on others is fit for a fit; one that is small everywhere is not.
#[test]
fn magnitudes_are_those_of_whole_columns() {
    let mut x = simulate::gaussian_f32(60, 90, 1);
    x[60..90].fill(0.0);
    let a = distributed(&x, (&[30, 30], &[90]), 2, None);
    assert!(a.extremes().is_empty());
}

/// Workers that are lost end a fit soon, and nothing that is no number is called an answer.
#[test]
fn workers_that_are_lost_end_a_fit() {
    let (m, n) = (60, 90);
    let x = simulate::gaussian_f32(m, n, 1);
    let y = simulate::gaussian(m, 1, 2);
    for last in 0..6 {
        let (grid, all) = here(&x, (&[60], &[45, 45]), 2, false);
        let here: Here = Arc::into_inner(all).unwrap();
        let workers = Arc::new(Here { last, ..here });
        let first = FirstRead::of(&LeastSquares::new(y.clone()).unwrap(), true);
        let design = match Distributed::new(grid, Arc::<Here>::clone(&workers), Some(&first)) {
            Ok(design) => design,
            Err(error) => {
                assert!(last == 0 && error.to_string() == "all workers are lost");
                continue;
            }
        };
        let (_, _, objective) = fitted(&design.into(), &y, false, 3);
        assert!(workers.trips.load(Ordering::SeqCst) <= last + 1, "nobody is asked again");
        assert!(objective.is_nan() || objective.is_finite());
    }
}

/// Few rows say of every model what many rows say: whole, by folds, weighted, with constant and nearly equal columns.
#[test]
fn few_rows_stand_for_many() {
    let (m, n) = (1200, 7);
    let mut x = simulate::gaussian_f32(m, n, 1);
    x[m..2 * m].fill(3.0);
    let near: Vec<f32> = x[..m].iter().zip(&x[2 * m..]).map(|(a, b)| 1000.0 + a + 1e-3 * b).collect();
    x[3 * m..4 * m].copy_from_slice(&near);
    let y: Vec<f64> = simulate::gaussian(m, 1, 2).iter().zip(&x[4 * m..]).map(|(e, x)| e + f64::from(*x)).collect();
    let weights: Vec<f64> = (0..m).map(|i| (i % 4) as f64).collect();
    let labels: Vec<usize> = (0..m).map(|i| i * 7 % 3).collect();
    let plain = LeastSquares::new(y.clone()).unwrap();
    let weighted = plain.clone().weighted(weights).unwrap();
    let models: Vec<(SparseVec, f64)> =
        (0..20).map(|seed| (SparseVec::from_dense(&simulate::gaussian(n, 1, seed)), seed as f64 - 5.0)).collect();
    for (loss, labels) in [(&plain, None), (&weighted, None), (&plain, Some(&labels[..])), (&weighted, Some(&labels))] {
        for cut in [&[m][..], &[300, 1, 899]] {
            let (grid, workers) = here(&x, (cut, &[n]), 2, false);
            let workers: Arc<dyn Workers> = workers;
            let few = Condensed::new(&grid, &workers, loss, labels).unwrap().unwrap();
            assert!(few.loss.n_rows() <= 2 * (n + 1) * 3);
            let whole = Dense::column_major(&x[..], m, n).unwrap();
            for part in 0..labels.map_or(1, |_| 3) {
                let own = |all: &[usize]| (0..all.len()).filter(|&i| all[i] == part).collect::<Vec<usize>>();
                let (many_rows, few_rows) = (labels.map_or((0..m).collect(), own), own(&few.labels));
                let (many, short) = (loss.subset(&many_rows).unwrap(), few.loss.subset(&few_rows).unwrap());
                assert_eq!(many.observations(), short.observations());
                for (model, constant) in &models {
                    let value = |design: &Dense<'_, _>, rows: &[usize], loss: &LeastSquares| {
                        let mut z = vec![0.0; design.n_outputs()];
                        design.apply(model, &mut z);
                        loss.value(&rows.iter().map(|&i| z[i] + constant).collect::<Vec<f64>>())
                    };
                    let expected = {
                        let mut z = vec![0.0; m];
                        whole.apply(model, &mut z);
                        many.value(&many_rows.iter().map(|&i| z[i] + constant).collect::<Vec<f64>>())
                    };
                    let found = value(&few.design, &few_rows, &short);
                    assert!((found - expected).abs() <= 1e-9 * expected, "{found} {expected}");
                }
            }
        }
    }
    let (grid, workers) = here(&x[..60 * n], (&[60], &[n]), 1, false);
    let workers: Arc<dyn Workers> = workers;
    let short = LeastSquares::new(y[..60].to_vec()).unwrap();
    assert!(Condensed::new(&grid, &workers, &short, None).unwrap().is_none(), "few rows stay as they are");
    x[5 * m + 700] = f32::INFINITY;
    let (grid, workers) = here(&x, (&[600, 600], &[n]), 2, false);
    let workers: Arc<dyn Workers> = workers;
    let told = Condensed::new(&grid, &workers, &plain, None).unwrap_err();
    assert!(matches!(told, Error::NotFinite { row: 700, column: 5, .. }), "{told}");
}
