//! What is wrong with the data of a file: collected, so that one message tells all of it.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;

/// The problems that a message tells before it says how many more there are.
const TOLD: usize = 10;
/// The characters of a value that a message shows.
const SHOWN: usize = 60;
/// Those of what another crate says, which may have values in it.
const SAID: usize = 300;

/// Something in a file that a fit cannot take as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The column, counted from 0; `None` where it is about lines or about the whole file.
    #[serde(skip)]
    pub column: Option<usize>,
    /// `line 7, column 3 (age)`; empty where it is about the whole file.
    pub place: String,
    /// What is there and what would be right.
    pub problem: String,
}

impl Problem {
    /// A problem of a column, at a place.
    pub(crate) fn of_column(column: usize, place: String, problem: String) -> Self {
        Self { column: Some(column), place, problem }
    }

    /// A problem of the whole file.
    pub(crate) fn of_file(problem: String) -> Self {
        Self { column: None, place: String::new(), problem }
    }
}

/// All problems of a file in one message.
pub(crate) fn message(path: &Path, problems: &[Problem]) -> String {
    let path = path.display();
    if let [Problem { place, problem, .. }] = problems {
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        return format!("{path}{place}: {problem}");
    }
    let mut message = format!("{path} has {} problems:", problems.len());
    for Problem { place, problem, .. } in problems.iter().take(TOLD) {
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        message += &format!("\n- {place}{problem}");
    }
    if problems.len() > TOLD {
        message += &format!("\n- and {} more", problems.len() - TOLD);
    }
    message
}

/// A value of a file as a message shows it, in one line: the first characters, and how many there are where there are
/// more. What a terminal would obey is shown.
pub(crate) fn short(value: &str) -> Cow<'_, str> {
    cut(value, SHOWN)
}

/// The same for what another crate says.
pub(crate) fn short_sentence(sentence: &str) -> Cow<'_, str> {
    cut(sentence, SAID)
}

fn cut(value: &str, most: usize) -> Cow<'_, str> {
    let is_obeyed = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let (start, more) = match value.char_indices().nth(most) {
        None if !value.contains(is_obeyed) => return value.into(),
        None => (value, String::new()),
        Some((end, _)) => (&value[..end], format!("… ({} characters)", value.chars().count())),
    };
    let mut shown = String::new();
    for c in start.chars() {
        if is_obeyed(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    (shown + &more).into()
}

/// A value of a file in quotation marks, as [`short`] shows it.
pub(crate) fn quoted(value: &str) -> String {
    format!("\"{}\"", short(value))
}

/// A word of a command line as a shell takes it.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    // What double quotes leave as it is; of others single ones.
    match word.contains(['"', '$', '`', '\\', '!']) {
        false => format!("\"{word}\""),
        true => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_is_one_line_and_many_are_a_list() {
        let one = Problem::of_column(1, "line 3, column 2 (age)".into(), "\"3o\" among 2 numbers".into());
        let path = Path::new("d.csv");
        assert_eq!(message(path, std::slice::from_ref(&one)), "d.csv, line 3, column 2 (age): \"3o\" among 2 numbers");
        let other = Problem::of_file("4 missing values".into());
        assert_eq!(message(path, std::slice::from_ref(&other)), "d.csv: 4 missing values");
        assert_eq!(
            message(path, &[one.clone(), other]),
            "d.csv has 2 problems:\n- line 3, column 2 (age): \"3o\" among 2 numbers\n- 4 missing values"
        );
        let many = message(path, &vec![one; 14]);
        assert_eq!(many.lines().count(), 12);
        assert!(many.starts_with("d.csv has 14 problems:\n") && many.ends_with("\n- and 4 more"), "{many}");
    }

    #[test]
    fn values_are_shown_and_not_obeyed() {
        assert_eq!(quoted("größe 5 \u{1b}[31m\u{202e}\n"), "\"größe 5 \\u{1b}[31m\\u{202e}\\n\"");
        assert_eq!(short("two\nlines\u{1b}"), "two\\nlines\\u{1b}");
        assert_eq!(short(&"ä".repeat(60)), "ä".repeat(60));
        assert_eq!(quoted(&"ä".repeat(76_000)), format!("\"{}… (76000 characters)\"", "ä".repeat(60)));
    }

    #[test]
    fn words_that_can_be_typed() {
        let words = ["3o", "-9", "Don't know", "say \"no\"", "US$", "", "größe"].map(shell_word);
        assert_eq!(words, ["3o", "-9", "\"Don't know\"", "'say \"no\"'", "'US$'", "\"\"", "größe"]);
    }
}
