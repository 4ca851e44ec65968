//! Families of designs that differ in what makes a search by some of the rows hard.

use katoms::simulate;

/// How the rows and columns of a design hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// Independent normal entries.
    Gaussian,
    /// Neighbouring columns with this correlation.
    Autoregressive(f64),
    /// Entries of Student's t with three degrees of freedom.
    HeavyTailed,
    /// Independent normal entries, the rows of growing size: the first hundred say little.
    SortedRows,
}

/// All of them.
pub const FAMILIES: [Family; 5] = [
    Family::Gaussian,
    Family::Autoregressive(0.4),
    Family::Autoregressive(0.8),
    Family::HeavyTailed,
    Family::SortedRows,
];

impl Family {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "Gaussian",
            Self::Autoregressive(by) if by < 0.5 => "AR(1) 0.4",
            Self::Autoregressive(_) => "AR(1) 0.8",
            Self::HeavyTailed => "heavy-tailed",
            Self::SortedRows => "sorted rows",
        }
    }

    /// A design, column after column; its columns have norm 1.
    pub fn design(self, rows: usize, columns: usize, seed: u64) -> Vec<f32> {
        let mut x = vec![0.0; rows * columns];
        simulate::gaussian_columns_f32(&mut x, rows, 0, seed);
        match self {
            Self::Gaussian => {}
            Self::Autoregressive(by) => {
                let (by, fresh) = (by as f32, (1.0 - by * by).sqrt() as f32);
                for at in rows..x.len() {
                    x[at] = by * x[at - rows] + fresh * x[at];
                }
            }
            Self::HeavyTailed => {
                // Three more normals below the root make a t of three degrees of freedom.
                let mut squares = vec![0.0_f32; x.len()];
                for part in 1..=3 {
                    let mut z = vec![0.0; x.len()];
                    simulate::gaussian_columns_f32(&mut z, rows, part * columns, seed);
                    squares.iter_mut().zip(z).for_each(|(s, z)| *s += z * z);
                }
                x.iter_mut().zip(squares).for_each(|(x, s)| *x /= (s / 3.0).sqrt());
            }
            Self::SortedRows => {
                for column in x.chunks_mut(rows) {
                    for (i, v) in column.iter_mut().enumerate() {
                        *v *= (3.0 * i as f32 / rows as f32).exp();
                    }
                }
            }
        }
        for column in x.chunks_mut(rows) {
            let norm = column.iter().map(|v| v * v).sum::<f32>().sqrt();
            column.iter_mut().for_each(|v| *v /= norm);
        }
        x
    }
}
