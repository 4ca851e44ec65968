//! Every format that a person may bring, through the program.

use std::io::Write;
use std::process::{Command, Stdio};

use katoms::operator::{Layout, f16};
use katoms_io::{Array, Numbers};

use crate::desk::{Desk, Said, example};

/// The same small table in every way to write it; y = 1 + 2a − 3c.
fn table(separator: &str) -> String {
    let mut text = ["a", "b", "c", "y"].join(separator) + "\n";
    for i in 0..12_i32 {
        let (a, b, c) = (f64::from(i), f64::from(i * i % 7), f64::from(i * 5 % 11));
        text += &([a, b, c, 1.0 + 2.0 * a - 3.0 * c].map(|v| v.to_string()).join(separator) + "\n");
    }
    text
}

/// The coefficients of a and c, whatever the columns are called.
fn check(desk: &Desk, words: &str) {
    let said = desk.succeeds(&format!("fit {words} -k 2 --json"));
    let model = &said.json()["model"];
    let values: Vec<f64> =
        model["coefficients"].as_array().unwrap().iter().map(|c| c["value"].as_f64().unwrap()).collect();
    assert!((values[0] - 2.0).abs() < 1e-6 && (values[1] + 3.0).abs() < 1e-6, "{words}: {values:?}");
    assert!((model["intercept"].as_f64().unwrap() - 1.0).abs() < 1e-5, "{words}");
}

#[test]
fn text_tables_of_every_kind() {
    let desk = Desk::new();
    for (name, separator) in [("d.csv", ","), ("d.tsv", "\t"), ("e.csv", ";"), ("p.txt", "|")] {
        desk.write(name, table(separator));
        check(&desk, &format!("{name} --target y"));
    }
    desk.write("windows.csv", format!("\u{feff}{}", table(",").replace('\n', "\r\n")));
    check(&desk, "windows.csv --target y");
    let bare: String = table(",").lines().skip(1).map(|line| format!("{line}\n")).collect();
    desk.write("bare.csv", bare);
    check(&desk, "bare.csv --target 4");
}

/// Without names only places tell columns apart: a file that lacks the target is read as if it were there.
#[test]
fn columns_without_names_are_found_by_their_places() {
    let desk = Desk::new();
    // y = 1 + 2a − 3c, with y first; d holds categories written as 01, 02, 03
    let rows: Vec<[String; 5]> = (0..24_i32)
        .map(|i| {
            let (a, b, c, d) = (i, i * i % 7, i * 5 % 11, i % 3 + 1);
            [
                (1 + 2 * a - 3 * c + 40 * (d % 2)).to_string(),
                a.to_string(),
                b.to_string(),
                c.to_string(),
                format!("0{d}"),
            ]
        })
        .collect();
    let lines = |from: usize| rows.iter().map(|row| row[from..].join(",") + "\n").collect::<String>();
    desk.write("with.csv", lines(0));
    desk.write("without.csv", lines(1));
    desk.write("short.csv", lines(2));
    desk.succeeds("fit with.csv --target 1 -k 3 --categorical 5 --out m.json -q");
    assert_eq!(desk.json("m.json")["unnamed_columns"], 5);
    let whole = desk.succeeds("predict m.json with.csv");
    let predicted: Vec<f64> = whole.out.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert_eq!(predicted.len(), 24);
    assert!(predicted.iter().zip(&rows).all(|(p, row)| (p - row[0].parse::<f64>().unwrap()).abs() < 1e-6));
    assert_eq!(desk.succeeds("predict m.json without.csv").out, whole.out);
    desk.refuses_with("predict m.json short.csv", &["short.csv has 3 columns", "made from 5"]);
}

#[test]
fn a_header_of_numbers() {
    let desk = Desk::new();
    desk.write("d.csv", "2001,2002,2003\n1,5,2\n2,3,4\n3,1,6\n4,4,8\n");
    assert_eq!(desk.succeeds("inspect d.csv --json").json()["rows"], 5);
    let seen = desk.succeeds("inspect d.csv --header --json").json();
    assert_eq!((&seen["rows"], &seen["columns_seen"][1]["name"]), (&4.into(), &"2002".into()));
    desk.refuses_with("inspect d.csv --header --no-header", &["--no-header"]);
}

#[test]
fn packed_tables() {
    let desk = Desk::new();
    desk.write("d.csv", table(","));
    for (packer, arguments, name) in [("gzip", "-k", "d.csv.gz"), ("zstd", "-qk", "d.csv.zst")] {
        match Command::new(packer).args([arguments, "d.csv"]).current_dir(desk.path("")).status() {
            Ok(status) if status.success() => check(&desk, &format!("{name} --target y")),
            _ => println!("skipped: there is no {packer} here"),
        }
    }
}

