//! What is known about columns: each number is seen once, in the order in which they lie in the file.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};

use katoms::linalg::kernels::Real;
use katoms::operator::{GenotypeCounts, Layout};
use katoms_io::{Array, ColumnFormat, Genotypes, Sparse, Table, Values, Variant, on_numbers};
use serde::Serialize;

/// Numbers that are looked at one by one; more would take long, and nobody reads the list.
const MOST_NUMBERS: usize = 50_000_000;
/// Columns that are told one by one.
const MOST_COLUMNS: usize = 1_000_000;

#[derive(Debug, Default, Serialize)]
pub struct Seen {
    pub name: String,
    pub kind: &'static str,
    pub missing: usize,
    /// Different values; words only.
    pub levels: Option<usize>,
    /// Least, mean and largest; numbers only.
    pub range: Option<[f64; 3]>,
    pub constant: bool,
    pub duplicate_of: Option<String>,
    /// How it was read, where its cells are no plain numbers.
    pub format: Option<ColumnFormat>,
    pub dropped: bool,
}

/// A column and its digest: equal columns have equal ones, different columns practically never.
type Digested = (Seen, u64);

pub fn of_table(table: &Table) -> Vec<Seen> {
    let one = |column: &katoms_io::Column| match &column.values {
        Values::Numbers(values) => {
            let mut tally = Tally::default();
            values.iter().for_each(|&v| tally.see(v));
            let (seen, digest) = tally.seen(column.name.clone());
            let format = table.formats.get(&column.name).cloned();
            let kind = if matches!(format, Some(ColumnFormat::Dates(_))) { "dates" } else { seen.kind };
            (Seen { kind, format, ..seen }, digest)
        }
        Values::Words { levels, codes } => {
            let missing = codes.iter().filter(|code| code.is_none()).count();
            let mut digest = DefaultHasher::new();
            (levels, codes).hash(&mut digest);
            let (name, kind, count) = (column.name.clone(), "categories", levels.len());
            let seen = Seen { name, kind, missing, levels: Some(count), constant: count == 1, ..Seen::default() };
            (seen, digest.finish())
        }
    };
    with_duplicates(table.columns.iter().map(one))
}

/// The columns of a matrix; `None` where it is too large.
pub fn of_array(array: &Array) -> Option<Vec<Seen>> {
    if array.numbers.len() > MOST_NUMBERS || array.columns > MOST_COLUMNS {
        return None;
    }
    let mut tallies: Vec<Tally> = (0..array.columns).map(|_| Tally::default()).collect();
    on_numbers!(&array.numbers, numbers => see_all(numbers, array, &mut tallies));
    Some(numbered(tallies))
}

fn see_all<T: Real>(numbers: &[T], array: &Array, tallies: &mut [Tally]) {
    match array.layout {
        Layout::ColumnMajor => {
            let columns = numbers.chunks(array.rows.max(1));
            columns.zip(tallies).for_each(|(column, tally)| column.iter().for_each(|v| tally.see(v.to_f64())));
        }
        Layout::RowMajor => {
            for row in numbers.chunks(array.columns.max(1)) {
                row.iter().zip(&mut *tallies).for_each(|(v, tally)| tally.see(v.to_f64()));
            }
        }
    }
}

/// The columns of a sparse matrix; `None` where it is too large.
pub fn of_sparse(sparse: &Sparse) -> Option<Vec<Seen>> {
    if sparse.values.len() > MOST_NUMBERS || sparse.columns > MOST_COLUMNS {
        return None;
    }
    let column = |bounds: &[usize]| {
        let (mut tally, range) = (Tally::default(), bounds[0]..bounds[1]);
        let entries = sparse.indices[range.clone()].iter().zip(&sparse.values[range]);
        for (row, &value) in entries.filter(|(_, v)| **v != 0.0) {
            row.hash(&mut tally.digest);
            tally.see(value);
        }
        tally.see_zeros(sparse.rows);
        tally
    };
    Some(numbered(sparse.starts.windows(2).map(column)))
}

/// The variants, of their counts; duplicates are not looked for.
pub fn of_genotypes(genotypes: &Genotypes, counts: &[GenotypeCounts]) -> Vec<Seen> {
    let one = |(variant, counts): (&Variant, &GenotypeCounts)| {
        let copies = || counts.copies.iter().zip(0_u8..).filter(|(n, _)| **n > 0).map(|(_, copies)| f64::from(copies));
        let range = copies().next().zip(copies().last()).map(|(least, most)| [least, counts.mean(), most]);
        let [counted, other] = &variant.alleles;
        let name = format!("{} ({counted}, {other})", variant.name);
        let (missing, constant) = (counts.missing, counts.is_constant() && range.is_some());
        Seen { name, kind: "genotypes", missing, range, constant, ..Seen::default() }
    };
    genotypes.variants.iter().zip(counts).map(one).collect()
}

/// Columns without names, which are x1, x2, ….
fn numbered(tallies: impl IntoIterator<Item = Tally>) -> Vec<Seen> {
    with_duplicates(tallies.into_iter().enumerate().map(|(j, tally)| tally.seen(format!("x{}", j + 1))))
}

fn with_duplicates(columns: impl Iterator<Item = Digested>) -> Vec<Seen> {
    let mut first_with: HashMap<u64, String> = HashMap::new();
    let one = |(seen, digest): Digested| match first_with.entry(digest) {
        Entry::Occupied(first) => Seen { duplicate_of: Some(first.get().clone()), ..seen },
        Entry::Vacant(place) => {
            place.insert(seen.name.clone());
            seen
        }
    };
    columns.map(one).collect()
}

struct Tally {
    there: usize,
    missing: usize,
    least: f64,
    largest: f64,
    sum: f64,
    digest: DefaultHasher,
}

impl Default for Tally {
    fn default() -> Self {
        let (least, largest) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { there: 0, missing: 0, least, largest, sum: 0.0, digest: DefaultHasher::new() }
    }
}

impl Tally {
    fn see(&mut self, value: f64) {
        if value.is_nan() {
            self.missing += 1;
            f64::NAN.to_bits().hash(&mut self.digest);
            return;
        }
        self.there += 1;
        self.sum += value;
        (self.least, self.largest) = (self.least.min(value), self.largest.max(value));
        // 0 and −0 are one number
        (value + 0.0).to_bits().hash(&mut self.digest);
    }

    /// The zeros that a sparse column of so many rows does not store.
    fn see_zeros(&mut self, rows: usize) {
        if self.there + self.missing < rows {
            self.there = rows - self.missing;
            (self.least, self.largest) = (self.least.min(0.0), self.largest.max(0.0));
        }
    }

    fn seen(self, name: String) -> Digested {
        let Self { there, missing, least, largest, sum, digest } = self;
        let range = (there > 0).then(|| [least, sum / there as f64, largest]);
        // a column of which nothing is there is missing, not constant
        let constant = there > 0 && least == largest;
        (Seen { name, kind: "numbers", missing, range, constant, ..Seen::default() }, digest.finish())
    }
}
