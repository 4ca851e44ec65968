//! Whether files hold columns or rows of a design.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::terminal::count;
use crate::workers::Shape;

/// The lengths of the ranges of rows and of columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

impl Cut {
    /// Columns, where every file has as many rows as there are values in the target; rows, where all files together have.
    pub fn new(files: &[PathBuf], shapes: &[Shape], (target, values): (&Path, usize)) -> Result<Self> {
        let name = |at: usize| files[at].display();
        let target = target.display();
        if let Some(at) = shapes.iter().position(|shape| shape.rows == 0 || shape.columns == 0) {
            bail!("{} has no {}; leave it out", name(at), if shapes[at].rows == 0 { "rows" } else { "columns" });
        }
        let rows: Vec<usize> = shapes.iter().map(|shape| shape.rows).collect();
        let columns: Vec<usize> = shapes.iter().map(|shape| shape.columns).collect();
        let (first, total) = (rows[0], rows.iter().sum::<usize>());
        let rows_in_words = |rows: usize| count(rows, "row", "rows");
        if first == values {
            let Some(at) = rows.iter().position(|&own| own != values) else {
                return Ok(Self { rows: vec![values], columns });
            };
            bail!(
                "{} has {}; {values} are needed, as many as {target} has values and {} has rows: a block of columns has all rows",
                name(at),
                rows_in_words(rows[at]),
                name(0)
            );
        }
        if total == values {
            let Some(at) = columns.iter().position(|&own| own != columns[0]) else {
                return Ok(Self { rows, columns: vec![columns[0]] });
            };
            bail!(
                "{} has {}, and {} has {}; blocks of rows need the same columns, in the same order",
                name(at),
                count(columns[at], "column", "columns"),
                name(0),
                columns[0]
            );
        }
        let values_in_words = count(values, "value", "values");
        if shapes.len() == 1 {
            bail!(
                "{} has {}, and {target} {values_in_words}; one for each row is wanted",
                name(0),
                rows_in_words(first)
            );
        }
        bail!(
            "{} has {}, all files together have {total}, and {target} has {values_in_words}: either every file has {values} rows \
             (blocks of columns), or all files together (blocks of rows)",
            name(0),
            rows_in_words(first)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(shapes: &[(usize, usize)], values: usize) -> Result<Cut, String> {
        let files: Vec<PathBuf> = (0..shapes.len()).map(|at| format!("{at}.npy").into()).collect();
        let shapes: Vec<Shape> = shapes.iter().map(|&(rows, columns)| Shape { rows, columns }).collect();
        Cut::new(&files, &shapes, (Path::new("y.npy"), values)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_length_of_the_target_says_what_files_hold() {
        let of = |rows: &[usize], columns: &[usize]| Ok(Cut { rows: rows.into(), columns: columns.into() });
        assert_eq!(cut(&[(9, 2), (9, 5)], 9), of(&[9], &[2, 5]));
        assert_eq!(cut(&[(4, 3), (5, 3)], 9), of(&[4, 5], &[3]));
        assert_eq!(cut(&[(9, 3)], 9), of(&[9], &[3]));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let told = |shapes: &[(usize, usize)], values, words: &str| {
            let said = cut(shapes, values).unwrap_err();
            assert!(said.contains(words), "{said}");
        };
        told(&[(9, 2), (9, 2), (8, 2)], 9, "2.npy has 8 rows; 9 are needed, as many as y.npy has values and 0.npy");
        told(&[(4, 3), (5, 2)], 9, "1.npy has 2 columns, and 0.npy has 3; blocks of rows");
        told(
            &[(4, 3), (4, 3)],
            9,
            "0.npy has 4 rows, all files together have 8, and y.npy has 9 values: either every file",
        );
        told(&[(4, 3)], 9, "0.npy has 4 rows, and y.npy 9 values; one for each row");
        told(&[(4, 3), (0, 3)], 4, "1.npy has no rows; leave it out");
        told(&[(4, 3), (4, 0)], 4, "1.npy has no columns; leave it out");
    }
}
