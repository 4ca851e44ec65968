//! Cross-validation of models that are searched for anew on every training set.

use std::ops::ControlFlow;
use std::time::Instant;

use katoms::Error;
use katoms::search::GoOn;
use katoms::select::{Choice, Fitted, FoldModel, Folds, Score, Validated};
use katoms::space::SparseVec;

use super::interactions::{Product, WithProducts};
use crate::watch::Watch;

/// Models of some rows, ridge by ridge and size by size, judged on others.
pub(super) struct Anew<M> {
    pub choices: Vec<Choice>,
    pub models: Vec<M>,
    /// The mean loss of a row that judges, and the loss of all of them.
    pub losses: Vec<f64>,
    pub totals: Vec<f64>,
    /// Whether all sizes and ridges are there.
    pub complete: bool,
    pub passes: usize,
}

impl<M> Default for Anew<M> {
    fn default() -> Self {
        let (choices, models) = (Vec::new(), Vec::new());
        Self { choices, models, losses: Vec::new(), totals: Vec::new(), complete: false, passes: 0 }
    }
}

/// Models of these sizes, with the rows that train and those that judge; asked after each model whether to go on.
pub(super) type Train<'t, M> = dyn FnMut(&[usize], (&[usize], &[usize]), &mut GoOn<'_>) -> Result<Anew<M>, Error> + 't;

/// Models as coefficients of one design, with the products that are its last columns.
pub(super) type Joined<'t, M> = dyn Fn(Vec<M>) -> (Vec<(SparseVec, Vec<f64>)>, Vec<Product>) + 't;

/// The models of all rows and of every training set. When the watch stops the work, the choices that are there in every fold
/// remain: at least the model without atoms.
pub(super) fn validated_by_splits<M>(
    (sizes, ridges): (&[usize], &[f64]),
    folds: &Folds,
    train: &mut Train<'_, M>,
    joined: &Joined<'_, M>,
    watch: &mut dyn Watch,
) -> Result<WithProducts<Validated>, Error> {
    let (clock, asked_for_null) = (Instant::now(), sizes.first() == Some(&0));
    let with_null = if asked_for_null { sizes.to_vec() } else { [&[0], sizes].concat() };
    let pieces = with_null.len() * ridges.len();
    watch.expect(pieces * (folds.count() + 1));
    let everything: Vec<usize> = (0..folds.labels().len()).collect();
    let splits = (0..folds.count()).map(|fold| (folds.training(fold), folds.held_out(fold)));
    let splits: Vec<(Vec<usize>, Vec<usize>)> = [(everything.clone(), everything)].into_iter().chain(splits).collect();
    let (mut parts, mut stopped): (Vec<Anew<M>>, bool) = (Vec::new(), false);
    for (at, (training, judging)) in splits.iter().enumerate() {
        // After a stop the model without atoms is all that the other folds have.
        let sizes = if stopped { &with_null[..1] } else { &with_null[..] };
        let mut counted = |done: usize| {
            let flow = watch.counted(at * pieces + done).flow();
            stopped |= flow.is_break();
            if stopped { ControlFlow::Break(()) } else { flow }
        };
        parts.push(train(sizes, (training, judging), &mut counted)?);
    }
    let count = parts.iter().map(|part| part.choices.len()).min().unwrap_or(0);
    let (complete, passes) = (count == pieces, parts.iter().map(|part| part.passes).sum());
    let choices: Vec<Choice> = parts[0].choices[..count].to_vec();
    let totals = parts[0].totals.clone();
    let losses: Vec<Vec<f64>> = parts.iter().skip(1).map(|part| part.losses.clone()).collect();
    let models: Vec<M> = parts.into_iter().flat_map(|part| part.models.into_iter().take(count)).collect();
    let (models, products) = joined(models);
    let model = |part: usize, at: usize| models[part * count + at].clone();
    let score = |at: usize| {
        let of_fold = |fold: usize| {
            let (coefficients, intercepts) = model(fold + 1, at);
            FoldModel { coefficients, intercepts }
        };
        let by_fold = losses.iter().map(|losses| losses[at]).collect();
        Score::new(choices[at], by_fold, (0..folds.count()).map(of_fold).collect())
    };
    let fitted = |at: usize| {
        let (coefficients, intercepts) = model(0, at);
        Fitted { coefficients, intercepts, choice: choices[at], loss: totals[at] }
    };
    let null = score(0);
    // Where nothing else was done, the model without atoms is the answer.
    let kept: Vec<usize> = (0..count).filter(|&at| asked_for_null || choices[at].atoms > 0 || count == 1).collect();
    let scores = kept.iter().map(|&at| score(at)).collect();
    let models = kept.iter().map(|&at| fitted(at)).collect();
    let seconds = clock.elapsed().as_secs_f64();
    Ok(WithProducts { found: Validated { scores, null, models, complete, passes, seconds }, products })
}
