//! Arrow files and streams, message by message. What a message promises (places, lengths, sizes after unpacking) is held
//! against the bytes that are there before the arrow crate decodes it, which would trust it: a damaged length could ask
//! for any amount of memory.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Block, CompressionType, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::allocation::{Budget, MaxUnpacked, ask};

/// What an Arrow file starts and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// The footer's length and the magic stand at the end.
const TRAILER: usize = 10;
/// What comes before the length of a message since version 0.15.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The most bytes that a byte of LZ4 unpacks to.
const LZ4_RATIO: u64 = 255;
/// The same of zstd: a block of four bytes stands for up to 128 KiB.
const ZSTD_RATIO: u64 = 1 << 15;

/// Why a file cannot be read.
pub(crate) enum Problem {
    /// It is damaged: what is wrong.
    Damaged(String),
    /// Too much is asked for, in words.
    TooLarge(String),
}

/// Its parts do not go together.
fn contradiction() -> Problem {
    Problem::Damaged("its parts contradict each other".into())
}

/// What a crate says, as damage.
fn damage(error: impl ToString) -> Problem {
    Problem::Damaged(error.to_string())
}

fn too_large(problem: impl Into<String>) -> Problem {
    Problem::TooLarge(problem.into())
}

/// The messages of a file or stream, one after the other.
pub(crate) struct Messages {
    bytes: Buffer,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Where the next message is; in a file, those after it as well, in their order.
    next: Next,
    budget: Budget,
}

enum Next {
    /// The places of a file that are still to be read, the last one first.
    Blocks(Vec<usize>),
    /// The place in a stream.
    At(usize),
}

/// A message and its body.
struct Part {
    metadata: Buffer,
    body: Buffer,
}

