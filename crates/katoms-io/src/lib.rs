//! Files → designs and targets; models ↔ files.
//!
//! `read` finds out what a file holds ([`Source`]). [`Dataset::new`] turns that into what a fit needs: a design,
//! a target, names, groups. [`Model`] is what a fit leaves behind. Every [`Error`] names the file, the place in it and
//! what would be right. What is written appears whole or not at all.

mod dataset;
mod error;
mod format;
mod names;
mod source;
mod table;

pub use dataset::{Ask, Dataset, Feature, Fingerprint, Group, Missing, Target, UnknownMembers};
pub use error::Error;
pub use source::{Array, Numbers, Picture, ReadOptions, Source, Sparse};
pub use table::{Column, Table, Values};
