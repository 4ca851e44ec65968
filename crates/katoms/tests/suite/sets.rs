//! The contract of constraint sets on vectors, checked against naive twins on small spaces.

use katoms::Error;
use katoms::set::{
    Always, AnyAtoms, ConstraintSet, CoordinateSet, Exchange, Expand, Groups, Guarantee, KSparse, OverlappingGroups,
};
use katoms::simulate::generator;
use katoms::space::{IndexSet, Point, SparseVec};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// A set as its definition reads: lists of coordinates of which k may be chosen, and free
/// coordinates. Everything is found by looking at all choices.
struct Twin {
    dim: usize,
    atoms: Vec<Vec<usize>>,
    free: Vec<usize>,
}

impl Twin {
    fn new(dim: usize, atoms: &[Vec<usize>], free: &[usize]) -> Self {
        Self { dim, atoms: atoms.to_vec(), free: free.to_vec() }
    }

    /// Which coordinates a choice of atoms (a bit for each) allows.
    fn allowed(&self, choice: u32) -> Vec<bool> {
        let mut allowed = vec![false; self.dim];
        self.free.iter().for_each(|&i| allowed[i] = true);
        for (_, atom) in self.atoms.iter().enumerate().filter(|(a, _)| choice >> a & 1 == 1) {
            atom.iter().for_each(|&i| allowed[i] = true);
        }
        allowed
    }

    fn choices(&self) -> std::ops::Range<u32> {
        0..1 << self.atoms.len()
    }

    /// The least number of atoms that hold these coordinates.
    fn atoms_needed(&self, indices: &[usize]) -> usize {
        let holds = |choice: &u32| {
            let allowed = self.allowed(*choice);
            indices.iter().all(|&i| allowed[i])
        };
        self.choices().filter(holds).map(|c| c.count_ones() as usize).min().expect("no choice of atoms holds them")
    }

    /// The most squared norm that k atoms can keep.
    fn best_energy(&self, v: &[f64], k: usize) -> f64 {
        let squared_norm = |choice| {
            let allowed = self.allowed(choice);
            (0..self.dim).filter(|&i| allowed[i]).map(|i| v[i] * v[i]).sum::<f64>()
        };
        self.choices().filter(|c| c.count_ones() as usize <= k).map(squared_norm).fold(0.0, f64::max)
    }

    /// k times the first of the atoms with the most squared norm left. On disjoint atoms this is the
    /// nearest point with ties to the smaller index.
    fn greedy(&self, v: &[f64], k: usize) -> Vec<usize> {
        let mut left = v.to_vec();
        self.free.iter().for_each(|&i| left[i] = 0.0);
        let mut held = Vec::new();
        for _ in 0..k {
            let squared_norm = |atom: &Vec<usize>| atom.iter().map(|&i| left[i] * left[i]).sum::<f64>();
            let most = self.atoms.iter().map(squared_norm).fold(0.0, f64::max);
            let Some(atom) = self.atoms.iter().find(|a| most > 0.0 && squared_norm(a) == most) else { break };
            atom.iter().for_each(|&i| left[i] = 0.0);
            held.extend_from_slice(atom);
        }
        held
    }

    /// supp Π_k(g off U) ∪ U, with what is free.
    fn expanded(&self, g: &[f64], u: &IndexSet, k: usize) -> IndexSet {
        let off: Vec<f64> = (0..self.dim).map(|i| if u.contains(i) { 0.0 } else { g[i] }).collect();
        let indices = [u.indices(), &self.free, &self.greedy(&off, k)].concat();
        IndexSet::new(self.dim, indices)
    }
}

/// Small whole numbers: squared norms are exact and ties are common.
pub fn whole_numbers(count: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.random_range(-3..=3))).collect()
}

/// A point with at most k atoms, each of which it may fill in part only.
fn some_point(twin: &Twin, k: usize, rng: &mut impl Rng) -> SparseVec {
    let mut indices = twin.free.clone();
    for _ in 0..rng.random_range(0..=k) {
        indices.extend_from_slice(&twin.atoms[rng.random_range(0..twin.atoms.len())]);
    }
    indices.retain(|_| rng.random_range(0..4) > 0);
    let indices = IndexSet::new(twin.dim, indices).indices().to_vec();
    let values = indices.iter().map(|_| f64::from(rng.random_range(1..=3))).collect();
    SparseVec::new(twin.dim, indices, values).unwrap()
}

