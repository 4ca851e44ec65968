//! Numbers in a file that is mapped into memory: nothing is read before it is used, and nothing is copied.

use std::fs::File;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::Path;

use bytemuck::Pod;
use memmap2::Mmap;

use crate::error::Error;

/// Part of a mapped file, as numbers of the byte order of this machine.
#[derive(Debug)]
pub struct Mapped<T> {
    map: Mmap,
    bytes: Range<usize>,
    kind: PhantomData<T>,
}

impl<T: Pod> Mapped<T> {
    /// Maps `bytes` of a file. `None` where they are not whole numbers at an address that numbers may have, or where
    /// the file is shorter: the caller then reads it.
    ///
    pub(crate) fn new(path: &Path, file: &File, bytes: Range<usize>) -> Result<Option<Self>, Error> {
        // SAFETY: the map is read-only and private to this value, which outlives every slice of it, and any bytes are
        // numbers (`Pod`). What cannot be promised is that no other process changes the file during the run. If one
        // writes to it, numbers change under us: the answer is wrong, but no length or index is ever taken from the
        // map. If one makes it shorter, touching the lost pages ends this process with SIGBUS: nothing is written,
        // and no other memory is read. Both need a file that is written to while it is fitted; the documentation of
        // `read` says not to.
        let map = unsafe { Mmap::map(file) };
        let map =
            map.map_err(|error| Error::System { path: path.into(), what: "cannot be mapped into memory", error })?;
        let fits = map.get(bytes.clone()).is_some_and(|bytes| bytemuck::try_cast_slice::<u8, T>(bytes).is_ok());
        Ok(fits.then_some(Self { map, bytes, kind: PhantomData }))
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[self.bytes.clone()])
    }
}

/// Numbers of one type: a slice, wherever it is.
#[derive(Debug)]
pub enum Stored<T> {
    /// In memory.
    Held(Vec<T>),
    /// In a file that is mapped into it.
    Mapped(Mapped<T>),
}

impl<T: Pod> Deref for Stored<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Held(numbers) => numbers,
            Self::Mapped(numbers) => numbers.as_slice(),
        }
    }
}

impl<T: Pod + PartialEq> PartialEq for Stored<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T> From<Vec<T>> for Stored<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Held(numbers)
    }
}

impl<T> From<Mapped<T>> for Stored<T> {
    fn from(numbers: Mapped<T>) -> Self {
        Self::Mapped(numbers)
    }
}
