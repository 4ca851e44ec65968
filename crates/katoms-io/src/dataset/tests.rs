//! Data sets from files as people have them, and the messages where they cannot be had.

use std::path::{Path, PathBuf};

use katoms::operator::{AnyDesign, Layout, LinearOperator};
use katoms::space::SparseVec;

use super::storage::Held;
use super::*;
use crate::source::{Array, Numbers, ReadOptions, Sparse};
use crate::tests::{csv, feature};
use crate::{Error, Loss, Source};

fn source(text: &str) -> Source {
    csv(text, &ReadOptions::default())
}

fn ask() -> Ask {
    Ask { path: PathBuf::from("d.csv"), ..Ask::default() }
}

fn target(name: &str) -> Ask {
    Ask { target: Some(name.into()), ..ask() }
}

fn problem(text: &str, ask: &Ask) -> String {
    Dataset::new(source(text), ask).unwrap_err().to_string()
}

fn array(numbers: Numbers, rows: usize, columns: usize, layout: Layout) -> Source {
    Source::Array(Array { numbers, rows, columns, layout, is_vector: false })
}

/// The columns of a design, through its products.
fn columns(design: &AnyDesign<'_>) -> Vec<Vec<f64>> {
    let n = design.domain();
    let column = |j: usize| {
        let mut out = vec![0.0; design.n_outputs()];
        design.apply(&SparseVec::new(n, vec![j], vec![1.0]).unwrap(), &mut out);
        out
    };
    (0..n).map(column).collect()
}

fn names(data: &Dataset) -> Vec<&str> {
    data.features.iter().map(|f| f.name.as_str()).collect()
}

fn group(name: &str, members: &[usize]) -> Group {
    Group { name: name.into(), members: members.into() }
}

const PEOPLE: &str = "id,age,city,y,w\n7,30,Bonn,1.5,1\n8,40,Ulm,2.5,2\n9,50,Bonn,3.5,0\n10,60,Aachen,4.5,1\n";

