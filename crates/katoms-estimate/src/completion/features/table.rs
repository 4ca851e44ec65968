//! A table whose columns are features: each is brought to mean 0 and standard deviation 1 of what was seen of it.

use std::ops::Range;

use katoms::Error;
use katoms::linalg::parallel;
use katoms::linalg::{Matrix, Multiply, norm};

use super::super::Observed;

/// What brings columns to a common scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The mean of what was seen of each column.
    pub centres: Vec<f64>,
    /// Its standard deviation; 1 where all values are the same.
    pub scales: Vec<f64>,
}

impl Scaling {
    /// Refuses a column of which nothing was seen: there is nothing to fill it from.
    pub fn of(observed: &Observed) -> Result<Self, Error> {
        let (_, counts) = observed.counts();
        if let Some(column) = counts.iter().position(|&count| count == 0) {
            return Err(Error::EmptyColumn { column });
        }
        let mut centres = vec![0.0; counts.len()];
        let places = || observed.columns().iter().zip(observed.values());
        places().for_each(|(&j, v)| centres[j] += v / counts[j] as f64);
        let mut deviations: Vec<Vec<f64>> = counts.iter().map(|&count| Vec::with_capacity(count)).collect();
        places().for_each(|(&j, v)| deviations[j].push(v - centres[j]));
        let scale = |(j, deviations): (usize, &Vec<f64>)| {
            let deviation = norm(deviations) / (deviations.len() as f64).sqrt();
            // rounding of the mean alone is no spread
            if deviation > f64::EPSILON * 8.0 * centres[j].abs() { deviation } else { 1.0 }
        };
        let scales: Vec<f64> = deviations.iter().enumerate().map(scale).collect();
        if let Some(column) = scales.iter().position(|scale| !scale.is_finite()) {
            let what = format!("column {column} (counted from 0)");
            let right = "their differences are no numbers in double precision; multiply the column by 1e-10".into();
            return Err(Error::Magnitude { what, column: Some(column), value: centres[column], right });
        }
        Ok(Self { centres, scales })
    }

    /// The entries in units of their columns.
    pub fn apply(&self, observed: &Observed) -> Observed {
        observed.mapped(|j, v| (v - self.centres[j]) / self.scales[j])
    }
}

/// Places and values line by line, and where they are few the places that were not seen.
#[derive(Debug)]
pub struct Lines {
    starts: Vec<usize>,
    places: Vec<usize>,
    values: Vec<f64>,
    /// Starts and places of what was not seen, if that is less.
    missing: Option<(Vec<usize>, Vec<usize>)>,
}

impl Lines {
    fn new(count: usize, width: usize, entries: &[(usize, usize, f64)]) -> Self {
        let starts: Vec<usize> = (0..=count).map(|line| entries.partition_point(|e| e.0 < line)).collect();
        let places: Vec<usize> = entries.iter().map(|e| e.1).collect();
        let missing = (2 * entries.len() > count.saturating_mul(width)).then(|| {
            let (mut starts_missing, mut absent) = (vec![0], Vec::new());
            for line in 0..count {
                let mut seen = places[starts[line]..starts[line + 1]].iter().copied().peekable();
                absent.extend((0..width).filter(|&place| seen.next_if_eq(&place).is_none()));
                starts_missing.push(absent.len());
            }
            (starts_missing, absent)
        });
        Self { starts, places, values: entries.iter().map(|e| e.2).collect(), missing }
    }

    /// What was seen of a line: places and values.
    pub fn seen(&self, line: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.seen_within(line, 0..usize::MAX)
    }

    /// The same, of some places.
    pub fn seen_within(&self, line: usize, places: Range<usize>) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (start, end) = (self.starts[line], self.starts[line + 1]);
        let within = within(&self.places[start..end], &places);
        let range = start + within.start..start + within.end;
        self.places[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// How many were seen of a line.
    pub fn count(&self, line: usize) -> usize {
        self.starts[line + 1] - self.starts[line]
    }

    /// Over which of some places a sum is taken: those that were seen, or, taken off the sum of all, those that were
    /// not.
    pub fn summed(&self, line: usize, places: Range<usize>) -> (Summed, &[usize]) {
        let (how, all) = match &self.missing {
            Some((starts, absent)) => (Summed::AllBut, &absent[starts[line]..starts[line + 1]]),
            None => (Summed::Only, &self.places[self.starts[line]..self.starts[line + 1]]),
        };
        (how, &all[within(all, &places)])
    }
}

fn within(all: &[usize], places: &Range<usize>) -> Range<usize> {
    all.partition_point(|&place| place < places.start)..all.partition_point(|&place| place < places.end)
}

/// How the places of a sum are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// These.
    Only,
    /// All others.
    AllBut,
}

/// Scaled entries, by rows and by columns.
#[derive(Debug)]
pub struct Table {
    pub shape: (usize, usize),
    pub rows: Lines,
    pub columns: Lines,
    /// The number of entries.
    pub seen: usize,
}

impl Table {
    pub fn new(scaled: &Observed) -> Self {
        let shape = scaled.shape();
        let all = scaled.rows().iter().zip(scaled.columns()).zip(scaled.values());
        let by_rows: Vec<(usize, usize, f64)> = all.map(|((&i, &j), &v)| (i, j, v)).collect();
        let mut by_columns: Vec<(usize, usize, f64)> = by_rows.iter().map(|&(i, j, v)| (j, i, v)).collect();
        by_columns.sort_by_key(|e| (e.0, e.1));
        Self {
            rows: Lines::new(shape.0, shape.1, &by_rows),
            columns: Lines::new(shape.1, shape.0, &by_columns),
            shape,
            seen: by_rows.len(),
        }
    }

    /// FNV-1a over places and values: enough to tell tables apart, no safeguard against intent.
    pub fn fingerprint(&self) -> u64 {
        let places = self.rows.starts.iter().chain(&self.rows.places).map(|&place| place as u64);
        let all = places.chain(self.rows.values.iter().map(|v| v.to_bits()));
        all.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3))
    }
}

/// With zeros, the columns' means, where nothing was seen.
impl Multiply for Table {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }
    fn times(&self, b: &Matrix) -> Matrix {
        product(&self.rows, self.shape.0, b)
    }
    fn transposed_times(&self, b: &Matrix) -> Matrix {
        product(&self.columns, self.shape.1, b)
    }
}

fn product(lines: &Lines, count: usize, b: &Matrix) -> Matrix {
    let column = |c: usize| {
        let right = b.column(c);
        (0..count).map(|line| lines.seen(line).map(|(place, v)| v * right[place]).sum::<f64>()).collect::<Vec<_>>()
    };
    let columns: Vec<Vec<f64>> = parallel::map(b.columns(), &column);
    Matrix::from_columns(count, b.columns(), columns.concat())
}
