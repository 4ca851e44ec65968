//! Work that is cut short: Ctrl-C, time limits, checkpoints.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::desk::{Desk, Said, example};

/// A matrix of 4-byte numbers, and a target that is hard to explain: a fit takes many steps.
pub fn slow_problem(desk: &Desk, rows: usize, columns: usize) {
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
    desk.refuses_with(&format!("{FIT} --checkpoint s.katoms --out m.json"), &["s.katoms"]);
    desk.refuses_with(&format!("{FIT} --checkpoint nowhere/s.katoms --out m.json"), &["nowhere"]);
}

/// Whose a checkpoint is, is told in words, with what to do; and it stays as it is.
#[test]
fn a_checkpoint_of_another_job_is_refused() {
    let desk = Desk::new();
    slow_problem(&desk, 100, 500);
    desk.succeeds(&format!("{FIT} --checkpoint s.katoms --time-limit 0.001"));
    let saved = std::fs::read(desk.path("s.katoms")).unwrap();
    let refused = |words: &str, why: &str| {
        desk.refuses_with(
            &format!("{words} --checkpoint s.katoms"),
            &["s.katoms: this checkpoint cannot be used: ", why, "delete s.katoms to begin anew, or name another file"],
        );
    };
    refused(&FIT.replace("-k 30", "-k 20"), "it was saved with other options: k was 30 and is 20");
    refused(&FIT.replace("--method iht", "--method cosamp"), "--method was iht and is cosamp");
    refused(&FIT.replace("--method iht", ""), "--method was iht and is the search");
    refused(&format!("{FIT} --ridge 2 --no-intercept"), "--ridge was 0 and is 2, --no-intercept was false and is true");
    refused(
        "recover --matrix x.npy -b y.npy -k 30 --method iht",
        "saved by `katoms fit`, and this is `katoms recover`",
    );
    desk.write("g.csv", "a,b,c\n1,2,\n2,4,6\n,6,9\n4,8,12\n");
    refused("complete g.csv --rank 1", "saved by `katoms fit`, and this is `katoms complete`");
    assert_eq!(std::fs::read(desk.path("s.katoms")).unwrap(), saved);
    // the same shape and other values; then another shape
    let design = std::fs::read(desk.path("x.npy")).unwrap();
    let mut other = design.clone();
    let last = other.len() - 3;
    other[last] ^= 1;
    desk.write("x.npy", &other);
    refused(FIT, "it was saved for other data: they have as many rows and columns, and other values");
    slow_problem(&desk, 100, 400);
    refused(FIT, "other data, of 100 rows and 500 columns, and these have 100 rows and 400 columns");
    // options in another order, and others of which the answer does not depend
    slow_problem(&desk, 100, 500);
    let resumed =
        desk.succeeds("fit --method iht -k 30 --target y.npy --checkpoint s.katoms x.npy --quiet --out m.json");
    assert!(resumed.err.is_empty(), "{}", resumed.err);
    assert!(!desk.files().contains(&"s.katoms".to_owned()));
}

#[test]
fn a_damaged_checkpoint_and_one_of_another_version_are_told_apart() {
    let desk = Desk::new();
    slow_problem(&desk, 100, 500);
    desk.succeeds(&format!("{FIT} --checkpoint s.katoms --time-limit 0.001"));
    let saved = std::fs::read(desk.path("s.katoms")).unwrap();
    let words = format!("{FIT} --checkpoint s.katoms");
    for at in [20, 60, saved.len() / 2, saved.len() - 1] {
        desk.write("s.katoms", &saved[..at]);
        desk.refuses_with(&words, &["damaged", "delete s.katoms"]);
    }
    let mut flipped = saved.clone();
    let last = flipped.len() - 100;
    flipped[last] ^= 0x20;
    desk.write("s.katoms", &flipped);
    desk.refuses_with(&words, &["damaged"]);
    let later =
        String::from_utf8_lossy(&saved).replacen("\"format\":1,\"katoms\":\"", "\"format\":2,\"katoms\":\"9.", 1);
    desk.write("s.katoms", later);
    desk.refuses_with(&words, &["it was saved by katoms 9.", "has another format"]);
    desk.write("s.katoms", b"katoms\0s\x03\x041000d\x1e");
    desk.refuses_with(&words, &["it was saved by an earlier katoms"]);
}

/// A file that is no checkpoint is never written to, whatever a person names by mistake.
#[test]
fn a_file_that_is_no_checkpoint_is_left_alone() {
    let desk = Desk::new();
    slow_problem(&desk, 100, 500);
    let content = "name,value\nkatoms checkpoint,1\n";
    desk.write("data.csv", content);
    desk.write("g.csv", "a,b,c\n1,2,\n2,4,6\n,6,9\n4,8,12\n");
    for words in [FIT, "recover --matrix x.npy -b y.npy -k 30 --method iht", "complete g.csv --rank 1"] {
        desk.refuses_with(
            &format!("{words} --checkpoint data.csv"),
            &["data.csv: this is not a checkpoint of katoms, so it is left as it is"],
        );
        assert_eq!(desk.read("data.csv"), content);
    }
    desk.refuses_with(&format!("{FIT} --checkpoint x.npy"), &["x.npy is read, and would be overwritten"]);
    // before the work: the data are not even read
    desk.refuses_with("fit nowhere.csv --target y -k 3 --checkpoint data.csv", &["data.csv: this is not a checkpoint"]);
    // a name for a file that is to come
    desk.write("new.katoms", "");
    desk.succeeds(&format!("{FIT} --checkpoint new.katoms --time-limit 0.001"));
    assert!(desk.succeeds(&format!("{FIT} --checkpoint new.katoms")).err.contains("going on from the checkpoint"));
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
        let said = desk.succeeds(&format!("{words} --time-limit 0.000001 --json")).telling(&["ended early"]);
        // One deadline: the last fit makes a single move from the model that was chosen.
        let (model, run) = (&said.json()["model"], &said.json()["run"]);
        assert!(model["k"].as_u64().unwrap() >= 1 && !model["coefficients"].as_array().unwrap().is_empty());
        assert_eq!((&run["status"], &run["iterations"]), (&"time-limit".into(), &1.into()), "{words}");
        said.tells(&["stopped at the time limit: this is the best model so far"]);
        assert_eq!(desk.katoms(&format!("{words} --time-limit 0.000001 --strict")).code, Some(1));
    }
    let picture = format!("complete {} --observed 0.4 --rank 8 --time-limit 0.000001", example("harbour.png"));
    desk.succeeds(&picture).tells(&["stopped at the time limit"]);
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
    let typed = format!("{program} {fit} --time-limit 2.5 > out.json");
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
    let piped = desk.succeeds(&format!("{fit} --time-limit 1.5"));
    assert!(!piped.err.contains("fitting"), "{}", piped.err);
}
