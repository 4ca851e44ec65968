//! Growing k in warm-started stages.
//!
//! A few strong atoms found first steer the search for the weaker ones. For sparse vectors that
//! repairs much of what a greedy start gets wrong; for matrices whose singular values fall by
//! decades it is the difference between 26 dB and exact recovery.

use crate::error::{Error, check_option, check_range};
use crate::set::{ConstraintSet, Structure};

/// How k grows to its final value. Serves every structure and method.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages {
    /// The values of k before the final one, rising. Empty: k from the start.
    pub before: Vec<usize>,
    /// The most iterations in each of these stages.
    pub iterations: usize,
    /// A stage ends early when f falls by less than this share in an iteration.
    pub decrease: f64,
}

impl Stages {
    /// k from the start.
    pub fn direct() -> Self {
        Self { before: Vec::new(), iterations: 1, decrease: 0.0 }
    }

    /// …, k/16, k/4: each stage has four times the atoms of the one before.
    pub fn growing(k: usize) -> Self {
        let quarters = (1..).map(|i| (k as f64 / 4_f64.powi(i)).round() as usize);
        let mut before: Vec<usize> = quarters.take_while(|&j| j > 0).filter(|&j| j < k).collect();
        before.reverse();
        Self { before, iterations: 15, decrease: 0.1 }
    }

    /// The defaults, chosen by measurement: matrices grow, coordinates do not.
    pub fn for_set(set: &impl ConstraintSet) -> Self {
        match set.structure() {
            Structure::Coordinates => Self::direct(),
            Structure::RankOne => Self::growing(set.atoms()),
        }
    }

    pub(super) fn check(&self, k: usize) -> Result<(), Error> {
        check_range("the iterations of a stage", self.iterations, 1, usize::MAX)?;
        check_option("decrease", self.decrease, "it must be at least 0 and below 1", |v| (0.0..1.0).contains(&v))?;
        let mut last = 0;
        for &atoms in self.before.iter().chain([&k]) {
            check_range("the atoms of a stage", atoms, last + 1, k)?;
            last = atoms;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_stages_rise_and_stay_below_k() {
        assert_eq!(Stages::growing(60).before, [1, 4, 15]);
        assert_eq!(Stages::growing(30).before, [2, 8]);
        assert_eq!(Stages::growing(1).before, [0usize; 0]);
        assert_eq!(Stages::growing(2).before, [1]);
        for k in 1..300 {
            let stages = Stages::growing(k);
            assert!(stages.check(k).is_ok(), "{k} {stages:?}");
        }
    }
}
