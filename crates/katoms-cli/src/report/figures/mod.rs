//! The charts of a report, each drawn twice: for a screen and for a telephone, so that letters stay readable.

mod matrix;
mod outcome;
mod prediction;
mod sizes;

pub(super) use matrix::{rank_errors, singular_values};
pub(super) use outcome::{survival, tenths};
pub(super) use prediction::{calibration, normal_quantiles, residuals, roc, scatter};
pub(super) use sizes::{convergence, criteria, cross_validation, explained};

use serde::Serialize;

use katoms_charts::chart::Size;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Figure {
    pub wide: String,
    pub narrow: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All of its width.
    Full,
    /// One of two beside each other.
    Half,
}

const FULL: f64 = 860.0;
const HALF: f64 = 420.0;
const NARROW: f64 = 344.0;

impl Figure {
    pub(super) fn new(place: Place, draw: impl Fn(f64) -> Option<String>) -> Option<Self> {
        let wide = match place {
            Place::Full => FULL,
            Place::Half => HALF,
        };
        Some(Self { wide: draw(wide)?, narrow: draw(NARROW)? })
    }
}

fn landscape(width: f64) -> Size {
    Size { width, height: (width * 0.34).clamp(190.0, 290.0) }
}

fn square(width: f64) -> Size {
    Size { width, height: width.min(HALF) - 60.0 }
}
