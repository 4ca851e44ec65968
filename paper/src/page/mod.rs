//! The report: one HTML file with a section for each experiment.

use crate::figure::Figure;
use crate::{Agreement, Section, Table, Verdict};
use serde::Serialize;

use crate::draw::draw;
use katoms_charts::number::{counted, fixed};
use katoms_charts::page::{STYLE, fill};

const TEMPLATE: &str = include_str!("template.html");
const OWN_STYLE: &str = include_str!("style.css");

/// Stands in every page, and in no other file by chance.
pub const MARK: &str = "<title>“IHT dies hard”, reproduced</title>";

/// The page, from the sections alone: the same sections give the same bytes.
pub fn page(sections: &[Section]) -> String {
    fill(
        TEMPLATE,
        &Page {
            version: env!("CARGO_PKG_VERSION"),
            style: [STYLE, OWN_STYLE].concat(),
            counts: counts(sections),
            sections: sections.iter().map(SectionPart::new).collect(),
        },
    )
}

#[derive(Debug, Serialize)]
struct Page<'a> {
    version: &'static str,
    style: String,
    /// "12 claims: 8 agree, 3 in part, 1 differs."; empty where there is none.
    counts: String,
    sections: Vec<SectionPart<'a>>,
}

#[derive(Debug, Serialize)]
struct SectionPart<'a> {
    name: &'static str,
    command: &'a str,
    title: &'a str,
    lead: &'a str,
    setup: &'a [(String, String)],
    figures: Vec<FigurePart<'a>>,
    tables: Vec<TablePart<'a>>,
    verdicts: &'a [Verdict],
    notes: &'a [String],
    cost: String,
}

impl<'a> SectionPart<'a> {
    fn new(section: &'a Section) -> Self {
        let (name, scale) = (section.experiment.name(), section.scale.name());
        Self {
            name,
            command: &section.command,
            title: &section.title,
            lead: &section.lead,
            setup: &section.setup,
            figures: section.figures.iter().map(FigurePart::new).collect(),
            tables: section.tables.iter().map(TablePart::new).collect(),
            verdicts: &section.verdicts,
            notes: &section.notes,
            cost: format!(
                "At {scale} scale; {} seconds on {}.",
                fixed(section.seconds, 1),
                counted(section.threads, "thread")
            ),
        }
    }
}

#[derive(Debug, Serialize)]
struct FigurePart<'a> {
    title: &'a str,
    caption: &'a str,
    svg: String,
}

impl<'a> FigurePart<'a> {
    fn new(figure: &'a Figure) -> Self {
        Self { title: &figure.title, caption: &figure.caption, svg: draw(figure) }
    }
}

#[derive(Debug, Serialize)]
struct TablePart<'a> {
    title: &'a str,
    columns: Vec<Column<'a>>,
    rows: Vec<&'a [String]>,
}

#[derive(Debug, Serialize)]
struct Column<'a> {
    name: &'a str,
    class: &'static str,
}

impl<'a> TablePart<'a> {
    fn new(table: &'a Table) -> Self {
        let class = |column: usize| {
            let cells: Vec<&str> = table.rows.iter().filter_map(|row| Some(row.get(column)?.as_str())).collect();
            if are_numbers(&cells) { "number" } else { "claim" }
        };
        let columns = table.headings.iter().enumerate().map(|(at, name)| Column { name, class: class(at) });
        // A cell beyond the headings has no column.
        let rows = table.rows.iter().map(|row| &row[..row.len().min(table.headings.len())]);
        Self { title: &table.title, columns: columns.collect(), rows: rows.collect() }
    }
}

/// Whether a column holds numbers: "12", "−1.2e-3 %", "2.3 ± 0.1", and dashes or a short word where there is none.
fn are_numbers(cells: &[&str]) -> bool {
    let number = |cell: &&str| {
        let bare = cell.trim_start_matches(['+', '-', '−', '<', '>', '≤', '≥', '≈', '~', ' ']);
        bare.starts_with(|c: char| c.is_ascii_digit()) && cell.chars().filter(|c| c.is_alphabetic()).count() <= 4
    };
    let absent = |cell: &&str| cell.chars().count() <= 5 && !cell.contains(|c: char| c.is_ascii_digit());
    cells.iter().any(number) && cells.iter().all(|cell| number(cell) || absent(cell))
}

/// How many claims stand how; empty where there is none.
fn counts(sections: &[Section]) -> String {
    let verdicts: Vec<Agreement> = sections.iter().flat_map(|s| &s.verdicts).map(|v| v.agreement).collect();
    let parts = [
        (Agreement::Agrees, "agrees", "agree"),
        (Agreement::Partly, "agrees in part", "agree in part"),
        (Agreement::Differs, "differs", "differ"),
        (Agreement::Open, "is left open", "are left open"),
    ];
    let part = |(agreement, one, many)| match verdicts.iter().filter(|a| **a == agreement).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("{}: {}.", counted(verdicts.len(), "claim"), parts.join(", "))
}

#[cfg(test)]
mod tests;
