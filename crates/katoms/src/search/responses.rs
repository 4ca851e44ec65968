//! Several responses that share their columns, where every atom is a column with a coefficient for each of them.
//!
//! Least squares then has the same matrix G for all responses, and none between two of them. So a search is about columns,
//! each of which has one Gram column, one Schur complement, and a slope for each response.

use std::sync::Arc;

use super::problem::Problem;
use crate::loss::{Curvature, Loss};
use crate::objective::Objective;
use crate::operator::LinearOperator;
use crate::set::Atoms;
use crate::space::{IndexSet, Point, SparseVec};

/// Which coordinates belong to a column.
#[derive(Debug, Clone)]
pub(crate) struct Responses {
    count: usize,
    /// The coordinates of each column, one for each response.
    coordinates: Arc<Vec<usize>>,
    /// The column of each coordinate.
    columns: Arc<Vec<usize>>,
}

impl Responses {
    /// `None` where there is one, or where they differ in more than their targets: in the weights of rows, in what is free
    /// of the ridge, or in what an atom has.
    pub fn of<A, L>(f: &Objective<A, L>, atoms: &Atoms, kept: &IndexSet) -> Option<Self>
    where
        A: LinearOperator<Point = SparseVec, Covector = Vec<f64>>,
        L: Loss,
    {
        let (a, count) = (f.operator(), f.operator().outputs());
        if count == 1 || !f.loss().is_quadratic() || atoms.shared() {
            return None;
        }
        let curvature = f.curvature(&f.at(SparseVec::zero(a.domain())));
        let (first, others) = curvature.as_diagonal()?.split_at(a.n_outputs() / count);
        if !others.chunks(first.len().max(1)).all(|other| other == first) {
            return None;
        }
        let places: Vec<(usize, usize)> = (0..a.domain()).map(|j| a.column_of(j)).collect();
        let mut coordinates = vec![usize::MAX; a.domain()];
        for (j, (column, response)) in places.iter().enumerate() {
            *coordinates.get_mut(column * count + response)? = j;
        }
        let columns = places.into_iter().map(|place| place.0).collect();
        let all = Self { count, coordinates: Arc::new(coordinates), columns: Arc::new(columns) };
        let whole = |some: &[usize]| some.len() == count * all.columns_of(some).len();
        let fits = (0..atoms.len()).all(|atom| atoms.members(atom).len() <= count && whole(atoms.members(atom)));
        (fits && whole(kept.indices()) && f.unridged().is_none_or(|free| whole(free.indices()))).then_some(all)
    }

