//! One file for each format.

pub(crate) mod csv;
mod sniff;
