//! A design whose blocks live with workers: other processes, other machines.
//!
//! The driver owns the method and its state; workers hold ordinary designs and multiply. What a pass needs goes out as one
//! message for each range of rows, and what the blocks reply is put together, or added up, by the numbers of the blocks: the
//! bits do not depend on how many workers there are or who answers first. Columns of the model, and of what may come into
//! it, are fetched once and kept, so that refits and exchanges ask nobody.

mod grid;
mod messages;
mod near;
mod tall;
mod worker;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use grid::Grid;
pub use tall::Condensed;
pub use worker::{Blocks, Worker};

use self::messages::{Failure, First, Numbers, Read, Reply, Request, decoded, encoded};
use self::near::{Column, Near};
use super::dense::gathered_products;
use super::first_read::Known;
use super::{ColumnMoments, ColumnSize, FirstRead, LinearOperator, Moments, Parts, SampledRows, is_its_own_base};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::space::{IndexSet, SparseVec};

/// What carries messages to the workers and their replies back: a cluster, processes, threads.
pub trait Workers: Send + Sync {
    /// One round trip. `tasks` are pairs of a block and the place of its message in `messages`; the replies, of
    /// [`Worker::reply`], come in the order of the tasks. `what` is asked is a word for people, but for [`READ`]: where a
    /// worker is lost, its blocks are given to others, who are told the last message of this kind before they are asked.
    ///
    /// # Errors
    /// When a block can no longer be had.
    fn ask(&self, what: &str, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Vec<u8>>, Error>;
}

/// What [`Workers::ask`] calls the message with which a worker reads a block.
pub const READ: &str = "read";

/// A design in blocks that live with workers.
///
/// A round trip that fails makes this and all later results NaN, which ends a fit; who carries the messages knows why.
#[derive(Clone)]
pub struct Distributed(Arc<Inner>);

struct Inner {
    grid: Grid,
    workers: Arc<dyn Workers>,
    has_failed: AtomicBool,
    rounding: f64,
    sampled: Option<SampledRows>,
    extremes: Vec<ColumnSize>,
    known: Option<Known>,
    near: Near,
}

impl fmt::Debug for Distributed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Distributed({}x{}, {} blocks)", self.0.grid.n_rows(), self.0.grid.n_columns(), self.0.grid.count())
    }
}

impl Distributed {
    /// A design of these blocks, each of which is read by its worker: for what is not finite, and with a [`FirstRead`] for
    /// what the fit asks first. One round trip.
    ///
    /// # Errors
    /// When the workers fail, a block has another shape than the grid says, or holds what is not finite.
    pub fn new(grid: Grid, workers: Arc<dyn Workers>, first: Option<&FirstRead>) -> Result<Self, Error> {
        if let Some(first) = first {
            let why = "one value for each row of the design";
            crate::error::check_length("target", first.rows(), grid.n_rows(), why)?;
        }
        let mut inner = Inner::unread(grid, workers);
        let columns = inner.grid.n_columns();
        let replies = inner.ask_rows(|rows| Request::Read(first.map(|first| First::of(first, rows, columns))))?;
        let mut read = Vec::with_capacity(replies.len());
        for (block, reply) in replies.into_iter().enumerate() {
            let Reply::Read(one) = reply else { return Err(unexpected()) };
            let (rows, columns) = inner.grid.ranges(block);
            if (one.rows, one.columns) != (rows.len(), columns.len()) {
                let (found, needed) = ((one.rows, one.columns), (rows.len(), columns.len()));
                let message = format!(
                    "{} has {} rows and {} columns; {} and {} are needed",
                    inner.grid.describe(block),
                    found.0,
                    found.1,
                    needed.0,
                    needed.1
                );
                return Err(Error::Workers { message });
            }
            read.push(one);
        }
        inner.rounding = read.iter().fold(f64::EPSILON, |most, one| most.max(one.rounding));
        let sampled = read.first().and_then(|one| one.sampled).filter(|_| inner.grid.row_ranges().len() == 1);
        inner.sampled = sampled.filter(|_| read.iter().all(|one| one.sampled == sampled));
        inner.extremes = inner.extremes_of(&read)?;
        inner.known = first.and_then(|first| inner.known_of(first, &mut read));
        Ok(Self(Arc::new(inner)))
    }

