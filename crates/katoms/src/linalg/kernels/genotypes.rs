//! Sums over genotypes of 2 bits, which become numbers in registers on their way to the sums.
//!
//! A byte holds four individuals, the first of them in its lowest bits: the order of PLINK's .bed files. Each column says
//! what its four codes stand for: numbers of copies, or their squared distances from a centre. Each sum has the bits of
//! [`adjoint_columns`](super::adjoint_columns) on those numbers in double precision.
//!
//! With AVX-512 the numbers of a column are one register, and a permutation of it turns codes into numbers: three
//! instructions for eight genotypes. Elsewhere a table of all bytes has the four numbers of each. Columns without missing
//! genotypes share that table.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use pulp::{Arch, NullaryFnOnce, Simd, WithSimd};

use super::TASK_BYTES;
use super::columns::{LANES, sum_lanes};
use super::streams::{GROUP, fma, for_each_part, places, prefetch_ahead};

/// Genotypes in a byte.
pub(crate) const IN_BYTE: usize = 4;
/// Bytes that are decoded at a time.
const WORD: usize = 8;
/// The lowest bit of each code in a word.
const LOW: u64 = 0x5555_5555_5555_5555;
/// Bytes of a cache line, each of which is asked for once.
const CACHE_LINE: usize = 64;
/// Residuals that share what was decoded.
const SHARED: usize = 4;

/// What the codes 0 to 3 of a column stand for: of copies of the first allele two, an unknown number, one, none.
pub(crate) type Meaning = [f64; 4];

/// Columns of genotypes, one after the other, each of whole bytes.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) rows: usize,
}

impl<'a> Packed<'a> {
    /// The bytes of a column.
    #[inline(always)]
    pub(crate) fn column(&self, j: usize) -> &'a [u8] {
        let length = self.rows.div_ceil(IN_BYTE);
        &self.bytes[j * length..][..length]
    }
}

/// Residuals as the words of a column meet them: `words[q]` is the q-th, its last word filled up with −0. Times a number that
/// is not negative, and added, that leaves a sum as it is.
pub(crate) struct Residuals {
    words: Vec<Vec<Residual>>,
}

/// What the genotypes of one word are multiplied with; a vector never lies across two cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Residual([[f64; LANES]; WORD * IN_BYTE / LANES]);

impl Residuals {
    /// Each of one number for every row.
    pub(crate) fn new(rs: &[&[f64]]) -> Self {
        let word = |part: &[f64]| {
            let mut word = Residual([[-0.0; LANES]; WORD * IN_BYTE / LANES]);
            word.0.as_flattened_mut()[..part.len()].copy_from_slice(part);
            word
        };
        Self { words: rs.iter().map(|r| r.chunks(WORD * IN_BYTE).map(word).collect()).collect() }
    }
}

/// `outs[q][c]` = Σᵢ x·rs\[q\]\[i\], where x is what the code of row i stands for in the c-th of the picked columns, or of all.
///
/// O(mnq) for q residuals, one read of the codes; parallel over blocks of columns.
///
/// # Panics
/// If there are not as many results as residuals, or residuals are shorter than columns.
pub(crate) fn genotype_sums(
    packed: Packed<'_>,
    picked: Option<&[usize]>,
    meaning: &(dyn Fn(usize) -> Meaning + Sync),
    residuals: &Residuals,
    outs: &mut [&mut [f64]],
) {
    assert_eq!(outs.len(), residuals.words.len(), "as many results as residuals");
    if outs.is_empty() {
        return;
    }
    // As much arithmetic in a task as in one on numbers of a byte.
    let width = (TASK_BYTES / packed.rows.max(1)).next_multiple_of(GROUP).max(GROUP);
    for_each_part(outs, width, &|first, outs| {
        let picked = picked.map(|picked| &picked[first..]);
        let sums = Sums { packed, first, picked, meaning, residuals, outs };
        match Arch::new() {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(Permuted { simd, sums }),
            arch => arch.dispatch(Tabled(sums)),
        }
    });
}

