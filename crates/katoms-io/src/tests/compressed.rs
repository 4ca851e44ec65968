use std::io::Write;

use flate2::write::GzEncoder;

use super::{complaint, fixture, given, written};
use crate::Source;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn values(source: Source) -> Vec<f64> {
    match source {
        Source::Sparse(sparse) => sparse.values,
        Source::Array(array) => array.numbers.to_f64(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn gzip_is_read_through_also_in_parts_and_under_any_name() {
    let bytes = std::fs::read(fixture("symmetric.mtx")).unwrap();
    let parts = [gzip(&bytes[..20]), gzip(&bytes[20..])].concat();
    for name in ["a.mtx.gz", "a.MTX.GZ", "a.mtx", "a"] {
        assert_eq!(values(written(name, &parts).unwrap()), [2.0, -1.0, -1.0, 3.0], "{name}");
    }
    let npy = std::fs::read(fixture("i16.npy")).unwrap();
    assert_eq!(values(written("a.npy.gz", &gzip(&npy)).unwrap()), [-3.0, 0.0, 300.0]);
}

#[test]
fn zstd_is_read_through_frame_after_frame() {
    assert_eq!(values(given("frames.mtx.zst").unwrap()), [2.0, -1.0, -1.0, 3.0]);
}

#[test]
fn compressed_data_that_end_too_early_are_said_to() {
    let gz = gzip(&std::fs::read(fixture("symmetric.mtx")).unwrap());
    for length in 3..gz.len() {
        let said = complaint("a.mtx.gz", &gz[..length]);
        assert!(said.starts_with(": the gzip data end too early"), "{length}: {said}");
    }
    let zst = std::fs::read(fixture("frames.mtx.zst")).unwrap();
    for length in 4..zst.len() {
        let said = complaint("a.mtx.zst", &zst[..length]);
        // between the frames nothing is missing but the matrix
        let is_between = said.contains("entries") || said.contains("line of sizes") || said.contains("should be");
        assert!(said.starts_with(": the zstd data end too early") || is_between, "{length}: {said}");
    }
}

#[test]
fn damaged_compressed_data_are_said_to_be() {
    let mut gz = gzip(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
    let checksum = gz.len() - 8;
    gz[checksum] ^= 1;
    assert!(complaint("a.mtx.gz", &gz).starts_with(": the gzip data are damaged"));
    let mut zst = std::fs::read(fixture("frames.mtx.zst")).unwrap();
    let checksum = zst.len() - 1;
    zst[checksum] ^= 1;
    assert!(complaint("a.mtx.zst", &zst).starts_with(": the zstd data are damaged (the checksum is wrong)"));
}

#[test]
fn a_name_that_promises_compression_is_held_to_it() {
    let said = complaint("a.mtx.gz", b"%%MatrixMarket");
    assert_eq!(said, ": the name says gzip, but the bytes are not gzip data: rename it");
}
