//! Entries of a sparse matrix in any order, brought into the order of columns.

use crate::source::Sparse;

/// Entries: a row, a column and a value each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triplets {
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Triplets {
    /// One more entry.
    pub(crate) fn push(&mut self, row: u32, column: u32, value: f64) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }

    /// The matrix of these entries: column after column, rows rising, entries of one place summed in their order.
    /// O(entries + rows + columns). `None` where the memory does not suffice.
    pub(crate) fn into_sparse(self, rows: usize, columns: usize) -> Option<Sparse> {
        let all: Vec<u32> = (0..u32::try_from(self.values.len()).ok()?).collect();
        let (by_row, _) = sorted_by(&self.rows, rows, &all)?;
        let (order, ends) = sorted_by(&self.columns, columns, &by_row)?;
        let mut sparse = Sparse {
            rows,
            columns,
            starts: reserved(columns.checked_add(1)?)?,
            indices: vec![],
            values: vec![],
            labels: None,
        };
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
        Some(sparse)
    }
}

/// `order`, sorted by `keys` below `count`, equal ones left in their order; and where each key ends.
fn sorted_by(keys: &[u32], count: usize, order: &[u32]) -> Option<(Vec<u32>, Vec<usize>)> {
    let mut next: Vec<usize> = reserved(count)?;
    next.resize(count, 0);
    keys.iter().for_each(|&key| next[key as usize] += 1);
    let mut sum = 0;
    for start in &mut next {
        (*start, sum) = (sum, sum + *start);
    }
    let mut sorted = vec![0; order.len()];
    for &entry in order {
        let place = &mut next[keys[entry as usize] as usize];
        sorted[*place] = entry;
        *place += 1;
    }
    Some((sorted, next))
}

/// Room for so many, if there is any.
fn reserved<T>(count: usize) -> Option<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count).ok()?;
    Some(vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_any_order_are_sorted_and_those_of_one_place_summed() {
        let mut triplets = Triplets::default();
        for (row, column, value) in [(2, 1, 5.0), (0, 1, 1.0), (2, 0, 3.0), (2, 1, 0.5)] {
            triplets.push(row, column, value);
        }
        let sparse = triplets.into_sparse(3, 3).unwrap();
        assert_eq!(
            (sparse.starts, sparse.indices, sparse.values),
            (vec![0, 1, 3, 3], vec![2, 0, 2], vec![3.0, 1.0, 5.5])
        );
    }

    #[test]
    fn a_matrix_larger_than_memory_is_refused() {
        assert_eq!(Triplets::default().into_sparse(1, usize::MAX / 8), None);
    }
}