/// A way from codes to numbers, and their products with residuals.
trait Lookup {
    /// What the codes of a column stand for.
    type Column;
    /// Partial sums.
    type Lanes: Copy;
    fn column(&self, meaning: Meaning) -> Self::Column;
    fn none(&self) -> Self::Lanes;
    fn add<const Q: usize>(
        &self,
        sums: [Self::Lanes; Q],
        column: &Self::Column,
        word: [u8; WORD],
        rs: [&Residual; Q],
    ) -> [Self::Lanes; Q];
    fn total(&self, sums: Self::Lanes) -> f64;
}

/// The picked columns, or those from `first` on, as many as each of `outs` is long.
struct Sums<'a, 'b> {
    packed: Packed<'a>,
    first: usize,
    picked: Option<&'a [usize]>,
    meaning: &'a dyn Fn(usize) -> Meaning,
    residuals: &'a Residuals,
    outs: &'a mut [&'b mut [f64]],
}

impl Sums<'_, '_> {
    /// All of them: `C` columns at a time with one residual, `D` with several.
    #[inline(always)]
    fn all<L: Lookup, const C: usize, const D: usize>(mut self, lookup: &L) {
        let count = self.outs.len();
        let shared = count - count % SHARED;
        if shared > 0 {
            self.columns::<L, D, SHARED>(lookup, 0..shared);
        }
        self.columns::<L, C, 1>(lookup, shared..count);
    }

    /// All columns, `C` at a time, with these residuals, `Q` at a time. Streams as in `Columns`.
    #[inline(always)]
    fn columns<L: Lookup, const C: usize, const Q: usize>(&mut self, lookup: &L, residuals: Range<usize>) {
        let columns = self.outs[0].len();
        let stride = columns / C;
        for first in 0..stride {
            for q in residuals.clone().step_by(Q) {
                self.group::<L, C, Q>(lookup, q, first, stride);
            }
        }
        if stride * C < columns {
            for q in residuals.step_by(Q) {
                self.group::<L, C, Q>(lookup, q, stride * C, 1);
            }
        }
    }

    /// `C` columns, from `first` in steps of `stride`, with `Q` residuals from the `q`-th on.
    #[inline(always)]
    fn group<L: Lookup, const C: usize, const Q: usize>(&mut self, lookup: &L, q: usize, first: usize, stride: usize) {
        let places: [usize; C] = places(first, stride, self.outs[0].len());
        let length = self.packed.rows.div_ceil(IN_BYTE);
        let (whole, words) = (length / WORD, length.div_ceil(WORD));
        let mut rs: [&[Residual]; Q] = [&[]; Q];
        for p in 0..Q {
            rs[p] = &self.residuals.words[q + p][..words];
        }
        let (mut bytes, mut codes): ([&[u8]; C], [&[[u8; WORD]]; C]) = ([&[]; C], [&[]; C]);
        let place = |c: usize| self.picked.map_or(self.first + places[c], |picked| picked[places[c]]);
        let columns: [L::Column; C] = std::array::from_fn(|c| lookup.column((self.meaning)(place(c))));
        for c in 0..C {
            bytes[c] = self.packed.column(place(c));
            codes[c] = &bytes[c].as_chunks().0[..whole];
        }
        let mut sums = [[lookup.none(); Q]; C];
        for b in 0..whole {
            let r = words_at(&rs, b);
            for c in 0..C {
                if b.is_multiple_of(CACHE_LINE / WORD) {
                    prefetch_ahead(codes[c].as_ptr().wrapping_add(b));
                }
                sums[c] = lookup.add(sums[c], &columns[c], codes[c][b], r);
            }
        }
        if whole < words {
            for c in 0..C {
                let (mut last, ends) = ([0; WORD], bytes[c].as_chunks::<WORD>().1);
                last[..ends.len()].copy_from_slice(ends);
                sums[c] = lookup.add(sums[c], &columns[c], last, words_at(&rs, whole));
            }
        }
        for c in 0..C {
            for p in 0..Q {
                self.outs[q + p][places[c]] = lookup.total(sums[c][p]);
            }
        }
    }
}

