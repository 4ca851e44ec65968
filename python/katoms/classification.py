"""Classes told apart by k features or k groups: two of them, more, or some in an order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._criterion import ByCriterion
from katoms._cv import Validated
from katoms._data import (
    check_rows,
    classes_of,
    column_of,
    order_of,
    ordered_classes_of,
    weighted_by_class,
    weights_of,
)
from katoms._design import Linear
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._linear import LinearModel
from katoms._response import response_of
from katoms._splits import Split
from katoms._work import warn
from katoms.exceptions import InvalidInputError

_WORDS = {
    "shape": "(1, n_features), or (n_classes, n_features) for more than two classes",
    "intercept": "ndarray of shape (1,) or (n_classes,)",
}


@dataclass(eq=False, repr=False)
class Classifier(LinearModel):
    """Logistic regression of two classes, or of more, in an order or not."""

    _: KW_ONLY
    ordinal: Any = False
    class_weight: Any = None

    def _target(self, y: Any) -> np.ndarray:
        self._target_name = str(getattr(y, "name", None) or "y")
        column, order = column_of(y, self), order_of(self.ordinal)
        self._classes_to_be, places = classes_of(column) if order is False else ordered_classes_of(y, column, order)
        return places.astype(np.float64)

    def _response(self, target: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        count = len(self._classes_to_be)
        self._warn_of_single_rows(target)
        weights = weighted_by_class(weights, self.class_weight, self._classes_to_be, target)
        if weights is not None and len(weights) == len(target):
            totals = np.bincount(target.astype(int), weights=weights, minlength=count)
            if (totals == 0).any() and (weights > 0).any():
                label = self._classes_to_be[np.flatnonzero(totals == 0)[0]]
                raise InvalidInputError(f"no row of class {label} has a weight; leave its rows out")
        name = "logistic" if count == 2 else "multinomial"
        name = name if order_of(self.ordinal) is False else "ordinal"
        return response_of(name, target, weights=weights, count=count)

    def _warn_of_single_rows(self, target: np.ndarray) -> None:
        alone = self._classes_of_one_row(target)
        if len(self._classes_to_be) > 2 and 2 * len(alone) > len(target):
            raise InvalidInputError(
                f"y has {len(self._classes_to_be)} classes in {len(target)} rows, and more than half of the rows have a class "
                "of their own: join classes; for numbers use SparseRegressor"
            )
        for place in alone[:5]:
            row = int(np.flatnonzero(target == place)[0])
            warn(
                f"{type(self).__name__}: class {self._classes_to_be[place]} has one row only, row {row} (counted from 0): "
                "what is said of it rests on that row; join it with another class, or leave the row out",
                UserWarning,
            )

    def _classes_of_one_row(self, target: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.bincount(target.astype(int), minlength=len(self._classes_to_be)) == 1)

    def _check_drawn(self, response: dict[str, Any]) -> None:
        alone = self._classes_of_one_row(response["target"])
        if len(alone) > 0:
            raise InvalidInputError(
                f"class {self._classes_to_be[alone[0]]} has one row only, and a fit that does not see it cannot predict it: "
                "join it with another class, or leave the row out"
            )

    def _check_splits(self, splits: list[Split], response: dict[str, Any]) -> None:
        target = response["target"]
        for at, split in enumerate(splits):
            if len(np.unique(target[split.train])) < 2:
                raise InvalidInputError(
                    f"split {at} of cv trains on one class alone; two are needed to tell them apart"
                )

    def _keep_coefficients(self, model: Linear) -> None:
        classes = vars(self).pop("_classes_to_be")
        # The scorers of scikit-learn take classes to be sorted.
        self.classes_ = np.sort(classes)
        self.coef_, self.intercept_ = model.rows, model.intercepts
        for name in ("thresholds_", "grades_"):
            vars(self).pop(name, None)
        if model.thresholds is not None:
            self.thresholds_, self.grades_ = model.thresholds, classes

    def _warn_unless_converged(self, advice: str) -> None:
        if self.status_ != "separated":
            super()._warn_unless_converged(advice)
            return
        *others, last = (str(label) for label in getattr(self, "grades_", self.classes_))
        told = f"{last} from {others[0]}" if len(others) == 1 else f"{', '.join(others)} and {last} apart"
        warn(
            f"{type(self).__name__}: separation: this model tells {told} without an error on the rows of the fit, or on some "
            "of them, so larger coefficients always fit better and these are no estimates; give an l2, such as 1.0"
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """The log-odds of the second of two classes; of more, a score for each; of more that have an order, where a row
        stands beside ``thresholds_``.

        Parameters
        ----------
        X : array, SciPy sparse matrix or frame, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        linear = self._linear(X)
        if not hasattr(self, "thresholds_") or len(self.classes_) > 2:
            return linear
        # Of two grades, the log-odds of the higher one.
        return (linear - self.thresholds_[0]) * (1 if self.grades_[1] == self.classes_[1] else -1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, in the order of ``classes_``."""
        return self._of_classes(_katoms.probabilities, X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        result = self._of_classes(_katoms.log_probabilities, X)
        # Single precision takes what is nearly certain for 1, and its logarithm is then 0.
        return result if result.dtype == np.float64 else np.where(self.predict_proba(X) == 1, np.float32(0), result)

    def _of_classes(self, function: Callable[..., np.ndarray], X: Any) -> np.ndarray:
        linear = self._linear(X)
        result = function(np.ravel(linear).astype(np.float64), len(self.classes_), getattr(self, "thresholds_", None))
        result = result.reshape(len(linear), -1).astype(linear.dtype, copy=False)
        # From low to high, and here in the order of ``classes_``.
        return result[:, np.argsort(self.grades_)] if hasattr(self, "grades_") else result

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        if hasattr(self, "thresholds_"):
            # Of grades that are as likely as each other, the lower one.
            return self.grades_[self.predict_proba(X)[:, np.searchsorted(self.classes_, self.grades_)].argmax(axis=1)]
        linear = self.decision_function(X)
        place = linear.argmax(axis=1) if linear.ndim == 2 else (linear > 0).astype(int)
        return self.classes_[place]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        predicted, labels = self.predict(X), column_of(y, self)
        check_rows(len(labels), len(predicted), "y")
        right = np.asarray(predicted == labels)
        return _katoms.accuracy(right, weights_of(sample_weight, len(right)))

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags

        return self._tags(estimator_type="classifier", classifier_tags=ClassifierTags(multi_class=True))


@accepts_aliases(**ALIASES)
@documented(_docs.of_classes(_docs.SPARSE), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseClassifier(Classifier, ByCriterion):
    """Logistic regression of two or more classes with at most k features, or k groups.

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

    More than two classes share the features; ``ordinal=True`` takes their order into account:

    >>> y = np.digitize(3 * X[:, 7] - 2 * X[:, 42] + rng.logistic(size=300), [-3, 0, 3])
    >>> SparseClassifier(support_size=2).fit(X, y).coef_.shape
    (4, 500)
    >>> SparseClassifier(support_size=2, ordinal=True).fit(X, y).thresholds_.shape
    (3,)
    """


@accepts_aliases(**ALIASES)
@documented(_docs.of_classes(_docs.SPARSE_CV), **_WORDS)
@dataclass(eq=False, repr=False)
class SparseClassifierCV(Classifier, Validated):
    """Logistic regression of two or more classes with at most k features, or k groups; k is chosen on rows held out.

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
