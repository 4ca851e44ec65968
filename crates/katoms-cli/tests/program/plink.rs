//! PLINK's files through the program, beside tables of the same numbers.

use crate::desk::Desk;

const INDIVIDUALS: usize = 50;
const VARIANTS: usize = 30;
/// Copies of allele 1, and `None` where unknown.
type Copies = Option<u8>;

/// Genotypes that nobody has seen: a few unknown, one variant of one allele, one that is unknown throughout.
fn copies(i: usize, j: usize) -> Copies {
    match ((i * 7919 + j * 104_729 + i * j * 31) % 1009, j) {
        (_, 20) => None,
        (_, 21) => Some(2),
        (v, j) if v < 40 && j % 2 == 0 => None,
        (v, _) => Some((v % 3) as u8),
    }
}

fn number(i: usize, j: usize) -> f64 {
    let known: Vec<f64> = (0..INDIVIDUALS).filter_map(|i| copies(i, j)).map(f64::from).collect();
    copies(i, j).map_or(known.iter().sum::<f64>() / known.len().max(1) as f64, f64::from)
}

fn quantity(i: usize) -> f64 {
    let noise = ((i * 37) as f64).sin() * 0.2;
    (100.0 * (2.0 * number(i, 3) - 1.5 * number(i, 7) + number(i, 12) + 5.0 + noise)).round() / 100.0
}

fn bed(variants: usize, of: impl Fn(usize, usize) -> Copies) -> Vec<u8> {
    let mut bytes = vec![0x6c, 0x1b, 1];
    for j in 0..variants {
        for first in (0..INDIVIDUALS).step_by(4) {
            let mut byte = 0;
            for i in first..(first + 4).min(INDIVIDUALS) {
                let code = match of(i, j) {
                    Some(2) => 0b00,
                    Some(1) => 0b10,
                    Some(_) => 0b11,
                    None => 0b01,
                };
                byte |= code << (2 * (i - first));
            }
            bytes.push(byte);
        }
    }
    bytes
}

fn bim(variants: impl Iterator<Item = (usize, [&'static str; 2])>) -> String {
    variants.map(|(j, [a, b])| format!("1\trs{j}\t0\t{}\t{a}\t{b}\n", 1000 + j)).collect()
}

fn fam(phenotype: impl Fn(usize) -> String) -> String {
    (0..INDIVIDUALS).map(|i| format!("f{} {i} 0 0 1 {}\n", i % 7, phenotype(i))).collect()
}

fn cohort(desk: &Desk, phenotype: impl Fn(usize) -> String) {
    desk.write("cohort.bed", bed(VARIANTS, copies));
    desk.write("cohort.bim", bim((0..VARIANTS).map(|j| (j, ["A", "G"]))));
    desk.write("cohort.fam", fam(phenotype));
}

fn table(desk: &Desk, rows: impl Iterator<Item = usize>, target: impl Fn(usize) -> String) {
    let mut text = (0..VARIANTS).map(|j| format!("rs{j},")).collect::<String>() + "y\n";
    for i in rows {
        text += &((0..VARIANTS).map(|j| format!("{},", number(i, j))).collect::<String>() + &target(i) + "\n");
    }
    desk.write("table.csv", text);
}

fn coefficients(model: &serde_json::Value) -> Vec<(String, f64, Option<f64>)> {
    let of = |c: &serde_json::Value| {
        (c["name"].as_str().unwrap().to_owned(), c["value"].as_f64().unwrap(), c["mean"].as_f64())
    };
    let mut all: Vec<_> = model["coefficients"].as_array().unwrap().iter().map(of).collect();
    all.push(("(intercept)".into(), model["intercept"].as_f64().unwrap(), None));
    all
}

fn near(found: &[(String, f64, Option<f64>)], expected: &[(String, f64, Option<f64>)]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found.1 - expected.1).abs() < 1e-9, "{found:?} for {expected:?}");
    }
}

