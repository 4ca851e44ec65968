//! Several targets at once, from a file to predictions.

use std::fmt::Write;

use crate::desk::{Desk, example};

const ROWS: usize = 150;
const SEED: u64 = 5;
const COLUMNS: usize = 8;

/// The coefficients of each target: they share x1 and x4.
const SHARED: [&[(usize, f64)]; 3] = [&[(1, 1.0), (4, 0.5)], &[(1, -0.8), (4, 1.2)], &[(1, 0.3), (4, -0.9)]];

/// The same numbers on every machine: normal enough, of variance 1.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A table of three targets a, b and c, a weight w, and x0 … x7.
fn table(planted: [&[(usize, f64)]; 3], noise: f64) -> String {
    let mut draw = Draw(SEED);
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("x{j}")).collect();
    let mut text = format!("a,b,c,w,{}\n", names.join(","));
    for i in 0..ROWS {
        let x: Vec<f64> = (0..COLUMNS).map(|_| draw.normal()).collect();
        let y = planted.map(|of| of.iter().map(|&(j, c)| c * x[j]).sum::<f64>() + 2.0 + noise * draw.normal());
        let features: Vec<String> = x.iter().map(|v| v.to_string()).collect();
        writeln!(text, "{},{},{},{},{}", y[0], y[1], y[2], 1 + i % 3, features.join(",")).unwrap();
    }
    text
}

fn shared() -> Desk {
    let desk = Desk::new();
    desk.write("d.csv", table(SHARED, 0.2));
    desk
}

fn names(model: &serde_json::Value) -> Vec<&str> {
    model["coefficients"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect()
}

#[test]
fn targets_share_the_features_that_were_planted() {
    let desk = shared();
    let said = desk.succeeds("fit d.csv --target a,b,c --weights w -k 2 --out m.json --report r.html --json");
    let (all, model) = (said.json(), desk.json("m.json"));
    assert_eq!(names(&model), ["x1", "x4"]);
    assert_eq!((&model["loss"], &model["schema"]), (&"squares".into(), &3.into()));
    assert_eq!(model["target"]["responses"], serde_json::json!(["a", "b", "c"]));
    for (coefficient, place) in model["coefficients"].as_array().unwrap().iter().zip([0, 1]) {
        for (target, planted) in SHARED.iter().enumerate() {
            let value = coefficient["values"][target].as_f64().unwrap();
            assert!((value - planted[place].1).abs() < 0.1, "{target}: {value}");
        }
    }
    said.tells(&["2 of 8 features predict a, b, c", "target", "(intercept, b)", "R² 0.9"]);
    let scores = &all["run"]["on_the_rows_of_the_fit"];
    let each: Vec<f64> =
        scores["responses"].as_array().unwrap().iter().map(|one| one["r_squared"].as_f64().unwrap()).collect();
    let mean = each.iter().sum::<f64>() / 3.0;
    assert!(each.len() == 3 && each.iter().all(|share| *share > 0.9), "{each:?}");
    assert!((scores["r_squared"].as_f64().unwrap() - mean).abs() < 1e-12);
    let page = desk.read("r.html");
    for part in ["Predictions of 3 targets", "x1 → a", "x4 → c", "R², rows of the fit", "<h4>b</h4>"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));
    // given repeatedly, by number, or from a file of their own
    desk.write(
        "y.csv",
        table(SHARED, 0.2)
            .lines()
            .map(|l| l.splitn(4, ',').take(3).collect::<Vec<_>>().join(",") + "\n")
            .collect::<String>(),
    );
    for asked in ["--target a --target b --target c", "--target 1,2,3", "--target y.csv:a,b,c --drop a,b,c"] {
        let again = desk.succeeds(&format!("fit d.csv {asked} --weights w -k 2 --json")).json();
        assert_eq!(again["model"]["coefficients"], model["coefficients"], "{asked}");
    }
}

