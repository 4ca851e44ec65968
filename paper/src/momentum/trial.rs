//! One momentum on the toy: its run, and what it did, by measurement.

use katoms::loss::LeastSquares;
use katoms::method::{AcceleratedIht, IhtState, Method, Momentum, Refit, Safeguard, Step};
use katoms::operator::Dense;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::theory::RestrictedCurvature;
use serde::Serialize;

use super::toy::Toy;
use crate::{Error, Progress};

/// A run ends when its gap is this share of the one at the start: below, it is rounding.
const ROUNDING: f64 = 1e-24;
/// And when it is so many times the one at the start: it does not come back.
const AWAY: f64 = 1e12;
/// So many moves on the last support are needed to measure a rate there.
const FEW: usize = 5;
/// The share of the gap at the start whose moves are counted.
const NEAR: f64 = 1e-6;
/// A run that stays within this share of its gap for its last quarter has stopped.
const STILL: f64 = 1e-6;

/// What a momentum does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Label {
    /// Converges, and the gap hardly ever rises.
    Linear,
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
    pub const ALL: [Self; 5] = [Self::Linear, Self::Ripples, Self::Stalls, Self::Wanders, Self::Diverges];

    /// What a legend says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Ripples => "ripples",
            Self::Stalls => "stalls",
            Self::Wanders => "wanders",
            Self::Diverges => "diverges",
        }
    }

    /// Whether the planted vector is reached.
    pub fn converges(self) -> bool {
        matches!(self, Self::Linear | Self::Ripples)
    }
}

/// The limits between labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub iterations: usize,
    pub converged: f64,
    pub ripples: f64,
}

/// A run at one momentum.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Trial {
    pub tau: f64,
    pub label: Label,
    /// f − f* after each move, the start first.
    pub gaps: Vec<f64>,
    /// The factor of the gap in one move: a line through its logarithm, from the last change of the support on.
    pub rate: f64,
    /// R² of that line.
    pub straight: f64,
    /// The share of the moves in which the gap rose.
    pub rises: f64,
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
    pub fn run(toy: &Toy, step: f64, tau: f64, rules: Rules, progress: &Progress<'_>) -> Result<Self, Error> {
        let f = toy.objective()?;
        let set = KSparse::new(toy.truth.indices().len(), toy.truth.dim())?;
        let method = AcceleratedIht {
            step: Step::Fixed(step),
            momentum: Momentum::Constant(tau),
            refit: Refit::Never,
            safeguard: Safeguard::Off,
        };
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
        let line = Line::through(&gaps[from..]);
        let right = support == toy.truth.indices();
        let last_above = gaps.iter().rposition(|gap| !(*gap <= NEAR * gaps[0])).map_or(0, |at| at + 1);
        let moves = (last_above < gaps.len()).then_some(last_above);
        let label = label(&gaps, right, rules);
        let (rate, straight) = (line.slope.exp(), line.straight);
        Ok(Self { tau, label, rate, straight, rises: rises(&gaps), moves, support: right, gaps })
    }
}

/// The share of the moves in which the gap rose.
fn rises(gaps: &[f64]) -> f64 {
    let moves = gaps.len().saturating_sub(1).max(1);
    gaps.windows(2).filter(|pair| !(pair[1] <= pair[0])).count() as f64 / moves as f64
}

