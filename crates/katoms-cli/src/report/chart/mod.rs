//! A chart of two axes: lines, bands, points, marked places, a legend.
//!
//! From top to bottom: the title of the vertical axis, the legend, rows for shaded ranges, a row for each marked place,
//! the plot, the ticks, the title of the horizontal axis. Nothing shares a row, so nothing overlaps whatever the data.

mod clip;
mod frame;
mod legend;
#[cfg(feature = "paper")]
mod paper;
mod shape;
mod thin;

use std::fmt::Write;

use super::axis::Axis;
use super::svg::{Anchor, Drawing, LETTER, Tone, number, text_width};

use frame::y_ticks;
pub(crate) use legend::{Key, Legend};
pub(crate) use shape::Shape;

/// How much room a chart has, in the units of its letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    /// All of the width.
    pub width: f64,
    /// The height of the plot alone.
    pub height: f64,
}

/// A point, and what is said when hovered over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
    pub title: String,
}

const ROW: f64 = 18.0;

/// A chart in the making.
#[derive(Debug)]
pub(crate) struct Chart {
    label: String,
    size: Size,
    x: Axis,
    y: Axis,
    left: f64,
    marks: Vec<Mark>,
    legend: Legend,
    places: Vec<(f64, Tone, String)>,
    shades: Vec<Shade>,
}

/// A shaded range, in shares of the width.
#[derive(Debug)]
struct Shade {
    from: f64,
    to: f64,
    tone: Tone,
    text: String,
    /// Which row above the plot holds its text; none for one without.
    row: Option<usize>,
}

#[derive(Debug)]
struct Mark {
    class: String,
    path: String,
    title: String,
}

impl Chart {
    /// Without marks yet. The label is what a screen reader says.
    pub(crate) fn new(label: &str, size: Size, x: Axis, y: Axis) -> Self {
        let widest = y.ticks(y_ticks(size)).iter().map(|t| text_width(&t.1)).fold(18.0, f64::max);
        let left = widest.min(size.width * 0.3) + 8.0;
        let (marks, legend, places, shades) = Default::default();
        Self { label: label.into(), size, x, y, left, marks, legend, places, shades }
    }

