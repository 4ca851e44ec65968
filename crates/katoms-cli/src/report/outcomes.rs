//! Predictions of more than two classes, and of times until an event, beside the truth.

use serde::Serialize;

use super::diagnostics::kaplan_meier;
use super::figures::{self, Figure, Place};
use super::tables::{self, Table};
use katoms_charts::number::{counted, fixed, percent, short, whole};

/// Probabilities of more than two classes beside the truth. What is shown is of rows held out where there are some.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ManyClasses {
    /// The name of the target.
    pub target: String,
    /// The classes.
    pub names: Vec<String>,
    /// What lies between them, where they have an order.
    pub thresholds: Vec<f64>,
    /// Rows that the fit behind a prediction has not seen.
    #[serde(skip)]
    pub held_out: Option<Classes>,
    /// Rows of the fit.
    #[serde(skip)]
    pub fitted: Option<Classes>,
}

/// Probabilities of classes, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Classes {
    /// The class of each row, counted from 0.
    pub labels: Vec<usize>,
    /// The probability of each class in each row.
    pub probabilities: Vec<Vec<f64>>,
    /// The weights of the rows; empty when all weigh the same.
    pub weights: Vec<f64>,
}

impl Classes {
    fn predicted(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.labels.iter().copied().zip(self.probabilities.iter().map(|row| katoms_estimate::score::most_probable(row)))
    }

    /// Rows by class and most probable class.
    fn confusion(&self, classes: usize) -> Vec<Vec<usize>> {
        let mut counts = vec![vec![0; classes]; classes];
        self.predicted().for_each(|(is, said)| counts[is][said] += 1);
        counts
    }

    /// The share of rows whose most probable class is theirs.
    pub fn accuracy(&self) -> Option<f64> {
        let right = self.predicted().filter(|(is, said)| is == said).count();
        (!self.labels.is_empty()).then(|| right as f64 / self.labels.len() as f64)
    }

    /// That of always naming the largest class.
    fn baseline(&self, classes: usize) -> Option<f64> {
        let most = (0..classes).map(|class| self.labels.iter().filter(|&&label| label == class).count()).max()?;
        (!self.labels.is_empty()).then(|| most as f64 / self.labels.len() as f64)
    }

    fn log_loss(&self) -> Option<f64> {
        let weight = |i: usize| self.weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..self.labels.len()).map(weight).sum();
        let all = (0..self.labels.len()).map(|i| weight(i) * -self.probabilities[i][self.labels[i]].ln()).sum::<f64>();
        (total > 0.0).then(|| all / total)
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ManyClassesPart {
    target: String,
    rows: String,
    is_held_out: bool,
    accuracy: Option<String>,
    accuracy_fitted: Option<String>,
    names: Vec<String>,
    confusion: Vec<ConfusionRow>,
    measures: Table,
    thresholds: Option<Table>,
}

#[derive(Debug, Serialize)]
struct ConfusionRow {
    name: String,
    cells: Vec<ConfusionCell>,
}

#[derive(Debug, Serialize)]
struct ConfusionCell {
    count: String,
    class: &'static str,
}

impl ManyClassesPart {
    pub(super) fn new(part: &ManyClasses) -> Option<Self> {
        let shown = part.held_out.as_ref().or(part.fitted.as_ref())?;
        let (count, is_held_out) = (part.names.len(), part.held_out.is_some());
        let both = |of: &dyn Fn(&Classes) -> Option<String>| {
            (part.held_out.as_ref().and_then(of), part.fitted.as_ref().and_then(of))
        };
        let measure = |name: &'static str, of: &dyn Fn(&Classes) -> Option<String>| (name, both(of).0, both(of).1);
        let accuracy = |rows: &Classes| rows.accuracy().map(percent);
        let measures = [
            measure("Accuracy", &accuracy),
            measure("Accuracy of always naming the largest class", &|rows| rows.baseline(count).map(percent)),
            measure("Log loss", &|rows| rows.log_loss().map(short)),
        ];
        let cell = |is: usize, (said, count): (usize, usize)| ConfusionCell {
            count: whole(count),
            class: match (is == said, count) {
                (true, _) => "number right",
                (false, 0) => "number",
                (false, _) => "number wrong",
            },
        };
        let row = |(is, counts): (usize, Vec<usize>)| ConfusionRow {
            name: part.names[is].clone(),
            cells: counts.into_iter().enumerate().map(|one| cell(is, one)).collect(),
        };
        Some(Self {
            target: part.target.clone(),
            rows: counted(shown.labels.len(), "row"),
            is_held_out,
            accuracy: accuracy(shown),
            accuracy_fitted: part.fitted.as_ref().filter(|_| is_held_out).and_then(accuracy),
            names: part.names.clone(),
            confusion: shown.confusion(count).into_iter().enumerate().map(row).collect(),
            measures: tables::measures(&measures),
            thresholds: (!part.thresholds.is_empty()).then(|| tables::thresholds(&part.names, &part.thresholds)),
        })
    }
}

/// Predicted risks beside times. What is shown is of rows held out where there are some.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Survival {
    /// The name of the column of times.
    pub target: String,
    /// Rows that the fit behind a prediction has not seen.
    #[serde(skip)]
    pub held_out: Option<Risks>,
    /// Rows of the fit.
    #[serde(skip)]
    pub fitted: Option<Risks>,
}

