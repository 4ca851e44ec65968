//! The minimum of a small quadratic within a box, by active sets.
//!
//! > minimise ½·xᵀGx − bᵀx subject to lower ≤ x ≤ upper
//!
//! Some coordinates are free, the others stay at a bound. The free ones move towards the minimum over them; who meets a
//! bound on the way stays there. Then the one at a bound from which the slope points inwards most becomes free, as in
//! Stark and Parker ("Bounded-variable least squares", 1995). f falls with every round and no set of free coordinates
//! comes twice, so this ends, at a point where the conditions of Karush, Kuhn and Tucker hold.

use super::bounds::Bounds;
use crate::linalg::{Matrix, dot, solve_symmetric};

/// A slope below this share of the largest one is rounding.
const ROUNDING: f64 = 1e-13;

/// A quadratic and the bounds of its coordinates.
#[derive(Debug, Clone)]
pub(super) struct BoxQuadratic {
    pub gram: Matrix,
    pub linear: Vec<f64>,
    pub bounds: Bounds,
}

impl BoxQuadratic {
    /// ½·xᵀGx − bᵀx.
    pub fn value(&self, x: &[f64]) -> f64 {
        // ½·xᵀ(Gx − b) − ½·bᵀx, with Gx − b = −slope
        -0.5 * dot(&self.slopes(x), x) - 0.5 * dot(&self.linear, x)
    }

