//! `katoms paper`: sections grow into one report, and what is wrong is told before the work.

use std::process::Stdio;
use std::time::Duration;

use crate::desk::{Desk, Said};

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
    let said = desk.succeeds("paper counter --scale small --check --out report");
    assert!(said.out.contains("1.1328") && said.out.contains("agrees"), "{}", said.out);
    assert!(said.err.contains("report.html"), "{}", said.err);
    let page = desk.read("report/report.html");
    assert!(page.contains("Where momentum does not help") && !page.contains("momentum.svg"), "{page}");
    desk.succeeds("paper momentum --scale small --check --out report");
    let page = desk.read("report/report.html");
    assert!(page.find("id=\"momentum\"") < page.find("id=\"counter\""), "in the order of the paper");
    for name in ["counter", "momentum"] {
        assert!(desk.read(&format!("report/{name}.svg")).starts_with("<svg"));
        let png = std::fs::read(desk.path(&format!("report/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5_000);
        assert_eq!(desk.json(&format!("report/{name}.json"))["experiment"], name);
    }
    // Nothing in it needs the network.
    assert!(!page.contains("src=\"http") && !page.contains("<script"), "{page}");
}

#[test]
fn the_same_command_gives_the_same_report() {
    let desk = Desk::new();
    desk.succeeds("paper counter momentum --scale small --out a");
    desk.succeeds("paper counter momentum --scale small --out b");
    for file in ["counter.svg", "momentum.svg"] {
        assert_eq!(desk.read(&format!("a/{file}")), desk.read(&format!("b/{file}")), "{file}");
    }
    for file in ["counter.json", "momentum.json"] {
        assert_eq!(lasting(&desk, &format!("a/{file}")), lasting(&desk, &format!("b/{file}")), "{file}");
    }
}

#[test]
fn settings_can_be_changed() {
    let desk = Desk::new();
    let printed = desk.succeeds("paper counter --print-config").out;
    desk.write("mine.toml", printed.replace("constant = 0.25", "constant = -0.1"));
    let said = desk.succeeds("paper counter --config mine.toml --out report");
    assert!(said.out.contains("constant −0.1"), "{}", said.out);
}

#[test]
fn what_cannot_be_run_is_told() {
    let desk = Desk::new();
    desk.write("bad.toml", "constnat = 0.25\n");
    desk.write("cut.toml", "constant = ");
    desk.write("notes.txt", "no cohort");
    desk.write("file", "in the way");
    for (words, told) in [
        ("paper counter momentum --config bad.toml", "name one"),
        ("paper counter --config bad.toml", "constnat"),
        ("paper counter --config cut.toml", "--print-config"),
        ("paper counter --config absent.toml", "absent.toml"),
        ("paper counter --check", "--scale small"),
        ("paper counter momentum --print-config", "name one"),
        ("paper images --scale small --check --image notes.txt", "--image"),
        ("paper counter --data notes.txt", "tumour"),
        ("paper counter --image notes.txt", "images"),
        ("paper tumour --scale small --data notes.txt", "notes.txt"),
        ("paper tumour --scale small --data absent.npz", "absent.npz"),
        ("paper images --scale small --image notes.txt", "notes.txt"),
        ("paper images --scale small --image absent.png", "absent.png"),
        ("paper counter --out file", "file"),
        ("paper conuter", "counter"),
    ] {
        let err = desk.refuses(words);
        assert!(err.contains(told), "{words}: {err}");
    }
}

#[test]
fn a_section_of_another_version_is_not_lost() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("report")).unwrap();
    desk.write("report/iid.json", "{}");
    let err = desk.refuses("paper counter --scale small --out report");
    assert!(err.contains("iid.json") && err.contains("remove"), "{err}");
    assert_eq!(desk.read("report/iid.json"), "{}");
}

/// A report of something else is not overwritten, and nobody is asked to delete it.
#[test]
fn a_page_that_is_not_ours_stays() {
    let desk = Desk::new();
    desk.write("report.html", "<p>my own");
    let err = desk.refuses("paper counter --scale small --out .");
    assert!(err.contains("name another folder"), "{err}");
    assert_eq!(desk.read("report.html"), "<p>my own");
}

/// Whoever reads one line has read enough; the report is made all the same.
#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_end_the_work() {
    let desk = Desk::new();
    let katoms = env!("CARGO_BIN_EXE_katoms");
    let script = format!("{katoms} paper counter momentum --scale small --out report | head -1 > /dev/null");
    assert!(
        std::process::Command::new("sh").args(["-c", &script]).current_dir(desk.path("")).status().unwrap().success()
    );
    // The pipe may end before the program does.
    while !desk.path("report/momentum.json").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let report = desk.read("report/counter.json");
    assert!(report.contains("katoms paper counter momentum --scale small --out report"), "its command is kept");
}

/// Ctrl-C ends an experiment; those before it stay, and the rest is named.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_done() {
    let desk = Desk::new();
    let child = desk
        .command("paper counter phase --scale full --out report")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !desk.path("report/report.html").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("`katoms paper phase --scale full --out report`"), "{}", said.err);
    let names: Vec<String> = std::fs::read_dir(desk.path("report"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&"counter.json".to_owned()) && !names.iter().any(|n| n.starts_with("phase")), "{names:?}");
}
