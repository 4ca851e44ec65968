//! Every move against the minimum over its support, found from scratch.

use super::*;
use crate::search::quadratic::explicit::{Explicit, minimum};
use crate::simulate;
use crate::space::Point;

fn problem(seed: u64, columns: usize, ridge: f64) -> Explicit {
    let rows = 30;
    let design = Matrix::from_columns(rows, columns, simulate::autoregressive(rows, columns, 0.6, seed));
    let y: Vec<f64> = simulate::gaussian(rows, 1, seed + 100);
    Explicit::new(&design, &y, ridge)
}

fn nothing(dim: usize) -> IndexSet {
    IndexSet::new(dim, Vec::new())
}

/// The coordinates of some atoms.
fn support(atoms: &Atoms, kept: &IndexSet, chosen: &[usize]) -> Vec<usize> {
    let members = chosen.iter().flat_map(|&a| atoms.members(a).iter().copied());
    IndexSet::new(kept.dim(), kept.indices().iter().copied().chain(members).collect()).indices().to_vec()
}

/// What a tableau says against the minimum over each support, found from scratch.
fn check(q: &Explicit, atoms: &Atoms, kept: &IndexSet, tableau: &Tableau<'_>) {
    let near = |a: f64, b: f64, what: &str| assert!((a - b).abs() <= 1e-9 * q.constant(), "{what}: {a} {b}");
    let value = |chosen: &[usize]| minimum(q, &support(atoms, kept, chosen));
    let chosen = tableau.chosen().to_vec();
    let here = value(&chosen);
    near(tableau.objective(), here, "objective");
    let without = |out: usize| chosen.iter().copied().filter(|&a| a != out).collect::<Vec<_>>();
    for (cost, &atom) in tableau.removal_costs().iter().zip(&chosen) {
        near(*cost, value(&without(atom)) - here, "removal");
        let (left, fresh) = (tableau.point_without(q, atom), Tableau::new(q, atoms, kept, &without(atom)).point());
        assert_eq!(left.indices(), fresh.indices());
        assert!(left.distance(&fresh) <= 1e-8 * (1.0 + fresh.norm()), "without {atom}");
    }
    for (atom, gain) in tableau.entry_gains().iter().enumerate().filter(|(a, _)| !chosen.contains(a)) {
        if gain.is_finite() {
            near(*gain, here - value(&[chosen.as_slice(), &[atom]].concat()), "entry");
        }
    }
    let swaps = tableau.substitutes();
    assert!(swaps.exhaustive);
    for swap in &swaps.best {
        let rest = without(swap.out);
        let outside = (0..atoms.len()).filter(|a| !chosen.contains(a) && !atoms.members(*a).is_empty());
        let best = outside.map(|a| here - value(&[rest.as_slice(), &[a]].concat())).fold(f64::MIN, f64::max);
        near(swap.gain, best, "exchange");
    }
}

#[test]
fn every_entry_removal_and_exchange_is_foretold() {
    for seed in 0..5 {
        let (q, atoms) = (problem(seed, 40, 0.0), Atoms::coordinates(40));
        let kept = nothing(40);
        let mut tableau = Tableau::new(&q, &atoms, &kept, &[3, 17, 8]);
        check(&q, &atoms, &kept, &tableau);
        for atom in [21, 5, 39, 0] {
            tableau.choose(&q, atom);
        }
        check(&q, &atoms, &kept, &tableau);
        tableau.remove(&q, 17);
        let best = tableau.substitutes().best[0];
        tableau.swap(&q, best);
        check(&q, &atoms, &kept, &tableau);
        let fresh = Tableau::new(&q, &atoms, &kept, tableau.chosen());
        assert!(fresh.point().distance(&tableau.point()) < 1e-9 * fresh.point().norm());
    }
}

