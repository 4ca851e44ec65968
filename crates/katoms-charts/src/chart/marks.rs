//! The marks of a plot: lines, bands, points, clouds of points, cells of a map. What lies outside is cut off.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Chart, Shape, Spot, clip, thin};
use crate::svg::{Tone, number};

impl Chart {
    /// A line through points by rising x; one that is not finite breaks it.
    pub fn line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, "", points);
    }

    /// The same, drawn boldly.
    pub fn bold_line(&mut self, tone: Tone, points: &[(f64, f64)]) {
        self.styled_line(tone, " bold", points);
    }

    fn styled_line(&mut self, tone: Tone, style: &str, points: &[(f64, f64)]) {
        let path = self.trace(points);
        self.mark(format!("line{style} {}", tone.class()), path, "");
    }

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
    pub fn band(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
        let path = points.split(|p| p.0.is_nan() || p.1.is_nan() || p.2.is_nan()).map(|run| self.area(run)).collect();
        self.mark(format!("band {}", tone.class()), path, "");
    }

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
    pub fn whiskers(&mut self, tone: Tone, points: &[(f64, f64, f64)]) {
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
    pub fn points(&mut self, tone: Tone, shape: Shape, spots: &[Spot]) {
        for spot in spots {
            if let Some(at) = self.at(spot.x, spot.y) {
                self.mark(format!("{} {}", shape.class(), tone.class()), shape.path(at), &spot.title);
            }
        }
    }

    /// A line of some classes that says what it is.
    pub fn told_line(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let path = self.trace(points);
        self.mark(class.to_owned(), path, title);
    }

    /// Many points in one mark: a stroke without length has round ends.
    pub fn cloud(&mut self, class: &str, points: &[(f64, f64)], title: &str) {
        let mut path = String::new();
        for at in thin::cloud(points.iter().filter_map(|&(x, y)| self.at(x, y))) {
            path += &joined(&[at]);
            path += "h.01";
        }
        self.mark(class.to_owned(), path, title);
    }

    /// Cells between edges, by their level; one without a level leaves a hole. Neighbours alike are one mark.
    pub fn cells(&mut self, across: &[f64], up: &[f64], level: impl Fn(usize, usize) -> Option<usize>) {
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

/// Farther than anything that is seen, in shares of the plot.
const FAR: f64 = 1e9;

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
    use super::super::tests::square;
    use super::*;

    #[test]
    fn a_line_breaks_where_there_is_nothing() {
        let mut chart = square();
        chart.line(Tone::Model, &[(0.0, 0.0), (0.5, f64::NAN), (0.6, 0.5), (1.0, 1.0)]);
        chart.line(Tone::Model, &[]);
        assert_eq!(chart.marks.len(), 1);
        assert_eq!(chart.marks[0].path.matches('M').count(), 2);
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
