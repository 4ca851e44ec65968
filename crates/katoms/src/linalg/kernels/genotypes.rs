//! Φᵀr of genotypes, 2 bits each, which become numbers in registers on their way to the sums.
//!
//! A byte holds four individuals, the first of them in its lowest bits: the order of PLINK's .bed files. The sums are
//! those of [`adjoint_columns`](super::adjoint_columns) on the same numbers in double precision, bit for bit.
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
use super::streams::{GROUP, fma, for_each_part, prefetch_ahead};

/// Genotypes in a byte.
pub(crate) const IN_BYTE: usize = 4;
/// Bytes that are decoded at a time.
const WORD: usize = 8;
/// The lowest bit of each code in a word.
const LOW: u64 = 0x5555_5555_5555_5555;
/// Bytes of a cache line, each of which is asked for once.
const CACHE_LINE: usize = 64;
/// Columns at a time where each may have a table of its own: four of them stay in L1.
const TABLES: usize = 4;

/// Columns of genotypes, one after the other, each of whole bytes.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) rows: usize,
    /// What a missing genotype of each column counts as.
    pub(crate) missing: &'a [f64],
}

impl<'a> Packed<'a> {
    /// The bytes of a column.
    #[inline(always)]
    pub(crate) fn column(&self, j: usize) -> &'a [u8] {
        let length = self.rows.div_ceil(IN_BYTE);
        &self.bytes[j * length..][..length]
    }

    /// What the codes 0 to 3 of a column stand for: two copies of the first allele, unknown, one copy, none.
    #[inline(always)]
    fn values(&self, j: usize) -> [f64; 4] {
        [2.0, self.missing[j], 1.0, 0.0]
    }
}

/// A residual on some runs of rows, as the words of a column meet it.
pub(crate) struct RunsOfRows {
    /// The bytes of a column in which each run lies.
    bytes: Vec<Range<usize>>,
    /// For each word of each run. What fills up the last is −0: times any genotype and added, it leaves a sum as it is.
    words: Vec<Residuals>,
}

/// What one word is multiplied with; a vector never lies across two cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Residuals([[f64; LANES]; WORD * IN_BYTE / LANES]);

impl RunsOfRows {
    /// `r` on these runs, each of which starts with a byte.
    pub(crate) fn new(runs: impl Iterator<Item = Range<usize>>, r: &[f64]) -> Self {
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        for run in runs {
            bytes.push(run.start / IN_BYTE..run.end.div_ceil(IN_BYTE));
            for part in r[run].chunks(WORD * IN_BYTE) {
                let mut word = Residuals([[-0.0; LANES]; WORD * IN_BYTE / LANES]);
                word.0.as_flattened_mut()[..part.len()].copy_from_slice(part);
                words.push(word);
            }
        }
        Self { bytes, words }
    }
}

/// The entries of Φᵀr of the picked columns, or of all.
///
/// O(mn), one read of the runs; parallel over blocks of columns.
pub(crate) fn adjoint_genotypes(packed: Packed<'_>, picked: Option<&[usize]>, runs: &RunsOfRows, out: &mut [f64]) {
    let length = runs.bytes.iter().map(ExactSizeIterator::len).sum::<usize>().max(1);
    // As much arithmetic in a task as in one on numbers of a byte.
    let width = (TASK_BYTES / IN_BYTE / length).next_multiple_of(GROUP).max(GROUP);
    for_each_part(&mut [out], width, |first, outs| {
        let products = Products { packed, picked, first, runs, out: &mut *outs[0] };
        match Arch::new() {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(Permuted { simd, products }),
            arch => arch.dispatch(Tabled(products)),
        }
    });
}

/// A way from codes to numbers, and their products with a residual.
trait Lookup {
    /// What the codes of a column stand for.
    type Column;
    /// Eight partial sums.
    type Sums: Copy;
    fn column(&self, values: [f64; 4]) -> Self::Column;
    fn none(&self) -> Self::Sums;
    fn add(&self, sums: Self::Sums, column: &Self::Column, word: [u8; WORD], r: &Residuals) -> Self::Sums;
    fn lanes(&self, sums: Self::Sums) -> [f64; LANES];
}

