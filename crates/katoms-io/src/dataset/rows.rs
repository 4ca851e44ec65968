//! Missing values: counted, then refused, replaced, or left out with their rows.

use super::frame::{Body, Frame};
use super::known::Role;
use super::target::Vector;
use super::types::{Ask, Missing};
use crate::error::Error;
use crate::names::counted;
use crate::parallel;
use crate::problem::Problem;
use crate::table::Values;

/// The columns that a message names.
const NAMED: usize = 5;

/// The missing values of some columns.
pub(super) struct Scan {
    /// For each of the columns, how many.
    pub(super) counts: Vec<usize>,
    /// For each row, whether it has one.
    rows: Vec<bool>,
    /// For each of the columns the first infinite value, its row, and how many there are.
    infinite: Vec<Option<(f64, usize, usize)>>,
}

impl Scan {
    /// Looks at every value of some columns; infinite ones are problems.
    pub(super) fn new(frame: &Frame, columns: &[usize], problems: &mut Vec<Problem>) -> Self {
        let (counts, infinite) = (vec![0; columns.len()], vec![None; columns.len()]);
        let mut scan = Self { counts, rows: vec![false; frame.rows], infinite };
        if let Some(packed) = frame.genotypes() {
            scan.counts = parallel::gather(columns.len(), &|place| packed.missing(columns[place]));
            let incomplete = columns.iter().zip(&scan.counts).filter(|(_, n)| **n > 0).map(|(&column, _)| column);
            scan.rows = packed.incomplete_rows(&incomplete.collect::<Vec<_>>());
            return scan;
        }
        match &frame.body {
            Body::Numbers(storage) if storage.digest().finite => {}
            Body::Numbers(storage) => {
                let mut places = vec![None; frame.names.len()];
                for (place, &column) in columns.iter().enumerate() {
                    places.get_mut(column).into_iter().for_each(|p| *p = Some(place));
                }
                storage.each_stored(&mut |column, row, value| {
                    if !value.is_finite()
                        && let Some(&Some(place)) = places.get(column)
                    {
                        scan.see(place, row, value);
                    }
                });
            }
            Body::Columns(all) => {
                for (place, &column) in columns.iter().enumerate() {
                    match all.get(column) {
                        Some(Values::Numbers(numbers)) => {
                            let odd = numbers.iter().enumerate().filter(|(_, v)| !v.is_finite());
                            odd.for_each(|(row, &value)| scan.see(place, row, value));
                        }
                        Some(Values::Words { codes, .. }) => {
                            let missing = codes.iter().enumerate().filter(|(_, code)| code.is_none());
                            missing.for_each(|(row, _)| scan.see(place, row, f64::NAN));
                        }
                        None => {}
                    }
                }
            }
        }
        let infinite = columns.iter().zip(&scan.infinite).filter_map(|(&column, found)| Some((column, (*found)?)));
        problems.extend(infinite.map(|(column, found)| refused(frame, column, found)));
        scan
    }

    /// Whether any value is missing.
    pub(super) fn found_any(&self) -> bool {
        self.counts.iter().any(|&n| n > 0)
    }

    /// Counts a value that is not finite: NaN is missing, ∞ is nothing.
    fn see(&mut self, place: usize, row: usize, value: f64) {
        if value.is_nan() {
            self.counts.get_mut(place).into_iter().for_each(|n| *n += 1);
            self.rows.get_mut(row).into_iter().for_each(|r| *r = true);
        } else if let Some(found) = self.infinite.get_mut(place) {
            *found = Some(found.map_or((value, row, 1), |(value, row, n)| (value, row, n + 1)));
        }
    }
}

fn refused(frame: &Frame, column: usize, (value, row, count): (f64, usize, usize)) -> Problem {
    let others = if count > 1 { format!(", nor are {}", counted(count - 1, "other")) } else { String::new() };
    let it = if count > 1 { "them" } else { "it" };
    let missing = if frame.is_text() { format!(", or say --na-values {value} (missing)") } else { String::new() };
    frame.problem_at(row, column, format!("{value} is not a finite number{others}; correct {it}{missing}"))
}

/// The rows that a fit sees.
pub(super) struct Kept<'k> {
    pub(super) frame: &'k Frame,
    pub(super) columns: &'k [usize],
    pub(super) scan: &'k Scan,
    /// Targets and weights.
    pub(super) beside: Vec<&'k Vector>,
    /// Other columns that are no features.
    pub(super) known: Vec<(Role, &'k Vector)>,
    pub(super) ask: &'k Ask,
}

