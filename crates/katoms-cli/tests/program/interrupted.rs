//! Work that is cut short: Ctrl-C, time limits, checkpoints.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::desk::{Desk, Said, example};

/// A matrix of 4-byte numbers, and a target that is hard to explain: a fit takes many steps.
fn slow_problem(desk: &Desk, rows: usize, columns: usize) {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let header = |shape: String| {
        let head = format!("{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}, }}");
        let padded = format!("{head:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
        bytes.extend(padded.as_bytes());
        bytes
    };
    let mut design = header(format!("({rows}, {columns})"));
    // neighbours are alike, so that steps are short
    let mut last = vec![0.0_f32; rows];
    for _ in 0..columns {
        for value in &mut last {
            *value = 0.95 * *value + next();
            design.extend(value.to_le_bytes());
        }
    }
    let mut target = header(format!("({rows},)"));
    (0..rows).for_each(|_| target.extend(next().to_le_bytes()));
    desk.write("x.npy", design);
    desk.write("y.npy", target);
}

/// The plainest method takes hundreds of steps on such data.
const FIT: &str = "fit x.npy --target y.npy -k 30 --method iht --json";

#[test]
fn a_time_limit_ends_with_the_best_so_far() {
    let desk = Desk::new();
    slow_problem(&desk, 300, 3000);
    let said = desk.katoms(&format!("{FIT} --time-limit 0.01 --out m.json"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("stopped") && said.err.contains("best model so far"), "{}", said.err);
    let model = desk.json("m.json");
    assert_ne!(model["status"], "converged");
    assert_eq!(model["coefficients"].as_array().unwrap().len(), 30);
    let strict = desk.katoms(&format!("{FIT} --time-limit 0.01 --strict"));
    assert_eq!(strict.code, Some(1), "{}", strict.err);
}

/// Stopped three times and resumed, the fit makes the moves that it makes alone.
#[test]
fn a_checkpoint_goes_on_where_it_was() {
    let desk = Desk::new();
    slow_problem(&desk, 300, 3000);
    let whole = desk.succeeds(FIT).json();
    for _ in 0..3 {
        let said = desk.succeeds(&format!("{FIT} --checkpoint s.katoms --time-limit 0.02")).json();
        let done = said["run"]["status"] == "converged";
        assert_eq!(desk.files().contains(&"s.katoms".to_owned()), !done);
    }
    let resumed = desk.succeeds(&format!("{FIT} --checkpoint s.katoms")).json();
    assert_eq!(resumed["model"]["coefficients"], whole["model"]["coefficients"]);
    assert_eq!(resumed["run"]["iterations"], whole["run"]["iterations"]);
    assert!(!desk.files().contains(&"s.katoms".to_owned()), "a job that is done keeps no state");
}

/// A search with exchanges is resumed as well, and ends with the same model.
#[test]
fn a_search_goes_on_from_its_checkpoint() {
    let desk = Desk::new();
    slow_problem(&desk, 200, 1000);
    let words = "fit x.npy --target y.npy -k 12 --json";
    let whole = desk.succeeds(words).json();
    desk.succeeds(&format!("{words} --checkpoint s.katoms --time-limit 0.0001"));
    let resumed = desk.succeeds(&format!("{words} --checkpoint s.katoms")).json();
    assert_eq!(resumed["model"]["coefficients"], whole["model"]["coefficients"]);
    assert_eq!(resumed["run"]["status"], "converged");
}

/// What cannot be saved is told, and the model is there all the same.
#[test]
fn a_checkpoint_that_cannot_be_written_costs_nothing() {
    let desk = Desk::new();
    slow_problem(&desk, 100, 500);
    std::fs::create_dir(desk.path("s.katoms")).unwrap();
    let error = desk.refuses(&format!("{FIT} --checkpoint s.katoms --out m.json"));
    assert!(error.contains("s.katoms"), "{error}");
    let error = desk.refuses(&format!("{FIT} --checkpoint nowhere/s.katoms --out m.json"));
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn a_checkpoint_of_another_job_is_refused() {
    let desk = Desk::new();
    slow_problem(&desk, 100, 500);
    desk.succeeds(&format!("{FIT} --checkpoint s.katoms --time-limit 0.001"));
    let error = desk.refuses(&format!("{FIT} --checkpoint s.katoms").replace("-k 30", "-k 20"));
    assert!(error.contains("k was 30, now it is 20") && error.contains("delete s.katoms"), "{error}");
    desk.write("s.katoms", "no state at all");
    assert!(desk.refuses(&format!("{FIT} --checkpoint s.katoms")).contains("delete s.katoms"));
}

/// One Ctrl-C while the program works: it ends by itself, with a model.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_the_best_so_far() {
    let desk = Desk::new();
    slow_problem(&desk, 1000, 12_000);
    let mut command = desk.command(&format!("{FIT} --out m.json --checkpoint s.katoms"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Before the work begins Ctrl-C ends the program as everyone expects; a checkpoint tells that it has begun. The
    // first is written after two seconds, or at the end.
    while !desk.path("s.katoms").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let model = desk.json("m.json");
    assert_eq!(model["coefficients"].as_array().unwrap().len(), 30);
    // On a machine on which all of it takes less, there was nothing left to stop.
    if model["status"] != "converged" {
        assert!(said.err.contains("ending with the best so far"), "{}", said.err);
        assert_eq!(model["status"], "stopped", "{}", said.err);
        assert!(desk.files().contains(&"s.katoms".to_owned()));
    }
}

/// Paths, validations and completions keep what they have, and say that it is not all.
#[test]
fn a_time_limit_leaves_what_is_there() {
    let desk = Desk::new();
    slow_problem(&desk, 200, 2000);
    for words in ["path x.npy --target y.npy -k 1..30", "cv x.npy --target y.npy -k 1..30 --folds 4"] {
        let said = desk.succeeds(&format!("{words} --time-limit 0.000001 --json"));
        assert!(said.err.contains("ended early"), "{}", said.err);
        assert!(said.json()["model"]["k"].as_u64().unwrap() >= 1);
        assert_eq!(desk.katoms(&format!("{words} --time-limit 0.000001 --strict")).code, Some(1));
    }
    let picture = format!("complete {} --observed 0.4 --rank 8 --time-limit 0.000001", example("harbour.png"));
    let said = desk.succeeds(&picture);
    assert!(said.err.contains("stopped at the time limit"), "{}", said.err);
    assert_eq!(desk.katoms(&format!("{picture} --strict")).code, Some(1));
}

/// On a terminal, work that takes more than a second shows a bar; the rest of standard error is the same.
#[cfg(unix)]
#[test]
fn a_terminal_shows_a_bar() {
    let desk = Desk::new();
    slow_problem(&desk, 1000, 6000);
    let program = env!("CARGO_BIN_EXE_katoms");
    // Refits of 300 columns, and they go in circles: seconds on any machine.
    let fit = FIT.replace("-k 30 --method iht", "-k 100 --method cosamp");
    let typed = format!("{program} {fit} --time-limit 4 > out.json");
    match Command::new("script").args(["-qec", &typed, "terminal"]).current_dir(desk.path("")).output() {
        Ok(output) if output.status.success() => {
            let screen = desk.read("terminal");
            assert!(
                screen.contains("fitting") && screen.contains("objective") && screen.contains("passes"),
                "{screen}"
            );
        }
        _ => eprintln!("skipped: there is no `script` here to make a terminal"),
    }
    let piped = desk.succeeds(&format!("{fit} --time-limit 2"));
    assert!(!piped.err.contains("fitting"), "{}", piped.err);
}
