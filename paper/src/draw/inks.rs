//! The inks of a figure, and the style sheet that it carries.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::figure::{Ink, Stroke};

use super::colour::{diverging, rising};
use katoms_charts::chart::{Key, Shape};
use katoms_charts::svg::Tone;

/// How many steps a map's colours have.
pub(super) const LEVELS: usize = 50;

/// The marks of a figure, whatever their ink.
const RULES: &str = include_str!("figure.css");

/// Inks as they come up, each with a number.
#[derive(Debug, Default)]
pub(super) struct Inks {
    colours: Vec<String>,
    levels: BTreeSet<usize>,
}

impl Inks {
    /// The tone of an ink.
    pub(super) fn tone(&mut self, ink: Ink) -> Tone {
        let colour = match ink {
            Ink::Of(contestant) => contestant.colour().to_owned(),
            Ink::Scale(value) => diverging(value),
            Ink::Guide => "#5f6872".to_owned(),
        };
        let known = self.colours.iter().position(|c| *c == colour);
        Tone::Ink(known.unwrap_or_else(|| {
            self.colours.push(colour);
            self.colours.len() - 1
        }))
    }

    /// The step of a value of a map; none for one that is no number.
    pub(super) fn level(&mut self, value: f64) -> Option<usize> {
        let level = (!value.is_nan()).then(|| (value.clamp(0.0, 1.0) * LEVELS as f64).round() as usize);
        self.levels.extend(level);
        level
    }

    /// The style sheet, for the figure of this id.
    pub(super) fn style(&self, id: &str) -> String {
        let mut style = String::new();
        // Each rule is bound to the figure: its page has other drawings too.
        for rule in RULES.lines() {
            let _ = write!(style, "#{id} {rule}");
        }
        for (number, colour) in self.colours.iter().enumerate() {
            let _ = write!(style, "#{id} .i{number}{{color:{colour}}}");
        }
        for level in &self.levels {
            let _ = write!(style, "#{id} .h{level}{{fill:{}}}", rising(*level as f64 / LEVELS as f64));
        }
        style
    }
}

/// The classes of a line.
pub(super) fn classes(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Solid => "line",
        Stroke::Dashed => "line dashed",
        Stroke::Dotted => "line dotted",
        Stroke::Points => "cloud",
    }
}

/// What stands for a line in the legend.
pub(super) fn key(stroke: Stroke) -> Key {
    match stroke {
        Stroke::Solid => Key::Line,
        Stroke::Dashed | Stroke::Dotted => Key::Styled(classes(stroke)),
        Stroke::Points => Key::Point(Shape::Disc),
    }
}

#[cfg(test)]
mod tests {
    use crate::Contestant;

    use super::*;

    #[test]
    fn an_ink_keeps_its_number() {
        let mut inks = Inks::default();
        let first = inks.tone(Ink::Of(Contestant::Omp));
        let second = inks.tone(Ink::Scale(0.5));
        assert_ne!(first, second);
        assert_eq!(inks.tone(Ink::Of(Contestant::Omp)), first);
        let style = inks.style("figure-a");
        assert_eq!(style.matches(Contestant::Omp.colour()).count(), 1);
        assert!(style.split('}').filter(|rule| !rule.is_empty()).all(|rule| rule.starts_with("#figure-a ")));
    }

    #[test]
    fn values_beyond_a_maps_range_have_its_ends() {
        let mut inks = Inks::default();
        let levels = [-1.0, 0.0, 0.5, 1.0, 7.0, f64::INFINITY, f64::NAN].map(|v| inks.level(v));
        assert_eq!(levels, [Some(0), Some(0), Some(LEVELS / 2), Some(LEVELS), Some(LEVELS), Some(LEVELS), None]);
    }
}
