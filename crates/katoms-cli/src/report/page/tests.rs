use super::super::*;
use super::STYLE;

fn colours(theme: &str) -> impl Fn(&str) -> [f64; 3] {
    move |name| {
        let (_, rest) = theme.split_once(&format!("--{name}: #")).unwrap_or_else(|| panic!("no {name}"));
        [0, 2, 4].map(|i| f64::from(u8::from_str_radix(&rest[i..i + 2], 16).unwrap()) / 255.0)
    }
}

/// The ratio of WCAG 2: 1 for equal colours, 21 for black on white.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let light = |c: [f64; 3]| {
        let [r, g, b] = c.map(|v| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (light(a) + 0.05, light(b) + 0.05);
    a.max(b) / a.min(b)
}

#[test]
fn both_themes_are_legible() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let (light, dark) = STYLE.split_once("prefers-color-scheme: dark").unwrap();
    for theme in [light, dark] {
        let colour = colours(theme);
        for text in ["ink", "muted", "model", "lowering", "chosen", "other"] {
            for back in ["page", "card"] {
                let ratio = contrast(colour(text), colour(back));
                assert!(ratio >= 4.5, "{text} on {back}: {ratio:.2}");
            }
        }
        assert!(contrast(colour("warn"), colour("warn-back")) >= 4.5);
        for line in ["aic", "bic", "ebic", "gic"] {
            assert!(contrast(colour(line), colour("page")) >= 3.0, "{line}");
        }
    }
}

fn assert_well_formed(html: &str) {
    let mut open: Vec<&str> = vec![];
    let (body, _) = html.split_once("<script type").unwrap();
    for tag in body.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap();
        let name = inside.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag:.80}");
        } else if !inside.ends_with('/') && !matches!(name, "!DOCTYPE" | "meta" | "link" | "img") {
            open.push(name);
        }
    }
    assert_eq!(open, ["html", "body"]);
}

