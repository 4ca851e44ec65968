//! Dates and times as people write them: 2024-01-31, 31.01.2024, 1/31/2024 5:30 PM, 2024-01-31T17:30:00+01:00.

use crate::day::Day;

const SECONDS_A_DAY: f64 = 86_400.0;
/// Two digits of a year from here on are of the twentieth century, as POSIX has it; smaller ones are of this one.
const PIVOT: u32 = 69;
const MONTHS: &str = "january february march april may june july august september october november december";

/// A cell that is a date, with or without a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WrittenDate {
    /// Days since 1 January 1970 if the day comes first, and if the month does; `None` where there is no such day.
    pub(super) days: [Option<f64>; 2],
    /// Whether it says how far its clock is from UTC.
    pub(super) has_offset: bool,
}

/// What a cell holds, if it is a date.
pub(super) fn written(cell: &str) -> Option<WrittenDate> {
    let cell = cell.trim();
    // Most words have nothing of a date.
    if !cell.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // A T stands behind a digit; those of months behind letters.
    let is_between = |(at, c): (usize, char)| {
        c == ' ' || (matches!(c, 'T' | 't') && cell.as_bytes().get(at.wrapping_sub(1)).is_some_and(u8::is_ascii_digit))
    };
    let end = cell.char_indices().find(|&place| is_between(place)).map(|(at, _)| at);
    let days = days(&cell[..end.unwrap_or(cell.len())])?;
    let time = end.map_or(Some(Time::default()), |end| Time::of(&cell[end + 1..]))?;
    let moment = |day: Option<Day>| day.map(|day| day.number() as f64 + time.seconds / SECONDS_A_DAY);
    Some(WrittenDate { days: days.map(moment), has_offset: time.has_offset }).filter(|d| d.days != [None; 2])
}

/// The day if the day comes first, and if the month does. Where the cell itself tells, both are the same.
fn days(date: &str) -> Option<[Option<Day>; 2]> {
    let separator = date.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = date.split(separator);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let Some(third) = third else {
        // 2024-01 is the first of the month
        let month = number(second, 2).filter(|_| separator == '-' && second.len() == 2)?;
        return Some([Day::new(number(first, 4)?, month, 1); 2]);
    };
    if first.len() == 4 {
        return Some([Day::new(number(first, 4)?, month(second)?, number(third, 2)?); 2]);
    }
    let year = match third.len() {
        4 => number(third, 4)?,
        2 if separator != '-' || is_name(second) => {
            number(third, 2).map(|y| y + if y < PIVOT { 2000 } else { 1900 })?
        }
        _ => return None,
    };
    let (day, month) = (number(first, 2)?, month(second)?);
    let day_first = Day::new(year, month, day);
    match separator {
        '.' => Some([day_first; 2]),
        _ if is_name(second) => Some([day_first; 2]),
        _ => Some([day_first, Day::new(year, day, month)]),
    }
}

