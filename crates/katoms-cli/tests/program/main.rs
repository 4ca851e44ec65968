//! The real program, in a folder of its own.

mod browser;
mod samples;