#[test]
fn standard_input() {
    let desk = Desk::new();
    let mut child = desk
        .command("fit - --target y -k 2 --json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(table(",").as_bytes()).unwrap();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.json()["model"]["k"], 2);
}

#[test]
fn svmlight_has_its_target_in_itself() {
    let desk = Desk::new();
    let lines = table(",")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{} 1:{} 2:{} 3:{} # a comment\n", cells[3], cells[0], cells[1], cells[2])
        })
        .collect::<String>();
    desk.write("d.svm", lines);
    check(&desk, "d.svm");
}

#[test]
fn matrix_market_with_a_target_of_its_own() {
    let desk = Desk::new();
    let (mut entries, mut target) = (String::new(), "y\n".to_owned());
    let mut stored = 0;
    for (i, line) in table(",").lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        for (j, &cell) in cells[..3].iter().enumerate() {
            if cell != "0" {
                entries += &format!("{} {} {cell}\n", i + 1, j + 1);
                stored += 1;
            }
        }
        target += &format!("{}\n", cells[3]);
    }
    desk.write("d.mtx", format!("%%MatrixMarket matrix coordinate real general\n% x\n12 3 {stored}\n{entries}"));
    desk.write("y.csv", target);
    check(&desk, "d.mtx --target y.csv");
}

#[test]
fn npy_and_parquet_come_back() {
    let desk = Desk::new();
    desk.write("d.csv", table(","));
    // what was seen stands as it was, and a thirteenth row is filled
    desk.write("h.csv", table(",") + "1,2,,\n");
    desk.succeeds("complete h.csv --rank 1 --out h.npy -q");
    let array = |name: &str| match katoms_io::read(&desk.path(name), &katoms_io::ReadOptions::default()).unwrap() {
        katoms_io::Source::Array(array) => array,
        other => panic!("{other:?}"),
    };
    let filled = array("h.npy");
    assert_eq!((filled.rows, filled.columns, filled.count_missing()), (13, 4, 0));
    let whole = (0..48).map(|at| filled.column(at % 4)[at / 4]).collect();
    desk.write("d.npy", katoms_io::write_npy(&Array::matrix(whole, 12, 4)));
    check(&desk, "d.npy --target 4");
    desk.succeeds("fit d.csv --target y -k 2 --out m.json -q");
    desk.succeeds("predict m.json d.csv --out p.parquet -q");
    let seen = desk.succeeds("inspect p.parquet --json").json();
    assert_eq!((&seen["rows"], &seen["columns_seen"][0]["name"]), (&12.into(), &"prediction".into()));
}

