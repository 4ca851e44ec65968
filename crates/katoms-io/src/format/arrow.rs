//! Arrow files (Feather) and streams, message by message. What a message promises (places, lengths, sizes after
//! unpacking) is held against the bytes that are there.

mod buffers;
mod flatbuffer;
mod schema;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use super::columnar::{Gathered, Kind, Refused, table, there};
use crate::allocation::{Budget, MaxUnpacked};
use crate::error::Error;
use crate::table::Table;
use buffers::Buffers;
use flatbuffer::Table as Flat;
use schema::{Field, Layout, fields};

/// What an Arrow file starts and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What comes before the length of a message since version 0.15.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The oldest version of messages that is read: 4.
const VERSION: i64 = 3;

/// A dictionary that was read: numbers, or words.
#[derive(Default)]
struct Dictionary {
    numbers: Vec<f64>,
    words: Vec<Option<String>>,
}

/// The table of an Arrow file or stream.
///
/// # Errors
/// When the file is cut off or damaged, unpacks to more than the limit, or a column holds what is neither numbers nor
/// words.
pub fn read_arrow(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Table, Error> {
    let refused = |refused: Refused| refused.error(path);
    let opened = if bytes.starts_with(MAGIC) { of_file(bytes) } else { of_stream(bytes) };
    let (fields, mut next) = opened.map_err(refused)?;
    let gathered = |(place, field): (usize, &Field)| Gathered::new(path, place, &field.name, field.kind.clone());
    let columns = fields.iter().enumerate().map(gathered).collect::<Result<Vec<_>, _>>()?;
    let mut reading =
        Reading { columns, cached: Vec::new(), dictionaries: HashMap::new(), rows: 0, budget: Budget::new(limit) };
    while let Some(part) = next.part(bytes).map_err(refused)? {
        reading.push(&fields, &part).map_err(refused)?;
    }
    table(path, reading.columns, reading.rows)
}

/// The names and kinds of the columns of a schema that stands at the start of a stream.
pub(super) fn kinds(bytes: &[u8]) -> Option<Vec<(String, Result<Kind, String>)>> {
    let (fields, _) = of_stream(bytes).ok()?;
    Some(fields.into_iter().map(|field| (field.name, field.kind)).collect())
}

/// Where the next message is.
enum Next {
    /// The places of a file that are still to be read, the last one first.
    Blocks(Vec<usize>),
    /// The place in a stream.
    At(usize),
}

/// A message and its body.
struct Part<'b> {
    message: Flat<'b>,
    body: &'b [u8],
}

impl Next {
    fn part<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<Part<'b>>, Refused> {
        match self {
            Self::Blocks(blocks) => {
                let Some(place) = blocks.pop() else { return Ok(None) };
                there(part_at(bytes, place)?.map(|(part, _)| Some(part)))
            }
            Self::At(place) => Ok(part_at(bytes, *place)?.map(|(part, end)| {
                *place = end;
                part
            })),
        }
    }
}

/// The message at a place, and where it ends; `None` at the end of a stream.
fn part_at(bytes: &[u8], place: usize) -> Result<Option<(Part<'_>, usize)>, Refused> {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).copied();
    let (start, length) = match word(place) {
        None if place == bytes.len() => return Ok(None),
        Some(CONTINUATION) => (place + 8, there(word(place + 4))?),
        length => (place + 4, there(length)?),
    };
    let length = there(usize::try_from(i32::from_le_bytes(length)).ok())?;
    if length == 0 {
        return Ok(None);
    }
    let (metadata, rest) = there(bytes.get(start..).and_then(|rest| rest.split_at_checked(length)))?;
    let message = there(Flat::root(metadata))?;
    let body = there(usize::try_from(message.integer::<8>(3)).ok().and_then(|length| rest.get(..length)))?;
    Ok(Some((Part { message, body }, start + length + body.len())))
}

/// The columns of a file, and where its messages are.
fn of_file(bytes: &[u8]) -> Result<(Vec<Field>, Next), Refused> {
    let (rest, length) = there(bytes.strip_suffix(MAGIC).and_then(|rest| rest.split_last_chunk::<4>()))?;
    let start = rest.len().checked_sub(u32::from_le_bytes(*length) as usize);
    let footer = there(start.and_then(|start| Flat::root(&rest[start..])))?;
    let schema = there(footer.table(1))?;
    let blocks = [2, 3].into_iter().flat_map(|field| footer.integers::<3>(field).unwrap_or_default());
    let mut blocks = there(blocks.map(|[place, ..]| usize::try_from(place).ok()).collect::<Option<Vec<_>>>())?;
    blocks.reverse();
    Ok((fields(schema)?, Next::Blocks(blocks)))
}

