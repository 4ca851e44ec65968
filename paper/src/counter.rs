//! `counter`: the example of the paper's appendix in which every positive momentum raises the residual.
//!
//! Both points lie on the first axis, and the printed x₂ has gone past the minimum: x₂ − x₁ points further away. Wei's analysis
//! asks that momentum never raises f; with τ ≥ 0 that leaves τ = 0, and the acceleration is lost.

use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::method::{Momentum, MomentumMemory};
use katoms::operator::Dense;
use katoms::space::SparseVec;
use katoms::{Error as KatomsError, Evaluated, Objective};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Panel, Place, Shade, Stroke};
use crate::{Agreement, Error, Experiment, Progress, Request, Section, Table, Verdict};

/// The most momenta that are tried.
const MOST: usize = 100_000;
/// A residual below this share of the target's norm is rounding, and a τ below it is none.
const ROUNDING: f64 = 1e-12;
/// The residuals that the paper prints, at x₁ and x₂.
const PUBLISHED: [f64; 2] = [1.1328, 0.2224];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Row by row.
    design: Vec<Vec<f64>>,
    target: Vec<f64>,
    /// The first entries of the two points; the others are zero.
    x1: f64,
    x2: f64,
    tau: Steps,
    constant: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    from: f64,
    to: f64,
    steps: usize,
}

impl Config {
    /// What cannot be run, and what would be right.
    fn check(&self) -> Result<(), Error> {
        let columns = self.design.first().map_or(0, Vec::len);
        let numbers = [self.x1, self.x2, self.constant, self.tau.from, self.tau.to];
        let why = if self.design.iter().any(|row| row.len() != columns) || columns == 0 {
            "`design` must be rows of equal length".to_owned()
        } else if self.design.len() != self.target.len() {
            "`target` must have one value for each row of `design`".to_owned()
        } else if !numbers.iter().all(|v| v.is_finite()) {
            "`x1`, `x2`, `constant` and the ends of `tau` must be finite".to_owned()
        } else if self.x1 == self.x2 || self.design.iter().all(|row| row[0] == 0.0) {
            "`x1` and `x2` must differ, and the first column of `design` must not be zero: else nothing moves"
                .to_owned()
        } else if !(self.tau.from < self.tau.to) || !(2..=MOST).contains(&self.tau.steps) {
            format!("`tau` must rise in 2 to {MOST} steps")
        } else {
            return Ok(());
        };
        Err(Experiment::Counter.bad_config(&why))
    }

    /// Whether these are the inputs that the paper prints: those of the built-in config.
    fn is_as_printed(&self) -> bool {
        Experiment::Counter.settings::<Self>(&Request::default()).is_ok_and(|own| {
            (&own.design, &own.target, own.x1, own.x2) == (&self.design, &self.target, self.x1, self.x2)
        })
    }
}

/// What a rule does at x₂.
#[derive(Debug, Serialize)]
struct Ruled {
    rule: String,
    tau: f64,
    residual: f64,
}

type Squares<'a> = Objective<Dense<'a, f64>, LeastSquares>;

/// ‖b − Φ(x₂ + τ(x₂ − x₁))‖.
struct Line<'a> {
    f: Squares<'a>,
    next: Evaluated<SparseVec>,
    moved: Evaluated<SparseVec>,
}

impl<'a> Line<'a> {
    fn new(f: Squares<'a>, columns: usize, x1: f64, x2: f64) -> Result<Self, KatomsError> {
        let on_the_axis = |value| SparseVec::new(columns, vec![0], vec![value]);
        let (x, next) = (f.at(on_the_axis(x1)?), f.at(on_the_axis(x2)?));
        let moved = Evaluated::combine(1.0, &next, -1.0, &x);
        Ok(Self { f, next, moved })
    }

    fn residual(&self, tau: f64) -> f64 {
        linalg::norm(&self.f.residual(&Evaluated::combine(1.0, &self.next, tau, &self.moved)))
    }

    /// τ by a rule that has made so many moves before.
    fn ruled(&self, name: impl Into<String>, rule: Momentum, moves: usize) -> Ruled {
        let mut memory = MomentumMemory::default();
        let mut weight = || rule.weight(&self.f, &self.next, &self.moved, &mut memory);
        (0..moves).for_each(|_| _ = weight());
        let tau = weight();
        Ruled { rule: name.into(), tau, residual: self.residual(tau) }
    }
}

/// All that was measured.
struct Measured {
    printed: bool,
    /// A residual up to here is none.
    none: f64,
    at_x1: f64,
    at_x2: f64,
    /// The last is the closed form.
    rules: [Ruled; 6],
    /// (τ, residual).
    curve: Vec<(f64, f64)>,
    /// Of the positive τ that were tried, those that raise the residual; `None` where none is positive.
    raised: Option<f64>,
}

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config: Config = Experiment::Counter.settings(request)?;
    config.check()?;
    progress.expect(1);
    let found = measure(&config)?;
    progress.done("counter")?;
    Ok(section(&config, &found))
}

