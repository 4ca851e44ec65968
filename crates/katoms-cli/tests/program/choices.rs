//! What a person may be misled about: which size, which loss, which class, which rows.

use katoms::simulate::{generator, normals};

use crate::browser::{chromium, dump_dom};
use crate::desk::{Desk, counted_passes, example};

/// A table of normal columns x1, x2, … and a target that a function makes of each row.
fn table(rows: usize, columns: usize, seed: u64, target: impl Fn(&[f64], f64) -> f64) -> String {
    let numbers = normals(rows * (columns + 1), &mut generator(seed, 0));
    let names: Vec<String> = (1..=columns).map(|j| format!("x{j}")).collect();
    let line = |row: &[f64]| {
        let (noise, features) = row.split_last().unwrap();
        let cells: Vec<String> = features.iter().chain([&target(features, *noise)]).map(f64::to_string).collect();
        cells.join(",") + "\n"
    };
    names.join(",") + ",y\n" + &numbers.chunks(columns + 1).map(line).collect::<String>()
}

#[test]
fn sizes_are_read_as_in_r_and_fit_points_to_who_takes_several() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    let sizes = |words: &str| {
        let models = desk.succeeds(&format!("path {houses} --target price {words} --json -q")).json();
        models["path"]["models"].as_array().unwrap().iter().map(|m| m["k"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(sizes("-k 1:5"), [1, 2, 3, 4, 5]);
    assert_eq!(sizes("-k 0..4:2"), [0, 2, 4]);
    for several in ["1..3", "1:3", "1,3"] {
        let error = desk.refuses(&format!("fit {houses} --target price -k {several} --method omp --ridge 2"));
        for command in ["cv", "path"] {
            let line = format!("katoms {command} {houses} --target price -k {several} --ridge 2");
            assert!(error.lines().any(|l| l.trim() == line), "{line}\n{error}");
            desk.succeeds(line.strip_prefix("katoms ").unwrap());
        }
        assert!(!error.contains("invalid digit"), "{error}");
    }
    for (wrong, word) in [("1:10:2", "two things"), ("c(1,5)", "in R or Python"), ("9..2", "write 2..9")] {
        desk.refuses_with(&format!("path {houses} --target price -k {wrong}"), &[word]);
    }
}

/// Numbers are no classes, and the smallest size that was tried is not the smallest there is.
#[test]
fn what_is_no_choice_is_told() {
    let desk = Desk::new();
    desk.write("d.csv", table(80, 9, 3, |x, noise| 10.0 + x[0] - x[3] + noise));
    desk.refuses_with(
        "fit d.csv --target y --loss multinomial -k 2",
        &["80 classes in 80 rows", "more than half of the rows have a class of their own", "--loss squares"],
    );
    desk.succeeds("cv d.csv --target y -k 5..8 --ridge 0").tells(&["smallest size that was tried (5)", "-k 0..8"]);
    desk.succeeds("path d.csv --target y -k 5..8").tells(&["EBIC prefers the smallest size that was tried (5)"]);
    let (far, near) = (
        "path far.csv --target y -k 1..3 --loss quantile --json",
        "path d.csv --target y -k 1..3 --loss quantile --json",
    );
    desk.write("far.csv", table(80, 9, 3, |x, noise| 1010.0 + x[0] - x[3] + noise));
    let chosen = |words: &str| desk.succeeds(words).json()["path"]["models"][1]["chosen"].clone();
    assert_eq!(chosen(far), chosen(near));
}

/// Two numbers in any coding are told, unless somebody said that they are meant as numbers.
#[test]
fn a_target_of_two_numbers_is_told() {
    let desk = Desk::new();
    for (low, high) in [(0.0, 1.0), (1.0, 2.0), (-1.0, 1.0)] {
        desk.write("d.csv", table(60, 4, 1, |x, noise| if x[0] + noise > 0.0 { high } else { low }));
        let said = desk.succeeds("fit d.csv --target y -k 1 --json --report r.html");
        let note = format!("the target y has two values, {low} and {high}");
        assert!(said.err.contains(&note) && said.err.contains("--loss logistic"), "{}", said.err);
        assert!(said.json()["notes"][0].as_str().unwrap().contains(&note));
        assert!(desk.read("r.html").contains(&note));
        for meant in ["squares", "logistic"] {
            let said = desk.succeeds(&format!("fit d.csv --target y -k 1 --loss {meant}"));
            assert!(!said.err.contains("two values"), "{}", said.err);
        }
        desk.succeeds("fit d.csv --target y -k 1 --loss logistic")
            .tells(&[&format!("log-odds of {high} (against {low})")]);
    }
    desk.write("d.csv", table(60, 4, 1, |x, _| x[0].round()));
    assert!(!desk.succeeds("fit d.csv --target y -k 1").err.contains("two values"));
}

#[test]
fn the_modelled_class_is_named() {
    let desk = Desk::new();
    let said = desk
        .succeeds(&format!("fit {} --target outcome -k 3 --report r.html", example("patients.csv")))
        .telling(&["log-odds of relapse (against healthy)"]);
    let head = said.err.lines().find(|line| line.contains("coefficient")).unwrap();
    assert!(head.contains("odds ratio"), "{head}");
    let page = desk.read("r.html");
    assert!(page.contains("the probability of relapse (against healthy)"));
    assert!(page.contains("log-odds of “relapse”") && page.contains(">odds ratio</th>"));
    // a coefficient b has an odds ratio of exp b
    let row = said.err.lines().find(|line| line.trim_start().starts_with('g')).unwrap();
    let cells: Vec<f64> = row.split_whitespace().skip(1).filter_map(|cell| cell.parse().ok()).collect();
    assert!((cells[0].exp() / cells[1] - 1.0).abs() < 2e-3, "{row}");
}

/// Complete separation is nothing that converged: on the terminal, in the file, in the JSON, in the report, in the exit
/// code. With a ridge there is an answer.
#[test]
fn complete_separation_is_said_everywhere() {
    let desk = Desk::new();
    desk.write("d.csv", table(60, 5, 2, |x, _| f64::from(u8::from(x[0] > x[2]))));
    let words = "fit d.csv --target y --loss logistic -k 2 --report r.html --out m.json --json";
    let said = desk.succeeds(words).telling(&["separation of", "--ridge 1"]);
    assert!(!said.err.contains("converged"), "{}", said.err);
    assert_eq!(
        (&said.json()["run"]["status"], &said.json()["model"]["status"]),
        (&"separated".into(), &"separated".into())
    );
    assert!(said.json()["warnings"][0].as_str().unwrap().contains("separation of"));
    assert_eq!(desk.json("m.json")["status"], "separated");
    assert!(desk.read("r.html").contains("separation of"));
    assert_eq!(desk.katoms(&format!("{words} --strict")).code, Some(1));
    let ridged = desk.succeeds(&format!("{words} --ridge 1 --strict"));
    assert_eq!(ridged.json()["run"]["status"], "converged");
    // a path whose chosen model is sound is sound, whatever larger ones do
    desk.write("d.csv", table(40, 30, 2, |x, noise| f64::from(u8::from(2.0 * x[0] + noise > 0.0))));
    let path = desk.katoms("path d.csv --target y --loss logistic -k 0..12 --json --strict");
    let told = path.json();
    let statuses: Vec<&str> =
        told["path"]["models"].as_array().unwrap().iter().map(|m| m["status"].as_str().unwrap()).collect();
    assert!(statuses.contains(&"separated"), "{statuses:?}");
    let chosen = told["path"]["best"]["ebic"].as_u64().unwrap() as usize;
    assert_eq!(path.code == Some(0), statuses[chosen] == "converged", "{chosen} {statuses:?}");
}

/// `-k 0` works wherever a size does, and what is made of it can be used.
#[test]
fn a_model_without_features_works_everywhere() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    let fit = format!("fit {houses} --target price -k 0 --stability --report r.html --out m.json --json");
    desk.succeeds(&fit).tells(&["price is predicted by its mean alone"]);
    let model = desk.json("m.json");
    assert_eq!(
        (&model["k"], &model["coefficients"], &model["status"]),
        (&0.into(), &serde_json::json!([]), &"converged".into())
    );
    let predicted = desk.succeeds(&format!("predict m.json {houses}")).out;
    let values: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(values.len() == 240 && values.iter().all(|v| v == &values[0]));
    assert!((values[0] - model["intercept"].as_f64().unwrap()).abs() < 1e-9);
    assert!(desk.read("r.html").contains("<h1>price is predicted by its mean alone</h1>"));
    // what is always in is in the model without others
    let kept = desk.succeeds(&format!("fit {houses} --target price -k 0 --always area --json"));
    assert!(kept.err.contains("price is predicted by what is always in alone"), "{}", kept.err);
    assert_eq!(kept.json()["model"]["coefficients"][0]["name"], "area");
    let patients = example("patients.csv");
    for groups in [String::new(), format!(" --groups {}", example("pathways.gmt"))] {
        let classes = desk.succeeds(&format!("fit {patients} --target outcome -k 0 --report c.html --json{groups}"));
        let share = 115.0_f64 / 105.0;
        assert!((classes.json()["model"]["intercept"].as_f64().unwrap() - share.ln()).abs() < 1e-9);
        desk.succeeds(&format!("cv {patients} --target outcome -k 0 --report c.html{groups}"));
        desk.succeeds(&format!("path {patients} --target outcome -k 0 --report c.html{groups}"));
    }
    if let Some(browser) = chromium() {
        for page in ["r.html", "c.html"] {
            dump_dom(&browser, &desk.path(page)).assert_self_contained();
        }
    }
}

/// On noise a criterion and rows held out choose no feature, and the title says so; where a size is forced on them, too.
#[test]
fn noise_is_predicted_by_no_feature() {
    let desk = Desk::new();
    desk.write("d.csv", table(80, 20, 1, |_, noise| 5.0 + 2.0 * noise));
    let title = "no feature predicts y better than its mean";
    for words in ["path d.csv --target y", "cv d.csv --target y --choose 1se"] {
        let said = desk.succeeds(&format!("{words} --report r.html --json")).telling(&[title]);
        assert_eq!(said.json()["model"]["k"], 0);
        assert!(desk.read("r.html").contains(&format!("<h1>{title}")));
    }
    let forced = desk.succeeds("cv d.csv --target y -k 1..4 --report r.html --json");
    assert!(forced.err.contains(title) && forced.err.contains(": held-out RMSE"), "{}", forced.err);
    assert_eq!(forced.json()["model"]["k"].as_u64().unwrap().min(1), 1);
    let cv = &forced.json()["cross_validation"];
    assert!(cv["null"]["mean"].as_f64().unwrap() < cv["scores"][0]["mean"].as_f64().unwrap());
    // four sizes under four ridges
    assert_eq!(cv["scores"].as_array().unwrap().len(), 16);
    let forced = desk.succeeds("path d.csv --target y -k 1..4");
    assert!(forced.err.contains(&format!("{title}: EBIC is")), "{}", forced.err);
    // where there is something to find, no such thing is said
    desk.succeeds(&format!("cv {} --target price", example("houses.csv"))).tells(&["5 of 13 columns predict price"]);
}

/// A choice that is the largest size that was tried is told, with the range to try; one that is not, is not.
#[test]
fn a_choice_at_the_edge_is_told() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    for (words, what) in [("cv", "the least held-out loss is at"), ("path", "EBIC prefers")] {
        let said = desk.succeeds(&format!("{words} {houses} --target price -k 0..3 --json --report r.html"));
        let warning = format!("{what} the largest size that was tried (3)");
        assert!(said.err.contains(&warning) && said.err.contains("try -k 0..6"), "{}", said.err);
        assert!(said.json()["warnings"].to_string().contains(&warning));
        assert!(desk.read("r.html").contains(&warning));
        for enough in ["-k 0..8", "-k 0..13", "-k 4", ""] {
            let said = desk.succeeds(&format!("{words} {houses} --target price {enough}"));
            assert!(!said.err.contains("largest size"), "{words} {enough}: {}", said.err);
        }
    }
}

