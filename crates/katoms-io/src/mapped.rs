//! Numbers in a file that is mapped into memory: nothing is read before it is used, and nothing is copied.

use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
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
    /// # Errors
    /// When the system refuses to map the file.
    pub(crate) fn new(path: &Path, file: &File, bytes: Range<usize>) -> Result<Option<Self>, Error> {
        // SAFETY: the map is read-only, and bytes of any value are numbers (`Pod`). What is left is that someone else
        // changes the file while we look. If another process writes to it, numbers change between two reads: the
        // answer is then as wrong as if it had been written before, and no index or length is ever taken from the
        // map. If another process makes it shorter, touching the lost pages ends this one with the signal SIGBUS:
        // the run fails and no wrong memory is read. Whoever needs neither keeps the file still during a run.
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
