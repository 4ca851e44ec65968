//! Responses that have features of their own, by least squares: so many features for each of them, or so many in all.
//!
//! The squares of several responses add up, so each response is a problem of its own. A number of features in all is shared
//! out among them: with the best model found of every size of each response, the best allocation is an exact dynamic program.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

use katoms::driver::{Outcome, Quality, Trace};
use katoms::loss::{AnyLoss, LeastSquares, Loss, Split};
use katoms::operator::LinearOperator;
use katoms::select::{Criterion, Score};
use katoms::space::SparseVec;
use katoms::{Error, Status};

use super::{Estimate, Features, FitOptions, Nuisance, PathModels};
use crate::budget::Budget;
use crate::completion::Rule;
use crate::response::JobLoss;
use crate::watch::{Answer, Progress, Watch};

/// Responses, each with features of its own.
#[derive(Debug, Clone)]
pub struct EachResponse<'a> {
    parts: Vec<Features<'a>>,
    losses: Vec<AnyLoss>,
}

/// How many features responses have that share none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseSizes {
    /// So many in all, shared out where they lower the loss most.
    Total(usize),
    /// So many for each response.
    Each(Vec<usize>),
}

/// Models of several responses that share no features.
#[derive(Debug, Clone)]
pub struct SeparateModels {
    /// The model of all responses: coefficients and intercepts one response after the other; losses and passes are sums.
    pub whole: Estimate,
    /// The model of each response.
    pub parts: Vec<Estimate>,
    /// The number of atoms of each.
    pub sizes: Vec<usize>,
    /// The number of atoms that were shared out, where no size was given for each.
    pub total: Option<usize>,
}

/// Coefficients and intercepts at which a fit begins.
type Start = (SparseVec, Vec<f64>);

impl<'a> EachResponse<'a> {
    /// The responses of a loss; `features` makes the problem of one of them.
    ///
    /// # Errors
    /// When the loss has several outputs and is not that of least squares, or a response is no problem.
    pub fn new(
        loss: impl Into<JobLoss>,
        features: impl Fn(JobLoss) -> Result<Features<'a>, Error>,
    ) -> Result<Self, Error> {
        let loss = loss.into();
        let losses = match loss.loss() {
            one if one.outputs_per_row() == 1 => vec![loss],
            AnyLoss::Squares(squares) => alone(squares)?,
            _ => {
                let needs = "least squares: leave the loss out, or let the classes share their features";
                return Err(Error::Unsuitable { method: "features of its own for each response", needs });
            }
        };
        let own = losses.iter().map(|loss| loss.loss().clone()).collect();
        Ok(Self { parts: losses.into_iter().map(features).collect::<Result<_, _>>()?, losses: own })
    }

    /// The problem of each response.
    pub fn parts(&self) -> &[Features<'a>] {
        &self.parts
    }

    /// The loss of each response, in the units of the data.
    pub fn losses(&self) -> &[AnyLoss] {
        &self.losses
    }

    /// The number of atoms that there are to choose from, over all responses.
    pub fn candidates(&self) -> usize {
        self.parts.iter().map(Features::candidates).sum()
    }

    /// The models of so many atoms in all, or for each response. A start has coefficients and an intercept for each response.
    ///
    /// # Errors
    /// When a size is out of range, there is not one for each response, or what is asked for does not go with several
    /// responses.
    pub fn fit(&self, sizes: &ResponseSizes, how: &FitOptions, watch: &mut dyn Watch) -> Result<SeparateModels, Error> {
        if let [only] = &self.parts[..] {
            let size = match sizes {
                ResponseSizes::Total(total) => *total,
                ResponseSizes::Each(sizes) => self.checked(sizes)?[0],
            };
            let one = only.fit(size, how, watch)?;
            return Ok(SeparateModels { whole: one.clone(), parts: vec![one], sizes: vec![size], total: None });
        }
        if how.resume.is_some() {
            let needs = "no saved state: leave it out, or fit each response in a job of its own";
            return Err(Error::Unsuitable { method: "features of its own for each response", needs });
        }
        match sizes {
            ResponseSizes::Total(total) => self.fit_total(*total, how, watch),
            ResponseSizes::Each(sizes) => {
                let starts = self.starts(how)?;
                self.fit_each(self.checked(sizes)?, starts, how, watch)
            }
        }
    }