#[test]
fn predictions_have_a_column_for_each_target() {
    let desk = shared();
    desk.succeeds("fit d.csv --target a,b,c --drop w -k 2 --out m.json");
    let model = desk.json("m.json");
    let said = desk.succeeds("predict m.json d.csv");
    assert_eq!(said.out.lines().next(), Some("prediction_a,prediction_b,prediction_c"));
    said.tells(&["a, b, c are known in 150 rows: R² 0.9", "(a 0.9", ", b 0.9"]);
    desk.write("new.csv", "x4,x1,b\n2,1,0\n0,0,\n");
    let found = desk.succeeds("predict m.json new.csv --json").json();
    for (target, name) in ["a", "b", "c"].iter().enumerate() {
        let value = |at: usize| model["coefficients"][at]["values"][target].as_f64().unwrap();
        let intercept = model["intercepts"][target].as_f64().unwrap();
        let predicted = &found["predictions"][format!("prediction_{name}")];
        assert!((predicted[0].as_f64().unwrap() - (intercept + value(0) + 2.0 * value(1))).abs() < 1e-12);
        assert_eq!(predicted[1], intercept);
    }
    // only b is there, in one row
    let scored = found["scores"]["responses"].as_array().unwrap();
    assert_eq!((scored.len(), &scored[0]["name"], &scored[0]["rows"]), (1, &"b".into(), &1.into()));
    desk.write("named.csv", "x4,x1,u,v,w\n2,1,1,2,3\n0,1,4,1,2\n");
    let scores = desk.succeeds("predict m.json named.csv --target u,v,w --json").json();
    assert_eq!(scores["scores"]["responses"].as_array().unwrap().len(), 3);
    desk.refuses_with("predict m.json named.csv --target u", &["names 1 column", "predicts 3 targets", "a, b, c"]);
}

#[test]
fn a_path_and_a_cross_validation_choose_the_shared_size() {
    let desk = shared();
    let path = desk.succeeds("path d.csv --target a,b,c --drop w -k 0..5 --report p.html --json").json();
    assert_eq!(path["path"]["best"]["ebic"], 2);
    assert_eq!(path["path"]["models"][2]["coefficients"][0]["target"], "a");
    assert!(desk.read("p.html").contains("Predictions of 3 targets"));
    let said = desk.succeeds("cv d.csv --target a,b,c --drop w -k 0..4 --choose 1se --report r.html --json");
    let found = said.json();
    assert_eq!(names(&found["model"]), ["x1", "x4"]);
    let held_out = &found["run"]["on_rows_held_out"];
    assert!(held_out["responses"][2]["r_squared"].as_f64().unwrap() > 0.9);
    // the held-out MSE is the mean over the targets, as that of --score mse
    let mean = |name: &str, found: &serde_json::Value| found["cross_validation"]["scores"][2][name].as_f64().unwrap();
    let by_mse = desk.succeeds("cv d.csv --target a,b,c --drop w -k 0..4 --ridge 0 --score mse --json").json();
    let plain = desk.succeeds("cv d.csv --target a,b,c --drop w -k 0..4 --ridge 0 --json");
    let (one, other) = (2.0 / 3.0 * mean("mean", &plain.json()), mean("mean", &by_mse));
    assert!((one / other - 1.0).abs() < 1e-12, "{one} {other}");
    said.tells(&["held-out MSE", "RMSE", "on rows held out"]);
    let page = desk.read("r.html");
    assert!(page.contains("R², rows held out") && !page.contains("NaN"));
}

#[test]
fn rows_in_which_a_target_is_missing_and_groups_and_columns_that_are_always_in() {
    let desk = Desk::new();
    let text = table(SHARED, 0.2);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[3] = format!(",{}", lines[3].split_once(',').unwrap().1);
    desk.write("d.csv", lines.join("\n"));
    desk.refuses_with("fit d.csv --target a,b,c --drop w -k 2", &["1 missing value", "a (1)", "--missing drop"]);
    let said = desk.succeeds("fit d.csv --target a,b,c --drop w -k 2 --missing drop --json");
    said.tells(&["1 row without a target or weight left out"]);
    assert_eq!(said.json()["model"]["data"]["rows"], ROWS - 1);
    desk.write(
        "groups.csv",
        "name,member\nfirst,x1\nfirst,x4\nother,x0\nother,x2\nthird,x3\nthird,x5\nlast,x6\nlast,x7\n",
    );
    let asked = "--target a,b,c --drop w --missing drop --groups groups.csv --always x0";
    let found = desk.succeeds(&format!("fit d.csv {asked} -k 1 --json")).json();
    assert_eq!(found["model"]["atoms"], serde_json::json!(["first"]));
    assert_eq!(names(&found["model"]), ["x0", "x1", "x4"]);
}

