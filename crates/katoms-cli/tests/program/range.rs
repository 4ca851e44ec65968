//! Numbers near the ends of the range of double precision, in files: answered in their units, or refused by name.

use serde_json::Value;

use crate::desk::Desk;

/// A table of six columns and a target y of two of them, with weights; every value is multiplied as asked.
fn table(desk: &Desk, name: &str, factor: impl Fn(&str) -> f64) {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut text = "a,b,c,d,e,f,y,w\n".to_owned();
    for row in 0..40 {
        let x = names.map(|_| next());
        let y = 3.0 * x[0] - 2.0 * x[3] + 0.5 + 0.05 * next();
        let w = [1.0, 2.5, 0.5][row % 3];
        for (name, value) in names.iter().zip(x).chain([(&"y", y), (&"w", w)]) {
            let end = if *name == "w" { "\n" } else { "," };
            text += &format!("{:e}{end}", value * factor(name));
        }
    }
    desk.write(name, text);
}

fn coefficients(model: &Value) -> Vec<(String, f64)> {
    let all = model["coefficients"].as_array().unwrap();
    all.iter().map(|c| (c["name"].as_str().unwrap().to_owned(), c["value"].as_f64().unwrap())).collect()
}

const FIT: &str = "--target y -k 2 --drop w --json";

#[test]
fn a_fit_in_other_units_is_the_same_fit() {
    let desk = Desk::new();
    table(&desk, "plain.csv", |_| 1.0);
    let plain = desk.succeeds(&format!("fit plain.csv {FIT}")).json();
    let known = coefficients(&plain["model"]);
    assert_eq!(known.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(), ["a", "d"]);
    for (column, exponent) in [("y", 130), ("y", -120), ("a", 200), ("a", -170), ("d", 290), ("d", -290), ("b", 300)] {
        let factor = 10_f64.powi(exponent);
        table(&desk, "scaled.csv", |name| if name == column { factor } else { 1.0 });
        for words in ["fit scaled.csv", "path scaled.csv -k 1..3", "cv scaled.csv -k 1..3"] {
            let sizes = if words.starts_with("fit") { FIT } else { "--target y --drop w --json" };
            let said = desk.succeeds(&format!("{words} {sizes} --report r.html"));
            let model = &said.json()["model"];
            assert!(!said.out.contains("null,\n    \"quality\"") && model["objective"].is_f64(), "{}", said.out);
            let report = desk.read("r.html");
            assert!(!report.contains(">NaN<") && !report.contains(">inf<"), "{column} 1e{exponent}");
            if !words.starts_with("fit") {
                continue;
            }
            assert_eq!(model["status"], "converged");
            for ((name, found), (other, right)) in coefficients(model).iter().zip(&known) {
                let unit = match column {
                    "y" => factor,
                    _ if column == name => 1.0 / factor,
                    _ => 1.0,
                };
                assert_eq!(name, other);
                assert!((found / (right * unit) - 1.0).abs() < 1e-12, "{column} 1e{exponent}: {found} {right}");
            }
        }
        desk.succeeds(&format!("fit scaled.csv {FIT} --out m.json"));
        let predicted = desk.succeeds("predict m.json scaled.csv");
        assert!(!predicted.out.contains("inf") && !predicted.out.contains("NaN"));
    }
}

#[test]
fn what_no_number_can_hold_is_refused_by_name() {
    let desk = Desk::new();
    let told = |column: &'static str, factor: f64, words: &str| {
        table(&desk, "t.csv", |name| if name == column { factor } else { 1.0 });
        desk.refuses(words)
    };
    for factor in [1e155, 1e300, 1e-200] {
        for words in ["fit t.csv --target y -k 2", "path t.csv --target y -k 1..3", "cv t.csv --target y -k 1..3"] {
            let error = told("y", factor, words);
            assert!(error.contains("t.csv: the target y holds values of magnitude up to"), "{error}");
            assert!(error.contains("multiply it by 1e"), "{error}");
        }
    }
    for factor in [1e-308, 7e307] {
        let error = told("w", factor, "fit t.csv --target y -k 2 --weights w");
        assert!(error.contains("t.csv: the list of sample weights holds values"), "{error}");
    }
    let error = told("a", 1e200, "fit t.csv --target y -k 2 --drop w --no-standardize");
    assert!(
        error.contains("t.csv: column a holds values of magnitude up to") && error.contains("standardise"),
        "{error}"
    );
    table(&desk, "t.csv", |name| match name {
        "y" => 1e120,
        "a" => 1e-220,
        _ => 1.0,
    });
    desk.refuses_with("fit t.csv --target y -k 2 --drop w", &["the coefficient of column a is about 1e340"]);
}

#[test]
fn predictions_that_are_no_numbers_are_refused_with_their_place() {
    let desk = Desk::new();
    table(&desk, "plain.csv", |_| 1.0);
    desk.succeeds("fit plain.csv --target y -k 2 --drop w --out m.json");
    let mut model = desk.json("m.json");
    model["coefficients"][1]["value"] = 1e308.into();
    desk.write("large.json", model.to_string());
    desk.write("new.csv", "a,d\n1,1\n1,-0.5\n2,-25\n");
    desk.refuses_with(
        "predict large.json new.csv",
        &["row 3 of the data", "\"d\" is -2.5e1", "its coefficient in the model is 1e308"],
    );
    desk.refuses_with("predict large.json new.csv --out p.csv", &["row 3"]);
}

#[test]
fn signals_and_matrices_that_no_number_can_hold_are_refused_with_their_file() {
    let desk = Desk::new();
    desk.write("a.csv", "1,0,0.5\n0,1,0\n0.3,0,1\n");
    desk.write("b.csv", "b\n3e200\n-1e200\n0\n");
    desk.refuses_with(
        "recover --matrix a.csv --measurements b.csv -k 2",
        &["b.csv: the list of measurements holds values"],
    );
    desk.write("grid.csv", "a,b,c\n2e305,3e305,\n4e305,,8e305\n,9e305,1.2e306\n");
    desk.refuses_with(
        "complete grid.csv --rank 1 --ridge 0",
        &["grid.csv: the list of observed values holds values of magnitude up to 1.2e306"],
    );
}