/// One to so many digits; a year has exactly four.
fn number(digits: &str, most: usize) -> Option<u32> {
    let length_fits = if most == 4 { digits.len() == 4 } else { (1..=most).contains(&digits.len()) };
    let is_number = length_fits && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn is_name(month: &str) -> bool {
    month.starts_with(|c: char| c.is_alphabetic())
}

/// A month: its number, or its English name of which three letters are enough.
fn month(text: &str) -> Option<u32> {
    if !is_name(text) {
        return number(text, 2);
    }
    let name = text.to_ascii_lowercase();
    let place = MONTHS.split(' ').position(|month| name.len() >= 3 && month.starts_with(&name))?;
    u32::try_from(place + 1).ok()
}

/// A time of day.
#[derive(Debug, Default)]
struct Time {
    /// Since midnight of the day in UTC, where the offset is known.
    seconds: f64,
    has_offset: bool,
}

impl Time {
    /// What a clock shows, with or without `Z` or an offset such as +01:00.
    fn of(text: &str) -> Option<Self> {
        let (hours, seconds, rest) = clock(text.trim())?;
        let offset = if rest.is_empty() { None } else { Some(offset(rest)?) };
        let seconds = f64::from(hours) * 3600.0 + seconds - offset.unwrap_or(0.0);
        (hours < 24).then_some(Self { seconds, has_offset: offset.is_some() })
    }
}

/// Hours, seconds behind them, and what follows: `17:30`, `17:30:05.25`, `5:30 PM`.
fn clock(text: &str) -> Option<(u32, f64, &str)> {
    let is_clock = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ',');
    let (clock, rest) = text.split_at(text.find(|c| !is_clock(c)).unwrap_or(text.len()));
    let mut parts = clock.split(':');
    let (hours, minutes) = (number(parts.next()?, 3)?, parts.next()?);
    let minutes = number(minutes, 2).filter(|&n| minutes.len() == 2 && n < 60)?;
    let seconds = parts.next().map_or(Some(0.0), seconds)?;
    if parts.next().is_some() {
        return None;
    }
    let rest = rest.trim_start();
    let half = rest.get(..2).map(str::to_ascii_uppercase);
    let (hours, rest) = match half.as_deref() {
        Some(half @ ("AM" | "PM")) if (1..=12).contains(&hours) => {
            (hours % 12 + if half == "PM" { 12 } else { 0 }, rest[2..].trim_start())
        }
        _ => (hours, rest),
    };
    Some((hours, f64::from(minutes * 60) + seconds, rest))
}

/// The hours of a time of day or of a duration: 10:30 is 10.5.
pub(super) fn hours(cell: &str) -> Option<f64> {
    let (hours, seconds, rest) = clock(cell)?;
    rest.is_empty().then(|| f64::from(hours) + seconds / 3600.0)
}

/// Seconds and their decimals, behind a point or a comma.
fn seconds(text: &str) -> Option<f64> {
    let whole = text.split(['.', ',']).next()?;
    // a leap second is the next minute's first
    number(whole, 2).filter(|&seconds| whole.len() == 2 && seconds <= 60)?;
    text.replace(',', ".").parse().ok()
}

