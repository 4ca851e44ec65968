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

/// Genotypes with two covariates, and the model that MendelIHT.jl found for them: it counts the other allele, so that its
/// signs are the other way round.
#[test]
fn genotypes_give_the_model_of_mendel_iht() {
    let (Some(bed), Some(covariates)) = (data("mendeliht/normal.bed"), data("mendeliht/covariates.txt")) else {
        return;
    };
    let estimates = std::fs::read_to_string(bed.with_file_name("iht.beta.txt")).unwrap();
    let theirs: Vec<(String, f64)> = estimates
        .lines()
        .map(|line| line.trim().parse::<f64>().unwrap())
        .enumerate()
        .filter(|(_, beta)| *beta != 0.0)
        .map(|(j, beta)| (format!("snp{}", j + 1), beta))
        .collect();
    assert_eq!(theirs.len(), 8);
    let desk = Desk::new();
    let said = desk
        .succeeds(&format!("fit {} --covariates {} -k 8 --json", bed.display(), covariates.display()))
        .telling(&["covariate1 left out"]);
    let said = said.json();
    let coefficients = said["model"]["coefficients"].as_array().unwrap();
    assert_eq!(coefficients.len(), 9, "the covariate that is not constant is in the model");
    for (ours, (name, beta)) in coefficients.iter().zip(&theirs) {
        assert_eq!(ours["column"], name.as_str());
        // Theirs is for columns divided by √(2p(1 − p)), the deviation of alleles that are drawn independently.
        let p = ours["mean"].as_f64().unwrap() / 2.0;
        let value = ours["value"].as_f64().unwrap() * (2.0 * p * (1.0 - p)).sqrt();
        assert!((value + beta).abs() < 1e-4, "{name}: {value} for {beta}");
    }
    // The log-likelihood of normal errors, of half the sum of squares; they stopped at −1390.3003586.
    let (n, loss) = (1000.0, said["run"]["loss"].as_f64().unwrap());
    let likelihood = -n / 2.0 * ((2.0 * std::f64::consts::PI * 2.0 * loss / n).ln() + 1.0);
    assert!((likelihood + 1_390.300_358_6).abs() < 1e-6, "{likelihood}");
}