/// A model is made only where its minimum is below a bar, and of coordinates that depend on each other there is none.
#[test]
fn a_model_is_made_where_it_is_below_a_bar() {
    let (q, kept) = (problem(1, 40, 0.3), IndexSet::new(40, vec![7]));
    let atoms = Atoms::coordinates(40).without(&kept);
    let whole = Tableau::new(&q, &atoms, &kept, &[3, 17, 8]);
    let models = [vec![3, 17, 9], vec![3, 17, 8], vec![3, 17, 8, 9], vec![3, 8]];
    let start = Tableau::new(&q, &atoms, &kept, &[30, 31, 32, 8]);
    let moved = |models: &[Vec<usize>], most: f64| {
        let mut tableau = start.clone();
        tableau.move_below(&q, &kept, models, most).map(|at| (at, tableau))
    };
    let below = |share: f64| moved(&models, share * whole.objective());
    let objective = |chosen: &Vec<usize>| Tableau::new(&q, &atoms, &kept, chosen).objective() / whole.objective();
    let first = |share: f64| models.iter().position(|chosen| objective(chosen) < share);
    for share in [0.0, 0.999, 1.001, 2.0] {
        assert_eq!(below(share).map(|(at, _)| at), first(share), "{share}");
    }
    let (_, found) = below(1.001).unwrap();
    let (_, alone) = moved(&[vec![3, 17, 8]], f64::INFINITY).unwrap();
    assert_eq!((alone.objective(), alone.point()), (whole.objective(), whole.point()));
    check(&q, &atoms, &kept, &found);

    let mut design = Matrix::from_columns(20, 6, simulate::gaussian(20, 6, 3));
    let copy = design.column(1).to_vec();
    design.column_mut(4).copy_from_slice(&copy);
    let q = Explicit::new(&design, &simulate::gaussian(20, 1, 4), 0.0);
    let (atoms, kept) = (Atoms::coordinates(6), nothing(6));
    let mut tableau = Tableau::new(&q, &atoms, &kept, &[0]);
    assert_eq!(tableau.move_below(&q, &kept, &[vec![1, 4], vec![4]], f64::INFINITY), Some(1));
}

/// Few of many coordinates leave, others come, and there may be more or fewer of these: from where the model is, all is as if it
/// were made from scratch, and the bar is the same.
#[test]
fn a_model_that_exchanges_many_coordinates_is_the_one_from_scratch() {
    let (rows, columns, kept) = (120, 150, IndexSet::new(150, vec![7]));
    let design = Matrix::from_columns(rows, columns, simulate::autoregressive(rows, columns, 0.6, 1));
    let groups: Vec<Vec<usize>> = (0..50).map(|g| vec![g, 50 + g, 149 - g]).collect();
    for (responses, ridge) in [(1, 0.0), (1, 0.5), (3, 0.0)] {
        let q = Explicit::new(&design, &simulate::gaussian(rows, responses, 2), ridge);
        // Of several responses atoms are single columns.
        let structures = [(Atoms::coordinates(columns), 3), (Atoms::groups(&groups, false), 1)];
        for (atoms, each) in structures.into_iter().take(if responses > 1 { 1 } else { 2 }) {
            let atoms = atoms.without(&kept);
            let some = |from: usize, count: usize| (from..).filter(|i| i % 5 != 2).take(count).collect::<Vec<usize>>();
            let mut tableau = Tableau::new(&q, &atoms, &kept, &some(10, 8 * each));
            for chosen in [some(11 + each, 8 * each), some(11 + each, 7 * each), some(10 + each, 9 * each)] {
                let fresh = Tableau::new(&q, &atoms, &kept, &chosen);
                let (least, before) = (fresh.objective(), tableau.chosen().to_vec());
                let models = [chosen.clone()];
                assert_eq!(tableau.move_below(&q, &kept, &models, least * (1.0 - 1e-12)), None);
                assert_eq!(tableau.chosen(), before);
                let without = |of: &[usize], other: &[usize]| of.iter().filter(|atom| !other.contains(atom)).count();
                let changed = without(&chosen, &before).max(without(&before, &chosen));
                assert!(changed > 0 && 3 * changed < before.len(), "it begins where it is");
                assert_eq!(tableau.move_below(&q, &kept, &models, least * (1.0 + 1e-12)), Some(0));
                let near = |ours: &[f64], theirs: &[f64]| {
                    let apart = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-10 * q.constant();
                    assert!(ours.len() == theirs.len() && ours.iter().zip(theirs).all(apart), "{ours:?} {theirs:?}");
                };
                assert!(tableau.point().distance(&fresh.point()) <= 1e-10 * fresh.point().norm());
                near(&[tableau.objective()], &[fresh.objective()]);
                near(&tableau.slopes(), &fresh.slopes());
                near(&tableau.removal_costs(), &fresh.removal_costs());
                near(&tableau.entry_gains(), &fresh.entry_gains());
                for atom in chosen {
                    near(&tableau.exchange_gains(atom), &fresh.exchange_gains(atom));
                }
                // Single moves go on from there.
                let (next, mut other) = (140 - 3 * responses, fresh);
                for tableau in [&mut tableau, &mut other].into_iter().filter(|_| each > 1) {
                    tableau.choose(&q, next);
                    tableau.remove(&q, next);
                }
                near(&tableau.slopes(), &other.slopes());
            }
        }
    }
}

