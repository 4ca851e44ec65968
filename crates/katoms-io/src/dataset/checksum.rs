//! A checksum of data: a sum of mixed entries, so that neither the order of storage nor its kind counts.

/// What one read of a design tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digest {
    /// The sum of the mixed entries.
    pub(super) sum: u64,
    /// Whether all of them are finite.
    pub(super) finite: bool,
}

impl Default for Digest {
    fn default() -> Self {
        Self { sum: 0, finite: true }
    }
}

impl Digest {
    /// One entry more, which is not 0.
    pub(super) fn see(&mut self, rows: usize, (row, column): (usize, usize), value: f64) {
        let place = (column as u64).wrapping_mul(rows as u64).wrapping_add(row as u64);
        self.sum = self.sum.wrapping_add(mixed(place, value.to_bits()));
        self.finite &= value.is_finite();
    }

    /// A column of codes of these four values, four in a byte. No branch: which of them are 0 cannot be foreseen.
    pub(super) fn see_codes(&mut self, rows: usize, column: usize, bytes: &[u8], values: [f64; 4]) {
        let (bits, is_there) = (values.map(f64::to_bits), values.map(|v| if v == 0.0 { 0 } else { u64::MAX }));
        let mut place = (column as u64).wrapping_mul(rows as u64);
        let mut seen = [false; 4];
        let mut add = |byte: u8, genotypes: usize| {
            for l in 0..genotypes {
                let code = usize::from(byte >> (2 * l) & 3);
                self.sum = self.sum.wrapping_add(mixed(place, bits[code]) & is_there[code]);
                seen[code] = true;
                place = place.wrapping_add(1);
            }
        };
        let (whole, last) = bytes.split_at(bytes.len().min(rows / 4));
        whole.iter().for_each(|&byte| add(byte, 4));
        last.iter().for_each(|&byte| add(byte, rows % 4));
        self.finite &= values.iter().zip(seen).all(|(value, seen)| !seen || value.is_finite());
    }

    /// Of this and of others.
    pub(super) fn and(self, other: Self) -> Self {
        Self { sum: self.sum.wrapping_add(other.sum), finite: self.finite && other.finite }
    }
}

/// Place and value in one number; every bit of either can change every bit of it (the finaliser of `SplitMix64`).
pub(super) fn mixed(place: u64, bits: u64) -> u64 {
    let mut z = place.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ bits;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
