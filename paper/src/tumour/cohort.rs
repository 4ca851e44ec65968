//! Tumours of two classes, the expression of their genes, and groups of genes that share members: read, or drawn.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use katoms::linalg;
use katoms::simulate::{generator, normals};
use katoms_io::{Array, ReadOptions, Source};
use rand::RngExt;
use serde::Deserialize;

/// The least rows of a class: fewer cannot be spread over a training part, its folds and a test part.
const LEAST_ROWS: usize = 20;
/// What a file must hold, for messages.
const WANTED: &str = "a cohort is an NPZ of X (rows × genes), y (one of two classes for each row), and group_id and \
                      group_col (for each member of a group, the group's number and the gene's column from 0)";

/// A cohort. Genes in no group are left out: a method that chooses groups could never use them.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// The file's name without ending, or that it is simulated.
    pub name: String,
    pub simulated: bool,
    /// The genes of the file, those in no group included.
    pub genes_in_all: usize,
    /// The genes in groups, each a column of one value for each tumour.
    pub genes: Vec<Vec<f64>>,
    /// 1 for the smaller class, else 0.
    pub classes: Vec<f64>,
    /// Places in `genes`; every gene is in at least one.
    pub groups: Vec<Vec<usize>>,
}

impl Cohort {
    /// Keeps the genes that are in groups. The groups hold places in `genes`; empty ones are dropped.
    pub fn new(name: String, simulated: bool, genes: Vec<Vec<f64>>, classes: Vec<f64>, groups: &[Vec<usize>]) -> Self {
        let genes_in_all = genes.len();
        let mut place = vec![None; genes_in_all];
        groups.iter().flatten().for_each(|&gene| place[gene] = Some(0));
        place.iter_mut().flatten().enumerate().for_each(|(next, p)| *p = next);
        let kept = genes.into_iter().zip(&place).filter_map(|(gene, p)| p.map(|_| gene)).collect();
        let moved = |group: &Vec<usize>| {
            let mut members: Vec<usize> = group.iter().filter_map(|&gene| place[gene]).collect();
            members.sort_unstable();
            members.dedup();
            members
        };
        let groups = groups.iter().map(moved).filter(|group| !group.is_empty()).collect();
        Self { name, simulated, genes_in_all, genes: kept, classes, groups }
    }

    /// Reads a cohort.
    pub fn read(path: &Path) -> Result<Self> {
        let Source::Arrays { arrays, .. } = katoms_io::read(path, &ReadOptions::default())? else {
            bail!("{}: this is no archive of arrays; {WANTED}", path.display());
        };
        let cohort = || {
            let array = |name: &str| {
                let found = arrays.iter().find(|(other, _)| other == name);
                found.map(|(_, array)| array).with_context(|| format!("there is no array {name}"))
            };
            let (x, y) = (array("X")?, array("y")?.numbers.to_f64());
            ensure!(x.rows == y.len(), "X has {} rows, but y has {} values", x.rows, y.len());
            let finite = x.numbers.to_f64().iter().all(|v| v.is_finite());
            ensure!(finite, "X has values that are missing or infinite: fill them in first");
            let groups = members(array("group_id")?, array("group_col")?, x.columns)?;
            let genes = (0..x.columns).map(|j| x.column(j)).collect();
            let name = path.file_stem().map_or_else(|| "cohort".into(), |stem| stem.to_string_lossy().into_owned());
            Ok(Self::new(name, false, genes, two_classes(&y)?, &groups))
        };
        cohort().map_err(|what: anyhow::Error| anyhow::anyhow!("{}: {what}; {WANTED}", path.display()))
    }

    /// What stands above its tables: a file's name, or that it is simulated.
    pub fn title(&self) -> String {
        let Self { simulated, name, genes_in_all, .. } = self;
        if *simulated { format!("Simulated cohort, {} × {genes_in_all}", self.tumours()) } else { name.clone() }
    }

    pub fn tumours(&self) -> usize {
        self.classes.len()
    }

    /// The tumours of the smaller class.
    pub fn positives(&self) -> usize {
        self.classes.iter().filter(|&&class| class == 1.0).count()
    }
}

