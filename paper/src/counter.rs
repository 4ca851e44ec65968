//! `counter`: the example of the paper's appendix in which every positive momentum raises the residual.
//!
//! Both points lie on the first axis, and the printed x₂ has gone past the minimum: x₂ − x₁ points further away. Wei's analysis
//! asks that momentum never raises f; with τ ≥ 0 that leaves τ = 0, and the acceleration is lost.

use anyhow::Result;
use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::method::{Momentum, MomentumMemory};
use katoms::operator::Dense;
use katoms::space::SparseVec;
use katoms::{Evaluated, Objective};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::figure::{Axis, Body, Chart, Curve, Ink, Panel, Place, Shade, Stroke};
use crate::{Agreement, Experiment, Progress, Request, Section, Table};

/// A residual below this share of the target's norm is rounding, and a τ below it is none.
const ROUNDING: f64 = 1e-12;
/// The residuals that the paper prints, at x₁ and x₂.
const PUBLISHED: [f64; 2] = [1.1328, 0.2224];

/// `paper/counter.toml` says what each is.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    design: Vec<Vec<f64>>,
    target: Vec<f64>,
    x1: f64,
    x2: f64,
    tau: Steps,
    constant: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    from: f64,
    to: f64,
    steps: usize,
}

impl Config {
    fn check(&self) -> Result<()> {
        let columns = self.design.first().map_or(0, Vec::len);
        let even = columns > 0 && self.design.iter().all(|row| row.len() == columns);
        let moves = self.x1 != self.x2 && self.design.iter().any(|row| row.first() != Some(&0.0));
        Experiment::Counter.check([
            (even, "`design` must be rows of equal length"),
            (self.design.len() == self.target.len(), "`target` must have one value for each row of `design`"),
            (moves, "`x1` and `x2` must differ, and the first column of `design` must not be zero: else nothing moves"),
            (self.tau.from < self.tau.to, "`tau` must rise"),
        ])
    }

    /// Whether these are the inputs that the paper prints: those of the built-in config.
    fn is_as_printed(&self) -> bool {
        let inputs = |c: &Self| (c.design.clone(), c.target.clone(), c.x1, c.x2);
        Experiment::Counter.settings::<Self>(&Request::default()).is_ok_and(|own| inputs(&own) == inputs(self))
    }
}

/// What a rule does at x₂.
#[derive(Debug, Serialize)]
struct Ruled {
    rule: String,
    tau: f64,
    residual: f64,
}

/// All that was measured.
struct Measured {
    at_x1: f64,
    at_x2: f64,
    /// The last is the closed form.
    rules: [Ruled; 6],
    /// (τ, residual).
    curve: Vec<(f64, f64)>,
    /// Of the positive τ that were tried, the share that raises the residual; NaN where none is positive.
    raised: f64,
}

pub fn run(request: &Request, progress: &Progress) -> Result<Section> {
    let config: Config = Experiment::Counter.settings(request)?;
    config.check()?;
    progress.expect(1);
    let found = measure(&config)?;
    progress.done("counter")?;
    section(&config, &found)
}

fn measure(config: &Config) -> Result<Measured> {
    let (values, columns) = (config.design.concat(), config.design[0].len());
    let design = Dense::row_major(&values, config.design.len(), columns)?;
    let f = Objective::new(design, LeastSquares::new(config.target.clone())?)?;
    let on_the_axis = |value| SparseVec::new(columns, vec![0], vec![value]);
    let (x, next) = (f.at(on_the_axis(config.x1)?), f.at(on_the_axis(config.x2)?));
    let moved = Evaluated::combine(1.0, &next, -1.0, &x);
    // ‖b − Φ(x₂ + τ(x₂ − x₁))‖.
    let residual = |tau: f64| linalg::norm(&f.residual(&Evaluated::combine(1.0, &next, tau, &moved)));
    let at = |rule: &str, tau: f64| Ruled { rule: rule.into(), tau, residual: residual(tau) };
    // τ by a rule that has made so many moves before.
    let ruled = |name: &str, rule: Momentum, moves: usize| {
        let mut memory = MomentumMemory::default();
        let mut weight = || rule.weight(&f, &next, &moved, &mut memory);
        (0..moves).for_each(|_| _ = weight());
        at(name, weight())
    };
    let best = ruled("closed form", Momentum::ClosedForm, 0);
    let constant = format!("constant {}", minus(config.constant));
    let rules = [
        ruled("none: plain IHT", Momentum::Constant(0.0), 0),
        ruled(&constant, Momentum::Constant(config.constant), 0),
        ruled(&format!("{constant} unless f rises"), Momentum::Monotone(config.constant), 0),
        ruled("Nesterov's sequence, third move", Momentum::Nesterov, 2),
        at("closed form, τ ≥ 0 (Wei)", best.tau.max(0.0)),
        best,
    ];
    let Steps { from, to, steps } = config.tau;
    let taus = (0..=steps).map(|i| from + (to - from) * i as f64 / steps as f64);
    let curve: Vec<(f64, f64)> = taus.map(|tau| (tau, residual(tau))).collect();
    let (at_x1, at_x2) = (residual(-1.0), residual(0.0));
    let positive = || curve.iter().filter(|(tau, _)| *tau > ROUNDING);
    let raised = positive().filter(|(_, residual)| *residual > at_x2).count() as f64 / positive().count() as f64;
    Ok(Measured { at_x1, at_x2, rules, raised, curve })
}

