//! Named columns of numbers or words: what a CSV or Parquet file holds.

use std::collections::BTreeMap;
use std::path::Path;

use crate::column_format::ColumnFormat;
use crate::error::Error;
use crate::names::{Context, Names};
use crate::problem::Problem;

/// A table: columns of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
    /// The number of rows.
    pub rows: usize,
    /// The line of the file that each row starts at, counted from 1; `None` where a file has no lines.
    pub lines: Option<Vec<u64>>,
    /// Whether the file names its columns. If not they are x1, x2, …, and only their places tell them apart.
    pub has_names: bool,
    /// How the columns were read that hold no plain numbers, by name.
    pub formats: BTreeMap<String, ColumnFormat>,
    /// What was done that a person should know: "2 lines that start with "#" skipped".
    pub notes: Vec<String>,
    /// What is most likely not meant. [`read`](crate::read) gives no table that has problems.
    pub problems: Vec<Problem>,
}

impl Table {
    /// A table of a file without lines, whose columns have names.
    pub fn new(columns: Vec<Column>, rows: usize) -> Self {
        Self {
            columns,
            rows,
            lines: None,
            has_names: true,
            formats: BTreeMap::new(),
            notes: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The name of the column that a person means by this name, or by this number counted from 1; `role` is what it is
    /// wanted for: `--id`.
    ///
    /// # Errors
    /// When there is none; the error names a similar one and those that there are.
    pub fn require(&self, wanted: &str, role: &str) -> Result<String, Error> {
        Ok(self.columns[self.column(wanted, Path::new("the data"), role)?].name.clone())
    }

    /// Where a column is: by its name, or by its number from 1. `role` is what it was wanted for, such as `--row`.
    ///
    /// # Errors
    /// When there is none; the error names the nearest one.
    pub fn column(&self, wanted: &str, path: &Path, role: &str) -> Result<usize, Error> {
        let names = Names::new(self.columns.iter().map(|column| column.name.as_str()));
        names.require(wanted, &Context { path: path.display().to_string(), kind: "column", role })
    }

    /// The same table without some columns (`--drop`): names or numbers from 1, also several with commas between.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn without(mut self, drop: &[String], path: &Path) -> Result<Self, Error> {
        let mut gone = Vec::new();
        for list in drop {
            match self.column(list, path, "--drop") {
                Ok(column) => gone.push(column),
                Err(error) if !list.contains(',') => return Err(error),
                Err(_) => {
                    for name in list.split(',') {
                        gone.push(self.column(name.trim(), path, "--drop")?);
                    }
                }
            }
        }
        let mut column = 0..;
        self.columns.retain(|_| column.next().is_some_and(|column| !gone.contains(&column)));
        Ok(self)
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name: from the header, or x1, x2, … where there is none.
    pub name: String,
    /// What it holds.
    pub values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN where one is missing. Of dates they are the days since the origin in [`Table::formats`].
    Numbers(Vec<f64>),
    /// Words, each a place in the sorted list of levels; `None` where one is missing.
    Words {
        /// The different words, sorted.
        levels: Vec<String>,
        /// For each row, which.
        codes: Vec<Option<u32>>,
    },
}

impl Values {
    /// How many there are, missing ones among them.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words { codes, .. } => codes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word of a row; `None` where it is missing, and of numbers.
    pub fn word(&self, row: usize) -> Option<&str> {
        let Self::Words { levels, codes } = self else { return None };
        codes.get(row).copied().flatten().and_then(|code| levels.get(code as usize)).map(String::as_str)
    }
}
