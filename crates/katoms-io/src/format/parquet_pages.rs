//! What the pages of a Parquet file promise, held against the bytes that are there before the parquet crate decodes
//! them, which would trust it.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::thrift::{PageHeader, varint};
use crate::allocation::{Budget, MaxUnpacked, ask};

/// The rows that are decoded together, as the crate has them.
const ROWS: u64 = 1024;
/// What the words of these rows may take: where they are long, fewer rows are decoded together.
const WORDS: u64 = 512 << 20;
/// What a page takes at the least, so that many empty ones take something.
const PAGE: u64 = 64;

/// What is known of a file whose pages are in order.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The rows that may be decoded together.
    pub(crate) rows: usize,
}

/// Why a file is not decoded.
pub(crate) enum Refused {
    /// Its parts contradict each other.
    Damaged,
    /// Too much is asked for, in words.
    TooLarge(String),
}

fn too_large(problem: impl Into<String>) -> Refused {
    Refused::TooLarge(problem.into())
}

/// Holds what all pages of a file promise against its bytes.
pub(crate) fn check(metadata: &ParquetMetaData, bytes: &[u8], limit: MaxUnpacked) -> Result<Checked, Refused> {
    let mut budget = Budget::new(limit);
    // a word is at most as long as the page that it stands in, or the dictionary
    let mut longest = vec![0; metadata.file_metadata().schema_descr().num_columns()];
    for group in metadata.row_groups() {
        if group.num_rows() < 0 || group.columns().len() != longest.len() {
            return Err(Refused::Damaged);
        }
        for (chunk, longest) in group.columns().iter().zip(&mut longest) {
            let page = check_chunk(chunk, bytes, &mut budget)?;
            if chunk.column_type() == Type::BYTE_ARRAY {
                *longest = page.max(*longest);
            }
        }
    }
    let words: u64 = longest.iter().sum();
    let rows = (WORDS / words.max(1)).clamp(1, ROWS);
    ask(words.saturating_mul(rows)).map_err(too_large)?;
    Ok(Checked { rows: rows as usize })
}

/// The size of the largest page of a column chunk.
fn check_chunk(chunk: &ColumnChunkMetaData, bytes: &[u8], budget: &mut Budget) -> Result<u64, Refused> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let [start, length] = [start, chunk.compressed_size()].map(usize::try_from);
    let (Ok(start), Ok(length)) = (start, length) else { return Err(Refused::Damaged) };
    let end = start.checked_add(length).ok_or(Refused::Damaged)?;
    let mut rest = bytes.get(start..end).ok_or(Refused::Damaged)?;
    let mut largest = 0;
    while !rest.is_empty() {
        let (header, after) = PageHeader::read(rest).ok_or(Refused::Damaged)?;
        let (page, after) = after.split_at_checked(header.packed).ok_or(Refused::Damaged)?;
        rest = after;
        let size = header.unpacked.max(page.len()) as u64;
        // a value of a dictionary takes a byte at the least, those of a page may be repeated and take none
        if header.is_dictionary && header.values > size {
            return Err(Refused::Damaged);
        }
        budget.take(size.max(header.values.saturating_mul(8)).max(PAGE)).map_err(too_large)?;
        ask(size).map_err(too_large)?;
        check_unpacked(chunk.compression(), page, header.unpacked).ok_or(Refused::Damaged)?;
        largest = size.max(largest);
    }
    Ok(largest)
}

/// Most codecs unpack into as much room as the page promises; these go on, whatever comes.
fn check_unpacked(codec: Compression, page: &[u8], promised: usize) -> Option<()> {
    let most = promised as u64 + 1;
    let size = match codec {
        Compression::GZIP(_) => io::copy(&mut MultiGzDecoder::new(page).take(most), &mut io::sink()),
        Compression::LZ4 => io::copy(&mut FrameDecoder::new(page).take(most), &mut io::sink()),
        _ => return Some(()),
    };
    // what cannot be unpacked, or is not what the codec made it out to be, is refused by the crate
    size.map_or(Some(()), |size| (size < most).then_some(()))
}