#[test]
fn group_files_of_every_kind() {
    let desk = Desk::new();
    desk.write("d.csv", table(","));
    desk.write("g.gmt", "first\tabout\ta\tc\nsecond\tabout\tb\n");
    desk.write("g.csv", "name,member\nfirst,a\nfirst,c\nsecond,b\n");
    desk.write("g.json", r#"{"first": ["a", "c"], "second": ["b"]}"#);
    for groups in ["g.gmt", "g.csv", "g.json"] {
        let said = desk.succeeds(&format!("fit d.csv --target y -k 1 --groups {groups} --json"));
        assert_eq!(said.json()["model"]["atoms"], serde_json::json!(["first"]), "{groups}");
    }
}

#[test]
fn pictures_are_completed() {
    let desk = Desk::new();
    let picture = example("harbour.png");
    let said =
        desk.succeeds(&format!("complete {picture} --observed 0.4 --rank 12 --out w.png --report r.html --json"));
    let summary = said.json();
    assert!(summary["psnr"].as_f64().unwrap() > 20.0, "{summary}");
    assert!(std::fs::read(desk.path("w.png")).unwrap().starts_with(b"\x89PNG"));
    let page = desk.read("r.html");
    assert_eq!(page.matches("base64,iVBOR").count(), 3, "original, seen, completed");
    // transparent pixels; a mask file that says the same
    let seen = desk.succeeds(&format!("complete {} --rank 4 --json", example("harbour_seen.png"))).json();
    let share = seen["seen"].as_u64().unwrap() as f64 / (3.0 * 240.0 * 160.0);
    assert!((share - 0.4).abs() < 0.02, "{share}");
    let masked = format!("complete {picture} --mask {} --rank 4 --json", example("harbour_seen.png"));
    let masked = desk.succeeds(&masked).json();
    assert_eq!(masked["seen"], seen["seen"]);
    // what lies under a mask is nothing to compare with
    assert_eq!((&masked["hidden_rmse"], &masked["psnr"]), (&serde_json::Value::Null, &serde_json::Value::Null));
}

/// What was seen stands as it was, in a picture as in a table; what was hidden is predicted.
#[test]
fn what_was_seen_stands_as_it_was() {
    let desk = Desk::new();
    desk.succeeds(&format!("complete {} --rank 4 --ridge 0 --out w.png -q", example("harbour_seen.png")));
    let picture = |path: &std::path::Path| match katoms_io::read(path, &katoms_io::ReadOptions::default()).unwrap() {
        katoms_io::Source::Picture(picture) => picture,
        other => panic!("{other:?}"),
    };
    let (before, after) = (picture(example("harbour_seen.png").as_ref()), picture(&desk.path("w.png")));
    assert!(after.seen.iter().all(|&seen| seen));
    for (b, a) in before.channels.iter().zip(&after.channels) {
        for pixel in (0..b.len()).filter(|&pixel| before.seen[pixel]) {
            assert!((b[pixel] - a[pixel]).abs() < 1e-9, "pixel {pixel}: {} {}", b[pixel], a[pixel]);
        }
    }
    // of a whole table some is hidden: that much is predicted, the rest is as it was
    desk.write("d.csv", table(","));
    desk.succeeds("complete d.csv --as table --rank 1 --ridge 0 --observed 0.7 --out c.csv -q");
    let cells = |text: &str| -> Vec<f64> {
        text.lines()
            .skip(1)
            .flat_map(|line| line.split(',').map(|c| c.parse().unwrap()).collect::<Vec<f64>>())
            .collect()
    };
    let (before, after) = (cells(&table(",")), cells(&desk.read("c.csv")));
    let kept = before.iter().zip(&after).filter(|(b, a)| b == a).count();
    assert!(kept > 24 && kept < 44, "{kept} of 48 stand as they were");
}

#[test]
fn ratings_are_completed_and_the_rank_is_chosen() {
    let desk = Desk::new();
    let words =
        format!("complete {} --rank 1..6 --out c.csv --factors f.json --report r.html --json", example("ratings.csv"));
    let said = desk.succeeds(&words);
    let summary = said.json();
    assert!(summary["held_out_rmse"].as_f64().unwrap() < 0.55, "{summary}");
    assert!((1..=4).contains(&summary["rank"].as_u64().unwrap()), "{summary}");
    let text = desk.read("c.csv");
    assert_eq!(text.lines().count(), 121);
    assert!(text.starts_with("person,film1,"), "{}", &text[..80]);
    let factors = desk.json("f.json");
    assert_eq!(factors["left"].as_array().unwrap().len(), 120);
    // by the formula of the file a prediction is the one in the table, where nothing was seen
    let ratings = std::fs::read_to_string(example("ratings.csv")).unwrap();
    let name = |side: &str, at: usize| factors[side][at].as_str().unwrap();
    let is_seen = |i, j| ratings.contains(&format!("\n{},{},", name("rows", i), name("columns", j)));
    let (i, j) = (0..120 * 60).map(|at| (at / 60, at % 60)).find(|&(i, j)| !is_seen(i, j)).unwrap();
    let number = |v: &serde_json::Value| v.as_f64().unwrap();
    let effects = ["mean", "row_effects", "column_effects"].map(|key| &factors[key]);
    let product = |r: usize| [&factors["left"][i][r], &factors["singular_values"][r], &factors["right"][j][r]];
    let rank = factors["singular_values"].as_array().unwrap().len();
    let value = [effects[0], &effects[1][i], &effects[2][j]].map(number).iter().sum::<f64>()
        + (0..rank).map(|r| product(r).map(number).iter().product::<f64>()).sum::<f64>();
    let row = text.lines().find(|line| line.starts_with(&format!("{},", name("rows", i)))).unwrap();
    let place = text.lines().next().unwrap().split(',').position(|head| head == name("columns", j)).unwrap();
    let told: f64 = row.split(',').nth(place).unwrap().parse().unwrap();
    assert!((told - value.clamp(1.0, 5.0)).abs() < 1e-9, "{told} {value}");
}

#[test]
fn repeated_entries_are_averaged_and_told() {
    let desk = Desk::new();
    desk.write("d.csv", "who,what,stars\na,x,1\na,y,2\nb,x,3\nb,x,5\nb,z,2\na,x,2\n");
    desk.succeeds("complete d.csv --rank 1 --ridge 1 --out c.csv --report r.html")
        .tells(&["note: 2 entries repeat the place of another one"]);
    assert!(desk.read("r.html").contains("2 entries repeat"));
    let text = desk.read("c.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows[0][1], rows[1][..3].to_vec(), rows[2][1]), ("x", vec!["a", "1.5", "2"], "4"));
}

/// A row of which nothing is known has what the file of factors calls the fallback, where nothing was taken off.
#[test]
fn factors_say_what_empty_rows_have() {
    let desk = Desk::new();
    let mut text = "a,b,c,d,e,f\n".to_owned();
    for i in 0..14_i32 {
        let cell = |j: i32| if i == 4 { String::new() } else { (1.4_f64.powi(i) * 1.9_f64.powi(j)).to_string() };
        text += &((0..6).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    desk.write("d.csv", text.replace(",,,,,", "NA,NA,NA,NA,NA,NA"));
    desk.succeeds("complete d.csv --rank 1 --ridge 0 --out c.csv --factors f.json");
    let factors = desk.json("f.json");
    assert_eq!((&factors["empty_rows"], &factors["empty_columns"]), (&serde_json::json!([4]), &serde_json::json!([])));
    assert!(factors["formula"].as_str().unwrap().contains("fallback"));
    let fallback = factors["fallback"].as_f64().expect("nothing was taken off a matrix of rank one");
    let filled = desk.read("c.csv");
    let row: Vec<f64> = filled.lines().nth(5).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!(row.iter().all(|v| (v - fallback).abs() < 1e-9 * fallback), "{row:?} {fallback}");
}

#[test]
fn signals_are_recovered() {
    let desk = Desk::new();
    let words = format!(
        "recover --operator dct --rows {} --length 512 --measurements {} -k 12 --out x.npy --json",
        example("signal_rows.npy"),
        example("signal_measured.npy")
    );
    let said = desk.succeeds(&words);
    assert!(said.json()["relative_residual"].as_f64().unwrap() < 1e-8, "{}", said.out);
    let numbers = |bytes: Vec<u8>| -> Vec<f64> {
        let body = &bytes[bytes.len() - 8 * 512..];
        body.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
    };
    let found = numbers(std::fs::read(desk.path("x.npy")).unwrap());
    let truth = numbers(std::fs::read(example("signal.npy")).unwrap());
    assert!(found.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 1e-8));
    // the same with an explicit matrix
    desk.write("phi.csv", "a,b,c,d\n1,0,0,1\n0,1,0,1\n0,0,1,1\n");
    desk.write("b.csv", "b\n2\n2\n2\n");
    let matrix = vec![1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    desk.write("phi.npy", katoms_io::write_npy(&Array::matrix(matrix, 3, 4)));
    desk.write("b.npy", katoms_io::write_npy(&Array::vector(vec![2.0, 2.0, 2.0])));
    for ending in ["csv", "npy"] {
        let words = format!("recover --matrix phi.{ending} --measurements b.{ending} -k 1 --json --strict");
        assert_eq!(desk.succeeds(&words).json()["signal"], serde_json::json!([{ "index": 3, "value": 2.0 }]));
    }
}

#[test]
fn parquet_goes_into_a_fit() {
    let desk = Desk::new();
    let text = table(",");
    let column = |j: usize| {
        let cells = text.lines().skip(1).map(|line| line.split(',').nth(j).unwrap().parse().unwrap());
        katoms_io::Values::Numbers(cells.collect())
    };
    let names = ["a", "b", "c", "y"];
    let columns: Vec<katoms_io::Column> = names
        .iter()
        .enumerate()
        .map(|(j, name)| katoms_io::Column { name: (*name).into(), values: column(j) })
        .collect();
    desk.write("d.parquet", katoms_io::write_parquet(&columns).unwrap());
    check(&desk, "d.parquet --target y");
}

#[test]
fn numpy_files_of_every_storage_go_into_a_fit() {
    let (desk, rows) = (Desk::new(), 12_u8);
    let x: Vec<u8> = (0..rows).flat_map(|i| [i, i * i % 7, i * 5 % 11]).collect();
    let y = (0..rows).map(|i| 1.0 + 2.0 * f64::from(i) - 3.0 * f64::from(i * 5 % 11)).collect();
    desk.write("y.npy", katoms_io::write_npy(&Array::vector(y)));
    for numbers in [
        Numbers::I8(x.iter().map(|&v| v as i8).collect::<Vec<_>>().into()),
        Numbers::U8(x.clone().into()),
        Numbers::F16(x.iter().map(|&v| f16::from(v)).collect::<Vec<_>>().into()),
        Numbers::F32(x.iter().map(|&v| f32::from(v)).collect::<Vec<_>>().into()),
        Numbers::F64(x.iter().map(|&v| f64::from(v)).collect::<Vec<_>>().into()),
    ] {
        let (rows, columns) = (usize::from(rows), 3);
        let matrix = Array { numbers, rows, columns, layout: Layout::RowMajor, is_vector: false };
        desk.write("X.npy", katoms_io::write_npy(&matrix));
        check(&desk, "X.npy --target y.npy");
        let seen = desk.succeeds("inspect X.npy --json").json();
        assert_eq!(seen["columns_seen"][1]["range"][2], 4.0, "{:?}", matrix.numbers);
    }
}
