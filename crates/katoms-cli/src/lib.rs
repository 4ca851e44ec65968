//! The program `katoms`: arguments → plan → outcome → report.
//!
//! | room | what |
//! |---|---|
//! | [`run`] | from the arguments to the exit code |
//! | `command` | one command a file: its arguments, its work, what it says |
//! | `reading`, `data`, `response` | arguments about data → a data set, and the loss of a model of it |
//! | `card` | a design on a graphics card |
//! | `blocks`, `workers` | data in several files, and the processes that hold them |
//! | `watch`, `work` | progress, Ctrl-C, time limits, checkpoints |
//! | `terminal` | what is said, where, and how numbers look |
//! | [`report`] | one HTML file about a fit |

mod blocks;
mod card;
mod checkpoint;
mod command;
mod data;
mod finish;
mod judged;
mod outputs;
mod reading;
pub mod report;
mod response;
mod responses;
mod scores;
mod sizes;
mod terminal;
mod watch;
mod work;
mod workers;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};

use clap::Parser;
use katoms_estimate::words;

use command::{Cli, Command, worker};
use terminal::Terminal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Done,
    /// With less, where `--strict` asked for all of it.
    Short,
}

/// Runs the program: 0 done, 1 not converged under `--strict`, 2 an input that cannot be used.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let program = std::env::current_exe().map(|program| vec![program.into(), worker::NAME.into()]);
    run_with(arguments, program.unwrap_or_default())
}

/// The same where the program is part of another one: `start` are the words that start its command `worker`.
pub fn run_with<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>, start: Vec<OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = match arguments.get(1) {
        Some(word) if word == worker::NAME => {
            let args = worker::WorkerArgs::try_parse_from(&arguments[1..]);
            args.map(|args| Cli { quiet: false, command: Command::Worker(args) })
        }
        _ => Cli::try_parse_from(&arguments),
    };
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors, and go to standard output. An error may repeat an argument.
            let text = error.render().to_string();
            let _ = match terminal::visible(&text) {
                Cow::Borrowed(_) => error.print(),
                Cow::Owned(text) => write!(io::stderr(), "{text}"),
            };
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    // Where there is a pool already, as in the process of the Python package, it stays as it is.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(katoms_estimate::threads()).build_global();
    let terminal = Terminal::new(cli.quiet, &arguments).with_worker(start);
    match cli.command.run(&terminal) {
        Ok(Ended::Done) => 0,
        Ok(Ended::Short) => 1,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            // Nothing is left to do when even this cannot be written.
            let _ = writeln!(io::stderr(), "katoms: {}", terminal::visible(&format!("{error:#}")));
            2
        }
    }
}

/// Whether the reader of standard output has gone, as in `katoms methods | head -1`: no failure of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe))
}
