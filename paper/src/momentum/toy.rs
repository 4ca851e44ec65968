//! The toy: a small design whose curvature over all supports of k columns is known by enumeration.

use katoms::linalg;
use katoms::loss::LeastSquares;
use katoms::operator::{Dense, LinearOperator};
use katoms::simulate;
use katoms::space::SparseVec;
use katoms::theory::{RestrictedCurvature, restricted_curvature};
use katoms::{Error as KatomsError, Objective};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Error, Progress};

/// Columns tried for one place before a window counts as too narrow.
const MOST_TRIES: usize = 2_000_000;
/// So many tries are made between two looks at whether somebody wants to stop.
const LOOK: usize = 10_000;

/// Where the curvature of pairs must lie.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Window {
    pub alpha: f64,
    pub beta: f64,
}

impl Window {
    /// Whether the curvature over {new} and over each pair {old, new} lies inside.
    fn admits(&self, old: &[f64], new: &[f64]) -> bool {
        let own = linalg::dot(new, new);
        let inside = |low: f64, high: f64| low >= self.alpha && high <= self.beta;
        inside(own, own)
            && old.chunks_exact(new.len()).all(|column| {
                let (other, cross) = (linalg::dot(column, column), linalg::dot(column, new));
                // The eigenvalues of [[own, cross], [cross, other]].
                let (middle, half) = (0.5 * (own + other), (0.25 * (own - other).powi(2) + cross * cross).sqrt());
                inside(middle - half, middle + half)
            })
    }
}

/// What a toy is drawn from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub k: usize,
    pub within: Option<Window>,
}

/// A design, a planted vector and its image.
pub(super) struct Toy {
    shape: Shape,
    /// Column-major.
    design: Vec<f64>,
    pub truth: SparseVec,
    target: Vec<f64>,
}

impl Toy {
    /// The toy of a seed: entries N(0, 1/rows), columns drawn again until the window admits them; k normal values
    /// at random places, of norm 1.
    pub fn draw(shape: Shape, seed: u64, progress: &Progress<'_>) -> Result<Self, Error> {
        let Shape { rows, columns, k, within } = shape;
        let mut rng = simulate::generator(seed, 0);
        let mut design = Vec::with_capacity(rows * columns);
        for place in 0..columns {
            let mut tries = 0;
            loop {
                let column = column(rows, &mut rng);
                if within.is_none_or(|window| window.admits(&design, &column)) {
                    design.extend(column);
                    break;
                }
                tries += 1;
                if tries % LOOK == 0 {
                    progress.at("drawing")?;
                }
                if tries == MOST_TRIES {
                    let why = format!(
                        "`within` admits none of {MOST_TRIES} columns drawn beside the first {place}; it must be wider, \
                         or `columns` fewer"
                    );
                    return Err(Error::Config { experiment: "momentum", why });
                }
            }
        }
        let truth = simulate::sparse_signal(columns, k, seed);
        let mut target = vec![0.0; rows];
        Dense::column_major(&design, rows, columns)?.apply(&truth, &mut target);
        Ok(Self { shape, design, truth, target })
    }

    /// ½‖b − Φx‖².
    pub fn objective(&self) -> Result<Objective<Dense<'_, f64>, LeastSquares>, KatomsError> {
        let design = Dense::column_major(&self.design, self.shape.rows, self.shape.columns)?;
        Objective::new(design, LeastSquares::new(self.target.clone())?)
    }

    /// α and β over all supports of so many columns.
    pub fn curvature(&self, size: usize) -> Result<RestrictedCurvature, Error> {
        restricted_curvature(&self.design, self.shape.rows, self.shape.columns, size).map_err(refused)
    }

    /// The least and the largest eigenvalue on the planted support.
    pub fn planted_curvature(&self) -> Result<RestrictedCurvature, Error> {
        let rows = self.shape.rows;
        let support = self.truth.indices();
        let columns: Vec<f64> = support.iter().flat_map(|&j| self.design[j * rows..][..rows].to_vec()).collect();
        restricted_curvature(&columns, rows, support.len(), support.len()).map_err(refused)
    }
}

/// A curvature that cannot be enumerated, as a fault of the config.
fn refused(why: impl std::fmt::Display) -> Error {
    Error::Config { experiment: "momentum", why: why.to_string() }
}

