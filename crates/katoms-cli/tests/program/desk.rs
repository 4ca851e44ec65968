//! A folder of its own for each test, and the program in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

static NUMBER: AtomicUsize = AtomicUsize::new(0);

pub struct Desk {
    folder: PathBuf,
}

#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let folder = std::env::temp_dir().join(format!("katoms-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_katoms"));
        command.current_dir(&self.folder).args(words.split_whitespace()).stdin(Stdio::null());
        command
    }

    pub fn katoms(&self, words: &str) -> Said {
        Said::of(&self.command(words).output().unwrap())
    }

    /// The same, which must succeed.
    pub fn succeeds(&self, words: &str) -> Said {
        let said = self.katoms(words);
        assert_eq!(said.code, Some(0), "katoms {words}\n{}", said.err);
        said
    }

    /// The same, which must refuse its input and leave no file behind.
    pub fn refuses(&self, words: &str) -> String {
        let before = self.files();
        let said = self.katoms(words);
        assert_eq!(said.code, Some(2), "katoms {words}\n{}{}", said.out, said.err);
        assert_eq!(self.files(), before, "katoms {words} left something behind");
        assert!(said.out.is_empty(), "{}", said.out);
        assert!(!said.err.contains("panicked"), "{}", said.err);
        said.err
    }

    /// The same, with a message that has all of these words.
    pub fn refuses_with(&self, words: &str, expected: &[&str]) {
        let error = self.refuses(words);
        expected.iter().for_each(|part| assert!(error.contains(part), "`{part}` is not in: {error}"));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Said {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Standard error has all of these words.
    pub fn tells(&self, expected: &[&str]) {
        expected.iter().for_each(|part| assert!(self.err.contains(part), "`{part}` is not in: {}", self.err));
    }

    pub fn telling(self, expected: &[&str]) -> Self {
        self.tells(expected);
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}

/// A number of the JSON as people read it: "1 pass", "12 passes".
pub fn counted_passes(passes: &serde_json::Value) -> String {
    format!("{passes} {}", if passes == 1 { "pass" } else { "passes" })
}

pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}