#[test]
fn a_fit_is_that_of_a_table_of_the_same_numbers() {
    let desk = Desk::new();
    cohort(&desk, |i| quantity(i).to_string());
    table(&desk, 0..INDIVIDUALS, |i| quantity(i).to_string());
    let expected = desk.succeeds("fit table.csv --target y -k 3 --json -q").json();
    for name in ["cohort.bed", "cohort.bim", "cohort.fam", "cohort"] {
        let said = desk.succeeds(&format!("fit {name} -k 3 --json"));
        let model = &said.json()["model"];
        let found = coefficients(model);
        assert_eq!(found.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(), ["rs3_A", "rs7_A", "rs12_A", "(intercept)"]);
        assert_eq!(model["coefficients"][0]["column"], "rs3");
        assert_eq!((&model["target"]["name"], &model["missing"]), (&"phenotype".into(), &"mean".into()));
        near(&found, &coefficients(&expected["model"]));
        assert!((found[2].2.unwrap() - (0..INDIVIDUALS).map(|i| number(i, 12)).sum::<f64>() / 50.0).abs() < 1e-12);
        assert_eq!(model["data"]["checksum"], expected["model"]["data"]["checksum"], "the same numbers");
        said.tells(&["allele 1", "missing values replaced by the column's mean"]);
    }
    let said = desk.succeeds("cv cohort.bed -k 1..4 --always rs9 --drop rs7 --json -q").json();
    assert!(said["model"]["coefficients"].as_array().unwrap().iter().any(|c| c["column"] == "rs9"));
    desk.succeeds("path cohort -k 1..3 --report page.html -q");
    assert!(desk.read("page.html").contains("rs3_A"));
}

#[test]
fn cases_and_controls_are_classes_and_unknown_ones_are_left_out() {
    let desk = Desk::new();
    let unknown = |i: usize| i % 9 == 4;
    let class = |i: usize| if quantity(i) + (i as f64 * 2.3).sin() * 3.0 > 6.0 { 2 } else { 1 };
    let code = |i: usize| if unknown(i) { ["0", "-9", "NA"][i % 3].into() } else { class(i).to_string() };
    cohort(&desk, code);
    // means are those of the rows that remain
    desk.write("known.csv", {
        let known: Vec<usize> = (0..INDIVIDUALS).filter(|&i| !unknown(i)).collect();
        let mean = |j: usize| {
            let there: Vec<f64> = known.iter().filter_map(|&i| copies(i, j)).map(f64::from).collect();
            there.iter().sum::<f64>() / there.len().max(1) as f64
        };
        let value = |i: usize, j: usize| copies(i, j).map_or_else(|| mean(j), f64::from);
        let row = |&i: &usize| {
            (0..VARIANTS).map(|j| format!("{},", value(i, j))).collect::<String>() + &format!("{}\n", class(i))
        };
        (0..VARIANTS).map(|j| format!("rs{j},")).collect::<String>()
            + "y\n"
            + &known.iter().map(row).collect::<String>()
    });
    let expected = desk.succeeds("fit known.csv --target y -k 2 --loss logistic --json -q").json();
    let said = desk.succeeds("fit cohort.bed -k 2 --json --out model.json");
    let model = &said.json()["model"];
    assert_eq!(model["target"]["classes"], serde_json::json!(["control", "case"]));
    assert_eq!(model["data"]["rows"], 44);
    said.tells(&["6 rows without a target", "phenotype: ", " cases, "]);
    let (found, expected) = (coefficients(model), coefficients(&expected["model"]));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.1 - expected.1).abs() < 1e-6, "{found:?} for {expected:?}");
    }
    let predicted = desk.succeeds("predict model.json cohort.bed");
    assert!(
        predicted.out.starts_with("FID,IID,prediction,probability_control,probability_case\nf0,0,"),
        "{}",
        predicted.out
    );
    assert_eq!(predicted.out.lines().count(), 1 + INDIVIDUALS, "also of those whose phenotype is unknown");
    assert!(predicted.err.contains("phenotype is known in 44 rows: AUC"), "{}", predicted.err);
    let squares = desk.succeeds("fit cohort.bed -k 2 --loss squares --json -q --out squares.json").json();
    assert_eq!(squares["model"]["data"]["rows"], 44);
    let scored = desk.succeeds("predict squares.json cohort.bed --json -q").json();
    assert_eq!(scored["scores"]["rows"], 44);
    assert!(
        (scored["scores"]["r_squared"].as_f64().unwrap()
            - squares["run"]["on_the_rows_of_the_fit"]["r_squared"].as_f64().unwrap())
        .abs()
            < 1e-9
    );
}

