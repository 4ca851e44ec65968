"""Least squares with k features or k groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._criterion import ByCriterion
from katoms._cv import Validated
from katoms._data import target_of, weights_of
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._linear import LinearModel

_WORDS = {"shape": "(n_features,)", "intercept": "float"}


class Regressor(LinearModel):
    """Least squares."""

    _loss = "squares"

    def _target(self, y: Any) -> np.ndarray:
        target = super()._target(y)
        low, high = target.min(initial=np.inf), target.max(initial=-np.inf)
        two = low < high and bool(((target == low) | (target == high)).all())
        classifier = type(self).__name__.replace("Regressor", "Classifier")
        note = f"y has two values, {low:g} and {high:g}, fitted here as numbers; {classifier} models the probability of {high:g}"
        self._notes = [note] if two else []
        if two and self.verbose:
            print(f"note: {note}", flush=True)
        return target

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._linear(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions: 1 is perfect, 0 is what the mean does."""
        predicted = self.predict(X)
        return _katoms.r_squared(
            target_of(y, self), predicted.astype(np.float64), weights_of(sample_weight, len(predicted))
        )

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        return self._tags(estimator_type="regressor", regressor_tags=RegressorTags())


@accepts_aliases(**ALIASES)
@documented(_docs.SPARSE, **_WORDS)
@dataclass(eq=False, repr=False)
class SparseRegressor(Regressor, ByCriterion):
    """Least squares with at most k features, or k groups: minimise ½‖y − Xb − c‖² subject to ‖b‖₀ ≤ k.

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
    """


@accepts_aliases(**ALIASES)
@documented(_docs.SPARSE_CV, **_WORDS)
@dataclass(eq=False, repr=False)
class SparseRegressorCV(Regressor, Validated):
    """Least squares with at most k features, or k groups; k is chosen on rows held out.

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