/// Without -k, rows held out are asked about larger models while these are better; a criterion ends where it can be
/// trusted, and says who can go on.
#[test]
fn sizes_go_on_while_the_held_out_loss_falls() {
    let desk = Desk::new();
    // twelve that matter less and less
    let weighted = |x: &[f64]| (0..12).map(|j| 5.0 * 0.7_f64.powi(j) * x[j as usize]).sum::<f64>();
    desk.write("d.csv", table(50, 200, 3, |x, noise| weighted(x) + 0.02 * noise));
    let said = desk.succeeds("cv d.csv --target y --json");
    let cv = &said.json()["cross_validation"];
    let (scores, min) = (cv["scores"].as_array().unwrap(), cv["k_min"].as_u64().unwrap());
    let largest = scores.last().unwrap()["k"].as_u64().unwrap();
    assert!(
        largest > 6 && 4 * min <= 3 * largest && !said.err.contains("largest size"),
        "{min} {largest}\n{}",
        said.err
    );
    let said = desk.succeeds("path d.csv --target y --json");
    assert_eq!(said.json()["path"]["models"].as_array().unwrap().len(), 7);
    said.tells(&[
        "EBIC prefers the largest size that was tried (6)",
        "beyond 6 no criterion can be trusted",
        "katoms cv",
    ]);
}

