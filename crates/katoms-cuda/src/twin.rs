//! The kernels in safe Rust: what they compute is told here, and held against what a graphics card computes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::{cast_slice, pod_collect_to_vec};
use half::{bf16, f16};
use katoms::Error;

use crate::machine::{Call, Laid, Machine, Numbers, SparselyLaid};

/// A machine whose memory is the host's.
#[derive(Debug, Default)]
pub struct Twin {
    /// The most bytes that it gives at a time; no limit where there is none.
    pub limit: Option<usize>,
}

/// Some bytes.
#[derive(Debug)]
pub struct Memory(Mutex<Vec<u8>>);

impl Memory {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn doubles(&self) -> Vec<f64> {
        let bytes = self.bytes();
        pod_collect_to_vec(&bytes[..bytes.len() / 8 * 8])
    }
    fn set(&self, values: &[f64]) {
        self.bytes()[..8 * values.len()].copy_from_slice(cast_slice(values));
    }
}

impl Laid<'_, Memory> {
    /// The matrix, column after column.
    fn matrix(&self) -> Vec<Vec<f64>> {
        self.listed(None)
    }

    /// The same, or the columns of a list.
    fn listed(&self, list: Option<&Memory>) -> Vec<Vec<f64>> {
        if let Some(list) = list {
            let list: Vec<u32> = pod_collect_to_vec(&list.bytes()[..4 * self.columns]);
            let one = |&j: &u32| {
                let bytes = self.memory.bytes();
                values(self.numbers, &bytes[j as usize * self.apart..][..self.rows * self.numbers.bytes()])
            };
            return list.iter().map(one).collect();
        }
        let bytes = self.memory.bytes();
        let size = self.numbers.bytes();
        let lines = if self.by_rows { self.rows } else { self.columns };
        let length = self.rows * self.columns / lines;
        let line = |at: usize| values(self.numbers, &bytes[at * self.apart..][..length * size]);
        let lines: Vec<Vec<f64>> = (0..lines).map(line).collect();
        if !self.by_rows {
            return lines;
        }
        (0..self.columns).map(|j| lines.iter().map(|line| line[j]).collect()).collect()
    }

    /// Numbers that a lane takes at a time.
    fn lane(&self) -> usize {
        if self.by_rows { 1 } else { self.numbers.lane() }
    }
}

impl SparselyLaid<'_, Memory> {
    /// The entries of the columns, with their rows.
    fn entries(&self) -> Vec<Vec<(usize, f64)>> {
        let (values, starts) = (self.values.doubles(), pod_collect_to_vec::<u8, i64>(&self.starts.bytes()));
        let rows: Vec<u32> = pod_collect_to_vec(&self.indices.bytes());
        let list = self.list.map(|list| pod_collect_to_vec::<u8, u32>(&list.bytes()[..4 * self.columns]));
        let one = |at: usize| {
            let j = list.as_ref().map_or(at, |list| list[at] as usize);
            (starts[j] as usize..starts[j + 1] as usize).map(|e| (rows[e] as usize, values[e])).collect()
        };
        (0..self.columns).map(one).collect()
    }
}

fn values(numbers: Numbers, bytes: &[u8]) -> Vec<f64> {
    match numbers {
        Numbers::F64 => pod_collect_to_vec(bytes),
        Numbers::F32 => pod_collect_to_vec::<u8, f32>(bytes).into_iter().map(f64::from).collect(),
        Numbers::F16 => pod_collect_to_vec::<u8, f16>(bytes).into_iter().map(f64::from).collect(),
        Numbers::BF16 => pod_collect_to_vec::<u8, bf16>(bytes).into_iter().map(f64::from).collect(),
        Numbers::U8 => bytes.iter().map(|&v| f64::from(v)).collect(),
        Numbers::I8 => bytes.iter().map(|&v| f64::from(v as i8)).collect(),
    }
}

/// Where a packed vector has the value of a row.
fn place(row: usize, vector: usize, lane: usize, blocks: usize) -> usize {
    let (step, within) = (row / (4 * lane), row % (4 * lane));
    ((step * blocks + vector / 8) * lane + within % lane) * 32 + vector % 8 * 4 + within / lane
}

impl Machine for Twin {
    type Memory = Memory;

