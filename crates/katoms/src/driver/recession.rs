//! Whether f falls for ever along a direction, so that it has no minimum.
//!
//! Where some features tell some rows without an error ("quasi-complete separation"), Newton's method walks along such a
//! direction until what it gains is lost in rounding, and the predictions of these rows are then so far out that their
//! curvature is next to nothing. So the direction is the part of the model in which f has next to no curvature; where the
//! method did not come so far, the model itself, or one of its features. f is convex: if it is not higher far out, it falls
//! all the way.

use crate::linalg::{Matrix, dot, norm};
use crate::loss::{Curvature, Loss};
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::space::{Point, Subspace};

/// How far out, in the largest change of a prediction: of a logarithm, or of log-odds.
const FAR: f64 = 1e2;
/// A curvature is next to nothing below this share of the largest, there or at 0: half of the digits.
const FLAT: f64 = 1.5e-8;
/// What f may be higher far out, as a share of it: what the direction is off by. A row that is told wrongly there costs `FAR`.
const SHARE: f64 = 1e-6;
/// Supports of more dimensions are not looked at: O(m·d²).
const WIDEST: usize = 256;

/// Whether f falls, however far the model goes along some direction on its support. Of losses that cannot, `false` at once.
pub(super) fn falls_for_ever<A: LinearOperator, L: Loss>(f: &Objective<A, L>, x: &Evaluated<A::Point>) -> bool {
    let t = x.point().support();
    let (dimension, rows) = (t.dimension(), x.image().len());
    let is_asked = f.ridge_weight() == 0.0 && f.loss().has_far_minima() && f.operator().has_cheap_columns();
    if !is_asked || dimension == 0 || dimension > WIDEST {
        return false;
    }
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
    let here = f.value(x);
    // Whether f is no higher where predictions change so, far out. What changes nothing in the other direction either, as
    // constants among hazards, is no way down.
    let is_open = |changes: &[f64]| {
        let is_level = |step: f64| {
            let far: Vec<f64> = x.image().iter().zip(changes).map(|(z, d)| z + step * d).collect();
            f.loss().value(&far) - here <= SHARE * (here - f.lower_bound())
        };
        let step = FAR / largest(changes);
        is_level(step) && !is_level(-step)
    };
    // Newton's method ends after so many steps, on the way; and one feature may tell the rows by itself.
    if is_open(x.image()) {
        return true;
    }
    f.fetch(&t);
    let (mut columns, mut scales) = (Matrix::zeros(rows, dimension), vec![0.0; dimension]);
    for (j, &value) in t.coordinates(x.point()).iter().enumerate() {
        let image = f.uncounted_image(&t.basis(j));
        let size = norm(&image);
        scales[j] = if size > 0.0 { 1.0 / size } else { 0.0 };
        let column = columns.column_mut(j);
        column.iter_mut().zip(&image).for_each(|(out, v)| *out = scales[j] * v);
        if value != 0.0 && is_open(&column.iter().map(|v| value.signum() * v).collect::<Vec<f64>>()) {
            return true;
        }
    }
    let h = f.curvature(x);
    let usual = f.curvature(&f.at(A::Point::zero(x.point().domain())));
    let curved = |h: &Curvature| {
        let mut curved = columns.clone();
        (0..dimension).for_each(|j| curved.column_mut(j).copy_from_slice(&h.times(columns.column(j))));
        curved.symmetric_product(&columns).symmetric_eigen()
    };
    let (Some((values, vectors)), Some((at_zero, _))) = (curved(&h), curved(&usual)) else { return false };
    let most = values.iter().chain(&at_zero).copied().fold(0.0, f64::max);
    let own: Vec<f64> =
        t.coordinates(x.point()).iter().zip(&scales).map(|(x, s)| if *s > 0.0 { x / s } else { 0.0 }).collect();
    let mut direction = vec![0.0; dimension];
    for (j, _) in values.iter().enumerate().filter(|(_, value)| **value <= FLAT * most) {
        let share = dot(vectors.column(j), &own);
        direction.iter_mut().zip(vectors.column(j)).for_each(|(d, v)| *d += share * v);
    }
    direction.iter_mut().zip(&scales).for_each(|(d, s)| *d *= s);
    let changes = f.uncounted_image(&t.point(&direction));
    // Along columns that depend on each other predictions change by rounding alone.
    largest(&changes) > FLAT * largest(x.image()) && is_open(&changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Cox, Gamma, Logistic, Poisson};
    use crate::method::refit_on;
    use crate::operator::{Dense, WithIntercept};
    use crate::simulate;
    use crate::space::{IndexSet, SparseVec};

    /// Whether f falls for ever at its minimum over all of three columns, of which the first is 1 in the first half of the rows
    /// and 0 in the others, and the constant.
    fn falls(loss: impl Loss + 'static, repeated: bool) -> bool {
        let m = loss.n_outputs();
        let mut x = simulate::gaussian(m, 3, 4);
        x.iter_mut().for_each(|v| *v *= (m as f64).sqrt());
        (0..m).for_each(|i| x[i] = f64::from(u8::from(2 * i < m)));
        if repeated {
            x.copy_within(m..2 * m, 2 * m);
        }
        let f = Objective::new(WithIntercept::new(Dense::column_major(&x, m, 3).unwrap()), loss).unwrap();
        let t = IndexSet::new(4, vec![0, 1, 2, 3]);
        let least = refit_on(&f, f.at(SparseVec::zero(4)), &t);
        falls_for_ever(&f, &least)
    }

    #[test]
    fn rows_that_are_told_without_an_error_have_no_minimum() {
        let m = 80;
        let mixed: Vec<f64> = simulate::labels(&vec![0.0; m], 7);
        let told = |i: usize, value: f64| if 2 * i < m { value } else { mixed[i] };
        for repeated in [false, true] {
            assert!(falls(Logistic::new((0..m).map(|i| told(i, 1.0)).collect::<Vec<_>>()).unwrap(), repeated));
            assert!(falls(Poisson::new((0..m).map(|i| told(i, 0.0)).collect::<Vec<_>>()).unwrap(), repeated));
            assert!(!falls(Logistic::new(mixed.clone()).unwrap(), repeated));
            assert!(!falls(Poisson::new(mixed.clone()).unwrap(), repeated));
        }
        // one row on the other side is enough for a minimum
        let but_one = |i: usize, value: f64| if i == 0 { 1.0 - value } else { told(i, value) };
        assert!(!falls(Logistic::new((0..m).map(|i| but_one(i, 1.0)).collect::<Vec<_>>()).unwrap(), false));
        assert!(!falls(Poisson::new((0..m).map(|i| but_one(i, 0.0)).collect::<Vec<_>>()).unwrap(), false));
        let wide: Vec<f64> = (0..m).map(|i| ((i as f64 - 40.0) / 8.0).exp()).collect();
        assert!(!falls(Gamma::new(wide.clone()).unwrap(), false) && !falls(Poisson::new(wide).unwrap(), false));
        let times: Vec<f64> = (0..m).map(|i| 1.0 + ((7 * i) % m) as f64).collect();
        let cox = |lives: bool| Cox::new(times.clone(), (0..m).map(|i| !(lives && 2 * i < m)).collect::<Vec<_>>());
        assert!(falls(cox(true).unwrap(), false) && !falls(cox(false).unwrap(), false));
    }
}
