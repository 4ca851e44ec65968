//! Information criteria: which k along a path, without fitting anything twice.
//!
//! Each is D + penalty, and the model with the smallest value is chosen. D is −2·log-likelihood
//! ([`Loss::deviance`]), so values compare models of the same data under the same loss, and nothing else.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | df | [`ModelSize::parameters`] | fitted numbers |
//! | k | [`ModelSize::atoms`] | chosen atoms |
//! | p | [`ModelSize::candidates`] | atoms there were to choose from |
//! | m | [`ModelSize::samples`] | observations |
//!
//! AIC and BIC do not know p: among many candidates some fit the noise by chance, and these two take
//! them. EBIC and GIC charge for the search. All four trust the likelihood, so a path must end well
//! before df = m: there anything fits perfectly, and a perfect fit can outweigh every penalty.

use crate::error::{Error, check_option, check_range, check_values};
use crate::loss::Loss;

/// The size of a model and of what it was chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// df: the fitted numbers, an intercept included. What every model has may be left out.
    pub parameters: usize,
    /// k: the atoms that were chosen, without those that are always in.
    pub atoms: usize,
    /// p: the atoms there were to choose from, before any screening: columns that were thrown out
    /// because they looked useless were searched too.
    pub candidates: usize,
    /// m: the [observations](Loss::observations), which weights may count.
    pub samples: usize,
}

/// A rule that weighs fit against size; smaller values are better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// D + 2·df (Akaike 1974): for prediction among few candidates.
    Aic,
    /// D + ln(m)·df (Schwarz 1978): for finding the true model among few candidates.
    Bic,
    /// BIC + 2γ·ln C(p, k) (Chen and Chen 2008): for finding it among many.
    Ebic {
        /// How much the search is charged for, from 0 (BIC) to 1.
        gamma: f64,
    },
    /// D + ln(ln m)·ln(p)·df (Fan and Tang 2013), the one that abess uses. ln(ln m) counts as 0 up to
    /// m = 2, where it would be negative.
    Gic,
}

impl Criterion {
    /// EBIC with γ = 1, which allows for the most candidates.
    pub const EBIC: Self = Self::Ebic { gamma: 1.0 };

    /// The criterion of one model; −∞ at a deviance of −∞. O(k).
    ///
    /// # Errors
    /// When the deviance is NaN, more atoms were chosen than there are, there are no observations or no
    /// candidates, or γ is not between 0 and 1.
    ///
    /// ```
    /// use katoms::select::{Criterion, ModelSize};
    /// let size = ModelSize { parameters: 2, atoms: 2, candidates: 10, samples: 100 };
    /// assert_eq!(Criterion::Aic.value(50.0, size)?, 54.0);
    /// let ebic = 50.0 + 2.0 * 100.0_f64.ln() + 2.0 * 45.0_f64.ln(); // 45 pairs among 10
    /// assert!((Criterion::EBIC.value(50.0, size)? - ebic).abs() < 1e-12);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn value(&self, deviance: f64, size: ModelSize) -> Result<f64, Error> {
        check_option("deviance", deviance, "it must be a number", |v| !v.is_nan())?;
        Ok(deviance + self.penalty(size)?)
    }

    /// What is added to the deviance: at least 0.
    fn penalty(&self, size: ModelSize) -> Result<f64, Error> {
        let ModelSize { parameters, atoms, candidates, samples } = size;
        if samples == 0 || candidates == 0 {
            let what = if samples == 0 { "the list of samples" } else { "the list of candidates" };
            return Err(Error::Empty { what });
        }
        check_range("the number of chosen atoms", atoms, 0, candidates)?;
        let (df, m, p) = (parameters as f64, samples as f64, candidates as f64);
        Ok(match *self {
            Self::Aic => 2.0 * df,
            Self::Bic => m.ln() * df,
            Self::Ebic { gamma } => {
                check_option("gamma", gamma, "it must lie between 0 and 1", |v| (0.0..=1.0).contains(&v))?;
                m.ln() * df + 2.0 * gamma * ln_binomial(candidates, atoms)
            }
            Self::Gic => m.ln().ln().max(0.0) * p.ln() * df,
        })
    }

    /// The criterion along a path: of each model the loss, without a ridge, and the size.
    ///
    /// A loss below `floor` counts as `floor`. Give about 1e-20 of the empty model's loss, which is what
    /// [`Stop::perfect`](crate::driver::Stop::perfect) calls perfect: the deviance of least squares has
    /// no lower end, and among perfect fits it would tell nothing but rounding errors apart.
    ///
    /// # Errors
    /// As for [`value`](Self::value), and when the floor is not a finite number.
    pub fn along(&self, loss: &impl Loss, floor: f64, path: &[(f64, ModelSize)]) -> Result<Vec<f64>, Error> {
        check_option("floor", floor, "it must be finite", f64::is_finite)?;
        let losses: Vec<f64> = path.iter().map(|model| model.0).collect();
        check_values("losses of the path", &losses, "every loss must be a number", |v| !v.is_nan())?;
        path.iter().map(|&(value, size)| self.value(loss.deviance(value.max(floor)), size)).collect()
    }

    /// The place of the best model of a path, as [`along`](Self::along) values it; of equals the one
    /// with the fewest atoms, then the first.
    ///
    /// # Errors
    /// As for [`along`](Self::along), and when the path is empty.
    ///
    /// ```
    /// use katoms::{loss::LeastSquares, select::{Criterion, ModelSize}};
    /// let loss = LeastSquares::new(vec![1.0; 50])?;
    /// let size = |k| ModelSize { parameters: k, atoms: k, candidates: 1000, samples: 50 };
    /// let path = [(25.0, size(0)), (8.0, size(1)), (1.0, size(2)), (0.9, size(3))];
    /// assert_eq!(Criterion::EBIC.choose(&loss, 25e-20, &path)?, 2);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn choose(&self, loss: &impl Loss, floor: f64, path: &[(f64, ModelSize)]) -> Result<usize, Error> {
        let values = self.along(loss, floor, path)?;
        let order = |&a: &usize, &b: &usize| {
            values[a].total_cmp(&values[b]).then(path[a].1.atoms.cmp(&path[b].1.atoms)).then(a.cmp(&b))
        };
        (0..values.len()).min_by(order).ok_or(Error::Empty { what: "the path" })
    }
}

