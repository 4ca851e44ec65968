//! One picture: the problem made from it, and every method's run on it.

use std::ops::Range;

use anyhow::{Context, Result};
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

use super::Config;
use super::picture::Grey;
use super::search::PaperRank;
use crate::race::{Entry, Mark, Preparation, Race, race, to_the_end};
use crate::{Contestant, Progress};

/// The PSNR of an answer without any error, in place of ∞.
const EXACT_PSNR: f64 = 300.0;
/// How many pieces of work a picture is: the problem and each run.
pub const PIECES: usize = 11;
/// The methods as the paper has them come first.
pub const PAPERS: Range<usize> = 0..4;

/// A picture of low rank of which some pixels are seen.
pub struct Problem {
    pub picture: Grey,
    /// The picture reduced to the rank, as factors and pixel by pixel.
    truth: LowRank,
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
    pub fn new(picture: Grey, config: &Config) -> Result<Self> {
        let shape = (picture.rows, picture.columns);
        let undone = || format!("{}: its singular values cannot be found", picture.name);
        let (mut left, values, right) = picture.matrix().svd().with_context(undone)?;
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
        let (spectrum, low) = ((values[0], values[kept - 1]), picture.showing(&truth));
        Ok(Self { truth, low, seen, spectrum, zero, f, rank: Rank::new(config.rank, shape)?, picture })
    }

    /// The share of pixels that are seen.
    pub fn share(&self) -> f64 {
        self.seen.iter().filter(|seen| **seen).count() as f64 / self.seen.len() as f64
    }

    /// How near a point is to the picture of low rank and to the original.
    fn nearness(&self, x: &LowRank) -> Nearness {
        let shown = self.picture.showing(x);
        let differences = |other: &Grey| {
            let pairs = shown.values.iter().zip(&other.values);
            pairs.map(|(a, b)| (a - b).abs()).collect::<Vec<f64>>()
        };
        let square: f64 = differences(&self.picture).iter().map(|d| d * d).sum();
        let pixels = shown.values.len() as f64;
        Nearness {
            psnr: decibels(x.distance(&self.truth).powi(2) / pixels),
            psnr_original: decibels(square / pixels),
            // A NaN must not be lost.
            largest: differences(&self.low).into_iter().fold(0.0, |most, d| if d <= most { most } else { d }),
        }
    }
}

/// The PSNR of a mean of squared differences. What is not a number stays none.
fn decibels(mean: f64) -> f64 {
    if mean == 0.0 { EXACT_PSNR } else { -10.0 * mean.log10() }
}

/// How near an answer is, in dB where white is 1.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Nearness {
    /// PSNR against the picture of low rank.
    pub psnr: f64,
    /// PSNR against the original.
    pub psnr_original: f64,
    /// The largest difference of a pixel from the picture of low rank.
    pub largest: f64,
}

/// A run that is over.
#[derive(Debug, Clone, Serialize)]
pub struct Finished {
    pub race: Race,
    pub nearness: Nearness,
    #[serde(skip)]
    pub point: LowRank,
}

impl Finished {
    /// Who ran, and how where there is more than one way.
    pub fn label(&self) -> String {
        let (name, setting) = (self.race.contestant.label(), &self.race.setting);
        if setting.is_empty() { name.into() } else { format!("{name}, {setting}") }
    }

    /// Where it ended; a race has its start at least.
    pub fn last(&self) -> Mark {
        self.race.marks[self.race.marks.len() - 1]
    }

    /// Whether f ended above where it began, or as no number at all.
    pub fn has_diverged(&self) -> bool {
        let (start, end) = (self.race.marks[0].objective, self.last().objective);
        self.race.status == Status::Diverged || !(end <= start) || !self.nearness.psnr.is_finite()
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

    /// Its PSNR, where it has one, and whether the cap ended it.
    pub fn decibels(&self) -> String {
        match self.ended() {
            "diverged" => "diverged".into(),
            "cap" => format!("{:.1} dB, at its cap", self.nearness.psnr),
            _ => format!("{:.1} dB", self.nearness.psnr),
        }
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
pub fn contest(problem: &Problem, config: &Config, progress: &Progress) -> Result<Vec<Finished>> {
    let rank = &problem.rank;
    let ball = NuclearBall::new(problem.truth.singular_values().iter().sum(), rank.domain())?;
    let papers = PaperRank::new(rank.clone(), config.rounds);
    let iht = AcceleratedIht::plain(Step::LineSearch);
    let accelerated = AcceleratedIht { momentum: Momentum::Constant(config.momentum), ..iht };
    let ours = AcceleratedIht::for_structure(rank.structure());
    let (direct, staged) = (Stages::direct(), Stages::for_set(rank));
    let (bfgd, cg) = (Bfgd::default(), RiemannianCg::default());
    let &Config { iterations, light_iterations: light, most_iterations: most, .. } = config;
    let mut all = Contest { problem, config, progress, finished: Vec::new() };

    all.run((Contestant::AccIht, ""), (iterations, &direct), &papers, &accelerated)?;
    all.run((Contestant::Iht, ""), (iterations, &direct), &papers, &iht)?;
    all.run((Contestant::FrankWolfe, ""), (light, &direct), &ball, &FrankWolfe::default())?;
    all.run((Contestant::Bfgd, ""), (light, &direct), rank, &bfgd)?;

    all.run((Contestant::Bfgd, "staged"), (light, &staged), rank, &bfgd)?;
    all.run((Contestant::ClosedForm, ""), (light, &direct), rank, &ours)?;
    all.soft_impute()?;
    all.run((Contestant::RiemannianCg, "staged"), (most, &staged), rank, &cg)?;
    all.run((Contestant::RiemannianCg, ""), (light, &direct), rank, &cg)?;
    all.run((Contestant::Staged, ""), (most, &staged), rank, &ours)?;
    Ok(all.finished)
}

impl Contest<'_> {
    /// One run from zero.
    fn run<S, M>(
        &mut self,
        (contestant, setting): (Contestant, &str),
        (iterations, stages): (usize, &Stages),
        set: &S,
        method: &M,
    ) -> Result<()>
    where
        S: Constraint<Entries, LeastSquares>,
        M: Method<Entries, LeastSquares, S>,
    {
        let stop = to_the_end(iterations, self.config.perfect);
        let options = Options { stop, stages: stages.clone(), ..Options::default() };
        let entry = Entry { contestant, setting: setting.into(), options, preparation: Preparation::default() };
        let (race, outcome) = race(entry, &self.problem.f, set, method, self.progress, |_, _| ())?;
        self.end(race, outcome.point)
    }

    /// Soft-Impute with λ falling in equal ratios, each fit started at the answer before. Its marks are f without the
    /// penalty, as those of the others. The answer is the best of the path on the pixels that were not seen: no user
    /// could choose better. It counts as cut by its cap where a fit for one λ was.
    fn soft_impute(&mut self) -> Result<()> {
        let (contestant, f, path) = (Contestant::SoftImpute, &self.problem.f, &self.config.path);
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

    fn end(&mut self, race: Race, point: LowRank) -> Result<()> {
        let finished = Finished { nearness: self.problem.nearness(&point), race, point };
        self.progress.done(&format!("{}: {}", self.problem.picture.name, finished.label()))?;
        self.finished.push(finished);
        Ok(())
    }
}
