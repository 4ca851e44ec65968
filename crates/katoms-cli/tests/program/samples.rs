//! Reports of every kind, made up. With `KATOMS_SAMPLES` set to a folder, the test leaves them there to look at.

use std::path::PathBuf;

use katoms_cli::report::{
    Classification, Coefficient, Coefficients, Completion, Convergence, CrossValidation, Fact, HeldOutError, Path,
    PathSize, Picture, Predictions, Probabilities, RankError, Regression, RegressionKind, Report, RidgeError, Scale,
    Step,
};

/// The same numbers on every machine, between −1 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
    fn normal(&mut self) -> f64 {
        (0..6).map(|_| self.next()).sum::<f64>() / 2_f64.sqrt()
    }
}

const HOUSES: &str = "living_area overall_quality year_built garage_cars basement_area lot_frontage \
    fireplaces condition full_bathrooms distance_to_centre kitchen_quality noise_level";

pub fn regression() -> Report {
    let mut numbers = Numbers(7);
    let rows: Vec<(f64, f64)> = (0..420)
        .map(|_| {
            let signal = 180_000.0 + 60_000.0 * numbers.normal();
            (signal, signal + 18_000.0 * numbers.normal())
        })
        .collect();
    let sizes = (1..=30).map(|k| house_size(k as f64)).collect();
    let validation = (1..=30).map(|k| {
        let x = k as f64;
        let mean = 1.1e9 * (-x / 2.5).exp() + 3.3e8 + 2.2e6 * x + 4.0e6 * (x * 1.7).sin();
        HeldOutError { k, mean, error: 2.1e7 + 9e5 * x, rmse: Some(mean.sqrt()) }
    });
    let ridge = |(ridge, mean): (f64, f64)| RidgeError {
        ridge,
        best: HeldOutError { k: 14, mean, error: 2.1e7, rmse: Some(mean.sqrt()) },
    };
    Report {
        title: "7 of 81 features predict price".into(),
        answer: "Living area and quality matter most; together the 7 features explain 91 % of the price, and no \
                 exchange of one feature for another does better."
            .into(),
        command: "katoms cv examples/houses.csv --target price -k 1..30 --folds 5 --report report.html".into(),
        version: "0.1.0".into(),
        warnings: vec!["3 rows were left out: price is missing".into()],
        question: vec![
            Fact::new("Data", "examples/houses.csv"),
            Fact::new("Rows × features", "1460 × 81"),
            Fact::new("Target", "price"),
            Fact::new("Loss", "squares"),
            Fact::new("Sizes", "k = 1 to 30, 5 folds"),
            Fact::new("Standardised", "yes, with an intercept"),
        ],
        certainty: vec![
            Fact::new("Status", "converged"),
            Fact::new("Objective", "3.201e11"),
            Fact::new("R²", "0.912"),
            Fact::new("Exchanges compared", "all 518: none is better"),
            Fact::new("Near rivals", "garage_cars ~ garage_area"),
            Fact::new("Certificate", "within 1.8 % of the best possible"),
            Fact::new("Stability", "6 of 7 chosen in over 90 % of 100 half-samples"),
        ],
        coefficients: Some(house_coefficients()),
        convergence: Some(convergence()),
        path: Some(Path {
            sizes,
            chosen: Some(7),
            chosen_by: Some("cross-validation".into()),
            explained_name: "R²".into(),
        }),
        cross_validation: Some(CrossValidation {
            measure: "mean squared error".into(),
            folds: 5,
            sizes: validation.collect(),
            ridge: 14.6,
            ridges: [(0.0, 3.4e8), (14.6, 3.1e8), (146.0, 3.3e8)].map(ridge).to_vec(),
            null: Some(HeldOutError { k: 0, mean: 3.9e9, error: 2.2e8, rmse: Some(3.9e9_f64.sqrt()) }),
            k_min: 14,
            k_1se: 7,
            chosen: Some(7),
            remark: "The models of the folds come from a faster search.".into(),
            larger_is_better: false,
        }),
        regression: Some(Regression {
            target: "price".into(),
            kind: RegressionKind::Number,
            explained: [None; 2],
            held_out: Some(Predictions {
                predicted: rows.iter().map(|r| r.0).collect(),
                observed: rows.iter().map(|r| r.1).collect(),
                weights: vec![],
            }),
            fitted: Some(Predictions {
                predicted: rows.iter().map(|r| 0.2 * r.1 + 0.8 * r.0).collect(),
                observed: rows.iter().map(|r| r.1).collect(),
                weights: vec![],
            }),
        }),
        fingerprint: Some("blake3 5f0c…91ab, 1460 rows, 81 columns".into()),
        ..Report::default()
    }
}

