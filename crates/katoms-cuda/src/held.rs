//! A design in the memory of a machine, behind the few verbs of [`Device`].

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytemuck::{NoUninit, cast_slice, cast_slice_mut};
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::operator::{Device, Moments, Sample, SampledResidual};

use crate::Lie;
use crate::machine::{Call, Laid, Machine, Numbers};

/// Columns that a block of threads multiplies, and blocks that keep any device busy.
const WIDTH: usize = 256;
const BUSY: usize = 2048;
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
    memory: M::Memory,
    numbers: Numbers,
    by_rows: bool,
    apart: usize,
    rows: usize,
    columns: usize,
    codes: OnceLock<Codes<M>>,
    room: Mutex<Room<M>>,
}

/// A coarse copy of some rows.
struct Codes<M: Machine> {
    length: usize,
    codes: M::Memory,
    centres: M::Memory,
    steps: M::Memory,
}

/// Memory that calls use one after the other.
struct Room<M: Machine> {
    places: Vec<Option<(M::Memory, usize)>>,
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

impl<M: Machine> Room<M> {
    /// Makes a place at least so large.
    fn widen(&mut self, machine: &M, place: Place, bytes: usize) -> Result<(), Error> {
        let slot = &mut self.places[place as usize];
        if slot.as_ref().is_none_or(|(_, held)| *held < bytes) {
            *slot = None; // first the old one goes
            let bytes = bytes.max(1 << 12);
            *slot = Some((machine.reserve(bytes)?, bytes));
        }
        Ok(())
    }

    fn at(&self, place: Place) -> Result<&M::Memory, Error> {
        let none = || Error::Device { message: "the device has no memory for this step".into() };
        self.places[place as usize].as_ref().map(|(memory, _)| memory).ok_or_else(none)
    }
}

impl<M: Machine> fmt::Debug for Held<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} {:?} on {:?}", self.rows, self.columns, self.numbers, self.machine)
    }
}

impl<M: Machine> Held<M> {
    /// A design whose numbers are in memory already, columns (or rows) `apart` bytes from each other.
    pub fn new(machine: Arc<M>, memory: M::Memory, lie: Lie, apart: usize) -> Self {
        let room = Mutex::new(Room { places: (0..PLACES).map(|_| None).collect() });
        let Lie { numbers, by_rows, shape: (rows, columns) } = lie;
        Self { machine, memory, numbers, by_rows, apart, rows, columns, codes: OnceLock::new(), room }
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

    fn laid(&self) -> Laid<'_, M::Memory> {
        let Self { memory, numbers, by_rows, apart, rows, columns, .. } = self;
        Laid { memory, numbers: *numbers, by_rows: *by_rows, apart: *apart, rows: *rows, columns: *columns }
    }

    fn room(&self) -> MutexGuard<'_, Room<M>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies numbers to a place.
    fn put<T: NoUninit>(&self, room: &mut Room<M>, place: Place, values: &[T]) -> Result<(), Error> {
        let bytes = cast_slice(values);
        room.widen(&self.machine, place, bytes.len())?;
        self.machine.write(room.at(place)?, 0, bytes)
    }

    /// Some vectors, one after the other.
    fn put_vectors(&self, room: &mut Room<M>, vectors: &[&[f64]]) -> Result<(), Error> {
        match vectors {
            [one] => self.put(room, Place::Vectors, one),
            _ => self.put(room, Place::Vectors, &vectors.concat()),
        }
    }

