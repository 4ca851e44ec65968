//! What an experiment gives: all that a page, a table or a test needs, and nothing of how it is drawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::{Experiment, Scale};

/// One section of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Whose.
    pub experiment: Experiment,
    /// How large it was run.
    pub scale: Scale,
    /// The command line that ran it; whoever ran it says so.
    pub command: String,
    /// The headline.
    pub title: String,
    /// What was found, in a few sentences made from the numbers.
    pub lead: String,
    /// What was run: (label, value).
    pub setup: Vec<(String, String)>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// What the paper says, what we measured.
    pub verdicts: Vec<Verdict>,
    /// What a reader should know beside: departures, choices, limits.
    pub notes: Vec<String>,
    /// Numbers that do not depend on the machine, by name: what `expected.json` holds bands for.
    pub numbers: BTreeMap<String, f64>,
    /// Every number, in the experiment's own shape.
    pub record: serde_json::Value,
    /// How many threads worked.
    pub threads: usize,
    /// How long all of it took.
    pub seconds: f64,
}

impl Section {
    /// An empty one to fill; [`run`](crate::run) adds scale, threads and seconds.
    pub fn new(experiment: Experiment, title: impl Into<String>) -> Self {
        Self {
            experiment,
            scale: Scale::default(),
            command: String::new(),
            title: title.into(),
            lead: String::new(),
            setup: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
            verdicts: Vec::new(),
            notes: Vec::new(),
            numbers: BTreeMap::new(),
            record: serde_json::Value::Null,
            threads: 1,
            seconds: 0.0,
        }
    }
}

/// Rows under headings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One for each column.
    pub headings: Vec<String>,
    /// Cells as they are read.
    pub rows: Vec<Vec<String>>,
}

/// A claim beside a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What the paper claims, in our words.
    pub claim: String,
    /// Its number or finding.
    pub published: String,
    /// Ours, from this run.
    pub measured: String,
    /// Whether they agree.
    pub agreement: Agreement,
    /// Why, or what stands in the way.
    pub why: String,
}

/// Whether a measurement bears a claim out. Decided by the numbers of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    /// It does.
    Agrees,
    /// In part.
    Partly,
    /// It does not.
    Differs,
    /// The claim cannot be judged by this run.
    Open,
}

impl Agreement {
    /// A word for a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Partly => "in part",
            Self::Differs => "differs",
            Self::Open => "open",
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_or_is_absent_is_told() {
        let mut section = Section::new(Experiment::Iid, "a title");
        section.numbers =
            BTreeMap::from([("in".into(), 1.0), ("out".into(), 3.0), ("new".into(), 0.0), ("nan".into(), f64::NAN)]);
        let band = Band { low: 0.0, high: 2.0 };
        let bands = ["in", "out", "gone", "nan"].map(|name| (name.to_owned(), band)).into();
        let names: Vec<String> = misses(&section, &bands).into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["nan", "new", "out", "gone"]);
    }
}
