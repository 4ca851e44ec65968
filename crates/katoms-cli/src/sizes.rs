//! Lists of sizes as a person writes them: `10`, `1..30`, `2..40:2`, `1,5,10`.

use std::iter::StepBy;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// More than anybody fits, and few enough to hold.
const MOST: usize = 1_000_000;

/// Rising sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            let range = range(part.trim()).ok_or_else(|| {
                format!("`{part}` is no size; write 10, 1..30 (both ends count), 2..40:2 (in steps of 2) or 1,5,10")
            })?;
            if range.size_hint().1.is_none_or(|n| n > MOST.saturating_sub(sizes.len())) {
                return Err(format!("`{part}` makes more than a million sizes; write fewer, such as 1..30"));
            }
            sizes.extend(range);
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

/// One number, or all from one to another in steps.
fn range(text: &str) -> Option<StepBy<RangeInclusive<usize>>> {
    let (ends, step) = text.split_once(':').unwrap_or((text, "1"));
    let (first, last) = ends.split_once("..").unwrap_or((ends, ends));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.trim_start_matches('=').parse().ok()?);
    let step: usize = step.parse().ok()?;
    (first > 0 && first <= last && step > 0).then(|| (first..=last).step_by(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_anybody_fits_is_refused() {
        for wrong in ["1..100000000000", "1..18446744073709551615", "1..1000000,2..3"] {
            let error = wrong.parse::<Sizes>().unwrap_err();
            assert!(error.contains("more than a million"), "{wrong}: {error}");
        }
        assert_eq!("1..1000000000000:1000000000000".parse::<Sizes>(), Ok(Sizes(vec![1])));
        assert_eq!("1..1000000".parse::<Sizes>().map(|sizes| sizes.0.len()), Ok(1_000_000));
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        let read = |text: &str| text.parse::<Sizes>().map(|sizes| sizes.0);
        assert_eq!(read("10"), Ok(vec![10]));
        assert_eq!(read("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(read("1..=4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(read("2..9:3"), Ok(vec![2, 5, 8]));
        assert_eq!(read("10, 1..3,2"), Ok(vec![1, 2, 3, 10]));
        for wrong in ["", "0", "5..2", "a", "1..b", "1..4:0", "-1", "1.5"] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains("1..30"), "{wrong}: {error}");
        }
    }
}