    /// Sums over all rows of a design's columns times `count` vectors, which lie in a place `apart` numbers from each other:
    /// afterwards [`Place::Sums`] has them, vector after vector. `split` says how the rows are parted.
    fn multiply(
        &self,
        room: &mut Room<M>,
        design: Laid<'_, M::Memory>,
        (vectors, apart, count): (&M::Memory, usize, usize),
        split: usize,
        centres: Option<Place>,
    ) -> Result<(), Error> {
        let lane = if design.by_rows { 1 } else { design.numbers.lane() };
        let squares = centres.is_some();
        let blocks = count.div_ceil(8);
        // Many vectors are multiplied four blocks at a time.
        let blocks = if blocks > 1 { blocks.next_multiple_of(4) } else { blocks };
        let steps = design.rows.div_ceil(4 * lane);
        let parts = design.rows.div_ceil(split);
        let length = (if squares { 16 } else { 8 * blocks }) * design.columns;
        room.widen(&self.machine, Place::Packed, steps * blocks * lane * 32 * 8)?;
        room.widen(&self.machine, Place::Sums, length * 8)?;
        if parts > 1 {
            room.widen(&self.machine, Place::Parts, parts * length * 8)?;
        }
        let packed = room.at(Place::Packed)?;
        let rows = design.rows;
        self.machine.launch(&Call::Pack { vectors, apart, rows, count, lane, blocks, out: packed })?;
        let centres = centres.map(|place| room.at(place)).transpose()?;
        let (sums, out) = (room.at(Place::Sums)?, room.at(if parts > 1 { Place::Parts } else { Place::Sums })?);
        self.machine.launch(&Call::Pass { design, squares, packed, blocks, centres, split, out })?;
        if parts > 1 {
            self.machine.launch(&Call::AddUp { parts: out, count: parts, length, out: sums })?;
        }
        Ok(())
    }

    /// The same with vectors in [`Place::Vectors`], without gaps.
    fn multiply_vectors(
        &self,
        room: &mut Room<M>,
        design: Laid<'_, M::Memory>,
        count: usize,
        split: usize,
        centres: Option<Place>,
    ) -> Result<(), Error> {
        // The vectors are not written by what a product uses.
        let vectors = room.places[Place::Vectors as usize].take();
        let Some((memory, bytes)) = vectors else { return room.at(Place::Vectors).map(|_| ()) };
        let done = self.multiply(room, design, (&memory, design.rows, count), split, centres);
        room.places[Place::Vectors as usize] = Some((memory, bytes));
        done
    }

    /// The rows of a part of a whole pass.
    fn split(&self) -> usize {
        split(self.rows, BUSY.div_ceil(self.columns.div_ceil(WIDTH)).min(PARTS))
    }

    /// Brings listed columns together in a place, times h where there is one; where their numbers lie then.
    fn gather(&self, room: &mut Room<M>, columns: &[usize], place: Place, h: bool) -> Result<usize, Error> {
        let apart = self.rows.next_multiple_of(STEP);
        let list: Vec<u32> = columns.iter().map(|&j| j as u32).collect();
        self.put(room, Place::List, &list)?;
        room.widen(&self.machine, place, columns.len() * apart * 8)?;
        let h = if h { Some(room.at(Place::Weights)?) } else { None };
        let (list, out) = (room.at(Place::List)?, room.at(place)?);
        self.machine.launch(&Call::Gather { design: self.laid(), list, count: columns.len(), h, apart, out })?;
        Ok(apart)
    }

