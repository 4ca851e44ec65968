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
    /// Whether each of some ways is known to lead nowhere, where that can be found out side by side for little.
    fn lead_nowhere(&mut self, ways: &[Way<'_, Self::Start>], _go_on: &mut GoOn<'_>) -> Vec<bool> {
        vec![false; ways.len()]
    }
}

/// From a start to a size, and what the end has to be below.
#[derive(Debug)]
pub struct Way<'s, S> {
    /// The number of atoms to go to.
    pub size: usize,
    /// Where to start.
    pub from: &'s S,
    /// What f has to be below at the end.
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
        let down: Vec<(usize, usize)> = (0..steps).rev().map(|at| (at + 1, at)).collect();
        let up: Vec<(usize, usize)> = (0..steps).map(|at| (at, at + 1)).collect();
        for _ in 0..ROUNDS {
            let before = self.changes.clone();
            for steps in [&down, &up] {
                self.spare_what_leads_nowhere(steps, go_on);
                for &(from, to) in steps {
                    if go_on(self.sizes.len()).is_break() {
                        return;
                    }
                    self.step(from, to, go_on);
                }
            }
            if self.changes == before {
                return;
            }
        }
    }

    /// Of steps that are about to be made, those that lead nowhere need not be: unless the rung that they start from
    /// has changed when their turn comes.
    fn spare_what_leads_nowhere(&mut self, steps: &[(usize, usize)], go_on: &mut GoOn<'_>) {
        let open = |step: &&(usize, usize)| self.rungs[step.0].is_some() && !self.was_asked(step.0, step.1);
        let below = |&(from, to): &(usize, usize)| {
            self.rungs[from].as_ref().map_or(f64::INFINITY, |source| self.below(to, source, from < to))
        };
        let steps: Vec<((usize, usize), f64)> = steps.iter().filter(open).map(|step| (*step, below(step))).collect();
        let way = |&((from, to), below): &((usize, usize), f64)| {
            Some(Way { size: self.sizes[to], from: C::start(self.rungs[from].as_ref()?), below })
        };
        let ways: Vec<_> = steps.iter().filter_map(way).collect();
        for (((from, to), _), nowhere) in steps.iter().zip(self.climb.lead_nowhere(&ways, go_on)) {
            if nowhere {
                self.asked[*from][usize::from(to < from)] = Some(self.changes[*from]);
            }
        }
    }

    /// Whether the step from a rung as it is now was tried before.
    fn was_asked(&self, from: usize, to: usize) -> bool {
        self.asked[from][usize::from(to < from)] == Some(self.changes[from])
    }

    /// The model of one rung from that of another, unless that was tried before.
    fn step(&mut self, from: usize, to: usize, go_on: &mut GoOn<'_>) {
        if self.was_asked(from, to) {
            return;
        }
        let Some(source) = &self.rungs[from] else { return };
        self.asked[from][usize::from(to < from)] = Some(self.changes[from]);
        let below = self.below(to, source, from < to);
        let way = Way { size: self.sizes[to], from: C::start(source), below };
        if let Some(model) = self.climb.go(&way, go_on) {
            self.offer(to, model);
        }
    }

    /// What a model of a rung has to be below: any better one will do where a smaller one is better than what is there.
    fn below(&self, to: usize, source: &C::Model, grows: bool) -> f64 {
        let Some(there) = &self.rungs[to] else { return f64::INFINITY };
        let rises = grows && self.climb.value(source) < self.climb.value(there);
        if rises { self.climb.value(there) } else { self.climb.better_than(there) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    /// Models are (size, height): a step leads as high as it started, and a little lower at some sizes.
    struct Stairs {
        foretells: bool,
        gone: usize,
    }

    impl Stairs {
        fn end(way: &Way<'_, (usize, f64)>) -> Option<(usize, f64)> {
            let (from, height) = *way.from;
            let lower = if way.size.is_multiple_of(3) { 0.7 } else { 0.0 };
            let height = height + if from < way.size { -1.0 } else { 1.2 } - lower;
            (height < way.below).then_some((way.size, height))
        }
    }

    impl Climb for Stairs {
        type Model = (usize, f64);
        type Start = (usize, f64);
        fn value(&self, model: &(usize, f64)) -> f64 {
            model.1
        }
        fn start(model: &(usize, f64)) -> &(usize, f64) {
            model
        }
        fn better_than(&self, model: &(usize, f64)) -> f64 {
            model.1 - 1e-9
        }
        fn go(&mut self, way: &Way<'_, (usize, f64)>, _: &mut GoOn<'_>) -> Option<(usize, f64)> {
            self.gone += 1;
            Self::end(way)
        }
        fn lead_nowhere(&mut self, ways: &[Way<'_, (usize, f64)>], _: &mut GoOn<'_>) -> Vec<bool> {
            ways.iter().map(|way| self.foretells && Self::end(way).is_none()).collect()
        }
    }

    #[test]
    fn what_is_foretold_changes_no_model_and_spares_steps() {
        let heights = [50.0, 49.5, 44.0, 44.5, 43.0, 42.8, 36.0, 36.2, 35.0, 20.0, 21.0, 18.0];
        let settled = |foretells: bool| {
            let rungs = heights.iter().enumerate().map(|(at, &height)| Some((at + 1, height))).collect();
            let mut ladder = Ladder::new(Stairs { foretells, gone: 0 }, (1..=heights.len()).collect(), rungs);
            ladder.settle(&mut |_| ControlFlow::Continue(()));
            (ladder.rungs, ladder.climb.gone)
        };
        let ((told, fewer), (gone, more)) = (settled(true), settled(false));
        assert_eq!(told, gone);
        assert!(told.iter().flatten().zip(heights).any(|(model, before)| model.1 < before));
        assert!(told.windows(2).all(|pair| pair[1].unwrap().1 <= pair[0].unwrap().1));
        assert!(fewer < more, "{fewer} {more}");
    }
}
