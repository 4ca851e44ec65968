//! FlatBuffers: tables of fields at places that the bytes say. Whatever is not within the bytes is not there.

/// A table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// The table that these bytes are.
    pub(super) fn root(bytes: &'a [u8]) -> Option<Self> {
        Self { bytes, at: 0 }.behind(0)
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    /// The table that the place at a place says.
    fn behind(&self, at: usize) -> Option<Self> {
        let at = at.checked_add(u32::from_le_bytes(self.array(at)?) as usize)?;
        (at < self.bytes.len()).then_some(Self { at, ..*self })
    }

    /// Where a field is.
    fn place(&self, field: usize) -> Option<usize> {
        let back = i64::from(i32::from_le_bytes(self.array(self.at)?));
        let fields = usize::try_from(i64::try_from(self.at).ok()?.checked_sub(back)?).ok()?;
        let (length, slot) = (usize::from(u16::from_le_bytes(self.array(fields)?)), 4 + 2 * field);
        let within = usize::from(u16::from_le_bytes(self.array(fields + slot).filter(|_| slot + 2 <= length)?));
        (within > 0).then_some(self.at + within)
    }

    /// A whole number of one, two, four or eight bytes; 0 where it is not written.
    pub(super) fn integer<const N: usize>(&self, field: usize) -> i64 {
        let bytes: Option<[u8; N]> = self.place(field).and_then(|at| self.array(at));
        let Some(bytes) = bytes else { return 0 };
        let mut wide = [if bytes[N - 1] > 0x7f { 0xff } else { 0 }; 8];
        wide[..N].copy_from_slice(&bytes);
        i64::from_le_bytes(wide)
    }

    pub(super) fn has(&self, field: usize) -> bool {
        self.place(field).is_some()
    }

    pub(super) fn table(&self, field: usize) -> Option<Self> {
        self.behind(self.place(field)?)
    }

    /// The elements of a vector, of so many bytes each.
    fn elements(&self, field: usize, size: usize) -> Option<(usize, &'a [u8])> {
        let at = self.behind(self.place(field)?)?.at;
        let count = u32::from_le_bytes(self.array(at)?) as usize;
        self.bytes.get(at + 4..)?.get(..count.checked_mul(size)?).map(|bytes| (at + 4, bytes))
    }

    pub(super) fn text(&self, field: usize) -> Option<&'a str> {
        std::str::from_utf8(self.elements(field, 1)?.1).ok()
    }

    pub(super) fn tables(&self, field: usize) -> Option<Vec<Self>> {
        let (start, bytes) = self.elements(field, 4)?;
        (0..bytes.len() / 4).map(|i| self.behind(start + 4 * i)).collect()
    }

    /// The elements of a vector of structs of `N` whole numbers of eight bytes.
    pub(super) fn integers<const N: usize>(&self, field: usize) -> Option<Vec<[i64; N]>> {
        let (_, bytes) = self.elements(field, 8 * N)?;
        let word = |word: &[u8]| word.first_chunk().map_or(0, |word| i64::from_le_bytes(*word));
        Some(bytes.chunks_exact(8 * N).map(|one| std::array::from_fn(|i| word(&one[8 * i..]))).collect())
    }
}
