//! The rows in parts: what the folds of a cross-validation leave out.

use std::borrow::Cow;

use super::LinearOperator;
use crate::error::{Error, check_indices, check_range};

/// A part for every row, and the rows of every part.
///
/// The gradient of a fold is the sum over the parts that it keeps. Therefore one pass by parts,
/// [`LinearOperator::adjoint_parts`], serves all folds at the price of one.
///
/// ```
/// use katoms::operator::Parts;
/// let parts = Parts::new(vec![1, 0, 1, 1], 2)?;
/// assert_eq!((parts.rows(0), parts.rows(1)), (&[1][..], &[0, 2, 3][..]));
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    labels: Vec<usize>,
    order: Vec<usize>,
    starts: Vec<usize>,
}

impl Parts {
    /// Row i belongs to part `labels[i]`, out of `count`.
    ///
    /// # Errors
    /// When there is no row, a label is not below `count`, or a part has no row.
    pub fn new(labels: Vec<usize>, count: usize) -> Result<Self, Error> {
        if labels.is_empty() {
            return Err(Error::Empty { what: "the list of part labels" });
        }
        check_range("the number of parts", count, 1, labels.len())?;
        check_indices("part label", &labels, count)?;
        let mut starts = vec![0; count + 1];
        labels.iter().for_each(|&p| starts[p + 1] += 1);
        if let Some(index) = starts[1..].iter().position(|&rows| rows == 0) {
            let right = "every part needs at least one row";
            return Err(Error::Value { what: "list of the parts' numbers of rows", index, value: 0.0, right });
        }
        (0..count).for_each(|p| starts[p + 1] += starts[p]);
        let (mut next, mut order) = (starts.clone(), vec![0; labels.len()]);
        for (i, &p) in labels.iter().enumerate() {
            order[next[p]] = i;
            next[p] += 1;
        }
        Ok(Self { labels, order, starts })
    }

    /// All rows in one part.
    pub fn whole(rows: usize) -> Self {
        Self { labels: vec![0; rows], order: (0..rows).collect(), starts: vec![0, rows] }
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The part of each row.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The rows of a part, rising.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn rows(&self, part: usize) -> &[usize] {
        &self.order[self.starts[part]..self.starts[part + 1]]
    }

    /// The rows part after part, and where each part starts in them; the end comes last.
    pub(super) fn sorted(&self) -> (&[usize], &[usize]) {
        (&self.order, &self.starts)
    }

    /// The sum of r over a part, in the order of the rows.
    pub(super) fn total(&self, part: usize, r: &[f64]) -> f64 {
        self.rows(part).iter().map(|&i| r[i]).sum()
    }

    /// r on the rows of a part, zero elsewhere.
    fn masked<'r>(&self, part: usize, r: &'r [f64]) -> Cow<'r, [f64]> {
        if self.count() == 1 {
            return Cow::Borrowed(r);
        }
        let mut all = vec![0.0; r.len()];
        self.rows(part).iter().for_each(|&i| all[i] = r[i]);
        Cow::Owned(all)
    }
}

/// [`LinearOperator::adjoint_parts`] as one block of masked residuals: right for every operator,
/// and as much work as parts times residuals.
pub(super) fn adjoint_masked<A>(a: &A, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<A::Covector>])
where
    A: LinearOperator + ?Sized,
{
    let count = parts.count();
    let masked: Vec<Cow<'_, [f64]>> = rs.iter().flat_map(|r| (0..count).map(|p| parts.masked(p, r))).collect();
    let masked: Vec<&[f64]> = masked.iter().map(AsRef::as_ref).collect();
    let mut flat: Vec<A::Covector> = Vec::with_capacity(masked.len());
    for out in out.iter_mut() {
        out.resize_with(count, || a.new_covector());
        flat.append(out);
    }
    a.adjoint_block(&masked, &mut flat);
    let mut flat = flat.into_iter();
    out.iter_mut().for_each(|out| out.extend(flat.by_ref().take(count)));
}

/// Room for `columns` numbers of each part and residual: all residuals of a part, then the next part.
pub(super) fn part_major<'o>(out: &'o mut [Vec<Vec<f64>>], count: usize, columns: usize) -> Vec<&'o mut [f64]> {
    let room = |out: &'o mut Vec<Vec<f64>>| {
        out.resize_with(count, Vec::new);
        out.iter_mut().map(|g| {
            g.resize(columns, 0.0);
            g.as_mut_slice()
        })
    };
    let mut residuals: Vec<_> = out.iter_mut().map(room).collect();
    (0..count).flat_map(|_| residuals.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()).collect()
}
