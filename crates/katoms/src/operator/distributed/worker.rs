//! The side of a worker: ordinary designs, which multiply.

use std::collections::BTreeMap;

use super::messages::{Failure, Numbers, Read, Reply, Request, decoded, encoded};
use super::tall;
use crate::error::Error;
use crate::linalg::parallel;
use crate::operator::{AnyDesign, ColumnMoments, FirstRead, LinearOperator, Parts};
use crate::space::{IndexSet, SparseVec};

/// Where a worker has the numbers of its blocks.
pub trait Blocks: Sync {
    /// The design of a block. Reads all of it, to find what is not finite and for what a fit asks first.
    ///
    /// # Errors
    /// When there is no such block here, or it holds what is no number.
    fn design(&self, block: usize, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error>;
}

/// Answers for the blocks that it holds. It knows nothing of other workers.
pub struct Worker<'a> {
    blocks: &'a dyn Blocks,
    designs: BTreeMap<usize, AnyDesign<'a>>,
}

impl<'a> Worker<'a> {
    /// For these blocks, none of which has been read yet.
    pub fn new(blocks: &'a dyn Blocks) -> Self {
        Self { blocks, designs: BTreeMap::new() }
    }

    /// The replies to messages of [`Workers::ask`](super::Workers::ask): one for each task, in order.
    pub fn reply<M: AsRef<[u8]>>(&mut self, messages: &[M], tasks: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let reply = |&(block, message): &(usize, usize)| {
            let request = messages.get(message).and_then(|message| decoded(message.as_ref()));
            let reply = match request {
                Some(request) => self.answer(block, request),
                None => Err(Failure::Other(UNREADABLE.into())),
            };
            encoded(&reply.unwrap_or_else(Reply::Failed))
        };
        tasks.iter().map(reply).collect()
    }

    fn answer(&mut self, block: usize, request: Request) -> Result<Reply, Failure> {
        if let Request::Read(first) = request {
            let first = first.map(super::messages::First::into_first_read);
            // What was read for a fit answers also where nothing is asked for.
            if first.is_some() || !self.designs.contains_key(&block) {
                self.designs.insert(block, self.blocks.design(block, first.as_ref())?);
            }
            let design = &self.designs[&block];
            return Ok(Reply::Read(read(design, first.as_ref())));
        }
        if matches!(request, Request::CrossProducts(..)) && !self.designs.contains_key(&block) {
            self.designs.insert(block, self.blocks.design(block, None)?);
        }
        let missing = || Failure::Other(format!("block {block} was not read by this worker"));
        multiplied(self.designs.get(&block).ok_or_else(missing)?, request)
    }
}

const UNREADABLE: &str = "a message could not be read; driver and workers need the same version of katoms";

fn read(design: &AnyDesign<'_>, first: Option<&FirstRead>) -> Read {
    let answers = first.map(|first| {
        let (weights, residual) = first.vectors();
        let (moments, mut pass) = (design.moments(weights), design.new_covector());
        design.adjoint(residual, &mut pass);
        [Numbers(moments.means), Numbers(moments.variances), Numbers(pass)]
    });
    Read {
        rows: design.n_outputs(),
        columns: design.domain(),
        rounding: design.rounding(),
        sampled: design.sampled_rows(),
        extremes: design.extremes().to_vec(),
        answers,
    }
}

