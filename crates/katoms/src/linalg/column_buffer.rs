//! Columns to which more come.

use super::parallel;

/// Values below which a second thread costs more than it brings.
const PARALLEL_WORK: usize = 1 << 17;

/// Columns of one length, one after the other. There is more room than they need, so that new ones seldom move the old.
#[derive(Debug, Default)]
pub(crate) struct ColumnBuffer {
    values: Vec<f64>,
    used: usize,
}

impl Clone for ColumnBuffer {
    /// Without the room.
    fn clone(&self) -> Self {
        Self { values: parallel::copied(self.data()), used: self.used }
    }
}

impl ColumnBuffer {
    pub fn data(&self) -> &[f64] {
        &self.values[..self.used]
    }

    pub fn into_data(mut self) -> Vec<f64> {
        self.values.truncate(self.used);
        self.values
    }

    /// Columns of so many rows behind the others: `write(i, column)` tells the i-th of them.
    pub fn append(&mut self, rows: usize, count: usize, write: &(dyn Fn(usize, &mut [f64]) + Sync)) {
        let first = self.used;
        self.widen(first + rows * count);
        let new = &mut self.values[first..self.used];
        if new.len() < PARALLEL_WORK {
            new.chunks_mut(rows.max(1)).enumerate().for_each(|(i, column)| write(i, column));
        } else {
            parallel::chunks_mut(new, rows, write);
        }
    }

    /// Writes the columns at these places, which rise: `write(i, column)` tells the i-th of them. Those between that nobody
    /// has written hold anything.
    pub fn write_at(&mut self, rows: usize, places: &[usize], write: &(dyn Fn(usize, &mut [f64]) + Sync)) {
        let Some(last) = places.last() else { return };
        self.widen(rows * (last + 1));
        let (mut rest, mut passed, mut columns) = (&mut self.values[..], 0, Vec::with_capacity(places.len()));
        for &place in places {
            let (column, others) = rest.split_at_mut((place - passed) * rows).1.split_at_mut(rows);
            (rest, passed) = (others, place + 1);
            columns.push(column);
        }
        if rows * places.len() < PARALLEL_WORK {
            columns.into_iter().enumerate().for_each(|(i, column)| write(i, column));
        } else {
            parallel::each_mut(&mut columns, &|i, column| write(i, column));
        }
    }

    /// Makes room for so many values. Pages are brought in by the threads that write them first.
    fn widen(&mut self, needed: usize) {
        if self.values.len() < needed {
            let before = std::mem::replace(&mut self.values, vec![0.0; needed.max(2 * self.used)]);
            let old = &mut self.values[..self.used];
            parallel::fill_parts(old, &|first, out| out.copy_from_slice(&before[first..][..out.len()]));
        }
        self.used = self.used.max(needed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_where_they_were_written() {
        for rows in [1, 3, 70_000] {
            let of = |number: usize| vec![number as f64; rows];
            let mut buffer = ColumnBuffer::default();
            buffer.append(rows, 2, &|i, column| column.copy_from_slice(&of(i)));
            buffer.append(rows, 0, &|_, _| unreachable!("there are none"));
            buffer.append(rows, 3, &|i, column| column.copy_from_slice(&of(2 + i)));
            assert_eq!(buffer.data(), (0..5).flat_map(of).collect::<Vec<_>>());
            buffer.write_at(rows, &[1, 4, 5], &|i, column| column.copy_from_slice(&of(10 + i)));
            let expected: Vec<f64> = [0, 10, 2, 3, 11, 12].into_iter().flat_map(of).collect();
            assert_eq!(buffer.clone().data(), expected);
            assert_eq!(buffer.into_data(), expected);
        }
    }
}
