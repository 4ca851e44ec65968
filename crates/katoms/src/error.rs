//! Why something could not run, in words that a person can act on.
//!
//! An [`Error`] is about the input. A run that started always ends in an outcome whose
//! [`Status`](crate::driver::Status) says how: reaching a cap is no error.

/// What was wrong with the input, where, and what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of atoms, a rank or another count lies outside its range.
    #[error("{what} is {value}; it must lie between {min} and {max}")]
    OutOfRange {
        /// The name of the count, such as `k`.
        what: &'static str,
        /// The value that was given.
        value: usize,
        /// The smallest admissible value.
        min: usize,
        /// The largest admissible value.
        max: usize,
    },
    /// There are no rows, no columns or no observations.
    #[error("{what} is empty; at least one is needed")]
    Empty {
        /// What was empty.
        what: &'static str,
    },
    /// Two lengths that must agree do not.
    #[error("{what} has length {found}, but {expected} is needed ({why})")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that would be right.
        expected: usize,
        /// What it has to agree with.
        why: &'static str,
    },
    /// A value in a matrix is NaN or infinite.
    #[error("the {what} holds {value} at row {row}, column {column} (counted from 0); every value must be finite")]
    NotFinite {
        /// Which matrix.
        what: &'static str,
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A value in a vector is not admissible.
    #[error("the {what} holds {value} at position {index} (counted from 0); {right}")]
    Value {
        /// Which vector.
        what: &'static str,
        /// The position, counted from 0.
        index: usize,
        /// The offending value.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// A row, column or feature index points outside.
    #[error("the {what} at position {position} is {index}, but there are only {bound} (indices count from 0)")]
    Index {
        /// Which list of indices.
        what: &'static str,
        /// The place in that list.
        position: usize,
        /// The index found there.
        index: usize,
        /// How many there are to point at.
        bound: usize,
    },
    /// A group has no members.
    #[error("group {group} (counted from 0) has no members; remove it or give it at least one index")]
    EmptyGroup {
        /// The group, counted from 0.
        group: usize,
    },
    /// A group points outside the features.
    #[error("group {group} holds index {index}, but there are only {bound} features (indices count from 0)")]
    GroupIndex {
        /// The group, counted from 0.
        group: usize,
        /// The index that points outside.
        index: usize,
        /// The number of features.
        bound: usize,
    },
    /// An index stands twice where it may stand only once.
    #[error("index {index} stands twice in group {group} (counted from 0); list each member once")]
    RepeatedInGroup {
        /// The group, counted from 0.
        group: usize,
        /// The index that stands twice.
        index: usize,
    },
    /// Two groups of a disjoint set share an index.
    #[error(
        "index {index} belongs to groups {first} and {second} (counted from 0); disjoint groups share none: use OverlappingGroups"
    )]
    SharedIndex {
        /// The shared index.
        index: usize,
        /// The first group that holds it.
        first: usize,
        /// The second group that holds it.
        second: usize,
    },
    /// An option has a value that makes no sense.
    #[error("option {name} is {value}; {right}")]
    Option {
        /// The option.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// Stages were asked of a set that does not count atoms.
    #[error(
        "{what} does not count atoms, so a fit in it cannot grow to {atoms} of them in a stage; use Stages::direct()"
    )]
    Uncounted {
        /// The set.
        what: &'static str,
        /// The number of atoms that was asked for.
        atoms: usize,
    },
    /// Compressed columns or rows whose arrays contradict each other.
    #[error("the compressed sparse {what} is malformed at position {position}: {right}")]
    Compressed {
        /// Columns or rows.
        what: &'static str,
        /// Where in the pointer array.
        position: usize,
        /// What would be right.
        right: &'static str,
    },
    /// The operator and the constraint set live in different spaces.
    #[error("the design acts on {operator}, the constraint set on {set}; build both for the same space")]
    Domain {
        /// The operator's domain.
        operator: String,
        /// The set's domain.
        set: String,
    },
    /// A name that no method has.
    #[error("there is no method `{name}`{problem}; {}: {known}", did_you_mean(*nearest))]
    UnknownMethod {
        /// The name.
        name: String,
        /// For which problem it was asked.
        problem: String,
        /// The most similar name that exists, if one is similar.
        nearest: Option<&'static str>,
        /// All names that exist.
        known: String,
    },
    /// Fits that run in lockstep do not look at the same data.
    #[error(
        "fit {fit} (counted from 0) looks at other data than fit 0; fits in lockstep share one operator: give each a view of the same reference"
    )]
    Lockstep {
        /// The fit, counted from 0.
        fit: usize,
    },
    /// Fits that run in lockstep share an objective.
    #[error(
        "fit {fit} (counted from 0) shares its objective with an earlier one; give each fit an objective of its own"
    )]
    SharedObjective {
        /// The fit, counted from 0.
        fit: usize,
    },
    /// A sample has fewer rows than what is asked of it.
    #[error("{what} has {rows} rows, but at least {needed} are needed: {why}")]
    FewRows {
        /// Which sample.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// The rows that would do.
        needed: usize,
        /// What they are needed for, and what to do.
        why: &'static str,
    },
    /// A class that only one row has cannot be split.
    #[error(
        "class {class} has a single row ({row}, counted from 0), and a fit without that row would never see the class; merge it with another class or leave the row out"
    )]
    LonelyClass {
        /// The class.
        class: f64,
        /// Its row, counted from 0.
        row: usize,
    },
    /// An index stands twice in a sparse vector.
    #[error("index {index} stands twice in the sparse vector; list each entry once")]
    RepeatedIndex {
        /// The index that stands twice.
        index: usize,
    },
    /// A method that does not serve this loss or this data.
    #[error("{method} needs {needs}")]
    Unsuitable {
        /// The method.
        method: &'static str,
        /// What it needs, and what to do.
        needs: &'static str,
    },
    /// Numbers so large or so small that what is computed from them is no number in double precision.
    #[error("{what} holds values of magnitude up to {value:.1e}: {right}")]
    Magnitude {
        /// What holds them.
        what: String,
        /// The column of the design, counted from 0, where it is one.
        column: Option<usize>,
        /// The largest magnitude.
        value: f64,
        /// What goes wrong, and what to do.
        right: String,
    },
    /// A coefficient of a model that no number in double precision is.
    #[error("{what} is about 1e{exponent}, which is no number in double precision; {right}")]
    Coefficient {
        /// Whose it is.
        what: String,
        /// The column of the design, counted from 0.
        column: usize,
        /// Its magnitude, as an exponent of ten.
        exponent: i32,
        /// What to do.
        right: String,
    },
    /// A prediction that no number in double precision is.
    #[error(
        "the prediction of row {row} (counted from 0) is no number in double precision: column {column} (counted from 0) holds {value:e} there, and its coefficient is {coefficient:e}; are the data in the units of the fit?"
    )]
    Prediction {
        /// The row, counted from 0.
        row: usize,
        /// The column with the largest part in it, counted from 0.
        column: usize,
        /// What it holds.
        value: f64,
        /// What it is multiplied by.
        coefficient: f64,
    },
    /// A column of a table that nothing is known of.
    #[error(
        "column {column} (counted from 0) has no value at all, so there is nothing to fill it from; leave it out, or give it at least one"
    )]
    EmptyColumn {
        /// The column, counted from 0.
        column: usize,
    },
    /// What was asked for does not fit into memory.
    #[error("{what} takes {} MB of memory, and there is not so much; {instead}", bytes.div_ceil(1_000_000))]
    Memory {
        /// What needs it.
        what: String,
        /// How much.
        bytes: usize,
        /// What to do instead.
        instead: &'static str,
    },
    /// Workers of a [distributed design](crate::operator::Distributed) that cannot give what was asked of them.
    #[error("{message}")]
    Workers {
        /// Which block, what is wrong, and what to do.
        message: String,
    },
    /// A [device](crate::operator::Device) that is not there, or cannot do what was asked of it.
    #[error("{message}")]
    Device {
        /// Which device, what is wrong, and what to do.
        message: String,
    },
    /// A saved state that does not belong to this problem, or is damaged.
    #[error("the saved state cannot be continued: {reason}")]
    Checkpoint {
        /// What does not fit.
        reason: String,
    },
}

