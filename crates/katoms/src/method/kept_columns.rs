//! The columns of a support and their products, from one refit to the next: most atoms stay from move to move.
//!
//! The sum of a product depends on nothing but its two columns. So a refit has the same bits whether it found some of them
//! here or none, and a run that is resumed goes the way that it would have gone.

use rayon::prelude::*;

use crate::linalg::{Matrix, kernels};
use crate::loss::Loss;
use crate::objective::Objective;
use crate::operator::{LinearOperator, SupportOf};
use crate::space::Subspace;

/// Numbers that are kept at most: 32 MB.
const MOST: usize = 1 << 22;
/// New columns that are multiplied with all others together.
const BLOCK: usize = 32;
/// Entries of columns below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 17;

/// Copies of the columns of a support, and their products.
#[derive(Debug)]
pub(crate) struct KeptColumns<S> {
    support: S,
    /// Columns one after the other, some of which are left from earlier, and the place of each basis vector among them.
    columns: Vec<f64>,
    places: Vec<usize>,
    rows: usize,
    gram: Matrix,
}

impl<S> KeptColumns<S> {
    /// The products of every column with every other one.
    pub(crate) fn gram(&self) -> &Matrix {
        &self.gram
    }

    /// The products of every column with r.
    pub(crate) fn pulled_back(&self, r: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.columns.len() / self.rows];
        kernels::adjoint_columns(&self.columns, r, &mut products);
        self.places.iter().map(|&place| products[place]).collect()
    }

    #[cfg(test)]
    fn column(&self, i: usize) -> &[f64] {
        &self.columns[self.places[i] * self.rows..][..self.rows]
    }
}

/// Those of t, as far as possible from what an earlier refit has left; `None` where they are too large to be kept.
pub(crate) fn kept_columns<A: LinearOperator, L: Loss>(
    f: &Objective<A, L>,
    t: &SupportOf<A>,
    before: Option<KeptColumns<SupportOf<A>>>,
) -> Option<KeptColumns<SupportOf<A>>> {
    let (rows, d) = (f.operator().n_outputs(), t.dimension());
    if rows == 0 || rows.saturating_mul(d) > MOST {
        return None;
    }
    // Columns that nobody asks for any more are multiplied all the same: not too many of them.
    let before = before.filter(|before| before.columns.len() <= MOST.min(2 * rows * d));
    let known: Vec<Option<usize>> =
        before.as_ref().and_then(|before| t.places_in(&before.support)).unwrap_or_else(|| vec![None; d]);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..d).partition(|&i| known[i].is_some());
    let mut gram = Matrix::zeros(d, d);
    let mut places = vec![usize::MAX; d];
    let mut columns = Vec::new();
    if let Some(before) = before {
        for &j in &old {
            let Some(from) = known[j] else { continue };
            places[j] = before.places[from];
            let column = gram.column_mut(j);
            old.iter().for_each(|&i| column[i] = known[i].map_or(0.0, |to| before.gram.at(to, from)));
        }
        columns = before.columns;
    }
    // What is new takes the places that are left.
    columns.resize(columns.len().max(rows * d), 0.0);
    let mut taken = vec![false; columns.len() / rows];
    old.iter().for_each(|&i| taken[places[i]] = true);
    let free = (0..taken.len()).filter(|&place| !taken[place]);
    new.iter().zip(free).for_each(|(&i, place)| places[i] = place);

    let mut fresh: Vec<Option<usize>> = vec![None; taken.len()];
    new.iter().for_each(|&i| fresh[places[i]] = Some(i));
    let mut written: Vec<(usize, &mut [f64])> =
        fresh.iter().zip(columns.chunks_mut(rows)).filter_map(|(i, column)| Some(((*i)?, column))).collect();
    let write = |(i, column): &mut (usize, &mut [f64])| column.copy_from_slice(&f.uncounted_image(&t.basis(*i)));
    if rows * new.len() < PARALLEL_WORK {
        written.iter_mut().for_each(write);
    } else {
        written.par_iter_mut().with_min_len(8).for_each(write);
    }
    f.count_columns(new.len());

    for some in new.chunks(BLOCK) {
        let rs: Vec<&[f64]> = some.iter().map(|&i| &columns[places[i] * rows..][..rows]).collect();
        // Where all are new they stand in order, and those that follow will meet these.
        let met = if old.is_empty() { places[some[some.len() - 1]] + 1 } else { taken.len() };
        let mut products = vec![vec![0.0; met]; rs.len()];
        let mut outs: Vec<&mut [f64]> = products.iter_mut().map(Vec::as_mut_slice).collect();
        kernels::adjoint_columns_block(&columns[..met * rows], &rs, &mut outs);
        for (&j, products) in some.iter().zip(&products) {
            for (i, &place) in places.iter().enumerate().filter(|(_, place)| **place < met) {
                gram.column_mut(j)[i] = products[place];
                gram.column_mut(i)[j] = products[place];
            }
        }
    }
    Some(KeptColumns { support: t.clone(), columns, places, rows, gram })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LeastSquares;
    use crate::operator::{Dense, Standardized};
    use crate::simulate;
    use crate::space::IndexSet;

    #[test]
    fn what_was_kept_has_the_bits_of_what_is_new() {
        for (m, n) in [(37, 120), (300, 200)] {
            let x = simulate::gaussian_f32(m, n, 1);
            let a = Standardized::fit(Dense::column_major(&x, m, n).unwrap(), &vec![1.0; m]).unwrap();
            let f = Objective::new(&a, LeastSquares::new(simulate::gaussian(m, 1, 2)).unwrap()).unwrap();
            let some = |step: usize, first: usize| IndexSet::new(n, (first..n).step_by(step).collect());
            let mut kept = None;
            // some stay, some go, some come back; one set at all, and none
            for t in [some(1, 60), some(2, 0), some(3, 1), some(1, 0), some(1, n), some(2, 1), some(2, 1)] {
                let fresh = kept_columns(&f, &t, None).unwrap();
                let next = kept_columns(&f, &t, kept.take()).unwrap();
                assert_eq!(next.gram(), fresh.gram());
                let r = simulate::gaussian(m, 1, 3);
                assert_eq!(next.pulled_back(&r), fresh.pulled_back(&r));
                for i in 0..t.dimension() {
                    assert_eq!(next.column(i), f.at(t.basis(i)).image());
                    let expected = f.pulled_back_on(next.column(i), &t);
                    let apart = expected.values().iter().zip(next.gram().column(i)).map(|(a, b)| (a - b).abs());
                    assert!(apart.fold(0.0, f64::max) < 1e-9 * m as f64);
                }
                assert_eq!(next.gram(), &next.gram().transposed());
                kept = Some(next);
            }
        }
    }
}
