//! Groups: the same set said in different ways, the lazy greedy cover, and input that is refused.

use crate::sets::whole_numbers;
use katoms::Error;
use katoms::set::{ConstraintSet, Exchange, Expand, Groups, KSparse, OverlappingGroups};
use katoms::simulate::{generator, normals};
use katoms::space::{IndexSet, Point, SparseVec};
use rand::{Rng, RngExt};

/// Two sets that are the same: alike in projections, search spaces and exchanges, order included.
fn assert_same<A, B>(a: &A, b: &B, members: &[Vec<usize>], rng: &mut impl Rng)
where
    A: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>>,
    B: Expand<Vec<f64>, Point = SparseVec> + Exchange<Vec<f64>>,
{
    let dim = a.domain();
    for _ in 0..100 {
        let v = SparseVec::from_dense(&whole_numbers(dim, rng));
        assert_eq!(a.project(v.clone()), b.project(v));
        let g = whole_numbers(dim, rng);
        let some = IndexSet::new(dim, (0..dim).filter(|_| rng.random_range(0..3) == 0).collect());
        assert_eq!(a.expand(&g, &some), b.expand(&g, &some), "g = {g:?}, U = {some:?}");
        let chosen = (0..a.atoms()).flat_map(|_| members[rng.random_range(0..members.len())].clone()).collect();
        let chosen = IndexSet::new(dim, chosen).indices().to_vec();
        let values = chosen.iter().map(|_| f64::from(rng.random_range(1..=4))).collect();
        let x = SparseVec::new(dim, chosen, values).unwrap();
        for count in [1, 2, 5] {
            assert_eq!(a.removals(&x, count), b.removals(&x, count), "x = {x:?}");
            assert_eq!(a.additions(&x, &g, count), b.additions(&x, &g, count), "x = {x:?}, g = {g:?}");
        }
    }
}

fn disjoint() -> Vec<Vec<usize>> {
    vec![vec![8, 1], vec![0], vec![7, 2, 5], vec![6, 3], vec![9, 4, 10]]
}

#[test]
fn singleton_groups_are_k_sparse() {
    let members: Vec<Vec<usize>> = (0..8).map(|i| vec![i]).collect();
    let mut rng = generator(21, 0);
    for k in [1, 3, 8] {
        let (sparse, groups) = (KSparse::new(k, 8).unwrap(), Groups::new(k, 8, members.clone()).unwrap());
        assert_same(&groups, &sparse, &members, &mut rng);
        let overlapping = OverlappingGroups::new(k, 8, members.clone()).unwrap();
        assert_same(&overlapping, &sparse, &members, &mut rng);
        for _ in 0..50 {
            // Stored zeros are atoms of both.
            let v = SparseVec::full(&whole_numbers(8, &mut rng));
            assert_eq!(groups.project(v.clone()), sparse.project(v));
        }
    }
}

#[test]
fn overlapping_code_on_disjoint_groups_is_groups() {
    let mut rng = generator(22, 0);
    for k in 1..=5 {
        let groups = Groups::new(k, 11, disjoint()).unwrap();
        let overlapping = OverlappingGroups::new(k, 11, disjoint()).unwrap();
        assert_same(&groups, &overlapping, &disjoint(), &mut rng);
        let weights = vec![0.5, 1.0, 0.25, 2.0, 4.0];
        let (groups, overlapping) = (groups.weighted(weights.clone()).unwrap(), overlapping.weighted(weights).unwrap());
        assert_same(&groups, &overlapping, &disjoint(), &mut rng);
    }
}

