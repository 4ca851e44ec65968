//! What an experiment gives: all that a page, a table or a test needs, and nothing of how it is drawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::{Experiment, Scale};

/// One section of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub experiment: Experiment,
    pub scale: Scale,
    /// The command line that ran it.
    pub command: String,
    pub title: String,
    /// What was found, in a few sentences made from the numbers.
    pub lead: String,
    /// What was run: (label, value).
    pub setup: Vec<(String, String)>,
    pub figures: Vec<Figure>,
    pub tables: Vec<Table>,
    /// What the paper says, what we measured.
    pub verdicts: Vec<Verdict>,
    /// What a reader should know beside: departures, choices, limits.
    pub notes: Vec<String>,
    /// Numbers that do not depend on the machine, by name: what `expected.json` holds bands for.
    pub numbers: BTreeMap<String, f64>,
    /// Every number, in the experiment's own shape.
    pub record: serde_json::Value,
    pub threads: usize,
    pub seconds: f64,
}

impl Section {
    /// An empty one to fill; [`Experiment::run`] adds scale, threads and seconds.
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

    /// Says what was run.
    pub fn set_up<const N: usize>(&mut self, facts: [(&str, String); N]) {
        self.setup = facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect();
    }

    /// Adds numbers; what is not finite is left out when the run ends.
    pub fn count<S: Into<String>>(&mut self, numbers: impl IntoIterator<Item = (S, f64)>) {
        self.numbers.extend(numbers.into_iter().map(|(name, value)| (name.into(), value)));
    }
}

/// Rows under headings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub title: String,
    pub headings: Vec<String>,
    /// Cells as they are read.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<S: Into<String>>(
        title: &str,
        headings: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let headings = headings.into_iter().map(Into::into).collect();
        Self { title: title.into(), headings, rows: rows.into_iter().collect() }
    }
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
    /// Whether they agree, decided by the numbers of the run.
    pub agreement: Agreement,
    /// Why, or what stands in the way.
    pub why: String,
}

impl Verdict {
    pub fn new(
        claim: impl Into<String>,
        published: impl Into<String>,
        measured: impl Into<String>,
        agreement: Agreement,
        why: impl Into<String>,
    ) -> Self {
        let (claim, published, measured) = (claim.into(), published.into(), measured.into());
        Self { claim, published, measured, agreement, why: why.into() }
    }
}

/// Whether a measurement bears a claim out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    Agrees,
    Partly,
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

    /// Agrees or differs.
    pub fn of(holds: bool) -> Self {
        if holds { Self::Agrees } else { Self::Differs }
    }
}

/// From where to where a number may lie, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Band {
    pub low: f64,
    pub high: f64,
}

/// A number outside of its band, or one that is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    pub name: String,
    /// `None`: the run did not give it.
    pub value: Option<f64>,
    /// `None`: nobody has said.
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
        section.count([("in", 1.0), ("out", 3.0), ("new", 0.0), ("nan", f64::NAN)]);
        let band = Band { low: 0.0, high: 2.0 };
        let bands = ["in", "out", "gone", "nan"].map(|name| (name.to_owned(), band)).into();
        let names: Vec<String> = misses(&section, &bands).into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["nan", "new", "out", "gone"]);
    }
}
