//! How a fit ended and how good it is, in words.

use katoms::driver::{Quality, Stop};
use katoms::{Status, driver::Attempt};

use crate::told::number;

/// Near rivals that are told by name.
const RIVALS: usize = 5;

/// How a run ended.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationCap => "stopped at the cap on iterations",
        Status::PassCap => "stopped at the cap on passes",
        Status::TimeLimit => "stopped at the time limit",
        Status::Stopped => "stopped before it converged",
        Status::Stalled => "stalled: no step lowers the objective",
        Status::Diverged => "diverged",
    }
}

/// The name of a status in files: one word.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationCap => "iteration-cap",
        Status::PassCap => "pass-cap",
        Status::TimeLimit => "time-limit",
        Status::Stopped => "stopped",
        Status::Stalled => "stalled",
        Status::Diverged => "diverged",
    }
}

/// What is known about how good a model is, a sentence each.
pub fn quality(quality: &Quality, attempts: &[Attempt], name: impl Fn(usize) -> String) -> Vec<String> {
    let mut told = Vec::new();
    if quality.stationarity > Stop::default().tolerance {
        told.push(format!(
            "not stationary: a gradient step would move the model by {} of its length",
            number(quality.stationarity)
        ));
    }
    let compared = quality.exchanges_compared;
    let which = if quality.exhaustive { "all" } else { "the most promising" };
    told.push(match (compared, quality.improvable()) {
        (0, _) => "the fit is perfect, so no exchange was tried".into(),
        (_, true) => format!(
            "one of {which} {compared} exchanges of an atom improves it by {}: it is not the best",
            number(quality.exchange_gain)
        ),
        (_, false) => format!("no exchange of one atom for another improves it ({which} {compared} compared)"),
    });
    if attempts.len() > 1 {
        told.push(format!("{} starts were tried", attempts.len()));
    }
    if let Some(certificate) = &quality.certificate {
        let share = 100.0 * certificate.gap.max(0.0);
        told.push(format!("proven: no model of this size has an objective lower by more than {} %", number(share)));
    }
    let ties = &quality.near_ties;
    if !ties.is_empty() {
        let pairs = ties.iter().take(RIVALS).map(|tie| format!("{} by {}", name(tie.inside), name(tie.outside)));
        let more = if ties.len() > RIVALS { format!(", and {} more", ties.len() - RIVALS) } else { String::new() };
        let pairs: Vec<String> = pairs.collect();
        told.push(format!("nearly as good with one exchange: {}{more}", pairs.join(", ")));
    }
    told
}
