//! One panel: a chart, a map or a picture.

use crate::figure::{Body, Chart, Curve, Ink, Map, Panel, Picture, Stroke};

use super::axes;
use super::inks::{Inks, classes, key};
use katoms_charts::chart::{self, Legend, Shape, Size, Spot};
use katoms_charts::number;
use katoms_charts::svg::{self, Drawing};

/// So many points at most say what they are; more are one mark.
const SAYING: usize = 40;

/// A panel ready to be drawn.
#[derive(Debug)]
pub(super) enum Drawn<'a> {
    /// Over two axes.
    Axes(Box<chart::Chart>),
    /// A picture, so wide and high.
    Picture(&'a Picture, (f64, f64)),
}

/// The axes of a panel, on which nothing is drawn yet.
pub(super) fn begin<'a>(panel: &'a Panel, width: f64) -> Drawn<'a> {
    let framed = |height, (x, y)| Drawn::Axes(Box::new(chart::Chart::new(&panel.title, Size { width, height }, x, y)));
    match &panel.body {
        Body::Chart(chart) => framed((width * 0.3 + 100.0).round(), axes::of_chart(chart)),
        Body::Map(map) => framed((width * 0.72).round(), axes::of_map(map)),
        Body::Picture(picture) => {
            let (columns, rows) = (picture.width.max(1) as f64, picture.height.max(1) as f64);
            // A very tall one is made narrower.
            let width = width.min(2.0 * width * columns / rows);
            Drawn::Picture(picture, (width, width * rows / columns))
        }
    }
}

impl Drawn<'_> {
    /// Where its plot begins from its left.
    pub(super) fn left(&self) -> f64 {
        if let Self::Axes(chart) = self { chart.left() } else { 0.0 }
    }

    /// What stands above its plot.
    pub(super) fn head(&self) -> f64 {
        if let Self::Axes(chart) = self { chart.head() } else { 0.0 }
    }

    /// Moves the plot to the right, and puts the marks on it.
    pub(super) fn fill(&mut self, panel: &Panel, left: f64, inks: &mut Inks, legend: &mut Legend) {
        let Self::Axes(drawn) = self else { return };
        drawn.indent(left);
        match &panel.body {
            Body::Chart(chart) => fill_chart(drawn, chart, inks, legend),
            Body::Map(map) => fill_map(drawn, map, inks, legend),
            Body::Picture(_) => {}
        }
    }

    /// Draws it, its plot some room lower; gives its height.
    pub(super) fn draw(&self, drawing: &mut Drawing, spare: f64) -> f64 {
        match self {
            Self::Axes(chart) => chart.draw(drawing, spare),
            Self::Picture(picture, (width, height)) => {
                drawing.append(&image(picture, *width, *height));
                height + 6.0
            }
        }
    }
}

fn fill_chart(drawn: &mut chart::Chart, chart: &Chart, inks: &mut Inks, legend: &mut Legend) {
    for shade in &chart.shades {
        drawn.shade(inks.tone(shade.ink), shade.from, shade.to, &shade.label);
    }
    for curve in chart.curves.iter().filter(|curve| !curve.band.is_empty()) {
        drawn.band(inks.tone(curve.ink), &curve.band);
    }
    for curve in &chart.curves {
        let tone = inks.tone(curve.ink);
        let class = format!("{} {}", classes(curve.stroke), tone.class());
        match curve.stroke {
            Stroke::Points if curve.points.len() <= SAYING => drawn.points(tone, Shape::Disc, &spots(curve)),
            Stroke::Points => drawn.cloud(&class, &curve.points, &curve.label),
            _ => drawn.told_line(&class, &curve.points, &curve.label),
        }
        explain(curve, inks, legend);
    }
    for place in &chart.places {
        drawn.place(inks.tone(Ink::Guide), place.x, &place.label);
    }
}

fn fill_map(drawn: &mut chart::Chart, map: &Map, inks: &mut Inks, legend: &mut Legend) {
    let (across, up) = axes::edges_of(map);
    let levels: Vec<Vec<_>> = map.values.iter().map(|row| row.iter().map(|&v| inks.level(v)).collect()).collect();
    drawn.cells(&across, &up, |row, column| levels.get(row)?.get(column).copied().flatten());
    for curve in &map.curves {
        let class = format!("{} thick {}", classes(curve.stroke), inks.tone(curve.ink).class());
        drawn.told_line("halo", &curve.points, "");
        drawn.told_line(&class, &curve.points, &curve.label);
        explain(curve, inks, legend);
    }
}

/// Puts a curve into the legend; one without a label needs no key.
fn explain(curve: &Curve, inks: &mut Inks, legend: &mut Legend) {
    if !curve.label.is_empty() {
        legend.add(inks.tone(curve.ink), key(curve.stroke), &curve.label);
    }
}

fn spots(curve: &Curve) -> Vec<Spot> {
    let title = |x, y| format!("{}: {}, {}", curve.label, number::short(x), number::short(y));
    curve.points.iter().map(|&(x, y)| Spot { x, y, title: title(x, y) }).collect()
}

/// The picture as an element. Its pixels are not smoothed: what is missing between them is part of what is seen.
fn image(picture: &Picture, width: f64, height: f64) -> String {
    format!(
        "<image width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
         href=\"data:image/png;base64,{}\"/>",
        svg::number(width),
        svg::number(height),
        svg::escaped(&picture.png)
    )
}