/// A model goes on when coordinates and atoms come to its quadratic: also where they fill up a strip.
#[test]
fn a_model_goes_on_where_there_are_more_atoms() {
    let (rows, all) = (30, 530);
    let design = simulate::gaussian(rows, all, 1);
    let y = simulate::gaussian(rows, 1, 2);
    let of = |columns: usize| {
        Explicit::new(&Matrix::from_columns(rows, columns, design[..rows * columns].to_vec()), &y, 0.1)
    };
    let pairs =
        |count: usize| Atoms::groups(&(0..count / 2).map(|g| vec![g, count - 1 - g]).collect::<Vec<_>>(), false);
    for few in [20, 256, 300, 512] {
        let (less, more) = (of(few), of(all));
        for groups in [false, true] {
            let atoms = [few, all].map(|n| if groups { pairs(few) } else { Atoms::coordinates(n) });
            let mut tableau = Tableau::new(&less, &atoms[0], &nothing(few), &[3, 8]);
            tableau.choose(&less, 5);
            let mut tableau = Tableau::attached(tableau.detached(), &more, &atoms[1]);
            tableau.remove(&more, 8);
            check(&more, &atoms[1], &nothing(all), &tableau);
            tableau.choose(&more, if groups { 9 } else { all - 1 });
            check(&more, &atoms[1], &nothing(all), &tableau);
        }
    }
}

#[test]
fn groups_ridges_and_kept_coordinates_too() {
    for seed in 0..5 {
        let q = problem(seed, 40, 0.3);
        let groups: Vec<Vec<usize>> = (0..10).map(|g| vec![g, 10 + g, 20 + 2 * g, 21 + 2 * g]).collect();
        let kept = IndexSet::new(40, vec![4, 39]);
        let atoms = Atoms::groups(&groups, false).without(&kept);
        let mut tableau = Tableau::new(&q, &atoms, &kept, &[1, 4]);
        check(&q, &atoms, &kept, &tableau);
        tableau.choose(&q, 9);
        tableau.remove(&q, 1);
        check(&q, &atoms, &kept, &tableau);
        let best = tableau.substitutes().best[0];
        tableau.swap(&q, best);
        check(&q, &atoms, &kept, &tableau);
    }
}

#[test]
fn duplicated_and_empty_columns_do_not_spoil_it() {
    let mut design = Matrix::from_columns(20, 6, simulate::gaussian(20, 6, 3));
    let copy = design.column(1).to_vec();
    design.column_mut(4).copy_from_slice(&copy);
    design.column_mut(2).fill(0.0);
    let q = Explicit::new(&design, &simulate::gaussian(20, 1, 4), 0.0);
    let (atoms, kept) = (Atoms::coordinates(6), nothing(6));
    let mut tableau = Tableau::new(&q, &atoms, &kept, &[1, 4]);
    assert_eq!(tableau.point().indices(), [1, 4], "a dependent atom is a member without weight");
    let alone = tableau.objective();
    tableau.choose(&q, 2);
    assert_eq!(tableau.objective(), alone);
    let without = tableau.point_without(&q, 1);
    tableau.remove(&q, 1);
    assert_eq!(without, tableau.point());
    assert!((tableau.objective() - alone).abs() < 1e-12, "its twin takes its place");
    assert!(tableau.point().value_at(4) != 0.0);
    let swaps = tableau.substitutes();
    let twin = swaps.best.iter().find(|s| s.out == 4 && s.into == 1);
    assert!(twin.is_none_or(|s| s.gain.abs() < 1e-12), "{swaps:?}");
}

#[test]
fn a_model_stands_out_by_how_much_its_atoms_matter() {
    let mut design = Matrix::from_columns(60, 20, simulate::gaussian(60, 20, 5));
    let clean: Vec<f64> = (0..60).map(|i| 3.0 * design.at(i, 0) - 3.0 * design.at(i, 1)).collect();
    let y = simulate::noisy(&clean, 0.3, 6);
    let (atoms, kept) = (Atoms::coordinates(20), nothing(20));
    let clear = |design: &Matrix, chosen: &[usize]| {
        let q = Explicit::new(design, &y, 0.0);
        let tableau = Tableau::new(&q, &atoms, &kept, chosen);
        tableau.stands_out(&tableau.substitutes())
    };
    assert!(clear(&design, &[0, 1]));
    assert!(!clear(&design, &[0, 2]) && !clear(&design, &[0, 1, 2]));
    let twin = simulate::noisy(design.column(1), 0.1, 7);
    design.column_mut(4).copy_from_slice(&twin);
    assert!(!clear(&design, &[0, 1]), "another atom would do nearly as well");
}