#[test]
fn a_phenotype_may_come_from_a_file() {
    let desk = Desk::new();
    cohort(&desk, |_| "-9".into());
    desk.refuses_with("fit cohort.bed -k 3", &["unknown", "--target FILE"]);
    let rows: Vec<usize> = (0..INDIVIDUALS).rev().filter(|i| i % 10 != 3).collect();
    let line = |i: &usize| format!("f{} {i}  {} {}\n", i % 7, quantity(*i), i % 5);
    desk.write("two.txt", "#FID IID height weight\n".to_owned() + &rows.iter().map(line).collect::<String>());
    desk.refuses_with("fit cohort.bed -k 3 --target two.txt", &["height, weight", "--target two.txt:height"]);
    let said = desk.succeeds("fit cohort.bed -k 3 --target two.txt:height --json --out model.json");
    let model = &said.json()["model"];
    assert_eq!((&model["target"]["name"], &model["data"]["rows"]), (&"height".into(), &45.into()));
    assert_eq!(
        coefficients(model).iter().map(|c| c.0.as_str()).take(3).collect::<Vec<_>>(),
        ["rs3_A", "rs7_A", "rs12_A"]
    );
    assert!(said.err.contains("5 individuals of the .fam file not in two.txt"), "{}", said.err);
    let scored = desk.succeeds("predict model.json cohort.bed --target two.txt:height --json -q").json();
    assert_eq!((&scored["scores"]["rows"], scored["predictions"]["IID"].as_array().unwrap().len()), (&45.into(), 50));
    desk.refuses_with("predict model.json cohort.bed --target two.txt:height --out two.txt", &["two.txt is read"]);
    // the same by rows alone
    desk.write("y.txt", (0..INDIVIDUALS).map(|i| format!("{}\n", quantity(i))).collect::<String>());
    let all = desk.succeeds("fit cohort -k 3 --target y.txt --json -q").json();
    assert_eq!(all["model"]["data"]["rows"], 50);
    desk.write(
        "comma.csv",
        "FID,IID,y\n".to_owned() + &(0..50).map(|i| format!("f{},{i},{}\n", i % 7, quantity(i))).collect::<String>(),
    );
    let found = desk.succeeds("fit cohort -k 3 --target comma.csv --json -q").json();
    assert_eq!(coefficients(&found["model"]), coefficients(&all["model"]));

    for (text, words) in [
        ("FID IID y\nf0 0 1\nf0 0 2\n", "line 3: individual f0 0 is on line 2 already"),
        ("FID IID y\nf0 0 tall\n", "line 2, column 3 (y): \"tall\" is not a number; write NA or -9"),
        ("FID IID y\nf0 0\n", "line 2: 2 fields, but the first line has 3"),
        ("FID IID\nf0 0\n", "no column besides FID and IID"),
        ("FID IID y\nx 1 2\n", "no individual of the .fam file is in it: FID and IID are f0 0 there, x 1 here"),
        ("FID IID y\nf0 0 -9\n", "unknown"),
    ] {
        desk.write("bad.txt", text);
        desk.refuses_with("fit cohort.bed -k 3 --target bad.txt", &[words]);
    }
}

