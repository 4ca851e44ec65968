//! A cohort that is drawn: the paper's numbers of tumours, genes and groups, and an answer that lies in groups.
//!
//! Sizes of groups and the number of groups of a gene have the heavy tails that pathways have; expression has a few
//! directions that all genes share, an activity for each group, and noise. The class is decided by the mean
//! expression of some planted groups, and noise.

use katoms::linalg;
use katoms::simulate::{generator, normals};
use rand::RngExt;
use serde::Deserialize;

use super::cohort::Cohort;
use crate::Error;

/// Shares of the variance of a gene that directions common to all genes have, as measured cohorts do.
const COMMON: [f64; 5] = [0.13, 0.07, 0.05, 0.04, 0.04];
/// The share that the activities of its groups have.
const ACTIVITY: f64 = 0.15;
/// How fast the popularity of genes falls with their rank.
const POPULARITY: f64 = 0.75;

/// The most tumours, genes and groups.
const MOST: usize = 100_000;
/// The most numbers of a table: tumours × genes, tumours × groups.
const MOST_NUMBERS: usize = 20_000_000;

/// What is drawn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Simulation {
    /// Tumours.
    pub tumours: usize,
    /// Those of the smaller class.
    pub positives: usize,
    /// Genes, those in no group included.
    pub genes: usize,
    /// Genes that are in groups.
    pub grouped: usize,
    /// Groups.
    pub groups: usize,
    /// The median size of a group.
    pub median_size: f64,
    /// The largest size.
    pub largest_size: usize,
    /// Groups whose genes decide the class.
    pub planted: usize,
    /// The deviation of what else decides it, relative to the groups.
    pub noise: f64,
}

impl Simulation {
    /// Whether it can be drawn.
    pub fn check(&self) -> Result<(), Error> {
        let bad = |why: &str| Err(crate::Experiment::Tumour.bad_config(why));
        for (name, count) in [("tumours", self.tumours), ("genes", self.genes), ("groups", self.groups)] {
            if count > MOST {
                return bad(&format!("`simulated.{name}` must be at most {MOST}"));
            }
        }
        for (name, count) in [("genes", self.genes), ("groups", self.groups)] {
            if self.tumours.saturating_mul(count) > MOST_NUMBERS {
                return bad(&format!("`simulated.tumours` × `simulated.{name}` must be at most {MOST_NUMBERS}"));
            }
        }
        if self.positives > self.tumours || self.positives < 20 || self.tumours < 2 * self.positives {
            return bad("`simulated.positives` must be at least 20 and at most half of the tumours");
        }
        if self.grouped < 2 || self.genes < self.grouped {
            return bad("`simulated.grouped` must lie between 2 and the number of genes");
        }
        if self.groups.saturating_mul(self.grouped) > MOST_NUMBERS {
            return bad(&format!("`simulated.groups` × `simulated.grouped` must be at most {MOST_NUMBERS}"));
        }
        if self.groups < 2 || self.planted == 0 || self.planted > self.groups {
            return bad("`simulated.groups` must be at least 2, and `planted` between 1 and that");
        }
        if !(1.0..=MOST as f64).contains(&self.median_size) || self.largest_size < 2 || self.largest_size > self.grouped
        {
            return bad("`simulated.median_size` must be at least 1, `largest_size` between 2 and `grouped`");
        }
        if !(0.0..=1e6).contains(&self.noise) {
            return bad("`simulated.noise` must lie between 0 and 1e6");
        }
        Ok(())
    }

    /// Draws it.
    pub fn cohort(&self, seed: u64) -> Cohort {
        let groups = self.draw_groups(seed);
        let genes = self.draw_genes(&groups, seed);
        let classes = self.draw_classes(&genes, &groups, seed);
        let name = format!("simulated cohort, {} × {}", self.tumours, self.genes);
        Cohort::new(name, true, genes, classes, &groups)
    }

    /// Members drawn by popularity, without repetition; who was never drawn joins some group.
    fn draw_groups(&self, seed: u64) -> Vec<Vec<usize>> {
        let mut rng = generator(seed, 10);
        let mut groups: Vec<Vec<usize>> = Vec::with_capacity(self.groups);
        for size in normals(self.groups, &mut rng) {
            let size = (self.median_size * size.exp()).round().clamp(2.0, self.largest_size as f64) as usize;
            // Efraimidis and Spirakis: the largest log(u)/w are a weighted draw without repetition.
            let mut keys: Vec<(f64, usize)> = (0..self.grouped)
                .map(|gene| (rng.random::<f64>().ln() * ((gene + 10) as f64).powf(POPULARITY), gene))
                .collect();
            keys.select_nth_unstable_by(size - 1, |a, b| b.0.total_cmp(&a.0));
            groups.push(keys[..size].iter().map(|key| key.1).collect());
        }
        let mut drawn = vec![false; self.grouped];
        groups.iter().flatten().for_each(|&gene| drawn[gene] = true);
        for gene in (0..self.grouped).filter(|&gene| !drawn[gene]) {
            groups[rng.random_range(0..self.groups)].push(gene);
        }
        groups
    }