impl Kept<'_> {
    /// The rows, rising; what was left out or replaced goes into the notes, what must not be missing into the problems.
    pub(super) fn rows(&self, notes: &mut Vec<String>, problems: &mut Vec<Problem>) -> Result<Vec<usize>, Error> {
        let mut missing: Vec<(&str, usize)> =
            self.columns.iter().zip(&self.scan.counts).map(|(&c, &n)| (self.frame.name(c), n)).collect();
        let in_features = missing.iter().map(|(_, n)| n).sum::<usize>();
        let vectors = || self.beside.iter().copied().chain(self.known.iter().map(|(_, vector)| *vector));
        let without = |row: usize| vectors().any(|v| v.is_missing(row));
        let refuses = self.ask.missing == Missing::Refuse;
        if refuses {
            problems.extend(self.known.iter().filter_map(|(role, vector)| self.unknown(*role, vector)));
        }
        for vector in vectors().take(if refuses { self.beside.len() } else { usize::MAX }) {
            missing.push((&vector.name, (0..self.frame.rows).filter(|&row| vector.is_missing(row)).count()));
        }
        missing.retain(|(_, n)| *n > 0);
        if missing.is_empty() {
            return Ok((0..self.frame.rows).filter(|&row| !without(row)).collect());
        }
        if refuses {
            problems.push(refusal(missing));
            return Ok((0..self.frame.rows).filter(|&row| !without(row)).collect());
        }
        let is_incomplete = |row: usize| self.scan.rows.get(row).copied().unwrap_or_default();
        let drops = self.ask.missing == Missing::Drop;
        let (gone, kept): (Vec<usize>, Vec<usize>) =
            (0..self.frame.rows).partition(|&row| without(row) || (drops && is_incomplete(row)));
        if kept.is_empty() {
            let path = self.frame.path.display();
            let worst = named(missing);
            return Err(Error::Request(format!(
                "{path}: every row has a missing value ({worst}); leave columns out (--drop)"
            )));
        }
        let n_without = gone.iter().filter(|&&row| without(row)).count();
        if n_without > 0 {
            let others: Vec<&str> = self.known.iter().map(|(role, _)| role.noun()).collect();
            let others = if others.is_empty() { String::new() } else { format!(", {}", others.join(", ")) };
            notes.push(format!("{} without a target{others} or weight left out", counted(n_without, "row")));
        }
        if gone.len() > n_without {
            notes.push(format!(
                "{} with missing values left out, {} remain",
                counted(gone.len() - n_without, "row"),
                kept.len()
            ));
        }
        if !drops && in_features > 0 {
            missing.retain(|(name, _)| !vectors().any(|v| v.name == *name));
            let values = counted(in_features, "missing value");
            notes.push(format!(
                "{values} replaced by the column's mean, or for words by a level of their own: {}",
                named(missing)
            ));
        }
        Ok(kept)
    }

    /// That a column which every row must have misses some.
    fn unknown(&self, role: Role, vector: &Vector) -> Option<Problem> {
        let mut rows = (0..self.frame.rows).filter(|&row| vector.is_missing(row));
        let (first, others) = (rows.next()?, rows.count());
        let others = if others > 0 { format!(", as in {}", counted(others, "other row")) } else { String::new() };
        let noun = role.noun();
        let problem = format!("the {noun} is missing{others}; fill it in, or leave such rows out (--missing drop)");
        Some(match vector.column {
            Some(column) => self.frame.problem_at(first, column, problem),
            None => Problem::of_file(format!("{}, value {}: {problem}", vector.name, first + 1)),
        })
    }
}

fn refusal(missing: Vec<(&str, usize)>) -> Problem {
    let total = missing.iter().map(|(_, n)| n).sum();
    let (values, columns) = (counted(total, "missing value"), counted(missing.len(), "column"));
    let list = named(missing);
    Problem::of_file(format!(
        "{values} in {columns}: {list}; replace them by means (--missing mean) or leave their rows out (--missing drop)"
    ))
}

/// `age (3), height (1) and 2 more`: those with most come first.
fn named(mut missing: Vec<(&str, usize)>) -> String {
    missing.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let more = missing.len().saturating_sub(NAMED);
    let list = missing.iter().take(NAMED).map(|(name, n)| format!("{name} ({n})")).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}
