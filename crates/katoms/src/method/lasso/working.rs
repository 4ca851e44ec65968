//! The minimum of ½·xᵀGx − bᵀx + λ·Σ pⱼ|xⱼ| over some coordinates: exact, by active sets.
//!
//! Osborne, Presnell, Turlach, "A new approach to variable selection in least squares problems" (2000).
//!
//! With zⱼ = √Gⱼⱼ·xⱼ and G brought to a diagonal of ones, the scale of a column decides nothing. Below,
//! Gram matrix, gradient, price and point are those of z, unless `raw`.
//!
//! The *active set* holds the free coordinates (price 0) and those that are not zero. On it, with the signs
//! fixed, the minimum is one linear system, whose Cholesky factor is kept and changed by one coordinate at a
//! time. A step towards that minimum ends where a coordinate reaches zero, which then leaves. At the
//! minimum those whose price does not hold them enter, the strongest first. Several may enter together:
//! of these some may turn out to move against their sign, and leave at once, but never all of them, since
//! the step is one of descent. Every step lowers the objective, so the minimum is reached in finitely
//! many: it does not matter how small λ is, as it would to coordinate descent.

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::linalg::{dot, kernels::axpy};

/// A coordinate outside the active set is left there up to |gradient| = price·(1 + this).
pub(crate) const SLACK: f64 = 1e-9;
/// The gradient on the active set is zero when it is below this share of the largest price.
const STATIONARY: f64 = 1e-11;
/// Newton steps on the same active set: the second and later ones only mend rounding.
const POLISHES: usize = 3;
/// Steps of the active set for each coordinate, before the point is taken as it is.
const STEPS: usize = 20;
/// As many coordinates enter together at least, if there are so many; and one for this many active ones.
const TOGETHER: usize = 4;

/// Some coordinates, their block of the Gram matrix, and the minimum over them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Working {
    /// The coordinate of each member.
    members: Vec<usize>,
    /// √Gⱼⱼ.
    scales: Vec<f64>,
    /// The columns of the Gram matrix, on the members.
    gram: Vec<Vec<f64>>,
    linear: Vec<f64>,
    /// At λ = 1; 0 for the free ones.
    prices: Vec<f64>,
    at: Place,
}

/// A point, its gradient, and what leads from it to the next minimum.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    z: Vec<f64>,
    gradient: Vec<f64>,
    /// The sign that an active member holds; 0 for free ones and for those at rest.
    signs: Vec<f64>,
    /// The active members, in the order of the factor.
    active: Vec<usize>,
    factor: Factor,
    known: Known,
}

/// How the gradient is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Known {
    /// From the point, on all members.
    #[default]
    Afresh,
    /// On the active members it follows the steps, which gathers rounding; on the others it is from the point.
    Followed,
    /// On the active members it follows the steps; on the others it is behind.
    Behind,
}

/// A coordinate that becomes a member, raw.
pub(crate) struct Member<'a> {
    pub(crate) coordinate: usize,
    /// Its products with the members that are there and those that come before it, in their order.
    pub(crate) cross: &'a [f64],
    /// Its own entry of the diagonal, above 0.
    pub(crate) square: f64,
    /// Its entry of b.
    pub(crate) linear: f64,
    /// What it pays at λ = 1.
    pub(crate) price: f64,
}

