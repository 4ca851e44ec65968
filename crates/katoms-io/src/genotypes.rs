//! What PLINK's files hold: genotypes, the variants and the individuals that they are of, a phenotype, covariates.

use std::path::Path;

use katoms::operator::GenotypeCounts;
use rayon::prelude::*;

use crate::error::Error;
use crate::format::plink_table::{IdTable, number_of};
use crate::names::counted;
use crate::source::{ReadOptions, Source, Stored};
use crate::table::Values;

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
        (0..self.variants.len()).into_par_iter().map(|j| self.counts(j)).collect()
    }

    /// Takes the phenotype from a file with the columns FID and IID, by which its rows are found. Whether it is such a file.
    ///
    /// # Errors
    /// When it cannot be read, has no column of that name, or several and none is named.
    pub fn read_phenotype(&mut self, path: &Path, name: Option<&str>) -> Result<bool, Error> {
        let Some(table) = IdTable::read(path)? else { return Ok(false) };
        let column = table.only_or_named(name)?;
        let (numbers, note) = table.numbers(&self.individuals, &[column])?;
        let numbers = numbers.into_iter().next().unwrap_or_default();
        self.phenotype = Phenotype { name: table.name(column).into(), values: PhenotypeValues::new(numbers) };
        self.notes.extend(note);
        Ok(true)
    }

    /// Takes covariates from a file: its rows are found by the columns FID and IID, or there is one for each individual.
    ///
    /// # Errors
    /// When it cannot be read, has other rows, or a column is not of numbers.
    pub fn read_covariates(&mut self, path: &Path) -> Result<(), Error> {
        let found: Vec<(String, Vec<f64>)> = match IdTable::read(path)? {
            Some(table) => {
                let columns: Vec<usize> = (0..table.columns()).collect();
                let (numbers, note) = table.numbers(&self.individuals, &columns)?;
                self.notes.extend(note);
                columns.iter().map(|&j| table.name(j).to_owned()).zip(numbers).collect()
            }
            None => self.one_each(path)?,
        };
        let taken = |name: &str| self.variants.iter().any(|v| v.name == name);
        if let Some((name, _)) = found.iter().find(|(name, _)| taken(name)) {
            let problem = format!("column \"{name}\" is called like a variant; give it another name");
            return Err(crate::format::bad(path, problem));
        }
        let is_constant = |values: &[f64]| values.iter().all(|v| Some(v) == values.first());
        let (constant, varying): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, values)| is_constant(values));
        for (name, _) in constant {
            self.notes.push(format!("covariate {name} left out: it is the same for everyone, as the intercept is"));
        }
        self.covariates = varying;
        Ok(())
    }

    /// The columns of a table that has a row for each individual.
    fn one_each(&self, path: &Path) -> Result<Vec<(String, Vec<f64>)>, Error> {
        let wrong = |problem: String| crate::format::bad(path, problem);
        let named = |j: usize| format!("covariate{}", j + 1);
        let columns: Vec<(String, Values)> = match crate::read(path, &ReadOptions::default())? {
            Source::Table(table) => {
                let name = |(j, c): (usize, crate::Column)| (if table.has_names { c.name } else { named(j) }, c.values);
                table.columns.into_iter().enumerate().map(name).collect()
            }
            Source::Array(array) => (0..array.columns).map(|j| (named(j), Values::Numbers(array.column(j)))).collect(),
            _ => {
                return Err(wrong(
                    "covariates are a table of numbers, with the columns FID and IID or a row for each individual"
                        .into(),
                ));
            }
        };
        let numbers = |(name, values): (String, Values)| match values {
            Values::Numbers(numbers) if numbers.len() == self.individuals.len() => Ok((name, numbers)),
            Values::Numbers(numbers) => Err(wrong(format!(
                "{}, but there are {}; give one row each, or the columns FID and IID",
                counted(numbers.len(), "row"),
                counted(self.individuals.len(), "individual")
            ))),
            Values::Words { .. } => {
                Err(wrong(format!("column \"{name}\" holds words; covariates are numbers, such as 0 and 1")))
            }
        };
        columns.into_iter().map(numbers).collect()
    }
}

/// The phenotypes of a .fam file, of their words and the lines on which they are.
///
/// # Errors
/// When one is not a number, with its line.
pub(crate) fn phenotypes<'w>(words: impl Iterator<Item = &'w str>) -> Result<PhenotypeValues, (usize, String)> {
    let number = |(at, word): (usize, &str)| number_of(word).map_err(|problem| (at, problem));
    words.enumerate().map(number).collect::<Result<Vec<f64>, _>>().map(PhenotypeValues::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phenotypes_follow_the_conventions_of_plink() {
        let of = |words: &str| phenotypes(words.split(' ')).unwrap();
        assert_eq!(of("-9 NA 0 nan"), PhenotypeValues::Unknown);
        assert_eq!(of("1 2 0 -9"), PhenotypeValues::CaseControl(vec![Some(false), Some(true), None, None]));
        assert_eq!(of("1 2 0 -9").cases_and_controls(), Some((1, 1)));
        let PhenotypeValues::Quantitative(numbers) = of("1 2 0 -9 0.5") else { panic!() };
        assert_eq!((&numbers[..3], numbers[3].is_nan(), numbers[4]), (&[1.0, 2.0, 0.0][..], true, 0.5));
        assert_eq!(phenotypes("1 two".split(' ')).unwrap_err().0, 1);
        assert_eq!(phenotypes("1 inf".split(' ')).unwrap_err().0, 1);
    }
}
