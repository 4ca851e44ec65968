//! Figure, tables and verdicts of `correlated`, from what was measured.

use serde_json::{Map, Value, json};

use super::Config;
use super::comparison::{ERRORS, Measure, Measured, Tally, places};
use super::field::{Entrant, FIELD};
use super::figures;
use crate::{Agreement, Contestant, Experiment, Section, Table, Verdict};

/// "Almost everywhere": this share of the comparisons and more.
const ALMOST: f64 = 0.9;
/// Below this share not even in part.
const MOSTLY: f64 = 0.6;
/// The paper's momentum.
const PUBLISHED_MOMENTUM: f64 = 0.25;

/// Whose comparisons are told.
const TOLD: [Contestant; 4] = [Contestant::AccIht, Contestant::Katoms, Contestant::Staged, Contestant::Search];

/// What is asked of the scores again and again.
pub(super) struct View<'a> {
    pub found: &'a Measured,
    /// The place of the true k among the levels.
    at_k: usize,
    pub all_levels: Vec<usize>,
    /// The places of those with whom the paper compares.
    papers: Vec<usize>,
}

impl View<'_> {
    /// The place of a contestant in the field.
    pub fn place(contestant: Contestant) -> usize {
        places(|e| e.contestant == contestant && !e.refitted).first().copied().unwrap_or(0)
    }

    /// One against the paper's rivals, everywhere.
    fn everywhere(&self, contestant: Contestant) -> Tally {
        self.found.tally(Self::place(contestant), &self.all_levels, &self.papers, &Measure::ALL)
    }

    /// The same by one measure.
    pub fn by(&self, contestant: Contestant, measure: Measure) -> Tally {
        self.found.tally(Self::place(contestant), &self.all_levels, &self.papers, &[measure])
    }

    fn at_true_k(&self, contestant: Contestant, measure: Measure) -> f64 {
        self.found.mean(self.at_k, Self::place(contestant), |s| measure.of(s)).value
    }
}

/// The section.
pub(super) fn section(config: &Config, found: &Measured) -> Section {
    let view = View {
        found,
        at_k: found.levels.iter().position(|k| *k == config.k).unwrap_or(0),
        all_levels: (0..found.levels.len()).collect(),
        papers: places(|e| e.in_paper()),
    };
    let mut section = Section::new(Experiment::Correlated, "Columns that are alike, with noise");
    section.lead = lead(config, &view);
    section.setup = setup(config);
    section.figures = vec![figures::means(config, &view), figures::differences(config, &view)];
    section.tables = vec![at_the_true_k(config, &view), against_each(&view), by_level(&view)];
    section.verdicts = verdicts(config, &view);
    section.notes = notes(config, &view);
    numbers(&mut section, &view);
    section.record = record(&view);
    section
}

fn lead(config: &Config, view: &View<'_>) -> String {
    let best = |measure: Measure| {
        let mean = |at: &usize| view.found.mean(view.at_k, *at, |s| measure.of(s)).value;
        let order = |a: &usize, b: &usize| mean(a).total_cmp(&mean(b));
        (0..FIELD.len()).max_by(order).map_or_else(String::new, |at| FIELD[at].label())
    };
    let (theirs, ours) = (view.everywhere(Contestant::AccIht), view.everywhere(Contestant::Katoms));
    let accelerated = if config.momentum == PUBLISHED_MOMENTUM {
        "AccIHT as the paper sets it".to_owned()
    } else {
        format!("AccIHT with τ = {}", config.momentum)
    };
    format!(
        "{accelerated} is better than the paper's four rivals or equal in {theirs} comparisons over levels \
         and measures; katoms in {ours}, its search in {}. At the true k = {} the best are: {} in the support, {} in \
         prediction, {} in the fit.",
        view.everywhere(Contestant::Search),
        config.k,
        best(Measure::Auc),
        best(Measure::Test),
        best(Measure::Likelihood),
    )
}

