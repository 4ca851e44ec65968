//! Rows that are no data: units below the header, totals at the end.

use super::resolve::Resolved;
use crate::names::listed;
use crate::problem::{Problem, quoted};
use crate::table::Values;

/// What the last row is called where it sums up the others.
const TOTALS: &str = "total|totals|grand total|subtotal|sub-total|sum|sums|overall|average|mean|summe|gesamt|\
    gesamtsumme|insgesamt|somme|totale|totaal|suma";
/// How far a total may be from the sum of the others, of its size: sums that were rounded before they were written.
const ROUNDING: f64 = 1e-6;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Odd {
    /// The row that was taken out. It explains what is wrong with columns that have nothing else wrong.
    pub(super) row: Option<usize>,
    pub(super) problem: Option<Problem>,
    pub(super) note: Option<String>,
}

/// Looks for a row of units and for one of totals, and takes it out, so that the rest is judged without it.
pub(super) fn take_out(columns: &mut [Resolved], lines: &mut Vec<u64>) -> Odd {
    let odd = units(columns, lines).or_else(|| totals(columns, lines)).unwrap_or_default();
    if let Some(row) = odd.row.filter(|&row| row < lines.len()) {
        lines.remove(row);
        columns.iter_mut().for_each(|column| take_row(&mut column.values, row));
    }
    odd
}

fn take_row(values: &mut Values, row: usize) {
    match values {
        Values::Numbers(numbers) if row < numbers.len() => _ = numbers.remove(row),
        Values::Words { levels, codes } if row < codes.len() => {
            let gone = codes.remove(row).filter(|gone| !codes.contains(&Some(*gone)));
            if let Some(gone) = gone.filter(|&gone| (gone as usize) < levels.len()) {
                levels.remove(gone as usize);
                codes.iter_mut().flatten().filter(|code| **code > gone).for_each(|code| *code -= 1);
            }
        }
        _ => {}
    }
}

/// A first row that has words where all others have numbers, in two columns or more.
fn units(columns: &[Resolved], lines: &[u64]) -> Option<Odd> {
    let slips = columns.iter().filter_map(|column| column.only_slip.as_ref());
    let words: Vec<String> = slips.filter(|(row, _)| *row == 0).map(|(_, word)| quoted(word)).collect();
    let line = lines.first().filter(|_| words.len() >= 2)?;
    let list = listed(words.iter().map(String::as_str));
    let problem = format!(
        "{list} where the lines below have numbers: most likely units, a second line of the header; leave it out \
         (--skip-lines {line})"
    );
    let problem = Some(Problem { column: None, place: format!("line {line}"), problem });
    Some(Odd { row: Some(0), problem, note: None })
}

/// A last row that is called a total. Where it has words in columns of numbers, or is the sum of the others, it is one.
fn totals(columns: &[Resolved], lines: &[u64]) -> Option<Odd> {
    let last = lines.len().checked_sub(1)?;
    let line = lines.get(last)?;
    let word = columns.iter().find_map(|column| total_word(column, last))?;
    let is_slip = columns.iter().any(|c| c.only_slip.as_ref().is_some_and(|(row, _)| *row == last));
    let is_sum = |column: &Resolved| match &column.values {
        Values::Numbers(numbers) => is_sum_of_others(numbers),
        Values::Words { .. } => false,
    };
    let word = quoted(word);
    if is_slip || columns.iter().any(is_sum) {
        let problem = format!("{word}: most likely a line of totals, not data; leave it out (--skip-lines {line})");
        let problem = Some(Problem { column: None, place: format!("line {line}"), problem });
        return Some(Odd { row: Some(last), problem, note: None });
    }
    let note = format!("the last line has {word} in it; if it is no data, leave it out (--skip-lines {line})");
    Some(Odd { note: Some(note), ..Odd::default() })
}

/// The word of a column in a row that no other row has, where it speaks of a total.
fn total_word(column: &Resolved, row: usize) -> Option<&str> {
    let word = match (&column.only_slip, &column.values) {
        (Some((at, word)), _) if *at == row => word.as_str(),
        (None, Values::Words { levels, codes }) => {
            let code = (*codes.get(row)?)?;
            let rest = codes.get(..row)?;
            levels.get(code as usize).filter(|_| !rest.contains(&Some(code)))?
        }
        _ => return None,
    };
    let plain = word.trim_end_matches([':', '.']).trim().to_lowercase();
    TOTALS.split('|').any(|total| total == plain).then_some(word)
}

/// Whether the last number is the sum or the mean of the others.
fn is_sum_of_others(numbers: &[f64]) -> bool {
    let Some((&last, others)) = numbers.split_last().filter(|(last, _)| last.is_finite() && **last != 0.0) else {
        return false;
    };
    let known: Vec<f64> = others.iter().copied().filter(|v| !v.is_nan()).collect();
    let sum: f64 = known.iter().sum();
    let is_near = |value: f64| (value - last).abs() <= ROUNDING * last.abs();
    known.len() >= 2 && (is_near(sum) || is_near(sum / known.len() as f64))
}
