//! The different words of a column of a text table.

use std::collections::HashMap;

use crate::table::Values;

/// The words of a column, numbered as they come.
#[derive(Default)]
pub(super) struct Words {
    places: HashMap<String, u32>,
    /// For each row, which; `None` where the cell is empty.
    pub(super) codes: Vec<Option<u32>>,
    /// For each word the first row that has it.
    pub(super) first_rows: Vec<usize>,
}

impl Words {
    pub(super) fn push(&mut self, field: &[u8]) {
        let trimmed = field.trim_ascii();
        if trimmed.is_empty() {
            return self.codes.push(None);
        }
        let code = self.code(&String::from_utf8_lossy(trimmed));
        self.codes.push(Some(code));
    }

    /// The number of a word.
    pub(super) fn code(&mut self, word: &str) -> u32 {
        self.places.get(word).copied().unwrap_or_else(|| {
            let next = self.places.len() as u32;
            self.places.insert(word.into(), next);
            self.first_rows.push(self.codes.len());
            next
        })
    }

    /// The words in the order of their codes.
    pub(super) fn in_order(&mut self) -> Vec<String> {
        let mut words = vec![String::new(); self.places.len()];
        self.places.drain().for_each(|(word, code)| words[code as usize] = word);
        words
    }
}

/// Words sorted, with codes to match; those that are missing are left out.
pub(super) fn sorted(words: Vec<String>, codes: &[Option<u32>], is_missing: impl Fn(usize) -> bool) -> Values {
    let mut levels: Vec<(String, usize)> =
        words.into_iter().enumerate().filter(|(code, _)| !is_missing(*code)).map(|(code, word)| (word, code)).collect();
    levels.sort_unstable();
    let most = levels.iter().map(|(_, code)| code + 1).max().unwrap_or(0);
    let mut places = vec![None; most];
    for (place, (_, code)) in levels.iter().enumerate() {
        places.get_mut(*code).into_iter().for_each(|p| *p = Some(place as u32));
    }
    let codes = codes.iter().map(|code| code.and_then(|code| places.get(code as usize).copied().flatten())).collect();
    Values::Words { levels: levels.into_iter().map(|(word, _)| word).collect(), codes }
}
