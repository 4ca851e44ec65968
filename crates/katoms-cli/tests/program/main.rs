//! The real program, each test in a folder of its own.

mod bad_input;
mod browser;
mod choices;
mod commands;
mod desk;
mod formats;
mod interrupted;
#[cfg(unix)]
mod killed;
mod pages;
#[cfg(feature = "paper")]
mod paper;
mod range;
mod real_data;
mod samples;
