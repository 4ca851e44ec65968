//! A quadratic over the simplex, by an active-set method.
//!
//! After Wolfe, "Finding the nearest point in a polytope" (1976), with the constraints of Lawson and Hanson,
//! "Solving Least Squares Problems" (1974): weights that reach 0 are fixed there, one that would lower the
//! value is set free, and between these changes the minimum over the free weights is a linear system.

use crate::linalg::{Matrix, dot, solve_symmetric};

/// A slope below the common one by less than this share of the largest slope is rounding.
const ROUNDING: f64 = 1e-13;

/// argmin over v of ⟨c, v − w⟩ + ½⟨v − w, Q·(v − w)⟩ subject to v ≥ 0, Σv = 1, from a w that is there.
/// O(free³) for each change of the free set.
pub(super) fn minimizer(q: &Matrix, c: &[f64], w: &[f64]) -> Vec<f64> {
    let mut v = w.to_vec();
    let mut free: Vec<bool> = w.iter().map(|w| *w > 0.0).collect();
    let least = ROUNDING * c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let mut freed = None;
    for _ in 0..3 * v.len() + 10 {
        let step = face_step(q, &gradient(q, c, w, &v), &v, &free);
        let blocking = (0..v.len()).filter(|&i| free[i] && v[i] + step[i] < 0.0).map(|i| (v[i] / -step[i], i));
        let first = blocking.min_by(|a, b| a.0.total_cmp(&b.0));
        let length = first.map_or(1.0, |(length, _)| length);
        v.iter_mut().zip(&step).for_each(|(v, s)| *v = (*v + length * s).max(0.0));
        if let Some((_, i)) = first {
            (v[i], free[i]) = (0.0, false);
            // Only rounding sends back at once what was just set free.
            if freed == Some(i) {
                break;
            }
            continue;
        }
        let slopes = gradient(q, c, w, &v);
        let common = dot(&slopes, &v);
        let outside = (0..v.len()).filter(|&i| !free[i] && slopes[i] < common - least);
        freed = outside.min_by(|&a, &b| slopes[a].total_cmp(&slopes[b]));
        match freed {
            Some(i) => free[i] = true,
            None => break,
        }
    }
    v
}

/// c + Q·(v − w).
fn gradient(q: &Matrix, c: &[f64], w: &[f64], v: &[f64]) -> Vec<f64> {
    let moved = Matrix::from_fn(v.len(), 1, |i, _| v[i] - w[i]);
    q.times(&moved).data().iter().zip(c).map(|(q, c)| q + c).collect()
}

/// The step to the minimum over the free weights with Σ step = 0. The largest weight gives way to the
/// others, which leaves a system without constraint.
fn face_step(q: &Matrix, slopes: &[f64], v: &[f64], free: &[bool]) -> Vec<f64> {
    let mut step = vec![0.0; v.len()];
    let Some(r) = (0..v.len()).filter(|&i| free[i]).max_by(|&a, &b| v[a].total_cmp(&v[b]).then(b.cmp(&a))) else {
        return step;
    };
    let others: Vec<usize> = (0..v.len()).filter(|&i| free[i] && i != r).collect();
    if others.is_empty() {
        return step;
    }
    let reduced = Matrix::from_fn(others.len(), others.len(), |a, b| {
        let (i, j) = (others[a], others[b]);
        (q.at(i, j) - q.at(i, r)) - (q.at(r, j) - q.at(r, r))
    });
    let downhill: Vec<f64> = others.iter().map(|&i| slopes[r] - slopes[i]).collect();
    for (&i, s) in others.iter().zip(solve_symmetric(&reduced, &downhill)) {
        step[i] = s;
        step[r] -= s;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, normals};

    /// ½‖B·v − b‖² over the simplex: Q, the slopes at w, and the value of v.
    fn problem(rows: usize, atoms: usize, seed: u64) -> (Matrix, Matrix, Matrix) {
        let b = Matrix::from_columns(rows, atoms, normals(rows * atoms, &mut generator(seed, 0)));
        let target = Matrix::from_columns(rows, 1, normals(rows, &mut generator(seed, 1)));
        (b.transposed_times(&b), b, target)
    }

    #[test]
    fn the_minimum_has_equal_slopes_where_weights_are_and_larger_ones_elsewhere() {
        // 12 atoms in 6 dimensions: the Gram matrix is singular
        for (rows, atoms) in [(20, 5), (20, 15), (6, 12)] {
            for seed in 0..5 {
                let (q, b, target) = problem(rows, atoms, seed);
                let mut w = vec![0.0; atoms];
                w[0] = 1.0;
                let column = |w: &[f64]| Matrix::from_columns(w.len(), 1, w.to_vec());
                let slopes = |w: &[f64]| b.transposed_times(&b.times(&column(w)).plus(-1.0, &target));
                let v = minimizer(&q, slopes(&w).data(), &w);
                assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-12 && v.iter().all(|v| *v >= 0.0), "{v:?}");
                let at = slopes(&v);
                let common = dot(at.data(), &v);
                assert!(at.data().iter().all(|s| *s >= common - 1e-9), "{rows} {atoms} {seed}: {at:?}");
            }
        }
    }

    #[test]
    fn equal_atoms_and_a_single_one_do_no_harm() {
        let ones = Matrix::from_columns(2, 2, vec![1.0; 4]);
        let v = minimizer(&ones, &[-1.0, -1.0], &[0.5, 0.5]);
        assert!((v[0] + v[1] - 1.0).abs() < 1e-15);
        assert_eq!(minimizer(&Matrix::zeros(1, 1), &[3.0], &[1.0]), [1.0]);
    }
}
