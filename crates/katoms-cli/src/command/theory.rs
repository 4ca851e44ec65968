//! `katoms theory`: the paper's bounds.

use anyhow::Result;
use clap::Args;
use katoms::theory::{Conditioning, ErrorBound};
use serde_json::json;

use crate::Ended;
use crate::terminal::{Terminal, aligned, number};

/// `katoms theory`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  katoms theory --alpha 0.8 --beta 1.2 --tau 0.25 --noise 0.001 --accuracy 0.01

Accelerated IHT with step 2/(alpha+beta) and momentum tau: how fast, how near, for which tau. alpha and beta bound the
curvature over supports of 3k atoms. Where the paper's formulas needed correction, both are shown: docs/theory.md.")]
pub struct TheoryArgs {
    /// The least curvature over 3k atoms
    #[arg(long)]
    alpha: f64,
    /// The largest curvature over 3k atoms
    #[arg(long)]
    beta: f64,
    /// The momentum
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    tau: f64,
    /// The norm of the signal
    #[arg(long, default_value_t = 1.0)]
    signal: f64,
    /// The norm of the noise in the measurements
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// The largest curvature over 2k atoms, for the noise. Default: beta
    #[arg(long)]
    beta_2k: Option<f64>,
    /// The error to be reached
    #[arg(long, default_value_t = 0.01)]
    accuracy: f64,
    /// As JSON
    #[arg(long)]
    json: bool,
}

fn interval(range: Option<(f64, f64)>) -> String {
    range.map_or_else(|| "empty".into(), |(low, high)| format!("{} to {}", number(low), number(high)))
}

impl TheoryArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let curvature = Conditioning::new(self.alpha, self.beta)?;
        let contraction = curvature.contraction(self.tau)?;
        let floor = curvature.noise_gain(self.beta_2k.unwrap_or(self.beta))? * self.noise;
        let bound: ErrorBound = contraction.bound(self.signal, floor)?;
        let (radius, steps) = (contraction.spectral_radius(), bound.iterations_to(self.accuracy));
        if self.json {
            terminal.print_json(&json!({
                "kappa": curvature.kappa(), "xi": curvature.xi(), "step": curvature.step(),
                "momentum": curvature.exact_momentum(), "momentum_published": curvature.published_momentum(),
                "radius": radius, "converges": contraction.converges(), "floor": bound.floor(),
                "iterations": steps, "iterations_published": bound.published_iterations_to(self.accuracy),
            }))?;
            return Ok(Ended::Done);
        }
        let or_never = |steps: Option<u64>| steps.map_or_else(|| "never".to_owned(), |n| n.to_string());
        let rows = [
            ("condition number kappa", number(curvature.kappa())),
            ("xi = 2(kappa-1)/(kappa+1)", number(curvature.xi())),
            ("step 2/(alpha+beta)", number(curvature.step())),
            ("momentum that converges", interval(curvature.exact_momentum())),
            ("  as the paper prints it", interval(curvature.published_momentum())),
            ("spectral radius at tau", number(radius)),
            ("error that remains", bound.floor().map_or_else(|| "no bound".into(), number)),
            ("iterations to the accuracy", or_never(steps)),
            ("  as the paper prints it", or_never(bound.published_iterations_to(self.accuracy))),
        ];
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(what, value)| vec![what.into(), value]).collect();
        terminal
            .print(&aligned(&["", ""], &rows).lines().skip(1).map(|line| format!("{line}\n")).collect::<String>())?;
        Ok(Ended::Done)
    }
}
