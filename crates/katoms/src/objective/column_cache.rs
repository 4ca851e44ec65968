//! The columns of a support and their Gram matrix, from one refit to the next: most atoms stay from move to move.
//!
//! The sum of a product depends on nothing but its two columns. So a refit has the same bits whether it found some of them
//! here or none, and a run that is resumed goes the way that it would have gone.

use crate::linalg::{ColumnBuffer, Matrix, kernels};
use crate::space::Subspace;

/// Numbers that are kept at most: 32 MB.
const MOST: usize = 1 << 22;
/// New columns that are multiplied with all others together.
const BLOCK: usize = 32;

/// Copies of the columns of a support, and their products.
#[derive(Debug)]
pub struct ColumnCache<S> {
    support: S,
    /// Columns one after the other, some of which are left from earlier, and the place of each basis vector among them.
    columns: ColumnBuffer,
    places: Vec<usize>,
    rows: usize,
    gram: Matrix,
}

impl<S> ColumnCache<S> {
    /// The number of columns that are kept, asked for or not.
    fn kept(&self) -> usize {
        self.columns.data().len() / self.rows
    }

    /// The products of every column with every other one.
    pub fn gram(&self) -> &Matrix {
        &self.gram
    }

    /// The products of every column with r.
    pub fn pulled_back(&self, r: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.kept()];
        kernels::adjoint_columns(self.columns.data(), r, &mut products);
        self.places.iter().map(|&place| products[place]).collect()
    }

    /// The columns of t and how many of them are new, as far as possible from what an earlier refit has left; `image`
    /// multiplies a basis vector. `None` where they are too large to be kept.
    pub fn of<P>(
        t: &S,
        rows: usize,
        before: Option<Self>,
        image: &(dyn Fn(&P) -> Vec<f64> + Sync),
    ) -> Option<(Self, usize)>
    where
        S: Subspace<P>,
    {
        let d = t.dimension();
        if rows == 0 || rows.saturating_mul(d) > MOST {
            return None;
        }
        // Columns that nobody asks for any more are multiplied all the same: not too many of them.
        let before = before.filter(|before| before.columns.data().len() <= MOST.min(2 * rows * d));
        let known: Vec<Option<usize>> =
            before.as_ref().and_then(|before| t.places_in(&before.support)).unwrap_or_else(|| vec![None; d]);
        let (old, new): (Vec<usize>, Vec<usize>) = (0..d).partition(|&i| known[i].is_some());
        let (gram, places) = (Matrix::zeros(d, d), vec![usize::MAX; d]);
        let mut cache = Self { support: t.clone(), columns: ColumnBuffer::default(), places, rows, gram };
        if let Some(before) = before {
            cache.take_over(before, &old, &known);
        }
        // What is new takes the places that are left.
        let mut taken = vec![false; cache.kept().max(d)];
        old.iter().for_each(|&i| taken[cache.places[i]] = true);
        let free = (0..taken.len()).filter(|&place| !taken[place]);
        new.iter().zip(free).for_each(|(&i, place)| cache.places[i] = place);
        cache.copy(t, &new, image);
        cache.multiply(&new, old.is_empty());
        Some((cache, new.len()))
    }

    /// The columns of an earlier cache, and the products of those that stay.
    fn take_over(&mut self, before: Self, old: &[usize], known: &[Option<usize>]) {
        for &j in old {
            let Some(from) = known[j] else { continue };
            self.places[j] = before.places[from];
            let column = self.gram.column_mut(j);
            old.iter().for_each(|&i| column[i] = known[i].map_or(0.0, |to| before.gram.at(to, from)));
        }
        self.columns = before.columns;
    }

    fn copy<P>(&mut self, t: &S, new: &[usize], image: &(dyn Fn(&P) -> Vec<f64> + Sync))
    where
        S: Subspace<P>,
    {
        let places: Vec<usize> = new.iter().map(|&i| self.places[i]).collect();
        let write = |at: usize, column: &mut [f64]| column.copy_from_slice(&image(&t.basis(new[at])));
        self.columns.write_at(self.rows, &places, &write);
    }

    /// The products of the new columns with all.
    fn multiply(&mut self, new: &[usize], all_are_new: bool) {
        let (rows, places) = (self.rows, &self.places);
        for some in new.chunks(BLOCK) {
            let rs: Vec<&[f64]> = some.iter().map(|&i| &self.columns.data()[places[i] * rows..][..rows]).collect();
            // Where all are new they stand in order, and those that follow will meet these.
            let met = if all_are_new { places[some[some.len() - 1]] + 1 } else { self.kept() };
            let mut products = vec![vec![0.0; met]; rs.len()];
            let mut outs: Vec<&mut [f64]> = products.iter_mut().map(Vec::as_mut_slice).collect();
            kernels::adjoint_columns_block(&self.columns.data()[..met * rows], &rs, &mut outs);
            for (&j, products) in some.iter().zip(&products) {
                for (i, &place) in places.iter().enumerate().filter(|(_, place)| **place < met) {
                    self.gram.column_mut(j)[i] = products[place];
                    self.gram.column_mut(i)[j] = products[place];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LeastSquares;
    use crate::objective::Objective;
    use crate::operator::{Dense, Standardized};
    use crate::simulate;
    use crate::space::{IndexSet, SparseVec};

    #[test]
    fn what_was_kept_has_the_bits_of_what_is_new() {
        for (m, n) in [(37, 120), (300, 200)] {
            let x = simulate::gaussian_f32(m, n, 1);
            let a = Standardized::fit(Dense::column_major(&x, m, n).unwrap(), &vec![1.0; m]).unwrap();
            let f = Objective::new(&a, LeastSquares::new(simulate::gaussian(m, 1, 2)).unwrap()).unwrap();
            let columns =
                |t: &IndexSet, before| ColumnCache::of(t, m, before, &|x: &SparseVec| f.uncounted_image(x)).unwrap().0;
            let some = |step: usize, first: usize| IndexSet::new(n, (first..n).step_by(step).collect());
            let mut kept = None;
            // some stay, some go, some come back; one set at all, and none
            for t in [some(1, 60), some(2, 0), some(3, 1), some(1, 0), some(1, n), some(2, 1), some(2, 1)] {
                let (fresh, next) = (columns(&t, None), columns(&t, kept.take()));
                assert_eq!(next.gram(), fresh.gram());
                let r = simulate::gaussian(m, 1, 3);
                assert_eq!(next.pulled_back(&r), fresh.pulled_back(&r));
                for i in 0..t.dimension() {
                    let column = &next.columns.data()[next.places[i] * m..][..m];
                    assert_eq!(column, f.at(t.basis(i)).image());
                    let expected = f.pulled_back_on(column, &t);
                    let apart = expected.values().iter().zip(next.gram().column(i)).map(|(a, b)| (a - b).abs());
                    assert!(apart.fold(0.0, f64::max) < 1e-9 * m as f64);
                }
                assert_eq!(next.gram(), &next.gram().transposed());
                kept = Some(next);
            }
        }
    }
}
