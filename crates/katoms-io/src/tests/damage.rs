//! Whatever the bytes: an error or an answer, never a panic.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::fixture;
use crate::Error;
use crate::format::{matrix_market, npy, npz, picture, svmlight};

type Reader = fn(&Path, &[u8]) -> Result<(), Error>;

fn readers() -> Vec<(&'static str, Reader)> {
    let npy: Reader = |path, bytes| npy::read_bytes(path, bytes).map(drop);
    let npz: Reader = |path, bytes| npz::read_bytes(path, bytes).map(drop);
    let png: Reader = |path, bytes| picture::read_png(path, bytes).map(drop);
    let jpeg: Reader = |path, bytes| picture::read_jpeg(path, bytes).map(drop);
    vec![
        ("f32_fortran.npy", npy),
        ("i16.npy", npy),
        ("arrays.npz", npz),
        ("csr.npz", npz),
        ("coo.npz", npz),
        ("symmetric.mtx", |path, bytes| matrix_market::read_bytes(path, bytes).map(drop)),
        ("one.svm", |path, bytes| svmlight::read_bytes(path, bytes).map(drop)),
        ("grey16.png", png),
        ("palette.png", png),
        ("rgba.png", png),
        ("grey.jpg", jpeg),
        ("red.jpg", jpeg),
    ]
}

#[test]
fn files_cut_off_anywhere_are_refused_by_name() {
    for (name, reader) in readers() {
        let bytes = std::fs::read(fixture(name)).unwrap();
        assert!(reader(Path::new(name), &bytes).is_ok(), "{name}");
        for length in 0..bytes.len() {
            match reader(Path::new(name), &bytes[..length]) {
                Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
                // a line less is another file, and a last line needs no end
                Ok(()) => assert!(
                    name.ends_with(".svm") || length + 1 == bytes.len() && name.ends_with(".mtx"),
                    "{name} {length}"
                ),
            }
        }
    }
}

#[test]
fn a_truncated_npy_says_how_many_bytes_are_missing() {
    let bytes = std::fs::read(fixture("f32_fortran.npy")).unwrap();
    for (length, words) in [
        (3, "these are not the bytes of an NPY file"),
        (6, "the file ends too early: its 6 bytes are not a whole header of NPY"),
        (100, "the file ends too early: its 100 bytes are not a whole header of NPY"),
        (128, "0 bytes of numbers are there, 24 are needed (6 numbers of 4 bytes)"),
        (151, "23 bytes of numbers are there, 24 are needed (6 numbers of 4 bytes)"),
    ] {
        let said = npy::read_bytes(Path::new("a.npy"), &bytes[..length]).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (name, reader) in readers() {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(0..damaged.len());
                damaged[place] = random.random();
            }
            let _ = reader(Path::new(name), &damaged);
        }
    }
}

#[test]
fn garbage_never_panics() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for (name, reader) in readers() {
        let start = std::fs::read(fixture(name)).unwrap();
        for _ in 0..300 {
            let kept = random.random_range(0..start.len().min(24));
            let tail = (0..random.random_range(0..200)).map(|_| random.random::<u8>());
            let bytes: Vec<u8> = start[..kept].iter().copied().chain(tail).collect();
            let _ = reader(Path::new(name), &bytes);
        }
    }
}
