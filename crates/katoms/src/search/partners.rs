//! Pairs of nearly equal columns: their difference may tell what neither of them does.

use super::quadratic::Quadratic;
use super::tableau::Tableau;
use crate::linalg::parallel;
use crate::set::Atoms;

/// For each coordinate the one that is most like it.
#[derive(Debug)]
pub(crate) struct Partners(Vec<usize>);

impl Partners {
    /// Needs every column of G.
    pub fn new(q: &dyn Quadratic, atoms: &Atoms) -> Self {
        let n = q.dim();
        let all: Vec<usize> = (0..n).collect();
        q.prepare(&all);
        let open = |j: &usize| atoms.members(*j).len() == 1 && q.diagonal()[*j] > 0.0;
        let like = |j: usize, l: usize| q.column(j)[l].powi(2) / q.diagonal()[l];
        let partner = |j: usize| {
            let others = (0..n).filter(|&l| l != j).filter(open);
            others.reduce(|a, b| if like(j, b) > like(j, a) { b } else { a }).filter(|_| open(&j)).unwrap_or(j)
        };
        Self(parallel::map(n, &partner))
    }

    /// The pair outside of a model that lowers f most, and by how much.
    pub fn best(&self, q: &dyn Quadratic, tableau: &Tableau<'_>) -> Option<(usize, usize, f64)> {
        let pairs = self.0.iter().enumerate().filter(|(j, l)| j != *l);
        pairs.map(|(j, &l)| (j, l, tableau.pair_gain(q, j, l))).reduce(|a, b| if b.2 > a.2 { b } else { a })
    }
}
