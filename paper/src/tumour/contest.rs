//! One split: every contestant's setting by cross-validation on the training part, then its timed run on all of it.

use anyhow::Result;
use katoms::driver::{Constraint, Event, Run};
use katoms::method::{AcceleratedIht, FrankWolfe, Method, Step, largest_curvature, refit_on};
use katoms::operator::Dense;
use katoms::select::Folds;
use katoms::set::{ConstraintSet, L1Ball, OverlappingGroups, Structure};
use katoms::simulate::generator;
use katoms::space::{Point, SparseVec};
use rand::RngExt;
use serde::Serialize;

use super::cohort::Cohort;
use super::sample::{Judged, Problem, Sample, Shifted};
use super::{Config, yardstick};
use crate::race::{Entry, Mark, Preparation, Race, published, race};
use crate::scores::auc;
use crate::{Contestant, Progress};

/// Tumours to train on and to test, drawn at random with both classes in proportion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    training: Vec<usize>,
    test: Vec<usize>,
    /// For each fold of the training part the rows that are fitted, and those held out.
    folds: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Split {
    /// The split of this number.
    pub fn new(cohort: &Cohort, config: &Config, number: usize) -> Result<Self> {
        let mut rng = generator(config.seed, 100 + number as u64);
        let mut training = Vec::new();
        for class in [0.0, 1.0] {
            let mut rows: Vec<usize> = (0..cohort.tumours()).filter(|&i| cohort.classes[i] == class).collect();
            for i in (1..rows.len()).rev() {
                rows.swap(i, rng.random_range(0..=i));
            }
            rows.truncate((config.training * rows.len() as f64).round() as usize);
            training.extend(rows);
        }
        training.sort_unstable();
        let test = (0..cohort.tumours()).filter(|i| training.binary_search(i).is_err()).collect();
        let classes: Vec<f64> = training.iter().map(|&i| cohort.classes[i]).collect();
        let dealt = Folds::stratified(&classes, config.folds, config.seed.wrapping_add(number as u64))?;
        let rows = |places: Vec<usize>| places.into_iter().map(|place| training[place]).collect();
        let folds = (0..config.folds).map(|fold| (rows(dealt.training(fold)), rows(dealt.held_out(fold)))).collect();
        Ok(Self { training, test, folds })
    }
}

/// A ridge, and a number of groups or a radius.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Setting {
    pub ridge: f64,
    pub size: f64,
}

/// What a contestant did on a split.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
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
        self.converged.unwrap_or(self.race.marks[self.race.marks.len() - 1])
    }

    /// (f − its end) as a share of the whole descent, at every mark.
    pub fn gaps(&self) -> impl Iterator<Item = (&Mark, f64)> {
        let descent = self.race.marks[0].objective - self.end;
        self.race.marks.iter().map(move |mark| (mark, (mark.objective - self.end) / descent))
    }
}

/// All contestants on a split.
#[derive(Debug, Clone, Serialize)]
pub struct Contest {
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
pub const PIECES: usize = 4;

/// The split, and all that is asked of it.
pub struct Arena<'a> {
    pub cohort: &'a Cohort,
    pub config: &'a Config,
    pub split: &'a Split,
    pub progress: &'a Progress,
}

