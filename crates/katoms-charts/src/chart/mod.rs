//! A chart of two axes: lines, bands, points, marked places, a legend.
//!
//! From top to bottom: the title of the vertical axis, the legend, rows for shaded ranges, a row for each marked place,
//! the plot, the ticks, the title of the horizontal axis. Nothing shares a row, so nothing overlaps whatever the data.

mod clip;
mod frame;
mod legend;
mod marks;
mod shape;
mod thin;

use crate::axis::Axis;
use crate::svg::{Anchor, Drawing, LETTER, Tone, text_width};

use frame::y_ticks;
pub use legend::{Key, Legend};
pub use shape::Shape;

/// How much room a chart has, in the units of its letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// All of the width.
    pub width: f64,
    /// The height of the plot alone.
    pub height: f64,
}

/// A point, and what is said when hovered over.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// Where it stands across.
    pub x: f64,
    /// Where it stands up.
    pub y: f64,
    /// What is said.
    pub title: String,
}

const ROW: f64 = 18.0;

/// A chart in the making.
#[derive(Debug)]
pub struct Chart {
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
    pub fn new(label: &str, size: Size, x: Axis, y: Axis) -> Self {
        let widest = y.ticks(y_ticks(size)).iter().map(|t| text_width(&t.1)).fold(18.0, f64::max);
        let left = widest.min(size.width * 0.3) + 8.0;
        let (marks, legend, places, shades) = Default::default();
        Self { label: label.into(), size, x, y, left, marks, legend, places, shades }
    }

    /// A line in the legend.
    pub fn explain(&mut self, tone: Tone, key: Key, text: &str) {
        self.legend.add(tone, key, text);
    }

    /// A vertical line with a text above the plot; outside of it, nothing.
    pub fn place(&mut self, tone: Tone, x: f64, text: &str) {
        if (0.0..=1.0).contains(&self.x.place(x)) {
            self.places.push((x, tone, text.into()));
        }
    }

    /// Where the plot begins: panels above each other share it.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// Moves the beginning of the plot to the right. Before any mark.
    pub fn indent(&mut self, left: f64) {
        self.left = self.left.max(left);
    }

    /// The chart.
    pub fn finish(self) -> String {
        let mut drawing = Drawing::new(self.size.width, &self.label);
        let bottom = self.draw(&mut drawing, 0.0);
        drawing.finish(bottom)
    }

    /// How much stands above the plot.
    pub fn head(&self) -> f64 {
        let labels = self.shade_rows() + self.places.len();
        let heading = self.headings(&self.y).len().max(1) as f64 * ROW + 4.0;
        heading + self.legend.height(self.size.width) + labels as f64 * ROW + 4.0
    }

    /// Draws all of it, with some room to spare above the plot; gives where it ends.
    pub fn draw(&self, drawing: &mut Drawing, spare: f64) -> f64 {
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

    fn unit(&self, (across, up): (f64, f64)) -> (f64, f64) {
        (self.across(across), (1.0 - up) * self.size.height)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn square() -> Chart {
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

    #[test]
    fn texts_of_ranges_share_a_row_only_side_by_side() {
        let mut chart = square();
        chart.shade(Tone::Guide, 0.0, 0.3, "first");
        chart.shade(Tone::Guide, 0.7, 1.0, "beside");
        chart.shade(Tone::Guide, 0.1, 0.9, "across both");
        chart.shade(Tone::Guide, 2.0, 3.0, "outside");
        let rows: Vec<_> = chart.shades.iter().map(|s| s.row).collect();
        assert_eq!(rows, [Some(0), Some(0), Some(1)]);
    }
}