/// The columns from `first` on, as many as `out` is long.
struct Products<'a> {
    packed: Packed<'a>,
    picked: Option<&'a [usize]>,
    first: usize,
    runs: &'a RunsOfRows,
    out: &'a mut [f64],
}

impl Products<'_> {
    /// All of them, `C` at a time. Streams as in `Columns`.
    #[inline(always)]
    fn all<L: Lookup, const C: usize>(mut self, lookup: &L) {
        let columns = self.out.len();
        let stride = columns / C;
        for first in 0..stride {
            self.group::<L, C>(lookup, first, stride);
        }
        for first in stride * C..columns {
            self.group::<L, 1>(lookup, first, 1);
        }
    }

    /// `C` columns, from `first` in steps of `stride`.
    #[inline(always)]
    fn group<L: Lookup, const C: usize>(&mut self, lookup: &L, first: usize, stride: usize) {
        let place = |c: usize| {
            let at = self.first + first + c * stride;
            self.picked.map_or(at, |picked| picked[at])
        };
        let columns: [L::Column; C] = std::array::from_fn(|c| lookup.column(self.packed.values(place(c))));
        let mut sums = [lookup.none(); C];
        let mut rest = &self.runs.words[..];
        for run in &self.runs.bytes {
            let bytes: [&[u8]; C] = std::array::from_fn(|c| &self.packed.column(place(c))[run.clone()]);
            let (words, after) = rest.split_at(run.len().div_ceil(WORD));
            rest = after;
            let whole = run.len() / WORD;
            let mut codes: [&[[u8; WORD]]; C] = [&[]; C];
            for c in 0..C {
                codes[c] = &bytes[c].as_chunks().0[..whole];
            }
            for (b, r) in words[..whole].iter().enumerate() {
                for c in 0..C {
                    if b.is_multiple_of(CACHE_LINE / WORD) {
                        prefetch_ahead(codes[c].as_ptr().wrapping_add(b));
                    }
                    sums[c] = lookup.add(sums[c], &columns[c], codes[c][b], r);
                }
            }
            for r in &words[whole..] {
                for c in 0..C {
                    let (mut last, ends) = ([0; WORD], bytes[c].as_chunks::<WORD>().1);
                    last[..ends.len()].copy_from_slice(ends);
                    sums[c] = lookup.add(sums[c], &columns[c], last, r);
                }
            }
        }
        for c in 0..C {
            self.out[first + c * stride] = sum_lanes(lookup.lanes(sums[c]));
        }
    }
}

/// The products by permutations of a register.
#[cfg(target_arch = "x86_64")]
struct Permuted<'a> {
    simd: pulp::x86::V4,
    products: Products<'a>,
}

#[cfg(target_arch = "x86_64")]
impl NullaryFnOnce for Permuted<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.products.all::<_, GROUP>(&self.simd);
    }
}

#[cfg(target_arch = "x86_64")]
impl Lookup for pulp::x86::V4 {
    type Column = pulp::f64x8;
    type Sums = pulp::f64x8;

    /// Twice, since an index has three bits, of which the highest is one of the next code.
    #[inline(always)]
    fn column(&self, [a, b, c, d]: [f64; 4]) -> pulp::f64x8 {
        pulp::f64x8(a, b, c, d, a, b, c, d)
    }
    #[inline(always)]
    fn none(&self) -> pulp::f64x8 {
        self.splat_f64x8(0.0)
    }
    #[inline(always)]
    fn add(&self, mut sums: pulp::f64x8, column: &pulp::f64x8, word: [u8; WORD], r: &Residuals) -> pulp::f64x8 {
        let word = pulp::cast(self.splat_u64x8(u64::from_le_bytes(word)));
        for (part, r) in r.0.iter().enumerate() {
            let shifts: [u64; LANES] = std::array::from_fn(|l| (2 * (LANES * part + l)) as u64);
            let codes = self.avx512f._mm512_srlv_epi64(word, pulp::cast(shifts));
            let x = self.avx512f._mm512_permutexvar_pd(codes, pulp::cast(*column));
            sums = self.mul_add_f64x8(pulp::cast(x), pulp::cast(*r), sums);
        }
        sums
    }
    #[inline(always)]
    fn lanes(&self, sums: pulp::f64x8) -> [f64; LANES] {
        pulp::cast(sums)
    }
}

