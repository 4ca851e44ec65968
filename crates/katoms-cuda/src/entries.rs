//! The observed entries of a matrix in the memory of a machine: rank-k completion.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::{cast_slice, cast_slice_mut};
use katoms::Error;
use katoms::linalg::Matrix;
use katoms::space::{DeviceEntries, Pattern};

use crate::machine::{Call, Machine, SparselyLaid};
use crate::room::Room;

/// The observed places of a matrix, by rows and by columns.
pub struct Entries<M: Machine> {
    machine: Arc<M>,
    shape: (usize, usize),
    observed: usize,
    places: M::Memory,
    rows: Lines<M>,
    columns: Lines<M>,
    room: Mutex<Room<M>>,
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

impl From<Place> for usize {
    fn from(place: Place) -> Self {
        place as Self
    }
}

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
        let room = Mutex::new(Room::new(PLACES));
        let (shape, observed) = (pattern.shape(), pattern.observed());
        Ok(Self { machine, shape, observed, places, rows, columns, room })
    }

    fn room(&self) -> MutexGuard<'_, Room<M>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Machine> DeviceEntries for Entries<M> {
    fn gather(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) -> Result<(), Error> {
        let mut room = self.room();
        room.put(&self.machine, Place::Left, left.data())?;
        room.put(&self.machine, Place::Right, right.data())?;
        room.widen(&self.machine, Place::Out, 8 * self.observed)?;
        let (to, shape, rank) = (room.at(Place::Out)?, self.shape, left.columns());
        let (left, right, places) = (room.at(Place::Left)?, room.at(Place::Right)?, &self.places);
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
        room.put(&self.machine, Place::Values, values)?;
        room.put(&self.machine, Place::Right, b.data())?;
        let (rows, count) = (b.rows(), b.columns());
        let blocks = count.div_ceil(8);
        room.widen(&self.machine, Place::Packed, rows.div_ceil(4) * blocks * 32 * 8)?;
        room.widen(&self.machine, Place::Out, 8 * lines.count * count)?;
        let ordered = match &lines.slots {
            None => room.at(Place::Values)?,
            Some(which) => {
                room.widen(&self.machine, Place::Ordered, 8 * self.observed)?;
                let (values, out) = (room.at(Place::Values)?, room.at(Place::Ordered)?);
                self.machine.launch(&Call::Take { values, which, count: self.observed, out })?;
                out
            }
        };
        let (vectors, packed, out) = (room.at(Place::Right)?, room.at(Place::Packed)?, room.at(Place::Out)?);
        self.machine.launch(&Call::Pack { vectors, apart: rows, rows, count, lane: 1, blocks, out: packed })?;
        let (starts, indices) = (&lines.starts, &lines.across);
        let design = SparselyLaid { values: ordered, indices, starts, columns: lines.count, list: None };
        self.machine.launch(&Call::SparsePass { design, packed, blocks, count, out })?;
        self.machine.read(out, 0, &mut [cast_slice_mut(&mut all)])?;
        Ok(Matrix::from_columns(lines.count, count, all))
    }
}
