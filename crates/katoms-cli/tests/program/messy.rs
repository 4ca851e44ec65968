//! Files as people have them: spreadsheets, bank statements, surveys, laboratories.

use serde_json::{Value, json};

use crate::desk::Desk;

fn coefficient(model: &Value, name: &str) -> f64 {
    let all = model["coefficients"].as_array().unwrap();
    all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name}: {all:?}"))["value"].as_f64().unwrap()
}

fn close(found: f64, truth: f64) -> bool {
    (found - truth).abs() <= 1e-6 * truth.abs().max(1.0)
}

/// 1234567.5 as 1.234.567,50.
fn german(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let digit = |(at, c): (usize, char)| match at > 0 && (whole.len() - at).is_multiple_of(3) {
        true => format!(".{c}"),
        false => c.to_string(),
    };
    let whole: String = whole.chars().enumerate().map(digit).collect();
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{whole}{}{rest}", if rest.is_empty() { "" } else { "," })
}

/// A spreadsheet's export with a German locale: profit = 0.5·turnover − 3·rate + 2·days + 10.
fn spreadsheet(rows: std::ops::Range<u32>) -> String {
    let mut text = "\u{feff}Nr;Eröffnet;Umsatz;Quote;Profit\r\n".to_owned();
    for i in rows {
        let (day, turnover, rate) = (i * 5 % 28, f64::from(i * 7919 % 3000) * 1.25, f64::from(i * 31 % 17) * 0.5);
        let profit = 0.5 * turnover - 3.0 * rate + 2.0 * f64::from(day) + 10.0;
        text += &format!(
            "A{i};{:02}.02.2024;{} €;{} %;{}\r\n",
            day + 1,
            german(turnover, 2),
            german(rate, 1),
            german(profit, 3)
        );
    }
    text + ";;;;\r\n"
}

#[test]
fn a_german_spreadsheet() {
    let desk = Desk::new();
    desk.write("d.csv", spreadsheet(0..40));
    let said = desk.succeeds("fit d.csv --target Profit -k 3 --drop Nr --out m.json");
    for note in [
        "note: Umsatz is read as numbers: decimal comma, \"€\" and thousands separators left out",
        "note: Quote is read as numbers: decimal comma, 12 % is 12",
        "note: Eröffnet is a date: days since 2024-02-01",
    ] {
        assert!(said.err.contains(note), "{note}\n{}", said.err);
    }
    let model = desk.json("m.json");
    for (name, truth) in [("Umsatz", 0.5), ("Quote", -3.0), ("Eröffnet", 2.0)] {
        assert!(close(coefficient(&model, name), truth), "{name}: {model}");
    }
    assert!(close(model["intercept"].as_f64().unwrap(), 10.0), "{model}");
    assert_eq!(model["formats"]["Eröffnet"]["dates"]["origin"], "2024-02-01");
    // inspect says the same of each column
    let seen = desk.succeeds("inspect d.csv --drop Nr").out;
    assert!(seen.contains("days since 2024-02-01") && seen.contains("2024-02-01 to 2024-02-28"), "{seen}");
    assert!(!seen.contains("refuse"), "{seen}");
}

