//! The model file.

use std::collections::BTreeSet;

use anyhow::Result;
use katoms::loss::Ties;
use katoms_estimate::Nuisance;
use katoms_io::{Baseline, Coefficient, Model, ModelTarget, Parameters, Quality, Rival, SCHEMA};

use super::Finished;
use crate::terminal::Terminal;
use crate::words;

impl Finished<'_> {
    pub fn model(&self, terminal: &Terminal) -> Result<Model> {
        let (dataset, estimate) = (&self.loaded.dataset, &self.estimate);
        let target = self.loaded.target()?;
        let (columns, outputs) = (dataset.features.len(), estimate.intercepts.len());
        let coefficient = |j: usize| {
            let places = || (0..outputs).map(|output| output * columns + j);
            let values = places().map(|at| estimate.coefficients().value_at(at)).collect();
            let standardized = places().map(|at| estimate.standardized.value_at(at)).collect();
            let mean = |name: &str| {
                let place = dataset.features.iter().position(|feature| feature.name == name)?;
                dataset.means.as_ref()?.get(place).copied()
            };
            let feature = &dataset.features[j];
            let factor_means = feature.factors.iter().filter_map(|factor| mean(&factor.name)).collect();
            let coefficient = Coefficient::new(feature.clone(), mean(&feature.name), values, standardized);
            Coefficient { factor_means, ..coefficient }
        };
        let used: BTreeSet<usize> = estimate.coefficients().indices().iter().map(|at| at % columns).collect();
        let uses = |column: &str| used.iter().any(|&j| dataset.features[j].is_of(column));
        let known = &dataset.known.names;
        let beside = [&known.event, &known.strata, &known.entry, &known.offset, &known.exposure];
        let is_beside = |column: &str| beside.iter().any(|name| name.as_deref() == Some(column));
        let is_target = |column: &str| column == target.name || target.responses.iter().any(|one| one == column);
        let is_read = |column: &str| uses(column) || is_beside(column) || is_target(column);
        let formats = dataset.formats.iter().filter(|(column, _)| is_read(column));
        let formats = formats.map(|(column, format)| (column.clone(), format.clone())).collect();
        let na_values = self.loaded.na_values.clone();
        let model = Model {
            schema: SCHEMA,
            katoms: env!("CARGO_PKG_VERSION").into(),
            command: terminal.command.clone(),
            loss: self.loaded.loss,
            k: self.k,
            k_each: self.separate.as_ref().map_or_else(Vec::new, |separate| separate.sizes.clone()),
            target: ModelTarget {
                name: target.name.clone(),
                classes: target.classes.clone(),
                class_type: None,
                responses: target.responses.clone(),
            },
            intercept: estimate.intercept(),
            intercepts: if outputs > 1 { estimate.intercepts.clone() } else { Vec::new() },
            coefficients: used.iter().copied().map(coefficient).collect(),
            parameters: self.parameters(),
            thresholds: match &estimate.nuisance {
                Nuisance::Thresholds(values) => values.clone(),
                _ => Vec::new(),
            },
            baseline: self.baseline(),
            stratum_type: None,
            row_columns: dataset.known.names.clone(),
            atoms: estimate.chosen.iter().map(|&atom| self.loaded.atom(atom).into()).collect(),
            levels: dataset
                .levels
                .iter()
                .filter(|(column, _)| uses(column))
                .map(|(c, l)| (c.clone(), l.clone()))
                .collect(),
            formats,
            na_values,
            unnamed_columns: dataset.unnamed_columns,
            standardize: self.preparation.standardize,
            ridge: self.preparation.ridge,
            missing: self.loaded.missing,
            method: self.method.unwrap_or("search").into(),
            status: words::status_name(estimate.outcome.status).into(),
            objective: estimate.outcome.objective,
            quality: estimate.outcome.quality.as_ref().map(|quality| self.quality(quality)),
            data: self.loaded.fingerprint(),
        };
        Ok(model.with_schema())
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        match &self.estimate.nuisance {
            Nuisance::Dispersion(value) => parameters.dispersion = Some(*value),
            Nuisance::Delta(value) => parameters.delta = Some(*value),
            Nuisance::Smoothing(value) => {
                (parameters.quantile, parameters.smoothing) = (Some(self.quantile()), Some(*value));
            }
            Nuisance::Baseline(_) => {
                let ties = if self.loaded.response.ties() == Ties::Efron { "efron" } else { "breslow" };
                parameters.ties = Some(ties.into());
            }
            Nuisance::None | Nuisance::Thresholds(_) => {}
        }
        parameters
    }

    fn baseline(&self) -> Vec<Baseline> {
        let Nuisance::Baseline(strata) = &self.estimate.nuisance else { return Vec::new() };
        let levels = self.loaded.dataset.known.strata.as_ref().map(|strata| &strata.levels);
        let one = |of: &katoms::loss::Baseline| Baseline {
            stratum: of.stratum.zip(levels).map(|(stratum, levels)| levels[stratum].clone()),
            times: of.times.clone(),
            hazards: of.hazards.clone(),
        };
        strata.iter().map(one).collect()
    }

    fn quality(&self, quality: &katoms::driver::Quality) -> Quality {
        let name = |atom: usize| self.loaded.atom(atom).to_owned();
        let rival = |tie: &katoms::driver::NearTie| Rival {
            inside: name(tie.inside),
            outside: name(tie.outside),
            rise: tie.rise,
        };
        Quality {
            stationarity: Some(quality.stationarity).filter(|moved| moved.is_finite()),
            exchanges_compared: quality.exchanges_compared,
            exhaustive: quality.exhaustive,
            improvable: quality.improvable(),
            rivals: quality.near_ties.iter().map(rival).collect(),
            proven: quality.proven,
            gap: quality.certificate.map(|certificate| certificate.gap),
        }
    }
}
