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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Error, Experiment, Progress, Request, Scale, run};

    /// Each experiment at the small scale, on one thread and on three: the numbers are the same, and in their bands.
    fn holds(experiment: Experiment) {
        let small = || run(experiment, &Request { scale: Scale::Small, ..Request::default() }, &Progress::unwatched());
        let on = |threads: usize| -> Result<Section, Error> {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(small)
        };
        let (alone, together) = (on(1).unwrap(), on(3).unwrap());
        assert_eq!(alone.numbers, together.numbers, "{experiment:?}: threads change the numbers");
        let bands = expected().unwrap().remove(experiment.name()).unwrap_or_default();
        assert!(!bands.is_empty(), "{experiment:?} has no bands");
        assert_eq!(misses(&alone, &bands), [], "{experiment:?}");
        assert!(alone.figures.iter().all(|f| !f.caption.is_empty() && !f.panels.is_empty()), "{experiment:?}");
        assert_eq!(alone.figures.first().map(|f| f.name.as_str()), Some(experiment.name()));
        let told: Section = serde_json::from_str(&serde_json::to_string(&alone).unwrap()).unwrap();
        assert_eq!(told, alone, "{experiment:?}: saved and read again");
    }

    #[test]
    fn momentum_is_as_expected() {
        holds(Experiment::Momentum);
    }

    #[test]
    fn iid_is_as_expected() {
        holds(Experiment::Iid);
    }

    #[test]
    fn correlated_is_as_expected() {
        holds(Experiment::Correlated);
    }

    #[test]
    fn counter_is_as_expected() {
        holds(Experiment::Counter);
    }

    #[test]
    fn tumour_is_as_expected() {
        holds(Experiment::Tumour);
    }

    #[test]
    fn images_is_as_expected() {
        holds(Experiment::Images);
    }

    #[test]
    fn phase_is_as_expected() {
        holds(Experiment::Phase);
    }

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
