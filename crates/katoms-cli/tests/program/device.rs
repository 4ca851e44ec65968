//! `--device`: what is said where there is no card, and of what no card takes. Fits on a card are tested where there is one.

use crate::desk::{Desk, example};

fn has_card() -> bool {
    katoms_cuda::probe().is_ok()
}

#[test]
fn without_a_driver_one_line_says_what_to_do() {
    if has_card() {
        return;
    }
    let desk = Desk::new();
    let houses = example("houses.csv");
    for command in ["fit -k 2", "path", "cv"] {
        for device in ["cuda", "cuda:1"] {
            let words = format!("{command} {houses} --target price --device {device} --out m.json --report r.html");
            let error = desk.refuses(&words);
            assert_eq!(error.trim_end().lines().count(), 1, "{error}");
            assert!(error.starts_with("katoms: --device: ") && error.contains("fit on the CPU"), "{error}");
        }
    }
}

#[test]
fn an_unknown_device() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    for device in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA"] {
        let words = format!("fit {houses} --target price -k 2 --device {device}");
        desk.refuses_with(&words, &[device, "it must be cpu, cuda, or cuda:1"]);
    }
}

#[test]
fn the_host_is_a_device_as_well() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    let fit = |more: &str| desk.succeeds(&format!("fit {houses} --target price -k 2 --json {more}")).json();
    assert_eq!(fit("--device cpu")["coefficients"], fit("")["coefficients"]);
}

#[test]
fn what_does_not_go_with_a_card() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    let words = format!("fit {houses} --target price -k 2 --device cuda --interactions weak");
    desk.refuses_with(&words, &["--interactions", "leave --device out"]);
    desk.refuses_with("fit a.npy b.npy --target y.npy -k 2 --device cuda", &["several files", "leave --device out"]);
}

#[test]
#[ignore = "needs an NVIDIA card: make test-gpu"]
fn a_card_gives_the_model_of_the_host() {
    let desk = Desk::new();
    let houses = example("houses.csv");
    for command in ["fit -k 4", "path -k 0..6", "cv -k 0..6"] {
        let said = |device: &str| {
            let words = format!("{command} {houses} --target price --json --device {device}");
            desk.succeeds(&words).json()
        };
        let names = |of: &serde_json::Value| -> Vec<String> {
            let all = of["coefficients"].as_array().unwrap();
            all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        let (there, here) = (said("cuda"), said("cpu"));
        assert_eq!(names(&there), names(&here), "{command}");
    }
}