#[test]
fn covariates_are_in_every_model() {
    let desk = Desk::new();
    let age = |i: usize| 30 + i * 13 % 40;
    cohort(&desk, |i| (quantity(i) + 0.1 * age(i) as f64).to_string());
    let line = |i: usize| format!("f{} {i} {} 1\n", i % 7, age(i));
    desk.write("who.txt", "FID IID age batch\n".to_owned() + &(0..INDIVIDUALS).rev().map(line).collect::<String>());
    let said = desk.succeeds("fit cohort.bed -k 3 --covariates who.txt --json --out model.json");
    let model = &said.json()["model"];
    let names: Vec<String> = coefficients(model).into_iter().map(|c| c.0).collect();
    assert_eq!(names, ["rs3_A", "rs7_A", "rs12_A", "age", "(intercept)"]);
    assert!((coefficients(model)[3].1 - 0.1).abs() < 0.01);
    assert!(said.err.contains("covariate batch left out"), "{}", said.err);
    let predicted = desk.succeeds("predict model.json cohort.bed --covariates who.txt").out;
    let first: f64 = predicted.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert!((first - quantity(0) - 0.1 * age(0) as f64).abs() < 0.5, "{first}");
    desk.refuses_with("predict model.json cohort.bed", &["lacks 1 column that the model needs: age"]);
    let weighted = desk.succeeds("fit cohort.bed -k 3 --covariates who.txt --weights age --json -q").json();
    assert_eq!(weighted["model"]["coefficients"].as_array().unwrap().len(), 3);
    // a row for each individual
    desk.write("ages.csv", "age\n".to_owned() + &(0..INDIVIDUALS).map(|i| format!("{}\n", age(i))).collect::<String>());
    let same = desk.succeeds("fit cohort.bed -k 3 --covariates ages.csv --json -q").json();
    assert_eq!(coefficients(&same["model"]), coefficients(model));
    desk.write("few.csv", "age\n1\n2\n");
    desk.refuses_with("fit cohort.bed -k 3 --covariates few.csv", &["2 rows, but there are 50 individuals"]);
    desk.write("words.csv", "sex\n".to_owned() + &"f\nm\n".repeat(25));
    desk.refuses_with("fit cohort.bed -k 3 --covariates words.csv", &["\"sex\" holds words; covariates are numbers"]);
    table(&desk, 0..INDIVIDUALS, |i| quantity(i).to_string());
    desk.refuses_with("fit table.csv --target y -k 3 --covariates ages.csv", &["--always COLUMN"]);
}

