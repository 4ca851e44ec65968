//! Models through their file and back, and files that are none.

use katoms::operator::Layout;

use super::*;
use crate::dataset::Feature;
use crate::source::{Array, Numbers};
use crate::tests::{csv, feature};

fn coefficient(name: &str, value: f64) -> Coefficient {
    Coefficient::new(feature(name), Some(0.1 + 0.2), vec![value], vec![value / 3.0])
}

fn model() -> Model {
    Model {
        schema: 1,
        katoms: "0.1.0".into(),
        command: "katoms fit d.csv --target y -k 2".into(),
        loss: Loss::Squares,
        k: 2,
        k_each: Vec::new(),
        target: ModelTarget { name: "y".into(), classes: None, class_type: None, responses: Vec::new() },
        intercept: 1.0 / 3.0,
        intercepts: Vec::new(),
        parameters: Parameters::default(),
        thresholds: Vec::new(),
        baseline: Vec::new(),
        stratum_type: None,
        row_columns: RowColumns::default(),
        coefficients: vec![coefficient("age", 0.1), coefficient("city=Ulm", -1e-7), coefficient("city=Bonn", 2.0)],
        atoms: vec!["age".into(), "city".into()],
        levels: [("city".into(), vec!["Aachen".into(), "Bonn".into(), "Ulm".into()])].into(),
        formats: BTreeMap::new(),
        na_values: Vec::new(),
        unnamed_columns: None,
        standardize: true,
        ridge: 0.0,
        missing: Missing::Mean,
        method: "accelerated-iht".into(),
        status: "converged".into(),
        objective: 12.5,
        quality: Some(Quality {
            stationarity: Some(1e-17),
            exchanges_compared: 12,
            exhaustive: true,
            improvable: false,
            rivals: vec![Rival { inside: "age".into(), outside: "height".into(), rise: 0.25 }],
            proven: Some(120.0),
            gap: None,
        }),
        data: Fingerprint { rows: 10, columns: 3, checksum: "00ff00ff00ff00ff".into() },
    }
}

fn back(text: &str) -> Result<Model, Error> {
    Model::from_json(Path::new("m.json"), text.as_bytes())
}

fn data(model: &Model, text: &str, missing: Missing) -> Dataset {
    let mut options = ReadOptions::default();
    model.tell_reader(&mut options, None);
    model.dataset(csv(text, &options), &Ask { missing, ..Ask::default() }).unwrap()
}

#[test]
fn a_round_trip_keeps_every_bit() {
    let mut odd = model();
    let values =
        [-0.0, 5e-324, -2.225_073_858_507_201e-308, f64::MAX, f64::MIN_POSITIVE, 0.1 + 0.2, 1e23, 2.0, 1e300 / 3.0];
    odd.coefficients = values.iter().enumerate().map(|(i, &v)| coefficient(&format!("x{i}"), v)).collect();
    odd.intercept = -0.0;
    for model in [model(), odd] {
        let again = back(&model.to_json().unwrap()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.intercept.to_bits(), model.intercept.to_bits());
        for (a, b) in again.coefficients.iter().zip(&model.coefficients) {
            let bits = |c: &Coefficient| [c.value, c.standardized, c.mean.unwrap()].map(f64::to_bits);
            assert_eq!(bits(a), bits(b), "{}", a.feature.name);
        }
        assert_eq!(again.to_json().unwrap(), model.to_json().unwrap());
    }
}

#[test]
fn the_file_reads_as_documented() {
    let text = model().to_json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let also = ["k_each", "intercepts", "parameters", "thresholds", "baseline", "stratum_type", "row_columns"];
    let fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).chain(also).collect();
    let page = include_str!("../model.rs");
    for field in &fields {
        assert!(page.contains(&format!("//! | `{field}` |")), "{field}");
    }
    assert_eq!(page.matches("\n//! | `").count(), fields.len());
    assert_eq!((value["loss"].as_str(), value["missing"].as_str()), (Some("squares"), Some("mean")));
    assert_eq!(value["coefficients"][1]["level"].as_str(), Some("Ulm"));
    assert!(value["coefficients"][0]["level"].is_null());
    assert!(text.lines().count() > 20, "not pretty");
}

#[test]
fn predictions_are_the_sums_and_keep_their_bits() {
    let model = model();
    let text = "city,age,other\nUlm,30,x\nBonn,40.5,y\nAachen,-1,x\nKiel,0,y\n";
    let table = data(&model, text, Missing::Refuse);
    let one = |age: f64, ulm: f64, bonn: f64| model.intercept + 0.1 * age + -1e-7 * ulm + 2.0 * bonn;
    let expected = [one(30.0, 1.0, 0.0), one(40.5, 0.0, 1.0), one(-1.0, 0.0, 0.0), one(0.0, 0.0, 0.0)];
    let predictions = model.predict(&table).unwrap();
    assert_eq!(predictions, expected);
    let again = back(&model.to_json().unwrap()).unwrap().predict(&table).unwrap();
    let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(&predictions));
}