fn setup(config: &Config) -> Vec<(String, String)> {
    vec![
        (
            "Design".into(),
            format!(
                "{} × {}, AR(1) with correlation {} between neighbouring columns, columns of norm 1; half of the rows are \
                 fitted, the other half tests",
                config.rows, config.columns, config.correlation
            ),
        ),
        (
            "Planted".into(),
            format!(
                "{} normal values at random places, norm 1; signal-to-noise ratio {} (of variances)",
                config.k, config.snr
            ),
        ),
        ("Draws".into(), format!("{}, seeds from {} on", config.draws, config.seed)),
        (
            "AccIHT (paper)".into(),
            format!("step 1/λ_max, τ = {}, no refit; IHT (paper) the same with τ = 0", config.momentum),
        ),
        (
            "Lasso".into(),
            format!(
                "a path of {} penalties; the least one that leaves at most k columns, with its own, shrunken values; dashed: \
                 refitted by least squares",
                config.penalties
            ),
        ),
    ]
}

fn at_the_true_k(config: &Config, view: &View<'_>) -> Table {
    let row = |(at, entrant): (usize, &Entrant)| {
        let cell = |measure: Measure, digits: usize| {
            let mean = view.found.mean(view.at_k, at, |s| measure.of(s));
            format!("{:.digits$} ± {:.digits$}", mean.value, mean.error)
        };
        vec![
            entrant.label(),
            cell(Measure::Auc, 4),
            cell(Measure::Test, 4),
            cell(Measure::Likelihood, 1),
            format!("{:.0}", view.found.mean(view.at_k, at, |s| s.passes).value),
        ]
    };
    Table {
        title: format!("At the true k = {}: mean ± standard error", config.k),
        headings: ["method", "support AUC", "test R²", "training log-likelihood", "passes"].map(Into::into).into(),
        rows: FIELD.iter().enumerate().map(row).collect(),
    }
}

/// At how many levels AccIHT and ours are better than each other one or equal, by measure.
fn against_each(view: &View<'_>) -> Table {
    let row = |(rival, entrant): (usize, &Entrant)| {
        let cell = |one: Contestant| {
            let one = View::place(one);
            let by = Measure::ALL.map(|m| view.found.tally(one, &view.all_levels, &[rival], &[m]).won.to_string());
            if one == rival { "".into() } else { by.join(" / ") }
        };
        [vec![entrant.label()], TOLD.map(cell).into()].concat()
    };
    let told = TOLD.iter().map(|c| c.label().to_owned());
    Table {
        title: format!(
            "Levels, of {}, at which it is better than the one in the row or equal: support / prediction / fit",
            view.all_levels.len()
        ),
        headings: ["than".to_owned()].into_iter().chain(told).collect(),
        rows: FIELD.iter().enumerate().map(row).collect(),
    }
}

/// Comparisons with the paper's rivals, level by level.
fn by_level(view: &View<'_>) -> Table {
    let row = |&level: &usize| {
        let cell = |c: Contestant| view.found.tally(View::place(c), &[level], &view.papers, &Measure::ALL).to_string();
        [vec![view.found.levels[level].to_string()], TOLD.map(cell).into()].concat()
    };
    let told = TOLD.iter().map(|c| c.label().to_owned());
    Table {
        title: "Comparisons with the paper's four rivals in which it is better or equal, by level".into(),
        headings: ["k".to_owned()].into_iter().chain(told).collect(),
        rows: view.all_levels.iter().map(row).collect(),
    }
}

fn verdicts(config: &Config, view: &View<'_>) -> Vec<Verdict> {
    let (told, why) = told(view, Contestant::AccIht);
    vec![Verdict {
        claim: "AccIHT is better than Lasso, oblivious, greedy and FoBa or equal almost everywhere".into(),
        published: "almost everywhere".into(),
        measured: told,
        agreement: match view.everywhere(Contestant::AccIht).share() {
            // What the paper says, it says of its own momentum.
            _ if config.momentum != PUBLISHED_MOMENTUM => Agreement::Open,
            s if s >= ALMOST => Agreement::Agrees,
            s if s >= MOSTLY => Agreement::Partly,
            _ => Agreement::Differs,
        },
        why: format!(
            "Draw by draw, a difference within {ERRORS} standard errors counting as equal; almost everywhere is {:.0} % \
             and more. {why}",
            100.0 * ALMOST,
        ),
    }]
}

/// One against the paper's rivals: in how many comparisons it is better or equal, and where it is behind.
fn told(view: &View<'_>, contestant: Contestant) -> (String, String) {
    let by = Measure::ALL.map(|m| format!("{} {}", m.name(), view.by(contestant, m)));
    let (behind, often) = most_often_behind(view, contestant);
    let why = if often == 0 {
        "It is nowhere clearly behind.".to_owned()
    } else {
        format!("Clearly behind most often against {behind}: in {often} of {} comparisons.", 3 * view.all_levels.len())
    };
    (format!("{}: {}", view.everywhere(contestant), by.join(", ")), why)
}

