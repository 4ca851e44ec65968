//! Stability selection: which atoms a fit would choose again on other data.
//!
//! Meinshausen and Bühlmann, "Stability selection" (2010), fit many random halves of the rows and count
//! how often each atom is chosen. Shah and Samworth (2013) draw the halves in complementary pairs, which
//! share no row, and need weaker assumptions.
//!
//! | papers | code | |
//! |---|---|---|
//! | B | `pairs` | pairs of half-samples |
//! | Π̂_j | `frequencies[j]` | how often atom j is chosen |
//! | π, τ | `threshold` | how often is often enough |
//! | q | `atoms` | atoms of a fit: k |
//! | p | `choices` | atoms that there are to choose from |

use super::folds::{shuffled, shuffled_by_class};
use super::sample::{Preparation, Sample};
use crate::driver::{Options, Run, Status, Stop, lockstep};
use crate::error::{Error, check_length, check_option};
use crate::loss::Split;
use crate::method::Method;
use crate::operator::{ColumnMoments, LinearOperator};
use crate::set::{Always, CoordinateSet};
use crate::simulate::generator;
use crate::space::SparseVec;

/// The stream of a seed that half-samples are drawn from: none that folds or a planted problem use.
const STREAM: u64 = 7;

/// How the half-samples are drawn and fitted.
///
/// ```
/// use katoms::select::Stability;
/// let more = Stability { pairs: 50, seed: 1, ..Stability::default() };
/// assert!(more.standardize && more.intercept);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Complementary pairs of half-samples; each pair is two fits. Default 25.
    pub pairs: usize,
    /// What the half-samples are drawn with: a seed always gives the same ones. Default 0.
    pub seed: u64,
    /// Whether columns get mean 0 and variance 1 within each half-sample; without an intercept a mean square of 1 alone.
    /// Default: they do.
    pub standardize: bool,
    /// Whether predictions get a constant that counts as no atom. Default: they do.
    pub intercept: bool,
    /// λ of ½λ‖x‖² in each fit, for the columns as they are after standardising; never on the intercept.
    /// A half-sample has half the loss: half the λ of a fit to all rows shrinks as much. Default 0.
    pub ridge: f64,
    /// When each fit ends.
    pub stop: Stop,
}

impl Default for Stability {
    fn default() -> Self {
        let Preparation { standardize, intercept, ridge } = Preparation::default();
        Self { pairs: 25, seed: 0, standardize, intercept, ridge, stop: Stop::default() }
    }
}

impl Stability {
    fn preparation(&self) -> Preparation {
        Preparation { standardize: self.standardize, intercept: self.intercept, ridge: self.ridge }
    }

    fn check<A, S>(&self, design: &A, set: &S, outputs: usize) -> Result<(), Error>
    where
        A: LinearOperator<Point = SparseVec>,
        S: CoordinateSet,
    {
        let enough = "at least one pair of half-samples is needed";
        check_option("pairs", self.pairs as f64, enough, |v| v >= 1.0)?;
        if set.domain() != design.domain() * outputs {
            let (operator, set) = ((design.domain() * outputs).to_string(), set.domain().to_string());
            return Err(Error::Domain { operator, set });
        }
        let rows = design.n_outputs() / 2;
        let kept = set.kept().indices().len().div_ceil(outputs);
        let coefficients = set.atoms() + kept + usize::from(self.intercept);
        // One row has no variance.
        let needed = coefficients.max(2);
        if rows < needed {
            let why = "one for each coefficient of a fit; ask for fewer atoms or give more data";
            return Err(Error::FewRows { what: "a half-sample", rows, needed, why });
        }
        Ok(())
    }

    /// The rows of each half-sample, a pair after the other. Where there are classes, each is halved.
    fn halves(&self, loss: &impl Split) -> Result<Vec<Vec<usize>>, Error> {
        let mut rng = generator(self.seed, STREAM);
        let rows = loss.n_rows();
        let mut halves = Vec::with_capacity(2 * self.pairs);
        for _ in 0..self.pairs {
            let order = match loss.classes() {
                Some(classes) => shuffled_by_class(classes, &mut rng)?,
                None => shuffled(rows, &mut rng),
            };
            for side in 0..2 {
                let mut half: Vec<usize> = order.iter().copied().skip(side).step_by(2).take(rows / 2).collect();
                half.sort_unstable();
                halves.push(half);
            }
        }
        Ok(halves)
    }
}

/// How often each atom was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The share of the half-samples whose fit chose the atom, for each of
    /// [`CoordinateSet::candidates`]. What a set always keeps is nobody's choice and has 0.
    pub frequencies: Vec<f64>,
    /// The number of half-samples: two for each pair.
    pub samples: usize,
    /// How many of their fits converged.
    pub converged: usize,
    /// Passes of the longest fit. The others share them, so no more are made: but for the reads in which
    /// the half-samples find their moments, and for what a method reads before it starts.
    pub passes: usize,
    /// k, the most atoms of a fit.
    pub atoms: usize,
    /// The number of atoms that a fit could choose from.
    pub choices: usize,
}

impl Selected {
    /// The atoms with at least this frequency, rising.
    ///
    /// ```
    /// # use katoms::select::Selected;
    /// # let (samples, converged, passes, atoms, choices) = (4, 4, 5, 1, 3);
    /// let frequencies = vec![0.75, 0.25, 0.0];
    /// let selected = Selected { frequencies, samples, converged, passes, atoms, choices };
    /// assert_eq!(selected.above(0.6), [0]);
    /// ```
    pub fn above(&self, threshold: f64) -> Vec<usize> {
        (0..self.frequencies.len()).filter(|&atom| self.frequencies[atom] >= threshold).collect()
    }

