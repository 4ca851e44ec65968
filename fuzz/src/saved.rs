//! Saved states, which end with a checksum: it is put behind the bytes here, so that the rest is reached.

use std::path::Path;

use katoms::loss::LeastSquares;
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::select::Preparation;
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate::gaussian;
use katoms::{Error, Stop};
use katoms_estimate::{Answer, Completion, Estimate, Features, FitOptions, Observed, Progress, Watch, complete};

const ROWS: usize = 12;
/// The first byte of an input chooses one; the search is the first.
const METHODS: [Option<&str>; 4] = [None, Some("iht"), Some("cosamp"), Some("omp")];
/// What every state of a run starts with.
const MAGIC: &[u8] = b"katoms\0s";

/// Writes the states that a run saves, without their checksums, as inputs to start from.
pub fn seed(folder: &Path) {
    let write = |name: String, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("the folder is there");
    for (number, method) in METHODS.into_iter().enumerate() {
        let mut saved = Saving::default();
        fit(method, None, &mut saved).expect("a fit of sound data");
        let body = without_checksum(&saved.state);
        write(format!("features-{number}"), &[&[number as u8], body].concat());
    }
    write("completion".into(), &[&[0], without_checksum(&completion())].concat());
    let (_, state) = parts(&completion());
    write("completion-state".into(), &[&[1], without_checksum(&state)].concat());
}

/// A fit that goes on from these bytes.
pub fn of_features(bytes: &[u8]) {
    let Some((&method, body)) = bytes.split_first() else { return };
    let method = METHODS[usize::from(method) % METHODS.len()];
    let _ = fit(method, Some(with_checksum(body)), &mut Saving::default());
}

/// A completion that goes on from these bytes, or from one whose state is these bytes.
pub fn of_completion(bytes: &[u8]) {
    let state = match bytes.split_first() {
        Some((0, body)) => with_checksum(body),
        Some((_, state)) => {
            let (mut front, _) = parts(&completion());
            let state = with_checksum(state);
            let mut length = state.len();
            while length >= 0x80 {
                front.push(length as u8 | 0x80);
                length >>= 7;
            }
            front.push(length as u8);
            with_checksum(&[front, state].concat())
        }
        None => return,
    };
    let _ = complete(&observed(), &how(), Some(&state), &mut Saving::default());
}

/// Keeps the first state, and ends after a few moves.
#[derive(Default)]
struct Saving {
    state: Vec<u8>,
    moves: usize,
}

impl Watch for Saving {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        self.moves += 1;
        match (progress.can_save && self.state.is_empty(), self.moves > 5) {
            (true, _) => Answer::Save,
            (false, true) => Answer::Stop,
            (false, false) => Answer::GoOn,
        }
    }
    fn keep(&mut self, state: &[u8]) {
        self.state = state.to_vec();
    }
}

fn fit(method: Option<&str>, resume: Option<Vec<u8>>, watch: &mut Saving) -> Result<Estimate, Error> {
    let data = gaussian(ROWS, 5, 1);
    let design: AnyDesign<'_> = Dense::column_major(&data, ROWS, 5)?.into();
    let atoms = AnyAtoms::Coordinates(KSparse::new(1, design.domain())?);
    let loss = LeastSquares::new(gaussian(ROWS, 1, 2))?;
    let features = Features::new(&design, katoms::loss::AnyLoss::from(loss), atoms, Vec::new(), Preparation::default())?;
    let stop = Stop { iterations: 20, ..Stop::default() };
    features.fit(2, &FitOptions { method: method.map(Into::into), stop, resume, ..FitOptions::default() }, watch)
}

fn observed() -> Observed {
    let all = (0..6).flat_map(|i| (0..5).map(move |j| (i, j)));
    let places: Vec<(usize, usize)> = all.filter(|(i, j)| (i + j) % 4 > 0).collect();
    let (rows, columns): (Vec<_>, Vec<_>) = places.iter().copied().unzip();
    let values: Vec<f64> = places.iter().map(|&(i, j)| ((i + 1) * (j + 2)) as f64).collect();
    Observed::new((6, 5), &rows, &columns, &values).expect("sound entries")
}

fn how() -> Completion {
    Completion { stop: Stop { iterations: 20, ..Stop::default() }, ..Completion::exact(2) }
}

/// A saved completion.
fn completion() -> Vec<u8> {
    let mut saved = Saving::default();
    complete(&observed(), &how(), None, &mut saved).expect("a completion of sound data");
    saved.state
}

/// A saved completion before the length of its state, and the state, which is its last part.
fn parts(saved: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let body = without_checksum(saved);
    let start = body.windows(MAGIC.len()).rposition(|part| part == MAGIC).expect("a state in it");
    // the length takes a byte more for each seven bits
    let state = &body[start..];
    let length = (usize::BITS - state.len().leading_zeros()).div_ceil(7) as usize;
    (body[..start - length].to_vec(), state.to_vec())
}

fn without_checksum(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().saturating_sub(8)]
}

fn with_checksum(body: &[u8]) -> Vec<u8> {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum: u64 = body.iter().fold(0xcbf2_9ce4_8422_2325, step);
    [body, &sum.to_le_bytes()].concat()
}