#[test]
fn gaps_are_filled_with_the_means_of_the_fit() {
    let model = model();
    let table = data(&model, "city,age\nAachen,NA\n", Missing::Mean);
    assert_eq!(model.predict(&table).unwrap(), [model.intercept + 0.1 * (0.1 + 0.2)]);
}

#[test]
fn an_indicator_of_missing_numbers_is_read_from_tables_and_arrays() {
    let mut model = model();
    let hole = Feature {
        name: "x1 (missing)".into(),
        column: "x1".into(),
        level: Some("(missing)".into()),
        factors: Vec::new(),
    };
    model.coefficients = vec![coefficient("x1", 2.0), Coefficient { feature: hole, ..coefficient("", -5.0) }];
    model.levels.clear();
    let expected = [model.intercept + 2.0 * 3.0 + 0.0, model.intercept + 2.0 * (0.1 + 0.2) - 5.0];
    assert_eq!(model.predict(&data(&model, "x1,other\n3,x\nNA,y\n", Missing::Mean)).unwrap(), expected);
    model.unnamed_columns = Some(1);
    let numbers = Numbers::F64(vec![3.0, f64::NAN].into());
    let array = Array { numbers, rows: 2, columns: 1, layout: Layout::RowMajor, is_vector: false };
    let ask = Ask { missing: Missing::Mean, ..Ask::default() };
    let read = model.dataset(Source::Array(array), &ask).unwrap();
    assert_eq!(model.predict(&read).unwrap(), expected);
    assert_eq!(model.design(&read), [3.0, 0.1 + 0.2, 0.0, 1.0]);
}

#[test]
fn categories_that_look_like_numbers_stay_categories() {
    let mut model = model();
    model.coefficients = vec![coefficient("zip=01", 5.0)];
    model.levels = [("zip".into(), vec!["00".into(), "01".into()])].into();
    let table = data(&model, "zip\n01\n00\n01\n", Missing::Refuse);
    assert_eq!(model.predict(&table).unwrap(), [model.intercept + 5.0, model.intercept, model.intercept + 5.0]);
}

/// Every field that a file may have.
fn full() -> Model {
    let mut model = Model { loss: Loss::Cox, intercept: 0.0, ..model() };
    model.parameters.ties = Some("efron".into());
    model.baseline = vec![Baseline { stratum: Some("a".into()), times: vec![1.0, 2.5], hazards: vec![0.1, 0.1 + 0.2] }];
    model.stratum_type = Some(ClassType::Text);
    model.row_columns = RowColumns { event: Some("died".into()), strata: Some("site".into()), ..RowColumns::default() };
    model.with_schema()
}

/// Three classes, each with a score.
fn many() -> Model {
    let mut model = Model { loss: Loss::Multinomial, intercept: 0.5, intercepts: vec![0.5, -0.25, -0.25], ..model() };
    model.target.classes = Some(["a", "b", "c"].map(str::to_owned).to_vec());
    let weights = vec![1.0, 0.1 + 0.2, -1.3];
    model.coefficients = vec![Coefficient::new(feature("age"), None, weights.clone(), weights)];
    (model.missing, model.levels) = (Missing::Refuse, BTreeMap::new());
    model.with_schema()
}

/// Three responses, each with features of its own.
fn responses() -> Model {
    let mut model = Model { loss: Loss::Squares, k_each: vec![1, 0, 1], ..many() };
    model.target.classes = None;
    model.target.responses = ["a", "b", "c"].map(str::to_owned).to_vec();
    model.with_schema()
}

#[test]
fn files_of_every_loss_are_read_back_and_say_what_reads_them() {
    assert_eq!((model().with_schema().schema, full().schema, many().schema), (1, 3, 3));
    let mut ordinal = Model { loss: Loss::Ordinal, thresholds: vec![-1.0, 1.0 / 3.0], ..model() };
    ordinal.target.classes.clone_from(&many().target.classes);
    let mut quantile = Model { loss: Loss::Quantile, ..model() };
    quantile.parameters = Parameters { quantile: Some(0.9), smoothing: Some(0.1), ..Parameters::default() };
    let mut counts = Model { loss: Loss::NegativeBinomial, ..model() };
    counts.parameters.dispersion = Some(0.7);
    for model in [full(), many(), responses(), ordinal, quantile, counts].map(Model::with_schema) {
        assert_eq!(back(&model.to_json().unwrap()).unwrap(), model);
        assert_eq!(model.schema, 3);
    }
    let table = data(&many(), "age\n1\n2\n", Missing::Refuse);
    let expected = [0.5 + 1.0, 0.5 + 2.0, -0.25 + (0.1 + 0.2), -0.25 + (0.1 + 0.2) * 2.0, -0.25 - 1.3, -0.25 - 2.6];
    assert_eq!(many().predict(&table).unwrap(), expected);
    assert!(back(&many().to_json().unwrap().replace("\"multinomial\"", "\"negative-binomial\"")).is_err());
}

