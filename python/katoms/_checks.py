"""From what people pass to what the kernels read: arrays without copies where that is possible."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from katoms import _katoms
from katoms._frames import frame_values, is_frame, numbers_in
from katoms._interop import DataConversionWarning, known_to_sklearn
from katoms._missing import Filling, called, not_finite


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
    names = names_of(X)
    if is_sparse(X):
        return Design(_sparse(X), X.shape, names, _told_in(X.dtype))
    array = _dense(frame_values(X) if is_frame(X) else X)
    check_shape(array.shape)
    return Design(array, array.shape, names, _told_in(array.dtype))


def _told_in(dtype: Any) -> Any:
    return np.float32 if dtype == np.float32 else np.float64


def asked(function: Any, design: Any, *arguments: Any, explain: Callable[[Any], str | None] = not_finite) -> Any:
    """What the kernels answer about a design. A value that is not finite is told with the name of its column."""
    try:
        return function(design.matrix, *arguments)
    except _katoms.NotFiniteError as error:
        words = explain(design)
        raise error if words is None else _katoms.NotFiniteError(words) from None


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
        columns = (j for j in range(array.shape[1]) if numbers_in(array[:, j]) is None)
        j = next(columns, None)
        if j is None:
            return np.column_stack([numbers_in(column) for column in array.T])
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


def column_of(y: Any, estimator: Any) -> np.ndarray:
    """A target as one value for each row, of any type."""
    if y is None:
        what = type(estimator).__name__
        raise ValueError(f"This {what} estimator requires y to be passed, but the target y is None.")
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported\nA target is one real number for each row.")
    if values.ndim == 2 and values.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Give y.ravel()."
        warnings.warn(message, known_to_sklearn(DataConversionWarning), stacklevel=4)
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    return values


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


def target_of(y: Any, estimator: Any) -> np.ndarray:
    """A target of numbers."""
    values = column_of(y, estimator)
    if values.dtype.kind in "mM":
        raise ValueError("y holds dates or times; make numbers of them first, such as days since a date")
    target = numbers_in(values)
    if target is None:
        wrong = next(v for v in values.tolist() if numbers_in(np.array([v], dtype=object)) is None)
        raise ValueError(f"y holds {str(wrong)!r}, which is no number; for classes use SparseClassifier")
    if np.isnan(target).any():
        row = int(np.flatnonzero(np.isnan(target))[0])
        raise _katoms.InadmissibleValueError(f"y contains NaN: no value at row {row} (counted from 0); leave such rows out")
    return aligned(np.ascontiguousarray(target))


def method_of(method: Any) -> str | None:
    """The name of a method, in any case."""
    return None if method is None else str(method).lower()


def weights_of(sample_weight: Any, rows: int) -> np.ndarray | None:
    """One weight for each row; None for equal ones."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        return np.full(rows, float(sample_weight))
    return numbers_of(sample_weight, "Sample weights")


def features_of(listed: Any, names: np.ndarray | None, count: int, what: str) -> list[int]:
    """Indices of features that are listed by name, by index or by a mask."""
    if listed is None:
        return []
    if isinstance(listed, (str, numbers.Integral)):
        listed = [listed]
    listed = list(listed)
    if len(listed) == count and count > 0 and all(isinstance(v, (bool, np.bool_)) for v in listed):
        return [j for j, wanted in enumerate(listed) if wanted]
    return [_feature(item, names, count, what) for item in listed]