fn house_size(k: f64) -> PathSize {
    let deviance = 5200.0 * (-k / 3.0).exp() + 900.0 - 2.0 * k;
    let mut features: Vec<String> = HOUSES.split(' ').take(k as usize).map(String::from).collect();
    features.extend((12..k as usize).map(|i| format!("neighbourhood_{i}")));
    if k >= 5.0 {
        features.retain(|f| f != "garage_cars");
        features.push("garage_area".into());
    }
    PathSize {
        k: k as usize,
        loss: deviance * 1e8,
        explained: Some(1.0 - deviance / 6900.0),
        aic: Some(deviance + 2.0 * k),
        bic: Some(deviance + 7.3 * k),
        ebic: Some(deviance + 16.0 * k),
        gic: Some(deviance + 23.0 * k),
        features,
    }
}

fn house_coefficients() -> Coefficients {
    let values = [24_310.0, 18_900.0, 9_840.0, 7_015.0, 5_220.0, -4_120.0, -2_390.0];
    let names = "living_area overall_quality year_built garage_cars basement_area noise_level distance_to_centre";
    let row = |(i, (name, value)): (usize, (&str, &f64))| Coefficient {
        name: name.into(),
        value: value / (13.7 * (i + 1) as f64),
        standardised: Some(*value),
        chosen_share: Some([1.0, 1.0, 0.98, 0.61, 0.95, 0.93, 0.91][i]),
        rivals: if i == 3 { vec!["garage_area".into()] } else { vec![] },
        ..Coefficient::default()
    };
    Coefficients {
        rows: names.split(' ').zip(&values).enumerate().map(row).collect(),
        intercept: Some(-812_345.678),
        half_samples: Some(100),
        scale: None,
    }
}

fn convergence() -> Convergence {
    let step = |i: u32| Step {
        passes: f64::from(i) * 2.0,
        objective: 3.2e11 + if i < 26 { 4.1e12 * (-0.9 * f64::from(i)).exp() } else { 0.0 },
        gap: None,
        label: match i {
            9 | 15 => Some("exchange".into()),
            5 => Some("restart".into()),
            _ => None,
        },
    };
    Convergence { moves: (0..28).map(step).collect(), passes: Some(70.0) }
}

pub fn classification() -> Report {
    let mut numbers = Numbers(3);
    let scores: Vec<(f64, bool)> = (0..600)
        .map(|_| {
            let score = 1.8 * numbers.normal() - 0.4;
            let p = 1.0 / (1.0 + (-score).exp());
            (p, (numbers.next() + 1.0) / 2.0 < p)
        })
        .collect();
    let groups = ["HALLMARK_APOPTOSIS", "KEGG_CELL_CYCLE", "stage"];
    let row = |i: usize| Coefficient {
        name: if i < 14 { format!("GENE{}", 1000 + 37 * i) } else { format!("stage={}", ["II", "III", "IV"][i - 14]) },
        group: Some(groups[(i / 7).min(2)].into()),
        value: 0.9 * (i as f64 * 1.3).cos() / (1.0 + i as f64 / 5.0),
        standardised: Some(0.8 * (i as f64 * 1.3).cos() / (1.0 + i as f64 / 7.0)),
        ..Coefficient::default()
    };
    Report {
        title: "3 of 50 gene sets predict relapse".into(),
        answer: "Apoptosis, cell cycle and stage together tell relapse from none with an AUC of about 0.87.".into(),
        command:
            "katoms fit examples/relapse.csv --target relapse --loss logistic --groups sets.gmt -k 3 --report out.html"
                .into(),
        version: "0.1.0".into(),
        warnings: vec!["not converged: stopped at the time limit of 10 s; the model is the best so far".into()],
        question: vec![Fact::new("Data", "examples/relapse.csv"), Fact::new("Target", "relapse (yes: 1, no: 0)")],
        certainty: vec![
            Fact::new("Status", "stopped at the time limit"),
            Fact::new("Exchanges compared", "141, the most promising: none is better"),
        ],
        coefficients: Some(Coefficients {
            rows: (0..17).map(row).collect(),
            intercept: Some(-0.41),
            half_samples: None,
            scale: Some(Scale {
                on: "the log-odds of “yes”".into(),
                ratio: Some("odds ratio".into()),
                multiplied: "the odds of “yes” are".into(),
            }),
        }),
        classification: Some(Classification {
            target: "relapse".into(),
            positive: "yes".into(),
            negative: "no".into(),
            held_out: Some(Probabilities {
                labels: scores.iter().map(|s| s.1).collect(),
                probabilities: scores.iter().map(|s| s.0).collect(),
                weights: vec![],
            }),
            fitted: None,
        }),
        ..Report::default()
    }
}

