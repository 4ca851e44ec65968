//! What stands around a plot: ticks, and the texts of shaded ranges and marked places.

use super::{Chart, ROW, Shade, Size};
use crate::axis::Axis;
use crate::svg::{Anchor, Drawing, LETTER, Tone, text_width, wrapped};

impl Chart {
    pub(super) fn headings(&self, axis: &Axis) -> Vec<String> {
        wrapped(&axis.heading(), self.size.width)
    }

    /// A range of x behind all marks, its text above the plot. What lies outside is cut off.
    pub fn shade(&mut self, tone: Tone, from: f64, to: f64, text: &str) {
        let ends = [from, to].map(|x| self.x.place(x)).map(|p| if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) });
        let [from, to] = ends;
        if from < to {
            let row = (!text.is_empty()).then(|| self.free_row(text, from, to));
            self.shades.push(Shade { from, to, tone, text: text.into(), row });
        }
    }

    /// The first row in which the text and the bar of a range touch no other.
    fn free_row(&self, text: &str, from: f64, to: f64) -> usize {
        let span = |text: &str, from: f64, to: f64| {
            let (left, right) = (self.across(from), self.across(to));
            let (middle, half) = (self.middle_of(text, (left + right) / 2.0), text_width(text) / 2.0);
            (left.min(middle - half) - 4.0, right.max(middle + half) + 4.0)
        };
        let (low, high) = span(text, from, to);
        let apart = |other: &Shade| {
            let (left, right) = span(&other.text, other.from, other.to);
            high < left || low > right
        };
        (0..).find(|row| self.shades.iter().filter(|s| s.row == Some(*row)).all(apart)).unwrap_or(0)
    }

    pub(super) fn shade_rows(&self) -> usize {
        self.shades.iter().filter_map(|shade| shade.row).max().map_or(0, |row| row + 1)
    }

    pub(super) fn draw_shades(&self, drawing: &mut Drawing, top: f64, plot: f64) {
        for shade in &self.shades {
            let (left, right, class) = (self.across(shade.from), self.across(shade.to), shade.tone.class());
            drawing.rectangle((left, plot), (right - left, self.size.height), &format!("shade {class}"), &shade.text);
            if let Some(row) = shade.row {
                let bottom = top + (row + 1) as f64 * ROW;
                let x = self.middle_of(&shade.text, (left + right) / 2.0);
                drawing.text((x, bottom - 5.0), Anchor::Middle, &format!("word {class}"), &shade.text);
                // Over the halo of the text.
                drawing.rule((left, bottom - 1.0), (right, bottom - 1.0), &format!("brace {class}"));
            }
        }
    }

    pub(super) fn middle_of(&self, text: &str, near: f64) -> f64 {
        let half = text_width(text) / 2.0;
        near.min(self.size.width - half).max(half)
    }

    pub(super) fn draw_axes(&self, drawing: &mut Drawing, top: f64) {
        let bottom = top + self.size.height;
        for (value, text) in self.y.ticks(y_ticks(self.size)) {
            let y = bottom - self.y.place(value) * self.size.height;
            drawing.rule((self.left, y), (self.right(), y), "grid");
            drawing.text((self.left - 7.0, y + 4.0), Anchor::End, "tick", &text);
        }
        for (value, text) in self.x_ticks() {
            let x = self.across(self.x.place(value));
            drawing.rule((x, bottom), (x, bottom + 4.0), "rule");
            drawing.text((x, bottom + ROW), Anchor::Middle, "tick", &text);
        }
        drawing.rule((self.left, bottom), (self.right(), bottom), "rule");
    }

    fn x_ticks(&self) -> Vec<(f64, String)> {
        let width = self.right() - self.left;
        let fits = |ticks: &Vec<(f64, String)>| {
            let widest = ticks.iter().map(|t| text_width(&t.1)).fold(0.0, f64::max);
            ticks.windows(2).all(|t| (self.x.place(t[1].0) - self.x.place(t[0].0)) * width >= widest + 20.0)
        };
        let most = (width / 50.0) as usize;
        (2..=most).rev().map(|about| self.x.ticks(about)).find(fits).unwrap_or_else(|| self.x.ticks(2))
    }

    pub(super) fn draw_places(&self, drawing: &mut Drawing, top: f64, bottom: f64) {
        let mut places: Vec<_> =
            self.places.iter().map(|(value, tone, text)| (self.x.place(*value), tone, text)).collect();
        // The leftmost on top: the lines of the others begin below its text.
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (row, (share, tone, text)) in places.into_iter().enumerate() {
            let (x, y) = (self.across(share), top + row as f64 * ROW);
            drawing.rule((x, y + 2.0), (x, bottom), &format!("place {}", tone.class()));
            let (wide, all) = (text_width(text), self.size.width);
            let (anchor, x) = if share < 0.5 {
                (Anchor::Start, (x + 5.0).min(all - wide).max(0.0))
            } else {
                (Anchor::End, (x - 5.0).max(wide).min(all))
            };
            drawing.text((x, y + LETTER), anchor, &format!("word {}", tone.class()), text);
        }
    }
}

pub(super) fn y_ticks(size: Size) -> usize {
    (size.height / 42.0) as usize
}
