//! What groups outside of a [`Tableau`] would bring.

use super::sweep::eliminate;
use super::tableau::{Leaving, Tableau};

/// The coordinates of one group that can come in: their slopes ρ, what S leaves of their covariances R, and the floors.
#[derive(Default)]
struct Group {
    free: Vec<usize>,
    slopes: Vec<f64>,
    covariances: Vec<f64>,
    floors: Vec<f64>,
}

/// What the leaving of an atom changes for every coordinate: its slope, T and T·Γ⁻¹, row after row.
struct Changed {
    width: usize,
    slopes: Vec<f64>,
    seen: Vec<f64>,
    spread: Vec<f64>,
}

impl Changed {
    fn by(tableau: &Tableau<'_>, leaving: &Leaving) -> Self {
        let (n, width) = (tableau.held.len(), leaving.positions.len());
        let (mut slopes, mut seen, mut spread) = (Vec::with_capacity(n), vec![0.0; n * width], vec![0.0; n * width]);
        for strip in &tableau.sweep.strips {
            slopes.extend_from_slice(&strip.slopes);
            for (p, &position) in leaving.positions.iter().enumerate() {
                let places = seen[strip.first * width + p..].iter_mut().step_by(width);
                places.zip(strip.regression(position)).for_each(|(place, v)| *place = *v);
            }
        }
        let rows = slopes.iter_mut().zip(seen.chunks(width.max(1))).zip(spread.chunks_mut(width.max(1)));
        for ((slope, seen), spread) in rows {
            for ((v, pull), precision) in seen.iter().zip(&leaving.pull).zip(leaving.precision.chunks(width)) {
                *slope += v * pull;
                spread.iter_mut().zip(precision).for_each(|(spread, g)| *spread += v * g);
            }
        }
        Self { width, slopes, seen, spread }
    }

    /// T_i·Γ⁻¹·T_jᵀ.
    fn between(&self, i: usize, j: usize) -> f64 {
        let (spread, seen) = (&self.spread[i * self.width..], &self.seen[j * self.width..]);
        spread[..self.width].iter().zip(seen).map(|(a, b)| a * b).sum()
    }
}

impl Tableau<'_> {
    /// ½·ρᵀR⁻¹ρ of the coordinates that each group would bring when an atom leaves, less what that costs. `blocks` are the R
    /// before.
    pub(super) fn group_gains(&self, blocks: &[Vec<f64>], leaving: &Leaving) -> Vec<f64> {
        let (changed, mut group) = (Changed::by(self, leaving), Group::default());
        let gain = |(atom, block): (usize, &Vec<f64>)| {
            let members = self.atoms.members(atom);
            let narrow = match members.len() {
                2 => self.narrow_fall::<2>(members, block, &changed),
                3 => self.narrow_fall::<3>(members, block, &changed),
                4 => self.narrow_fall::<4>(members, block, &changed),
                _ => None,
            };
            if let Some(fall) = narrow {
                return fall - leaving.cost;
            }
            group.free.clear();
            group.free.extend((0..members.len()).filter(|&a| self.is_open(members[a])));
            if group.free.is_empty() {
                return f64::NEG_INFINITY;
            }
            group.fill(self, members, block, &changed);
            let gain = group.fall().unwrap_or_else(|| {
                group.fill(self, members, block, &changed);
                group.fall_of_independent()
            });
            gain - leaving.cost
        };
        blocks.iter().enumerate().map(gain).collect()
    }

    /// ½·ρᵀR⁻¹ρ of a group of few coordinates, all of which can come in: what [`Group::fall`] gives, in registers. `None` where
    /// one cannot, or depends on those before it.
    fn narrow_fall<const W: usize>(&self, members: &[usize], block: &[f64], changed: &Changed) -> Option<f64> {
        let members: &[usize; W] = members.try_into().ok()?;
        if members.iter().any(|&j| !self.is_open(j)) {
            return None;
        }
        let (mut slopes, mut c) = ([0.0; W], [[0.0; W]; W]);
        for a in 0..W {
            slopes[a] = changed.slopes[members[a]];
            for b in a..W {
                c[a][b] = block[a * W + b] + changed.between(members[a], members[b]);
            }
        }
        let mut fall = 0.0;
        for p in 0..W {
            let (pivot, slope) = (c[p][p], slopes[p]);
            if !(pivot > self.sweep.floor(members[p])) {
                return None;
            }
            fall += 0.5 * slope * slope / pivot;
            for i in p + 1..W {
                let share = c[p][i] / pivot;
                slopes[i] -= share * slope;
                let above = c[p];
                c[i].iter_mut().zip(&above).skip(i).for_each(|(c, above)| *c -= share * above);
            }
        }
        Some(fall)
    }
}

impl Group {
    fn fill(&mut self, tableau: &Tableau<'_>, members: &[usize], block: &[f64], changed: &Changed) {
        let Self { free, slopes, covariances, floors } = self;
        slopes.clear();
        slopes.extend(free.iter().map(|&a| changed.slopes[members[a]]));
        floors.clear();
        floors.extend(free.iter().map(|&a| tableau.sweep.floor(members[a])));
        covariances.clear();
        covariances.resize(free.len() * free.len(), 0.0);
        for (i, &a) in free.iter().enumerate() {
            for (j, &b) in free.iter().enumerate().skip(i) {
                let entry = block[a * members.len() + b] + changed.between(members[a], members[b]);
                covariances[i * free.len() + j] = entry;
                covariances[j * free.len() + i] = entry;
            }
        }
    }

    /// ½·ρᵀR⁻¹ρ; `None` where a coordinate depends on those before it.
    fn fall(&mut self) -> Option<f64> {
        let Self { slopes, covariances, floors, .. } = self;
        let m = slopes.len();
        let mut fall = 0.0;
        for (p, floor) in floors.iter().enumerate() {
            let (upper, lower) = covariances.split_at_mut((p + 1) * m);
            let row = &upper[p * m..];
            let (pivot, slope) = (row[p], slopes[p]);
            if !(pivot > *floor) {
                return None;
            }
            fall += 0.5 * slope * slope / pivot;
            for (i, under) in (p + 1..m).zip(lower.chunks_mut(m)) {
                let share = row[i] / pivot;
                slopes[i] -= share * slope;
                under[i..].iter_mut().zip(&row[i..]).for_each(|(c, r)| *c -= share * r);
            }
        }
        Some(fall)
    }

    /// The same of those that do not depend on the others.
    fn fall_of_independent(&mut self) -> f64 {
        let mut fall = 0.0;
        eliminate(&mut self.covariances, &mut self.slopes, &self.floors, |slope, schur| {
            fall += 0.5 * slope * slope / schur;
        });
        fall
    }
}
