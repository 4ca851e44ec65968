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
    let error = desk.refuses("fit t.csv --target y -k 2 --drop w");
    assert!(error.contains("the coefficient of column a is about 1e340"), "{error}");
}

#[test]
fn large_and_small_weights_are_weights() {
    let desk = Desk::new();
    table(&desk, "plain.csv", |_| 1.0);
    let words = "--target y -k 2 --weights w --json";
    let plain = desk.succeeds(&format!("fit plain.csv {words}")).json();
    for factor in [1e-250, 1e250, 1e300] {
        table(&desk, "t.csv", |name| if name == "w" { factor } else { 1.0 });
        let found = desk.succeeds(&format!("fit t.csv {words}")).json();
        let (one, other) = (coefficients(&plain["model"]), coefficients(&found["model"]));
        for (a, b) in one.iter().zip(&other) {
            assert_eq!(a.0, b.0);
            assert!((a.1 / b.1 - 1.0).abs() < 1e-12, "{a:?} {b:?}");
        }
    }
}

/// A model whose coefficients are numbers can have predictions that are none.
#[test]
fn predictions_that_are_no_numbers_are_refused_with_their_place() {
    let desk = Desk::new();
    table(&desk, "plain.csv", |_| 1.0);
    desk.succeeds("fit plain.csv --target y -k 2 --drop w --out m.json");
    let mut model = desk.json("m.json");
    model["coefficients"][1]["value"] = 1e308.into();
    desk.write("large.json", model.to_string());
    desk.write("new.csv", "a,d\n1,1\n1,-0.5\n2,-25\n");
    let error = desk.refuses("predict large.json new.csv");
    assert!(error.contains("row 3 of the data") && error.contains("\"d\" is -2.5e1"), "{error}");
    assert!(error.contains("its coefficient in the model is 1e308"), "{error}");
    let error = desk.refuses("predict large.json new.csv --out p.csv");
    assert!(error.contains("row 3"), "{error}");
}

#[test]
fn signals_and_matrices_in_other_units() {
    let desk = Desk::new();
    let column = |factor: f64| -> String {
        let b = [3.0, -1.0, 0.0, 2.0];
        b.iter().map(|v| format!("{:e}\n", v * factor)).collect()
    };
    let matrix = |factor: f64| -> String {
        let rows: [[f64; 5]; 4] = [
            [1.0, 0.0, 0.5, 0.0, 0.2],
            [0.0, 1.0, 0.0, 0.3, 0.0],
            [0.3, 0.0, 1.0, 0.0, 0.1],
            [0.0, 0.4, 0.0, 1.0, 0.0],
        ];
        rows.iter().map(|row| row.map(|v| format!("{:e}", v * factor)).join(",") + "\n").collect()
    };
    desk.write("a.csv", matrix(1.0));
    desk.write("b.csv", format!("b\n{}", column(1.0)));
    let signal = |desk: &Desk| {
        let said = desk.succeeds("recover --matrix a.csv --measurements b.csv -k 3 --json").json();
        assert_eq!(said["status"], "converged");
        let all = said["signal"].as_array().unwrap().clone();
        all.iter().map(|e| (e["index"].as_u64().unwrap(), e["value"].as_f64().unwrap())).collect::<Vec<_>>()
    };
    let plain = signal(&desk);
    for (of_a, of_b) in [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e140), (1e150, 1e-130)] {
        desk.write("a.csv", matrix(of_a));
        desk.write("b.csv", format!("b\n{}", column(of_b)));
        for ((i, found), (j, right)) in signal(&desk).iter().zip(&plain) {
            assert_eq!(i, j);
            assert!((found / (right * (of_b / of_a)) - 1.0).abs() < 1e-9, "{found} {right}");
        }
    }
    desk.write("b.csv", format!("b\n{}", column(1e200)));
    let error = desk.refuses("recover --matrix a.csv --measurements b.csv -k 3");
    assert!(error.contains("b.csv: the list of measurements holds values"), "{error}");
    let grid = |factor: f64| -> String {
        let value = |i: usize, j: usize| ((i + 1) * (j + 2)) as f64 * factor;
        let cell = |i: usize, j: usize| if (i + j) % 4 == 3 { String::new() } else { format!("{:e}", value(i, j)) };
        let row = |i| (0..5).map(|j| cell(i, j)).collect::<Vec<_>>().join(",");
        "a,b,c,d,e\n".to_owned() + &(0..6).map(|i| row(i) + "\n").collect::<String>()
    };
    let completed = |factor: f64| {
        desk.write("grid.csv", grid(factor));
        desk.succeeds("complete grid.csv --rank 1 --ridge 0 --json").json()
    };
    let plain = completed(1.0);
    for factor in [1e140, 1e-130] {
        let found = completed(factor);
        assert_eq!((&found["rank"], &found["status"]), (&plain["rank"], &plain["status"]));
        let largest = |said: &Value| said["singular_values"][0].as_f64().unwrap();
        assert!((largest(&found) / factor / largest(&plain) - 1.0).abs() < 1e-9);
    }
    desk.write("grid.csv", grid(1e305));
    let error = desk.refuses("complete grid.csv --rank 1 --ridge 0");
    assert!(error.contains("grid.csv: the list of observed values holds values of magnitude up to 3.6e306"), "{error}");
}