    fn reserve(&self, bytes: usize) -> Result<Memory, Error> {
        match self.limit {
            Some(limit) if bytes > limit => {
                Err(Error::Device { message: format!("{limit} bytes of memory are free, and {bytes} are needed") })
            }
            // What has not been written must not be read.
            _ => Ok(Memory(Mutex::new(vec![0xff; bytes]))),
        }
    }
    fn write(&self, to: &Memory, place: usize, bytes: &[u8]) -> Result<(), Error> {
        to.bytes()[place..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
    fn read(&self, from: &Memory, mut place: usize, outs: &mut [&mut [u8]]) -> Result<(), Error> {
        for out in outs {
            out.copy_from_slice(&from.bytes()[place..][..out.len()]);
            place += out.len();
        }
        Ok(())
    }
    fn launch(&self, call: &Call<'_, Memory>) -> Result<(), Error> {
        match *call {
            Call::Pass { design, list, squares, packed, blocks, centres, split, out } => {
                let (x, packed, lane) = (design.listed(list), packed.doubles(), design.lane());
                let centres = centres.map_or_else(|| vec![0.0; design.columns], Memory::doubles);
                let centre = |j: usize| if squares { centres[j] } else { 0.0 };
                let vector = |q: usize| (0..design.rows).map(|i| packed[place(i, q, lane, blocks)]).collect();
                let vectors: Vec<Vec<f64>> = (0..8 * blocks).map(vector).collect();
                let mut sums = Vec::new();
                for first in (0..design.rows).step_by(split) {
                    let rows = first..design.rows.min(first + split);
                    for square in if squares { &[false, true][..] } else { &[false] } {
                        for vector in &vectors {
                            let vector = &vector[rows.clone()];
                            let sum = |j: usize| {
                                let apart = x[j][rows.clone()].iter().map(|v| v - centre(j));
                                let value = apart.map(|v| if *square { v * v } else { v });
                                value.zip(vector).map(|(v, r)| v * r).sum::<f64>()
                            };
                            let nothing = vector.iter().all(|r| *r == 0.0);
                            sums.extend((0..design.columns).map(|j| if nothing { 0.0 } else { sum(j) }));
                        }
                    }
                }
                out.set(&sums);
            }
            Call::SparsePass { design, packed, blocks, count, out } => {
                let (columns, packed) = (design.entries(), packed.doubles());
                let sum = |q: usize, column: &[(usize, f64)]| -> f64 {
                    column.iter().map(|&(row, x)| x * packed[place(row, q, 1, blocks)]).sum()
                };
                let all = (0..count).flat_map(|q| columns.iter().map(move |column| sum(q, column)));
                out.set(&all.collect::<Vec<f64>>());
            }
            Call::SparseSquares { design, packed, count, totals, centres, out } => {
                let (columns, packed) = (design.entries(), packed.doubles());
                let (totals, centres) = (totals.doubles(), centres.doubles());
                let sum = |q: usize, j: usize| {
                    let weight = |row: usize| packed[place(row, q, 1, 1)];
                    let squares = columns[j].iter().map(|&(row, x)| weight(row) * (x - centres[j]).powi(2));
                    let stored: f64 = columns[j].iter().map(|&(row, _)| weight(row)).sum();
                    squares.sum::<f64>() + (totals[q] - stored).max(0.0) * centres[j].powi(2)
                };
                let all = (0..count).flat_map(|q| (0..columns.len()).map(move |j| sum(q, j)));
                out.set(&all.collect::<Vec<f64>>());
            }
            Call::SparseGather { design, h, apart, out } => {
                let (columns, h) = (design.entries(), h.map(Memory::doubles));
                let mut gathered = vec![0.0; apart * columns.len()];
                for (to, column) in gathered.chunks_mut(apart).zip(columns) {
                    column.iter().for_each(|&(row, x)| to[row] = h.as_ref().map_or(x, |h| h[row] * x));
                }
                out.set(&gathered);
            }
            Call::Gather { design, list, count, h, apart, out } => {
                let (x, h) = (design.matrix(), h.map(Memory::doubles));
                let list: Vec<u32> = pod_collect_to_vec(&list.bytes()[..4 * count]);
                let mut gathered = vec![0.0; apart * count];
                for (to, &j) in gathered.chunks_mut(apart).zip(&list) {
                    let value = |(i, v): (usize, &f64)| h.as_ref().map_or(*v, |h| h[i] * v);
                    to.iter_mut().zip(x[j as usize].iter().enumerate().map(value)).for_each(|(to, v)| *to = v);
                }
                out.set(&gathered);
            }
            Call::Take { values, which, count, out } => {
                let (values, which) = (values.doubles(), pod_collect_to_vec::<u8, u32>(&which.bytes()[..4 * count]));
                out.set(&which.iter().map(|&e| values[e as usize]).collect::<Vec<f64>>());
            }
            Call::Dots { left, right, shape, rank, places, count, out } => {
                let (left, right) = (left.doubles(), right.doubles());
                let places: Vec<u32> = pod_collect_to_vec(&places.bytes()[..8 * count]);
                let dot = |place: &[u32]| {
                    let [i, j] = [place[0], place[1]].map(|at| at as usize);
                    (0..rank).map(|c| left[c * shape.0 + i] * right[c * shape.1 + j]).sum()
                };
                out.set(&places.chunks(2).map(dot).collect::<Vec<f64>>());
            }
            Call::Row { design, row, out } => {
                out.set(&design.matrix().iter().map(|column| column[row]).collect::<Vec<f64>>());
            }
            Call::Pack { vectors, apart, rows, count, lane, blocks, out } => {
                let vectors = vectors.doubles();
                let mut packed = vec![0.0; rows.div_ceil(4 * lane) * lane * blocks * 32];
                for vector in 0..count {
                    (0..rows).for_each(|i| packed[place(i, vector, lane, blocks)] = vectors[vector * apart + i]);
                }
                out.set(&packed);
            }
            Call::AddUp { parts, count, length, out } => {
                let parts = parts.doubles();
                let sum = |i: usize| (0..count).map(|p| parts[p * length + i]).sum();
                out.set(&(0..length).map(sum).collect::<Vec<f64>>());
            }
            Call::Apply { columns, apart, rows, count, values, each, out } => {
                let (columns, values) = (columns.doubles(), values.doubles());
                let mut sums = vec![0.0; rows * count.div_ceil(each)];
                for (c, value) in values.iter().enumerate().take(count) {
                    (0..rows).for_each(|i| sums[c / each * rows + i] += value * columns[c * apart + i]);
                }
                out.set(&sums);
            }
            Call::Finish { sums, centres, columns: n, total, sum, out } => {
                let (sums, centres, mut all) = (sums.doubles(), centres.doubles(), vec![0.0; 3 * n]);
                for j in 0..n {
                    let away = sums[j] / total;
                    let variance = sums[8 * n + j] / total - away * away;
                    all[j] = centres[j] + away;
                    all[n + j] = if variance < 0.0 { 0.0 } else { variance };
                    all[2 * n + j] = sums[n + j] + sum * centres[j];
                }
                out.set(&all);
            }
            Call::Code { design, block, every, count, length, means, codes, centres, steps } => {
                let (x, means) = (design.matrix(), means.doubles());
                let (mut all, mut kept, mut worth) = (vec![0_u8; length * x.len()], Vec::new(), Vec::new());
                for ((column, mean), codes) in x.iter().zip(means).zip(all.chunks_mut(length)) {
                    let centre = mean as f32;
                    let row = |i: usize| i / block * block * every + i % block;
                    let distances: Vec<f32> = (0..count).map(|i| column[row(i)] as f32 - centre).collect();
                    let most = distances.iter().fold(0.0_f32, |most, d| most.max(d.abs()));
                    let inverse = if most > 0.0 { 127.0 / most } else { 0.0 };
                    for (code, distance) in codes.iter_mut().zip(distances) {
                        *code = (distance * inverse + 12_582_912.0).to_bits() as u8;
                    }
                    kept.push(f64::from(centre));
                    worth.push(most / 127.0);
                }
                codes.bytes()[..all.len()].copy_from_slice(&all);
                centres.set(&kept);
                steps.bytes()[..4 * worth.len()].copy_from_slice(cast_slice(&worth));
            }
            Call::Decode { products, steps, centres, columns: n, count, units, totals } => {
                let (centres, units, totals) = (centres.doubles(), units.doubles(), totals.doubles());
                let steps: Vec<f32> = pod_collect_to_vec(&steps.bytes()[..4 * n]);
                let mut all = products.doubles();
                for (q, own) in all.chunks_mut(n).enumerate().take(count) {
                    for (j, value) in own.iter_mut().enumerate() {
                        let decoded = units[q] * f64::from(steps[j]) * *value + centres[j] * totals[q];
                        *value = if decoded.is_finite() { decoded } else { 0.0 };
                    }
                }
                products.set(&all);
            }
        }
        Ok(())
    }
}