    /// b − Gx.
    fn slopes(&self, x: &[f64]) -> Vec<f64> {
        let mut slopes = self.linear.clone();
        for (j, &v) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            slopes.iter_mut().zip(self.gram.column(j)).for_each(|(s, g)| *s -= v * g);
        }
        slopes
    }

    /// The minimum within the box, from a point that is brought into it. O(d³) for each change of the free set.
    pub fn minimise(&self, start: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = start.iter().enumerate().map(|(j, &v)| self.bounds.clamped(j, v)).collect();
        let slopes = self.slopes(&x);
        let mut free: Vec<usize> =
            (0..x.len()).filter(|&j| self.is_inside(&x, j) || self.inwards(&x, &slopes, j) > 0.0).collect();
        // Each round lowers the quadratic; the cap is for rounding, which knows no order.
        for _ in 0..10 + 5 * x.len() {
            self.descend(&mut x, &mut free);
            let slopes = self.slopes(&x);
            let size = |j: usize| self.in_units(j, self.linear[j]);
            let rounding = ROUNDING * (0..x.len()).map(size).fold(0.0, f64::max);
            let outside = (0..x.len()).filter(|j| !free.contains(j)).map(|j| (j, self.inwards(&x, &slopes, j)));
            match outside.reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|steepest| steepest.1 > rounding) {
                Some((j, _)) => free.push(j),
                None => break,
            }
        }
        x
    }

    fn is_inside(&self, x: &[f64], j: usize) -> bool {
        self.bounds.lower()[j] < x[j] && x[j] < self.bounds.upper()[j]
    }

    /// A slope in the units of the predictions.
    fn in_units(&self, j: usize, slope: f64) -> f64 {
        let curvature = self.gram.at(j, j);
        if curvature > 0.0 { slope.abs() / curvature.sqrt() } else { 0.0 }
    }

    /// The slope of a coordinate at a bound, where it points inwards; otherwise 0.
    fn inwards(&self, x: &[f64], slopes: &[f64], j: usize) -> f64 {
        let room = if slopes[j] > 0.0 { x[j] < self.bounds.upper()[j] } else { x[j] > self.bounds.lower()[j] };
        if room { self.in_units(j, slopes[j]) } else { 0.0 }
    }

    /// To the minimum over the free coordinates, as far as the box lets it: who meets a bound stays there.
    fn descend(&self, x: &mut [f64], free: &mut Vec<usize>) {
        while !free.is_empty() {
            let slopes = self.slopes(x);
            let block = Matrix::from_fn(free.len(), free.len(), |a, b| self.gram.at(free[a], free[b]));
            let step = solve_symmetric(&block, &free.iter().map(|&j| slopes[j]).collect::<Vec<_>>());
            let end = |j: usize, d: f64| if d > 0.0 { self.bounds.upper()[j] } else { self.bounds.lower()[j] };
            let room = |(&j, &d): (&usize, &f64)| if d == 0.0 { f64::INFINITY } else { (end(j, d) - x[j]) / d };
            let rooms: Vec<f64> = free.iter().zip(&step).map(room).collect();
            let length = rooms.iter().copied().fold(1.0, f64::min);
            for ((&j, &d), &room) in free.iter().zip(&step).zip(&rooms) {
                x[j] = if room <= length { end(j, d) } else { self.bounds.clamped(j, x[j] + length * d) };
            }
            let mut met = rooms.iter().map(|room| *room <= length);
            free.retain(|_| !met.next().unwrap_or(false));
            if length >= 1.0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, normals};

    /// Columns of this correlation and a target, in a box.
    fn problem(d: usize, seed: u64, lower: f64, upper: f64) -> BoxQuadratic {
        let rows = 3 * d;
        let mut data = normals(rows * d, &mut generator(seed, 0));
        for j in 1..d {
            for i in 0..rows {
                data[j * rows + i] += 0.8 * data[(j - 1) * rows + i];
            }
        }
        let columns = Matrix::from_columns(rows, d, data);
        let y = normals(rows, &mut generator(seed, 1));
        let linear = (0..d).map(|j| dot(columns.column(j), &y)).collect();
        let gram = columns.transposed_times(&columns);
        BoxQuadratic { gram, linear, bounds: Bounds::new(vec![lower; d], vec![upper; d]).unwrap() }
    }

    /// Coordinate descent for very long.
    fn patient(q: &BoxQuadratic) -> Vec<f64> {
        let mut x = vec![0.0; q.linear.len()];
        for _ in 0..20_000 {
            for j in 0..x.len() {
                let others: f64 = (0..x.len()).filter(|&i| i != j).map(|i| q.gram.at(i, j) * x[i]).sum();
                x[j] = q.bounds.clamped(j, (q.linear[j] - others) / q.gram.at(j, j));
            }
        }
        x
    }

    #[test]
    fn the_minimum_is_that_of_patient_descent() {
        for (seed, (lower, upper)) in
            [(0.0, f64::INFINITY), (-0.1, 0.2), (-1e3, 1e3), (0.0, 0.05)].into_iter().enumerate()
        {
            for d in [1, 2, 5, 12] {
                let q = problem(d, seed as u64, lower, upper);
                let (right, start) = (patient(&q), normals(d, &mut generator(9, d as u64)));
                for start in [vec![0.0; d], start] {
                    let found = q.minimise(&start);
                    assert!(found.iter().all(|v| (lower..=upper).contains(v)), "{found:?}");
                    for (found, right) in found.iter().zip(&right) {
                        assert!((found - right).abs() < 1e-9 * (1.0 + right.abs()), "{d} {seed}: {found} {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn duplicated_and_empty_columns_do_no_harm() {
        let gram = Matrix::from_columns(3, 3, vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let bounds = Bounds::new(vec![0.0; 3], vec![1.5, 9.0, 9.0]).unwrap();
        let q = BoxQuadratic { gram, linear: vec![2.0, 2.0, 0.0], bounds };
        let x = q.minimise(&[0.0; 3]);
        assert!((x[0] + x[1] - 2.0).abs() < 1e-12 && x[2] == 0.0, "{x:?}");
    }

    /// A box of no width stays where it is.
    #[test]
    fn what_may_not_move_does_not() {
        let bounds = Bounds::new(vec![0.0; 2], vec![0.0, 5.0]).unwrap();
        let q = BoxQuadratic { bounds, ..problem(2, 3, 0.0, 5.0) };
        assert_eq!(q.minimise(&[3.0, 3.0])[0], 0.0);
    }
}