/// What gaps like these are called.
fn label(gaps: &[f64], right: bool, rules: Rules) -> Label {
    let (start, end) = (gaps[0], gaps[gaps.len() - 1]);
    if !(end <= start) {
        return Label::Diverges;
    }
    if right && end <= rules.converged * start {
        return if rises(gaps) < rules.ripples { Label::Linear } else { Label::Ripples };
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

/// Once the support is the planted one, the error along an eigenvector obeys e⁺ = ρ((1+τ)e − τe₋), ρ = 1 − μλ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Local {
    /// ρ at the least and at the largest eigenvalue.
    rho: [f64; 2],
}

impl Local {
    /// From the eigenvalues on the planted support and the step.
    pub fn new(planted: RestrictedCurvature, step: f64) -> Self {
        Self { rho: [1.0 - step * planted.alpha, 1.0 - step * planted.beta] }
    }

    /// The range of τ in which both roots of z² − ρ(1+τ)z + ρτ lie inside the unit circle, for either ρ.
    ///
    /// They do where |ρτ| < 1 and |ρ(1+τ)| < 1 + ρτ: for ρ > 0 from −(1+1/ρ)/2 to 1/ρ, for ρ < 0 from −1/|ρ| to
    /// (1/|ρ|−1)/2.
    pub fn range(&self) -> (f64, f64) {
        let of = |rho: f64| {
            let inverse = 1.0 / rho.abs();
            if rho > 0.0 { (-0.5 * (1.0 + inverse), inverse) } else { (-inverse, 0.5 * (inverse - 1.0)) }
        };
        let [a, b] = self.rho.map(of);
        (a.0.max(b.0), a.1.min(b.1))
    }

    /// What momentum can do for such errors, in words.
    pub fn help(&self) -> String {
        let [least, largest] = self.rho.map(|rho| format!("{rho:.3}"));
        let signs = format!("On the planted support ρ = 1 − μλ lies from {largest} to {least}");
        let slowest = self.rho[0].max(self.rho[1]);
        if slowest > 0.0 && slowest >= self.rho[0].abs().max(self.rho[1].abs()) {
            // The double root: ρ(1+τ)² = 4τ.
            let best = (2.0 - slowest - 2.0 * (1.0 - slowest).sqrt()) / slowest;
            return format!(
                "{signs}; momentum speeds up errors with ρ > 0, best with ρ(1+τ)² = 4τ, which is τ = {best:.3} for the \
                 slowest, and slows down those with ρ < 0. The step 2/(α+β) makes ρ small: a shorter one leaves momentum \
                 more to do."
            );
        }
        format!(
            "{signs}; the slowest error has ρ < 0, which positive momentum slows down further. A shorter step than 2/(α+β) \
             would make every ρ positive, and momentum would help."
        )
    }

    /// The factor of the gap in one move, in the long run: the square of the largest root.
    pub fn rate(&self, tau: f64) -> f64 {
        let radius_squared = |rho: f64| {
            let (trace, product) = (rho * (1.0 + tau), rho * tau);
            let inside = 0.25 * trace * trace - product;
            if inside < 0.0 { product } else { (0.5 * trace.abs() + inside.sqrt()).powi(2) }
        };
        radius_squared(self.rho[0]).max(radius_squared(self.rho[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { iterations: 100, converged: 1e-8, ripples: 0.05 };

    fn labelled(gap: impl Fn(usize) -> f64, right: bool) -> Label {
        let gaps: Vec<f64> = (0..100).map(gap).collect();
        label(&gaps, right, RULES)
    }

    #[test]
    fn labels_say_what_a_curve_does() {
        assert_eq!(labelled(|i| 0.5_f64.powi(i as i32), true), Label::Linear);
        assert_eq!(labelled(|i| 0.5_f64.powi(i as i32) * if i % 3 == 0 { 9.0 } else { 1.0 }, true), Label::Ripples);
        assert_eq!(labelled(|i| 1.1_f64.powi(i as i32), true), Label::Diverges);
        assert_eq!(labelled(|i| 0.3 + 0.7 * 0.5_f64.powi(i as i32), false), Label::Stalls);
        assert_eq!(labelled(|i| if i % 2 == 0 { 1.0 } else { 0.5 }, false), Label::Wanders);
        assert_eq!(label(&[1.0, f64::NAN], true, RULES), Label::Diverges);
    }

    #[test]
    fn a_geometric_gap_has_its_factor_and_a_straight_line() {
        let line = Line::through(&(0..20).map(|i| 3.0 * 0.7_f64.powi(i)).collect::<Vec<_>>());
        assert!((line.slope.exp() - 0.7).abs() < 1e-12 && (line.straight - 1.0).abs() < 1e-12);
    }

    /// The recursion itself, run for long, against the formulas.
    #[test]
    fn the_local_range_is_where_the_recursion_shrinks() {
        let local = Local { rho: [0.45, -0.3] };
        let (low, high) = local.range();
        let shrinks = |tau: f64| {
            local.rho.iter().all(|rho| {
                let (mut old, mut now) = (1.0, 0.7);
                (0..20_000).for_each(|_| (old, now) = (now, rho * ((1.0 + tau) * now - tau * old)));
                now.abs() < 1e-9
            })
        };
        for (tau, inside) in
            [(low - 0.01, false), (low + 0.01, true), (0.0, true), (high - 0.01, true), (high + 0.01, false)]
        {
            assert_eq!(shrinks(tau), inside, "τ = {tau}");
            assert_eq!(local.rate(tau) < 1.0, inside, "τ = {tau}");
        }
        assert!((local.rate(0.0) - 0.45 * 0.45).abs() < 1e-15);
    }

    /// Where every ρ is positive, momentum helps; where some are negative, it slows those down.
    #[test]
    fn momentum_helps_errors_of_one_sign() {
        let (positive, both) = (Local { rho: [0.9, 0.5] }, Local { rho: [0.4, -0.4] });
        assert!(positive.rate(0.4) < positive.rate(0.0));
        assert!(both.rate(0.1) > both.rate(0.0) && both.rate(-0.1) > both.rate(0.0));
        // The double root of ρ = 0.9 is at τ = 0.5195, and the rate rises steeply below it.
        let best = (0..1000).map(|i| i as f64 / 1000.0).min_by(|a, b| positive.rate(*a).total_cmp(&positive.rate(*b)));
        assert_eq!(best, Some(0.52));
        assert!(positive.help().contains("τ = 0.519") && !both.help().is_empty());
    }
}