#[test]
fn what_does_not_go_with_several_targets_is_named() {
    let desk = shared();
    desk.write("words.csv", "a,b,x\n1,red,1\n2,blue,2\n3,red,4\n");
    desk.write("constant.csv", "a,b,x\n1,7,1\n2,7,2\n4,7,4\n");
    desk.write("y.csv", "a,b\n1,2\n");
    for (words, expected) in [
        ("fit d.csv --target a,b,a -k 1", &["\"a\" is given twice", "once"][..]),
        ("fit d.csv --target a,nothing -k 1", &["no column is called \"nothing\"", "--target"]),
        ("fit d.csv --target a,b --loss huber -k 1", &["2 targets", "least squares", "--loss", "one --target"]),
        ("fit d.csv --target a,b --loss logistic -k 1", &["2 targets", "least squares"]),
        ("fit d.csv --target a,b --quantile 0.5 -k 1", &["2 targets", "least squares"]),
        ("fit d.csv --target a,b --offset c -k 1", &["--offset goes with one target", "--always"]),
        ("fit words.csv --target a,b -k 1", &["line 2, column 2 (b)", "\"red\"", "finite numbers", "one --target"]),
        ("fit constant.csv --target a,b -k 1", &["the target b is 7 in every row", "leave it out"]),
        ("fit d.csv --target y.csv --target a -k 1", &["names the file y.csv", "--target y.csv:1,2"]),
    ] {
        desk.refuses_with(words, expected);
    }
    let thousand: String = table(SHARED, 0.2)
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let (a, rest) = line.split_once(',').unwrap();
            let a = if i == 0 { a.into() } else { (1000.0 * a.parse::<f64>().unwrap()).to_string() };
            format!("{a},{rest}\n")
        })
        .collect();
    desk.write("scales.csv", thousand);
    desk.succeeds("fit scales.csv --target a,b -k 1").tells(&["count by their variance", "deviation of a"]);
}

/// Features of its own for each target: three, one and two.
const OWN: [&[(usize, f64)]; 3] = [&[(0, 1.0), (2, 0.9), (5, -0.8)], &[(3, 1.0)], &[(2, -0.8), (7, 0.9)]];

fn separate() -> Desk {
    let desk = Desk::new();
    desk.write("d.csv", table(OWN, 0.2));
    desk
}

/// The features of each target.
fn own_features(model: &serde_json::Value) -> Vec<Vec<&str>> {
    let of = |target: usize| {
        let all = model["coefficients"].as_array().unwrap().iter();
        all.filter(|c| c["values"][target] != 0.0).map(|c| c["name"].as_str().unwrap()).collect()
    };
    (0..3).map(of).collect()
}

const PLANTED: [&[&str]; 3] = [&["x0", "x2", "x5"], &["x3"], &["x2", "x7"]];

