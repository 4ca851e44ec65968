//! One test for each command, on the data that comes with the program.

use crate::desk::{Desk, example};

fn names(model: &serde_json::Value) -> Vec<String> {
    let coefficients = model["coefficients"].as_array().unwrap();
    coefficients.iter().map(|c| c["name"].as_str().unwrap().to_owned()).collect()
}

fn atoms(model: &serde_json::Value) -> Vec<String> {
    model["atoms"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect()
}

#[test]
fn fit_finds_what_the_price_is_made_of() {
    let desk = Desk::new();
    let words = format!("fit {} --target price -k 5 --out model.json --report report.html", example("houses.csv"));
    let said = desk.succeeds(&words);
    assert!(said.out.is_empty(), "{}", said.out);
    said.tells(&["5 of 13 columns predict price", "no exchange of one atom for another improves it (all"]);
    let model = desk.json("model.json");
    let mut found = atoms(&model);
    found.sort();
    assert_eq!(found, ["age", "area", "bathrooms", "district", "garden"]);
    // five districts: four indicators, in as one
    assert_eq!(names(&model).iter().filter(|name| name.starts_with("district=")).count(), 4);
    let area = model["coefficients"].as_array().unwrap().iter().find(|c| c["name"] == "area").unwrap();
    assert!((area["value"].as_f64().unwrap() - 2.4).abs() < 0.05, "{area}");
    assert_eq!(model["status"], "converged");
    assert_eq!(model["schema"], 1);
    assert!(model["command"].as_str().unwrap().starts_with("katoms fit "));
    assert!(desk.read("report.html").contains("5 of 13 columns predict price"));
    assert_eq!(desk.files(), ["model.json", "report.html"]);
}

#[test]
fn fit_prints_json_for_machines_and_nothing_else() {
    let desk = Desk::new();
    let said = desk.succeeds(&format!("fit {} --target price -k 2 --json --quiet", example("houses.csv")));
    assert!(said.err.is_empty(), "{}", said.err);
    let all = said.json();
    assert_eq!(all["model"]["k"], 2);
    assert_eq!(all["run"]["status"], "converged");
    assert!(all["run"]["passes"].as_u64().unwrap() >= 1);
}

/// Pathways 2 and 7 were made to matter; the groups share a gene.
#[test]
fn fit_chooses_groups_for_classes() {
    let desk = Desk::new();
    let (data, groups) = (example("patients.csv"), example("pathways.gmt"));
    let words = format!("fit {data} --target outcome -k 2 --groups {groups} --always age --out m.json --stability 5");
    desk.succeeds(&words).tells(&["AUC 0.9", "selection frequency"]);
    let model = desk.json("m.json");
    let mut found = atoms(&model);
    found.sort();
    assert_eq!(found, ["pathway_2", "pathway_7"]);
    assert_eq!(
        (&model["loss"], &model["target"]["classes"]),
        (&"logistic".into(), &serde_json::json!(["healthy", "relapse"]))
    );
    assert!(names(&model).contains(&"age".to_owned()));
}

#[test]
fn fit_takes_its_options() {
    let desk = Desk::new();
    desk.write("d.csv", "a,b,w,y\n1,0,1,3\n2,1,1,5\n3,0,1,7\n4,1,1,9\n5,0,0,100\n");
    let coefficient = |words: &str| {
        let model = desk.succeeds(&format!("fit d.csv --target y -k 1 --json -q {words}")).json()["model"].clone();
        (names(&model), model["coefficients"][0]["value"].as_f64().unwrap(), model["intercept"].as_f64().unwrap())
    };
    // the last row weighs nothing: y = 1 + 2a
    let (found, slope, constant) = coefficient("--weights w");
    assert!(
        found == ["a"] && (slope - 2.0).abs() < 1e-9 && (constant - 1.0).abs() < 1e-9,
        "{found:?} {slope} {constant}"
    );
    let (_, shrunk, _) = coefficient("--weights w --ridge 5");
    assert!(shrunk > 0.5 && shrunk < 1.9, "{shrunk}");
    let (_, through_zero, constant) = coefficient("--weights w --no-intercept");
    assert!(constant == 0.0 && (through_zero - (3.0 + 10.0 + 21.0 + 36.0) / 30.0).abs() < 1e-9, "{through_zero}");
    // Scaled and not centred, so that a ridge knows no units: Σay / (Σa² + λ·Σa²/Σw)
    let (_, shrunk, constant) = coefficient("--weights w --no-intercept --ridge 4");
    assert!(constant == 0.0 && (shrunk - 70.0 / 60.0).abs() < 1e-9, "{shrunk}");
    let (_, raw, _) = coefficient("--weights w --no-standardize --ridge 5");
    // Σ(a−ā)² = 5, Σ(a−ā)(y−ȳ) = 10: 10/(5+5)
    assert!((raw - 1.0).abs() < 1e-9, "{raw}");
    let (found, ..) = coefficient("--weights w --method omp");
    assert_eq!(found, ["a"]);
    let (found, ..) = coefficient("--weights w --drop a");
    assert_eq!(found, ["b"]);
    let (found, ..) = coefficient("--weights w --always b");
    assert_eq!(found, ["a", "b"]);
}

#[test]
fn path_tells_a_model_of_each_size() {
    let desk = Desk::new();
    let said = desk.succeeds(&format!("path {} --target price -k 1..8 --json --report p.html", example("houses.csv")));
    let path = &said.json()["path"];
    let models = path["models"].as_array().unwrap();
    assert_eq!(models.len(), 8);
    let explained: Vec<f64> = models.iter().map(|m| m["explained"].as_f64().unwrap()).collect();
    assert!(explained.is_sorted() && explained[7] < 1.0, "{explained:?}");
    assert_eq!(path["best"]["ebic"], 5);
    assert_eq!(models[0]["chosen"], serde_json::json!(["area"]));
    assert!(said.err.contains("EBIC prefers k = 5"), "{}", said.err);
    assert!(desk.read("p.html").contains("EBIC"));
}

#[test]
fn cv_chooses_and_fits() {
    let desk = Desk::new();
    let words =
        format!("cv {} --target price -k 1..8 --folds 5 --json --out m.json --report cv.html", example("houses.csv"));
    let said = desk.succeeds(&words);
    let cv = &said.json()["cross_validation"];
    assert_eq!((cv["scores"].as_array().unwrap().len(), cv["best_of_ridges"].as_array().unwrap().len()), (32, 4));
    assert!(said.err.contains("with a ridge of") && desk.read("cv.html").contains("The best size under each ridge"));
    let (min, one_se) = (cv["k_min"].as_u64().unwrap(), cv["k_1se"].as_u64().unwrap());
    assert!(one_se <= min && one_se >= 4, "{min} {one_se}");
    assert_eq!(desk.json("m.json")["k"].as_u64().unwrap(), min);
    // the same folds, the same answer; another choice, another model
    let again = desk.succeeds(&words).json();
    assert_eq!(again["cross_validation"]["scores"], cv["scores"]);
    let smaller = desk.succeeds(&format!("{words} --choose 1se")).json();
    assert_eq!(smaller["model"]["k"].as_u64().unwrap(), one_se);
    let classes = format!(
        "cv {} --target outcome -k 1..4 --groups {} --json -q",
        example("patients.csv"),
        example("pathways.gmt")
    );
    assert_eq!(desk.succeeds(&classes).json()["cross_validation"]["k_min"], 2);
}

/// A choice that the clock cut short stays short; the fit that followed it ends once, and keeps no state.
#[test]
fn a_completion_whose_choice_was_cut_short_ends() {
    let desk = Desk::new();
    let words = format!("complete {} --rank 1..9 --checkpoint s.katoms --strict", example("ratings.csv"));
    let cut = desk.katoms(&format!("{words} --time-limit 0.000001"));
    assert_eq!(cut.code, Some(1), "{}", cut.err);
    assert!(cut.err.contains("time limit: this is the best so far"), "{}", cut.err);
    assert_eq!(desk.files(), ["s.katoms"]);
    desk.refuses_with(
        &words.replace("1..9", "4"),
        &["ranks 1, 2, 3, 4, 5, 6, 7, 8, 9, and now 4 is asked for", "delete s.katoms"],
    );
    let ended = desk.succeeds(&format!("{words} --report r.html --json"));
    assert_eq!(ended.json()["status"], "converged");
    assert!(ended.err.contains("the choice was cut short: 1 of at most"), "{}", ended.err);
    assert!(!ended.err.contains("best so far"), "{}", ended.err);
    assert!(desk.read("r.html").contains("the choice was cut short: 1 of at most"));
    assert_eq!(desk.files(), ["r.html"], "a job that is done keeps no state");
}

#[test]
fn predict_gives_what_the_model_says() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    desk.succeeds(&format!("fit {houses} --target price -k 4 --out m.json -q"));
    let said = desk.succeeds(&format!("predict m.json {houses}"));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!((lines[0], lines.len()), ("prediction", 241));
    // by hand, from the file
    let model = desk.json("m.json");
    let text = std::fs::read_to_string(&houses).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    for (line, predicted) in text.lines().skip(1).zip(&lines[1..]).step_by(17) {
        let cells: Vec<&str> = line.split(',').collect();
        let mut value = model["intercept"].as_f64().unwrap();
        for c in model["coefficients"].as_array().unwrap() {
            let cell = cells[head.iter().position(|h| *h == c["column"].as_str().unwrap()).unwrap()];
            let x = match c["level"].as_str() {
                Some(level) => f64::from(cell == level),
                None => cell.parse().unwrap(),
            };
            value += c["value"].as_f64().unwrap() * x;
        }
        assert!((predicted.parse::<f64>().unwrap() - value).abs() < 1e-9 * value.abs(), "{line}");
    }
    // columns in another order, some absent that the model does not need
    let reordered: String = text.lines().map(|l| l.split(',').rev().collect::<Vec<_>>().join(",") + "\n").collect();
    desk.write("reordered.csv", reordered);
    assert_eq!(desk.succeeds("predict m.json reordered.csv").out, said.out);
    desk.refuses_with(&format!("predict m.json {}", example("ratings.csv")), &["area"]);
}

