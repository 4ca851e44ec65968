//! Genotypes as columns of a design.

use katoms::operator::{AnyDesign, Beside, FirstRead, GenotypeCounts, Genotypes as Design, Layout, Storage};

use super::checksum::Digest;
use crate::error::Error;
use crate::mapped::Stored;
use crate::parallel;

/// The individuals in a byte.
const IN_BYTE: usize = 4;
/// Code 1 of all individuals of a byte.
const ALL_MISSING: u8 = 0b01_01_01_01;

/// Which rows and columns are copied, and what stands where a number is missing.
pub(super) struct Selection<'s> {
    pub(super) rows: &'s [usize],
    pub(super) columns: &'s [usize],
    /// For each of these columns.
    pub(super) means: Option<&'s [f64]>,
}

/// Variants, then covariates.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) codes: Stored<u8>,
    pub(super) rows: usize,
    pub(super) variants: usize,
    /// What a missing genotype of each variant counts as. `None`: it is missing.
    pub(super) means: Option<Vec<f64>>,
    /// One behind the other.
    pub(super) covariates: Vec<f64>,
}

impl Packed {
    /// The bytes of a variant; none of a covariate.
    fn bytes(&self, column: usize) -> &[u8] {
        let length = self.rows.div_ceil(IN_BYTE);
        self.codes.get(column * length..(column + 1) * length).unwrap_or_default()
    }

    fn covariate(&self, column: usize) -> Option<&[f64]> {
        column.checked_sub(self.variants).and_then(|j| self.covariates.get(j * self.rows..(j + 1) * self.rows))
    }

