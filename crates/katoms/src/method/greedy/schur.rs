//! What each atom would bring: its gradient against its own curvature, or the Schur complement of the chosen atoms.
//!
//! | | code | |
//! |---|---|---|
//! | s_j = ‖φ_j‖², or ‖P⊥φ_j‖² | `diagonal` | the curvature along a coordinate, ridge included |
//! | R_J = Φ_JᵀΦ_J, or Φ_JᵀP⊥Φ_J | `blocks` | the same for the coordinates of a group |
//! | ½·c_Jᵀ·R_J⁻¹·c_J | [`Schur::gains`] | how much f falls by atom J, where c = −∇f |
//!
//! With the curvatures of whole columns that is what an atom brings while all other coefficients stay; with
//! those of P⊥φ, what is orthogonal to the chosen columns, it is what it brings after a refit.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::model::{Model, Problem};
use super::{DEPENDENT, ROUNDING, ROUNDING_OF_NEWTON};
use crate::linalg::{Matrix, dot, solve_symmetric};
use crate::set::Atoms;
use crate::space::{IndexSet, SparseVec, Subspace};

/// Atoms that one task looks at.
const TASK: usize = 1024;

/// The curvature along every atom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Schur {
    diagonal: Vec<f64>,
    /// The curvature below which a coordinate counts as dependent.
    floor: Vec<f64>,
    blocks: Option<Blocks>,
    /// A gain up to here is rounding.
    least: f64,
}

/// A square matrix for each atom of several coordinates, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Blocks {
    starts: Vec<usize>,
    values: Vec<f64>,
}

impl Schur {
    /// The squared norms of all columns in the metric of the curvatures `h`: one pass, and for groups
    /// each of their columns once. Where an operator does not give norms, each counts as 1.
    pub fn of_norms(problem: &Problem<'_>, h: &[f64]) -> Self {
        match problem.f.column_squares(h) {
            Some(diagonal) => Self::around(problem, h, diagonal),
            None => {
                let n = problem.f.domain();
                Self { diagonal: vec![1.0; n], floor: vec![0.0; n], blocks: None, least: 0.0 }
            }
        }
    }

    /// The same, column by column where an operator does not give norms.
    pub fn exact(problem: &Problem<'_>, h: &[f64]) -> Self {
        let square = |j: usize| weighted_column(problem, h, j).iter().map(|v| v * v).sum();
        let one_by_one = || (0..problem.f.domain()).map(square).collect();
        Self::around(problem, h, problem.f.column_squares(h).unwrap_or_else(one_by_one))
    }

    fn around(problem: &Problem<'_>, h: &[f64], mut diagonal: Vec<f64>) -> Self {
        let f = problem.f;
        f.add_ridge(&SparseVec::full(&vec![1.0; diagonal.len()]), &mut diagonal);
        let grouped = (0..problem.atoms.len()).any(|atom| problem.atoms.members(atom).len() > 1);
        let blocks = grouped.then(|| Blocks::of(problem, h, &diagonal));
        let rounding = if f.loss().is_quadratic() { ROUNDING } else { ROUNDING_OF_NEWTON };
        let floor = diagonal.iter().map(|s| DEPENDENT * s).collect();
        Self { diagonal, floor, blocks, least: rounding * problem.scale() }
    }

    /// A gain up to here is rounding.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// How much f falls by each atom, where g = ∇f at the model; −∞ for what cannot come.
    pub fn gains(&self, problem: &Problem<'_>, g: &[f64], model: &Model) -> Vec<f64> {
        let (atoms, held) = (&problem.atoms, model.held(problem));
        let free = |j: &usize| !held[*j] && self.diagonal[*j] > self.floor[*j];
        let gain = |atom: usize| match atoms.members(atom) {
            [] => f64::NEG_INFINITY,
            [j] if free(j) => 0.5 * g[*j] * g[*j] / self.diagonal[*j],
            [_] => f64::NEG_INFINITY,
            members => {
                let places: Vec<usize> = (0..members.len()).filter(|&p| free(&members[p])).collect();
                self.group_gain(atom, members, &places, g)
            }
        };
        (0..atoms.len()).into_par_iter().with_min_len(TASK).map(gain).collect()
    }

    /// ½·c_Jᵀ·R_J⁻¹·c_J over the members at these places.
    fn group_gain(&self, atom: usize, members: &[usize], places: &[usize], g: &[f64]) -> f64 {
        if places.is_empty() {
            return f64::NEG_INFINITY;
        }
        let slopes: Vec<f64> = places.iter().map(|&p| g[members[p]]).collect();
        let Some(blocks) = &self.blocks else {
            return places.iter().map(|&p| 0.5 * g[members[p]].powi(2) / self.diagonal[members[p]]).sum();
        };
        let block = blocks.of_atom(atom);
        let schur = Matrix::from_fn(places.len(), places.len(), |a, b| block[places[b] * members.len() + places[a]]);
        0.5 * dot(&slopes, &solve_symmetric(&schur, &slopes))
    }

    /// A direction q with the products p = Φᵀq came (sign 1) or went (−1): every Schur complement loses or wins its
    /// share. O(n), for groups O(Σ|J|²).
    pub fn update(&mut self, atoms: &Atoms, p: &[f64], sign: f64) {
        for (s, p) in self.diagonal.iter_mut().zip(p) {
            *s = (*s - sign * p * p).max(0.0);
        }
        let Some(blocks) = &mut self.blocks else { return };
        for atom in 0..atoms.len() {
            let members = atoms.members(atom);
            let block = &mut blocks.values[blocks.starts[atom]..blocks.starts[atom + 1]];
            for (column, &j) in block.chunks_mut(members.len().max(1)).zip(members) {
                column.iter_mut().zip(members).for_each(|(r, &i)| *r -= sign * p[j] * p[i]);
            }
        }
    }
}

impl Blocks {
    /// Each column of a group of several is read once. O(m·Σ|J|²).
    fn of(problem: &Problem<'_>, h: &[f64], diagonal: &[f64]) -> Self {
        let one = |atom: usize| {
            let members = problem.atoms.members(atom);
            if members.len() < 2 {
                return Vec::new();
            }
            let columns: Vec<Vec<f64>> = members.iter().map(|&j| weighted_column(problem, h, j)).collect();
            let entry = |a: usize, b: usize| if a == b { diagonal[members[a]] } else { dot(&columns[a], &columns[b]) };
            Matrix::from_fn(members.len(), members.len(), entry).data().to_vec()
        };
        let blocks: Vec<Vec<f64>> = (0..problem.atoms.len()).into_par_iter().map(one).collect();
        let mut starts = vec![0];
        starts.extend(blocks.iter().scan(0, |end, block| {
            *end += block.len();
            Some(*end)
        }));
        Self { starts, values: blocks.concat() }
    }

    fn of_atom(&self, atom: usize) -> &[f64] {
        &self.values[self.starts[atom]..self.starts[atom + 1]]
    }
}

/// √h·φ_j.
fn weighted_column(problem: &Problem<'_>, h: &[f64], j: usize) -> Vec<f64> {
    let unit = IndexSet::new(problem.f.domain(), vec![j]).basis(0);
    problem.f.at(unit).image().iter().zip(h).map(|(a, h)| a * h.sqrt()).collect()
}
