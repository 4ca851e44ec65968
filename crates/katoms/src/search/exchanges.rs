//! What the atoms outside of a [`Tableau`] would bring, on top of the model or in exchange for one of its atoms.
//!
//! Everything is exact for the quadratic. After atom a has left, the slope and the Schur complement of an atom J outside are
//! ρ_J + T·Γ⁻¹·x_a and R_J + T·Γ⁻¹·Tᵀ, where Γ is a's block of G_SS⁻¹, T is J's rows of a's columns of B, and R_J is the
//! residual covariance of J's coordinates (for one coordinate, its Schur complement). So all k·(n − k) exchanges are compared without
//! trying one.

use pulp::bytemuck::cast_slice;
use pulp::{Arch, Simd, WithSimd};

use super::quadratic::Quadratic;
use super::swap::{Swap, Swaps};
use super::sweep::{Strip, eliminate};
use super::tableau::{Leaving, Tableau};
use crate::linalg::parallel;
use crate::linalg::top_k;

/// How many times more than any other atom those of a model that stands out matter.
const CLEAR: f64 = 8.0;
/// Atoms inside whose substitutes are looked for one after the other, and entries below which that is all of them: a second
/// thread would cost more than it brings.
const SHARED: usize = 8;
const PARALLEL_WORK: usize = 1 << 16;

