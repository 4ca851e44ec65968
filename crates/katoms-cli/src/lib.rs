//! The program `katoms`: arguments → plan → outcome → report.

pub mod report;