    /// How it is cut into blocks.
    pub fn grid(&self) -> &Grid {
        &self.0.grid
    }

    /// The largest magnitude in each column.
    pub(super) fn sizes(&self) -> Vec<f64> {
        self.0.sizes().unwrap_or_else(|_| vec![f64::NAN; self.domain()])
    }

    /// The products of listed columns with residuals.
    fn on_listed(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<Vec<f64>> {
        self.0.asked(vec![vec![f64::NAN; t.indices().len()]; rs.len()], |inner| {
            let mut all = vec![vec![0.0; t.indices().len()]; rs.len()];
            let split = inner.grid.split(t.indices());
            let request = |rows: Range<usize>, across: usize| {
                let (_, which) = &split[across];
                (!which.is_empty()).then(|| Request::AdjointOn(parts_of(rs, rows), which.clone()))
            };
            for ([_, across], vectors) in inner.ask_blocks(request)? {
                let (places, _) = &split[across];
                for (all, vector) in all.iter_mut().zip(vectors) {
                    add(&mut all[places.clone()], &vector.0)?;
                }
            }
            Ok(all)
        })
    }
}

/// r on some rows, for each r.
fn parts_of(rs: &[&[f64]], rows: Range<usize>) -> Vec<Numbers> {
    rs.iter().map(|r| Numbers(r[rows.clone()].to_vec())).collect()
}

fn add(out: &mut [f64], more: &[f64]) -> Result<(), Error> {
    if out.len() != more.len() {
        return Err(unexpected());
    }
    out.iter_mut().zip(more).for_each(|(out, more)| *out += more);
    Ok(())
}

/// The place of a block, and vectors that it replied.
type VectorsOf = ([usize; 2], Vec<Numbers>);

fn unexpected() -> Error {
    let message = "a worker's reply could not be read; driver and workers need the same version of katoms".into();
    Error::Workers { message }
}

impl Inner {
    fn unread(grid: Grid, workers: Arc<dyn Workers>) -> Self {
        Self {
            grid,
            workers,
            has_failed: AtomicBool::new(false),
            rounding: f64::EPSILON,
            sampled: None,
            extremes: Vec::new(),
            known: None,
            near: Near::default(),
        }
    }

    /// What a round trip gives, or `without` where one has failed.
    fn asked<T>(&self, without: T, call: impl FnOnce(&Self) -> Result<T, Error>) -> T {
        if self.has_failed.load(Ordering::SeqCst) {
            return without;
        }
        call(self).unwrap_or_else(|_| {
            self.has_failed.store(true, Ordering::SeqCst);
            without
        })
    }

    fn ask(&self, what: &str, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Reply>, Error> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let replies = self.workers.ask(what, messages, tasks)?;
        if replies.len() != tasks.len() {
            return Err(unexpected());
        }
        let read = |(bytes, &(block, _)): (Vec<u8>, &(usize, usize))| match decoded(&bytes) {
            None => Err(unexpected()),
            Some(Reply::Failed(failure)) => Err(self.failed(block, failure)),
            Some(reply) => Ok(reply),
        };
        replies.into_iter().zip(tasks).map(read).collect()
    }

    fn failed(&self, block: usize, failure: Failure) -> Error {
        let (rows, columns) = self.grid.ranges(block);
        match failure {
            Failure::NotFinite { row, column, value } => {
                let (row, column) = (rows.start + row, columns.start + column);
                Error::NotFinite { what: "design matrix", row, column, value }
            }
            Failure::Other(message) => Error::Workers { message: format!("{}: {message}", self.grid.describe(block)) },
        }
    }

    /// Asks every block; blocks on the same rows are asked the same. The replies by the number of the block.
    fn ask_rows(&self, request: impl Fn(Range<usize>) -> Request) -> Result<Vec<Reply>, Error> {
        let requests: Vec<Request> = self.grid.row_ranges().map(request).collect();
        let messages: Vec<Vec<u8>> = requests.iter().map(encoded).collect();
        let tasks: Vec<(usize, usize)> = self.grid.blocks().map(|(block, [down, _])| (block, down)).collect();
        self.ask(requests.first().map_or("", Request::name), &messages, &tasks)
    }

