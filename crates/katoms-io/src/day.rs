//! Days of the Gregorian calendar.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Days in 400 years, after which the calendar repeats.
const DAYS_IN_ERA: i64 = 146_097;
/// Days from 1 March of year 0, where an era begins, to 1 January 1970.
const DAYS_BEFORE_1970: i64 = 719_468;
/// 1 January of year 0.
const FIRST: i64 = -719_528;
/// 31 December 9999.
const LAST: i64 = 2_932_896;

/// A day, as the number of days since 1 January 1970. It is written as `2024-01-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(i64);

impl Day {
    /// A day of a month of a year from 0 to 9999; `None` where there is no such day.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            2 => 28 + u32::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if year > 9999 || !(1..=last).contains(&day) {
            return None;
        }
        // A year that begins in March ends with the leap day.
        let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * month + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Some(Self(era * DAYS_IN_ERA + day_of_era - DAYS_BEFORE_1970))
    }

    /// The day that is so many days after 1 January 1970; `None` where its year is none from 0 to 9999.
    pub fn from_number(days: i64) -> Option<Self> {
        (FIRST..=LAST).contains(&days).then_some(Self(days))
    }

    /// How many days after 1 January 1970 it is.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Year, month and day.
    fn civil(self) -> (i64, i64, i64) {
        let days = self.0 + DAYS_BEFORE_1970;
        let (era, day_of_era) = (days.div_euclid(DAYS_IN_ERA), days.rem_euclid(DAYS_IN_ERA));
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let year = year_of_era + era * 400;
        if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<u32>().ok());
        let mut next = || parts.next().flatten();
        let (year, month, day) = (next(), next(), next());
        let found = year.zip(month).zip(day).and_then(|((year, month), day)| Self::new(year, month, day));
        found.ok_or_else(|| format!("\"{text}\" is no day; one is written as 2024-01-31"))
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every day of 800 years, counted one by one.
    #[test]
    fn days_are_counted_as_the_calendar_counts_them() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let start = Day::new(1600, 1, 1).unwrap().number();
        let mut count = 0;
        for year in 1600..2400_u32 {
            // 1600 and 2000 are leap years; 1700, 1800, 1900, 2100, 2200 and 2300 are none
            let is_leap = year % 4 == 0 && ![1700, 1800, 1900, 2100, 2200, 2300].contains(&year);
            for (month, length) in (1..).zip(lengths) {
                let length = if month == 2 && is_leap { 29 } else { length };
                for day in 1..=length {
                    let found = Day::new(year, month, day).unwrap();
                    assert_eq!(found.number() - start, count, "{year}-{month}-{day}");
                    assert_eq!(found.to_string(), format!("{year}-{month:02}-{day:02}"));
                    count += 1;
                }
                assert_eq!(Day::new(year, month, length + 1), None, "{year}-{month}");
            }
        }
    }

    /// What `date -u -d DAY +%s` says, divided by 86,400.
    #[test]
    fn known_days() {
        for (text, number) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("1900-03-01", -25_508),
            ("2024-01-31", 19_753),
            ("0001-01-01", -719_162),
            ("9999-12-31", 2_932_896),
        ] {
            let day: Day = text.parse().unwrap();
            assert_eq!((day.number(), day.to_string().as_str()), (number, text));
            assert_eq!(Day::from_number(number), Some(day));
        }
        let ends = [FIRST - 1, FIRST, LAST, LAST + 1].map(|n| Day::from_number(n).map(|day| day.to_string()));
        assert_eq!(ends, [None, Some("0000-01-01".into()), Some("9999-12-31".into()), None]);
    }

    #[test]
    fn what_is_no_day() {
        for text in ["", "2024", "2024-01", "2024-13-01", "2024-00-10", "2023-02-29", "10000-01-01", "2024-01-31-1"] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
    }
}
