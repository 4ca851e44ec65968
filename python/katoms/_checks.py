"""From what people pass to what the kernels read: arrays without copies where that is possible."""

from __future__ import annotations

import numbers
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from katoms import _katoms
from katoms._frames import frame_values, is_frame, numbers_in
from katoms._missing import Filling, called, not_finite
from katoms._plink import Genotypes

#: Numbers that the kernels read where they lie.
READ_AS_THEY_ARE = (np.float64, np.float32, np.float16, np.int8, np.uint8)


class Design(NamedTuple):
    """A matrix for the kernels: an array, or the arrays of sparse columns."""

    matrix: Any
    shape: tuple[int, int]
    names: np.ndarray | None
    #: The precision of what is told of it: that of its own numbers, where these are single or double.
    dtype: Any = np.float64
    #: What took the place of missing values, where anything does.
    filling: Filling | None = None

    @property
    def inputs(self) -> int:
        """The number of columns that were given: without indicators of missing values."""
        return self.shape[1] - (0 if self.filling is None else len(self.filling.indicated))


def is_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def design_of(X: Any) -> Design:
    """A matrix of features. Arrays of ``READ_AS_THEY_ARE`` in either order, and sparse columns, are not copied."""
    if isinstance(X, Genotypes):
        return Design((X.shape, X.codes, X.means), X.shape, X.names)
    names = names_of(X)
    if is_sparse(X):
        return Design(_sparse(X), X.shape, names, _told_in(X.dtype))
    array = _dense(frame_values(X) if is_frame(X) else X)
    check_shape(array.shape)
    return Design(array, array.shape, names, _told_in(array.dtype))


def _told_in(dtype: Any) -> Any:
    return np.float32 if dtype == np.float32 else np.float64


def asked(function: Any, design: Any, *arguments: Any, explain: Callable[[Any], str | None] = not_finite) -> Any:
    """What the kernels answer about a design. What is wrong with a column is told with its name."""
    try:
        return function(design.matrix, *arguments)
    except _katoms.NotFiniteError as error:
        words = explain(design)
        raise error if words is None else _katoms.NotFiniteError(words) from None
    except _katoms.KatomsError as error:
        raise type(error)(_with_names(design, str(error))) from None


def _with_names(design: Any, message: str) -> str:
    """A message of the kernels, which count columns."""
    return re.sub(
        r"column (\d+)(?: of the design)? \(counted from 0\)", lambda found: called(design, int(found[1])), message
    )


def _sparse(X: Any) -> tuple:
    if np.iscomplexobj(X.data if hasattr(X, "data") else X):
        raise ValueError("Complex data not supported\nGive real and imaginary parts as columns of their own.")
    check_shape(X.shape)
    X = X.tocsc()
    data = aligned(np.ascontiguousarray(X.data, dtype=np.float64))
    indices = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    return tuple(X.shape), X.indptr.astype(np.uintp), np.ascontiguousarray(indices), data


def _dense(X: Any) -> np.ndarray:
    if np.ma.is_masked(X):
        raise ValueError("X is a masked array with masked values; fill them first, for example with MatrixCompletion")
    array = np.asarray(X)
    if np.iscomplexobj(array):
        raise ValueError("Complex data not supported\nGive real and imaginary parts as columns of their own.")
    if array.dtype.kind in "mM":
        raise ValueError("X holds dates or times; make numbers of them first, such as days since a date")
    if array.ndim < 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) if it is a single feature or array.reshape(1, -1) if it is a single sample."
        )
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, but a matrix has 2: rows are samples, columns features.")
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.type not in READ_AS_THEY_ARE or not array.dtype.isnative:
        array = _to_numbers(array)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        return np.asfortranarray(array)
    return aligned(array)


