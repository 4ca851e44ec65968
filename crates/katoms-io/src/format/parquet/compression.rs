//! The pages of a Parquet file as they were before they were compressed.

use std::borrow::Cow;
use std::io::Read;

use crate::allocation::filled;
use crate::decompress::Compression;
use crate::format::columnar::{Refused, there};

/// A page as it was before it was compressed.
pub(super) fn unpacked(codec: i64, page: &[u8], size: usize) -> Result<Cow<'_, [u8]>, Refused> {
    const NAMES: [&str; 8] = ["", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4"];
    let name = usize::try_from(codec).ok().and_then(|codec| NAMES.get(codec)).copied().unwrap_or("an unknown codec");
    let room = || filled(0, size).map_err(Refused::too_large);
    let unpacked = match codec {
        0 => return Ok(page.into()),
        1 => {
            there((snap::raw::decompress_len(page) == Ok(size)).then_some(()))?;
            let mut out = room()?;
            snap::raw::Decoder::new().decompress(page, &mut out).ok().map(|_| out)
        }
        2 => at_most(&mut Compression::Gzip.decoder(Box::new(page)), size),
        5 => {
            let mut out = room()?;
            match hadoop_blocks(page, &mut out) {
                Some(()) => Some(out),
                None => at_most(&mut lz4_flex::frame::FrameDecoder::new(page), size)
                    .or_else(|| lz4_block(page, &mut out).map(|()| out)),
            }
        }
        6 => at_most(&mut Compression::Zstd.decoder(Box::new(page)), size),
        7 => {
            let mut out = room()?;
            lz4_block(page, &mut out).map(|()| out)
        }
        _ => {
            let problem = format!("the columns are compressed with {name}, which is not read: write them with zstd");
            return Err(Refused::TooLarge(problem));
        }
    };
    let damaged = || Refused::Damaged(format!("the {name} data of a page are damaged"));
    unpacked.filter(|unpacked| unpacked.len() == size).map(Cow::Owned).ok_or_else(damaged)
}

/// All that a decoder has, if that is not more than this.
fn at_most(decoder: &mut dyn Read, size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    out.try_reserve(size + 1).ok()?;
    decoder.take(size as u64 + 1).read_to_end(&mut out).ok()?;
    Some(out)
}

/// A block of LZ4 that fills this room.
fn lz4_block(block: &[u8], out: &mut [u8]) -> Option<()> {
    let length = lz4_flex::block::decompress_into(block, out).ok()?;
    (length == out.len()).then_some(())
}

/// LZ4 as Hadoop writes it: blocks, each behind its two sizes.
fn hadoop_blocks(mut page: &[u8], mut out: &mut [u8]) -> Option<()> {
    while !page.is_empty() {
        let (sizes, rest) = page.split_first_chunk::<8>()?;
        let [unpacked, packed] = [0, 4].map(|at| u32::from_be_bytes([0, 1, 2, 3].map(|i| sizes[at + i])) as usize);
        let (block, rest) = rest.split_at_checked(packed)?;
        let (place, behind) = out.split_at_mut_checked(unpacked)?;
        lz4_block(block, place)?;
        (page, out) = (rest, behind);
    }
    out.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use lz4_flex::frame::FrameEncoder;

    use super::*;

    #[test]
    fn a_page_that_unpacks_to_more_or_less_than_it_says_is_refused() {
        let zeros = [0; 100_000];
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        let mut frame = FrameEncoder::new(Vec::new());
        frame.write_all(&zeros).unwrap();
        let block = lz4_flex::block::compress(&zeros);
        let sizes = [100_000_u32, block.len() as u32].map(u32::to_be_bytes).concat();
        let snappy = snap::raw::Encoder::new().compress_vec(&zeros).unwrap();
        for (codec, page) in [
            (1, snappy),
            (2, gzip.finish().unwrap()),
            (5, [sizes, block.clone()].concat()),
            (5, frame.finish().unwrap()),
            (5, block.clone()),
            (7, block),
        ] {
            assert_eq!(unpacked(codec, &page, 100_000).unwrap().len(), 100_000, "{codec}");
            assert!(unpacked(codec, &page, 99_999).is_err(), "{codec}");
            assert!(unpacked(codec, &page, 100_001).is_err(), "{codec}");
        }
    }
}