#[test]
fn predict_names_the_rows_that_are_left() {
    let desk = Desk::new();
    desk.write("d.csv", "a,y\n1,3\n2,5\n3,7\n4,9\n");
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    for (text, rows) in [("a\n1\n\"\"\n3\n", ["1", "3"]), ("a\n1\n3\nNA\n", ["1", "2"]), ("a\n?\n3\n1\n", ["2", "3"])] {
        desk.write("new.csv", text);
        let said = desk.succeeds("predict m.json new.csv --missing drop");
        let lines: Vec<&str> = said.out.lines().collect();
        assert_eq!(lines[0], "row,prediction", "{text}");
        let first: Vec<&str> = lines[1..].iter().map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(first, rows, "{text}");
    }
    desk.write("new.csv", "a\n1\n3\n");
    assert!(desk.succeeds("predict m.json new.csv --missing drop").out.starts_with("prediction\n"));
}

#[test]
fn predict_gives_probabilities_of_classes() {
    let desk = Desk::new();
    let patients = example("patients.csv");
    desk.succeeds(&format!("fit {patients} --target outcome -k 6 --out m.json -q"));
    desk.succeeds(&format!("predict m.json {patients} --out p.csv"));
    let text = desk.read("p.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("prediction,probability_healthy,probability_relapse"));
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [healthy, relapse] = [1, 2].map(|at: usize| cells[at].parse::<f64>().unwrap());
        assert_eq!(cells[0], if relapse >= 0.5 { "relapse" } else { "healthy" });
        assert!((healthy + relapse - 1.0).abs() < 1e-15, "{line}");
    }
}

