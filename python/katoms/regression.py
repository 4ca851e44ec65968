"""Numbers predicted by k features or k groups: least squares, and losses for outliers, quantiles, counts and amounts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._criterion import ByCriterion
from katoms._cv import Validated
from katoms._data import check_rows, known_of, numbers_of, responses_of, several_columns, target_of, weights_of
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._linear import LinearModel
from katoms._parameters import above_zero_of
from katoms._response import response_of
from katoms._splits import Measure, scorer_of
from katoms._work import warn
from katoms.exceptions import InvalidInputError
from katoms.losses import check_derivatives, functions_of, least_of, without_gaps

_WORDS = {
    "separate": _docs.SEPARATE,
    "shape": "(n_features,), or (n_responses, n_features) where y has several columns",
    "intercept": "float, or ndarray of shape (n_responses,)",
}

#: The losses, and what the kernels call them.
_LOSSES = {
    "squared_error": "squares",
    "huber": "huber",
    "quantile": "quantile",
    "poisson": "poisson",
    "gamma": "gamma",
    "negative_binomial": "negative_binomial",
}

#: Losses of a mean whose logarithm is linear in the features.
_LOG_LINK = ("poisson", "gamma", "negative_binomial")


@dataclass(eq=False, repr=False)
class Regressor(LinearModel):
    """A number for each row, or several."""

    _: KW_ONLY
    loss: Any = "squared_error"
    quantile: float = 0.5
    smoothing: float | None = None
    delta: float | None = None
    dispersion: float | None = None
    share_features: bool = True

    def _loss_name(self) -> str:
        if not isinstance(self.loss, str):
            return "custom"
        if self.loss not in _LOSSES:
            right = ", ".join(repr(name) for name in _LOSSES)
            raise InvalidInputError(f"loss is {self.loss!r}; it must be one of {right}, or an object of katoms.losses")
        return _LOSSES[self.loss]

    def _target(self, y: Any) -> np.ndarray:
        name = self._loss_name()
        self._target_name = str(getattr(y, "name", None) or "y")
        self._notes: list[str] = []
        self._response_names: list[str] = []
        if name == "squares" and several_columns(y):
            names = [str(name) for name in getattr(y, "columns", ())]
            self._response_names = names if len(set(names)) == len(names) else []
            return responses_of(y)
        target = target_of(y, self)
        low, high = target.min(initial=np.inf), target.max(initial=-np.inf)
        two = name == "squares" and low < high and bool(((target == low) | (target == high)).all())
        classifier = type(self).__name__.replace("Regressor", "Classifier")
        note = f"y has two values, {low:g} and {high:g}, fitted here as numbers; {classifier} models the probability of {high:g}"
        self._notes = [note] if two else []
        if two and self.verbose:
            print(f"note: {note}", flush=True)
        return target

    def _response(self, target: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        name = self._loss_name()
        known = {what: _numbers_or_none(v, what) for what, v in vars(self).pop("_known", {}).items()}
        if target.ndim == 2:
            if any(v is not None for v in known.values()):
                raise InvalidInputError("offset and exposure go with one response; y has several columns")
            return response_of("responses", target.T.ravel(), weights=weights, count=target.shape[1])
        if known.get("exposure") is not None and name not in _LOG_LINK:
            raise InvalidInputError(
                "exposure goes with loss='poisson', 'gamma' or 'negative_binomial'; for this loss give an offset"
            )
        if name == "custom":
            return self._own_response(target, weights=weights, offset=known.get("offset"))
        if not 0 < self.quantile < 1:
            raise InvalidInputError(f"quantile is {self.quantile!r}; it must lie between 0 and 1")
        parameters = {what: above_zero_of(getattr(self, what), what) for what in ("smoothing", "delta", "dispersion")}
        return response_of(name, target, weights=weights, quantile=float(self.quantile), **parameters, **known)

    def _own_response(self, target: np.ndarray, **known: Any) -> dict[str, Any]:
        functions = functions_of(self.loss)
        check_derivatives(functions, target)
        return response_of(
            "custom", target, functions=without_gaps(functions), least=least_of(functions, target), **known
        )

    def _keep_nuisance(self, nuisance: dict[str, Any]) -> None:
        for name in ("dispersion", "delta", "smoothing"):
            vars(self).pop(f"{name}_", None)
            if name in nuisance:
                setattr(self, f"{name}_", nuisance[name])

    def _warn_unless_converged(self, advice: str) -> None:
        if self.status_ != "separated":
            super()._warn_unless_converged(advice)
            return
        warn(
            f"{type(self).__name__}: separation: a feature tells rows whose counts are all 0, so larger coefficients always "
            "fit better and these are no estimates; give an l2, such as 1.0"
        )

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predict the target: its mean, or with ``loss="quantile"`` the quantile.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            A known part of the linear prediction. Without one it is 0.
        exposure : array of shape (n_samples,), optional
            For a log link: the mean is in proportion to it. Without one it is 1, and the prediction a rate.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_responses)
        """
        linear = self._linear(X)
        if offset is not None:
            linear = linear + known_of(offset, "offset", len(linear)).astype(linear.dtype)
        if self._loss_name() not in _LOG_LINK:
            if exposure is not None:
                raise InvalidInputError("exposure goes with a log link, which this loss has not")
            link = getattr(self.loss, "inverse_link", None)
            return linear if link is None else link(linear)
        mean = np.exp(linear)
        return mean if exposure is None else mean * known_of(exposure, "exposure", len(mean)).astype(mean.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None) -> float:
        """R² of the predictions, or D² with another loss than squares or Huber's: the share of the deviance, for quantiles
        of the pinball loss, that is explained. 1 is perfect, 0 is what the best constant does beside the offset or exposure."""
        predicted = self.predict(X, offset=offset, exposure=exposure).astype(np.float64)
        weights = weights_of(sample_weight, len(predicted))
        if predicted.ndim == 2:
            columns = responses_of(y).T
            check_rows(columns.shape[1], len(predicted), "y")
            if len(columns) != predicted.shape[1]:
                raise InvalidInputError(
                    f"y has {len(columns)} columns, but the model predicts {predicted.shape[1]} responses"
                )
            return float(
                np.mean([_katoms.r_squared(y, z, weights) for y, z in zip(columns.copy(), predicted.T.copy())])
            )
        target, name = target_of(y, self), self._loss_name()
        check_rows(len(target), len(predicted), "y")
        known = {
            what: None if values is None else known_of(values, what, len(target))
            for what, values in (("offset", offset), ("exposure", exposure))
        }
        if name in ("squares", "huber"):
            part = 0.0 if known["offset"] is None else known["offset"]
            return _katoms.r_squared(target - part, predicted - part, weights)
        # The null model has the offset as well, so that this is the share that the features explain.
        linear = self._linear(X).astype(np.float64)
        if name == "custom":
            return _katoms.explained(self._own_response(target, weights=weights, offset=known["offset"]), linear)
        given = {"quantile": float(self.quantile), "dispersion": getattr(self, "dispersion_", None), "weights": weights}
        return _katoms.explained(response_of(name, target, **given, **known), linear)

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        tags = self._tags(estimator_type="regressor", regressor_tags=RegressorTags())
        tags.target_tags.multi_output = self._loss_name() == "squares"
        tags.target_tags.positive_only = self._loss_name() in _LOG_LINK
        return tags