/// One column with N(0, 1/rows) entries.
fn column(rows: usize, rng: &mut impl rand::Rng) -> Vec<f64> {
    let scale = 1.0 / (rows as f64).sqrt();
    simulate::normals(rows, rng).into_iter().map(|v| scale * v).collect()
}

/// How the chance of a window is estimated.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chance {
    pub replicas: u64,
    pub columns: usize,
}

impl Chance {
    /// The chance that a plain draw, in which no column is drawn again, lies in the window.
    ///
    /// Sequential importance sampling: for each place the share of admitted columns among many, of which one is
    /// kept. The product of the shares has the chance as its mean, however small that is.
    pub fn of(&self, shape: Shape, seed: u64, progress: &Progress<'_>) -> Result<f64, Error> {
        let Some(window) = shape.within else { return Ok(1.0) };
        let replica = |replica: u64| -> Result<f64, Error> {
            progress.at("chance")?;
            // Streams above those of the toys, which are seeds with stream 0.
            let mut rng = simulate::generator(seed, 1000 + replica);
            let mut design: Vec<f64> = Vec::new();
            let mut product = 1.0;
            for _ in 0..shape.columns {
                let mut admitted = (0..self.columns).filter_map(|_| {
                    let column = column(shape.rows, &mut rng);
                    window.admits(&design, &column).then_some(column)
                });
                let Some(kept) = admitted.next() else { return Ok(0.0) };
                let count = 1 + admitted.count();
                product *= count as f64 / self.columns as f64;
                design.extend(kept);
            }
            Ok(product)
        };
        let products = (0..self.replicas).into_par_iter().map(replica).collect::<Result<Vec<f64>, Error>>()?;
        Ok(products.iter().sum::<f64>() / self.replicas as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { rows: 6, columns: 10, k: 2, within: Some(Window { alpha: 0.635, beta: 1.785 }) };

    /// The choice of the seed, repeated: the first whose curvature has the published digits.
    #[test]
    fn the_seed_of_the_config_is_the_first_with_the_published_curvature() -> Result<(), Error> {
        let text = crate::template(crate::Experiment::Momentum);
        let table: toml::Table = text.parse().expect("a config");
        let chosen = table["seed"].as_integer().expect("a number");
        let fits = |seed: i64| -> Result<bool, Error> {
            let found = Toy::draw(SHAPE, seed as u64, &Progress::unwatched())?.curvature(2)?;
            Ok((found.alpha - 0.64).abs() <= 0.005 && (found.beta - 1.78).abs() <= 0.005)
        };
        for seed in 0..=chosen {
            assert_eq!(fits(seed)?, seed == chosen, "seed {seed}");
        }
        Ok(())
    }

    /// The pairs of a window are the pairs of the enumeration.
    #[test]
    fn a_window_holds_the_curvature_over_all_pairs() -> Result<(), Error> {
        for seed in 0..3 {
            let found = Toy::draw(SHAPE, seed, &Progress::unwatched())?.curvature(2)?;
            assert!(found.alpha >= 0.635 - 1e-12 && found.beta <= 1.785 + 1e-12, "{found:?}");
        }
        let plain = Toy::draw(Shape { within: None, ..SHAPE }, 0, &Progress::unwatched())?.curvature(2)?;
        assert!(plain.alpha < 0.635 || plain.beta > 1.785);
        Ok(())
    }

    /// Against plain counting, where that is possible: three columns, a wide window.
    #[test]
    fn the_chance_is_what_counting_finds() -> Result<(), Error> {
        let window = Window { alpha: 0.3, beta: 2.2 };
        let shape = Shape { columns: 3, within: Some(window), ..SHAPE };
        let estimate = Chance { replicas: 50, columns: 200 }.of(shape, 0, &Progress::unwatched())?;
        let plain = Shape { within: None, ..shape };
        let draws = 2000;
        let mut inside = 0;
        for seed in 0..draws {
            let found = Toy::draw(plain, seed, &Progress::unwatched())?.curvature(2)?;
            inside += usize::from(found.alpha >= window.alpha && found.beta <= window.beta);
        }
        let counted = inside as f64 / draws as f64;
        assert!((estimate - counted).abs() < 0.04, "{estimate} {counted}");
        Ok(())
    }
}
