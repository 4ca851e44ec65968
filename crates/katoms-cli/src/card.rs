//! A design on a graphics card.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Result, anyhow, bail};
use katoms::Error;
use katoms::operator::{AnyDesign, Csc, Device, FirstRead, OnDevice};
use katoms_cuda::{Cuda, copied_numbers, copied_sparse};
use katoms_io::{Array, Dataset, on_numbers};

/// Where passes over the data are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Host,
    /// A card, by its number.
    Card(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("cpu"),
            Self::Card(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// The card, where the work is to be done on one.
pub fn open(place: Place) -> Result<Option<Arc<Cuda>>> {
    let Place::Card(number) = place else { return Ok(None) };
    Cuda::open(number).map(Some).map_err(|error| anyhow!("--device: {error}"))
}

impl Place {
    pub fn named(name: &str) -> Result<Self, String> {
        let wrong = || "it must be cpu, cuda, or cuda:1 for the second card".to_owned();
        match (name, name.strip_prefix("cuda:")) {
            ("cpu", _) => Ok(Self::Host),
            ("cuda", _) => Ok(Self::Card(0)),
            (_, Some(number)) => number.parse().map(Self::Card).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

/// A card, and the design on it.
#[derive(Debug, Clone)]
pub struct Card {
    cuda: Arc<Cuda>,
    copy: Arc<OnceLock<Arc<dyn Device>>>,
    /// The design as it was read last.
    read: Arc<Mutex<Option<OnDevice>>>,
}

impl Card {
    /// The card, where the work is to be done on one.
    pub fn open(place: Place) -> Result<Option<Self>> {
        Ok(open(place)?.map(|cuda| Self { cuda, copy: Arc::default(), read: Arc::default() }))
    }

    /// Whether a card can hold these data.
    pub fn check(dataset: &Dataset) -> Result<()> {
        if dataset.dense().is_none() && dataset.sparse().is_none() {
            bail!("--device cuda takes a matrix of numbers, and these are genotypes of 2 bits; leave --device out");
        }
        Ok(())
    }

    fn copied(&self, dataset: &Dataset) -> Result<Arc<dyn Device>> {
        Self::check(dataset)?;
        if let Some(Array { numbers, layout, rows, columns, .. }) = dataset.dense() {
            return Ok(on_numbers!(numbers, v => copied_numbers(&self.cuda, v, *layout, (*rows, *columns)))?);
        }
        let Some(s) = dataset.sparse() else { bail!("there is nothing to copy to the card") };
        let matrix = Csc::new(s.rows, s.columns, &s.starts[..], &s.indices[..], &s.values[..])?;
        Ok(copied_sparse(&self.cuda, &matrix)?)
    }

    /// The design, which is copied to the card the first time.
    pub fn design(&self, dataset: &Dataset, first: Option<&FirstRead>) -> Result<AnyDesign<'static>> {
        let copy = match self.copy.get() {
            Some(copy) => copy,
            None => {
                let copy = self.copied(dataset)?;
                self.copy.get_or_init(|| copy)
            }
        };
        let design = OnDevice::new(Arc::clone(copy), first)?;
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(design.clone());
        Ok(design.into())
    }

    /// Why the card has failed, where it has.
    pub fn failure(&self) -> Option<Error> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(OnDevice::failure)
    }
}
