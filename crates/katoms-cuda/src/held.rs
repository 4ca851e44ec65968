//! A design in the memory of a machine, behind the few verbs of [`Device`].

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytemuck::{cast_slice, cast_slice_mut};
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::operator::{Device, Moments, Sample, SampledResidual};

use crate::Lie;
use crate::machine::{Call, Laid, Machine, Numbers, SparselyLaid};
use crate::room::Room;

/// Columns that a block of threads multiplies, and blocks that keep any device busy.
const WIDTH: usize = 128;
const BUSY: usize = 4096;
/// The fewest rows of a part, and the most parts. Parts are multiples of the rows that are taken at a time, at most 64.
const LEAST: usize = 512;
const PARTS: usize = 8;
const STEP: usize = 64;
/// Vectors that are multiplied in one go, and bytes that their results may take.
const VECTORS: usize = 64;
const RESULTS: usize = 1 << 28;
/// Bytes of columns that are brought together at a time.
const GATHERED: usize = 1 << 30;
/// Columns that one thread adds up.
const ADDED: usize = 64;

/// A design that a machine holds.
pub struct Held<M: Machine> {
    machine: Arc<M>,
    stored: Stored<M>,
    rows: usize,
    columns: usize,
    codes: OnceLock<Codes<M>>,
    room: Mutex<Room<M>>,
}

/// How the numbers of a design are stored.
enum Stored<M: Machine> {
    Dense { memory: M::Memory, numbers: Numbers, by_rows: bool, apart: usize },
    Sparse { values: M::Memory, indices: M::Memory, starts: M::Memory },
}

/// A coarse copy of some rows.
struct Codes<M: Machine> {
    rows: Sample,
    codes: M::Memory,
    centres: M::Memory,
    steps: M::Memory,
}

/// What is multiplied: with a list, its columns.
enum Design<'m, M> {
    Dense(Laid<'m, M>, Option<&'m M>),
    Sparse(SparselyLaid<'m, M>),
}

impl<M> Design<'_, M> {
    /// Numbers that a lane takes at a time.
    fn lane(&self) -> usize {
        match self {
            Self::Dense(design, _) if !design.by_rows => design.numbers.lane(),
            _ => 1,
        }
    }
}

/// Columns that are multiplied.
#[derive(Clone, Copy)]
enum Columns {
    All,
    /// So many, whose numbers are in [`Place::List`]; where columns follow each other.
    Listed(usize),
    /// So many, brought together in [`Place::Left`].
    Gathered(usize),
    /// The coarse copy.
    Codes,
}

/// What it is used for.
#[derive(Clone, Copy)]
enum Place {
    Vectors,
    Packed,
    Parts,
    Sums,
    List,
    Left,
    Right,
    Weights,
    Centres,
    Values,
}

const PLACES: usize = 10;

impl From<Place> for usize {
    fn from(place: Place) -> Self {
        place as Self
    }
}

impl<M: Machine> fmt::Debug for Held<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.stored {
            Stored::Dense { numbers, .. } => format!("{numbers:?}"),
            Stored::Sparse { .. } => "sparse".into(),
        };
        write!(f, "{}x{} {what} on {:?}", self.rows, self.columns, self.machine)
    }
}

impl<M: Machine> Held<M> {
    /// A design whose numbers are in memory already, columns (or rows) `apart` bytes from each other.
    pub fn new(machine: Arc<M>, memory: M::Memory, lie: Lie, apart: usize) -> Self {
        let room = Mutex::new(Room::new(PLACES));
        let Lie { numbers, by_rows, shape: (rows, columns) } = lie;
        let stored = Stored::Dense { memory, numbers, by_rows, apart };
        Self { machine, stored, rows, columns, codes: OnceLock::new(), room }
    }

