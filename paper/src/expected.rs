//! `paper/expected.json`: bands in which the numbers of the small scale must lie.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Section;

/// From where to where a number may lie, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// A number outside of its band, or one that is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// Its name.
    pub name: String,
    /// What it is; `None`: the run did not tell it.
    pub value: Option<f64>,
    /// Where it should lie; `None`: nobody has said.
    pub band: Option<Band>,
}

/// The bands, by experiment and name of the number.
///
/// # Errors
/// When the file is no JSON of that shape; a test sees to it that it is.
pub fn expected() -> Result<BTreeMap<String, BTreeMap<String, Band>>, serde_json::Error> {
    serde_json::from_str(include_str!("../expected.json"))
}

/// The numbers of a section that lie outside of their bands, have none, or are missing.
pub fn misses(section: &Section, bands: &BTreeMap<String, Band>) -> Vec<Miss> {
    let outside = section.numbers.iter().filter_map(|(name, &value)| {
        let band = bands.get(name).copied();
        let inside = band.is_some_and(|b| (b.low..=b.high).contains(&value));
        (!inside).then(|| Miss { name: name.clone(), value: Some(value), band })
    });
    let absent = bands.iter().filter(|(name, _)| !section.numbers.contains_key(*name));
    outside.chain(absent.map(|(name, &band)| Miss { name: name.clone(), value: None, band: Some(band) })).collect()
}