    /// How many responses there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The columns of some coordinates, rising.
    pub fn columns_of(&self, coordinates: &[usize]) -> Vec<usize> {
        let mut columns: Vec<usize> = coordinates.iter().map(|&j| self.columns[j]).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The coordinates of a column.
    pub fn coordinates_of(&self, column: usize) -> &[usize] {
        &self.coordinates[column * self.count..][..self.count]
    }

    /// The number of columns.
    pub fn dim(&self) -> usize {
        self.coordinates.len() / self.count
    }

    /// The atoms as columns.
    pub fn atoms(&self, atoms: &Atoms) -> Atoms {
        let columns: Vec<Vec<usize>> = (0..atoms.len()).map(|atom| self.columns_of(atoms.members(atom))).collect();
        Atoms::groups(&columns, atoms.shared())
    }

    /// Coordinates as columns.
    pub fn kept(&self, kept: &IndexSet) -> IndexSet {
        IndexSet::new(self.dim(), self.columns_of(kept.indices()))
    }

    /// The coordinates of columns.
    pub fn coordinates(&self, columns: &IndexSet) -> IndexSet {
        let all = columns.indices().iter().flat_map(|&column| self.coordinates_of(column)).copied().collect();
        IndexSet::new(self.coordinates.len(), all)
    }

    /// A point of f from one with the coefficients of each column one after the other.
    pub fn point(&self, x: &SparseVec) -> SparseVec {
        let mut entries: Vec<(usize, f64)> = x.entries().map(|(i, v)| (self.coordinates[i], v)).collect();
        entries.sort_by_key(|e| e.0);
        let (indices, values) = entries.into_iter().unzip();
        SparseVec::sorted(self.coordinates.len(), indices, values)
    }

    /// The curvature of each response.
    pub fn curvature(&self, whole: &Curvature) -> Curvature {
        whole.bound()[..whole.bound().len() / self.count].to_vec().into()
    }

    /// Copies of some columns, one after the other.
    pub fn copies(&self, f: &dyn Problem, columns: &[usize]) -> Vec<f64> {
        let (rows, firsts) = (f.rows(), columns.iter().map(|&column| self.coordinates_of(column)[0]));
        let whole = f.columns(&firsts.collect::<Vec<_>>());
        whole.chunks(rows.max(1)).flat_map(|column| &column[..rows / self.count]).copied().collect()
    }

    /// The products of all columns with some vectors, each as long as a column: one pass.
    pub fn pass(&self, f: &dyn Problem, rs: &[&[f64]]) -> Vec<Vec<f64>> {
        let padded = |some: &[&[f64]]| {
            let mut whole = some.concat();
            whole.resize(f.rows(), 0.0);
            whole
        };
        let whole: Vec<Vec<f64>> = rs.chunks(self.count).map(padded).collect();
        let products = f.pass(&whole.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let of = |at: usize| {
            let (products, own) = (&products[at / self.count], self.coordinates.iter().skip(at % self.count));
            own.step_by(self.count).map(|&j| products[j]).collect()
        };
        (0..rs.len()).map(of).collect()
    }

    /// The second derivative along every column: at most one pass.
    pub fn second_derivatives(&self, f: &dyn Problem, h: &[f64]) -> Option<Vec<f64>> {
        let whole = f.second_derivatives(&h.repeat(self.count))?;
        Some(self.coordinates.iter().step_by(self.count).map(|&j| whole[j]).collect())
    }

    /// How much f falls by a step along each atom, where this is the gradient of f and h are the second derivatives along
    /// columns.
    pub fn falls(&self, atoms: &Atoms, gradient: &[f64], h: &[f64]) -> Vec<f64> {
        let square =
            |column: usize| self.coordinates_of(column).iter().map(|&j| gradient[j] * gradient[j]).sum::<f64>();
        let fall = |&column: &usize| if h[column] > 0.0 { 0.5 * square(column) / h[column] } else { 0.0 };
        (0..atoms.len()).map(|atom| atoms.members(atom).iter().map(fall).sum()).collect()
    }
}

/// Vectors of the same length, their first numbers first, then their second ones.
pub(super) fn interleaved(vectors: &[Vec<f64>]) -> Vec<f64> {
    let length = vectors.first().map_or(0, Vec::len);
    (0..length).flat_map(|j| vectors.iter().map(move |v| v[j])).collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::loss::LeastSquares;
    use crate::operator::{Dense, PerOutput, Standardized, WithIntercept};
    use crate::search::Effort;
    use crate::search::found::Found;
    use crate::search::squares::Squares;
    use crate::simulate;

    const ROWS: usize = 60;
    const COLUMNS: usize = 24;
    const RESPONSES: usize = 3;

    fn same(found: &Found, expected: &Found) {
        assert_eq!(found.chosen, expected.chosen);
        assert_eq!(found.point.indices(), expected.point.indices());
        let near = |a: &f64, b: &f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
        assert!(found.point.values().iter().zip(expected.point.values()).all(|(a, b)| near(a, b)));
        assert!(found.slopes.len() == expected.slopes.len());
        assert!(found.slopes.iter().zip(&expected.slopes).all(|(a, b)| near(a, b)));
        assert_eq!((found.clear, found.swaps.compared), (expected.clear, expected.swaps.compared));
        for (a, b) in found.swaps.best.iter().zip(&expected.swaps.best) {
            assert!((a.out, a.into) == (b.out, b.into) && near(&a.gain, &b.gain));
        }
    }

    /// By columns everything is as it is by groups of coordinates: weights, a ridge, intercepts, a column that is always in.
    #[test]
    fn a_search_by_columns_is_one_by_groups() {
        for seed in 0..3 {
            let x = simulate::autoregressive(ROWS, COLUMNS, 0.8, seed);
            let weights: Vec<f64> = (0..ROWS).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
            let columns = Standardized::fit(Dense::column_major(&x, ROWS, COLUMNS).unwrap(), &weights).unwrap();
            let a = WithIntercept::new(PerOutput::new(columns, RESPONSES).unwrap());
            let coordinates = RESPONSES * COLUMNS;
            let group = |j: usize| (0..RESPONSES).map(|c| c * COLUMNS + j).collect::<Vec<_>>();
            let always = group(5).into_iter().chain(coordinates..a.domain()).collect();
            let kept = IndexSet::new(a.domain(), always);
            let atoms = Atoms::groups(&(0..COLUMNS).map(group).collect::<Vec<_>>(), false).without(&kept);
            let y = simulate::noisy(&vec![0.0; RESPONSES * ROWS], 1.0, seed + 10);
            let y: Vec<f64> = y.iter().zip(x.iter().cycle()).map(|(y, x)| 3.0 + y + 20.0 * x).collect();
            let loss = LeastSquares::of_responses(y, RESPONSES).unwrap().weighted(weights).unwrap();
            let free = IndexSet::new(a.domain(), (coordinates..a.domain()).collect());
            let f = Objective::new(a, loss).unwrap().ridge(0.7).unwrap().free_of_ridge(free);
            let responses = Responses::of(&f, &atoms, &kept).unwrap();
            assert_eq!((responses.count(), responses.dim()), (RESPONSES, COLUMNS + 1));
            let (own, own_kept) = (responses.atoms(&atoms), responses.kept(&kept));
            assert_eq!((own_kept.indices(), own.members(7)), (&[5, COLUMNS][..], &[7][..]));
            // Where atoms have the numbers of their columns, the one that is always in is an atom without coordinates.
            let members = (0..=COLUMNS).map(|j| if own_kept.contains(j) { vec![] } else { vec![j] });
            let own = Atoms::groups(&members.collect::<Vec<_>>(), false);
            let go_on = &mut |_: usize| ControlFlow::Continue(());
            let mut by_groups = Squares::new(&f, &atoms, &kept, None);
            let mut by_columns = Squares::new(&f, &own, &own_kept, None).of_responses(Some(&responses));
            for k in [1, 4] {
                let start: Vec<usize> = (10..10 + k).collect();
                let groups = by_groups.best(k, &start, Effort::Default, go_on).unwrap();
                same(&by_columns.best(k, &start, Effort::Default, go_on).unwrap(), &groups);
                same(&by_columns.judge(&start).unwrap(), &by_groups.judge(&start).unwrap());
                let at = f.at(by_groups.judge(&start).unwrap().point);
                let groups = by_groups.best_by_residuals(k, &start, &at, true, go_on).unwrap();
                same(&by_columns.best_by_residuals(k, &start, &at, true, go_on).unwrap(), &groups);
            }
            let (columns, groups) = (by_columns.sizes(&[1, 3, 6], go_on), by_groups.sizes(&[1, 3, 6], go_on));
            columns.unwrap().iter().zip(&groups.unwrap()).for_each(|(found, expected)| same(found, expected));
            // atoms that are no whole columns
            assert!(Responses::of(&f, &Atoms::coordinates(coordinates), &kept).is_none());
            assert!(Responses::of(&f, &atoms, &IndexSet::new(kept.dim(), vec![3])).is_none());
        }
    }
}
