"""Logistic regression of two classes with k features or k groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._criterion import ByCriterion
from katoms._cv import Validated
from katoms._data import classes_of, column_of, weighted_by_class, weights_of
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._linear import LinearModel
from katoms._splits import Split
from katoms._work import warn
from katoms.exceptions import InvalidInputError

_WORDS = {"shape": "(1, n_features)", "intercept": "ndarray of shape (1,)"}


@dataclass(eq=False, repr=False)
class Classifier(LinearModel):
    """Logistic regression of two classes."""

    _loss = "logistic"

    _: KW_ONLY
    class_weight: Any = None

    def _target(self, y: Any) -> np.ndarray:
        self._target_name = str(getattr(y, "name", None) or "y")
        self._classes_to_be, is_second = classes_of(column_of(y, self))
        return is_second.astype(np.float64)

    def _weights(self, sample_weight: Any, target: np.ndarray) -> np.ndarray | None:
        weights = super()._weights(sample_weight, target)
        return weighted_by_class(weights, self.class_weight, self._classes_to_be, target)

    def _check_splits(self, splits: list[Split], target: np.ndarray) -> None:
        for at, split in enumerate(splits):
            if len(np.unique(target[split.train])) < 2:
                raise InvalidInputError(
                    f"split {at} of cv trains on one class alone; two are needed to tell them apart"
                )

    def _keep_coefficients(self, coef: np.ndarray, intercept: float) -> None:
        self.classes_ = vars(self).pop("_classes_to_be")
        self.coef_, self.intercept_ = coef.reshape(1, -1), np.array([intercept])

    def _warn_unless_converged(self, advice: str) -> None:
        if self.status_ != "separated":
            super()._warn_unless_converged(advice)
            return
        zero, one = self.classes_
        warn(
            f"{type(self).__name__}: complete separation: this model tells {one} from {zero} without an error on the rows "
            "of the fit, so larger coefficients always fit better and these are no estimates; give an l2, such as 1.0"
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """The log-odds of the second class.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._linear(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of both classes, in the order of ``classes_``."""
        return self._of_both_classes(_katoms.probabilities, X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        result = self._of_both_classes(_katoms.log_probabilities, X)
        # Single precision takes what is nearly certain for 1, and its logarithm is then 0.
        return result if result.dtype == np.float64 else np.where(self.predict_proba(X) == 1, np.float32(0), result)

    def _of_both_classes(self, function: Callable[[np.ndarray], np.ndarray], X: Any) -> np.ndarray:
        linear = self.decision_function(X)
        return function(linear.astype(np.float64)).reshape(-1, 2).astype(linear.dtype, copy=False)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class of each row."""
        is_second = self.decision_function(X) > 0
        return self.classes_[is_second.astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        right = np.asarray(self.predict(X) == column_of(y, self))
        return _katoms.accuracy(right, weights_of(sample_weight, len(right)))

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags

        return self._tags(estimator_type="classifier", classifier_tags=ClassifierTags(multi_class=False))


@accepts_aliases(**ALIASES)
@documented(_docs.of_classes(_docs.SPARSE), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseClassifier(Classifier, ByCriterion):
    """Logistic regression of two classes with at most k features, or k groups.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseClassifierCV : the size by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> y = np.where(3 * X[:, 7] - 2 * X[:, 42] + rng.normal(size=300) > 0, "ill", "well")
    >>> model = SparseClassifier(support_size=2).fit(X, y)
    >>> model.support_
    array([ 7, 42])
    >>> model.classes_.tolist()
    ['ill', 'well']
    """


@accepts_aliases(**ALIASES)
@documented(_docs.of_classes(_docs.SPARSE_CV), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseClassifierCV(Classifier, Validated):
    """Logistic regression of two classes with at most k features, or k groups; k is chosen on rows held out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseClassifier : a given size, or one by a criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> y = np.where(3 * X[:, 7] - 2 * X[:, 42] + rng.normal(size=300) > 0, "ill", "well")
    >>> model = SparseClassifierCV(support_size=range(1, 6), rule="1se").fit(X, y)
    >>> model.k_1se_, model.support_
    (2, array([ 7, 42]))
    """

    l2: Any = None
