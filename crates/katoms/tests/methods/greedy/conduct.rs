//! Scale, cost, edges, starts.

use katoms::driver::{Options, Run};
use katoms::method::{Foba, ForwardRegression};
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::{Error, Status};

use super::{Catalogue, Explicit, Kept, all, supports};
use crate::runs::finished;

#[test]
fn the_scale_of_columns_and_target_decides_nothing() {
    let plain = Explicit::new(3, 40, 60);
    let mut scaled = Explicit::new(3, 40, 60);
    scaled.design.scale_columns(&(0..60).map(|j| [1e-6, 1.0, 1e6][j % 3]).collect::<Vec<_>>());
    scaled.y.iter_mut().for_each(|v| *v *= 1e6);
    let (a, b) = (plain.operator(), scaled.operator());
    let (f, g) = (plain.objective(&a), scaled.objective(&b));
    let set = KSparse::new(10, 60).unwrap();
    for ((name, one), (_, other)) in all(&f, &set).into_iter().zip(all(&g, &set)) {
        assert_eq!(one.point.indices(), other.point.indices(), "{name}");
        assert_eq!((one.point.indices().len(), one.passes), (10, other.passes), "{name}");
        assert!((other.objective / one.objective / 1e12 - 1.0).abs() < 1e-9, "{name}");
    }
}

#[test]
fn one_pass_for_each_atom() {
    let problem = Explicit::new(1, 60, 80);
    let a = problem.operator();
    let f = problem.objective(&a);
    let outcomes = all(&f, &KSparse::new(9, 80).unwrap());
    let passes: Vec<usize> = outcomes.iter().map(|o| o.1.passes).collect();
    // one for the norms; FoBa goes up to 18 atoms, and pays one more after each move that removed some
    assert_eq!((passes[0], passes[1], passes[3]), (10, 10, 2));
    assert_eq!(outcomes.iter().map(|o| o.1.iterations).collect::<Vec<_>>()[..2], [9, 9]);
    let moves = supports(&f, &KSparse::new(9, 80).unwrap(), &Foba::default());
    let shrunk = moves.windows(2).filter(|w| w[1].len() <= w[0].len()).count();
    assert_eq!(passes[2], 1 + moves.len() + shrunk);
    let (omp, forward) = (&outcomes[0].1, &outcomes[1].1);
    assert!(omp.columns <= (1..=9).sum::<usize>() + 9, "{}", omp.columns);
    assert_eq!(omp.columns, forward.columns);
}

#[test]
fn edges_are_no_trouble() {
    let mut problem = Explicit::new(4, 20, 10);
    let twin = problem.design.column(0).to_vec();
    problem.design.column_mut(3).copy_from_slice(&twin);
    problem.design.column_mut(5).fill(0.0);
    let a = problem.operator();
    let f = problem.objective(&a);
    for (name, found) in all(&f, &KSparse::new(10, 10).unwrap()) {
        assert_eq!(found.status, Status::Converged, "{name}");
        // 8 of the columns are independent; the twin that comes second brings nothing
        assert!(name == "oblivious" || found.point.indices().len() == 8, "{name}: {:?}", found.point);
        assert!(found.point.values().iter().all(|v| v.abs() < 1e3), "{name}");
        assert!((found.objective - problem.value(&[0, 1, 2, 4, 6, 7, 8, 9])).abs() < 1e-12, "{name}");
    }
    for (name, found) in all(&f, &overlapping_twins()) {
        assert!(found.point.values().iter().all(|v| v.abs() < 1e3), "{name}");
        assert!(found.objective <= problem.value(&[0]) + 1e-12, "{name}");
    }
    let nothing = Explicit { y: vec![0.0; 20], ..Explicit::new(4, 20, 10) };
    let b = nothing.operator();
    for (name, found) in all(&nothing.objective(&b), &KSparse::new(4, 10).unwrap()) {
        assert_eq!((found.status, found.objective), (Status::Converged, 0.0), "{name}");
        assert!(found.point.values().iter().all(|v| *v == 0.0), "{name}");
    }
}

/// Groups of which one holds a column and its twin, and one nothing but a zero column.
fn overlapping_twins() -> Kept {
    Catalogue { groups: vec![vec![0, 3], vec![5], vec![3, 4, 6], vec![7, 8]], kept: vec![] }.set(3, 10)
}

#[test]
fn a_start_with_atoms_is_a_model_to_grow_from() -> Result<(), Error> {
    let problem = Explicit::new(6, 30, 20).weighted(0.1);
    let a = problem.operator();
    let f = problem.objective(&a);
    let set = KSparse::new(5, 20)?;
    let x0 = SparseVec::new(20, vec![3, 16], vec![1.0, -5.0])?;
    let found = finished(Run::starting_at(&f, &set, &ForwardRegression, Options::for_set(&set), x0)?);
    let catalogue = Catalogue::singles(20);
    let mut chosen = vec![3, 16];
    while chosen.len() < 5 {
        chosen.push(catalogue.best(&problem, &chosen));
    }
    assert_eq!(found.point.indices(), catalogue.support(&chosen));
    problem.check(&found);
    Ok(())
}
