//! One picture: the problem made from it, and every method's run on it.

use std::ops::Range;

use katoms::driver::{Constraint, Options, Run, Stages, Stop};
use katoms::loss::LeastSquares;
use katoms::method::{AcceleratedIht, Bfgd, FrankWolfe, Method, Momentum, RiemannianCg, SoftImpute, Step};
use katoms::operator::{Entries, LinearOperator};
use katoms::penalty::Nuclear;
use katoms::set::{ConstraintSet, NuclearBall, Rank};
use katoms::simulate;
use katoms::space::{LowRank, Point};
use katoms::{Objective, Status};
use serde::Serialize;

use super::picture::Grey;
use super::search::PaperRank;
use super::{Config, Path};
use crate::race::{Entry, Mark, Preparation, Race, race, to_the_end};
use crate::{Contestant, Error, Progress};

/// The PSNR of an answer without any error, in place of ∞.
const EXACT_PSNR: f64 = 300.0;
/// How often a picture's contest tells that a piece is done: the problem and each run.
pub(super) const PIECES: usize = 11;
/// The methods as the paper has them come first.
pub(super) const PAPERS: Range<usize> = 0..4;

/// A picture of low rank of which some pixels are seen.
pub(super) struct Problem {
    pub picture: Grey,
    /// The picture reduced to the rank.
    pub truth: LowRank,
    /// The same, pixel by pixel.
    pub low: Grey,
    /// Which pixels are seen, row by row.
    pub seen: Vec<bool>,
    /// The largest singular value of the truth and its least.
    pub spectrum: (f64, f64),
    /// f(0).
    pub zero: f64,
    f: Objective<Entries, LeastSquares>,
    rank: Rank,
}

impl Problem {
    /// Reduces a picture and hides pixels of it.
    pub fn new(picture: Grey, config: &Config) -> Result<Self, Error> {
        let shape = (picture.rows, picture.columns);
        let undone = || Error::msg(format!("{}: its singular values cannot be found", picture.name));
        let (mut left, values, right) = picture.matrix().svd().ok_or_else(undone)?;
        left.scale_columns(&values);
        let kept = config.rank.min(values.iter().take_while(|&&s| s > f64::EPSILON * values[0]).count());
        let truth = LowRank::from_factors(&left.leading_columns(kept), &right.leading_columns(kept))?;
        let (rows, columns) = simulate::observed_places(shape.0, shape.1, config.seen, config.seed);
        let mut seen = vec![false; shape.0 * shape.1];
        rows.iter().zip(&columns).for_each(|(i, j)| seen[i * shape.1 + j] = true);
        let entries = Entries::new(shape, &rows, &columns)?;
        let mut values_seen = vec![0.0; rows.len()];
        entries.apply(&truth, &mut values_seen);
        let f = Objective::new(entries, LeastSquares::new(values_seen)?)?;
        let zero = f.value(&f.at(LowRank::zero(shape)));
        let spectrum = (values[0], values[kept - 1]);
        let low = pixels(&picture, &truth);
        Ok(Self { truth, low, seen, spectrum, zero, f, rank: Rank::new(config.rank, shape)?, picture })
    }

    /// The share of pixels that are seen.
    pub fn share(&self) -> f64 {
        self.seen.iter().filter(|seen| **seen).count() as f64 / self.seen.len() as f64
    }

    /// A point as a picture.
    pub fn shown(&self, x: &LowRank) -> Grey {
        pixels(&self.picture, x)
    }

    /// How near a point is to the picture of low rank and to the original.
    fn nearness(&self, x: &LowRank) -> Nearness {
        let shown = self.shown(x);
        let against = |other: &Grey| {
            let differences = shown.values.iter().zip(&other.values).map(|(a, b)| (a - b).abs());
            // A NaN must not be lost.
            differences.fold((0.0, 0.0), |(sum, most): (f64, f64), d| (sum + d * d, if d <= most { most } else { d }))
        };
        let (_, largest) = against(&self.low);
        Nearness {
            psnr: self.decibels(x.distance(&self.truth).powi(2)),
            psnr_original: self.decibels(against(&self.picture).0),
            largest,
        }
    }

