"""The size and the ridge by cross-validation."""

from __future__ import annotations

import numbers
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._checks import Design, design_of, seed_of, weights_of, whole_of
from katoms._linear import LinearModel
from katoms._working import warn


@dataclass(eq=False, repr=False)
class Validated(LinearModel):
    """A linear model whose size and ridge are chosen on rows held out."""

    _: KW_ONLY
    cv: Any = 5
    rule: str = "min"
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Choose on rows held out, then fit to all rows.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
            Arrays of float64, float32, float16, int8, uint8 or bool in either order are read where they lie.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        if self.rule not in ("min", "1se"):
            raise ValueError(f"rule is {self.rule!r}; it must be 'min' or '1se'")
        design = design_of(X)
        if design.shape[0] < 2:
            raise ValueError(f"rows are held out to choose, which takes at least 2; X has n_samples={design.shape[0]}")
        problem = self._problem(design, self._target(y), weights_of(sample_weight, design.shape[0]))
        size = self._sizes()
        sizes = [size] if isinstance(size, int) else size
        ridges = self._ridges()
        held = _folds(self.cv, X, y, design, seed_of(self.random_state))
        told = _katoms.cross_validate(design.matrix, problem, self._work(design), sizes, ridges, held)
        self._keep_scores(told)
        size, self.l2_ = told[self.rule]
        chosen = next(one for one in told["scores"] if (one["support_size"], one["l2"]) == (size, self.l2_))
        start = (chosen["coef"], chosen["intercept"])
        self._raise_if_ended_early(told, design, lambda: (size, *start))
        self._finish(design, {**problem, "l2": self.l2_}, size, start, told["complete"])
        if told["edge"] is not None:
            warn(f"{type(self).__name__}: {told['edge']}", UserWarning)
        return self

    def _ridges(self) -> list[float]:
        ridges = [float(ridge) for ridge in np.atleast_1d(np.asarray(self.l2, dtype=np.float64))]
        if not ridges:
            raise ValueError("l2 is empty; give at least one number, such as 0.0")
        return ridges

    def _keep_scores(self, told: dict[str, Any]) -> None:
        scores = told["scores"]
        self.k_min_, self.k_1se_ = told["min"][0], told["1se"][0]
        self.fold_of_row_ = told["fold_of_row"]
        self.cv_results_ = {
            "support_size": np.array([score["support_size"] for score in scores]),
            "l2": np.array([score["l2"] for score in scores]),
            "mean_loss": np.array([score["mean"] for score in scores]),
            "standard_error": np.array([score["error"] for score in scores]),
            "fold_losses": np.array([score["folds"] for score in scores]),
            "coef": np.array([score["coef"] for score in scores]),
            "intercept": np.array([score["intercept"] for score in scores]),
        }

    def coef(self, support_size: int | None = None) -> np.ndarray:
        """The coefficients of a size, with the chosen ridge; without a size, of the chosen model.

        Parameters
        ----------
        support_size : int, optional
            One of the sizes that were validated.

        Returns
        -------
        ndarray, shaped as ``coef_``
        """
        self._check_fitted()
        if support_size is None or support_size == self.support_size_:
            return self.coef_
        tried = self.cv_results_
        found = np.flatnonzero((tried["support_size"] == support_size) & (tried["l2"] == self.l2_))
        if len(found) == 0:
            sizes = ", ".join(str(size) for size in sorted(set(tried["support_size"].tolist())))
            raise ValueError(f"support_size is {support_size}; the sizes that were validated are {sizes}")
        return tried["coef"][found[0]].reshape(self.coef_.shape)


def _folds(cv: Any, X: Any, y: Any, design: Design, seed: int):
    """The fold of each row, or how many folds to draw."""
    if cv is None or isinstance(cv, numbers.Integral):
        return 5 if cv is None else whole_of(cv, "cv", 2), seed
    rows = design.shape[0]
    if isinstance(cv, str):
        raise ValueError(f"cv is {cv!r}; give a number of folds, a splitter, splits, or the fold of each row")
    if not hasattr(cv, "split"):
        cv = list(cv)
        if all(isinstance(item, (numbers.Number, np.generic, str)) for item in cv):
            return _labels(cv, rows)
    return _held_once(list(cv.split(X, y)) if hasattr(cv, "split") else cv, rows)


def _labels(cv: list, rows: int) -> list[int]:
    if len(cv) != rows:
        raise ValueError(f"cv has {len(cv)} labels; one for each of the {rows} rows is needed")
    return np.unique(np.asarray(cv), return_inverse=True)[1].tolist()


def _held_once(splits: list, rows: int) -> list[int]:
    """The fold of each row, from (train, test) of each fold."""
    labels = np.full(rows, -1)
    held = 0
    for fold, (_, test) in enumerate(splits):
        test = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
        labels[test] = fold
        held += len(test)
    if held != rows or (labels < 0).any():
        raise ValueError(
            f"cv holds out {held} rows in {len(splits)} folds, but each of the {rows} rows must be held out once; "
            "use a number of folds, KFold(), StratifiedKFold(), GroupKFold().split(X, y, groups), or an array with the "
            "fold of each row"
        )
    return labels.tolist()