    /// The models of these sizes, each from a start of its own.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_each(
        &self,
        sizes: &[usize],
        starts: Vec<Option<Start>>,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<SeparateModels, Error> {
        self.checked(sizes)?;
        let (clock, budget, watch) = (Instant::now(), Budget::new(&how.stop)?, &mut Several::new(watch));
        let mut parts = Vec::with_capacity(sizes.len());
        for ((part, &size), start) in self.parts.iter().zip(sizes).zip(starts) {
            let how = FitOptions { start, stop: budget.left(how.stop, 0.0), ..how.clone() };
            parts.push(part.fit(size, &how, watch)?);
        }
        self.together(parts, sizes.to_vec(), (None, clock, 0))
    }

    /// So many atoms in all.
    fn fit_total(&self, total: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<SeparateModels, Error> {
        let most = self.candidates();
        if total > most {
            return Err(Error::OutOfRange { what: "k", value: total, min: 0, max: most });
        }
        if how.method.is_some() {
            let needs = "the search: leave the method out, or give a number of features for each response";
            return Err(Error::Unsuitable { method: "a number of features over all responses", needs });
        }
        let (clock, budget, watch) = (Instant::now(), Budget::new(&how.stop)?, &mut Several::new(watch));
        let (mut paths, mut values) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let sizes: Vec<usize> = (0..=total.min(part.candidates())).collect();
            let path = watch.part(|watch| part.path(Some(&sizes), Criterion::EBIC, watch))?;
            values.push(path.models.iter().map(|model| model.objective).collect::<Vec<f64>>());
            paths.push(path);
        }
        let mut passes: usize = paths.iter().map(|path| path.passes).sum();
        let mut sizes = allocation(&values, total);
        let mut fitted: HashMap<(usize, usize), Estimate> = HashMap::new();
        // The search at one size may find a better model than the path, and with it another allocation.
        loop {
            for (place, &size) in sizes.iter().enumerate() {
                if let Entry::Vacant(unknown) = fitted.entry((place, size)) {
                    let start = paths[place].model(size);
                    let how = FitOptions { start, stop: budget.left(how.stop, 0.0), ..how.clone() };
                    let one = self.parts[place].fit(size, &how, watch)?;
                    values[place][size] = one.outcome.objective;
                    unknown.insert(one);
                }
            }
            let again = allocation(&values, total);
            if again == sizes || watch.stopped {
                break;
            }
            sizes = again;
        }
        let mut parts = Vec::with_capacity(sizes.len());
        for (place, &size) in sizes.iter().enumerate() {
            parts.extend(fitted.remove(&(place, size)));
        }
        passes += fitted.values().map(|one| one.outcome.passes).sum::<usize>();
        let mut found = self.together(parts, sizes, (Some(total), clock, passes))?;
        if watch.stopped && found.whole.outcome.status == Status::Converged {
            found.whole.outcome.status = Status::Stopped;
        }
        Ok(found)
    }

    /// The path of each response: its models of rising sizes, with what the criteria say of them.
    ///
    /// # Errors
    /// As [`Features::path`].
    pub fn paths(
        &self,
        sizes: Option<&[usize]>,
        criterion: Criterion,
        watch: &mut dyn Watch,
    ) -> Result<Vec<PathModels>, Error> {
        let watch = &mut Several::new(watch);
        self.parts.iter().map(|part| watch.part(|watch| part.path(sizes, criterion, watch))).collect()
    }

