//! The buffers of a message of Arrow, which hold the values of its columns.

use std::borrow::Cow;
use std::io::Read;

use super::flatbuffer::Table as Flat;
use super::schema::Layout;
use crate::allocation::{Budget, ask};
use crate::decompress::Compression;
use crate::format::columnar::{Gathered, Kind, Refused, there};

/// The buffers of a message, column after column.
pub(super) struct Buffers<'b> {
    body: &'b [u8],
    pub(super) rows: usize,
    /// Rows and missing values of each column.
    nodes: std::vec::IntoIter<[i64; 2]>,
    /// Where each buffer starts, and how long it is.
    places: std::vec::IntoIter<[i64; 2]>,
    /// How many buffers of words there are for each column of views.
    views: std::vec::IntoIter<[i64; 1]>,
    codec: Option<i64>,
}

impl<'b> Buffers<'b> {
    pub(super) fn new(batch: Flat<'_>, body: &'b [u8], columns: usize) -> Result<Self, Refused> {
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
        ask(promise).map_err(Refused::too_large)?;
        let mut unpacked = Vec::new();
        let mut decoder: Box<dyn Read> = match codec {
            0 => Box::new(lz4_flex::frame::FrameDecoder::new(packed)),
            _ => Compression::Zstd.decoder(Box::new(packed)),
        };
        let read = decoder.by_ref().take(promise.saturating_add(1)).read_to_end(&mut unpacked);
        there(read.ok().filter(|&size| size as u64 == promise).map(|_| unpacked.into()))
    }

    /// Appends the values of the next column.
    pub(super) fn push(&mut self, layout: Layout, column: &mut Gathered, budget: &mut Budget) -> Result<(), Refused> {
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