/// Days are counted from the day that the fit counted them from, whichever comes first in the new data; and what the
/// new data leave open is read as the fit read it.
#[test]
fn predictions_use_what_the_fit_knew() {
    let desk = Desk::new();
    desk.write("d.csv", spreadsheet(0..40));
    desk.succeeds("fit d.csv --target Profit -k 3 --drop Nr --out m.json -q");
    let all = desk.succeeds("predict m.json d.csv").out;
    // a row by itself: its date is the first, 1.234 € may be either, and what the model does not need is spoilt
    let text = spreadsheet(0..40);
    for (i, line) in text.lines().skip(1).take(40).enumerate().step_by(7) {
        desk.write("one.csv", format!("Nr;Eröffnet;Umsatz;Quote;Profit\n{line}\n"));
        let one = desk.succeeds("predict m.json one.csv").out;
        // identifiers stand before the prediction where they tell rows apart
        let prediction =
            |said: &str, row: usize| said.lines().nth(row).and_then(|l| l.split(',').next_back()).map(str::to_owned);
        assert_eq!(prediction(&one, 1), prediction(&all, i + 1), "{line}");
    }
    desk.write("open.csv", "Umsatz;Quote;Eröffnet\n1.234 €;1 %;29.02.2024\n");
    let open: f64 = desk.succeeds("predict m.json open.csv").out.lines().nth(1).unwrap().parse().unwrap();
    assert!(close(open, 0.5 * 1234.0 - 3.0 + 2.0 * 28.0 + 10.0), "{open}");
    desk.write("bare.csv", "Umsatz;Quote;Eröffnet\n12,5;1;2024-02-29T12:00\n");
    let said = desk
        .succeeds("predict m.json bare.csv")
        .telling(&["Quote has no percent sign, and had a percent sign in the fit's data"]);
    assert!(close(said.out.lines().nth(1).unwrap().parse().unwrap(), 6.25 - 3.0 + 57.0 + 10.0), "{}", said.out);
    desk.write("number.csv", "Umsatz;Quote;Eröffnet\n12,5;1 %;28\n");
    desk.refuses_with(
        "predict m.json number.csv",
        &["line 2, column 3 (Eröffnet): a number, but the model needs dates"],
    );
    desk.write(
        "spoilt.csv",
        "Umsatz;Quote;Eröffnet;Other\n12,5;1 %;29.02.2024;1\n1,5;2 %;1.3.2024;2\n2,5;3 %;2.3.2024;x\n",
    );
    desk.succeeds("predict m.json spoilt.csv");
}

#[test]
fn named_missing_values_are_kept() {
    let desk = Desk::new();
    let cell = |i: u32| if i % 9 == 4 { "-999".into() } else { (i * i % 13).to_string() };
    let rows: String = (0..40).map(|i| format!("{},{}\n", cell(i), 3 * (i * i % 13) + i % 2)).collect();
    desk.write("d.csv", format!("a,y\n{rows}"));
    desk.succeeds("fit d.csv --target y -k 1 --na-values -999 --missing mean --out m.json -q");
    let model = desk.json("m.json");
    assert_eq!((&model["schema"], &model["na_values"]), (&json!(2), &json!(["-999"])));
    desk.write("new.csv", "a\n-999\n");
    let said = desk.succeeds("predict m.json new.csv --missing mean").telling(&["\"-999\" read as missing: a (1)"]);
    let (mean, found) = (model["coefficients"][0]["mean"].as_f64().unwrap(), said.out.lines().nth(1).unwrap());
    let truth = model["intercept"].as_f64().unwrap() + coefficient(&model, "a") * mean;
    assert!(close(found.parse().unwrap(), truth), "{found} {truth}");
    desk.write("none.csv", "a\n3\n");
    assert!(!desk.succeeds("predict m.json none.csv").err.contains("-999"));
}

#[test]
fn times_are_hours() {
    let desk = Desk::new();
    let rows: String =
        (0..30_u32).map(|i| format!("{}:{:02},{}\n", i * 7 % 24, i % 60, 60 * (i * 7 % 24) + i)).collect();
    desk.write("d.csv", format!("at,y\n{rows}"));
    desk.succeeds("fit d.csv --target y -k 1 --out m.json").tells(&["note: at is read as numbers: 10:30 is 10.5"]);
    assert!(close(coefficient(&desk.json("m.json"), "at"), 60.0));
    desk.write("new.csv", "at\n5:30 PM\n");
    assert!(close(desk.succeeds("predict m.json new.csv").out.lines().nth(1).unwrap().parse().unwrap(), 1050.0));
    desk.write("plain.csv", "at\n17.5\n");
    desk.succeeds("predict m.json plain.csv").tells(&["at has no colon, and had a colon in the fit's data"]);
}

#[test]
fn inspect_leaves_out_what_a_fit_would() {
    let desk = Desk::new();
    let rows: String = (0..30).map(|i| format!("k{i},{},{i}\n", i * i % 7)).collect();
    desk.write("d.csv", format!("id,a,y\n{rows}"));
    let said = desk.succeeds("inspect d.csv --drop id").out;
    assert!(said.contains("a fit would choose among 1 feature, with one column as its target"), "{said}");
    assert!(said.contains("left out (--drop)"), "{said}");
}

