//! What the driver asks the workers, and what they reply.

use pulp::bytemuck::{self, Pod};
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::first_read::FirstRead;
use super::super::{ColumnSize, Moments, SampledRows};
use crate::error::Error;

/// Numbers that travel as their bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers<T = f64>(pub Vec<T>);

impl<T: Pod> Serialize for Numbers<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytemuck::cast_slice(&self.0))
    }
}

impl<'de, T: Pod> Deserialize<'de> for Numbers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes<T>(std::marker::PhantomData<T>);
        impl<T: Pod> Visitor<'_> for Bytes<T> {
            type Value = Numbers<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the bytes of numbers")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Numbers<T>, E> {
                let whole = bytes.len().is_multiple_of(size_of::<T>());
                if !whole {
                    return Err(E::custom("the bytes of numbers end within one"));
                }
                let mut numbers = vec![T::zeroed(); bytes.len() / size_of::<T>()];
                bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
                Ok(Numbers(numbers))
            }
        }
        if cfg!(target_endian = "big") {
            return Err(D::Error::custom(
                "distributed designs need machines that are little-endian, as nearly all are",
            ));
        }
        deserializer.deserialize_bytes(Bytes(std::marker::PhantomData))
    }
}

/// A question about a block, whose rows and columns are counted from 0.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Read the block; for a fit, answer what it asks first.
    Read(Option<First>),
    /// Bᵀ·r for each residual.
    Adjoint(Vec<Numbers>),
    /// The same for listed columns.
    AdjointOn(Vec<Numbers>, Vec<usize>),
    /// An estimate of Bᵀ·r from some of the rows.
    AdjointSampled(Vec<Numbers>),
    /// Bᵀ·r part by part of the rows: the part of each row, and how many there are.
    AdjointParts(Vec<Numbers>, Vec<usize>, usize),
    /// B·x for the x that has these values in these places.
    Apply(Vec<usize>, Numbers),
    /// Copies of listed columns.
    Columns(Vec<usize>),
    /// Means and variances of the columns under row weights.
    Moments(Numbers),
    /// Σ w·(b − c)² of each column for each weighting.
    SquaredNorms(Vec<Numbers>, Option<Numbers>),
    /// The largest magnitude of each column.
    Sizes,
    /// Weights, means and centred cross-products of columns and target, part by part of the rows: row weights, target, the
    /// part of each row, and how many there are.
    CrossProducts(Numbers, Numbers, Vec<usize>, usize),
}

impl Request {
    /// A word for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => super::READ,
            Self::Adjoint(_) => "pass",
            Self::AdjointOn(..) => "products",
            Self::AdjointSampled(_) => "partial-pass",
            Self::AdjointParts(..) => "pass-by-parts",
            Self::Apply(..) => "predictions",
            Self::Columns(_) => "columns",
            Self::Moments(_) => "moments",
            Self::SquaredNorms(..) => "squared-norms",
            Self::Sizes => "magnitudes",
            Self::CrossProducts(..) => "cross-products",
        }
    }
}

/// [`FirstRead`] for the rows of a block, and the columns of the whole design.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct First {
    pub weights: Numbers,
    pub residual: Numbers,
    pub rounding: f64,
    pub columns: usize,
}

impl First {
    pub fn of(first: &FirstRead, rows: std::ops::Range<usize>, columns: usize) -> Self {
        let (weights, residual) = first.vectors();
        let part = |all: &[f64]| Numbers(all[rows.clone()].to_vec());
        Self { weights: part(weights), residual: part(residual), rounding: first.rounding(), columns }
    }

    pub fn into_first_read(self) -> FirstRead {
        FirstRead::of_block(self.weights.0, self.residual.0, self.rounding, self.columns)
    }
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The block was read.
    Read(Read),
    /// A vector for each residual, or a single one.
    Vectors(Vec<Numbers>),
    /// Columns in single precision, which holds all of their digits.
    Singles(Numbers<f32>),
    /// It could not be done.
    Failed(Failure),
}

/// What a worker tells of a block that it has read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Read {
    pub rows: usize,
    pub columns: usize,
    pub rounding: f64,
    pub sampled: Option<SampledRows>,
    pub extremes: Vec<ColumnSize>,
    /// Means, variances and the product with the first residual, where they were asked for.
    pub answers: Option<[Numbers; 3]>,
}

impl Read {
    /// The moments and the pass.
    pub fn take_answers(&mut self) -> Option<(Moments, Vec<f64>)> {
        let [means, variances, pass] = self.answers.take()?;
        Some((Moments { means: means.0, variances: variances.0 }, pass.0))
    }
}

/// Why a worker could not answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// A value that is not finite, in a row and a column of the block.
    NotFinite { row: usize, column: usize, value: f64 },
    /// Anything else, in words.
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFinite { row, column, value, .. } => Self::NotFinite { row, column, value },
            other => Self::Other(other.to_string()),
        }
    }
}

/// The bytes of a message. Serialising into memory cannot fail.
pub(super) fn encoded<M: Serialize>(message: &M) -> Vec<u8> {
    postcard::to_stdvec(message).unwrap_or_default()
}

/// A message from its bytes.
pub(super) fn decoded<M: DeserializeOwned>(bytes: &[u8]) -> Option<M> {
    postcard::from_bytes(bytes).ok()
}