/// How a list of names begins: with the one that may be meant, where one is similar.
fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "there are".into(), |name| format!("did you mean `{name}`? There are"))
}

impl Error {
    /// A column whose values are too large or too small.
    pub fn column_magnitude(column: usize, value: f64, right: String) -> Self {
        let what = format!("column {column} of the design (counted from 0)");
        Self::Magnitude { what, column: Some(column), value, right }
    }
}

/// `Ok` when `min ≤ value ≤ max`.
pub(crate) fn check_range(what: &'static str, value: usize, min: usize, max: usize) -> Result<(), Error> {
    if value < min || value > max {
        return Err(Error::OutOfRange { what, value, min, max });
    }
    Ok(())
}

/// `Ok` when `found == expected`.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize, why: &'static str) -> Result<(), Error> {
    if found != expected {
        return Err(Error::Length { what, found, expected, why });
    }
    Ok(())
}

/// `Ok` when every value passes `test`.
pub(crate) fn check_values(
    what: &'static str,
    values: &[f64],
    right: &'static str,
    test: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    match values.iter().position(|&v| !test(v)) {
        Some(index) => Err(Error::Value { what, index, value: values[index], right }),
        None => Ok(()),
    }
}

/// `Ok` when every index lies below `bound`.
pub(crate) fn check_indices(what: &'static str, indices: &[usize], bound: usize) -> Result<(), Error> {
    match indices.iter().position(|&i| i >= bound) {
        Some(position) => Err(Error::Index { what, position, index: indices[position], bound }),
        None => Ok(()),
    }
}

/// `Ok` when an option's value passes `test`.
pub(crate) fn check_option(
    name: &'static str,
    value: f64,
    right: &'static str,
    test: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    if !test(value) {
        return Err(Error::Option { name, value, right });
    }
    Ok(())
}