pub fn completion() -> Report {
    let ranks: Vec<RankError> = (2..=40)
        .step_by(2)
        .map(|rank| {
            let r = rank as f64;
            RankError { rank, error: 0.24 * (-r / 5.0).exp() + 0.031 + 0.0006 * r }
        })
        .collect();
    let picture = |caption: &str, kind| Picture { caption: caption.into(), png: png(kind) };
    Report {
        title: "Rank 18 completes the picture".into(),
        answer:
            "From 35 % of the pixels, a matrix of rank 18 predicts held-out pixels to within 0.048 (root mean square)."
                .into(),
        command: "katoms complete examples/rings.png --observed 0.35 --rank 2..40 --report report.html".into(),
        version: "0.1.0".into(),
        question: vec![
            Fact::new("Picture", "examples/rings.png, 64 × 64"),
            Fact::new("Seen", "35 % of the pixels"),
            Fact::new("Ranks", "2 to 40, on 10 % held out"),
        ],
        certainty: vec![Fact::new("Status", "converged"), Fact::new("Held-out error", "0.048")],
        completion: Some(Completion {
            pictures: vec![
                picture("The original", 0),
                picture("35 % of the pixels, as seen", 1),
                picture("Completed with rank 18", 2),
            ],
            singular_values: (0..18).map(|i| 41.0 * (-f64::from(i) / 3.2).exp()).collect(),
            chosen_rank: Some(18),
            ranks,
            measure: "root mean squared error".into(),
        }),
        ..Report::default()
    }
}

/// Nothing but a title.
pub fn minimal() -> Report {
    Report { title: "1 of 3 features predicts y".into(), ..Report::default() }
}

/// A grey picture of 64 × 64: rings; some of them; rings, blurred.
fn png(kind: u32) -> Vec<u8> {
    let ring = |pixel: u32| {
        let (dx, dy) = (f64::from(pixel % 64) - 31.5, f64::from(pixel / 64) - 31.5);
        0.5 + 0.5 * (dx.hypot(dy) / if kind == 2 { 3.1 } else { 3.0 }).cos()
    };
    let seen = (0..64 * 64_u32).map(|pixel| kind != 1 || pixel * 7919 % 100 < 35).collect();
    let picture = katoms_io::Picture { rows: 64, columns: 64, channels: vec![(0..64 * 64).map(ring).collect()], seen };
    katoms_io::write_png(&picture).unwrap()
}

#[test]
fn reports_of_every_kind_are_written() {
    let folder = std::env::var_os("KATOMS_SAMPLES").map(PathBuf::from);
    let all = [
        ("regression", regression()),
        ("classification", classification()),
        ("completion", completion()),
        ("minimal", minimal()),
    ];
    for (name, report) in all {
        let html = report.to_html();
        assert_eq!(html, report.to_html());
        assert!(!html.contains("NaN") && !html.contains("undefined"), "{name}");
        if let Some(folder) = &folder {
            std::fs::write(folder.join(name).with_extension("html"), html).unwrap();
        }
    }
}
