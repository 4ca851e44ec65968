//! Tumours to train on and tumours to test, drawn at random with both classes in proportion.

use katoms::select::Folds;
use katoms::simulate::generator;
use rand::RngExt;

use super::cohort::Cohort;
use super::settings::Config;
use crate::Error;

/// One split, and the folds of its training part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    /// Rows to train on.
    pub training: Vec<usize>,
    /// Rows to test.
    pub test: Vec<usize>,
    /// For each fold the rows that are fitted, and those held out.
    pub folds: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Split {
    /// The split of this number.
    pub fn new(cohort: &Cohort, config: &Config, number: usize) -> Result<Self, Error> {
        let mut rng = generator(config.seed, 100 + number as u64);
        let mut training = Vec::new();
        for class in [0.0, 1.0] {
            let mut rows: Vec<usize> = (0..cohort.tumours()).filter(|&i| cohort.classes[i] == class).collect();
            for i in (1..rows.len()).rev() {
                rows.swap(i, rng.random_range(0..=i));
            }
            rows.truncate((config.training * rows.len() as f64).round() as usize);
            training.extend(rows);
        }
        training.sort_unstable();
        let test = (0..cohort.tumours()).filter(|i| training.binary_search(i).is_err()).collect();
        let classes: Vec<f64> = training.iter().map(|&i| cohort.classes[i]).collect();
        let dealt = Folds::stratified(&classes, config.folds, config.seed.wrapping_add(number as u64))?;
        let rows = |places: Vec<usize>| places.into_iter().map(|place| training[place]).collect();
        let folds = (0..config.folds).map(|fold| (rows(dealt.training(fold)), rows(dealt.held_out(fold)))).collect();
        Ok(Self { training, test, folds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Request};

    #[test]
    fn the_papers_cohort_is_split_as_the_paper_splits_it() {
        let config: Config = Experiment::Tumour.settings(&Request::default()).unwrap();
        let classes: Vec<f64> = (0..295).map(|i| f64::from(u8::from(i < 78))).collect();
        let cohort = Cohort::new("c".into(), true, vec![vec![0.0; 295]], classes, &[vec![0]]);
        let splits: Vec<Split> = (0..3).map(|number| Split::new(&cohort, &config, number).unwrap()).collect();
        for split in &splits {
            assert_eq!((split.training.len(), split.test.len(), split.folds.len()), (118, 177, 5));
            assert_eq!(split.test.iter().filter(|&&i| i < 78).count(), 47);
            let mut all = [split.training.clone(), split.test.clone()].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..295));
            for (fitted, held_out) in &split.folds {
                let mut both = [fitted.clone(), held_out.clone()].concat();
                both.sort_unstable();
                assert_eq!(both, split.training);
                assert!(held_out.iter().any(|&i| i < 78) && fitted.iter().any(|&i| i < 78));
            }
        }
        assert!(splits[0] != splits[1] && splits[1] != splits[2]);
    }
}
