//! Planted problems: data made from a known answer, the same on every machine.
//!
//! They serve the tests, the benches and whoever wants to try a method. Each number comes from
//! ChaCha8, a counter-based generator: a seed and a stream name it.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::linalg::Matrix;
use crate::loss::Logistic;
use crate::space::SparseVec;

/// A generator for one stream of a seed.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Standard normal numbers.
pub fn normals(count: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(rng)).collect()
}

/// A rows × columns design in f32, column-major, with independent N(0, 1/rows) entries.
pub fn gaussian_f32(rows: usize, columns: usize, seed: u64) -> Vec<f32> {
    let mut rng = generator(seed, 0);
    let scale = 1.0 / (rows as f32).sqrt();
    (0..rows * columns).map(|_| scale * Distribution::<f32>::sample(&StandardNormal, &mut rng)).collect()
}

/// The same in f64.
pub fn gaussian(rows: usize, columns: usize, seed: u64) -> Vec<f64> {
    let scale = 1.0 / (rows as f64).sqrt();
    normals(rows * columns, &mut generator(seed, 0)).into_iter().map(|v| scale * v).collect()
}

/// A column-major design whose rows follow an AR(1) process along the columns: neighbouring columns
/// have this correlation. Columns have norm 1.
pub fn autoregressive(rows: usize, columns: usize, correlation: f64, seed: u64) -> Vec<f64> {
    let fresh = (1.0 - correlation * correlation).sqrt();
    let mut data = normals(rows * columns, &mut generator(seed, 0));
    for at in rows..data.len() {
        data[at] = correlation * data[at - rows] + fresh * data[at];
    }
    for column in data.chunks_mut(rows.max(1)) {
        let norm = crate::linalg::norm(column);
        column.iter_mut().for_each(|v| *v /= norm);
    }
    data
}

/// A vector of norm 1 with `k` normal entries at random places.
pub fn sparse_signal(dim: usize, k: usize, seed: u64) -> SparseVec {
    let mut rng = generator(seed, 1);
    let mut places: Vec<usize> = (0..dim).collect();
    for i in 0..k.min(dim) {
        places.swap(i, rng.random_range(i..dim));
    }
    let mut chosen = places[..k.min(dim)].to_vec();
    chosen.sort_unstable();
    let values = normals(chosen.len(), &mut rng);
    let norm = crate::linalg::norm(&values);
    SparseVec::sorted(dim, chosen, values.into_iter().map(|v| v / norm).collect())
}

/// `clean` plus normal noise of this standard deviation.
pub fn noisy(clean: &[f64], deviation: f64, seed: u64) -> Vec<f64> {
    let noise = normals(clean.len(), &mut generator(seed, 2));
    clean.iter().zip(noise).map(|(z, e)| z + deviation * e).collect()
}

/// Labels 0/1 drawn with the log-odds z.
pub fn labels(z: &[f64], seed: u64) -> Vec<f64> {
    let mut rng = generator(seed, 3);
    z.iter().map(|&z| f64::from(u8::from(rng.random::<f64>() < Logistic::probability(z)))).collect()
}

/// The factors of a rows × columns matrix of this rank, with independent N(0, 1) entries.
pub fn low_rank_factors(rows: usize, columns: usize, rank: usize, seed: u64) -> (Matrix, Matrix) {
    let mut rng = generator(seed, 4);
    let left = Matrix::from_columns(rows, rank, normals(rows * rank, &mut rng));
    let right = Matrix::from_columns(columns, rank, normals(columns * rank, &mut rng));
    (left, right)
}

/// Each place of a rows × columns matrix with this probability: (row of each, column of each).
pub fn observed_places(rows: usize, columns: usize, share: f64, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut rng = generator(seed, 5);
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    all.filter(|_| rng.random::<f64>() < share).unzip()
}
