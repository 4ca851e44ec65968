//! Which sizes and ridges are tried where nobody says, and where a choice among some is the largest of them.

use katoms::Error;
use katoms::loss::{AnyLoss, Loss, Split};
use katoms::operator::{ColumnMoments, LinearOperator};
use katoms::select::{Folds, Sign, phase_transition_k};
use katoms::set::CoordinateSet;
use katoms::space::Subspace;

use super::Features;

/// The largest size of a first range that a criterion chooses from. Where the choice lies near its end, the range goes on.
const FIRST: usize = 30;
/// Up to here every size is tried; from there to twice as many each second one, and so on. So a range that doubles grows
/// by the same number of sizes each time, and neighbours differ by 3 to 6 %.
const DENSE: usize = 32;
/// The largest size of a first range on rows held out, and how much larger than the one before each is. The held-out loss may
/// rise and fall again, so a range is not left before its end.
const FIRST_HELD_OUT: usize = 100;
const RATIO: f64 = 1.35;
/// Sizes that are tried between a choice and each of its neighbours, at most.
const BETWEEN: usize = 8;
/// Ridges as shares of the second derivative of the loss along a column. For classes there is always one: where a few
/// features separate them, no model without a ridge predicts a probability.
const SHARES: [f64; 4] = [0.0, 0.01, 0.1, 1.0];
const SHARES_OF_CLASSES: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// A choice that is the largest size that was tried: the best may be larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// That size.
    pub tried: usize,
    /// Up to which size to look.
    pub further: usize,
    /// The largest size that a criterion can be trusted with, where it chose and has reached it.
    pub trusted: Option<usize>,
}

