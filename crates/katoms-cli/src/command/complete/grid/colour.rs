//! The colour of holes that were painted.

use std::str::FromStr;

/// Red, green and blue from 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

const NAMED: [(&str, [u8; 3]); 16] = [
    ("black", [0, 0, 0]),
    ("white", [255, 255, 255]),
    ("grey", [128, 128, 128]),
    ("gray", [128, 128, 128]),
    ("red", [255, 0, 0]),
    ("lime", [0, 255, 0]),
    ("green", [0, 128, 0]),
    ("blue", [0, 0, 255]),
    ("navy", [0, 0, 128]),
    ("yellow", [255, 255, 0]),
    ("orange", [255, 165, 0]),
    ("cyan", [0, 255, 255]),
    ("magenta", [255, 0, 255]),
    ("fuchsia", [255, 0, 255]),
    ("pink", [255, 192, 203]),
    ("purple", [128, 0, 128]),
];

impl FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_lowercase();
        if let Some((_, colour)) = NAMED.iter().find(|(name, _)| *name == lower) {
            return Ok(Self(*colour));
        }
        let digits = lower.strip_prefix('#').unwrap_or(&lower);
        let long = match digits.len() {
            3 => digits.chars().flat_map(|c| [c, c]).collect(),
            _ => digits.to_owned(),
        };
        let wrong = || {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is no colour; write '#ff00ff' (in quotes), or one of {}", names.join(", "))
        };
        if long.len() != 6 || !long.is_ascii() {
            return Err(wrong());
        }
        let value = u32::from_str_radix(&long, 16).map_err(|_| wrong())?;
        let [_, red, green, blue] = value.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}
