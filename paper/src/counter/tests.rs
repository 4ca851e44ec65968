//! The words of `counter` hold for other inputs than the printed ones.

use super::*;
use crate::Scale;

fn changed(change: &[(&str, &str)]) -> Result<Section, Error> {
    let text = Experiment::Counter.template().to_owned();
    let config = Some(change.iter().fold(text, |text, (from, to)| text.replace(from, to)));
    run(&Request { scale: Scale::Small, config, ..Request::default() }, &Progress::hidden())
}

/// All sentences.
fn words(section: &Section) -> String {
    let verdicts = section.verdicts.iter().map(|v| format!("{} {}", v.measured, v.why));
    let captions = section.figures.iter().map(|f| f.caption.clone());
    let cells = section.tables.iter().flat_map(|t| t.rows.concat());
    let all = [section.title.clone(), section.lead.clone()].into_iter().chain(section.notes.clone());
    all.chain(verdicts).chain(captions).chain(cells).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_printed_example_bears_the_paper_out() -> Result<(), Error> {
    let section = changed(&[])?;
    assert!(section.verdicts.iter().all(|v| v.agreement == Agreement::Agrees));
    assert!(words(&section).contains("steps back") && words(&section).contains("0.2225"));
    Ok(())
}

/// Short of the minimum momentum helps, and nothing of the printed example is said.
#[test]
fn other_points_have_other_words() -> Result<(), Error> {
    let section = changed(&[("x1 = -1.7338", "x1 = 0.2"), ("x2 = 1.5415", "x2 = 0.5")])?;
    let words = words(&section);
    for wrong in ["beyond", "left of", "back", "0.2225", "by -", "by −", "every positive"] {
        assert!(!words.contains(wrong), "{wrong}: {words}");
    }
    assert!(words.contains("short of the minimum") && words.contains("lowers it by"), "{words}");
    assert!(section.verdicts.iter().all(|v| v.agreement == Agreement::Open));
    assert!(section.numbers["share of positive tau that raise the residual"] < 1.0);
    Ok(())
}

#[test]
fn without_a_positive_momentum_nothing_is_said_of_it() -> Result<(), Error> {
    let section = changed(&[("to = 0.5", "to = -0.1")])?;
    assert!(section.lead.contains("no positive τ was tried"), "{}", section.lead);
    assert_eq!(section.verdicts[2].agreement, Agreement::Open);
    assert!(!section.numbers.contains_key("share of positive tau that raise the residual"));
    Ok(())
}

/// The target is the image of x₂: no percentages of nothing.
#[test]
fn a_residual_of_zero_has_no_percentage() -> Result<(), Error> {
    let section = changed(&[("[0.3870, -0.1514]", "[0.3816, -0.1598]"), ("x2 = 1.5415", "x2 = 1.0")])?;
    let words = words(&section);
    assert!(!words.contains("NaN") && !words.contains("inf") && words.contains("from zero to"), "{words}");
    Ok(())
}

#[test]
fn impossible_settings_say_what_would_be_right() {
    for (from, to, hint) in [
        ("steps = 20 }", "steps = 100001 }", "2 to 100000"),
        ("x2 = 1.5415", "x2 = -1.7338", "must differ"),
        ("constant = 0.25", "constant = nan", "finite"),
        ("target = [0.3870,", "target = [1.0, 0.3870,", "each row"),
    ] {
        let error = changed(&[(from, to)]).expect_err(from).to_string();
        assert!(error.contains(hint), "{error}");
    }
}
