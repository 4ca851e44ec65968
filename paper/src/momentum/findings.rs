//! What the measured momenta show, in numbers and in words.

use super::trial::{Label, Trial};
use super::{GOLDEN, Measured};

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
    /// Those next to the lower and to the upper end of the range, inside; fewer where it is shorter.
    pub ends: [Vec<&'a Trial>; 2],
    /// The rest of the range.
    pub between: &'a [Trial],
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
        let diverging = |trials: &mut dyn Iterator<Item = &Trial>| {
            trials.take_while(|t| t.label == Label::Diverges).last().map(|t| t.tau)
        };
        let rated = |t: &&Trial| t.label.converges() && t.rate.is_finite();
        let best = grid.iter().filter(rated).min_by(|a, b| a.rate.total_cmp(&b.rate));
        let plain = Some(&found.plain).filter(rated);
        Self {
            range: range.map(|(low, high)| (grid[low].tau, grid[high].tau)),
            beyond: [
                (0..=zero).rev().find(fails).map(|at| &grid[at]),
                (zero..grid.len()).find(fails).map(|at| &grid[at]),
            ],
            divergent: [diverging(&mut grid.iter()), diverging(&mut grid.iter().rev())],
            ends: [inside.iter().take(AT_THE_ENDS).collect(), inside.iter().rev().take(AT_THE_ENDS).collect()],
            between: inside.get(AT_THE_ENDS..inside.len().saturating_sub(AT_THE_ENDS)).unwrap_or_default(),
            best,
            speed_up: best.zip(plain).map(|(best, plain)| best.rate.ln() / plain.rate.ln()),
        }
    }
}

/// What linear algebra allows, and what ends the measured range where that is narrower.
pub(super) fn limits(found: &Measured, findings: &Findings<'_>) -> String {
    let (low, high) = found.local.range();
    let allowed = format!("Once the support is found, linear algebra allows {} for this draw", span((low, high), 2));
    let Some((least, most)) = findings.range else { return format!("{allowed}.") };
    let step = found.grid.windows(2).map(|pair| pair[1].tau - pair[0].tau).fold(0.0, f64::max);
    let told = |side: &str, at: usize, early: bool| {
        let what = match findings.beyond[at] {
            _ if !early => return None,
            None => "with the grid".to_owned(),
            Some(t) if t.changes_late() => {
                format!("at τ = {}, whose support still changes at the end of its run", digits(t.tau, 2))
            }
            Some(t) if !t.support => format!("at τ = {}, on another support than the planted one", digits(t.tau, 2)),
            Some(t) => format!("at τ = {}, which {} on the planted support", digits(t.tau, 2), t.label.name()),
        };
        Some(format!("{side} {what}"))
    };
    let early = [told("below", 0, least - low > 2.0 * step), told("above", 1, high - most > 2.0 * step)];
    let early: Vec<String> = early.into_iter().flatten().collect();
    if early.is_empty() {
        return format!("{allowed}, and that is where the measured range ends.");
    }
    format!("{allowed}; the measured range ends earlier: {}.", early.join("; "))
}

/// How much the best momentum gains over none.
pub(super) fn gain(findings: &Findings<'_>) -> String {
    match (findings.best, findings.speed_up) {
        (Some(best), Some(gain)) if best.tau != 0.0 && gain > 1.0 => {
            let tau = digits(best.tau, 2);
            format!("The fastest of the grid, τ = {tau}, gains {gain:.2} times as many digits a move as plain IHT.")
        }
        (_, Some(_)) => "No momentum of the grid is faster than none here.".into(),
        (_, None) => String::new(),
    }
}

/// What the paper's caption takes for ξ.
pub(super) fn caption_xi(found: &Measured) -> f64 {
    1.0 - found.of_k.alpha() / found.of_k.beta()
}

/// What the published range would be by its magnitude, |1 − φ√ξ|/(φ√ξ), whether it is empty or not.
pub(super) fn by_magnitude(xi: f64) -> f64 {
    let radius = GOLDEN * xi.sqrt();
    (1.0 - radius).abs() / radius
}

/// How many τ of the grid lie in a range, and how many of those converge.
pub(super) fn converging_within(found: &Measured, (low, high): (f64, f64)) -> (usize, usize) {
    let inside = || found.grid.iter().filter(|t| (low..=high).contains(&t.tau));
    (inside().filter(|t| t.label.converges()).count(), inside().count())
}

/// A range in words.
pub(super) fn ends(range: Option<(f64, f64)>) -> String {
    range.map_or_else(|| "empty".into(), |range| span(range, 3))
}

/// From where to where.
pub(super) fn span((low, high): (f64, f64), places: usize) -> String {
    format!("{} to {}", digits(low, places), digits(high, places))
}

/// A number with so many decimal places and a minus sign that is one.
pub(super) fn digits(value: f64, places: usize) -> String {
    let sign = |negative: bool| if negative { "−" } else { "" };
    if value.is_infinite() {
        return format!("{}∞", sign(value < 0.0));
    }
    let text = format!("{:.places$}", value.abs());
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    format!("{}{text}", sign(value < 0.0 && !zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_have_a_minus_sign_and_zero_has_none() {
        assert_eq!(digits(-1.005, 1), "−1.0");
        assert_eq!((digits(-0.001, 2), digits(0.25, 2)), ("0.00".to_owned(), "0.25".to_owned()));
        assert_eq!(span((f64::NEG_INFINITY, f64::INFINITY), 2), "−∞ to ∞");
    }

    /// At the published ξ = 0.94 the formula gives −0.36.
    #[test]
    fn the_magnitude_of_the_published_range() {
        assert!((by_magnitude(0.94) - 0.3625).abs() < 1e-3);
    }
}