    /// The same for vectors: of each block, its place and the vectors.
    fn vectors_of_rows(&self, request: impl Fn(Range<usize>) -> Request) -> Result<Vec<VectorsOf>, Error> {
        let replies = self.ask_rows(request)?;
        self.grid.blocks().zip(replies).map(|((_, place), reply)| Ok((place, vectors(reply)?))).collect()
    }

    /// Asks some blocks, each its own: by its rows, and its place among the ranges of columns.
    fn ask_blocks(&self, request: impl Fn(Range<usize>, usize) -> Option<Request>) -> Result<Vec<VectorsOf>, Error> {
        let asked = self.asked_blocks(request)?;
        asked.into_iter().map(|(place, reply)| Ok((place, vectors(reply)?))).collect()
    }

    fn asked_blocks(
        &self,
        request: impl Fn(Range<usize>, usize) -> Option<Request>,
    ) -> Result<Vec<([usize; 2], Reply)>, Error> {
        let (mut messages, mut tasks, mut places, mut what) = (Vec::new(), Vec::new(), Vec::new(), "");
        for (block, place) in self.grid.blocks() {
            if let Some(request) = request(self.grid.ranges(block).0, place[1]) {
                what = request.name();
                tasks.push((block, messages.len()));
                messages.push(encoded(&request));
                places.push(place);
            }
        }
        Ok(places.into_iter().zip(self.ask(what, &messages, &tasks)?).collect())
    }

    /// Vectors over all columns: those of the blocks side by side, added up over the ranges of rows.
    fn over_columns(&self, count: usize, request: impl Fn(Range<usize>) -> Request) -> Result<Vec<Vec<f64>>, Error> {
        let ranges: Vec<Range<usize>> = self.grid.column_ranges().collect();
        let mut all = vec![vec![0.0; self.grid.n_columns()]; count];
        for ([down, across], vectors) in self.vectors_of_rows(request)? {
            if vectors.len() != count {
                return Err(unexpected());
            }
            for (all, vector) in all.iter_mut().zip(vectors) {
                let out = &mut all[ranges[across].clone()];
                if down == 0 && out.len() == vector.0.len() {
                    out.copy_from_slice(&vector.0);
                } else {
                    add(out, &vector.0)?;
                }
            }
        }
        Ok(all)
    }

    /// The moments of all rows from those of ranges of rows that weigh so much (Chan, Golub and LeVeque 1983).
    fn joined_moments(&self, weights: &[f64], parts: Vec<([usize; 2], Moments)>) -> Result<Moments, Error> {
        let totals: Vec<f64> = self.grid.row_ranges().map(|rows| weights[rows].iter().sum()).collect();
        let (total, columns) = (totals.iter().sum::<f64>(), self.grid.n_columns());
        let ranges: Vec<Range<usize>> = self.grid.column_ranges().collect();
        if parts.iter().any(|([_, across], part)| {
            part.means.len() != ranges[*across].len() || part.variances.len() != ranges[*across].len()
        }) {
            return Err(unexpected());
        }
        let mut all = Moments { means: vec![0.0; columns], variances: vec![0.0; columns] };
        if totals.len() == 1 {
            for ([_, across], part) in parts {
                all.means[ranges[across].clone()].copy_from_slice(&part.means);
                all.variances[ranges[across].clone()].copy_from_slice(&part.variances);
            }
            return Ok(all);
        }
        // Rows without a weight have no moments.
        let weighed = |down: usize| totals[down] > 0.0;
        for ([down, across], part) in parts.iter().filter(|([down, _], _)| weighed(*down)) {
            let means = all.means[ranges[*across].clone()].iter_mut();
            means.zip(&part.means).for_each(|(mean, own)| *mean += totals[*down] / total * own);
        }
        for ([down, across], part) in parts.iter().filter(|([down, _], _)| weighed(*down)) {
            for (at, j) in ranges[*across].clone().enumerate() {
                let away = part.means[at] - all.means[j];
                all.variances[j] += totals[*down] / total * (part.variances[at] + away * away);
            }
        }
        Ok(all)
    }

