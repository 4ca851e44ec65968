//! Every loss, from a file to predictions: planted features are found, and what is told is true.

use std::fmt::Write;

use crate::desk::Desk;

const ROWS: usize = 360;
const COLUMNS: usize = 9;
/// The features that matter, and their coefficients.
const PLANTED: [(usize, f64); 3] = [(1, 0.9), (4, -0.7), (7, 0.5)];

/// The same numbers on every machine.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
    fn logistic(&mut self) -> f64 {
        let u = self.uniform();
        (u / (1.0 - u)).ln()
    }
    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
    fn count(&mut self, mean: f64) -> usize {
        let (mut left, mut count) = (mean, 0);
        while {
            left -= self.exponential();
            left > 0.0
        } {
            count += 1;
        }
        count
    }
}

/// A table: the fields of a row from its linear prediction, and features, of which three matter.
fn table(head: &str, seed: u64, row: impl Fn(usize, f64, &mut Draw) -> String) -> String {
    let mut draw = Draw(seed);
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("x{j}")).collect();
    let mut text = format!("{head},{}\n", names.join(","));
    for i in 0..ROWS {
        let x: Vec<f64> = (0..COLUMNS).map(|_| draw.normal()).collect();
        let linear = PLANTED.iter().map(|&(j, c)| c * x[j]).sum();
        let features: Vec<String> = x.iter().map(|v| v.to_string()).collect();
        writeln!(text, "{},{}", row(i, linear, &mut draw), features.join(",")).unwrap();
    }
    text
}

fn counts() -> String {
    table("visits,years", 1, |i, z, draw| {
        let years = [0.5, 1.0, 2.0][i % 3];
        format!("{},{years}", draw.count(years * (z + 1.0).exp()))
    })
}

fn spread_counts() -> String {
    table("visits", 2, |_, z, draw| {
        let factor = 0.5 * (draw.exponential() + draw.exponential());
        draw.count(factor * (z + 1.5).exp()).to_string()
    })
}

fn amounts() -> String {
    table("cost", 3, |_, z, draw| (0.5 * (draw.exponential() + draw.exponential()) * (z + 3.0).exp()).to_string())
}

fn numbers() -> String {
    table("y", 4, |i, z, draw| (z + draw.normal() * if i % 12 == 0 { 15.0 } else { 0.3 }).to_string())
}

fn survival() -> String {
    table("days,died,site", 5, |i, z, draw| {
        let (time, end) = (200.0 * draw.exponential() / z.exp(), 400.0 * draw.exponential());
        format!("{},{},{}", time.min(end).ceil(), ["no", "yes"][usize::from(time <= end)], ["a", "b"][i % 2])
    })
}

fn grades() -> String {
    table("grade", 6, |_, z, draw| {
        let z = 2.0 * z + draw.logistic();
        ["low", "medium", "high"][usize::from(z > -1.0) + usize::from(z > 1.5)].into()
    })
}

fn kinds() -> String {
    table("kind", 7, |_, z, draw| {
        let scores = [2.0 * z, 0.0, -2.0 * z].map(|s: f64| s - draw.exponential().ln());
        let most = scores.into_iter().fold(f64::NEG_INFINITY, f64::max);
        ["iris", "lily", "rose"][scores.iter().position(|&s| s == most).unwrap()].into()
    })
}