/// The b-th word of each residual.
#[inline(always)]
fn words_at<'r, const Q: usize>(rs: &[&'r [Residual]; Q], b: usize) -> [&'r Residual; Q] {
    let mut words = [&rs[0][b]; Q];
    for p in 0..Q {
        words[p] = &rs[p][b];
    }
    words
}

/// The sums by permutations of a register.
#[cfg(target_arch = "x86_64")]
struct Permuted<'a, 'b> {
    simd: pulp::x86::V4,
    sums: Sums<'a, 'b>,
}

#[cfg(target_arch = "x86_64")]
impl NullaryFnOnce for Permuted<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // 32 registers: the sums of eight columns, or of four with four residuals, and what their codes stand for.
        self.sums.all::<_, GROUP, { GROUP / 2 }>(&self.simd);
    }
}

#[cfg(target_arch = "x86_64")]
impl Lookup for pulp::x86::V4 {
    type Column = pulp::f64x8;
    type Lanes = pulp::f64x8;

    /// Twice, since an index has three bits, of which the highest is one of the next code.
    #[inline(always)]
    fn column(&self, [a, b, c, d]: Meaning) -> pulp::f64x8 {
        pulp::f64x8(a, b, c, d, a, b, c, d)
    }
    #[inline(always)]
    fn none(&self) -> pulp::f64x8 {
        self.splat_f64x8(0.0)
    }
    #[inline(always)]
    fn add<const Q: usize>(
        &self,
        mut sums: [pulp::f64x8; Q],
        column: &pulp::f64x8,
        word: [u8; WORD],
        rs: [&Residual; Q],
    ) -> [pulp::f64x8; Q] {
        let word = pulp::cast(self.splat_u64x8(u64::from_le_bytes(word)));
        for part in 0..WORD * IN_BYTE / LANES {
            let mut shifts = [0_u64; LANES];
            for l in 0..LANES {
                shifts[l] = (2 * (LANES * part + l)) as u64;
            }
            let codes = self.avx512f._mm512_srlv_epi64(word, pulp::cast(shifts));
            let x = pulp::cast(self.avx512f._mm512_permutexvar_pd(codes, pulp::cast(*column)));
            for q in 0..Q {
                sums[q] = self.mul_add_f64x8(x, pulp::cast(rs[q].0[part]), sums[q]);
            }
        }
        sums
    }
    #[inline(always)]
    fn total(&self, sums: pulp::f64x8) -> f64 {
        sum_lanes(pulp::cast(sums))
    }
}

/// The sums by tables.
struct Tabled<'a, 'b>(Sums<'a, 'b>);

impl WithSimd for Tabled<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // The tables of four columns stay in L1; the sums of one column with four residuals stay in 16 registers.
        self.0.all::<_, { GROUP / 2 }, 1>(&ByTable::<S>(PhantomData));
    }
}

struct ByTable<S>(PhantomData<S>);

/// What the four codes of every byte stand for.
type Table<T> = [[T; IN_BYTE]; 256];

impl<S: Simd> Lookup for ByTable<S> {
    type Column = Arc<Table<f64>>;
    type Lanes = [f64; LANES];

