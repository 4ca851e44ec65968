//! Saved states that are wrong though their checksum is right: an answer or an error, never a panic.

use katoms::Stop;
use katoms::loss::LeastSquares;
use katoms::operator::{AnyDesign, Dense};
use katoms::select::Preparation;
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate::gaussian;
use katoms_estimate::{Completion, Features, FitOptions, Observed, Unwatched, complete};

use super::Interrupt;

fn forged(state: &[u8], place: usize, byte: u8) -> Vec<u8> {
    let mut body = state[..state.len() - 8].to_vec();
    body[place] = byte;
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum: u64 = body.iter().fold(0xcbf2_9ce4_8422_2325, step);
    body.extend(sum.to_le_bytes());
    body
}

#[test]
fn a_fit_goes_on_or_refuses() {
    let data = gaussian(12, 5, 1);
    let design: AnyDesign<'_> = Dense::column_major(&data, 12, 5).unwrap().into();
    let atoms = AnyAtoms::Coordinates(KSparse::new(1, 5).unwrap());
    let loss = LeastSquares::new(gaussian(12, 1, 2)).unwrap();
    let features =
        Features::new(&design, katoms::loss::AnyLoss::from(loss), atoms, Vec::new(), Preparation::default()).unwrap();
    let mut refused = 0;
    for method in [None, Some("omp"), Some("forward-regression"), Some("cosamp")] {
        let stop = Stop { iterations: 20, ..Stop::default() };
        let how = FitOptions { method: method.map(Into::into), stop, ..FitOptions::default() };
        let mut interrupt = Interrupt::at(1);
        features.fit(2, &how, &mut interrupt).unwrap();
        for place in 0..interrupt.state.len() - 8 {
            for byte in [0, 1, interrupt.state[place] ^ 1, 0x7f] {
                let how = FitOptions { resume: Some(forged(&interrupt.state, place, byte)), ..how.clone() };
                refused += usize::from(features.fit(2, &how, &mut Unwatched).is_err());
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_completion_goes_on_or_refuses() {
    let places = (0..6).flat_map(|i| (0..5).map(move |j| (i, j))).filter(|(i, j)| (i + j) % 4 > 0);
    let (rows, columns): (Vec<usize>, Vec<usize>) = places.unzip();
    let values: Vec<f64> = rows.iter().zip(&columns).map(|(i, j)| ((i + 1) * (j + 2)) as f64).collect();
    let seen = Observed::new((6, 5), &rows, &columns, &values).unwrap();
    let how = Completion { stop: Stop { iterations: 20, ..Stop::default() }, ..Completion::exact(2) };
    let mut interrupt = Interrupt::at(1);
    complete(&seen, &how, None, &mut interrupt).unwrap();
    // the state within is the last part and has a checksum of its own
    let saved = &interrupt.state[..interrupt.state.len() - 8];
    let start = saved.windows(8).rposition(|part| part == b"katoms\0s").unwrap();
    let mut refused = 0;
    for place in 0..saved.len() - 8 {
        let mut state = saved.to_vec();
        if place >= start {
            let inner = forged(&saved[start..], place - start, saved[place] ^ 1);
            state.splice(start.., inner);
        }
        state.extend([0; 8]);
        let byte = if place >= start { state[place] } else { saved[place] ^ 1 };
        refused += usize::from(complete(&seen, &how, Some(&forged(&state, place, byte)), &mut Unwatched).is_err());
    }
    assert!(refused > 0);
}
