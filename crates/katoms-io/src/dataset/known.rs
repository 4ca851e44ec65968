//! What is known of rows besides the target and a weight: events, strata, entries, offsets, exposures, folds.

use super::frame::{Frame, Opened};
use super::target::Vector;
use super::types::{Ask, Expected, RowColumns};
use crate::error::Error;
use crate::problem::quoted;
use crate::table::Values;

/// What is known of rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// Whether the event happened at the time that is the target.
    pub events: Option<Vec<bool>>,
    /// Rows of the same stratum have the same baseline hazard.
    pub strata: Option<Strata>,
    /// From when on each row was seen.
    pub entries: Option<Vec<f64>>,
    /// A known part of each linear prediction.
    pub offset: Option<Vec<f64>>,
    /// How long or how much each row was exposed.
    pub exposure: Option<Vec<f64>>,
    /// The fold of each row.
    pub folds: Option<Vec<usize>>,
    /// The columns that they come from.
    pub names: RowColumns,
}

/// The strata of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strata {
    /// Their names.
    pub levels: Vec<String>,
    /// The place of each row's among them.
    pub codes: Vec<usize>,
}

impl Known {
    /// What an answer depends on, as numbers.
    pub(super) fn numbers(&self) -> [Option<Vec<f64>>; 5] {
        let events =
            self.events.as_ref().map(|events| events.iter().map(|&event| f64::from(u8::from(event))).collect());
        let strata = self.strata.as_ref().map(|strata| strata.codes.iter().map(|&code| code as f64).collect());
        [events, strata, self.entries.clone(), self.offset.clone(), self.exposure.clone()]
    }
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Event,
    Strata,
    Entry,
    Offset,
    Exposure,
    Folds,
}

impl Role {
    fn option(self) -> &'static str {
        match self {
            Self::Event => "--event",
            Self::Strata => "--strata",
            Self::Entry => "--entry",
            Self::Offset => "--offset",
            Self::Exposure => "--exposure",
            Self::Folds => "--fold-column",
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Strata => "stratum",
            Self::Entry => "entry",
            Self::Offset => "offset",
            Self::Exposure => "exposure",
            Self::Folds => "fold",
        }
    }
}

/// The columns of such roles, before their values are looked at.
pub(super) struct Columns(pub(super) Vec<(Role, Vector)>);

impl Columns {
    /// Those that are asked for.
    pub(super) fn asked(opened: &mut Opened, ask: &Ask) -> Result<Self, Error> {
        let named = roles(&ask.rows).into_iter().chain([(Role::Folds, &ask.folds)]);
        let one = |(role, name): (Role, &String)| {
            Ok((role, Vector::named(opened, name, role.option())?.of_length(&opened.frame)?))
        };
        named.filter_map(|(role, name)| Some((role, name.as_ref()?))).map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Those of a model that the file has.
    pub(super) fn expected(opened: &mut Opened, expected: &Expected) -> Self {
        let one = |(role, name): (Role, &Option<String>)| {
            let name = name.as_ref().filter(|name| opened.has(name, expected))?;
            let found = Vector::named(opened, name, role.option()).ok()?;
            Some((role, found.of_length(&opened.frame).ok()?))
        };
        Self(roles(&expected.rows).into_iter().filter_map(one).collect())
    }

    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|(_, vector)| vector.column)
    }

    /// Makes times unknown where the event is: such rows are predicted, and not scored.
    pub(super) fn leave_out_unknown_events(&mut self, rows: &[usize], times: &mut [f64]) {
        for (_, vector) in self.0.iter_mut().filter(|(role, _)| *role == Role::Event) {
            let is_status_of_r = vector.is_status_of_r(rows);
            let events: Vec<Option<bool>> = rows.iter().map(|&row| vector.event(row, is_status_of_r)).collect();
            events.iter().zip(times.iter_mut()).filter(|(event, _)| event.is_none()).for_each(|(_, t)| *t = f64::NAN);
            let mut numbers = vec![f64::NAN; vector.values.len()];
            rows.iter().zip(&events).for_each(|(&row, &e)| numbers[row] = f64::from(u8::from(e.unwrap_or_default())));
            vector.values = Values::Numbers(numbers);
        }
    }

    /// The values of some rows.
    pub(super) fn into_known(
        self,
        (frame, rows): (&Frame, &[usize]),
        times: Option<&[f64]>,
        notes: &mut Vec<String>,
    ) -> Result<Known, Error> {
        let mut known = Known::default();
        for (role, vector) in self.0 {
            if let Some(name) = known.names.of_role(role) {
                *name = Some(vector.name.clone());
            }
            match role {
                Role::Event => {
                    let (path, name) = (frame.path.display(), vector.name.clone());
                    let events = vector.into_events((frame, rows), notes)?;
                    if times.is_some() && !events.contains(&true) {
                        let problem =
                            format!("{path}: no row has an event (\"{name}\"), so there is nothing to explain");
                        return Err(Error::Request(problem));
                    }
                    known.events = Some(events);
                }
                Role::Strata => known.strata = Some(vector.into_strata(frame, rows)?),
                Role::Entry => known.entries = Some(vector.into_entries(frame, rows, times)?),
                Role::Offset => known.offset = Some(vector.numbers(frame, rows, "an offset is a finite number")?),
                Role::Exposure => {
                    let right = "an exposure is above 0; leave out rows that were not exposed";
                    known.exposure = Some(vector.numbers_where(frame, rows, right, |v| v > 0.0)?);
                }
                Role::Folds => known.folds = Some(vector.into_strata(frame, rows)?.codes),
            }
        }
        Ok(known)
    }
}

