use crate::{Experiment, Scale};

use super::*;
use crate::draw::samples::{mapped, marked, section};

#[test]
fn each_section_stands_there_once() {
    let sections = [section(Experiment::Iid, vec![marked()]), section(Experiment::Phase, vec![mapped()])];
    let html = page(&sections);
    for section in &sections {
        let name = section.experiment.name();
        assert_eq!(html.matches(&format!("<section id=\"{name}\"")).count(), 1);
        assert_eq!(html.matches(&format!("<h2>{}</h2>", section.title)).count(), 1);
        assert!(html.contains(&format!("<li><a href=\"#{name}\">")));
        let figure = &section.figures[0];
        assert_eq!(html.matches(&format!("id=\"figure-{}\"", figure.name)).count(), 1);
    }
    assert_eq!(html.matches("<svg ").count(), 2);
    assert!(html.contains("8 claims: 2 agree, 2 agree in part, 2 differ, 2 are left open."));
    assert!(html.contains("At default scale; 12.3 seconds on 2 threads."));
    assert_eq!(html, page(&sections));
}

#[test]
fn the_summary_comes_first() {
    let html = page(&[section(Experiment::Iid, vec![])]);
    assert!(html.find("id=\"summary\"").unwrap() < html.find("id=\"iid\"").unwrap());
    let empty = page(&[]);
    assert!(!empty.contains("<section") && !empty.contains("<nav"));
}

#[test]
fn what_a_section_says_is_no_markup() {
    let evil = || "<script>alert(\"&\")</script>".to_owned();
    let mut section = section(Experiment::Images, vec![marked()]);
    section.scale = Scale::Full;
    section.command = format!("katoms-paper images --out '{}'", evil());
    (section.title, section.lead) = (evil(), evil());
    section.setup = vec![(evil(), evil())];
    section.notes = vec![evil()];
    let verdict = &mut section.verdicts[0];
    (verdict.claim, verdict.published, verdict.measured, verdict.why) = (evil(), evil(), evil(), evil());
    section.tables = vec![Table { title: evil(), headings: vec![evil()], rows: vec![vec![evil(), evil()], vec![]] }];
    (section.figures[0].title, section.figures[0].caption) = (evil(), evil());
    let html = page(&[section]);
    assert!(!html.contains("<script"));
    assert!(html.contains("katoms-paper images --out") && html.contains("At full scale"));
}

#[test]
fn nothing_is_fetched() {
    let html = page(&[section(Experiment::Iid, vec![marked()])]);
    for link in html.split("href=\"").skip(1).chain(html.split("src=\"").skip(1)) {
        assert!(link.starts_with('#') || link.starts_with("data:"), "{link:.40}");
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
}

#[test]
fn columns_of_numbers_are_told_from_words() {
    for numbers in [&["12", "–", "1.2e-3"][..], &["+1.2 %", "−3"], &["2.3 ± 0.1", "never"], &["50 of 50"], &["≥ 10×"]]
    {
        assert!(are_numbers(numbers), "{numbers:?}");
    }
    for words in [&["OMP", "Lasso"][..], &["–"], &["12", "a long word"], &["750 × 20,000, Gaussian"], &[]] {
        assert!(!are_numbers(words), "{words:?}");
    }
}
