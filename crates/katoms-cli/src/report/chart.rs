//! A chart of two axes: lines, bands, points, marked places, a legend.
//!
//! From top to bottom: the title of the vertical axis, the legend, a row for each marked place, the plot, the ticks,
//! the title of the horizontal axis. Nothing shares a row, so nothing overlaps whatever the data.

use std::fmt::Write;

use super::axis::Axis;
use super::svg::{Anchor, Drawing, LETTER, Tone, number, text_width};

/// How much room a chart has, in the units of its letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    /// All of the width.
    pub width: f64,
    /// The height of the plot alone.
    pub height: f64,
}

/// The form of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A disc.
    Disc,
    /// A small, pale disc, for many.
    Speck,
    /// A ring.
    Ring,
    /// A square on its edge.
    Diamond,
    /// A triangle.
    Triangle,
    /// Two crossing strokes.
    Cross,
}

/// A point, and what is said when hovered over.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spot {
    pub x: f64,
    pub y: f64,
    pub title: String,
}

const ROW: f64 = 18.0;

/// A chart in the making.
#[derive(Debug)]
pub(super) struct Chart {
    label: String,
    size: Size,
    x: Axis,
    y: Axis,
    left: f64,
    marks: Vec<Mark>,
    legend: Vec<(Tone, Key, String)>,
    places: Vec<(f64, Tone, String)>,
}

#[derive(Debug)]
struct Mark {
    class: String,
    path: String,
    title: String,
}

/// What stands before a text of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A stroke.
    Line,
    /// A pale box.
    Band,
    /// A point.
    Point(Shape),
}

impl Chart {
    /// Without marks yet. The label is what a screen reader says.
    pub(super) fn new(label: &str, size: Size, x: Axis, y: Axis) -> Self {
        let widest = y.ticks(y_ticks(size)).iter().map(|t| text_width(&t.1)).fold(18.0, f64::max);
        let (marks, legend, places) = Default::default();
        Self { label: label.into(), size, x, y, left: widest.min(size.width * 0.3) + 8.0, marks, legend, places }
    }

    /// A line through points by rising x; one that is not finite breaks it.
    pub(super) fn line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, "", points);
    }

    /// The same, drawn boldly.
    pub(super) fn bold_line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, " bold", points);
    }

    fn styled_line(&mut self, tone: Tone, style: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        let mut pen = 'M';
        for &(x, y) in points {
            match self.at(x, y) {
                Some((x, y)) => {
                    let _ = write!(path, "{pen}{} {}", number(x), number(y));
                    pen = 'L';
                }
                None => pen = 'M',
            }
        }
        self.mark(format!("line{style} {}", tone.class()), path, "");
    }

    /// The room between two curves: (x, low, high).
    pub(super) fn band(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
        let corner = |x, y: f64| self.at(x, y.clamp(self.y.low(), self.y.high()));
        let highs = points.iter().filter_map(|p| corner(p.0, p.2));
        let lows = points.iter().rev().filter_map(|p| corner(p.0, p.1));
        let corners: Vec<String> = highs.chain(lows).map(|(x, y)| format!("{} {}", number(x), number(y))).collect();
        if corners.len() > 2 {
            self.mark(format!("band {}", tone.class()), format!("M{}z", corners.join("L")), "");
        }
    }

    /// A bar from low to high: (x, low, high).
    pub(super) fn whiskers(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
        let mut path = String::new();
        for &(x, low, high) in points {
            let clamp = |y: f64| y.clamp(self.y.low(), self.y.high());
            if let (Some((x, low)), Some((_, high))) = (self.at(x, clamp(low)), self.at(x, clamp(high))) {
                let (x, left, low, high) = (number(x), number(x - 3.0), number(low), number(high));
                let _ = write!(path, "M{x} {low}V{high}M{left} {low}h6M{left} {high}h6");
            }
        }
        self.mark(format!("whisker {}", tone.class()), path, "");
    }

    /// Points that say what they are.
    pub(super) fn points(&mut self, tone: Tone, shape: Shape, spots: &[Spot]) {
        for spot in spots {
            if let Some(at) = self.at(spot.x, spot.y) {
                self.mark(format!("{} {}", shape.class(), tone.class()), shape.path(at), &spot.title);
            }
        }
    }

    /// A line in the legend.
    pub(super) fn explain(&mut self, tone: Tone, key: Key, text: &str) {
        self.legend.push((tone, key, text.into()));
    }

    /// A vertical line with a text above the plot.
    pub(super) fn place(&mut self, tone: Tone, x: f64, text: &str) {
        self.places.push((x, tone, text.into()));
    }

    /// The chart.
    pub(super) fn finish(self) -> String {
        let mut drawing = Drawing::new(self.size.width, &self.label);
        drawing.text((0.0, LETTER), Anchor::Start, "axis", &self.y.title);
        let top = self.draw_legend(&mut drawing, ROW + 4.0);
        let plot = top + self.places.len() as f64 * ROW + 4.0;
        let inner = plot + self.size.height;
        self.draw_axes(&mut drawing, plot);
        self.draw_places(&mut drawing, top, inner);
        drawing.append(&format!("<g transform=\"translate(0 {})\">", number(plot)));
        self.marks.iter().for_each(|m| drawing.path(&m.class, &m.path, &m.title));
        drawing.append("</g>");
        let bottom = inner + ROW * 2.0 + 2.0;
        drawing.text(((self.left + self.right()) / 2.0, bottom), Anchor::Middle, "axis", &self.x.title);
        drawing.finish(bottom + 6.0)
    }

    fn mark(&mut self, class: String, path: String, title: &str) {
        if !path.is_empty() {
            self.marks.push(Mark { class, path, title: title.into() });
        }
    }

    /// Where a point stands within the plot; outside of it, nowhere.
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (across, up) = (self.x.place(x), self.y.place(y));
        let inside = |v: f64| (-1e-9..=1.0 + 1e-9).contains(&v);
        (inside(across) && inside(up)).then(|| (self.across(across), (1.0 - up) * self.size.height))
    }

    fn right(&self) -> f64 {
        self.size.width - 10.0
    }

    fn across(&self, share: f64) -> f64 {
        self.left + share * (self.right() - self.left)
    }

    fn draw_axes(&self, drawing: &mut Drawing, top: f64) {
        let bottom = top + self.size.height;
        for (value, text) in self.y.ticks(y_ticks(self.size)) {
            let y = bottom - self.y.place(value) * self.size.height;
            drawing.rule((self.left, y), (self.right(), y), "grid");
            drawing.text((self.left - 7.0, y + 4.0), Anchor::End, "tick", &text);
        }
        let about = ((self.right() - self.left) / 62.0) as usize;
        for (value, text) in self.x.ticks(about) {
            let x = self.across(self.x.place(value));
            drawing.rule((x, bottom), (x, bottom + 4.0), "rule");
            drawing.text((x, bottom + ROW), Anchor::Middle, "tick", &text);
        }
        drawing.rule((self.left, bottom), (self.right(), bottom), "rule");
    }

    /// Each in a row of its own, its text on the side where there is room.
    fn draw_places(&self, drawing: &mut Drawing, top: f64, bottom: f64) {
        for (row, (value, tone, text)) in self.places.iter().enumerate() {
            let share = self.x.place(*value);
            if !(0.0..=1.0).contains(&share) {
                continue;
            }
            let (x, y) = (self.across(share), top + row as f64 * ROW);
            drawing.rule((x, y + 2.0), (x, bottom), &format!("place {}", tone.class()));
            let (anchor, shift) = if share < 0.5 { (Anchor::Start, 5.0) } else { (Anchor::End, -5.0) };
            drawing.text((x + shift, y + LETTER), anchor, &format!("word {}", tone.class()), text);
        }
    }

    /// As many entries in a row as fit; gives where the legend ends.
    fn draw_legend(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let (mut x, mut y) = (0.0, top);
        for (tone, key, text) in &self.legend {
            let width = 26.0 + text_width(text) + 14.0;
            if x > 0.0 && x + width > self.size.width {
                (x, y) = (0.0, y + ROW);
            }
            let (class, middle) = (tone.class(), y + 8.0);
            match key {
                Key::Line => drawing.rule((x, middle), (x + 20.0, middle), &format!("line {class}")),
                Key::Band => drawing.rectangle((x, y + 3.0), (20.0, 10.0), &format!("band {class}"), ""),
                Key::Point(shape) => {
                    let class = format!("{} {class}", shape.class());
                    drawing.path(&class, &shape.path((x + 10.0, middle)), "");
                }
            }
            drawing.text((x + 26.0, y + LETTER), Anchor::Start, "", text);
            x += width;
        }
        if self.legend.is_empty() { top } else { y + ROW + 4.0 }
    }
}

