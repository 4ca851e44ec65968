//! The real program, each test in a folder of its own.

mod bad_input;
mod browser;
mod choices;
mod commands;
mod desk;
mod formats;
mod interrupted;
mod pages;
#[cfg(feature = "paper")]
mod paper;
mod real_data;
mod samples;
