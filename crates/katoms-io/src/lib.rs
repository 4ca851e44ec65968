//! Files → designs and targets; models ↔ files.
//!
//! `read` finds out what a file holds ([`Source`]). [`Dataset::new`] turns that into what a fit needs: a design,
//! a target, names, groups. [`Model`] is what a fit leaves behind. Every [`Error`] names the file, the place in it and
//! what would be right. What is written appears whole or not at all.

mod allocation;
mod column_format;
mod dataset;
mod day;
mod decompress;
mod error;
mod file_kind;
mod format;
mod genotypes;
pub mod groups;
mod individuals;
mod mapped;
pub mod model;
mod names;
mod other_formats;
mod parallel;
mod problem;
mod read;
mod save;
mod source;
mod table;
#[cfg(test)]
mod tests;

pub use allocation::MaxUnpacked;
pub use column_format::{ColumnFormat, DateFormat, DateOrder, Decimal, NumberFormat};
pub use dataset::{
    Ask, Dataset, Expected, Feature, Fingerprint, Group, Known, Missing, Review, RowColumns, Strata, Target,
    UnknownMembers,
};
pub use day::Day;
pub use error::Error;
pub use format::csv_writer::{CsvText, write_csv};
pub use format::matrix_market::{write_matrix_market_array, write_matrix_market_coordinate};
pub use format::npy::write_npy;
pub use format::parquet::write_parquet;
pub use format::picture::write_png;
pub use genotypes::{Genotypes, Individual, Phenotype, PhenotypeValues, Variant};
pub use groups::{GroupFile, read_groups};
pub use mapped::{Mapped, Stored};
pub use model::{Baseline, ClassType, Coefficient, Loss, Model, ModelTarget, Parameters, Quality, Rival, SCHEMA};
pub use problem::Problem;
pub use read::{files_of, read, read_bytes, read_with_problems};
pub use save::save;
pub use source::{Array, Numbers, Picture, ReadOptions, Source, Sparse};
pub use table::{Column, Table, Values};