#[test]
fn the_order_of_a_date_is_kept() {
    let desk = Desk::new();
    let row = |i: u32| format!("{:02}/{:02}/2024,{}\n", i % 3 + 1, i % 28 + 1, i % 28 + 31 * (i % 3));
    desk.write("d.csv", format!("day,y\n{}", (0..60).map(row).collect::<String>()));
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    desk.write("new.csv", "day\n02/01/2024\n");
    let february: f64 = desk.succeeds("predict m.json new.csv").out.lines().nth(1).unwrap().parse().unwrap();
    assert!((february - 31.0).abs() < 2.0, "{february}");
    desk.refuses_with("fit new.csv --target day -k 1", &["no column is left"]);
    desk.write("open.csv", "day,y\n02/01/2024,1\n03/02/2024,2\n04/03/2024,4\n");
    desk.refuses_with(
        "fit open.csv --target y -k 1",
        &["line 2, column 1 (day): \"02/01/2024\" may be 2024-01-02 or 2024-02-01"],
    );
    desk.succeeds("fit open.csv --target y -k 1 --date-order dmy");
}

#[test]
fn dates_in_columns_without_names() {
    let desk = Desk::new();
    let row = |i: u32, with: bool| {
        let target = if with { format!("{},", 3 * i + 1) } else { String::new() };
        format!("{target}{},{:02}.01.2024\n", i * i % 7, i + 1)
    };
    let table = |from: u32, with: bool| (from..20).map(|i| row(i, with)).collect::<String>();
    desk.write("d.csv", table(0, true));
    desk.write("new.csv", table(5, false));
    desk.succeeds("fit d.csv --target 1 -k 1 --out m.json -q");
    let said = desk.succeeds("predict m.json new.csv").out;
    let found: Vec<f64> = said.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert_eq!(found.len(), 15);
    assert!(found.iter().zip(5..).all(|(&v, i)| close(v, f64::from(3 * i + 1))), "{found:?}");
}

/// A model of plain numbers is one of the first schema, also without the field that came later; one that has read
/// columns in another way is not, so that a program that knows nothing of it does not predict something else.
#[test]
fn the_schema_tells_whether_formats_matter() {
    let desk = Desk::new();
    desk.write("plain.csv", "a,y\n1,3\n2,5\n3,7\n4,9.5\n");
    desk.succeeds("fit plain.csv --target y -k 1 --out m.json -q");
    let mut model = desk.json("m.json");
    assert_eq!((&model["schema"], &model["formats"]), (&json!(1), &json!({})));
    let before = desk.succeeds("predict m.json plain.csv").out;
    model.as_object_mut().unwrap().remove("formats");
    desk.write("older.json", model.to_string());
    assert_eq!(desk.succeeds("predict older.json plain.csv").out, before);
    desk.write("d.csv", "a,y\n$1,3\n$2,5\n$3,7\n$4,9.5\n");
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    assert_eq!(desk.json("m.json")["schema"], 2);
}

/// Lists of columns; a name that has a comma in it.
#[test]
fn columns_in_lists() {
    let desk = Desk::new();
    let rows: String =
        (0..30_i32).map(|i| format!("r{i},{i},{},{},{},{}\n", i % 3, i % 4, i * i % 11, 2 * i + i % 3)).collect();
    desk.write("d.csv", format!("id,a,b,c,\"x,z\",y\n{rows}"));
    let json = |words: &str| desk.succeeds(&format!("fit d.csv --target y -q --json {words}")).json()["model"].clone();
    let columns = |model: &Value| -> Vec<String> {
        let mut all: Vec<String> = (model["coefficients"].as_array().unwrap().iter())
            .map(|c| c["column"].as_str().unwrap().to_owned())
            .collect();
        all.dedup();
        all
    };
    assert_eq!(columns(&json("-k 1 --drop id,b,c")), ["a"]);
    assert_eq!(columns(&json("-k 1 --drop id --always b,x,z")).len(), 3);
    assert_eq!(columns(&json("-k 1 --drop id,x,z --always b,c")), ["a", "b", "c"]);
    assert_eq!(columns(&json("-k 1 --drop 1,x,z,a --always 3")).len(), 2);
    assert!(json("-k 2 --drop id --categorical b,c --always b,c")["levels"].as_object().unwrap().len() == 2);
    desk.refuses_with(
        "fit d.csv --target y -k 1 --drop id,bb",
        &["no column is called \"bb\" (--drop); did you mean \"b\"?"],
    );
}

