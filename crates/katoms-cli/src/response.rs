//! Arguments about what is predicted → a loss.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use katoms::loss::Ties;
use katoms_estimate::{Nuisance, NumberLoss, Values, offset_of};
use katoms_io::{Known, Loss, RowColumns, Target};

/// What is predicted, and what is known of rows besides.
#[derive(Debug, Clone, Default, Args)]
pub struct ResponseArgs {
    /// What is minimised [default: squares; for a target of words logistic, of more than two multinomial]
    #[arg(long, value_enum, help_heading = "Model")]
    pub loss: Option<Loss>,
    /// For --loss quantile: which one, between 0 and 1 [default: 0.5, the median]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Model")]
    pub quantile: Option<f64>,
    /// For --loss quantile: the width over which it is smoothed [default: a twentieth of the target's robust deviation]
    #[arg(long, value_name = "WIDTH", value_parser = positive, help_heading = "Model")]
    pub smoothing: Option<f64>,
    /// For --loss huber: from where on residuals are large [default: 1.345 of their robust deviations]
    #[arg(long, value_name = "SIZE", value_parser = positive, help_heading = "Model")]
    pub delta: Option<f64>,
    /// For --loss negative-binomial: a of the variance m + a·m² of counts with the mean m [default: the likeliest]
    #[arg(long, value_name = "A", value_parser = positive, help_heading = "Model")]
    pub dispersion: Option<f64>,
    /// For --loss cox: events at the same time [default: efron]
    #[arg(long, value_enum, help_heading = "Model")]
    pub ties: Option<TiesName>,
    /// For --loss ordinal: the classes where they are words, the lowest first, such as low,medium,high
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', help_heading = "Model")]
    pub order: Vec<String>,
    /// The column of times until an event, or until a row was seen last: --loss cox, with --event
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub time: Option<String>,
    /// The column that says whether the event happened then: 1 or 0, true or false, yes or no
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub event: Option<String>,
    /// For --loss cox: a column of strata, each with a baseline hazard of its own
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub strata: Option<String>,
    /// For --loss cox: the column of times from which on rows were seen (left truncation)
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub entry: Option<String>,
    /// A column that is a known part of the linear prediction
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub offset: Option<String>,
    /// For counts and amounts: the column of how long or how much a row was exposed; means are in proportion to it
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub exposure: Option<String>,
}

/// How events at the same time are dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TiesName {
    /// As if each were as likely to come first
    Efron,
    /// As if each saw all others at risk
    Breslow,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|v| *v > 0.0 && v.is_finite());
    number.ok_or_else(|| format!("`{text}` must be a number above 0"))
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|v| *v > 0.0 && *v < 1.0);
    number.ok_or_else(|| format!("`{text}` must lie between 0 and 1"))
}

