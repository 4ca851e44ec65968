//! Tumours of two classes, the expression of their genes, and groups of genes that share members.

use std::path::Path;

use katoms_io::{Array, ReadOptions, Source};

use crate::Error;

/// The least rows of a class: fewer cannot be spread over a training part, its folds and a test part.
const LEAST_ROWS: usize = 20;
/// What a file must hold, for messages.
const WANTED: &str = "a cohort is an NPZ of X (rows × genes), y (one of two classes for each row), and group_id and \
                      group_col (for each member of a group, the group's number and the gene's column from 0)";

/// A cohort. Genes in no group are left out: a method that chooses groups could never use them.
#[derive(Debug, Clone)]
pub(super) struct Cohort {
    /// The file's name without ending, or that it is simulated.
    pub name: String,
    /// Whether it was drawn, not measured.
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
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bad = |what: String| Error::msg(format!("{}: {what}; {WANTED}", path.display()));
        let Source::Arrays { arrays, .. } = katoms_io::read(path, &ReadOptions::default())? else {
            return Err(bad("this is no archive of arrays".into()));
        };
        let array = |name: &str| {
            let found = arrays.iter().find(|(other, _)| other == name);
            found.map(|(_, array)| array).ok_or_else(|| bad(format!("there is no array {name}")))
        };
        let (x, y) = (array("X")?, array("y")?.numbers.to_f64());
        if x.rows != y.len() {
            return Err(bad(format!("X has {} rows, but y has {} values", x.rows, y.len())));
        }
        if x.numbers.to_f64().iter().any(|v| !v.is_finite()) {
            return Err(bad("X has values that are missing or infinite: fill them in first".into()));
        }
        let groups = members(array("group_id")?, array("group_col")?, x.columns).map_err(&bad)?;
        let classes = two_classes(&y).map_err(&bad)?;
        let genes = (0..x.columns).map(|j| x.column(j)).collect();
        let name = path.file_stem().map_or_else(|| "cohort".into(), |stem| stem.to_string_lossy().into_owned());
        Ok(Self::new(name, false, genes, classes, &groups))
    }

    /// What stands above its tables: a file's name, or that it is simulated.
    pub fn title(&self) -> String {
        let Self { simulated, name, genes_in_all, .. } = self;
        if *simulated { format!("Simulated cohort, {} × {genes_in_all}", self.tumours()) } else { name.clone() }
    }

    /// The number of tumours.
    pub fn tumours(&self) -> usize {
        self.classes.len()
    }

    /// The tumours of the smaller class.
    pub fn positives(&self) -> usize {
        self.classes.iter().filter(|&&class| class == 1.0).count()
    }
}

/// The members of each group, from the two parallel arrays.
fn members(ids: &Array, columns: &Array, genes: usize) -> Result<Vec<Vec<usize>>, String> {
    let (ids, columns) = (ids.numbers.to_f64(), columns.numbers.to_f64());
    if ids.len() != columns.len() || ids.is_empty() {
        return Err(format!("group_id has {} values and group_col {}", ids.len(), columns.len()));
    }
    let whole = |v: f64, below: f64| (v >= 0.0 && v < below && v.fract() == 0.0).then_some(v as usize);
    let mut pairs = Vec::with_capacity(ids.len());
    for (&id, &column) in ids.iter().zip(&columns) {
        let group = whole(id, 1e9).ok_or_else(|| format!("group_id holds {id}, which numbers no group"))?;
        let gene = whole(column, genes as f64).ok_or_else(|| {
            format!("group_col holds {column}, but the columns of X are 0 to {}", genes.saturating_sub(1))
        })?;
        pairs.push((group, gene));
    }
    pairs.sort_unstable();
    Ok(pairs.chunk_by(|a, b| a.0 == b.0).map(|group| group.iter().map(|pair| pair.1).collect()).collect())
}