def _feature(item: Any, names: np.ndarray | None, count: int, what: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(f"{what} names {item!r}, but X has no column names; give indices, or a frame with names")
        found = np.flatnonzero(names == item)
        if len(found) != 1:
            import difflib

            near = difflib.get_close_matches(item, list(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near and len(found) == 0 else ""
            kind = "no column" if len(found) == 0 else "more than one column"
            raise ValueError(f"{what} names {item!r}, but {kind} of X is called so{hint}")
        return int(found[0])
    if not isinstance(item, numbers.Integral) or isinstance(item, (bool, np.bool_)):
        raise ValueError(f"{what} holds {item!r}; give indices (from 0) or names of columns")
    if not -count <= int(item) < count:
        raise ValueError(f"{what} holds index {item}, but X has only {count} columns (indices count from 0)")
    return int(item) % count


def groups_of(groups: Any, names: np.ndarray | None, count: int) -> tuple[list[list[int]], list[str]]:
    """Members and names of groups, from labels, sizes, lists, a dictionary, a function of names, or a separator."""
    if isinstance(groups, str):
        return _groups_by_name(_before(groups), names, f"groups is the separator {groups!r}")
    if callable(groups):
        return _groups_by_name(groups, names, "groups is a function of names")
    if isinstance(groups, dict):
        members = [_members(listed, names, count, f"group {name!r}") for name, listed in groups.items()]
        return _with_the_rest(members, [str(name) for name in groups], names, count)
    listed = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if any(isinstance(item, (list, tuple, np.ndarray, set, range)) for item in listed):
        members = [_members(item, names, count, f"group {g}") for g, item in enumerate(listed)]
        return _with_the_rest(members, [str(g) for g in range(len(members))], names, count)
    return _flat_groups(listed, count)


def _members(listed: Any, names: np.ndarray | None, count: int, what: str) -> list[int]:
    """The members of a group, each once."""
    members = features_of(listed, names, count, what)
    if not members:
        raise _katoms.EmptyGroupError(f"{what} has no members; remove it, or give it at least one column")
    twice = next((j for j in members if members.count(j) > 1), None)
    if twice is not None:
        column = f"column {twice} (counted from 0)" if names is None else f"column {str(names[twice])!r}"
        raise _katoms.RepeatedInGroupError(f"{what} lists {column} twice; list each member once")
    return members


def with_indicators(members: list[list[int]], indicated: Any, count: int) -> list[list[int]]:
    """The same groups, with the indicators of missing values, which stand behind `count` features, in those of theirs."""
    place = {int(feature): count + at for at, feature in enumerate(indicated)}
    return [group + [place[j] for j in group if j in place] for group in members]


def _before(separator: str) -> Callable[[str], str | None]:
    """What a name has before the first separator; nothing, where it has none."""
    if not separator:
        raise ValueError("groups is an empty separator; give the text between a column and its level, such as '='")
    return lambda name: name.partition(separator)[0] if separator in name else None


def _groups_by_name(
    group: Callable[[str], Any], names: np.ndarray | None, what: str
) -> tuple[list[list[int]], list[str]]:
    """Columns with the same group; those that it gives None are alone, by their own name."""
    if names is None:
        raise ValueError(f"{what}, but X has no column names; give a frame, or a label for each column")
    members: dict[tuple[bool, str], list[int]] = {}
    for j, name in enumerate(names):
        label = group(name)
        members.setdefault((label is None, str(name if label is None else label)), []).append(j)
    return list(members.values()), [label for _, label in members]


def _with_the_rest(
    members: list[list[int]], called: list[str], names: np.ndarray | None, count: int
) -> tuple[list[list[int]], list[str]]:
    """The groups, and each feature that is in none of them as a group of its own."""
    inside = {j for group in members for j in group}
    rest = [j for j in range(count) if j not in inside]
    return members + [[j] for j in rest], called + [f"x{j}" if names is None else str(names[j]) for j in rest]


def _flat_groups(listed: list, count: int) -> tuple[list[list[int]], list[str]]:
    whole = all(isinstance(v, numbers.Integral) and int(v) > 0 for v in listed)
    sizes = whole and sum(listed) == count
    if len(listed) == count:
        if sizes and count > 1:
            raise ValueError(
                "groups holds nothing but ones: as labels that is one group of all features, as sizes each feature "
                "alone. Write the groups as lists of indices, or leave groups out for features alone."
            )
        labels = list(dict.fromkeys(listed))
        return [[j for j, label in enumerate(listed) if label == wanted] for wanted in labels], [str(v) for v in labels]
    if not sizes:
        raise ValueError(
            f"groups has {len(listed)} entries, but X has {count} columns. Give a label for each column, sizes that "
            "add up to the columns, or a list of lists of columns."
        )
    ends = np.cumsum(listed)
    return [list(range(end - size, end)) for end, size in zip(ends, listed)], [str(g) for g in range(len(listed))]


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
            raise _katoms.LengthError(f"there are {len(bound) - free} {what} bounds; give one for each of {design.inputs} columns")
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
    if n_jobs is None and hasattr(joblib, "parallel_config"):
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


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two classes, and which rows have the second."""
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            row = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise ValueError(f"Input y contains NaN or infinity at row {row} (counted from 0); every row needs a class")
        if (labels != np.floor(labels)).any():
            raise ValueError(
                "Unknown label type: continuous. A classifier expects classes; for numbers use SparseRegressor."
            )
    missing = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(f"y has no class at row {missing[0]} (counted from 0); leave such rows out")
    if labels.dtype.kind == "O" and len({isinstance(label, str) for label in labels.tolist()}) > 1:
        raise ValueError("y mixes text and numbers; write all classes as text, or all as numbers")
    classes, places = np.unique(plain_labels(labels), return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"y has only one class, {classes[0]!r}; two are needed to tell them apart")
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass. "
            f"y has {len(classes)} classes; sklearn.multiclass.OneVsRestClassifier makes one model for each."
        )
    return classes, places == 1


def plain_labels(labels: Any) -> Any:
    """Numbers and truths of an array of objects as what they are, which scikit-learn takes for classes only so."""
    if getattr(labels, "dtype", None) != np.dtype(object):
        return labels
    values = labels.tolist()
    return np.array(values) if all(isinstance(value, (numbers.Real, np.bool_)) for value in values) else labels


def weighted_by_class(
    weights: np.ndarray | None, class_weight: Any, classes: np.ndarray, is_second: np.ndarray
) -> np.ndarray | None:
    """The weights of rows times those of their classes, as scikit-learn has them."""
    if class_weight is None:
        return weights
    if weights is not None and len(weights) != len(is_second):
        raise ValueError(f"Sample weights have length {len(weights)}; one for each of {len(is_second)} rows is needed")
    if isinstance(class_weight, str) and class_weight == "balanced":
        rows = np.ones(len(is_second)) if weights is None else weights
        counts = np.array([rows[is_second == 0].sum(), rows[is_second == 1].sum()])
        if not (counts > 0).all():
            raise ValueError("class_weight is 'balanced', but the rows of one class have no weight")
        of_class = rows.sum() / (2 * counts)
    elif isinstance(class_weight, dict):
        of_class = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        unknown = [key for key in class_weight if key not in classes.tolist()]
        if unknown and not all(label in class_weight for label in classes.tolist()):
            raise ValueError(f"class_weight names {unknown[0]!r}, but the classes are {classes.tolist()}")
    else:
        raise ValueError(f"class_weight is {class_weight!r}; give 'balanced', a dictionary of weights by class, or None")
    of_row = of_class[is_second.astype(int)]
    return of_row if weights is None else weights * of_row
