//! Memory of a machine that calls use one after the other.

use bytemuck::{NoUninit, cast_slice};
use katoms::Error;

use crate::machine::Machine;

/// Places, each of which grows as it is needed.
pub struct Room<M: Machine> {
    places: Vec<Option<(M::Memory, usize)>>,
}

impl<M: Machine> Room<M> {
    /// So many places, none of which has any memory yet.
    pub fn new(places: usize) -> Self {
        Self { places: (0..places).map(|_| None).collect() }
    }

    /// Makes a place at least so large.
    pub fn widen(&mut self, machine: &M, place: impl Into<usize>, bytes: usize) -> Result<(), Error> {
        let slot = &mut self.places[place.into()];
        if slot.as_ref().is_none_or(|(_, held)| *held < bytes) {
            *slot = None; // first the old one goes
            let bytes = bytes.max(1 << 12);
            *slot = Some((machine.reserve(bytes)?, bytes));
        }
        Ok(())
    }

    /// The memory of a place.
    pub fn at(&self, place: impl Into<usize>) -> Result<&M::Memory, Error> {
        let none = || Error::Device { message: "the device has no memory for this step".into() };
        self.places[place.into()].as_ref().map(|(memory, _)| memory).ok_or_else(none)
    }

    /// Copies numbers to a place.
    pub fn put<T: NoUninit>(&mut self, machine: &M, place: impl Into<usize>, values: &[T]) -> Result<(), Error> {
        let (bytes, place) = (cast_slice(values), place.into());
        self.widen(machine, place, bytes.len())?;
        machine.write(self.at(place)?, 0, bytes)
    }
}
