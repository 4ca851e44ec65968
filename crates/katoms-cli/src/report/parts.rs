//! The parts of a page, drawn and written out for the template.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::coefficients::Unit;
use super::diagnostics::{Bin, Confusion, Residuals, Roc};
use super::figures::{self, Figure, Place};
use super::number::{counted, fixed, long, percent, short, whole};
use super::tables::{self, Table};
use super::{Classification, Coefficients, Completion, Convergence, CrossValidation, Fact, Judged, Path, Regression};
use super::{bars, entry};

#[derive(Debug, Serialize)]
pub(super) struct CoefficientsPart {
    figure: Option<Figure>,
    standardised: bool,
    /// How many bars are not drawn.
    more: Option<String>,
    intercept: Option<String>,
    half_samples: Option<String>,
    table: Table,
}

impl CoefficientsPart {
    pub(super) fn new(coefficients: &Coefficients) -> Option<Self> {
        let more = coefficients.rows.len().saturating_sub(bars::BARS);
        let any = !coefficients.rows.is_empty() || coefficients.intercept.is_some();
        any.then(|| Self {
            figure: Figure::new(Place::Full, |width| bars::draw(coefficients, width)),
            standardised: coefficients.unit() == Unit::Standardised,
            more: (more > 0).then(|| whole(more)),
            intercept: coefficients.intercept.map(long),
            half_samples: coefficients.half_samples.map(whole),
            table: tables::coefficients(coefficients),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ConvergencePart {
    figure: Option<Figure>,
    first: String,
    last: String,
    moves: String,
    passes: String,
    /// "3 × exchange".
    kinds: Vec<String>,
}

impl ConvergencePart {
    pub(super) fn new(convergence: &Convergence) -> Option<Self> {
        let (first, last) = (convergence.moves.first()?, convergence.moves.last()?);
        let mut kinds = std::collections::BTreeMap::new();
        convergence.moves.iter().filter_map(|m| m.label.as_deref()).for_each(|k| *kinds.entry(k).or_insert(0) += 1);
        Some(Self {
            figure: Figure::new(Place::Full, |width| figures::convergence(convergence, width)),
            first: short(first.objective),
            last: short(last.objective),
            moves: counted(convergence.moves.len(), "move"),
            passes: passes(last.passes),
            kinds: kinds.iter().map(|(kind, count)| format!("{} × {kind}", whole(*count))).collect(),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct PathPart {
    criteria: Option<Figure>,
    explained: Option<Figure>,
    entry: Option<Figure>,
    table: Table,
    entries: Option<Table>,
}

impl PathPart {
    pub(super) fn new(path: &Path) -> Option<Self> {
        let explained = Figure::new(Place::Half, |width| figures::explained(path, width));
        let place = if explained.is_some() { Place::Half } else { Place::Full };
        (!path.sizes.is_empty()).then(|| Self {
            criteria: Figure::new(place, |width| figures::criteria(path, width)),
            explained,
            entry: Figure::new(Place::Full, |width| entry::draw(path, width)),
            table: tables::path(path),
            entries: tables::entries(path),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ValidationPart {
    figure: Option<Figure>,
    table: Table,
}

impl ValidationPart {
    pub(super) fn new(validation: &CrossValidation) -> Option<Self> {
        (!validation.sizes.is_empty()).then(|| Self {
            figure: Figure::new(Place::Full, |width| figures::cross_validation(validation, width)),
            table: tables::cross_validation(validation),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct RegressionPart {
    figure: Option<Figure>,
    target: String,
    rows: String,
    fitted: bool,
    r_squared: Option<String>,
    facts: Vec<Fact>,
}

impl RegressionPart {
    pub(super) fn new(regression: &Regression, r_squared: Option<f64>, residuals: Option<&Residuals>) -> Self {
        Self {
            figure: Figure::new(Place::Half, |width| figures::scatter(regression, width)),
            target: regression.target.clone(),
            rows: counted(regression.observed.len(), "row"),
            fitted: regression.judged == Judged::OnFittedRows,
            r_squared: r_squared.map(|share| if share > -100.0 { fixed(share, 4) } else { short(share) }),
            facts: residuals.map(residual_facts).unwrap_or_default(),
        }
    }
}

/// "1 pass", "12 passes"; "1.8 passes" where some were partial.
fn passes(count: f64) -> String {
    if count.fract() > 0.0 {
        return format!("{count:.1} passes");
    }
    // The cast saturates.
    format!("{} pass{}", whole(count as usize), if count == 1.0 { "" } else { "es" })
}

fn residual_facts(residuals: &Residuals) -> Vec<Fact> {
    let [least, lower, median, upper, greatest] = residuals.quantiles.map(short);
    vec![
        Fact::new("Root mean square", short(residuals.root_mean_square)),
        Fact::new("Mean magnitude", short(residuals.mean_magnitude)),
        Fact::new("Median", median),
        Fact::new("Middle half", format!("{lower} to {upper}")),
        Fact::new("All", format!("{least} to {greatest}")),
    ]
}

#[derive(Debug, Serialize)]
pub(super) struct ClassificationPart {
    roc: Option<Figure>,
    auc: Option<String>,
    calibration: Option<Figure>,
    bins: Option<Table>,
    confusion: Option<Confusion>,
    target: String,
    positive: String,
    negative: String,
    rows: String,
    fitted: bool,
    facts: Vec<Fact>,
}

impl ClassificationPart {
    pub(super) fn new(classes: &Classification, roc: Option<&Roc>, bins: Option<&[Bin]>) -> Self {
        let confusion = super::diagnostics::confusion(&classes.labels, &classes.probabilities, 0.5);
        Self {
            roc: roc.and_then(|roc| Figure::new(Place::Half, |width| figures::roc(roc, width))),
            auc: roc.map(|roc| fixed(roc.auc, 4)),
            calibration: bins.and_then(|bins| Figure::new(Place::Half, |width| figures::calibration(bins, width))),
            bins: bins.map(tables::calibration),
            confusion,
            target: classes.target.clone(),
            positive: classes.positive.clone(),
            negative: classes.negative.clone(),
            rows: counted(classes.labels.len(), "row"),
            fitted: classes.judged == Judged::OnFittedRows,
            facts: confusion.map(|confusion| class_facts(&confusion, classes)).unwrap_or_default(),
        }
    }
}

fn class_facts(confusion: &Confusion, classes: &Classification) -> Vec<Fact> {
    let Classification { positive, negative, .. } = classes;
    let facts = [
        ("Accuracy".into(), confusion.accuracy()),
        ("Always naming the larger class".into(), confusion.baseline()),
        (format!("Of {positive}, found"), confusion.sensitivity()),
        (format!("Of {negative}, left alone"), confusion.specificity()),
        (format!("Called {positive}, rightly"), confusion.precision()),
    ];
    facts.into_iter().filter_map(|(label, share): (String, _)| Some(Fact::new(label, percent(share?)))).collect()
}

#[derive(Debug, Serialize)]
pub(super) struct CompletionPart {
    pictures: Vec<PicturePart>,
    singular: Option<Figure>,
    singular_table: Option<Table>,
    errors: Option<Figure>,
    errors_table: Option<Table>,
}

#[derive(Debug, Serialize)]
struct PicturePart {
    caption: String,
    source: String,
}

impl CompletionPart {
    pub(super) fn new(completion: &Completion) -> Self {
        let picture = |picture: &super::Picture| PicturePart {
            caption: picture.caption.clone(),
            source: format!("data:image/png;base64,{}", STANDARD.encode(&picture.png)),
        };
        let values = &completion.singular_values;
        Self {
            pictures: completion.pictures.iter().map(picture).collect(),
            singular: Figure::new(Place::Half, |width| figures::singular_values(completion, width)),
            singular_table: (!values.is_empty()).then(|| tables::singular_values(values)),
            errors: Figure::new(Place::Half, |width| figures::rank_errors(completion, width)),
            errors_table: (!completion.ranks.is_empty()).then(|| tables::ranks(completion)),
        }
    }
}