/// The first numbers of a cross-validation are those of rows held out; the loss is in units that people know.
#[test]
fn a_cross_validation_tells_rows_held_out_first() {
    let desk = Desk::new();
    let said = desk.succeeds(&format!("cv {} --target price -k 1..6 --json --report r.html", example("houses.csv")));
    let (run, cv) = (&said.json()["run"], &said.json()["cross_validation"]);
    let held_out = run["on_rows_held_out"]["r_squared"].as_f64().unwrap();
    let fitted = run["on_the_rows_of_the_fit"]["r_squared"].as_f64().unwrap();
    assert!(held_out < fitted);
    let line = format!("R² {held_out:.4} on rows held out; R² {fitted:.4} on the rows of the fit");
    assert!(said.err.contains(&line), "{line}\n{}", said.err);
    assert!(desk.read("r.html").contains(&line));
    // the passes of the model are counted alike everywhere, those of the folds apart
    let passes = format!("{} over the data", counted_passes(&run["passes"]));
    said.tells(&[
        &format!("converged: {passes}"),
        &format!("{} over the data for all folds and sizes", counted_passes(&cv["passes"])),
    ]);
    assert!(desk.read("r.html").contains(&format!(">{passes}")), "{passes}");
    // folds of equal size: the mean over rows is the mean over folds
    let best = cv["scores"].as_array().unwrap().iter().find(|score| score["k"] == cv["k_min"]).unwrap();
    let (mse, rmse) = (2.0 * best["mean"].as_f64().unwrap(), run["on_rows_held_out"]["rmse"].as_f64().unwrap());
    assert!((mse.sqrt() / rmse - 1.0).abs() < 1e-9, "{mse} {rmse}");
    assert_eq!(cv["mean_is"], "half the mean squared error");
    assert!(said.err.contains("held-out MSE") && said.err.contains("RMSE") && said.err.contains("no features"));
    assert!(said.err.contains("faster search") && desk.read("r.html").contains("faster search"));
    for words in
        ["half the mean squared", "Telling them apart", "Mean magnitude", "Middle half", "± error", "of halves"]
    {
        assert!(!desk.read("r.html").contains(words) && !said.err.contains(words), "{words}");
    }
    let classes = desk.succeeds(&format!("cv {} --target outcome -k 1..4 --json", example("patients.csv")));
    let run = &classes.json()["run"];
    let auc = |rows: &str| run[rows]["auc"].as_f64().unwrap();
    assert!(auc("on_rows_held_out") < auc("on_the_rows_of_the_fit"));
    classes.tells(&[&format!("AUC {:.4} on rows held out", auc("on_rows_held_out")), "held-out log loss"]);
}
