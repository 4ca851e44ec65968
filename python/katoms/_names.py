"""What features and coefficients are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from katoms._design import Design
from katoms.exceptions import InvalidInputError


def names_or_numbers(names: np.ndarray | None, count: int) -> np.ndarray:
    """The names of features, or ``x0``, ``x1``, ... where they have none."""
    return np.array([f"x{j}" for j in range(count)], dtype=object) if names is None else names


def coefficient_names(model: Any, input_features: Any = None) -> np.ndarray:
    """What each coefficient is called: features, and indicators of missing values behind them."""
    if hasattr(model, "_loaded"):
        return model._loaded.names
    known = getattr(model, "feature_names_in_", None) if input_features is None else input_features
    names = names_or_numbers(known, model.n_features_in_)
    indicated = [f"{names[j]} (missing)" for j in getattr(model, "missing_features_", ())]
    return np.array([*names, *indicated], dtype=object)


def names_of_products(design: Design, pairs: np.ndarray) -> np.ndarray | None:
    """The names of features, and behind them of products; None where features have none and there are no products."""
    if len(pairs) == 0:
        return design.names
    names = names_or_numbers(design.names, design.shape[1])
    return np.array([*names, *(f"{names[i]}:{names[j]}" for i, j in pairs)], dtype=object)


def output_names(model: Any) -> list[str]:
    """What a model predicts, where that is more than one thing: classes, or responses by their names or as ``y0``, ``y1``, ..."""
    outputs = len(np.atleast_2d(model.coef_))
    if outputs == 1:
        return []
    if hasattr(model, "classes_"):
        return [str(label) for label in model.classes_]
    return list(getattr(model, "_response_names", ())) or [f"y{c}" for c in range(outputs)]


def names_of_all(model: Any) -> list[str]:
    """What each coefficient of each output is called, one output after the other."""
    names, outputs = [str(name) for name in coefficient_names(model)], output_names(model)
    return [f"{name} → {output}" for output in outputs for name in names] if outputs else names


def of_all_outputs(model: Any, features: Any) -> list[int]:
    """The places of features among the coefficients of all outputs."""
    count = np.shape(model.coef_)[-1]
    return [output * count + int(j) for j in features for output in range(max(len(output_names(model)), 1))]


def feature_names_out(estimator: Any, input_features: Any) -> np.ndarray:
    """The names of all features, those that are passed if they agree with the fit."""
    known = getattr(estimator, "feature_names_in_", None)
    if input_features is not None:
        given = np.asarray(input_features, dtype=object)
        if known is not None and list(given) != list(known):
            raise InvalidInputError("input_features is not equal to feature_names_in_")
        if len(given) != estimator.n_features_in_:
            raise InvalidInputError(
                f"input_features should have length equal to {estimator.n_features_in_}, the features of fit"
            )
        known = given
    return names_or_numbers(known, estimator.n_features_in_)