#[test]
fn options_of_text_tables() {
    let desk = Desk::new();
    let slope = |text: &str, words: &str| {
        desk.write("d.txt", text);
        let said = desk.command(&format!("fit d.txt --target y -k 1 -q --json {words}")).output().unwrap();
        let said = crate::desk::Said::of(&said);
        assert_eq!(said.code, Some(0), "{words}: {}", said.err);
        said.json()["model"]["coefficients"][0]["value"].as_f64().unwrap()
    };
    let table = "a y\n1 2\n2 4\n3 6.5\n";
    let truth = slope(&table.replace(' ', ","), "");
    for (text, words) in [
        (table.to_owned(), ""),
        (table.replace(' ', "   "), "--delimiter space"),
        (table.replace(' ', "\t"), "--delimiter tab"),
        (table.replace(' ', ":"), "--delimiter :"),
        (table.replace("6.5", "6,5").replace(' ', ";"), ""),
        (table.replace("6.5", "6,500").replace(' ', ";"), "--decimal ,"),
        (format!("# by hand\n{}", table.replace(' ', ",")), ""),
        (table.replace(' ', ",").replace("2,4", "% no\n2,4"), "--comment %"),
        (table.replace(' ', ",").replace("a,y\n", "a,y\nm,kg\n"), "--skip-lines 2"),
        (format!("x\ny\n{}Sum,12.5\n", table.replace(' ', ",")), "--skip-lines 1-2,7"),
        (table.replace(' ', ",") + "-9,1\n4,unknown\n", "--na-values -9,unknown --missing drop"),
    ] {
        assert!(close(slope(&text, words), truth), "{words}: {text}");
    }
    // 3 days are 3
    let dates = table.replace("1 ", "01/02/2024,").replace("2 ", "02/02/2024,").replace("3 ", "03/02/2024,");
    assert!(close(slope(&dates.replace("a y", "a,y"), "--date-order dmy"), truth));
    for words in ["--delimiter ab", "--comment ##", "--skip-lines 0", "--skip-lines 4-2", "--decimal ;"] {
        desk.refuses_with(&format!("fit d.txt --target y -k 1 {words}"), &[words.split(' ').next().unwrap()]);
    }
}

/// Files with problems of every kind: what the messages say.
fn spoilt() -> Vec<(&'static str, String)> {
    let rows = |cell: &dyn Fn(u32) -> String| (0..30).map(|i| cell(i) + "\n").collect::<String>();
    vec![
        ("slip.csv", format!("a,b,y\n{}7,twelve,9\n", rows(&|i| format!("{i},{},{}", i * i, 2 * i)))),
        (
            "survey.csv",
            format!("age,y\n{}", rows(&|i| if i % 4 == 0 { format!("Don't know,{i}") } else { format!("{i},{i}") })),
        ),
        ("ragged.csv", format!("a,y\n{}", rows(&|i| if i == 7 { "1".into() } else { format!("{i},{}", i % 5) }))),
        ("units.csv", format!("t,v,y\ns,m,kg\n{}", rows(&|i| format!("{i},{},{}", i % 7, i % 5)))),
        ("totals.csv", format!("n,v,y\n{}Total,435,435\n", rows(&|i| format!("{i},{i},{i}")))),
        ("open.csv", format!("p;d;y\n{}", rows(&|i| format!("{},{:03};01/{:02}/2024;{i}", i + 1, i, i % 9 + 1)))),
        (
            "mixed.csv",
            format!(
                "r;p;y\n{}",
                rows(&|i| format!("{i}{};{}{i};{i}", if i == 5 { "" } else { "%" }, if i == 9 { "€" } else { "$" }))
            ),
        ),
        ("id.csv", format!("name,y\n{}", rows(&|i| format!("person {},{i}", char::from_u32(65 + i).unwrap())))),
        (
            "gaps.csv",
            format!(
                "a,b,y\n{}",
                rows(&|i| format!("{},{},{i}", if i == 3 { "" } else { "1" }, if i % 9 == 0 { "-" } else { "2" }))
            ),
        ),
        (
            "infinite.csv",
            format!("a,b,y\n{}", rows(&|i| format!("{},{},{i}", if i == 3 { "inf" } else { "1" }, i % 3))),
        ),
    ]
}

