//! How a fit ended and how good it is, in words.

use katoms::driver::{Quality, Start, Stop};
use katoms::method::table;
use katoms::{Status, driver::Attempt};

use crate::features::{Edge, SeparateModels, lower_edge};

/// Responses whose models are told of one by one.
const RESPONSES: usize = 6;
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
        Status::Separated => "separated: larger coefficients always fit better",
    }
}

/// That a method by name ran once, and what its coefficients are.
pub fn single_run(method: &str) -> String {
    let shrunken = table::find(method).is_ok_and(table::Entry::is_for_l1);
    let note = if shrunken { "; its coefficients are shrunken towards zero" } else { "" };
    format!("a single run of {method}, and nothing after it{note}")
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
        Status::Separated => "separated",
    }
}

/// That a choice among sizes is the largest of them, as its edge says, or the smallest, and what to do about it: a range from 0
/// to a last size, or an estimator that holds out rows where no criterion can be trusted.
pub fn edge(
    what: &str,
    edge: Option<Edge>,
    (sizes, chosen): (&[usize], usize),
    range_to: impl Fn(usize) -> String,
    holding_out: &str,
) -> Option<String> {
    if let Some(Edge { tried, further, trusted }) = edge {
        let beyond = trusted.map(|most| {
            format!("beyond {most} no criterion can be trusted with these data, so let {holding_out} judge on rows held out, or ")
        });
        let (beyond, range) = (beyond.unwrap_or_default(), range_to(further));
        return Some(format!(
            "{what} the largest size that was tried ({tried}), so the best may be larger: {beyond}try {range}"
        ));
    }
    let tried = lower_edge(sizes, chosen)?;
    let range = range_to(sizes.iter().copied().max().unwrap_or(tried));
    Some(format!("{what} the smallest size that was tried ({tried}), so the best may be smaller: try {range}"))
}

/// Of which search the models of a cross-validation are.
pub const FOLD_MODELS: &str = "the models of the folds come from a faster search than the final fit's: a fit of the same \
                               rows may find a better one";

/// What is known about how good a model is, a sentence each.
pub fn quality(quality: &Quality, attempts: &[Attempt], name: impl Fn(usize) -> String) -> Vec<String> {
    let mut told = Vec::new();
    if quality.stationarity > Stop::default().tolerance {
        told.push(format!(
            "not stationary: a gradient step would move the model by {} of its length",
            number(quality.stationarity)
        ));
    }
    if quality.stationarity.is_nan() {
        told.push("whether a gradient step would move it could not be judged".into());
    }
    let compared = quality.exchanges_compared;
    let gain = number(quality.exchange_gain);
    told.push(match (compared, quality.improvable(), quality.exhaustive) {
        (0, ..) if quality.perfect => "the fit is perfect: there is nothing left to improve".into(),
        (0, _, false) => "no exchange of one atom for another was compared".into(),
        (0, ..) => "there was nothing to exchange: no atom outside of the model could add anything".into(),
        (_, true, true) => {
            format!("one of all {compared} exchanges of an atom improves it by {gain}: it is not the best")
        }
        (_, true, false) => {
            format!("one of {compared} exchanges that were tried improves it by {gain}: it is not the best")
        }
        (_, false, true) => format!("no exchange of one atom for another improves it (all {compared} compared)"),
        (_, false, false) => {
            format!("none of the {compared} most promising exchanges improves it; the others were not tried")
        }
    });
    if let Some(searched) = attempts.iter().find(|attempt| attempt.start == Start::WorkingSet) {
        let atoms = if searched.exchanges == 1 { "1 atom".into() } else { format!("{} atoms", searched.exchanges) };
        told.push(format!("the search exchanged {atoms} of what accelerated IHT had found"));
    }
    if let Some(subsets) = quality.proven {
        let count = if subsets < 1e9 { format!("{subsets:.0}") } else { number(subsets) };
        told.push(format!("proven best of all {count} subsets of this size"));
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

/// What is known about how good the models of several responses are that share no features. `atoms` are features or groups.
pub fn each_response(
    models: &SeparateModels,
    (responses, atoms): (&[String], &str),
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(total) = models.total.filter(|&total| total > 0) {
        told.push(format!(
            "with the best models found of each response for 0 to {total} {atoms}, no other way to share {total} out \
             among the responses has a lower objective"
        ));
    }
    if models.parts.len() > RESPONSES {
        let of_all = models.whole.outcome.quality.iter().flat_map(|found| quality(found, &[], &name));
        told.extend(of_all.map(|sentence| format!("over all responses: {sentence}")));
        return told;
    }
    for (response, part) in responses.iter().zip(&models.parts) {
        let of_part = part.outcome.quality.iter().flat_map(|found| quality(found, &part.outcome.attempts, &name));
        told.extend(of_part.map(|sentence| format!("{response}: {sentence}")));
    }
    told
}

/// "6 passes over the data"; where some were partial, "1.8 reads of the data".
pub fn reads(passes: usize, reads: f64) -> String {
    match passes {
        _ if reads > passes as f64 => format!("{reads:.1} reads of the data"),
        1 => "1 pass over the data".into(),
        _ => format!("{passes} passes over the data"),
    }
}

/// A number with as many digits as a person reads.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.3e}")
    } else {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let told = [0.0, 1.0, -0.012345, 123.456, 98765.4, 1234567.0, 0.00012, f64::NAN];
        let words = ["0", "1.000", "-0.01235", "123.5", "98765", "1.235e6", "1.200e-4", "NaN"];
        assert_eq!(told.map(number), words);
    }
}
