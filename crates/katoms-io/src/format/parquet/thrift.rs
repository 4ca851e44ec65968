//! Thrift in its compact form: what Parquet files say about themselves.

/// Structs in structs are followed this far; the footer of a file has six levels.
const DEEPEST: usize = 16;

/// The types of fields in the compact form.
pub(super) mod kind {
    pub(in super::super) const TRUE: u8 = 1;
    pub(in super::super) const FALSE: u8 = 2;
    pub(in super::super) const BYTE: u8 = 3;
    pub(in super::super) const I16: u8 = 4;
    pub(in super::super) const I32: u8 = 5;
    pub(in super::super) const I64: u8 = 6;
    pub(in super::super) const DOUBLE: u8 = 7;
    pub(in super::super) const BINARY: u8 = 8;
    pub(in super::super) const LIST: u8 = 9;
    pub(in super::super) const SET: u8 = 10;
    pub(in super::super) const MAP: u8 = 11;
    pub(in super::super) const STRUCT: u8 = 12;
}

/// A value; what no field here needs is `Other`.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Bool(bool),
    Integer(i64),
    Binary(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Struct<'a>),
    Other,
}

/// A struct: its fields by their numbers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Struct<'a>(Vec<(i64, Value<'a>)>);

impl<'a> Struct<'a> {
    /// The struct at the start of these bytes, and what follows it. `None` where it is damaged.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut reader = Reader { rest: bytes };
        let found = reader.structure(DEEPEST)?;
        Some((found, reader.rest))
    }

    fn value(&self, id: i64) -> Option<&Value<'a>> {
        self.0.iter().find(|(field, _)| *field == id).map(|(_, value)| value)
    }

    pub(super) fn integer(&self, id: i64) -> Option<i64> {
        match self.value(id)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// A whole number from 0 on.
    pub(super) fn count(&self, id: i64) -> Option<usize> {
        usize::try_from(self.integer(id)?).ok()
    }

    pub(super) fn bool(&self, id: i64) -> Option<bool> {
        match self.value(id)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn binary(&self, id: i64) -> Option<&'a [u8]> {
        match self.value(id)? {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn structure(&self, id: i64) -> Option<&Struct<'a>> {
        match self.value(id)? {
            Value::Struct(found) => Some(found),
            _ => None,
        }
    }

    /// The structs of a list.
    pub(super) fn structures(&self, id: i64) -> Option<Vec<&Struct<'a>>> {
        let Value::List(values) = self.value(id)? else { return None };
        values.iter().map(|value| if let Value::Struct(found) = value { Some(found) } else { None }).collect()
    }

    /// Which of a union it is, with what that has.
    pub(super) fn choice(&self) -> Option<(i64, &Struct<'a>)> {
        match self.0.first()? {
            (id, Value::Struct(found)) => Some((*id, found)),
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Some(value)
    }

    fn structure(&mut self, deepest: usize) -> Option<Struct<'a>> {
        let (mut fields, mut id) = (Vec::new(), 0);
        loop {
            let head = self.byte()?;
            if head & 0x0f == 0 {
                return Some(Struct(fields));
            }
            id = match i64::from(head >> 4) {
                0 => zigzag(self.varint()?),
                step => id.wrapping_add(step),
            };
            fields.push((id, self.value(head & 0x0f, deepest)?));
        }
    }

    fn value(&mut self, kind: u8, deepest: usize) -> Option<Value<'a>> {
        let deeper = deepest.checked_sub(1)?;
        Some(match kind {
            kind::TRUE | kind::FALSE => Value::Bool(kind == kind::TRUE),
            kind::BYTE => Value::Integer(i64::from(self.byte()? as i8)),
            kind::I16..=kind::I64 => Value::Integer(zigzag(self.varint()?)),
            kind::DOUBLE => self.bytes(8).map(|_| Value::Other)?,
            kind::BINARY => {
                let length = self.varint()?;
                Value::Binary(self.bytes(length)?)
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let size = if head >> 4 == 0x0f { self.varint()? } else { u64::from(head >> 4) };
                Value::List(self.values(&[head & 0x0f], size, deeper)?)
            }
            kind::MAP => {
                let size = self.varint()?;
                let kinds = if size == 0 { 0 } else { self.byte()? };
                self.values(&[kinds >> 4, kinds & 0x0f], size, deeper).map(|_| Value::Other)?
            }
            kind::STRUCT => Value::Struct(self.structure(deeper)?),
            _ => return None,
        })
    }

    fn values(&mut self, kinds: &[u8], size: u64, deepest: usize) -> Option<Vec<Value<'a>>> {
        let mut values = Vec::new();
        for _ in 0..size {
            for &kind in kinds {
                // in a list, a truth value is a byte, so that each takes one at the least
                values.push(self.value(if kind <= kind::FALSE { kind::BYTE } else { kind }, deepest)?);
            }
        }
        Some(values)
    }
}

/// A number with a sign from one without: 0, −1, 1, −2, …
pub(super) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A number of which each byte has seven bits, the lowest first; and what follows it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

/// A struct that is written, field by field with rising numbers.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    last: u8,
}

impl Writer {
    fn field(mut self, id: u8, kind: u8) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
        self
    }

    pub(super) fn integer(self, id: u8, kind: u8, value: i64) -> Self {
        let mut writer = self.field(id, kind);
        push_varint((value << 1 ^ value >> 63) as u64, &mut writer.bytes);
        writer
    }

    pub(super) fn binary(self, id: u8, bytes: &[u8]) -> Self {
        let mut writer = self.field(id, kind::BINARY);
        push_varint(bytes.len() as u64, &mut writer.bytes);
        writer.bytes.extend_from_slice(bytes);
        writer
    }

    pub(super) fn structure(self, id: u8, value: Self) -> Self {
        let mut writer = self.field(id, kind::STRUCT);
        writer.bytes.extend(value.finished());
        writer
    }

    /// A list of values of this kind, each given by its bytes.
    pub(super) fn list(self, id: u8, kind: u8, values: &[Vec<u8>]) -> Self {
        let mut writer = self.field(id, kind::LIST);
        writer.bytes.push(0xf0 | kind);
        push_varint(values.len() as u64, &mut writer.bytes);
        values.iter().for_each(|value| writer.bytes.extend_from_slice(value));
        writer
    }

    pub(super) fn finished(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

pub(super) fn push_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let inner = Writer::default().integer(1, kind::I32, -7).binary(4, b"word");
        let list = [vec![2], vec![4]];
        let bytes = Writer::default().integer(2, kind::I64, 1 << 40).structure(5, inner).list(6, kind::I32, &list);
        let bytes = [bytes.finished(), vec![42]].concat();
        let (found, rest) = Struct::read(&bytes).unwrap();
        assert_eq!(
            (found.integer(2), found.value(6)),
            (Some(1 << 40), Some(&Value::List(vec![Value::Integer(1), Value::Integer(2)])))
        );
        let inner = found.structure(5).unwrap();
        assert_eq!(
            (inner.integer(1), inner.binary(4), inner.count(1), rest),
            (Some(-7), Some(&b"word"[..]), None, &[42][..])
        );
        for length in 0..bytes.len() - 1 {
            assert_eq!(Struct::read(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn lengths_beyond_the_end_and_depths_without_one_are_refused() {
        assert_eq!(Struct::read(&[0xf8, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]), None);
        assert_eq!(Struct::read(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]), None);
        assert_eq!(Struct::read(&[0xfc; 4000]), None);
    }
}
