//! λ·Σ w_G‖x_G‖₂ over disjoint groups: the group Lasso's.
//!
//! Yuan and Lin, "Model selection and estimation in regression with grouped variables" (2006). Their weights √|G|
//! make a group's price follow its size.
//!
//! Groups that overlap: [`LatentCopies`](crate::operator::LatentCopies) gives each group a copy of its
//! coordinates, and the copies are disjoint.

use super::Penalty;
use super::l1::{share_of_price, soft_threshold};
use crate::error::{Error, check_length, check_option, check_values};
use crate::linalg;
use crate::set::{check_members, group_of_each};
use crate::space::{IndexSet, SparseVec};

/// λ·Σ w_G‖x_G‖₂. Weights are √|G| unless given; a weight of 0 sets a group free, and a coordinate in no group is
/// free too, as an intercept should be.
///
/// ```
/// use katoms::penalty::{GroupLasso, Penalty};
/// use katoms::space::SparseVec;
/// let penalty = GroupLasso::new(2.0, 4, vec![vec![0, 2], vec![1]])?.weighted(vec![1.0, 1.0])?;
/// let x = SparseVec::from_dense(&[3.0, 0.0, -4.0, 7.0]);
/// assert_eq!(penalty.value(&x), 10.0);
/// // each group of x − μg goes towards zero by μλ, as a whole; the last coordinate is in none
/// assert_eq!(penalty.step(&x, &vec![0.0, -1.0, 0.0, 0.0], 1.25).to_dense(), [1.5, 0.0, -2.0, 7.0]);
/// assert_eq!(penalty.polar(&vec![3.0, -1.0, 4.0, 0.0]), 2.5);
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLasso {
    lambda: f64,
    members: Vec<Vec<usize>>,
    group_of: Vec<Option<usize>>,
    weights: Vec<f64>,
}

impl GroupLasso {
    /// Groups of coordinates below `dim`, in any order and of any sizes.
    ///
    /// # Errors
    /// When λ is not above 0 and finite, a group is empty, or an index is outside or stands twice.
    pub fn new(lambda: f64, dim: usize, mut members: Vec<Vec<usize>>) -> Result<Self, Error> {
        check_lambda(lambda)?;
        check_members(dim, &mut members)?;
        let group_of = group_of_each(dim, &members)?;
        let weights = members.iter().map(|group| (group.len() as f64).sqrt()).collect();
        Ok(Self { lambda, members, group_of, weights })
    }

    /// λ·w_G for group G; 0 sets it free.
    ///
    /// # Errors
    /// When their number is wrong, or one is negative or not finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self, Error> {
        check_length("group weights", weights.len(), self.members.len(), "one for each group")?;
        let right = "every weight must be finite and at least 0";
        check_values("group weights", &weights, right, |w| w.is_finite() && w >= 0.0)?;
        Ok(Self { weights, ..self })
    }

    /// The same groups and weights with another λ.
    ///
    /// # Errors
    /// When λ is not above 0 and finite.
    pub fn with_lambda(&self, lambda: f64) -> Result<Self, Error> {
        check_lambda(lambda)?;
        Ok(Self { lambda, ..self.clone() })
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The members of each group, rising.
    pub fn members(&self) -> &[Vec<usize>] {
        &self.members
    }

    /// λ·w_G: what ‖x_G‖ costs.
    pub fn price(&self, group: usize) -> f64 {
        self.lambda * self.weights[group]
    }

    /// The group of a coordinate; a free one may have none.
    pub fn group_of(&self, j: usize) -> Option<usize> {
        self.group_of[j]
    }
}

fn check_lambda(lambda: f64) -> Result<(), Error> {
    check_option("lambda", lambda, "it must be finite and above 0", |v| v.is_finite() && v > 0.0)
}

/// v, brought towards zero by t as a whole. A group of one has the bits of the Lasso's.
pub(crate) fn shrink(v: &mut [f64], t: f64) {
    if let [v] = v {
        *v = soft_threshold(*v, t);
        return;
    }
    let length = linalg::norm(v);
    let kept = if length > t { 1.0 - t / length } else { 0.0 };
    v.iter_mut().for_each(|v| *v *= kept);
}

impl Penalty<Vec<f64>> for GroupLasso {
    type Point = SparseVec;

    fn domain(&self) -> usize {
        self.group_of.len()
    }
    fn atoms(&self) -> usize {
        self.members.len()
    }
    /// O(stored entries + groups).
    fn value(&self, x: &SparseVec) -> f64 {
        let mut squares = vec![0.0; self.members.len()];
        for (j, v) in x.entries() {
            if let Some(group) = self.group_of[j] {
                squares[group] += v * v;
            }
        }
        squares.iter().enumerate().map(|(group, square)| self.price(group) * square.sqrt()).sum()
    }
    /// O(n).
    fn step(&self, x: &SparseVec, g: &Vec<f64>, mu: f64) -> SparseVec {
        let mut v: Vec<f64> = g.iter().map(|g| -mu * g).collect();
        x.entries().for_each(|(j, x)| v[j] += x);
        for (group, members) in self.members.iter().enumerate() {
            let mut part: Vec<f64> = members.iter().map(|&j| v[j]).collect();
            shrink(&mut part, mu * self.price(group));
            members.iter().zip(part).for_each(|(&j, part)| v[j] = part);
        }
        SparseVec::from_dense(&v)
    }
    /// max ‖g_G‖/(λw_G). O(n).
    fn polar(&self, g: &Vec<f64>) -> f64 {
        let share = |(group, members): (usize, &Vec<usize>)| {
            let part: Vec<f64> = members.iter().map(|&j| g[j]).collect();
            share_of_price(linalg::norm(&part), self.price(group))
        };
        self.members.iter().enumerate().map(share).fold(0.0, f64::max)
    }
    /// The groups of weight 0, and the coordinates in no group. O(n).
    fn free(&self) -> Option<IndexSet> {
        let is_free = |&j: &usize| self.group_of[j].is_none_or(|group| self.weights[group] == 0.0);
        let free: Vec<usize> = (0..self.domain()).filter(is_free).collect();
        (!free.is_empty()).then(|| IndexSet::new(self.domain(), free))
    }
}