/// Times, row by row, and to which third of the risks a row belongs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Risks {
    /// The times.
    pub times: Vec<f64>,
    /// Whether the event happened then.
    pub events: Vec<bool>,
    /// 0 for the lowest risks, 2 for the highest.
    pub thirds: Vec<usize>,
    /// The weights of the rows; empty when all weigh the same.
    pub weights: Vec<f64>,
    /// Harrell's C.
    pub concordance: Option<f64>,
}

/// A third of the rows, by risk.
#[derive(Debug, Clone)]
pub(super) struct RiskGroup {
    pub(super) name: &'static str,
    pub(super) rows: usize,
    pub(super) events: usize,
    /// The time by which half had the event.
    pub(super) median: Option<f64>,
    pub(super) curve: Vec<(f64, f64)>,
}

impl Risks {
    fn groups(&self) -> Vec<RiskGroup> {
        let one = |(third, name): (usize, &'static str)| {
            let rows: Vec<usize> = (0..self.times.len()).filter(|&i| self.thirds[i] == third).collect();
            let events: Vec<bool> = rows.iter().map(|&i| self.events[i]).collect();
            let times: Vec<f64> = rows.iter().map(|&i| self.times[i]).collect();
            let weights: Vec<f64> = rows.iter().filter_map(|&i| self.weights.get(i).copied()).collect();
            let curve = kaplan_meier(&times, &events, &weights)?;
            let median = curve.iter().find(|(_, share)| *share <= 0.5).map(|(time, _)| *time);
            let count = events.iter().filter(|event| **event).count();
            Some(RiskGroup { name, rows: rows.len(), events: count, median, curve })
        };
        ["low", "middle", "high"].into_iter().enumerate().filter_map(one).collect()
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SurvivalPart {
    target: String,
    rows: String,
    is_held_out: bool,
    concordance: Option<String>,
    concordance_fitted: Option<String>,
    curves: Option<Figure>,
    table: Table,
}

impl SurvivalPart {
    pub(super) fn new(part: &Survival) -> Option<Self> {
        let shown = part.held_out.as_ref().or(part.fitted.as_ref())?;
        let (groups, is_held_out) = (shown.groups(), part.held_out.is_some());
        let said = |rows: &Risks| rows.concordance.filter(|c| c.is_finite()).map(|c| fixed(c, 4));
        Some(Self {
            target: part.target.clone(),
            rows: counted(shown.times.len(), "row"),
            is_held_out,
            concordance: said(shown),
            concordance_fitted: part.fitted.as_ref().filter(|_| is_held_out).and_then(said),
            curves: Figure::new(Place::Full, |width| figures::survival(&groups, &part.target, width)),
            table: tables::survival(&groups),
        })
    }
}
