//! What an experiment gives: all that a page, a table or a test needs, and nothing of how it is drawn.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::figure::{Figure, Panel};
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
    /// One with its title and its notes, to be filled; [`Experiment::run`] adds scale, threads and seconds.
    pub fn new(experiment: Experiment) -> Result<Self> {
        let Texts { title, notes, .. } = Texts::of(experiment)?;
        Ok(Self {
            experiment,
            scale: Scale::default(),
            command: String::new(),
            title,
            lead: String::new(),
            setup: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
            verdicts: Vec::new(),
            notes,
            numbers: BTreeMap::new(),
            record: serde_json::Value::Null,
            threads: 1,
            seconds: 0.0,
        })
    }

    /// Adds the next figure: the first has the name of the experiment, the others an ending behind it.
    pub fn draw(&mut self, ending: &str, columns: usize, panels: Vec<Panel>) -> Result<()> {
        let mut texts = Texts::of(self.experiment)?.figures;
        let (title, caption) = texts.remove(self.figures.len().min(texts.len() - 1));
        let name = format!("{}{ending}", self.experiment.name());
        self.figures.push(Figure { name, title, caption, columns, panels });
        Ok(())
    }

    /// Adds the verdicts: what was measured for each claim of the paper, in their order, and whether that agrees.
    pub fn judge(&mut self, measured: impl IntoIterator<Item = (String, Agreement)>) -> Result<()> {
        let claims = Texts::of(self.experiment)?.claims;
        let verdict =
            |((claim, published, why), (measured, agreement))| Verdict { claim, published, measured, agreement, why };
        self.verdicts.extend(claims.into_iter().zip(measured).map(verdict));
        Ok(())
    }

    /// Says what was run.
    pub fn set_up<const N: usize>(&mut self, facts: [(&str, String); N]) {
        self.setup = facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect();
    }

    /// Adds numbers. What is not finite is absent: a file could not hold it, and a band would miss it.
    pub fn count<S: Into<String>>(&mut self, numbers: impl IntoIterator<Item = (S, f64)>) {
        let finite = numbers.into_iter().filter(|(_, value)| value.is_finite());
        self.numbers.extend(finite.map(|(name, value)| (name.into(), value)));
    }
}

/// What is said of an experiment beside its numbers: `paper/texts.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    title: String,
    notes: Vec<String>,
    /// (title, caption).
    figures: Vec<(String, String)>,
    /// (claim, what the paper has, why).
    claims: Vec<(String, String, String)>,
}

impl Texts {
    fn of(experiment: Experiment) -> Result<Self> {
        let mut all: BTreeMap<String, Self> = toml::from_str(include_str!("../texts.toml"))?;
        all.remove(experiment.name()).context("the experiment has no texts")
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
        let mut section = Section::new(Experiment::Iid).unwrap();
        section.count([("in", 1.0), ("out", 3.0), ("new", 0.0), ("nan", f64::NAN)]);
        let band = Band { low: 0.0, high: 2.0 };
        let bands = ["in", "out", "gone", "nan"].map(|name| (name.to_owned(), band)).into();
        let names: Vec<String> = misses(&section, &bands).into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["new", "out", "gone", "nan"]);
    }
}
