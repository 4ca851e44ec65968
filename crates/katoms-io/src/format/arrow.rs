//! Arrow files (Feather) and streams, message by message. What a message promises (places, lengths, sizes after
//! unpacking) is held against the bytes that are there.

mod flatbuffer;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use super::columnar::{Gathered, Kind, Meaning, Refused, table, there};
use crate::allocation::{Budget, MaxUnpacked};
use crate::decompress::Compression;
use crate::error::Error;
use crate::table::Table;
use flatbuffer::Table as Flat;

/// What an Arrow file starts and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What comes before the length of a message since version 0.15.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The oldest version of messages that is read: 4.
const VERSION: i64 = 3;

/// A column as the schema has it.
struct Field {
    name: String,
    /// What its values are; in words, if they are not read.
    kind: Result<Kind, String>,
    layout: Layout,
    /// Where values are kept once: the number of that dictionary, and what places in it are.
    dictionary: Option<(i64, Kind)>,
}

/// How values lie in the buffers behind the one that says which are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// No buffers, nor one for that.
    None,
    Bits,
    Numbers,
    /// Words one behind the other, and where each ends as numbers of so many bytes.
    Words(usize),
    /// Words where 16 bytes each say, in any number of buffers.
    Views,
}

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

fn fields(schema: Flat<'_>) -> Result<Vec<Field>, Refused> {
    if schema.integer::<2>(0) != 0 {
        return Err(Refused::Damaged("its numbers have their high end first".into()));
    }
    there(schema.tables(1))?.into_iter().map(|field| there(self::field(field))).collect()
}

fn field(field: Flat<'_>) -> Option<Field> {
    let (kind, layout) = kind(field.integer::<1>(2), field.table(3)?);
    let dictionary = field.table(4).map(|dictionary| {
        let places = dictionary.table(1).map(|places| self::kind(2, places).0);
        (dictionary.integer::<8>(0), places.and_then(Result::ok).unwrap_or(Kind::integer(4, Meaning::Itself)))
    });
    Some(Field { name: field.text(0).unwrap_or_default().into(), kind, layout, dictionary })
}

/// What values of a type are, and how they lie.
fn kind(number: i64, details: Flat<'_>) -> (Result<Kind, String>, Layout) {
    let whole = |width: usize, meaning: Meaning| (Ok(Kind::integer(width, meaning)), Layout::Numbers);
    let bytes = |bits: i64| usize::try_from(bits / 8).ok().filter(|width| [1, 2, 4, 8].contains(width));
    let refused = |what: &str| (Err(what.to_owned()), Layout::None);
    match number {
        1 => (Ok(Kind::Null), Layout::None),
        2 => match bytes(details.integer::<4>(0)) {
            Some(width) => {
                let signed = details.integer::<1>(1) != 0;
                (Ok(Kind::Integer { width, signed, meaning: Meaning::Itself }), Layout::Numbers)
            }
            None => refused("whole numbers of an unknown size"),
        },
        3 => match details.integer::<2>(0) {
            precision @ 0..=2 => (Ok(Kind::Float { width: 2 << precision }), Layout::Numbers),
            _ => refused("numbers of an unknown precision"),
        },
        5 => (Ok(Kind::Text), Layout::Words(4)),
        6 => (Ok(Kind::Bool), Layout::Bits),
        7 => {
            let width = if details.has(2) { details.integer::<4>(2) / 8 } else { 16 };
            match (width, i32::try_from(details.integer::<4>(1))) {
                (4 | 8 | 16, Ok(scale)) => whole(width as usize, Meaning::Decimal(scale)),
                _ => refused("decimal numbers of more than 38 digits"),
            }
        }
        8 if details.has(0) && details.integer::<2>(0) == 0 => whole(4, Meaning::DAYS),
        8 if !details.has(0) || details.integer::<2>(0) == 1 => whole(8, Meaning::MILLISECONDS),
        10 => match details.integer::<2>(0) {
            0 => whole(8, Meaning::SECONDS),
            1 => whole(8, Meaning::MILLISECONDS),
            2 => whole(8, Meaning::MICROSECONDS),
            _ => whole(8, Meaning::NANOSECONDS),
        },
        20 => (Ok(Kind::Text), Layout::Words(8)),
        24 => (Ok(Kind::Text), Layout::Views),
        4 | 15 | 19 | 23 => refused("bytes"),
        9 => refused("times of day"),
        11 | 18 => refused("spans of time"),
        12 | 16 | 21 | 25 | 26 => refused("lists"),
        13 | 14 | 17 => refused("structs, unions or maps"),
        _ => refused("values of an unknown type"),
    }
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
        self.rows += buffers.rows;
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

/// The buffers of a message, column after column.
struct Buffers<'b> {
    body: &'b [u8],
    rows: usize,
    /// Rows and missing values of each column.
    nodes: std::vec::IntoIter<[i64; 2]>,
    /// Where each buffer starts, and how long it is.
    places: std::vec::IntoIter<[i64; 2]>,
    /// How many buffers of words there are for each column of views.
    views: std::vec::IntoIter<[i64; 1]>,
    codec: Option<i64>,
}