    fn checked<'s>(&self, sizes: &'s [usize]) -> Result<&'s [usize], Error> {
        let (found, expected) = (sizes.len(), self.parts.len());
        if found != expected {
            return Err(Error::Length { what: "the list of sizes", found, expected, why: "one for each response" });
        }
        self.parts.iter().zip(sizes).try_for_each(|(part, &size)| part.check_size(size))?;
        Ok(sizes)
    }

    /// The start of each response.
    fn starts(&self, how: &FitOptions) -> Result<Vec<Option<Start>>, Error> {
        let count = self.parts.len();
        let Some((x, constants)) = &how.start else { return Ok(vec![None; count]) };
        let columns = self.parts[0].design.domain();
        let one = |place: usize| {
            let constant = constants.get(place).copied().into_iter().collect();
            Ok(Some((super::part(x, columns, place), constant)))
        };
        (0..count).map(one).collect()
    }

    fn together(
        &self,
        parts: Vec<Estimate>,
        sizes: Vec<usize>,
        (total, clock, passes): (Option<usize>, Instant, usize),
    ) -> Result<SeparateModels, Error> {
        let columns = self.parts[0].design.domain();
        let joined = |of: &dyn Fn(&Estimate) -> &SparseVec| {
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            for (place, part) in parts.iter().enumerate() {
                let (own, of_own): (Vec<usize>, Vec<f64>) = of(part).entries().unzip();
                indices.extend(own.into_iter().map(|j| place * columns + j));
                values.extend(of_own);
            }
            SparseVec::new(columns * parts.len(), indices, values)
        };
        let sum = |of: &dyn Fn(&Estimate) -> f64| parts.iter().map(of).sum::<f64>();
        let count = |of: &dyn Fn(&Estimate) -> usize| parts.iter().map(of).sum::<usize>();
        let ended = parts.iter().map(|part| part.outcome.status).find(|&status| status != Status::Converged);
        let mut chosen: Vec<usize> = parts.iter().flat_map(|part| part.chosen.iter().copied()).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let outcome = Outcome {
            point: joined(&|part| part.coefficients())?,
            status: ended.unwrap_or(Status::Converged),
            iterations: count(&|part| part.outcome.iterations),
            passes: passes + count(&|part| part.outcome.passes),
            reads: passes as f64 + sum(&|part| part.outcome.reads),
            columns: count(&|part| part.outcome.columns),
            seconds: clock.elapsed().as_secs_f64(),
            objective: sum(&|part| part.outcome.objective),
            quality: quality(&parts, total.is_none()),
            attempts: Vec::new(),
            trace: Trace::new(),
        };
        let whole = Estimate {
            outcome,
            intercepts: parts.iter().map(Estimate::intercept).collect(),
            standardized: joined(&|part| &part.standardized)?,
            chosen,
            loss: sum(&|part| part.loss),
            null_loss: sum(&|part| part.null_loss),
            nuisance: Nuisance::None,
        };
        Ok(SeparateModels { whole, parts, sizes, total })
    }
}

/// The loss of each response.
fn alone(squares: &LeastSquares) -> Result<Vec<JobLoss>, Error> {
    let one = |target: &[f64]| {
        let loss = LeastSquares::new(target)?;
        Ok(AnyLoss::from(match Split::weights(squares) {
            Some(weights) => loss.weighted(weights)?,
            None => loss,
        })
        .into())
    };
    squares.target().chunks(squares.n_rows()).map(one).collect()
}

/// What is known of all models together. Where each size was given, models that are each the best are the best together.
fn quality(parts: &[Estimate], given: bool) -> Option<Quality> {
    let known: Vec<&Quality> = parts.iter().filter_map(|part| part.outcome.quality.as_ref()).collect();
    known.first()?;
    let proven = known.iter().map(|one| one.proven).product::<Option<f64>>().filter(|_| given);
    Some(Quality {
        stationarity: known.iter().fold(0.0, |most: f64, one| {
            if most.is_nan() || one.stationarity.is_nan() { f64::NAN } else { most.max(one.stationarity) }
        }),
        exchange_gain: known.iter().fold(0.0, |most: f64, one| most.max(one.exchange_gain)),
        exchanges_compared: known.iter().map(|one| one.exchanges_compared).sum(),
        exhaustive: known.iter().all(|one| one.exhaustive || one.perfect),
        perfect: known.iter().all(|one| one.perfect),
        near_ties: Vec::new(),
        proven,
        certificate: None,
    })
}

