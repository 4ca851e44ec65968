//! MatrixMarket: a sparse (coordinate) or dense (array) matrix as text.

use std::fmt::Write;
use std::path::Path;

use katoms::operator::Layout;

use super::triplets::Triplets;
use crate::allocation::{MaxUnpacked, OutOfMemory, filled, reserved};
use crate::error::{Error, bad, bad_at};
use crate::on_numbers;
use crate::problem::short;
use crate::source::{Array, Numbers, Source, Sparse};

/// What every MatrixMarket file starts with.
pub(crate) const MAGIC: &[u8] = b"%%MatrixMarket";

/// What the entries below the diagonal say of those above.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// What the first line says.
struct Banner {
    is_array: bool,
    is_pattern: bool,
    symmetry: Symmetry,
}

/// The matrix of a file.
///
/// # Errors
/// When a line is wrong, missing or one too many; the error names the line.
pub fn read_bytes(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Source, Error> {
    let mut lines = Lines { path, rest: bytes, number: 0 };
    let banner = lines.banner()?;
    let size = lines.next()?.ok_or_else(|| bad(path, "the file ends before the line of sizes"))?;
    if banner.is_array { array(&mut lines, &banner, size) } else { coordinate(&mut lines, &banner, size, limit) }
}

/// The lines of a text that are no comments.
struct Lines<'a> {
    path: &'a Path,
    rest: &'a [u8],
    /// The number of the last line, counted from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    fn wrong(&self, problem: impl Into<String>) -> Error {
        bad_at(self.path, format!(", line {}", self.number), problem)
    }

    /// The next line, whatever it is.
    fn any(&mut self) -> Result<Option<&'a str>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        (self.rest, self.number) = (rest.get(1..).unwrap_or_default(), self.number + 1);
        let line = std::str::from_utf8(line).map_err(|_| self.wrong("the line is not text"))?;
        Ok(Some(line.trim()))
    }

    /// The next line that is neither empty nor a comment.
    fn next(&mut self) -> Result<Option<&'a str>, Error> {
        while let Some(line) = self.any()? {
            if !line.is_empty() && !line.starts_with('%') {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The next entry of `count`, of which `done` were there.
    fn entry(&mut self, done: usize, count: usize) -> Result<&'a str, Error> {
        let problem = format!("the file ends after {done} entries, but {count} are promised; copy or write it again");
        self.next()?.ok_or_else(|| self.wrong(problem))
    }

    fn end(&mut self, count: usize) -> Result<(), Error> {
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.wrong(format!("there are more entries than the {count} that are promised"))),
        }
    }

    fn banner(&mut self) -> Result<Banner, Error> {
        let line = self.any()?.unwrap_or_default().to_ascii_lowercase();
        let known = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric";
        let [_, "matrix", form, field, symmetry] = line.split_ascii_whitespace().collect::<Vec<_>>()[..] else {
            return Err(self.wrong(format!("the first line should be: {known}")));
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            other => {
                return Err(self.wrong(format!("{} matrices are not read; the line should be: {known}", short(other))));
            }
        };
        match (form, field) {
            ("coordinate" | "array", "real" | "double" | "integer") | ("coordinate", "pattern") => {}
            _ => {
                let found = format!("{form} {field}");
                return Err(self.wrong(format!("{} is not read; the line should be: {known}", short(&found))));
            }
        }
        Ok(Banner { is_array: form == "array", is_pattern: field == "pattern", symmetry })
    }

    /// N whole numbers.
    fn counts<const N: usize>(&self, line: &str, names: &str) -> Result<[usize; N], Error> {
        let parsed: Option<Vec<usize>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let counts = parsed.and_then(|counts| <[usize; N]>::try_from(counts).ok());
        counts.ok_or_else(|| self.wrong(format!("`{}` should be {names}", short(line))))
    }

    fn number(&self, word: &str) -> Result<f64, Error> {
        word.parse().map_err(|_| self.wrong(format!("`{}` is not a number", short(word))))
    }

    /// An index from 1 to `limit`, counted from 0.
    fn index(&self, word: &str, limit: usize) -> Result<u32, Error> {
        let index = word.parse::<usize>().ok().filter(|&index| 1 <= index && index <= limit);
        let index = index.and_then(|index| u32::try_from(index - 1).ok());
        index.ok_or_else(|| self.wrong(format!("`{}` is not a place from 1 to {limit}", short(word))))
    }
}

