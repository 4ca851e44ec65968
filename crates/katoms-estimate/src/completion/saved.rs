//! A job as bytes: what was chosen, and the driver's state of the fit.

use std::fmt;

use katoms::Error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Centring, Columns, Completion, RowPrior, Rule, Trial};

const MAGIC: [u8; 8] = *b"katoms\0c";
/// Goes up whenever the bytes change their meaning.
const VERSION: u32 = 4;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    magic: [u8; 8],
    version: u32,
    pub asked: Asked,
    pub chosen: Chosen,
    /// Seconds of the fit so far.
    pub seconds: f64,
    /// The driver's own bytes.
    pub state: Vec<u8>,
}

/// What a job was asked for, so far as the answer depends on it. Data and method are in the driver's bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    ranks: Vec<usize>,
    ridges: Vec<f64>,
    centring: Centring,
    columns: Columns,
    row_prior: RowPrior,
    /// How a choice is made; `None` where there is nothing to choose.
    choice: Option<Choice>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Choice {
    held_out: f64,
    rule: Rule,
    seed: u64,
    patience: usize,
}

impl Asked {
    pub fn of(how: &Completion) -> Self {
        let Completion { columns, row_prior, held_out, rule, seed, patience, .. } = *how;
        let choice = how.has_choice().then_some(Choice { held_out, rule, seed, patience });
        let (ranks, ridges, centring) = (how.ranks.clone(), how.ridges.clone(), how.centring);
        Self { ranks, ridges, centring, columns, row_prior, choice }
    }

    /// Refuses a job that asks for something else now.
    pub fn check(&self, now: &Self) -> Result<(), Error> {
        let (was, is) = (&self.choice, &now.choice);
        let told = [
            differing("columns", &self.columns, &now.columns),
            differing("row prior", &self.row_prior, &now.row_prior),
            differing("ranks", &self.ranks, &now.ranks),
            differing("ridges", &self.ridges, &now.ridges),
            differing("centring", &self.centring, &now.centring),
            differing("share held out", &was.as_ref().map(|c| c.held_out), &is.as_ref().map(|c| c.held_out)),
            differing("rule", &was.as_ref().map(|c| c.rule), &is.as_ref().map(|c| c.rule)),
            differing("seed", &was.as_ref().map(|c| c.seed), &is.as_ref().map(|c| c.seed)),
            differing("patience", &was.as_ref().map(|c| c.patience), &is.as_ref().map(|c| c.patience)),
        ];
        match told.into_iter().flatten().next() {
            Some(reason) => Err(refused(reason)),
            None => Ok(()),
        }
    }
}

fn differing<T: PartialEq + fmt::Debug>(what: &str, was: &T, is: &T) -> Option<String> {
    let plain = |value: &T| {
        let text = format!("{value:?}");
        let inner = text.strip_prefix("Some(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
        inner.trim_matches(['[', ']']).to_owned()
    };
    (was != is).then(|| format!("it was saved with {what} {}, and now {} is asked for", plain(was), plain(is)))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub rank: usize,
    pub ridge: f64,
    pub centring: Centring,
    pub row_prior: RowPrior,
    /// Whether the fit began at a point that had grown already.
    pub grown: bool,
    pub trials: Vec<Trial>,
    /// Whether all was tried that was to be tried.
    pub whole: bool,
    /// How many there were to try at most.
    pub most: usize,
    /// What the trials cost.
    pub passes: usize,
    pub seconds: f64,
}

impl Chosen {
    /// No choice.
    pub fn given(rank: usize, ridge: f64, centring: Centring, row_prior: RowPrior) -> Self {
        let (grown, trials, whole, most) = (false, Vec::new(), true, 0);
        Self { rank, ridge, centring, row_prior, grown, trials, whole, most, passes: 0, seconds: 0.0 }
    }
}

impl Saved {
    pub fn to_bytes(asked: &Asked, chosen: &Chosen, state: Vec<u8>, seconds: f64) -> Result<Vec<u8>, Error> {
        let (asked, chosen) = (asked.clone(), chosen.clone());
        encoded(&Self { magic: MAGIC, version: VERSION, asked, chosen, seconds, state })
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        match decoded::<Self>(bytes) {
            Some(saved) if saved.magic == MAGIC => match saved.version {
                VERSION => Ok(saved),
                version => Err(refused(format!(
                    "it was saved by another version of katoms, in format {version}; this one reads format {VERSION}"
                ))),
            },
            _ if bytes.starts_with(&MAGIC) => Err(refused("the bytes are damaged or cut off".into())),
            _ => Err(refused("the bytes are damaged, or no saved completion".into())),
        }
    }
}

pub(super) fn encoded(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = postcard::to_stdvec(value).map_err(|e| refused(format!("it could not be encoded ({e})")))?;
    bytes.extend(checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

/// The value of such bytes; `None` where they are damaged.
pub(super) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
    postcard::from_bytes(body).ok().filter(|_| checksum(body).to_le_bytes() == sum)
}

pub(super) fn refused(reason: String) -> Error {
    Error::Checkpoint { reason }
}

/// FNV-1a: enough to tell damage, not a safeguard against intent.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
