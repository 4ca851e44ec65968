"""Which rows are held out, and how models are scored on them."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from katoms._card import lives_on_card, on_host
from katoms._columns import is_frame
from katoms._parameters import whole_of
from katoms.exceptions import InvalidInputError


class Split(NamedTuple):
    """The rows that models are made of, and those that judge them."""

    train: np.ndarray
    test: np.ndarray


#: What the kernels can hold out by themselves: how many folds to draw and a seed, or the fold of each row.
Folds = tuple[int, int] | list[int]


def held_out(cv: Any, X: Any, y: Any, groups: Any, rows: int, seed: int) -> Folds | list[Split]:
    """Folds where each row is held out once and the others train; else the splits."""
    if cv is None or isinstance(cv, numbers.Integral):
        if groups is not None:
            raise InvalidInputError(
                f"cv={cv!r} does not look at groups; give a splitter that does, such as GroupKFold({cv or 5})"
            )
        return 5 if cv is None else whole_of(cv, "cv", 2), seed
    if isinstance(cv, str):
        raise InvalidInputError(f"cv is {cv!r}; give a number of folds, a splitter, splits, or the fold of each row")
    if hasattr(cv, "split"):
        listed = _listed(cv, X, y, groups)
    else:
        listed = list(cv)
        if listed and all(isinstance(item, (numbers.Number, np.generic, str)) for item in listed):
            return _labels(listed, rows)
    splits = [_split(at, one, rows) for at, one in enumerate(listed)]
    if not splits:
        raise InvalidInputError("cv has no splits; give at least one pair of (train, test)")
    return _folds(splits, rows) or splits


def _listed(cv: Any, X: Any, y: Any, groups: Any) -> list:
    if groups is not None:
        return list(cv.split(X, y, groups))
    try:
        return list(cv.split(X, y))
    except ValueError as error:
        if "groups" not in str(error):
            raise
        raise InvalidInputError(
            f"{type(cv).__name__} splits by groups of rows: give them to fit(X, y, groups=...)"
        ) from None


def _labels(cv: list, rows: int) -> list[int]:
    if len(cv) != rows:
        raise InvalidInputError(f"cv has {len(cv)} labels; one for each of the {rows} rows is needed")
    return np.unique(np.asarray(cv), return_inverse=True)[1].tolist()


def _split(at: int, pair: Any, rows: int) -> Split:
    try:
        train, test = (np.asarray(side) for side in pair)
    except (TypeError, ValueError):
        raise InvalidInputError(f"split {at} of cv is no pair of (train, test): give the rows of both") from None
    split = Split(*(np.flatnonzero(side) if side.dtype == bool else side.ravel() for side in (train, test)))
    for side, what in zip(split, ("train", "test")):
        if len(side) == 0:
            raise InvalidInputError(f"split {at} of cv has no rows to {what}")
        if side.dtype.kind not in "iu" or side.min() < -rows or side.max() >= rows:
            raise InvalidInputError(
                f"split {at} of cv: the rows to {what} must be whole numbers below {rows}, the rows of X"
            )
    split = Split(split.train % rows, split.test % rows)
    both = np.intersect1d(*split)
    if len(both) > 0:
        raise InvalidInputError(f"split {at} of cv trains and tests on row {both[0]}; a row that trains cannot judge")
    return split


def _folds(splits: list[Split], rows: int) -> list[int] | None:
    """The fold of each row, where each is held out once and all others train."""
    labels = np.full(rows, -1)
    for fold, split in enumerate(splits):
        labels[split.test] = fold
    whole = sum(len(split.test) for split in splits) == rows and bool((labels >= 0).all())
    others = all(len(s.train) == rows - len(s.test) == len(np.unique(s.train)) for s in splits)
    return labels.tolist() if whole and others else None


def splits_of(fold_of_row: np.ndarray) -> list[Split]:
    """The same as splits."""
    folds = range(int(fold_of_row.max()) + 1)
    return [Split(np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)) for fold in folds]


Scorer = Callable[..., float]


class Measure(NamedTuple):
    """A measure of held-out rows by its name, of which more is better after its sign."""

    name: str
    sign: float


#: Measures of the kernels: they know of weights and offsets, and need no scikit-learn.
MEASURES = {
    "auc": Measure("auc", 1),
    "misclassification": Measure("misclassification", -1),
    "brier": Measure("brier", -1),
    "mse": Measure("mse", -1),
    "rmse": Measure("rmse", -1),
    "mae": Measure("mae", -1),
    "c-index": Measure("c-index", 1),
}


def scorer_of(scoring: Any) -> Scorer | Measure | None:
    """A function of (estimator, X, y), of which more is better, or a measure; None for the loss that is fitted."""
    if scoring is None or scoring == "deviance" or callable(scoring):
        return scoring if callable(scoring) else None
    if isinstance(scoring, str) and scoring in MEASURES:
        return MEASURES[scoring]
    if not isinstance(scoring, str):
        raise InvalidInputError(
            f"scoring is {scoring!r}; give 'deviance' or None for the held-out loss, {', '.join(map(repr, MEASURES))}, the "
            "name of a scorer of scikit-learn, such as 'roc_auc', or a function of (estimator, X, y)"
        )
    from sklearn.metrics import get_scorer

    return get_scorer(scoring)


def scored(scorer: Scorer, model: Any, X: Any, y: Any, test: np.ndarray, sample_weight: Any) -> float:
    """The score of a model on some rows, weighted where the scorer takes weights."""
    weights = {}
    if sample_weight is not None and "sample_weight" in _parameters(getattr(scorer, "_score_func", scorer)):
        weights["sample_weight"] = np.asarray(on_host(sample_weight))[test]
    return float(scorer(model, rows_of(X, test), rows_of(y, test), **weights))


def _parameters(function: Any) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix, a frame or a list, as the same kind of thing; of an array on a card, NumPy's."""
    if lives_on_card(X):
        return on_host(X[rows])
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if is_frame(X) or hasattr(X, "shape") or hasattr(X, "to_numpy") else np.asarray(X)[rows]
