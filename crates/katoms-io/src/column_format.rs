//! How the cells of a column were read, where they are no plain numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::day::Day;
use crate::names::listed;

/// How the cells of a column were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnFormat {
    /// As numbers with something around or within them.
    Numbers(NumberFormat),
    /// As dates, which become days since an origin.
    Dates(DateFormat),
}

/// What numbers have around or within them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberFormat {
    /// The decimal mark.
    pub decimal: Decimal,
    /// Whether digits are grouped: 1,234,567.
    pub thousands: bool,
    /// The sign or code of the currency, before or after.
    pub currency: Option<String>,
    /// Whether a percent sign follows. The number is taken as it is written: 12 % is 12.
    pub percent: bool,
    /// Whether negative numbers are in parentheses: (12) is -12.
    pub parentheses: bool,
    /// Whether these are times, which become hours: 10:30 is 10.5.
    pub time: bool,
}

/// How dates are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DateFormat {
    /// The day that is 0: the earliest of the file that a model was fitted to.
    pub origin: Day,
    /// Which comes first, where cells are such as 01/02/2024.
    pub order: Option<DateOrder>,
}

/// The mark before the decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Decimal {
    /// 1.5
    #[default]
    #[serde(rename = ".")]
    #[cfg_attr(feature = "clap", value(name = ".", alias = "point"))]
    Point,
    /// 1,5
    #[serde(rename = ",")]
    #[cfg_attr(feature = "clap", value(name = ",", alias = "comma"))]
    Comma,
}

/// Whether the day or the month comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum DateOrder {
    /// The day: 31/01/2024
    Dmy,
    /// The month: 01/31/2024
    Mdy,
}

impl NumberFormat {
    /// What a person should know: `decimal comma, "€" and thousands separators left out`.
    fn described(&self) -> String {
        let currency = self.currency.as_ref().map(|sign| format!("\"{sign}\""));
        let thousands = self.thousands.then(|| "thousands separators".to_owned());
        let gone: Vec<String> = currency.into_iter().chain(thousands).collect();
        let decimal = (self.decimal == Decimal::Comma).then(|| "decimal comma".to_owned());
        let gone = (!gone.is_empty()).then(|| format!("{} left out", gone.join(" and ")));
        let percent = self.percent.then(|| "12 % is 12".to_owned());
        let parentheses = self.parentheses.then(|| "(12) is -12".to_owned());
        let time = self.time.then(|| "10:30 is 10.5".to_owned());
        [decimal, gone, percent, parentheses, time].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl ColumnFormat {
    /// What a person should know about the column, in a few words.
    pub fn described(&self) -> String {
        match self {
            Self::Numbers(format) => format.described(),
            Self::Dates(DateFormat { origin, order }) => match order {
                None => format!("days since {origin}"),
                Some(DateOrder::Dmy) => format!("days since {origin}, day first"),
                Some(DateOrder::Mdy) => format!("days since {origin}, month first"),
            },
        }
    }
}

/// The code of a currency that is written with a sign of its own; `$` and `¥` are of several.
pub(crate) fn currency_code(currency: &str) -> &str {
    match currency {
        "€" => "EUR",
        "£" => "GBP",
        "₹" => "INR",
        "US$" => "USD",
        _ => currency,
    }
}

/// How columns were read, a note for each way.
pub(crate) fn notes<'f>(formats: impl Iterator<Item = (&'f str, &'f ColumnFormat)>) -> Vec<String> {
    let mut numbers: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut dates: Vec<(&str, String)> = Vec::new();
    for (name, format) in formats {
        match format {
            ColumnFormat::Numbers(_) => numbers.entry(format.described()).or_default().push(name),
            ColumnFormat::Dates(_) => dates.push((name, format.described())),
        }
    }
    let are = |names: &[&str]| if names.len() == 1 { "is" } else { "are" };
    let mut notes: Vec<String> = numbers
        .iter()
        .map(|(how, names)| format!("{} {} read as numbers: {how}", listed(names.iter().copied()), are(names)))
        .collect();
    match dates.as_slice() {
        [] => {}
        [(name, how)] => notes.push(format!("{name} is a date: {how}")),
        several => {
            let all: Vec<String> = several.iter().map(|(name, how)| format!("{name} ({how})")).collect();
            notes.push(format!("{} columns are dates: {}", all.len(), listed(all.iter().map(String::as_str))));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_tell_how_columns_were_read() {
        let dollars = ColumnFormat::Numbers(NumberFormat {
            currency: Some("$".into()),
            thousands: true,
            ..NumberFormat::default()
        });
        let share = ColumnFormat::Numbers(NumberFormat {
            decimal: Decimal::Comma,
            percent: true,
            parentheses: true,
            ..NumberFormat::default()
        });
        let date = |text: &str, order| ColumnFormat::Dates(DateFormat { origin: text.parse().unwrap(), order });
        let opened = date("2019-03-01", None);
        let told = |formats: &[(&str, &ColumnFormat)]| notes(formats.iter().copied());
        assert_eq!(
            told(&[("price", &dollars), ("rate", &share), ("cost", &dollars), ("opened", &opened)]),
            [
                "price, cost are read as numbers: \"$\" and thousands separators left out",
                "rate is read as numbers: decimal comma, 12 % is 12, (12) is -12",
                "opened is a date: days since 2019-03-01",
            ]
        );
        assert_eq!(
            told(&[("a", &opened), ("b", &date("2020-01-02", Some(DateOrder::Mdy)))]),
            ["2 columns are dates: a (days since 2019-03-01), b (days since 2020-01-02, month first)"]
        );
    }

    #[test]
    fn formats_in_a_model_file() {
        let date = ColumnFormat::Dates(DateFormat { origin: "2019-03-01".parse().unwrap(), order: None });
        let text = serde_json::to_string(&date).unwrap();
        assert_eq!(text, r#"{"dates":{"origin":"2019-03-01","order":null}}"#);
        assert_eq!(serde_json::from_str::<ColumnFormat>(&text).unwrap(), date);
        assert!(serde_json::from_str::<ColumnFormat>(&text.replace("2019-03-01", "2019-02-29")).is_err());
        let number = ColumnFormat::Numbers(NumberFormat { decimal: Decimal::Comma, ..NumberFormat::default() });
        let text = serde_json::to_string(&number).unwrap();
        assert!(text.starts_with(r#"{"numbers":{"decimal":",","#), "{text}");
        assert_eq!(serde_json::from_str::<ColumnFormat>(&text).unwrap(), number);
    }
}
