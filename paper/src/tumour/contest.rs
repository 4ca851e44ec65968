//! One split: every contestant's setting by cross-validation on the training part, then its timed run on all of it.

use katoms::driver::{Constraint, Options, Run};
use katoms::method::{
    AcceleratedIht, FrankWolfe, Method, Momentum, Refit, Safeguard, Step, largest_curvature, refit_on,
};
use katoms::operator::Dense;
use katoms::set::{ConstraintSet, L1Ball, OverlappingGroups, Structure};
use katoms::space::{Point, SparseVec};
use serde::Serialize;

use super::cohort::Cohort;
use super::sample::{Judged, Problem, Sample, Shifted, auc};
use super::settings::Config;
use super::split::Split;
use super::yardstick;
use crate::race::{Mark, Race};
use crate::{Contestant, Error, Progress};

/// A ridge, and a number of groups or a radius.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Setting {
    pub ridge: f64,
    pub size: f64,
}

/// What a contestant did on a split.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Trial {
    pub contestant: Contestant,
    /// What cross-validation chose.
    pub setting: Setting,
    /// Test tumours whose class was not named, and all of them.
    pub wrong: usize,
    pub tested: usize,
    pub auc: f64,
    /// Genes with a coefficient.
    pub genes: usize,
    /// The timed run.
    #[serde(skip)]
    pub race: Race,
    /// Where its objective was heading: the minimum over the ball, or over the genes it ended with.
    pub end: f64,
    /// Where it had converged; `None`: the run ended before.
    pub converged: Option<Mark>,
}

impl Trial {
    /// The share of test tumours whose class was not named.
    pub fn error(&self) -> f64 {
        self.wrong as f64 / self.tested as f64
    }

    /// Where it had converged, or else where it stood at its end, which is earlier.
    pub fn cost(&self) -> Mark {
        let last = self.race.marks.last().copied();
        let nothing = Mark { iteration: 0, passes: 0, seconds: 0.0, objective: f64::NAN };
        self.converged.or(last).unwrap_or(nothing)
    }

    /// (f − its end) as a share of the whole descent, at every mark.
    pub fn gaps(&self) -> impl Iterator<Item = (&Mark, f64)> {
        let descent = self.race.marks.first().map_or(f64::NAN, |start| start.objective - self.end);
        self.race.marks.iter().map(move |mark| (mark, (mark.objective - self.end) / descent))
    }
}

/// All contestants on a split.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Contest {
    pub trials: Vec<Trial>,
    /// IHT on the setting that AccIHT chose: what momentum alone does.
    pub plain_at_same: Trial,
    /// The share of the test tumours that always naming the larger class gets wrong.
    pub guess: f64,
}

impl Contest {
    /// The trial of a contestant.
    pub fn of(&self, contestant: Contestant) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.contestant == contestant)
    }
}

/// How many pieces of progress a split is.
pub(super) const PIECES: usize = 4;

/// The split, and all that is asked of it.
pub(super) struct Arena<'a> {
    cohort: &'a Cohort,
    config: &'a Config,
    split: &'a Split,
    progress: &'a Progress<'a>,
    groups: OverlappingGroups,
    /// Numbers of groups, none above what the cohort has.
    sizes: Vec<usize>,
}

impl<'a> Arena<'a> {
    pub fn new(
        cohort: &'a Cohort,
        config: &'a Config,
        split: &'a Split,
        progress: &'a Progress<'a>,
    ) -> Result<Self, Error> {
        let groups = OverlappingGroups::new(1, cohort.genes.len(), cohort.groups.clone())?;
        let most = cohort.groups.len();
        let mut sizes: Vec<usize> = config.groups.iter().map(|&k| k.min(most)).collect();
        sizes.dedup();
        Ok(Self { cohort, config, split, progress, groups, sizes })
    }

    /// Runs it.
    pub fn contest(&self) -> Result<Contest, Error> {
        let sample = self.sample(&self.split.training)?;
        let plain = self.validated_groups(Contestant::Iht)?;
        let accelerated = self.validated_groups(Contestant::AccIht)?;
        let ball = self.validated_ball()?;
        let mut trials = self.on_balls(&sample, ball)?;
        trials.push(self.on_groups(&sample, Contestant::Iht, plain)?);
        trials.push(self.on_groups(&sample, Contestant::AccIht, accelerated)?);
        trials.push(self.on_groups(&sample, Contestant::Katoms, accelerated)?);
        let plain_at_same = match trials.iter().find(|t| t.contestant == Contestant::Iht) {
            Some(trial) if plain == accelerated => trial.clone(),
            _ => self.on_groups(&sample, Contestant::Iht, accelerated)?,
        };
        self.progress.done("timed runs")?;
        let guess = self.classes(&self.split.test).sum::<f64>() / self.split.test.len() as f64;
        Ok(Contest { trials, plain_at_same, guess })
    }