#[test]
fn predict_passes_identifiers_on() {
    let desk = Desk::new();
    desk.write("d.csv", "a,y\n1,3\n2,5\n3,7\n4,9\n");
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    let first = |text: &str, words: &str| {
        desk.write("new.csv", text);
        let out = desk.succeeds(&format!("predict m.json new.csv {words}")).out;
        out.lines().map(|line| line.rsplit_once(',').map_or("", |(ids, _)| ids).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(first("patient,a\n007,1\n12345678901234567890,2\n", ""), ["patient", "007", "12345678901234567890"]);
    assert_eq!(first("a,patient_id\n1,x7\n2,x8\n", ""), ["patient_id", "x7", "x8"]);
    // what the model uses, what repeats and what measures is no identifier
    assert_eq!(first("a,city,weight\n1,Ulm,3.5\n2,Ulm,4.5\n", ""), ["", "", ""]);
    assert_eq!(
        first("a,city,weight\n1,Ulm,3.50\n2,Ulm,4.5\n", "--id city,weight"),
        ["city,weight", "Ulm,3.50", "Ulm,4.5"]
    );
    assert_eq!(first("id,a\nA,1\nB,\nC,3\n", "--missing drop"), ["row,id", "1,A", "3,C"]);
    desk.refuses_with("predict m.json new.csv --id patient", &["no column is called \"patient\" (--id)"]);
}

#[test]
fn predict_scores_where_the_target_is_known() {
    let desk = Desk::new();
    desk.write("d.csv", "a,y\n1,3\n2,5\n3,7\n4,9\n");
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    desk.write("new.csv", "a,y\n1,4\n2,\n3,6\n");
    let said = desk.succeeds("predict m.json new.csv");
    assert_eq!(said.out.lines().count(), 4);
    for words in ["y is known in 2 rows: R² 0.0000, RMSE 1.000", "mean absolute error 1.000"] {
        assert!(said.err.contains(words), "{}", said.err);
    }
    let scores = &desk.succeeds("predict m.json new.csv --json").json()["scores"];
    assert!((scores["rmse"].as_f64().unwrap() - 1.0).abs() < 1e-9 && scores["rows"] == 2, "{scores}");
    desk.write("truth.csv", "seen\n3\n5\n7\n");
    assert!(desk.succeeds("predict m.json new.csv --target truth.csv").err.contains("known in 3 rows: R² 1.0000"));
    desk.write("new.csv", "a\n1\n");
    assert!(desk.succeeds("predict m.json new.csv --json").json()["scores"].is_null());
    let patients = example("patients.csv");
    desk.succeeds(&format!("fit {patients} --target outcome -k 6 --out c.json -q"));
    let said = desk.succeeds(&format!("predict c.json {patients} --out p.csv")).err;
    assert!(said.contains("outcome is known in 220 rows: AUC 0.") && said.contains("log loss"), "{said}");
}

/// A prediction never takes the place of what it was made from.
#[test]
fn predict_does_not_overwrite_its_input() {
    let desk = Desk::new();
    let table = "a,y\n1,3\n2,5\n3,7\n4,9\n";
    desk.write("d.csv", table);
    desk.succeeds("fit d.csv --target y -k 1 --out m.csv -q");
    let model = desk.read("m.csv");
    #[cfg(unix)]
    std::os::unix::fs::symlink(desk.path("d.csv"), desk.path("link.csv")).unwrap();
    for words in ["m.csv d.csv --out d.csv", "m.csv d.csv --out ./d.csv", "m.csv d.csv --out m.csv"] {
        assert!(desk.refuses(&format!("predict {words}")).contains("would be overwritten"), "{words}");
    }
    if cfg!(unix) {
        desk.refuses_with("predict m.csv link.csv --out d.csv", &["would be overwritten"]);
        desk.refuses_with("predict m.csv d.csv --out link.csv", &["would be overwritten"]);
    }
    assert_eq!((desk.read("d.csv").as_str(), desk.read("m.csv")), (table, model));
    desk.refuses_with("predict m.csv d.csv --out p.txt", &[".csv or .parquet"]);
}

#[test]
fn inspect_tells_what_is_there() {
    let desk = Desk::new();
    desk.write("d.csv", "id,a,b,same,one,city\n1,1,2,1,7,x\n2,,3,,7,y\n3,5,4,5,7,x\n4,2,2,2,7,y\n");
    let said = desk.succeeds("inspect d.csv");
    assert!(said.out.contains("4 rows × 6 columns"), "{}", said.out);
    assert!(said.out.contains("the same as a") && said.out.contains("constant"), "{}", said.out);
    assert!(said.out.contains("2 missing values in 2 columns: a (1), same (1)"), "{}", said.out);
    let seen = desk.succeeds("inspect d.csv --json").json();
    assert_eq!(seen["columns_seen"][1]["missing"], 1);
    assert_eq!(seen["columns_seen"][5]["levels"], 2);
    assert!(desk.succeeds(&format!("inspect {}", example("harbour_seen.png"))).out.contains("transparent"));
}

/// Constant and duplicated columns are found in every kind of file, and what is not there is not constant.
#[test]
fn inspect_finds_constant_and_duplicated_columns() {
    let desk = Desk::new();
    // x2 is constant, x4 is x1 again; both orders of the numbers
    let rows = [[1.0, 7.0, 0.0, 1.0], [2.0, 7.0, 5.0, 2.0], [0.0, 7.0, 4.0, 0.0_f64]];
    let by_rows: Vec<f64> = rows.concat();
    let by_columns: Vec<f64> = (0..4).flat_map(|j| rows.map(|row| row[j])).collect();
    for (name, fortran, numbers) in [("rows.npy", "False", by_rows), ("columns.npy", "True", by_columns)] {
        let head = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': (3, 4), }}");
        let padded = format!("{head:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
        bytes.extend(padded.as_bytes());
        numbers.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        desk.write(name, bytes);
    }
    let stored: Vec<String> = (0..3)
        .flat_map(|i| (0..4).map(move |j| (i, j)))
        .filter(|&(i, j)| rows[i][j] != 0.0)
        .map(|(i, j)| format!("{} {} {}\n", i + 1, j + 1, rows[i][j]))
        .collect();
    let head = format!("%%MatrixMarket matrix coordinate real general\n3 5 {}\n", stored.len());
    desk.write("d.mtx", head + &stored.concat());
    for name in ["rows.npy", "columns.npy", "d.mtx"] {
        let seen = desk.succeeds(&format!("inspect {name} --json")).json();
        let columns = seen["columns_seen"].as_array().unwrap();
        let constant: Vec<bool> = columns.iter().map(|c| c["constant"].as_bool().unwrap()).collect();
        assert_eq!(constant[..4], [false, true, false, false], "{name}");
        // the fifth of the sparse matrix has no entry: all zeros
        assert!(constant[4..].iter().all(|&c| c), "{name}");
        assert_eq!(columns[3]["duplicate_of"], "x1", "{name}");
        assert!(columns[..3].iter().all(|c| c["duplicate_of"].is_null()), "{name}");
        assert_eq!(columns[2]["range"], serde_json::json!([0.0, 3.0, 5.0]), "{name}");
        let said = desk.succeeds(&format!("inspect {name}")).out;
        assert!(said.contains("constant columns can explain nothing: x2"), "{said}");
        assert!(said.contains("duplicates of an earlier column, of which a fit takes the first: x4"), "{said}");
    }
    desk.write("d.csv", "a,none,b\n1,NA,2\n2,,3\n3,?,4\n");
    let seen = desk.succeeds("inspect d.csv --json").json();
    assert_eq!((&seen["columns_seen"][1]["constant"], &seen["columns_seen"][1]["missing"]), (&false.into(), &3.into()));
    assert!(desk.succeeds("inspect d.csv").out.contains("columns without any value: none"));
    desk.refuses_with("inspect d.csv --missing drop", &["--missing"]);
}

#[test]
fn theory_and_k_hint_calculate() {
    let desk = Desk::new();
    assert_eq!(desk.succeeds("k-hint --rows 7500 --columns 200000").out, "1074\n");
    assert_eq!(desk.succeeds("k-hint -m 7500 -n 200000 --nonnegative --json").json()["k"], 1297);
    let theory = desk.succeeds("theory --alpha 0.8 --beta 1.2 --tau 0.25 --json").json();
    assert!((theory["kappa"].as_f64().unwrap() - 1.5).abs() < 1e-12);
    assert!((theory["xi"].as_f64().unwrap() - 0.4).abs() < 1e-12);
    assert!(theory["converges"].as_bool().unwrap() && theory["iterations"].as_u64().unwrap() > 0);
    assert!(desk.succeeds("theory --alpha 0.8 --beta 1.2").out.contains("spectral radius"));
    desk.refuses_with("theory --alpha 2 --beta 1", &["alpha"]);
    desk.refuses_with("k-hint --rows 0 --columns 5", &["rows"]);
}

#[test]
fn methods_are_listed() {
    let desk = Desk::new();
    let all = desk.succeeds("methods --json").json();
    assert!(all.as_array().unwrap().len() > 20);
    assert!(desk.succeeds("methods omp").out.contains("commands   fit, recover"));
    assert!(!desk.succeeds("methods --for rank").out.contains("cosamp"));
    desk.refuses_with("methods opm", &["did you mean `omp`?"]);
    let houses = example("houses.csv");
    let lasso = desk.succeeds(&format!("fit {houses} --target price -k 3 --method lasso")).err;
    assert!(lasso.contains("a single run of lasso, and nothing after it; its coefficients are shrunken"), "{lasso}");
    let wide = desk.succeeds(&format!("fit {houses} --target price -k 3 --method lasso --lambda 1e-3")).err;
    assert!(wide.lines().count() > lasso.lines().count() + 5, "{wide}");
    for method in all.as_array().unwrap() {
        let commands = method["commands"].to_string();
        let fits = commands.contains("fit");
        let name = method["name"].as_str().unwrap();
        let ball = if name.contains("frank-wolfe") { "--no-intercept" } else { "" };
        let words = format!("fit {houses} --target price -k 3 -q --method {name} {ball}");
        assert_eq!(desk.katoms(&words).code == Some(0), fits, "{words}");
    }
}

#[test]
fn shells_and_manuals_are_served() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(desk.succeeds(&format!("completions {shell}")).out.contains("katoms"), "{shell}");
    }
    assert!(desk.succeeds("man").out.starts_with(".ie"));
    std::fs::create_dir(desk.path("man1")).unwrap();
    desk.succeeds("man --folder man1");
    assert!(desk.read("man1/katoms-fit.1").contains("katoms"));
}

#[test]
fn help_has_examples_and_reaches_standard_output() {
    let desk = Desk::new();
    let commands = "fit path cv predict recover complete inspect theory k-hint methods completions man";
    let whole = desk.succeeds("--help").out;
    for command in commands.split(' ') {
        assert!(whole.contains(command), "{command}");
        let help = desk.succeeds(&format!("{command} --help"));
        assert!(help.out.contains("Example") && help.err.is_empty(), "{command}: {}", help.out);
    }
    assert_eq!(desk.katoms("").code, Some(2));
    assert!(desk.succeeds("--version").out.starts_with("katoms "));
}

/// `katoms methods | head -1`: the reader goes, and nobody complains.
#[test]
fn a_closed_pipe_is_no_failure() {
    let desk = Desk::new();
    let mut child = desk.command("methods --json").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// What is said about exchanges is true: of a perfect fit, of one where nothing could come in, and of one where all were
/// tried.
#[test]
fn exchanges_are_told_as_they_were() {
    let desk = Desk::new();
    let said = |text: &str, words: &str| {
        desk.write("d.csv", text);
        desk.succeeds(&format!("fit d.csv --target y {words}")).err
    };
    let perfect = said("y,a,b\n1,1,2\n2,2,1\n3,3,5\n4,4,1\n", "-k 1");
    assert!(perfect.contains("the fit is perfect"), "{perfect}");
    let constant = said("y,a,b\n1,5,7\n2,5,7\n4,5,7\n", "-k 1");
    assert!(
        constant.contains("R² 0.0000") && constant.contains("no atom outside of the model could add"),
        "{constant}"
    );
    assert!(!constant.contains("perfect"), "{constant}");
    let classes = said("y,a,b,c\nno,1,2,5\nno,2,1,3\nyes,1.5,5,4\nyes,4,1,1\nno,3,3,3\nyes,2.5,4,2\n", "-k 1");
    assert!(classes.contains("(all 2 compared)"), "{classes}");
}

/// An effort that would change nothing is refused, and a thorough search is never worse than a quick one.
#[test]
fn effort_is_heard_or_refused() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    let fit = |words: &str| desk.katoms(&format!("fit {houses} --target price -k 3 -q --json {words}"));
    let objective = |words: &str| fit(words).json()["model"]["objective"].as_f64().unwrap();
    assert!(objective("--effort thorough") <= objective("--effort quick"));
    assert_eq!(objective("--effort default"), objective(""));
    for (words, said) in [
        ("--effort 2 --method omp", "leave the effort out, or the method"),
        ("--effort=-1", "quick, default, thorough, or a number above 0"),
    ] {
        let refused = fit(words);
        assert!(refused.code != Some(0) && refused.err.contains(said), "{words}: {}", refused.err);
    }
}