/// The columns of a stream, and where its first message after them is.
fn of_stream(bytes: &[u8]) -> Result<(Vec<Field>, Next), Refused> {
    let (part, end) = part_at(bytes, 0)?.ok_or_else(|| Refused::Damaged("it holds no message".into()))?;
    let schema = part.message.table(2).filter(|_| part.message.integer::<1>(1) == 1);
    let schema = schema.ok_or_else(|| Refused::Damaged("it does not start with a schema".into()))?;
    Ok((fields(schema)?, Next::At(end)))
}

/// A dictionary, and what its words are called in a column.
type Cached = (Rc<Dictionary>, Vec<Option<u32>>);

/// What was read of a file so far.
struct Reading {
    columns: Vec<Gathered>,
    /// For each column the dictionary that it used last.
    cached: Vec<Option<Cached>>,
    dictionaries: HashMap<i64, Rc<Dictionary>>,
    rows: usize,
    budget: Budget,
}

impl Reading {
    fn push(&mut self, fields: &[Field], part: &Part<'_>) -> Result<(), Refused> {
        if part.message.integer::<2>(0) < VERSION {
            return Err(Refused::Damaged("the version of its messages is not read".into()));
        }
        let header = there(part.message.table(2))?;
        match part.message.integer::<1>(1) {
            2 => self.push_dictionary(fields, header, part.body),
            3 => self.push_rows(fields, header, part.body),
            _ => Err(Refused::Damaged("a message among the rows that has none".into())),
        }
    }

    fn push_rows(&mut self, fields: &[Field], batch: Flat<'_>, body: &[u8]) -> Result<(), Refused> {
        let mut buffers = Buffers::new(batch, body, fields.len())?;
        self.cached.resize_with(fields.len(), || None);
        for (place, field) in fields.iter().enumerate() {
            let column = &mut self.columns[place];
            match field.dictionary {
                None => buffers.push(field.layout, column, &mut self.budget)?,
                Some((id, kind)) => {
                    let mut places = Gathered { kind, ..column.empty() };
                    buffers.push(Layout::Numbers, &mut places, &mut self.budget)?;
                    let dictionary = match self.dictionaries.get(&id) {
                        Some(dictionary) => Rc::clone(dictionary),
                        // nothing is needed of it where all are missing
                        None => there(places.numbers.iter().all(|v| v.is_nan()).then(Rc::<Dictionary>::default))?,
                    };
                    from_dictionary(column, &places.numbers, &mut self.cached[place], &dictionary)?;
                }
            }
        }
        self.rows = there(self.rows.checked_add(buffers.rows))?;
        Ok(())
    }

    fn push_dictionary(&mut self, fields: &[Field], header: Flat<'_>, body: &[u8]) -> Result<(), Refused> {
        let (id, batch) = (header.integer::<8>(0), there(header.table(1))?);
        let place = fields.iter().position(|field| field.dictionary.is_some_and(|(known, _)| known == id));
        let place = there(place)?;
        let mut alone = self.columns[place].empty();
        Buffers::new(batch, body, 1)?.push(fields[place].layout, &mut alone, &mut self.budget)?;
        let levels = alone.words.in_order();
        let word = |code: &Option<u32>| code.and_then(|code| levels.get(code as usize).cloned());
        let mut found = Dictionary { numbers: alone.numbers, words: alone.words.codes.iter().map(word).collect() };
        if let Some(before) = self.dictionaries.get(&id).filter(|_| header.integer::<1>(2) != 0) {
            // what is added to a dictionary makes a new one: all of it is copied each time
            let size = before.numbers.len() * 8 + before.words.iter().flatten().map(String::len).sum::<usize>();
            self.budget.take((size + before.words.len()) as u64).map_err(Refused::too_large)?;
            found.numbers.splice(0..0, before.numbers.iter().copied());
            found.words.splice(0..0, before.words.iter().cloned());
        }
        self.dictionaries.insert(id, Rc::new(found));
        Ok(())
    }
}

/// Appends the values of a dictionary at these places, which are NaN where one is missing.
fn from_dictionary(
    column: &mut Gathered,
    places: &[f64],
    cached: &mut Option<Cached>,
    dictionary: &Rc<Dictionary>,
) -> Result<(), Refused> {
    column.reserve(places.len())?;
    let codes = match cached.take() {
        Some((last, codes)) if Rc::ptr_eq(&last, dictionary) => codes,
        _ => dictionary.words.iter().map(|word| word.as_ref().map(|word| column.words.code(word))).collect(),
    };
    for &place in places {
        let at = place as usize;
        let is_missing = place.is_nan();
        if column.kind == Kind::Text {
            let code = if is_missing { None } else { *there(codes.get(at).filter(|_| place >= 0.0))? };
            column.words.codes.push(code);
        } else {
            let known = dictionary.numbers.get(at).filter(|_| place >= 0.0);
            column.numbers.push(if is_missing { f64::NAN } else { *there(known)? });
        }
    }
    *cached = Some((Rc::clone(dictionary), codes));
    Ok(())
}