    fn sample(&self, rows: &[usize]) -> Result<Sample, Error> {
        Ok(Sample::new(self.cohort, rows, self.config.intercept)?)
    }

    fn classes<'r>(&'r self, rows: &'r [usize]) -> impl Iterator<Item = f64> + 'r {
        rows.iter().map(|&i| self.cohort.classes[i])
    }

    /// Cross-validation of a method on groups.
    fn validated_groups(&self, contestant: Contestant) -> Result<Setting, Error> {
        let sets = self.sizes.iter().map(|&k| self.groups.with_atoms(k)).collect::<Result<Vec<_>, _>>()?;
        let sets = &sets;
        let sizes: Vec<f64> = self.sizes.iter().map(|&k| k as f64).collect();
        self.validated(contestant.label(), &sizes, |sample| {
            let bend = largest_curvature(&sample.problem(0.0)?);
            Ok(move |f: &Problem<'_>, s: usize, x: SparseVec| {
                let method = self.method(contestant, Step::Fixed(1.0 / (bend + f.ridge_weight())));
                Ok(finished(Run::starting_at(f, &sets[s], &method, self.config.tuning_options(), x)?))
            })
        })
    }

    /// Cross-validation on balls, for all Frank–Wolfe methods at once: they have one minimum.
    fn validated_ball(&self) -> Result<Setting, Error> {
        let radii = &self.config.radii;
        self.validated("Frank–Wolfe", radii, |_| {
            Ok(|f: &Problem<'_>, s: usize, x: SparseVec| {
                let ball = L1Ball::new(radii[s], self.cohort.genes.len())?;
                let method = FrankWolfe::pairwise();
                Ok(finished(Run::starting_at(f, &ball, &method, self.config.tuning_options(), x)?))
            })
        })
    }

    /// Cross-validation over ridges and sizes. `prepare` looks at a fold and gives what fits a size from a start.
    ///
    /// Fits are chained: from the largest ridge to the smallest, each size starts where it ended under the ridge before;
    /// under the first, where the size before it ended. What is held out never helps.
    fn validated<F>(
        &self,
        who: &str,
        sizes: &[f64],
        prepare: impl Fn(&Sample) -> Result<F, Error>,
    ) -> Result<Setting, Error>
    where
        F: Fn(&Problem<'_>, usize, SparseVec) -> Result<SparseVec, Error>,
    {
        let what = format!("{who}: cross-validation");
        let ridges = &self.config.ridges;
        let mut falling: Vec<usize> = (0..ridges.len()).collect();
        falling.sort_by(|&a, &b| ridges[b].total_cmp(&ridges[a]));
        let mut grid = vec![Judged::default(); ridges.len() * sizes.len()];
        for (fitted, held_out) in &self.split.folds {
            let sample = self.sample(fitted)?;
            let fit = prepare(&sample)?;
            let mut ends: Vec<SparseVec> = Vec::new();
            for &r in &falling {
                let f = sample.problem(ridges[r])?;
                for s in 0..sizes.len() {
                    self.progress.at(&what)?;
                    let zero = || SparseVec::zero(self.cohort.genes.len());
                    let start = ends.get(s).or(ends.last()).map_or_else(zero, Clone::clone);
                    let end = fit(&f, s, start)?;
                    let odds = sample.log_odds(&end, self.cohort, held_out);
                    let cell = &mut grid[r * sizes.len() + s];
                    *cell = cell.plus(Judged::new(&odds, self.classes(held_out)));
                    if s < ends.len() { ends[s] = end } else { ends.push(end) }
                }
            }
        }
        self.progress.done(&what)?;
        Ok(best(&grid, ridges, sizes))
    }

    /// How a contestant on groups moves.
    fn method(&self, contestant: Contestant, step: Step) -> AcceleratedIht {
        let momentum = match contestant {
            Contestant::AccIht => self.config.momentum,
            Contestant::Katoms => return AcceleratedIht::for_structure(Structure::Coordinates),
            _ => 0.0,
        };
        AcceleratedIht { step, momentum: Momentum::Constant(momentum), refit: Refit::Never, safeguard: Safeguard::Off }
    }

    /// A timed run on groups; the largest eigenvalue is computed within it.
    fn on_groups(&self, sample: &Sample, contestant: Contestant, setting: Setting) -> Result<Trial, Error> {
        let f = sample.problem(setting.ridge)?;
        let set = self.groups.with_atoms(setting.size as usize)?;
        let method = self.method(contestant, Step::InverseLipschitz);
        let (race, x, _) = self.recorded(contestant, &f, &set, &method, self.config.timed_options())?;
        let support = x.support();
        let end = f.value(&refit_on(&f, f.at(x.clone()), &support));
        Ok(self.trial(sample, &x, race, setting, end))
    }

    /// Timed runs of all Frank–Wolfe methods on one ball.
    fn on_balls(&self, sample: &Sample, setting: Setting) -> Result<Vec<Trial>, Error> {
        let f = sample.problem(setting.ridge)?;
        let ball = L1Ball::new(setting.size, self.cohort.genes.len())?;
        let options = || self.config.timed_options();
        let runs = [
            self.recorded(Contestant::FrankWolfe, &f, &ball, &FrankWolfe::default(), options())?,
            self.recorded(Contestant::AwayFrankWolfe, &f, &ball, &FrankWolfe::away(), options())?,
            self.recorded(Contestant::PairwiseFrankWolfe, &f, &ball, &FrankWolfe::pairwise(), options())?,
        ];
        // What one of them has proven holds for all.
        let least = yardstick::minimum(&f, &ball, 0.05 * self.config.accuracy);
        let end = runs.iter().filter_map(|run| run.2).fold(least, f64::max);
        Ok(runs.into_iter().map(|(race, x, _)| self.trial(sample, &x, race, setting, end)).collect())
    }

    /// Runs a method to its end: the record, the answer, and what f was proven not to go below.
    fn recorded<S, M>(
        &self,
        contestant: Contestant,
        f: &Problem<'_>,
        set: &S,
        method: &M,
        options: Options,
    ) -> Result<(Race, SparseVec, Option<f64>), Error>
    where
        S: for<'d> Constraint<&'d Dense<'static, f64>, Shifted>,
        M: for<'d> Method<&'d Dense<'static, f64>, Shifted, S>,
    {
        let start = f.value(&f.at(SparseVec::zero(self.cohort.genes.len())));
        let mut marks = vec![Mark { iteration: 0, passes: 0, seconds: 0.0, objective: start }];
        let mut proven: Option<f64> = None;
        let mut run = Run::new(f, set, method, options)?;
        while !run.is_done() {
            let event = run.step();
            let (iteration, passes, seconds) = (event.iteration, event.passes, event.seconds);
            marks.push(Mark { iteration, passes, seconds, objective: event.objective });
            let bound = event.gap.map(|gap| event.objective - gap);
            proven = bound.map(|bound| proven.map_or(bound, |p| p.max(bound))).or(proven);
            self.progress.at(contestant.label())?;
        }
        let outcome = run.outcome_unchecked();
        Ok((Race { contestant, setting: String::new(), marks, status: outcome.status }, outcome.point, proven))
    }

    /// What a run's answer is worth on the test part, and where it had converged.
    fn trial(&self, sample: &Sample, x: &SparseVec, race: Race, setting: Setting, end: f64) -> Trial {
        let rows = &self.split.test;
        let odds = sample.log_odds(x, self.cohort, rows);
        let classes: Vec<f64> = self.classes(rows).collect();
        let start = race.marks.first().map_or(f64::NAN, |mark| mark.objective);
        let converged = race.reaches(end + self.config.accuracy * (start - end)).copied();
        Trial {
            contestant: race.contestant,
            setting,
            wrong: Judged::new(&odds, classes.iter().copied()).wrong,
            tested: rows.len(),
            auc: auc(&odds, &classes),
            genes: x.values().iter().filter(|v| **v != 0.0).count(),
            end,
            converged,
            race,
        }
    }
}