fn measure(config: &Config) -> Result<Measured, Error> {
    let columns = config.design[0].len();
    let values: Vec<f64> = config.design.concat();
    let design = Dense::row_major(&values, config.design.len(), columns)?;
    let f = Objective::new(design, LeastSquares::new(config.target.clone())?)?;
    let line = Line::new(f, columns, config.x1, config.x2)?;
    let best = line.ruled("closed form", Momentum::ClosedForm, 0);
    let (constant, positive) = (config.constant, best.tau.max(0.0));
    let rules = [
        line.ruled("none: plain IHT", Momentum::Constant(0.0), 0),
        line.ruled(format!("constant {}", minus(constant.to_string())), Momentum::Constant(constant), 0),
        line.ruled(format!("constant {} unless f rises", minus(constant.to_string())), Momentum::Monotone(constant), 0),
        line.ruled("Nesterov's sequence, third move", Momentum::Nesterov, 2),
        Ruled { rule: "closed form, τ ≥ 0 (Wei)".into(), tau: positive, residual: line.residual(positive) },
        best,
    ];
    let Steps { from, to, steps } = config.tau;
    let taus = (0..=steps).map(|i| from + (to - from) * i as f64 / steps as f64);
    let curve: Vec<(f64, f64)> = taus.map(|tau| (tau, line.residual(tau))).collect();
    let (at_x1, at_x2) = (line.residual(-1.0), line.residual(0.0));
    let positive = || curve.iter().filter(|(tau, _)| *tau > ROUNDING);
    let raised = positive().filter(|(_, residual)| *residual > at_x2).count() as f64 / positive().count() as f64;
    Ok(Measured {
        printed: config.is_as_printed(),
        none: ROUNDING * linalg::norm(&config.target),
        at_x1,
        at_x2,
        rules,
        raised: Some(raised).filter(|share| share.is_finite()),
        curve,
    })
}

impl Measured {
    fn best(&self) -> &Ruled {
        &self.rules[5]
    }

    /// One word for a minimum before x₂, one for a minimum at it, one for a minimum after it.
    fn by_minimum<'a>(&self, words: [&'a str; 3]) -> &'a str {
        let tau = self.best().tau;
        words[if tau < -ROUNDING { 0 } else { usize::from(tau > ROUNDING) + 1 }]
    }

    /// What positive momentum does to the residual.
    fn positive(&self) -> String {
        match self.raised {
            None => "no positive τ was tried".into(),
            Some(1.0) => "every positive τ raises it".into(),
            Some(0.0) => "no positive τ raises it".into(),
            Some(share) => format!("{:.0} % of the positive τ that were tried raise it", 100.0 * share),
        }
    }

    /// What a residual is, beside that at x₂: "raises it by 3 %".
    fn change(&self, residual: f64) -> String {
        match 100.0 * (residual / self.at_x2 - 1.0) {
            _ if self.at_x2 <= self.none && residual <= self.none => "leaves it at zero".into(),
            _ if self.at_x2 <= self.none => format!("raises it from zero to {residual:.4}"),
            percent if percent >= 0.05 => format!("raises it by {percent:.0} %"),
            percent if percent <= -0.05 => format!("lowers it by {:.0} %", -percent),
            _ => "leaves it as it is".into(),
        }
    }

    /// What the rules do that forbid f to rise, and that may be negative.
    fn told_rules(&self) -> String {
        let monotone = &self.rules[2];
        format!(
            "A constant that gives way where f would rise {}; the closed form {} and {}.",
            if monotone.tau == self.rules[1].tau { "is kept" } else { "is dropped" },
            self.by_minimum(["steps back", "stays", "goes on"]),
            self.change(self.best().residual)
        )
    }
}

/// With a minus sign that is one.
fn minus(number: String) -> String {
    number.replace('-', "−")
}

fn section(config: &Config, found: &Measured) -> Section {
    let (best, at_x1, at_x2) = (found.best(), found.at_x1, found.at_x2);
    let title = found.by_minimum(["Where momentum does not help", "Momentum at a minimum", "Where momentum helps"]);
    let size = format!("{} × {}", config.design.len(), config.design[0].len());
    let mut section = Section::new(Experiment::Counter, title);
    let falls = at_x2 < at_x1;
    section.lead = format!(
        "From x₁ to x₂ the residual {} from {at_x1:.4} to {at_x2:.4}; x₂ {}, and {}. {}",
        if falls { "falls" } else { "does not fall:" },
        found.by_minimum(["lies beyond the minimum", "is the minimum on their line", "lies short of the minimum"]),
        found.positive(),
        found.told_rules(),
    );
    section.setup = vec![
        ("Design".into(), format!("{size}, {}", if found.printed { "as printed" } else { "not the paper's" })),
        ("Points".into(), minus(format!("x₁ = {}·e₁, x₂ = {}·e₁", config.x1, config.x2))),
    ];
    section.tables.push(Table {
        title: "What each rule does at x₂".into(),
        headings: ["rule", "τ", "residual", "change"].map(Into::into).into(),
        rows: found.rules.iter().map(|rule| row(found, rule)).collect(),
    });
    section.verdicts = verdicts(config, found);
    section.notes.push(note(found));
    section.figures.push(figure(config, found, &size));
    let raised = found.raised.map(|share| ("share of positive tau that raise the residual", share));
    let told = [("norm at x1", at_x1), ("norm at x2", at_x2), ("closed-form tau", best.tau)].into_iter().chain(raised);
    section.numbers.extend(told.filter(|(_, v)| v.is_finite()).map(|(name, value)| (name.to_owned(), value)));
    section.record = json!({ "norm_at_x1": at_x1, "norm_at_x2": at_x2, "rules": found.rules, "curve": found.curve });
    section
}

