//! What the measured momenta show, in numbers and in words.

use super::Measured;
use super::trial::{Label, Trial};

/// So many converging momenta at each end of the range are looked at for ripples.
pub(super) const AT_THE_ENDS: usize = 2;

/// What the momenta of the grid show.
pub(super) struct Findings<'a> {
    /// The least and the largest τ around 0 that converge, as all between do; `None` where plain IHT does not.
    pub range: Option<(f64, f64)>,
    /// The first beyond either end that does not converge.
    pub beyond: [Option<&'a Trial>; 2],
    /// From either end of the grid: the last τ up to which all diverge.
    pub divergent: [Option<f64>; 2],
    /// How many of those next to the lower and to the upper end ripple.
    pub ripples: [usize; 2],
    /// The best rate among those that converge.
    pub best: Option<&'a Trial>,
    /// Digits a move at the best momentum over digits a move without, where both converge.
    pub speed_up: Option<f64>,
}

impl<'a> Findings<'a> {
    /// From the momenta of the grid.
    pub fn new(found: &'a Measured) -> Self {
        let grid = &found.grid;
        let zero = grid.iter().position(|t| t.tau >= 0.0).unwrap_or(0);
        let converges = |at: &usize| grid[*at].label.converges();
        let fails = |at: &usize| !converges(at);
        let low = (0..=zero).rev().take_while(converges).last();
        let high = (zero..grid.len()).take_while(converges).last();
        let range = low.zip(high);
        let inside = range.map_or(&grid[..0], |(low, high)| &grid[low..=high]);
        let rippling = |trials: &mut dyn Iterator<Item = &Trial>| {
            trials.take(AT_THE_ENDS).filter(|t| t.label == Label::Ripples).count()
        };
        let diverging = |trials: &mut dyn Iterator<Item = &Trial>| {
            trials.take_while(|t| t.label == Label::Diverges).last().map(|t| t.tau)
        };
        let best = grid.iter().filter(|t| t.label.converges()).min_by(|a, b| a.rate.total_cmp(&b.rate));
        let plain = found.plain.label.converges().then_some(&found.plain);
        Self {
            range: range.map(|(low, high)| (grid[low].tau, grid[high].tau)),
            beyond: [
                (0..=zero).rev().find(fails).map(|at| &grid[at]),
                (zero..grid.len()).find(fails).map(|at| &grid[at]),
            ],
            divergent: [diverging(&mut grid.iter()), diverging(&mut grid.iter().rev())],
            ripples: [rippling(&mut inside.iter()), rippling(&mut inside.iter().rev())],
            best,
            speed_up: best.zip(plain).map(|(best, plain)| best.rate.ln() / plain.rate.ln()),
        }
    }
}

/// What linear algebra allows, and whether that is what ends the measured range.
pub(super) fn limits(found: &Measured, findings: &Findings<'_>) -> String {
    let (low, high) = found.local.range();
    let step = found.grid.windows(2).map(|pair| pair[1].tau - pair[0].tau).fold(0.0, f64::max);
    let why = match findings.range {
        None => "",
        Some((least, most)) if least - low <= 2.0 * step && high - most <= 2.0 * step => {
            " and that is where the measured range ends"
        }
        Some(_) => "; what ends the measured range earlier are supports that never settle",
    };
    format!("Once the support is found, linear algebra allows {low:.2} to {high:.2} for this draw{why}.")
}

/// How much the best momentum gains over none.
pub(super) fn gain(findings: &Findings<'_>) -> String {
    match (findings.best, findings.speed_up) {
        (Some(best), Some(gain)) if best.tau != 0.0 && gain > 1.0 => {
            format!("The fastest, τ = {:.2}, gains {gain:.2} times as many digits a move as plain IHT.", best.tau)
        }
        (_, Some(_)) => "No momentum is faster than none here.".into(),
        (_, None) => String::new(),
    }
}

/// What the paper's caption takes for ξ.
pub(super) fn caption_xi(found: &Measured) -> f64 {
    1.0 - found.of_k.alpha() / found.of_k.beta()
}

/// A range in digits.
pub(super) fn ends(range: Option<(f64, f64)>) -> String {
    range.map_or_else(|| "empty".into(), |(low, high)| format!("{low:.3} to {high:.3}"))
}