impl<'b> Buffers<'b> {
    fn new(batch: Flat<'_>, body: &'b [u8], columns: usize) -> Result<Self, Refused> {
        let nodes = there(batch.integers(1).filter(|nodes| nodes.len() == columns))?.into_iter();
        Ok(Self {
            body,
            rows: there(usize::try_from(batch.integer::<8>(0)).ok())?,
            nodes,
            places: batch.integers(2).unwrap_or_default().into_iter(),
            views: batch.integers(4).unwrap_or_default().into_iter(),
            codec: batch.table(3).map(|compression| compression.integer::<1>(0)),
        })
    }

    fn next(&mut self, budget: &mut Budget) -> Result<Cow<'b, [u8]>, Refused> {
        let [start, length] = there(self.places.next())?.map(|n| usize::try_from(n).ok());
        let (start, length) = (there(start)?, there(length)?);
        let bytes = there(self.body.get(start..).and_then(|rest| rest.get(..length)))?;
        let Some(codec) = self.codec.filter(|_| !bytes.is_empty()) else { return Ok(bytes.into()) };
        let (promise, packed) = there(bytes.split_first_chunk::<8>())?;
        let promise = match i64::from_le_bytes(*promise) {
            // it was left as it is
            -1 => return Ok(packed.into()),
            promise => there(u64::try_from(promise).ok())?,
        };
        budget.take(promise).map_err(Refused::too_large)?;
        let mut unpacked = Vec::new();
        let mut decoder: Box<dyn Read> = match codec {
            0 => Box::new(lz4_flex::frame::FrameDecoder::new(packed)),
            _ => Compression::Zstd.decoder(Box::new(packed)),
        };
        let read = decoder.by_ref().take(promise.saturating_add(1)).read_to_end(&mut unpacked);
        there(read.ok().filter(|&size| size as u64 == promise).map(|_| unpacked.into()))
    }

    /// Appends the values of the next column.
    fn push(&mut self, layout: Layout, column: &mut Gathered, budget: &mut Budget) -> Result<(), Refused> {
        let [length, missing] = there(self.nodes.next())?;
        there((usize::try_from(length) == Ok(self.rows) && (0..=length).contains(&missing)).then_some(()))?;
        if layout == Layout::None {
            // nothing in the file takes the room that these take here
            budget.take((self.rows as u64).saturating_mul(8)).map_err(Refused::too_large)?;
            column.reserve(self.rows)?;
            column.numbers.extend((0..self.rows).map(|_| f64::NAN));
            return Ok(());
        }
        let seen = self.next(budget)?;
        there((missing == 0 || seen.len() >= self.rows.div_ceil(8)).then_some(()))?;
        let is_there = |row: usize| missing == 0 || seen[row / 8] >> (row % 8) & 1 == 1;
        let values = self.next(budget)?;
        // a row takes at least a bit of a buffer that is there
        there((self.rows.div_ceil(8) <= values.len()).then_some(()))?;
        column.reserve(self.rows)?;
        let first = column.numbers.len();
        match layout {
            Layout::None => {}
            Layout::Bits => {
                column.numbers.extend((0..self.rows).map(|row| f64::from(values[row / 8] >> (row % 8) & 1)));
            }
            Layout::Numbers => {
                let width = match column.kind {
                    Kind::Integer { width, .. } | Kind::Float { width } => width,
                    _ => 1,
                };
                let needed = self.rows.checked_mul(width).and_then(|needed| values.get(..needed));
                column.kind.push_numbers(there(needed)?, &mut column.numbers);
            }
            Layout::Words(width) => {
                let words = self.next(budget)?;
                let ends = |row: usize| {
                    let at = |row: usize| values.get(width * row..)?.get(..width);
                    let place = |bytes: &[u8]| bytes.iter().rev().fold(0, |n: usize, &byte| n << 8 | usize::from(byte));
                    Some(place(at(row)?)..place(at(row + 1)?))
                };
                column.push_words(self.rows, &|row| is_there(row).then(|| words.get(ends(row)?)))?;
            }
            Layout::Views => {
                let count = there(self.views.next().and_then(|[count]| usize::try_from(count).ok()))?;
                there((count <= self.places.len()).then_some(()))?;
                let buffers = (0..count).map(|_| self.next(budget)).collect::<Result<Vec<_>, _>>()?;
                let (views, _) = values.as_chunks::<16>();
                column.push_words(self.rows, &|row| is_there(row).then(|| word_of_view(views.get(row)?, &buffers)))?;
            }
        }
        let numbers = column.numbers[first..].iter_mut().enumerate();
        numbers.filter(|(row, _)| !is_there(*row)).for_each(|(_, v)| *v = f64::NAN);
        Ok(())
    }
}

/// The word of a view: up to twelve bytes are in it, longer ones are elsewhere.
fn word_of_view<'v>(view: &'v [u8; 16], buffers: &'v [Cow<'_, [u8]>]) -> Option<&'v [u8]> {
    let [length, _, buffer, start] =
        [0, 4, 8, 12].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|i| view[at + i])) as usize);
    if length <= 12 {
        return view.get(4..4 + length);
    }
    buffers.get(buffer)?.get(start..start.checked_add(length)?)
}
