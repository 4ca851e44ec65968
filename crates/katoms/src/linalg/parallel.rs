//! Work shared among threads.
//!
//! Each function takes its work as a trait object, so that the machinery of threads is compiled once and not for every
//! caller. What is shared is worth microseconds at least: a call through the object costs nothing beside it. Results come
//! in the order of their indices, whatever the number of threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// Calls `work(i)` for each i below `count`.
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => (),
        1 => work(0),
        _ => (0..count).into_par_iter().for_each(work),
    }
}

/// `work(i)` for each i below `count`, in order.
pub fn map<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    if count <= 1 {
        return (0..count).map(work).collect();
    }
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|i| *locked(&results[i]) = Some(work(i)));
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The same, so many of them by one task.
pub fn map_by<T: Send>(at_once: usize, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let some = |task: usize| (task * at_once..count.min((task + 1) * at_once)).map(work).collect::<Vec<T>>();
    map(count.div_ceil(at_once), &some).into_iter().flatten().collect()
}

/// Calls `work(i, item)` for each item.
pub fn each_mut<T: Send>(items: &mut [T], work: &(dyn Fn(usize, &mut T) + Sync)) {
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    each(items.len(), &|i| work(i, &mut locked(&items[i])));
}

/// Calls `work(i, chunk)` for each chunk of so many values; the last may be shorter.
pub fn chunks_mut<T: Send>(values: &mut [T], length: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if values.len() <= length {
        if !values.is_empty() {
            work(0, values);
        }
        return;
    }
    let mut chunks: Vec<&mut [T]> = values.chunks_mut(length).collect();
    each_mut(&mut chunks, &|i, chunk| work(i, chunk));
}

/// Numbers of a matrix that one task takes: to copy 2 MB takes longer than to wake a thread.
const MATRIX: usize = 1 << 18;

/// Calls `work(j, column)` for each column of so many values.
pub fn columns_mut(values: &mut [f64], rows: usize, work: &(dyn Fn(usize, &mut [f64]) + Sync)) {
    let rows = rows.max(1);
    let each = (MATRIX / rows).max(1);
    chunks_mut(values, each * rows, &|chunk, columns| {
        columns.chunks_mut(rows).enumerate().for_each(|(at, column)| work(chunk * each + at, column));
    });
}

/// Values of a vector that one task takes.
const PART: usize = 1 << 15;

/// A vector of so many values: `fill(first, part)` tells those from `first` on.
pub fn filled(length: usize, fill: &(dyn Fn(usize, &mut [f64]) + Sync)) -> Vec<f64> {
    let mut values = vec![0.0; length];
    fill_parts(&mut values, fill);
    values
}

/// A copy of a vector.
pub fn copied(values: &[f64]) -> Vec<f64> {
    if values.len() <= PART {
        return values.to_vec();
    }
    filled(values.len(), &|first, out| out.copy_from_slice(&values[first..][..out.len()]))
}

/// Some vectors one after the other.
pub fn joined(vectors: &[&[f64]]) -> Vec<f64> {
    let mut values = vec![0.0; vectors.iter().map(|v| v.len()).sum()];
    let mut rest = &mut values[..];
    for vector in vectors {
        let (out, behind) = rest.split_at_mut(vector.len());
        fill_parts(out, &|first, out| out.copy_from_slice(&vector[first..][..out.len()]));
        rest = behind;
    }
    values
}

/// Whether two vectors are equal.
pub fn equal(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && sum(a.len(), &|some| f64::from(u8::from(a[some.clone()] != b[some]))) == 0.0
}

/// The same as [`filled`] in place.
pub fn fill_parts(values: &mut [f64], fill: &(dyn Fn(usize, &mut [f64]) + Sync)) {
    chunks_mut(values, PART, &|part, values| fill(part * PART, values));
}

/// A sum over so many places: `sum(places)` of parts of them that follow each other, added in order.
pub fn sum(length: usize, sum: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
    if length <= PART {
        return sum(0..length);
    }
    map(length.div_ceil(PART), &|part| sum(part * PART..length.min((part + 1) * PART))).iter().sum()
}

/// Each item is locked once, by the thread that works on it.
fn locked<T>(item: &Mutex<T>) -> MutexGuard<'_, T> {
    item.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_vectors_are_filled_and_summed_part_by_part() {
        for length in [0, 1, PART, PART + 1, 3 * PART - 7] {
            let fill = |first: usize, part: &mut [f64]| {
                part.iter_mut().enumerate().for_each(|(at, v)| *v = (first + at) as f64);
            };
            let values = filled(length, &fill);
            assert_eq!(values, (0..length).map(|i| i as f64).collect::<Vec<_>>());
            assert_eq!(copied(&values), values);
            assert_eq!(joined(&[&values, &values[..length / 2]]), [&values, &values[..length / 2]].concat());
            assert!(equal(&values, &copied(&values)) && !equal(&values, &[&values[..], &[1.0]].concat()));
            if let Some(last) = length.checked_sub(1) {
                let mut other = copied(&values);
                other[last] = -1.0;
                assert!(!equal(&values, &other));
            }
            let total = sum(length, &|places| places.map(|i| values[i]).sum());
            assert_eq!(total, values.iter().sum::<f64>()); // whole numbers: exact in any order
        }
    }

    #[test]
    fn every_column_is_seen_once_with_its_number() {
        for (rows, columns) in [(0, 3), (3, 4), (MATRIX / 4, 9), (MATRIX + 1, 2)] {
            let mut values = vec![0.0; rows * columns];
            columns_mut(&mut values, rows, &|j, column| {
                assert_eq!(column.len(), rows);
                column.iter_mut().for_each(|v| *v += 1.0 + j as f64);
            });
            assert!(values.chunks(rows.max(1)).enumerate().all(|(j, c)| c.iter().all(|v| *v == 1.0 + j as f64)));
        }
    }

    #[test]
    fn results_come_in_order_and_every_item_is_seen_once() {
        for count in [0, 1, 2, 1000] {
            assert_eq!(map(count, &|i| i * i), (0..count).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(map_by(7, count, &|i| i * i), map(count, &|i| i * i));
            let mut seen = vec![0; count];
            each_mut(&mut seen, &|i, item| *item += i + 1);
            assert_eq!(seen, (1..=count).collect::<Vec<_>>());
            for length in [1, 7, 2000] {
                chunks_mut(&mut seen, length, &|i, chunk| chunk.iter_mut().for_each(|v| *v += i));
            }
            let expected = |i: usize| i + 1 + i + i / 7;
            assert_eq!(seen, (0..count).map(expected).collect::<Vec<_>>());
        }
    }
}
