//! The classes of a target: told apart, counted, and brought into an order.

use super::frame::Frame;
use super::target::Vector;
use crate::error::Error;
use crate::names::{counted, listed};
use crate::table::Values;

/// Classes by name, each with the places of its rows.
pub(super) type Classes = Vec<(String, Vec<usize>)>;

impl Vector {
    /// Classes in the order that is said, or that of numbers.
    pub(super) fn ordered(
        &self,
        frame: &Frame,
        rows: &[usize],
        found: Classes,
        order: &[String],
    ) -> Result<Classes, Error> {
        if order.is_empty() {
            if matches!(self.values, Values::Numbers(_)) {
                return self.some(found);
            }
            let (path, name, list) =
                (self.path.display(), &self.name, listed(found.iter().map(|(name, _)| name.as_str())));
            return Err(Error::Request(format!(
                "{path}: the order of the words of \"{name}\" is not known; say --order with the lowest first. There are: {list}"
            )));
        }
        let other = found.iter().find(|(name, _)| !order.contains(name));
        if let Some((name, members)) = other {
            let problem = format!("\"{name}\", which --order does not have; it has {}", order.join(", "));
            return Err(self.error(frame, rows[members[0]], problem));
        }
        let mut found = found;
        found.sort_by_key(|(name, _)| order.iter().position(|one| one == name));
        self.some(found)
    }

    /// The classes, where there are two or more.
    pub(super) fn some(&self, found: Classes) -> Result<Classes, Error> {
        match &found[..] {
            [(name, members)] => Err(Error::Request(format!(
                "{}: \"{}\" is {name} in every row ({}): one class only, and two are needed to tell them apart",
                self.path.display(),
                self.name,
                counted(members.len(), "row"),
            ))),
            _ => Ok(found),
        }
    }

    /// The classes, where there are two.
    pub(super) fn two(&self, frame: &Frame, found: Classes) -> Result<Classes, Error> {
        if found.len() == 2 {
            return Ok(found);
        }
        let found: Vec<String> =
            found.iter().map(|(name, rows)| format!("{name} ({})", counted(rows.len(), "row"))).collect();
        let list = listed(found.iter().map(String::as_str));
        let (path, name, n) = (self.path.display(), &self.name, counted(found.len(), "different value"));
        let hint = match (frame.genotypes(), &self.own) {
            (Some(_), None) => {
                "; PLINK codes controls as 1 and cases as 2, and 0 is unknown (plink --1 --make-bed recodes 0 and 1)"
            }
            _ if found.len() > 2 => {
                "; for more than two: --loss multinomial, or --loss ordinal where they have an order"
            }
            _ => "",
        };
        Err(Error::Request(format!(
            "{path}: two classes need a target of exactly two different values; \"{name}\" has {n}: {list}{hint}"
        )))
    }

    /// The different values, sorted, and for each the places among `rows` that have it.
    pub(super) fn classes(&self, frame: &Frame, rows: &[usize]) -> Result<Classes, Error> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let mut classes: Classes = Vec::new();
        match &self.values {
            Values::Numbers(_) => {
                let numbers = self.numbers(frame, rows, "a class is a finite number or a word")?;
                order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
                let mut last = None;
                for i in order {
                    // 0 and −0 are one class
                    if last.replace(numbers[i]) != Some(numbers[i]) {
                        classes.push((format!("{}", numbers[i] + 0.0), Vec::new()));
                    }
                    classes.iter_mut().next_back().iter_mut().for_each(|(_, members)| members.push(i));
                }
            }
            Values::Words { levels, codes } => {
                classes = levels.iter().map(|level| (level.clone(), Vec::new())).collect();
                for i in order {
                    let code = codes.get(rows[i]).copied().flatten();
                    code.and_then(|c| classes.get_mut(c as usize)).iter_mut().for_each(|(_, members)| members.push(i));
                }
                classes.retain(|(_, members)| !members.is_empty());
            }
        }
        Ok(classes)
    }
}
