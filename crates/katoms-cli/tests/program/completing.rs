//! `complete`: what a file is taken for, what is missing in it, and what comes out.

use std::process::Command;

use katoms_io::{Picture, ReadOptions, Source};
use serde_json::{Value, json};

use crate::desk::{Desk, Said, example};

/// Ratings of 30 people and 12 films: `user,item,rating,timestamp`, about half of all.
fn ratings() -> Vec<[u64; 4]> {
    let mut lines = Vec::new();
    for user in 1..=30_u64 {
        for item in 1..=12_u64 {
            let mixed = user.wrapping_mul(2_654_435_761).wrapping_add(item.wrapping_mul(40_503)) >> 3;
            if mixed % 9 < 5 {
                let rating = 1 + (user % 3 + item % 3 + mixed % 2).min(4);
                lines.push([100 + user, 500 + item, rating, 880_000_000 + mixed % 10_000_000]);
            }
        }
    }
    lines
}

fn text(head: &str, lines: &[[u64; 4]], columns: usize, delimiter: &str) -> String {
    let line = |line: &[u64; 4]| line[..columns].iter().map(u64::to_string).collect::<Vec<_>>().join(delimiter) + "\n";
    head.to_owned() + &lines.iter().map(line).collect::<String>()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// A table of 40 rows whose columns have units of their own; `gap` cells of a hundred are empty.
fn features(gap: u64) -> String {
    let mut text = "Name,Age,Income,Share,Children\n".to_owned();
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    for i in 0..40 {
        let (one, two) = (next() - 0.5, next() - 0.5);
        let values = [
            45.0 + 30.0 * one + 3.0 * next(),
            60_000.0 + 80_000.0 * one + 9_000.0 * next(),
            0.5 + 0.6 * two + 0.02 * next(),
            (2.0 + 3.0 * two + next()).round(),
        ];
        let cells = values.map(|v| if next() < gap as f64 / 100.0 { String::new() } else { v.to_string() });
        text += &format!("p{i},{}\n", cells.join(","));
    }
    text
}

fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn ratings_with_a_time_are_entries() {
    let desk = Desk::new();
    let lines = ratings();
    desk.write("three.csv", text("user,item,rating\n", &lines, 3, ","));
    desk.write("four.csv", text("user,item,rating,timestamp\n", &lines, 4, ","));
    desk.write("movielens.csv", text("userId,movieId,rating,timestamp\n", &lines, 4, ","));
    desk.write("u.data", text("", &lines, 4, "\t"));
    let how = "--rank 2 --ridge 0.3";
    desk.succeeds(&format!("complete three.csv {how} --out three.out.csv -q"));
    for file in ["four.csv", "movielens.csv", "u.data"] {
        let said = desk.succeeds(&format!("complete {file} {how} --out out.csv --json"));
        assert_eq!(said.json()["shape"], json!([30, 12]), "{file}");
        said.tells(&["note: each line is an entry", "left out", "--as table"]);
        assert_eq!(cells(&desk.read("out.csv")), cells(&desk.read("three.out.csv")), "{file}");
    }
    assert!(desk.read("out.csv").starts_with("x1,501,"));
}

/// Whole numbers under names that say nothing may be features: nobody guesses.
#[test]
fn in_doubt_it_is_asked_how_a_table_is_meant() {
    let desk = Desk::new();
    let lines = ratings();
    desk.write("d.csv", text("age,floor,price\n", &lines, 3, ","));
    desk.refuses_with(
        "complete d.csv --rank 1 --out o.csv",
        &["--as table", "--as entries", "--row age --column floor --value price"],
    );
    let said = desk.succeeds("complete d.csv --as entries --rank 1 --ridge 1 --json").json();
    assert_eq!(said["shape"], json!([30, 12]));
    desk.refuses_with("complete d.csv --as table --rank 1", &["nothing is missing", "--observed"]);
    let said = desk.succeeds("complete d.csv --as table --rank 1 --observed 0.8 --json").json();
    assert_eq!(said["shape"], json!([lines.len(), 3]));
    // two columns that could be the columns, and two that could be the values
    desk.write("d.csv", text("user,item,film,rating\n", &lines, 4, ","));
    desk.refuses_with("complete d.csv --rank 1", &["--row user --column item --value rating"]);
    desk.write("d.csv", text("user,item,rating,score\n", &lines, 4, ","));
    desk.refuses_with("complete d.csv --rank 1", &["--as entries"]);
}

#[test]
fn a_person_says_which_columns_are_entries() {
    let desk = Desk::new();
    let lines: Vec<[u64; 4]> =
        ratings().into_iter().map(|[user, item, rating, time]| [time, rating, item, user]).collect();
    desk.write("d.csv", text("t,v,b,a\n", &lines, 4, ","));
    desk.refuses_with(
        "complete d.csv --as entries --rank 1",
        &["Say --row, --column and --value", "There are: t, v, b, a"],
    );
    for words in ["--row a --column b --value v", "--as entries --row 4 --column 3 --value 2"] {
        let said =
            desk.succeeds(&format!("complete d.csv {words} --rank 1 --ridge 1 --out {}.csv --json", words.len()));
        assert_eq!(said.json()["shape"], json!([30, 12]), "{words}");
        assert!(said.err.contains("left out: t"), "{}", said.err);
    }
    desk.refuses_with("complete d.csv --row a --column b --value w --rank 1", &["no column is called \"w\" (--value)"]);
    desk.refuses_with("complete d.csv --row a --column b --value b --rank 1", &["three columns"]);
    desk.refuses_with("complete d.csv --as table --value v --rank 1", &["--as table"]);
    // with three columns left, in their order
    let said = desk.succeeds("complete d.csv --as entries --drop t --row a --column b --rank 1 --ridge 1 --json");
    assert_eq!(said.json()["shape"], json!([30, 12]));
}

/// What pandas writes of a pivot, with its index, under a name, without one, with words; and what we write ourselves.
#[test]
fn a_pivot_reads_back_and_its_index_is_no_rating() {
    let desk = Desk::new();
    let lines = ratings();
    let rating = |user: u64, item: u64| lines.iter().find(|l| (l[0], l[1]) == (user, item)).map(|l| l[2]);
    let pivot = |corner: &str, label: &dyn Fn(u64) -> String| {
        let items: Vec<String> = (501..=512).map(|item| item.to_string()).collect();
        let mut text = format!("{corner},{}\n", items.join(","));
        for user in 101..=130 {
            let cell = |item| rating(user, item).map_or(String::new(), |v| format!("{v}.0"));
            text += &format!("{},{}\n", label(user), (501..=512).map(cell).collect::<Vec<_>>().join(","));
        }
        text
    };
    for (corner, label) in [
        ("user", &(|u: u64| u.to_string()) as &dyn Fn(u64) -> String),
        ("", &|u| (u - 101).to_string()),
        ("Unnamed: 0", &|u| (u - 101).to_string()),
        ("name", &|u| format!("p{u}")),
        ("", &|u| format!("p{u}")),
    ] {
        desk.write("pivot.csv", pivot(corner, label));
        let said = desk.succeeds("complete pivot.csv --rank 1 --ridge 1 --out out.csv --factors f.json --json");
        assert_eq!(said.json()["shape"], json!([30, 12]), "{corner}");
        assert!(said.err.contains("carried along as they are"), "{}", said.err);
        let (before, after) = (pivot(corner, label), desk.read("out.csv"));
        let head = if corner.is_empty() { "x1" } else { corner };
        assert!(after.starts_with(&format!("{head},501,502,")), "{}", &after[..40]);
        for (was, is) in cells(&before).iter().zip(cells(&after)) {
            assert_eq!(was[0], is[0]);
            for (was, is) in was.iter().zip(&is).skip(1) {
                let is: f64 = is.parse().unwrap();
                assert!((1.0..=5.0).contains(&is) && (was.is_empty() || was.parse() == Ok(is)), "{was} {is}");
            }
        }
        assert_eq!(desk.json("f.json")["rows"][1], json!(label(102)));
        // what was written is read again, its labels too
        let again = desk.succeeds("complete out.csv --observed 0.7 --rank 1 --ridge 1 --json").json();
        assert_eq!(again["shape"], json!([30, 12]), "{corner}");
    }
    // without an index the first line may be numbers or names
    let bare: String =
        pivot("user", &|u| u.to_string()).lines().map(|l| l.split_once(',').unwrap().1.to_owned() + "\n").collect();
    desk.write("pivot.csv", bare);
    desk.refuses_with("complete pivot.csv --rank 1", &["say --header or --no-header"]);
    let said = desk.succeeds("complete pivot.csv --header --rank 1 --ridge 1 --json").json();
    assert_eq!(said["shape"], json!([30, 12]));
}

#[test]
fn identifiers_are_carried_along_and_columns_keep_their_order() {
    let desk = Desk::new();
    desk.write(
        "d.csv",
        "id,size,note,weight,customer_id\n7,1,a,10,91\n9,2,,20,17\n3,3,c,,44\n8,,d,40,12\n5,5,e,50,3\n",
    );
    let said = desk.succeeds("complete d.csv --out o.csv --json");
    assert_eq!(said.json()["shape"], json!([5, 2]));
    let filled = desk.read("o.csv");
    assert!(filled.starts_with("id,size,note,weight,customer_id\n7,1,a,10,91\n9,2,,20,17\n3,3,c,"), "{filled}");
    assert!(cells(&filled).iter().all(|row| !row[1].is_empty() && !row[3].is_empty()), "{filled}");
}

#[test]
fn columns_are_dropped_and_text_is_read_as_told() {
    let desk = Desk::new();
    desk.write("d.csv", "a;b;c;spoilt\n1;2;3;x\n2;;5;1\n3;6;8;2\n4;8;;3\n5;9;13;y\n6;12;15;2\n");
    desk.succeeds("complete d.csv --rank 1")
        .tells(&["carried along as they are, since they are labels or words: spoilt"]);
    let said = desk.succeeds("complete d.csv --drop spoilt --rank 1 --out o.csv --json");
    assert_eq!(said.json()["shape"], json!([6, 3]));
    assert!(desk.read("o.csv").starts_with("a,b,c\n1,2,3\n"));
    let said = desk.succeeds("complete d.csv --drop a --drop 4 --rank 1 --json");
    assert_eq!(said.json()["shape"], json!([6, 2]));
    desk.refuses_with("complete d.csv --drop spoil --rank 1", &["did you mean \"spoilt\"?"]);
    desk.write("d.csv", "7 : 2 : 3\n2 : : 5\n3 : 6 : 8\n4 : 8 : \n5 : 9 : 13\n6 : 12 : 15\n");
    let shape = |words: &str| {
        desk.succeeds(&format!("complete d.csv --delimiter : {words} --rank 1 --json")).json()["shape"].clone()
    };
    assert_eq!((shape("--no-header"), shape("--header")), (json!([6, 3]), json!([5, 3])));
    desk.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n2 3 4\n1 2 2\n");
    desk.refuses_with("complete d.mtx --drop 1 --rank 1", &["--drop leaves out columns of a table"]);
    desk.refuses_with("complete d.mtx --as table --rank 1", &["go with a table"]);
    // and of a recovery
    desk.write("phi.csv", "name|1|2|3\nr1|1|0|0\nr2|0|1|0\nr3|0|0|1\nr4|1|1|0\n");
    desk.write("b.csv", "1\n0\n2\n0\n2\n");
    let words = "recover --matrix phi.csv --measurements b.csv -k 1 --json";
    desk.refuses(words);
    let said = desk.succeeds(&format!("{words} --drop name --header --delimiter |")).json();
    assert_eq!(said["signal"], json!([{ "index": 1, "value": 2.0 }]));
}

#[test]
fn features_of_any_unit_are_filled_within_their_range() {
    let desk = Desk::new();
    desk.write("d.csv", features(15));
    let said = desk.succeeds("complete d.csv --out o.csv --factors f.json --report r.html --json");
    let summary = said.json();
    assert_eq!((&summary["scaled"], &summary["shape"]), (&json!(true), &json!([40, 4])));
    assert!(said.err.contains("in standard deviations of the columns"), "{}", said.err);
    assert!(number(&summary["held_out_rmse"]) < 0.8, "{summary}");
    assert!(desk.read("r.html").contains("scaled to standard deviation 1"));
    let (before, after) = (cells(&features(15)), cells(&desk.read("o.csv")));
    let value = |text: &String| text.parse::<f64>().unwrap();
    let factors = desk.json("f.json");
    let formula = factors["formula"].as_str().unwrap();
    assert!(formula.contains("scales[j] * (sum over r of left[i][r] * singular_values[r] * right[j][r])"), "{formula}");
    let mut checked = 0;
    for j in 1..=4 {
        let seen: Vec<f64> = before.iter().map(|row| &row[j]).filter(|cell| !cell.is_empty()).map(value).collect();
        let (low, high) = seen.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        assert_eq!(factors["bounds"][j - 1], json!([low, high]));
        for (i, (was, is)) in before.iter().zip(&after).enumerate() {
            let filled = value(&is[j]);
            if !was[j].is_empty() {
                assert_eq!(value(&was[j]), filled);
                continue;
            }
            assert!((low..=high).contains(&filled), "{filled} outside {low} to {high}");
            // by the formula of the file
            let rank = factors["singular_values"].as_array().unwrap().len();
            let part = |r: usize| {
                number(&factors["left"][i][r])
                    * number(&factors["singular_values"][r])
                    * number(&factors["right"][j - 1][r])
            };
            let level = number(&factors["mean"])
                + number(&factors["row_effects"][i])
                + number(&factors["column_effects"][j - 1]);
            let by_hand = level + number(&factors["scales"][j - 1]) * (0..rank).map(part).sum::<f64>();
            assert!((by_hand.clamp(low, high) - filled).abs() < 1e-9 * (high - low), "{by_hand} {filled}");
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
    let hidden = desk.succeeds("complete d.csv --observed 0.9 --json").json();
    assert!(number(&hidden["hidden_rmse"]) < 1.5, "in the unit of all errors: {hidden}");
    let plain = desk.succeeds("complete d.csv --no-scale --rank 1 --json").json();
    assert_eq!(plain["scaled"], json!(false));
    desk.refuses_with("complete d.csv --scale --ridge 1 --rank 1", &["cannot be used with"]);
    let entries = text("user,item,rating\n", &ratings(), 3, ",");
    desk.write("ratings.csv", entries);
    assert_eq!(desk.succeeds("complete ratings.csv --rank 1 --ridge 1 --json").json()["scaled"], json!(false));
    assert_eq!(desk.succeeds("complete ratings.csv --rank 1 --scale --json").json()["scaled"], json!(true));
}

#[test]
fn the_smallest_tables_are_filled_with_means() {
    let desk = Desk::new();
    desk.write("d.csv", "a,b\n1,10\n3,\n,30\n");
    desk.succeeds("complete d.csv --out o.csv").tells(&["too few entries", "rank 0"]);
    assert_eq!(desk.read("o.csv"), "a,b\n1,10\n3,20\n2,30\n");
    desk.write("d.csv", "a,b,c\n1,10,\n3,,\n,30,\n");
    desk.refuses_with("complete d.csv --out o.csv", &["column c has no value at all", "--drop c"]);
}

fn picture(path: &std::path::Path) -> Picture {
    match katoms_io::read(path, &ReadOptions::default()).unwrap() {
        Source::Picture(picture) => picture,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_picture_without_holes_is_refused_before_any_work() {
    let desk = Desk::new();
    desk.refuses_with(
        &format!("complete {} --rank 4 --out w.png", example("harbour.png")),
        &["nothing is missing", "--mask", "--observed", "--hole-colour"],
    );
    assert!(desk.files().is_empty());
    // a mask that is white all over hides nothing
    let whole = picture(example("harbour.png").as_ref());
    let white = Picture { channels: vec![vec![1.0; whole.seen.len()]], ..whole };
    desk.write("white.png", katoms_io::write_png(&white).unwrap());
    desk.refuses_with(
        &format!("complete {} --mask white.png --rank 4", example("harbour.png")),
        &["nothing is missing"],
    );
}

#[test]
fn painted_holes_are_filled() {
    let desk = Desk::new();
    let whole = picture(example("harbour.png").as_ref());
    let mut painted = whole.clone();
    let holes: Vec<usize> = (0..whole.seen.len()).filter(|pixel| pixel % 240 % 7 == 3 && pixel / 240 % 5 < 3).collect();
    for &pixel in &holes {
        [1.0, 0.0, 1.0].iter().zip(&mut painted.channels).for_each(|(value, channel)| channel[pixel] = *value);
    }
    desk.write("holes.png", katoms_io::write_png(&painted).unwrap());
    for (colour, rank) in [("#ff00ff", 12), ("#f0f", 1), ("Magenta", 1), ("ff00ff", 1)] {
        let said =
            desk.succeeds(&format!("complete holes.png --hole-colour {colour} --rank {rank} --out w{rank}.png --json"));
        let seen = said.json()["seen"].as_u64().unwrap() as usize;
        assert_eq!(seen, 3 * (whole.seen.len() - holes.len()), "{colour}");
    }
    let after = picture(&desk.path("w12.png"));
    let squares = holes.iter().flat_map(|&pixel| (0..3).map(move |c| (c, pixel)));
    let off: f64 = squares.map(|(c, pixel)| (after.channels[c][pixel] - whole.channels[c][pixel]).powi(2)).sum();
    assert!((off / (3 * holes.len()) as f64).sqrt() < 0.1);
    // paint that is a little off, as a JPEG leaves it
    for &pixel in &holes {
        painted.channels[1][pixel] = 12.0 / 255.0;
    }
    desk.write("holes.png", katoms_io::write_png(&painted).unwrap());
    desk.refuses_with(
        "complete holes.png --hole-colour magenta --rank 4",
        &["no pixel is #ff00ff", "is #ff0cff", "--hole-tolerance"],
    );
    let said =
        desk.succeeds("complete holes.png --hole-colour magenta --hole-tolerance 12 --rank 4 --ridge 0.1 --json");
    assert_eq!(said.json()["seen"].as_u64().unwrap() as usize, 3 * (whole.seen.len() - holes.len()));
    desk.refuses_with("complete holes.png --hole-colour beige --rank 4", &["is no colour", "magenta"]);
    desk.write("d.csv", "a,b\n1,2\n,3\n");
    desk.refuses_with("complete d.csv --hole-colour black --rank 1", &["goes with a picture"]);
}

/// What does not fit into memory is refused before the work, in words; the factors are written all the same.
#[cfg(unix)]
#[test]
fn a_matrix_that_does_not_fit_into_memory() {
    let desk = Desk::new();
    let side = 8000_u64;
    let entry = |i: u64| format!("{i},{i},3\n{i},{},{}\n", i * 7919 % side, i % 5 + 1);
    desk.write("d.csv", "user,item,rating\n".to_owned() + &(0..side).map(entry).collect::<String>());
    let program = env!("CARGO_BIN_EXE_katoms");
    let limited = |words: &str| {
        let script =
            format!("ulimit -v 1000000; RAYON_NUM_THREADS=2 '{program}' complete d.csv --rank 1 --ridge 1 {words}");
        Said::of(&Command::new("bash").args(["-c", &script]).current_dir(desk.path("")).output().unwrap())
    };
    for out in ["o.csv", "o.npy"] {
        let said = limited(&format!("--out {out}"));
        assert_eq!(said.code, Some(2), "{out}: {}", said.err);
        said.tells(&["8000 × 8000 cells", "MB of memory", "--factors"]);
        assert!(!said.err.contains("converged"), "refused before the work: {}", said.err);
    }
    let said = limited("--factors f.json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(desk.files(), ["d.csv", "f.json"]);
}
