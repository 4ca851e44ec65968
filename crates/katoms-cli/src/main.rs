//! The program; everything is in the library, which the Python package calls as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    katoms_cli::run(std::env::args_os()).into()
}
