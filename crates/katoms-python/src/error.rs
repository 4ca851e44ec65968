//! One exception for each kind of error. All are `ValueError`s, with the message that the program prints; a lack of
//! memory is a `MemoryError`.

use katoms::Error;
use katoms::theory::TheoryError;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    katoms.exceptions,
    KatomsError,
    PyValueError,
    "An input that cannot be used. The message says what would be right."
);

/// An exception for each variant of the library's error, and the function that picks it.
macro_rules! exceptions {
    ($($variant:ident => $exception:ident, $text:literal;)*) => {
        $(create_exception!(katoms.exceptions, $exception, KatomsError, $text);)*

        /// The exception of an error. k is called `support_size` here.
        pub fn raised(error: Error) -> PyErr {
            let error = match error {
                Error::OutOfRange { what: "k", value, min, max } => {
                    Error::OutOfRange { what: "support_size", value, min, max }
                }
                error => error,
            };
            let message = error.to_string();
            match error {
                Error::Memory { .. } => PyMemoryError::new_err(message),
                $(Error::$variant { .. } => $exception::new_err(message),)*
                _ => KatomsError::new_err(message),
            }
        }

        /// Adds the exceptions to the module.
        pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            module.add("KatomsError", py.get_type::<KatomsError>())?;
            $(module.add(stringify!($exception), py.get_type::<$exception>())?;)*
            Ok(())
        }
    };
}

exceptions! {
    OutOfRange => OutOfRangeError, "A support size, a rank or another count lies outside its range.";
    Empty => EmptyError, "There are no rows, no columns or no observations.";
    Length => LengthError, "Two lengths that must agree do not.";
    NotFinite => NotFiniteError, "A value in a matrix is NaN or infinite.";
    Value => InadmissibleValueError, "A value in a vector is not admissible.";
    Index => IndexOutsideError, "A row, column or feature index points outside.";
    EmptyGroup => EmptyGroupError, "A group has no members.";
    GroupIndex => GroupIndexError, "A group points outside the features.";
    RepeatedInGroup => RepeatedInGroupError, "An index stands twice in a group.";
    SharedIndex => SharedIndexError, "Two groups that must not share an index do.";
    Option => OptionError, "A parameter has a value that makes no sense.";
    Uncounted => UncountedError, "Stages were asked of a set that does not count atoms.";
    Compressed => CompressedError, "The arrays of a sparse matrix contradict each other.";
    Domain => DomainError, "The data and the atoms live in different spaces.";
    UnknownMethod => UnknownMethodError, "A name that no method has.";
    Lockstep => LockstepError, "Fits in lockstep do not look at the same data.";
    SharedObjective => SharedObjectiveError, "Fits in lockstep share an objective.";
    FewRows => FewRowsError, "A sample has fewer rows than what is asked of it.";
    LonelyClass => LonelyClassError, "A class that only one row has cannot be split.";
    RepeatedIndex => RepeatedIndexError, "An index stands twice in a sparse vector.";
    Unsuitable => UnsuitableError, "A method that does not serve this loss or this data.";
    Magnitude => MagnitudeError, "Numbers too large or too small to compute with.";
    Coefficient => CoefficientError, "A coefficient that no number in double precision is.";
    Prediction => PredictionError, "A prediction that no number in double precision is.";
    EmptyColumn => EmptyColumnError, "A column of a table that nothing is known of.";
    Checkpoint => CheckpointError, "A saved state that does not belong to this problem.";
}

/// The exception of an error of the theory.
pub fn theory(error: TheoryError) -> PyErr {
    KatomsError::new_err(error.to_string())
}