impl Working {
    /// The coordinate of each member.
    pub(crate) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Takes in coordinates, at zero. O(members) for each.
    pub(crate) fn admit(&mut self, new: &[Member<'_>]) {
        let before = self.members.len();
        self.scales.extend(new.iter().map(|member| member.square.sqrt()));
        let scales = &self.scales;
        let scaled = |at: usize, i: usize| new[at].cross[i] / scales[i] / scales[before + at];
        for (i, column) in self.gram.iter_mut().enumerate() {
            column.extend((0..new.len()).map(|at| scaled(at, i)));
        }
        for at in 0..new.len() {
            let earlier = (0..before + at).map(|i| scaled(at, i));
            let later = (at + 1..new.len()).map(|later| scaled(later, before + at));
            self.gram.push(earlier.chain([1.0]).chain(later).collect());
        }
        for (at, member) in new.iter().enumerate() {
            let (p, scale) = (before + at, self.scales[before + at]);
            self.members.push(member.coordinate);
            self.linear.push(member.linear / scale);
            self.prices.push(member.price / scale);
            let moved: f64 = self.at.active.iter().map(|&a| self.gram[p][a] * self.at.z[a]).sum();
            self.at.gradient.push(moved - self.linear[p]);
            self.at.z.push(0.0);
            self.at.signs.push(0.0);
            if member.price == 0.0 {
                self.enter_free(p);
            }
        }
    }

    /// Goes to a point that lies on the members. O(nonzeros³).
    pub(crate) fn go_to(&mut self, raw: impl Fn(usize) -> f64) {
        let n = self.members.len();
        self.at = Place { z: vec![0.0; n], gradient: vec![0.0; n], signs: vec![0.0; n], ..Place::default() };
        for p in 0..n {
            let z = raw(self.members[p]) * self.scales[p];
            if self.prices[p] == 0.0 {
                let entered = self.enter_free(p);
                self.at.z[p] = if entered { z } else { 0.0 };
            } else if z != 0.0 {
                self.at.z[p] = z;
                self.enter(p, z.signum());
            }
        }
        self.refresh();
    }

    /// Where it stands.
    pub(crate) fn place(&self) -> Place {
        self.at.clone()
    }

    /// Goes back to where it stood; members that came since are at zero.
    pub(crate) fn return_to(&mut self, place: Place) {
        self.at = place;
        let n = self.members.len();
        self.at.z.resize(n, 0.0);
        self.at.signs.resize(n, 0.0);
        self.at.gradient.resize(n, 0.0);
        for p in 0..n {
            if self.prices[p] == 0.0 && !self.at.active.contains(&p) {
                self.enter_free(p);
            }
        }
        self.refresh();
    }

    /// The coordinates that are free or not zero, with their raw values.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let stored = (0..self.members.len()).filter(|&p| self.prices[p] == 0.0 || self.at.z[p] != 0.0);
        stored.map(|p| (self.members[p], self.at.z[p] / self.scales[p]))
    }