/// The members of each group, from the two parallel arrays.
fn members(ids: &Array, columns: &Array, genes: usize) -> Result<Vec<Vec<usize>>> {
    let (ids, columns) = (ids.numbers.to_f64(), columns.numbers.to_f64());
    let alike = ids.len() == columns.len() && !ids.is_empty();
    ensure!(alike, "group_id has {} values and group_col {}", ids.len(), columns.len());
    let whole = |v: f64, below: f64| (v >= 0.0 && v < below && v.fract() == 0.0).then_some(v as usize);
    let pair = |(&id, &column): (&f64, &f64)| {
        let group = whole(id, 1e9).with_context(|| format!("group_id holds {id}, which numbers no group"))?;
        let last = genes.saturating_sub(1);
        let outside = || format!("group_col holds {column}, but the columns of X are 0 to {last}");
        Ok((group, whole(column, genes as f64).with_context(outside)?))
    };
    let mut pairs = ids.iter().zip(&columns).map(pair).collect::<Result<Vec<_>>>()?;
    pairs.sort_unstable();
    Ok(pairs.chunk_by(|a, b| a.0 == b.0).map(|group| group.iter().map(|pair| pair.1).collect()).collect())
}

/// 1 for the smaller class and 0 for the larger; of equals, 1 for the larger value.
fn two_classes(y: &[f64]) -> Result<Vec<f64>> {
    let mut values = y.to_vec();
    values.sort_by(f64::total_cmp);
    let counts: Vec<(f64, usize)> = values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    let &[(low, few), (high, many)] = counts.as_slice() else {
        bail!("the number of different values of y is {}; two classes are needed", counts.len());
    };
    let (rare, count) = if few < many { (low, few) } else { (high, many.min(few)) };
    ensure!(count >= LEAST_ROWS, "class {rare} has {count} rows; each class needs at least {LEAST_ROWS}");
    Ok(y.iter().map(|&v| f64::from(u8::from(v == rare))).collect())
}

/// Shares of the variance of a gene that directions common to all genes have, as measured cohorts do.
const COMMON: [f64; 5] = [0.13, 0.07, 0.05, 0.04, 0.04];
/// The share that the activities of its groups have.
const ACTIVITY: f64 = 0.15;
/// How fast the popularity of genes falls with their rank.
const POPULARITY: f64 = 0.75;
/// The most numbers of a table of tumours, genes and groups, two of them.
const MOST_NUMBERS: usize = 20_000_000;

/// A cohort that is drawn: the paper's numbers of tumours, genes and groups, and an answer that lies in groups.
///
/// Sizes of groups and the number of groups of a gene have the heavy tails that pathways have; expression has a few
/// directions that all genes share, an activity for each group, and noise. The class is decided by the mean
/// expression of some planted groups, and noise.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    tumours: usize,
    /// Those of the smaller class.
    positives: usize,
    /// Those in no group included.
    genes: usize,
    /// Genes that are in groups.
    grouped: usize,
    groups: usize,
    median_size: f64,
    largest_size: usize,
    /// Groups whose genes decide the class.
    planted: usize,
    /// The deviation of what else decides it, relative to the groups.
    noise: f64,
}