    fn gathered<'m>(&self, memory: &'m M::Memory, columns: usize) -> Laid<'m, M::Memory> {
        let apart = 8 * self.rows.next_multiple_of(STEP);
        Laid { memory, numbers: Numbers::F64, by_rows: false, apart, rows: self.rows, columns }
    }

    /// Columns that are brought together at a time.
    fn at_once(&self) -> usize {
        (GATHERED / (8 * self.rows.next_multiple_of(STEP))).clamp(1, 1 << 15)
    }

    /// The rows of a part of a product with listed columns: whatever these are.
    fn split_listed(&self) -> usize {
        split(self.rows, PARTS)
    }

    fn read_sums(&self, room: &Room<M>, first: usize, out: &mut [f64]) -> Result<(), Error> {
        self.machine.read(room.at(Place::Sums)?, 8 * first, cast_slice_mut(out))
    }

    /// Products of gathered columns with vectors in a place.
    fn listed(
        &self,
        room: &mut Room<M>,
        count: usize,
        (vectors, apart, vector_count): (Place, usize, usize),
    ) -> Result<(), Error> {
        let columns = room.places[Place::Left as usize].take();
        let held = room.places[vectors as usize].take();
        let done = match (&columns, &held) {
            (Some((columns, _)), Some((held, _))) => {
                let design = self.gathered(columns, count);
                self.multiply(room, design, (held, apart, vector_count), self.split_listed(), None)
            }
            _ => room.at(Place::Left).map(|_| ()),
        };
        room.places[Place::Left as usize] = columns;
        room.places[vectors as usize] = held;
        done
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
        self.numbers.rounding()
    }
    fn bytes(&self) -> Option<usize> {
        Some(self.numbers.bytes())
    }
    /// In one read, as distances from the row that weighs most: no row is further from the mean than √(Σw/w) deviations, so
    /// little cancels.
    fn survey(&self, weights: &[f64], r: &[f64]) -> Result<(Moments, Vec<f64>), Error> {
        let n = self.columns;
        let heaviest = (0..self.rows).reduce(|a, b| if weights[b] > weights[a] { b } else { a }).unwrap_or(0);
        let mut room = self.room();
        let room = &mut *room;
        room.widen(&self.machine, Place::Centres, 8 * n)?;
        self.machine.launch(&Call::Row { design: self.laid(), row: heaviest, out: room.at(Place::Centres)? })?;
        self.put_vectors(room, &[weights, r])?;
        self.multiply_vectors(room, self.laid(), 2, self.split(), Some(Place::Centres))?;
        room.widen(&self.machine, Place::Values, 24 * n)?;
        let (sums, centres, out) = (room.at(Place::Sums)?, room.at(Place::Centres)?, room.at(Place::Values)?);
        let (total, sum) = (weights.iter().sum(), r.iter().sum());
        self.machine.launch(&Call::Finish { sums, centres, columns: n, total, sum, out })?;
        let [mut means, mut variances, mut pass] = [(); 3].map(|()| vec![0.0; n]);
        for (at, out) in [&mut means, &mut variances, &mut pass].into_iter().enumerate() {
            self.machine.read(room.at(Place::Values)?, 8 * n * at, cast_slice_mut(out))?;
        }
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
            self.multiply_vectors(room, self.laid(), rs.len(), split, None)?;
            for (at, out) in out.iter_mut().enumerate() {
                self.read_sums(room, n * at, out)?;
            }
        }
        Ok(())
    }
    fn squared_norms(&self, weights: &[&[f64]], centres: Option<&[f64]>) -> Result<Vec<Vec<f64>>, Error> {
        let n = self.columns;
        let mut room = self.room();
        let room = &mut *room;
        match centres {
            Some(centres) => self.put(room, Place::Centres, centres)?,
            None => self.put(room, Place::Centres, &vec![0.0; n])?,
        }
        let mut all = vec![vec![0.0; n]; weights.len()];
        for (weights, out) in weights.chunks(8).zip(all.chunks_mut(8)) {
            self.put_vectors(room, weights)?;
            self.multiply_vectors(room, self.laid(), weights.len(), self.split(), Some(Place::Centres))?;
            for (at, out) in out.iter_mut().enumerate() {
                self.read_sums(room, n * (8 + at), out)?;
            }
        }
        Ok(all)
    }
    fn sample(&self, rows: Sample, centres: &[f64]) -> Result<(), Error> {
        let n = self.columns;
        let made = Codes {
            length: rows.length,
            codes: self.machine.reserve(rows.length * n)?,
            centres: self.machine.reserve(8 * n)?,
            steps: self.machine.reserve(4 * n)?,
        };
        let mut room = self.room();
        self.put(&mut room, Place::Values, centres)?;
        let Sample { block, every, count, length } = rows;
        let (design, means) = (self.laid(), room.at(Place::Values)?);
        let (codes, centres, steps) = (&made.codes, &made.centres, &made.steps);
        self.machine.launch(&Call::Code { design, block, every, count, length, means, codes, centres, steps })?;
        // One that was made before is the same.
        let _ = self.codes.set(made);
        Ok(())
    }
    fn adjoint_sampled(&self, residuals: &[SampledResidual], out: &mut [Vec<f64>]) -> Result<(), Error> {
        let none = || Error::Device { message: "the device has no sample of the rows".into() };
        let Codes { length, codes, centres, steps } = self.codes.get().ok_or_else(none)?;
        let (n, rows) = (self.columns, *length);
        let split = split(rows, BUSY.div_ceil(n.div_ceil(WIDTH)).min(PARTS));
        let design = Laid { memory: codes, numbers: Numbers::I8, by_rows: false, apart: rows, rows, columns: n };
        let mut room = self.room();
        let room = &mut *room;
        for (residuals, out) in residuals.chunks(VECTORS).zip(out.chunks_mut(VECTORS)) {
            let whole: Vec<f64> = residuals.iter().flat_map(|r| &r.whole).map(|&w| f64::from(w)).collect();
            self.put(room, Place::Vectors, &whole)?;
            self.multiply_vectors(room, design, residuals.len(), split, None)?;
            let count = residuals.len();
            self.put(room, Place::Values, &residuals.iter().map(|r| r.unit).collect::<Vec<f64>>())?;
            self.put(room, Place::Weights, &residuals.iter().map(|r| r.total).collect::<Vec<f64>>())?;
            let (products, units, totals) = (room.at(Place::Sums)?, room.at(Place::Values)?, room.at(Place::Weights)?);
            self.machine.launch(&Call::Decode { products, steps, centres, columns: n, count, units, totals })?;
            for (at, out) in out.iter_mut().enumerate() {
                self.read_sums(room, n * at, out)?;
            }
        }
        Ok(())
    }
    fn adjoint_on(&self, rs: &[&[f64]], columns: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let mut all = vec![Vec::with_capacity(columns.len()); rs.len()];
        let mut room = self.room();
        let room = &mut *room;
        for some in columns.chunks(self.at_once()) {
            self.gather(room, some, Place::Left, false)?;
            for (rs, out) in rs.chunks(VECTORS).zip(all.chunks_mut(VECTORS)) {
                self.put_vectors(room, rs)?;
                self.listed(room, some.len(), (Place::Vectors, self.rows, rs.len()))?;
                let mut sums = vec![0.0; rs.len() * some.len()];
                self.read_sums(room, 0, &mut sums)?;
                out.iter_mut().zip(sums.chunks(some.len())).for_each(|(out, own)| out.extend_from_slice(own));
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
            self.put(room, Place::Weights, h)?;
        }
        let some = self.at_once();
        for (first, left_part) in left.chunks(some).enumerate().map(|(at, part)| (at * some, part)) {
            let apart = self.gather(room, left_part, Place::Left, weighted)?;
            let bytes = 8 * left_part.len() * PARTS;
            let group = (RESULTS / bytes / 32 * 32).clamp(32, some.max(32));
            for (at, right_part) in right.chunks(group).enumerate() {
                self.gather(room, right_part, Place::Right, false)?;
                self.listed(room, left_part.len(), (Place::Right, apart, right_part.len()))?;
                let columns = all[at * group * left.len()..].chunks_mut(left.len()).take(right_part.len());
                if left_part.len() == left.len() {
                    let out = &mut all[at * group * left.len()..][..right_part.len() * left.len()];
                    self.read_sums(room, 0, out)?;
                    continue;
                }
                for (b, column) in columns.enumerate() {
                    self.read_sums(room, b * left_part.len(), &mut column[first..][..left_part.len()])?;
                }
            }
        }
        Ok(Matrix::from_columns(left.len(), right.len(), all))
    }
    fn apply(&self, columns: &[usize], values: &[f64], out: &mut [f64]) -> Result<(), Error> {
        out.fill(0.0);
        let mut room = self.room();
        let room = &mut *room;
        let some = self.at_once();
        for (columns, values) in columns.chunks(some).zip(values.chunks(some)) {
            let apart = self.gather(room, columns, Place::Left, false)?;
            let parts = columns.len().div_ceil(ADDED);
            self.put(room, Place::Values, values)?;
            room.widen(&self.machine, Place::Parts, 8 * parts * self.rows)?;
            room.widen(&self.machine, Place::Sums, 8 * self.rows)?;
            let (gathered, values, added) = (room.at(Place::Left)?, room.at(Place::Values)?, room.at(Place::Parts)?);
            let (rows, count) = (self.rows, columns.len());
            let call = Call::Apply { columns: gathered, apart, rows, count, values, each: ADDED, out: added };
            self.machine.launch(&call)?;
            let sums = room.at(Place::Sums)?;
            self.machine.launch(&Call::AddUp { parts: added, count: parts, length: rows, out: sums })?;
            let mut image = vec![0.0; rows];
            self.read_sums(room, 0, &mut image)?;
            out.iter_mut().zip(image).for_each(|(out, x)| *out += x);
        }
        Ok(())
    }
}