/// The number of atoms for each response, at most so many in all, with the least sum: `values[c][k]` is what response c comes
/// to with k atoms. Of equal sums the one with fewer atoms, and these with the earlier responses. O(responses · total²).
fn allocation(values: &[Vec<f64>], total: usize) -> Vec<usize> {
    // least[t]: the least sum of the responses so far with exactly t atoms, and how many the last of them has.
    let mut least = vec![f64::INFINITY; total + 1];
    least[0] = 0.0;
    let mut taken = Vec::with_capacity(values.len());
    for of_response in values {
        let (mut next, mut own) = (vec![f64::INFINITY; total + 1], vec![0; total + 1]);
        for t in 0..=total {
            for (k, value) in of_response.iter().enumerate().take(t + 1) {
                let sum = least[t - k] + value;
                if sum < next[t] {
                    (next[t], own[t]) = (sum, k);
                }
            }
        }
        least = next;
        taken.push(own);
    }
    let mut left = (0..=total).reduce(|a, b| if least[b] < least[a] { b } else { a }).unwrap_or(0);
    let mut sizes = vec![0; values.len()];
    for (size, own) in sizes.iter_mut().zip(&taken).rev() {
        *size = own[left];
        left -= *size;
    }
    sizes
}

/// The choice for each response among the scores of its own, by their places: one ridge for all responses, that under which
/// the least held-out losses of the responses add up to the least; and under it for each the size of least loss, or the
/// smallest within one standard error of it. All have been tried with the same ridges.
pub fn choice_of_each(scores: &[Vec<Score>], rule: Rule) -> Vec<usize> {
    let ridges: Vec<f64> = scores.first().map_or(Vec::new(), |first| {
        let mut found: Vec<f64> = Vec::new();
        first.iter().map(|score| score.choice.ridge).for_each(|ridge| {
            if !found.contains(&ridge) {
                found.push(ridge);
            }
        });
        found
    });
    let under = |scores: &[Score], ridge: f64| -> Vec<usize> {
        (0..scores.len()).filter(|&at| scores[at].choice.ridge == ridge).collect()
    };
    let best = |scores: &[Score], ridge: f64| {
        let losses = under(scores, ridge).into_iter().map(|at| scores[at].mean);
        losses.fold(f64::INFINITY, f64::min)
    };
    let sum = |ridge: f64| scores.iter().map(|scores| best(scores, ridge)).sum::<f64>();
    let ridge = ridges.iter().copied().reduce(|a, b| if sum(b) < sum(a) { b } else { a });
    let of_response = |scores: &Vec<Score>| {
        let places = ridge.map_or_else(Vec::new, |ridge| under(scores, ridge));
        let alike: Vec<Score> = places.iter().map(|&at| scores[at].clone()).collect();
        let chosen = match rule {
            Rule::Least => Score::least(&alike),
            Rule::OneStandardError => Score::within_one_error(&alike),
        };
        places.get(chosen).copied().unwrap_or(0)
    };
    scores.iter().map(of_response).collect()
}

/// Somebody who watches the parts of a job as one, is not asked for saved states, and remembers that the work was stopped.
struct Several<'w> {
    watch: &'w mut dyn Watch,
    /// The pieces of the parts that are done, and of the part that goes on.
    before: usize,
    pieces: usize,
    stopped: bool,
}

impl<'w> Several<'w> {
    fn new(watch: &'w mut dyn Watch) -> Self {
        Self { watch, before: 0, pieces: 0, stopped: false }
    }

    /// The next part.
    fn part<T>(&mut self, work: impl FnOnce(&mut dyn Watch) -> T) -> T {
        let done = work(self);
        self.before += std::mem::take(&mut self.pieces);
        done
    }

    fn heard(&mut self, answer: Answer) -> Answer {
        self.stopped |= answer.stops();
        if self.stopped { Answer::Stop } else { Answer::GoOn }
    }
}

impl Watch for Several<'_> {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        let answer = self.watch.tell(&Progress { can_save: false, ..*progress });
        self.heard(answer)
    }
    fn expect(&mut self, pieces: usize) {
        self.pieces = pieces;
        self.watch.expect(self.before + pieces);
    }
    fn counted(&mut self, done: usize) -> Answer {
        let answer = self.watch.counted(self.before + done);
        self.heard(answer)
    }
    fn goes_on(&mut self) -> Answer {
        let answer = self.watch.goes_on();
        self.heard(answer)
    }
}
