//! Arguments about how a file is read.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use katoms_io::{DateOrder, Decimal, MaxUnpacked, Missing, ReadOptions, Source};

/// How a file is read, and what is done about missing values.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    #[command(flatten)]
    pub format: FormatArgs,
    /// What to do about missing values [default: refuse; for genotypes mean]
    #[arg(long, value_enum, help_heading = "Data")]
    pub missing: Option<Missing>,
    /// For genotypes: a table of numbers that every model has, such as age and sex, with the columns FID and IID or a row
    /// for each individual
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub covariates: Option<PathBuf>,
}

/// How a file is read.
#[derive(Debug, Args)]
pub struct FormatArgs {
    /// Columns to leave out, such as identifiers; a list, or given repeatedly
    #[arg(long, value_name = "COLUMNS", help_heading = "Data")]
    pub drop: Vec<String>,
    /// Columns of categories, also where they look like numbers; a list, or given repeatedly
    #[arg(long, value_name = "COLUMNS", help_heading = "Data")]
    pub categorical: Vec<String>,
    /// What stands for missing values in a text table besides the usual, such as -9,unknown
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true, help_heading = "Data")]
    pub na_values: Vec<String>,
    /// What separates the fields of a text table: a character, `tab`, or `space` for any blanks [default: found]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Data")]
    pub delimiter: Option<u8>,
    /// The decimal mark of a text table [default: found]
    #[arg(long, value_enum, value_name = "MARK", help_heading = "Data")]
    pub decimal: Option<Decimal>,
    /// What comes first in dates such as 01/02/2024 [default: found]
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "Data")]
    pub date_order: Option<DateOrder>,
    /// The first line of a text table holds names, also where these are numbers [default: found]
    #[arg(long, conflicts_with = "no_header", help_heading = "Data")]
    pub header: bool,
    /// The first line of a text table is data [default: found]
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// What starts a line of a text table that is a comment [default: # above the header]
    #[arg(long, value_name = "CHARACTER", value_parser = comment, help_heading = "Data")]
    pub comment: Option<u8>,
    /// Lines of a text table that are no data, such as units or totals: 2 or 1-4,60
    #[arg(long, value_name = "LINES", value_delimiter = ',', value_parser = lines, help_heading = "Data")]
    pub skip_lines: Vec<RangeInclusive<u64>>,
    /// The most that compressed data may unpack to
    #[arg(long, value_name = "SIZE", default_value_t, help_heading = "Data")]
    pub max_unpacked: MaxUnpacked,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "space" => Ok(b' '),
        "tab" | "\\t" => Ok(b'\t'),
        _ => one_byte(text).ok_or_else(|| "one ASCII character such as ; is wanted, or `tab`, or `space`".into()),
    }
}

fn comment(text: &str) -> Result<u8, String> {
    one_byte(text).ok_or_else(|| "one ASCII character such as % is wanted".into())
}

fn one_byte(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Some(*byte),
        _ => None,
    }
}

fn lines(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|&line| line > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first).zip(number(last)).filter(|(first, last)| first <= last);
    range.map(|(first, last)| first..=last).ok_or_else(|| "a line is a number from 1, several are 1-4".into())
}

impl FormatArgs {
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            header: (self.header || self.no_header).then_some(self.header),
            comment: self.comment,
            skip_lines: self.skip_lines.clone(),
            decimal: self.decimal,
            date_order: self.date_order,
            na_values: self.na_values.clone(),
            categorical: self.categorical.clone(),
            drop: self.drop.clone(),
            max_unpacked: self.max_unpacked,
            ..ReadOptions::default()
        }
    }
}

impl ReadingArgs {
    pub fn read(&self, path: &Path, options: &ReadOptions) -> Result<Source> {
        let mut source = katoms_io::read_with_problems(path, options)?;
        match (&mut source, &self.covariates) {
            (Source::Genotypes(genotypes), Some(file)) => genotypes.read_covariates(file)?,
            (_, Some(_)) => bail!(
                "--covariates is for genotypes (.bed); {} has columns of its own: say --always COLUMN",
                path.display()
            ),
            _ => {}
        }
        Ok(source)
    }

    /// The files that [`ReadingArgs::read`] opens.
    pub fn files(&self, path: &Path) -> Vec<PathBuf> {
        katoms_io::files_of(path).into_iter().chain(self.covariates.clone()).collect()
    }

    pub fn missing(&self, source: &Source) -> Missing {
        let usual = if matches!(source, Source::Genotypes(_)) { Missing::Mean } else { Missing::Refuse };
        self.missing.unwrap_or(usual)
    }
}