/// The pages of a column chunk; where values are differences, it is seen to that they are as many as the page says.
pub(crate) struct CheckedPages<P> {
    pub(crate) pages: P,
    /// Whether values may be missing: which they are then stands in front of the others.
    pub(crate) has_nulls: bool,
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        let is_right = page.as_ref().is_none_or(|page| self.check_differences(page).is_some());
        if is_right { Ok(page) } else { Err(ParquetError::General("its parts contradict each other".into())) }
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }
}

impl<P> CheckedPages<P> {
    /// Differences have their number in front, which is at most that of the values.
    fn check_differences(&self, page: &Page) -> Option<()> {
        let most = u64::from(page.num_values());
        match page.encoding() {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                differences(self.values(page)?, most)?;
            }
            // what a word shares with the one before it, then how long the rest is
            Encoding::DELTA_BYTE_ARRAY => {
                let rest = differences(self.values(page)?, most)?;
                differences(rest, most)?;
            }
            _ => {}
        }
        Some(())
    }

    /// The values of a page of a flat column, behind what says which are there.
    fn values<'p>(&self, page: &'p Page) -> Option<&'p [u8]> {
        let bytes: &[u8] = page.buffer();
        let start = match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                (*def_levels_byte_len as usize).checked_add(*rep_levels_byte_len as usize)?
            }
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } if self.has_nulls => {
                (u32::from_le_bytes(*bytes.first_chunk()?) as usize).checked_add(4)?
            }
            // a bit for each
            Page::DataPage { num_values, .. } if self.has_nulls => (*num_values as usize).div_ceil(8),
            _ => 0,
        };
        bytes.get(start..)
    }
}

/// What follows differences, of which there are at most so many.
fn differences(bytes: &[u8], most: u64) -> Option<&[u8]> {
    let (block, rest) = varint(bytes)?;
    let (parts, rest) = varint(rest)?;
    let (count, rest) = varint(rest)?;
    let (_first, mut rest) = varint(rest)?;
    let part = block.checked_div(parts)?;
    let mut left = (count <= most && part > 0).then_some(count)?.saturating_sub(1);
    while left > 0 {
        // the least difference of a block, then how many bits those of each part take
        let (widths, after) = varint(rest)?.1.split_at_checked(usize::try_from(parts).ok()?)?;
        rest = after;
        for &width in widths.iter().take(usize::try_from(left.div_ceil(part)).ok()?) {
            let length = part.checked_mul(width.into())? / 8;
            rest = rest.get(usize::try_from(length).ok()?..)?;
        }
        left = left.saturating_sub(block);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use lz4_flex::frame::FrameEncoder;
    use parquet::basic::GzipLevel;

    use super::*;

    #[test]
    fn a_page_that_unpacks_to_more_than_it_says_is_refused() {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&[0; 100_000]).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut lz4 = FrameEncoder::new(Vec::new());
        lz4.write_all(&[0; 100_000]).unwrap();
        let lz4 = lz4.finish().unwrap();
        for (codec, page) in [(Compression::GZIP(GzipLevel::default()), gzip), (Compression::LZ4, lz4)] {
            assert_eq!(check_unpacked(codec, &page, 100_000), Some(()), "{codec:?}");
            assert_eq!(check_unpacked(codec, &page, 99_999), None, "{codec:?}");
        }
    }

    #[test]
    fn differences_are_at_most_as_many_as_the_page_says() {
        // blocks of 128 in 4 parts: 3 values, the first is 7, the least difference 1, one part of 2 bits
        let bytes = [&[0x80, 0x01, 4, 3, 14, 2, 2, 0, 0, 0], &[0xff; 8][..], b"rest"].concat();
        assert_eq!(differences(&bytes, 3), Some(&b"rest"[..]));
        assert_eq!(differences(&bytes, 2), None);
        assert_eq!(differences(&bytes[..15], 3), None);
        // a value alone has no difference, and without parts there is nothing to be read
        assert_eq!(differences(&[0x80, 0x01, 4, 1, 14], 1), Some(&[][..]));
        assert_eq!(differences(&[0x80, 0x01, 0, 1, 14], 1), None);
        assert_eq!(differences(&[0x80, 0x01, 4, 0xff, 0xff, 0xff, 0xff, 0x0f, 14], u64::from(u32::MAX)), None);
    }
}
