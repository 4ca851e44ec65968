//! One momentum on the toy: its run, and what it did, by measurement.

use anyhow::Result;
use katoms::loss::LeastSquares;
use katoms::method::{AcceleratedIht, IhtState, Method, Step};
use katoms::operator::Dense;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use serde::Serialize;

use super::toy::Toy;
use crate::Progress;
use crate::race::published;

/// A run ends when its gap is this share of the one at the start: below, it is rounding.
const ROUNDING: f64 = 1e-24;
/// And when it is so many times the one at the start: it does not come back.
const AWAY: f64 = 1e12;
/// So many moves on the last support are needed to measure a rate there.
const FEW: usize = 5;
/// The share of the gap at the start whose moves are counted.
const NEAR: f64 = 1e-6;
/// Labels look at gaps above this share of the one at the start only: how far a run goes on below does not matter.
const FLOOR: f64 = 1e-12;
/// One rise may be chance; so many make ripples.
const LEAST_RISES: usize = 2;
/// A gap is straight on a logarithmic axis from this R² on. Equal steps of two moves, as at τ = −1, have about 0.97.
const STRAIGHT: f64 = 0.99;
/// A run that stays within this share of its gap for its last quarter has stopped.
const STILL: f64 = 1e-6;

/// What a momentum does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Converges, and the logarithm of the gap falls along a line.
    Linear,
    /// Converges, and neither is the gap straight nor does it rise often: in steps, say.
    Uneven,
    /// Converges, and the gap rises in a share of the moves.
    Ripples,
    /// Comes to rest elsewhere, or on a wrong support.
    Stalls,
    /// Neither converges nor comes to rest, below the gap of the start.
    Wanders,
    /// Ends above the gap of the start.
    Diverges,
}

impl Label {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Linear, Self::Uneven, Self::Ripples, Self::Stalls, Self::Wanders, Self::Diverges];

    /// What a legend says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Uneven => "uneven",
            Self::Ripples => "ripples",
            Self::Stalls => "stalls",
            Self::Wanders => "wanders",
            Self::Diverges => "diverges",
        }
    }

    /// Whether the planted vector is reached.
    pub fn converges(self) -> bool {
        matches!(self, Self::Linear | Self::Uneven | Self::Ripples)
    }
}

/// The limits between labels.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub iterations: usize,
    pub converged: f64,
    pub ripples: f64,
}

/// A run at one momentum.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    pub tau: f64,
    pub label: Label,
    /// f − f* after each move, the start first.
    pub gaps: Vec<f64>,
    /// The factor of the gap in one move: a line through its logarithm, from the last change of the support on.
    ///
    /// NaN where there are no two gaps to draw it through.
    pub rate: f64,
    /// R² of such a line through the gaps above the floor.
    pub straight: f64,
    /// The share of the moves above the floor in which the gap rose.
    pub rises: f64,
    /// The last move that changed the support.
    pub settled: usize,
    /// Moves until the gap stays below 1e-6 of its start.
    pub moves: Option<usize>,
    /// Whether the last support is the planted one.
    pub support: bool,
}

impl Trial {
    /// Runs Algorithm 1 with the step 2/(α+β) and a constant τ; no refit, no safeguard.
    ///
    /// Move by move, without its stop rule: at τ = −1 the second iterate is the first one again, the rule would end the
    /// run there, and the third goes on.
    pub fn run(toy: &Toy, step: f64, tau: f64, rules: Rules, progress: &Progress) -> Result<Self> {
        let f = toy.objective()?;
        let set = KSparse::new(toy.truth.indices().len(), toy.truth.dim())?;
        let method = published(Step::Fixed(step), tau);
        let dim = toy.truth.dim();
        let mut state: IhtState<SparseVec> = method.start(&f, &set, SparseVec::new(dim, vec![], vec![])?)?;
        let mut gradient = vec![0.0; dim];
        let iterate = <AcceleratedIht as Method<Dense<'_, f64>, LeastSquares, KSparse>>::iterate;
        let query = <AcceleratedIht as Method<Dense<'_, f64>, LeastSquares, KSparse>>::query;
        // Without noise, f* = 0: the objective is the gap.
        let mut gaps = vec![f.value(iterate(&method, &state))];
        let (mut settled, mut support) = (0, Vec::new());
        for iteration in 1..=rules.iterations {
            f.gradient(query(&method, &state), &mut gradient);
            let gap = method.advance(&f, &set, &mut state, &gradient).objective;
            gaps.push(gap);
            let now = iterate(&method, &state).point().indices();
            if now != support {
                support = now.to_vec();
                settled = iteration;
            }
            if !(gap > ROUNDING * gaps[0] && gap < AWAY * gaps[0]) {
                break;
            }
        }
        progress.at("moves")?;
        // A support that never settles leaves nothing to fit but the whole.
        let from = if settled + FEW > gaps.len() { 0 } else { settled };
        let rate = Line::through(&gaps[from..]).slope.exp();
        let right = support == toy.truth.indices();
        let last_above = gaps.iter().rposition(|gap| !(*gap <= NEAR * gaps[0])).map_or(0, |at| at + 1);
        let moves = (last_above < gaps.len()).then_some(last_above);
        let seen = Seen::new(&gaps, from);
        let label = label(&gaps, &seen, right, rules);
        let (straight, rises) = (seen.straight, seen.share());
        Ok(Self { tau, label, rate, straight, rises, settled, moves, support: right, gaps })
    }