impl Simulation {
    /// What must hold, and what to say where it does not.
    pub fn rules(&self) -> [(bool, String); 6] {
        let &Self { tumours, positives, genes, grouped, groups, planted, .. } = self;
        let fits = tumours * genes.max(groups) <= MOST_NUMBERS && groups * grouped <= MOST_NUMBERS;
        let sizes = self.largest_size <= grouped;
        [
            (
                fits,
                format!(
                    "`simulated` has tables of at most {MOST_NUMBERS} numbers: fewer `tumours`, `genes` or `groups`"
                ),
            ),
            (2 * positives <= tumours, "`simulated.positives` must be at most half of the tumours".into()),
            (grouped <= genes, "`simulated.grouped` must be at most the number of genes".into()),
            (planted <= groups, "`simulated.planted` must be at most the number of groups".into()),
            (sizes, "`simulated.largest_size` must be at most `grouped`".into()),
            (self.median_size <= grouped as f64, "`simulated.median_size` must be at most `grouped`".into()),
        ]
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
            let key = |gene| (rng.random::<f64>().ln() * ((gene + 10) as f64).powf(POPULARITY), gene);
            let mut keys: Vec<(f64, usize)> = (0..self.grouped).map(key).collect();
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
        let expressed = |(active, count): (Vec<f64>, f64)| {
            let scale = if count > 0.0 { (ACTIVITY / count).sqrt() } else { 0.0 };
            let noise = normals(self.tumours, &mut rng);
            let gene = linalg::combine(scale, &active, own.sqrt(), &noise);
            let loadings = COMMON.iter().zip(&common).zip(normals(COMMON.len(), &mut rng));
            loadings.fold(gene, |gene, ((share, factor), loading)| {
                linalg::combine(1.0, &gene, share.sqrt() * loading, factor)
            })
        };
        active.into_iter().zip(count).map(expressed).collect()
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
    use std::io::Write;

    use super::*;

    /// 60 rows of 4 columns, classes as given, groups {0, 1} and {1, 3}.
    fn read(name: &str, y: Vec<f64>, arrays: usize, last_member: f64) -> Result<Cohort> {
        let all = [
            ("X", "60, 4", (0..240).map(f64::from).collect()),
            ("y", "60,", y),
            ("group_id", "4,", vec![7.0, 7.0, 9.0, 9.0]),
            ("group_col", "4,", vec![1.0, 0.0, 1.0, last_member]),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{name}.npz"));
        let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, shape, values) in &all[..arrays] {
            archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
            archive.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
            archive.write_all(format!("{header:<117}\n").as_bytes()).unwrap();
            values.iter().for_each(|v: &f64| archive.write_all(&v.to_le_bytes()).unwrap());
        }
        archive.finish().unwrap();
        Cohort::read(&path)
    }

    fn classes(rare: usize) -> Vec<f64> {
        (0..60).map(|i| if i < rare { 2.0 } else { 5.0 }).collect()
    }

    #[test]
    fn genes_in_no_group_are_left_out_and_the_smaller_class_is_1() {
        let cohort = read("good", classes(25), 4, 3.0).unwrap();
        assert_eq!((cohort.genes_in_all, cohort.genes.len(), cohort.tumours()), (4, 3, 60));
        assert_eq!(cohort.groups, [vec![0, 1], vec![1, 2]]);
        assert_eq!((cohort.genes[2][1], cohort.positives(), cohort.classes[0]), (7.0, 25, 1.0));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let three = (0..60).map(|i| f64::from(i % 3)).collect();
        for (name, y, arrays, member, why) in [
            ("no-groups", classes(25), 2, 3.0, "no array group_id"),
            ("few-rows", classes(19), 4, 3.0, "class 2 has 19 rows; each class needs at least 20"),
            ("one-class", vec![1.0; 60], 4, 3.0, "values of y is 1; two classes"),
            ("three-classes", three, 4, 3.0, "values of y is 3; two classes"),
            ("outside", classes(25), 4, 4.0, "group_col holds 4, but the columns of X are 0 to 3"),
        ] {
            let error = read(name, y, arrays, member).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(name), "{error}");
        }
    }

    #[test]
    fn a_drawn_cohort_has_the_shape_that_is_asked_for() {
        let simulation = Simulation {
            tumours: 90,
            positives: 25,
            genes: 300,
            grouped: 120,
            groups: 30,
            median_size: 6.0,
            largest_size: 40,
            planted: 3,
            noise: 0.5,
        };
        assert!(simulation.rules().iter().all(|(holds, _)| *holds));
        let cohort = simulation.cohort(3);
        assert_eq!((cohort.tumours(), cohort.positives()), (90, 25));
        assert_eq!((cohort.genes_in_all, cohort.genes.len(), cohort.groups.len()), (300, 120, 30));
        assert!(cohort.groups.iter().map(Vec::len).sum::<usize>() > 120, "groups share genes");
        assert_eq!(cohort.classes, simulation.cohort(3).classes);
        assert_ne!(cohort.classes, simulation.cohort(4).classes);
    }
}
