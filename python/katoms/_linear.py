"""What the estimators of features have in common: from X and y to a model of k features or groups."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from katoms import _katoms
from katoms._checks import (
    Design,
    bounds_of,
    check_same_features,
    design_of,
    features_of,
    is_sparse,
    method_of,
    target_of,
    whole_of,
)
from katoms._estimator import GivesFrames, TakesWeights, feature_names_out
from katoms._paths import sizes_of
from katoms._quality import quality_of
from katoms._working import Working


#: What only a fit that came to its end can tell of a model.
_TOLD_AT_THE_END = (
    "standardized_coef_",
    "n_iter_",
    "n_passes_",
    "n_reads_",
    "n_columns_read_",
    "objective_",
    "loss_",
    "null_loss_",
    "quality_",
    "trace_",
    "chosen_groups_",
)


@dataclass(eq=False, repr=False)
class LinearModel(TakesWeights, GivesFrames, Working):
    """A linear predictor made of k features or groups."""

    _loss: ClassVar[str]

    support_size: Any = None
    _: KW_ONLY
    l2: Any = 0.0
    fit_intercept: bool = True
    standardize: bool = True
    always_select: Any = None
    positive: bool = False
    bounds: Any = None
    max_iter: int = 1000
    tol: float = 1e-6
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callable[[dict[str, Any]], Any] | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Find the model."""
        raise NotImplementedError

    def _finish(self, design: Design, problem: dict[str, Any], size: int, start: Any, whole: bool | None) -> None:
        """Fit the model of one size, and keep what there is to know about it.

        `whole` is None where the size was given. Where it was chosen, `start` is the model that was judged, among all
        sizes or not: it is refitted and judged, but not searched for anew, so that it is the one of the path.
        """
        work = self._work(design)
        method = method_of(getattr(self, "method", None))
        if whole is not None and problem["bounds"] is None:
            method = "accelerated-iht"
        asked = {"support_size": size, "method": method, "start": start}
        told = _katoms.fit(design.matrix, problem, work, asked)
        self._keep_model(design, size, told["coef"], told["intercept"])
        self.standardized_coef_ = told["standardized"]
        self.n_iter_ = told["iterations"]
        self.n_passes_ = told["passes"]
        self.n_reads_ = told["reads"]
        self.n_columns_read_ = told["columns"]
        self.status_ = "stopped" if whole is False else told["status"]
        self.objective_ = told["objective"]
        self.loss_ = told["loss"]
        self.null_loss_ = told["null_loss"]
        self.quality_ = quality_of(told["quality"])
        self.trace_ = told["trace"]
        self._keep_groups(told["chosen"], work["names"])
        self._raise_if_ended(told)
        self._warn_unless_converged("raise max_iter or tol, or scale the features")

    def _keep_model(self, design: Design, size: int, coef: np.ndarray, intercept: float) -> None:
        self.n_samples_fit_ = design.shape[0]
        self._keep_features(design.shape[1], design.names)
        self.support_size_ = size
        self.support_ = np.flatnonzero(coef)
        self._keep_coefficients(coef, intercept)
        self.status_ = "stopped"

    def _raise_if_ended_early(self, told: dict[str, Any], design: Design, best: Callable[[], tuple]) -> None:
        """Raise what ended a choice from outside, after the best model so far is kept."""
        if told["ended_by"] is not None:
            self._keep_model(design, *best())
            # What is known of an earlier model is not true of this one.
            for name in _TOLD_AT_THE_END:
                vars(self).pop(name, None)
            self._raise_if_ended(told)

    def _keep_coefficients(self, coef: np.ndarray, intercept: float) -> None:
        self.coef_: np.ndarray = coef
        # A number here, and an array where classes are told apart, as in scikit-learn.
        self.intercept_: Any = intercept

    def _linear_part(self) -> tuple[np.ndarray, float]:
        """The coefficients as a vector, and the intercept as a number."""
        return self.coef_, self.intercept_

    def _keep_groups(self, chosen: np.ndarray, names: list[str]) -> None:
        """Keep which groups were chosen, where there are groups."""

    # What the kernels are asked for.

    def _target(self, y: Any) -> np.ndarray:
        return target_of(y, self)

    def _members(self, design: Design) -> tuple[list[list[int]] | None, list[str]]:
        """Groups, where there are some, and what atoms are called; no names stand for ``x0``, ``x1``, ..."""
        return None, [] if design.names is None else [str(name) for name in design.names]

    def _problem(self, design: Design, target: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        groups, _ = self._members(design)
        always = features_of(self.always_select, design.names, design.shape[1], "always_select")
        return {
            "loss": self._loss,
            "target": target,
            "weights": weights,
            "groups": groups,
            "always": always,
            "bounds": bounds_of(self.bounds, self.positive, design.shape[1]),
            "l2": self._ridges()[0],
            "standardize": bool(self.standardize),
            "fit_intercept": bool(self.fit_intercept),
        }

    def _ridges(self) -> list[float]:
        """The ridges to choose from: one, unless rows are held out to choose."""
        if not isinstance(self.l2, numbers.Real):
            what = type(self).__name__
            raise ValueError(f"l2 is {self.l2!r}; {what} takes one number, and {what}CV chooses among several")
        return [float(self.l2)]

    def _work(self, design: Design) -> dict[str, Any]:
        return self._how_to_work(self._members(design)[1])

    def _sizes(self) -> int | list[int] | None:
        """One size, or several to choose from; None for those that the data carry."""
        if self.support_size is None:
            return None
        if isinstance(self.support_size, (str, numbers.Number)):
            return whole_of(self.support_size, "support_size", 0)
        return sizes_of(self.support_size)

    # What a fitted model does.

    def _linear(self, X: Any) -> np.ndarray:
        self._check_fitted()
        design = design_of(X)
        check_same_features(self, design)
        return _katoms.predict(design.matrix, *self._linear_part())

    def coef(self, support_size: int | None = None) -> np.ndarray:
        """The coefficients of a size along the path; without a size, of the chosen model.

        Parameters
        ----------
        support_size : int, optional
            One of the sizes that the estimator was fitted with.

        Returns
        -------
        ndarray, shaped as ``coef_``
        """
        self._check_fitted()
        if support_size is None or support_size == self.support_size_:
            return self.coef_
        if not hasattr(self, "path_"):
            raise ValueError(
                f"support_size is {support_size}, but only size {self.support_size_} was fitted; "
                "fit with several sizes, such as support_size=range(0, 11)"
            )
        return self.path_.coef(support_size).reshape(self.coef_.shape)

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which features are in the model: a mask, or their indices."""
        self._check_fitted()
        if indices:
            return self.support_
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def transform(self, X: Any):
        """The columns of X that are in the model."""
        self._check_fitted()
        design = design_of(X)
        check_same_features(self, design)
        _katoms.check(design.matrix)
        if isinstance(design.matrix, tuple):
            return X.tocsc()[:, self.support_]
        return self._framed(design.matrix[:, self.support_], X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit, and give the columns of X that are in the model."""
        return self.fit(X, y, sample_weight).transform(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """A matrix with these columns in their places, and zeros elsewhere."""
        self._check_fitted()
        columns = X.toarray() if is_sparse(X) else np.asarray(X)
        if columns.ndim != 2 or columns.shape[1] != len(self.support_):
            raise ValueError(f"X must have the {len(self.support_)} columns that transform gives")
        full = np.zeros((columns.shape[0], self.n_features_in_), dtype=columns.dtype)
        full[:, self.support_] = columns
        return full

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features in the model."""
        self._check_fitted()
        return feature_names_out(self, input_features)[self.support_]