    /// A copy of a sparse matrix of the host: where columns begin, and the rows and values of their entries, each row at
    /// most once in a column.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn sparse(
        machine: Arc<M>,
        rows: usize,
        (starts, indices, values): (&[i64], &[u32], &[f64]),
    ) -> Result<Self, Error> {
        let room = Mutex::new(Room::new(PLACES));
        let copy = |bytes: &[u8]| {
            let memory = machine.reserve(bytes.len())?;
            machine.write(&memory, 0, bytes)?;
            Ok(memory)
        };
        let stored = Stored::Sparse {
            values: copy(cast_slice(values))?,
            indices: copy(cast_slice(indices))?,
            starts: copy(cast_slice(starts))?,
        };
        let columns = starts.len().saturating_sub(1);
        Ok(Self { machine, stored, rows, columns, codes: OnceLock::new(), room })
    }

    /// A copy of numbers of the host, given as bytes, columns (or rows) without gaps.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn copied(machine: Arc<M>, bytes: &[u8], lie: Lie) -> Result<Self, Error> {
        let Lie { numbers, by_rows, shape } = lie;
        let (lines, length) = if by_rows { shape } else { (shape.1, shape.0) };
        let tight = length * numbers.bytes();
        let apart = tight.next_multiple_of(16);
        let memory = machine.reserve(lines * apart)?;
        if tight == apart {
            machine.write(&memory, 0, bytes)?;
        } else {
            let some = ((1 << 26) / apart).max(1);
            for (at, lines) in bytes.chunks(some * tight).enumerate() {
                let mut padded = vec![0; lines.len() / tight * apart];
                padded
                    .chunks_mut(apart)
                    .zip(lines.chunks(tight))
                    .for_each(|(to, from)| to[..tight].copy_from_slice(from));
                machine.write(&memory, at * some * apart, &padded)?;
            }
        }
        Ok(Self::new(machine, memory, lie, apart))
    }

    /// The design, or columns of a list.
    fn laid<'m>(&'m self, list: Option<(&'m M::Memory, usize)>) -> Design<'m, M::Memory> {
        let columns = list.map_or(self.columns, |(_, count)| count);
        let list = list.map(|(list, _)| list);
        match &self.stored {
            Stored::Dense { memory, numbers, by_rows, apart } => {
                let (numbers, by_rows, apart, rows) = (*numbers, *by_rows, *apart, self.rows);
                Design::Dense(Laid { memory, numbers, by_rows, apart, rows, columns }, list)
            }
            Stored::Sparse { values, indices, starts } => {
                Design::Sparse(SparselyLaid { values, indices, starts, columns, list })
            }
        }
    }

    /// The design, which is dense.
    fn dense(&self) -> Result<Laid<'_, M::Memory>, Error> {
        match self.laid(None) {
            Design::Dense(design, _) => Ok(design),
            Design::Sparse(_) => Err(Error::Device { message: "of a sparse design there is no coarse copy".into() }),
        }
    }

    fn by_rows(&self) -> bool {
        matches!(self.stored, Stored::Dense { by_rows: true, .. })
    }

    fn room(&self) -> MutexGuard<'_, Room<M>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Some vectors, one after the other.
    fn put_vectors(&self, room: &mut Room<M>, vectors: &[&[f64]]) -> Result<(), Error> {
        match vectors {
            [one] => room.put(&self.machine, Place::Vectors, one),
            _ => room.put(&self.machine, Place::Vectors, &vectors.concat()),
        }
    }

    /// Sums over all rows of some columns times `count` vectors, which lie in a place `apart` numbers from each other:
    /// afterwards [`Place::Sums`] has them, vector after vector. `split` says how the rows are parted.
    fn multiply(
        &self,
        room: &mut Room<M>,
        columns: Columns,
        (vectors, apart, count): (Place, usize, usize),
        split: usize,
        centres: Option<Place>,
    ) -> Result<(), Error> {
        let (rows, width) = match columns {
            Columns::All => (self.rows, self.columns),
            Columns::Listed(count) | Columns::Gathered(count) => (self.rows, count),
            Columns::Codes => (self.codes()?.rows.length, self.columns),
        };
        let lane = match columns {
            Columns::All | Columns::Listed(_) => self.laid(None).lane(),
            Columns::Gathered(_) => Numbers::F64.lane(),
            Columns::Codes => Numbers::I8.lane(),
        };
        let squares = centres.is_some();
        let blocks = count.div_ceil(8);
        // Many vectors are multiplied four blocks at a time.
        let blocks = if blocks > 1 { blocks.next_multiple_of(4) } else { blocks };
        let steps = rows.div_ceil(4 * lane);
        let parts = rows.div_ceil(split);
        let length = (if squares { 16 } else { 8 * blocks }) * width;
        room.widen(&self.machine, Place::Packed, steps * blocks * lane * 32 * 8)?;
        room.widen(&self.machine, Place::Sums, length * 8)?;
        if parts > 1 {
            room.widen(&self.machine, Place::Parts, parts * length * 8)?;
        }
        let design = match columns {
            Columns::All => self.laid(None),
            Columns::Listed(count) => self.laid(Some((room.at(Place::List)?, count))),
            Columns::Gathered(columns) => {
                let apart = 8 * self.rows.next_multiple_of(STEP);
                let memory = room.at(Place::Left)?;
                Design::Dense(Laid { memory, numbers: Numbers::F64, by_rows: false, apart, rows, columns }, None)
            }
            Columns::Codes => {
                let memory = &self.codes()?.codes;
                let (numbers, apart) = (Numbers::I8, rows);
                Design::Dense(Laid { memory, numbers, by_rows: false, apart, rows, columns: width }, None)
            }
        };
        let (vectors, packed) = (room.at(vectors)?, room.at(Place::Packed)?);
        self.machine.launch(&Call::Pack { vectors, apart, rows, count, lane, blocks, out: packed })?;
        let centres = centres.map(|place| room.at(place)).transpose()?;
        let sums = room.at(Place::Sums)?;
        let (design, list) = match (design, centres) {
            (Design::Dense(design, list), _) => (design, list),
            (Design::Sparse(design), None) => {
                return self.machine.launch(&Call::SparsePass { design, packed, blocks, count, out: sums });
            }
            (Design::Sparse(design), Some(centres)) => {
                let totals = room.at(Place::Values)?;
                return self.machine.launch(&Call::SparseSquares { design, packed, count, totals, centres, out: sums });
            }
        };
        let out = room.at(if parts > 1 { Place::Parts } else { Place::Sums })?;
        self.machine.launch(&Call::Pass { design, list, squares, packed, blocks, centres, split, out })?;
        if parts > 1 {
            self.machine.launch(&Call::AddUp { parts: out, count: parts, length, out: sums })?;
        }
        Ok(())
    }

    fn codes(&self) -> Result<&Codes<M>, Error> {
        let none = || Error::Device { message: "the device has no sample of the rows".into() };
        self.codes.get().ok_or_else(none)
    }

    /// The rows of a part of a whole pass.
    fn split(&self) -> usize {
        split(self.rows, BUSY.div_ceil(self.columns.div_ceil(WIDTH)).min(PARTS))
    }

    fn list(&self, room: &mut Room<M>, columns: &[usize]) -> Result<(), Error> {
        let list: Vec<u32> = columns.iter().map(|&j| j as u32).collect();
        room.put(&self.machine, Place::List, &list)
    }

    /// Brings listed columns together in a place, times h where there is one; how many numbers lie from one to the next.
    fn gather(&self, room: &mut Room<M>, columns: &[usize], place: Place, h: bool) -> Result<usize, Error> {
        let apart = self.rows.next_multiple_of(STEP);
        self.gather_apart(room, columns, place, h, apart)?;
        Ok(apart)
    }

    fn gather_apart(
        &self,
        room: &mut Room<M>,
        columns: &[usize],
        place: Place,
        h: bool,
        apart: usize,
    ) -> Result<(), Error> {
        self.list(room, columns)?;
        room.widen(&self.machine, place, columns.len() * apart * 8)?;
        let h = if h { Some(room.at(Place::Weights)?) } else { None };
        let (list, out) = (room.at(Place::List)?, room.at(place)?);
        self.machine.launch(&match self.laid(Some((list, columns.len()))) {
            Design::Dense(design, _) => Call::Gather {
                design: Laid { columns: self.columns, ..design },
                list,
                count: columns.len(),
                h,
                apart,
                out,
            },
            Design::Sparse(design) => Call::SparseGather { design, h, apart, out },
        })
    }

    /// Makes listed columns ready to be multiplied: where they are, or brought together where rows follow each other.
    fn ready(&self, room: &mut Room<M>, columns: &[usize]) -> Result<Columns, Error> {
        if self.by_rows() {
            self.gather(room, columns, Place::Left, false)?;
            return Ok(Columns::Gathered(columns.len()));
        }
        self.list(room, columns)?;
        Ok(Columns::Listed(columns.len()))
    }

    /// Columns that are brought together at a time.
    fn at_once(&self) -> usize {
        (GATHERED / (8 * self.rows.next_multiple_of(STEP))).clamp(1, 1 << 15)
    }

    /// The rows of a part of a product with listed columns: whatever these are.
    fn split_listed(&self) -> usize {
        split(self.rows, PARTS)
    }

    /// Numbers of a place that follow each other, to several ends.
    fn read<'o>(
        &self,
        room: &Room<M>,
        place: Place,
        first: usize,
        outs: impl IntoIterator<Item = &'o mut [f64]>,
    ) -> Result<(), Error> {
        let mut outs: Vec<&mut [u8]> = outs.into_iter().map(cast_slice_mut).collect();
        self.machine.read(room.at(place)?, 8 * first, &mut outs)
    }
}

