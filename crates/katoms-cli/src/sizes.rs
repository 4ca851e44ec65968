//! Lists of sizes as a person writes them: `10`, `0..30`, `0:30`, `2..40:2`, `1,5,10`.

use std::iter::StepBy;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// More than anybody fits, and few enough to hold.
const MOST: usize = 1_000_000;
/// What is right.
const WRITE: &str = "write 10, 0..30 or 0:30 (both ends count), 2..40:2 (in steps of 2) or 1,5,10";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((function, _)) = text.split_once('(') {
            return Err(format!("`{}(…)` is a call in R or Python; {WRITE}", function.trim()));
        }
        let mut sizes = Vec::new();
        for part in text.split(',') {
            let range = range(part.trim())?;
            if range.size_hint().1.is_none_or(|n| n > MOST.saturating_sub(sizes.len())) {
                return Err(format!("`{part}` makes more than a million sizes; write fewer, such as 0..30"));
            }
            sizes.extend(range);
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

fn range(text: &str) -> Result<StepBy<RangeInclusive<usize>>, String> {
    let (first, last, step) = match (text.split_once(".."), text.split_once(':')) {
        (Some((first, rest)), _) => {
            let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
            (first, last.trim_start_matches('='), step)
        }
        (None, Some((_, rest))) if rest.contains(':') => {
            return Err(format!("`{text}` may mean two things; write a step behind two dots, such as 2..40:2"));
        }
        (None, Some((first, last))) => (first, last, "1"),
        (None, None) => (text, text, "1"),
    };
    let whole = |word: &str| word.trim().parse::<usize>().map_err(|_| format!("`{text}` is no size; {WRITE}"));
    let (first, last, step) = (whole(first)?, whole(last)?, whole(step)?);
    match (first <= last, step) {
        (_, 0) => Err(format!("`{text}` has a step of 0; {WRITE}")),
        (false, _) => Err(format!("`{text}` falls; write {last}..{first}")),
        (true, _) => Ok((first..=last).step_by(step)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<usize>, String> {
        text.parse::<Sizes>().map(|sizes| sizes.0)
    }

    #[test]
    fn more_than_anybody_fits_is_refused() {
        for wrong in ["1..100000000000", "1..18446744073709551615", "1:18446744073709551615", "1..1000000,2..3"] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains("more than a million"), "{wrong}: {error}");
        }
        assert_eq!(read("1..1000000000000:1000000000000"), Ok(vec![1]));
        assert_eq!(read("1..1000000").map(|sizes| sizes.len()), Ok(1_000_000));
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        assert_eq!(read("10"), Ok(vec![10]));
        assert_eq!(read("0"), Ok(vec![0]));
        assert_eq!(read("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(read("0..=4"), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(read("1:5"), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(read("2..9:3"), Ok(vec![2, 5, 8]));
        assert_eq!(read("10, 1..3,2, 5:6"), Ok(vec![1, 2, 3, 5, 6, 10]));
    }

    #[test]
    fn what_is_no_list_of_sizes_is_named_with_what_is_right() {
        for wrong in ["", "a", "1..b", "1:b", "-1", "1.5", "1-5", ":5", "1..", "1,", "1..4:0"] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains("0..30 or 0:30") && error.contains("2..40:2"), "{wrong}: {error}");
        }
        for wrong in ["1:10:2", "1:2:10"] {
            assert!(read(wrong).unwrap_err().contains("may mean two things"), "{wrong}");
        }
        assert_eq!(read("5..2").unwrap_err(), "`5..2` falls; write 2..5");
        assert_eq!(read("5:2").unwrap_err(), "`5:2` falls; write 2..5");
        for call in ["c(1,5)", "seq(1,10)", "seq(1, 10, by=2)", "range(1, 10)"] {
            let error = read(call).unwrap_err();
            assert!(error.contains("is a call in R or Python") && error.contains("0:30"), "{call}: {error}");
        }
    }
}