    /// (rows, columns).
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.variants + self.covariates.len() / self.rows.max(1))
    }

    /// Row and value of the entries of a column.
    pub(super) fn each(&self, column: usize, see: &mut dyn FnMut(usize, f64)) {
        if let Some(values) = self.covariate(column) {
            return values.iter().enumerate().for_each(|(row, &value)| see(row, value));
        }
        let values = self.values(column);
        for (at, &byte) in self.bytes(column).iter().enumerate() {
            for row in at * IN_BYTE..((at + 1) * IN_BYTE).min(self.rows) {
                see(row, values[usize::from(byte >> (2 * (row % IN_BYTE)) & 3)]);
            }
        }
    }

    /// What the codes of a variant stand for.
    fn values(&self, column: usize) -> [f64; 4] {
        let missing = self.means.as_ref().and_then(|means| means.get(column)).copied();
        [2.0, missing.unwrap_or(f64::NAN), 1.0, 0.0]
    }

    /// Adds a column to a checksum.
    pub(super) fn add_to(&self, digest: &mut Digest, column: usize) {
        match self.covariate(column) {
            Some(values) => {
                let there = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
                there.for_each(|(row, &value)| digest.see(self.rows, (row, column), value));
            }
            None => digest.see_codes(self.rows, column, self.bytes(column), self.values(column)),
        }
    }

    /// How many values of a column are missing.
    pub(super) fn missing(&self, column: usize) -> usize {
        match self.covariate(column) {
            Some(values) => values.iter().filter(|v| v.is_nan()).count(),
            None => GenotypeCounts::of(self.bytes(column), self.rows).missing,
        }
    }

    /// For each row, whether one of these columns is missing there.
    pub(super) fn incomplete_rows(&self, columns: &[usize]) -> Vec<bool> {
        let mut packed = vec![0_u8; self.rows.div_ceil(IN_BYTE)];
        let mut of_covariates = vec![false; self.rows];
        for &column in columns {
            for (all, byte) in packed.iter_mut().zip(self.bytes(column)) {
                *all |= byte & !(byte >> 1) & ALL_MISSING;
            }
            let values = self.covariate(column).unwrap_or_default();
            of_covariates.iter_mut().zip(values).for_each(|(any, v)| *any |= v.is_nan());
        }
        let missing = |row: usize| packed.get(row / IN_BYTE).is_some_and(|byte| byte >> (2 * (row % IN_BYTE)) & 1 == 1);
        of_covariates.iter().enumerate().map(|(row, any)| *any || missing(row)).collect()
    }

    /// For each column the sum over some rows of what is not missing, and how many values that are.
    pub(super) fn sums(&self, rows: &[usize]) -> Vec<(f64, usize)> {
        let part = self.selected(&Selection { rows, columns: &(0..self.shape().1).collect::<Vec<_>>(), means: None });
        let part = part.as_ref().unwrap_or(self);
        let sum = |column: usize| match part.covariate(column) {
            Some(values) => {
                let known = || values.iter().filter(|v| !v.is_nan());
                (known().sum(), known().count())
            }
            None => {
                let counts = GenotypeCounts::of(part.bytes(column), part.rows);
                let [_, one, two] = counts.copies;
                ((one + 2 * two) as f64, part.rows - counts.missing)
            }
        };
        parallel::gather(part.shape().1, &sum)
    }

    /// A copy of some rows and columns, which rise; `None` where that is all of them.
    fn selected(&self, selection: &Selection<'_>) -> Option<Self> {
        let (rows, columns) = self.shape();
        if selection.rows.len() == rows && selection.columns.len() == columns {
            return None;
        }
        let variants = selection.columns.partition_point(|&j| j < self.variants);
        let (of_variants, of_covariates) = selection.columns.split_at(variants);
        let packed = |&column: &usize| {
            let bytes = self.bytes(column);
            let code = |&row: &usize| bytes.get(row / IN_BYTE).map_or(ALL_MISSING, |b| b >> (2 * (row % IN_BYTE))) & 3;
            let byte = |rows: &[usize]| rows.iter().rev().fold(0, |byte, row| byte << 2 | code(row));
            selection.rows.chunks(IN_BYTE).map(byte).collect::<Vec<u8>>()
        };
        let codes: Vec<u8> = if selection.rows.len() == rows {
            of_variants.iter().flat_map(|&column| self.bytes(column)).copied().collect()
        } else {
            parallel::gather(of_variants.len(), &|j| packed(&of_variants[j])).concat()
        };
        let covariate = |&column: &usize| {
            let values = self.covariate(column).unwrap_or_default();
            selection.rows.iter().map(|&row| values.get(row).copied().unwrap_or(f64::NAN))
        };
        let covariates = of_covariates.iter().flat_map(covariate).collect();
        Some(Self { codes: codes.into(), rows: selection.rows.len(), variants, means: self.means.clone(), covariates })
    }

    /// A part of the design, with what stands for missing values; nothing is copied where it is all.
    pub(super) fn into_selected(self, selection: &Selection<'_>) -> Self {
        let mut part = match self.selected(selection) {
            Some(part) => part,
            None => self,
        };
        if let Some(means) = selection.means {
            let (of_variants, of_covariates) = means.split_at(part.variants.min(means.len()));
            part.means = Some(of_variants.to_vec());
            for (values, mean) in part.covariates.chunks_mut(part.rows.max(1)).zip(of_covariates) {
                values.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = *mean);
            }
        }
        part
    }

    /// The design; borrows the codes.
    pub(super) fn design(&self, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error> {
        let design = match &self.means {
            Some(means) => Design::with_missing(&self.codes[..], self.rows, self.variants, means)?,
            None => Design::new(&self.codes[..], self.rows, self.variants)?,
        };
        let design = match first {
            Some(first) => design.read_for(first)?,
            None => design,
        };
        if self.covariates.is_empty() {
            return Ok(design.into());
        }
        let shape = (self.rows, self.shape().1 - self.variants);
        match f64::design(&self.covariates, shape, Layout::ColumnMajor, None)? {
            AnyDesign::F64(covariates) => Ok(Beside::new(AnyDesign::from(design), covariates)?.into()),
            other => Ok(other),
        }
    }
}
