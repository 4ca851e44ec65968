//! What groups outside of a [`Tableau`] would bring.

// Loops over indices run along several arrays at once, and their lengths are constants.
#![allow(clippy::needless_range_loop)]

use pulp::{Arch, Simd, WithSimd};

use super::sweep::eliminate;
use super::tableau::{Leaving, Tableau};

/// Groups of one width that are taken side by side.
const LANES: usize = 8;
type Lanes = [f64; LANES];

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
        let mut falls = vec![f64::NAN; blocks.len()];
        match self.atoms.widest() {
            2 => self.narrow_falls::<2>(blocks, leaving, &mut falls),
            3 => self.narrow_falls::<3>(blocks, leaving, &mut falls),
            4 => self.narrow_falls::<4>(blocks, leaving, &mut falls),
            _ => {}
        }
        let (mut changed, mut group) = (None, Group::default());
        let gain = |(atom, block): (usize, &Vec<f64>)| {
            if !falls[atom].is_nan() {
                return falls[atom] - leaving.cost;
            }
            let members = self.atoms.members(atom);
            group.free.clear();
            group.free.extend((0..members.len()).filter(|&a| self.is_open(members[a])));
            if group.free.is_empty() {
                return f64::NEG_INFINITY;
            }
            let changed = changed.get_or_insert_with(|| Changed::by(self, leaving));
            group.fill(self, members, block, changed);
            let gain = group.fall().unwrap_or_else(|| {
                group.fill(self, members, block, changed);
                group.fall_of_independent()
            });
            gain - leaving.cost
        };
        blocks.iter().enumerate().map(gain).collect()
    }

    /// What [`Group::fall`] gives of all groups of one small width whose coordinates can come in and are independent.
    fn narrow_falls<const W: usize>(&self, blocks: &[Vec<f64>], leaving: &Leaving, falls: &mut [f64]) {
        if leaving.positions.len() <= W {
            Arch::new().dispatch(NarrowFalls::<W> { tableau: self, blocks, leaving, falls });
        }
    }
}

/// Falls of groups of W coordinates, several groups at a time. Plain loops over arrays: each becomes one instruction.
struct NarrowFalls<'t, const W: usize> {
    tableau: &'t Tableau<'t>,
    blocks: &'t [Vec<f64>],
    leaving: &'t Leaving,
    falls: &'t mut [f64],
}

impl<const W: usize> WithSimd for NarrowFalls<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let (mut some, mut count) = ([0; LANES], 0);
        for atom in 0..self.blocks.len() {
            let members = self.tableau.atoms.members(atom);
            if members.len() == W && members.iter().all(|&j| self.tableau.is_open(j)) {
                some[count] = atom;
                count += 1;
            }
            if count == LANES {
                self.take(&some);
                count = 0;
            }
        }
        self.take(&some[..count]);
    }
}

impl<const W: usize> NarrowFalls<'_, W> {
    /// The falls of at most as many groups as there are lanes.
    #[inline(always)]
    fn take(&mut self, some: &[usize]) {
        let zero: Lanes = [0.0; LANES];
        let (mut slopes, mut floors, mut c, mut seen) = ([zero; W], [zero; W], [[zero; W]; W], [[zero; W]; W]);
        let (sweep, positions) = (&self.tableau.sweep, &self.leaving.positions);
        for (lane, &atom) in some.iter().enumerate() {
            let (members, block) = (self.tableau.atoms.members(atom), &self.blocks[atom]);
            for a in 0..W {
                slopes[a][lane] = sweep.slope(members[a]);
                floors[a][lane] = sweep.floor(members[a]);
                for b in a..W {
                    c[a][b][lane] = block[a * W + b];
                }
                for (p, &position) in positions.iter().enumerate() {
                    seen[a][p][lane] = sweep.regression(members[a], position);
                }
            }
        }
        self.leave(&mut slopes, &mut c, &seen);
        let (falls, sound) = eliminated(slopes, c, &floors);
        for (lane, &atom) in some.iter().enumerate().filter(|(lane, _)| sound[*lane]) {
            self.falls[atom] = falls[lane];
        }
    }

    /// ρ += T·Γ⁻¹·x_a and R += T·Γ⁻¹·Tᵀ.
    #[inline(always)]
    fn leave(&self, slopes: &mut [Lanes; W], c: &mut [[Lanes; W]; W], seen: &[[Lanes; W]; W]) {
        let Leaving { positions, precision, pull, .. } = self.leaving;
        let width = positions.len();
        for a in 0..W {
            let mut spread = [[0.0; LANES]; W];
            for p in 0..width {
                add_times(&mut slopes[a], &seen[a][p], pull[p]);
                for q in 0..width {
                    add_times(&mut spread[q], &seen[a][p], precision[p * width + q]);
                }
            }
            for b in a..W {
                for q in 0..width {
                    for lane in 0..LANES {
                        c[a][b][lane] += spread[q][lane] * seen[b][q][lane];
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add_times(sum: &mut Lanes, v: &Lanes, by: f64) {
    for lane in 0..LANES {
        sum[lane] += v[lane] * by;
    }
}

/// ½·ρᵀR⁻¹ρ, and whether no coordinate depends on those before it.
#[inline(always)]
fn eliminated<const W: usize>(
    mut slopes: [Lanes; W],
    mut c: [[Lanes; W]; W],
    floors: &[Lanes; W],
) -> (Lanes, [bool; LANES]) {
    let (mut falls, mut sound) = ([0.0; LANES], [true; LANES]);
    for p in 0..W {
        let mut inverse = [0.0; LANES];
        for lane in 0..LANES {
            sound[lane] &= c[p][p][lane] > floors[p][lane];
            inverse[lane] = 1.0 / c[p][p][lane];
            falls[lane] += 0.5 * slopes[p][lane] * slopes[p][lane] * inverse[lane];
        }
        for i in p + 1..W {
            for lane in 0..LANES {
                let share = c[p][i][lane] * inverse[lane];
                slopes[i][lane] -= share * slopes[p][lane];
                for j in i..W {
                    c[i][j][lane] -= share * c[p][j][lane];
                }
            }
        }
    }
    (falls, sound)
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