    /// From the sum of squared differences over all pixels.
    fn decibels(&self, square: f64) -> f64 {
        decibels(square / self.picture.values.len() as f64)
    }
}

/// The PSNR of a mean of squared differences. What is not a number stays none.
fn decibels(mean: f64) -> f64 {
    if mean == 0.0 { EXACT_PSNR } else { -10.0 * mean.log10() }
}

/// A point as a picture of the size of another.
fn pixels(like: &Grey, x: &LowRank) -> Grey {
    let dense = x.left().times(x.core()).times_transposed(x.right());
    let columns = like.columns;
    like.with((0..like.values.len()).map(|at| dense.at(at / columns, at % columns)).collect())
}

/// How near an answer is.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Nearness {
    /// PSNR against the picture of low rank, in dB, where white is 1.
    pub psnr: f64,
    /// PSNR against the original.
    pub psnr_original: f64,
    /// The largest difference of a pixel from the picture of low rank.
    pub largest: f64,
}

/// A run that is over.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finished {
    pub race: Race,
    pub nearness: Nearness,
    /// The answer.
    #[serde(skip)]
    pub point: LowRank,
}

impl Finished {
    /// Whether every pixel is within half a grey level of 8 bits.
    pub fn is_exact(&self) -> bool {
        self.nearness.largest < 0.5 / 255.0
    }

    /// Who ran, and how where there is more than one way.
    pub fn label(&self) -> String {
        let (name, setting) = (self.race.contestant.label(), &self.race.setting);
        if setting.is_empty() { name.into() } else { format!("{name}, {setting}") }
    }

    /// Where it ended.
    pub fn last(&self) -> Mark {
        // A race has its start at least.
        self.race.marks[self.race.marks.len() - 1]
    }

    /// Whether f ended above where it began, or as no number at all.
    pub fn has_diverged(&self) -> bool {
        let (start, end) = (self.race.marks[0].objective, self.last().objective);
        self.race.status == Status::Diverged || !(end <= start) || !self.nearness.psnr.is_finite()
    }

    /// Whether the cap ended it, and not that it was done.
    pub fn was_cut(&self) -> bool {
        self.race.status == Status::IterationCap && !self.has_diverged()
    }

    /// How it ended, in a word.
    pub fn ended(&self) -> &'static str {
        match self.race.status {
            _ if self.has_diverged() => "diverged",
            Status::Converged => "converged",
            Status::IterationCap => "cap",
            Status::Stalled => "stalled",
            Status::PassCap | Status::TimeLimit | Status::Stopped | Status::Diverged | Status::Separated => "stopped",
        }
    }

    /// ", at its cap" where that is so.
    pub fn at_cap(&self) -> &'static str {
        if self.was_cut() { ", at its cap" } else { "" }
    }

    /// Its PSNR, where it has one.
    pub fn decibels(&self) -> String {
        if self.has_diverged() { "diverged".into() } else { format!("{:.1} dB", self.nearness.psnr) }
    }
}

/// What all the runs share.
struct Contest<'a> {
    problem: &'a Problem,
    config: &'a Config,
    progress: &'a Progress,
    finished: Vec<Finished>,
}

/// Runs every method, one after another, so that seconds can be compared: the paper's four first.
pub(super) fn contest(problem: &Problem, config: &Config, progress: &Progress) -> Result<Vec<Finished>, Error> {
    let rank = &problem.rank;
    let radius = problem.truth.singular_values().iter().sum();
    let ball = NuclearBall::new(radius, rank.domain())?;
    let papers = PaperRank::new(rank.clone(), config.rounds);
    let iht = AcceleratedIht::plain(Step::LineSearch);
    let accelerated = AcceleratedIht { momentum: Momentum::Constant(config.momentum), ..iht };
    let ours = AcceleratedIht::for_structure(rank.structure());
    let (direct, staged) = (Stages::direct(), Stages::for_set(rank));
    let mut all = Contest { problem, config, progress, finished: Vec::new() };

    all.run(Contestant::AccIht, "", (config.iterations, &direct), &papers, &accelerated)?;
    all.run(Contestant::Iht, "", (config.iterations, &direct), &papers, &iht)?;
    all.run(Contestant::FrankWolfe, "", (config.light_iterations, &direct), &ball, &FrankWolfe::default())?;
    all.run(Contestant::Bfgd, "", (config.light_iterations, &direct), rank, &Bfgd::default())?;

    all.run(Contestant::Bfgd, "staged", (config.light_iterations, &staged), rank, &Bfgd::default())?;
    all.run(Contestant::ClosedForm, "", (config.light_iterations, &direct), rank, &ours)?;
    all.soft_impute(&config.path)?;
    all.run(Contestant::RiemannianCg, "staged", (config.most_iterations, &staged), rank, &RiemannianCg::default())?;
    all.run(Contestant::RiemannianCg, "", (config.light_iterations, &direct), rank, &RiemannianCg::default())?;
    all.run(Contestant::Staged, "", (config.most_iterations, &staged), rank, &ours)?;
    Ok(all.finished)
}