def _to_numbers(array: np.ndarray) -> np.ndarray:
    """The same in double precision."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        columns = [numbers_in(column) for column in array.T]
        read = [column for column in columns if column is not None]
        if len(read) == len(columns):
            return np.column_stack(read)
        j = next(j for j, column in enumerate(columns) if column is None)
        message = f"column {j} (counted from 0) holds what is no number ({error}); make numbers of it, or leave it out"
        raise type(error)(message) from None


def check_shape(shape: tuple[int, ...]) -> None:
    """Whether a matrix has rows and columns, in the words of scikit-learn."""
    for count, what in zip(shape, ("sample(s)", "feature(s)")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required.")


def names_of(X: Any) -> np.ndarray | None:
    """The names of the columns, where they are text."""
    if not is_frame(X):
        return None
    columns = list(X.columns)
    if not all(isinstance(name, str) for name in columns):
        if any(isinstance(name, str) for name in columns):
            raise TypeError(
                "Feature names are only supported if all input features have string names, but some columns here are "
                "named otherwise. Make them text: X.columns = X.columns.astype(str)"
            )
        return None
    return np.array(columns, dtype=object)


def check_same_features(estimator: Any, design: Design) -> None:
    """Whether a matrix has the columns that the estimator was fitted on, in the words of scikit-learn."""
    what = type(estimator).__name__
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None and design.names is not None:
        warnings.warn(f"X has feature names, but {what} was fitted without feature names", stacklevel=3)
    elif fitted is not None and design.names is None:
        warnings.warn(f"X does not have valid feature names, but {what} was fitted with feature names", stacklevel=3)
    elif fitted is not None and design.names is not None and list(fitted) != list(design.names):
        raise ValueError(_other_names(set(fitted), set(design.names)))
    if design.inputs != estimator.n_features_in_:
        raise ValueError(
            f"X has {design.inputs} features, but {what} is expecting {estimator.n_features_in_} features as input."
        )


def _other_names(fitted: set, given: set) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    for text, names in (
        ("Feature names unseen at fit time:\n", sorted(given - fitted)),
        ("Feature names seen at fit time, yet now missing:\n", sorted(fitted - given)),
    ):
        if names:
            message += text + "".join(f"- {name}\n" for name in names[:5])
            message += "- ...\n" if len(names) > 5 else ""
    if fitted == given:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def numbers_of(values: Any, what: str) -> np.ndarray:
    """A vector of numbers in double precision."""
    vector = np.asarray(values)
    if np.iscomplexobj(vector):
        raise ValueError(f"Complex data not supported\n{what} must hold real numbers.")
    if vector.ndim != 1:
        raise ValueError(f"{what} must be a 1d array, got an array of shape {vector.shape} instead.")
    return aligned(np.ascontiguousarray(vector, dtype=np.float64))


def aligned(array: np.ndarray) -> np.ndarray:
    """The array, copied only where the kernels could not read it in place."""
    return array if array.flags.aligned else array.copy()


def method_of(method: Any) -> str | None:
    """The name of a method, in any case."""
    return None if method is None else str(method).lower()


def bounds_of(bounds: Any, positive: Any, design: Design) -> tuple[np.ndarray, np.ndarray] | None:
    """The least and the largest coefficient of each column; None where there are no bounds.

    Bounds that are listed are those of the columns that were given: indicators of missing values have none.
    """
    count = design.shape[1]
    if bounds is None:
        return (np.zeros(count), np.full(count, np.inf)) if positive else None
    if positive:
        raise ValueError("positive and bounds are both given; say it all with bounds, such as (0, None)")
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise ValueError("bounds must be a pair: the least and the largest coefficient, such as (-1, 1) or (0, None)")
    free = count - design.inputs
    lower, upper = (
        np.full(count, bound) if np.ndim(bound) == 0 else np.append(np.asarray(bound), np.full(free, sign * np.inf))
        for bound, sign in zip(map(_infinite, bounds, (-1, 1)), (-1, 1))
    )
    pair = numbers_of(lower, "the lower bounds"), numbers_of(upper, "the upper bounds")
    for bound, what, sign, right in zip(pair, ("lower", "upper"), (1, -1), ("at most", "at least")):
        if len(bound) != count:
            raise _katoms.LengthError(
                f"there are {len(bound) - free} {what} bounds; give one for each of {design.inputs} columns"
            )
        wrong = np.flatnonzero(~(sign * bound <= 0))
        if len(wrong) > 0:
            raise _katoms.InadmissibleValueError(
                f"the {what} bound of {called(design, wrong[0])} is {bound[wrong[0]]:g}; it must be {right} 0, since a "
                "feature that is not chosen has the coefficient 0"
            )
    return pair


def _infinite(bound: Any, sign: int) -> Any:
    """No bound is one that nothing reaches."""
    return sign * np.inf if bound is None else bound


def whole_of(value: Any, what: str, least: int) -> int:
    """A whole number of at least this much."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not is_whole or not least <= int(value) < 2**63:
        raise ValueError(f"{what} is {value!r}; it must be a whole number of at least {least}")
    return int(value)


def seed_of(random_state: Any) -> int:
    """A seed from an int, a generator, or None, which is 0: the same input gives the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return whole_of(random_state, "random_state", 0)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise ValueError(f"random_state is {random_state!r}; give an int, a NumPy generator or None")
    return int(draw(0, 2**31 - 1))


def threads_of(n_jobs: Any) -> int | None:
    """A number of threads; -1 for all cores, -2 for all but one; None for as many as joblib or the environment allow."""
    joblib = sys.modules.get("joblib")
    # joblib before 1.3 has no `parallel_config`, and tells a number also where nobody gave one.
    if n_jobs is None and joblib is not None and hasattr(joblib, "parallel_config"):
        n_jobs = joblib.parallel.get_active_backend()[1]
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; give a number of threads, -1 for all cores, or None")
    return int(n_jobs) if int(n_jobs) > 0 else max(1, _katoms.cores() + 1 + int(n_jobs))


def seconds_of(time_limit: Any) -> float | None:
    """A number of seconds; None for no limit."""
    if time_limit is None:
        return None
    if not isinstance(time_limit, numbers.Real) or not float(time_limit) > 0:
        raise ValueError(f"time_limit is {time_limit!r}; give a number of seconds above 0, or None")
    return float(time_limit)