#[test]
fn shapes_that_do_not_fit_together_are_refused() {
    let wrong = |change: fn(&mut Model), base: Model| {
        let mut model = base;
        change(&mut model);
        model.to_json().unwrap_err().to_string()
    };
    for (message, expected) in [
        (wrong(|m| m.intercepts.truncate(2), many()), "3 `values`; there are 2 `intercepts`"),
        (wrong(|m| m.target.classes.as_mut().unwrap().truncate(2), many()), "2 `classes` and 3 `intercepts`"),
        (wrong(|m| m.loss = Loss::Poisson, many()), "`loss` is poisson and `target` has `classes`"),
        (wrong(|m| m.loss = Loss::Ordinal, many()), "there are 3 `classes` and 0 `thresholds`"),
        (wrong(|m| m.target.responses.truncate(2), responses()), "2 `responses` and 3 `intercepts`"),
        (wrong(|m| m.k_each.truncate(2), responses()), "2 sizes in `k_each` and 3 `intercepts`"),
        (wrong(|m| m.baseline[0].times.truncate(1), full()), "1 `times` and 2 `hazards`"),
        (wrong(|m| m.baseline[0].hazards[1] = f64::NAN, full()), "`baseline` is NaN"),
        (wrong(|m| m.parameters.delta = Some(f64::INFINITY), full()), "`delta` is inf"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn data_that_lack_a_feature_give_no_predictions() {
    let mut other = model();
    other.coefficients.truncate(1);
    let table = data(&other, "age,city\n1,Ulm\n", Missing::Refuse);
    let message = model().predict(&table).unwrap_err().to_string();
    assert_eq!(message, "the data lack \"city=Ulm\", which the model needs");
}

#[test]
fn a_newer_schema_is_refused_whatever_else_it_holds() {
    assert_eq!(
        back("{\"schema\": 7, \"all\": \"new\"}").unwrap_err().to_string(),
        "m.json: written by a newer katoms (schema 7; this one reads up to 4): update katoms"
    );
}

#[test]
fn files_that_are_no_models() {
    let problem = |text: &str| back(text).unwrap_err().to_string();
    assert_eq!(problem("{\"a\": 1}"), "m.json: not a model of katoms: it has no field `schema`");
    assert!(problem("").starts_with("m.json, line 1, column 0: not a model of katoms: EOF"));
    assert!(problem("[1, 2").starts_with("m.json, line 1, column "));
    let text = model().to_json().unwrap();
    let cut = &text[..text.len() / 2];
    let lines = cut.lines().count();
    assert!(problem(cut).starts_with(&format!("m.json, line {lines}, column ")), "{}", problem(cut));
    for field in ["loss", "intercept", "coefficients", "data", "command", "k"] {
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value.as_object_mut().unwrap().remove(field);
        let message = problem(&value.to_string());
        assert!(message.contains(&format!("missing field `{field}`")), "{message}");
    }
    assert!(problem(&text.replace("\"squares\"", "\"cubes\"")).contains("unknown variant `cubes`"));
    assert!(
        problem(&text.replace("\"squares\"", "\"logistic\""))
            .ends_with("`loss` is logistic and `target` has no `classes`")
    );
    assert!(problem(&text.replace("12.5", "1e999")).contains("number out of range"));
    assert!(problem(&text.replace("12.5", "null")).contains("invalid type: null"));
    assert!(problem(&text.replace("city=Ulm", "age")).ends_with("feature \"age\" is there twice"));
}

#[test]
fn numbers_that_are_not_finite_are_not_written() {
    let mut odd = model();
    odd.objective = f64::NAN;
    assert!(odd.to_json().unwrap_err().to_string().ends_with("`objective` is NaN; it must be finite"));
    let mut odd = model();
    odd.coefficients[1].value = f64::INFINITY;
    assert!(
        odd.to_json().unwrap_err().to_string().ends_with("the coefficient of \"city=Ulm\" is inf; it must be finite")
    );
    let mut odd = model();
    odd.quality.as_mut().unwrap().rivals[0].rise = f64::NAN;
    assert!(odd.to_json().is_err());
}

#[test]
fn a_model_cut_off_anywhere_is_refused() {
    let text = model().to_json().unwrap();
    let end = text.trim_end().len();
    for cut in (0..end).filter(|&i| text.is_char_boundary(i)) {
        assert!(back(&text[..cut]).unwrap_err().to_string().starts_with("m.json"), "{cut}");
    }
}
