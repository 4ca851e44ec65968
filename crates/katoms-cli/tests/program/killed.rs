//! Runs that are killed outright, as by a power cut, and go on from their checkpoint: the bits are those of a run that
//! nobody disturbed. `tools/kill_and_resume.py` does the same for a program that is given.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::desk::{Desk, Said};
use crate::interrupted::slow_problem;

/// The answer without what it cost: a resumed run reads the columns again that the other one still had at hand.
fn without_cost(mut answer: Value) -> Value {
    for part in ["/run/seconds", "/run/columns", "/seconds", "/model/command"] {
        if let Some(value) = answer.pointer_mut(part) {
            *value = Value::Null;
        }
    }
    answer
}

fn holes(desk: &Desk, rows: usize, columns: usize) {
    let value = |i: usize, j: usize| {
        let (i, j) = (i as f64, j as f64);
        (0.7 * i).sin() * (0.3 * j).cos() + (1.3 * i).cos() * (0.9 * j).sin() + 0.1 * (i * 37.0 + j * 91.0).sin()
    };
    let cell = |i: usize, j: usize| if (7 * i + 3 * j) % 5 < 2 { String::new() } else { value(i, j).to_string() };
    let row = |i: usize| (0..columns).map(|j| cell(i, j)).collect::<Vec<_>>().join(",") + "\n";
    let names = (0..columns).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",");
    desk.write("holes.csv", names + "\n" + &(0..rows).map(row).collect::<String>());
}

/// Kills a job so often: when it has a checkpoint, while it writes one, and at moments spread over its time. Whenever a run
/// comes to its end, the answer is that of the first.
fn is_killed(desk: &Desk, words: &str, kills: usize) {
    let clock = Instant::now();
    let right = without_cost(desk.succeeds(words).json());
    let whole = clock.elapsed();
    let (mut killed, mut resumed) = (0, 0);
    for attempt in 0.. {
        resumed += usize::from(desk.path("s.katoms").exists());
        let mut command = desk.command(&format!("{words} --checkpoint s.katoms --checkpoint-every 0.005"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (clock, moment) = (Instant::now(), whole.mul_f64(((attempt * 37 + 11) % 100) as f64 / 100.0));
        let being_written = || desk.files().iter().filter(|name| name.ends_with(".part")).count();
        let before = being_written();
        let is_time = || match attempt % 3 {
            0 => desk.path("s.katoms").exists(),
            1 => being_written() > before,
            _ => clock.elapsed() >= moment,
        };
        while killed < kills && child.try_wait().unwrap().is_none() {
            if is_time() {
                child.kill().unwrap();
                break;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_none() {
            killed += 1;
            continue;
        }
        let said = Said::of(&output);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(without_cost(said.json()), right, "after {killed} kills");
        assert!(!desk.path("s.katoms").exists(), "a job that is done keeps no state");
        if killed == kills {
            break;
        }
    }
    assert!(resumed > 0, "no run was resumed in {kills} kills");
}

fn all_are_killed(kills: usize) {
    let desk = Desk::new();
    slow_problem(&desk, 300, 3000);
    holes(&desk, 200, 120);
    for words in [
        "fit x.npy --target y.npy -k 30 --method iht --json",
        "fit x.npy --target y.npy -k 12 --json",
        "recover --matrix x.npy -b y.npy -k 30 --method iht --json",
        "complete holes.csv --rank 4 --ridge 0.1 --json",
    ] {
        is_killed(&desk, words, kills);
    }
}

#[test]
fn killed_runs_go_on_to_the_same_bits() {
    all_are_killed(3);
}

#[test]
#[ignore = "minutes; `make test-long` runs it"]
fn runs_that_are_killed_two_hundred_times_go_on_to_the_same_bits() {
    all_are_killed(200);
}