/// The paper's rival that is clearly ahead most often, and how often.
fn most_often_behind(view: &View<'_>, contestant: Contestant) -> (String, usize) {
    let one = View::place(contestant);
    let behind = |&rival: &usize| {
        let tally = view.found.tally(one, &view.all_levels, &[rival], &Measure::ALL);
        tally.of - tally.won
    };
    let worst = view.papers.iter().copied().max_by_key(|rival| behind(rival)).unwrap_or(one);
    (FIELD[worst].label(), behind(&worst))
}

fn notes(config: &Config, view: &View<'_>) -> Vec<String> {
    let refits = {
        let (plain, ours) = (
            view.at_true_k(Contestant::AccIht, Measure::Likelihood),
            view.at_true_k(Contestant::Katoms, Measure::Likelihood),
        );
        if ours > plain { "fits better" } else { "fits no better" }
    };
    let (ours, behind) = told(view, Contestant::Search);
    let passes = |c: Contestant| view.found.mean(view.at_k, View::place(c), |s| s.passes).value;
    vec![
        format!(
            "Beyond the paper: {} is better than its four rivals or equal in {ours}. {behind}",
            Contestant::Search.label()
        ),
        "The paper names the step 1/λ_max for its experiment with independent columns only, and none for this one; that it \
         is the same here is our reading."
            .into(),
        format!(
            "At the true k AccIHT (paper) took {:.0} passes, those for λ_max included, IHT (paper) {:.0}; katoms {:.0}.",
            passes(Contestant::AccIht),
            passes(Contestant::Iht),
            passes(Contestant::Katoms)
        ),
        "Rows are independent, so the first and the last half of them are a random split in law.".into(),
        format!(
            "The paper does not say when its runs end; here at a change of {:.0e} or after {} iterations. Without a refit the \
             values are only as good as the run is long; katoms, which refits, {refits} at the true k.",
            config.tolerance, config.iterations
        ),
        "The support AUC ranks columns by the magnitude of their values; those outside of the model are tied. Beyond the true \
         k every method must take columns that are not planted."
            .into(),
        "The training log-likelihood is of normal noise with its most likely variance; more columns may raise it \
         without predicting better."
            .into(),
    ]
}

fn numbers(section: &mut Section, view: &View<'_>) {
    let mut tell = |name: String, value: f64| _ = section.numbers.insert(name, value);
    for contestant in
        [Contestant::AccIht, Contestant::Katoms, Contestant::Search, Contestant::Lasso, Contestant::Forward]
    {
        tell(format!("AUC of {}", contestant.label()), view.at_true_k(contestant, Measure::Auc));
    }
    for contestant in [Contestant::AccIht, Contestant::Search, Contestant::Lasso] {
        tell(format!("test R² of {}", contestant.label()), view.at_true_k(contestant, Measure::Test));
    }
    for contestant in [Contestant::AccIht, Contestant::Search] {
        let share = view.everywhere(contestant).share();
        tell(format!("share in which {} is better or equal", contestant.label()), share);
    }
    let gain = view.at_true_k(Contestant::Search, Measure::Likelihood)
        - view.at_true_k(Contestant::AccIht, Measure::Likelihood);
    tell("log-likelihood of katoms, search, less AccIHT's".into(), gain);
}

fn record(view: &View<'_>) -> Value {
    let of = |at: usize, pick: &dyn Fn(&super::draw::Scores) -> f64| {
        let means = view.all_levels.iter().map(|&level| view.found.mean(level, at, pick));
        let cells: Vec<Value> = means.map(|m| json!({ "mean": m.value, "standard_error": m.error })).collect();
        Value::from(cells)
    };
    let methods: Map<String, Value> = FIELD
        .iter()
        .enumerate()
        .map(|(at, entrant)| {
            let by = json!({
                "auc": of(at, &|s| s.auc),
                "test_r2": of(at, &|s| s.test),
                "log_likelihood": of(at, &|s| s.likelihood),
                "passes": of(at, &|s| s.passes),
            });
            (entrant.label(), by)
        })
        .collect();
    json!({ "levels": view.found.levels, "draws": view.found.draws(), "methods": methods })
}