    #[inline(always)]
    fn column(&self, meaning: Meaning) -> Arc<Table<f64>> {
        static SHARED: LazyLock<Arc<Table<f64>>> = LazyLock::new(|| Arc::new(DOUBLES));
        if meaning == COPIES { SHARED.clone() } else { Arc::new(table(meaning)) }
    }
    #[inline(always)]
    fn none(&self) -> [f64; LANES] {
        [0.0; LANES]
    }
    #[inline(always)]
    fn add<const Q: usize>(
        &self,
        mut sums: [[f64; LANES]; Q],
        column: &Arc<Table<f64>>,
        word: [u8; WORD],
        rs: [&Residual; Q],
    ) -> [[f64; LANES]; Q] {
        let table: &Table<f64> = column;
        for part in 0..WORD * IN_BYTE / LANES {
            for half in 0..LANES / IN_BYTE {
                let x = &table[usize::from(word[LANES / IN_BYTE * part + half])];
                for q in 0..Q {
                    for l in 0..IN_BYTE {
                        let lane = IN_BYTE * half + l;
                        sums[q][lane] = fma::<S>(x[l], rs[q].0[part][lane], sums[q][lane]);
                    }
                }
            }
        }
        sums
    }
    #[inline(always)]
    fn total(&self, sums: [f64; LANES]) -> f64 {
        sum_lanes(sums)
    }
}

/// The numbers of every byte, where codes stand for these.
const fn table<T: Copy>(meaning: [T; 4]) -> Table<T> {
    let mut table = [[meaning[0]; IN_BYTE]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut l = 0;
        while l < IN_BYTE {
            table[byte][l] = meaning[byte >> (2 * l) & 3];
            l += 1;
        }
        byte += 1;
    }
    table
}

/// A missing genotype is 0 in these.
const COPIES: Meaning = [2.0, 0.0, 1.0, 0.0];
static DOUBLES: Table<f64> = table(COPIES);

/// The numbers of a column, or of some whole bytes of it. O(m).
pub(crate) fn decode_genotypes(column: &[u8], missing: f64, out: &mut [f64]) {
    let (whole, rest) = out.as_chunks_mut::<IN_BYTE>();
    let (bytes, last) = column.split_at(whole.len());
    for (out, &byte) in whole.iter_mut().zip(bytes) {
        *out = DOUBLES[usize::from(byte)];
    }
    for &byte in last.iter().take(1) {
        rest.copy_from_slice(&DOUBLES[usize::from(byte)][..rest.len()]);
    }
    if missing != 0.0 {
        for_each_missing(column, |i| out.get_mut(i).into_iter().for_each(|x| *x = missing));
    }
}

/// The rows of a column whose genotype is missing; those that fill up its last byte may be among them.
fn for_each_missing(column: &[u8], mut see: impl FnMut(usize)) {
    for (at, word) in words(column).enumerate() {
        let mut missing = word & !(word >> 1) & LOW;
        while missing != 0 {
            see(at * WORD * IN_BYTE + missing.trailing_zeros() as usize / 2);
            missing &= missing - 1;
        }
    }
}

fn words(column: &[u8]) -> impl Iterator<Item = u64> {
    let (words, ends) = column.as_chunks::<WORD>();
    let mut last = [0; WORD];
    last[..ends.len()].copy_from_slice(ends);
    words.iter().copied().chain((!ends.is_empty()).then_some(last)).map(u64::from_le_bytes)
}

