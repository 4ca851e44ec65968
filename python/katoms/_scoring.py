"""Scores of models on rows that they have not seen, by the scorers of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from katoms._frames import rows_of

Scorer = Callable[..., float]


def scorer_of(scoring: Any) -> Scorer | None:
    """A function of (estimator, X, y), of which more is better; None for the loss that is fitted."""
    if scoring is None or callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise ValueError(
            f"scoring is {scoring!r}; give the name of a scorer of scikit-learn, such as 'roc_auc', a function of "
            "(estimator, X, y), or None for the held-out loss"
        )
    from sklearn.metrics import get_scorer

    return get_scorer(scoring)


def scored(scorer: Scorer, model: Any, X: Any, y: Any, test: np.ndarray, sample_weight: Any) -> float:
    """The score of a model on some rows, weighted where the scorer takes weights."""
    weights = {}
    if sample_weight is not None and "sample_weight" in _parameters(getattr(scorer, "_score_func", scorer)):
        weights["sample_weight"] = np.asarray(sample_weight)[test]
    return float(scorer(model, rows_of(X, test), rows_of(y, test), **weights))


def _parameters(function: Any) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
