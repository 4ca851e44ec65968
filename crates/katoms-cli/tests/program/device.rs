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
fn a_completion_says_so_as_well() {
    let desk = Desk::new();
    desk.write("ratings.csv", "person,film,rating\na,x,1\nb,x,2\na,y,3\nc,y,4\n");
    let words = "complete ratings.csv --rank 1 --device cuda --out whole.csv";
    if !has_card() {
        let error = desk.refuses(words);
        assert!(error.starts_with("katoms: --device: ") && error.contains("fit on the CPU"), "{error}");
    }
    let complete = |more: &str| {
        desk.succeeds(&format!("complete ratings.csv --rank 1 --factors factors.json {more}"));
        desk.read("factors.json")
    };
    assert_eq!(complete("--device cpu"), complete(""));
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
    let plain = fit("");
    assert!(plain["model"]["coefficients"].is_array());
    assert_eq!(fit("--device cpu")["model"]["coefficients"], plain["model"]["coefficients"]);
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
fn a_card_completes_as_the_host() {
    let desk = Desk::new();
    let harbour = example("harbour.png");
    let complete = |device: &str| {
        let words = format!("complete {harbour} --observed 0.4 --rank 5 --json --device {device} --out whole.png");
        desk.succeeds(&words).json()["seen_rmse"].as_f64().unwrap()
    };
    let (there, here) = (complete("cuda"), complete("cpu"));
    assert!((there / here - 1.0).abs() < 1e-6, "{there} {here}");
    let table = example("houses.csv");
    desk.refuses_with(
        &format!("complete {table} --observed 0.9 --scale --rank 1 --device cuda"),
        &["--no-scale", "leave --device out"],
    );
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
            let all = of["model"]["coefficients"].as_array().unwrap();
            all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        let (there, here) = (said("cuda"), said("cpu"));
        assert_eq!(names(&there), names(&here), "{command}");
    }
}
