//! Which entries are kept back to judge a choice on.

use std::collections::BTreeMap;

use katoms::Error;
use katoms::linalg;
use katoms::operator::{Entries, LinearOperator};
use katoms::simulate::generator;
use katoms::space::LowRank;

use super::model::Bounds;
use super::{Effects, Observed};

/// The stream of the generator that splits.
const STREAM: u64 = 11;

/// A split of the observed entries: what is fitted, and what judges it.
pub(super) struct Split {
    pub seen: Observed,
    pub held: Observed,
    places: Entries,
}

impl Split {
    /// Holds out this share at random. No row and no column loses its last entry. Of `tied` matrices side by side,
    /// the entries at one place go together: what is missing is missing in all of them.
    pub fn new(observed: &Observed, share: f64, seed: u64, tied: usize) -> Result<Self, Error> {
        let total = observed.values().len();
        let wanted = ((share * total as f64).round() as usize).max(1);
        let (mut rows, mut columns) = observed.counts();
        let width = observed.shape().1 / tied;
        let mut places: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (e, (&i, &j)) in observed.rows().iter().zip(observed.columns()).enumerate() {
            places.entry((i, j % width)).or_default().push(e);
        }
        let places: Vec<Vec<usize>> = places.into_values().collect();
        let mut held = vec![false; total];
        let mut taken = 0;
        for place in shuffled(places.len(), seed) {
            let entries = &places[place];
            let row = observed.rows()[entries[0]];
            let spare = rows[row] > entries.len() && entries.iter().all(|&e| columns[observed.columns()[e]] > 1);
            if taken < wanted && spare {
                rows[row] -= entries.len();
                entries.iter().for_each(|&e| columns[observed.columns()[e]] -= 1);
                entries.iter().for_each(|&e| held[e] = true);
                taken += entries.len();
            }
        }
        if taken < 2 {
            return Err(Error::FewRows {
                what: "the set of entries that can be held out",
                rows: taken,
                needed: 2,
                why: "every row and every column keeps one; give one rank and one ridge, and nothing is held out",
            });
        }
        let positions = |wanted: bool| (0..total).filter(|&e| held[e] == wanted).collect::<Vec<_>>();
        let (seen, held) = (observed.subset(&positions(false)), observed.subset(&positions(true)));
        Ok(Self { places: held.entries()?, seen, held })
    }

    /// The squared errors of a point on what was held out, and the mean square of what the effects leave there.
    pub fn squares(&self, x: &LowRank, effects: &Effects, clip: &Bounds) -> (Vec<f64>, f64) {
        let mut predicted = vec![0.0; self.held.values().len()];
        self.places.apply(x, &mut predicted);
        let shifts = effects.on(&self.held);
        let places = predicted.iter().zip(&shifts).zip(self.held.columns().iter().zip(self.held.values()));
        let square =
            |((z, shift), (&j, value)): ((&f64, &f64), (&usize, &f64))| (clip.within(j, z + shift) - value).powi(2);
        let scale = linalg::norm(&linalg::combine(1.0, self.held.values(), -1.0, &shifts)).powi(2);
        (places.map(square).collect(), scale / predicted.len() as f64)
    }
}

/// 0..count in a random order (Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    use rand::RngExt;
    let mut rng = generator(seed, STREAM);
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_in_one_colour_is_missing_in_all() {
        let (p, q, colours) = (12, 10, 3);
        let places = (0..p).flat_map(|i| (0..q).map(move |j| (i, j))).filter(|(i, j)| (7 * i + 3 * j) % 5 != 0);
        let all: Vec<(usize, usize)> = places.flat_map(|(i, j)| (0..colours).map(move |c| (i, c * q + j))).collect();
        let (rows, columns): (Vec<usize>, Vec<usize>) = all.into_iter().unzip();
        let observed = Observed::new((p, colours * q), &rows, &columns, &vec![1.0; rows.len()]).unwrap();
        let torn = |tied: usize| {
            let split = Split::new(&observed, 0.2, 3, tied).unwrap();
            let held: Vec<(usize, usize)> =
                split.held.rows().iter().zip(split.held.columns()).map(|(&i, &j)| (i, j)).collect();
            assert!(held.len() >= colours * 10);
            let whole = |&(i, j): &(usize, usize)| (0..colours).all(|c| held.contains(&(i, c * q + j % q)));
            held.iter().filter(|place| !whole(place)).count()
        };
        assert_eq!(torn(colours), 0);
        assert!(torn(1) > 0, "or the test shows nothing");
    }
}