impl Contest<'_> {
    /// One run from zero.
    fn run<S, M>(
        &mut self,
        contestant: Contestant,
        setting: &str,
        (iterations, stages): (usize, &Stages),
        set: &S,
        method: &M,
    ) -> Result<(), Error>
    where
        S: Constraint<Entries, LeastSquares>,
        M: Method<Entries, LeastSquares, S>,
    {
        let options =
            Options { stop: to_the_end(iterations, self.config.perfect), stages: stages.clone(), ..Options::default() };
        let entry = Entry { contestant, setting: setting.into(), options, preparation: Preparation::default() };
        let (race, outcome) = race(entry, &self.problem.f, set, method, self.progress, |_, _| ())?;
        self.end(race, outcome.point)
    }

    /// Soft-Impute with λ falling in equal ratios, each fit started at the answer before. Its marks are f without the
    /// penalty, as those of the others. The answer is the best of the path on the pixels that were not seen: no user
    /// could choose better. It counts as cut by its cap where a fit for one λ was.
    fn soft_impute(&mut self, path: &Path) -> Result<(), Error> {
        let (contestant, f) = (Contestant::SoftImpute, &self.problem.f);
        let shape = f.operator().domain();
        let mut point = LowRank::zero(shape);
        let mut gradient = f.operator().new_covector();
        f.gradient(&f.at(point.clone()), &mut gradient);
        let largest = Nuclear::largest_lambda(&gradient);
        // Each entry is seen once at most: no curvature is above 1.
        let method = SoftImpute { curvature: Some(1.0) };
        let stop = Stop { tolerance: 1e-6, ..to_the_end(path.iterations, self.config.perfect) };
        let mut marks = vec![Mark { iteration: 0, passes: 1, seconds: 0.0, objective: self.problem.zero }];
        let mut status = Status::Converged;
        let mut best: Option<(f64, LowRank)> = None;
        for i in 1..=path.lambdas {
            let penalty = Nuclear::new(largest * path.least.powf(i as f64 / path.lambdas as f64), shape)?;
            let before = marks[marks.len() - 1];
            let mut run = Run::starting_at(f, &penalty, &method, Options { stop, ..Options::default() }, point)?;
            while !run.is_done() {
                let event = run.step();
                marks.push(Mark {
                    iteration: before.iteration + event.iteration,
                    passes: before.passes + event.passes,
                    seconds: before.seconds + event.seconds,
                    objective: f.value(&f.at(run.iterate().clone())),
                });
                self.progress.at(contestant.label())?;
            }
            let outcome = run.outcome_unchecked();
            if outcome.status != Status::Converged {
                status = outcome.status;
            }
            point = outcome.point;
            let error = point.distance(&self.problem.truth);
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, point.clone()));
            }
        }
        let answer = best.map_or(point, |(_, point)| point);
        self.end(Race { contestant, setting: String::new(), marks, status }, answer)
    }

    fn end(&mut self, race: Race, point: LowRank) -> Result<(), Error> {
        let finished = Finished { nearness: self.problem.nearness(&point), race, point };
        self.progress.done(&format!("{}: {}", self.problem.picture.name, finished.label()))?;
        self.finished.push(finished);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_of_zero_is_exact() {
        assert_eq!((decibels(0.0), decibels(1e-2)), (EXACT_PSNR, 20.0));
        assert!(decibels(f64::NAN).is_nan());
        assert_eq!(decibels(f64::INFINITY), f64::NEG_INFINITY);
    }
}