fn multiplied(design: &AnyDesign<'_>, request: Request) -> Result<Reply, Failure> {
    let (rows, columns) = (design.n_outputs(), design.domain());
    let fit = "a message does not fit its block";
    let fits = |vectors: &[Numbers]| {
        let all = vectors.iter().all(|vector| vector.0.len() == rows);
        if all { Ok(()) } else { Err(Failure::Other(fit.into())) }
    };
    let listed = |which: Vec<usize>| {
        let all = which.iter().all(|&j| j < columns) && which.is_sorted();
        if all { Ok(IndexSet::new(columns, which)) } else { Err(Failure::Other(fit.into())) }
    };
    let vectors = |all: Vec<Vec<f64>>| Ok(Reply::Vectors(all.into_iter().map(Numbers).collect()));
    match request {
        Request::Read(_) => Err(Failure::Other(fit.into())),
        Request::Adjoint(residuals) => {
            fits(&residuals)?;
            let mut out = vec![design.new_covector(); residuals.len()];
            // A single residual has the first read's answer, where it was asked for.
            match (&residuals[..], &mut out[..]) {
                ([residual], [out]) => design.adjoint(&residual.0, out),
                _ => design.adjoint_block(&views(&residuals), &mut out),
            }
            vectors(out)
        }
        Request::AdjointOn(residuals, which) => {
            fits(&residuals)?;
            let which = listed(which)?;
            let products = match &residuals[..] {
                [residual] => vec![design.adjoint_on(&residual.0, &which)],
                _ => design.adjoint_block_on(&views(&residuals), &which),
            };
            vectors(products.iter().map(|product| product.values().to_vec()).collect())
        }
        Request::AdjointSampled(residuals) => {
            fits(&residuals)?;
            let mut out = vec![design.new_covector(); residuals.len()];
            design.adjoint_sampled_block(&views(&residuals), &mut out);
            vectors(out)
        }
        Request::AdjointParts(residuals, labels, count) => {
            fits(&residuals)?;
            let present = present(&labels, count);
            let places: Vec<usize> = labels.iter().map(|label| present.partition_point(|p| p < label)).collect();
            let parts = Parts::new(places, present.len())?;
            let mut out = vec![Vec::new(); residuals.len()];
            design.adjoint_parts(&parts, &views(&residuals), &mut out);
            vectors(out.into_iter().flatten().collect())
        }
        Request::Apply(which, values) => {
            let (which, mut out) = (listed(which)?, vec![0.0; rows]);
            if which.indices().len() != values.0.len() {
                return Err(Failure::Other(fit.into()));
            }
            design.apply(&SparseVec::sorted(columns, which.indices().to_vec(), values.0), &mut out);
            vectors(vec![out])
        }
        Request::Columns(which) => {
            let which = listed(which)?;
            let column = |at: usize| {
                let mut column = vec![0.0; rows];
                design.apply(&SparseVec::sorted(columns, vec![which.indices()[at]], vec![1.0]), &mut column);
                column
            };
            let copies = parallel::map(which.indices().len(), &column);
            if is_single(design) {
                return Ok(Reply::Singles(Numbers(copies.iter().flatten().map(|&v| v as f32).collect())));
            }
            vectors(vec![copies.concat()])
        }
        Request::Moments(weights) => {
            fits(std::slice::from_ref(&weights))?;
            let moments = design.moments(&weights.0);
            vectors(vec![moments.means, moments.variances])
        }
        Request::SquaredNorms(weights, centres) => {
            fits(&weights)?;
            let none = || Failure::Other("the columns of this block cannot be had one by one".into());
            let centres = centres.as_ref().map(|centres| centres.0.as_slice());
            vectors(design.squared_norms(&views(&weights), centres).ok_or_else(none)?)
        }
        Request::CrossProducts(weights, target, labels, count) => {
            fits(&[weights.clone(), target.clone()])?;
            if labels.len() != rows {
                return Err(Failure::Other(fit.into()));
            }
            let sums = tall::sums(design, &weights.0, &target.0, &labels, &present(&labels, count));
            Ok(Reply::Vectors(sums.into_iter().map(tall::Sums::into_numbers).collect()))
        }
        Request::Sizes => vectors(vec![design.sizes().unwrap_or_else(|| vec![f64::NAN; columns])]),
    }
}

/// The parts that some rows belong to.
pub(super) fn present(labels: &[usize], count: usize) -> Vec<usize> {
    let mut is_there = vec![false; count];
    labels.iter().for_each(|&label| is_there.get_mut(label).into_iter().for_each(|is_there| *is_there = true));
    (0..count).filter(|&part| is_there[part]).collect()
}

/// Whether single precision holds all digits of the numbers.
fn is_single(design: &AnyDesign<'_>) -> bool {
    matches!(design, AnyDesign::I8(_) | AnyDesign::U8(_) | AnyDesign::F16(_) | AnyDesign::F32(_))
}

fn views(vectors: &[Numbers]) -> Vec<&[f64]> {
    vectors.iter().map(|vector| vector.0.as_slice()).collect()
}
