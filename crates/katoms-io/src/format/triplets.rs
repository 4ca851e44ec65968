//! Entries of a sparse matrix in any order, brought into the order of columns.

use crate::allocation::{Budget, MaxUnpacked, OutOfMemory, filled, gathered, push, reserved};
use crate::source::Sparse;

/// Entries: a row, a column and a value each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triplets {
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Triplets {
    /// None yet, with room for so many.
    pub(crate) fn with_room(count: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { rows: reserved(count)?, columns: reserved(count)?, values: reserved(count)? })
    }

    /// One more entry.
    pub(crate) fn push(&mut self, row: u32, column: u32, value: f64) -> Result<(), OutOfMemory> {
        push(&mut self.rows, row)?;
        push(&mut self.columns, column)?;
        push(&mut self.values, value)
    }

    /// The matrix of these entries: column after column, rows rising, entries of one place summed in their order.
    /// O(entries + rows + columns).
    ///
    pub(crate) fn into_sparse(self, rows: usize, columns: usize, limit: MaxUnpacked) -> Result<Sparse, String> {
        Budget::new(limit).take_sides(rows, columns)?;
        if rows.max(columns) > u32::MAX as usize {
            return Err(format!("at most {} rows and columns are read, and {rows} × {columns} are there", u32::MAX));
        }
        let count = u32::try_from(self.values.len()).map_err(|_| "there are more entries than can be read")?;
        let all: Vec<u32> = gathered(0..count)?;
        let (by_row, _) = sorted_by(&self.rows, rows, &all)?;
        let (order, ends) = sorted_by(&self.columns, columns, &by_row)?;
        let (starts, indices, values) = (reserved(columns + 1)?, reserved(order.len())?, reserved(order.len())?);
        let mut sparse = Sparse { rows, columns, starts, indices, values, labels: None };
        sparse.starts.push(0);
        let mut from = 0;
        for end in ends {
            let first = sparse.indices.len();
            for &entry in &order[from..end] {
                let (row, value) = (self.rows[entry as usize], self.values[entry as usize]);
                match sparse.values.last_mut() {
                    Some(last) if sparse.indices.len() > first && sparse.indices.last() == Some(&row) => *last += value,
                    _ => {
                        sparse.indices.push(row);
                        sparse.values.push(value);
                    }
                }
            }
            sparse.starts.push(sparse.indices.len());
            from = end;
        }
        Ok(sparse)
    }
}

/// `order`, sorted by `keys` below `count`, equal ones left in their order; and where each key ends.
fn sorted_by(keys: &[u32], count: usize, order: &[u32]) -> Result<(Vec<u32>, Vec<usize>), String> {
    let mut next: Vec<usize> = filled(0, count)?;
    for &key in keys {
        *next.get_mut(key as usize).ok_or("an entry lies outside of the matrix")? += 1;
    }
    let mut sum = 0;
    for start in &mut next {
        (*start, sum) = (sum, sum + *start);
    }
    let mut sorted = filled(0, order.len())?;
    for &entry in order {
        let place = &mut next[keys[entry as usize] as usize];
        sorted[*place] = entry;
        *place += 1;
    }
    Ok((sorted, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_any_order_are_sorted_and_those_of_one_place_summed() {
        let mut triplets = Triplets::default();
        for (row, column, value) in [(2, 1, 5.0), (0, 1, 1.0), (2, 0, 3.0), (2, 1, 0.5)] {
            triplets.push(row, column, value).unwrap();
        }
        let sparse = triplets.into_sparse(3, 3, MaxUnpacked::default()).unwrap();
        assert_eq!(
            (sparse.starts, sparse.indices, sparse.values),
            (vec![0, 1, 3, 3], vec![2, 0, 2], vec![3.0, 1.0, 5.5])
        );
    }

    #[test]
    fn a_matrix_larger_than_the_limit_is_refused() {
        let sparse = |limit| Triplets::default().into_sparse(1, usize::MAX / 128, MaxUnpacked(limit)).unwrap_err();
        let refused = sparse(1 << 30);
        assert!(refused.contains("a matrix of 1 × 144115188075855871: it unpacks to"), "{refused}");
        assert!(sparse(u64::MAX).contains("at most 4294967295 rows and columns are read"));
    }
}
