//! svmlight, libsvm: a label and `index:value` pairs on each line.

use std::collections::BTreeSet;
use std::path::Path;

use super::triplets::Triplets;
use crate::allocation::{MaxUnpacked, push};
use crate::error::{Error, bad, bad_at};
use crate::problem::short;
use crate::source::Sparse;

/// The matrix and the labels of a file. Columns are counted from 1, or from 0 where an index 0 appears.
///
/// # Errors
/// When a line cannot be understood; the error names line, position and text.
pub fn read_bytes(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Sparse, Error> {
    let mut rows = Rows { path, line: 0, labels: Vec::new(), entries: Vec::new(), starts: vec![0] };
    for (line, text) in bytes.split(|&b| b == b'\n').enumerate() {
        rows.line = line + 1;
        let text = std::str::from_utf8(text).map_err(|_| rows.wrong(1, "the line is not text"))?;
        rows.push(text.split('#').next().unwrap_or_default())?;
    }
    rows.finished(limit)
}

/// Whether a text starts like such a file.
pub(crate) fn is_likely(text: &[u8]) -> bool {
    let lines = text.split(|&b| b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let first = lines.map(|line| line.split('#').next().unwrap_or_default()).find(|line| !line.trim().is_empty());
    let mut words = first.unwrap_or_default().split_ascii_whitespace();
    let is_label = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
    let is_pair =
        |word: &str| word.split_once(':').is_some_and(|(index, _)| index == "qid" || index.parse::<u32>().is_ok());
    is_label && words.next().is_some_and(is_pair)
}

/// What was read so far.
struct Rows<'a> {
    path: &'a Path,
    line: usize,
    labels: Vec<f64>,
    /// Index and value, row after row.
    entries: Vec<(u32, f64)>,
    starts: Vec<usize>,
}

/// The indices of a row. They rise as a rule: a set is kept only from where they do not.
#[derive(Default)]
struct Indices {
    rising: Vec<u32>,
    others: Option<BTreeSet<u32>>,
}

impl Indices {
    /// Whether this index is not there yet; it is from now on.
    fn is_new(&mut self, index: u32) -> bool {
        if self.others.is_none() && self.rising.last().is_none_or(|&last| last < index) {
            self.rising.push(index);
            return true;
        }
        self.others.get_or_insert_with(|| self.rising.iter().copied().collect()).insert(index)
    }
}

impl Rows<'_> {
    fn wrong(&self, position: usize, problem: impl Into<String>) -> Error {
        bad_at(self.path, format!(", line {}, position {position}", self.line), problem)
    }

    /// One more line, without its comment.
    fn push(&mut self, line: &str) -> Result<(), Error> {
        let mut words = line.split_ascii_whitespace();
        let Some(label) = words.next() else { return Ok(()) };
        // where a word stands in its line, in characters from 1
        let at = |word: &str| line[..word.as_ptr() as usize - line.as_ptr() as usize].chars().count() + 1;
        let no_label =
            |_| self.wrong(at(label), format!("`{}` is not a number: each line starts with its label", short(label)));
        let label = label.parse().map_err(no_label)?;
        let mut row = Indices::default();
        for word in words {
            let pair = word
                .split_once(':')
                .ok_or_else(|| self.wrong(at(word), format!("`{}` should be index:value", short(word))))?;
            if pair.0 == "qid" {
                continue;
            }
            let no_index = |_| {
                self.wrong(
                    at(word),
                    format!("`{}` in `{}` is not a whole number from 0 or 1 on", short(pair.0), short(word)),
                )
            };
            let index: u32 = pair.0.parse().map_err(no_index)?;
            let no_value =
                |_| self.wrong(at(word), format!("`{}` in `{}` is not a number", short(pair.1), short(word)));
            let value = pair.1.parse().map_err(no_value)?;
            if !row.is_new(index) {
                return Err(self.wrong(at(word), format!("index {index} is there twice in this line")));
            }
            push(&mut self.entries, (index, value)).map_err(|problem| bad(self.path, problem))?;
        }
        push(&mut self.labels, label).map_err(|problem| bad(self.path, problem))?;
        push(&mut self.starts, self.entries.len()).map_err(|problem| bad(self.path, problem))?;
        Ok(())
    }

    fn finished(self, limit: MaxUnpacked) -> Result<Sparse, Error> {
        if self.labels.is_empty() {
            return Err(bad(self.path, "there are no rows: each line should be a label and index:value pairs"));
        }
        let base = u32::from(self.entries.iter().all(|entry| entry.0 != 0));
        let columns = self.entries.iter().map(|entry| (entry.0 - base) as usize + 1).max().unwrap_or(0);
        let room = Triplets::with_room(self.entries.len());
        let mut triplets = room.map_err(|problem| bad(self.path, problem))?;
        for (row, ends) in self.starts.windows(2).enumerate() {
            let row = u32::try_from(row).map_err(|_| bad(self.path, "there are more rows than can be read"))?;
            for &(index, value) in &self.entries[ends[0]..ends[1]] {
                triplets.push(row, index - base, value).map_err(|problem| bad(self.path, problem))?;
            }
        }
        let sparse = triplets.into_sparse(self.labels.len(), columns, limit);
        let sparse = sparse.map_err(|problem| bad(self.path, problem))?;
        Ok(Sparse { labels: Some(self.labels), ..sparse })
    }
}
