//! What a fit needs of a file: a design, a target, names and groups.

mod alleles;
mod assemble;
mod checksum;
mod classes;
mod columns;
pub(crate) mod expected;
mod frame;
mod known;
mod packed;
mod responses;
mod rows;
mod storage;
mod target;
#[cfg(test)]
mod tests;
pub(crate) mod types;

pub use known::{Known, Strata};
pub use types::{
    Ask, Dataset, Expected, Feature, Fingerprint, Group, Missing, Review, RowColumns, Target, UnknownMembers,
};
