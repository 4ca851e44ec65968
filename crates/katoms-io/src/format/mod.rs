//! One format per file.

pub mod csv;