impl RowColumns {
    fn of_role(&mut self, role: Role) -> Option<&mut Option<String>> {
        Some(match role {
            Role::Event => &mut self.event,
            Role::Strata => &mut self.strata,
            Role::Entry => &mut self.entry,
            Role::Offset => &mut self.offset,
            Role::Exposure => &mut self.exposure,
            Role::Folds => return None,
        })
    }
}

fn roles(rows: &RowColumns) -> [(Role, &Option<String>); 5] {
    [
        (Role::Event, &rows.event),
        (Role::Strata, &rows.strata),
        (Role::Entry, &rows.entry),
        (Role::Offset, &rows.offset),
        (Role::Exposure, &rows.exposure),
    ]
}

/// What an event may be.
const EVENT: &str =
    "an event is 1 (it happened) or 0 (it had not until then); true and false, yes and no, and R's 2 and 1 will do";

impl Vector {
    /// Whether it is a status as R has it: 1, and 2 for an event.
    fn is_status_of_r(&self, rows: &[usize]) -> bool {
        let Values::Numbers(numbers) = &self.values else { return false };
        let known = || rows.iter().map(|&row| numbers[row]).filter(|v| !v.is_nan());
        known().any(|v| v == 2.0) && known().all(|v| v == 1.0 || v == 2.0)
    }

    /// Whether the event happened in a row; `None` where that is not known.
    fn event(&self, row: usize, is_status_of_r: bool) -> Option<bool> {
        match &self.values {
            Values::Numbers(numbers) if is_status_of_r => Some(numbers[row] == 2.0).filter(|_| !numbers[row].is_nan()),
            Values::Numbers(numbers) => [0.0, 1.0].contains(&numbers[row]).then_some(numbers[row] == 1.0),
            words => match words.word(row)?.to_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                _ => None,
            },
        }
    }

    fn into_events(self, (frame, rows): (&Frame, &[usize]), notes: &mut Vec<String>) -> Result<Vec<bool>, Error> {
        let is_status_of_r = self.is_status_of_r(rows);
        if is_status_of_r {
            notes.push(format!("{} is 1 and 2, as R has it: 2 is the event", self.name));
        }
        let wrong = |row: usize| {
            let value = match &self.values {
                Values::Numbers(numbers) => numbers[row].to_string(),
                words => quoted(words.word(row).unwrap_or_default()),
            };
            self.error(frame, row, format!("{value}, but {EVENT}"))
        };
        rows.iter().map(|&row| self.event(row, is_status_of_r).ok_or_else(|| wrong(row))).collect()
    }

    fn into_strata(self, frame: &Frame, rows: &[usize]) -> Result<Strata, Error> {
        let mut strata = Strata { levels: Vec::new(), codes: vec![0; rows.len()] };
        for (code, (name, members)) in self.classes(frame, rows)?.into_iter().enumerate() {
            strata.levels.push(name);
            members.into_iter().for_each(|i| strata.codes[i] = code);
        }
        Ok(strata)
    }

    fn into_entries(self, frame: &Frame, rows: &[usize], times: Option<&[f64]>) -> Result<Vec<f64>, Error> {
        let entries = self.numbers(frame, rows, "an entry is a finite number")?;
        let late = times.and_then(|times| entries.iter().zip(times).position(|(entry, time)| entry >= time));
        match late {
            Some(at) => {
                let problem = format!("{}, but a row enters before its time; leave such rows out", entries[at]);
                Err(self.error(frame, rows[at], problem))
            }
            None => Ok(entries),
        }
    }
}
