use katoms::operator::{Layout, f16};

use super::{complaint, fixture, given, written};
use crate::read::read_mapping_above;
use crate::{Array, Numbers, ReadOptions, Source, Stored, on_numbers, write_npy};

fn array(source: Source) -> Array {
    match source {
        Source::Array(array) => array,
        other => panic!("no array: {other:?}"),
    }
}

#[test]
fn arrays_of_numpy_are_read_as_they_are() {
    let single = array(given("f32_fortran.npy").unwrap());
    assert_eq!((single.rows, single.columns, single.layout, single.is_vector), (2, 3, Layout::ColumnMajor, false));
    assert_eq!(single.numbers, Numbers::F32(vec![1.5, 0.0, 0.0, 0.25, -2.0, 4.0].into()));

    let swapped = array(given("f64_big_endian.npy").unwrap());
    assert_eq!((swapped.rows, swapped.columns, swapped.layout), (2, 3, Layout::RowMajor));
    assert_eq!(swapped.numbers, Numbers::F64(vec![1.5, 0.0, -2.0, 0.0, 0.25, 4.0].into()));

    let integers = array(given("i16.npy").unwrap());
    assert_eq!((integers.rows, integers.columns, integers.is_vector), (3, 1, true));
    assert_eq!(integers.numbers, Numbers::F64(vec![-3.0, 0.0, 300.0].into()));

    let truths = array(given("bool.npy").unwrap());
    assert_eq!(truths.numbers, Numbers::U8(vec![1, 0, 0, 1].into()));
}

#[test]
fn all_numbers_of_both_byte_orders_are_read() {
    for (code, bytes, value) in [
        ("|i1", &[0xfe][..], -2.0),
        ("|u1", &[0xfe], 254.0),
        (">u2", &[1, 2], 258.0),
        ("<i4", &[0xff, 0xff, 0xff, 0xff], -1.0),
        (">i4", &[0, 0, 1, 0], 256.0),
        ("<u4", &[0, 0, 0, 0x80], 2147483648.0),
        ("<u8", &[5, 0, 0, 0, 0, 0, 0, 0], 5.0),
        (">i8", &[0xff; 8], -1.0),
        ("<f2", &[0x00, 0xc1], -2.5),
        (">f2", &[0xc1, 0x00], -2.5),
        (">f4", &[0x3f, 0x80, 0, 0], 1.0),
    ] {
        let header = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': (), }}\n");
        // versions 2 and 3 have four bytes for the length of the header
        let file = [b"\x93NUMPY\x02\x00", &(header.len() as u32).to_le_bytes()[..], header.as_bytes(), bytes].concat();
        assert_eq!(array(written("a.npy", &file).unwrap()).numbers.to_f64(), [value], "{code}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let numbers = || vec![0.1, -0.0, f64::MAX, 5e-324, 1.0 / 3.0, 7.0];
    for (layout, is_vector) in [(Layout::ColumnMajor, false), (Layout::RowMajor, false), (Layout::ColumnMajor, true)] {
        let (rows, columns) = if is_vector { (6, 1) } else { (2, 3) };
        let bytes = write_npy(&Array { numbers: Numbers::F64(numbers().into()), rows, columns, layout, is_vector });
        let back = array(written("a.npy", &bytes).unwrap());
        assert_eq!((back.rows, back.columns, back.layout, back.is_vector), (rows, columns, layout, is_vector));
        let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.numbers.to_f64()), bits(&numbers()));
        assert_eq!((bytes.len() - 48) % 64, 0, "the numbers start at a multiple of 64");
    }
}

#[test]
fn what_is_written_are_the_bytes_of_numpy() {
    let array = array(given("f32_fortran.npy").unwrap());
    assert_eq!(write_npy(&array), std::fs::read(fixture("f32_fortran.npy")).unwrap());
}

