//! The tests of the library, apart from the methods', in one program: each of many would compile the same parts
//! again.

mod algorithm;
mod bad_designs;
mod bounds;
mod classes;
mod contract;
mod cross_validation;
mod cross_validation_runs;
mod detours;
mod driver;
mod families;
mod first_read;
mod genotypes;
mod groups;
mod operators;
mod outputs;
mod partial;
mod path;
mod planted;
mod range;
mod rank;
mod samples;
mod search;
mod search_stops;
mod sets;
mod views;
