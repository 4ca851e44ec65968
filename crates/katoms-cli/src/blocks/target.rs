//! How many values a target's file has, before there is a design.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_io::{Array, ReadOptions, Source};

/// The rows of the file, or of the array of this name in it. Missing values are refused.
pub fn rows(file: &Path, name: Option<&str>) -> Result<usize> {
    let path = file.display();
    let array = match katoms_io::read(file, &ReadOptions::default())? {
        Source::Table(table) => return Ok(table.rows),
        Source::Sparse(sparse) => return Ok(sparse.rows),
        Source::Array(array) => array,
        Source::Arrays { mut arrays, sparse: None } => {
            let named = arrays.iter().position(|(own, _)| Some(own.as_str()) == name);
            match named.or_else(|| (arrays.len() == 1).then_some(0)) {
                Some(place) => arrays.swap_remove(place).1,
                None => bail!("{path} has several arrays; name the target's: --target {path}:NAME"),
            }
        }
        _ => bail!("{path} holds no target; a value for each row is wanted, such as y.npy"),
    };
    check(&array, file)?;
    Ok(array.rows)
}

/// Rows that lack a target are in the blocks as well: nobody can leave them out here.
fn check(array: &Array, file: &Path) -> Result<()> {
    match array.count_missing() {
        0 => Ok(()),
        missing => bail!(
            "{}: {missing} of {} values are missing (NaN); fill them in, or leave such rows out of this file and of the blocks",
            file.display(),
            array.rows * array.columns
        ),
    }
}