#[test]
fn absent_parts_leave_no_hole() {
    let html = Report { title: "nothing".into(), ..Report::default() }.to_html();
    assert_well_formed(&html);
    for part in ["<section", "<svg", "<table", "<dl", "<pre", "none", "undefined", "katoms </p>"] {
        let page = html.split("</style>").nth(1).unwrap().split("<script").next().unwrap();
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn empty_parts_leave_no_hole() {
    let report = Report {
        coefficients: Some(Coefficients::default()),
        convergence: Some(Convergence::default()),
        path: Some(Path::default()),
        cross_validation: Some(CrossValidation::default()),
        regression: Some(Regression::default()),
        classification: Some(Classification::default()),
        completion: Some(Completion::default()),
        ..Report::default()
    };
    let html = report.to_html();
    assert_well_formed(&html);
    assert!(!html.contains("<svg") && !html.contains("<table"));
}

#[test]
fn numbers_that_are_none_break_nothing() {
    for odd in [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 5e-324, -0.0] {
        let coefficient = |value| Coefficient {
            value,
            standardised: Some(value),
            chosen_share: Some(value),
            ..Coefficient::default()
        };
        let size = |k| PathSize { k, loss: odd, explained: Some(odd), ebic: Some(odd), ..PathSize::default() };
        let numbers = || Predictions {
            observed: vec![1.0, odd, 3.0, 4.0, 2.0],
            predicted: vec![odd, 2.0, 3.0, 4.5, 2.5],
            weights: vec![],
        };
        let classes =
            Probabilities { labels: vec![true, false, true], probabilities: vec![0.1, odd, 0.3], weights: vec![] };
        let step = |passes| Step { passes, objective: odd, gap: Some(odd), label: None };
        let report = Report {
            coefficients: Some(Coefficients {
                rows: vec![coefficient(odd), coefficient(1.0)],
                intercept: Some(odd),
                half_samples: None,
                scale: Some(Scale { on: "the log-odds of yes".into(), ..Scale::default() }),
            }),
            convergence: Some(Convergence { moves: vec![step(1.0), step(odd), step(2.0)], passes: Some(odd) }),
            path: Some(Path { sizes: vec![size(1), size(2), size(usize::MAX)], chosen: Some(7), ..Path::default() }),
            cross_validation: Some(CrossValidation {
                sizes: [1, 2].map(|k| HeldOutError { k, mean: odd, error: odd, rmse: Some(odd) }).into(),
                null: Some(HeldOutError { k: 0, mean: odd, error: odd, rmse: None }),
                ..CrossValidation::default()
            }),
            regression: Some(Regression {
                held_out: Some(numbers()),
                fitted: Some(numbers()),
                ..Regression::default()
            }),
            classification: Some(Classification { fitted: Some(classes), ..Classification::default() }),
            many_classes: Some(ManyClasses {
                names: vec!["a".into(), "b".into(), "c".into()],
                thresholds: vec![odd, 1.0],
                fitted: Some(Classes {
                    labels: vec![0, 2],
                    probabilities: vec![vec![odd, 0.5, 0.5], vec![0.1, 0.9, odd]],
                    weights: vec![],
                }),
                ..ManyClasses::default()
            }),
            survival: Some(Survival {
                fitted: Some(Risks {
                    times: vec![1.0, 2.0, odd, 4.0],
                    events: vec![true, false, true, true],
                    thirds: vec![0, 1, 1, 2],
                    weights: vec![],
                    concordance: Some(odd),
                }),
                ..Survival::default()
            }),
            completion: Some(Completion {
                singular_values: vec![3.0, odd],
                ranks: [1, 2].map(|rank| RankError { rank, error: odd }).into(),
                ..Completion::default()
            }),
            ..Report::default()
        };
        let html = report.to_html();
        assert_well_formed(&html);
        for wrong in ["NaN", "inf ", "inf<", "inf\"", "infL", "inf %"] {
            let place = html.find(wrong).map(|at| html[..at].chars().rev().take(80).collect::<Vec<_>>());
            let before = place.map(|letters| letters.into_iter().rev().collect::<String>());
            assert_eq!(before, None, "{wrong} with {odd:e}");
        }
    }
}

#[test]
fn the_largest_effects_come_first_and_forty_are_drawn() {
    let row = |i: usize| Coefficient { name: format!("x{i}"), value: i as f64 - 25.0, ..Coefficient::default() };
    let coefficients = Coefficients { rows: (0..52).map(row).collect(), ..Coefficients::default() };
    let html = Report { coefficients: Some(coefficients), ..Report::default() }.to_html();
    assert!(html.contains("and 12 more, with smaller effects"));
    let wide = html.split("<svg").nth(1).unwrap();
    assert_eq!(wide.matches("class=\"bar ").count(), 40);
    let place = |name: &str| html.find(&format!("<td class=\"name\">{name}</td>")).unwrap();
    assert!(place("x51") < place("x0") && place("x0") < place("x50") && place("x50") < place("x25"));
}

#[test]
fn what_the_tables_say() {
    let size = |k, ebic, names: &[&str]| PathSize {
        k,
        loss: 10.0 / k as f64,
        ebic: Some(ebic),
        features: names.iter().map(|&n| n.into()).collect(),
        ..PathSize::default()
    };
    let path = Path {
        sizes: vec![size(1, 7.5, &["a"]), size(2, 5.25, &["b", "c"])],
        chosen: Some(2),
        chosen_by: Some("EBIC".into()),
        ..Path::default()
    };
    let html = Report { path: Some(path), ..Report::default() }.to_html();
    assert!(html.contains("<td class=\"number\">5.25000</td><td class=\"note\">chosen</td>"));
    assert!(html.contains("<td class=\"name\">b, c</td><td class=\"name\">a</td>"));
    // Criteria that nobody computed have no column.
    assert!(!html.contains("<th scope=\"col\" class=\"number\">AIC</th>"));
}

#[test]
fn a_picture_travels_inside_the_page() {
    let picture = Picture { caption: "a \"picture\"".into(), png: b"\x89PNG\xff".to_vec() };
    let completion = Completion { pictures: vec![picture], ..Completion::default() };
    let html = Report { completion: Some(completion), ..Report::default() }.to_html();
    assert!(
        html.contains("src=\"data:image/png;base64,iVBOR/8=\"") || html.contains("base64,iVBOR&#x2f;8=\""),
        "{html}"
    );
    assert!(!html.contains("alt=\"a \"picture"));
}
