//! The paper's claims about pictures, beside what the runs say.

use super::contest::{Finished, PAPERS, Problem};
use super::telling::{Told, name, of};
use crate::race::Mark;
use crate::{Agreement, Contestant, Verdict};

/// The races on one picture, ready to be compared.
pub(super) struct Claims<'a> {
    finished: &'a [Finished],
    /// The objective that AccIHT, IHT and BFGD all reach; `None` where one of them diverges.
    pub common: Option<f64>,
    /// f(0).
    zero: f64,
}

impl<'a> Claims<'a> {
    pub fn new(problem: &Problem, finished: &'a [Finished]) -> Self {
        let mut claims = Self { finished, common: None, zero: problem.zero };
        claims.common = claims.reached_by(&[Contestant::AccIht, Contestant::Iht, Contestant::Bfgd]);
        claims
    }

    /// The lowest objective that all of these reach.
    fn reached_by(&self, contestants: &[Contestant]) -> Option<f64> {
        let ends = contestants.iter().map(|c| of(self.finished, *c).map(|f| f.last().objective));
        let worst = ends.collect::<Option<Vec<f64>>>()?.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (worst.is_finite() && worst < self.zero).then_some(worst)
    }

    /// When a contestant has come down to an objective.
    fn arrival(&self, contestant: Contestant, objective: f64) -> Option<&Mark> {
        of(self.finished, contestant)?.race.reaches(objective)
    }

    /// What AccIHT needs of what IHT needs, to the objective that both reach: iterations, seconds.
    pub fn accelerated_over_plain(&self) -> Option<(f64, f64)> {
        let target = self.reached_by(&[Contestant::AccIht, Contestant::Iht])?;
        let (fast, plain) = (self.arrival(Contestant::AccIht, target)?, self.arrival(Contestant::Iht, target)?);
        (plain.iteration > 0).then(|| {
            (fast.iteration as f64 / plain.iteration as f64, fast.seconds / plain.seconds.max(f64::MIN_POSITIVE))
        })
    }

    /// Who of the paper's four is first at the common objective: by iterations, by seconds.
    fn first(&self) -> Option<(Contestant, Contestant)> {
        let common = self.common?;
        let arrivals = || {
            let four = self.finished[PAPERS].iter();
            four.filter_map(|f| Some((f.race.contestant, f.race.reaches(common)?)))
        };
        let by_iterations = arrivals().min_by_key(|(_, m)| m.iteration)?.0;
        let by_seconds = arrivals().min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))?.0;
        Some((by_iterations, by_seconds))
    }

    /// Iterations and seconds of IHT and of AccIHT, each over BFGD's, to where BFGD ends.
    fn over_factored(&self) -> Option<[(f64, f64); 2]> {
        let common = self.common?;
        let factored = self.arrival(Contestant::Bfgd, common)?;
        let over = |contestant| {
            let mark = self.arrival(contestant, common)?;
            let iterations = mark.iteration as f64 / (factored.iteration as f64).max(1.0);
            Some((iterations, mark.seconds / factored.seconds.max(f64::MIN_POSITIVE)))
        };
        Some([over(Contestant::Iht)?, over(Contestant::AccIht)?])
    }
}

/// Agrees where all of the tests hold, differs where none does.
fn agreement(tests: &[bool]) -> Agreement {
    match tests.iter().filter(|holds| **holds).count() {
        _ if tests.is_empty() => Agreement::Open,
        0 => Agreement::Differs,
        held if held == tests.len() => Agreement::Agrees,
        _ => Agreement::Partly,
    }
}

/// One verdict on each claim, over all pictures.
pub(super) fn verdicts(told: &[Told]) -> Vec<Verdict> {
    let claims: Vec<(String, Claims<'_>)> = told.iter().map(|(p, f)| (name(p), Claims::new(p, f))).collect();
    let drawn = told.iter().any(|(problem, _)| problem.picture.is_drawn);
    let with_kind = |why: String| if drawn { format!("Measured on a drawn picture. {why}") } else { why };
    let (mut verdicts, mut tests, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for (name, claim) in &claims {
        let (Some((by_iterations, by_seconds)), Some(common)) = (claim.first(), claim.common) else { continue };
        tests.extend([by_iterations == Contestant::AccIht, by_seconds == Contestant::AccIht]);
        let gap = common / claim.zero;
        words.push(format!(
            "to f/f(0) = {gap:.1e} on {name}: {} by iterations, {} by seconds",
            by_iterations.label(),
            by_seconds.label()
        ));
    }
    verdicts.push(Verdict {
        claim: "AccIHT is the fastest of the four methods".into(),
        published: "fastest on both pictures, by time".into(),
        measured: told_or_not(&words),
        agreement: agreement(&tests),
        why: with_kind(
            "The target is the least f that AccIHT, IHT and BFGD all reach. Momentum doubles the rank of the point from \
             which a step is taken, so that its iterations cost more than those of IHT."
                .into(),
        ),
    });
    (tests, words) = (Vec::new(), Vec::new());
    for (name, claim) in &claims {
        let Some((iterations, seconds)) = claim.accelerated_over_plain() else { continue };
        tests.extend([iterations < 1.0, seconds < 1.0]);
        words.push(format!("{iterations:.2} of its iterations and {seconds:.2} of its seconds on {name}"));
    }
    verdicts.push(Verdict {
        claim: "AccIHT is faster than IHT".into(),
        published: "yes".into(),
        measured: told_or_not(&words),
        agreement: agreement(&tests),
        why: with_kind(
            "To the least f that both reach. A constant τ is a guess; the closed form chooses it at each move.".into(),
        ),
    });
    (tests, words) = (Vec::new(), Vec::new());
    for (name, claim) in &claims {
        let Some([plain, fast]) = claim.over_factored() else { continue };
        tests.extend([plain.0 < 1.0, plain.1 < 1.0, fast.0 < 1.0, fast.1 < 1.0]);
        words.push(format!(
            "IHT needs {:.2} of BFGD's iterations and {:.2} of its seconds, AccIHT {:.2} and {:.2}, on {name}",
            plain.0, plain.1, fast.0, fast.1
        ));
    }
    verdicts.push(Verdict {
        claim: "Methods that do not factor the matrix have the advantage over BFGD".into(),
        published: "yes, by the number of iterations".into(),
        measured: told_or_not(&words),
        agreement: agreement(&tests),
        why: with_kind(
            "The gradients of the factors are scaled by the singular values: where these fall by decades, the weak \
             directions hardly move."
                .into(),
        ),
    });
    verdicts
}

fn told_or_not(words: &[String]) -> String {
    if words.is_empty() { "one of the methods diverged".into() } else { words.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_counted() {
        assert_eq!(agreement(&[]), Agreement::Open);
        assert_eq!(agreement(&[false, false]), Agreement::Differs);
        assert_eq!(agreement(&[true, false]), Agreement::Partly);
        assert_eq!(agreement(&[true, true]), Agreement::Agrees);
    }
}
