use super::{complaint, given, written};
use crate::{Source, Sparse, write_matrix_market_array, write_matrix_market_coordinate};

/// The matrix [[1.5, 0, -2], [0, 0.25, 4]].
fn truth() -> Sparse {
    Sparse {
        rows: 2,
        columns: 3,
        starts: vec![0, 1, 2, 4],
        indices: vec![0, 1, 0, 1],
        values: vec![1.5, 0.25, -2.0, 4.0],
        labels: None,
    }
}

fn sparse(source: Source) -> Sparse {
    match source {
        Source::Sparse(sparse) | Source::Arrays { sparse: Some(sparse), .. } => sparse,
        other => panic!("not sparse: {other:?}"),
    }
}

fn dense(source: Source) -> (usize, usize, Vec<f64>) {
    match source {
        Source::Array(array) => (array.rows, array.columns, array.numbers.to_f64()),
        other => panic!("no array: {other:?}"),
    }
}

#[test]
fn matrices_of_scipy_are_read_however_they_are_kept() {
    for name in ["csr.npz", "csc.npz", "coo.npz"] {
        let source = given(name).unwrap();
        assert!(matches!(&source, Source::Arrays { arrays, .. } if arrays.is_empty()), "{name}");
        assert_eq!(sparse(source), truth(), "{name}");
    }
    let said = given("dia.npz").unwrap_err().to_string();
    assert!(said.contains("kept as dia") && said.contains("tocsr()"), "{said}");
}

#[test]
fn a_matrix_of_matrix_market_is_read() {
    let symmetric = sparse(given("symmetric.mtx").unwrap());
    assert_eq!((symmetric.starts, symmetric.indices), (vec![0, 2, 4], vec![0, 1, 0, 1]));
    assert_eq!(symmetric.values, [2.0, -1.0, -1.0, 3.0]);

    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n";
    let skew = sparse(written("a.mtx", skew.as_bytes()).unwrap());
    assert_eq!((skew.indices, skew.values), (vec![1, 0], vec![5.0, -5.0]));

    let pattern = "%%matrixmarket MATRIX Coordinate Pattern General\r\n% comment\r\n\r\n2 3 2\r\n2 1\r\n1 3\r\n";
    let pattern = sparse(written("a.mtx", pattern.as_bytes()).unwrap());
    assert_eq!((pattern.starts, pattern.indices, pattern.values), (vec![0, 1, 1, 2], vec![1, 0], vec![1.0, 1.0]));
}

#[test]
fn a_dense_matrix_of_matrix_market_is_read_column_after_column() {
    let of = |text: &str| dense(written("a.mtx", text.as_bytes()).unwrap());
    let general = of("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6e0\n");
    assert_eq!(general, (2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let symmetric = of("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
    assert_eq!(symmetric.2, [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]);
    let skew = of("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n");
    assert_eq!(skew.2, [0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0]);
}

#[test]
fn matrices_written_as_matrix_market_are_read_back() {
    let bytes = write_matrix_market_coordinate(&truth());
    assert_eq!(sparse(written("a.mtx", &bytes).unwrap()), truth());
    let Source::Array(array) = given("f64_big_endian.npy").unwrap() else { panic!() };
    let back = dense(written("a.mtx", &write_matrix_market_array(&array)).unwrap());
    assert_eq!(back, (2, 3, vec![1.5, 0.0, 0.0, 0.25, -2.0, 4.0]));
}

#[test]
fn what_is_wrong_in_matrix_market_has_a_line() {
    let head = "%%MatrixMarket matrix coordinate real general\n% comment\n";
    for (rest, words) in [
        ("2 2\n", ", line 3: `2 2` should be three numbers: rows, columns, entries"),
        ("2 2 2\n1 1 1\n", ", line 4: the file ends after 1 entries, but 2 are promised"),
        ("2 2 1\n1 1 1\n2 2 2\n", ", line 5: there are more entries than the 1 that are promised"),
        ("2 2 1\n3 1 1\n", ", line 4: `3` is not a place from 1 to 2"),
        ("2 2 1\n0 1 1\n", ", line 4: `0` is not a place from 1 to 2"),
        ("2 2 1\n1 1 x\n", ", line 4: `x` is not a number"),
        ("2 2 1\n1 1\n", ", line 4: `1 1` should be a row, a column and a value"),
        ("9999999999 2 0\n", ", line 3: a matrix of 9999999999 × 2: it unpacks to 74.5 GiB or more"),
        ("", ": the file ends before the line of sizes"),
    ] {
        let said = complaint("a.mtx", format!("{head}{rest}").as_bytes());
        assert!(said.starts_with(words), "{said}");
    }
    for (head, words) in [
        ("%%MatrixMarket matrix coordinate complex general\n", ", line 1: coordinate complex is not read"),
        ("%%MatrixMarket matrix array real hermitian\n", ", line 1: hermitian matrices are not read"),
        ("%%MatrixMarket tensor\n", ", line 1: the first line should be: %%MatrixMarket matrix coordinate|array"),
        ("%%MatrixMarket matrix array pattern general\n", ", line 1: array pattern is not read"),
    ] {
        let said = complaint("a.mtx", head.as_bytes());
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn svmlight_is_read_with_its_labels() {
    let one = sparse(given("one.svm").unwrap());
    assert_eq!(one, Sparse { labels: Some(vec![1.0, -1.0]), ..truth() });

    let text = "+1 qid:3 2:4 1:0.5 # comment 7:x\n\n# all comment\n-1\n0 3:1e-3\n";
    let odd = sparse(written("a.svm", text.as_bytes()).unwrap());
    assert_eq!((odd.rows, odd.columns, odd.labels), (3, 3, Some(vec![1.0, -1.0, 0.0])));
    assert_eq!((odd.starts, odd.indices, odd.values), (vec![0, 1, 2, 3], vec![0, 0, 2], vec![0.5, 4.0, 1e-3]));

    let from_0 = sparse(written("a.svm", b"1 1:5\n2 0:6\n").unwrap());
    assert_eq!((from_0.columns, from_0.indices, from_0.values), (2, vec![1, 0], vec![6.0, 5.0]));
}

#[test]
fn svmlight_is_known_by_its_bytes() {
    assert_eq!(sparse(written("heart_scale", b"# x\n+1 1:0.5 2:1\n").unwrap()).columns, 2);
}

#[test]
fn what_is_wrong_in_svmlight_has_a_line_and_a_position() {
    for (text, words) in [
        ("1 1:2\nyes 1:2\n", ", line 2, position 1: `yes` is not a number: each line starts with its label"),
        ("1 1:2 3\n", ", line 1, position 7: `3` should be index:value"),
        ("1 é:2\n", ", line 1, position 3: `é` in `é:2` is not a whole number"),
        ("1 1:2 2:é 3:1\n", ", line 1, position 7: `é` in `2:é` is not a number"),
        ("1 2:2 1:1 2:3\n", ", line 1, position 11: index 2 is there twice"),
        ("1 -1:2\n", ", line 1, position 3: `-1` in `-1:2` is not a whole number"),
        ("# nothing\n", ": there are no rows"),
        ("", ": there are no rows"),
    ] {
        let said = complaint("a.svm", text.as_bytes());
        assert!(said.starts_with(words), "{said}");
    }
    assert!(complaint("a.svm", b"1 1:2\n\xff\xfe\n").starts_with(", line 2, position 1: the line is not text"));
}
