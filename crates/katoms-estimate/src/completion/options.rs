//! How a matrix is completed.

use std::ops::RangeInclusive;

use katoms::method::RankMethod;
use katoms::{Error, Stop};
use serde::{Deserialize, Serialize};

use super::features::Scaling;
use super::model::Bounds;
use super::{Centring, Observed, RowPrior};
use crate::units::Units;

/// The ridges that are tried unless told, from the strongest on.
const RIDGES: [f64; 5] = [1.0, 0.3, 0.1, 0.03, 0.0];
/// The share that is held out unless told.
const HELD_OUT: f64 = 0.1;
/// The most ranks that are worth trying unless told.
const MOST_RANKS: usize = 30;

/// What the columns of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Columns {
    /// All in one unit, as rows are: ratings, brightness.
    Alike,
    /// Features, each in a unit of its own: columns are scaled to standard deviation 1, errors are told in that unit,
    /// and a factor analysis gives each column a noise of its own. No ridge, centring or method is chosen then.
    Features,
}

/// What predictions are kept within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clip {
    /// From the least to the largest value that was seen: stars of a rating, brightness of a picture. Of features, each
    /// column's own.
    Seen,
    /// From the first to the second.
    Range(f64, f64),
    /// Nothing.
    Off,
}

impl Clip {
    pub(super) fn bounds(self, observed: &Observed, columns: Columns) -> Bounds {
        match (self, columns) {
            (Self::Seen, Columns::Alike) => {
                let (low, high) = observed.range();
                Bounds::All(low, high)
            }
            (Self::Seen, Columns::Features) => Bounds::Columns(observed.column_ranges()),
            (Self::Range(low, high), _) => Bounds::All(low, high),
            (Self::Off, _) => Bounds::All(f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    pub(super) fn scaled(self, units: &Units) -> Self {
        match self {
            Self::Range(low, high) => Self::Range(units.scaled_level(low), units.scaled_level(high)),
            Self::Seen | Self::Off => self,
        }
    }

    pub(super) fn scaled_bounds(self, scaled: &Observed, scaling: &Scaling) -> Bounds {
        match self {
            Self::Range(low, high) => {
                let places = scaling.centres.iter().zip(&scaling.scales);
                Bounds::Columns(
                    places.map(|(centre, scale)| ((low - centre) / scale, (high - centre) / scale)).collect(),
                )
            }
            Self::Seen | Self::Off => self.bounds(scaled, Columns::Features),
        }
    }
}

/// Which of the tried choices is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// The one with the least error on what was held out.
    Least,
    /// The smallest rank whose mean squared error is within one standard error of the least.
    OneStandardError,
}

/// How a matrix is completed. Checked once, before anything is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The ranks to choose from, rising. First each of them that is a fifth larger than the one tried before, then
    /// those beside the best. A single one is taken.
    pub ranks: Vec<usize>,
    /// λ of ½λ‖X‖² beside ½Σ(value − X)² over what is seen; where there are several, each is tried, the strongest
    /// first, for as long as a weaker one is better. Whatever the unit of the values, 0.1 to 1 suit noisy ratings
    /// and 0 a matrix without noise. Default: 1, 0.3, 0.1, 0.03, 0.
    pub ridges: Vec<f64>,
    /// What the columns are. Default: alike.
    pub columns: Columns,
    /// What is known of a row's factors where columns are features. Default: chosen.
    pub row_prior: RowPrior,
    /// What is taken off first. Default: chosen; for ratings the effects of rows and columns.
    pub centring: Centring,
    /// What predictions are kept within. Default: what was seen.
    pub clip: Clip,
    /// The method. Default: Riemannian conjugate gradients.
    pub method: RankMethod,
    /// The share of the entries that is held out to choose. Default 0.1.
    pub held_out: f64,
    /// After this many tried ranks in a row that are no better, larger ones are not tried. Default 3.
    pub patience: usize,
    /// So many matrices stand side by side, such as the colours of a picture: their entries at one place are held out
    /// together. Default 1.
    pub tied: usize,
    /// Which choice is taken. Default: the one with the least error.
    pub rule: Rule,
    /// Draws the held-out entries. Default 0.
    pub seed: u64,
    /// When the fits end; the seconds are those of the whole job. A trial ends at a tolerance of 1e-4, if not
    /// earlier.
    pub stop: Stop,
    /// A fit has also converged when its objective falls by less than this share in ten moves. Default 1e-6; for a
    /// trial at least 1e-4.
    pub settled: f64,
}

impl Completion {
    /// These ranks, with every default.
    pub fn new(ranks: impl IntoIterator<Item = usize>) -> Self {
        Self {
            ranks: ranks.into_iter().collect(),
            ridges: RIDGES.to_vec(),
            columns: Columns::Alike,
            row_prior: RowPrior::Chosen,
            centring: Centring::Chosen,
            clip: Clip::Seen,
            method: RankMethod::RiemannianCg(Default::default()),
            held_out: HELD_OUT,
            tied: 1,
            patience: 3,
            rule: Rule::Least,
            seed: 0,
            stop: Stop::default(),
            settled: 1e-6,
        }
    }

    /// For ratings: effects of rows and columns are taken off.
    pub fn ratings(ranks: impl IntoIterator<Item = usize>) -> Self {
        Self { centring: Centring::Effects, ..Self::new(ranks) }
    }

