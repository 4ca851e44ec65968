//! NPY: one array of NumPy.
//!
//! Six bytes of magic, two of version, the length of the header, the header, then the numbers as they lie in memory.
//! The header is a Python dictionary of three entries and is read here: crates that do so bring an array type along,
//! or cannot tell where the numbers start, which a map needs.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use katoms::operator::{Layout, f16};

use super::npy_header::{Header, Kind, MAGIC};
use crate::allocation::{Budget, MaxUnpacked, OutOfMemory, gathered};
use crate::error::{Error, bad, bad_at};
use crate::mapped::Mapped;
use crate::on_numbers;
use crate::problem::short;
use crate::source::{Array, Numbers};

/// Files longer than this are mapped, not read.
pub(crate) const MAPPED_ABOVE: u64 = 64 << 20;

/// The array of a file in memory. Integers of more than a byte become doubles, exactly up to 2⁵³.
///
/// # Errors
/// When the header or the number of bytes is wrong, or the array does not hold numbers.
pub fn read_bytes(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Array, Error> {
    let header = Header::parse(bytes).map_err(|problem| bad(path, problem))?;
    array_of(&header, bytes, limit).map_err(|problem| bad(path, problem))
}

/// The array of a member of an archive, or `None` where it holds words or Python objects.
pub(crate) fn read_member(path: &Path, name: &str, bytes: &[u8], limit: MaxUnpacked) -> Result<Option<Array>, Error> {
    let wrong = |problem| bad_at(path, format!(", array {}", short(name)), problem);
    let header = Header::parse(bytes).map_err(wrong)?;
    if header.kind.is_err() {
        return Ok(None);
    }
    array_of(&header, bytes, limit).map(Some).map_err(wrong)
}

/// The words of an array that holds a single string.
pub(crate) fn read_word(bytes: &[u8]) -> Option<String> {
    let header = Header::parse(bytes).ok()?;
    let is_text = header.kind.as_ref().is_err_and(|code| code.contains(['S', 'U', 'a']));
    // a string of NumPy is bytes, or characters of four bytes: for plain words the same, but for zeros
    let letters = bytes.get(header.start..)?.iter().filter(|&&b| b != 0).map(|&b| char::from(b));
    is_text.then(|| letters.collect())
}

/// The array of a file that lies on disk as it would in memory, mapped. `None` where it has to be read: its numbers are
/// of another byte order than this machine's, integers of more than a byte, or truths.
pub(crate) fn map(path: &Path, file: &File, start: &[u8], limit: MaxUnpacked) -> Result<Option<Array>, Error> {
    let Ok(length) = file.metadata().map(|m| m.len()) else { return Ok(None) };
    let Ok(header) = Header::parse(start) else { return Ok(None) };
    let Some(kind) = header.kind.as_ref().ok().filter(|_| !header.is_swapped()) else { return Ok(None) };
    let length = usize::try_from(length).map_err(|_| bad(path, "the file is larger than this machine can address"))?;
    let range = numbers_in(&header, kind.size, length).map_err(|problem| bad(path, problem))?;
    let numbers = match (kind.letter, kind.size) {
        (b'i', 1) => Mapped::new(path, file, range)?.map(|m| Numbers::I8(m.into())),
        (b'u', 1) => Mapped::new(path, file, range)?.map(|m| Numbers::U8(m.into())),
        (b'f', 2) => Mapped::new(path, file, range)?.map(|m| Numbers::F16(m.into())),
        (b'f', 4) => Mapped::new(path, file, range)?.map(|m| Numbers::F32(m.into())),
        (b'f', 8) => Mapped::new(path, file, range)?.map(|m| Numbers::F64(m.into())),
        _ => None,
    };
    numbers.map(|numbers| with_shape(&header, numbers, limit)).transpose().map_err(|problem| bad(path, problem))
}

/// Where the numbers of a file of `length` bytes are.
fn numbers_in(header: &Header, size: usize, length: usize) -> Result<Range<usize>, String> {
    let needed =
        header.count().and_then(|n| n.checked_mul(size)).ok_or("the header promises more numbers than can be")?;
    let there = length.saturating_sub(header.start);
    if there < needed {
        return Err(format!(
            "the file ends too early: {there} bytes of numbers are there, {needed} are needed ({} numbers of {size} \
             bytes); copy or write it again",
            needed / size
        ));
    }
    Ok(header.start..header.start + needed)
}

fn array_of(header: &Header, bytes: &[u8], limit: MaxUnpacked) -> Result<Array, String> {
    let kind = header.kind.as_ref().map_err(|code| refusal(code))?;
    let bytes = bytes.get(numbers_in(header, kind.size, bytes.len())?).unwrap_or_default();
    with_shape(header, numbers_of(*kind, header.is_swapped(), bytes)?, limit)
}

/// The numbers of an array that are these bytes.
fn numbers_of(kind: Kind, swapped: bool, bytes: &[u8]) -> Result<Numbers, OutOfMemory> {
    macro_rules! decoded {
        ($kind:ty) => {
            decoded!($kind, |v| v)
        };
        ($kind:ty, $into:expr) => {{
            let (numbers, _) = bytes.as_chunks::<{ size_of::<$kind>() }>();
            let one =
                |&b: &[u8; _]| if swapped { <$kind>::from_ne_bytes(reversed(b)) } else { <$kind>::from_ne_bytes(b) };
            gathered(numbers.iter().map(one).map($into))?.into()
        }};
    }
    Ok(match (kind.letter, kind.size) {
        (b'i', 1) => Numbers::I8(decoded!(i8)),
        (b'u', 1) => Numbers::U8(decoded!(u8)),
        (b'f', 2) => Numbers::F16(decoded!(f16)),
        (b'f', 4) => Numbers::F32(decoded!(f32)),
        (b'i', 2) => Numbers::F64(decoded!(i16, f64::from)),
        (b'i', 4) => Numbers::F64(decoded!(i32, f64::from)),
        (b'i', _) => Numbers::F64(decoded!(i64, |v| v as f64)),
        (b'u', 2) => Numbers::F64(decoded!(u16, f64::from)),
        (b'u', 4) => Numbers::F64(decoded!(u32, f64::from)),
        (b'u', _) => Numbers::F64(decoded!(u64, |v| v as f64)),
        (b'b', _) => Numbers::U8(gathered(bytes.iter().map(|&b| u8::from(b != 0)))?.into()),
        _ => Numbers::F64(decoded!(f64)),
    })
}

fn reversed<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    bytes.reverse();
    bytes
}

