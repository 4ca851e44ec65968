//! Made-up figures of every kind and a made-up section, for tests.

use std::collections::BTreeMap;

use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Map, Panel, Picture, Place, Shade, Stroke};
use crate::{Agreement, Contestant, Experiment, Scale, Section, Table, Verdict};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

/// A figure of panels.
pub fn figure(name: &str, columns: usize, panels: Vec<(String, Body)>) -> Figure {
    let panels = panels.into_iter().map(|(title, body)| Panel { title, body }).collect();
    Figure { name: name.into(), title: format!("The figure {name}"), caption: "What is seen.".into(), columns, panels }
}

/// A chart without shades and places.
pub fn chart(x: Axis, y: Axis, curves: Vec<Curve>) -> Chart {
    Chart { x, y, curves, shades: vec![], places: vec![] }
}

/// Twelve methods with bands over sparsity levels, in three panels.
pub fn banded() -> Figure {
    let names = ["Area under the curve", "R² on held-out rows", "Log-likelihood of the training rows"];
    let panel = |(at, name): (usize, &&str)| {
        let curve = |(i, who): (usize, &Contestant)| {
            let height =
                |k: f64| (1.0 - (-k / (8.0 + 3.0 * i as f64)).exp()) * (1.0 - 0.03 * i as f64) + 0.1 * at as f64;
            let ks = (1..=20).map(|k| 5.0 * f64::from(k));
            let stroke = if i % 5 == 4 { Stroke::Dashed } else { Stroke::Solid };
            let band = ks.clone().map(|k| (k, height(k) - 0.03, height(k) + 0.04)).collect();
            Curve::of(*who, ks.map(|k| (k, height(k))).collect()).stroked(stroke).banded(band)
        };
        let curves = Contestant::ALL[..12].iter().enumerate().map(curve).collect();
        ((*name).to_owned(), Body::Chart(chart(Axis::linear("sparsity level k"), Axis::linear(*name), curves)))
    };
    figure("banded", 3, names.iter().enumerate().map(panel).collect())
}

/// Ten thousand points a curve over logarithmic axes, cut at a given range.
pub fn long() -> Figure {
    let names = ["iterations", "passes over the data", "seconds"];
    let panel = |name: &str| {
        let curve = |(i, who): (usize, &Contestant)| {
            let height = |t: f64| 1e4 * (-t / (150.0 * (i + 1) as f64)).exp() * (1.4 + (t / 9.0).sin());
            Curve::of(*who, (1..=10_000).map(|t| (f64::from(t), height(f64::from(t)))).collect())
        };
        let curves = Contestant::ALL[..9].iter().enumerate().map(curve).collect();
        let (x, y) = (Axis::log(name), Axis::log("‖x − x*‖ / ‖x*‖").between(1e-9, 1e3));
        (format!("Against {name}"), Body::Chart(chart(x, y, curves)))
    };
    figure("long", 3, names.map(panel).into())
}

/// Shades, places, points and a scale of inks; long labels.
pub fn marked() -> Figure {
    let panel = |title: &str, low: f64, high: f64| {
        let curve = |i: u32| {
            let t = f64::from(i) / 5.5 - 1.0;
            let rate = 0.02 * (t - 0.3);
            let points = (0..200).map(|n| (f64::from(n), (rate * f64::from(n)).exp() * 2.0)).collect();
            Curve::new(format!("τ = {t:.2}"), Ink::Scale(t), points)
        };
        let mut curves: Vec<Curve> = (0..12).map(curve).collect();
        let crowd = (0..300).map(|i| (f64::from(i) * 0.66, 0.1 + 4.0 * f64::from(i * 37 % 100) / 100.0)).collect();
        curves.push(Curve::new("draws, each of its own seed", Ink::Guide, crowd).stroked(Stroke::Points));
        let few = (1..5).map(|i| (f64::from(i) * 40.0, f64::from(i))).collect();
        let choice = "what the rules choose, with a label that is far longer than any label ought to be in a legend";
        curves.push(Curve::new(choice, Ink::Of(Contestant::Katoms), few).stroked(Stroke::Points));
        let shade = |from, to, label: &str, who| Shade { from, to, label: label.into(), ink: Ink::Of(who) };
        let shades = vec![
            shade(20.0, 90.0, "published range", Contestant::Iht),
            shade(10.0, 140.0, "exact range of linear convergence", Contestant::AccIht),
        ];
        let places = vec![
            Place { x: 60.0, label: "closed form: −0.0731".into() },
            Place { x: 150.0, label: "a place with a rather long description of it".into() },
        ];
        let (x, y) = (Axis::linear("iteration"), Axis::linear("f − f*").between(low, high));
        (title.to_owned(), Body::Chart(Chart { x, y, curves, shades, places }))
    };
    let long = "A title so long that it cannot stand in one line above a panel of this width and must be broken";
    figure("marked", 2, vec![panel("Converging", 0.0, 5.0), panel(long, 0.0, 40.0)])
}

