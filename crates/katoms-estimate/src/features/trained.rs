//! Models of some rows, judged on others: any rows, where [`Features::cross_validate`] holds out each one once.

use std::time::Instant;

use katoms::Error;
use katoms::loss::{Loss, Split};
use katoms::select::{Choice, FoldModel, Preparation};

use super::{Features, predictions};
use crate::watch::Watch;

/// Models of each ridge and size, in this order, made of some rows, and how they do on others.
#[derive(Debug, Clone)]
pub struct Trained {
    /// What was tried.
    pub choices: Vec<Choice>,
    /// The model of each choice.
    pub models: Vec<FoldModel>,
    /// The mean loss of each model on the rows that judge: half the mean squared error, or the mean negative
    /// log-likelihood.
    pub losses: Vec<f64>,
    /// Whether all sizes and ridges are there.
    pub complete: bool,
    /// Passes over the data.
    pub passes: usize,
    /// Seconds of work.
    pub seconds: f64,
}

impl Features<'_> {
    /// Paths of these sizes on the rows `train`, one for each ridge, judged on the rows `test`. A row may come
    /// repeatedly. Ridges are those of all rows; the training set gets its share. The watch hears how many models are
    /// done; when it stops the work, those remain, at least one.
    ///
    /// # Errors
    /// When sizes do not rise or are out of range, a row is outside, or there are no rows.
    pub fn train(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        (train, test): (&[usize], &[usize]),
        watch: &mut dyn Watch,
    ) -> Result<Trained, Error> {
        if self.estimated {
            return self.settled()?.train(sizes, ridges, (train, test), watch);
        }
        let clock = Instant::now();
        if let Some(inside) = &self.inside {
            let anew =
                self.train_inside(inside, (sizes, ridges), (train, test), &mut |done| watch.counted(done).flow())?;
            let model = |(coefficients, intercepts)| FoldModel { coefficients, intercepts };
            return Ok(Trained {
                choices: anew.choices,
                models: anew.models.into_iter().map(model).collect(),
                losses: anew.losses,
                complete: anew.complete,
                passes: anew.passes,
                seconds: clock.elapsed().as_secs_f64(),
            });
        }
        let (on, judge) = (self.loss.subset(train)?, self.loss.subset(test)?);
        let share = weight(&on) / weight(&self.loss);
        let (choices, models, losses) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = Trained { choices, models, losses, complete: true, passes: 0, seconds: 0.0 };
        for &ridge in ridges {
            let preparation = Preparation { ridge: self.units.scaled_ridge(ridge)? * share, ..self.preparation };
            let f = preparation.objective(self.computed_with(), &self.loss, train.to_vec())?;
            let set = preparation.set(&self.atoms, &self.loss)?;
            let before = found.models.len();
            let path = self.path_in(&f, &set, sizes, &mut |done| watch.counted(before + done).flow())?;
            for model in &path.models {
                let (coefficients, intercepts) = self.to_original(&f, &model.point)?;
                let all = predictions(self.computed_with(), &coefficients, &intercepts);
                let of_output = |all: &[f64]| test.iter().map(|&row| all[row]).collect::<Vec<f64>>();
                let predicted: Vec<f64> = all.chunks(self.loss.n_rows()).flat_map(of_output).collect();
                found.choices.push(Choice { atoms: model.atoms, ridge, shrinkage: 0.0 });
                found.losses.push(self.units.mean_loss(judge.value(&predicted) / weight(&judge)));
                let (coefficients, intercepts) = self.scored(&coefficients, &intercepts)?;
                let (coefficients, intercepts) =
                    (self.units.coefficients(&coefficients)?, self.units.levels(&intercepts));
                found.models.push(FoldModel { coefficients, intercepts });
            }
            found.passes += path.passes;
            found.complete &= path.complete;
            if !found.complete {
                break;
            }
        }
        Ok(Trained { seconds: clock.elapsed().as_secs_f64(), ..found })
    }
}

pub(super) fn weight(loss: &impl Split) -> f64 {
    loss.weights().map_or(loss.n_rows() as f64, |weights| weights.iter().sum())
}