impl Features<'_> {
    /// The number of atoms that there are to choose from.
    pub fn candidates(&self) -> usize {
        let atoms = self.atoms.candidates();
        (0..atoms.len()).filter(|&atom| !atoms.members(atom).is_empty()).count()
    }

    /// The most columns that an atom has.
    fn widest(&self) -> usize {
        (self.atoms.candidates().widest() / self.loss.outputs_per_row()).max(1)
    }

    /// The largest size up to which a criterion can be trusted with these data: m/(ln ln m · ln p) for m
    /// [observations](Loss::observations) and p columns (Fan and Tang 2013; abess ends there too), or what the phase
    /// transition allows. Beyond it the best of so many models fits the noise of the rows, and every criterion takes it: in
    /// 20 draws of noise of 50 × 200, where this is 6, EBIC chooses 0 in 19 among the sizes up to 6, and 24 in all of them
    /// among those up to 24. A row of weight 2 and that row twice give the same number.
    pub fn trusted_size(&self) -> usize {
        self.trusted_among(self.design.domain()).min(self.candidates())
    }

    /// The same for so many columns.
    pub(super) fn trusted_among(&self, p: usize) -> usize {
        let m = self.loss.observations();
        let carried = phase_transition_k(m, p, Sign::Any).unwrap_or(1);
        // For a handful of rows the logarithms mean nothing, and half of the rows is the end.
        let trusted = m as f64 / ((m as f64).ln().ln().max(0.5) * (p as f64).ln()).max(2.0);
        carried.min(trusted as usize).max(1)
    }

    /// The largest size whose models so many rows can still tell apart: with as many numbers as rows any atoms fit.
    pub fn carried_by(&self, rows: usize) -> usize {
        // Every output has as many rows for its numbers.
        let kept =
            self.atoms.kept().dimension() / self.loss.outputs_per_row() + usize::from(self.preparation.intercept);
        let room = rows.saturating_sub(kept + 1) / self.widest();
        room.max(1).min(self.candidates())
    }

    pub(super) fn carried_in_every_fold(&self, folds: &Folds) -> usize {
        let rows = |fold| self.loss.subset(&folds.training(fold)).map_or(0, |loss| loss.observations());
        self.carried_by((0..folds.count()).map(rows).min().unwrap_or(0))
    }

    pub(super) fn check_size(&self, value: usize) -> Result<(), Error> {
        let max = self.atoms.candidates().len();
        if value > max { Err(Error::OutOfRange { what: "k", value, min: 0, max }) } else { Ok(()) }
    }

    /// Whether a choice among these sizes on rows held out is the largest of them, and the data carry more atoms.
    pub fn edge(&self, sizes: &[usize], chosen: usize) -> Option<Edge> {
        let tried = sizes.iter().copied().max().filter(|&last| sizes.len() > 1 && chosen == last)?;
        let most = self.carried_by(self.loss.observations());
        (tried < most).then(|| Edge { tried, further: (2 * tried).min(most), trusted: None })
    }

    /// The same for the choice of a criterion, which can be trusted up to a [size](Features::trusted_size).
    pub fn edge_of_criterion(&self, sizes: &[usize], chosen: usize) -> Option<Edge> {
        self.edge_among(sizes, chosen, self.trusted_size())
    }

    /// The same where it can be trusted up to this size.
    pub(super) fn edge_among(&self, sizes: &[usize], chosen: usize, trusted: usize) -> Option<Edge> {
        let edge = self.edge(sizes, chosen)?;
        Some(match edge.tried < trusted {
            true => Edge { further: edge.further.min(trusted), ..edge },
            false => Edge { trusted: Some(trusted), ..edge },
        })
    }

    /// The sizes that a criterion chooses from where nobody says, up to `most`: 0 to the end of a first range; then, while the
    /// choice lies in the last quarter, to twice as many. `before` are the largest and the chosen one of those that were
    /// tried.
    pub(super) fn sizes_of_criterion(&self, most: usize, before: Option<(usize, usize)>) -> Option<Vec<usize>> {
        match before {
            None => Some(range(self.trusted_size().min(FIRST).min(most))),
            Some((last, chosen)) => (last < most && 4 * chosen > 3 * last).then(|| range((2 * last).min(most))),
        }
    }

    /// The sizes that are tried on rows held out where nobody says, where every training set carries up to `carried` atoms:
    /// 0 to half as many as there are rows, on a geometric scale. A first range; then, while the choice lies in the upper
    /// half, to twice as many. `before` are the largest and the chosen one of those that were tried.
    pub fn sizes_after(&self, carried: usize, before: Option<(usize, usize)>) -> Option<Vec<usize>> {
        let half = self.loss.observations() / (2 * self.widest());
        let most = carried.min(half).max(1);
        match before {
            None => Some(geometric(most.min(FIRST_HELD_OUT))),
            Some((last, chosen)) => (last < most && 2 * chosen > last).then(|| geometric((2 * last).min(most))),
        }
    }

    /// The ridges that are tried on rows held out where nobody says: shares of the second derivative of the loss along a
    /// column, which for columns of variance 1 is what the rows weigh, or for other losses than squares and classes the sum
    /// of second derivatives at the best constant.
    pub fn ridges(&self) -> Vec<f64> {
        let ones = vec![1.0; self.loss.n_rows()];
        let weights = self.loss.weights().unwrap_or(&ones);
        let mut scale: f64 = match &self.loss {
            AnyLoss::Squares(_) | AnyLoss::Logistic(_) => weights.iter().sum(),
            loss => {
                let mut curvature = vec![0.0; loss.n_outputs()];
                loss.curvature(&self.null_predictions(), &mut curvature);
                curvature.iter().sum::<f64>() / loss.outputs_per_row() as f64
            }
        };
        if !self.preparation.standardize {
            let moments = self.computed_with().moments(weights);
            let square = |mean: f64| if self.preparation.intercept { 0.0 } else { mean * mean };
            let both = moments.variances.iter().zip(&moments.means);
            scale *= both.map(|(variance, &mean)| variance + square(mean)).sum::<f64>() / moments.means.len() as f64;
        }
        let separable = self.loss.classes().is_some();
        let shares = if separable { SHARES_OF_CLASSES } else { SHARES };
        shares.map(|share| self.units.ridge(share * scale)).to_vec()
    }

    /// Tries ranges of sizes in turn. `judged` tells the choice, and whether the work came to its end; `joined` makes one of
    /// what was found before and what was found then.
    pub(super) fn growing<T>(
        next: impl Fn(Option<(usize, usize)>) -> Option<Vec<usize>>,
        mut tried: impl FnMut(&[usize]) -> Result<T, Error>,
        judged: impl Fn(&T) -> (usize, bool),
        joined: impl Fn(T, T) -> T,
    ) -> Result<T, Error> {
        let last = |sizes: &[usize]| sizes.last().copied().unwrap_or(0);
        let mut sizes = next(None).unwrap_or_default();
        let mut found = tried(&sizes)?;
        while let (chosen, true) = judged(&found)
            && let Some(more) = next(Some((last(&sizes), chosen)))
        {
            found = joined(found, tried(&more)?);
            sizes = more;
        }
        Ok(found)
    }
}