/// ln C(p, k) as a sum of logarithms: a difference of ln Γ would cancel for large p. O(min(k, p − k)).
fn ln_binomial(p: usize, k: usize) -> f64 {
    let few = k.min(p - k);
    (1..=few).map(|i| ((p - few + i) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LeastSquares, Logistic};

    const ALL: [Criterion; 4] = [Criterion::Aic, Criterion::Bic, Criterion::EBIC, Criterion::Gic];

    fn size(k: usize, candidates: usize, samples: usize) -> ModelSize {
        ModelSize { parameters: k, atoms: k, candidates, samples }
    }

    /// m = 100, p = 1000, three atoms of two numbers each and an intercept; C(1000, 3) = 166,167,000.
    #[test]
    fn values_by_hand() {
        let size = ModelSize { parameters: 7, atoms: 3, candidates: 1000, samples: 100 };
        // 2·7; 7·4.605170185988092; + 2·18.9285038647141; 7·ln(4.605170185988092)·6.907755278982137
        let known = [
            (Criterion::Aic, 14.0),
            (Criterion::Bic, 32.236_191_301_916_64),
            (Criterion::EBIC, 70.093_199_031_344_84),
            (Criterion::Ebic { gamma: 0.5 }, 51.164_695_166_630_74),
            (Criterion::Gic, 73.845_681_854_899_45),
        ];
        for (criterion, penalty) in known {
            let value = criterion.value(-12.5, size).unwrap();
            assert!((value - (penalty - 12.5)).abs() < 1e-12, "{criterion:?}: {value}");
        }
    }

    #[test]
    fn binomials() {
        // Pascal's triangle
        let mut row = vec![1.0_f64];
        for p in 0..60 {
            for (k, &exact) in row.iter().enumerate() {
                assert!((ln_binomial(p, k) - exact.ln()).abs() <= 1e-14 * (1.0 + exact.ln()), "C({p}, {k})");
            }
            row = (0..=p + 1).map(|k| if k == 0 || k > p { 1.0 } else { row[k - 1] + row[k] }).collect();
        }
        // large p against ln Γ, which loses digits there
        let gamma = |n: f64| libm::lgamma(n + 1.0);
        for (p, k) in [(200_000_usize, 3_usize), (200_000, 1_000), (200_000, 199_000), (1 << 40, 20)] {
            let (n, c) = (p as f64, k as f64);
            let expected = gamma(n) - gamma(c) - gamma(n - c);
            assert!((ln_binomial(p, k) - expected).abs() <= 1e-14 * gamma(n), "C({p}, {k})");
        }
        assert_eq!(ln_binomial(200_000, 1), 200_000_f64.ln());
    }

    #[test]
    fn ebic_without_a_charge_is_bic() {
        for k in 0..10 {
            let (bic, ebic) = (Criterion::Bic, Criterion::Ebic { gamma: 0.0 });
            assert_eq!(bic.value(3.0, size(k, 500, 80)), ebic.value(3.0, size(k, 500, 80)));
        }
    }

    /// ln(ln m) is −∞ at m = 1 and negative at m = 2: no model may be paid for its size.
    #[test]
    fn few_samples_have_finite_values() {
        for samples in [1, 2] {
            for criterion in ALL {
                let value = criterion.value(0.0, size(2, 50, samples)).unwrap();
                assert!(value.is_finite() && value >= 0.0, "{criterion:?} {samples}");
            }
            assert_eq!(Criterion::Gic.value(0.25, size(2, 50, samples)), Ok(0.25));
        }
        assert!(Criterion::Gic.value(0.0, size(2, 50, 3)).unwrap() > 0.0);
    }

    #[test]
    fn an_empty_model_pays_nothing() {
        for criterion in ALL {
            assert_eq!(criterion.value(7.0, size(0, 30, 20)), Ok(7.0));
        }
    }

    #[test]
    fn a_perfect_fit_goes_to_the_smallest_model() {
        let loss = LeastSquares::new(vec![1.0; 40]).unwrap();
        // from k = 3 on nothing but rounding is left, and it happens to shrink
        let losses = [20.0, 9.0, 4.0, 3e-30, 2e-31, 0.0, 0.0];
        let mut path: Vec<_> = losses.iter().enumerate().map(|(k, &v)| (v, size(k, 100, 40))).collect();
        for criterion in ALL {
            assert_eq!(criterion.choose(&loss, 20e-20, &path), Ok(3));
            assert!(criterion.along(&loss, 20e-20, &path).unwrap().iter().all(|v| v.is_finite()));
            // without a floor, the smallest of those at −∞
            assert_eq!(criterion.choose(&loss, 0.0, &path), Ok(5));
        }
        path.reverse();
        assert_eq!(Criterion::Bic.choose(&loss, 20e-20, &path), Ok(3));
        assert_eq!(Criterion::Bic.choose(&loss, 0.0, &path), Ok(1));
    }

    /// What the module's documentation warns of.
    #[test]
    fn as_many_atoms_as_samples_outweigh_every_penalty() {
        let loss = LeastSquares::new(vec![1.0; 40]).unwrap();
        let path = [(20.0, size(0, 100, 40)), (0.01, size(2, 100, 40)), (0.0, size(40, 100, 40))];
        assert_eq!(ALL.map(|criterion| criterion.choose(&loss, 20e-20, &path)), [Ok(2), Ok(2), Ok(2), Ok(2)]);
    }

    #[test]
    fn a_logistic_path() {
        let loss = Logistic::new(vec![0.0, 1.0]).unwrap();
        let path = [(100.0, size(0, 10, 150)), (80.0, size(1, 10, 150)), (79.5, size(2, 10, 150))];
        assert_eq!(Criterion::Aic.along(&loss, 0.0, &path), Ok(vec![200.0, 162.0, 163.0]));
        assert_eq!(Criterion::Aic.choose(&loss, 0.0, &path), Ok(1));
    }

    #[test]
    fn wrong_input_is_named() {
        let fine = size(2, 5, 9);
        let error = |c: Criterion, d: f64, s| c.value(d, s).unwrap_err().to_string();
        assert_eq!(
            error(Criterion::Aic, 0.0, size(6, 5, 9)),
            "the number of chosen atoms is 6; it must lie between 0 and 5"
        );
        assert_eq!(error(Criterion::Aic, 0.0, size(0, 5, 0)), "the list of samples is empty; at least one is needed");
        assert_eq!(
            error(Criterion::Gic, 0.0, size(0, 0, 9)),
            "the list of candidates is empty; at least one is needed"
        );
        assert_eq!(error(Criterion::Bic, f64::NAN, fine), "option deviance is NaN; it must be a number");
        for gamma in [-0.1, 1.1] {
            let right = "it must lie between 0 and 1";
            let wrong = Err(Error::Option { name: "gamma", value: gamma, right });
            assert_eq!(Criterion::Ebic { gamma }.value(0.0, fine), wrong);
        }
        let loss = LeastSquares::new(vec![1.0]).unwrap();
        assert_eq!(Criterion::Aic.choose(&loss, 0.0, &[]), Err(Error::Empty { what: "the path" }));
        let error = Criterion::Aic.along(&loss, 0.0, &[(1.0, fine), (f64::NAN, fine)]).unwrap_err();
        assert!(error.to_string().contains("NaN at position 1"), "{error}");
        assert!(Criterion::Aic.along(&loss, f64::NAN, &[(1.0, fine)]).is_err());
    }
}
