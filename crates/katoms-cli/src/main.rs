//! The program; everything is in the library, which the Python package calls as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::prepare();
    katoms_cli::run(std::env::args_os()).into()
}

/// Signals that would end the program without a word.
#[cfg(unix)]
mod signals {
    /// What is said of an abort, below what the standard library says of its cause.
    const ENDED: &[u8] = b"katoms: ended without a result. If memory is named above, this work needs more than the \
        system gives: close other programs, raise the limit (ulimit -v), or take fewer rows or columns. If not, it is \
        a fault of katoms: please report it.\n";

    /// A file that grows beyond `ulimit -f` becomes an error of the write, and an abort, which is how the standard
    /// library meets the end of memory, ends with a message and the exit code of other errors.
    pub fn prepare() {
        let ended = ended as extern "C" fn(libc::c_int);
        // SAFETY: both calls give a signal a disposition before any thread is started. `SIG_IGN` runs no code. `ended`
        // calls only `write` and `_exit`, which POSIX allows in a handler, on memory that is never freed, and does not
        // return to what was aborted.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::signal(libc::SIGABRT, ended as libc::sighandler_t);
        }
    }

    extern "C" fn ended(_: libc::c_int) {
        // SAFETY: `ENDED` is static and as long as said. Nothing can be done if it cannot be written.
        unsafe {
            libc::write(libc::STDERR_FILENO, ENDED.as_ptr().cast(), ENDED.len());
            libc::_exit(2)
        }
    }
}
