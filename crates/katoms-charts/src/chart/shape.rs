//! The forms of points.

use crate::svg::number;

/// The form of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
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

impl Shape {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Disc | Self::Diamond | Self::Triangle => "dot",
            Self::Speck => "speck",
            Self::Ring => "ring",
            Self::Cross => "cross",
        }
    }

    pub(super) fn path(self, (x, y): (f64, f64)) -> String {
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