impl Messages {
    /// Those of a whole file or stream. The columns have to be looked at first: only those of flat types are known
    /// here.
    pub(crate) fn new(bytes: Vec<u8>, limit: MaxUnpacked) -> Result<Self, Problem> {
        let bytes = Buffer::from_vec(bytes);
        let (schema, next) = if bytes.starts_with(MAGIC) { of_file(&bytes)? } else { of_stream(&bytes)? };
        Ok(Self { bytes, schema, dictionaries: HashMap::new(), next, budget: Budget::new(limit) })
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Problem> {
        while let Some(part) = self.next_part()? {
            let message = root_as_message(&part.metadata).map_err(damage)?;
            let version = message.version();
            if version < MetadataVersion::V4 {
                return Err(Problem::Damaged(format!("version {version:?} of its messages is not read")));
            }
            match message.header_type() {
                MessageHeader::RecordBatch => return self.rows(&message, &part.body).map(Some),
                MessageHeader::DictionaryBatch => self.dictionary(&message, &part.body)?,
                other => return Err(Problem::Damaged(format!("a message of the kind {other:?} among the rows"))),
            }
        }
        Ok(None)
    }

    fn next_part(&mut self) -> Result<Option<Part>, Problem> {
        match &mut self.next {
            Next::Blocks(blocks) => {
                let Some(place) = blocks.pop() else { return Ok(None) };
                let (part, _) = part_at(&self.bytes, place)?.ok_or_else(contradiction)?;
                Ok(Some(part))
            }
            Next::At(place) => {
                let part = part_at(&self.bytes, *place)?;
                Ok(part.map(|(part, end)| {
                    *place = end;
                    part
                }))
            }
        }
    }

    fn rows(&mut self, message: &Message<'_>, body: &Buffer) -> Result<RecordBatch, Problem> {
        let batch = message.header_as_record_batch().ok_or_else(contradiction)?;
        let types: Vec<DataType> = self.schema.fields().iter().map(|field| field.data_type().clone()).collect();
        Claims { batch: &batch, body, budget: &mut self.budget }.check(&types)?;
        let version = message.version();
        read_record_batch(body, batch, Arc::clone(&self.schema), &self.dictionaries, None, &version).map_err(damage)
    }

    fn dictionary(&mut self, message: &Message<'_>, body: &Buffer) -> Result<(), Problem> {
        let dictionary = message.header_as_dictionary_batch().ok_or_else(contradiction)?;
        let batch = dictionary.data().ok_or_else(contradiction)?;
        #[expect(deprecated, reason = "no other way leads from the number of a dictionary to its type")]
        let fields = self.schema.fields_with_dict_id(dictionary.id());
        let value = fields.iter().find_map(|field| match field.data_type() {
            DataType::Dictionary(_, value) => Some(value.as_ref().clone()),
            _ => None,
        });
        Claims { batch: &batch, body, budget: &mut self.budget }.check(&[value.ok_or_else(contradiction)?])?;
        let (id, version) = (dictionary.id(), message.version());
        read_dictionary(body, dictionary, &self.schema, &mut self.dictionaries, &version).map_err(damage)?;
        // what is added to a dictionary makes a new one: all of it is copied each time
        let size = self.dictionaries.get(&id).map_or(0, |values| values.get_buffer_memory_size() as u64);
        if dictionary.isDelta() { self.budget.take(size).map_err(too_large) } else { Ok(()) }
    }
}

/// The schema of a file, and where its messages are.
fn of_file(bytes: &Buffer) -> Result<(SchemaRef, Next), Problem> {
    let trailer: Option<[u8; TRAILER]> = bytes.last_chunk().copied();
    let length = read_footer_length(trailer.ok_or_else(contradiction)?).map_err(damage)?;
    let end = bytes.len() - TRAILER;
    let footer = bytes.get(end.checked_sub(length).ok_or_else(contradiction)?..end).ok_or_else(contradiction)?;
    let footer = Buffer::from(footer);
    let footer = root_as_footer(&footer).map_err(damage)?;
    let schema = schema_of(footer.schema().ok_or_else(contradiction)?)?;
    let place = |block: &Block| usize::try_from(block.offset()).map_err(|_| contradiction());
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let mut blocks = blocks.map(place).collect::<Result<Vec<_>, _>>()?;
    blocks.reverse();
    Ok((schema, Next::Blocks(blocks)))
}

/// The schema of a stream, and where its first message after it is.
fn of_stream(bytes: &Buffer) -> Result<(SchemaRef, Next), Problem> {
    let (part, end) = part_at(bytes, 0)?.ok_or_else(|| Problem::Damaged("it holds no message".into()))?;
    let message = root_as_message(&part.metadata).map_err(damage)?;
    let schema =
        message.header_as_schema().ok_or_else(|| Problem::Damaged("it does not start with a schema".into()))?;
    Ok((schema_of(schema)?, Next::At(end)))
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, Problem> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(Problem::Damaged("its numbers have the byte order of another machine".into()));
    }
    try_fb_to_schema(schema).map(Arc::new).map_err(damage)
}

/// The message at a place, and where it ends; `None` at the end of a stream.
fn part_at(bytes: &Buffer, place: usize) -> Result<Option<(Part, usize)>, Problem> {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).copied();
    let (start, length) = match word(place) {
        None if place == bytes.len() => return Ok(None),
        None => return Err(contradiction()),
        Some(CONTINUATION) => (place + 8, word(place + 4).ok_or_else(contradiction)?),
        Some(length) => (place + 4, length),
    };
    let length = usize::try_from(i32::from_le_bytes(length)).map_err(|_| contradiction())?;
    if length == 0 {
        return Ok(None);
    }
    // a copy, since the numbers in it must stand at multiples of their size
    let metadata = Buffer::from(&slice(bytes, start, length).ok_or_else(contradiction)?[..]);
    let message = root_as_message(&metadata).map_err(damage)?;
    let body = usize::try_from(message.bodyLength()).map_err(|_| contradiction())?;
    let body = slice(bytes, start + length, body).ok_or_else(contradiction)?;
    let end = start + length + body.len();
    Ok(Some((Part { metadata, body }, end)))
}