/// How many of the first `rows` genotypes of a column have each code. O(m), on the calling thread.
pub(crate) fn count_codes(column: &[u8], rows: usize) -> [usize; 4] {
    struct Counts<'a>(&'a [u8], usize);
    impl WithSimd for Counts<'_> {
        type Output = [usize; 4];

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> [usize; 4] {
            let Self(column, rows) = self;
            let mut counts = [0; 4];
            for (at, word) in words(column).enumerate() {
                let left = rows.saturating_sub(at * WORD * IN_BYTE);
                let among = if left >= WORD * IN_BYTE { LOW } else { LOW & ((1 << (2 * left)) - 1) };
                let (low, high) = (word & among, word >> 1 & among);
                counts[1] += (low & !high).count_ones() as usize;
                counts[2] += (high & !low).count_ones() as usize;
                counts[3] += (high & low).count_ones() as usize;
            }
            counts[0] = rows - counts[1] - counts[2] - counts[3];
            counts
        }
    }
    Arch::new().dispatch(Counts(column, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::adjoint_columns;

    /// Every byte, and bits behind the last individual that mean nothing.
    fn codes(rows: usize, columns: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64 + rows as u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        };
        (0..rows.div_ceil(IN_BYTE) * columns).map(|_| next()).collect()
    }

    fn meaning(j: usize) -> Meaning {
        match j % 3 {
            0 => COPIES,
            1 => [2.0, 2.0 / (j + 1) as f64, 1.0, 0.0],
            _ => [0.01, 3.0, 1.0 / (j + 1) as f64, 0.7],
        }
    }

    /// A naive twin: one genotype.
    fn genotype(packed: Packed<'_>, i: usize, j: usize) -> f64 {
        meaning(j)[usize::from(packed.column(j)[i / 4] >> (2 * (i % 4)) & 3)]
    }

    fn residual(rows: usize, q: usize) -> Vec<f64> {
        (0..rows).map(|i| ((i + 31 * q) as f64 * 1.7).sin() * 10.0_f64.powi(i as i32 % 7 - 3)).collect()
    }

    #[test]
    fn sums_have_the_bits_of_the_decoded_numbers_on_every_machine() {
        for (rows, columns) in [(1, 1), (3, 9), (4, 8), (31, 7), (32, 17), (67, 21), (256, 5), (1003, 130)] {
            let bytes = codes(rows, columns);
            let packed = Packed { bytes: &bytes, rows };
            let decoded: Vec<f64> = (0..rows * columns).map(|at| genotype(packed, at % rows, at / rows)).collect();
            for count in [1, 2, 4, 7] {
                let rs: Vec<Vec<f64>> = (0..count).map(|q| residual(rows, q)).collect();
                let rs: Vec<&[f64]> = rs.iter().map(Vec::as_slice).collect();
                let mut expected = vec![vec![f64::NAN; columns]; count];
                expected.iter_mut().zip(&rs).for_each(|(out, r)| adjoint_columns(&decoded, r, out));
                let residuals = Residuals::new(&rs);
                let of = |length: usize, sums: &dyn Fn(&mut [&mut [f64]])| {
                    let mut found = vec![vec![f64::NAN; length]; count];
                    sums(&mut found.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
                    found
                };
                let found = of(columns, &|outs| genotype_sums(packed, None, &meaning, &residuals, outs));
                assert_eq!(found, expected, "{rows} x {columns}, {count} residuals");
                let found = of(columns, &|outs| {
                    Arch::new().dispatch(Tabled(Sums {
                        packed,
                        first: 0,
                        picked: None,
                        meaning: &meaning,
                        residuals: &residuals,
                        outs,
                    }));
                });
                assert_eq!(found, expected, "{rows} x {columns}, {count} residuals, by tables");
                let picked: Vec<usize> = (0..columns).rev().step_by(3).collect();
                let found = of(picked.len(), &|outs| genotype_sums(packed, Some(&picked), &meaning, &residuals, outs));
                let of_picked = |out: &Vec<f64>| picked.iter().map(|&j| out[j]).collect::<Vec<_>>();
                assert_eq!(found, expected.iter().map(of_picked).collect::<Vec<_>>(), "{rows} x {columns}, some");
            }
        }
    }

    #[test]
    fn columns_are_decoded_and_counted() {
        for rows in [1, 2, 3, 4, 31, 32, 33, 130, 1003] {
            let bytes = codes(rows, 1);
            let values = [2.0, 0.7, 1.0, 0.0];
            let expected: Vec<f64> =
                (0..rows).map(|i| values[usize::from(bytes[i / 4] >> (2 * (i % 4)) & 3)]).collect();
            let mut doubles = vec![f64::NAN; rows];
            decode_genotypes(&bytes, 0.7, &mut doubles);
            assert_eq!(doubles, expected);
            assert_eq!(count_codes(&bytes, rows), values.map(|v| expected.iter().filter(|&&x| x == v).count()));
        }
    }
}
