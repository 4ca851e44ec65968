//! Tables about individuals as PLINK has them: the columns FID and IID, then numbers. Rows may come in any order.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, bad, bad_at, unreadable};
use crate::genotypes::Individual;
use crate::names::{Context, Names, counted, listed};

/// How much of a file is looked at to find out whether it is one.
const LOOKED_AT: usize = 256;

/// A table whose rows are found by FID and IID.
#[derive(Debug)]
pub(crate) struct IdTable {
    path: PathBuf,
    names: Vec<String>,
    /// Individual, line and the fields after FID and IID.
    rows: Vec<(Individual, usize, Vec<String>)>,
}

impl IdTable {
    /// The table of a file; `None` where its first line does not begin with FID and IID.
    ///
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, error))?;
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]).to_ascii_lowercase();
        let is_comma = start.lines().next().unwrap_or_default().contains(',');
        let mut first = split(start.lines().next().unwrap_or_default(), is_comma);
        let id = |word: Option<&str>| word.map(|w| w.trim_start_matches(['#', '\u{feff}']).to_owned());
        if (id(first.next()).as_deref(), first.next()) != (Some("fid"), Some("iid")) {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let names: Vec<String> =
            lines.next().map_or_else(Vec::new, |(_, line)| split(line, is_comma).skip(2).map(String::from).collect());
        if names.is_empty() {
            return Err(bad(path, "there is no column besides FID and IID"));
        }
        let row = |(at, line): (usize, &str)| {
            let mut words = split(line, is_comma).map(String::from);
            let (family, id) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let values: Vec<String> = words.collect();
            if values.len() == names.len() {
                return Ok((Individual { family, id }, at + 1, values));
            }
            let found = counted(split(line, is_comma).count(), "field");
            Err(bad_at(
                path,
                format!(", line {}", at + 1),
                format!("{found}, but the first line has {}", names.len() + 2),
            ))
        };
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Some(Self { path: path.into(), names, rows }))
    }

    /// The number of columns besides FID and IID.
    pub(crate) fn columns(&self) -> usize {
        self.names.len()
    }

    /// The name of a column.
    pub(crate) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }

    /// The column of a name, or the only one.
    pub(crate) fn only_or_named(&self, name: Option<&str>) -> Result<usize, Error> {
        match (name, self.names.len()) {
            (Some(name), _) => {
                let context = Context { path: self.path.display().to_string(), kind: "column", role: "--target" };
                Names::new(self.names.iter().map(String::as_str)).require(name, &context)
            }
            (None, 1) => Ok(0),
            (None, _) => {
                let (path, list) = (self.path.display(), listed(self.names.iter().map(String::as_str)));
                let first = self.name(0);
                Err(Error::Request(format!(
                    "{path} has several columns besides FID and IID: {list}; name one (--target {path}:{first})"
                )))
            }
        }
    }

    /// Some columns as numbers, one for each individual, NaN where there is none; and what a person should know of it.
    ///
    pub(crate) fn numbers(
        &self,
        individuals: &[Individual],
        columns: &[usize],
    ) -> Result<(Vec<Vec<f64>>, Option<String>), Error> {
        let places: HashMap<&Individual, usize> = individuals.iter().enumerate().map(|(i, one)| (one, i)).collect();
        let mut numbers = vec![vec![f64::NAN; individuals.len()]; columns.len()];
        let mut lines = vec![None; individuals.len()];
        for (individual, line, values) in &self.rows {
            let Some(&place) = places.get(individual) else { continue };
            if let Some(Some(first)) = lines.get_mut(place).map(|l: &mut Option<usize>| l.replace(*line)) {
                let Individual { family, id } = individual;
                let problem = format!("individual {family} {id} is on line {first} already; each must be there once");
                return Err(bad_at(&self.path, format!(", line {line}"), problem));
            }
            for (out, &column) in numbers.iter_mut().zip(columns) {
                let word = values.get(column).map_or("", String::as_str);
                let number = number_of(word).map_err(|problem| {
                    bad_at(&self.path, format!(", line {line}, column {} ({})", column + 3, self.name(column)), problem)
                })?;
                out.get_mut(place).into_iter().for_each(|out| *out = number);
            }
        }
        let found = lines.iter().flatten().count();
        if let (0, Some((here, ..)), Some(there)) = (found, self.rows.first(), individuals.first()) {
            return Err(bad(
                &self.path,
                format!(
                    "no individual of the .fam file is in it: FID and IID are {} {} there, {} {} here",
                    there.family, there.id, here.family, here.id
                ),
            ));
        }
        let absent = individuals.len() - found;
        let note = || format!("{} of the .fam file not in {}", counted(absent, "individual"), self.path.display());
        Ok((numbers, (absent > 0).then(note)))
    }
}

/// The fields of a line.
fn split(line: &str, is_comma: bool) -> impl Iterator<Item = &str> {
    let (commas, blanks) = if is_comma { (Some(line.split(',')), None) } else { (None, Some(line.split_whitespace())) };
    commas.into_iter().flatten().chain(blanks.into_iter().flatten()).map(|word| word.trim().trim_matches('"'))
}

/// The number that a word is; NaN for −9 and for what says that there is none.
pub(crate) fn number_of(word: &str) -> Result<f64, String> {
    if ["", "na", "nan", "."].contains(&word.to_ascii_lowercase().as_str()) {
        return Ok(f64::NAN);
    }
    match word.parse::<f64>() {
        Ok(-9.0) => Ok(f64::NAN),
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("\"{word}\" is not a number; write NA or -9 where it is unknown")),
    }
}