    fn known_of(&self, first: &FirstRead, read: &mut [Read]) -> Option<Known> {
        let mut pass = vec![0.0; self.grid.n_columns()];
        let (mut parts, ranges) = (Vec::new(), self.grid.column_ranges().collect::<Vec<_>>());
        for ((_, place), read) in self.grid.blocks().zip(read) {
            let (moments, own) = read.take_answers()?;
            add(&mut pass[ranges[place[1]].clone()], &own).ok()?;
            parts.push((place, moments));
        }
        let moments = self.joined_moments(first.vectors().0, parts).ok()?;
        let known = Known::told(first, moments, pass);
        known.is_finite().then_some(known)
    }

    /// Columns that are not moderate. Where rows are cut, one that is too small on some of them may not be on others.
    fn extremes_of(&self, read: &[Read]) -> Result<Vec<ColumnSize>, Error> {
        let ranges: Vec<Range<usize>> = self.grid.column_ranges().collect();
        let own = |((_, [_, across]), read): ((usize, [usize; 2]), &Read)| {
            let first = ranges[across].start;
            read.extremes.iter().map(|e| ColumnSize { column: first + e.column, ..*e }).collect::<Vec<_>>()
        };
        let mut extremes: Vec<ColumnSize> = self.grid.blocks().zip(read).flat_map(own).collect();
        if !extremes.is_empty() && self.grid.row_ranges().len() > 1 {
            let sizes = self.sizes()?;
            extremes.iter_mut().for_each(|extreme| extreme.size = sizes[extreme.column]);
            extremes.retain(|extreme| !extreme.is_moderate());
            extremes.sort_by_key(|extreme| extreme.column);
            extremes.dedup();
        }
        Ok(extremes)
    }

    fn sizes(&self) -> Result<Vec<f64>, Error> {
        let ranges: Vec<Range<usize>> = self.grid.column_ranges().collect();
        let mut sizes = vec![0.0_f64; self.grid.n_columns()];
        for ([_, across], own) in self.vectors_of_rows(|_| Request::Sizes)? {
            let own = own.first().ok_or_else(unexpected)?;
            sizes[ranges[across].clone()].iter_mut().zip(&own.0).for_each(|(size, own)| *size = size.max(*own));
        }
        Ok(sizes)
    }

    /// Brings columns near, all that are missing in one round trip.
    fn fetch(&self, which: &[usize]) -> Result<(), Error> {
        let missing = self.near.missing(which);
        if missing.is_empty() {
            return Ok(());
        }
        let split = self.grid.split(&missing);
        let request = |_: Range<usize>, across: usize| {
            let (_, which) = &split[across];
            (!which.is_empty()).then(|| Request::Columns(which.clone()))
        };
        let replies = self.asked_blocks(request)?;
        let rows = self.grid.n_rows();
        let is_single = replies.iter().all(|(_, reply)| matches!(reply, Reply::Singles(_)));
        let mut singles = vec![Vec::new(); if is_single { missing.len() } else { 0 }];
        let mut doubles = vec![Vec::new(); if is_single { 0 } else { missing.len() }];
        // The ranges of rows come in order.
        for ([down, across], reply) in replies {
            let (places, length) =
                (split[across].0.clone(), self.grid.row_ranges().nth(down).map_or(0, |rows| rows.len()));
            match reply {
                Reply::Singles(values) if is_single => {
                    let parts = singles[places].iter_mut().zip(values.0.chunks(length));
                    parts.for_each(|(column, part)| column.extend_from_slice(part));
                }
                Reply::Singles(values) => {
                    let parts = doubles[places].iter_mut().zip(values.0.chunks(length));
                    parts.for_each(|(column, part)| column.extend(part.iter().map(|&v| f64::from(v))));
                }
                reply => {
                    let values = vectors(reply)?.pop().ok_or_else(unexpected)?;
                    let parts = doubles[places].iter_mut().zip(values.0.chunks(length));
                    parts.for_each(|(column, part)| column.extend_from_slice(part));
                }
            }
        }
        let columns: Vec<Column> = match is_single {
            true => singles.into_iter().map(Column::Single).collect(),
            false => doubles.into_iter().map(Column::Double).collect(),
        };
        let whole = columns.iter().all(|column| match column {
            Column::Single(values) => values.len() == rows,
            Column::Double(values) => values.len() == rows,
        });
        if !whole {
            return Err(unexpected());
        }
        self.near.keep(missing.into_iter().zip(columns).collect(), which);
        Ok(())
    }
}

fn vectors(reply: Reply) -> Result<Vec<Numbers>, Error> {
    match reply {
        Reply::Vectors(vectors) => Ok(vectors),
        _ => Err(unexpected()),
    }
}

impl LinearOperator for Distributed {
    type Point = SparseVec;
    type Covector = Vec<f64>;
    is_its_own_base!();