#[test]
fn labels_are_index_lists() {
    let labels = ["sea", "air", "sea", "land", "air", "sea"];
    let lists = vec![vec![0, 2, 5], vec![1, 4], vec![3]];
    let by_label = Groups::from_labels(2, &labels).unwrap();
    assert_eq!(by_label, Groups::new(2, 6, lists.clone()).unwrap());
    assert_eq!(by_label.members(), lists);
    // Numbered as they first appear, not by their names: a tie goes to "sea".
    let tie = SparseVec::from_dense(&[1.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(by_label.with_atoms(1).unwrap().project(tie).indices(), [0]);
}

#[test]
fn a_group_that_is_held_in_part_can_be_filled_up() {
    // As at a warm start with a zero inside a group.
    let set = Groups::new(1, 5, vec![vec![0, 1, 2], vec![3, 4]]).unwrap();
    let u = IndexSet::new(5, vec![0]);
    assert_eq!(set.expand(&vec![9.0, 2.0, 2.0, 1.0, 1.0], &u).indices(), [0, 1, 2]);
    assert_eq!(set.expand(&vec![9.0, 1.0, 1.0, 2.0, 2.0], &u).indices(), [0, 3, 4]);
}

#[test]
fn weights_of_one_change_nothing_and_inverse_sizes_do() {
    let members = vec![vec![0, 1, 2, 3], vec![4]];
    let v = || SparseVec::from_dense(&[1.0, 1.0, 1.0, 1.0, 1.5]);
    let groups = || Groups::new(1, 5, members.clone()).unwrap();
    let overlapping = || OverlappingGroups::new(1, 5, members.clone()).unwrap();
    assert_eq!(groups().weighted(vec![1.0; 2]), Ok(groups()));
    assert_eq!(overlapping().weighted(vec![1.0; 2]), Ok(overlapping()));
    let by_size = vec![0.25, 1.0];
    let (groups, weighted) = (groups(), groups().weighted(by_size.clone()).unwrap());
    assert_eq!((groups.project(v()).indices(), weighted.project(v()).indices()), (&[0, 1, 2, 3][..], &[4][..]));
    let nothing = IndexSet::new(5, Vec::new());
    assert_eq!(weighted.expand(&v().to_dense(), &nothing).indices(), [4]);
    let (overlapping, weighted_cover) = (overlapping(), overlapping().weighted(by_size).unwrap());
    assert_eq!((overlapping.project(v()), weighted_cover.project(v())), (groups.project(v()), weighted.project(v())));
    assert_eq!(weighted_cover.expand(&v().to_dense(), &nothing).indices(), [4]);
    // Another k keeps the weights.
    assert_eq!(weighted.with_atoms(2).unwrap().with_atoms(1), Ok(weighted));
    assert_eq!(weighted_cover.with_atoms(2).unwrap().with_atoms(1), Ok(weighted_cover));
}

#[test]
fn exchanges_of_overlapping_groups_stay_feasible_off_the_greedy_cover() {
    // x lives in groups 1 and 2, but the greedy cover of its squared norm starts with group 0.
    let members = vec![vec![1, 2], vec![0, 1], vec![2, 3], vec![4]];
    let set = OverlappingGroups::new(2, 5, members).unwrap();
    let x = SparseVec::new(5, vec![0, 1, 2, 3], vec![1.0, 3.0, 3.0, 1.0]).unwrap();
    let g = vec![0.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(set.removals(&x, 2), [IndexSet::new(5, vec![1, 2]), IndexSet::new(5, vec![0, 1])]);
    // A stored zero is no squared norm: one group is left to add, and it replaces nothing.
    let x = SparseVec::new(5, vec![0, 3], vec![1.0, 0.0]).unwrap();
    assert_eq!(set.removals(&x, 1), [IndexSet::new(5, vec![0])]);
    assert_eq!(set.additions(&x.on(&set.removals(&x, 1)[0]), &g, 1), [IndexSet::new(5, vec![0, 4])]);
}

struct Instance {
    members: Vec<Vec<usize>>,
    weights: Vec<f64>,
    squared_norm: Vec<f64>,
}

impl Instance {
    /// Groups of the given size, each spread evenly from a random start.
    fn new(dim: usize, groups: usize, size: usize, rng: &mut impl Rng) -> Self {
        let mut spread = || {
            let (start, step) = (rng.random_range(0..dim), rng.random_range(1..=dim / size));
            let mut group: Vec<usize> = (0..size).map(|j| (start + j * step) % dim).collect();
            group.sort_unstable(); // sums in the library's order
            group
        };
        let members = (0..groups).map(|_| spread()).collect();
        let squared_norm = normals(dim, rng).into_iter().map(|v| v * v).collect();
        Self { members, weights: vec![1.0; groups], squared_norm }
    }

    fn score(&self, squared_norm: &[f64], group: usize) -> f64 {
        self.weights[group] * self.members[group].iter().map(|&i| squared_norm[i]).sum::<f64>()
    }

    fn take(&self, squared_norm: &mut [f64], group: usize) {
        self.members[group].iter().for_each(|&i| squared_norm[i] = 0.0);
    }

    /// The greedy cover that looks at every group in every round.
    fn naive(&self, count: usize) -> Vec<usize> {
        let mut squared_norm = self.squared_norm.clone();
        let mut taken = Vec::new();
        for _ in 0..count {
            let scores: Vec<f64> = (0..self.members.len()).map(|g| self.score(&squared_norm, g)).collect();
            let most = scores.iter().copied().fold(0.0, f64::max);
            let Some(best) = scores.iter().position(|&s| most > 0.0 && s == most) else { break };
            self.take(&mut squared_norm, best);
            taken.push(best);
        }
        taken
    }

    fn set(&self, k: usize) -> OverlappingGroups {
        let set = OverlappingGroups::new(k, self.squared_norm.len(), self.members.clone()).unwrap();
        set.weighted(self.weights.clone()).unwrap()
    }
}

#[test]
fn the_lazy_cover_is_the_naive_one() {
    let mut rng = generator(31, 0);
    for round in 0..200 {
        let (groups, size) = (rng.random_range(1..30), rng.random_range(1..=6));
        let mut instance = Instance::new(40, groups, size, &mut rng);
        if round % 2 == 0 {
            // Whole numbers tie, and zeros end the cover early.
            instance.squared_norm = whole_numbers(40, &mut rng).into_iter().map(|v| v * v).collect();
        }
        if round % 3 == 0 {
            instance.weights = (0..groups).map(|_| f64::from(rng.random_range(1..=4)) / 2.0).collect();
        }
        let k = rng.random_range(1..=groups);
        let mut squared_norm = instance.squared_norm.clone();
        let cover = instance.set(k).greedy_cover(&mut squared_norm, k);
        assert_eq!(cover, instance.naive(k));
        let held = |i: usize| cover.iter().any(|&g| instance.members[g].contains(&i));
        let left: Vec<f64> = (0..40).map(|i| if held(i) { 0.0 } else { instance.squared_norm[i] }).collect();
        assert_eq!(squared_norm, left);
    }
}

#[test]
fn groups_that_cannot_be_are_named() {
    let both = |members: Vec<Vec<usize>>, error: Error| {
        assert_eq!(Groups::new(1, 4, members.clone()), Err(error.clone()));
        assert_eq!(OverlappingGroups::new(1, 4, members), Err(error));
    };
    both(Vec::new(), Error::Empty { what: "the list of groups" });
    both(vec![vec![0], vec![]], Error::EmptyGroup { group: 1 });
    both(vec![vec![0], vec![3, 4]], Error::GroupIndex { group: 1, index: 4, bound: 4 });
    both(vec![vec![2, 0, 2], vec![1]], Error::RepeatedInGroup { group: 0, index: 2 });
    assert_eq!(Groups::from_labels::<u8>(1, &[]), Err(Error::Empty { what: "the list of groups" }));
}

#[test]
fn a_shared_index_names_both_groups() {
    let members = vec![vec![0], vec![3, 1], vec![2, 3]];
    let error = Groups::new(1, 4, members.clone()).unwrap_err();
    assert_eq!(error, Error::SharedIndex { index: 3, first: 1, second: 2 });
    let words = "index 3 belongs to groups 1 and 2 (counted from 0); disjoint groups share none: use OverlappingGroups";
    assert_eq!(error.to_string(), words);
    assert!(OverlappingGroups::new(1, 4, members).is_ok());
}

#[test]
fn weights_that_cannot_be_are_named() {
    let weighted = |weights: Vec<f64>| {
        let by_group = Groups::new(1, 3, vec![vec![0], vec![1, 2]]).unwrap().weighted(weights.clone()).unwrap_err();
        let by_cover = OverlappingGroups::new(1, 3, vec![vec![0, 1], vec![1, 2]]).unwrap().weighted(weights);
        [by_group, by_cover.unwrap_err()]
    };
    let wrong = |found| Error::Length { what: "group weights", found, expected: 2, why: "one for each group" };
    assert_eq!(weighted(vec![1.0]), [wrong(1), wrong(1)]);
    assert_eq!(weighted(vec![1.0; 3]), [wrong(3), wrong(3)]);
    let right = "every weight must be finite and above 0";
    for value in [0.0, -1.0, f64::INFINITY] {
        let bad = Error::Value { what: "group weights", index: 1, value, right };
        assert_eq!(weighted(vec![1.0, value]), [bad.clone(), bad]);
    }
    for error in weighted(vec![f64::NAN, 1.0]) {
        assert!(matches!(error, Error::Value { what: "group weights", index: 0, value, .. } if value.is_nan()));
    }
}
