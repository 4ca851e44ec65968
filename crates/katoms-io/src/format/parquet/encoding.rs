//! How the values of a Parquet page are written.

use super::thrift::{varint, zigzag};

/// Numbers of so many bits each in runs: of one number, or packed one behind the other. `count` of them, or `None` where
/// the bytes end before.
pub(super) fn runs(mut bytes: &[u8], bits: u8, count: usize) -> Option<Vec<u32>> {
    if bits > 32 {
        return None;
    }
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let (head, rest) = varint(bytes)?;
        let left = count - numbers.len();
        let length = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let (number, rest) = rest.split_at_checked(usize::from(bits).div_ceil(8))?;
            let number = number.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            numbers.try_reserve(length.min(left)).ok()?;
            numbers.resize(numbers.len() + length.min(left), number);
            bytes = rest;
        } else {
            // groups of eight; the last may be cut off where no more are needed
            let packed = length.checked_mul(usize::from(bits))?;
            let (packed, rest) = rest.split_at_checked(packed).unwrap_or((rest, &[]));
            push_packed(packed, bits, length.checked_mul(8)?.min(left), &mut numbers)?;
            bytes = rest;
        }
    }
    Some(numbers)
}

/// Numbers of so many bits each, the lowest bit first.
fn push_packed(bytes: &[u8], bits: u8, count: usize, out: &mut Vec<u32>) -> Option<()> {
    let bits = usize::from(bits);
    if bits.checked_mul(count)?.div_ceil(8) > bytes.len() {
        return None;
    }
    out.try_reserve(count).ok()?;
    out.extend((0..count).map(|place| bits_at(bytes, place * bits, bits) as u32));
    Some(())
}

/// The number of up to 64 bits at a bit of these bytes; zeros follow them.
fn bits_at(bytes: &[u8], at: usize, bits: usize) -> u64 {
    let start = &bytes[at / 8..];
    let word = match start.first_chunk::<16>() {
        Some(word) => u128::from_le_bytes(*word),
        None => start.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte)),
    };
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    (word >> (at % 8)) as u64 & mask
}

/// Whole numbers as differences (DELTA_BINARY_PACKED), and what follows them; there are at most so many.
pub(super) fn differences(bytes: &[u8], most: usize) -> Option<(Vec<i64>, &[u8])> {
    let (block, rest) = varint(bytes)?;
    let (parts, rest) = varint(rest)?;
    let (count, rest) = varint(rest)?;
    let (first, mut rest) = varint(rest)?;
    let [block, parts, count] = [block, parts, count].map(|n| usize::try_from(n).ok());
    let (block, parts, count) = (block?, parts?, count?);
    let part = block.checked_div(parts).filter(|&part| part > 0 && count <= most)?;
    let mut numbers = Vec::new();
    numbers.try_reserve(count).ok()?;
    let mut last = zigzag(first);
    numbers.extend((count > 0).then_some(last));
    while numbers.len() < count {
        // the least difference of a block, then how many bits those of each part take
        let (least, widths) = varint(rest)?;
        let (widths, after) = widths.split_at_checked(parts)?;
        rest = after;
        for &bits in widths {
            let left = count - numbers.len();
            if left == 0 {
                break;
            }
            let bits = usize::from(bits);
            let (packed, after) = rest.split_at_checked(part.checked_mul(bits)?.div_ceil(8)).filter(|_| bits <= 64)?;
            rest = after;
            for place in 0..part.min(left) {
                let more = bits_at(packed, place * bits, bits) as i64;
                last = last.wrapping_add(zigzag(least)).wrapping_add(more);
                numbers.push(last);
            }
        }
    }
    Some((numbers, rest))
}

/// Words with their lengths in front, each where it stands.
pub(super) fn plain_words(mut bytes: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let mut words = Vec::new();
    words.try_reserve(count.min(bytes.len() / 4)).ok()?;
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (word, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        words.push(word);
        bytes = rest;
    }
    Some(words)
}

/// Words behind all of their lengths (DELTA_LENGTH_BYTE_ARRAY).
pub(super) fn words_behind_lengths(bytes: &[u8], most: usize) -> Option<Vec<&[u8]>> {
    let (lengths, mut rest) = differences(bytes, most)?;
    let one = |&length: &i64| {
        let (word, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        rest = after;
        Some(word)
    };
    lengths.iter().map(one).collect()
}

/// Words that say what they share with the one before them (DELTA_BYTE_ARRAY); `take` is asked for the room of each.
pub(super) fn words_with_prefixes(
    bytes: &[u8],
    most: usize,
    take: &mut dyn FnMut(usize) -> Option<()>,
) -> Option<Vec<Vec<u8>>> {
    let (shared, rest) = differences(bytes, most)?;
    let ends = words_behind_lengths(rest, most)?;
    let mut words: Vec<Vec<u8>> = Vec::new();
    for (&shared, end) in shared.iter().zip(&ends) {
        let before = words.last().map_or(&[][..], Vec::as_slice);
        let before = before.get(..usize::try_from(shared).ok()?)?;
        take(before.len() + end.len())?;
        words.push([before, end].concat());
    }
    (shared.len() == ends.len()).then_some(words)
}

/// Numbers of which the first bytes come first, then all second bytes (BYTE_STREAM_SPLIT), each brought together.
pub(super) fn joined(bytes: &[u8], width: usize) -> Vec<u8> {
    let count = bytes.len() / width.max(1);
    (0..count * width).map(|place| bytes[place % width * count + place / width]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_numbers() {
        // three times 5, then eight numbers of 3 bits
        let bytes = [6, 5, 3, 0x88, 0xc6, 0xfa];
        assert_eq!(runs(&bytes, 3, 11).unwrap(), [5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(runs(&bytes, 3, 12), None);
        assert_eq!(runs(&bytes[..4], 3, 5).unwrap(), [5, 5, 5, 0, 1]);
        assert_eq!((runs(&[200, 1], 0, 3), runs(&[6, 5], 33, 3)), (Some(vec![0; 3]), None));
        assert_eq!(runs(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1], 1, 3), None);
    }

    #[test]
    fn differences_are_at_most_as_many_as_the_page_says() {
        // blocks of 128 in 4 parts: 3 values, the first is 7, the least difference 1, one part of 2 bits
        let bytes = [&[0x80, 0x01, 4, 3, 14, 2, 2, 0, 0, 0], &[0xff; 8][..], b"rest"].concat();
        assert_eq!(differences(&bytes, 3), Some((vec![7, 11, 15], &b"rest"[..])));
        assert_eq!(differences(&bytes, 2), None);
        assert_eq!(differences(&bytes[..15], 3), None);
        // a value alone has no difference, and without parts there is nothing to be read
        assert_eq!(differences(&[0x80, 0x01, 4, 1, 14], 1), Some((vec![7], &[][..])));
        assert_eq!(differences(&[0x80, 0x01, 0, 1, 14], 1), None);
        assert_eq!(differences(&[0x80, 0x01, 4, 0xff, 0xff, 0xff, 0xff, 0x0f, 14], u32::MAX as usize), None);
    }

    #[test]
    fn bytes_of_split_numbers_come_together() {
        assert_eq!(joined(&[1, 2, 3, 4, 5, 6], 2), [1, 4, 2, 5, 3, 6]);
        assert!(joined(&[], 4).is_empty());
    }
}