    /// A bound on how many of the atoms [above](Selected::above) a threshold are there by chance, on
    /// average over data sets: q²/((2π − 1)·p), with q = k.
    ///
    /// For independent rows and halves drawn at random it bounds, without further assumptions, the
    /// number of atoms above the threshold that the fit to a half-sample chooses with a probability of
    /// at most q/p (Shah and Samworth, Theorem 1). It bounds the number of *false* atoms when
    /// every false atom is such a one: when the false ones are exchangeable, each as likely to be chosen
    /// as the others, and the fit is no worse than guessing (Meinshausen and Bühlmann, Theorem 1).
    /// A false atom that is correlated with a true one can break that. Halves of classes are not quite
    /// drawn at random: the classes keep their sizes.
    ///
    /// # Errors
    /// When the threshold is not above 1/2, where nothing can be said, or is above 1.
    ///
    /// ```
    /// # use katoms::select::Selected;
    /// # let (frequencies, samples, converged, passes) = (vec![0.0; 1000], 50, 50, 5);
    /// let selected = Selected { frequencies, samples, converged, passes, atoms: 10, choices: 1000 };
    /// assert!((selected.expected_false(0.75)? - 0.2).abs() < 1e-12);
    /// assert!(selected.expected_false(0.5).is_err());
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn expected_false(&self, threshold: f64) -> Result<f64, Error> {
        let right = "it must be above 0.5 and at most 1";
        check_option("threshold", threshold, right, |v| v > 0.5 && v <= 1.0)?;
        Ok((self.atoms as f64).powi(2) / ((2.0 * threshold - 1.0) * self.choices as f64))
    }
}

/// Fits many half-samples and counts how often each atom is chosen.
///
/// Each half-sample is a view of the design, and [prepared](Preparation) on its own. The fits advance in
/// [lockstep], so they share their passes over the data: fifty fits make as many passes as the longest
/// of them. Standardising reads the data four times more for all of them, or, where columns are not cheap,
/// twice for each half-sample. Where the loss knows classes, every half-sample has half of each.
///
/// # Errors
/// When design, loss and set do not go together; when an option makes no sense; when a half-sample has
/// fewer rows than a fit has coefficients, or a class has a single row.
///
/// ```
/// use katoms::method::AcceleratedIht;
/// use katoms::operator::{Dense, LinearOperator};
/// use katoms::select::{Stability, stability};
/// use katoms::set::{ConstraintSet, KSparse};
/// use katoms::{loss::LeastSquares, simulate, space::SparseVec};
///
/// let (m, n) = (120, 60);
/// let data = simulate::gaussian(m, n, 0);
/// let design = Dense::column_major(&data, m, n)?;
/// let mut clean = vec![0.0; m];
/// design.apply(&SparseVec::new(n, vec![3, 30], vec![2.0, -2.0])?, &mut clean);
/// let loss = LeastSquares::new(simulate::noisy(&clean, 0.05, 0))?;
///
/// // room for three atoms, but only two are there
/// let set = KSparse::new(3, n)?;
/// let method = AcceleratedIht::for_structure(set.structure());
/// let selected = stability(&design, &loss, &set, &method, &Stability::default())?;
/// assert_eq!(selected.above(0.9), [3, 30]);
/// # Ok::<(), katoms::Error>(())
/// ```
pub fn stability<'a, A, L, S, M>(
    design: &'a A,
    loss: &L,
    set: &S,
    method: &M,
    options: &Stability,
) -> Result<Selected, Error>
where
    A: LinearOperator<Point = SparseVec, Covector = Vec<f64>> + ColumnMoments,
    L: Split,
    S: CoordinateSet,
    M: Method<Sample<'a, A>, L, Always<S>>,
{
    options.check(design, set, loss.outputs_per_row())?;
    let preparation = options.preparation().suited_to(loss);
    check_length("target", loss.n_rows(), design.n_outputs(), "one value for each row of the design")?;
    let halves = options.halves(loss)?;
    let losses = halves.iter().map(|half| loss.subset(half)).collect::<Result<Vec<_>, _>>()?;
    let (samples, _) = preparation.samples(design, &losses, halves)?;
    let objectives = samples.into_iter().zip(losses);
    let objectives = objectives
        .map(|(sample, loss)| preparation.objective_on(sample, design.domain(), loss))
        .collect::<Result<Vec<_>, _>>()?;
    let prepared = preparation.set(set, loss)?;
    let drive = Options { stop: options.stop, ..Options::for_set(&prepared) };
    let mut runs = Vec::with_capacity(objectives.len());
    for f in &objectives {
        runs.push(Run::new(f, &prepared, method, drive.clone())?);
    }
    lockstep(&mut runs)?;

    let atoms = set.candidates();
    let mut counts = vec![0_usize; atoms.len()];
    let (samples, mut converged, mut passes) = (runs.len(), 0, 0);
    for run in runs {
        let outcome = run.outcome_unchecked();
        prepared.chosen(&outcome.point).into_iter().for_each(|atom| counts[atom] += 1);
        converged += usize::from(outcome.status == Status::Converged);
        passes = passes.max(outcome.passes);
    }
    let frequencies = counts.into_iter().map(|count| count as f64 / samples as f64).collect();
    let choices = (0..atoms.len()).filter(|&atom| !atoms.members(atom).is_empty()).count();
    Ok(Selected { frequencies, samples, converged, passes, atoms: set.atoms(), choices })
}

#[cfg(test)]
mod tests;
