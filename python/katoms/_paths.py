"""A model of each size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from katoms._checks import whole_of

CRITERIA = ("aic", "bic", "ebic", "gic")


class Path:
    """Models of rising sizes, and what information criteria say of them.

    Attributes
    ----------
    support_sizes : ndarray of int
        The sizes.
    coefs : ndarray of shape (n_sizes, n_features)
        The coefficients of each model, in the units of the data.
    standardized_coefs : ndarray of shape (n_sizes, n_features)
        What a standard deviation of each feature does.
    intercepts : ndarray of shape (n_sizes,)
        Their intercepts.
    supports : list of ndarray
        The features of each model.
    losses, objectives : ndarray of shape (n_sizes,)
        The loss on the data, and what was minimised (with the ridge).
    null_loss : float
        The loss of the best constant.
    criteria : dict of str to ndarray
        ``"aic"``, ``"bic"``, ``"ebic"``, ``"gic"`` of each model; the least is the best.
    statuses : list of str
        How the work on each size ended.
    complete : bool
        Whether all sizes that were asked for are there.
    n_passes : int
        Passes over the data in all.
    """

    def __init__(self, told: dict[str, Any], feature_names: np.ndarray | None = None):
        models = told["models"]
        self.support_sizes = np.array([model["support_size"] for model in models])
        self.coefs = np.array([model["coef"] for model in models])
        self.standardized_coefs = np.array([model["standardized"] for model in models])
        self.intercepts = np.array([model["intercept"] for model in models])
        self.supports = [model["support"] for model in models]
        self.chosen = [model["chosen"] for model in models]
        self.losses = np.array([model["loss"] for model in models])
        self.objectives = np.array([model["objective"] for model in models])
        self.statuses = [model["status"] for model in models]
        self.criteria = {name: np.array([model[name] for model in models]) for name in CRITERIA}
        self.null_loss = told["null_loss"]
        self.complete = told["complete"]
        self.n_passes = told["passes"]
        self.feature_names = feature_names
        self._best = told["best"]

    def best(self, ic_type: str = "ebic") -> int:
        """The size that a criterion prefers.

        Parameters
        ----------
        ic_type : {"aic", "bic", "ebic", "gic"}

        Returns
        -------
        int
        """
        return self._best[criterion_of(ic_type)]

    def coef(self, support_size: int) -> np.ndarray:
        """The coefficients of the model of this size."""
        return self.coefs[self.place(support_size)]

    def place(self, support_size: int) -> int:
        """The place of a size in every list here."""
        found = np.flatnonzero(self.support_sizes == support_size)
        if len(found) == 0:
            sizes = ", ".join(str(size) for size in self.support_sizes)
            raise ValueError(f"support_size is {support_size}; the path has models of the sizes {sizes}")
        return int(found[0])

    def __len__(self) -> int:
        return len(self.support_sizes)

    def __repr__(self) -> str:
        return f"Path(support_sizes={self.support_sizes.tolist()}, best={dict(self._best)})"


def criterion_of(ic_type: Any) -> str:
    """The name of a criterion, in any case."""
    name = str(ic_type).lower()
    if name not in CRITERIA:
        raise ValueError(f"ic_type is {ic_type!r}; it must be one of {', '.join(CRITERIA)}")
    return name


def sizes_of(support_size: Sequence[int] | Any, what: str = "support_size", least: int = 0) -> list[int]:
    """Rising sizes from a range, a list or an array."""
    sizes = sorted({whole_of(size, what, least) for size in np.asarray(list(support_size)).ravel().tolist()})
    if not sizes:
        raise ValueError(f"{what} is empty; give at least one size, such as range({least}, 11)")
    return sizes