impl Arena<'_> {
    pub fn contest(&self) -> Result<Contest> {
        let sample = self.sample(&self.split.training)?;
        let groups = OverlappingGroups::new(1, self.cohort.genes.len(), self.cohort.groups.clone())?;
        let plain = self.validated_groups(&groups, Contestant::Iht)?;
        let accelerated = self.validated_groups(&groups, Contestant::AccIht)?;
        let mut trials = self.on_balls(&sample, self.validated_ball()?)?;
        trials.push(self.on_groups(&sample, &groups, Contestant::Iht, plain)?);
        trials.push(self.on_groups(&sample, &groups, Contestant::AccIht, accelerated)?);
        trials.push(self.on_groups(&sample, &groups, Contestant::Katoms, accelerated)?);
        let plain_at_same = match trials.iter().find(|t| t.contestant == Contestant::Iht) {
            Some(trial) if plain == accelerated => trial.clone(),
            _ => self.on_groups(&sample, &groups, Contestant::Iht, accelerated)?,
        };
        self.progress.done("timed runs")?;
        let guess = self.classes(&self.split.test).sum::<f64>() / self.split.test.len() as f64;
        Ok(Contest { trials, plain_at_same, guess })
    }

    fn sample(&self, rows: &[usize]) -> Result<Sample> {
        Ok(Sample::new(self.cohort, rows, self.config.intercept)?)
    }

    fn classes<'r>(&'r self, rows: &'r [usize]) -> impl Iterator<Item = f64> + 'r {
        rows.iter().map(|&i| self.cohort.classes[i])
    }

    /// Cross-validation of a method on groups; no more groups than the cohort has.
    fn validated_groups(&self, groups: &OverlappingGroups, contestant: Contestant) -> Result<Setting> {
        let mut sizes: Vec<usize> = self.config.groups.iter().map(|&k| k.min(self.cohort.groups.len())).collect();
        sizes.dedup();
        let sets = &sizes.iter().map(|&k| groups.with_atoms(k)).collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<f64> = sizes.iter().map(|&k| k as f64).collect();
        self.validated(contestant.label(), &sizes, |sample| {
            let largest = largest_curvature(&sample.problem(0.0)?);
            Ok(move |f: &Problem<'_>, s: usize, x: SparseVec| {
                let method = self.method(contestant, Step::Fixed(1.0 / (largest + f.ridge_weight())));
                Ok(finished(Run::starting_at(f, &sets[s], &method, self.config.tuning_options(), x)?))
            })
        })
    }

    /// Cross-validation on balls, for all Frank–Wolfe methods at once: they have one minimum.
    fn validated_ball(&self) -> Result<Setting> {
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
    fn validated<F>(&self, who: &str, sizes: &[f64], prepare: impl Fn(&Sample) -> Result<F>) -> Result<Setting>
    where
        F: Fn(&Problem<'_>, usize, SparseVec) -> Result<SparseVec>,
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
        match contestant {
            Contestant::AccIht => published(step, self.config.momentum),
            Contestant::Katoms => AcceleratedIht::for_structure(Structure::Coordinates),
            _ => published(step, 0.0),
        }
    }

    /// A timed run on groups; the largest eigenvalue is computed within it.
    fn on_groups(
        &self,
        sample: &Sample,
        groups: &OverlappingGroups,
        who: Contestant,
        setting: Setting,
    ) -> Result<Trial> {
        let f = sample.problem(setting.ridge)?;
        let set = groups.with_atoms(setting.size as usize)?;
        let (race, x, _) = self.recorded(who, &f, &set, &self.method(who, Step::InverseLipschitz))?;
        let support = x.support();
        let end = f.value(&refit_on(&f, f.at(x.clone()), &support));
        Ok(self.trial(sample, &x, race, setting, end))
    }

    /// Timed runs of all Frank–Wolfe methods on one ball.
    fn on_balls(&self, sample: &Sample, setting: Setting) -> Result<Vec<Trial>> {
        let f = sample.problem(setting.ridge)?;
        let ball = L1Ball::new(setting.size, self.cohort.genes.len())?;
        let runs = [
            self.recorded(Contestant::FrankWolfe, &f, &ball, &FrankWolfe::default())?,
            self.recorded(Contestant::AwayFrankWolfe, &f, &ball, &FrankWolfe::away())?,
            self.recorded(Contestant::PairwiseFrankWolfe, &f, &ball, &FrankWolfe::pairwise())?,
        ];
        // What one of them has proven holds for all.
        let least = yardstick::minimum(&f, &ball, 0.05 * self.config.accuracy);
        let end = runs.iter().map(|run| run.2).fold(least, f64::max);
        Ok(runs.into_iter().map(|(race, x, _)| self.trial(sample, &x, race, setting, end)).collect())
    }

    /// Runs a method to its end: the record, the answer, and what f was proven not to go below.
    fn recorded<S, M>(
        &self,
        contestant: Contestant,
        f: &Problem<'_>,
        set: &S,
        method: &M,
    ) -> Result<(Race, SparseVec, f64)>
    where
        S: for<'d> Constraint<&'d Dense<'static, f64>, Shifted>,
        M: for<'d> Method<&'d Dense<'static, f64>, Shifted, S>,
    {
        let (options, preparation) = (self.config.timed_options(), Preparation::default());
        let entry = Entry { contestant, setting: String::new(), options, preparation };
        let mut proven = f64::NEG_INFINITY;
        let look = |event: &Event, _: &_| {
            proven = event.gap.map_or(proven, |gap| proven.max(event.objective - gap));
        };
        let (race, outcome) = race(entry, f, set, method, self.progress, look)?;
        Ok((race, outcome.point, proven))
    }

    /// What a run's answer is worth on the test part, and where it had converged.
    fn trial(&self, sample: &Sample, x: &SparseVec, race: Race, setting: Setting, end: f64) -> Trial {
        let rows = &self.split.test;
        let odds = sample.log_odds(x, self.cohort, rows);
        let start = race.marks[0].objective;
        let converged = race.reaches(end + self.config.accuracy * (start - end)).copied();
        Trial {
            contestant: race.contestant,
            setting,
            wrong: Judged::new(&odds, self.classes(rows)).wrong,
            tested: rows.len(),
            auc: auc(&odds, |i| self.cohort.classes[rows[i]] == 1.0),
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
    use crate::{Experiment, Request};

    #[test]
    fn the_fewest_errors_win_then_the_likeliest_then_the_first() {
        let judged = |wrong, loss| Judged { wrong, loss };
        let grid = [judged(3, 1.0), judged(2, 9.0), judged(2, 5.0), judged(2, 5.0)];
        let chosen = best(&grid, &[0.1, 1.0], &[2.0, 5.0]);
        assert_eq!(chosen, Setting { ridge: 1.0, size: 2.0 });
    }

    #[test]
    fn the_papers_cohort_is_split_as_the_paper_splits_it() {
        let config: Config = Experiment::Tumour.settings(&Request::default()).unwrap();
        let classes: Vec<f64> = (0..295).map(|i| f64::from(u8::from(i < 78))).collect();
        let cohort = Cohort::new("c".into(), true, vec![vec![0.0; 295]], classes, &[vec![0]]);
        let whole = |a: &[usize], b: &[usize]| {
            let mut both = [a, b].concat();
            both.sort_unstable();
            both
        };
        let splits: Vec<Split> = (0..3).map(|number| Split::new(&cohort, &config, number).unwrap()).collect();
        for split in &splits {
            assert_eq!((split.training.len(), split.test.len(), split.folds.len()), (118, 177, 5));
            assert_eq!(split.test.iter().filter(|&&i| i < 78).count(), 47);
            assert!(whole(&split.training, &split.test).into_iter().eq(0..295));
            for (fitted, held_out) in &split.folds {
                assert_eq!(whole(fitted, held_out), split.training);
                assert!(held_out.iter().any(|&i| i < 78) && fitted.iter().any(|&i| i < 78));
            }
        }
        assert!(splits[0] != splits[1] && splits[1] != splits[2]);
    }
}