/// Six maps with a curve on top.
pub fn mapped() -> Figure {
    let panel = |i: usize| {
        let grid: Vec<f64> = (1..=30).map(|v| f64::from(v) / 30.0).collect();
        let value = |x: f64, y: f64| 1.0 / (1.0 + (25.0 * (y - x * (0.4 + 0.08 * i as f64))).exp());
        let values = grid.iter().map(|&y| grid.iter().map(|&x| value(x, y)).collect()).collect();
        let bound = grid.iter().map(|&x| (x, 0.6 * x * x + 0.1)).collect();
        let map = Map {
            x: Axis::linear("m/n"),
            y: Axis::linear("k/m"),
            xs: grid.clone(),
            ys: grid.clone(),
            values,
            meaning: "share of draws recovered".into(),
            curves: vec![Curve::new("Donoho–Tanner", Ink::Of(Contestant::AccIht), bound).stroked(Stroke::Dashed)],
        };
        (Contestant::ALL[i].label().to_owned(), Body::Map(map))
    };
    figure("mapped", 3, (0..6).map(panel).collect())
}

/// A picture of waves with every third pixel missing.
pub fn picture(width: u32, height: u32) -> Picture {
    let mut map = Pixmap::new(width, height).unwrap();
    for (at, pixel) in map.pixels_mut().iter_mut().enumerate() {
        let (x, y) = (at as u32 % width, at as u32 / width);
        let wave = 128.0 + 60.0 * (f64::from(x) / 25.0).sin() + 60.0 * (f64::from(y) / 40.0).cos();
        let grey = if (x * 7 + y * 13) % 3 == 0 { 0 } else { wave as u8 };
        *pixel = PremultipliedColorU8::from_rgba(grey, grey, grey, 255).unwrap();
    }
    let png = STANDARD.encode(map.encode_png().unwrap());
    Picture { width: width as usize, height: height as usize, png }
}

/// Eight pictures, two in four.
pub fn pictured() -> Figure {
    let titles = ["original", "rank 60: 31.2 dB", "35 % observed", "AccIHT (paper): 24.1 dB"];
    let panel = |i: usize| (titles[i % 4].to_owned(), Body::Picture(picture(512, 768)));
    figure("pictured", 4, (0..8).map(panel).collect())
}

/// A section with something in every part.
pub fn section(experiment: Experiment, figures: Vec<Figure>) -> Section {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<String>>();
    let verdict = |agreement| Verdict {
        claim: "Momentum needs fewer iterations than none, on designs with independent columns".into(),
        published: "1.2×".into(),
        measured: "1.31×".into(),
        agreement,
        why: "Counted in passes over the data to a relative error of 10⁻³.".into(),
    };
    Section {
        experiment,
        scale: Scale::Default,
        command: format!("katoms-paper {}", experiment.name()),
        title: format!("The section of {}", experiment.name()),
        lead: "What was found, in a few sentences: AccIHT needs 41 passes where IHT needs 54.".into(),
        setup: vec![
            ("Design".into(), "750 × 20,000, independent Gaussian".into()),
            ("Sparsity".into(), "k = 50".into()),
        ],
        figures,
        tables: vec![Table {
            title: "Passes and seconds".into(),
            headings: words(&["method", "passes to 10⁻³", "seconds", "support"]),
            rows: vec![
                words(&["AccIHT (paper)", "41", "0.52", "50 of 50"]),
                words(&["Frank–Wolfe", "–", "12.31", "31 of 50"]),
            ],
        }],
        verdicts: [Agreement::Agrees, Agreement::Partly, Agreement::Differs, Agreement::Open].map(verdict).into(),
        notes: vec!["The step is 1/λ_max(ΦᵀΦ), and the time to find it counts.".into()],
        numbers: BTreeMap::new(),
        record: serde_json::Value::Null,
        threads: 2,
        seconds: 12.345,
    }
}