    /// For a table whose columns are features.
    pub fn features(ranks: impl IntoIterator<Item = usize>) -> Self {
        Self { columns: Columns::Features, ..Self::new(ranks) }
    }

    /// For a matrix that is itself of this rank, without noise: nothing is taken off, shrunk, clipped or held out
    /// for a choice.
    pub fn exact(rank: usize) -> Self {
        Self { centring: Centring::None, ridges: vec![0.0], clip: Clip::Off, ..Self::new([rank]) }
    }

    /// The ranks that these entries can carry: a matrix of rank r has r·(rows + columns − r) numbers of its own, and
    /// the entries that are not held out should be no fewer. 1 at least, 30 at most.
    ///
    /// ```
    /// use katoms_estimate::{Completion, Observed};
    /// let (rows, columns): (Vec<usize>, Vec<usize>) = (0..60).map(|e| (e / 6, e % 6)).unzip();
    /// let seen = Observed::new((10, 6), &rows, &columns, &[1.0; 60])?;
    /// assert_eq!(Completion::ranks_for(&seen), 1..=4);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn ranks_for(observed: &Observed) -> RangeInclusive<usize> {
        let ((p, q), seen) = (observed.shape(), observed.values().len() as f64);
        let carries = |&rank: &usize| (rank * (p + q - rank)) as f64 <= (1.0 - HELD_OUT) * seen;
        1..=(1..=p.min(q).min(MOST_RANKS)).take_while(carries).last().unwrap_or(1)
    }

    /// The ranks that a table of features is worth trying with: from 0, the columns' means, to all, 30 at most. A rank
    /// that is too high does little harm there.
    pub fn feature_ranks((rows, columns): (usize, usize)) -> RangeInclusive<usize> {
        0..=rows.min(columns).min(MOST_RANKS)
    }

    /// The simplest of what is to be tried, for entries of which none can be held out: the smallest rank, the strongest
    /// ridge, and the effects where those were to be chosen.
    pub fn simplest(&self) -> Self {
        let strongest = self.ridges.iter().copied().max_by(f64::total_cmp);
        Self {
            ranks: self.ranks.first().copied().into_iter().collect(),
            ridges: strongest.into_iter().collect(),
            centring: if self.centring == Centring::Chosen { Centring::Effects } else { self.centring },
            row_prior: if self.row_prior == RowPrior::Chosen { RowPrior::Normal } else { self.row_prior },
            ..self.clone()
        }
    }

    /// Whether there is anything to choose on what is held out.
    pub fn has_choice(&self) -> bool {
        let of_model = match self.columns {
            Columns::Alike => self.ridges.len() > 1 || self.centring == Centring::Chosen,
            Columns::Features => self.row_prior == RowPrior::Chosen,
        };
        self.ranks.len() > 1 || of_model
    }

    /// What is tried: each centring with its ridges, falling.
    pub(super) fn chains(&self) -> Vec<(Centring, Vec<f64>)> {
        let mut ridges = self.ridges.clone();
        ridges.sort_by(|a, b| b.total_cmp(a));
        ridges.dedup();
        match self.centring {
            Centring::Chosen => {
                // Without centring a ridge would pull what is not seen towards zero, not towards a mean.
                let weakest = ridges.last().copied().into_iter().collect();
                vec![(Centring::Effects, ridges), (Centring::None, weakest)]
            }
            centring => vec![(centring, ridges)],
        }
    }

    /// The ranks that are tried under every ridge: each a fifth above the last, and the largest.
    pub(super) fn coarse_ranks(&self) -> Vec<usize> {
        let mut coarse: Vec<usize> = Vec::new();
        for &rank in &self.ranks {
            let due = coarse.last().is_none_or(|&last| 5 * rank >= 6 * last);
            if due || self.ranks.last() == Some(&rank) {
                coarse.push(rank);
            }
        }
        coarse
    }

    pub(super) fn check(&self, (p, q): (usize, usize)) -> Result<(), Error> {
        let mut least = if self.columns == Columns::Features { 0 } else { 1 };
        for &rank in &self.ranks {
            if rank < least || rank > p.min(q) {
                return Err(Error::OutOfRange { what: "the rank", value: rank, min: least, max: p.min(q) });
            }
            least = rank + 1;
        }
        if self.ranks.is_empty() || self.ridges.is_empty() {
            let what = if self.ranks.is_empty() { "the list of ranks" } else { "the list of ridges" };
            return Err(Error::Empty { what });
        }
        let option = |name, value: f64, right, holds: bool| {
            if holds { Ok(()) } else { Err(Error::Option { name, value, right }) }
        };
        for &ridge in &self.ridges {
            option("ridge", ridge, "it must be finite and at least 0", ridge.is_finite() && ridge >= 0.0)?;
        }
        if let Clip::Range(low, high) = self.clip {
            option("clip", high, "the upper bound must be at least the lower one", low <= high)?;
        }
        option("settled", self.settled, "it must be at least 0 and below 1", (0.0..1.0).contains(&self.settled))?;
        let tied = self.tied;
        option("tied", tied as f64, "it must divide the number of columns", tied > 0 && q.is_multiple_of(tied))?;
        let share = self.held_out;
        option("held_out", share, "it must be above 0 and at most 0.5", share > 0.0 && share <= 0.5)
    }
}
