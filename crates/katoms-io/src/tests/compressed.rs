use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};

use super::{complaint, fixture, given, written};
use crate::{MaxUnpacked, ReadOptions, Source, read_bytes};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A ZIP archive of these members.
fn archive(members: &[(&str, &[u8])], is_deflated: bool) -> Vec<u8> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        let packed = if is_deflated { encoder.finish().unwrap() } else { bytes.to_vec() };
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let sizes = [crc.sum(), packed.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let method = [if is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
        let head = [&[20, 0, 0, 0], &method[..], &sizes, &[name.len() as u8, 0, 0, 0]].concat();
        let place = (all.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0", &head[..], &[0; 10], &place, name.as_bytes()].concat());
        all.extend([b"PK\x03\x04", &head[..], name.as_bytes(), &packed].concat());
    }
    let (count, start) = (members.len() as u8, (all.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    all.extend([&directory[..], b"PK\x05\x06\0\0\0\0", &[count, 0, count, 0], &size, &start, &[0; 2]].concat());
    all
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

/// What the error says of a file that may unpack to 1 MB.
fn too_large(name: &str, bytes: &[u8]) -> String {
    let options = ReadOptions { max_unpacked: MaxUnpacked(1_000_000), ..ReadOptions::default() };
    read_bytes(std::path::Path::new(name), bytes, &options).unwrap_err().to_string()
}

const HINT: &str = "and the limit is 976.6 KiB: if you trust the file, raise the limit with --max-unpacked 1GiB";

#[test]
fn what_unpacks_to_more_than_the_limit_is_refused_with_the_flag_that_raises_it() {
    let rows = "0,0\n".repeat(1 << 19);
    let packed = gzip(rows.as_bytes());
    assert!(packed.len() < 20_000);
    let said = too_large("zeros.csv.gz", &packed);
    assert!(said.starts_with("zeros.csv.gz: ") && said.ends_with(HINT), "{said}");
    let npy = crate::write_npy(&crate::Array::vector(vec![0.0; 1 << 18]));
    let said = too_large("zeros.npy.gz", &gzip(&npy));
    assert!(said.starts_with("zeros.npy.gz: it unpacks to ") && said.ends_with(HINT), "{said}");
    // as it lies on disk it may be of any size
    let options = ReadOptions { max_unpacked: MaxUnpacked(1_000_000), ..ReadOptions::default() };
    assert!(read_bytes(std::path::Path::new("zeros.npy"), &npy, &options).is_ok());
}

#[test]
fn members_of_an_archive_unpack_to_the_limit_together() {
    let npy = crate::write_npy(&crate::Array::vector(vec![0.0; 80_000]));
    let said = too_large("zeros.npz", &archive(&[("a.npy", &npy), ("b.npy", &npy)], true));
    // both together, as the archive says
    let both = "zeros.npz, member 2 of the archive: it unpacks to 1.2 MiB or more, ";
    assert!(said.starts_with(both) && said.ends_with(HINT), "{said}");
    let options = ReadOptions { max_unpacked: MaxUnpacked(1_000_000), ..ReadOptions::default() };
    let stored = archive(&[("a.npy", &npy), ("b.npy", &npy)], false);
    assert!(read_bytes(std::path::Path::new("zeros.npz"), &stored, &options).is_ok());
}

#[test]
fn a_window_that_no_memory_has_is_not_asked_for() {
    // a frame of a window of 4 GiB
    let said = complaint("a.csv.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xb0, 0, 0, 0]);
    assert!(said.contains("unpack the file with zstd -d --long=31"), "{said}");
}
