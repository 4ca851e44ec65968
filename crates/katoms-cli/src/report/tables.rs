//! What charts show, as text.

use serde::Serialize;

use super::coefficients::Coefficients;
use super::diagnostics::{Bin, Tenth};
use super::outcomes::RiskGroup;
use super::responses::{Response, share};
use super::{Completion, CrossValidation, Path};
use katoms_charts::number::{long, percent, short, whole};
use katoms_charts::svg::Tone;

/// So many rows at most: a browser slows down with more.
const ROWS: usize = 5000;
/// A longer table is folded.
const OPEN: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Table {
    /// What it lists, for its summary: "40 coefficients".
    pub summary: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Whether a row has a note.
    pub noted: bool,
    /// Whether it is unfolded at first.
    pub open: bool,
    /// How many rows were left out.
    pub more: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Column {
    pub name: String,
    pub class: &'static str,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub cells: Vec<String>,
    pub note: Option<String>,
    pub tone: std::borrow::Cow<'static, str>,
}

/// A column in the making: its name, its class, what stands in it.
type Maker<'a, T> = (&'a str, &'static str, Box<dyn Fn(&T) -> Option<String> + 'a>);

impl Table {
    /// A row for each item. Columns in which no item has anything are left out.
    fn new<'a, T>(noun: &str, items: &[T], makers: Vec<Maker<'a, T>>) -> Self {
        let shown = &items[..items.len().min(ROWS)];
        let makers: Vec<_> = makers.into_iter().filter(|m| shown.iter().any(|item| m.2(item).is_some())).collect();
        let row =
            |item: &T| Row { cells: makers.iter().map(|m| m.2(item).unwrap_or_default()).collect(), ..Row::default() };
        let more = items.len() - shown.len();
        Self {
            summary: katoms_charts::number::counted(items.len(), noun),
            columns: makers.iter().map(|m| Column { name: m.0.into(), class: m.1 }).collect(),
            rows: shown.iter().map(row).collect(),
            noted: false,
            open: items.len() <= OPEN,
            more: (more > 0).then(|| whole(more)),
        }
    }

    fn note(&mut self, place: Option<usize>, tone: Tone, text: &str) {
        if let Some(row) = place.and_then(|place| self.rows.get_mut(place)) {
            let before = row.note.take().map(|note| note + ", ").unwrap_or_default();
            row.note = Some(before + text);
            row.tone = tone.class();
            self.noted = true;
        }
    }
}

pub(super) fn coefficients(coefficients: &Coefficients) -> Table {
    let rows = coefficients.sorted();
    let ratio = coefficients.scale.as_ref().and_then(|scale| scale.ratio.as_deref());
    let (is_ratio, name) = (ratio.is_some(), ratio.unwrap_or_default());
    let per_deviation = format!("{name} per standard deviation");
    let nonempty = |text: String| (!text.is_empty()).then_some(text);
    let makers: Vec<Maker<'_, &super::Coefficient>> = vec![
        ("feature", "name", Box::new(|c| Some(c.name.clone()))),
        ("group", "name", Box::new(|c| c.group.clone())),
        ("coefficient", "number", Box::new(|c| Some(long(c.value)))),
        (name, "number", Box::new(move |c| is_ratio.then(|| short(c.value.exp())))),
        ("standardised", "number", Box::new(|c| c.standardised.map(short))),
        (
            &per_deviation,
            "number",
            Box::new(move |c| c.standardised.filter(|_| is_ratio).map(|effect| short(effect.exp()))),
        ),
        ("selection frequency", "number", Box::new(|c| c.chosen_share.map(percent))),
        ("could be replaced by", "name", Box::new(move |c| nonempty(c.rivals.join(", ")))),
    ];
    Table::new("coefficient", &rows, makers)
}