/// Name, table, how it is asked for, what the coefficients are multiplied by, the head of their ratio, the head of the
/// predictions, and what scores begin with.
type Family = (&'static str, fn() -> String, &'static str, f64, &'static str, &'static str, &'static str);

const FAMILIES: [Family; 8] = [
    ("poisson", counts, "--target visits --loss poisson --exposure years", 1.0, "rate ratio", "prediction", "D²"),
    (
        "negative-binomial",
        spread_counts,
        "--target visits --loss negative-binomial",
        1.0,
        "rate ratio",
        "prediction",
        "D²",
    ),
    ("gamma", amounts, "--target cost --loss gamma", 1.0, "ratio of means", "prediction", "D²"),
    ("huber", numbers, "--target y --loss huber", 1.0, "", "prediction", "R²"),
    ("quantile", numbers, "--target y --quantile 0.7", 1.0, "", "prediction", "D²"),
    (
        "cox",
        survival,
        "--time days --event died --strata site",
        1.0,
        "hazard ratio",
        "log_hazard_ratio,hazard_ratio",
        "C-index",
    ),
    (
        "ordinal",
        grades,
        "--target grade --order low,medium,high",
        2.0,
        "odds ratio",
        "prediction,probability_low,probability_medium,probability_high",
        "accuracy",
    ),
    (
        "multinomial",
        kinds,
        "--target kind",
        2.0,
        "",
        "prediction,probability_iris,probability_lily,probability_rose",
        "accuracy",
    ),
];

/// The names of a model's features.
fn names(model: &serde_json::Value) -> Vec<&str> {
    model["coefficients"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect()
}

#[test]
fn a_fit_finds_what_was_planted_and_predicts() {
    for (loss, drawn, asked, factor, ratio, head, score) in FAMILIES {
        let desk = Desk::new();
        desk.write("d.csv", drawn());
        let said = desk.succeeds(&format!("fit d.csv {asked} -k 3 --out m.json --report r.html --json"));
        let model = &said.json()["model"];
        assert_eq!((model["loss"].as_str(), model["schema"].as_u64()), (Some(loss), Some(3)), "{loss}");
        assert_eq!(names(model), ["x1", "x4", "x7"], "{loss}: {}", said.err);
        for (coefficient, (_, planted)) in model["coefficients"].as_array().unwrap().iter().zip(PLANTED) {
            let value = coefficient["value"].as_f64().unwrap();
            assert!((value - factor * planted).abs() < 0.2 * factor, "{loss}: {value} {planted}");
        }
        said.tells(&[score, ratio, "on the rows of the fit"]);
        let page = desk.read("r.html");
        assert!(ratio.is_empty() || page.contains(&format!(">{ratio}</th>")), "{loss}");
        assert!(!page.contains("NaN"), "{loss}");
        let predicted = desk.succeeds("predict m.json d.csv");
        assert_eq!(predicted.out.lines().next(), Some(head), "{loss}");
        assert_eq!(predicted.out.lines().count(), ROWS + 1);
        predicted.tells(&[&format!("is known in {ROWS} rows: {score}")]);
        let first = |text: &str| text.split_once(score).map(|(_, rest)| rest.trim_start()[..5].to_owned());
        let on_the_fit = said.err.split("on the rows of the fit").next().unwrap();
        let on_the_fit = &on_the_fit[on_the_fit.rfind(score).unwrap()..];
        assert_eq!(first(&predicted.err), first(on_the_fit), "{loss}: the same rows");
    }
}

#[test]
fn a_path_and_a_cross_validation_choose_what_was_planted() {
    for (loss, drawn, asked, _, _, _, score) in FAMILIES {
        let desk = Desk::new();
        desk.write("d.csv", drawn());
        let path = desk.succeeds(&format!("path d.csv {asked} -k 0..5 --json")).json();
        assert_eq!(path["path"]["best"]["ebic"], 3, "{loss}");
        assert_eq!(names(&path["model"]), ["x1", "x4", "x7"], "{loss}");
        let said = desk.succeeds(&format!("cv d.csv {asked} -k 1..5 --choose 1se --report r.html --json"));
        let found = said.json();
        assert!(names(&found["model"]).iter().all(|name| ["x1", "x4", "x7"].contains(name)), "{loss}: {}", said.err);
        let null = found["cross_validation"]["null"]["mean"].as_f64().unwrap();
        let scores = found["cross_validation"]["scores"].as_array().unwrap();
        let least = scores.iter().map(|score| score["mean"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
        assert!(least < 0.95 * null, "{loss}: {least} {null}");
        said.tells(&["no features", &format!("{score} "), "on rows held out"]);
        assert!(found["run"]["on_rows_held_out"].is_object(), "{loss}");
        let page = desk.read("r.html");
        assert!(page.contains("on rows held out") && !page.contains("NaN"), "{loss}");
    }
}

#[test]
fn predictions_are_those_of_the_formula() {
    let desk = Desk::new();
    desk.write("d.csv", counts());
    desk.succeeds("fit d.csv --target visits --loss poisson --exposure years -k 3 --out m.json");
    desk.write("new.csv", "years,x1,x4,x7\n2,0,0,0\n1,1,0,0\n");
    desk.write("without.csv", "x1,x4,x7\n0,0,0\n");
    let model = desk.json("m.json");
    assert_eq!(model["row_columns"]["exposure"], "years");
    let (intercept, slope) = (&model["intercept"], &model["coefficients"][0]["value"]);
    let mean = |z: f64| z.exp();
    let expected =
        [mean(intercept.as_f64().unwrap() + 2.0_f64.ln()), mean(intercept.as_f64().unwrap() + slope.as_f64().unwrap())];
    let said = desk.succeeds("predict m.json new.csv --json").json();
    for (found, expected) in said["predictions"]["prediction"].as_array().unwrap().iter().zip(expected) {
        assert!((found.as_f64().unwrap() / expected - 1.0).abs() < 1e-14);
    }
    desk.succeeds("predict m.json without.csv").tells(&["no column years", "taken as 1, and predictions are rates"]);
    desk.refuses_with("predict m.json new.csv --offset known", &["no column known (--offset)"]);
    desk.write("none.csv", "years,x1,x4,x7\n0,0,0,0\n");
    desk.refuses_with("predict m.json none.csv", &["line 2", "years", "above 0"]);
}

#[test]
fn survival_is_predicted_at_times() {
    let desk = Desk::new();
    desk.write("d.csv", survival());
    desk.succeeds("fit d.csv --time days --event died --strata site -k 3 --out m.json");
    let model = desk.json("m.json");
    let baseline = model["baseline"].as_array().unwrap();
    assert_eq!((baseline.len(), baseline[1]["stratum"].as_str()), (2, Some("b")));
    let said = desk.succeeds("predict m.json d.csv --at 50,200 --json").json();
    let of = |name: &str, row: usize| said["predictions"][name][row].as_f64().unwrap();
    let hazard = |stratum: usize, until: f64| {
        let steps =
            baseline[stratum]["times"].as_array().unwrap().iter().zip(baseline[stratum]["hazards"].as_array().unwrap());
        steps.rev().find(|(time, _)| time.as_f64().unwrap() <= until).map_or(0.0, |(_, h)| h.as_f64().unwrap())
    };
    for (row, time) in [(0, 50.0), (1, 50.0), (7, 200.0)] {
        let found = of(&format!("survival_{time}"), row);
        let expected = (-hazard(row % 2, time) * of("hazard_ratio", row)).exp();
        assert!((found - expected).abs() < 1e-14 && found > 0.0 && found < 1.0, "{row} {time}: {found} {expected}");
        assert!((of("log_hazard_ratio", row).exp() - of("hazard_ratio", row)).abs() < 1e-12);
    }
    assert!(of("survival_50", 3) > of("survival_200", 3));
    let whole = desk.read("d.csv");
    desk.write("other.csv", whole.replace(",a,", ",c,"));
    desk.refuses_with("predict m.json other.csv --at 50", &["row 1 is of stratum c", "no hazard"]);
    desk.succeeds("predict m.json other.csv");
    desk.write("plain.csv", whole.replace("days,died,site", "t,u,v"));
    desk.refuses_with("predict m.json plain.csv --at 50", &["--at needs their column", "--strata site"]);
    let known = desk.succeeds("predict m.json plain.csv --at 50 --strata v --event u --target t");
    known.tells(&["t is known in 360 rows: C-index"]);
    desk.write("two.csv", "a,y\n1,no\n2,yes\n3,no\n4,yes\n2.5,no\n");
    desk.succeeds("fit two.csv --target y -k 1 --ridge 1 --out two.json");
    desk.refuses_with("predict two.json two.csv --at 3", &["--at goes with models of survival"]);
}

#[test]
fn models_are_judged_by_the_measure_that_is_asked_for() {
    let desk = Desk::new();
    for (name, table) in [("counts", counts()), ("numbers", numbers()), ("survival", survival()), ("grades", grades())]
    {
        desk.write(&format!("{name}.csv"), table);
    }
    desk.write("two.csv", grades().replace("medium", "low"));
    for (data, score, head, larger) in [
        ("counts.csv --target visits --loss poisson --exposure years", "rmse", "held-out RMSE", false),
        ("numbers.csv --target y --loss huber", "mae", "held-out MAE", false),
        ("numbers.csv --target y", "mse", "held-out MSE", false),
        ("survival.csv --time days --event died", "c-index", "held-out C-index", true),
        ("grades.csv --target grade --order low,medium,high", "misclassification", "held-out misclassification", false),
        ("grades.csv --target grade", "brier", "held-out Brier score", false),
        ("two.csv --target grade", "auc", "held-out AUC", true),
    ] {
        let said = desk.succeeds(&format!("cv {data} -k 0..4 --ridge 0.1 --score {score} --json"));
        said.tells(&[head, if larger { "largest held-out" } else { "least held-out" }]);
        let found = &said.json()["cross_validation"];
        let mean = |k: usize| found["scores"][k]["mean"].as_f64().unwrap();
        assert!(mean(3) < mean(0), "{score}");
        assert!((-1.0..=-0.5).contains(&mean(3)) == larger, "{score}: {}", mean(3));
        if larger {
            assert!((mean(0) + 0.5).abs() < 1e-12, "{score}: chance");
        }
        assert_eq!(found["score"], score);
    }
    desk.refuses_with("cv numbers.csv --target y --score auc", &["--score auc", "mse, rmse or mae for numbers"]);
    desk.refuses_with("cv grades.csv --target grade --score auc", &["more than two classes"]);
    // The same number by hand: the root of the mean squared error that a fold has.
    let both = |score: &str| {
        let said = desk.succeeds(&format!("cv numbers.csv --target y -k 2 --ridge 0 --score {score} --json")).json();
        let folds = said["cross_validation"]["scores"][0]["folds"].as_array().unwrap().clone();
        folds.into_iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>()
    };
    for (deviance, rmse) in both("deviance").iter().zip(both("rmse")) {
        assert!(((2.0 * deviance).sqrt() - rmse).abs() < 1e-12 * rmse);
    }
}

#[test]
fn folds_are_drawn_repeatedly_or_given() {
    let desk = Desk::new();
    desk.write("d.csv", survival());
    let cv = "cv d.csv --time days --event died -k 0..3 --ridge 1 --json";
    let folds = |more: &str, at: usize| {
        let said = desk.succeeds(&format!("{cv} {more}")).json();
        let list = said["cross_validation"]["scores"][at]["folds"].as_array().unwrap().clone();
        list.into_iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let (first, second) = (folds("--folds 3", 2), folds("--folds 3 --seed 1", 2));
    let both = folds("--folds 3 --repeats 2", 2);
    assert_eq!(both, [first.clone(), second].concat());
    let said = desk.succeeds(&format!("{cv} --folds 3 --repeats 2 --report r.html"));
    let score = &said.json()["cross_validation"]["scores"][2];
    let mean = both.iter().sum::<f64>() / 6.0;
    let error = (both.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
    assert!(
        (score["mean"].as_f64().unwrap() - mean).abs() < 1e-12
            && (score["error"].as_f64().unwrap() - error).abs() < 1e-12
    );
    assert!(desk.read("r.html").contains("Folds were drawn 2 times"));
    let said = desk.succeeds(&format!("{cv} --fold-column site"));
    assert_eq!(said.json()["cross_validation"]["scores"][0]["folds"].as_array().unwrap().len(), 2);
    assert!(!said.json()["model"]["coefficients"].to_string().contains("site"));
    desk.refuses_with(&format!("{cv} --fold-column nowhere"), &["nowhere", "--fold-column"]);
    desk.refuses_with(&format!("{cv} --fold-column site --repeats 2"), &["--repeats"]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let desk = Desk::new();
    let long = |rows: &str| format!("{rows}{}", "5,1,2,3\n6,0,1,2\n7,1,9,4\n".repeat(3));
    desk.write("d.csv", long("t,e,a,b\n4,1,1,2\n"));
    for (words, expected) in [
        ("--time t", &["--loss cox", "--event COLUMN", "no --target"][..]),
        ("--loss cox --target t", &["--time COLUMN"]),
        ("--time t --event e --target a", &["--target is given besides"]),
        (
            "--target t --loss poisson --quantile 0.2",
            &["--quantile goes with --loss quantile, not with --loss poisson"],
        ),
        ("--target t --exposure b", &["--exposure goes with --loss poisson", "the loss is squares", "--offset"]),
        ("--target e --loss logistic --offset b", &["--offset goes with numbers and times"]),
        ("--target t --quantile 1.5", &["between 0 and 1"]),
        ("--target t --delta 0", &["above 0"]),
        ("--target t --loss tweedie", &["negative-binomial", "cox"]),
    ] {
        desk.refuses_with(&format!("fit d.csv {words} -k 1"), expected);
    }
    desk.succeeds("fit d.csv --target t --loss squared-error -k 1");
    for (table, words, expected) in [
        ("t,e,a,b\n0,1,1,2\n", "--time t --event e", &["line 2", "(t): 0", "a time is a number above 0"][..]),
        ("t,e,a,b\n-4,1,1,2\n", "--time t --event e", &["line 2", "(t): -4"]),
        ("t,e,a,b\n4,7,1,2\n", "--time t --event e", &["line 2", "(e): 7", "an event is 1"]),
        ("t,e,a,b\n-4,1,1,2\n", "--target t --loss poisson", &["line 2", "(t): -4", "a count is", "--loss squares"]),
        ("t,e,a,b\n0,1,1,2\n", "--target t --loss gamma", &["line 2", "(t): 0", "an amount is"]),
        (
            "t,e,a,b\n4,1,1,\n",
            "--target t --loss poisson --offset b",
            &["line 2", "(b)", "offset is missing", "--missing drop"],
        ),
        ("t,e,a,b\n4,1,1,0\n", "--target t --loss poisson --exposure b", &["line 2", "(b): 0", "exposure is above 0"]),
    ] {
        desk.write("bad.csv", long(table));
        desk.refuses_with(&format!("fit bad.csv {words} -k 1"), expected);
    }
    desk.write("zeros.csv", "y,a\n0,1\n0,2\n0,4\n");
    desk.refuses_with("fit zeros.csv --target y --loss poisson -k 1", &["\"y\" is 0 in every row"]);
    desk.write("none.csv", "t,e,a\n1,0,1\n2,0,2\n3,0,5\n");
    desk.refuses_with("fit none.csv --time t --event e -k 1", &["no row has an event"]);
}

#[test]
fn statuses_of_r_and_lonely_classes_are_told() {
    let desk = Desk::new();
    desk.write("r.csv", survival().replace(",yes,", ",2,").replace(",no,", ",1,"));
    desk.write("words.csv", survival());
    let fit = |data: &str| desk.succeeds(&format!("fit {data} --time days --event died --drop site -k 3 --json"));
    let (of_r, plain) = (fit("r.csv"), fit("words.csv"));
    of_r.tells(&["died is 1 and 2, as R has it: 2 is the event"]);
    assert_eq!(of_r.json()["model"]["coefficients"], plain.json()["model"]["coefficients"]);
    plain.tells(&["the loss is cox, as --time is given"]);
    let lines: Vec<String> = kinds().lines().map(str::to_owned).collect();
    let with_one: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(i, l)| if i == 9 { format!("tulip,{}", l.split_once(',').unwrap().1) } else { l.clone() })
        .collect();
    desk.write("one.csv", with_one.join("\n"));
    let said = desk.succeeds("fit one.csv --target kind -k 2 --ridge 1 --json");
    said.tells(&[
        "katoms: class tulip of kind has one row only (line 10)",
        "the loss is multinomial, as kind has 4 words",
    ]);
    assert!(said.json()["warnings"][0].as_str().unwrap().contains("tulip"));
    desk.refuses_with("cv one.csv --target kind", &["class tulip is in one row only", "join it with another class"]);
    desk.write("order.csv", grades());
    desk.refuses_with("fit order.csv --target grade --loss ordinal -k 1", &["--order", "high, low, medium"]);
}