fn y_ticks(size: Size) -> usize {
    (size.height / 45.0) as usize
}

impl Shape {
    fn class(self) -> &'static str {
        match self {
            Self::Disc | Self::Diamond | Self::Triangle => "dot",
            Self::Speck => "speck",
            Self::Ring => "ring",
            Self::Cross => "cross",
        }
    }

    fn path(self, (x, y): (f64, f64)) -> String {
        let from = |dx: f64, dy: f64| format!("M{} {}", number(x + dx), number(y + dy));
        match self {
            Self::Disc => from(-3.5, 0.0) + "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
            Self::Ring => from(-3.5, 0.0) + "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
            Self::Speck => from(-2.5, 0.0) + "a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z",
            Self::Diamond => from(0.0, -5.0) + "l5 5l-5 5l-5-5z",
            Self::Triangle => from(0.0, -5.0) + "l5 8.5h-10z",
            Self::Cross => from(-3.5, -3.5) + "l7 7m0-7l-7 7",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Chart {
        let axis = |title| Axis::spanning(title, 0.0, 1.0).unwrap();
        Chart::new("a chart", Size { width: 400.0, height: 200.0 }, axis("across"), axis("up"))
    }

    #[test]
    fn corners_are_corners() {
        let chart = square();
        assert_eq!(chart.at(0.0, 0.0), Some((chart.left, 200.0)));
        assert_eq!(chart.at(1.0, 1.0), Some((390.0, 0.0)));
        assert_eq!([chart.at(0.5, 1.1), chart.at(f64::NAN, 0.5), chart.at(0.5, f64::INFINITY)], [None; 3]);
    }

    #[test]
    fn a_line_breaks_where_there_is_nothing() {
        let mut chart = square();
        chart.line(Tone::Model, &[(0.0, 0.0), (0.5, f64::NAN), (0.6, 0.5), (1.0, 1.0)]);
        chart.line(Tone::Model, &[]);
        assert_eq!(chart.marks.len(), 1);
        assert_eq!(chart.marks[0].path.matches('M').count(), 2);
    }

    #[test]
    fn two_places_never_share_a_row() {
        let mut chart = square();
        chart.place(Tone::Chosen, 0.5, "first");
        chart.place(Tone::Other, 0.5, "second");
        let svg = chart.finish();
        let rows: Vec<&str> = svg.split("<text ").filter(|t| t.contains("word")).collect();
        assert_eq!(rows.len(), 2);
        let y = |text: &str| text.split("y=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_ne!(y(rows[0]), y(rows[1]));
    }
}
