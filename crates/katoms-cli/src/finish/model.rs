//! The model file.

use anyhow::Result;
use katoms_io::{Coefficient, Model, ModelTarget, Quality, Rival};

use super::Finished;
use crate::terminal::Terminal;
use crate::words;

impl Finished<'_> {
    pub fn model(&self, terminal: &Terminal) -> Result<Model> {
        let (dataset, estimate) = (&self.loaded.dataset, &self.estimate);
        let target = self.loaded.target()?;
        let coefficient = |(j, value): (usize, f64)| Coefficient {
            feature: dataset.features[j].clone(),
            value,
            standardized: estimate.standardized.value_at(j),
            mean: dataset.means.as_ref().map(|means| means[j]),
        };
        let uses =
            |column: &str| estimate.coefficients().indices().iter().any(|&j| dataset.features[j].column == column);
        let is_read = |column: &str| uses(column) || column == target.name;
        let formats = dataset.formats.iter().filter(|(column, _)| is_read(column));
        let formats = formats.map(|(column, format)| (column.clone(), format.clone())).collect();
        let na_values = self.loaded.na_values.clone();
        Ok(Model {
            schema: Model::schema_for(&formats, &na_values),
            katoms: env!("CARGO_PKG_VERSION").into(),
            command: terminal.command.clone(),
            loss: self.loaded.loss,
            k: self.k,
            target: ModelTarget { name: target.name.clone(), classes: target.classes.clone(), class_type: None },
            intercept: estimate.intercept(),
            coefficients: estimate.coefficients().entries().map(coefficient).collect(),
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
            data: dataset.fingerprint(),
        })
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