pub(super) fn path(path: &Path) -> Table {
    let explained = if path.explained_name.is_empty() { "explained" } else { &path.explained_name };
    let makers: Vec<Maker<'_, super::PathSize>> = vec![
        ("k", "number", Box::new(|s| Some(s.k.to_string()))),
        ("loss", "number", Box::new(|s| Some(long(s.loss)))),
        (explained, "number", Box::new(|s| s.explained.map(percent))),
        ("AIC", "number", Box::new(|s| s.aic.map(long))),
        ("BIC", "number", Box::new(|s| s.bic.map(long))),
        ("EBIC", "number", Box::new(|s| s.ebic.map(long))),
        ("GIC", "number", Box::new(|s| s.gic.map(long))),
    ];
    let mut table = Table::new("size", &path.sizes, makers);
    table.note(path.sizes.iter().position(|s| path.chosen == Some(s.k)), Tone::Chosen, "chosen");
    table
}

pub(super) fn entries(path: &Path) -> Option<Table> {
    if path.sizes.len() < 2 || path.sizes.iter().all(|s| s.features.is_empty()) {
        return None;
    }
    let missing = |from: &[String], of: &[String]| {
        let gone: Vec<&str> = of.iter().filter(|f| !from.contains(f)).map(String::as_str).collect();
        (!gone.is_empty()).then(|| gone.join(", "))
    };
    let before = |place: usize| place.checked_sub(1).map_or(&[][..], |p| &path.sizes[p].features);
    let places: Vec<usize> = (0..path.sizes.len()).collect();
    let makers: Vec<Maker<'_, usize>> = vec![
        ("k", "number", Box::new(|&i| Some(path.sizes[i].k.to_string()))),
        ("came in", "name", Box::new(move |&i| missing(before(i), &path.sizes[i].features))),
        ("went out", "name", Box::new(move |&i| missing(&path.sizes[i].features, before(i)))),
    ];
    let table = Table::new("size", &places, makers);
    Some(Table { summary: "What came in and went out".into(), open: false, ..table })
}

pub(super) fn cross_validation(validation: &CrossValidation) -> Table {
    let makers: Vec<Maker<'_, super::HeldOutError>> = vec![
        ("k", "number", Box::new(|s| Some(s.k.to_string()))),
        (&validation.measure, "number", Box::new(|s| Some(long(s.mean)))),
        ("standard error", "number", Box::new(|s| Some(short(s.error)))),
        ("root mean squared error", "number", Box::new(|s| s.rmse.map(short))),
    ];
    let sizes = validation.with_null();
    let mut table = Table::new("size", &sizes, makers);
    let place = |k| sizes.iter().position(|s| s.k == k);
    table.note(place(0), Tone::Other, "no features");
    table.note(place(validation.k_min), Tone::Other, validation.best_word());
    table.note(place(validation.k_1se), Tone::Other, "within one standard error");
    if let Some(k) = validation.chosen {
        table.note(place(k), Tone::Chosen, "chosen");
    }
    table
}

pub(super) fn ridges(validation: &CrossValidation) -> Option<Table> {
    let makers: Vec<Maker<'_, super::RidgeError>> = vec![
        ("ridge", "number", Box::new(|r| Some(short(r.ridge)))),
        ("best k", "number", Box::new(|r| Some(r.best.k.to_string()))),
        (&validation.measure, "number", Box::new(|r| Some(long(r.best.mean)))),
        ("standard error", "number", Box::new(|r| Some(short(r.best.error)))),
    ];
    let mut table = Table::new("ridge", &validation.ridges, makers);
    table.note(validation.ridges.iter().position(|r| r.ridge == validation.ridge), Tone::Chosen, "chosen");
    (!validation.ridges.is_empty()).then_some(Table { summary: "The best size under each ridge".into(), ..table })
}

pub(super) type Measure = (&'static str, Option<String>, Option<String>);

pub(super) fn measures(measures: &[Measure]) -> Table {
    let makers: Vec<Maker<'_, Measure>> = vec![
        ("", "", Box::new(|m| Some(m.0.into()))),
        ("rows held out", "number", Box::new(|m| m.1.clone())),
        ("rows of the fit", "number", Box::new(|m| m.2.clone())),
    ];
    Table { summary: "How well it predicts".into(), ..Table::new("measure", measures, makers) }
}

