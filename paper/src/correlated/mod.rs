//! `correlated`: neighbouring columns alike, with noise: the support, the prediction and the fit by sparsity level.
//!
//! | file | what |
//! |---|---|
//! | `draw.rs` | one draw in two halves, and how a model is scored |
//! | `field.rs` | who takes part, and how each is run |
//! | `comparison.rs` | means, their errors, and who is better or equal |
//! | `figures.rs`, `report.rs` | figures; tables, verdicts, words |

mod comparison;
mod draw;
mod field;
mod figures;
mod report;

use rayon::prelude::*;
use serde::Deserialize;

use self::comparison::Measured;
use crate::{Error, Experiment, Progress, Request, Section};

/// The most draws, penalties and iterations.
const MOST: usize = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    seed: u64,
    draws: u64,
    /// Of both halves together.
    rows: usize,
    columns: usize,
    correlation: f64,
    k: usize,
    snr: f64,
    levels: Vec<usize>,
    /// τ of AccIHT.
    momentum: f64,
    tolerance: f64,
    iterations: usize,
    penalties: usize,
}

impl Config {
    /// What cannot be run, and what would be right.
    fn check(&self) -> Result<(), Error> {
        let most = self.columns.min(self.rows / 2).saturating_sub(1);
        let rising = self.levels.windows(2).all(|pair| pair[0] < pair[1]);
        let why = if !(2..=MOST as u64).contains(&self.draws) {
            format!("`draws` must be 2 to {MOST}: differences are held against their scatter")
        } else if self.rows < 6 || !self.rows.is_multiple_of(2) || self.columns < 3 {
            "`rows` must be even and at least 6, `columns` at least 3".to_owned()
        } else if self.rows.saturating_mul(self.columns) > 200_000_000 {
            "`rows` times `columns` must be at most 200 million".to_owned()
        } else if !(self.correlation > -1.0 && self.correlation < 1.0) {
            "`correlation` must lie between −1 and 1".to_owned()
        } else if !(self.snr > 0.0 && self.snr.is_finite()) {
            "`snr` must be finite and above 0".to_owned()
        } else if !rising || !self.levels.contains(&self.k) {
            format!("`levels` must rise, and `k` = {} must be among them", self.k)
        } else if self.levels[0] == 0 || self.levels[self.levels.len() - 1] > most {
            format!("`levels` must lie from 1 to {most}: below the columns, and below the rows of one half")
        } else if !(0.0..=1.0).contains(&self.momentum) {
            // With the step 1/λ_max every such τ is stable on a fixed support.
            "`momentum` must lie from 0 to 1".to_owned()
        } else if !(self.tolerance > 0.0 && self.tolerance < 1.0 && (1..=MOST).contains(&self.iterations)) {
            format!("`tolerance` must lie between 0 and 1, `iterations` from 1 to {MOST}")
        } else if !(2..=MOST).contains(&self.penalties) {
            format!("`penalties` must be 2 to {MOST}")
        } else {
            return Ok(());
        };
        Err(Experiment::Correlated.bad_config(&why))
    }
}

/// Runs it.
pub fn run(request: &Request, progress: &Progress) -> Result<Section, Error> {
    let config: Config = Experiment::Correlated.settings(request)?;
    config.check()?;
    progress.expect(config.draws as usize);
    let one = |draw: u64| {
        let scores = field::fit_all(&config, config.seed.wrapping_add(draw), progress)?;
        progress.done("draws")?;
        Ok(scores)
    };
    let draws = (0..config.draws).into_par_iter().map(one).collect::<Result<Vec<_>, Error>>()?;
    Ok(report::section(&config, &Measured::new(config.levels.clone(), draws)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    fn changed(change: &[(&str, &str)]) -> Result<Section, Error> {
        let text = Experiment::Correlated.template().to_owned();
        let config = Some(change.iter().fold(text, |text, (from, to)| text.replace(from, to)));
        run(&Request { scale: Scale::Small, config, ..Request::default() }, &Progress::hidden())
    }

    const TINY: [(&str, &str); 4] =
        [("rows = 800", "rows = 160"), ("columns = 200", "columns = 30"), ("k = 20", "k = 5"), ("[20, 30]", "[3, 5]")];

    /// The same numbers at any number of threads.
    #[test]
    fn threads_change_nothing() -> Result<(), Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let (one, many) = (pool.install(|| changed(&TINY))?, changed(&TINY)?);
        assert_eq!(one.numbers, many.numbers);
        Ok(())
    }

    /// With hardly any noise and independent columns everybody but the oblivious finds the planted support.
    #[test]
    fn without_noise_the_support_is_found() -> Result<(), Error> {
        let easy = [("snr = 10.0", "snr = 1e8"), ("correlation = 0.4", "correlation = 0.0")];
        let section = changed(&[TINY.as_slice(), &easy].concat())?;
        for name in ["AUC of AccIHT (paper)", "AUC of katoms", "AUC of katoms, search"] {
            assert!(section.numbers[name] > 1.0 - 1e-9, "{name}: {}", section.numbers[name]);
        }
        Ok(())
    }

    /// AccIHT has the momentum of the config: with none it is IHT.
    #[test]
    fn the_momentum_is_that_of_the_config() -> Result<(), Error> {
        let none = changed(&[TINY.as_slice(), &[("momentum = 0.25", "momentum = 0.0")]].concat())?;
        let methods = &none.record["methods"];
        assert_eq!(methods[crate::Contestant::AccIht.label()], methods[crate::Contestant::Iht.label()]);
        let some = changed(&TINY)?;
        assert_ne!(some.record["methods"][crate::Contestant::AccIht.label()], methods[crate::Contestant::Iht.label()]);
        assert!(!none.lead.contains("as the paper sets it") && some.lead.contains("as the paper sets it"));
        Ok(())
    }

    #[test]
    fn impossible_settings_say_what_would_be_right() {
        for (from, to, hint) in [
            ("draws = 4", "draws = 1", "2 to"),
            ("rows = 800", "rows = 801", "even"),
            ("correlation = 0.4", "correlation = 1.0", "between −1 and 1"),
            ("snr = 10.0", "snr = -1.0", "above 0"),
            ("[20, 30]", "[10, 30]", "among them"),
            ("[20, 30]", "[20, 200]", "1 to 199"),
            ("momentum = 0.25", "momentum = 9.0", "from 0 to 1"),
        ] {
            let error = changed(&[(from, to)]).expect_err(from).to_string();
            assert!(error.contains(hint), "{error}");
        }
    }
}
