//! Data in several files, which worker processes hold.

use std::process::Stdio;

use serde_json::Value;

use crate::desk::{Desk, Said};
use crate::interrupted::slow_problem;

const ROWS: usize = 120;
const COLUMNS: usize = 600;

fn npy(rows: usize, columns: usize, columns_first: bool, values: impl Iterator<Item = f32>) -> Vec<u8> {
    let order = if columns_first { "True" } else { "False" };
    let head = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}");
    let padded = format!("{head:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
    bytes.extend(padded.as_bytes());
    values.for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

/// `x.npy` and `y.npy`; the same design in files of columns and in files of rows.
pub fn cut(desk: &Desk, rows: usize, columns: usize) {
    slow_problem(desk, rows, columns);
    let design = std::fs::read(desk.path("x.npy")).unwrap();
    let values: Vec<f32> = design[128..].as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let at = |i: usize, j: usize| values[j * rows + i];
    for (block, (first, end)) in
        [(0, columns / 6), (columns / 6, columns / 2), (columns / 2, columns)].into_iter().enumerate()
    {
        let own = (first..end).flat_map(|j| (0..rows).map(move |i| at(i, j)));
        desk.write(&format!("columns{block}.npy"), npy(rows, end - first, true, own));
    }
    for (block, (first, end)) in [(0, rows / 3), (rows / 3, rows)].into_iter().enumerate() {
        let own = (first..end).flat_map(|i| (0..columns).map(move |j| at(i, j)));
        desk.write(&format!("rows{block}.npy"), npy(end - first, columns, false, own));
    }
}

const BY_COLUMNS: &str = "columns0.npy columns1.npy columns2.npy --target y.npy";
const BY_ROWS: &str = "rows0.npy rows1.npy --target y.npy";

fn coefficients(answer: &Value) -> &Value {
    &answer["model"]["coefficients"]
}

fn features(answer: &Value) -> Vec<&Value> {
    coefficients(answer).as_array().unwrap().iter().map(|one| &one["feature"]).collect()
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    let desk = Desk::new();
    cut(&desk, ROWS, COLUMNS);
    let alone = desk.succeeds("fit x.npy --target y.npy -k 6 --json").json();
    for (files, blocks) in [(BY_COLUMNS, 3), (BY_ROWS, 2)] {
        let fit = |workers: usize| desk.succeeds(&format!("fit {files} -k 6 --workers {workers} --json")).json();
        let one = fit(1);
        assert_eq!(features(&one), features(&alone));
        for workers in 1..=3 {
            let found = fit(workers);
            assert_eq!(coefficients(&found), coefficients(&one), "{workers} workers");
            assert_eq!(found["model"]["quality"], one["model"]["quality"]);
            let told = &found["run"]["workers"];
            assert_eq!((&told["workers"], &told["blocks"]), (&workers.min(blocks).into(), &blocks.into()));
            assert!(told["round_trips"].as_u64().unwrap() > 0 && told["losses"] == 0, "{told}");
        }
    }
    // Dense columns that are not cut are those of one file, to the bit.
    let columns = desk.succeeds(&format!("fit {BY_COLUMNS} -k 6 --json")).json();
    assert_eq!(coefficients(&columns), coefficients(&alone));
    desk.succeeds(&format!("fit {BY_COLUMNS} -k 6 --workers 2")).tells(&["2 workers, 3 blocks: ", " round trips, "]);
}

#[test]
fn paths_and_validation_go_by_workers_too() {
    let desk = Desk::new();
    cut(&desk, ROWS, 200);
    for job in ["path -k 0..5", "cv -k 1..4 --folds 3", "fit -k 4 --method iht", "fit -k 3 --stability 5"] {
        let (command, options) = job.split_once(' ').unwrap();
        let alone = desk.succeeds(&format!("{command} x.npy --target y.npy {options} --json")).json();
        for files in [BY_COLUMNS, BY_ROWS] {
            let found = desk.succeeds(&format!("{command} {files} --workers 2 {options} --json")).json();
            assert_eq!(features(&found), features(&alone), "{job}");
            let [there, here] = [&found, &alone].map(|answer| answer["run"]["loss"].as_f64().unwrap());
            assert!((there - here).abs() <= 1e-6 * here, "{job}: {there} and {here}");
        }
    }
}

#[test]
fn classes_and_sparse_files_live_with_workers() {
    let desk = Desk::new();
    let cell = |i: usize, j: usize| ((i * 37 + j * 101 + (i * j) % 7) % 11) as f32 - 5.0;
    let coordinate = |columns: std::ops::Range<usize>| {
        let entries: Vec<String> = columns
            .clone()
            .enumerate()
            .flat_map(|(at, j)| (0..60).map(move |i| (i, at, j)))
            .filter(|&(i, _, j)| cell(i, j) > 2.0)
            .map(|(i, at, j)| format!("{} {} {}\n", i + 1, at + 1, cell(i, j)))
            .collect();
        let head = "%%MatrixMarket matrix coordinate real general\n";
        format!("{head}60 {} {}\n{}", columns.len(), entries.len(), entries.concat())
    };
    desk.write("a.mtx", coordinate(0..15));
    desk.write("b.mtx", coordinate(15..40));
    desk.write("x.mtx", coordinate(0..40));
    let classes: String =
        (0..60).map(|i| if cell(i, 3) + cell(i, 20) + cell(i, 33) > 1.0 { "yes\n" } else { "no\n" }).collect();
    desk.write("y.csv", format!("y\n{classes}"));
    let alone = desk.succeeds("fit x.mtx --target y.csv --loss logistic --ridge 0.1 -k 3 --json").json();
    let found =
        desk.succeeds("fit a.mtx b.mtx --target y.csv --loss logistic --ridge 0.1 -k 3 --workers 2 --json").json();
    assert_eq!(features(&found), features(&alone));
    assert_eq!(found["model"]["target"], alone["model"]["target"]);
}

#[test]
fn models_predict_from_several_files() {
    let desk = Desk::new();
    cut(&desk, 60, 90);
    desk.succeeds(&format!("fit {BY_COLUMNS} -k 4 --workers 2 --out m.json"));
    let whole = desk.succeeds("predict m.json x.npy").out;
    assert_eq!(whole.lines().count(), 61);
    assert_eq!(desk.succeeds("predict m.json columns0.npy columns1.npy columns2.npy").out, whole);
    assert_eq!(desk.succeeds("predict m.json rows0.npy rows1.npy").out, whole);
    desk.succeeds(&format!("predict m.json {BY_ROWS}")).tells(&["target is known in 60 rows: R²"]);
    desk.write("short.npy", npy(59, 45, true, (0..59 * 45).map(|at| at as f32)));
    for (files, told) in [
        ("columns0.npy columns1.npy", "15 columns in the first and 45 in all; the model was fitted to 90"),
        ("columns0.npy columns1.npy short.npy", "short.npy has 59 rows, and columns0.npy has 60"),
        ("rows0.npy nowhere.npy", "nowhere.npy"),
    ] {
        desk.refuses_with(&format!("predict m.json {files}"), &[told]);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_file() {
    let desk = Desk::new();
    cut(&desk, 30, 60);
    let mut holes = std::fs::read(desk.path("columns1.npy")).unwrap();
    // row 3 of column 2 of this block
    let at = 128 + 4 * (30 + 2);
    holes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    desk.write("holes.npy", holes);
    desk.write("cut.npy", &std::fs::read(desk.path("columns2.npy")).unwrap()[..1000]);
    desk.write("table.csv", "a,b\n1,2\n");
    desk.write("short.npy", npy(29, 2, true, (0..58).map(|at| at as f32)));
    let cases: [(&str, &[&str]); 12] = [
        ("fit columns0.npy holes.npy --target y.npy -k 2", &["holes.npy, row 3, column 2: NaN is not a finite number"]),
        ("fit columns0.npy nowhere.npy --target y.npy -k 2", &["nowhere.npy"]),
        ("fit columns0.npy cut.npy --target y.npy -k 2", &["cut.npy"]),
        ("fit columns0.npy table.csv --target y.npy -k 2", &["table.csv is a table", "write it as .npy"]),
        ("fit columns0.npy short.npy --target y.npy -k 2", &["short.npy has 29 rows; 30 are needed"]),
        (
            "fit columns0.npy columns1.npy -k 2",
            &["the target of files that workers hold is a file of its own", "--target y.npy"],
        ),
        ("fit columns0.npy columns1.npy --target y -k 2", &["y names no file"]),
        ("fit columns0.npy columns1.npy --target nowhere.npy -k 2", &["nowhere.npy"]),
        ("fit rows0.npy --target y.npy -k 2 --workers 2", &["rows0.npy has 10 rows, and y.npy 30 values"]),
        (
            "fit columns0.npy columns1.npy --target y.npy -k 2 --weights w",
            &["--weights does not go with files that workers hold"],
        ),
        ("fit columns0.npy columns1.npy --target y.npy -k 2 --workers 0", &["--workers", "a whole number above 0"]),
        ("fit columns0.npy columns1.npy --target y.npy -k 2 --out columns1.npy", &["columns1.npy"]),
    ];
    for (words, expected) in cases {
        desk.refuses_with(words, expected);
    }
}

/// The processes that a process started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after_name = status.rsplit(')').next().unwrap_or_default().to_owned();
        after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    };
    processes.filter(is_child).collect()
}

/// Runs the program, and kills workers of it as long as it runs: one after each of these pauses, in milliseconds.
#[cfg(target_os = "linux")]
fn killing(desk: &Desk, words: &str, pauses: impl Iterator<Item = u64>) -> Said {
    let mut child = desk.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for (attempt, pause) in pauses.enumerate() {
        std::thread::sleep(std::time::Duration::from_millis(pause));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        let workers = children(child.id());
        if !workers.is_empty() {
            let process = workers[attempt % workers.len()].to_string();
            let _ = std::process::Command::new("kill").args(["-9", &process]).stderr(Stdio::null()).status();
        }
    }
    Said::of(&child.wait_with_output().unwrap())
}

#[cfg(target_os = "linux")]
fn losses_change_no_bit(runs: u64) {
    let desk = Desk::new();
    cut(&desk, 300, 3000);
    for files in [BY_COLUMNS, BY_ROWS] {
        let words = format!("fit {files} -k 12 --method iht --workers 2 --json");
        let clock = std::time::Instant::now();
        let right = desk.succeeds(&words).json();
        let whole = clock.elapsed().as_millis() as u64;
        let mut lost = 0;
        for run in 0..runs {
            let said = killing(&desk, &words, std::iter::once(whole * ((run * 37 + 31) % 100) / 100));
            assert_eq!(said.code, Some(0), "{}", said.err);
            let found = said.json();
            assert_eq!(coefficients(&found), coefficients(&right));
            assert_eq!(found["run"]["iterations"], right["run"]["iterations"]);
            lost += found["run"]["workers"]["losses"].as_u64().unwrap();
        }
        assert!(lost > 0, "no run of {runs} lost a worker");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn workers_that_are_killed_change_no_bit() {
    losses_change_no_bit(4);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "minutes; `make test-long` runs it"]
fn workers_that_are_killed_a_hundred_times_change_no_bit() {
    losses_change_no_bit(50);
}

/// Workers that cannot live are told of; a checkpoint is there to go on from, and gives the bits of a run in peace.
#[test]
#[cfg(target_os = "linux")]
fn workers_that_are_always_lost_end_the_fit_and_leave_a_checkpoint() {
    let desk = Desk::new();
    cut(&desk, 300, 3000);
    let words = format!("fit {BY_COLUMNS} -k 30 --method iht --workers 1 --json");
    let right = desk.succeeds(&words).json();
    let saving = format!("{words} --checkpoint s.katoms --checkpoint-every 0.001");
    let mut child = desk.command(&saving).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !desk.path("s.katoms").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    while child.try_wait().unwrap().is_none() {
        for process in children(child.id()) {
            let _ =
                std::process::Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
        }
    }
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    said.tells(&["was lost 4 times in a row", "columns0.npy to columns2.npy (3 files)", "--checkpoint"]);
    assert!(desk.path("s.katoms").exists());
    let resumed = desk.succeeds(&format!("{words} --checkpoint s.katoms")).json();
    assert_eq!(coefficients(&resumed), coefficients(&right));
    assert!(!desk.path("s.katoms").exists());
}

/// Nobody is left behind.
#[test]
#[cfg(target_os = "linux")]
fn workers_end_with_the_program() {
    let desk = Desk::new();
    cut(&desk, 300, 3000);
    let words = format!("fit {BY_COLUMNS} -k 30 --method iht --workers 3");
    let mut child = desk.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let workers = loop {
        let workers = children(child.id());
        if workers.len() == 3 || child.try_wait().unwrap().is_some() {
            break workers;
        }
    };
    assert_eq!(workers.len(), 3);
    child.kill().unwrap();
    child.wait().unwrap();
    while workers.iter().any(|worker| std::path::Path::new(&format!("/proc/{worker}")).exists()) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