fn check_projection<S: ConstraintSet<Point = SparseVec>>(set: &S, twin: &Twin, values: &[f64]) {
    for v in [SparseVec::from_dense(values), SparseVec::full(values)] {
        let x = set.project(v.clone());
        assert!(x.entries().all(|(i, value)| value == v.value_at(i)), "{x:?} moves entries of {v:?}");
        let known = |i: &usize| v.indices().contains(i) || twin.free.contains(i);
        assert!(x.indices().iter().all(known), "{x:?} selects what {v:?} does not store");
        assert!(twin.free.iter().all(|i| x.indices().contains(i)), "{x:?} lacks what is always selected");
        assert!(twin.atoms_needed(x.indices()) <= set.atoms(), "{x:?} has too many atoms");
        assert_eq!(set.project(x.clone()), x, "not idempotent on {v:?}");
        let share = match set.guarantee() {
            Guarantee::Exact => 1.0,
            Guarantee::Energy(share) => share,
        };
        let (kept, best) = (x.values().iter().map(|v| v * v).sum::<f64>(), twin.best_energy(values, set.atoms()));
        assert!(kept >= share * best && kept <= best, "{x:?} keeps {kept} of {best} in {v:?}");
    }
    // Which of the equally good points: ties go to the smaller index.
    let held = [twin.greedy(values, set.atoms()), twin.free.clone()].concat();
    let expected = |i: usize| if held.contains(&i) { values[i] } else { 0.0 };
    let expected: Vec<f64> = (0..twin.dim).map(expected).collect();
    assert_eq!(set.project(SparseVec::from_dense(values)).to_dense(), expected, "from {values:?}");
}

fn check_expand<S: Expand<Vec<f64>, Point = SparseVec>>(set: &S, twin: &Twin, g: &Vec<f64>, u: &IndexSet) {
    let t = set.expand(g, u);
    assert_eq!(t, twin.expanded(g, u, set.atoms()), "g = {g:?}, U = {u:?}, {set:?}");
    assert!(u.indices().iter().all(|&i| t.contains(i)));
    assert!(twin.atoms_needed(t.indices()) <= twin.atoms_needed(u.indices()) + set.atoms());
}

fn check_exchanges<S: Exchange<Vec<f64>, Point = SparseVec>>(set: &S, twin: &Twin, x: &SparseVec, g: &Vec<f64>) {
    for count in [1, 3] {
        let removals = set.removals(x, count);
        assert!(!removals.is_empty() && removals.len() <= count);
        for t in removals {
            assert!(twin.free.iter().all(|&i| t.contains(i)), "{t:?} lacks what is always selected");
            let less = x.on(&t);
            assert!(twin.atoms_needed(less.indices()) < set.atoms(), "{t:?} from {x:?} in {set:?} leaves no room");
            let additions = set.additions(&less, g, count);
            assert!(additions.len() <= count);
            for t in additions {
                assert!(twin.atoms_needed(t.indices()) <= set.atoms(), "{t:?} from {x:?} in {set:?}");
                assert!(t.indices().iter().any(|&i| less.value_at(i) == 0.0 && g[i] != 0.0), "{t:?} brings nothing in");
            }
        }
    }
}

/// Everything a set promises, for each k up to the number of atoms.
fn check_contract<S>(build: impl Fn(usize) -> S, twin: &Twin)
where
    S: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>> + PartialEq,
{
    let most = twin.atoms.len();
    for k in 1..=most {
        let set = build(k);
        assert_eq!((set.atoms(), set.domain()), (k, twin.dim));
        assert_eq!(build(1).with_atoms(k), Ok(set.clone()));
        let mut rng = generator(11, k as u64);
        for _ in 0..40 {
            check_projection(&set, twin, &whole_numbers(twin.dim, &mut rng));
            let (x, g) = (some_point(twin, k, &mut rng), whole_numbers(twin.dim, &mut rng));
            check_expand(&set, twin, &g, &x.support());
            check_exchanges(&set, twin, &x, &g);
        }
    }
    for k in [0, most + 1] {
        let refused = Error::OutOfRange { what: "k", value: k, min: 1, max: most };
        assert_eq!(build(1).with_atoms(k), Err(refused));
    }
}

fn singletons(dim: usize) -> Vec<Vec<usize>> {
    (0..dim).map(|i| vec![i]).collect()
}

/// Interleaved, out of order, of different sizes; coordinate 4 is in none.
fn disjoint() -> Vec<Vec<usize>> {
    vec![vec![8, 1], vec![0], vec![7, 2, 5], vec![6, 3]]
}

