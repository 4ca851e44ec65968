//! A job as bytes: what was chosen, and the driver's state of the fit.

use katoms::Error;
use serde::{Deserialize, Serialize};

use super::{Centring, Trial};

const MAGIC: [u8; 8] = *b"katoms\0c";
/// Goes up whenever the bytes change their meaning.
const VERSION: u32 = 1;

/// All that a job needs to go on with its last fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    magic: [u8; 8],
    version: u32,
    pub chosen: Chosen,
    /// Seconds of the fit so far.
    pub seconds: f64,
    /// The driver's own bytes.
    pub state: Vec<u8>,
}

/// What the last fit is to be, and how that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub rank: usize,
    pub ridge: f64,
    pub centring: Centring,
    /// Whether the fit began at a point that had grown already.
    pub grown: bool,
    pub trials: Vec<Trial>,
    /// Whether all was tried that was to be tried.
    pub whole: bool,
    /// What the trials cost.
    pub passes: usize,
    pub seconds: f64,
}

impl Chosen {
    /// No choice.
    pub fn given(rank: usize, ridge: f64, centring: Centring) -> Self {
        Self { rank, ridge, centring, grown: false, trials: Vec::new(), whole: true, passes: 0, seconds: 0.0 }
    }
}

impl Saved {
    pub fn to_bytes(chosen: &Chosen, state: Vec<u8>, seconds: f64) -> Result<Vec<u8>, Error> {
        let saved = Self { magic: MAGIC, version: VERSION, chosen: chosen.clone(), seconds, state };
        let mut bytes = postcard::to_stdvec(&saved).map_err(|e| refused(format!("it could not be encoded ({e})")))?;
        bytes.extend(checksum(&bytes).to_le_bytes());
        Ok(bytes)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
        let saved: Option<Self> = postcard::from_bytes(body).ok();
        match saved {
            Some(saved) if checksum(body).to_le_bytes() == sum && saved.magic == MAGIC => match saved.version {
                VERSION => Ok(saved),
                version => Err(refused(format!("it is of version {version}, this program reads version {VERSION}"))),
            },
            _ => Err(refused("the bytes are damaged, cut off or no saved completion".into())),
        }
    }
}

fn refused(reason: String) -> Error {
    Error::Checkpoint { reason }
}

/// FNV-1a: enough to tell damage, not a safeguard against intent.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