    fn domain(&self) -> usize {
        self.0.grid.n_columns()
    }
    fn n_outputs(&self) -> usize {
        self.0.grid.n_rows()
    }
    fn new_covector(&self) -> Vec<f64> {
        vec![0.0; self.domain()]
    }
    /// From the columns that are near, or where one is not, by one round trip.
    fn apply(&self, x: &SparseVec, out: &mut [f64]) {
        if let Some(columns) = self.0.near.all(x.indices()) {
            return near::add_up(&x.values().iter().copied().zip(columns).collect::<Vec<_>>(), out);
        }
        let image = self.0.asked(vec![f64::NAN; out.len()], |inner| {
            let split = inner.grid.split(x.indices());
            let request = |_: Range<usize>, across: usize| {
                let (places, which) = &split[across];
                let values = || Numbers(x.values()[places.clone()].to_vec());
                (!which.is_empty()).then(|| Request::Apply(which.clone(), values()))
            };
            let (mut image, rows) = (vec![0.0; inner.grid.n_rows()], inner.grid.row_ranges().collect::<Vec<_>>());
            for ([down, _], own) in inner.ask_blocks(request)? {
                add(&mut image[rows[down].clone()], &own.first().ok_or_else(unexpected)?.0)?;
            }
            Ok(image)
        });
        out.copy_from_slice(&image);
    }
    fn fetch(&self, t: &IndexSet) {
        self.0.asked((), |inner| inner.fetch(t.indices()));
    }
    fn adjoint(&self, r: &[f64], out: &mut Vec<f64>) {
        if let Some(pass) = self.0.known.as_ref().and_then(|known| known.pass(r)) {
            out.clear();
            return out.extend_from_slice(pass);
        }
        self.adjoint_block(&[r], std::slice::from_mut(out));
    }
    fn adjoint_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        let none = || vec![vec![f64::NAN; self.domain()]; rs.len()];
        let all =
            self.0.asked(none(), |inner| inner.over_columns(rs.len(), |rows| Request::Adjoint(parts_of(rs, rows))));
        out.iter_mut().zip(all).for_each(|(out, g)| *out = g);
    }
    /// From the columns that are near; for the others one round trip.
    fn adjoint_on(&self, r: &[f64], t: &IndexSet) -> SparseVec {
        let mut values: Vec<f64> =
            t.indices().iter().map(|&j| self.0.near.get(j).map_or(f64::NAN, |column| column.dot(r))).collect();
        let missing = self.0.near.missing(t.indices());
        if !missing.is_empty() {
            let far = IndexSet::new(t.dim(), missing);
            let products = self.on_listed(&[r], &far).swap_remove(0);
            for (j, product) in far.indices().iter().zip(products) {
                if let Ok(place) = t.indices().binary_search(j) {
                    values[place] = product;
                }
            }
        }
        SparseVec::sorted(t.dim(), t.indices().to_vec(), values)
    }
    fn adjoint_block_on(&self, rs: &[&[f64]], t: &IndexSet) -> Vec<SparseVec> {
        let near = |some: &[usize]| {
            let mut copies = vec![0.0; self.n_outputs() * some.len()];
            for (j, copy) in some.iter().zip(copies.chunks_mut(self.n_outputs().max(1))) {
                if let Some(column) = self.0.near.get(*j) {
                    near::add_up(&[(1.0, column)], copy);
                }
            }
            Matrix::from_columns(self.n_outputs(), some.len(), copies)
        };
        if self.0.near.all(t.indices()).is_some() {
            return gathered_products(rs, t, self.n_outputs(), &near);
        }
        let all = self.on_listed(rs, t);
        all.into_iter().map(|values| SparseVec::sorted(t.dim(), t.indices().to_vec(), values)).collect()
    }
    fn adjoint_parts(&self, parts: &Parts, rs: &[&[f64]], out: &mut [Vec<Vec<f64>>]) {
        let none = vec![vec![vec![f64::NAN; self.domain()]; parts.count()]; rs.len()];
        let all = self.0.asked(none, |inner| {
            let mut all = vec![vec![vec![0.0; inner.grid.n_columns()]; parts.count()]; rs.len()];
            let (ranges, rows) =
                (inner.grid.column_ranges().collect::<Vec<_>>(), inner.grid.row_ranges().collect::<Vec<_>>());
            let labels = |rows: Range<usize>| parts.labels()[rows].to_vec();
            let request =
                |rows: Range<usize>| Request::AdjointParts(parts_of(rs, rows.clone()), labels(rows), parts.count());
            for ([down, across], vectors) in inner.vectors_of_rows(request)? {
                let present = worker::present(&labels(rows[down].clone()), parts.count());
                let mut vectors = vectors.into_iter();
                for all in &mut all {
                    for &part in &present {
                        let own = vectors.next().ok_or_else(unexpected)?;
                        add(&mut all[part][ranges[across].clone()], &own.0)?;
                    }
                }
            }
            Ok(all)
        });
        out.iter_mut().zip(all).for_each(|(out, all)| *out = all);
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Option<Vec<Vec<f64>>> {
        if let Some(squared_norms) = self.0.known.as_ref().and_then(|known| known.squared_norms(weights, centres)) {
            return Some(squared_norms);
        }
        let none = vec![vec![f64::NAN; self.domain()]; weights.len()];
        Some(self.0.asked(none, |inner| {
            // Centres differ from block to block, weights from range to range of the rows.
            let ranges: Vec<Range<usize>> = inner.grid.column_ranges().collect();
            let request = |rows: Range<usize>, across: usize| {
                let centres = centres.map(|centres| Numbers(centres[ranges[across].clone()].to_vec()));
                Some(Request::SquaredNorms(parts_of(weights, rows), centres))
            };
            let mut all = vec![vec![0.0; inner.grid.n_columns()]; weights.len()];
            for ([_, across], own) in inner.ask_blocks(request)? {
                for (all, own) in all.iter_mut().zip(own) {
                    add(&mut all[ranges[across].clone()], &own.0)?;
                }
            }
            Ok(all)
        }))
    }
    fn knows_squared_norms(&self, weights: &[f64]) -> bool {
        self.0.known.as_ref().is_some_and(|known| known.moments(weights).is_some())
    }
    fn apply_covector(&self, g: &Vec<f64>, out: &mut [f64]) {
        self.apply(&SparseVec::full(g), out);
    }
    fn sampled_rows(&self) -> Option<SampledRows> {
        self.0.sampled
    }
    fn adjoint_sampled(&self, r: &[f64], out: &mut Vec<f64>) {
        self.adjoint_sampled_block(&[r], std::slice::from_mut(out));
    }
    fn adjoint_sampled_block(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) {
        let none = vec![vec![f64::NAN; self.domain()]; rs.len()];
        let all = self
            .0
            .asked(none, |inner| inner.over_columns(rs.len(), |rows| Request::AdjointSampled(parts_of(rs, rows))));
        out.iter_mut().zip(all).for_each(|(out, g)| *out = g);
    }
    fn rounding(&self) -> f64 {
        self.0.rounding
    }
    fn extremes(&self) -> &[ColumnSize] {
        &self.0.extremes
    }
}

impl ColumnMoments for Distributed {
    fn moments(&self, weights: &[f64]) -> Moments {
        if let Some(moments) = self.0.known.as_ref().and_then(|known| known.moments(weights)) {
            return moments.clone();
        }
        let none = vec![f64::NAN; self.domain()];
        self.0.asked(Moments { means: none.clone(), variances: none }, |inner| {
            let parts = inner.vectors_of_rows(|rows| Request::Moments(Numbers(weights[rows].to_vec())))?;
            let moments = |(place, mut own): ([usize; 2], Vec<Numbers>)| match (own.pop(), own.pop()) {
                (Some(variances), Some(means)) => Ok((place, Moments { means: means.0, variances: variances.0 })),
                _ => Err(unexpected()),
            };
            let parts = parts.into_iter().map(moments).collect::<Result<Vec<_>, Error>>()?;
            inner.joined_moments(weights, parts)
        })
    }
}

#[cfg(test)]
mod tests;
