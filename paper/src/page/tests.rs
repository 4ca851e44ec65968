use super::*;
use crate::draw::tests::full;
use crate::{Experiment, Scale};

/// A section with something in every part, each text of it the given one.
fn section(experiment: Experiment, text: &str) -> Section {
    let said = || text.to_owned();
    let all = [Agreement::Agrees, Agreement::Partly, Agreement::Differs, Agreement::Open];
    let mut section = Section::new(experiment).unwrap();
    (section.title, section.command, section.lead) = (said(), said(), said());
    section.scale = Scale::Full;
    section.setup = vec![(said(), said())];
    section.figures = vec![Figure { name: format!("of-{}", experiment.name()), ..full(text) }];
    section.tables = vec![Table::new(text, [text], [vec![said(), said()], vec![]])];
    section.verdicts = all
        .map(|agreement| Verdict { claim: said(), published: said(), measured: said(), agreement, why: said() })
        .into();
    section.notes = vec![said()];
    (section.threads, section.seconds) = (2, 12.345);
    section
}

#[test]
fn each_section_stands_there_once_below_the_summary() {
    let sections = [section(Experiment::Iid, "a text"), section(Experiment::Phase, "another")];
    let html = page(&sections);
    for section in &sections {
        let name = section.experiment.name();
        assert_eq!(html.matches(&format!("<section id=\"{name}\"")).count(), 1);
        assert_eq!(html.matches(&format!("<h2>{}</h2>", section.title)).count(), 1);
        assert!(html.contains(&format!("<li><a href=\"#{name}\">")));
        assert_eq!(html.matches(&format!("id=\"figure-of-{name}\"")).count(), 1);
    }
    assert!(html.find("id=\"summary\"").unwrap() < html.find("id=\"iid\"").unwrap());
    assert!(html.contains("8 claims: 2 agree, 2 agree in part, 2 differ, 2 are left open."));
    assert!(html.contains("At full scale; 12.3 seconds on 2 threads."));
    assert_eq!(html, page(&sections));
    let empty = page(&[]);
    assert!(!empty.contains("<section") && !empty.contains("<nav"));
}

#[test]
fn what_a_section_says_is_no_markup_and_nothing_is_fetched() {
    let html = page(&[section(Experiment::Images, "<script>alert(\"&\")</script>")]);
    assert!(!html.contains("<script"));
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