#[test]
fn predictions_match_variants_by_id_and_alleles_by_name() {
    let desk = Desk::new();
    cohort(&desk, |i| quantity(i).to_string());
    desk.succeeds("fit cohort.bed -k 3 -q --out model.json");
    let predict = |words: &str| -> Vec<f64> {
        let said = desk.succeeds(&format!("predict model.json {words}"));
        said.out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    let said = desk.succeeds("predict model.json cohort").out;
    assert!(said.starts_with("FID,IID,prediction\nf0,0,") && said.contains("\nf3,10,"), "{said}");
    let expected = predict("cohort");
    assert_eq!(expected.len(), INDIVIDUALS);
    // in another order, with rs3 and rs12 the other way round
    let (order, swapped) = ([15, 12, 3, 7], |j: usize| j == 3 || j == 12);
    desk.write("other.bed", bed(4, |i, p| copies(i, order[p]).map(|n| if swapped(order[p]) { 2 - n } else { n })));
    desk.write("other.bim", bim(order.into_iter().map(|j| (j, if swapped(j) { ["G", "A"] } else { ["A", "G"] }))));
    desk.write("other.fam", fam(|_| "-9".into()));
    let found = predict("other.bed");
    // a table of plink --recode A has the names of the features
    let line = |i: usize| [7, 3, 12].map(|j| copies(i, j).map_or("NA".into(), |n| n.to_string())).join(",") + "\n";
    desk.write("other.csv", "rs7_A,rs3_A,rs12_A\n".to_owned() + &(0..INDIVIDUALS).map(line).collect::<String>());
    for found in [found, predict("other.csv --missing mean")] {
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }
    desk.write("other.bim", bim(order.into_iter().map(|j| (j, ["T", "C"]))));
    desk.refuses_with("predict model.json other", &["variant rs3 has the alleles T and C, but the model counts A"]);
    // of rs3 nobody has the allele that the model counts
    let none = |j: usize, n| if j == 3 { Some(0) } else { n };
    desk.write("other.bed", bed(4, |i, p| none(order[p], copies(i, order[p]))));
    desk.write("other.bim", bim(order.into_iter().map(|j| (j, ["A", "G"]))));
    let known = predict("other");
    desk.write("other.bim", bim(order.into_iter().map(|j| (j, [if j == 3 { "0" } else { "A" }, "G"]))));
    assert_eq!(predict("other"), known);
    let said = desk.succeeds("predict model.json other").err;
    assert!(said.contains("1 variant with one allele") && said.contains("rs3"), "{said}");
    // without two of the three
    desk.write("other.bed", bed(2, |i, p| copies(i, order[p + 2])));
    desk.write("other.bim", bim([15, 7].into_iter().map(|j| (j, ["A", "G"]))));
    desk.refuses_with("predict model.json other", &["lacks 2 columns that the model needs: rs3, rs12"]);
    desk.refuses_with("predict model.json cohort.bed --out cohort.fam", &["cohort.fam is read"]);
    desk.succeeds("fit other.csv --target rs7_A -k 1 --missing drop -q --out table.json");
    desk.refuses_with("predict table.json cohort.bed", &["lacks 1 column"]);
}

#[test]
fn missing_genotypes_may_be_refused_or_their_rows_left_out() {
    let desk = Desk::new();
    cohort(&desk, |i| quantity(i).to_string());
    desk.refuses_with("fit cohort.bed -k 3 --missing refuse", &["missing values in 13 columns", "rs20 (50)"]);
    desk.refuses_with("fit cohort.bed -k 3 --missing drop", &["every row has a missing value"]);
    let said = desk.succeeds("fit cohort.bed -k 3 --missing drop --drop rs20 --json");
    let complete = (0..INDIVIDUALS).filter(|&i| (0..VARIANTS).all(|j| j == 20 || copies(i, j).is_some())).count();
    assert_eq!(said.json()["model"]["data"]["rows"], complete);
}

#[test]
fn inspect_tells_what_is_there() {
    let desk = Desk::new();
    cohort(&desk, |i| if i == 0 { "0".into() } else { (1 + i % 2).to_string() });
    let said = desk.succeeds("inspect cohort.bed").out;
    for words in [
        "genotypes of PLINK",
        "50 rows × 30 columns",
        "25 cases and 24 controls",
        "2 variants are monomorphic",
        "missing, ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let json = desk.succeeds("inspect cohort --json").json();
    let variant = &json["columns_seen"][3];
    assert_eq!((&variant["name"], &variant["missing"]), (&"rs3 (A, G)".into(), &0.into()));
    assert_eq!(json["columns_seen"][20]["missing"], 50);
    assert!(json["columns_seen"][21]["constant"].as_bool().unwrap());
}

#[test]
fn files_that_do_not_go_together_are_refused_with_what_to_do() {
    let fresh = || {
        let desk = Desk::new();
        cohort(&desk, |i| quantity(i).to_string());
        desk
    };
    let says = |desk: &Desk, name: &str, words: &[&str]| {
        let said = desk.refuses(&format!("fit {name} -k 3"));
        words.iter().for_each(|words| assert!(said.contains(words), "{words}: {said}"));
    };
    for (gone, words) in [("cohort.bim", "no cohort.bim beside it"), ("cohort.fam", "no cohort.fam beside it")] {
        let desk = fresh();
        std::fs::remove_file(desk.path(gone)).unwrap();
        says(&desk, "cohort.bed", &[words, "--make-bed"]);
    }
    let desk = fresh();
    std::fs::remove_file(desk.path("cohort.bed")).unwrap();
    says(&desk, "cohort.fam", &["put cohort.bed beside it"]);
    says(&desk, "cohort.bed", &["put cohort.bed beside it"]);
    says(&desk, "cohorts.bed", &["there is no such file"]);

    let desk = fresh();
    let good = std::fs::read(desk.path("cohort.bed")).unwrap();
    let with = |at: usize, byte: u8| [&good[..at], &[byte], &good[at + 1..]].concat();
    for (bytes, words) in [
        (with(0, b'c'), &["not a .bed file of PLINK"][..]),
        (with(2, 0), &["individual after individual", "plink --bfile cohort --make-bed"]),
        (with(2, 7), &["the third byte is 7"]),
        (good[..good.len() - 1].to_vec(), &["29 variants of 50 individuals", "but the .bim file has 30", "cut off"]),
        ([&good[..], &[0; 13]].concat(), &["31 variants of 50 individuals"]),
        (good[..2].to_vec(), &["ends before its genotypes"]),
    ] {
        desk.write("cohort.bed", bytes);
        says(&desk, "cohort", words);
    }
    for (name, text, words) in [
        ("cohort.bim", "1 rs1 0 5 A\n", "cohort.bim, line 1: 5 fields, but 6 are wanted"),
        ("cohort.bim", "", "cohort.bim: the file is empty"),
        ("cohort.fam", "f 1 0 0 1 2\nf 1 0 0 1 2\n", "cohort.fam, line 2: individual f 1 is on line 1 already"),
        ("cohort.fam", "f 1 0 0 1 tall\n", "cohort.fam, line 1, field 6: \"tall\" is not a number"),
    ] {
        let desk = fresh();
        desk.write(name, text);
        says(&desk, "cohort.bed", &[words]);
    }
    // 49 to 52 individuals take as many bytes
    let desk = fresh();
    let lines = desk.read("cohort.fam");
    let line = lines.lines().next().unwrap().to_owned() + "\n";
    desk.write("cohort.fam", lines.replacen(&line, "", 1));
    says(&desk, "cohort.bed", &["behind those of the 49 individuals of the .fam file, which lacks lines"]);
    desk.write("cohort.fam", "f7 50 0 0 1 2.5\n".to_owned() + &lines);
    let said = desk.succeeds("fit cohort.bed -k 3").err;
    assert!(said.contains("is a line too many?"), "{said}");
    let desk = fresh();
    desk.write("cohort.fam", fam(|i| (i % 2).to_string()));
    says(&desk, "cohort.bed", &["1 different value: control (25 rows)", "PLINK codes controls as 1 and cases as 2"]);
    desk.refuses_with("fit cohort -k 3 --out cohort.bim", &["cohort.bim is read, and would be overwritten"]);
    desk.refuses_with("complete cohort.bed --rank 2 --out whole.csv", &["genotypes are not completed here"]);
}

#[test]
fn ids_that_come_again_are_told_apart() {
    let desk = Desk::new();
    cohort(&desk, |i| quantity(i).to_string());
    let name = |j: usize| {
        if j < 5 {
            "."
        } else if j < 14 {
            "same"
        } else {
            "same.2"
        }
    };
    desk.write("cohort.bim", (0..VARIANTS).map(|j| format!("2 {} 0 {} A G\n", name(j), 100 + j)).collect::<String>());
    let said = desk.succeeds("fit cohort.bed -k 3 --json");
    let names: Vec<String> = coefficients(&said.json()["model"]).into_iter().map(|c| c.0).collect();
    assert_eq!(names, ["2:103_A", "same.4_A", "same.9_A", "(intercept)"]);
    assert!(said.err.contains("23 variants with the id of an earlier one"), "{}", said.err);
}
