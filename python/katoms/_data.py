"""From X, y and weights as people pass them to what the kernels read: without copies where that is possible."""

from __future__ import annotations

import numbers
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from katoms._card import card_design, lives_on_card, on_host
from katoms._columns import called, frame_values, is_frame, lives_on_dask, not_finite, numbers_in
from katoms._design import Design
from katoms._plink import Genotypes
from katoms.exceptions import DataConversionWarning, InvalidInputError, KatomsError, known_to_sklearn

#: Numbers that the kernels read where they lie.
NATIVE_DTYPES = (np.float64, np.float32, np.float16, np.int8, np.uint8)


def is_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def design_of(X: Any) -> Design:
    """A matrix of features. Arrays of ``NATIVE_DTYPES`` in either order, and sparse columns, are not copied."""
    if isinstance(X, Genotypes):
        return Design((X.shape, X.codes, X.means), X.shape, X.names)
    if hasattr(X, "__katoms_design__"):
        return X.__katoms_design__()
    if lives_on_dask(X):
        from katoms.dask import blocks as dask_blocks

        return dask_blocks(X).__katoms_design__()
    if type(X).__module__.partition(".")[0] == "ray":
        from katoms.ray import blocks as ray_blocks

        return ray_blocks(X).__katoms_design__()
    if lives_on_card(X):
        check_shape(tuple(getattr(X, "shape", ())))
        return card_design(X)
    names = names_of(X)
    if is_sparse(X):
        return Design(_sparse(X), X.shape, names, _output_dtype(X.dtype))
    array = _dense(frame_values(X) if is_frame(X) else X)
    check_shape(array.shape)
    return Design(array, array.shape, names, _output_dtype(array.dtype))


def _output_dtype(dtype: Any) -> Any:
    return np.float32 if dtype == np.float32 else np.float64


def run_kernel(function: Any, design: Any, *arguments: Any, explain: Callable[[Any], str | None] = not_finite) -> Any:
    """What the kernels answer about a design. What is wrong with a column is told with its name."""
    try:
        return function(design.matrix, *arguments)
    except KatomsError as error:
        message = str(error)
        words = explain(design) if re.match(_NOT_FINITE, message) else None
        raise type(error)(words or _with_names(design, message)) from None


#: How the kernels say that a matrix holds NaN or infinity.
_NOT_FINITE = r"(the )?\w+ holds \S+ at row \d+, column \d+"


def _with_names(design: Any, message: str) -> str:
    """A message of the kernels, which count columns."""
    return re.sub(r"column (\d+)(?: of X)? \(counted from 0\)", lambda found: called(design, int(found[1])), message)


def _sparse(X: Any) -> tuple:
    if np.iscomplexobj(X.data if hasattr(X, "data") else X):
        raise InvalidInputError("Complex data not supported\nGive real and imaginary parts as columns of their own.")
    check_shape(X.shape)
    X = X.tocsc()
    data = aligned(np.ascontiguousarray(X.data, dtype=np.float64))
    indices = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    return tuple(X.shape), X.indptr.astype(np.uintp), np.ascontiguousarray(indices), data


def _dense(X: Any) -> np.ndarray:
    if np.ma.is_masked(X):
        raise InvalidInputError(
            "X is a masked array with masked values; fill them first, for example with MatrixCompletion"
        )
    array = np.asarray(X)
    if np.iscomplexobj(array):
        raise InvalidInputError("Complex data not supported\nGive real and imaginary parts as columns of their own.")
    if array.dtype.kind in "mM":
        raise InvalidInputError("X holds dates or times; make numbers of them first, such as days since a date")
    if array.ndim < 2:
        raise InvalidInputError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) if it is a single feature or array.reshape(1, -1) if it is a single sample."
        )
    if array.ndim > 2:
        raise InvalidInputError(
            f"Found array with dim {array.ndim}, but a matrix has 2: rows are samples, columns features."
        )
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.type not in NATIVE_DTYPES or not array.dtype.isnative:
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
        raise (TypeError if isinstance(error, TypeError) else InvalidInputError)(message) from None