/// The first group meets all but one other; the greedy cover of it is often not the best.
fn overlapping() -> Vec<Vec<usize>> {
    vec![vec![0, 2, 4, 6], vec![0, 1], vec![3, 2], vec![4, 5], vec![7, 6, 8], vec![1, 8]]
}

#[test]
fn every_set_keeps_the_contract() {
    let coordinates = |k| AnyAtoms::Coordinates(KSparse::new(k, 7).unwrap());
    check_contract(coordinates, &Twin::new(7, &singletons(7), &[]));
    check_contract(|k| AnyAtoms::groups(k, 9, disjoint()).unwrap(), &Twin::new(9, &disjoint(), &[]));
    let build = |k| AnyAtoms::groups(k, 9, overlapping()).unwrap();
    assert_eq!(build(2).guarantee(), Guarantee::Energy(1.0 - (-1.0_f64).exp()));
    check_contract(build, &Twin::new(9, &overlapping(), &[]));
    assert_eq!(AnyAtoms::groups(1, 4, vec![vec![0], vec![]]).unwrap_err(), Error::EmptyGroup { group: 1 });
}

#[test]
fn the_greedy_cover_is_not_always_the_best() {
    // Without such a case the tests could not tell an exact projection from an approximate one.
    let (set, twin) = (OverlappingGroups::new(2, 9, overlapping()).unwrap(), Twin::new(9, &overlapping(), &[]));
    let mut rng = generator(5, 0);
    let mut beaten = 0;
    for _ in 0..200 {
        let v = whole_numbers(9, &mut rng);
        let kept = set.project(SparseVec::from_dense(&v)).norm().powi(2).round();
        beaten += usize::from(kept < twin.best_energy(&v, 2));
    }
    assert!(beaten > 0);
}

#[test]
fn always_selected_coordinates_keep_the_contract() {
    // 2 shares a group with others, 4 is in no group: neither counts.
    let free = [4, 2];
    let always = free.to_vec();
    let build = |k| Always::new(KSparse::new(k, 7).unwrap(), always.clone()).unwrap();
    check_contract(build, &Twin::new(7, &singletons(7), &free));
    let build = |k| Always::new(Groups::new(k, 9, disjoint()).unwrap(), always.clone()).unwrap();
    check_contract(build, &Twin::new(9, &disjoint(), &free));
    let build = |k| Always::new(OverlappingGroups::new(k, 9, overlapping()).unwrap(), always.clone()).unwrap();
    check_contract(build, &Twin::new(9, &overlapping(), &free));
}

#[test]
fn always_selected_coordinates_are_not_counted() {
    let set = Always::new(KSparse::new(1, 5).unwrap(), vec![3, 0, 3]).unwrap();
    assert_eq!(set.kept().indices(), [0, 3]);
    let x = set.project(SparseVec::full(&[0.0, 1.0, -2.0, 9.0, 1.0]));
    assert_eq!((x.indices(), x.values()), (&[0, 2, 3][..], &[0.0, -2.0, 9.0][..]));
    let g = vec![9.0, 1.0, 5.0, 9.0, 2.0];
    assert_eq!(set.expand(&g, &IndexSet::new(5, vec![2])).indices(), [0, 2, 3, 4]);
    assert_eq!(set.removals(&x, 2), [IndexSet::new(5, vec![0, 3])]);
    let added = set.additions(&x.on(&IndexSet::new(5, vec![0, 3])), &g, 2);
    let added: Vec<&[usize]> = added.iter().map(IndexSet::indices).collect();
    assert_eq!(added, [[0, 2, 3], [0, 3, 4]]);
}

#[test]
fn exchanges_bring_the_strongest_in_and_take_the_weakest_out() {
    let set = KSparse::new(3, 7).unwrap();
    let x = SparseVec::new(7, vec![1, 2, 5], vec![-2.0, 4.0, 1.0]).unwrap();
    let g = vec![3.0, 9.0, 9.0, 0.0, -5.0, 9.0, 3.0];
    let lists = |sets: Vec<IndexSet>| sets.iter().map(|t| t.indices().to_vec()).collect::<Vec<_>>();
    assert_eq!(lists(set.removals(&x, 2)), [[1, 2], [2, 5]]);
    assert_eq!(lists(set.removals(&x, 9)), [[1, 2], [2, 5], [1, 5]]);
    assert_eq!(lists(set.additions(&x, &g, 2)), [[1, 2, 4, 5], [0, 1, 2, 5]]);
    // Coordinate 3 has no gradient: it cannot help.
    assert_eq!(set.additions(&x, &g, 9).len(), 3);
    // With room for another atom, none needs to leave.
    assert_eq!(set.with_atoms(4).unwrap().removals(&x, 2), [x.support()]);
}