    /// A line through points by rising x; one that is not finite breaks it.
    pub(crate) fn line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, "", points);
    }

    /// The same, drawn boldly.
    pub(crate) fn bold_line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, " bold", points);
    }

    fn styled_line(&mut self, tone: Tone, style: &str, points: &[(f64, f64)]) {
        let path = self.trace(points);
        self.mark(format!("line{style} {}", tone.class()), path, "");
    }

    /// The path through points, cut at the border of the plot.
    fn trace(&self, points: &[(f64, f64)]) -> String {
        let places: Vec<_> = points.iter().map(|&(x, y)| (self.x.place(x), self.y.place(y))).collect();
        let mut path = String::new();
        for run in places.split(|place| !clip::finite(place)) {
            let near = |v: f64| v.clamp(-FAR, FAR);
            let line = thin::line(run.iter().map(|&(x, y)| self.unit((near(x), near(y)))).collect());
            let places: Vec<_> = line.into_iter().map(|unit| self.share(unit)).collect();
            for part in clip::line(&places) {
                path += &joined(&part.iter().map(|&place| self.unit(place)).collect::<Vec<_>>());
                if part.len() == 1 {
                    // Round ends make a point of it.
                    path += "h.01";
                }
            }
        }
        path
    }

    /// The room between two curves: (x, low, high).
    pub(crate) fn band(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
        let path = points.split(|p| p.0.is_nan() || p.1.is_nan() || p.2.is_nan()).map(|run| self.area(run)).collect();
        self.mark(format!("band {}", tone.class()), path, "");
    }

    /// The path around a band without gaps, cut at the border of the plot.
    fn area(&self, points: &[(f64, f64, f64)]) -> String {
        // What has no place on a logarithmic axis lies far below.
        let up = |value: f64| Some(self.y.place(value)).filter(|p| !p.is_nan()).unwrap_or(-FAR).clamp(-FAR, FAR);
        let edge = |height: &dyn Fn(&(f64, f64, f64)) -> f64| {
            let places = points.iter().map(|p| (self.x.place(p.0), up(height(p))));
            let units = places.filter(|p| p.0.is_finite()).map(|place| self.unit(place));
            thin::line(units.collect())
        };
        let (highs, lows) = (edge(&|p| p.2), edge(&|p| p.1));
        let corners = highs.into_iter().chain(lows.into_iter().rev()).map(|unit| self.share(unit)).collect();
        let corners: Vec<_> = clip::area(corners).into_iter().map(|place| self.unit(place)).collect();
        if corners.len() > 2 { joined(&corners) + "z" } else { String::new() }
    }

    /// A bar from low to high: (x, low, high).
    pub(crate) fn whiskers(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
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
    pub(crate) fn points(&mut self, tone: Tone, shape: Shape, spots: &[Spot]) {
        for spot in spots {
            if let Some(at) = self.at(spot.x, spot.y) {
                self.mark(format!("{} {}", shape.class(), tone.class()), shape.path(at), &spot.title);
            }
        }
    }

    /// A line in the legend.
    pub(crate) fn explain(&mut self, tone: Tone, key: Key, text: &str) {
        self.legend.add(tone, key, text);
    }

    /// A vertical line with a text above the plot; outside of it, nothing.
    pub(crate) fn place(&mut self, tone: Tone, x: f64, text: &str) {
        if (0.0..=1.0).contains(&self.x.place(x)) {
            self.places.push((x, tone, text.into()));
        }
    }

    /// The chart.
    pub(crate) fn finish(self) -> String {
        let mut drawing = Drawing::new(self.size.width, &self.label);
        let bottom = self.draw(&mut drawing, 0.0);
        drawing.finish(bottom)
    }

    /// How much stands above the plot.
    pub(crate) fn head(&self) -> f64 {
        let labels = self.shade_rows() + self.places.len();
        let heading = self.headings(&self.y).len().max(1) as f64 * ROW + 4.0;
        heading + self.legend.height(self.size.width) + labels as f64 * ROW + 4.0
    }

    /// Draws all of it, with some room to spare above the plot; gives where it ends.
    pub(crate) fn draw(&self, drawing: &mut Drawing, spare: f64) -> f64 {
        let headings = self.headings(&self.y);
        for (row, line) in headings.iter().enumerate() {
            drawing.text((0.0, LETTER + row as f64 * ROW), Anchor::Start, "axis", line);
        }
        self.legend.draw(drawing, self.size.width, headings.len().max(1) as f64 * ROW + 4.0);
        let plot = self.head() + spare;
        let labels = plot - 4.0 - (self.shade_rows() + self.places.len()) as f64 * ROW;
        let inner = plot + self.size.height;
        self.draw_axes(drawing, plot);
        self.draw_shades(drawing, labels, plot);
        self.draw_places(drawing, labels + self.shade_rows() as f64 * ROW, inner);
        drawing.shifted((0.0, plot), |drawing| {
            self.marks.iter().for_each(|m| drawing.path(&m.class, &m.path, &m.title));
        });
        let mut bottom = inner + ROW + 2.0;
        for line in self.headings(&self.x) {
            bottom += ROW;
            drawing.text(((self.left + self.right()) / 2.0, bottom), Anchor::Middle, "axis", &line);
        }
        bottom + 6.0
    }

    fn mark(&mut self, class: String, path: String, title: &str) {
        if !path.is_empty() {
            self.marks.push(Mark { class, path, title: title.into() });
        }
    }

    /// Where a point stands within the plot; outside of it, nowhere.
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let place = (self.x.place(x), self.y.place(y));
        clip::inside(&place).then(|| self.unit(place))
    }

    /// From shares of the plot to units.
    fn unit(&self, (across, up): (f64, f64)) -> (f64, f64) {
        (self.across(across), (1.0 - up) * self.size.height)
    }

    /// From units to shares of the plot.
    fn share(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.left) / (self.right() - self.left), 1.0 - y / self.size.height)
    }

    fn right(&self) -> f64 {
        self.size.width - 10.0
    }

    fn across(&self, share: f64) -> f64 {
        self.left + share * (self.right() - self.left)
    }
}

/// Farther than anything that is seen, in shares of the plot.
const FAR: f64 = 1e9;

/// Straight lines from point to point.
fn joined(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for &(x, y) in points {
        let _ = write!(path, "{pen}{} {}", number(x), number(y));
        pen = 'L';
    }
    path
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
        chart.place(Tone::Other, 1.5, "outside");
        assert_eq!(chart.places.len(), 2);
        let svg = chart.finish();
        let rows: Vec<&str> = svg.split("<text ").filter(|t| t.contains("word")).collect();
        assert_eq!(rows.len(), 2);
        let y = |text: &str| text.split("y=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_ne!(y(rows[0]), y(rows[1]));
    }
}