    /// The gradient on the members, raw, with their coordinates.
    pub(crate) fn gradient(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.members.len()).map(|p| (self.members[p], self.at.gradient[p] * self.scales[p]))
    }

    /// (xᵀGx, bᵀx).
    pub(crate) fn forms(&self) -> (f64, f64) {
        let linear = dot(&self.linear, &self.at.z);
        (dot(&self.at.gradient, &self.at.z) + linear, linear)
    }

    /// The minimum at λ; at λ = ∞ only the free coordinates move. O(members·active) for each step.
    pub(crate) fn minimize(&mut self, lambda: f64) {
        let mut polishes = 0;
        for _ in 0..STEPS * (self.members.len() + 1) {
            let slope: Vec<f64> = self.at.active.iter().map(|&p| self.slope(p, lambda)).collect();
            if polishes < POLISHES && !self.vanishes(&slope, lambda) {
                let leaving = self.step(&self.at.factor.solve(slope.clone()), &slope);
                polishes = if leaving.is_empty() { polishes + 1 } else { 0 };
                leaving.into_iter().rev().for_each(|place| self.leave(place));
                continue;
            }
            if self.at.known == Known::Behind {
                self.refresh_at_rest();
            }
            let violators = self.violators(lambda);
            if !violators.is_empty() {
                self.enter_together(&violators);
                polishes = 0;
            } else if self.at.known == Known::Followed {
                self.refresh();
            } else {
                return;
            }
        }
        self.refresh();
    }

    /// The gradient with the slope of the penalty, at an active member.
    fn slope(&self, p: usize, lambda: f64) -> f64 {
        let sign = self.at.signs[p];
        self.at.gradient[p] + if sign == 0.0 { 0.0 } else { lambda * self.prices[p] * sign }
    }

    /// Whether nothing but rounding is left of the slope.
    fn vanishes(&self, slope: &[f64], lambda: f64) -> bool {
        let largest = self.at.active.iter().fold(0.0_f64, |m, &p| m.max(self.prices[p]));
        let tolerance = if largest > 0.0 { STATIONARY * lambda * largest } else { 0.0 };
        slope.iter().all(|s| s.abs() <= tolerance)
    }

    /// The members at rest whose price does not hold them, the strongest first.
    fn violators(&self, lambda: f64) -> Vec<usize> {
        let excess = |p: usize| self.at.gradient[p].abs() - lambda * self.prices[p];
        let at_rest = (0..self.members.len()).filter(|&p| self.prices[p] > 0.0 && self.at.signs[p] == 0.0);
        let mut violators: Vec<usize> = at_rest.filter(|&p| excess(p) > SLACK * lambda * self.prices[p]).collect();
        violators.sort_unstable_by(|&p, &q| excess(q).total_cmp(&excess(p)).then(p.cmp(&q)));
        violators.truncate(TOGETHER.max(self.at.active.len() / TOGETHER));
        violators
    }

    /// Makes members active.
    ///
    /// The first enters even where its column depends on the active ones: the factor takes it for nearly
    /// independent, the step along the dependence is long, and ends where one of them reaches zero.
    fn enter_together(&mut self, violators: &[usize]) {
        for (i, &p) in violators.iter().enumerate() {
            let sign = -self.at.gradient[p].signum();
            if !self.enter(p, sign) && i > 0 {
                self.leave(self.at.active.len() - 1);
            }
        }
    }

    /// Makes a member active; whether it is independent of those that are.
    fn enter(&mut self, p: usize, sign: f64) -> bool {
        let cross = self.at.active.iter().map(|&a| self.gram[p][a]).collect();
        let independent = self.at.factor.push(cross, 1.0);
        self.at.signs[p] = sign;
        self.at.active.push(p);
        independent
    }

    /// Makes a free member active. One that depends on others stays at zero: no other could leave for it.
    fn enter_free(&mut self, p: usize) -> bool {
        let independent = self.enter(p, 0.0);
        if !independent {
            self.leave(self.at.active.len() - 1);
        }
        independent
    }

    /// Takes the active member at this place to rest.
    fn leave(&mut self, place: usize) {
        let p = self.at.active.remove(place);
        self.at.factor.remove(place);
        self.at.z[p] = 0.0;
        self.at.signs[p] = 0.0;
    }

    /// Moves the active members by −`towards`, or as far as their signs last: the places of those that
    /// reach zero, rising.
    fn step(&mut self, towards: &[f64], slope: &[f64]) -> Vec<usize> {
        let at = &mut self.at;
        // a sign of 0 is a free coordinate's
        let falls = |p: usize, d: f64| d * at.signs[p] > 0.0;
        let reach = |(&p, &d): (&usize, &f64)| if falls(p, d) { at.z[p].abs() / d.abs() } else { f64::INFINITY };
        let reaches: Vec<f64> = at.active.iter().zip(towards).map(reach).collect();
        let nearest = reaches.iter().copied().fold(f64::INFINITY, f64::min);
        let length = nearest.min(1.0);
        if length > 0.0 {
            for ((&p, d), slope) in at.active.iter().zip(towards).zip(slope) {
                at.z[p] -= length * d;
                // The step solves for a slope of zero.
                at.gradient[p] -= length * slope;
            }
            at.known = Known::Behind;
        }
        (0..reaches.len()).filter(|&place| nearest <= 1.0 && reaches[place] == nearest).collect()
    }

    /// The gradient on the members at rest.
    fn refresh_at_rest(&mut self) {
        if 2 * self.at.active.len() < self.members.len() {
            return self.refresh();
        }
        let at = &mut self.at;
        for p in 0..self.members.len() {
            if self.prices[p] > 0.0 && at.signs[p] == 0.0 {
                at.gradient[p] = dot(&self.gram[p], &at.z) - self.linear[p];
            }
        }
        at.known = Known::Followed;
    }

    /// The gradient on the members, afresh: sums of many steps would gather their rounding.
    fn refresh(&mut self) {
        let at = &mut self.at;
        at.known = Known::Afresh;
        at.gradient.iter_mut().zip(&self.linear).for_each(|(g, b)| *g = -b);
        for &p in &at.active {
            if at.z[p] != 0.0 {
                axpy(at.z[p], &self.gram[p], &mut at.gradient);
            }
        }
    }
}