    fn draw_genes(&self, groups: &[Vec<usize>], seed: u64) -> Vec<Vec<f64>> {
        let mut rng = generator(seed, 11);
        let mut draw = || normals(self.tumours, &mut rng);
        let common: Vec<Vec<f64>> = COMMON.iter().map(|_| draw()).collect();
        let activities: Vec<Vec<f64>> = groups.iter().map(|_| draw()).collect();
        let mut active = vec![vec![0.0; self.tumours]; self.genes];
        let mut count = vec![0.0_f64; self.genes];
        for (group, activity) in groups.iter().zip(&activities) {
            for &gene in group {
                count[gene] += 1.0;
                active[gene] = linalg::combine(1.0, &active[gene], 1.0, activity);
            }
        }
        let own = 1.0 - COMMON.iter().sum::<f64>() - ACTIVITY;
        let mut rng = generator(seed, 12);
        active
            .into_iter()
            .zip(count)
            .map(|(active, count)| {
                let scale = if count > 0.0 { (ACTIVITY / count).sqrt() } else { 0.0 };
                let noise = normals(self.tumours, &mut rng);
                let mut gene = linalg::combine(scale, &active, own.sqrt(), &noise);
                for ((share, factor), loading) in COMMON.iter().zip(&common).zip(normals(COMMON.len(), &mut rng)) {
                    gene = linalg::combine(1.0, &gene, share.sqrt() * loading, factor);
                }
                gene
            })
            .collect()
    }

    /// The tumours with the largest scores are the smaller class.
    fn draw_classes(&self, genes: &[Vec<f64>], groups: &[Vec<usize>], seed: u64) -> Vec<f64> {
        let mut rng = generator(seed, 13);
        let mut score = vec![0.0; self.tumours];
        let mut by_size: Vec<&Vec<usize>> = groups.iter().collect();
        by_size.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for i in 0..self.planted {
            // Spread over the larger quarter: projections rank groups by their energy, and small ones have little.
            let group = by_size[i * groups.len().div_ceil(4) / self.planted];
            let mut sum = vec![0.0; self.tumours];
            group.iter().for_each(|&gene| sum = linalg::combine(1.0, &sum, 1.0, &genes[gene]));
            let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
            score = linalg::combine(1.0, &score, sign / linalg::norm(&sum).max(f64::MIN_POSITIVE), &sum);
        }
        let size = linalg::norm(&score) / (self.tumours as f64).sqrt();
        score = linalg::combine(1.0, &score, self.noise * size, &normals(self.tumours, &mut rng));
        let mut order: Vec<usize> = (0..self.tumours).collect();
        order.sort_by(|&a, &b| score[b].total_cmp(&score[a]));
        let mut classes = vec![0.0; self.tumours];
        order[..self.positives].iter().for_each(|&i| classes[i] = 1.0);
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulation() -> Simulation {
        Simulation {
            tumours: 90,
            positives: 25,
            genes: 300,
            grouped: 120,
            groups: 30,
            median_size: 6.0,
            largest_size: 40,
            planted: 3,
            noise: 0.5,
        }
    }

    #[test]
    fn it_has_the_shape_that_is_asked_for() {
        let cohort = simulation().cohort(3);
        assert_eq!((cohort.tumours(), cohort.positives()), (90, 25));
        assert_eq!((cohort.genes_in_all, cohort.genes.len(), cohort.groups.len()), (300, 120, 30));
        let members: usize = cohort.groups.iter().map(Vec::len).sum();
        assert!(members > 120, "groups share genes: {members}");
        assert_eq!(cohort.classes, simulation().cohort(3).classes);
        assert_ne!(cohort.classes, simulation().cohort(4).classes);
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let why = |s: Simulation| s.check().unwrap_err().to_string();
        assert!(why(Simulation { positives: 50, ..simulation() }).contains("positives"));
        assert!(why(Simulation { grouped: 301, ..simulation() }).contains("grouped"));
        assert!(why(Simulation { largest_size: 121, ..simulation() }).contains("largest_size"));
        assert!(why(Simulation { planted: 31, ..simulation() }).contains("planted"));
        assert!(why(Simulation { noise: f64::NAN, ..simulation() }).contains("noise"));
        assert!(simulation().check().is_ok());
    }
}
