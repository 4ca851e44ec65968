//! The parts of a page, drawn and written out for the template.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::coefficients::{Scale, Unit};
use super::figures::{self, Figure, Place};
use super::tables::{self, Table};
use super::{Coefficients, Completion, Convergence, CrossValidation, Path};
use super::{bars, entry};
use katoms_charts::number::{counted, long, short, whole};

#[derive(Debug, Serialize)]
pub(super) struct CoefficientsPart {
    figure: Option<Figure>,
    standardised: bool,
    /// How many bars are not drawn.
    more: Option<String>,
    scale: Option<Scale>,
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
            scale: coefficients.scale.clone(),
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
    lowest: String,
    moves: String,
    passes: String,
    /// "3 × exchange".
    kinds: Vec<String>,
}

impl ConvergencePart {
    pub(super) fn new(convergence: &Convergence) -> Option<Self> {
        let (first, last) = (convergence.moves.first()?, convergence.moves.last()?);
        let lowest = convergence.moves.iter().map(|m| m.objective).fold(f64::NAN, f64::min);
        let mut kinds = std::collections::BTreeMap::new();
        convergence.moves.iter().filter_map(|m| m.label.as_deref()).for_each(|k| *kinds.entry(k).or_insert(0) += 1);
        Some(Self {
            figure: Figure::new(Place::Full, |width| figures::convergence(convergence, width)),
            first: short(first.objective),
            lowest: short(lowest),
            moves: counted(convergence.moves.len(), "move"),
            passes: passes(convergence.passes.unwrap_or(last.passes)),
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
    ridge: String,
    ridges: Option<Table>,
}

impl ValidationPart {
    pub(super) fn new(validation: &CrossValidation) -> Option<Self> {
        (!validation.sizes.is_empty()).then(|| Self {
            figure: Figure::new(Place::Full, |width| figures::cross_validation(validation, width)),
            table: tables::cross_validation(validation),
            ridge: short(validation.ridge),
            ridges: tables::ridges(validation),
        })
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