impl<M: Machine> Held<M> {
    /// Two reads of what is stored: the squares are about the means.
    fn survey_sparse(&self, weights: &[f64], r: &[f64]) -> Result<(Moments, Vec<f64>), Error> {
        let mut both = vec![vec![0.0; self.columns]; 2];
        self.adjoint(&[weights, r], &mut both)?;
        let total: f64 = weights.iter().sum();
        let pass = both.pop().unwrap_or_default();
        let means: Vec<f64> = both.pop().unwrap_or_default().iter().map(|sum| sum / total).collect();
        let mut variances = self.squared_norms(&[weights], Some(&means))?.pop().unwrap_or_default();
        variances.iter_mut().for_each(|square| *square /= total);
        Ok((Moments { means, variances }, pass))
    }
}

/// The rows of a part, where there should be so many.
fn split(rows: usize, parts: usize) -> usize {
    let parts = parts.min(rows / LEAST).max(1);
    rows.div_ceil(parts).next_multiple_of(STEP)
}

impl<M: Machine> Device for Held<M> {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }
    fn rounding(&self) -> f64 {
        match &self.stored {
            Stored::Dense { numbers, .. } => numbers.rounding(),
            Stored::Sparse { .. } => f64::EPSILON,
        }
    }
    fn bytes(&self) -> Option<usize> {
        match &self.stored {
            Stored::Dense { numbers, .. } => Some(numbers.bytes()),
            Stored::Sparse { .. } => None,
        }
    }
    /// In one read, as distances from the row that weighs most: no row is further from the mean than √(Σw/w) deviations, so
    /// little cancels.
    fn survey(&self, weights: &[f64], r: &[f64]) -> Result<(Moments, Vec<f64>), Error> {
        let n = self.columns;
        let Ok(design) = self.dense() else { return self.survey_sparse(weights, r) };
        let heaviest = (0..self.rows).reduce(|a, b| if weights[b] > weights[a] { b } else { a }).unwrap_or(0);
        let mut room = self.room();
        let room = &mut *room;
        room.widen(&self.machine, Place::Centres, 8 * n)?;
        self.machine.launch(&Call::Row { design, row: heaviest, out: room.at(Place::Centres)? })?;
        self.put_vectors(room, &[weights, r])?;
        let vectors = (Place::Vectors, self.rows, 2);
        self.multiply(room, Columns::All, vectors, self.split(), Some(Place::Centres))?;
        room.widen(&self.machine, Place::Values, 24 * n)?;
        let (sums, centres, out) = (room.at(Place::Sums)?, room.at(Place::Centres)?, room.at(Place::Values)?);
        let (total, sum) = (weights.iter().sum(), r.iter().sum());
        self.machine.launch(&Call::Finish { sums, centres, columns: n, total, sum, out })?;
        let [mut means, mut variances, mut pass] = [(); 3].map(|()| vec![0.0; n]);
        self.read(room, Place::Values, 0, [&mut means[..], &mut variances, &mut pass])?;
        Ok((Moments { means, variances }, pass))
    }
    fn adjoint(&self, rs: &[&[f64]], out: &mut [Vec<f64>]) -> Result<(), Error> {
        let (n, split) = (self.columns, self.split());
        let bytes = 8 * n * self.rows.div_ceil(split);
        let some = (RESULTS / bytes.max(1) / 32 * 32).clamp(8, VECTORS);
        let mut room = self.room();
        let room = &mut *room;
        for (rs, out) in rs.chunks(some).zip(out.chunks_mut(some)) {
            self.put_vectors(room, rs)?;
            self.multiply(room, Columns::All, (Place::Vectors, self.rows, rs.len()), split, None)?;
            self.read(room, Place::Sums, 0, out.iter_mut().map(Vec::as_mut_slice))?;
        }
        Ok(())
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Result<Vec<Vec<f64>>, Error> {
        let n = self.columns;
        let mut room = self.room();
        let room = &mut *room;
        match centres {
            Some(centres) => room.put(&self.machine, Place::Centres, centres)?,
            None => room.put(&self.machine, Place::Centres, &vec![0.0; n])?,
        }
        let mut all = vec![vec![0.0; n]; weights.len()];
        for (weights, out) in weights.chunks(8).zip(all.chunks_mut(8)) {
            self.put_vectors(room, weights)?;
            room.put(&self.machine, Place::Values, &weights.iter().map(|w| w.iter().sum()).collect::<Vec<f64>>())?;
            let vectors = (Place::Vectors, self.rows, weights.len());
            self.multiply(room, Columns::All, vectors, self.split(), Some(Place::Centres))?;
            let first = if self.bytes().is_some() { 8 * n } else { 0 };
            self.read(room, Place::Sums, first, out.iter_mut().map(Vec::as_mut_slice))?;
        }
        Ok(all)
    }
    fn sample(&self, rows: Sample, centres: &[f64]) -> Result<(), Error> {
        if let Some(made) = self.codes.get() {
            let message = "the device has another sample of the rows already; give it the design anew".into();
            return if made.rows == rows { Ok(()) } else { Err(Error::Device { message }) };
        }
        let n = self.columns;
        let made = Codes {
            rows,
            codes: self.machine.reserve(rows.length * n)?,
            centres: self.machine.reserve(8 * n)?,
            steps: self.machine.reserve(4 * n)?,
        };
        let mut room = self.room();
        room.put(&self.machine, Place::Values, centres)?;
        let Sample { block, every, count, length } = rows;
        let (design, means) = (self.dense()?, room.at(Place::Values)?);
        let (codes, centres, steps) = (&made.codes, &made.centres, &made.steps);
        self.machine.launch(&Call::Code { design, block, every, count, length, means, codes, centres, steps })?;
        let _ = self.codes.set(made);
        Ok(())
    }
    fn adjoint_sampled(&self, residuals: &[SampledResidual], out: &mut [Vec<f64>]) -> Result<(), Error> {
        let Codes { rows, centres, steps, .. } = self.codes()?;
        let (n, rows) = (self.columns, rows.length);
        let split = split(rows, BUSY.div_ceil(n.div_ceil(WIDTH)).min(PARTS));
        let mut room = self.room();
        let room = &mut *room;
        for (residuals, out) in residuals.chunks(VECTORS).zip(out.chunks_mut(VECTORS)) {
            let whole: Vec<f64> = residuals.iter().flat_map(|r| &r.whole).map(|&w| f64::from(w)).collect();
            room.put(&self.machine, Place::Vectors, &whole)?;
            let count = residuals.len();
            self.multiply(room, Columns::Codes, (Place::Vectors, rows, count), split, None)?;
            room.put(&self.machine, Place::Values, &residuals.iter().map(|r| r.unit).collect::<Vec<f64>>())?;
            room.put(&self.machine, Place::Weights, &residuals.iter().map(|r| r.total).collect::<Vec<f64>>())?;
            let (products, units, totals) = (room.at(Place::Sums)?, room.at(Place::Values)?, room.at(Place::Weights)?);
            self.machine.launch(&Call::Decode { products, steps, centres, columns: n, count, units, totals })?;
            self.read(room, Place::Sums, 0, out.iter_mut().map(Vec::as_mut_slice))?;
        }
        Ok(())
    }
    fn adjoint_on(&self, rs: &[&[f64]], columns: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let mut all = vec![vec![0.0; columns.len()]; rs.len()];
        let mut room = self.room();
        let room = &mut *room;
        let each = self.at_once();
        for (at, some) in columns.chunks(each).enumerate() {
            let ready = self.ready(room, some)?;
            for (rs, out) in rs.chunks(VECTORS).zip(all.chunks_mut(VECTORS)) {
                self.put_vectors(room, rs)?;
                self.multiply(room, ready, (Place::Vectors, self.rows, rs.len()), self.split_listed(), None)?;
                self.read(room, Place::Sums, 0, out.iter_mut().map(|out| &mut out[at * each..][..some.len()]))?;
            }
        }
        Ok(all)
    }
    fn products(&self, h: &[f64], left: &[usize], right: &[usize]) -> Result<Matrix, Error> {
        let mut all = vec![0.0; left.len() * right.len()];
        if all.is_empty() {
            return Ok(Matrix::from_columns(left.len(), right.len(), all));
        }
        let weighted = h.iter().any(|h| *h != 1.0);
        let mut room = self.room();
        let room = &mut *room;
        if weighted {
            room.put(&self.machine, Place::Weights, h)?;
        }
        let some = self.at_once();
        let group = (RESULTS / (8 * left.len().min(some) * PARTS) / 32 * 32).clamp(32, some.max(32));
        for (at, right_part) in right.chunks(group).enumerate() {
            let apart = self.gather(room, right_part, Place::Right, weighted)?;
            for (first, left_part) in left.chunks(some).enumerate() {
                let ready = self.ready(room, left_part)?;
                let vectors = (Place::Right, apart, right_part.len());
                self.multiply(room, ready, vectors, self.split_listed(), None)?;
                let columns = all[at * group * left.len()..].chunks_mut(left.len()).take(right_part.len());
                let outs = columns.map(|column| &mut column[first * some..][..left_part.len()]);
                self.read(room, Place::Sums, 0, outs)?;
            }
        }
        Ok(Matrix::from_columns(left.len(), right.len(), all))
    }
    fn columns(&self, columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let mut room = self.room();
        let some = self.at_once();
        for (columns, out) in columns.chunks(some).zip(out.chunks_mut(some * self.rows)) {
            self.gather_apart(&mut room, columns, Place::Left, false, self.rows)?;
            self.read(&room, Place::Left, 0, [out])?;
        }
        Ok(())
    }
    fn apply(&self, columns: &[usize], values: &[f64], out: &mut [f64]) -> Result<(), Error> {
        out.fill(0.0);
        let mut room = self.room();
        let room = &mut *room;
        let some = self.at_once();
        for (columns, values) in columns.chunks(some).zip(values.chunks(some)) {
            let apart = self.gather(room, columns, Place::Left, false)?;
            let parts = columns.len().div_ceil(ADDED);
            room.put(&self.machine, Place::Values, values)?;
            room.widen(&self.machine, Place::Parts, 8 * parts * self.rows)?;
            room.widen(&self.machine, Place::Sums, 8 * self.rows)?;
            let (gathered, values, added) = (room.at(Place::Left)?, room.at(Place::Values)?, room.at(Place::Parts)?);
            let (rows, count) = (self.rows, columns.len());
            let call = Call::Apply { columns: gathered, apart, rows, count, values, each: ADDED, out: added };
            self.machine.launch(&call)?;
            let sums = room.at(Place::Sums)?;
            self.machine.launch(&Call::AddUp { parts: added, count: parts, length: rows, out: sums })?;
            let mut image = vec![0.0; rows];
            self.read(room, Place::Sums, 0, [&mut image[..]])?;
            out.iter_mut().zip(image).for_each(|(out, x)| *out += x);
        }
        Ok(())
    }
}
