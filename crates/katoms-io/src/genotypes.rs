//! What PLINK's files hold: genotypes, the variants and the individuals that they are of, a phenotype, covariates.

use katoms::operator::GenotypeCounts;

use crate::mapped::Stored;
use crate::parallel;

/// Genotypes of PLINK: a .bed file with its .bim and .fam files, and what else is known of the individuals.
#[derive(Debug)]
pub struct Genotypes {
    /// The codes, variant after variant, ⌈individuals/4⌉ bytes each: those of [`katoms::operator::Genotypes`].
    pub codes: Stored<u8>,
    /// The rows.
    pub individuals: Vec<Individual>,
    /// The columns.
    pub variants: Vec<Variant>,
    /// What the .fam file says of the individuals, or a file that was given in its place.
    pub phenotype: Phenotype,
    /// Columns beside the variants, which every model has: a name, and a number for each individual, NaN where unknown.
    pub covariates: Vec<(String, Vec<f64>)>,
    /// What was done that a person should know.
    pub notes: Vec<String>,
}

/// Someone whose genotypes are known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Individual {
    /// The family (FID).
    pub family: String,
    /// Its name within the family (IID).
    pub id: String,
}

/// A place where genomes differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its id, which no other one has.
    pub name: String,
    /// The allele that is counted (A1), and the other one (A2).
    pub alleles: [String; 2],
}

/// What is to be predicted of the individuals.
#[derive(Debug, Clone, PartialEq)]
pub struct Phenotype {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: PhenotypeValues,
}

/// The values of a phenotype.
#[derive(Debug, Clone, PartialEq)]
pub enum PhenotypeValues {
    /// Not one is known.
    Unknown,
    /// Cases (2) and controls (1); `None` where it is unknown (0, −9 or NA).
    CaseControl(Vec<Option<bool>>),
    /// Numbers; NaN where it is unknown (−9 or NA).
    Quantitative(Vec<f64>),
}

impl PhenotypeValues {
    /// By the conventions of PLINK: −9 and NA are unknown; where all others are 0, 1 or 2, 1 is a control, 2 a case and 0
    /// unknown.
    pub(crate) fn new(numbers: Vec<f64>) -> Self {
        let known = || numbers.iter().filter(|v| !v.is_nan());
        if known().all(|&v| v == 0.0) {
            return Self::Unknown;
        }
        if known().all(|v| [0.0, 1.0, 2.0].contains(v)) {
            let case = |v: &f64| [1.0, 2.0].contains(v).then_some(*v == 2.0);
            return Self::CaseControl(numbers.iter().map(case).collect());
        }
        Self::Quantitative(numbers)
    }

    /// (cases, controls), where there are such.
    pub fn cases_and_controls(&self) -> Option<(usize, usize)> {
        let Self::CaseControl(values) = self else { return None };
        let count = |what: bool| values.iter().filter(|v| **v == Some(what)).count();
        Some((count(true), count(false)))
    }
}

impl Genotypes {
    /// The genotypes of a variant, counted. O(individuals).
    pub fn counts(&self, variant: usize) -> GenotypeCounts {
        let length = self.individuals.len().div_ceil(4);
        let column = self.codes.get(variant * length..(variant + 1) * length).unwrap_or_default();
        GenotypeCounts::of(column, if column.is_empty() { 0 } else { self.individuals.len() })
    }

    /// The genotypes of all variants, counted: one read.
    pub fn all_counts(&self) -> Vec<GenotypeCounts> {
        parallel::gather(self.variants.len(), &|j| self.counts(j))
    }
}