/// A part of the bytes, without a copy; `None` where it is not in them.
fn slice(bytes: &Buffer, start: usize, length: usize) -> Option<Buffer> {
    (start.checked_add(length)? <= bytes.len()).then(|| bytes.slice_with_length(start, length))
}

/// What the rows of a message promise.
struct Claims<'a> {
    batch: &'a arrow_ipc::RecordBatch<'a>,
    body: &'a Buffer,
    budget: &'a mut Budget,
}

impl Claims<'_> {
    /// Holds the promises of columns of these types against the body.
    fn check(mut self, types: &[DataType]) -> Result<(), Problem> {
        let rows = u64::try_from(self.batch.length()).map_err(|_| contradiction())?;
        let nodes = self.batch.nodes().ok_or_else(contradiction)?;
        let sizes = self.sizes()?;
        let mut sizes = sizes.into_iter();
        let mut variadic = self.batch.variadicBufferCounts().into_iter().flatten();
        if nodes.len() != types.len() {
            return Err(contradiction());
        }
        for (node, kind) in nodes.iter().zip(types) {
            if u64::try_from(node.length()) != Ok(rows) || !(0..=node.length()).contains(&node.null_count()) {
                return Err(contradiction());
            }
            if *kind == DataType::Null {
                // nothing in the file takes the room that these take here
                self.budget.take(rows.saturating_mul(size_of::<f64>() as u64)).map_err(too_large)?;
                continue;
            }
            // which values are there: a bit for each, where not all are
            let seen = sizes.next().ok_or_else(contradiction)?;
            if node.null_count() > 0 && seen < rows.div_ceil(8) {
                return Err(contradiction());
            }
            let more = match kind {
                DataType::Utf8 | DataType::LargeUtf8 => 2,
                DataType::Utf8View => {
                    variadic.next().and_then(|n| usize::try_from(n).ok()).map_or(0, |n| n.saturating_add(1))
                }
                _ => 1,
            };
            if more == 0 || sizes.by_ref().take(more).count() < more {
                return Err(contradiction());
            }
        }
        Ok(())
    }

    /// How many bytes each buffer has when it is unpacked.
    fn sizes(&mut self) -> Result<Vec<u64>, Problem> {
        let ratio = match self.batch.compression().map(|compression| compression.codec()) {
            None => None,
            Some(CompressionType::LZ4_FRAME) => Some(LZ4_RATIO),
            Some(_) => Some(ZSTD_RATIO),
        };
        let mut sizes = Vec::new();
        let mut unpacked = 0_u64;
        for buffer in self.batch.buffers().ok_or_else(contradiction)? {
            let within = |n: i64| usize::try_from(n).map_err(|_| contradiction());
            let packed =
                slice(self.body, within(buffer.offset())?, within(buffer.length())?).ok_or_else(contradiction)?;
            let size = match ratio {
                Some(ratio) if !packed.is_empty() => self.unpacked(&packed, ratio)?,
                _ => packed.len() as u64,
            };
            unpacked = unpacked.saturating_add(if ratio.is_some() { size } else { 0 });
            sizes.push(size);
        }
        ask(unpacked).map_err(too_large)?;
        Ok(sizes)
    }

    /// How many bytes a compressed buffer unpacks to, as it says in front.
    fn unpacked(&mut self, packed: &[u8], ratio: u64) -> Result<u64, Problem> {
        let (promise, packed) = packed.split_first_chunk::<8>().ok_or_else(contradiction)?;
        let packed = packed.len() as u64;
        match i64::from_le_bytes(*promise) {
            // it was left as it is
            -1 => Ok(packed),
            promise => {
                let size = u64::try_from(promise).map_err(|_| contradiction())?;
                if size > packed.saturating_mul(ratio) {
                    return Err(contradiction());
                }
                self.budget.take(size).map_err(too_large)?;
                Ok(size)
            }
        }
    }
}
