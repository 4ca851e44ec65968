//! The observed entries of a matrix in the memory of a machine: rank-k completion.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::{NoUninit, cast_slice, cast_slice_mut};
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::space::{DeviceEntries, Pattern};

use crate::machine::{Call, Machine, SparselyLaid};

/// The observed places of a matrix, by rows and by columns.
pub struct Entries<M: Machine> {
    machine: Arc<M>,
    shape: (usize, usize),
    observed: usize,
    places: M::Memory,
    rows: Lines<M>,
    columns: Lines<M>,
    room: Mutex<Vec<Option<(M::Memory, usize)>>>,
}

/// Where the observations of each line begin, the positions across it, and which observation stands there; nothing where
/// they are in order.
struct Lines<M: Machine> {
    count: usize,
    starts: M::Memory,
    across: M::Memory,
    slots: Option<M::Memory>,
}

/// What a piece of memory is used for.
#[derive(Clone, Copy)]
enum Place {
    Values,
    Ordered,
    Left,
    Right,
    Packed,
    Out,
}

const PLACES: usize = 6;

impl<M: Machine> fmt::Debug for Entries<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entries of {}x{} on {:?}", self.observed, self.shape.0, self.shape.1, self.machine)
    }
}

impl<M: Machine> Entries<M> {
    /// A copy of the places that a pattern has.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(machine: Arc<M>, pattern: &Pattern) -> Result<Self, Error> {
        let copy = |bytes: &[u8]| {
            let memory = machine.reserve(bytes.len())?;
            machine.write(&memory, 0, bytes)?;
            Ok::<_, Error>(memory)
        };
        let lines = |across: bool| {
            let (starts, others, slots) = pattern.lines(across);
            let starts: Vec<i64> = starts.iter().map(|&at| at as i64).collect();
            let in_order = slots.iter().enumerate().all(|(at, &slot)| at == slot as usize);
            Ok::<_, Error>(Lines {
                count: starts.len() - 1,
                starts: copy(cast_slice(&starts))?,
                across: copy(cast_slice(others))?,
                slots: if in_order { None } else { Some(copy(cast_slice(slots))?) },
            })
        };
        let places: Vec<u32> = pattern.places().iter().flat_map(|&(i, j)| [i, j]).collect();
        let (places, rows, columns) = (copy(cast_slice(&places))?, lines(false)?, lines(true)?);
        let room = Mutex::new((0..PLACES).map(|_| None).collect());
        let (shape, observed) = (pattern.shape(), pattern.observed());
        Ok(Self { machine, shape, observed, places, rows, columns, room })
    }

    fn room(&self) -> MutexGuard<'_, Vec<Option<(M::Memory, usize)>>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a place at least so large.
    fn widen(&self, room: &mut [Option<(M::Memory, usize)>], place: Place, bytes: usize) -> Result<(), Error> {
        let slot = &mut room[place as usize];
        if slot.as_ref().is_none_or(|(_, held)| *held < bytes) {
            *slot = None; // first the old one goes
            *slot = Some((self.machine.reserve(bytes.max(1))?, bytes));
        }
        Ok(())
    }

    fn put<T: NoUninit>(
        &self,
        room: &mut [Option<(M::Memory, usize)>],
        place: Place,
        values: &[T],
    ) -> Result<(), Error> {
        let bytes: &[u8] = cast_slice(values);
        self.widen(room, place, bytes.len())?;
        self.machine.write(at(room, place)?, 0, bytes)
    }
}

fn at<M>(room: &[Option<(M, usize)>], place: Place) -> Result<&M, Error> {
    let none = || Error::Device { message: "the device has no memory for this step".into() };
    room[place as usize].as_ref().map(|(memory, _)| memory).ok_or_else(none)
}

impl<M: Machine> DeviceEntries for Entries<M> {
    fn gather(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) -> Result<(), Error> {
        let mut room = self.room();
        self.put(&mut room, Place::Left, left.data())?;
        self.put(&mut room, Place::Right, right.data())?;
        self.widen(&mut room, Place::Out, 8 * self.observed)?;
        let (to, shape, rank) = (at(&room, Place::Out)?, self.shape, left.columns());
        let (left, right, places) = (at(&room, Place::Left)?, at(&room, Place::Right)?, &self.places);
        self.machine.launch(&Call::Dots { left, right, shape, rank, places, count: self.observed, out: to })?;
        self.machine.read(to, 0, &mut [cast_slice_mut(out)])
    }

    fn times(&self, values: &[f64], b: &Matrix, transposed: bool) -> Result<Matrix, Error> {
        let lines = if transposed { &self.columns } else { &self.rows };
        let mut all = vec![0.0; lines.count * b.columns()];
        if all.is_empty() {
            return Ok(Matrix::from_columns(lines.count, b.columns(), all));
        }
        let mut room = self.room();
        self.put(&mut room, Place::Values, values)?;
        self.put(&mut room, Place::Right, b.data())?;
        let (rows, count) = (b.rows(), b.columns());
        let blocks = count.div_ceil(8);
        self.widen(&mut room, Place::Packed, rows.div_ceil(4) * blocks * 32 * 8)?;
        self.widen(&mut room, Place::Out, 8 * lines.count * count)?;
        let ordered = match &lines.slots {
            None => at(&room, Place::Values)?,
            Some(which) => {
                self.widen(&mut room, Place::Ordered, 8 * self.observed)?;
                let (values, out) = (at(&room, Place::Values)?, at(&room, Place::Ordered)?);
                self.machine.launch(&Call::Take { values, which, count: self.observed, out })?;
                out
            }
        };
        let (vectors, packed, out) = (at(&room, Place::Right)?, at(&room, Place::Packed)?, at(&room, Place::Out)?);
        self.machine.launch(&Call::Pack { vectors, apart: rows, rows, count, lane: 1, blocks, out: packed })?;
        let (starts, indices) = (&lines.starts, &lines.across);
        let design = SparselyLaid { values: ordered, indices, starts, columns: lines.count, list: None };
        self.machine.launch(&Call::SparsePass { design, packed, blocks, count, out })?;
        self.machine.read(out, 0, &mut [cast_slice_mut(&mut all)])?;
        Ok(Matrix::from_columns(lines.count, count, all))
    }
}
