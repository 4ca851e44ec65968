//! The restricted minimum of a loss that is not quadratic: proximal Newton.
//!
//! Lee, Sun, Saunders, "Proximal Newton-type methods for minimizing composite functions" (2014). At each
//! point the loss is replaced by its local quadratic model, of which the penalised minimum is exact. A
//! step goes there, or as far as the objective descends enough. Nothing but the columns of the working
//! set is touched.

use super::local_model::{LocalModel, bring, point};
use super::working::Working;
use crate::linalg::{Matrix, solve_symmetric};
use crate::method::smooth::OnVectors;
use crate::objective::Evaluated;
use crate::penalty::{L1, Penalty};
use crate::space::{IndexSet, Point, SparseVec, Subspace};

/// The most local models.
const MODELS: usize = 50;
/// Halvings of a step.
const HALVINGS: usize = 30;
/// The share of the predicted decrease that a step must bring.
const SUFFICIENT: f64 = 1e-4;
/// Curvatures below this share of the largest possible one are lifted: a local model needs some.
const FLAT: f64 = 1e-12;
/// Changes of the objective below this share of it are rounding.
const ROUNDING: f64 = 1e-14;
/// Newton steps on what is free alone.
const FREE_STEPS: usize = 5;

/// A point within about `accuracy` of the minimum over `members`, from x.
pub(super) fn minimize(
    f: &OnVectors<'_>,
    penalty: &L1,
    members: &[usize],
    x: &Evaluated<SparseVec>,
    accuracy: f64,
) -> Evaluated<SparseVec> {
    let mut x = x.clone();
    for _ in 0..MODELS {
        let model = LocalModel::around(f, &x, FLAT * f.loss().curvature_scale(x.image()));
        let mut working = Working::default();
        bring(f, &model, penalty, members, &mut working);
        working.go_to(|j| x.point().value_at(j));
        working.minimize(penalty.lambda());
        let towards = f.at(point(penalty.domain(), &working));
        let Some((next, predicted)) = descend(f, penalty, &x, &towards) else { break };
        let value = f.value(&x) + penalty.value(x.point());
        x = next;
        // A gap falls as the root of the error: this decrease is one of a gap of about `accuracy`.
        if predicted * value.abs() <= accuracy * accuracy {
            break;
        }
    }
    fit_free(f, penalty, members, x)
}

/// The first of the steps 1, ½, ¼, … towards a point that descends enough, and the decrease that the
/// model predicts. `None` where there is none.
fn descend(
    f: &OnVectors<'_>,
    penalty: &L1,
    x: &Evaluated<SparseVec>,
    towards: &Evaluated<SparseVec>,
) -> Option<(Evaluated<SparseVec>, f64)> {
    let value = |x: &Evaluated<SparseVec>| f.value(x) + penalty.value(x.point());
    let here = value(x);
    let slope = f.slope(x, &Evaluated::combine(1.0, towards, -1.0, x));
    let predicted = -(slope + penalty.value(towards.point()) - penalty.value(x.point()));
    let rounding = ROUNDING * here.abs();
    if predicted.abs() <= rounding {
        // The objective cannot tell any more; the slopes still can.
        return (value(towards) <= here + rounding).then(|| (towards.clone(), 0.0));
    }
    let mut t = 1.0;
    for _ in 0..HALVINGS {
        let next = if t == 1.0 { towards.clone() } else { Evaluated::combine(1.0 - t, x, t, towards) };
        if predicted > 0.0 && value(&next) <= here - SUFFICIENT * t * predicted && value(&next) < here {
            return Some((next, predicted));
        }
        t *= 0.5;
    }
    None
}

/// The minimum over the free coordinates alone: a bound from duality asks for no slope there.
fn fit_free(f: &OnVectors<'_>, penalty: &L1, members: &[usize], mut x: Evaluated<SparseVec>) -> Evaluated<SparseVec> {
    let free = members.iter().copied().filter(|&j| penalty.price(j) == 0.0).collect();
    let free = IndexSet::new(penalty.domain(), free);
    for _ in 0..if free.indices().is_empty() { 0 } else { FREE_STEPS } {
        let g = f.gradient_on(&x, &free);
        let h = f.curvature(&x);
        let columns = (0..free.dimension()).map(|i| f.hessian_times(&h, &f.at(free.basis(i)), &free));
        let hessian: Vec<f64> = columns.flat_map(|column| column.values().to_vec()).collect();
        let d = solve_symmetric(&Matrix::from_columns(free.dimension(), free.dimension(), hessian), g.values());
        let next = Evaluated::combine(1.0, &x, -1.0, &f.at(free.point(&d)));
        // The objective is too flat to tell the last digits; the slope tells them.
        if f.gradient_on(&next, &free).norm() >= g.norm() {
            break;
        }
        x = next;
    }
    x
}
