//! ZIP archives, as far as NPZ files need them: members that are stored or deflated, also in files of more than 4 GiB.

use std::io::ErrorKind;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::allocation::{Budget, gathered};

/// A member of an archive.
pub(super) struct Member<'a> {
    pub(super) name: String,
    packed: &'a [u8],
    is_deflated: bool,
    /// Of what it unpacks to.
    size: u64,
    checksum: u32,
}

/// What is read of the bytes of an archive, whose numbers have their low end first.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn integer(self, at: usize, width: usize) -> Option<u64> {
        let bytes = self.part(at, width)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn count(self, at: usize, width: usize) -> Option<usize> {
        self.integer(at, width).and_then(|count| usize::try_from(count).ok())
    }

    fn part(self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(length)?)
    }

    /// The bytes from a place on, which start with this.
    fn record(self, at: usize, start: &[u8]) -> Option<Self> {
        self.0.get(at..).filter(|rest| rest.starts_with(start)).map(Self)
    }
}

/// The members of an archive; `None` where it ends too early or is damaged.
pub(super) fn members(archive: &[u8]) -> Option<Vec<Member<'_>>> {
    let bytes = Bytes(archive);
    let is_end = |&at: &usize| {
        let end = bytes.record(at, b"PK\x05\x06");
        end.and_then(|end| end.count(20, 2)).is_some_and(|comment| at + 22 + comment == archive.len())
    };
    let last = archive.len().checked_sub(22)?;
    let at = (last.saturating_sub(1 << 16)..=last).rev().find(is_end)?;
    let wide = at.checked_sub(20).and_then(|at| bytes.record(at, b"PK\x06\x07"));
    let (count, mut place) = match wide.and_then(|wide| bytes.record(wide.count(8, 8)?, b"PK\x06\x06")) {
        Some(end) => (end.count(32, 8)?, end.count(48, 8)?),
        None => (bytes.count(at + 10, 2)?, bytes.count(at + 16, 4)?),
    };
    let mut members = Vec::new();
    for _ in 0..count {
        let entry = bytes.record(place, b"PK\x01\x02")?;
        let [name, more, comment] = [28, 30, 32].map(|at| entry.count(at, 2));
        let (name, more) = (entry.part(46, name?)?, entry.part(46 + name?, more?)?);
        members.push(member(bytes, entry, name, Bytes(more))?);
        place += 46 + name.len() + more.len() + comment?;
    }
    Some(members)
}

fn member<'a>(archive: Bytes<'a>, entry: Bytes<'a>, name: &[u8], more: Bytes<'_>) -> Option<Member<'a>> {
    // sizes that do not fit stand in a field of their own, in this order
    let mut wide = wide_sizes(more);
    let mut size = |at: usize| match entry.integer(at, 4)? {
        0xffff_ffff => wide.next(),
        size => Some(size),
    };
    let (unpacked, packed, place) = (size(24)?, size(20)?, size(42)?);
    let start = archive.record(usize::try_from(place).ok()?, b"PK\x03\x04")?;
    let head = 30 + start.count(26, 2)? + start.count(28, 2)?;
    let is_deflated = match (entry.integer(8, 2)? & 1, entry.integer(10, 2)?) {
        (0, 0) => false,
        (0, 8) => true,
        _ => return None,
    };
    Some(Member {
        name: String::from_utf8_lossy(name).into_owned(),
        packed: start.part(head, usize::try_from(packed).ok()?)?,
        is_deflated,
        size: unpacked,
        checksum: entry.integer(16, 4)? as u32,
    })
}

/// The numbers of the field that has sizes of eight bytes.
fn wide_sizes(more: Bytes<'_>) -> impl Iterator<Item = u64> {
    let mut at = 0;
    while let (Some(id), Some(length)) = (more.integer(at, 2), more.count(at + 2, 2)) {
        if id == 1 {
            let field = Bytes(more.part(at + 4, length).unwrap_or_default());
            return (0..length / 8).filter_map(|i| field.integer(8 * i, 8)).collect::<Vec<_>>().into_iter();
        }
        at += 4 + length;
    }
    Vec::new().into_iter()
}

impl Member<'_> {
    /// What it holds. Members that are not compressed take no more than the archive together, or two of them share their
    /// bytes: `stored` is what is left. Room is taken as bytes come, for the archive may promise any number of them.
    pub(super) fn read(&self, stored: &mut u64, unpacked: &mut Budget) -> Result<Vec<u8>, String> {
        let damaged = |what: &str| format!("it is damaged ({what}); copy or write the file again");
        let bytes = if self.is_deflated {
            // what says that it is too large is not unpacked, and the limit that it needs is known
            unpacked.clone().take(self.size)?;
            unpacked.read(&mut DeflateDecoder::new(self.packed)).map_err(|error| match error.kind() {
                ErrorKind::InvalidData if unpacked.is_spent() => error.to_string(),
                ErrorKind::OutOfMemory => {
                    "there is not enough memory to unpack it: close other programs, or raise the memory limit".into()
                }
                _ => damaged(&error.to_string()),
            })?
        } else {
            *stored = stored.checked_sub(self.packed.len() as u64).ok_or_else(|| damaged("members overlap"))?;
            gathered(self.packed.iter().copied())?
        };
        let mut checksum = Crc::new();
        checksum.update(&bytes);
        if bytes.len() as u64 != self.size || checksum.sum() != self.checksum {
            return Err(damaged("the checksum is wrong"));
        }
        Ok(bytes)
    }
}
