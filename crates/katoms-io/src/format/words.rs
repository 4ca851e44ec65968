//! The words of a column of a text table.

use std::collections::HashMap;

use super::csv::is_missing;
use crate::table::Values;

/// The words of a column, numbered as they come.
#[derive(Default)]
pub(super) struct Words {
    numbers: HashMap<String, u32>,
    codes: Vec<Option<u32>>,
}

impl Words {
    pub(super) fn push(&mut self, field: &[u8]) {
        let trimmed = field.trim_ascii();
        if is_missing(trimmed) {
            return self.codes.push(None);
        }
        let word = String::from_utf8_lossy(trimmed);
        let next = self.numbers.len() as u32;
        let code = self.numbers.get(word.as_ref()).copied().unwrap_or_else(|| {
            self.numbers.insert(word.into_owned(), next);
            next
        });
        self.codes.push(Some(code));
    }

    /// The words sorted, the codes to match.
    pub(super) fn into_values(self) -> Values {
        let mut sorted: Vec<(String, u32)> = self.numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut places = vec![0; sorted.len()];
        for (place, (_, code)) in sorted.iter().enumerate() {
            if let Some(p) = places.get_mut(*code as usize) {
                *p = place as u32;
            }
        }
        let codes = self.codes.into_iter().map(|c| c.and_then(|c| places.get(c as usize).copied())).collect();
        Values::Words { levels: sorted.into_iter().map(|(word, _)| word).collect(), codes }
    }
}
