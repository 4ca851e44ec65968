//! Text as people read it: on a terminal, in a table, as a word of a command.

use std::borrow::Cow;

/// The longest line that is said.
const LONGEST: usize = 1000;
/// The longest cell of a table that is said.
const LONGEST_CELL: usize = 60;

/// Text of a file or a name as a terminal may show it: characters that would steer the terminal or turn the direction of
/// reading are written out, and of a line that nobody would read to its end the middle is left out.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_long = |line: &str| line.len() > LONGEST && line.chars().count() > LONGEST;
    if !text.contains(is_steering) && !text.lines().any(is_long) {
        return text.into();
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = written_out(line, is_steering);
        if is_long(&line) { without_middle(&line) } else { line }
    });
    lines.collect::<String>().into()
}

/// Whether a character is shown as what it does: ESC and its like, line ends that are none, and those that turn the
/// direction of reading.
fn is_steering(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() && c != '\n' && c != '\t' || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

fn written_out(text: &str, which: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if which(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

fn without_middle(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    let (start, end) = (LONGEST * 6 / 10, LONGEST * 3 / 10);
    let left_out = characters.len() - start - end;
    let part = |range: &[char]| range.iter().collect::<String>();
    let (start, end) = (part(&characters[..start]), part(&characters[characters.len() - end..]));
    format!("{start} … ({left_out} characters left out) … {end}")
}

/// A cell of a table: one line, and not too long.
fn cell(text: &str) -> Cow<'_, str> {
    let text = if text.contains(char::is_control) || text.contains(is_steering) {
        Cow::from(written_out(text, |c| c.is_control() || is_steering(c)))
    } else {
        text.into()
    };
    match text.char_indices().nth(LONGEST_CELL) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text,
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A count with its word: `1 row`, `3 rows`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Rows under headings: words to the left, numbers to the right.
pub fn aligned(headings: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> = rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    // A dash stands where there is no number.
    let is_number =
        |cell: &Cow<'_, str>| cell == "–" || cell.starts_with(|c: char| c.is_ascii_digit() || "-+N".contains(c));
    let is_numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        column > 0 && cells.all(is_number)
    };
    let to_the_right: Vec<bool> = (0..headings.len()).map(is_numeric).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (at, (cell, &width)) in cells.zip(&widths).enumerate() {
            line += &if to_the_right[at] { format!("  {cell:>width$}") } else { format!("  {cell:<width$}") };
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    };
    let head = line(&mut headings.iter().copied());
    rows.iter().fold(head, |text, row| text + &line(&mut row.iter().map(Cow::as_ref)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_written_out() {
        let name = "red\u{1b}[31m\u{202e}gpj\u{7f}\u{9b}\u{2066}\r";
        let shown = r"red\u{1b}[31m\u{202e}gpj\u{7f}\u{9b}\u{2066}\r";
        assert_eq!(visible(name), shown);
        assert_eq!(visible("größe 日本 👩‍🔬\n\tlines and tabs\n"), "größe 日本 👩‍🔬\n\tlines and tabs\n");
        let table = aligned(&["name"], &[vec![format!("{name}\nmodel -> x")]]);
        assert_eq!(table, format!("  name\n  {shown}\\nmodel -> x\n"));
    }

    #[test]
    fn long_lines_lose_their_middle_and_long_cells_their_end() {
        let line = format!("katoms: d.csv, line 2: \"{}\" is wrong; drop it\nnext", "ä".repeat(76_000));
        let shown = visible(&line);
        assert!(shown.starts_with("katoms: d.csv, line 2: \"ää") && shown.ends_with("\" is wrong; drop it\nnext"));
        assert!(shown.contains("… (75144 characters left out) …"), "{shown}");
        assert!(shown.chars().count() < 1000);
        let table = aligned(&["name", "value"], &[vec!["x".repeat(100), "1".into()]]);
        assert!(table.lines().all(|line| line.chars().count() < 75), "{table}");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["größe".into(), "1".into()], vec!["b".into(), "10".into()], vec!["c".into(), "–".into()]];
        let lines = ["  name   value", "  größe      1", "  b         10", "  c          –"];
        assert_eq!(aligned(&["name", "value"], &rows), lines.join("\n") + "\n");
    }
}
