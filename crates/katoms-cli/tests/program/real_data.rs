//! Real data with a known truth, where it is there: a folder in `KATOMS_DATA`, or `shared/data` beside the checkout.

use std::path::{Path, PathBuf};

use crate::desk::Desk;

fn data(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("KATOMS_DATA").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: there is no {name}");
    }
    path.canonicalize().ok()
}

/// The best subset of every size, found by looking at all of them.
#[test]
fn paths_are_the_best_subsets() {
    let Some(truth) = data("best_subset_truth.json") else { return };
    let truth: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(truth).unwrap()).unwrap();
    let desk = Desk::new();
    for name in ["prostate", "diabetes", "bodyfat"] {
        let Some(file) = data(&format!("{name}.npz")) else { return };
        let columns = truth[name]["p"].as_u64().unwrap();
        let said = desk.succeeds(&format!("path {} --target y -k 1..{columns} --json -q", file.display())).json();
        for model in said["path"]["models"].as_array().unwrap() {
            let best = &truth[name]["best"][model["k"].to_string()]["support"];
            let mut expected: Vec<String> =
                best.as_array().unwrap().iter().map(|j| format!("x{}", j.as_u64().unwrap() + 1)).collect();
            let mut found: Vec<String> =
                model["chosen"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()).collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{name}, k = {}", model["k"]);
        }
    }
}
