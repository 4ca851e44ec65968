//! From a report to the page: the template filled.

use katoms_charts::page::{STYLE, fill};
use serde::Serialize;

use super::outcomes::{ManyClassesPart, SurvivalPart};
use super::parts::{CoefficientsPart, CompletionPart, ConvergencePart, PathPart, ValidationPart};
use super::predictions::{Both, ClassificationPart, Measured, RegressionPart};
use super::responses::ResponsesPart;
use super::{Fact, Report};

const TEMPLATE: &str = include_str!("template.html");

pub(super) fn render(report: &Report) -> String {
    fill(TEMPLATE, &Page::new(report))
}

#[derive(Debug, Serialize)]
struct Page<'a> {
    report: &'a Report,
    style: &'static str,
    asked: Vec<Row<'a>>,
    found: Vec<Row<'a>>,
    exchanges: bool,
    charts: bool,
    coefficients: Option<CoefficientsPart>,
    convergence: Option<ConvergencePart>,
    path: Option<PathPart>,
    validation: Option<ValidationPart>,
    regression: Option<RegressionPart>,
    responses: Option<ResponsesPart>,
    classification: Option<ClassificationPart>,
    many_classes: Option<ManyClassesPart>,
    survival: Option<SurvivalPart>,
    best: &'static str,
    completion: Option<CompletionPart>,
    data: String,
}

impl<'a> Page<'a> {
    fn new(report: &'a Report) -> Self {
        let measured = measured(report);
        Self {
            report,
            style: STYLE,
            asked: rows("asked", &report.question),
            found: rows("answer", &report.certainty),
            exchanges: report.certainty.iter().any(|fact| fact.label.to_lowercase().contains("exchange")),
            charts: report.coefficients.is_some() || report.path.is_some() || report.completion.is_some(),
            coefficients: report.coefficients.as_ref().and_then(CoefficientsPart::new),
            convergence: report.convergence.as_ref().and_then(ConvergencePart::new),
            path: report.path.as_ref().and_then(PathPart::new),
            validation: report.cross_validation.as_ref().and_then(ValidationPart::new),
            regression: report.regression.as_ref().and_then(|part| RegressionPart::new(part, &measured)),
            responses: report.responses.as_ref().and_then(ResponsesPart::new),
            classification: report.classification.as_ref().and_then(|part| ClassificationPart::new(part, &measured)),
            many_classes: report.many_classes.as_ref().and_then(ManyClassesPart::new),
            survival: report.survival.as_ref().and_then(SurvivalPart::new),
            best: match &report.cross_validation {
                Some(validation) if validation.larger_is_better => "largest",
                _ => "least",
            },
            completion: report.completion.as_ref().map(CompletionPart::new),
            data: to_json(report, &measured),
        }
    }
}

fn measured(report: &Report) -> Both {
    if let Some(part) = &report.regression {
        let of = |rows: &Option<super::Predictions>, explained: Option<f64>| {
            rows.as_ref().map(|rows| Measured::numbers(rows, part.kind, explained))
        };
        let [held_out, fitted] = part.explained;
        return Both { held_out: of(&part.held_out, held_out), fitted: of(&part.fitted, fitted) };
    }
    let part = report.classification.as_ref();
    let rows = part.map(|part| [&part.held_out, &part.fitted].map(|rows| rows.as_ref().map(Measured::classes)));
    rows.map_or_else(Both::default, |[held_out, fitted]| Both { held_out, fitted })
}

/// What a program may read out of the page: JSON that cannot end the element it stands in.
fn to_json(report: &Report, measured: &Both) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        report: &'a Report,
        measured: &'a Both,
    }
    serde_json::to_string(&Data { report, measured }).unwrap_or_default().replace('<', "\\u003c")
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    id: String,
    fact: &'a Fact,
}

fn rows<'a>(prefix: &str, facts: &'a [Fact]) -> Vec<Row<'a>> {
    let word = |label: &str| {
        let letters = label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
        letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join("-")
    };
    facts.iter().map(|fact| Row { id: format!("{prefix}-{}", word(&fact.label)), fact }).collect()
}

#[cfg(test)]
mod tests;
