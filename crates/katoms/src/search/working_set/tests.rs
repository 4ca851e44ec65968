use super::*;
use crate::loss::{LeastSquares, Logistic, Multinomial};
use crate::objective::Objective;
use crate::operator::{Dense, PerOutput, WithIntercept};
use crate::simulate::{gaussian, labels};
use crate::space::Point;

/// Every entry of the quadratic on a set against its definition.
fn check(f: &dyn Problem, x: &Evaluated<SparseVec>, q: &LocalModel<'_>, design: &[f64], ridge: f64) {
    let (rows, h, r) = (f.rows(), f.curvature(x).bound().to_vec(), f.residual(x));
    let column = |place: usize| &design[q.set.coordinates[place] * rows..][..rows];
    for j in 0..q.dim() {
        let pushed = |i: usize| column(j)[i] * (h[i] * x.image()[i] - r[i]);
        let linear: f64 = (0..rows).map(pushed).sum();
        assert!((q.linear()[j] - linear).abs() < 1e-10 * (1.0 + linear.abs()));
        for i in 0..q.dim() {
            let entry: f64 = (0..rows).map(|row| column(i)[row] * h[row] * column(j)[row]).sum();
            let entry = entry + if i == j { ridge } else { 0.0 };
            assert!((q.column(j)[i] - entry).abs() < 1e-10 * (1.0 + entry.abs()), "({i}, {j})");
        }
        assert_eq!(q.column(j)[j], q.diagonal()[j]);
    }
}

#[test]
fn a_set_that_grows_has_the_quadratic_of_its_atoms() {
    let (rows, n) = (30, 20);
    let design = gaussian(rows, n, 1);
    let atoms = Atoms::groups(&[vec![3], vec![7, 2], vec![11], vec![19, 0, 5], vec![4]], false);
    let kept = IndexSet::new(n, vec![9]);
    let x = SparseVec::new(n, vec![2, 9], vec![0.5, -1.0]).unwrap();
    let y = gaussian(rows, 1, 2);
    let a = || Dense::column_major(&design, rows, n).unwrap();
    let squares = Objective::new(a(), LeastSquares::new(y.clone()).unwrap()).unwrap().ridge(0.3).unwrap();
    let classes = Objective::new(a(), Logistic::new(labels(&y, 3)).unwrap()).unwrap().ridge(0.3).unwrap();
    let problems: [&dyn Problem; 2] = [&squares, &classes];
    for f in problems {
        let x = f.at(x.clone());
        let mut set = WorkingSet::new(f, &kept, false);
        assert_eq!(set.add(f, &atoms, [1, 4]), 2);
        let mut local = Local::around(f, &set, &x, 0.0);
        local.on(&set).column(2);
        assert_eq!((set.add(f, &atoms, [1, 3, 0]), set.add(f, &atoms, [3])), (2, 0));
        local.grow(&set);
        check(f, &x, &local.on(&set), &design, 0.3);
        assert_eq!((set.count(), set.len(), set.places_of(&[2]).len()), (4, 8, 0));
        let places = set.places_of(&[3, 1]);
        assert_eq!(set.numbers_of(&places), [1, 3]);
        let q = local.on(&set);
        for &place in &places {
            let members = set.atoms.members(place).to_vec();
            let block = q.block(place, &members);
            for (b, &j) in members.iter().enumerate() {
                for (a, &i) in members.iter().enumerate() {
                    assert!((block[b * members.len() + a] - q.column(j)[i]).abs() < 1e-10);
                }
            }
        }
    }
}

/// Classes share columns and depend on each other: by blocks, and as products where there are many of them.
#[test]
fn the_quadratic_of_several_outputs_is_that_of_whole_columns() {
    let (rows, n) = (15, 6);
    let design = gaussian(rows, n, 3);
    for classes in [3, 4, 11] {
        let q = classes - 1;
        let a = PerOutput::new(Dense::column_major(&design, rows, n).unwrap(), q).unwrap();
        let labels: Vec<usize> = (0..rows).map(|i| i * i % classes).collect();
        let f = Objective::new(WithIntercept::new(a), Multinomial::new(labels, classes).unwrap()).unwrap();
        let f: &dyn Problem = &f.ridge(0.3).unwrap();
        let kept = IndexSet::new(f.dim(), (q * n..f.dim()).collect());
        // whole columns, and single coordinates of which two share a column
        let mut groups: Vec<Vec<usize>> = (0..3).map(|j| (0..q).map(|c| c * n + j).collect()).collect();
        groups.extend([vec![4], vec![n + 4], vec![n + 5]]);
        let mut set = WorkingSet::new(f, &kept, false);
        set.add(f, &Atoms::groups(&groups, false), [2, 3]);
        let x = f.at(SparseVec::new(f.dim(), vec![1, n + 1], vec![0.5, -1.0]).unwrap());
        let mut local = Local::around(f, &set, &x, 0.01);
        local.on(&set).column(1);
        set.add(f, &Atoms::groups(&groups, false), [0, 4, 5]);
        local.grow(&set);
        let (local, h) = (local.on(&set), f.curvature(&x).at_least(0.01));
        let columns = f.columns(&set.coordinates);
        let whole = |place: usize| &columns[place * f.rows()..][..f.rows()];
        let (pushed, _) = expansion(f, &x, &h);
        for j in 0..set.len() {
            assert!((local.linear()[j] - dot(whole(j), &pushed)).abs() < 1e-12);
            let curved = h.times(whole(j));
            for i in 0..set.len() {
                let entry = dot(&curved, whole(i)) + if i == j { set.ridges[i] } else { 0.0 };
                assert!((local.column(j)[i] - entry).abs() < 1e-12, "{classes}: ({i}, {j})");
            }
        }
        for atom in 0..set.atoms.len() {
            let members = set.atoms.members(atom).to_vec();
            let block = local.block(atom, &members);
            for (at, v) in block.iter().enumerate() {
                let (b, a) = (members[at / members.len()], members[at % members.len()]);
                assert!((v - local.column(b)[a]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn the_quadratic_of_least_squares_is_f_around_any_point() {
    let (rows, n) = (25, 6);
    let design = gaussian(rows, n, 4);
    let a = Dense::column_major(&design, rows, n).unwrap();
    let f = Objective::new(a, LeastSquares::new(gaussian(rows, 1, 5)).unwrap()).unwrap().ridge(0.7).unwrap();
    let f: &dyn Problem = &f;
    let mut set = WorkingSet::new(f, &IndexSet::new(n, Vec::new()), false);
    set.add(f, &Atoms::coordinates(n), 0..n);
    let elsewhere = f.at(SparseVec::new(n, vec![1, 4], vec![3.0, -2.0]).unwrap());
    let around = |x: &Evaluated<SparseVec>| Local::around(f, &set, x, 0.0);
    let (here, there) = (around(&f.at(SparseVec::zero(n))), around(&elsewhere));
    assert!((here.terms.constant - there.terms.constant).abs() < 1e-10 * here.terms.constant);
    assert!(here.terms.linear.iter().zip(&there.terms.linear).all(|(a, b)| (a - b).abs() < 1e-9));
    assert!((here.terms.constant - f.value(&f.at(SparseVec::zero(n)))).abs() < 1e-12 * here.terms.constant);
}
