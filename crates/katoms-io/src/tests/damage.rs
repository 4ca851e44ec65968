//! Whatever the bytes: an error or an answer, never a panic.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::fixture;
use crate::{Error, MaxUnpacked, ReadOptions, Source, read_bytes};

/// A file of each format, and of what it comes in.
const FILES: &[&str] = &[
    "table.csv",
    "table.tsv",
    "table.csv.gz",
    "f32_fortran.npy",
    "i16.npy",
    "arrays.npz",
    "wide.npz",
    "csr.npz",
    "coo.npz",
    "symmetric.mtx",
    "frames.mtx.zst",
    "one.svm",
    "grey16.png",
    "palette.png",
    "rgba.png",
    "grey.jpg",
    "red.jpg",
    "pyarrow.parquet",
    "polars.parquet",
    "delta.parquet",
    "gzip.parquet",
    "types_old.parquet",
    "types.feather",
    "lz4.feather",
    "polars.arrow",
    "stream.arrow",
];

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

/// What a file of these bytes holds, within a limit that a damaged header would pass by far.
fn read_damaged(name: &str, bytes: &[u8]) -> Result<Source, Error> {
    let options = ReadOptions { max_unpacked: MaxUnpacked(64 << 20), ..ReadOptions::default() };
    read_bytes(Path::new(name), bytes, &options)
}

/// Whether a part of a file of this name is another file of the same kind.
fn may_be_shorter(name: &str, length: usize, whole: usize) -> bool {
    let lines = [".csv", ".tsv", ".svm"].iter().any(|ending| name.ends_with(ending));
    // the last line needs no end, a stream of messages may end after each, as may frames
    lines || name.ends_with(".mtx") && length + 1 == whole || name == "stream.arrow"
}

#[test]
fn files_cut_off_anywhere_are_refused_by_name() {
    for &name in FILES {
        let bytes = bytes_of(name);
        assert!(read_damaged(name, &bytes).is_ok(), "{name}");
        for length in 0..bytes.len() {
            match read_damaged(name, &bytes[..length]) {
                Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
                Ok(_) => assert!(may_be_shorter(name, length, bytes.len()), "{name} {length}"),
            }
        }
    }
}

#[test]
fn a_truncated_npy_says_how_many_bytes_are_missing() {
    let bytes = bytes_of("f32_fortran.npy");
    for (length, words) in [
        (6, "the file ends too early: its 6 bytes are not a whole header of NPY"),
        (100, "the file ends too early: its 100 bytes are not a whole header of NPY"),
        (128, "0 bytes of numbers are there, 24 are needed (6 numbers of 4 bytes)"),
        (151, "23 bytes of numbers are there, 24 are needed (6 numbers of 4 bytes)"),
    ] {
        let said = read_damaged("a.npy", &bytes[..length]).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

/// Bytes that damage likes: ends of ranges, and what stands for a sign, a space, a line's end.
const LIKELY: [u8; 12] = [0, 1, 0x7f, 0x80, 0xfe, 0xff, b'-', b' ', b'\n', b',', b'0', b'9'];

/// One way in which files are damaged: bytes changed, a word of ones, a part left out, doubled or put elsewhere.
fn damage(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let place = random.random_range(0..bytes.len().max(1));
    let part = place..(place + random.random_range(1..16)).min(bytes.len());
    match random.random_range(0..10) {
        0..=3 => bytes[place] = random.random(),
        4 | 5 => bytes[place] = LIKELY[random.random_range(0..LIKELY.len())],
        6 => bytes[part].fill(if random.random() { 0xff } else { 0 }),
        7 => bytes[place] ^= 1 << random.random_range(0..8),
        8 => drop(bytes.drain(part)),
        _ => {
            let doubled = bytes[part].to_vec();
            let to = random.random_range(0..=bytes.len());
            bytes.splice(to..to, doubled);
        }
    }
}

/// Reads so many damaged copies of every file.
fn read_damaged_files(copies: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for &name in FILES {
        let bytes = bytes_of(name);
        for _ in 0..copies {
            let mut damaged = bytes.clone();
            for _ in 0..random.random_range(1..5) {
                if !damaged.is_empty() {
                    damage(&mut damaged, &mut random);
                }
            }
            let _ = read_damaged(name, &damaged);
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    read_damaged_files(400, 1);
}

/// A million damaged files, or as many as are asked for.
#[test]
#[ignore = "takes minutes"]
fn a_million_damaged_files_never_panic() {
    let asked = std::env::var("KATOMS_DAMAGED").ok().and_then(|n| n.parse().ok());
    let copies: usize = asked.unwrap_or(1_000_000);
    read_damaged_files(copies.div_ceil(FILES.len()), 2);
}

/// Every word of a file replaced by a length that no memory has: headers promise what they like.
#[test]
fn lengths_of_any_size_are_refused() {
    for &name in FILES {
        let bytes = bytes_of(name);
        for place in (0..bytes.len().saturating_sub(8)).step_by(4) {
            for length in [1_u64 << 58, 1 << 40, i64::MAX as u64, u64::MAX, 0x7fff_ffff, 0xffff_ffff_7fff_ffff] {
                let mut damaged = bytes.clone();
                damaged[place..place + 8].copy_from_slice(&length.to_le_bytes());
                let _ = read_damaged(name, &damaged);
            }
        }
    }
}

#[test]
fn garbage_never_panics() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for &name in FILES {
        let start = bytes_of(name);
        for _ in 0..300 {
            let kept = random.random_range(0..start.len().min(24));
            let tail = (0..random.random_range(0..200)).map(|_| random.random::<u8>());
            let bytes: Vec<u8> = start[..kept].iter().copied().chain(tail).collect();
            let _ = read_damaged(name, &bytes);
        }
    }
}
