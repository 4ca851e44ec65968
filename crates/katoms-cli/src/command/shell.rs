//! `katoms completions`, `katoms man`: what a shell and a reader of manuals need.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};

use super::Cli;
use crate::Ended;
use crate::terminal::Terminal;

/// `katoms completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms completions bash > ~/.local/share/bash-completion/completions/katoms
  katoms completions zsh > ~/.zfunc/_katoms
  katoms completions fish > ~/.config/fish/completions/katoms.fish")]
pub struct CompletionsArgs {
    /// Your shell
    shell: clap_complete::Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "katoms", &mut script);
        terminal.print(&String::from_utf8_lossy(&script))?;
        Ok(Ended::Done)
    }
}

/// `katoms man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms man | man -l -                       read it
  katoms man --folder ~/.local/share/man/man1  one page for each command")]
pub struct ManArgs {
    /// Write a page for the program and one for each command into this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        match &self.folder {
            Some(folder) => {
                clap_mangen::generate_to(Cli::command(), folder)
                    .with_context(|| format!("no pages could be written into {}; create it first", folder.display()))?;
                terminal.say(format!("pages -> {}", folder.display()));
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Cli::command()).render(&mut page)?;
                terminal.print(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(Ended::Done)
    }
}