#[test]
fn a_table_becomes_a_design() {
    let ask = Ask { weights: Some("w".into()), drop: vec!["id".into()], always: vec!["age".into()], ..target("y") };
    let data = Dataset::new(source(PEOPLE), &ask).unwrap();
    assert_eq!(names(&data), ["age", "city=Bonn", "city=Ulm"]);
    let expected = [[30.0, 40.0, 50.0, 60.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    assert_eq!(columns(&data.design().unwrap()), expected);
    let target = Target { name: "y".into(), values: vec![1.5, 2.5, 3.5, 4.5], classes: None, responses: Vec::new() };
    assert_eq!(data.target, Some(target));
    assert_eq!(data.weights, Some(vec![1.0, 2.0, 0.0, 1.0]));
    assert_eq!(data.groups, Some(vec![group("age", &[0]), group("city", &[1, 2])]));
    assert_eq!((data.always.as_slice(), data.rows.as_slice()), (&[0][..], &[0, 1, 2, 3][..]));
    assert_eq!(data.notes, ["indicators for 1 categorical column: city (3 levels, against Aachen)"]);
    assert_eq!(data.levels["city"], ["Aachen", "Bonn", "Ulm"]);
}

#[test]
fn columns_are_named_by_number_too() {
    let ask = Ask { drop: vec!["1".into(), "3".into(), "w".into()], ..target("4") };
    let data = Dataset::new(source(PEOPLE), &ask).unwrap();
    assert_eq!(names(&data), ["age"]);
    assert_eq!(data.target.unwrap().name, "y");
    assert_eq!(data.groups, None);
}

#[test]
fn all_indicators_of_a_column_are_always_there() {
    let data = Dataset::new(source(PEOPLE), &Ask { always: vec!["city".into()], ..target("y") }).unwrap();
    assert_eq!(names(&data), ["id", "age", "city=Bonn", "city=Ulm", "w"]);
    assert_eq!(data.always, [2, 3]);
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let unknown = |ask: &Ask| problem(PEOPLE, ask);
    assert_eq!(
        unknown(&target("agee")),
        "d.csv: no column is called \"agee\" (--target); did you mean \"age\"? There are: id, age, city, y, w"
    );
    assert!(unknown(&Ask { weights: Some("ww".into()), ..target("y") }).contains("(--weights); did you mean \"w\"?"));
    assert!(unknown(&Ask { drop: vec!["ide".into()], ..target("y") }).contains("(--drop); did you mean \"id\"?"));
    assert!(
        unknown(&Ask { always: vec!["citty".into()], ..target("y") }).contains("(--always); did you mean \"city\"?")
    );
    assert!(unknown(&Ask { categorical: vec!["ag".into()], ..target("y") }).contains("(--categorical); did you mean"));
    assert!(unknown(&Ask { always: vec!["y".into()], ..target("y") }).contains("\"y\" (--always) is the target"));
}

#[test]
fn an_identifier_is_refused_unless_it_is_meant() {
    let text = "name,y\nann,1\nbob,2\ncid,3\ndan,4\neve,5\n";
    assert_eq!(
        problem(text, &target("y")),
        "d.csv, column 1 (name): 5 different words in 5 rows: most likely an identifier; leave it out (--drop name), \
         or say that it holds categories (--categorical name)"
    );
    let ask = Ask { categorical: vec!["name".into()], ..target("y") };
    assert_eq!(Dataset::new(source(text), &ask).unwrap().features.len(), 4);
    let many: String = (0..1000).map(|i| format!("w{},{i}\n", i % 101)).collect();
    assert!(problem(&format!("name,y\n{many}"), &target("y")).contains("101 different words in 1000 rows"));
    let mixed: String =
        (0..100).map(|i| if i % 4 == 0 { format!("unknown,{i}\n") } else { format!("{i},{i}\n") }).collect();
    assert!(
        problem(&format!("a,y\n{mixed}"), &target("y"))
            .ends_with("\"unknown\" (25 times) among 75 numbers; correct them, or say --na-values unknown (missing) or --categorical a (categories)")
    );
    // what may be a predictor is not to be left out for its form
    let lengths: String = (0..20).map(|i| format!("{}m30,{i}\n", i + 1)).collect();
    assert_eq!(
        problem(&format!("at,y\n{lengths}"), &target("y")),
        "d.csv, column 1 (at): 20 different words in 20 rows, such as \"10m30\": numbers in a form that is not known? \
         Write plain numbers (a unit belongs in the header); if they are categories, say --categorical at, if they name \
         the rows, --drop at"
    );
}

#[test]
fn numbers_that_are_categories() {
    let ask = Ask { categorical: vec!["a".into()], ..target("y") };
    let data = Dataset::new(source("a,y\n10,1\n2,2\n10,3\n-1,4\n"), &ask).unwrap();
    assert_eq!(names(&data), ["a=2", "a=10"]);
    assert_eq!(data.levels["a"], ["-1", "2", "10"]);
}

#[test]
fn a_single_word_is_no_feature() {
    let data = Dataset::new(source("a,b,y\nx,1,1\nx,2,2\n"), &target("y")).unwrap();
    assert_eq!(names(&data), ["b"]);
    assert_eq!(data.notes, ["1 column of a single word left out: a"]);
    assert!(problem("a,y\nx,1\nx,2\n", &target("y")).contains("no column is left"));
    assert!(problem("y\n1\n2\n", &target("y")).contains("no column is left"));
}

#[test]
fn a_column_must_not_be_called_like_an_indicator() {
    let message = problem("a,a=v,y\nu,1,1\nv,2,2\n", &target("y"));
    assert_eq!(message, "d.csv: column and indicator are both called \"a=v\"; rename the column");
}

const GAPS: &str = "a,b,c,y\n1,,u,1\n,5,v,2\n3,6,,3\n5,7,u,\n7,8,v,5\n9,10,u,6\n";

#[test]
fn missing_values_are_refused_and_counted() {
    assert_eq!(
        problem(GAPS, &target("y")),
        "d.csv: 4 missing values in 4 columns: a (1), b (1), c (1), y (1); replace them by means (--missing mean) or \
         leave their rows out (--missing drop)"
    );
    let wide: String = (0..7).map(|i| format!("c{i},")).collect();
    let message = problem(&format!("{wide}y\n,,,,,,,1\n1,1,1,1,1,1,1,2\n,1,1,1,1,1,1,2\n"), &target("y"));
    assert!(
        message.contains("8 missing values in 7 columns: c0 (2), c1 (1), c2 (1), c3 (1), c4 (1) and 2 more;"),
        "{message}"
    );
}

#[test]
fn missing_values_become_means() {
    let data = Dataset::new(source(GAPS), &Ask { missing: Missing::Mean, ..target("y") }).unwrap();
    assert_eq!(data.rows, [0, 1, 2, 4, 5]);
    assert_eq!(names(&data), ["a", "b", "c=v", "c=(missing)"]);
    let a = [1.0, 5.0, 3.0, 7.0, 9.0];
    let b = [7.25, 5.0, 6.0, 8.0, 10.0];
    assert_eq!(columns(&data.design().unwrap())[..2], [a, b]);
    assert_eq!(columns(&data.design().unwrap())[3], [0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(data.means, Some(vec![5.0, 7.25, 0.4, 0.2]));
    assert_eq!(data.target.unwrap().values, [1.0, 2.0, 3.0, 5.0, 6.0]);
    assert_eq!(data.notes[0], "1 row without a target or weight left out");
    assert!(data.notes[1].starts_with("3 missing values replaced by the column's mean"), "{:?}", data.notes);
    let empty = problem("a,b,y\n,1,1\n,2,2\n", &Ask { missing: Missing::Mean, ..target("y") });
    assert_eq!(empty, "d.csv: 1 column without any value, so without a mean: a; leave out what is empty (--drop a)");
}

#[test]
fn rows_with_missing_values_are_left_out() {
    let data = Dataset::new(source(GAPS), &Ask { missing: Missing::Drop, ..target("y") }).unwrap();
    assert_eq!(data.rows, [4, 5]);
    assert_eq!(columns(&data.design().unwrap()), [[7.0, 9.0], [8.0, 10.0], [1.0, 0.0]]);
    assert_eq!(
        data.notes[..2],
        ["1 row without a target or weight left out", "3 rows with missing values left out, 2 remain"]
    );
    let nothing = problem("a,y\n,1\n,2\n", &Ask { missing: Missing::Drop, ..target("y") });
    assert_eq!(nothing, "d.csv: every row has a missing value (a (2)); leave columns out (--drop)");
    // what is dropped may miss anything
    let data = Dataset::new(source("a,b,y\n,1,1\n,2,2\n"), &Ask { drop: vec!["a".into()], ..target("y") });
    assert_eq!(data.unwrap().rows, [0, 1]);
}

#[test]
fn infinity_is_refused_with_its_place() {
    assert_eq!(
        problem("a,y\n1,1\n\n-inf,2\n", &target("y")),
        "d.csv, line 4, column 1 (a): -inf is not a finite number; correct it, or say --na-values -inf (missing)"
    );
    assert!(
        problem("a,y\n1,1\n2,inf\n", &target("y")).starts_with("d.csv, line 3, column 2 (y): inf, but squares need")
    );
    let numbers = Numbers::F32(vec![1.0, 2.0, f32::INFINITY, 4.0].into());
    let message = Dataset::new(array(numbers, 2, 2, Layout::RowMajor), &target("x2")).unwrap_err().to_string();
    assert!(message.starts_with("d.csv, row 2, column 1: inf is not a finite number"), "{message}");
}

#[test]
fn a_target_of_words_is_no_regression() {
    assert_eq!(
        problem("a,y\n1,yes\n2,no\n", &target("y")),
        "d.csv, line 2, column 2 (y): \"yes\", but squares need a target of finite numbers (for two classes: --loss \
         logistic)"
    );
}

#[test]
fn two_classes_are_sorted() {
    let classes = |text: &str| {
        let data = Dataset::new(source(text), &Ask { loss: Loss::Logistic, ..target("y") })?;
        let target = data.target.unwrap();
        Ok::<_, Error>((target.values, target.classes.unwrap()))
    };
    let words = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    assert_eq!(classes("a,y\n1,yes\n2,no\n3,yes\n").unwrap(), (vec![1.0, 0.0, 1.0], words("no", "yes")));
    assert_eq!(classes("a,y\n1,10\n2,9\n3,9.0\n").unwrap(), (vec![1.0, 0.0, 0.0], words("9", "10")));
    assert_eq!(classes("a,y\n1,0\n2,-0\n3,-1\n").unwrap(), (vec![1.0, 1.0, 0.0], words("-1", "0")));
    assert_eq!(
        classes("a,y\n1,x\n2,x\n").unwrap_err().to_string(),
        "d.csv: two classes need a target of exactly two different values; \"y\" has 1 different value: x (2 rows)"
    );
    assert_eq!(
        classes("a,y\n1,3\n2,1\n3,2\n4,1\n").unwrap_err().to_string(),
        "d.csv: two classes need a target of exactly two different values; \"y\" has 3 different values: 1 (2 rows), \
         2 (1 row), 3 (1 row); for more than two: --loss multinomial, or --loss ordinal where they have an order"
    );
}

fn of_loss(loss: Loss, text: &str) -> Result<Dataset, Error> {
    Dataset::new(source(text), &Ask { loss, ..target("y") })
}

#[test]
fn more_classes_and_those_in_an_order() {
    let found = of_loss(Loss::Multinomial, "a,y\n1,c\n2,a\n3,b\n4,a\n5,b\n").unwrap();
    let many = found.target.unwrap();
    assert_eq!(
        (many.values, many.classes.unwrap()),
        (vec![2.0, 0.0, 1.0, 0.0, 1.0], vec!["a".into(), "b".into(), "c".into()])
    );
    assert!(found.warnings[0].starts_with("class c of y has one row only (line 2)"), "{:?}", found.warnings);
    let order = ["low", "mid", "high"].map(str::to_owned).to_vec();
    let ask = Ask { loss: Loss::Ordinal, order: order.clone(), ..target("y") };
    let text = "a,y\n1,low\n2,high\n3,mid\n4,high\n5,low\n6,mid\n";
    let found = Dataset::new(source(text), &ask).unwrap().target.unwrap();
    assert_eq!((found.values, found.classes.unwrap()), (vec![0.0, 2.0, 1.0, 2.0, 0.0, 1.0], order));
    let error = of_loss(Loss::Ordinal, text).unwrap_err().to_string();
    assert!(error.contains("--order") && error.contains("high, low, mid"), "{error}");
    let error = Dataset::new(source(&text.replace("4,high", "4,huge")), &ask).unwrap_err().to_string();
    assert!(error.contains("line 5") && error.contains("\"huge\"") && error.contains("low, mid, high"), "{error}");
    let numbers = of_loss(Loss::Ordinal, "a,y\n1,10\n2,9\n3,10\n4,9\n").unwrap().target.unwrap();
    assert_eq!(numbers.classes.unwrap(), ["9", "10"]);
    let error = of_loss(Loss::Multinomial, "a,y\n1,x\n2,x\n").unwrap_err().to_string();
    assert_eq!(error, "d.csv: \"y\" is x in every row (2 rows): one class only, and two are needed to tell them apart");
}

#[test]
fn targets_are_what_their_loss_needs() {
    for (loss, text, expected) in [
        (Loss::Poisson, "a,y\n1,3\n2,-2\n", "d.csv, line 3, column 2 (y): -2, but a count is a number, 0 or more"),
        (Loss::NegativeBinomial, "a,y\n1,0\n2,0\n", "d.csv: \"y\" is 0 in every row"),
        (Loss::Gamma, "a,y\n1,3\n2,0\n", "line 3, column 2 (y): 0, but an amount is a number above 0"),
        (Loss::Cox, "a,y\n1,0\n2,3\n", "line 2, column 2 (y): 0, but a time is a number above 0"),
        (Loss::Huber, "a,y\n1,u\n2,v\n", "line 2, column 2 (y): \"u\", but this loss needs a target of finite numbers"),
    ] {
        let error = of_loss(loss, text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_known_of_rows_is_no_feature() {
    let rows = RowColumns {
        event: Some("e".into()),
        strata: Some("s".into()),
        entry: Some("4".into()),
        offset: Some("o".into()),
        exposure: None,
    };
    let ask = Ask { loss: Loss::Cox, rows, folds: Some("f".into()), ..target("t") };
    let text = "t,e,s,start,o,f,a\n5,yes,u,0,0.5,p,1\n6,No,v,1,0.25,q,2\n7,yes,u,2,0,p,4\n";
    let data = Dataset::new(source(text), &ask).unwrap();
    assert_eq!(data.features.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a"]);
    let known = &data.known;
    assert_eq!(known.events, Some(vec![true, false, true]));
    assert_eq!(known.strata.as_ref().unwrap(), &Strata { levels: vec!["u".into(), "v".into()], codes: vec![0, 1, 0] });
    assert_eq!((known.entries.clone(), known.offset.clone()), (Some(vec![0.0, 1.0, 2.0]), Some(vec![0.5, 0.25, 0.0])));
    assert_eq!((known.folds.clone(), known.names.entry.as_deref()), (Some(vec![0, 1, 0]), Some("start")));
    let error = |from: &str, to: &str| Dataset::new(source(&text.replace(from, to)), &ask).unwrap_err().to_string();
    let other = Dataset::new(source(&text.replace("7,yes", "7,no")), &ask).unwrap();
    assert_ne!(other.fingerprint().checksum, data.fingerprint().checksum);
    for (from, to, expected) in [
        ("7,yes", "7,maybe", "line 4, column 2 (e): \"maybe\", but an event is 1"),
        ("yes", "no", "no row has an event"),
        ("1,0.25", "6,0.25", "line 3, column 4 (start): 6, but a row enters before its time"),
        (
            "1,0.25",
            "1,",
            "line 3, column 5 (o): the offset is missing; fill it in, or leave such rows out (--missing drop)",
        ),
    ] {
        assert!(error(from, to).contains(expected), "{}", error(from, to));
    }
    let dropped = Dataset::new(source(&text.replace("1,0.25", "1,")), &Ask { missing: Missing::Drop, ..ask.clone() });
    let dropped = dropped.unwrap();
    assert_eq!((dropped.rows, dropped.known.events), (vec![0, 2], Some(vec![true, true])));
    let numbers = |events: [&str; 3]| {
        let text = text.replace("yes,u,0", &format!("{},u,0", events[0]));
        let text = text.replace("No", events[1]).replace("yes", events[2]);
        Dataset::new(source(&text), &ask).map(|data| (data.known.events.unwrap(), data.notes))
    };
    assert_eq!(numbers(["1", "0", "1"]).unwrap(), (vec![true, false, true], vec![]));
    let (events, notes) = numbers(["2", "1", "2"]).unwrap();
    assert_eq!((events, notes), (vec![true, false, true], vec!["e is 1 and 2, as R has it: 2 is the event".into()]));
    assert!(numbers(["2", "0", "1"]).unwrap_err().to_string().contains("line 2, column 2 (e): 2, but an event is 1"));
    let rows = RowColumns { exposure: Some("x".into()), ..RowColumns::default() };
    let ask = Ask { loss: Loss::Poisson, rows, ..target("y") };
    let error = Dataset::new(source("y,x,a\n1,2,3\n2,0,4\n"), &ask).unwrap_err().to_string();
    assert!(error.contains("line 3, column 2 (x): 0, but an exposure is above 0"), "{error}");
}

#[test]
fn weights_are_checked() {
    let with = |weights: [&str; 2]| {
        let text = format!("a,y,w\n1,1,{}\n2,2,{}\n", weights[0], weights[1]);
        problem(&text, &Ask { weights: Some("w".into()), ..target("y") })
    };
    assert_eq!(with(["1", "-2"]), "d.csv, line 3, column 3 (w): -2, but a weight is a finite number, 0 or more");
    assert!(with(["1", "inf"]).starts_with("d.csv, line 3, column 3 (w): inf, but a weight"));
    assert!(with(["x", "y"]).starts_with("d.csv, line 2, column 3 (w): \"x\", but a weight"));
    assert_eq!(with(["0", "0"]), "d.csv: every weight (\"w\") is 0; at least one must be more");
    assert!(with(["", "1"]).starts_with("d.csv: 1 missing value in 1 column: w (1)"));
}

fn is_borrowed(data: &Dataset, pointer: *const f32) -> bool {
    matches!(&data.storage.held, Held::Dense(Array { numbers: Numbers::F32(v), .. }) if v.as_ptr() == pointer)
}

#[test]
fn an_array_is_not_copied_unless_something_is_taken_out() {
    for layout in [Layout::ColumnMajor, Layout::RowMajor] {
        let numbers = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let pointer = numbers.as_ptr();
        let data = Dataset::new(array(Numbers::F32(numbers.into()), 3, 2, layout), &ask()).unwrap();
        assert!(is_borrowed(&data, pointer));
        assert_eq!(names(&data), ["x1", "x2"]);
        assert!(matches!(data.design().unwrap(), AnyDesign::F32(_)));
        let numbers = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let data = Dataset::new(array(Numbers::F32(numbers.into()), 3, 2, layout), &target("1")).unwrap();
        let (x, y) = match layout {
            Layout::ColumnMajor => ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]),
            Layout::RowMajor => ([2.0, 4.0, 6.0], [1.0, 3.0, 5.0]),
        };
        assert_eq!((names(&data), columns(&data.design().unwrap())), (vec!["x2"], vec![x.to_vec()]));
        assert_eq!(data.target.as_ref().unwrap().values, y);
        assert!(matches!(data.design().unwrap(), AnyDesign::F32(_)));
    }
}

#[test]
fn an_array_may_miss_values() {
    let nan = f64::NAN;
    let gaps = || array(Numbers::F64(vec![1.0, nan, 3.0, 7.0, 8.0, 9.0].into()), 3, 2, Layout::ColumnMajor);
    let with = |missing| Dataset::new(gaps(), &Ask { missing, ..ask() });
    assert!(with(Missing::Refuse).unwrap_err().to_string().contains("1 missing value in 1 column: x1 (1)"));
    let data = with(Missing::Mean).unwrap();
    assert_eq!(columns(&data.design().unwrap()), [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]]);
    let data = with(Missing::Drop).unwrap();
    assert_eq!(
        (columns(&data.design().unwrap()), data.rows.as_slice()),
        (vec![vec![1.0, 3.0], vec![7.0, 9.0]], &[0, 2][..])
    );
}

/// A part of a matrix is the same part, whichever way the numbers lie: over several blocks of rows, with gaps.
#[test]
fn a_part_of_an_array_is_the_same_in_either_order() {
    let (m, n) = (150, 5);
    let at = |i: usize, j: usize| {
        if (i * n + j).is_multiple_of(41) { f64::NAN } else { (i * 31 + j * 17) as f64 % 23.0 - 7.0 }
    };
    let by_rows: Vec<f64> = (0..m * n).map(|e| at(e / n, e % n)).collect();
    let by_columns: Vec<f64> = (0..m * n).map(|e| at(e % m, e / m)).collect();
    for missing in [Missing::Mean, Missing::Drop] {
        let ask = Ask { missing, drop: vec!["3".into()], ..ask() };
        let rows = Dataset::new(array(Numbers::F64(by_rows.clone().into()), m, n, Layout::RowMajor), &ask).unwrap();
        let other =
            Dataset::new(array(Numbers::F64(by_columns.clone().into()), m, n, Layout::ColumnMajor), &ask).unwrap();
        assert_eq!(rows.means, other.means);
        let found = columns(&rows.design().unwrap());
        assert_eq!(found, columns(&other.design().unwrap()));
        for (place, &j) in [0, 1, 3, 4].iter().enumerate() {
            let there: Vec<f64> = (0..m).map(|i| at(i, j)).filter(|v| !v.is_nan()).collect();
            let mean = there.iter().sum::<f64>() / there.len() as f64;
            let expected: Vec<f64> =
                rows.rows.iter().map(|&i| if at(i, j).is_nan() { mean } else { at(i, j) }).collect();
            assert_eq!(found[place], expected, "{missing:?}, column {j}");
        }
    }
}

fn sparse(labels: Option<Vec<f64>>, value: f64) -> Sparse {
    // [[1, 0], [0, value], [2, 0]]
    Sparse { rows: 3, columns: 2, starts: vec![0, 2, 3], indices: vec![0, 2, 1], values: vec![1.0, 2.0, value], labels }
}

#[test]
fn a_sparse_matrix_brings_its_labels() {
    let data =
        Dataset::new(Source::Sparse(sparse(Some(vec![1.0, -1.0, 1.0]), 3.0)), &Ask { loss: Loss::Logistic, ..ask() });
    let data = data.unwrap();
    assert!(matches!(data.design().unwrap(), AnyDesign::Sparse(_)));
    assert_eq!(columns(&data.design().unwrap()), [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]);
    let labels = data.target.unwrap();
    assert_eq!((labels.values, labels.classes), (vec![1.0, 0.0, 1.0], Some(vec!["-1".into(), "1".into()])));
    let gaps = || Source::Sparse(sparse(None, f64::NAN));
    let data = Dataset::new(gaps(), &Ask { missing: Missing::Mean, ..ask() }).unwrap();
    assert_eq!(columns(&data.design().unwrap())[1], [0.0, 0.0, 0.0]);
    let data = Dataset::new(gaps(), &Ask { missing: Missing::Drop, ..target("x2") }).unwrap();
    assert_eq!((columns(&data.design().unwrap()), data.target.unwrap().values), (vec![vec![1.0, 2.0]], vec![0.0, 0.0]));
}

#[test]
fn named_arrays() {
    let matrix = |v: f64| Array {
        numbers: Numbers::F64(vec![v; 4].into()),
        rows: 2,
        columns: 2,
        layout: Layout::RowMajor,
        is_vector: false,
    };
    let vector = |n: usize| Array {
        numbers: Numbers::F32(vec![2.0; n].into()),
        rows: n,
        columns: 1,
        layout: Layout::RowMajor,
        is_vector: true,
    };
    let with = |arrays: Vec<(&str, Array)>, ask: &Ask| {
        let arrays = arrays.into_iter().map(|(name, a)| (name.to_owned(), a)).collect();
        Dataset::new(Source::Arrays { arrays, sparse: None }, ask)
    };
    let data = with(vec![("y", vector(2)), ("data", matrix(1.0))], &target("y")).unwrap();
    assert_eq!((names(&data), data.target.clone().unwrap().values), (vec!["x1", "x2"], vec![2.0, 2.0]));
    let data = with(vec![("other", matrix(1.0)), ("X", matrix(3.0))], &ask()).unwrap();
    assert_eq!(columns(&data.design().unwrap())[0], [3.0, 3.0]);
    let problem = |arrays, ask: &Ask| with(arrays, ask).unwrap_err().to_string();
    assert!(problem(vec![("a", matrix(1.0)), ("b", matrix(1.0))], &ask()).contains("several matrices"));
    assert!(problem(vec![("a", vector(1))], &ask()).contains("no matrix and no array called X"));
    assert_eq!(
        problem(vec![("yy", vector(2)), ("X", matrix(1.0))], &target("yyy")),
        "d.csv: no column is called \"yyy\" (--target); did you mean \"yy\"? There are: yy, x1, x2"
    );
    assert_eq!(
        problem(vec![("y", vector(3)), ("X", matrix(1.0))], &target("y")),
        "d.csv: \"y\" has 3 values, d.csv has 2 rows; one each is wanted"
    );
    let sparse = Dataset::new(
        Source::Arrays { arrays: vec![("y".into(), vector(3))], sparse: Some(sparse(None, 1.0)) },
        &target("y"),
    );
    assert_eq!(sparse.unwrap().target.unwrap().values, [2.0, 2.0, 2.0]);
}

#[test]
fn the_target_in_a_file_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let one = file("one.csv", "height\n1\n2\n");
    let two = file("two.csv", "u,v\n1,5\n2,6\n");
    let short = file("short.csv", "1\n");
    let with = |path: &Path, target: Option<&str>| {
        let ask = Ask { target_file: Some(path.into()), target: target.map(Into::into), ..ask() };
        Dataset::new(source("a,b\n1,2\n3,5\n"), &ask)
    };
    let found = with(&one, None).unwrap().target.unwrap();
    assert_eq!((found.name.as_str(), found.values), ("height", vec![1.0, 2.0]));
    assert_eq!(with(&two, Some("v")).unwrap().target.unwrap().values, [5.0, 6.0]);
    assert!(with(&two, None).unwrap_err().to_string().contains("two.csv has 2 columns; name the target's"));
    assert!(with(&short, None).unwrap_err().to_string().contains("has 1 value, d.csv has 2 rows"));
    assert!(with(&dir.path().join("none.csv"), None).is_err());
    let bad = file("bad.csv", "y\nyes\nno\n");
    assert!(with(&bad, None).unwrap_err().to_string().contains("bad.csv, line 2, column 1 (y): \"yes\", but squares"));
}

#[test]
fn the_fingerprint_is_of_the_data_not_of_their_storage() {
    let print = |source: Source| Dataset::new(source, &ask()).unwrap().fingerprint();
    let numbers = vec![1.0, 0.0, 2.0, -0.0, 3.0, 0.0];
    let by_row = vec![1.0_f32, 0.0, 0.0, 3.0, 2.0, 0.0];
    let first = print(array(Numbers::F64(numbers.into()), 3, 2, Layout::ColumnMajor));
    assert_eq!((first.rows, first.columns, first.checksum.len()), (3, 2, 16));
    assert_eq!(print(array(Numbers::F32(by_row.into()), 3, 2, Layout::RowMajor)), first);
    assert_eq!(print(Source::Sparse(sparse(None, 3.0))), first);
    assert_eq!(print(source("1,0\n0,3\n2,0\n")), first);
    assert_ne!(print(source("1,0\n0,3\n0,2\n")), first);
    assert_ne!(print(source("0,1\n3,0\n0,2\n")), first);
    assert_ne!(print(source("1,0\n0,3.0000000000000004\n2,0\n")), first);
    let with_target =
        |y: &str| Dataset::new(source(&format!("a,y\n1,{y}\n2,2\n")), &target("y")).unwrap().fingerprint();
    assert_ne!(with_target("1"), with_target("1.5"));
    assert_eq!(with_target("1"), with_target("1"));
}

fn expected(names: &[&str]) -> Expected {
    let levels = [("city".to_owned(), ["Aachen", "Bonn", "Ulm"].map(String::from).to_vec())].into();
    Expected { features: names.iter().map(|n| feature(n)).collect(), levels, ..Expected::default() }
}

#[test]
fn a_model_finds_its_columns_by_name() {
    let wanted = expected(&["city=Ulm", "age", "city=Bonn"]);
    let text = "more,city,age\nNA,Ulm,1\nx,Aachen,2\ny,Bonn,3\n";
    let data = Dataset::matching(source(text), &wanted, &ask()).unwrap();
    assert_eq!(names(&data), ["city=Ulm", "age", "city=Bonn"]);
    assert_eq!(columns(&data.design().unwrap()), [[1.0, 0.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]);
    assert!(data.notes.is_empty());
    let text = "city,age\nUlm,1\nKiel,2\nKiel,3\n";
    let data = Dataset::matching(source(text), &wanted, &ask()).unwrap();
    assert_eq!(columns(&data.design().unwrap())[2], [0.0, 0.0, 0.0]);
    assert!(data.notes[0].starts_with("2 rows with a level of city that the fit did not see, the first \"Kiel\""));
    assert_eq!(
        Dataset::matching(source("a,b\n1,2\n"), &wanted, &ask()).unwrap_err().to_string(),
        "d.csv lacks 2 columns that the model needs: city, age. There are: a, b"
    );
    assert_eq!(
        Dataset::matching(source("city,age\nUlm,old\nUlm,young\n"), &wanted, &ask()).unwrap_err().to_string(),
        "d.csv, line 2, column 2 (age): \"old\", but the model needs numbers in this column"
    );
}

#[test]
fn a_model_fills_gaps_with_the_means_that_its_fit_saw() {
    let wanted = Expected { means: Some(vec![0.1, 42.0]), ..expected(&["city=Ulm", "age"]) };
    let text = "city,age\nUlm,\n,2\n";
    let data = Dataset::matching(source(text), &wanted, &Ask { missing: Missing::Mean, ..ask() }).unwrap();
    assert_eq!(columns(&data.design().unwrap()), [[1.0, 0.0], [42.0, 2.0]]);
    assert!(Dataset::matching(source(text), &wanted, &ask()).unwrap_err().to_string().contains("2 missing values"));
    let both = Expected { means: Some(vec![0.1, 0.2]), ..expected(&["city=Ulm", "city=Bonn"]) };
    let message = Dataset::matching(source("city\nUlm\n?\n"), &both, &ask()).unwrap_err().to_string();
    assert!(message.contains("1 missing value in 1 column: city (1)"), "{message}");
    let kept = Dataset::matching(source("city,age\nUlm,\nUlm,2\n"), &wanted, &Ask { missing: Missing::Drop, ..ask() });
    assert_eq!(kept.unwrap().rows, [1]);
}

#[test]
fn a_model_knows_its_classes() {
    let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
    let wanted = Expected { classes, ..expected(&["age"]) };
    // a single class is fine here
    let data = Dataset::matching(source("age,y\n1,yes\n2,yes\n"), &wanted, &target("y")).unwrap();
    assert_eq!(data.target.unwrap().values, [1.0, 1.0]);
    let data = Dataset::matching(source("age,y\n1,no\n2,maybe\n3,\n"), &wanted, &target("y")).unwrap();
    let observed = data.target.unwrap().values;
    assert!(observed[0] == 0.0 && observed[1..].iter().all(|v| v.is_nan()), "{observed:?}");
    assert_eq!(data.notes, ["1 row in which y is not no or yes: predicted, and not scored"]);
}

/// The target is used where it is there, and no row is left out for want of it.
#[test]
fn a_model_finds_its_target_where_the_file_has_it() {
    let wanted = Expected { target: Some("y".into()), ..expected(&["age"]) };
    let observed = |text: &str| {
        let data = Dataset::matching(source(text), &wanted, &ask()).unwrap();
        (data.rows.len(), data.target.map(|t| t.values), data.notes)
    };
    let (rows, values, notes) = observed("age,y\n1,5\n2,\n3,7\n");
    let values = values.unwrap();
    assert!(rows == 3 && values[0] == 5.0 && values[1].is_nan() && values[2] == 7.0 && notes.is_empty(), "{values:?}");
    assert_eq!(observed("age\n1\n2\n"), (2, None, vec![]));
    let (rows, values, notes) = observed("age,y\n1,low\n2,high\n3,low\n");
    assert_eq!((rows, values), (3, None));
    assert_eq!(notes, ["3 rows in which y is not a number: predicted, and not scored"]);
    // asked for by another name it must be there
    assert!(Dataset::matching(source("age\n1\n"), &wanted, &target("z")).is_err());
}

#[test]
fn a_model_of_no_feature_predicts_for_every_row() {
    let data = Dataset::matching(source("a\n1\n2\n"), &Expected::default(), &ask()).unwrap();
    assert_eq!((data.rows.len(), data.features.len()), (2, 0));
}

#[test]
fn columns_without_names_are_found_by_their_places() {
    let wanted = Expected { unnamed_columns: Some(4), target: Some("x2".into()), ..expected(&["x4", "x1"]) };
    let with = |columns: usize| {
        let numbers = Numbers::F64((0..columns).map(|v| v as f64).collect::<Vec<_>>().into());
        Dataset::matching(array(numbers, 1, columns, Layout::RowMajor), &wanted, &ask())
    };
    assert_eq!(columns(&with(4).unwrap().design().unwrap()), [[3.0], [0.0]]);
    // without the target the others move up
    assert_eq!(columns(&with(3).unwrap().design().unwrap()), [[2.0], [0.0]]);
    for n in [2, 5] {
        let message = with(n).unwrap_err().to_string();
        assert!(message.contains("without names; the model was made from 4"), "{message}");
    }
}

#[test]
fn a_picture_is_no_table() {
    let picture = crate::source::Picture { rows: 1, columns: 1, channels: vec![vec![0.0]], seen: vec![true] };
    let message = Dataset::new(Source::Picture(picture), &ask()).unwrap_err().to_string();
    assert_eq!(message, "d.csv is a picture, not a table; `katoms complete` takes pictures");
}
