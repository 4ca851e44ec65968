//! Several responses for each row, by least squares.

use std::path::Path;

use anyhow::{Result, bail};
use katoms_estimate::{JobLoss, Response, Values};
use katoms_io::Target;

use crate::judged::Judged;
use crate::report::Predictions;
use crate::terminal::number;

/// Deviations that differ by this factor are told.
const UNLIKE: f64 = 10.0;

/// The values of each response.
fn each(target: &Target) -> impl Iterator<Item = (&String, &[f64])> {
    let rows = (target.values.len() / target.responses.len().max(1)).max(1);
    target.responses.iter().zip(target.values.chunks(rows))
}

/// The loss of several responses.
pub fn measure(path: &Path, target: &Target, weights: Option<Vec<f64>>) -> Result<JobLoss> {
    for (name, values) in each(target) {
        if let Some(first) = values.first().filter(|&first| values.iter().all(|v| v == first)) {
            let path = path.display();
            bail!("{path}: the target {name} is {first} in every row, so there is nothing to explain; leave it out");
        }
    }
    let values = Values::Responses { values: target.values.clone(), count: target.responses.len() };
    Ok(Response { values, weights, offset: None }.loss()?)
}

/// That responses differ much in their deviations, by which they count.
pub fn unlike_scales(target: &Target) -> Option<String> {
    let deviation = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    };
    let found = || each(target).map(|(name, values)| (name, deviation(values)));
    let (least, most) = (found().min_by(|a, b| a.1.total_cmp(&b.1))?, found().max_by(|a, b| a.1.total_cmp(&b.1))?);
    (most.1 > UNLIKE * least.1).then(|| {
        format!(
            "targets count by their variance: the standard deviation of {} is {}, and that of {} is {}; where their units \
             differ, bring them to one scale first",
            most.0,
            number(most.1),
            least.0,
            number(least.1)
        )
    })
}

/// What was observed of each response, beside what is predicted.
pub fn predictions(rows: &Judged) -> Option<Vec<Predictions>> {
    let Predictions { observed, predicted, weights } = rows.numbers()?;
    let (observed, predicted) = (observed.chunks(rows.rows()), predicted.chunks(rows.rows()));
    let one = |(observed, predicted): (&[f64], &[f64])| Predictions {
        observed: observed.to_vec(),
        predicted: predicted.to_vec(),
        weights: weights.clone(),
    };
    Some(observed.zip(predicted).map(one).collect())
}
