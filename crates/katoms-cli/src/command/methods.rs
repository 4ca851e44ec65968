//! `katoms methods`: the table of methods.

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use katoms::method::table::{self, Entry, Problem};
use serde_json::json;

use crate::Ended;
use crate::terminal::Terminal;

/// `katoms methods`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms methods              all of them
  katoms methods omp          one of them
  katoms methods --for rank   those that `katoms complete --method` takes

`katoms fit --method` takes those for atoms, for an l1 penalty and for an l1 ball, `katoms recover --method` those for
atoms, `katoms complete --method` those for a rank. The others are in the library.")]
pub struct MethodsArgs {
    /// Only this one
    name: Option<String>,
    /// Only those for such problems
    #[arg(long = "for", value_name = "PROBLEM", value_parser = problems())]
    problem: Option<Problem>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

fn problems() -> impl TypedValueParser<Value = Problem> {
    PossibleValuesParser::new(["atoms", "rank", "ball", "penalty"]).map(|name| match name.as_str() {
        "atoms" => Problem::Atoms,
        "rank" => Problem::Rank,
        "ball" => Problem::Ball,
        _ => Problem::Penalty,
    })
}

/// The commands whose `--method` takes it.
fn taken_by(entry: &Entry) -> Vec<&'static str> {
    let fit = (entry.solves(Problem::Atoms) || entry.is_for_l1()).then_some("fit");
    let recover = entry.solves(Problem::Atoms).then_some("recover");
    let complete = entry.solves(Problem::Rank).then_some("complete");
    fit.into_iter().chain(recover).chain(complete).collect()
}

impl MethodsArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let listed: Vec<&Entry> = match &self.name {
            Some(name) => vec![table::find(name)?],
            None => {
                let fits = |e: &&Entry| self.problem.is_none_or(|p| e.solves(p));
                table::entries().iter().filter(fits).collect()
            }
        };
        if self.json {
            let one = |e: &&Entry| {
                json!({
                    "name": e.name, "type": e.type_name, "structures": e.structures, "cost": e.cost,
                    "guarantee": e.guarantee, "when": e.when, "commands": taken_by(e),
                })
            };
            terminal.print_json(&listed.iter().map(one).collect::<Vec<_>>())?;
            return Ok(Ended::Done);
        }
        let mut text = String::new();
        for entry in listed {
            let commands = match taken_by(entry).as_slice() {
                [] => "the library only".to_owned(),
                commands => commands.join(", "),
            };
            text += &format!("{}\n  takes      {}\n", entry.name, entry.structures);
            text += &format!("  commands   {commands}\n  iteration  {}\n", entry.cost);
            text += &format!("  proven     {}\n  choose     {}\n\n", entry.guarantee, entry.when);
        }
        terminal.print(&text)?;
        Ok(Ended::Done)
    }
}
