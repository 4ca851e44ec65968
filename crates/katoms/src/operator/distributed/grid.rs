//! How a design is cut into blocks.

use std::ops::Range;

use crate::error::{Error, check_range};

/// Rows and columns cut into ranges: a block for each pair of them. Blocks are numbered row by row of this grid. The cut
/// belongs to the data: it does not depend on how many workers hold the blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Grid {
    /// Ranges of these lengths.
    ///
    /// # Errors
    /// When there is none, or a length is 0.
    pub fn new(rows: &[usize], columns: &[usize]) -> Result<Self, Error> {
        for (what, lengths) in [("rows", rows), ("columns", columns)] {
            check_range("the number of blocks", lengths.len(), 1, usize::MAX)?;
            if let Some(at) = lengths.iter().position(|&length| length == 0) {
                let message = format!("range {at} of the {what} (counted from 0) is empty; leave it out");
                return Err(Error::Workers { message });
            }
        }
        Ok(Self { rows: starts(rows), columns: starts(columns) })
    }

    /// The rows of the design.
    pub fn n_rows(&self) -> usize {
        self.rows.last().copied().unwrap_or(0)
    }

    /// The columns of the design.
    pub fn n_columns(&self) -> usize {
        self.columns.last().copied().unwrap_or(0)
    }

    /// The number of blocks.
    pub fn count(&self) -> usize {
        self.row_ranges().len() * self.column_ranges().len()
    }

    pub(super) fn row_ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.rows.windows(2).map(|ends| ends[0]..ends[1])
    }

    pub(super) fn column_ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.columns.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// The blocks: number, place among the ranges of rows and of columns.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, [usize; 2])> {
        let across = self.columns.len() - 1;
        (0..self.count()).map(move |block| (block, [block / across, block % across]))
    }

    /// The rows and the columns of a block.
    pub fn ranges(&self, block: usize) -> (Range<usize>, Range<usize>) {
        let across = self.columns.len() - 1;
        let (down, across) = (block / across, block % across);
        (self.rows[down]..self.rows[down + 1], self.columns[across]..self.columns[across + 1])
    }

    /// Rising columns as each range has them, counted from its first; and where they stand in the list.
    pub(super) fn split(&self, listed: &[usize]) -> Vec<(Range<usize>, Vec<usize>)> {
        let split = |range: Range<usize>| {
            let from = listed.partition_point(|&j| j < range.start);
            let to = listed.partition_point(|&j| j < range.end);
            (from..to, listed[from..to].iter().map(|j| j - range.start).collect())
        };
        self.column_ranges().map(split).collect()
    }

    /// A block in words.
    pub(super) fn describe(&self, block: usize) -> String {
        let (rows, columns) = self.ranges(block);
        format!(
            "block {block} (rows {} to {}, columns {} to {})",
            rows.start,
            rows.end - 1,
            columns.start,
            columns.end - 1
        )
    }
}

fn starts(lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
