//! Models of rising sizes that learn from each other: each from the one below with an atom more, and from the one
//! above with an atom fewer, wherever that is better.

use super::detours::better_than;
use super::neighbourhood::{GoOn, Neighbourhood, Polished};
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;

/// Ways down and up that a ladder takes at most.
const ROUNDS: usize = 10;

/// One model for each of some rising sizes; none where there is none yet.
pub(super) struct Ladder<'a, A: LinearOperator, L> {
    f: &'a Objective<A, L>,
    sizes: Vec<usize>,
    pub rungs: Vec<Option<Polished<A::Point>>>,
    /// How often each rung was improved.
    changes: Vec<usize>,
    /// At how many changes a rung was last asked for its neighbour below, and for the one above.
    asked: Vec<[Option<usize>; 2]>,
}

impl<'a, A: LinearOperator, L: Loss> Ladder<'a, A, L> {
    pub fn new(f: &'a Objective<A, L>, sizes: Vec<usize>, rungs: Vec<Option<Polished<A::Point>>>) -> Self {
        let count = sizes.len();
        Self { f, sizes, rungs, changes: vec![0; count], asked: vec![[None; 2]; count] }
    }

    /// Puts a model on its rung where it is better than what is there.
    pub fn offer(&mut self, at: usize, model: Polished<A::Point>) {
        let value = |model: &Polished<A::Point>| self.f.value(&model.x);
        if self.rungs[at].as_ref().is_none_or(|there| value(&model) < value(there)) {
            self.rungs[at] = Some(model);
            self.changes[at] += 1;
        }
    }

    /// Hears what the path of the Lasso has to say of each size.
    pub fn hear_the_lasso(&mut self, hood: &mut dyn Neighbourhood<A::Point>, go_on: &mut GoOn<'_>) {
        let points = hood.along_the_lasso(&self.sizes, go_on);
        for (at, x) in points.into_iter().enumerate() {
            let below = self.rungs[at].as_ref().map_or(f64::INFINITY, |there| better_than(self.f, &there.x));
            let polished = x.and_then(|x| hood.by_way_of(&x, &[self.sizes[at]], below, go_on));
            polished.into_iter().for_each(|model| self.offer(at, model));
        }
    }

    /// Down and up until nothing changes. `go_on` hears the number of models between two of them. The last way is one
    /// up, so that no model is worse than a smaller one.
    pub fn settle(&mut self, hood: &mut dyn Neighbourhood<A::Point>, go_on: &mut GoOn<'_>) {
        let steps = self.sizes.len().saturating_sub(1);
        for _ in 0..ROUNDS {
            let before = self.changes.clone();
            let down = (0..steps).rev().map(|at| (at + 1, at));
            let up = (0..steps).map(|at| (at, at + 1));
            for (from, to) in down.chain(up) {
                if go_on(self.sizes.len()).is_break() {
                    return;
                }
                self.step(hood, from, to, go_on);
            }
            if self.changes == before {
                return;
            }
        }
    }

    /// The model of one rung from that of another, unless that was tried before.
    fn step(&mut self, hood: &mut dyn Neighbourhood<A::Point>, from: usize, to: usize, go_on: &mut GoOn<'_>) {
        let Some(source) = &self.rungs[from] else { return };
        let way = usize::from(to < from);
        if self.asked[from][way] == Some(self.changes[from]) {
            return;
        }
        self.asked[from][way] = Some(self.changes[from]);
        let below = self.rungs[to].as_ref().map_or(f64::INFINITY, |there| self.below(&there.x, &source.x, from < to));
        if let Some(model) = hood.by_way_of(&source.x, &[self.sizes[to]], below, go_on) {
            self.offer(to, model);
        }
    }

    /// What a model has to be below: any better one will do where a smaller one is better than this.
    fn below(&self, there: &Evaluated<A::Point>, source: &Evaluated<A::Point>, grows: bool) -> f64 {
        let rises = grows && self.f.value(source) < self.f.value(there);
        if rises { self.f.value(there) } else { better_than(self.f, there) }
    }
}
