//! The real program, each test in a folder of its own.

mod bad_input;
mod browser;
mod choices;
mod commands;
mod completing;
mod desk;
mod device;
mod families;
mod formats;
mod interrupted;
#[cfg(unix)]
mod killed;
mod messy;
mod pages;
mod plink;
mod range;
mod real_data;
mod responses;
mod samples;
mod strangers;
mod workers;
