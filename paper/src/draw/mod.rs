//! A figure as SVG that stands alone: its colours and letters are its own.
//!
//! From top to bottom: the headline, one legend for all panels, the colours of maps, the panels in rows. In a row the
//! plots begin at one height, in a column at one left edge. Charts are drawn by the code of the fit reports.

mod axes;
mod colour;
mod inks;
mod panel;
mod raster;

use std::collections::BTreeSet;

use crate::figure::{Body, Figure, Panel};

use inks::{Inks, LEVELS};
use katoms_charts::chart::Legend;
use katoms_charts::svg::{Anchor, Drawing, LETTER, escaped, wrapped};
use panel::{Drawn, begin};
pub use raster::png;

/// The room around all, and between panels.
const MARGIN: f64 = 16.0;
const GAP: f64 = 26.0;
const ROW: f64 = 18.0;
/// Bold letters are wider than plain ones; those of the headline are larger too.
const BOLD: f64 = 1.12;
const HEADLINE: f64 = BOLD * 15.0 / LETTER;
/// The width of a map's scale.
const SCALE: f64 = 150.0;

/// The figure as an SVG file.
pub fn draw(figure: &Figure) -> String {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let wide = panel_width(columns);
    let width = 2.0 * MARGIN + columns as f64 * wide + (columns - 1) as f64 * GAP;
    let (mut inks, mut legend) = (Inks::default(), Legend::default());
    let drawn = filled(&figure.panels, columns, wide, &mut inks, &mut legend);
    let scales = scales(figure, &mut inks);

    let mut drawing = Drawing::new(width, &figure.title);
    let room = width - 2.0 * MARGIN;
    let mut top = MARGIN;
    for line in wrapped(&figure.title, room / HEADLINE) {
        drawing.text((MARGIN, top + 14.0), Anchor::Start, "headline", &line);
        top += 20.0;
    }
    top += 6.0;
    top = drawing.shifted((MARGIN, top), |drawing| legend.draw(drawing, room, 0.0)) + top;
    for meaning in scales {
        draw_scale(&mut drawing, &meaning, top);
        top += ROW + 4.0;
    }
    top += 4.0;
    for (panels, drawn) in figure.panels.chunks(columns).zip(drawn.chunks(columns)) {
        top = draw_row(&mut drawing, panels, drawn, wide, top) + 14.0;
    }
    let id = format!("figure-{}", word(&figure.name));
    let height = top - 14.0 + MARGIN / 2.0;
    let head = format!(
        "<desc>{}</desc><style>{}</style><path class=\"page\" d=\"M0 0h{width}v{height:.2}h-{width}z\"/>",
        escaped(&figure.caption),
        inks.style(&id),
    );
    drawing.finish_alone(height, &id, &head)
}

/// How wide a panel is where so many stand in a row. Few are wider; the letters of all have one size.
fn panel_width(columns: usize) -> f64 {
    match columns {
        1 => 640.0,
        2 => 460.0,
        3 => 350.0,
        4 => 270.0,
        _ => 220.0,
    }
}

/// All panels with their marks; plots of one column begin at one left edge.
fn filled<'a>(panels: &'a [Panel], columns: usize, width: f64, inks: &mut Inks, legend: &mut Legend) -> Vec<Drawn<'a>> {
    let mut drawn: Vec<Drawn<'_>> = panels.iter().map(|panel| begin(panel, width)).collect();
    let left = |column: usize| drawn.iter().skip(column).step_by(columns).map(Drawn::left).fold(0.0, f64::max);
    let lefts: Vec<f64> = (0..columns).map(left).collect();
    for (at, (drawn, panel)) in drawn.iter_mut().zip(panels).enumerate() {
        drawn.fill(panel, lefts[at % columns], inks, legend);
    }
    drawn
}

/// Draws panels side by side under their titles; gives where they end.
fn draw_row(drawing: &mut Drawing, panels: &[Panel], drawn: &[Drawn<'_>], width: f64, top: f64) -> f64 {
    let titles: Vec<Vec<String>> = panels.iter().map(|p| wrapped(&p.title, width / BOLD)).collect();
    let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
    let body = top + lines as f64 * ROW + if lines > 0 { 4.0 } else { 0.0 };
    let head = drawn.iter().map(Drawn::head).fold(0.0, f64::max);
    let mut bottom = body;
    for (column, (title, drawn)) in titles.iter().zip(drawn).enumerate() {
        let left = MARGIN + column as f64 * (width + GAP);
        // A shorter title stands on the ground of the longest.
        for (row, line) in (lines - title.len()..).zip(title) {
            drawing.text((left, top + LETTER + row as f64 * ROW), Anchor::Start, "panel", line);
        }
        let height = drawing.shifted((left, body), |drawing| drawn.draw(drawing, head - drawn.head()));
        bottom = bottom.max(body + height);
    }
    bottom
}

/// What the colours of the maps mean, each meaning once.
fn scales(figure: &Figure, inks: &mut Inks) -> BTreeSet<String> {
    let meaning = |panel: &Panel| if let Body::Map(map) = &panel.body { Some(map.meaning.clone()) } else { None };
    let meanings: BTreeSet<String> = figure.panels.iter().filter_map(meaning).collect();
    if !meanings.is_empty() {
        (0..=LEVELS).for_each(|level| _ = inks.level(level as f64 / LEVELS as f64));
    }
    meanings
}

/// All colours of a map from 0 to 1, and what they mean.
fn draw_scale(drawing: &mut Drawing, meaning: &str, top: f64) {
    let (left, step) = (MARGIN + 12.0, SCALE / (LEVELS + 1) as f64);
    drawing.text((MARGIN, top + LETTER), Anchor::Start, "tick", "0");
    for level in 0..=LEVELS {
        let at = (left + level as f64 * step, top + 2.0);
        drawing.rectangle(at, (step, 12.0), &format!("heat h{level}"), "");
    }
    drawing.text((left + SCALE + 5.0, top + LETTER), Anchor::Start, "tick", "1");
    drawing.text((left + SCALE + 20.0, top + LETTER), Anchor::Start, "", meaning);
}

/// A name as an id may hold it.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
pub mod tests;
