//! Exchanges on a large problem whose loss is not quadratic: on the picture around a point, within a short list.
//!
//! The exchanges that the picture likes are made together and refitted on f: where f falls, the picture was right, and
//! the next one is taken there. Where it does not, single exchanges are tried on f. A picture over all n coordinates
//! would cost k columns of G each time.

use rayon::prelude::*;

use super::exact::{Exact, NEAR};
use super::neighbourhood::{GoOn, Polished};
use super::short_gram::ShortGram;
use super::short_list::Exchanged;
use super::tableau::{Swap, Swaps};
use crate::loss::Loss;
use crate::method::refit_below;
use crate::objective::Evaluated;
use crate::operator::LinearOperator;
use crate::set::CoordinateSet;
use crate::space::{IndexSet, Point, SparseVec};

/// Atoms that are listed, as a multiple of those in the model.
const WIDTH: usize = 2;
/// Exchanges of the picture that are tried on f one by one.
const TRIED: usize = 5;
/// The weakest atoms, and how many are tried in the place of each.
const WEAKEST: usize = 6;
const STRONGEST: usize = 2;

/// An exchange on f itself.
struct Trial {
    swap: Swap,
    x: Evaluated<SparseVec>,
}

impl<'a, A, L, S> Exact<'a, A, L, S>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
    L: Loss,
    S: CoordinateSet,
{
    /// Exchanges that look good around x, made on f.
    pub(super) fn polish_listed_picture(
        &self,
        x: &Evaluated<SparseVec>,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Polished<SparseVec> {
        let (mut x, mut exchanges, mut stopped) = (x.clone(), 0, false);
        let mut gradient = self.f.operator().new_covector();
        loop {
            self.f.gradient(&x, &mut gradient);
            let chosen = self.set.chosen(x.point());
            let mut list = ShortGram::around(self.f, &x, &self.kept, self.atoms.shared());
            list.add(&self.atoms, chosen.iter().copied());
            list.add(&self.atoms, self.steepest(&gradient, &chosen, WIDTH * self.set.atoms().max(1)));
            stopped |= go_on(exchanges).is_break();
            let left = if stopped { 0 } else { most - exchanges };
            let here = self.f.value(&x);
            let enough = self.enough(here);
            if left > 0 {
                let next = self.exchanged(&mut list, &chosen, left, &mut |made| go_on(exchanges + made));
                let there = self.refitted(next.point);
                if self.f.value(&there) < enough {
                    (x, exchanges) = (there, exchanges + next.made.max(1));
                    continue;
                }
            }
            let compared = self.exchanged(&mut list, &chosen, 0, &mut |_| std::ops::ControlFlow::Continue(()));
            let mut trials = self.listed_trials(&x, here, &chosen, &compared);
            trials.sort_by(|a, b| b.swap.gain.total_cmp(&a.swap.gain));
            match trials.first() {
                Some(best) if self.f.value(&best.x) < enough && left > 0 => {
                    (x, exchanges) = (self.refitted(best.x.point().clone()), exchanges + 1);
                }
                _ => {
                    let best: Vec<Swap> = trials.iter().map(|trial| trial.swap).collect();
                    let swaps = Swaps { compared: best.len(), best, exhaustive: false };
                    let slopes: Vec<f64> = gradient.iter().map(|g| -g).collect();
                    let quality = self.quality(self.set, &x, &slopes, &swaps);
                    return Polished { x, exchanges, quality };
                }
            }
        }
    }

    /// The exchanges that the picture likes best, and the atoms that promise most in the place of the weakest ones:
    /// each refitted on f. One pass.
    fn listed_trials(&self, x: &Evaluated<SparseVec>, here: f64, chosen: &[usize], compared: &Exchanged) -> Vec<Trial> {
        let mut moves: Vec<(usize, usize)> = Vec::new();
        for swap in compared.swaps.best.iter().take(TRIED) {
            moves.push((swap.out, swap.into));
        }
        let weakest = &compared.without[..compared.without.len().min(WEAKEST)];
        let without: Vec<Evaluated<SparseVec>> =
            weakest.par_iter().map(|(_, point)| self.refitted(point.clone())).collect();
        if !without.is_empty() {
            for ((out, _), gradient) in weakest.iter().zip(self.f.gradients(&without)) {
                let into = self.steepest(&gradient, chosen, STRONGEST);
                moves.extend(into.into_iter().map(|into| (*out, into)));
            }
        }
        moves.sort_unstable();
        moves.dedup();
        // What is not even a near tie need not be refitted to its end.
        let below = here + NEAR;
        let trial = |(out, into): (usize, usize)| {
            let next = match weakest.iter().position(|(atom, _)| *atom == out) {
                // The minimum without the atom is known: the way from there is short.
                Some(place) => self.with_atom(&without[place], into, below),
                None => self.refitted_to(x, chosen, Some(out), Some(into)),
            };
            Trial { swap: Swap { out, into, gain: here - self.f.value(&next) }, x: next }
        };
        moves.into_par_iter().map(trial).collect()
    }

    /// The minimum over the coordinates of x and of one more atom, or something above `below` where that is not below it.
    fn with_atom(&self, x: &Evaluated<SparseVec>, atom: usize, below: f64) -> Evaluated<SparseVec> {
        let added = IndexSet::new(self.kept.dim(), self.coordinates(&[atom]));
        refit_below(self.f, x.clone(), &x.point().support().union(&added), below)
    }
}
