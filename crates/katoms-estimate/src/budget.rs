//! The time of a job, of which its fits get what is left.

use std::time::Instant;

use katoms::{Error, Stop};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    clock: Instant,
    seconds: Option<f64>,
}

impl Budget {
    /// The seconds of these stop rules, from now on.
    pub fn new(stop: &Stop) -> Result<Self, Error> {
        match stop.seconds {
            Some(value) if !(value > 0.0) => Err(Error::Option { name: "seconds", value, right: "it must be above 0" }),
            seconds => Ok(Self { clock: Instant::now(), seconds }),
        }
    }

    /// This share of it.
    pub fn share(self, share: f64) -> Self {
        Self { seconds: self.seconds.map(|most| share * most), ..self }
    }

    /// Stop rules with the seconds that are left, for a run whose own clock stands at `earlier` already.
    pub fn left(&self, stop: Stop, earlier: f64) -> Stop {
        let left = |most: f64| (most - self.clock.elapsed().as_secs_f64()).max(f64::MIN_POSITIVE);
        Stop { seconds: self.seconds.map(|most| earlier + left(most)), ..stop }
    }
}
