//! One command a file: its arguments, its work, what it says.

mod complete;
mod cv;
mod fit;
mod inspect;
mod k_hint;
mod methods;
mod path;
mod predict;
mod recover;
pub mod separate;
mod shell;
mod theory;
pub mod worker;

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

use crate::Ended;
use crate::terminal::Terminal;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  katoms inspect houses.csv                            what is in the file, and what a fit would do
  katoms fit houses.csv --target price -k 5            the best 5 features
  katoms cv houses.csv --target price -k 1..15         how many features, by cross-validation
  katoms fit houses.csv --target price -k 5 --out model.json --report report.html
  katoms predict model.json new.csv > predictions.csv
  katoms complete picture.png --observed 0.35 --rank 20 --out completed.png

Exit codes: 0 done; 1 not converged, with --strict; 2 an input that cannot be used.
Each command has examples of its own: katoms fit --help";

/// Models made of exactly k atoms: k features, k groups of features, a matrix of rank k.
#[derive(Debug, Parser)]
#[command(name = "katoms", version, styles = STYLES, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// Say nothing but errors and warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The best model of k features or groups
    Fit(fit::FitArgs),
    /// A model of each size, and which size the criteria prefer
    Path(path::PathArgs),
    /// How many features: by cross-validation; then fits them
    Cv(cv::CvArgs),
    /// Predictions of a saved model for new data
    Predict(predict::PredictArgs),
    /// Compressed sensing: a signal of k nonzeros from few measurements
    Recover(recover::RecoverArgs),
    /// A matrix or picture with missing entries, completed by one of rank k
    Complete(complete::CompleteArgs),
    /// What is in a file, and what a fit would do with it
    Inspect(inspect::InspectArgs),
    /// The convergence theory of accelerated IHT, as a calculator
    Theory(theory::TheoryArgs),
    /// How many atoms data of this shape can carry
    KHint(k_hint::KHintArgs),
    /// The methods, and what each one takes
    Methods(methods::MethodsArgs),
    /// A completion script for your shell, on standard output
    Completions(shell::CompletionsArgs),
    /// The manual page, on standard output
    Man(shell::ManArgs),
    /// Holds files for a fit of several, until nobody asks any more
    #[command(skip)]
    Worker(worker::WorkerArgs),
}

impl Command {
    pub(crate) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        match self {
            Self::Fit(args) => args.run(terminal),
            Self::Path(args) => args.run(terminal),
            Self::Cv(args) => args.run(terminal),
            Self::Predict(args) => args.run(terminal),
            Self::Recover(args) => args.run(terminal),
            Self::Complete(args) => args.run(terminal),
            Self::Inspect(args) => args.run(terminal),
            Self::Theory(args) => args.run(terminal),
            Self::KHint(args) => args.run(terminal),
            Self::Methods(args) => args.run(terminal),
            Self::Completions(args) => args.run(terminal),
            Self::Man(args) => args.run(terminal),
            Self::Worker(args) => args.run(),
        }
    }
}