fn row(found: &Measured, rule: &Ruled) -> Vec<String> {
    let change = 100.0 * (rule.residual / found.at_x2 - 1.0);
    let told = change.is_finite() && found.at_x2 > found.none;
    let change = if told { format!("{change:+.1} %") } else { "–".into() };
    vec![rule.rule.clone(), format!("{:.4}", rule.tau), format!("{:.4}", rule.residual), change]
}

fn note(found: &Measured) -> String {
    let (ours, theirs) = (format!("{:.4}", found.at_x2), format!("{:.4}", PUBLISHED[1]));
    match (found.printed, ours == theirs) {
        (false, _) => "These are not the inputs that the paper prints: its numbers are not held against them.".into(),
        (true, true) => "The printed inputs have four digits, and give the printed residual at x₂.".into(),
        (true, false) => format!(
            "The printed inputs have four digits: they give a residual of {ours} at x₂ where the paper, with all digits, has \
             {theirs}."
        ),
    }
}

fn figure(config: &Config, found: &Measured, size: &str) -> Figure {
    let best = minus(format!("{:.4}", found.best().tau));
    let caption = format!(
        "The residual after momentum τ, from x₁ through x₂. Its minimum is at τ = {best}, {} zero: {}. A constant τ = {} {}; \
         the closed form {} and {}.",
        found.by_minimum(["left of", "which is", "right of"]),
        found.positive(),
        minus(config.constant.to_string()),
        found.change(found.rules[1].residual),
        found.by_minimum(["steps back", "stays", "goes on"]),
        found.change(found.best().residual),
    );
    let (from, to) = (config.tau.from.max(0.0), config.tau.to);
    let shade = Shade { from, to, label: "positive momentum".into(), ink: Ink::Guide };
    let points = found.rules.iter().map(|r| (r.tau, r.residual)).collect();
    let chart = Chart {
        x: Axis::linear("momentum τ"),
        y: Axis::linear("‖b − Φ(x₂ + τ(x₂ − x₁))‖"),
        curves: vec![
            Curve::new("residual", Ink::Scale(0.0), found.curve.clone()),
            Curve::new("what the rules choose", Ink::Scale(1.0), points).stroked(Stroke::Points),
        ],
        shades: if from < to { vec![shade] } else { vec![] },
        places: vec![Place { x: found.best().tau, label: format!("closed form: {best}") }],
    };
    Figure {
        name: "counter".into(),
        title: "The residual against the momentum".into(),
        caption,
        columns: 1,
        panels: vec![Panel { title: format!("A {size} example"), body: Body::Chart(chart) }],
    }
}

/// What the paper says of its example holds against that example only.
fn verdicts(config: &Config, found: &Measured) -> Vec<Verdict> {
    let agreement = |yes: bool| match (found.printed, yes) {
        (false, _) => Agreement::Open,
        (true, true) => Agreement::Agrees,
        (true, false) => Agreement::Differs,
    };
    // Half a digit of rounding in the paper, one in its inputs.
    let norm = |name: &str, published: f64, measured: f64, slack: f64| Verdict {
        claim: format!("The residual at {name}"),
        published: format!("{published}"),
        measured: format!("{measured:.4}"),
        agreement: agreement((measured - published).abs() <= slack),
        why: if found.printed {
            "From the inputs as printed, to four digits."
        } else {
            "Other inputs than the paper's."
        }
        .into(),
    };
    let skipped = found.rules[2].tau.abs() <= ROUNDING;
    // A rule that would not have taken a positive τ anyway shows nothing.
    let tried = found.raised.is_some() && config.constant > ROUNDING;
    vec![
        norm("x₁", PUBLISHED[0], found.at_x1, 5e-5),
        norm("x₂", PUBLISHED[1], found.at_x2, 1.5e-4),
        Verdict {
            claim: "Any positive momentum raises the residual, so that a monotone rule skips it".into(),
            published: "yes".into(),
            measured: format!(
                "{}; the monotone rule {}",
                found.positive(),
                if skipped { "takes none" } else { "takes its constant" }
            ),
            agreement: if tried { agreement(found.raised == Some(1.0) && skipped) } else { Agreement::Open },
            why: format!(
                "x₂ {}. The closed form, free of sign, {}.",
                found.by_minimum([
                    "lies beyond the minimum",
                    "is the minimum on the line",
                    "lies short of the minimum"
                ]),
                found.by_minimum(["is not skipped: it steps back", "stays there", "goes on towards it"])
            ),
        },
    ]
}

#[cfg(test)]
mod tests;
