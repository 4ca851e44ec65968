//! What only the figures of the paper have: styled lines, clouds of points, shaded ranges, maps, panels in line.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::svg::{Tone, number, text_width};
use super::{Chart, Shade, joined, thin};

impl Chart {
    /// Where the plot begins: panels above each other share it.
    pub(crate) fn left(&self) -> f64 {
        self.left
    }

    /// Moves the beginning of the plot to the right. Before any mark.
    pub(crate) fn indent(&mut self, left: f64) {
        self.left = self.left.max(left);
    }

    /// A line of some classes that says what it is.
    pub(crate) fn told_line(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let path = self.trace(points);
        self.mark(class.to_owned(), path, title);
    }

    /// Many points in one mark: a stroke without length has round ends.
    pub(crate) fn cloud(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let mut path = String::new();
        for at in thin::cloud(points.iter().filter_map(|&(x, y)| self.at(x, y))) {
            path += &joined(&[at]);
            path += "h.01";
        }
        self.mark(class.to_owned(), path, title);
    }

    /// A range of x behind all marks, its text above the plot. What lies outside is cut off.
    pub(crate) fn shade(&mut self, tone: Tone, from: f64, to: f64, text: &str) {
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

    /// Cells between edges, by their level; one without a level leaves a hole. Neighbours alike are one mark.
    pub(crate) fn cells(&mut self, across: &[f64], up: &[f64], level: impl Fn(usize, usize) -> Option<usize>) {
        let bound = |place: f64| if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) };
        let xs: Vec<f64> = across.iter().map(|&x| self.across(bound(self.x.place(x)))).collect();
        let ys: Vec<f64> = up.iter().map(|&y| (1.0 - bound(self.y.place(y))) * self.size.height).collect();
        let mut levels: BTreeMap<usize, String> = BTreeMap::new();
        for (row, ends) in ys.windows(2).enumerate() {
            let columns: Vec<usize> = (0..xs.len().saturating_sub(1)).collect();
            for run in columns.chunk_by(|&a, &b| level(row, a) == level(row, b)) {
                let (left, right) = (xs[run[0]], xs[run[run.len() - 1] + 1]);
                if let Some(level) = level(row, run[0]).filter(|_| right > left && ends[0] > ends[1]) {
                    let path = levels.entry(level).or_default();
                    let (wide, high) = (number(right - left), number(ends[0] - ends[1]));
                    let _ = write!(path, "M{} {}h{wide}v{high}h-{wide}z", number(left), number(ends[1]));
                }
            }
        }
        levels.into_iter().for_each(|(level, path)| self.mark(format!("heat h{level}"), path, ""));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::axis::Axis;
    use super::super::Size;
    use super::*;

    fn square() -> Chart {
        let axis = |title| Axis::spanning(title, 0.0, 1.0).unwrap();
        Chart::new("a chart", Size { width: 400.0, height: 200.0 }, axis("across"), axis("up"))
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

    #[test]
    fn neighbours_alike_are_one_cell() {
        let mut chart = square();
        chart.cells(&[0.0, 0.25, 0.5, 1.0], &[0.0, 0.5, 1.0], |row, column| (row == 0).then_some(column / 2));
        let classes: Vec<_> = chart.marks.iter().map(|m| (m.class.as_str(), m.path.matches('M').count())).collect();
        assert_eq!(classes, [("heat h0", 1), ("heat h1", 1)]);
        chart.cells(&[], &[0.5], |_, _| Some(0));
        assert_eq!(chart.marks.len(), 2);
    }

    #[test]
    fn points_on_one_another_are_one() {
        let mut chart = square();
        chart.cloud("cloud", &[(0.5, 0.5), (0.5, 0.5001), (0.9, 0.1), (0.5, 7.0)], "");
        assert_eq!(chart.marks[0].path.matches('M').count(), 2);
    }
}
