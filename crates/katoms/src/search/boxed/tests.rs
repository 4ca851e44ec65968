use super::*;
use crate::search::quadratic::Terms;
use crate::search::quadratic::explicit::Explicit;
use crate::simulate::{autoregressive, gaussian};

/// A quadratic that is written out, within bounds.
struct Bounding {
    q: Explicit,
    bounds: Bounds,
}

impl Quadratic for Bounding {
    fn terms(&self) -> &Terms {
        self.q.terms()
    }
    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }
    fn column(&self, j: usize) -> &[f64] {
        self.q.column(j)
    }
    fn block(&self, atom: usize, members: &[usize]) -> Vec<f64> {
        self.q.block(atom, members)
    }
}

impl Bounding {
    fn new(n: usize, seed: u64, lower: f64, upper: f64) -> Self {
        let design = Matrix::from_columns(40, n, autoregressive(40, n, 0.7, seed));
        let q = Explicit::new(&design, &gaussian(40, 1, seed + 100), 1e-3);
        Self { q, bounds: Bounds::new(vec![lower; n], vec![upper; n]).unwrap() }
    }

    /// The least value over some coordinates, by coordinate descent for very long.
    fn patient(&self, at: &[usize]) -> f64 {
        let mut x = vec![0.0; self.dim()];
        for _ in 0..5000 {
            for &j in at {
                let others: f64 = at.iter().filter(|&&i| i != j).map(|&i| self.column(j)[i] * x[i]).sum();
                x[j] = self.bounds.clamped(j, (self.linear()[j] - others) / self.diagonal()[j]);
            }
        }
        let slope = |&j: &usize| self.linear()[j] - 0.5 * at.iter().map(|&i| self.column(j)[i] * x[i]).sum::<f64>();
        self.constant() - at.iter().map(|j| x[*j] * slope(j)).sum::<f64>()
    }
}

const BOXES: [(f64, f64); 3] = [(0.0, f64::INFINITY), (-0.1, 0.1), (0.0, 0.05)];

/// After atoms have come and gone, the model is the one from scratch, within the bounds.
#[test]
fn the_model_is_the_minimum_within_the_bounds() {
    for (seed, (lower, upper)) in BOXES.into_iter().enumerate() {
        let q = Bounding::new(14, seed as u64, lower, upper);
        let (atoms, kept) = (Atoms::coordinates(14), IndexSet::new(14, vec![]));
        let mut boxed = Boxed::new(&q, &atoms, &kept, &[1, 5, 9]).unwrap();
        for chosen in [&[1, 5, 9, 2, 13][..], &[5, 9, 2, 13], &[5, 9, 2, 13, 6, 0], &[13]] {
            boxed.choose(chosen);
            let right = q.patient(chosen);
            assert!(
                (boxed.objective() - right).abs() < 1e-9 * right,
                "{seed} {chosen:?}: {} {right}",
                boxed.objective()
            );
            assert!(q.bounds.contain(&boxed.point()));
        }
    }
}

/// What is computed of an exchange is right, and the exchanges that are not doubtful are no improvements.
#[test]
fn exchanges_are_those_by_trying_each() {
    let mut ruled_out = 0;
    for (seed, (lower, upper)) in BOXES.into_iter().enumerate() {
        let q = Bounding::new(14, seed as u64 + 10, lower, upper);
        let (atoms, kept) = (Atoms::coordinates(14), IndexSet::new(14, vec![3]));
        let atoms = atoms.without(&kept);
        for chosen in [[0, 4, 8], [1, 2, 12], [6, 7, 13]] {
            let boxed = Boxed::new(&q, &atoms, &kept, &chosen).unwrap();
            let after = |swap: &Swap| {
                let stay = chosen.iter().copied().filter(|&j| j != swap.out);
                q.patient(&stay.chain([swap.into, 3]).collect::<Vec<_>>())
            };
            let here = boxed.objective();
            for swap in boxed.substitutes().best {
                assert!((here - after(&swap) - swap.gain).abs() < 1e-9 * here, "{seed} {chosen:?} {swap:?}");
            }
            let doubtful = boxed.doubtful().unwrap();
            let outside = (0..14).filter(|j| !chosen.contains(j) && *j != 3);
            for (into, out) in outside.flat_map(|into| chosen.map(|out| (into, out))) {
                if doubtful.iter().any(|swap| (swap.out, swap.into) == (out, into)) {
                    continue;
                }
                ruled_out += 1;
                let value = after(&Swap { out, into, gain: 0.0 });
                assert!(value > here * (1.0 - 1e-9), "{seed} {chosen:?}: {out} for {into} is {value} after {here}");
            }
        }
    }
    assert!(ruled_out > 50, "{ruled_out}");
}
