"""Targets, their classes, and the weights of rows."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._checks import aligned, numbers_of
from katoms._frames import numbers_in
from katoms._interop import DataConversionWarning, known_to_sklearn


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
        raise _katoms.InadmissibleValueError(
            f"y contains NaN: no value at row {row} (counted from 0); leave such rows out"
        )
    return aligned(np.ascontiguousarray(target))


def weights_of(sample_weight: Any, rows: int) -> np.ndarray | None:
    """One weight for each row; None for equal ones."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        return np.full(rows, float(sample_weight))
    return numbers_of(sample_weight, "Sample weights")


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
        raise ValueError(
            f"class_weight is {class_weight!r}; give 'balanced', a dictionary of weights by class, or None"
        )
    of_row = of_class[is_second.astype(int)]
    return of_row if weights is None else weights * of_row
