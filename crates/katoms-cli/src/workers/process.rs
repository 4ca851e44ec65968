//! A worker as the driver sees it: a process that is started, asked, and started again where it is lost.

use std::io::{self, BufReader, ErrorKind};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use super::frames::{self, Opened, Request, Shape};
use super::{Start, named};
use crate::terminal::count;

/// How often it may be lost, one time after the other, before it is given up.
const MOST_LOSSES: usize = 4;

pub struct Process {
    start: Arc<Start>,
    blocks: Range<usize>,
    files: Vec<PathBuf>,
    /// What the files held when they were opened first.
    shapes: Option<Vec<Shape>>,
    living: Option<Living>,
    /// Times that it was lost since it replied last.
    in_a_row: usize,
    pub losses: usize,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

/// A process, and the pipes to it and from it. Gone with this value.
struct Living {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    has_opened: bool,
}

/// Why it did not reply.
enum Trouble {
    /// It is gone.
    Lost(io::Error),
    /// It says what is wrong, and would say so again.
    Refused(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl Process {
    /// For blocks of these numbers, in these files.
    pub fn new(start: Arc<Start>, blocks: Range<usize>, files: &[PathBuf]) -> Self {
        Self {
            start,
            blocks,
            files: files.to_vec(),
            shapes: None,
            living: None,
            in_a_row: 0,
            losses: 0,
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    pub fn blocks(&self) -> &Range<usize> {
        &self.blocks
    }

    /// Starts it. Whether that went well is seen when it is waited for.
    pub fn start(&mut self) {
        self.living = Living::start(&self.start, self.blocks.start, &self.files).ok();
    }

    /// Waits until its files are open: what they hold, or what is wrong with one of them.
    pub fn open(&mut self) -> Result<Vec<Shape>, String> {
        self.insist(|worker| {
            worker.revive(None)?;
            Ok(worker.shapes.clone().unwrap_or_default())
        })
    }

    /// Sends it a request. Whether that went well is seen when it is heard.
    pub fn tell(&mut self, request: &Request<'_>) {
        if !request.is_empty()
            && self.living.is_some()
            && let Err(error) = self.send(request)
        {
            self.lose(&error);
        }
    }

    /// Its replies to the request that it was told. Where it is lost, it is started again, told what it was told
    /// `before`, and asked once more.
    pub fn hear(&mut self, request: &Request<'_>, before: &Request<'_>) -> Result<Vec<Vec<u8>>, String> {
        if request.is_empty() {
            return Ok(Vec::new());
        }
        self.insist(|worker| {
            if worker.living.is_none() {
                worker.revive(Some(before))?;
                worker.send(request)?;
            }
            Ok(worker.receive(request.replies())?)
        })
    }

    fn insist<T>(&mut self, mut attempt: impl FnMut(&mut Self) -> Result<T, Trouble>) -> Result<T, String> {
        loop {
            match attempt(self) {
                Ok(found) => {
                    self.in_a_row = 0;
                    return Ok(found);
                }
                Err(Trouble::Refused(problem)) => return Err(problem),
                Err(Trouble::Lost(error)) => {
                    let why = self.lose(&error);
                    if self.in_a_row >= MOST_LOSSES {
                        return Err(self.given_up(&why));
                    }
                }
            }
        }
    }

    /// Starts it where it does not live, and waits until its files are open. One that lived before is told what it was.
    fn revive(&mut self, before: Option<&Request<'_>>) -> Result<(), Trouble> {
        let living = match &mut self.living {
            Some(living) => living,
            None => self.living.insert(Living::start(&self.start, self.blocks.start, &self.files)?),
        };
        if !living.has_opened {
            let opened = living.opened()?;
            let shapes = opened.blocks.map_err(Trouble::Refused)?;
            if opened.katoms != env!("CARGO_PKG_VERSION") || shapes.len() != self.files.len() {
                let found = opened.katoms;
                return Err(Trouble::Refused(format!(
                    "a worker is of katoms {found}, and this is katoms {}; was it replaced during the work? Begin again",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            let before = self.shapes.get_or_insert_with(|| shapes.clone());
            if let Some(at) = (0..shapes.len()).find(|&at| shapes[at] != before[at]) {
                let (file, was, is) = (self.files[at].display(), before[at], shapes[at]);
                return Err(Trouble::Refused(format!(
                    "{file} was changed during the work: it had {} and {}, and has {} and {}; leave files alone until the \
                     work is done",
                    count(was.rows, "row", "rows"),
                    count(was.columns, "column", "columns"),
                    count(is.rows, "row", "rows"),
                    count(is.columns, "column", "columns"),
                )));
            }
        }
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            self.send(before)?;
            self.receive(before.replies())?;
        }
        Ok(())
    }

    fn send(&mut self, request: &Request<'_>) -> io::Result<()> {
        let to = self.living.as_mut().and_then(|living| living.to.as_mut()).ok_or(ErrorKind::BrokenPipe)?;
        self.bytes_sent += request.send(to)?;
        Ok(())
    }

    fn receive(&mut self, replies: usize) -> io::Result<Vec<Vec<u8>>> {
        let from = &mut self.living.as_mut().ok_or(ErrorKind::BrokenPipe)?.from;
        let reply = |_| frames::receive(from)?.ok_or_else(|| ErrorKind::UnexpectedEof.into());
        let replies: Vec<Vec<u8>> = (0..replies).map(reply).collect::<io::Result<_>>()?;
        self.bytes_received += replies.iter().map(|reply| reply.len() as u64 + 8).sum::<u64>();
        Ok(replies)
    }

    /// Gives up what is left of it; how it ended.
    fn lose(&mut self, error: &io::Error) -> String {
        (self.in_a_row, self.losses) = (self.in_a_row + 1, self.losses + 1);
        self.living.take().map_or_else(|| error.to_string(), |living| living.ended(error))
    }

    fn given_up(&self, why: &str) -> String {
        format!(
            "the worker that holds {} was lost {MOST_LOSSES} times in a row (at last: {why}): these files could not be \
             held. Is there enough memory? Close other programs; with --checkpoint FILE, the same command goes on where it was",
            named(&self.files)
        )
    }
}

impl Living {
    fn start(start: &Start, first: usize, files: &[PathBuf]) -> io::Result<Self> {
        let (program, arguments) = start.command.split_first().ok_or(ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(arguments).args(["--first", &first.to_string(), "--max-unpacked", &start.max_unpacked, "--"]);
        command.args(files).env("RAYON_NUM_THREADS", start.threads.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        apart(&mut command);
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (to @ Some(_), Some(from)) => Ok(Self { child, to, from: BufReader::new(from), has_opened: false }),
            _ => Err(ErrorKind::BrokenPipe.into()),
        }
    }

    fn opened(&mut self) -> io::Result<Opened> {
        let said = frames::receive(&mut self.from)?.ok_or(ErrorKind::UnexpectedEof)?;
        self.has_opened = true;
        Ok(serde_json::from_slice(&said)?)
    }

    /// How it ended: by itself, as it is where a pipe is closed.
    fn ended(mut self, error: &io::Error) -> String {
        self.to = None;
        self.child.wait().map_or_else(|_| error.to_string(), |status| status.to_string())
    }
}

impl Drop for Living {
    /// A worker has nothing to lose.
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal sends to the program that works, such as Ctrl-C, is not for its workers.
fn apart(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }
}