/// 1 for the smaller class and 0 for the larger; of equals, 1 for the larger value.
fn two_classes(y: &[f64]) -> Result<Vec<f64>, String> {
    let mut values = y.to_vec();
    values.sort_by(f64::total_cmp);
    let counts: Vec<(f64, usize)> = values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    let &[(low, few), (high, many)] = counts.as_slice() else {
        let found = counts.len();
        return Err(format!(
            "y has {found} different value{}; two classes are needed",
            if found == 1 { "" } else { "s" }
        ));
    };
    let (rare, count) = if few < many { (low, few) } else { (high, many.min(few)) };
    if count < LEAST_ROWS {
        return Err(format!("class {rare} has {count} rows; each class needs at least {LEAST_ROWS}"));
    }
    Ok(y.iter().map(|&v| f64::from(u8::from(v == rare))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, arrays: &[(&str, Vec<f64>, &[usize])]) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("katoms-tumour-{}-{name}.npz", std::process::id()));
        std::fs::write(&path, npz(arrays)).unwrap();
        path
    }

    /// An archive of stored (uncompressed) NPY members: the least that a ZIP reader takes.
    fn npz(arrays: &[(&str, Vec<f64>, &[usize])]) -> Vec<u8> {
        let (mut body, mut directory) = (Vec::new(), Vec::new());
        for (name, values, shape) in arrays {
            let shape = shape.iter().map(|n| format!("{n},")).collect::<String>();
            let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
            while (10 + header.len() + 1) % 64 != 0 {
                header.push(' ');
            }
            header.push('\n');
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.as_bytes());
            values.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
            let name = format!("{name}.npy");
            let mut fields = Vec::new();
            for field in [20_u16, 0, 0, 0, 0] {
                fields.extend(field.to_le_bytes());
            }
            fields.extend(crc32(&bytes).to_le_bytes());
            fields.extend((bytes.len() as u32).to_le_bytes());
            fields.extend((bytes.len() as u32).to_le_bytes());
            fields.extend((name.len() as u16).to_le_bytes());
            fields.extend(0_u16.to_le_bytes());
            let at = body.len() as u32;
            body.extend(b"PK\x03\x04");
            body.extend(&fields);
            body.extend(name.as_bytes());
            body.extend(&bytes);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&fields);
            directory.extend([0; 10]);
            directory.extend(at.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, count) = (body.len() as u32, arrays.len() as u16);
        body.extend(&directory);
        body.extend(b"PK\x05\x06\0\0\0\0");
        body.extend(count.to_le_bytes());
        body.extend(count.to_le_bytes());
        body.extend((directory.len() as u32).to_le_bytes());
        body.extend(start.to_le_bytes());
        body.extend([0; 2]);
        body
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _: u8| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
    }

    /// 60 rows of 4 columns, classes as given, groups {0, 1} and {1, 3}.
    fn read(name: &str, y: Vec<f64>, with_groups: bool, last_member: f64) -> Result<Cohort, Error> {
        let x: Vec<f64> = (0..240).map(f64::from).collect();
        let mut arrays: Vec<(&str, Vec<f64>, &[usize])> = vec![("X", x, &[60, 4]), ("y", y, &[60])];
        if with_groups {
            arrays.push(("group_id", vec![7.0, 7.0, 9.0, 9.0], &[4]));
            arrays.push(("group_col", vec![1.0, 0.0, 1.0, last_member], &[4]));
        }
        let path = write(name, &arrays);
        let cohort = Cohort::read(&path);
        std::fs::remove_file(path).unwrap();
        cohort
    }

    fn classes(rare: usize) -> Vec<f64> {
        (0..60).map(|i| if i < rare { 2.0 } else { 5.0 }).collect()
    }

    #[test]
    fn genes_in_no_group_are_left_out_and_the_smaller_class_is_1() {
        let cohort = read("good", classes(25), true, 3.0).unwrap();
        assert_eq!((cohort.genes_in_all, cohort.genes.len(), cohort.tumours()), (4, 3, 60));
        assert_eq!(cohort.groups, [vec![0, 1], vec![1, 2]]);
        assert_eq!((cohort.genes[2][1], cohort.positives(), cohort.classes[0]), (7.0, 25, 1.0));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let why = |name: &str, y: Vec<f64>, groups: bool, member: f64| {
            let error = read(name, y, groups, member).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            error.to_string()
        };
        assert!(why("no-groups", classes(25), false, 3.0).contains("no array group_id"));
        assert!(why("few-rows", classes(19), true, 3.0).contains("class 2 has 19 rows; each class needs at least 20"));
        assert!(why("one-class", vec![1.0; 60], true, 3.0).contains("y has 1 different value;"));
        let three = (0..60).map(|i| f64::from(i % 3)).collect();
        assert!(why("three-classes", three, true, 3.0).contains("y has 3 different values; two classes are needed"));
        assert!(why("outside", classes(25), true, 4.0).contains("group_col holds 4, but the columns of X are 0 to 3"));
    }
}
