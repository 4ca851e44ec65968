//! Lists of sizes as a person writes them: `10`, `1..30`, `2..40:2`, `1,5,10`.

use std::str::FromStr;

/// Rising sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            sizes.extend(range(part.trim()).ok_or_else(|| {
                format!("`{part}` is no size; write 10, 1..30 (both ends count), 2..40:2 (in steps of 2) or 1,5,10")
            })?);
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

/// One number, or all from one to another in steps.
fn range(text: &str) -> Option<Vec<usize>> {
    let (ends, step) = text.split_once(':').unwrap_or((text, "1"));
    let (first, last) = ends.split_once("..").unwrap_or((ends, ends));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.trim_start_matches('=').parse().ok()?);
    let step: usize = step.parse().ok()?;
    (first > 0 && first <= last && step > 0).then(|| (first..=last).step_by(step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
