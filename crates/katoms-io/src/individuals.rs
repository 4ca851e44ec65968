//! What files of their own say of the individuals of genotypes: phenotypes and covariates.

use std::path::Path;

use crate::error::{Error, bad};
use crate::format::plink_table::IdTable;
use crate::genotypes::{Genotypes, Phenotype, PhenotypeValues};
use crate::names::counted;
use crate::read::read;
use crate::source::{ReadOptions, Source};
use crate::table::Values;

impl Genotypes {
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
            return Err(bad(path, problem));
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
        let wrong = |problem: String| bad(path, problem);
        let named = |j: usize| format!("covariate{}", j + 1);
        let columns: Vec<(String, Values)> = match read(path, &ReadOptions::default())? {
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
