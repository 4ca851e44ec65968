//! The report about a completion.

use std::path::Path;

use anyhow::Result;
use katoms_estimate::Completed;

use super::grid::{Grid, HiddenError};
use crate::report::{Completion, Convergence, Fact, Picture, RankError, Report, Step};
use crate::terminal::{Terminal, number};
use crate::words;

pub fn report(grid: &Grid, completed: &Completed, data: &Path, terminal: &Terminal) -> Result<Report> {
    let (p, q) = grid.shape();
    let question = vec![
        Fact::new("Data", data.display().to_string()),
        Fact::new("Matrix", format!("{p} × {q}")),
        Fact::new("Seen", format!("{} entries", grid.seen())),
        match super::is_scaled(completed) {
            true => Fact::new("Columns", "features, scaled to standard deviation 1; errors are in that unit"),
            false => Fact::new("Ridge", number(completed.ridge)),
        },
    ];
    let step = |event: &katoms::driver::Event| Step {
        passes: event.passes as f64,
        objective: event.objective,
        gap: event.gap,
        label: None,
    };
    let hidden = grid.hidden_error(&completed.matrix);
    Ok(Report {
        title: capitalised(&grid.title(completed.rank)),
        answer: answer(completed, hidden),
        command: terminal.command.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        warnings: super::shortfall(completed).into_iter().chain(grid.notes.iter().cloned()).collect(),
        question,
        certainty: certainty(completed, hidden),
        convergence: (!completed.trace.is_empty())
            .then(|| Convergence { moves: completed.trace.iter().map(step).collect(), passes: None }),
        completion: Some(Completion {
            pictures: pictures(grid, completed)?,
            singular_values: completed.matrix.singular_values.clone(),
            ranks: ranks(completed),
            chosen_rank: Some(completed.rank),
            measure: "root mean squared error".into(),
        }),
        ..Report::default()
    })
}

fn answer(completed: &Completed, hidden: Option<HiddenError>) -> String {
    match (hidden, completed.held_out_rmse) {
        (Some(error), _) => {
            format!("Pixels or entries that were hidden have an RMSE of {}.", number(error.rmse))
        }
        (None, Some(error)) => format!("Entries that were held out have an RMSE of {}.", number(error)),
        (None, None) => format!("What was seen has an RMSE of {}.", number(completed.seen_rmse)),
    }
}

fn certainty(completed: &Completed, hidden: Option<HiddenError>) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Status", words::status(completed.status)),
        Fact::new("Rank", completed.rank.to_string()),
        Fact::new("RMSE on what was seen", number(completed.seen_rmse)),
    ];
    facts.extend(completed.held_out_rmse.map(|e| Fact::new("RMSE on entries held out to choose", number(e))));
    facts.extend(hidden.map(|error| Fact::new("RMSE on what was hidden", number(error.rmse))));
    facts.extend(hidden.and_then(|error| error.psnr).map(|psnr| Fact::new("PSNR", format!("{psnr:.1} dB"))));
    facts.push(Fact::new(
        "Cost",
        format!("{} passes, those of the choice included, {:.2} s", completed.passes, completed.seconds),
    ));
    facts
}

/// The error of each rank; of several ridges at a rank the best one speaks for it.
fn ranks(completed: &Completed) -> Vec<RankError> {
    let mut ranks: Vec<RankError> = Vec::new();
    for trial in &completed.trials {
        match ranks.iter_mut().find(|known| known.rank == trial.rank) {
            Some(known) => known.error = known.error.min(trial.held_out_rmse),
            None => ranks.push(RankError { rank: trial.rank, error: trial.held_out_rmse }),
        }
    }
    ranks.sort_by_key(|known| known.rank);
    ranks
}

fn pictures(grid: &Grid, completed: &Completed) -> Result<Vec<Picture>> {
    if !grid.is_picture() {
        return Ok(Vec::new());
    }
    let original = grid.original_picture().map(|picture| ("The original", picture));
    let others = [("What was seen", grid.seen_picture()), ("Completed", grid.completed_picture(&completed.matrix)?)];
    let one = |(caption, picture): (&str, katoms_io::Picture)| -> Result<Picture> {
        Ok(Picture { caption: caption.into(), png: katoms_io::write_png(&picture)? })
    };
    original.into_iter().chain(others).map(one).collect()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
