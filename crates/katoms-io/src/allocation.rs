//! What a file may ask for: how much it unpacks to, and memory, which the system is asked for before it is used.

use std::collections::TryReserveError;
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::str::FromStr;

/// The most that a file may unpack to, in bytes: what its compressed data hold, and what a header alone asks for, such
/// as the columns of a sparse matrix or the pixels of a picture. 4 GiB unless told otherwise.
///
/// ```
/// use katoms_io::MaxUnpacked;
///
/// assert_eq!("500MB".parse(), Ok(MaxUnpacked(500_000_000)));
/// assert_eq!("8GiB".parse(), Ok(MaxUnpacked(8 << 30)));
/// assert_eq!(MaxUnpacked::default().to_string(), "4GiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxUnpacked(pub u64);

impl Default for MaxUnpacked {
    fn default() -> Self {
        Self(4 << 30)
    }
}

/// Units by their names in small letters: those of a thousand, and those of 1024.
const UNITS: [(&str, u64); 9] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("b", 1),
];

impl FromStr for MaxUnpacked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let unit = UNITS.into_iter().find_map(|(name, size)| Some((lower.strip_suffix(name)?, size)));
        let (digits, size) = unit.unwrap_or((&lower, 1));
        let number: Option<f64> = digits.trim_end().parse().ok();
        let bytes = number.map(|number| number * size as f64).filter(|bytes| (1.0..1e18).contains(bytes));
        bytes
            .map(|bytes| Self(bytes as u64))
            .ok_or_else(|| "it should be a number of bytes above 0 with its unit, such as 500MB or 8GiB".to_string())
    }
}

impl fmt::Display for MaxUnpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter();
        match whole.into_iter().find(|(power, _)| self.0 > 0 && self.0.is_multiple_of(1 << power)) {
            Some((power, unit)) => write!(f, "{}{unit}", self.0 >> power),
            None => write!(f, "{}B", self.0),
        }
    }
}

/// A number of bytes as a person reads it: `1.5 GiB`.
pub(crate) fn in_words(bytes: u64) -> String {
    let unit = [(50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter();
    match unit.into_iter().find(|&(power, _)| bytes >= 1 << power) {
        Some((power, unit)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << power) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// What a file has unpacked to so far.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: MaxUnpacked,
    taken: u64,
}

impl Budget {
    pub(crate) fn new(limit: MaxUnpacked) -> Self {
        Self { limit, taken: 0 }
    }

    /// So many bytes more.
    ///
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), String> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken <= self.limit.0 {
            return Ok(());
        }
        let more = MaxUnpacked(self.taken.max(self.limit.0.saturating_mul(2)).div_ceil(1 << 30).max(1) << 30);
        Err(format!(
            "it unpacks to {} or more, and the limit is {}: if you trust the file, raise the limit with \
             --max-unpacked {more}",
            in_words(self.taken),
            in_words(self.limit.0)
        ))
    }

    /// Whether something was refused.
    pub(crate) fn is_spent(&self) -> bool {
        self.taken > self.limit.0
    }

    /// The rows and columns that a header promises. Empty ones take no room in the file, but here the least is a
    /// place for where each starts, and for a column also its names.
    pub(crate) fn take_sides(&mut self, rows: usize, columns: usize) -> Result<(), String> {
        const ROW: u64 = size_of::<usize>() as u64;
        const COLUMN: u64 = 128;
        let bytes = (rows as u64).saturating_mul(ROW).saturating_add((columns as u64).saturating_mul(COLUMN));
        self.take(bytes).map_err(|problem| format!("a matrix of {rows} × {columns}: {problem}"))
    }

    /// All that a reader has.
    ///
    pub(crate) fn read(&mut self, reader: &mut dyn Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let left = self.limit.0.saturating_sub(self.taken);
        reader.take(left.saturating_add(1)).read_to_end(&mut bytes)?;
        self.take(bytes.len() as u64).map_err(|problem| io::Error::new(ErrorKind::InvalidData, problem))?;
        Ok(bytes)
    }
}

/// A reader that fails where more comes than the limit.
pub(crate) struct Limited<'r> {
    pub(crate) inner: Box<dyn Read + 'r>,
    pub(crate) budget: Budget,
}

impl Read for Limited<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.budget.take(count as u64).map_err(|problem| io::Error::new(ErrorKind::InvalidData, problem))?;
        Ok(count)
    }
}

/// There is no room for so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    bytes: u64,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it needs {} of memory at once, more than the system gives: close other programs, raise the memory limit, or take a \
             file with fewer rows or columns",
            in_words(self.bytes)
        )
    }
}

impl From<OutOfMemory> for String {
    fn from(error: OutOfMemory) -> Self {
        error.to_string()
    }
}

/// An empty vector with room for so many values.
pub(crate) fn reserved<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = Vec::new();
    reserve(&mut values, count)?;
    Ok(values)
}

/// Room for so many values more.
pub(crate) fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let bytes = (values.len() as u64).saturating_add(more as u64).saturating_mul(size_of::<T>() as u64);
    values.try_reserve(more).map_err(|_: TryReserveError| OutOfMemory { bytes })
}

/// The values of an iterator that knows how many there are.
pub(crate) fn gathered<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut all = reserved(values.len())?;
    all.extend(values);
    Ok(all)
}

/// So many copies of a value.
pub(crate) fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = reserved(count)?;
    values.resize(count, value);
    Ok(values)
}

/// One value more.
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) -> Result<(), OutOfMemory> {
    if values.len() == values.capacity() {
        reserve(values, 1)?;
    }
    values.push(value);
    Ok(())
}

/// Whether the system would give so many bytes: asked before a crate takes them that cannot be refused.
pub(crate) fn ask(bytes: u64) -> Result<(), OutOfMemory> {
    reserved::<u8>(usize::try_from(bytes).map_err(|_| OutOfMemory { bytes })?).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_any_unit() {
        for (text, bytes) in [
            ("1", 1),
            ("64 kb", 64_000),
            ("64KiB", 65_536),
            ("1.5GB", 1_500_000_000),
            ("8gib", 8 << 30),
            ("2TiB", 2 << 40),
            ("10b", 10),
        ] {
            assert_eq!(text.parse(), Ok(MaxUnpacked(bytes)), "{text}");
        }
        for text in ["", "GB", "-1GB", "0", "nan", "inf", "1e30", "4 zebibytes", "1 000"] {
            assert!(text.parse::<MaxUnpacked>().is_err(), "{text}");
        }
        for text in ["4GiB", "3MiB", "1000B", "1025KiB"] {
            assert_eq!(text.parse::<MaxUnpacked>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_beyond_the_limit_is_refused_with_one_that_suffices() {
        let mut budget = Budget::new(MaxUnpacked(1 << 30));
        budget.take(1 << 30).unwrap();
        let problem = budget.take(9 << 30).unwrap_err();
        assert!(problem.contains("unpacks to 10.0 GiB or more, and the limit is 1.0 GiB"), "{problem}");
        assert!(problem.ends_with("--max-unpacked 10GiB"), "{problem}");
    }

    #[test]
    fn memory_that_is_not_there_is_said_to_be_needed() {
        let problem = reserved::<f64>(1 << 58).unwrap_err().to_string();
        assert!(problem.starts_with("it needs 2048.0 PiB of memory at once"), "{problem}");
        assert_eq!(filled(7_u8, 3), Ok(vec![7; 3]));
    }
}