/// The name of a loss in arguments and files.
pub fn name_of(loss: Loss) -> String {
    loss.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl ResponseArgs {
    /// The options that go with one loss alone.
    fn implying(&self) -> impl Iterator<Item = (&'static str, Loss)> {
        let all = [
            ("--time", self.time.is_some(), Loss::Cox),
            ("--event", self.event.is_some(), Loss::Cox),
            ("--strata", self.strata.is_some(), Loss::Cox),
            ("--entry", self.entry.is_some(), Loss::Cox),
            ("--ties", self.ties.is_some(), Loss::Cox),
            ("--quantile", self.quantile.is_some(), Loss::Quantile),
            ("--smoothing", self.smoothing.is_some(), Loss::Quantile),
            ("--delta", self.delta.is_some(), Loss::Huber),
            ("--dispersion", self.dispersion.is_some(), Loss::NegativeBinomial),
            ("--order", !self.order.is_empty(), Loss::Ordinal),
        ];
        all.into_iter().filter(|(_, given, _)| *given).map(|(option, _, loss)| (option, loss))
    }

    /// The option that says which loss it is.
    pub fn implied(&self) -> Option<&'static str> {
        self.implying().next().map(|(option, _)| option)
    }

    /// The loss that is asked for: by its name, or by an option that goes with it alone.
    pub fn asked(&self, target: Option<&str>) -> Result<Option<Loss>> {
        let mut asked = self.loss;
        for (option, loss) in self.implying() {
            match asked {
                Some(other) if other != loss => {
                    bail!(
                        "{option} goes with --loss {}, not with --loss {}; leave out either",
                        name_of(loss),
                        name_of(other)
                    )
                }
                _ => asked = Some(loss),
            }
        }
        match (asked, &self.time, &self.event, target) {
            (Some(Loss::Cox), Some(_), Some(_), None) => {}
            (Some(Loss::Cox), Some(_), Some(_), Some(_)) => {
                bail!("--target is given besides --time and --event, which are what is predicted; leave it out")
            }
            (Some(Loss::Cox), ..) => {
                bail!("--loss cox predicts times until an event: say --time COLUMN and --event COLUMN, and no --target")
            }
            _ => {}
        }
        if let Some(loss) = asked {
            self.check_exposure(loss)?;
        }
        Ok(asked)
    }

    /// An exposure goes with means that are in proportion to it.
    pub fn check_exposure(&self, loss: Loss) -> Result<()> {
        if self.exposure.is_some() && !loss.has_log_link() {
            bail!(
                "--exposure goes with --loss poisson, negative-binomial or gamma, and the loss is {}; a known part of a \
                 prediction is an --offset",
                name_of(loss)
            );
        }
        if self.offset.is_some() && loss.has_classes() {
            bail!(
                "--offset goes with numbers and times, and the loss is {}; --always COLUMN keeps one in",
                name_of(loss)
            );
        }
        Ok(())
    }

    /// The columns that are no features, as they are asked for.
    pub fn columns(&self) -> RowColumns {
        RowColumns {
            event: self.event.clone(),
            strata: self.strata.clone(),
            entry: self.entry.clone(),
            offset: self.offset.clone(),
            exposure: self.exposure.clone(),
        }
    }

    /// What an answer depends on besides the loss and the data.
    pub fn settings(&self) -> String {
        let Self { quantile, smoothing, delta, dispersion, .. } = self;
        let numbers = [("quantile", quantile), ("smoothing", smoothing), ("delta", delta), ("dispersion", dispersion)];
        let given = numbers.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
        let given: Vec<String> = given.chain(self.ties.map(|ties| format!("{ties:?}").to_lowercase())).collect();
        if given.is_empty() { "none".into() } else { given.join(", ") }
    }

    pub fn ties(&self) -> Ties {
        if self.ties == Some(TiesName::Breslow) { Ties::Breslow } else { Ties::Efron }
    }

    /// The same with what a model has found.
    pub fn at(&self, nuisance: &Nuisance) -> Self {
        let mut found = self.clone();
        match *nuisance {
            Nuisance::Dispersion(value) => found.dispersion = Some(value),
            Nuisance::Delta(value) => found.delta = Some(value),
            Nuisance::Smoothing(value) => found.smoothing = Some(value),
            _ => {}
        }
        found
    }

    /// What was observed, for a loss.
    pub fn observed(&self, loss: Loss, values: Vec<f64>, classes: usize, known: &Known) -> Values {
        let number = match loss {
            Loss::Squares => NumberLoss::Squares,
            Loss::Huber => NumberLoss::Huber { delta: self.delta },
            Loss::Quantile => {
                NumberLoss::Quantile { quantile: self.quantile.unwrap_or(0.5), smoothing: self.smoothing }
            }
            Loss::Poisson => NumberLoss::Poisson,
            Loss::Gamma => NumberLoss::Gamma,
            Loss::NegativeBinomial => NumberLoss::NegativeBinomial { dispersion: self.dispersion },
            Loss::Logistic | Loss::Multinomial | Loss::Ordinal => {
                let labels = values.into_iter().map(|value| value as usize).collect();
                return Values::Classes { labels, count: classes, ordered: loss == Loss::Ordinal };
            }
            Loss::Cox => {
                return Values::Survival {
                    times: values,
                    events: known.events.clone().unwrap_or_default(),
                    entries: known.entries.clone(),
                    strata: known.strata.as_ref().map(|strata| strata.codes.clone()),
                    ties: self.ties(),
                };
            }
        };
        Values::Numbers(number, values)
    }
}

/// The known part of linear predictions: an offset, and the logarithm of an exposure.
pub fn offset(known: &Known) -> Result<Option<Vec<f64>>> {
    let exposed = known.exposure.as_deref().map(offset_of).transpose()?;
    Ok(match (known.offset.clone(), exposed) {
        (Some(offset), Some(exposed)) => {
            Some(offset.iter().zip(exposed).map(|(offset, known)| offset + known).collect())
        }
        (offset, exposed) => offset.or(exposed),
    })
}

/// That the loss follows from the target's words.
pub fn inferred(loss: Loss, target: &Target) -> Option<String> {
    let (classes, name) = (target.classes.as_ref()?, &target.name);
    match (loss, &classes[..]) {
        (Loss::Logistic, [zero, one]) => {
            Some(format!("the loss is logistic, as {name} is {zero} or {one} (--loss logistic)"))
        }
        (Loss::Multinomial, classes) => Some(format!(
            "the loss is multinomial, as {name} has {} words (--loss multinomial); if they have an order: --loss ordinal \
             --order LOWEST,…,HIGHEST",
            classes.len()
        )),
        _ => None,
    }
}
