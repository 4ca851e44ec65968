//! From good models to others by kicks: some atoms leave, others come.

use rand::{Rng, RngExt};

use super::local_search::{FEW, IMPROVES, LocalSearch, Model, Work, enrol};
use super::tableau::Tableau;
use crate::linalg::parallel;
use crate::simulate::generator;

/// The stream of a seed that kicks are drawn from: none that folds, half-samples or planted problems use.
const STREAM: u64 = 8;
/// A kick may lead to a model that is worse by this share, and the chain goes on from there.
pub(super) const UPHILL: f64 = 0.3;
/// How often the atom that a kick lets in is not the best but one of the best few, and of how many.
pub(super) const SURPRISE: f64 = 0.3;

/// How much is varied in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub seed: u64,
    pub chains: usize,
    pub kicks: usize,
}

impl LocalSearch<'_> {
    /// Kicks from a model on: some atoms leave, weak ones more often, others come, exchanges polish.
    fn chain(&self, start: &Model, kicks: usize, rng: &mut impl Rng, work: &mut Work) -> Model {
        let size = start.chosen.len();
        let mut best = start.clone();
        let mut here = self.tableau(&start.chosen);
        for _ in 0..kicks {
            if work.is_spent() || self.is_perfect(best.objective) {
                break;
            }
            let mut next = here.clone();
            let left = weakest_more_often(&next, size, rng);
            left.iter().for_each(|&atom| next.remove(self.q, atom));
            work.done += left.len() as f64 * (self.q.dim() * size) as f64;
            while next.chosen().len() < size {
                let surprise = (rng.random::<f64>() < SURPRISE).then(|| rng.random_range(0..FEW));
                if !self.add(&mut next, &left, surprise, work) {
                    break;
                }
            }
            if next.chosen().len() < size {
                break;
            }
            self.exchange(&mut next, work);
            let objective = next.objective();
            if objective < best.objective * (1.0 - IMPROVES) {
                best = Self::model(&next);
            }
            if objective < here.objective() * (1.0 + UPHILL) {
                here = next;
            }
        }
        best
    }

    /// Several chains of kicks from the best models, side by side.
    pub fn vary(&self, elites: &mut Vec<Model>, round: Round, work: &mut Work) {
        if elites.is_empty() {
            return;
        }
        let share = Work::new((work.most - work.done).max(0.0) / (round.chains + 1) as f64);
        let one = |chain: usize| {
            let mut own = share;
            let mut rng = generator(round.seed, STREAM + 16 * chain as u64);
            (self.chain(&elites[chain % elites.len()], round.kicks, &mut rng, &mut own), own.done)
        };
        let found: Vec<(Model, f64)> = parallel::map(round.chains, &one);
        for (model, done) in found {
            work.done += done;
            enrol(elites, model);
        }
    }
}

/// Atoms that a kick takes out.
pub(super) fn weakest_more_often(tableau: &Tableau<'_>, size: usize, rng: &mut impl Rng) -> Vec<usize> {
    let costs = tableau.removal_costs();
    let most = costs.iter().fold(0.0_f64, |a, &b| a.max(b)).max(f64::MIN_POSITIVE);
    let mut weights: Vec<f64> = costs.iter().map(|cost| 1.0 / (cost / most + 0.05)).collect();
    let count = rng.random_range(1..=(size / 3).max(2)).min(size.saturating_sub(1).max(1));
    let mut left = Vec::with_capacity(count);
    for _ in 0..count {
        let mut at = rng.random::<f64>() * weights.iter().sum::<f64>();
        let place = weights.iter().position(|w| {
            at -= w;
            at < 0.0 && *w > 0.0
        });
        let Some(place) = place.or_else(|| weights.iter().rposition(|w| *w > 0.0)) else { break };
        weights[place] = 0.0;
        left.push(tableau.chosen()[place]);
    }
    left
}
