//! Columns of a table by the names that a person gives.

use std::path::Path;

use crate::error::Error;
use crate::names::{Context, Names};
use crate::table::Table;

impl Table {
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
