//! Finding columns by the names that a person gives.

use std::collections::HashMap;

use crate::error::Error;
use crate::problem::short;

/// The names that a message lists before it says how many more there are.
const LISTED: usize = 8;

/// The characters of a name that somebody may have mistyped.
const LONGEST: usize = 200;

/// Names, and where each is.
#[derive(Debug)]
pub(crate) struct Names<'n> {
    names: Vec<&'n str>,
    places: HashMap<&'n str, usize>,
}

impl<'n> Names<'n> {
    /// These names; of equal ones the first counts.
    pub(crate) fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let places = names.iter().enumerate().rev().map(|(place, &name)| (name, place)).collect();
        Self { names, places }
    }

    /// Where a name is; a number that is no name counts from 1.
    pub(crate) fn find(&self, wanted: &str) -> Option<usize> {
        let numbered = || wanted.parse::<usize>().ok().filter(|n| (1..=self.names.len()).contains(n)).map(|n| n - 1);
        self.places.get(wanted).copied().or_else(numbered)
    }

    /// Where the names of a list are that commas separate. Those that are not there are left out.
    pub(crate) fn find_list(&self, list: &str) -> Vec<usize> {
        self.split(list).into_iter().filter_map(|name| self.find(name)).collect()
    }

    /// The same, or an error that names what is not there.
    pub(crate) fn require_list(&self, list: &str, context: &Context<'_>) -> Result<Vec<usize>, Error> {
        self.split(list).into_iter().map(|name| self.require(name, context)).collect()
    }

    /// The parts of a list that commas separate. Parts that together are a name, which has commas in it, stay together.
    pub(crate) fn split<'l>(&self, list: &'l str) -> Vec<&'l str> {
        let most_commas = self.names.iter().map(|name| name.matches(',').count()).max().unwrap_or(0);
        let (mut parts, mut rest) = (Vec::new(), Some(list));
        while let Some(left) = rest {
            let ends = left.match_indices(',').map(|(at, _)| at).chain([left.len()]).take(most_commas + 1);
            let ends: Vec<usize> = ends.collect();
            let is_name = |end: &usize| self.places.contains_key(left[..*end].trim());
            let end = ends.iter().rev().find(|end| is_name(end)).or(ends.first()).copied().unwrap_or(left.len());
            parts.push(left[..end].trim());
            rest = left.get(end + 1..);
        }
        parts
    }

    /// The names of a list, where it is one of several; nothing where it is a name itself.
    pub(crate) fn several<'l>(&self, list: &'l str) -> Option<Vec<&'l str>> {
        let parts = || self.split(list);
        (list.contains(',') && self.find(list).is_none()).then(parts).filter(|parts| parts.len() > 1)
    }

    /// Where a name is, or an error that names the nearest one and the first few.
    pub(crate) fn require(&self, wanted: &str, context: &Context<'_>) -> Result<usize, Error> {
        self.find(wanted).ok_or_else(|| {
            let Context { path, kind, role } = context;
            let nearest = match self.nearest(wanted) {
                Some(name) => format!("; did you mean \"{}\"?", short(name)),
                None => ".".into(),
            };
            let (list, wanted) = (listed(self.names.iter().copied()), short(wanted));
            Error::Request(format!("{path}: no {kind} is called \"{wanted}\" ({role}){nearest} There are: {list}"))
        })
    }

    /// The name that is most like the wanted one, where one is like it at all.
    pub(crate) fn nearest(&self, wanted: &str) -> Option<&'n str> {
        let wanted = wanted.to_lowercase();
        let length = wanted.chars().count();
        let far = length.max(3) / 2;
        // nobody has typed more than this, and comparing takes the product of the lengths
        let names = self.names.iter().filter(|name| length <= LONGEST && name.len() <= 4 * LONGEST);
        let with_distance = names.map(|name| (strsim::levenshtein(&wanted, &name.to_lowercase()), *name));
        with_distance.min_by_key(|&(d, _)| d).filter(|&(d, _)| d <= far).map(|(_, name)| name)
    }
}

/// What an error about a name says besides the name.
pub(crate) struct Context<'c> {
    /// The file.
    pub(crate) path: String,
    /// What has the names: `column`.
    pub(crate) kind: &'c str,
    /// What the name was wanted for: `--target`.
    pub(crate) role: &'c str,
}

/// The first few of a list, and how many more there are.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut list = names.take(LISTED).map(short).collect::<Vec<_>>().join(", ");
    if more > 0 {
        list += &format!(" and {more} more");
    }
    list
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_before_a_number() {
        let names = Names::new(["3", "b", "c"]);
        assert_eq!(
            ["3", "b", "2", "1", "0", "4", "x"].map(|n| names.find(n)),
            [Some(0), Some(1), Some(1), Some(0), None, None, None]
        );
    }

    #[test]
    fn a_list_of_names() {
        let names = Names::new(["a", "b", "a,b", "size, m"]);
        let context = || Context { path: "d.csv".into(), kind: "column", role: "--drop" };
        for (list, places) in [
            ("a", vec![0]),
            ("b, a", vec![1, 0]),
            ("a,b", vec![2]),
            ("size, m", vec![3]),
            ("b,size, m,a", vec![1, 3, 0]),
            ("1,4", vec![0, 3]),
        ] {
            assert_eq!(names.find_list(list), places, "{list}");
            assert_eq!(names.require_list(list, &context()).unwrap(), places, "{list}");
        }
        assert_eq!(names.find_list("a,z"), [0]);
        let error = names.require_list("a,bb", &context()).unwrap_err().to_string();
        assert!(error.starts_with("d.csv: no column is called \"bb\" (--drop); did you mean \"b\"?"), "{error}");
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let names = Names::new(["age", "height", "weight"]);
        let context = || Context { path: "d.csv".into(), kind: "column", role: "--target" };
        assert_eq!(
            names.require("Wieght", &context()).unwrap_err().to_string(),
            "d.csv: no column is called \"Wieght\" (--target); did you mean \"weight\"? There are: age, height, weight"
        );
        assert_eq!(names.nearest(&"w".repeat(76_000)), None);
        assert_eq!(
            names.require("zzzz", &context()).unwrap_err().to_string(),
            "d.csv: no column is called \"zzzz\" (--target). There are: age, height, weight"
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (1..=11).map(|i| format!("x{i}")).collect();
        assert_eq!(listed(names.iter().map(String::as_str)), "x1, x2, x3, x4, x5, x6, x7, x8 and 3 more");
    }
}