/// 0 to the last size, each larger than the one before by a ratio.
fn geometric(last: usize) -> Vec<usize> {
    let next = |&k: &usize| Some((k + 1).max((RATIO * k as f64).round() as usize));
    let mut sizes: Vec<usize> = std::iter::successors(Some(0), next).take_while(|&k| k < last).collect();
    sizes.push(last);
    sizes
}

/// The smallest of these sizes, where that is the choice among them and some atoms are in it: fewer may do as well.
pub(crate) fn lower_edge(sizes: &[usize], chosen: usize) -> Option<usize> {
    sizes.iter().copied().min().filter(|&first| sizes.len() > 1 && chosen == first && first > 0)
}

/// Sizes between the neighbours of a choice among rising sizes, after those up to its lower neighbour, from which models of
/// such sizes grow; empty where there is none.
pub fn sizes_between(sizes: &[usize], chosen: usize) -> Vec<usize> {
    let Some(at) = sizes.iter().position(|&k| k == chosen) else { return Vec::new() };
    let below = sizes[at.saturating_sub(1)];
    let above = sizes.get(at + 1).copied().unwrap_or(chosen);
    let some = |from: usize, to: usize| (from + 1..to).step_by((to - from).div_ceil(BETWEEN).max(1));
    let between: Vec<usize> = some(below, chosen).chain(some(chosen, above)).collect();
    if between.is_empty() { between } else { sizes[..at].iter().copied().chain(between).collect() }
}

/// 0 to the last size, in steps that widen.
fn range(last: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (0..=last.min(DENSE)).collect();
    let (mut from, mut step) = (DENSE, 2);
    while from < last {
        sizes.extend((from + step..=last.min(2 * from)).step_by(step));
        (from, step) = (2 * from, 2 * step);
    }
    if sizes.last() != Some(&last) {
        sizes.push(last);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::{geometric, lower_edge, range, sizes_between};

    #[test]
    fn sizes_on_a_geometric_scale_and_between_two_of_them() {
        assert_eq!(geometric(1), [0, 1]);
        assert_eq!(geometric(100), [0, 1, 2, 3, 4, 5, 7, 9, 12, 16, 22, 30, 41, 55, 74, 100]);
        for last in 1..300 {
            let sizes = geometric(last);
            assert!(sizes.is_sorted_by(|a, b| a < b) && sizes[sizes.len() - 1] == last, "{last}");
        }
        let sizes = geometric(100);
        assert_eq!(sizes_between(&sizes, 3), []);
        assert_eq!(sizes_between(&sizes, 7), [0, 1, 2, 3, 4, 5, 6, 8]);
        assert_eq!(sizes_between(&sizes, 100)[15..17], [75, 79]);
        assert_eq!(sizes_between(&sizes, 0), []);
        let fine = sizes_between(&sizes, 74);
        assert!(fine.is_sorted_by(|a, b| a < b) && fine.len() <= 14 + 16 && fine.contains(&56) && fine.contains(&75));
    }

    #[test]
    fn a_choice_of_the_smallest_size_is_at_the_lower_edge() {
        assert_eq!([5, 6].map(|chosen| lower_edge(&[5, 6, 7], chosen)), [Some(5), None]);
        assert_eq!((lower_edge(&[0, 1, 2], 0), lower_edge(&[5], 5)), (None, None));
    }

    #[test]
    fn ranges_begin_with_the_model_without_atoms_and_widen() {
        assert_eq!(range(6), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(range(32).len(), 33);
        assert_eq!(range(37)[32..], [32, 34, 36, 37]);
        assert_eq!((range(64).len(), range(128).len(), range(256).len()), (49, 65, 81));
        for last in 1..300 {
            let sizes = range(last);
            assert!(sizes.is_sorted_by(|a, b| a < b) && sizes[sizes.len() - 1] == last, "{last}");
        }
    }
}