/// The seconds that a clock is ahead of UTC: `Z`, `UTC`, `+01:00`, `-0530`, `+01`.
fn offset(text: &str) -> Option<f64> {
    if ["Z", "UTC", "GMT"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        return Some(0.0);
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits = text.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(parts), _) => parts,
        (None, 4) => digits.split_at_checked(2)?,
        (None, _) => (digits, "0"),
    };
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    (hours < 24 && minutes < 60).then(|| sign * f64::from(hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> f64 {
        text.parse::<Day>().unwrap().number() as f64
    }

    fn read(cell: &str) -> [Option<f64>; 2] {
        written(cell).map_or([None; 2], |date| date.days)
    }

    /// Dates that tell their order themselves.
    #[test]
    fn dates_as_people_write_them() {
        let noon = 0.5;
        for (cell, truth) in [
            ("2024-01-31", day("2024-01-31")),
            ("2024/01/31", day("2024-01-31")),
            ("2024.1.31", day("2024-01-31")),
            ("31.01.2024", day("2024-01-31")),
            ("1.2.2024", day("2024-02-01")),
            ("31.01.24", day("2024-01-31")),
            ("31.12.69", day("1969-12-31")),
            ("31.12.68", day("2068-12-31")),
            ("31-Jan-2024", day("2024-01-31")),
            ("1-february-24", day("2024-02-01")),
            ("2024-Sep-05", day("2024-09-05")),
            ("31-Oct-2024 12:00", day("2024-10-31") + noon),
            ("2024-02", day("2024-02-01")),
            ("1900-02-28", day("1900-02-28")),
            ("2000-02-29", day("2000-02-29")),
            ("2024-01-31T12:00", day("2024-01-31") + noon),
            ("2024-01-31 12:00:00", day("2024-01-31") + noon),
            ("31.01.2024 12:00", day("2024-01-31") + noon),
            ("2024-01-31T12:00:00Z", day("2024-01-31") + noon),
            ("2024-01-31T12:00:00+06:00", day("2024-01-31") + 0.25),
            ("2024-01-31 12:00:00-0600", day("2024-01-31") + 0.75),
            ("2024-01-31 00:00:00+12", day("2024-01-30") + noon),
            ("2024-01-31 18:00:00.000 UTC", day("2024-01-31") + 0.75),
            ("2024-01-31T00:00:00.25", day("2024-01-31") + 0.25 / 86400.0),
            ("2024-01-31 00:00:00,5", day("2024-01-31") + 0.5 / 86400.0),
            ("2024-01-31 6:00 PM", day("2024-01-31") + 0.75),
            ("2024-01-31 12:00 AM", day("2024-01-31")),
            ("2024-01-31 12:00:00pm", day("2024-01-31") + noon),
            ("2024-01-31 23:59:60", day("2024-02-01")),
        ] {
            assert_eq!(read(cell), [Some(truth); 2], "{cell}");
        }
    }

    /// Dates whose order only others of their column tell.
    #[test]
    fn day_or_month_first() {
        let (january, february) = (Some(day("2024-01-02")), Some(day("2024-02-01")));
        assert_eq!(read("01/02/2024"), [february, january]);
        assert_eq!(read("1/2/24"), [february, january]);
        assert_eq!(read("01-02-2024 00:00"), [february, january]);
        assert_eq!(read("31/01/2024"), [Some(day("2024-01-31")), None]);
        assert_eq!(read("01/31/2024"), [None, Some(day("2024-01-31"))]);
        assert_eq!(read("29/02/2024"), [Some(day("2024-02-29")), None]);
    }

    #[test]
    fn cells_that_are_no_dates() {
        let cells = "|x|2024|20240131|2024-13-01|2023-02-29|1900-02-29|30.02.2024|32.01.2024|0000-00-00|\
                     31/31/2024|1.2.3|1.2|2024-1|24-01-31|2024-01-31-1|2024-01-31x|2024-01-31 25:00|\
                     2024-01-31 12:60|2024-01-31 12|2024-01-31 12:00 +99:00|2024-01-31 13:00 PM|\
                     2024-01-31 12:00 noon|31-Xyz-2024|31-Ja-2024|10:30|12345-01-01|2024-01-31T|３1.01.2024|\
                     2024 01 31|1-2-24|Jan-31-2024";
        for cell in cells.split('|') {
            assert_eq!(written(cell), None, "{cell}");
        }
    }

    #[test]
    fn an_offset_is_known() {
        let has_offset = |cell: &str| written(cell).unwrap().has_offset;
        assert!(has_offset("2024-01-31T12:00Z") && has_offset("2024-01-31 12:00 -03:30"));
        assert!(!has_offset("2024-01-31T12:00") && !has_offset("2024-01-31"));
    }

    proptest! {
        /// Any day in any of these ways of writing is read as that day.
        #[test]
        fn a_written_day_is_read_back(number in -140_000..140_000_i64, second in 0..86_400_u32, style in 0..8_usize) {
            let text = Day::from_number(number).unwrap().to_string();
            let (y, m, d) = (&text[..4], &text[5..7], &text[8..]);
            let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
            let (cell, has_time) = match style {
                0 => (text.clone(), false),
                1 => (format!("{text}T{clock}"), true),
                2 => (format!("{text} {clock}Z"), true),
                3 => (format!("{d}.{m}.{y}"), false),
                4 => (format!("{d}.{m}.{y} {clock}"), true),
                5 => (format!("{y}/{m}/{d}"), false),
                6 => (format!("{d}/{m}/{y}"), false),
                _ => (format!("{m}/{d}/{y} {clock}"), true),
            };
            let truth = number as f64 + if has_time { f64::from(second) / 86_400.0 } else { 0.0 };
            prop_assert_eq!(read(&cell)[usize::from(style == 7)], Some(truth), "{}", cell);
        }

        /// Nothing that a cell can hold ends the program.
        #[test]
        fn any_text_is_a_date_or_none(text in "\\PC*", digits in "[0-9./: TZapm+-]{0,24}") {
            _ = written(&text);
            _ = written(&digits);
        }
    }
}
