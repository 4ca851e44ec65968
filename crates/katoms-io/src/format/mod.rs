//! One format per file. Each turns bytes into what they hold, or says which place is wrong and what would be right.

pub mod arrow;
mod columnar;
pub(crate) mod csv;
pub mod csv_writer;
pub mod matrix_market;
pub mod npy;
pub(crate) mod npy_header;
pub mod npz;
pub mod parquet;
pub mod picture;
pub(crate) mod plink;
pub(crate) mod plink_table;
pub mod svmlight;
pub mod triplets;
mod words;
mod zip;
