//! The paper's claims about pictures, beside what the runs say.

use std::cmp::Ordering;

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

    /// The lowest objective that all of these reach; none where one of them diverges.
    fn reached_by(&self, contestants: &[Contestant]) -> Option<f64> {
        let end = |c: &Contestant| of(self.finished, *c).filter(|f| !f.has_diverged()).map(|f| f.last().objective);
        let ends = contestants.iter().map(end).collect::<Option<Vec<f64>>>()?;
        let worst = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (worst < self.zero).then_some(worst)
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

    /// How AccIHT does beside the others of the paper's four on the way to the common objective, and who is first: by
    /// iterations, by seconds.
    fn first(&self) -> Option<[(Ordering, String); 2]> {
        let common = self.common?;
        let four = self.finished[PAPERS].iter();
        let arrivals: Vec<(Contestant, &Mark)> =
            four.filter_map(|f| Some((f.race.contestant, f.race.reaches(common)?))).collect();
        let by =
            |cost: fn(&Mark) -> f64| placed(&arrivals.iter().map(|(who, mark)| (*who, cost(mark))).collect::<Vec<_>>());
        Some([by(|m| m.iteration as f64)?, by(|m| m.seconds)?])
    }

    /// Who of the paper's four diverges, in words; empty where nobody does.
    fn diverged(&self) -> String {
        let names = self.finished[PAPERS].iter().filter(|f| f.has_diverged()).map(Finished::label);
        names.collect::<Vec<_>>().join(" and ")
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

/// AccIHT's cost beside the least of the others, and the names of all who have the least.
fn placed(costs: &[(Contestant, f64)]) -> Option<(Ordering, String)> {
    let ours = costs.iter().find(|(who, _)| *who == Contestant::AccIht)?.1;
    let others = costs.iter().filter(|(who, _)| *who != Contestant::AccIht);
    let rival = others.map(|(_, cost)| *cost).min_by(f64::total_cmp)?;
    let least = ours.min(rival);
    let first: Vec<&str> = costs.iter().filter(|(_, cost)| *cost == least).map(|(who, _)| who.label()).collect();
    Some((ours.total_cmp(&rival), first.join(" and ")))
}

/// What the pictures say of one claim.
#[derive(Default)]
struct Evidence {
    /// One for each comparison: less where the claim holds, equal for a tie, greater where it fails.
    tests: Vec<Ordering>,
    words: Vec<String>,
    /// Whether a picture could not be judged.
    is_partial: bool,
}

impl Evidence {
    /// Ratios of costs that the claim says are below 1.
    fn ratios(&mut self, ratios: &[f64]) {
        self.tests.extend(ratios.iter().map(|ratio| ratio.total_cmp(&1.0)));
    }

    /// A picture that cannot be judged, and why.
    fn lacks(&mut self, name: &str, claim: &Claims<'_>) {
        self.is_partial = true;
        let diverged = claim.diverged();
        self.words.push(if diverged.is_empty() {
            format!("no f below f(0) that all of them reach on {name}")
        } else {
            format!("{diverged} diverged on {name}")
        });
    }

    /// Agrees where all of the tests hold, differs where all fail. A tie is neither.
    fn agreement(&self) -> Agreement {
        let all = |ordering| self.tests.iter().all(|test| *test == ordering);
        if self.tests.is_empty() {
            Agreement::Open
        } else if all(Ordering::Less) && !self.is_partial {
            Agreement::Agrees
        } else if all(Ordering::Greater) {
            Agreement::Differs
        } else {
            Agreement::Partly
        }
    }

    fn verdict(self, claim: &str, published: &str, why: String) -> Verdict {
        let agreement = self.agreement();
        let measured = self.words.join("; ");
        Verdict { claim: claim.into(), published: published.into(), measured, agreement, why }
    }
}

/// One verdict on each claim, over all pictures.
pub(super) fn verdicts(told: &[Told]) -> Vec<Verdict> {
    let claims: Vec<(String, Claims<'_>)> = told.iter().map(|(p, f)| (name(p), Claims::new(p, f))).collect();
    let drawn = told.iter().any(|(problem, _)| problem.picture.is_drawn);
    let with_kind = |why: &str| if drawn { format!("Measured on a drawn picture. {why}") } else { why.into() };
    let mut fastest = Evidence::default();
    let mut faster = Evidence::default();
    let mut unfactored = Evidence::default();
    for (name, claim) in &claims {
        if let (Some([by_iterations, by_seconds]), Some(common)) = (claim.first(), claim.common) {
            fastest.tests.extend([by_iterations.0, by_seconds.0]);
            fastest.words.push(format!(
                "to f/f(0) = {:.1e} on {name}: {} by iterations, {} by seconds",
                common / claim.zero,
                by_iterations.1,
                by_seconds.1
            ));
        } else {
            fastest.lacks(name, claim);
        }
        if let Some((iterations, seconds)) = claim.accelerated_over_plain() {
            faster.ratios(&[iterations, seconds]);
            faster.words.push(format!("{iterations:.2} of its iterations and {seconds:.2} of its seconds on {name}"));
        } else {
            faster.lacks(name, claim);
        }
        if let Some([plain, fast]) = claim.over_factored() {
            unfactored.ratios(&[plain.0, plain.1, fast.0, fast.1]);
            unfactored.words.push(format!(
                "IHT needs {:.2} of BFGD's iterations and {:.2} of its seconds, AccIHT {:.2} and {:.2}, on {name}",
                plain.0, plain.1, fast.0, fast.1
            ));
        } else {
            unfactored.lacks(name, claim);
        }
    }
    vec![
        fastest.verdict(
            "AccIHT is the fastest of the four methods",
            "fastest on both pictures, by time",
            with_kind(
                "The target is the least f that AccIHT, IHT and BFGD all reach; a tie counts as in part. Momentum doubles \
                 the rank of the point from which a step is taken, which makes an iteration dearer than one of IHT.",
            ),
        ),
        faster.verdict(
            "AccIHT is faster than IHT",
            "yes",
            with_kind(
                "To the least f that both reach. A constant τ is a guess; the closed form chooses it at each move.",
            ),
        ),
        unfactored.verdict(
            "Methods that do not factor the matrix have the advantage over BFGD",
            "yes, by the number of iterations",
            with_kind(
                "The gradients of the factors are scaled by the singular values: where these fall by decades, the weak \
                 directions hardly move.",
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(tests: &[Ordering], is_partial: bool) -> Agreement {
        Evidence { tests: tests.to_vec(), is_partial, ..Evidence::default() }.agreement()
    }

    #[test]
    fn agreement_is_counted() {
        use Ordering::{Equal, Greater, Less};
        assert_eq!(agreement(&[], true), Agreement::Open);
        assert_eq!(agreement(&[Greater, Greater], false), Agreement::Differs);
        assert_eq!(agreement(&[Less, Greater], false), Agreement::Partly);
        assert_eq!(agreement(&[Less, Less], false), Agreement::Agrees);
        // A tie is not a win, and a picture without a verdict is missing from a whole one.
        assert_eq!(agreement(&[Less, Equal], false), Agreement::Partly);
        assert_eq!(agreement(&[Less, Less], true), Agreement::Partly);
    }

    #[test]
    fn a_tie_is_nobodys_win() {
        let costs = |acc: f64| [(Contestant::AccIht, acc), (Contestant::Iht, 9.0), (Contestant::Bfgd, 80.0)];
        assert_eq!(placed(&costs(8.0)), Some((Ordering::Less, "AccIHT (paper)".into())));
        assert_eq!(placed(&costs(9.0)), Some((Ordering::Equal, "AccIHT (paper) and IHT (paper)".into())));
        assert_eq!(placed(&costs(10.0)), Some((Ordering::Greater, "IHT (paper)".into())));
        assert_eq!(placed(&costs(8.0)[1..]), None);
    }
}
