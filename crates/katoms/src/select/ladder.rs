//! Models of rising sizes that learn from each other: each from the one below with an atom more, and from the one
//! above with an atom fewer, wherever that is better.

use super::neighbourhood::GoOn;

/// Ways down and up that a ladder takes at most.
const ROUNDS: usize = 10;

/// Where models come from that are an atom larger or smaller than others.
pub(super) trait Climb {
    /// A model of some size.
    type Model;
    /// What it is made of, as far as others can be made from it.
    type Start;
    /// f at a model.
    fn value(&self, model: &Self::Model) -> f64;
    /// What others can be made from.
    fn start(model: &Self::Model) -> &Self::Start;
    /// What another model has to be below to be better.
    fn better_than(&self, model: &Self::Model) -> f64;
    /// The model that a way leads to; `None` where it is not as low as it has to be.
    fn go(&mut self, way: &Way<'_, Self::Start>, go_on: &mut GoOn<'_>) -> Option<Self::Model>;
    /// The same for ways that have nothing to do with each other.
    fn go_each(&mut self, ways: &[Way<'_, Self::Start>], go_on: &mut GoOn<'_>) -> Vec<Option<Self::Model>> {
        ways.iter().map(|way| self.go(way, go_on)).collect()
    }
}

/// From a start to a size, and what the end has to be below.
pub(super) struct Way<'s, S> {
    pub size: usize,
    pub from: &'s S,
    pub below: f64,
}

/// One model for each of some rising sizes; none where there is none yet.
pub(super) struct Ladder<C: Climb> {
    pub climb: C,
    pub sizes: Vec<usize>,
    pub rungs: Vec<Option<C::Model>>,
    /// How often each rung was improved.
    changes: Vec<usize>,
    /// At how many changes a rung was last asked for its neighbour below, and for the one above.
    asked: Vec<[Option<usize>; 2]>,
}

impl<C: Climb> Ladder<C> {
    pub fn new(climb: C, sizes: Vec<usize>, rungs: Vec<Option<C::Model>>) -> Self {
        let count = sizes.len();
        Self { climb, sizes, rungs, changes: vec![0; count], asked: vec![[None; 2]; count] }
    }

    /// Puts a model on its rung where it is better than what is there.
    pub fn offer(&mut self, at: usize, model: C::Model) {
        let value = |model: &C::Model| self.climb.value(model);
        if self.rungs[at].as_ref().is_none_or(|there| value(&model) < value(there)) {
            self.rungs[at] = Some(model);
            self.changes[at] += 1;
        }
    }

    /// Hears what other starts lead to, one for each size.
    pub fn hear(&mut self, others: &[Option<C::Start>], go_on: &mut GoOn<'_>) {
        let places: Vec<usize> = (0..others.len()).filter(|&at| others[at].is_some()).collect();
        let below = |at: usize| self.rungs[at].as_ref().map_or(f64::INFINITY, |there| self.climb.better_than(there));
        let way = |(from, &at)| Way { size: self.sizes[at], from, below: below(at) };
        let ways: Vec<_> = others.iter().flatten().zip(&places).map(way).collect();
        let heard = self.climb.go_each(&ways, go_on);
        for (at, model) in places.into_iter().zip(heard) {
            model.into_iter().for_each(|model| self.offer(at, model));
        }
    }

    /// Down and up until nothing changes. `go_on` hears the number of models between two of them. The last way is one
    /// up, so that no model is worse than a smaller one.
    pub fn settle(&mut self, go_on: &mut GoOn<'_>) {
        let steps = self.sizes.len().saturating_sub(1);
        for _ in 0..ROUNDS {
            let before = self.changes.clone();
            let down = (0..steps).rev().map(|at| (at + 1, at));
            let up = (0..steps).map(|at| (at, at + 1));
            for (from, to) in down.chain(up) {
                if go_on(self.sizes.len()).is_break() {
                    return;
                }
                self.step(from, to, go_on);
            }
            if self.changes == before {
                return;
            }
        }
    }

    /// The model of one rung from that of another, unless that was tried before.
    fn step(&mut self, from: usize, to: usize, go_on: &mut GoOn<'_>) {
        let Some(source) = &self.rungs[from] else { return };
        let way = usize::from(to < from);
        if self.asked[from][way] == Some(self.changes[from]) {
            return;
        }
        self.asked[from][way] = Some(self.changes[from]);
        let below = self.rungs[to].as_ref().map_or(f64::INFINITY, |there| self.below(there, source, from < to));
        let way = Way { size: self.sizes[to], from: C::start(source), below };
        if let Some(model) = self.climb.go(&way, go_on) {
            self.offer(to, model);
        }
    }

    /// What a model has to be below: any better one will do where a smaller one is better than this.
    fn below(&self, there: &C::Model, source: &C::Model, grows: bool) -> f64 {
        let rises = grows && self.climb.value(source) < self.climb.value(there);
        if rises { self.climb.value(there) } else { self.climb.better_than(there) }
    }
}