#[test]
fn a_mapped_file_is_the_same_as_one_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let kinds: [fn() -> Numbers; 5] = [
        || Numbers::I8((0..3000).map(|i| (i % 251) as i8).collect::<Vec<_>>().into()),
        || Numbers::U8((0..3000).map(|i| (i % 251) as u8).collect::<Vec<_>>().into()),
        || Numbers::F16((0..3000).map(|i| f16::from_f32(i as f32 * 0.37)).collect::<Vec<_>>().into()),
        || Numbers::F32((0..3000).map(|i| i as f32 * 0.37).collect::<Vec<_>>().into()),
        || Numbers::F64((0..3000).map(|i| f64::from(i) * 0.37).collect::<Vec<_>>().into()),
    ];
    for numbers in kinds {
        for layout in [Layout::ColumnMajor, Layout::RowMajor] {
            let bytes = write_npy(&Array { numbers: numbers(), rows: 30, columns: 100, layout, is_vector: false });
            std::fs::write(&path, &bytes).unwrap();
            let by = |above| array(read_mapping_above(&path, &ReadOptions::default(), above).unwrap());
            let (mapped, read) = (by(bytes.len() as u64 - 1), by(bytes.len() as u64));
            let is_mapped = |array: &Array| on_numbers!(&array.numbers, n => matches!(n, Stored::Mapped(_)));
            assert!(is_mapped(&mapped) && !is_mapped(&read));
            assert_eq!((&mapped.numbers, &read.numbers), (&numbers(), &numbers()));
            assert_eq!((mapped.rows, mapped.columns, mapped.layout), (30, 100, layout));
        }
    }
}

#[test]
fn what_cannot_be_mapped_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    // a header of an odd length: the numbers are not where doubles may be
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } \n";
    let shifted = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    assert_ne!(shifted.len() % 8, 0);
    std::fs::write(&path, [&shifted[..], &1.0_f64.to_le_bytes(), &2.0_f64.to_le_bytes()].concat()).unwrap();
    for path in [path, fixture("i16.npy"), fixture("f64_big_endian.npy")] {
        let array = array(read_mapping_above(&path, &ReadOptions::default(), 0).unwrap());
        assert!(matches!(array.numbers, Numbers::F64(Stored::Held(_))), "{}", path.display());
    }
}

#[test]
fn a_mapped_file_that_is_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let bytes = std::fs::read(fixture("f32_fortran.npy")).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let said = read_mapping_above(&path, &ReadOptions::default(), 0).unwrap_err().to_string();
    assert!(said.contains("23 bytes of numbers are there, 24 are needed (6 numbers of 4 bytes)"), "{said}");
}

#[test]
fn arrays_that_are_no_numbers_are_refused_in_words() {
    for (name, words) in [
        ("records.npy", "the array holds records of several fields"),
        ("objects.npy", "the array holds Python objects (dtype |O), not numbers: save it with .astype(\"float64\")"),
        ("cube.npy", "the array has 3 dimensions; a matrix (2) or a vector (1) is needed"),
    ] {
        let said = given(name).unwrap_err().to_string();
        assert!(said.contains(name) && said.contains(words), "{said}");
    }
}

#[test]
fn headers_that_cannot_be_understood_are_refused() {
    let file =
        |header: &str| [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for (header, words) in [
        ("{'descr': '<f8', 'shape': (2,)}", ": the header cannot be understood: {'descr': '<f8', 'shape': (2,)}"),
        ("{'descr': '<f8', 'fortran_order': 1, 'shape': (2,)}", ": the header cannot be understood"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", ": the header cannot be understood"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (2", ": the header cannot be understood"),
        (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
            ": the header promises more numbers than can be",
        ),
        (
            "{'descr': '<f16', 'fortran_order': False, 'shape': (0,)}",
            ": the array holds numbers of a precision that is not read",
        ),
    ] {
        let said = complaint("a.npy", &file(header));
        assert!(said.starts_with(words), "{said}");
    }
    assert!(complaint("a.npy", b"\x93NUMPY\x09\x00").contains("version 9"));
}

#[test]
fn arrays_of_an_archive_keep_their_names() {
    // the second has sizes and places as an archive of more than 4 GiB has them
    for name in ["arrays.npz", "wide.npz"] {
        let Source::Arrays { arrays, sparse } = given(name).unwrap() else { panic!() };
        assert_eq!(arrays.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["X", "y"]);
        assert_eq!((arrays[0].1.rows, arrays[0].1.columns), (2, 3));
        assert_eq!(arrays[1].1.numbers.to_f64(), [1.0, 2.0]);
        assert!(sparse.is_none());
    }
}
