//! The experiment as a whole, at small scale.

use crate::figure::Body;
use crate::{Agreement, Progress, Request, Scale, Section};

use super::contest::PIECES;
use super::picture::Grey;
use super::{named_apart, run};

fn small() -> Request {
    Request { scale: Scale::Small, ..Request::default() }
}

fn on_threads(threads: usize) -> Section {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run(&small(), &Progress::hidden())).unwrap()
}

#[test]
fn a_small_run_is_whole_and_the_same_at_any_number_of_threads() {
    let section = on_threads(1);
    let again = on_threads(3);
    assert_eq!(section.numbers, again.numbers);
    assert!(section.numbers.values().all(|v| v.is_finite()), "{:?}", section.numbers);
    // Growing the rank recovers the picture; the paper's way, from zero at the full rank, does not within its cap.
    assert!(section.numbers["staged PSNR"] > 74.0 && section.numbers["Riemannian CG PSNR"] > 74.0);
    assert!(section.numbers["AccIHT PSNR"] < section.numbers["staged PSNR"]);
    let names: Vec<&str> = section.figures.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["images", "images-drawn"]);
    assert_eq!(section.figures[0].panels.len(), 2);
    assert_eq!(section.figures[1].panels.len(), 3 + PIECES - 1);
    assert!(section.figures[1].panels.iter().all(|p| matches!(&p.body, Body::Picture(p) if p.width == 64)));
    assert_eq!((section.verdicts.len(), section.tables[0].rows.len()), (3, PIECES - 1));
    assert!(section.verdicts.iter().all(|v| v.agreement != Agreement::Open), "{:?}", section.verdicts);
    // A drawn picture is never taken for a photograph.
    for said in [&section.lead, &section.title, &section.figures[1].caption, &section.tables[0].title] {
        assert!(said.contains("drawn"), "{said}");
    }
}

#[test]
fn a_run_that_diverges_is_told_as_diverged() {
    let config = include_str!("../../images.toml").replacen("momentum = 0.25", "momentum = 1e200", 1);
    let section = run(&Request { config: Some(config), ..small() }, &Progress::hidden()).unwrap();
    assert!(
        section.lead.contains("Diverged: AccIHT (paper).") && !section.lead.contains("is AccIHT"),
        "{}",
        section.lead
    );
    let row = &section.tables[0].rows[0];
    assert_eq!((row[0].as_str(), row[1].as_str()), ("AccIHT (paper)", "diverged"));
    assert!(section.figures[1].panels[3].title.ends_with("diverged"), "{}", section.figures[1].panels[3].title);
    assert!(section.figures.iter().all(|f| f.caption.to_lowercase().contains("diverged")));
    assert!(section.verdicts.iter().all(|v| v.measured.contains("diverged") && v.agreement == Agreement::Open));
    assert!(!section.numbers.contains_key("AccIHT PSNR") && section.numbers.values().all(|v| v.is_finite()));
    // It is saved and read again.
    let saved = serde_json::to_string(&section).unwrap();
    assert!(serde_json::from_str::<Section>(&saved).is_ok());
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let template = include_str!("../../images.toml");
    for (from, to, name) in [
        ("rank = 60", "rank = 0", "`rank`"),
        ("rank = 60", "rank = 600", "`drawn`"),
        ("seen = 0.35", "seen = 0.0", "`seen`"),
        ("seen = 0.35", "seen = nan", "`seen`"),
        ("momentum = 0.25", "momentum = inf", "`momentum`"),
        ("least = 0.004", "least = 1.0", "`path.least`"),
        ("rounds = 2", "round = 2", "`round`"),
        ("rows = 512", "rows = 5000", "`drawn`"),
    ] {
        let config = Some(template.replacen(from, to, 1));
        let said = run(&Request { config, ..Request::default() }, &Progress::hidden()).unwrap_err().to_string();
        assert!(said.contains("images") && said.contains(name), "{said}");
    }
}

#[test]
fn it_can_be_stopped() {
    assert!(run(&small(), &Progress::stopped()).unwrap_err().is::<crate::Stopped>());
}

#[test]
fn pictures_of_one_name_are_told_apart() {
    let names: Vec<String> = named_apart(vec![Grey::drawn(2, 2); 3]).into_iter().map(|p| p.name).collect();
    assert_eq!(names, ["drawn", "drawn-2", "drawn-3"]);
}
