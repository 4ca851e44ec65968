//! The real program: sections grow into one report, and what is wrong is said before the work.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A folder that goes when the test ends, and the program in it.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_katoms-paper"));
        command.current_dir(self.0.path()).args(words.split_whitespace()).stdin(Stdio::null());
        command
    }

    /// What a run that must succeed says: on standard output, and on standard error.
    fn succeeds(&self, words: &str) -> (String, String) {
        let (code, out, err) = said(&self.command(words).output().unwrap());
        assert_eq!(code, Some(0), "{words}\n{err}");
        (out, err)
    }

    /// The same for one that must refuse its input and leave no file behind.
    fn refuses(&self, words: &str) -> String {
        let files = || fs::read_dir(self.0.path()).unwrap().count();
        let before = files();
        let (code, out, err) = said(&self.command(words).output().unwrap());
        assert_eq!((code, files(), out.as_str()), (Some(2), before, ""), "{words}\n{err}");
        assert!(!err.contains("panicked"), "{err}");
        err
    }
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A section without the seconds that it took and the folder that it was written to.
fn lasting(desk: &Desk, file: &str) -> serde_json::Value {
    let mut section = desk.json(file);
    for key in ["seconds", "command"] {
        assert!(section.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    section
}

#[test]
fn each_run_adds_its_section_to_one_report() {
    let desk = Desk::new();
    let (out, err) = desk.succeeds("counter --scale small --check --out report");
    assert!(out.contains("1.1328") && out.contains("agrees"), "{out}");
    assert!(err.contains("report.html"), "{err}");
    let page = desk.read("report/report.html");
    assert!(page.contains("Where momentum does not help") && !page.contains("momentum.svg"), "{page}");
    desk.succeeds("momentum --scale small --check --out report");
    let page = desk.read("report/report.html");
    assert!(page.find("id=\"momentum\"") < page.find("id=\"counter\""), "in the order of the paper");
    for name in ["counter", "momentum"] {
        assert!(desk.read(&format!("report/{name}.svg")).starts_with("<svg"));
        let png = fs::read(desk.path(&format!("report/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5_000);
        assert_eq!(desk.json(&format!("report/{name}.json"))["experiment"], name);
    }
    // Nothing in it needs the network.
    assert!(!page.contains("src=\"http") && !page.contains("<script"), "{page}");
    // The same command gives the same report.
    desk.succeeds("counter momentum --scale small --out again");
    for name in ["counter", "momentum"] {
        let [first, again] = ["report", "again"].map(|folder| desk.read(&format!("{folder}/{name}.svg")));
        assert_eq!(first, again, "{name}");
        let [first, again] = ["report", "again"].map(|folder| lasting(&desk, &format!("{folder}/{name}.json")));
        assert_eq!(first, again, "{name}");
    }
}

#[test]
fn settings_can_be_changed() {
    let desk = Desk::new();
    let (printed, _) = desk.succeeds("counter --print-config");
    desk.write("mine.toml", printed.replace("constant = 0.25", "constant = -0.1"));
    let (out, _) = desk.succeeds("counter --config mine.toml --out report");
    assert!(out.contains("constant −0.1"), "{out}");
}

#[test]
fn what_cannot_be_run_is_told() {
    let desk = Desk::new();
    desk.write("bad.toml", "constnat = 0.25\n");
    desk.write("cut.toml", "constant = ");
    desk.write("notes.txt", "no cohort");
    desk.write("file", "in the way");
    for (words, told) in [
        ("counter momentum --config bad.toml", "name one"),
        ("counter --config bad.toml", "constnat"),
        ("counter --config cut.toml", "--print-config"),
        ("counter --config absent.toml", "absent.toml"),
        ("counter --check", "--scale small"),
        ("counter momentum --print-config", "name one"),
        ("images --scale small --check --image notes.txt", "--image"),
        ("counter --data notes.txt", "tumour"),
        ("counter --image notes.txt", "images"),
        ("tumour --scale small --data notes.txt", "notes.txt"),
        ("tumour --scale small --data absent.npz", "absent.npz"),
        ("images --scale small --image notes.txt", "notes.txt"),
        ("images --scale small --image absent.png", "absent.png"),
        ("counter --out file", "file"),
        ("conuter", "counter"),
    ] {
        let err = desk.refuses(words);
        assert!(err.contains(told), "{words}: {err}");
    }
}

#[test]
fn a_section_of_another_version_is_not_lost() {
    let desk = Desk::new();
    fs::create_dir(desk.path("report")).unwrap();
    desk.write("report/iid.json", "{}");
    let err = desk.refuses("counter --scale small --out report");
    assert!(err.contains("iid.json") && err.contains("remove"), "{err}");
    assert_eq!(desk.read("report/iid.json"), "{}");
}

/// A report of something else is not overwritten, and nobody is asked to delete it.
#[test]
fn a_page_that_is_not_ours_stays() {
    let desk = Desk::new();
    desk.write("report.html", "<p>my own");
    let err = desk.refuses("counter --scale small --out .");
    assert!(err.contains("name another folder"), "{err}");
    assert_eq!(desk.read("report.html"), "<p>my own");
}

/// Whoever reads one line has read enough; the report is made all the same.
#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_end_the_work() {
    let desk = Desk::new();
    let program = env!("CARGO_BIN_EXE_katoms-paper");
    let script = format!("{program} counter images --scale small --out report | head -1 > /dev/null");
    assert!(Command::new("sh").args(["-c", &script]).current_dir(desk.path("")).status().unwrap().success());
    // The pipe may end before the program does.
    while !desk.path("report/images.json").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let report = desk.read("report/counter.json");
    assert!(report.contains("katoms-paper counter images --scale small --out report"), "its command is kept");
}

/// Ctrl-C ends an experiment; those before it stay, and the rest is named.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_done() {
    let desk = Desk::new();
    let child = desk
        .command("counter phase --scale full --out report")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !desk.path("report/report.html").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let (code, _, err) = said(&child.wait_with_output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("`katoms-paper phase --scale full --out report`"), "{err}");
    let names: Vec<String> = fs::read_dir(desk.path("report"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&"counter.json".to_owned()) && !names.iter().any(|n| n.starts_with("phase")), "{names:?}");
}
