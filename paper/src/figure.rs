//! Figures as data: panels of curves, maps or pictures. `draw` draws them; a test reads them.

use serde::{Deserialize, Deserializer, Serialize};

use crate::Contestant;

/// Panels side by side, under one caption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its file name without ending. The first figure of an experiment has the experiment's name.
    pub name: String,
    pub title: String,
    pub caption: String,
    /// How many panels stand in a row.
    pub columns: usize,
    /// In reading order.
    pub panels: Vec<Panel>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    pub title: String,
    pub body: Body,
}

impl Panel {
    /// Curves over two axes.
    pub fn chart(title: impl Into<String>, x: Axis, y: Axis, curves: Vec<Curve>) -> Self {
        let chart = Chart { x, y, curves, shades: Vec::new(), places: Vec::new() };
        Self { title: title.into(), body: Body::Chart(chart) }
    }
}

/// What a panel shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    Chart(Chart),
    Map(Map),
    Picture(Picture),
}

/// Curves over two axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    pub x: Axis,
    pub y: Axis,
    /// In drawing order: the last is on top. Curves with the same ink and label have one entry in the legend of the figure.
    pub curves: Vec<Curve>,
    pub shades: Vec<Shade>,
    /// Places on x, marked by a vertical line.
    pub places: Vec<Place>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    pub kind: AxisKind,
    /// From where to where; by default around what is shown.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// Values placed evenly.
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: AxisKind::Linear, range: None }
    }

    /// Values placed by their logarithm; what is not positive has no place.
    pub fn log(title: impl Into<String>) -> Self {
        Self { kind: AxisKind::Log, ..Self::linear(title) }
    }

    /// The same from here to there; curves are cut off beyond.
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }
}

/// How values are placed on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisKind {
    Linear,
    Log,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What the legend says.
    pub label: String,
    pub ink: Ink,
    pub stroke: Stroke,
    /// By rising x. A value that is not finite breaks the line.
    #[serde(deserialize_with = "with_gaps")]
    pub points: Vec<(f64, f64)>,
    /// (x, low, high): drawn pale behind it. May be empty.
    pub band: Vec<(f64, f64, f64)>,
}

impl Curve {
    /// A solid line without a band.
    pub fn new(label: impl Into<String>, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.into(), ink, stroke: Stroke::Solid, points, band: Vec::new() }
    }

    /// The line of a method, with its name and colour.
    pub fn of(contestant: Contestant, points: Vec<(f64, f64)>) -> Self {
        Self::new(contestant.label(), Ink::Of(contestant), points)
    }

    /// Drawn otherwise.
    pub fn stroked(self, stroke: Stroke) -> Self {
        Self { stroke, ..self }
    }

    /// With a band behind it.
    pub fn banded(self, band: Vec<(f64, f64, f64)>) -> Self {
        Self { band, ..self }
    }
}

/// JSON has no word for what is not finite and writes null: it is read as NaN.
fn with_gaps<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let points = Vec::<(Option<f64>, Option<f64>)>::deserialize(from)?;
    Ok(points.into_iter().map(|(x, y)| (x.unwrap_or(f64::NAN), y.unwrap_or(f64::NAN))).collect())
}

/// A colour by what it means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ink {
    /// A method's own, the same in every figure.
    Of(Contestant),
    /// From a scale of two hues that meet at 0: −1 to 1.
    Scale(f64),
    /// What only helps to read.
    Guide,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stroke {
    Solid,
    /// The same method in another setting.
    Dashed,
    Dotted,
    /// Points only, no line.
    Points,
}

/// A shaded range of x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shade {
    pub from: f64,
    pub to: f64,
    pub label: String,
    pub ink: Ink,
}

/// A place on x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    pub x: f64,
    pub label: String,
}

/// Values over a grid, 0 (pale) to 1 (full).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Map {
    pub x: Axis,
    pub y: Axis,
    /// Centres of the columns, rising.
    pub xs: Vec<f64>,
    /// Centres of the rows, rising.
    pub ys: Vec<f64>,
    /// values[row][column].
    pub values: Vec<Vec<f64>>,
    /// What a value is: "share of draws recovered".
    pub meaning: String,
    /// Curves on top.
    pub curves: Vec<Curve>,
}

/// A grey picture as PNG, in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub png: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_line_is_saved_and_read_again() {
        let curve = Curve::of(Contestant::Iht, vec![(0.0, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)]);
        let again: Curve = serde_json::from_str(&serde_json::to_string(&curve).unwrap()).unwrap();
        assert!(again.points[1].1.is_nan());
        assert_eq!((again.points[0], again.points[2]), (curve.points[0], curve.points[2]));
    }
}
