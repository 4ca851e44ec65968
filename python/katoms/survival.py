"""Survival: hazards told by k features or k groups."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._criterion import ByCriterion
from katoms._cv import Validated
from katoms._data import check_rows, numbers_of, weights_of
from katoms._design import Linear
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._linear import LinearModel
from katoms._response import response_of
from katoms._splits import Split
from katoms._times import strata_of, survival_of
from katoms._work import warn
from katoms.exceptions import InvalidInputError

_WORDS = {"shape": "(n_features,)", "intercept": "float"}


class StepFunction:
    """A function that is constant between the points ``x``, as scikit-survival has it.

    Attributes
    ----------
    x, y : ndarray
        The points, rising, and the value from each of them on.
    before : float
        The value before the first.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, before: float):
        self.x, self.y, self.before = x, y, before

    def __call__(self, at: Any) -> Any:
        """The value at some points."""
        values = np.concatenate([[self.before], self.y])
        return values[np.searchsorted(self.x, at, side="right")]

    def __repr__(self) -> str:
        return f"StepFunction({len(self.x)} steps from {self.x[0]:g} to {self.x[-1]:g})"


@dataclass(eq=False, repr=False)
class Cox(LinearModel):
    """Cox's proportional hazards."""

    _: KW_ONLY
    ties: str = "efron"

    def _target(self, y: Any) -> np.ndarray:
        if self.ties not in ("efron", "breslow"):
            raise InvalidInputError(f"ties is {self.ties!r}; it must be 'efron' or 'breslow'")
        self._target_name = "time"
        times, self._events = survival_of(y)
        return times

    def _response(self, target: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        known = vars(self).pop("_known", {})
        strata, places = known.get("strata"), None
        vars(self).pop("strata_", None)
        if strata is not None:
            labels = strata_of(strata, len(target))
            self.strata_, numbers = np.unique(labels, return_inverse=True)
            places = numbers.tolist()
        numeric = {
            name: None if known.get(name) is None else numbers_of(known[name], name) for name in ("entry", "offset")
        }
        events = vars(self).pop("_events")
        return response_of(
            "cox",
            target,
            weights=weights,
            events=events,
            entries=numeric["entry"],
            offset=numeric["offset"],
            strata=places,
            ties=self.ties,
        )

    def _check_drawn(self, response: dict[str, Any]) -> None:
        for what, rows in (("has an event", response["events"]), ("is without an event", ~response["events"])):
            if rows.sum() == 1:
                raise InvalidInputError(
                    f"one row only {what}, which cannot be spread over folds: give more rows, or the folds by cv"
                )

    def _check_splits(self, splits: list[Split], response: dict[str, Any]) -> None:
        for at, split in enumerate(splits):
            for rows, what in ((split.train, "trains"), (split.test, "tests")):
                if not response["events"][rows].any():
                    raise InvalidInputError(
                        f"split {at} of cv {what} on rows without an event; every side needs some: hold out more rows"
                    )

    def _keep_coefficients(self, model: Linear) -> None:
        self.coef_, self.intercept_ = model.coef, 0.0

    def _keep_nuisance(self, nuisance: dict[str, Any]) -> None:
        self._baseline = [(times, hazards) for _, times, hazards in nuisance["baseline"]]
        self._baseline_strata = [stratum for stratum, _, _ in nuisance["baseline"]]
        self.unique_times_ = np.unique(np.concatenate([times for times, _ in self._baseline]))

    def _warn_unless_converged(self, advice: str) -> None:
        if self.status_ != "separated":
            super()._warn_unless_converged(advice)
            return
        warn(
            f"{type(self).__name__}: separation: the features tell which rows have their events first, so larger "
            "coefficients always fit better and these hazard ratios are no estimates; give an l2, such as 1.0"
        )

    def predict(self, X: Any) -> np.ndarray:
        """The logarithm of the hazard ratio of each row: more is a larger risk.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._linear(X)

    def predict_partial_hazard(self, X: Any) -> np.ndarray:
        """The hazard ratio of each row: the exponential of :meth:`predict`."""
        return np.exp(self.predict(X))

    def predict_cumulative_hazard_function(self, X: Any, *, strata: Any = None, return_array: bool = False):
        """The cumulative hazard of each row, by Breslow's estimate of that of the baseline.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)
        strata : array of shape (n_samples,), optional
            The stratum of each row, where the fit had some.
        return_array : bool, default=False
            Whether to give an array of the values at ``unique_times_`` in place of functions.

        Returns
        -------
        ndarray of StepFunction, or of shape (n_samples, n_unique_times)
        """
        return self._functions(X, strata, return_array, lambda hazard: hazard, 0.0)

    def predict_survival_function(self, X: Any, *, strata: Any = None, return_array: bool = False):
        """The probability of no event until a time: the exponential of minus the cumulative hazard.

        Parameters and what it gives are those of :meth:`predict_cumulative_hazard_function`.
        """
        return self._functions(X, strata, return_array, lambda hazard: np.exp(-hazard), 1.0)

    def _functions(self, X: Any, strata: Any, as_array: bool, of_hazard: Any, before: float) -> np.ndarray:
        risks = np.exp(self.predict(X).astype(np.float64))
        if not hasattr(self, "_baseline"):
            raise InvalidInputError(
                "only a fit that has come to its end knows a baseline hazard: not one that was broken off, nor a model that "
                "scoring judges on rows held out, which it knows by predict alone"
            )
        places = self._places(strata, len(risks))
        steps = [StepFunction(times, hazards, 0.0) for times, hazards in self._baseline]
        if as_array:
            at_times = np.array([step(self.unique_times_) for step in steps])
            return of_hazard(at_times[places] * risks[:, None])
        made = np.empty(len(risks), dtype=object)
        for row, (place, risk) in enumerate(zip(places, risks)):
            made[row] = StepFunction(steps[place].x, of_hazard(steps[place].y * risk), before)
        return made

    def _places(self, strata: Any, rows: int) -> np.ndarray:
        """The baseline of each row."""
        if not hasattr(self, "strata_"):
            if strata is not None:
                raise InvalidInputError("strata are given, but the model was fitted without strata")
            return np.zeros(rows, dtype=int)
        if strata is None:
            raise InvalidInputError("the model was fitted with strata; give the stratum of each row: strata=...")
        labels = strata_of(strata, rows)
        known = {self.strata_[number]: at for at, number in enumerate(self._baseline_strata)}
        unknown = [label for label in labels.tolist() if label not in known]
        if unknown:
            raise InvalidInputError(f"strata holds {unknown[0]!r}, of which the fit saw no event")
        return np.array([known[label] for label in labels.tolist()], dtype=int)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's C: the share of pairs of rows, of which one is known to have had its event first, that the model orders so."""
        risks = self.predict(X).astype(np.float64)
        times, events = survival_of(y)
        check_rows(len(times), len(risks), "y")
        found = _katoms.concordance(times, events, risks, weights_of(sample_weight, len(times)))
        if found is None:
            raise InvalidInputError("no pair of rows can be compared: no event comes before another row's time")
        return found

    def __sklearn_tags__(self):
        return self._tags(estimator_type=None)


@accepts_aliases(**ALIASES)
@documented(_docs.of_survival(_docs.SPARSE), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseCox(Cox, ByCriterion):
    """Cox's proportional hazards with at most k features, or k groups.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseCoxCV : the size by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseCox
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> times = rng.exponential(np.exp(-X[:, 7] + 0.8 * X[:, 42]))
    >>> ends = rng.exponential(3, size=300)
    >>> y = np.column_stack([np.minimum(times, ends), times <= ends])  # time, and whether the event was seen
    >>> model = SparseCox(support_size=2).fit(X, y)
    >>> model.support_
    array([ 7, 42])
    >>> survival = model.predict_survival_function(X[:1])[0]
    >>> bool(0 < survival(1.0) < survival(0.1) < 1)
    True
    """

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None, entry: Any = None, offset: Any = None
    ):
        """Find the model.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
        y : structured array of (event, time), frame, or array of shape (n_samples, 2)
            As scikit-survival has it: a field of truths, whether the event was seen, and one of times. A frame has a
            column of each, named such as ``time`` and ``event``; an array has the times first.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.
        strata : array of shape (n_samples,), optional
            Rows with the same label have the same baseline hazard.
        entry : array of shape (n_samples,), optional
            The time from which on each row was seen (left truncation).
        offset : array of shape (n_samples,), optional
            A known part of each linear prediction.

        Returns
        -------
        self
        """
        self._known = {"strata": strata, "entry": entry, "offset": offset}
        return super().fit(X, y, sample_weight)


@accepts_aliases(**ALIASES)
@documented(_docs.of_survival(_docs.SPARSE_CV), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseCoxCV(Cox, Validated):
    """Cox's proportional hazards with at most k features, or k groups; k is chosen on rows held out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseCox : a given size, or one by a criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseCoxCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> times = rng.exponential(np.exp(-X[:, 7] + 0.8 * X[:, 42]))
    >>> y = np.column_stack([np.minimum(times, 2), times <= 2])
    >>> SparseCoxCV(support_size=range(0, 6), rule="1se").fit(X, y).support_
    array([ 7, 42])
    """

    l2: Any = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        strata: Any = None,
        entry: Any = None,
        offset: Any = None,
    ):
        """Choose on rows held out, then fit to all rows; as :meth:`SparseCox.fit`, and ``groups`` for splitters."""
        self._known = {"strata": strata, "entry": entry, "offset": offset}
        return super().fit(X, y, sample_weight, groups=groups)