fn coordinate(lines: &mut Lines, banner: &Banner, size: &str, limit: MaxUnpacked) -> Result<Source, Error> {
    let [rows, columns, count] = lines.counts(size, "three numbers: rows, columns, entries")?;
    let size = lines.number;
    if banner.symmetry != Symmetry::General && rows != columns {
        return Err(lines.wrong(format!("a symmetric matrix is square, not {rows} × {columns}")));
    }
    // each entry takes a line: the text bounds what is asked for before the entries are there
    let most = count.min(lines.rest.len());
    let most = if banner.symmetry == Symmetry::General { most } else { most * 2 };
    let mut triplets = Triplets::with_room(most).map_err(|problem| lines.wrong(problem))?;
    for done in 0..count {
        let line = lines.entry(done, count)?;
        let mut words = line.split_ascii_whitespace();
        let (row, column, value) = match ([(); 4].map(|()| words.next()), banner.is_pattern) {
            ([Some(row), Some(column), None, None], true) => (row, column, 1.0),
            ([Some(row), Some(column), Some(value), None], false) => (row, column, lines.number(value)?),
            (_, true) => return Err(lines.wrong(format!("`{}` should be a row and a column", short(line)))),
            (_, false) => return Err(lines.wrong(format!("`{}` should be a row, a column and a value", short(line)))),
        };
        let (row, column) = (lines.index(row, rows)?, lines.index(column, columns)?);
        let mut push = |row, column, value| triplets.push(row, column, value).map_err(|problem| lines.wrong(problem));
        push(row, column, value)?;
        match banner.symmetry {
            Symmetry::Symmetric if row != column => push(column, row, value)?,
            Symmetry::Skew if row != column => push(column, row, -value)?,
            Symmetry::Skew if value != 0.0 => {
                return Err(lines.wrong("a skew-symmetric matrix has nothing on its diagonal"));
            }
            _ => {}
        }
    }
    lines.end(count)?;
    let sparse = triplets.into_sparse(rows, columns, limit);
    sparse.map(Source::Sparse).map_err(|problem| bad_at(lines.path, format!(", line {size}"), problem))
}

fn array(lines: &mut Lines, banner: &Banner, size: &str) -> Result<Source, Error> {
    let [rows, columns] = lines.counts(size, "two numbers: rows, columns")?;
    if banner.symmetry != Symmetry::General && rows != columns {
        return Err(lines.wrong(format!("a symmetric matrix is square, not {rows} × {columns}")));
    }
    let all = rows.checked_mul(columns).ok_or_else(|| lines.wrong(format!("`{}` is more than can be", short(size))))?;
    let count = match banner.symmetry {
        Symmetry::General => all,
        Symmetry::Symmetric => all / 2 + rows.div_ceil(2),
        Symmetry::Skew => all / 2 - rows / 2,
    };
    // each number takes a line: the text bounds what is allocated before the numbers are there
    let mut given = reserved(count.min(lines.rest.len())).map_err(|problem| lines.wrong(problem))?;
    while given.len() < count {
        let line = lines.entry(given.len(), count)?;
        given.push(lines.number(line)?);
    }
    lines.end(count)?;
    let numbers = match banner.symmetry {
        Symmetry::General => given,
        symmetry => mirrored(given, rows, symmetry).map_err(|problem| lines.wrong(problem))?,
    };
    let layout = Layout::ColumnMajor;
    Ok(Source::Array(Array { numbers: Numbers::F64(numbers.into()), rows, columns, layout, is_vector: false }))
}

/// The square matrix of which the entries below the diagonal are given, and those on it unless they are all 0.
fn mirrored(given: Vec<f64>, side: usize, symmetry: Symmetry) -> Result<Vec<f64>, OutOfMemory> {
    let (first, sign) = if symmetry == Symmetry::Skew { (1, -1.0) } else { (0, 1.0) };
    let places = (0..side).flat_map(|column| (column + first..side).map(move |row| (row, column)));
    let mut numbers = filled(0.0, side * side)?;
    for ((row, column), value) in places.zip(given) {
        numbers[row * side + column] = sign * value;
        numbers[column * side + row] = value;
    }
    Ok(numbers)
}

/// The text of a sparse matrix.
pub fn write_matrix_market_coordinate(sparse: &Sparse) -> Vec<u8> {
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n");
    // writing to a string cannot fail
    let _ = writeln!(text, "{} {} {}", sparse.rows, sparse.columns, sparse.values.len());
    for (column, ends) in sparse.starts.windows(2).enumerate() {
        for entry in ends[0]..ends[1] {
            let _ = writeln!(text, "{} {} {:?}", sparse.indices[entry] + 1, column + 1, sparse.values[entry]);
        }
    }
    text.into_bytes()
}

/// The text of a dense matrix.
pub fn write_matrix_market_array(array: &Array) -> Vec<u8> {
    let mut text = String::from("%%MatrixMarket matrix array real general\n");
    let _ = writeln!(text, "{} {}", array.rows, array.columns);
    for column in 0..array.columns {
        for row in 0..array.rows {
            let place = match array.layout {
                Layout::ColumnMajor => column * array.rows + row,
                Layout::RowMajor => row * array.columns + column,
            };
            let _ = on_numbers!(&array.numbers, numbers => writeln!(text, "{:?}", numbers[place]));
        }
    }
    text.into_bytes()
}
