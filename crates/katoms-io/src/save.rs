//! Files that appear whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, bad};

/// What the name of a file starts and ends with while it is written.
const PREFIX: &str = ".katoms-";
const SUFFIX: &str = ".part";

/// Writes a file: beside its place first, then moved there, so that nobody ever sees half of it and what was there
/// stays until the new file is whole. What is not a plain file (a pipe, a terminal) is written to directly. What a
/// killed process has left of its own writing in the folder is removed.
///
/// # Errors
/// When the system refuses; the error names the file and says what to do. Nothing is left behind.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(bad(path, "this is a folder; name a file in it")),
        Ok(there) if !there.is_file() => return write_through(path, bytes).map_err(|error| refused(path, error)),
        _ => {}
    }
    // a link keeps pointing where it did: what it points at is replaced
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if target.file_name().is_none() {
        return Err(bad(path, "this is not the name of a file"));
    }
    write_and_move(&target, bytes).map_err(|error| refused(path, error))
}

/// Whatever goes wrong, the file beside is removed.
fn write_and_move(target: &Path, bytes: &[u8]) -> io::Result<()> {
    remove_left_behind(folder(target));
    let mut file = created(folder(target))?;
    file.write_all(bytes)?;
    if let Ok(there) = fs::metadata(target) {
        file.as_file().set_permissions(there.permissions())?;
    }
    // on disk before the name points at it, or a crash could leave an empty file
    file.as_file().sync_all()?;
    file.persist(target)?;
    Ok(())
}

/// A new file in a folder, locked as long as somebody writes it.
fn created(folder: &Path) -> io::Result<NamedTempFile> {
    let mut beside = tempfile::Builder::new();
    beside.prefix(PREFIX).suffix(SUFFIX);
    // A temporary file is its owner's alone; this one will be a file like any other.
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = beside.tempfile_in(folder)?;
        // Before it is locked, another process may take it for one that was left behind, lock it and remove it.
        match file.as_file().try_lock() {
            Ok(()) if file.path().exists() => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Some file systems have no locks: nobody removes the files of others there.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

/// Removes what killed processes have left in a folder: files that nobody has locked. Once in each process.
fn remove_left_behind(folder: &Path) {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !DONE.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.into()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        let is_file = is_ours && entry.file_type().is_ok_and(|kind| kind.is_file());
        // What cannot be opened, locked or removed stays: the file to be written comes first.
        if is_file && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
}

/// What the system said, and what to do.
fn refused(path: &Path, error: io::Error) -> Error {
    let folder = folder(path);
    match error.kind() {
        ErrorKind::NotFound if !folder.exists() => {
            bad(path, format!("cannot be written: there is no folder {}: create it first", folder.display()))
        }
        ErrorKind::PermissionDenied => {
            bad(path, format!("cannot be written: there is no permission to write in {}", folder.display()))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            bad(path, format!("cannot be written: the disk is full ({error}): make room or choose another place"))
        }
        ErrorKind::FileTooLarge => bad(
            path,
            "cannot be written: it is larger than files may be here: raise the limit (ulimit -f), or choose another place",
        ),
        _ => Error::System { path: path.into(), what: "cannot be written", error },
    }
}