/// The products by tables.
struct Tabled<'a>(Products<'a>);

impl WithSimd for Tabled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.all::<_, TABLES>(&ByTable::<S>(PhantomData));
    }
}

struct ByTable<S>(PhantomData<S>);

/// What the four codes of every byte stand for.
type Table<T> = [[T; IN_BYTE]; 256];

impl<S: Simd> Lookup for ByTable<S> {
    type Column = Arc<Table<f64>>;
    type Sums = [f64; LANES];

    #[inline(always)]
    fn column(&self, values: [f64; 4]) -> Arc<Table<f64>> {
        static SHARED: LazyLock<Arc<Table<f64>>> = LazyLock::new(|| Arc::new(DOUBLES));
        if values[1] == 0.0 { SHARED.clone() } else { Arc::new(table(values)) }
    }
    #[inline(always)]
    fn none(&self) -> [f64; LANES] {
        [0.0; LANES]
    }
    #[inline(always)]
    fn add(&self, mut sums: [f64; LANES], column: &Arc<Table<f64>>, word: [u8; WORD], r: &Residuals) -> [f64; LANES] {
        let table: &Table<f64> = column;
        for (part, r) in r.0.iter().enumerate() {
            for half in 0..2 {
                let x = &table[usize::from(word[2 * part + half])];
                for l in 0..IN_BYTE {
                    let lane = IN_BYTE * half + l;
                    sums[lane] = fma::<S>(x[l], r[lane], sums[lane]);
                }
            }
        }
        sums
    }
    #[inline(always)]
    fn lanes(&self, sums: [f64; LANES]) -> [f64; LANES] {
        sums
    }
}

/// The numbers of every byte, where codes stand for these.
const fn table<T: Copy>(values: [T; 4]) -> Table<T> {
    let mut table = [[values[0]; IN_BYTE]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut l = 0;
        while l < IN_BYTE {
            table[byte][l] = values[byte >> (2 * l) & 3];
            l += 1;
        }
        byte += 1;
    }
    table
}

/// A missing genotype is 0 in both.
static DOUBLES: Table<f64> = table([2.0, 0.0, 1.0, 0.0]);
static BYTES: Table<i8> = table([2, 0, 1, 0]);

/// The numbers of a column, or of some whole bytes of it, of which none is missing. O(m).
pub(crate) fn decode_bytes(column: &[u8], out: &mut [i8]) {
    decode(column, &BYTES, out);
}

/// The numbers of a column, or of some whole bytes of it. O(m).
pub(crate) fn decode_doubles(column: &[u8], missing: f64, out: &mut [f64]) {
    decode(column, &DOUBLES, out);
    if missing != 0.0 {
        for_each_missing(column, |i| out.get_mut(i).into_iter().for_each(|x| *x = missing));
    }
}

