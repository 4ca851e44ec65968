//! Named columns of numbers or words: what a CSV or Parquet file holds.

use std::collections::BTreeMap;

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
        let names = Names::new(self.columns.iter().map(|column| column.name.as_str()));
        let place = names.require(wanted, &Context { path: "the data".into(), kind: "column", role })?;
        Ok(self.columns[place].name.clone())
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