#[test]
fn a_stored_zero_is_an_atom_only_while_there_is_room() {
    let set = KSparse::new(2, 4).unwrap();
    assert_eq!(set.project(SparseVec::full(&[0.0, 1.0, 0.0, -3.0])).indices(), [1, 3]);
    assert_eq!(set.project(SparseVec::full(&[0.0, 0.0, 5.0, 0.0])).indices(), [0, 2]);
    let groups = Groups::new(1, 4, vec![vec![0, 1], vec![2, 3]]).unwrap();
    assert_eq!(groups.project(SparseVec::full(&[0.0, 1.0, 0.0, -3.0])).indices(), [2, 3]);
}

#[test]
fn extreme_values_are_ranked() {
    let set = KSparse::new(1, 3).unwrap();
    assert_eq!(set.project(SparseVec::full(&[1e-300, -1e-200, 1e-250])).indices(), [1]);
    assert_eq!(set.project(SparseVec::full(&[1e300, -1e308, 1e200])).indices(), [1]);
    assert_eq!(set.expand(&vec![f64::NAN, 1e-300, 0.0], &IndexSet::new(3, vec![])).indices(), [1]);
}

#[test]
fn k_out_of_range_is_named() {
    let k = |value, max| Error::OutOfRange { what: "k", value, min: 1, max };
    assert_eq!(KSparse::new(0, 4), Err(k(0, 4)));
    assert_eq!(KSparse::new(5, 4), Err(k(5, 4)));
    assert_eq!(KSparse::new(1, 0), Err(Error::Empty { what: "the space" }));
    for value in [0, 5] {
        assert_eq!(Groups::new(value, 9, disjoint()), Err(k(value, 4)));
        assert_eq!(Groups::from_labels(value, &[3, 1, 3, 0, 7]), Err(k(value, 4)));
    }
    for value in [0, 7] {
        assert_eq!(OverlappingGroups::new(value, 9, overlapping()), Err(k(value, 6)));
    }
}

#[test]
fn always_refuses_what_is_outside_and_what_leaves_nothing() {
    let inner = || KSparse::new(1, 3).unwrap();
    let outside = Error::Index { what: "always-selected index", position: 1, index: 3, bound: 3 };
    assert_eq!(Always::new(inner(), vec![0, 3]), Err(outside));
    let nothing_left = Error::Empty { what: "the list of atoms that are not always selected" };
    assert_eq!(Always::new(inner(), vec![2, 0, 1, 2]), Err(nothing_left));
    assert!(Always::new(inner(), vec![0, 1, 0]).is_ok());
}

/// Groups over 0..dim, each nonempty, of any overlap.
fn any_groups(dim: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    let group = prop::collection::btree_set(0..dim, 1..=dim).prop_map(|g| g.into_iter().rev().collect());
    prop::collection::vec(group, 1..=6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn k_sparse_projections(v in prop::collection::vec(-4i8..=4, 1..=8), k in 1usize..=8) {
        let v: Vec<f64> = v.into_iter().map(f64::from).collect();
        let k = k.min(v.len());
        check_projection(&KSparse::new(k, v.len()).unwrap(), &Twin::new(v.len(), &singletons(v.len()), &[]), &v);
    }

    #[test]
    fn group_projections(entries in prop::collection::vec((-4i8..=4, 0u8..4), 1..=8), k in 1usize..=4) {
        let (v, labels): (Vec<f64>, Vec<u8>) = entries.into_iter().map(|(v, l)| (f64::from(v), l)).unzip();
        let mut atoms: Vec<Vec<usize>> = Vec::new();
        for first in (0..labels.len()).filter(|&i| !labels[..i].contains(&labels[i])) {
            atoms.push((0..labels.len()).filter(|&i| labels[i] == labels[first]).collect());
        }
        let set = Groups::from_labels(k.min(atoms.len()), &labels).unwrap();
        check_projection(&set, &Twin::new(v.len(), &atoms, &[]), &v);
    }

    #[test]
    fn overlapping_projections(
        (v, groups) in (1usize..=8).prop_flat_map(|n| (prop::collection::vec(-4i8..=4, n), any_groups(n))),
        k in 1usize..=6,
    ) {
        let v: Vec<f64> = v.into_iter().map(f64::from).collect();
        let set = OverlappingGroups::new(k.min(groups.len()), v.len(), groups.clone()).unwrap();
        check_projection(&set, &Twin::new(v.len(), &groups, &[]), &v);
    }
}
