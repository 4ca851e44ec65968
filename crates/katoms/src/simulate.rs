//! Planted problems: data made from a known answer, the same on every machine.
//!
//! They serve the tests, the benches and whoever wants to try a method. Each number comes from
//! ChaCha8, a counter-based generator: a seed and a stream name it.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::linalg::Matrix;
use crate::linalg::parallel;
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

/// The streams of a seed from which [`gaussian_columns_f32`] takes its columns begin here, after all others.
const COLUMN_STREAMS: u64 = 1 << 32;

/// Fills `out` with columns of a design of independent N(0, 1/rows) entries, column-major, from column `first` on.
///
/// Every column has a stream of its own: threads share the work, a part of the design can be had without the rest, and
/// neither changes a number. Another design than that of [`gaussian_f32`]. A last column that does not fit is cut off.
///
/// ```
/// use katoms::simulate::gaussian_columns_f32;
/// let (mut whole, mut second) = (vec![0.0; 6], vec![0.0; 2]);
/// gaussian_columns_f32(&mut whole, 2, 0, 7);
/// gaussian_columns_f32(&mut second, 2, 1, 7);
/// assert_eq!(second, whole[2..4]);
/// ```
pub fn gaussian_columns_f32(out: &mut [f32], rows: usize, first: usize, seed: u64) {
    let scale = 1.0 / (rows as f32).sqrt();
    parallel::chunks_mut(out, rows.max(1), &|at, column| {
        let mut rng = generator(seed, COLUMN_STREAMS + (first + at) as u64);
        column.iter_mut().for_each(|v| *v = scale * Distribution::<f32>::sample(&StandardNormal, &mut rng));
    });
}

/// As [`gaussian_f32`], in f64.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_same_at_any_thread_count_and_in_any_parts() {
        let (rows, columns) = (11, 40);
        let design = |threads: usize| {
            let mut out = vec![0.0; rows * columns];
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| gaussian_columns_f32(&mut out, rows, 0, 3));
            out
        };
        let whole = design(1);
        assert_eq!(whole, design(4));
        let mut parts = vec![0.0; rows * columns];
        for (at, part) in parts.chunks_mut(7 * rows).enumerate() {
            gaussian_columns_f32(part, rows, 7 * at, 3);
        }
        assert_eq!(whole, parts);
    }

    #[test]
    fn columns_are_normal_independent_and_of_norm_about_1() {
        let (rows, columns) = (400, 200);
        let mut out = vec![0.0; rows * columns];
        gaussian_columns_f32(&mut out, rows, 0, 1);
        let dot = |i: usize, j: usize| -> f64 {
            let column = |j: usize| &out[j * rows..(j + 1) * rows];
            column(i).iter().zip(column(j)).map(|(a, b)| f64::from(a * b)).sum()
        };
        // Five deviations: a squared norm has √(2/rows), a product of two columns 1/√rows.
        let slack = 5.0 / (rows as f64).sqrt();
        assert!((0..columns).all(|j| (dot(j, j) - 1.0).abs() < slack * 2_f64.sqrt()));
        assert!((1..columns).all(|j| dot(0, j).abs() < slack));
        // Another stream, or seed, is another column.
        let mut other = vec![0.0; rows];
        gaussian_columns_f32(&mut other, rows, 0, 2);
        assert_ne!(other, out[..rows]);
    }
}
