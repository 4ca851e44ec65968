//! Bad input: each is named with its place, ends with exit code 2, and leaves nothing behind.

use std::process::Command;

use crate::desk::{Desk, Said, example};

const FIT: &str = "fit d.csv --target y -k 1 --out m.json --report r.html";

/// A table, a command on it that must be refused, and words that the message must have.
fn refused(table: &str, words: &str, expected: &[&str]) {
    let desk = Desk::new();
    desk.write("d.csv", table);
    let error = desk.refuses(words);
    for word in expected {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn a_missing_target() {
    refused("a,prize\n1,2\n3,4\n5,7\n", &FIT.replace("y", "price"), &["price", "prize"]);
    refused("a,y\n1,2\n3,4\n5,7\n", "fit d.csv -k 1", &["--target"]);
}

#[test]
fn a_missing_file() {
    refused("a,y\n1,2\n", "fit dd.csv --target y -k 1", &["dd.csv", "d.csv"]);
}

#[test]
fn text_in_a_column_of_numbers() {
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i * i, 2 * i)).collect();
    let table = format!("a,b,y\n{rows}7,twelve,9\n");
    refused(&table, FIT, &["d.csv", "line 32", "column 2", "b", "twelve"]);
}

#[test]
fn ragged_rows() {
    refused("a,b,y\n1,2,3\n4,5\n6,7,8\n", FIT, &["d.csv", "line 3", "2", "3"]);
}

#[test]
fn an_empty_file() {
    refused("", FIT, &["d.csv", "empty"]);
    refused("a,b,y\n", FIT, &["d.csv", "row"]);
}

#[test]
fn missing_values() {
    let table = "a,b,y\n1,2,3\n2,5,4\n,5,4\n6,,8\n7,,1\n";
    refused(table, FIT, &["3 missing", "a (1)", "b (2)", "--missing"]);
    let desk = Desk::new();
    desk.write("d.csv", table);
    let dropped = desk.succeeds("fit d.csv --target y -k 1 --missing drop");
    assert!(dropped.err.contains("3 rows"), "{}", dropped.err);
    desk.succeeds("fit d.csv --target y -k 1 --missing mean");
}

#[test]
fn a_truncated_npy() {
    let desk = Desk::new();
    let whole = std::fs::read(example("signal.npy")).unwrap();
    desk.write("b.npy", &whole[..whole.len() - 9]);
    desk.write("phi.npy", &whole[..40]);
    desk.refuses_with(
        "recover --operator dct --rows b.npy --length 512 --measurements b.npy -k 3",
        &["b.npy", "bytes"],
    );
    desk.refuses_with(&format!("recover --matrix phi.npy --measurements {} -k 3", example("signal.npy")), &["phi.npy"]);
}

#[test]
fn a_truncated_parquet() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    desk.succeeds(&format!("fit {houses} --target price -k 2 --out m.json -q"));
    desk.succeeds(&format!("predict m.json {houses} --out p.parquet -q"));
    let whole = std::fs::read(desk.path("p.parquet")).unwrap();
    desk.write("cut.parquet", &whole[..whole.len() / 2]);
    desk.refuses_with("inspect cut.parquet", &["cut.parquet"]);
}

#[test]
fn a_target_of_one_class() {
    refused("a,y\n1,no\n2,no\n3,no\n", FIT, &["y", "no", "two"]);
    refused("a,y\n1,0\n2,1\n3,2\n", &format!("{FIT} --loss logistic"), &["y", "two"]);
}

#[test]
fn text_as_a_target_of_numbers() {
    refused("a,y\n1,no\n2,yes\n3,no\n", &format!("{FIT} --loss squares"), &["y", "logistic"]);
}

#[test]
fn k_larger_than_the_columns() {
    refused(
        "a,b,y\n1,2,3\n2,2,4\n3,5,5\n",
        &FIT.replace("-k 1", "-k 7"),
        &["-k is 7", "2 features", "between 0 and 2"],
    );
    refused("a,b,y\n1,2,3\n2,2,4\n3,5,5\n", "cv d.csv --target y -k 3..5 --folds 2", &["-k is 3"]);
    refused("a,b,y\n1,2,3\n2,2,4\n3,5,5\n", "cv d.csv --target y -k 1..2 --folds 9", &["--folds is 9", "3 rows"]);
}

#[test]
fn groups_that_name_unknown_columns() {
    let desk = Desk::new();
    desk.write("d.csv", "a,b,y\n1,2,3\n2,2,4\n3,5,5\n4,1,7\n");
    desk.write("g.gmt", "one\tabout\ta\nother\tabout\tb\tc\tdd\n");
    desk.refuses_with("fit d.csv --target y -k 1 --groups g.gmt", &["g.gmt", "line 2", "c", "dd"]);
    desk.succeeds("fit d.csv --target y -k 1 --groups g.gmt --unknown-members skip").tells(&["2 members"]);
}

