//! What can be wrong with the numbers handed to the calculator.

use std::fmt;

/// A value the theory does not cover; the message names it and says what would be right.
///
/// ```
/// use katoms::theory::Conditioning;
///
/// let error = Conditioning::new(2.0, 1.0).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "alpha = 2, beta = 1: need 0 < alpha <= beta, both finite"
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TheoryError {
    /// Not 0 < α ≤ β < ∞.
    Curvature {
        /// The lower curvature given.
        alpha: f64,
        /// The upper curvature given.
        beta: f64,
    },
    /// Not 0 ≤ ξ ≤ 2.
    Xi {
        /// The ξ given.
        xi: f64,
    },
    /// A momentum that is not a finite number.
    Momentum {
        /// The τ given.
        tau: f64,
    },
    /// A norm or a curvature that is negative or not finite.
    Magnitude {
        /// Which quantity.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A matrix whose entries do not fill its shape, or a shape without entries.
    Shape {
        /// How many entries were given.
        entries: usize,
        /// How many rows were claimed.
        rows: usize,
        /// How many columns were claimed.
        columns: usize,
    },
    /// A matrix entry that is not finite.
    Entry {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A support size outside 1..=columns.
    SupportSize {
        /// The size asked for.
        size: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// More supports than an enumeration can visit.
    TooManySupports {
        /// The size asked for.
        size: usize,
        /// How many columns there are.
        columns: usize,
        /// C(columns, size); +∞ past the range of f64.
        supports: f64,
        /// The most we enumerate at this size.
        limit: f64,
    },
}

impl fmt::Display for TheoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Curvature { alpha, beta } => {
                write!(f, "alpha = {alpha}, beta = {beta}: need 0 < alpha <= beta, both finite")
            }
            Self::Xi { xi } => write!(f, "xi = {xi}: need 0 <= xi <= 2"),
            Self::Momentum { tau } => write!(f, "tau = {tau}: need a finite number"),
            Self::Magnitude { name, value } => {
                write!(f, "{name} = {value}: need a finite number, zero or more")
            }
            Self::Shape { entries, rows, columns } => write!(
                f,
                "{entries} entries for {rows} rows and {columns} columns: \
                 need at least one of each, and rows x columns entries"
            ),
            Self::Entry { row, column, value } => {
                write!(f, "entry at row {row}, column {column} is {value}: need a finite number")
            }
            Self::SupportSize { size, columns } => {
                write!(f, "support size {size}: need 1 to {columns}, the number of columns")
            }
            Self::TooManySupports { size, columns, supports, limit } => write!(
                f,
                "{columns} columns have {supports:.4e} supports of size {size}, and at most \
                 {limit} are enumerated: take a smaller size or fewer columns"
            ),
        }
    }
}

impl std::error::Error for TheoryError {}

/// `value` itself, if it is finite and not negative.
pub(super) fn magnitude(name: &'static str, value: f64) -> Result<f64, TheoryError> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(TheoryError::Magnitude { name, value }) }
}