def _numbers_or_none(values: Any, what: str) -> np.ndarray | None:
    return None if values is None else numbers_of(values, what)


@accepts_aliases(**ALIASES)
@documented(_docs.of_numbers(_docs.SPARSE), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseRegressor(Regressor, ByCriterion):
    """Numbers predicted by at most k features, or k groups: by default least squares, ½‖y − Xb − c‖² subject to ‖b‖₀ ≤ k.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseRegressorCV : the size by cross-validation.
    path : the models of all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 500))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=200)
    >>> model = SparseRegressor(support_size=2).fit(X, y)
    >>> model.support_
    array([ 7, 42])
    >>> model.status_
    'converged'

    Without a size, a criterion chooses it:

    >>> SparseRegressor().fit(X, y).support_size_
    2

    Groups of features are chosen as a whole:

    >>> groups = np.arange(500) % 100  # 3, 103, 203, ... are group 3
    >>> y = X[:, 3] - X[:, 103] + 2 * X[:, 203] + 0.1 * rng.normal(size=200)
    >>> SparseRegressor(support_size=1, groups=groups).fit(X, y).chosen_groups_
    ['3']

    Counts, with a mean of exp(Xb + c):

    >>> counts = rng.poisson(np.exp(0.8 * X[:, 7] - 0.5 * X[:, 42] + 1))
    >>> SparseRegressor(support_size=2, loss="poisson").fit(X, counts).support_
    array([ 7, 42])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None):
        """Find the model.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
            Arrays of float64, float32, float16, int8, uint8 or bool in either order are read where they lie.
        y : array of shape (n_samples,), or (n_samples, n_responses)
            Several responses are fitted by least squares; they share the features, unless ``share_features=False``.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.
        offset : array of shape (n_samples,), optional
            A known part of each linear prediction.
        exposure : array of shape (n_samples,), optional
            For a log link: how long or how much each row was exposed; its mean is in proportion to it.

        Returns
        -------
        self
        """
        self._known = {"offset": offset, "exposure": exposure}
        return super().fit(X, y, sample_weight)


@accepts_aliases(**ALIASES)
@documented(_docs.of_numbers(_docs.SPARSE_CV), **(_WORDS | {"separate": _docs.SEPARATE_CV}))
@dataclass(eq=False, repr=False)
class SparseRegressorCV(Regressor, Validated):
    """Numbers predicted by at most k features, or k groups; k is chosen on rows held out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseRegressor : a given size, or one by a criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 500))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> model = SparseRegressorCV(support_size=range(1, 9), rule="1se").fit(X, y)
    >>> model.k_1se_, model.support_
    (2, array([ 7, 42]))
    """

    l2: Any = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ):
        """Choose on rows held out, then fit to all rows.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure
            As in :meth:`SparseRegressor.fit`.
        groups : array of shape (n_samples,), optional
            The group of each row, for splitters that look at it, such as ``GroupKFold``.

        Returns
        -------
        self
        """
        if not isinstance(scorer_of(self.scoring), (Measure, type(None))) and not (offset is None and exposure is None):
            right = ", ".join(map(repr, ("deviance", "mse", "rmse", "mae")))
            raise InvalidInputError(
                f"scoring={self.scoring!r} does not know of an offset or exposure; take one that does: {right}"
            )
        self._known = {"offset": offset, "exposure": exposure}
        return super().fit(X, y, sample_weight, groups=groups)