pub(super) fn calibration(bins: &[Bin]) -> Table {
    let range = |b: &Bin| format!("{:.0}–{:.0} %", b.lower * 100.0, b.upper * 100.0);
    let makers: Vec<Maker<'_, Bin>> = vec![
        ("probability", "number", Box::new(move |b| Some(range(b)))),
        ("rows", "number", Box::new(|b| Some(whole(b.count)))),
        ("predicted", "number", Box::new(|b| Some(percent(b.predicted)))),
        ("observed", "number", Box::new(|b| Some(percent(b.observed)))),
    ];
    Table { open: false, summary: "Calibration".into(), ..Table::new("range", bins, makers) }
}

pub(super) fn tenths(tenths: &[Tenth]) -> Table {
    let makers: Vec<Maker<'_, Tenth>> = vec![
        ("rows", "number", Box::new(|t| Some(whole(t.count)))),
        ("mean predicted", "number", Box::new(|t| Some(short(t.predicted)))),
        ("mean observed", "number", Box::new(|t| Some(short(t.observed)))),
        ("standard error", "number", Box::new(|t| Some(short(t.error)))),
    ];
    Table { open: false, summary: "Calibration".into(), ..Table::new("group", tenths, makers) }
}

pub(super) fn survival(groups: &[RiskGroup]) -> Table {
    let makers: Vec<Maker<'_, RiskGroup>> = vec![
        ("risk", "name", Box::new(|g| Some(g.name.into()))),
        ("rows", "number", Box::new(|g| Some(whole(g.rows)))),
        ("events", "number", Box::new(|g| Some(whole(g.events)))),
        ("median time", "number", Box::new(|g| Some(g.median.map_or_else(|| "not reached".into(), short)))),
    ];
    Table { summary: "Thirds of risk".into(), ..Table::new("third", groups, makers) }
}

pub(super) fn responses(responses: &[Response]) -> Table {
    let makers: Vec<Maker<'_, Response>> = vec![
        ("target", "name", Box::new(|r| Some(r.name.clone()))),
        ("k", "number", Box::new(|r| r.k.map(whole))),
        ("intercept", "number", Box::new(|r| r.intercept.map(long))),
        ("R², rows held out", "number", Box::new(|r| r.r_squared[0].map(share))),
        ("R², rows of the fit", "number", Box::new(|r| r.r_squared[1].map(share))),
        ("RMSE, rows held out", "number", Box::new(|r| r.rmse[0].map(short))),
        ("RMSE, rows of the fit", "number", Box::new(|r| r.rmse[1].map(short))),
    ];
    Table { open: true, ..Table::new("target", responses, makers) }
}

pub(super) fn thresholds(names: &[String], thresholds: &[f64]) -> Table {
    let between: Vec<(String, f64)> =
        names.windows(2).zip(thresholds).map(|(pair, &at)| (format!("{} | {}", pair[0], pair[1]), at)).collect();
    let makers: Vec<Maker<'_, (String, f64)>> = vec![
        ("between", "name", Box::new(|t| Some(t.0.clone()))),
        ("threshold", "number", Box::new(|t| Some(long(t.1)))),
    ];
    Table { summary: "Thresholds".into(), ..Table::new("threshold", &between, makers) }
}

pub(super) fn ranks(completion: &Completion) -> Table {
    let measure = if completion.measure.is_empty() { "error" } else { &completion.measure };
    let makers: Vec<Maker<'_, super::RankError>> = vec![
        ("rank", "number", Box::new(|r| Some(r.rank.to_string()))),
        (measure, "number", Box::new(|r| Some(long(r.error)))),
    ];
    let mut table = Table::new("rank", &completion.ranks, makers);
    table.note(completion.ranks.iter().position(|r| completion.chosen_rank == Some(r.rank)), Tone::Chosen, "chosen");
    table
}

pub(super) fn singular_values(values: &[f64]) -> Table {
    let numbered: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    let makers: Vec<Maker<'_, (usize, f64)>> = vec![
        ("index", "number", Box::new(|v| Some((v.0 + 1).to_string()))),
        ("singular value", "number", Box::new(|v| Some(long(v.1)))),
    ];
    Table { open: false, ..Table::new("singular value", &numbered, makers) }
}
