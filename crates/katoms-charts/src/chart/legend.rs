//! What stands for what: keys and texts, as many in a row as fit.

use super::{ROW, Shape};
use crate::svg::{Anchor, Drawing, LETTER, Tone, shortened, text_width};

/// The room of a key before its text.
const KEY: f64 = 26.0;

/// What stands before a text of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A stroke.
    Line,
    /// A stroke drawn in a style that the style sheet knows.
    Styled(&'static str),
    /// A pale box.
    Band,
    /// A point.
    Point(Shape),
}

/// Keys and texts.
#[derive(Debug, Default)]
pub struct Legend {
    entries: Vec<(Tone, Key, String)>,
}

impl Legend {
    /// One more, unless it is there already.
    pub fn add(&mut self, tone: Tone, key: Key, text: &str) {
        let entry = (tone, key, text.to_owned());
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }

    /// How high it is in some width.
    pub fn height(&self, width: f64) -> f64 {
        self.places(width).last().map_or(0.0, |(_, y)| y + ROW + 4.0)
    }

    fn places(&self, width: f64) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (0.0, 0.0);
        let place = |(_, _, text): &(Tone, Key, String)| {
            let wide = KEY + text_width(text) + 14.0;
            if x > 0.0 && x + wide > width {
                (x, y) = (0.0, y + ROW);
            }
            x += wide;
            (x - wide, y)
        };
        self.entries.iter().map(place).collect()
    }

    /// Draws it; gives where it ends.
    pub fn draw(&self, drawing: &mut Drawing, width: f64, top: f64) -> f64 {
        for ((tone, key, text), (x, y)) in self.entries.iter().zip(self.places(width)) {
            let (class, y) = (tone.class(), top + y);
            let middle = y + 8.0;
            let mut stroke = |style: &str| drawing.rule((x, middle), (x + 20.0, middle), &format!("{style} {class}"));
            match key {
                Key::Line => stroke("line"),
                Key::Styled(style) => stroke(style),
                Key::Band => drawing.rectangle((x, y + 3.0), (20.0, 10.0), &format!("band {class}"), ""),
                Key::Point(shape) => {
                    let class = format!("{} {class}", shape.class());
                    drawing.path(&class, &shape.path((x + 10.0, middle)), "");
                }
            }
            drawing.text((x + KEY, y + LETTER), Anchor::Start, "", &shortened(text, width - KEY));
        }
        top + self.height(width)
    }
}