impl Measured {
    /// One word for a minimum before x₂, one for a minimum at it, one for a minimum after it.
    fn by_minimum<'a>(&self, words: [&'a str; 3]) -> &'a str {
        let tau = self.rules[5].tau;
        words[if tau < -ROUNDING { 0 } else { usize::from(tau > ROUNDING) + 1 }]
    }

    /// What positive momentum does to the residual.
    fn positive(&self) -> String {
        if self.raised.is_nan() {
            return "no positive τ was tried".into();
        }
        format!("{:.0} % of the positive τ that were tried raise it", 100.0 * self.raised)
    }

    /// By how much a rule changes the residual; a dash where there is none at x₂.
    fn change(&self, rule: &Ruled, none: f64) -> String {
        let change = 100.0 * (rule.residual / self.at_x2 - 1.0);
        if change.is_finite() && self.at_x2 > none { format!("{change:+.1} %") } else { "–".into() }
    }
}

/// A number with a minus sign that is one.
fn minus(number: impl ToString) -> String {
    number.to_string().replace('-', "−")
}

fn section(config: &Config, found: &Measured) -> Result<Section> {
    let (best, at_x1, at_x2) = (&found.rules[5], found.at_x1, found.at_x2);
    let none = ROUNDING * linalg::norm(&config.target);
    let size = format!("{} × {}", config.design.len(), config.design[0].len());
    let mut section = Section::new(Experiment::Counter)?;
    section.lead = format!(
        "From x₁ to x₂ the residual goes from {at_x1:.4} to {at_x2:.4}; x₂ {}, and {}. The closed form takes τ = {} and changes \
         the residual by {}.",
        found.by_minimum(["lies beyond the minimum", "is the minimum on their line", "lies short of the minimum"]),
        found.positive(),
        minus(format!("{:.4}", best.tau)),
        found.change(best, none),
    );
    let printed = if config.is_as_printed() { "as printed" } else { "not the paper's" };
    section.set_up([
        ("Design", format!("{size}, {printed}")),
        ("Points", minus(format!("x₁ = {}·e₁, x₂ = {}·e₁", config.x1, config.x2))),
    ]);
    let row = |rule: &Ruled| {
        let (tau, residual) = (format!("{:.4}", rule.tau), format!("{:.4}", rule.residual));
        vec![rule.rule.clone(), tau, residual, found.change(rule, none)]
    };
    let headings = ["rule", "τ", "residual", "change"];
    section.tables.push(Table::new("What each rule does at x₂", headings, found.rules.iter().map(row)));
    section.judge(verdicts(config, found))?;
    section.draw("", 1, vec![panel(config, found, &size)])?;
    section.count([
        ("norm at x1", at_x1),
        ("norm at x2", at_x2),
        ("closed-form tau", best.tau),
        ("share of positive tau that raise the residual", found.raised),
    ]);
    section.record = json!({ "norm_at_x1": at_x1, "norm_at_x2": at_x2, "rules": found.rules, "curve": found.curve });
    Ok(section)
}

fn panel(config: &Config, found: &Measured, size: &str) -> Panel {
    let best = minus(format!("{:.4}", found.rules[5].tau));
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
        places: vec![Place { x: found.rules[5].tau, label: format!("closed form: {best}") }],
    };
    Panel { title: format!("A {size} example"), body: Body::Chart(chart) }
}

/// What the paper says of its example holds against that example only.
fn verdicts(config: &Config, found: &Measured) -> [(String, Agreement); 3] {
    let agreement = |yes| if config.is_as_printed() { Agreement::of(yes) } else { Agreement::Open };
    // Half a digit of rounding in the paper, one in its inputs.
    let norm = |published: f64, measured: f64, slack: f64| {
        (format!("{measured:.4}"), agreement((measured - published).abs() <= slack))
    };
    let skipped = found.rules[2].tau.abs() <= ROUNDING;
    // A rule that would not have taken a positive τ anyway shows nothing.
    let tried = !found.raised.is_nan() && config.constant > ROUNDING;
    let rule = if skipped { "takes none" } else { "takes its constant" };
    [
        norm(PUBLISHED[0], found.at_x1, 5e-5),
        norm(PUBLISHED[1], found.at_x2, 1.5e-4),
        (
            format!("{}; the monotone rule {rule}", found.positive()),
            if tried { agreement(found.raised == 1.0 && skipped) } else { Agreement::Open },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::changed;

    fn small(lines: &[&str]) -> Section {
        run(&changed(Experiment::Counter, lines), &Progress::hidden()).unwrap()
    }

    #[test]
    fn the_printed_example_bears_the_paper_out() {
        let section = small(&[]);
        assert!(section.verdicts.iter().all(|v| v.agreement == Agreement::Agrees));
        assert!(section.lead.contains("lies beyond the minimum") && section.lead.contains("0.2225"));
    }

    /// Short of the minimum momentum helps, and nothing of the printed example is said.
    #[test]
    fn other_points_are_judged_by_themselves() {
        let section = small(&["x1 = 0.2", "x2 = 0.5"]);
        assert!(section.lead.contains("short of the minimum"));
        assert!(section.verdicts.iter().all(|v| v.agreement == Agreement::Open));
        assert!(section.numbers["share of positive tau that raise the residual"] < 1.0);
        let negative = small(&["tau = { from = -0.5, to = -0.1, steps = 20 }"]);
        assert!(negative.lead.contains("no positive τ was tried"), "{}", negative.lead);
        assert_eq!(negative.verdicts[2].agreement, Agreement::Open);
        // The target is the image of x₂: no percentages of nothing.
        let zero = small(&["target = [0.3816, -0.1598]", "x2 = 1.0"]);
        assert!(!zero.lead.contains("NaN") && zero.tables[0].rows.iter().all(|row| row[3] == "–"), "{}", zero.lead);
    }
}
