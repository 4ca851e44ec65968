//! What the paper publishes on this cohort, in one place.

use crate::Contestant;

/// Tumours.
pub(super) const TUMOURS: f64 = 295.0;
/// Those of the smaller class.
pub(super) const POSITIVES: f64 = 78.0;
/// Those in the test part: the published errors are multiples of 1/177.
pub(super) const TESTED: f64 = 177.0;

/// A row of the paper's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Published {
    /// The share of the test tumours whose class was not named.
    pub error: f64,
    /// Seconds to convergence, each method with its own best setting.
    pub seconds: f64,
}

impl Published {
    /// The error in tumours.
    pub fn wrong(self) -> f64 {
        (self.error * TESTED).round()
    }
}

/// The row of a contestant, where the paper has one.
pub(super) fn published(contestant: Contestant) -> Option<Published> {
    let (error, seconds) = match contestant {
        Contestant::FrankWolfe => (0.2938, 58.45),
        Contestant::AwayFrankWolfe => (0.2938, 40.34),
        Contestant::PairwiseFrankWolfe => (0.2938, 38.22),
        Contestant::Iht => (0.2825, 5.24),
        Contestant::AccIht => (0.2881, 3.45),
        _ => return None,
    };
    Some(Published { error, seconds })
}

/// Seconds of the one / seconds of the other.
pub(super) fn published_ratio(one: Contestant, other: Contestant) -> Option<f64> {
    Some(published(one)?.seconds / published(other)?.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_are_whole_tumours() {
        for row in Contestant::ALL.into_iter().filter_map(published) {
            assert!((row.error * TESTED - row.wrong()).abs() < 0.01, "{row:?}");
        }
    }
}