/// Where a run ends.
fn finished<'f, S, M>(mut run: Run<'_, &'f Dense<'static, f64>, Shifted, S, M>) -> SparseVec
where
    S: Constraint<&'f Dense<'static, f64>, Shifted>,
    M: Method<&'f Dense<'static, f64>, Shifted, S>,
{
    while !run.is_done() {
        run.step();
    }
    run.outcome_unchecked().point
}

/// The setting with the fewest wrong tumours; of equals the likeliest one, then the first.
fn best(grid: &[Judged], ridges: &[f64], sizes: &[f64]) -> Setting {
    let order = |a: &usize, b: &usize| {
        grid[*a].wrong.cmp(&grid[*b].wrong).then(grid[*a].loss.total_cmp(&grid[*b].loss)).then(a.cmp(b))
    };
    let at = (0..grid.len()).min_by(order).unwrap_or(0);
    Setting { ridge: ridges[at / sizes.len()], size: sizes[at % sizes.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_errors_win_then_the_likeliest_then_the_first() {
        let judged = |wrong, loss| Judged { wrong, loss };
        let grid = [judged(3, 1.0), judged(2, 9.0), judged(2, 5.0), judged(2, 5.0)];
        let chosen = best(&grid, &[0.1, 1.0], &[2.0, 5.0]);
        assert_eq!(chosen, Setting { ridge: 1.0, size: 2.0 });
    }
}