fn with_shape(header: &Header, numbers: Numbers, limit: MaxUnpacked) -> Result<Array, String> {
    let (rows, columns, is_vector) = match header.shape[..] {
        [] => (1, 1, true),
        [rows] => (rows, 1, true),
        [rows, columns] => (rows, columns, false),
        _ => {
            return Err(format!(
                "the array has {} dimensions; a matrix (2) or a vector (1) is needed",
                header.shape.len()
            ));
        }
    };
    // rows of numbers are there; without a column there may be any number of them
    Budget::new(limit).take_sides(if columns == 0 { rows } else { 0 }, columns)?;
    let layout = if header.fortran_order || is_vector { Layout::ColumnMajor } else { Layout::RowMajor };
    Ok(Array { numbers, rows, columns, layout, is_vector })
}

/// Why an array of this type cannot be used.
fn refusal(code: &str) -> String {
    let kind = match code.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('O') => "Python objects",
        Some('S' | 'U' | 'a') => "words",
        Some('c') => "complex numbers",
        Some('M' | 'm') => "dates or times",
        Some('[' | 'V') => "records of several fields",
        Some('f') => "numbers of a precision that is not read",
        _ => "something else",
    };
    format!("the array holds {kind} (dtype {}), not numbers: save it with .astype(\"float64\")", short(code))
}

/// The bytes of an NPY file.
pub fn write_npy(array: &Array) -> Vec<u8> {
    let order = if array.layout == Layout::ColumnMajor && !array.is_vector { "True" } else { "False" };
    let shape =
        if array.is_vector { format!("({},)", array.rows) } else { format!("({}, {})", array.rows, array.columns) };
    let code = match array.numbers {
        Numbers::I8(_) => "|i1",
        Numbers::U8(_) => "|u1",
        Numbers::F16(_) => "<f2",
        Numbers::F32(_) => "<f4",
        Numbers::F64(_) => "<f8",
    };
    let header = format!("{{'descr': '{code}', 'fortran_order': {order}, 'shape': {shape}, }}");
    // the numbers start at a multiple of 64 bytes; a line feed ends the header
    let padded = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    let mut bytes = [MAGIC, &[1, 0], &(padded as u16).to_le_bytes()].concat();
    bytes.extend_from_slice(format!("{header:<width$}\n", width = padded - 1).as_bytes());
    on_numbers!(&array.numbers, numbers => numbers.iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes())));
    bytes
}
