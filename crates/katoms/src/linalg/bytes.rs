//! Many bytes that are written once and read often.
//!
//! Memory is given page by page as it is first written, and that takes longer than the writing where pages are small:
//! for a sixteenth of a large design as long as a read of a third of it. So a long array asks for huge pages, where the
//! system lends them. A short one comes from the allocator, which hands out again what it has.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Fewer bytes come from the allocator: up to here it keeps what is given back to it.
const LONG: usize = 1 << 25;

/// Bytes that are 0 at first.
#[derive(Debug)]
pub(crate) enum Bytes {
    Short(Vec<u8>),
    Long(MmapMut),
}

impl Bytes {
    pub fn zeroed(length: usize) -> Self {
        if length < LONG {
            return Self::Short(vec![0; length]);
        }
        // What cannot be mapped may still be had from the allocator.
        MmapMut::map_anon(length).map_or_else(|_| Self::Short(vec![0; length]), Self::in_huge_pages)
    }

    fn in_huge_pages(map: MmapMut) -> Self {
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage); // a wish: small pages do as well
        Self::Long(map)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Long(map) => map,
        }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Long(map) => map,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_are_zero_and_can_be_written() {
        for length in [0, 1, LONG - 1, LONG, LONG + 12_345] {
            let mut bytes = Bytes::zeroed(length);
            assert_eq!(bytes.len(), length);
            assert!(bytes.iter().all(|&b| b == 0));
            if let Some(last) = bytes.last_mut() {
                *last = 7;
            }
            assert_eq!(bytes.iter().map(|&b| usize::from(b)).sum::<usize>(), if length == 0 { 0 } else { 7 });
        }
    }
}