#[test]
fn a_model_of_a_newer_schema() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    desk.succeeds(&format!("fit {houses} --target price -k 2 --out m.json -q"));
    let newer = desk.read("m.json").replace("\"schema\": 1", "\"schema\": 7");
    desk.write("newer.json", newer);
    desk.refuses_with(&format!("predict newer.json {houses}"), &["newer.json", "schema 7", "update"]);
    desk.write("broken.json", &desk.read("m.json")[..200]);
    desk.refuses_with(&format!("predict broken.json {houses}"), &["broken.json"]);
}

#[test]
fn values_that_are_not_finite() {
    refused("a,y\n1,2\ninf,3\n4,5\n2,2\n", FIT, &["a", "inf"]);
}

#[test]
fn wrong_options_are_named() {
    let table = "a,b,y\n1,2,3\n2,2,4\n3,5,5\n4,4,4\n";
    refused(table, &format!("{FIT} --ridge -1"), &["ridge"]);
    refused(table, &format!("{FIT} --method opm"), &["did you mean `omp`"]);
    refused(table, &format!("{FIT} --time-limit 0"), &["above 0"]);
    refused(table, &format!("{FIT} --always z"), &["z"]);
    refused(table, &format!("{FIT} --weights z"), &["z"]);
    refused(table, "path d.csv --target y -k 5..2", &["write 2..5"]);
}

#[test]
fn a_folder_that_does_not_exist() {
    refused("a,y\n1,2\n2,3\n3,5\n", "fit d.csv --target y -k 1 --out nowhere/m.json", &["nowhere"]);
}

/// The disk is full before the model is written: the limit on the size of files, as a shell sets it.
#[test]
fn a_full_disk() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    desk.write("m.json", "the model of yesterday");
    let program = env!("CARGO_BIN_EXE_katoms");
    let script = format!("ulimit -f 1; '{program}' fit '{houses}' --target price -k 8 --out m.json -q");
    let output = Command::new("bash").args(["-c", &script]).current_dir(desk.path("")).output().unwrap();
    let said = Said::of(&output);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("m.json: cannot be written: it is larger than files may be here"), "{}", said.err);
    assert_eq!(desk.files(), ["m.json"]);
    assert_eq!(desk.read("m.json"), "the model of yesterday");
}

/// What cannot be completed is named with its place.
#[test]
fn completions_name_the_place() {
    let desk = Desk::new();
    desk.write("cells.csv", "name,a,b\nu,1,2\nv,3,\nw,5,inf\n");
    desk.refuses_with("complete cells.csv --rank 1", &["cells.csv, line 4, column 3 (b): inf"]);
    desk.write("entries.csv", "p,q,v\na,x,1\na,y,2\n\nb,x,-inf\nb,y,3\n");
    desk.refuses_with("complete entries.csv --rank 1", &["entries.csv, line 5, column 3 (v): -inf"]);
    desk.write("bare.csv", "1,1,4\n1,2,5\n,2,3\n");
    desk.refuses_with("complete bare.csv --as entries --rank 1", &["bare.csv, line 3, column 1: the cell is empty"]);
    desk.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n2 3 inf\n1 2 2\n");
    desk.refuses_with("complete d.mtx --rank 1", &["d.mtx", "inf"]);
}

/// Large numbers in small files ask for no memory.
#[test]
fn numbers_that_are_too_large() {
    let desk = Desk::new();
    let places = (0..60).map(|e| format!("{} {} {}\n", e * 16_001 % 60_000 + 1, e * 7_919 % 60_000 + 1, e % 5 + 1));
    let entries: String = places.collect();
    desk.write("d.mtx", format!("%%MatrixMarket matrix coordinate real general\n60000 60000 60\n{entries}"));
    let said = desk.succeeds("complete d.mtx --rank 1 --ridge 1 --observed 0.5 --json").json();
    let seen = said["seen"].as_u64().unwrap();
    assert!((15..45).contains(&seen) && said["hidden_rmse"].as_f64().is_some(), "{said}");
    desk.refuses_with("complete d.mtx --rank 1..100000000000", &["more than a million sizes"]);
}

#[test]
fn a_completion_of_nothing() {
    let desk = Desk::new();
    desk.write("d.csv", "a,b\n1,2\n3,\n5,6\n");
    desk.refuses_with("complete d.csv --rank 3", &["at most rank 2"]);
    desk.refuses_with("complete d.csv --rank 1 --out x.txt", &[".csv"]);
    desk.refuses_with("complete d.csv --rank 1 --mask d.csv", &["--mask goes with a picture"]);
    desk.refuses_with("complete d.csv --rank 1 --observed 35", &["0.35"]);
}