impl Tableau<'_> {
    /// How much f falls when one more atom comes in, for each atom; −∞ where it cannot.
    pub fn entry_gains(&self) -> Vec<f64> {
        if let Some(boxed) = &self.boxed {
            return boxed.entry_gains();
        }
        self.gains(&Leaving::default())
    }

    /// How much f falls when an atom comes in for one that is chosen, for each atom; −∞ where it cannot.
    pub fn exchange_gains(&self, out: usize) -> Vec<f64> {
        self.gains(&self.leaving(out))
    }

    /// The same when an atom comes in for one that leaves. O(n) for coordinates.
    fn gains(&self, leaving: &Leaving) -> Vec<f64> {
        match &self.blocks {
            Some(blocks) => self.group_gains(blocks, leaving),
            None => self.coordinate_gains(leaving),
        }
    }

    fn coordinate_gains(&self, leaving: &Leaving) -> Vec<f64> {
        if self.sweep.responses > 1 {
            return self.gains_of_responses(leaving);
        }
        let (pull, spread) = leaving.pull.first().zip(leaving.precision.first()).map_or((0.0, 0.0), |(a, b)| (*a, *b));
        let open = self.open();
        let mut gains = vec![f64::NEG_INFINITY; open.len()];
        for strip in &self.sweep.strips {
            let seen = leaving.positions.first().map_or(&strip.slopes[..], |&position| strip.regression(position));
            for (i, gain) in gains[strip.first..][..strip.len()].iter_mut().enumerate() {
                let slope = strip.slopes[i] + pull * seen[i];
                let schur = strip.schur[i] + seen[i] * seen[i] * spread;
                if schur * open[strip.first + i] > 1.0 {
                    *gain = 0.5 * slope * slope / schur - leaving.cost;
                }
            }
        }
        gains
    }

    /// The same, summed over several responses.
    fn gains_of_responses(&self, leaving: &Leaving) -> Vec<f64> {
        let spread = leaving.precision.first().copied().unwrap_or(0.0);
        let open = self.open();
        let mut gains = vec![f64::NEG_INFINITY; open.len()];
        for strip in &self.sweep.strips {
            let seen = leaving.positions.first().map(|&position| strip.regression(position));
            let mut squares = vec![0.0; strip.len()];
            for (response, slopes) in strip.slopes.chunks(strip.len()).enumerate() {
                let pull = leaving.pull.get(response).copied().unwrap_or(0.0);
                for ((square, slope), seen) in squares.iter_mut().zip(slopes).zip(seen.unwrap_or(slopes)) {
                    *square += (slope + pull * seen).powi(2);
                }
            }
            for (i, gain) in gains[strip.first..][..strip.len()].iter_mut().enumerate() {
                let schur = strip.schur[i] + seen.map_or(0.0, |seen| seen[i] * seen[i] * spread);
                if schur * open[strip.first + i] > 1.0 {
                    *gain = 0.5 * squares[i] / schur - leaving.cost;
                }
            }
        }
        gains
    }

    /// Whether a coordinate is outside and not all zeros.
    pub(super) fn is_open(&self, j: usize) -> bool {
        self.held[j] == 0 && self.sweep.floor(j) > 0.0
    }

    /// For single coordinates: 1/floor, and 0 for what cannot come in. Coordinates inside have no Schur complement but from their own
    /// leaving; they must not come back as it.
    fn open(&self) -> Vec<f64> {
        let floors = self.sweep.strips.iter().flat_map(|strip| &strip.floor);
        let open = |(floor, held): (&f64, &u32)| if *floor > 0.0 && *held == 0 { 1.0 / floor } else { 0.0 };
        let mut open: Vec<f64> = floors.zip(&self.held).map(open).collect();
        self.atoms.empty().iter().for_each(|&j| open[j] = 0.0);
        open
    }

    /// Whether every chosen atom matters by far more than any other would, and no exchange makes up for half of it.
    pub fn stands_out(&self, swaps: &Swaps) -> bool {
        let most = self.entry_gains().into_iter().fold(0.0, f64::max);
        let makes_up = |swap: &Swap| -swap.gain <= 0.5 * self.leaving(swap.out).cost;
        self.removal_costs().iter().all(|cost| *cost > CLEAR * most) && !swaps.best.iter().any(makes_up)
    }

    /// The best substitute of every chosen atom. O(n·k) for coordinates.
    pub fn substitutes(&self) -> Swaps {
        if let Some(boxed) = &self.boxed {
            return boxed.substitutes();
        }
        let coordinates = self.blocks.is_none();
        let (open, arch) = (if coordinates { self.open() } else { Vec::new() }, Arch::new());
        let one = |&out: &usize| {
            let best = match coordinates && self.sweep.responses == 1 {
                true => self.best_coordinate(out, &open, arch),
                false => first_largest(&self.gains(&self.leaving(out))),
            };
            best.map(|(into, gain)| Swap { out, into, gain })
        };
        let alone = match coordinates {
            true if self.held.len() * self.chosen.len() < PARALLEL_WORK => self.chosen.len().max(1),
            true => SHARED,
            false => 1,
        };
        let mut found = vec![None; self.chosen.len()];
        parallel::chunks_mut(&mut found, alone, &|chunk, found| {
            found.iter_mut().zip(&self.chosen[chunk * alone..]).for_each(|(found, out)| *found = one(out));
        });
        let mut best: Vec<Swap> = found.into_iter().flatten().collect();
        best.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let reaches_out = |atom: &usize| self.atoms.members(*atom).iter().any(|&j| self.is_open(j));
        let outside = match coordinates {
            true => open.iter().filter(|open| **open > 0.0).count(),
            false => (0..self.atoms.len()).filter(reaches_out).count(),
        };
        let compared = self.chosen.len() * outside;
        // With shared coordinates an atom may bring back some that its partner takes away: then the exchange is at least as
        // good as it looks here.
        Swaps { best, compared, exhaustive: coordinates || !self.atoms.shared() }
    }

    /// The best substitute of a coordinate, and how much f falls. One that depends on the others leaves for nothing.
    fn best_coordinate(&self, out: usize, open: &[f64], arch: Arch) -> Option<(usize, f64)> {
        let position = self.sweep.position[*self.atoms.members(out).first()?];
        let (value, precision) =
            position.map_or((0.0, 0.0), |p| (self.sweep.values[p], 1.0 / self.sweep.inverse[p][p]));
        let mut best: Option<(usize, f64)> = None;
        for strip in &self.sweep.strips {
            let seen = position.map_or(&strip.slopes[..], |p| strip.regression(p));
            let (open, least) = (&open[strip.first..][..strip.len()], best.map_or(0.0, |best| best.1));
            let (pull, spread) = (value * precision, precision);
            let found = arch.dispatch(Substitute { strip, open, seen, pull, spread, least });
            let better = found.filter(|found| best.is_none_or(|best| found.1 > best.1));
            best = better.map(|(at, gain)| (strip.first + at, gain)).or(best);
        }
        best.map(|(into, gain)| (into, gain - 0.5 * value * value * precision))
    }

    /// How much f falls when two coordinates outside come in together. Of single coordinates. O(k).
    pub fn pair_gain(&self, q: &dyn Quadratic, j: usize, l: usize) -> f64 {
        if !self.is_open(j) || !self.is_open(l) {
            return f64::NEG_INFINITY;
        }
        let (sweep, column) = (&self.sweep, q.column(l));
        let inside = sweep.inside.iter().enumerate();
        let shared = column[j] - inside.map(|(p, &i)| sweep.regression(j, p) * column[i]).sum::<f64>();
        let (mut complements, mut slopes) =
            ([sweep.schur(j), shared, shared, sweep.schur(l)], [sweep.slope(j), sweep.slope(l)]);
        let mut gain = 0.0;
        eliminate(&mut complements, &mut slopes, &[sweep.floor(j), sweep.floor(l)], |slope, schur| {
            gain += 0.5 * slope * slope / schur;
        });
        gain
    }

    /// The exchanges that lower f most, the best first. O(n·k).
    pub fn exchanges(&self, count: usize) -> Vec<Swap> {
        if let Some(boxed) = &self.boxed {
            return boxed.exchanges(count);
        }
        let gains: Vec<f64> = self.chosen.iter().flat_map(|&out| self.gains(&self.leaving(out))).collect();
        let mut top = if gains.is_empty() { Vec::new() } else { top_k(&gains, count) };
        top.retain(|&at| gains[at] > f64::NEG_INFINITY);
        top.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        let n = self.atoms.len();
        top.into_iter().map(|at| Swap { out: self.chosen[at / n], into: at % n, gain: gains[at] }).collect()
    }

    /// For every atom outside how much the best exchange for it lowers f; −∞ where it cannot come in. O(n·k).
    pub fn arrivals(&self) -> Vec<f64> {
        let gains = parallel::map(self.chosen.len(), &|at| self.gains(&self.leaving(self.chosen[at])));
        let mut most = vec![f64::NEG_INFINITY; self.atoms.len()];
        gains.iter().for_each(|gains| most.iter_mut().zip(gains).for_each(|(most, gain)| *most = most.max(*gain)));
        most
    }
}

