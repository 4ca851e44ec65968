//! `katoms k-hint`: how many atoms a shape can carry.

use anyhow::Result;
use clap::Args;
use katoms::select::{Sign, phase_transition_k};
use serde_json::json;

use crate::Ended;
use crate::terminal::Terminal;

/// `katoms k-hint`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  katoms k-hint --rows 7500 --columns 200000     prints 1074

The rule is the weak threshold of Donoho and Tanner. It looks at the shape, not at the data: noise and correlated
columns leave room for fewer.")]
pub struct KHintArgs {
    /// Rows: observations, measurements
    #[arg(long, short = 'm')]
    rows: usize,
    /// Columns: features, the length of the signal
    #[arg(long, short = 'n')]
    columns: usize,
    /// The entries are known to be nonnegative, and the method uses that
    #[arg(long)]
    nonnegative: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl KHintArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let sign = if self.nonnegative { Sign::Nonnegative } else { Sign::Any };
        let k = phase_transition_k(self.rows, self.columns, sign)?;
        if self.json {
            terminal.print_json(&json!({ "rows": self.rows, "columns": self.columns, "k": k }))?;
        } else {
            terminal.print(&format!("{k}\n"))?;
            let (m, n) = (self.rows, self.columns);
            if m >= n {
                terminal
                    .say(format!("{m} rows and {n} columns: without noise, least squares alone finds every signal"));
            } else {
                terminal.say(format!(
                    "{m} rows and {n} columns: without noise, up to about {k} atoms can be found; noise and correlated \
                     columns leave room for fewer"
                ));
            }
        }
        Ok(Ended::Done)
    }
}