fn decode<T: Copy>(column: &[u8], table: &Table<T>, out: &mut [T]) {
    let (whole, rest) = out.as_chunks_mut::<IN_BYTE>();
    let (bytes, last) = column.split_at(whole.len());
    for (out, &byte) in whole.iter_mut().zip(bytes) {
        *out = table[usize::from(byte)];
    }
    for &byte in last.iter().take(1) {
        rest.copy_from_slice(&table[usize::from(byte)][..rest.len()]);
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

    /// A naive twin: one genotype.
    fn genotype(packed: Packed<'_>, i: usize, j: usize) -> f64 {
        match packed.column(j)[i / 4] >> (2 * (i % 4)) & 3 {
            0 => 2.0,
            1 => packed.missing[j],
            2 => 1.0,
            _ => 0.0,
        }
    }

    fn residual(rows: usize) -> Vec<f64> {
        (0..rows).map(|i| (i as f64 * 1.7).sin() * 10.0_f64.powi(i as i32 % 7 - 3)).collect()
    }

    #[test]
    fn products_have_the_bits_of_the_decoded_numbers_on_every_machine() {
        for (rows, columns) in [(1, 1), (3, 9), (4, 8), (31, 7), (32, 17), (67, 21), (256, 5), (1003, 130)] {
            let bytes = codes(rows, columns);
            let missing: Vec<f64> = (0..columns).map(|j| if j % 3 == 0 { 0.0 } else { 2.0 / (j + 1) as f64 }).collect();
            let packed = Packed { bytes: &bytes, rows, missing: &missing };
            let decoded: Vec<f64> = (0..rows * columns).map(|at| genotype(packed, at % rows, at / rows)).collect();
            let r = residual(rows);
            let mut expected = vec![f64::NAN; columns];
            adjoint_columns(&decoded, &r, &mut expected);
            let runs = RunsOfRows::new(std::iter::once(0..rows), &r);
            let mut found = vec![f64::NAN; columns];
            adjoint_genotypes(packed, None, &runs, &mut found);
            assert_eq!(found, expected, "{rows} x {columns}");
            found.fill(f64::NAN);
            let products = Products { packed, picked: None, first: 0, runs: &runs, out: &mut found };
            Arch::new().dispatch(Tabled(products));
            assert_eq!(found, expected, "{rows} x {columns}, by tables");
            let picked: Vec<usize> = (0..columns).rev().step_by(3).collect();
            found.truncate(picked.len());
            adjoint_genotypes(packed, Some(&picked), &runs, &mut found);
            assert_eq!(found, picked.iter().map(|&j| expected[j]).collect::<Vec<_>>(), "{rows} x {columns}, some");
        }
    }

    #[test]
    fn some_runs_of_rows_are_the_others_left_out() {
        let (rows, columns) = (1003, 12);
        let (bytes, missing, r) = (codes(rows, columns), vec![0.3; columns], residual(rows));
        let packed = Packed { bytes: &bytes, rows, missing: &missing };
        let runs = [0..63, 252..315, 504..567, 1000..1003];
        let mut found = vec![f64::NAN; columns];
        adjoint_genotypes(packed, None, &RunsOfRows::new(runs.clone().into_iter(), &r), &mut found);
        for (j, found) in found.iter().enumerate() {
            let expected: f64 = runs.iter().cloned().flatten().map(|i| genotype(packed, i, j) * r[i]).sum();
            assert!((found - expected).abs() < 1e-9, "{j}: {found} for {expected}");
        }
    }

    #[test]
    fn columns_are_decoded_and_counted() {
        for rows in [1, 2, 3, 4, 31, 32, 33, 130, 1003] {
            let (bytes, missing) = (codes(rows, 1), [0.7]);
            let packed = Packed { bytes: &bytes, rows, missing: &missing };
            let expected: Vec<f64> = (0..rows).map(|i| genotype(packed, i, 0)).collect();
            let mut doubles = vec![f64::NAN; rows];
            decode_doubles(&bytes, 0.7, &mut doubles);
            assert_eq!(doubles, expected);
            let mut whole = vec![-1; rows];
            decode_bytes(&bytes, &mut whole);
            let without = expected.iter().map(|&x| if x == 0.7 { 0 } else { x as i8 });
            assert_eq!(whole, without.collect::<Vec<_>>());
            let count = |value: f64| expected.iter().filter(|&&x| x == value).count();
            assert_eq!(count_codes(&bytes, rows), [count(2.0), count(0.7), count(1.0), count(0.0)]);
        }
    }
}