    /// Whether the support still changes in the last quarter of the run.
    pub fn changes_late(&self) -> bool {
        let moves = self.gaps.len() - 1;
        self.settled > moves - moves / 4
    }
}

/// What the gaps above the floor look like.
struct Seen {
    moves: usize,
    /// In how many of them the gap rose.
    rises: usize,
    /// R² of a line through the logarithms; 1 where there are too few to tell.
    straight: f64,
}

impl Seen {
    /// Of gaps whose support has settled at a place.
    fn new(gaps: &[f64], settled: usize) -> Self {
        let above = |gap: &f64| !(*gap <= FLOOR * gaps[0]);
        let moves = gaps.iter().rposition(above).unwrap_or(0);
        let rises = gaps[..=moves].windows(2).filter(|pair| above(&pair[1]) && !(pair[1] <= pair[0])).count();
        let line = gaps.get(settled..=moves).filter(|gaps| gaps.len() > 2).map(Line::through);
        Self { moves, rises, straight: line.map_or(1.0, |line| line.straight) }
    }

    /// The share of the moves in which the gap rose.
    fn share(&self) -> f64 {
        self.rises as f64 / self.moves.max(1) as f64
    }
}

/// What gaps like these are called.
fn label(gaps: &[f64], seen: &Seen, right: bool, rules: Rules) -> Label {
    let (start, end) = (gaps[0], gaps[gaps.len() - 1]);
    if !(end <= start) {
        return Label::Diverges;
    }
    if right && end <= rules.converged * start {
        return match seen.straight {
            _ if seen.rises >= LEAST_RISES && seen.share() >= rules.ripples => Label::Ripples,
            r2 if r2 >= STRAIGHT => Label::Linear,
            _ => Label::Uneven,
        };
    }
    let quarter = &gaps[gaps.len() - gaps.len().div_ceil(4)..];
    let still = quarter.iter().all(|gap| (gap - end).abs() <= STILL * end);
    if still { Label::Stalls } else { Label::Wanders }
}

/// A line through the logarithm of positive values, by least squares.
struct Line {
    slope: f64,
    /// R².
    straight: f64,
}

impl Line {
    fn through(values: &[f64]) -> Self {
        let points: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .filter(|(_, v)| v.is_finite() && **v > 0.0)
            .map(|(i, v)| (i as f64, v.ln()))
            .collect();
        let count = points.len() as f64;
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let sum = |pick: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| pick(p.0 - x, p.1 - y)).sum::<f64>();
        let (xx, xy, yy) = (sum(&|a, _| a * a), sum(&|a, b| a * b), sum(&|_, b| b * b));
        Self { slope: xy / xx, straight: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { iterations: 100, converged: 1e-8, ripples: 0.05 };

    fn labelled(gap: impl Fn(usize) -> f64, right: bool) -> Label {
        let gaps: Vec<f64> = (0..100).map(gap).collect();
        label(&gaps, &Seen::new(&gaps, 0), right, RULES)
    }

    #[test]
    fn labels_say_what_a_curve_does() {
        assert_eq!(labelled(|i| 0.5_f64.powi(i as i32), true), Label::Linear);
        assert_eq!(labelled(|i| 0.5_f64.powi(i as i32) * if i % 3 == 0 { 9.0 } else { 1.0 }, true), Label::Ripples);
        assert_eq!(labelled(|i| 1.1_f64.powi(i as i32), true), Label::Diverges);
        assert_eq!(labelled(|i| 0.3 + 0.7 * 0.5_f64.powi(i as i32), false), Label::Stalls);
        assert_eq!(labelled(|i| if i % 2 == 0 { 1.0 } else { 0.5 }, false), Label::Wanders);
        assert_eq!(labelled(|i| if i < 50 { 1.0 } else { f64::NAN }, true), Label::Diverges);
        // Two moves for one step down: it converges, not along a line.
        assert_eq!(labelled(|i| 0.01_f64.powi(i as i32 / 2), true), Label::Uneven);
        // One rise makes no ripples.
        assert_ne!(labelled(|i| 0.1_f64.powi(i as i32) * if i == 4 { 30.0 } else { 1.0 }, true), Label::Ripples);
        // The end is reached at once.
        assert_eq!(labelled(|i| if i == 0 { 1.0 } else { 0.0 }, true), Label::Linear);
    }

    /// What a run does below the floor, and for how long it goes on there, changes no label.
    #[test]
    fn labels_do_not_depend_on_the_length_of_a_run() {
        let wild = |i: usize| 0.5_f64.powi(i as i32) * if i > 60 && i.is_multiple_of(2) { 9.0 } else { 1.0 };
        let rippling = |i: usize| 0.5_f64.powi(i as i32) * if i.is_multiple_of(3) { 9.0 } else { 1.0 };
        for length in [42, 60, 80, 400] {
            let of = |gap: &dyn Fn(usize) -> f64| {
                let gaps: Vec<f64> = (0..length).map(gap).collect();
                label(&gaps, &Seen::new(&gaps, 0), true, RULES)
            };
            assert_eq!((of(&wild), of(&rippling)), (Label::Linear, Label::Ripples), "{length}");
        }
    }

    #[test]
    fn a_geometric_gap_has_its_factor_and_a_straight_line() {
        let line = Line::through(&(0..20).map(|i| 3.0 * 0.7_f64.powi(i)).collect::<Vec<_>>());
        assert!((line.slope.exp() - 0.7).abs() < 1e-12 && (line.straight - 1.0).abs() < 1e-12);
    }
}
