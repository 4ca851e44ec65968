//! The headers of Parquet pages: Thrift in its compact form, as far as their sizes need it.

/// What the header of a page says of its size.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageHeader {
    /// The bytes that follow.
    pub(crate) packed: usize,
    /// Those that they unpack to.
    pub(crate) unpacked: usize,
    pub(crate) values: u64,
    pub(crate) is_dictionary: bool,
}

/// The types of fields in the compact form.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
}

/// Structs in structs are followed this far; a page header has two levels.
const DEEPEST: usize = 8;

impl PageHeader {
    /// The header at the start of these bytes, and what follows it. `None` where it is damaged.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut reader = Reader { rest: bytes };
        let mut header = Self::default();
        let mut last = 0;
        while let Some((kind, id)) = reader.field(&mut last)? {
            match (id, kind) {
                (2, kind::I32) => header.unpacked = reader.count()?,
                (3, kind::I32) => header.packed = reader.count()?,
                // of data, of a dictionary, of data in the second version: all have the number of values first
                (5 | 7 | 8, kind::STRUCT) => {
                    header.values = header.values.max(reader.values()?);
                    header.is_dictionary |= id == 7;
                }
                (2 | 3 | 5 | 7 | 8, _) => return None,
                _ => reader.skip(kind, DEEPEST)?,
            }
        }
        Some((header, reader.rest))
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Some(value)
    }

    /// A whole number from 0 on that fits 32 bits with a sign.
    fn count(&mut self) -> Option<usize> {
        let zigzag = self.varint()?;
        let value = i64::try_from(zigzag >> 1).ok()? ^ -i64::try_from(zigzag & 1).ok()?;
        i32::try_from(value).ok().and_then(|value| usize::try_from(value).ok())
    }

    /// The type and the number of the next field; `None` at the end of a struct.
    fn field(&mut self, last: &mut i64) -> Option<Option<(u8, i64)>> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        if kind == 0 {
            return Some(None);
        }
        *last = match i64::from(head >> 4) {
            0 => i64::try_from(self.count()?).ok()?,
            step => *last + step,
        };
        Some(Some((kind, *last)))
    }

    /// The first field of a struct, which counts its values; all of it is read.
    fn values(&mut self) -> Option<u64> {
        let (mut values, mut last) = (0, 0);
        while let Some((kind, id)) = self.field(&mut last)? {
            match (id, kind) {
                (1, kind::I32) => values = self.count()? as u64,
                (1, _) => return None,
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some(values)
    }

    fn skip(&mut self, kind: u8, deepest: usize) -> Option<()> {
        let deeper = deepest.checked_sub(1)?;
        match kind {
            kind::TRUE | kind::FALSE => {}
            kind::BYTE => drop(self.byte()?),
            kind::I16..=kind::I64 => drop(self.varint()?),
            kind::DOUBLE => self.rest = self.rest.get(8..)?,
            kind::BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.rest = self.rest.get(length..)?;
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let size = if head >> 4 == 0x0f { self.varint()? } else { u64::from(head >> 4) };
                self.skip_each(&[head & 0x0f], size, deeper)?;
            }
            kind::MAP => {
                let size = self.varint()?;
                let kinds = if size == 0 { 0 } else { self.byte()? };
                self.skip_each(&[kinds >> 4, kinds & 0x0f], size, deeper)?;
            }
            kind::STRUCT => {
                let mut last = 0;
                while let Some((kind, _)) = self.field(&mut last)? {
                    self.skip(kind, deeper)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn skip_each(&mut self, kinds: &[u8], size: u64, deepest: usize) -> Option<()> {
        // each takes a byte at the least
        if size > self.rest.len() as u64 {
            return None;
        }
        for _ in 0..size {
            for &kind in kinds {
                // in a list, a truth value is a byte
                self.skip(if kind <= kind::FALSE { kind::BYTE } else { kind }, deepest)?;
            }
        }
        Some(())
    }
}

/// A number of which each byte has seven bits, the lowest first; and what follows it.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * place as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_what_is_unknown_is_skipped() {
        // type 0, 300 bytes that are 100, a checksum, data of 7 values with two encodings and statistics, the end
        let statistics = [0x18, 3, b'm', b'a', b'x', 0x18, 1, b'a', 0x16, 2, 0];
        let page = [&[0x15, 14, 0x15, 0, 0x15, 6, 0x1c], &statistics[..], &[0]].concat();
        let bytes = [&[0x15, 0, 0x15, 0xd8, 0x04, 0x15, 0xc8, 0x01, 0x15, 9, 0x1c], &page[..], &[0, 42]].concat();
        let expected = PageHeader { packed: 100, unpacked: 300, values: 7, is_dictionary: false };
        assert_eq!(PageHeader::read(&bytes), Some((expected, &[42][..])));
        for length in 0..bytes.len() - 1 {
            assert_eq!(PageHeader::read(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn sizes_below_zero_and_lengths_beyond_the_end_are_refused() {
        assert_eq!(PageHeader::read(&[0x25, 1, 0]), None);
        assert_eq!(PageHeader::read(&[0xf8, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]), None);
        // a struct in a struct in a struct, and so on
        assert_eq!(PageHeader::read(&[0xfc; 4000]), None);
    }
}