/// The largest value, where any is finite, and the place of the first that is as large.
fn first_largest(values: &[f64]) -> Option<(usize, f64)> {
    let values = values.iter().copied().enumerate().filter(|(_, v)| *v > f64::NEG_INFINITY);
    values.reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// The coordinate of a strip that brings most when one inside has left, and how much: the largest of ½·slope²/Schur complement.
/// Fractions are compared by products, which take a tenth of the time; over the floor, so that none of them is out of
/// range whatever the units of a column. What brings less than `least` need not be told.
struct Substitute<'s> {
    strip: &'s Strip,
    open: &'s [f64],
    seen: &'s [f64],
    pull: f64,
    spread: f64,
    least: f64,
}

impl WithSimd for Substitute<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (slopes, _) = S::as_simd_f64s(&self.strip.slopes);
        let (schur, _) = S::as_simd_f64s(&self.strip.schur);
        let (open, _) = S::as_simd_f64s(self.open);
        let (seen, _) = S::as_simd_f64s(self.seen);
        let (one, pull, spread) = (simd.splat_f64s(1.0), simd.splat_f64s(self.pull), simd.splat_f64s(self.spread));
        // For each lane the best fraction so far, and the block that it is from.
        let (mut best, mut over, mut from) = (simd.splat_f64s(2.0 * self.least), one, simd.splat_f64s(-1.0));
        for (block, (((&slope, &schur), &open), &seen)) in slopes.iter().zip(schur).zip(open).zip(seen).enumerate() {
            let slope = simd.add_f64s(slope, simd.mul_f64s(pull, seen));
            let top = simd.mul_f64s(simd.mul_f64s(slope, slope), open);
            let schur = simd.add_f64s(schur, simd.mul_f64s(simd.mul_f64s(seen, seen), spread));
            let bottom = simd.mul_f64s(schur, open);
            let higher = simd.greater_than_f64s(simd.mul_f64s(top, over), simd.mul_f64s(best, bottom));
            let better = simd.and_m64s(simd.greater_than_f64s(bottom, one), higher);
            best = simd.select_f64s(better, top, best);
            over = simd.select_f64s(better, bottom, over);
            from = simd.select_f64s(better, simd.splat_f64s(block as f64), from);
        }
        let of = |lanes: S::f64s, lane: usize| cast_slice::<S::f64s, f64>(&[lanes])[lane];
        let whole = (0..S::F64_LANES).filter(|&lane| of(from, lane) >= 0.0).map(|lane| {
            let block = of(from, lane) as usize;
            (block * S::F64_LANES + lane, 0.5 * of(best, lane) / of(over, lane))
        });
        let rest = (slopes.len() * S::F64_LANES..self.seen.len()).filter_map(|i| {
            let (slope, open) = (self.strip.slopes[i] + self.pull * self.seen[i], self.open[i]);
            let bottom = (self.strip.schur[i] + self.seen[i] * self.seen[i] * self.spread) * open;
            (bottom > 1.0).then(|| (i, 0.5 * (slope * slope * open) / bottom))
        });
        whole.chain(rest).reduce(|a, b| if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a })
    }
}
