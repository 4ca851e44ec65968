//! Exchanges of one atom for another.

/// One atom out, one in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Swap {
    pub out: usize,
    pub into: usize,
    /// How much f falls; negative where it rises.
    pub gain: f64,
}

/// The best substitute of each atom inside, and how they were found.
#[derive(Debug, Clone)]
pub(crate) struct Swaps {
    /// The best first.
    pub best: Vec<Swap>,
    /// The number of exchanges that were compared.
    pub compared: usize,
    /// Whether these are all that there are, and compared exactly.
    pub exhaustive: bool,
}

impl Swaps {
    /// The same from a point that is above the minimum over its atoms.
    pub fn above(mut self, rise: f64) -> Self {
        self.best.iter_mut().for_each(|swap| swap.gain += rise.max(0.0));
        self
    }
}