#[test]
fn a_total_is_shared_out_among_the_targets() {
    let desk = separate();
    let asked = "--target a,b,c --drop w";
    let said =
        desk.succeeds(&format!("fit d.csv {asked} -k 6 --separate-features --out m.json --report r.html --json"));
    let (all, model) = (said.json(), desk.json("m.json"));
    assert_eq!(own_features(&model), PLANTED);
    assert_eq!((&model["k"], &model["k_each"]), (&6.into(), &serde_json::json!([3, 1, 2])));
    said.tells(&[
        "(k)  a 3, b 1, c 2",
        "to share 6 out among the responses",
        "b: no exchange",
        "5 of 8 features predict",
    ]);
    let page = desk.read("r.html");
    for part in ["k of each target", "a 3, b 1, c 2", "x7 → c", "Predictions of 3 targets"] {
        assert!(page.contains(part), "{part}");
    }
    // the same sizes for each, and each target alone
    let each = desk.succeeds(&format!("fit d.csv {asked} --k-each 3,1,2 --json")).json();
    assert_eq!(own_features(&each["model"]), PLANTED);
    assert!((each["run"]["loss"].as_f64().unwrap() / all["run"]["loss"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let mut loss = 0.0;
    for (target, k, others) in [("a", 3, "b,c,w"), ("b", 1, "a,c,w"), ("c", 2, "a,b,w")] {
        let one = desk.succeeds(&format!("fit d.csv --target {target} --drop {others} -k {k} --json")).json();
        loss += one["run"]["loss"].as_f64().unwrap();
    }
    let found = all["run"]["loss"].as_f64().unwrap();
    assert!((loss / found - 1.0).abs() < 1e-9, "{loss} {found}");
    let predicted = desk.succeeds("predict m.json d.csv");
    predicted.tells(&["a, b, c are known in 150 rows: R² 0.9"]);
    assert_eq!(predicted.out.lines().next(), Some("prediction_a,prediction_b,prediction_c"));
}

#[test]
fn each_target_has_its_own_size_by_a_criterion_and_by_held_out_rows() {
    let desk = separate();
    let asked = "--target a,b,c --drop w --separate-features --report r.html --json";
    let said = desk.succeeds(&format!("path d.csv {asked} -k 0..5"));
    let found = said.json();
    assert_eq!(own_features(&found["model"]), PLANTED);
    assert_eq!(found["paths"][1]["target"], "b");
    assert_eq!(found["paths"][1]["path"]["best"]["ebic"], 1);
    said.tells(&["EBIC prefers k = 3 for a", "EBIC prefers k = 1 for b"]);
    let said = desk.succeeds(&format!("cv d.csv {asked} -k 0..5 --choose 1se --repeats 2"));
    let found = said.json();
    assert_eq!(own_features(&found["model"]), PLANTED, "{}", said.err);
    said.tells(&["under one ridge for all targets", "k is a 3, b 1, c 2", "on rows held out"]);
    assert!(found["run"]["on_rows_held_out"]["r_squared"].as_f64().unwrap() > 0.9);
    let own = &found["cross_validations"][2];
    assert_eq!((&own["target"], &own["cross_validation"]["k_1se"]), (&"c".into(), &2.into()));
    assert!(desk.read("r.html").contains("R², rows held out"));
    // of a single target alone the same folds are drawn, and its scores are the same
    let alone = desk.succeeds("cv d.csv --target c --drop a,b,w -k 0..5 --repeats 2 --json").json();
    assert_eq!(own["cross_validation"]["scores"], alone["cross_validation"]["scores"]);
}

#[test]
fn what_does_not_go_with_features_of_its_own_is_named() {
    let desk = separate();
    for (words, expected) in [
        ("fit d.csv --target a -k 2 --separate-features", &["--separate-features goes with several targets"][..]),
        ("fit d.csv --target a --k-each 2", &["--k-each goes with several targets", "-k"]),
        ("fit d.csv --target a,b,c --k-each 2,1", &["2 sizes", "3 targets (a, b, c)", "one size for each"]),
        ("fit d.csv --target a,b,c --k-each 2,1,99", &["--k-each is 99 for c", "between 0 and 9"]),
        ("fit d.csv --target a,b,c -k 99 --separate-features", &["-k is 99", "each of 3 targets", "between 0 and 27"]),
        ("fit d.csv --target a,b -k 2 --separate-features --method omp", &["leave the method out"]),
        ("fit d.csv --target a,b -k 2 --separate-features --checkpoint s", &["--checkpoint", "leave it out"]),
        ("fit d.csv --target a,b", &["-k"]),
        (
            "fit d.csv --target a,b -k 2 --separate-features --interactions weak",
            &["--interactions", "all targets share"],
        ),
        ("fit d.csv --target a,b -k 2 --k-each 1,1", &["--k-each", "cannot be used with"]),
    ] {
        desk.refuses_with(words, expected);
    }
    let said = desk.succeeds("fit d.csv --target a,b --k-each 2,1 --method omp --stability 5");
    said.tells(&["no selection frequencies", "(k)  a 2, b 1", "a single run of omp"]);
}

#[test]
fn genotypes_have_one_phenotype_at_a_time() {
    let (cohort, traits) = (example("cohort.bed"), example("cohort_traits.txt"));
    let desk = Desk::new();
    desk.refuses_with(
        &format!("fit {cohort} --target {traits}:height,weight -k 2"),
        &["height,weight names several columns", "one phenotype at a time"],
    );
    desk.succeeds(&format!("fit {cohort} --target {traits}:height -k 2"));
}