def check_shape(shape: tuple[int, ...]) -> None:
    """Whether a matrix has rows and columns, in the words of scikit-learn."""
    for count, what in zip(shape, ("sample(s)", "feature(s)")):
        if count == 0:
            raise InvalidInputError(
                f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required."
            )


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
        raise InvalidInputError(_other_names(set(fitted), set(design.names)))
    if design.inputs != estimator.n_features_in_:
        raise InvalidInputError(
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
    vector = np.asarray(on_host(values))
    if np.iscomplexobj(vector):
        raise InvalidInputError(f"Complex data not supported\n{what} must hold real numbers.")
    if vector.ndim != 1:
        raise InvalidInputError(f"{what} must be a 1d array, got an array of shape {vector.shape} instead.")
    try:
        return aligned(np.ascontiguousarray(vector, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{what} holds what is no number: {error}") from None


def check_rows(found: int, rows: int, what: str) -> None:
    """Whether there is one value for each row."""
    if found != rows:
        raise InvalidInputError(f"{what} has {found} rows; one for each of the {rows} rows of X is needed")


def known_of(values: Any, what: str, rows: int) -> np.ndarray:
    """What is known of each row besides: an offset; or an exposure, which is above 0."""
    known = numbers_of(values, what)
    check_rows(len(known), rows, what)
    wrong = ~(known > 0) if what == "exposure" else np.zeros(rows, dtype=bool)
    wrong |= ~np.isfinite(known)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        right = "finite and above 0" if what == "exposure" else "finite"
        raise InvalidInputError(f"{what} is {known[row]:g} at row {row} (counted from 0); it must be {right}")
    return known


def aligned(array: np.ndarray) -> np.ndarray:
    """The array, copied only where the kernels could not read it in place."""
    return array if array.flags.aligned else array.copy()


def column_of(y: Any, estimator: Any) -> np.ndarray:
    """A target as one value for each row, of any type."""
    if y is None:
        what = type(estimator).__name__
        raise InvalidInputError(f"This {what} estimator requires y to be passed, but the target y is None.")
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else on_host(y))
    if np.iscomplexobj(values):
        raise InvalidInputError("Complex data not supported\nA target is one real number for each row.")
    if values.ndim == 2 and values.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Give y.ravel()."
        warnings.warn(message, known_to_sklearn(DataConversionWarning), stacklevel=4)
        values = values.ravel()
    if values.ndim != 1:
        raise InvalidInputError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    return values


def target_of(y: Any, estimator: Any) -> np.ndarray:
    """A target of numbers."""
    values = column_of(y, estimator)
    if values.dtype.kind in "mM":
        raise InvalidInputError("y holds dates or times; make numbers of them first, such as days since a date")
    target = numbers_in(values)
    if target is None:
        wrong = next(v for v in values.tolist() if numbers_in(np.array([v], dtype=object)) is None)
        raise InvalidInputError(f"y holds {str(wrong)!r}, which is no number; for classes use SparseClassifier")
    if np.isnan(target).any():
        row = int(np.flatnonzero(np.isnan(target))[0])
        raise InvalidInputError(f"y contains NaN: no value at row {row} (counted from 0); leave such rows out")
    return aligned(np.ascontiguousarray(target))


def several_columns(y: Any) -> bool:
    """Whether a target has more than one column."""
    shape = getattr(y, "shape", None)
    shape = np.asarray(y).shape if shape is None and y is not None else shape
    return shape is not None and len(shape) == 2 and shape[1] > 1


def responses_of(y: Any) -> np.ndarray:
    """Several targets of numbers, a column for each."""
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else on_host(y))
    if np.iscomplexobj(values):
        raise InvalidInputError("Complex data not supported\nA response is one real number for each row.")
    if values.ndim != 2:
        raise InvalidInputError(f"y has shape {values.shape}; a column for each response is needed")
    read = []
    for at, column in enumerate(values.T):
        numbers = numbers_in(column)
        if numbers is None:
            raise InvalidInputError(f"column {at} of y (counted from 0) holds what is no number; leave it out")
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            found = "NaN" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            raise InvalidInputError(f"y holds {found} at row {row}, column {at} (counted from 0); leave such rows out")
        read.append(numbers)
    return np.ascontiguousarray(np.column_stack(read), dtype=np.float64)


def weights_of(sample_weight: Any, rows: int) -> np.ndarray | None:
    """One weight for each row; None for equal ones."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        return np.full(rows, float(sample_weight))
    return numbers_of(sample_weight, "Sample weights")


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and the place of each row's among them."""
    _check_labels(labels)
    classes, places = np.unique(plain_labels(labels), return_inverse=True)
    if len(classes) == 1:
        raise InvalidInputError(f"y has only one class, {classes[0]}; two are needed to tell them apart")
    return classes, places


def _check_labels(labels: np.ndarray) -> None:
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise InvalidInputError(
                f"Input y contains NaN or infinity at row {row} (counted from 0); every row needs a class"
            )
        if (labels != np.floor(labels)).any():
            raise InvalidInputError(
                "Unknown label type: continuous. A classifier expects classes; for numbers use SparseRegressor."
            )
    missing = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise InvalidInputError(f"y has no class at row {missing[0]} (counted from 0); leave such rows out")
    if labels.dtype.kind == "O" and len({isinstance(label, str) for label in labels.tolist()}) > 1:
        raise InvalidInputError("y mixes text and numbers; write all classes as text, or all as numbers")


def order_of(ordinal: Any) -> bool | list:
    """Whether classes have an order, or which."""
    if ordinal is None or isinstance(ordinal, (bool, np.bool_)):
        return bool(ordinal)
    if isinstance(ordinal, (str, bytes)) or not hasattr(ordinal, "__iter__"):
        raise InvalidInputError(
            f"ordinal is {ordinal!r}; give True, False, or the list of the classes from low to high"
        )
    order = list(ordinal)
    twice = next((label for at, label in enumerate(order) if label in order[:at]), None)
    if twice is not None:
        raise InvalidInputError(f"ordinal lists {twice!r} twice; list every class once, low to high")
    return order


def ordered_classes_of(y: Any, labels: np.ndarray, ordinal: bool | list) -> tuple[np.ndarray, np.ndarray]:
    """The classes in their order, and the place of each row's among them."""
    classes, places = classes_of(labels)
    if isinstance(ordinal, bool):
        # A series of pandas has its categories in ``cat``, and a categorical itself.
        kind = getattr(y, "cat", y)
        known = getattr(kind, "categories", None)
        if known is not None and kind.ordered:
            order = [label for label in known if label in set(classes.tolist())]
        elif classes.dtype.kind in "OUS":
            raise InvalidInputError(
                f"ordinal=True, but the classes are words ({', '.join(map(str, classes[:4]))}), whose order nobody knows; "
                "give it from low to high, such as ordinal=['low', 'medium', 'high'], or an ordered categorical of pandas"
            )
        else:
            return classes, places
    else:
        order = ordinal
    absent = [label for label in classes.tolist() if label not in order]
    if absent:
        raise InvalidInputError(
            f"ordinal lists {order}, but y has the class {absent[0]!r} as well; list every class, low to high"
        )
    order = [label for label in order if label in classes.tolist()]
    place = {label: at for at, label in enumerate(order)}
    return np.array(order, dtype=classes.dtype), np.array([place[label] for label in classes.tolist()])[places]


def plain_labels(labels: Any) -> Any:
    """Numbers and truths of an array of objects as what they are, which scikit-learn takes for classes only so."""
    if getattr(labels, "dtype", None) != np.dtype(object):
        return labels
    values = labels.tolist()
    return np.array(values) if all(isinstance(value, (numbers.Real, np.bool_)) for value in values) else labels


def weighted_by_class(
    weights: np.ndarray | None, class_weight: Any, classes: np.ndarray, places: np.ndarray
) -> np.ndarray | None:
    """The weights of rows times those of their classes, as scikit-learn has them."""
    if class_weight is None:
        return weights
    places = places.astype(int)
    if weights is not None and len(weights) != len(places):
        raise InvalidInputError(
            f"Sample weights have length {len(weights)}; one for each of {len(places)} rows is needed"
        )
    if isinstance(class_weight, str) and class_weight == "balanced":
        rows = np.ones(len(places)) if weights is None else weights
        counts = np.bincount(places, weights=rows, minlength=len(classes))
        if not (counts > 0).all():
            raise InvalidInputError("class_weight is 'balanced', but the rows of one class have no weight")
        of_class = rows.sum() / (len(classes) * counts)
    elif isinstance(class_weight, dict):
        of_class = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        unknown = [key for key in class_weight if key not in classes.tolist()]
        if unknown and not all(label in class_weight for label in classes.tolist()):
            raise InvalidInputError(f"class_weight names {unknown[0]!r}, but the classes are {classes.tolist()}")
    else:
        raise InvalidInputError(
            f"class_weight is {class_weight!r}; give 'balanced', a dictionary of weights by class, or None"
        )
    of_row = of_class[places]
    return of_row if weights is None else weights * of_row
