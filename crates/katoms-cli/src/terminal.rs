//! What is said: machines read standard output, people standard error.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;

pub use katoms_charts::text::{aligned, count, quoted, visible};
pub use katoms_estimate::words::number;

#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    pub command: String,
    /// What starts a worker: the program, and its first arguments.
    pub worker: Vec<OsString>,
    words: Vec<String>,
}

impl Terminal {
    pub fn new(quiet: bool, arguments: &[OsString]) -> Self {
        let words = arguments.iter().enumerate().map(|(at, word)| {
            let word = word.to_string_lossy();
            if at == 0 { "katoms".to_owned() } else { quoted(&word) }
        });
        let words: Vec<String> = words.collect();
        Self { quiet, command: words.join(" "), worker: Vec::new(), words }
    }

    pub fn with_worker(self, worker: Vec<OsString>) -> Self {
        Self { worker, ..self }
    }

    pub fn command_as(&self, command: &str, without: &[&str]) -> String {
        let place = self.words.iter().skip(1).position(|word| !word.starts_with('-')).map(|place| place + 1);
        let renamed = |(at, word): (usize, &'_ String)| if Some(at) == place { command.into() } else { word.clone() };
        let mut words = self.words.iter().enumerate().map(renamed).peekable();
        let mut kept: Vec<String> = Vec::new();
        while let Some(word) = words.next() {
            let (name, has_value) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
            if !without.contains(&name) {
                kept.push(word);
            } else if !has_value {
                words.next_if(|next| !next.starts_with('-'));
            }
        }
        kept.join(" ")
    }

    /// A line for people; not with `--quiet`.
    pub fn say(&self, line: impl AsRef<str>) {
        if !self.quiet {
            // A closed standard error is no reason to lose the work.
            let _ = writeln!(io::stderr(), "{}", visible(line.as_ref()));
        }
    }

    /// What a person must know, also with `--quiet`.
    pub fn warn(&self, line: impl AsRef<str>) {
        let _ = writeln!(io::stderr(), "katoms: {}", visible(line.as_ref()));
    }

    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    pub fn show(&self, text: &str) -> Result<()> {
        self.print(&visible(text))
    }

    pub fn print(&self, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }

    pub fn print_json(&self, value: &impl Serialize) -> Result<()> {
        self.print(&format!("{}\n", serde_json::to_string_pretty(value)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["/usr/bin/katoms", "fit", "my data.csv", "--target", "it's", "-k", "10"].map(OsString::from);
        let terminal = Terminal::new(false, &words);
        assert_eq!(terminal.command, r"katoms fit 'my data.csv' --target 'it'\''s' -k 10");
    }

    #[test]
    fn a_command_can_be_typed_for_another_command() {
        let words = "katoms -q fit my.csv --method omp --stability -k 1:3 --checkpoint=c --stability 9 --seed 2";
        let terminal = Terminal::new(false, &words.split(' ').map(OsString::from).collect::<Vec<_>>());
        let said = terminal.command_as("cv", &["--method", "--stability", "--checkpoint"]);
        assert_eq!(said, "katoms -q cv my.csv -k 1:3 --seed 2");
    }
}