/// What `fit` refuses, `inspect` shows, in the same words; and what `inspect` shows as fine, `fit` takes.
#[test]
fn inspect_and_fit_agree() {
    let desk = Desk::new();
    for (name, text) in spoilt() {
        desk.write(name, text);
        let error = desk.refuses(&format!("fit {name} --target y -k 1"));
        let seen = desk.succeeds(&format!("inspect {name} --json")).json();
        let problems = seen["problems"].as_array().unwrap();
        assert!(!problems.is_empty(), "{name}: {error}");
        for problem in problems {
            let (place, said) = (problem["place"].as_str().unwrap(), problem["problem"].as_str().unwrap());
            assert!(error.contains(place) && error.contains(said), "{name}: {problem}\n{error}");
            assert!(desk.succeeds(&format!("inspect {name}")).out.contains(said), "{name}");
        }
        if problems.len() > 1 {
            assert!(error.contains(&format!("{name} has {} problems:", problems.len())), "{error}");
        }
    }
    for (name, options) in [
        ("slip.csv", "--na-values twelve --missing drop"),
        ("survey.csv", "--categorical age"),
        ("units.csv", "--skip-lines 2"),
        ("totals.csv", "--skip-lines 32"),
        ("open.csv", "--decimal . --date-order mdy"),
        ("gaps.csv", "--missing mean"),
        ("infinite.csv", "--na-values inf --missing mean"),
        ("id.csv", "--categorical name"),
    ] {
        desk.succeeds(&format!("fit {name} --target y -k 1 {options}"));
        let reading: Vec<&str> = options.split("--missing").next().unwrap().split(' ').collect();
        let seen = desk.succeeds(&format!("inspect {name} --json {}", reading.join(" "))).json();
        let left: Vec<&str> =
            seen["problems"].as_array().unwrap().iter().map(|p| p["problem"].as_str().unwrap()).collect();
        assert!(left.iter().all(|p| p.contains("missing value")), "{name}: {left:?}");
        assert_eq!(left.is_empty(), !options.contains("--missing"), "{name}: {left:?}");
    }
}

#[test]
fn nobody_is_told_to_drop_a_predictor_for_its_format() {
    let desk = Desk::new();
    for (name, text) in spoilt().into_iter().filter(|(name, _)| *name != "id.csv") {
        desk.write(name, text);
        let error = desk.refuses(&format!("fit {name} --target y -k 1"));
        assert!(!error.contains("--drop"), "{error}");
    }
}

/// All that is wrong is told at once: values, identifiers, missing and infinite ones, and the target.
#[test]
fn all_problems_at_once() {
    let desk = Desk::new();
    let row = |i: u32| {
        let age = if i == 4 { "4o".into() } else { i.to_string() };
        let rate = if i == 6 { "inf".into() } else { (i % 7).to_string() };
        let gap = if i == 8 { String::new() } else { (i % 4).to_string() };
        let target = if i == 10 { "ten".into() } else { i.to_string() };
        format!("{age},person {},{rate},{gap},{target}\n", "abcdefghijklmnopqrst".chars().nth(i as usize).unwrap())
    };
    desk.write("d.csv", format!("age,name,rate,gap,y\n{}", (0..20).map(row).collect::<String>()));
    let error = desk.refuses("fit d.csv --target y -k 1");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "katoms: d.csv has 5 problems:");
    for (line, start) in lines[1..].iter().zip([
        "- line 6, column 1 (age): \"4o\" among 19 numbers;",
        "- line 12, column 5 (y): \"ten\" among 19 numbers;",
        "- line 8, column 3 (rate): inf is not a finite number;",
        "- 1 missing value in 1 column: gap (1);",
        "- column 2 (name): 20 different words in 20 rows: most likely an identifier;",
    ]) {
        assert!(line.starts_with(start), "{error}");
    }
    // a dozen columns are not all listed
    let head: String = (0..12).map(|j| format!("c{j},")).collect();
    let cells = |i: u32| (0..12).map(|j| if i == j { "x,".into() } else { format!("{i},") }).collect::<String>();
    desk.write("e.csv", format!("{head}y\n{}", (0..12).map(|i| cells(i) + "1\n").collect::<String>()));
    let error = desk.refuses("fit e.csv --target y -k 1");
    assert!(
        error.starts_with("katoms: e.csv has 12 problems:") && error.trim_end().ends_with("- and 2 more"),
        "{error}"
    );
    assert_eq!(desk.succeeds("inspect e.csv --json").json()["problems"].as_array().unwrap().len(), 12);
}
