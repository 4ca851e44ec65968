"""What a fit gives besides its coefficients: how good a model is, and the models of all sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from katoms._parameters import CRITERIA, criterion_of
from katoms.exceptions import InvalidInputError


@dataclass(frozen=True)
class Quality:
    """What is known about how good a model is. ``print`` it to read it.

    Attributes
    ----------
    stationarity : float
        How far a gradient step would move the model, relative to its norm; 0 at a stationary point. NaN where that
        could not be judged.
    exchange_gain : float
        How much the best of the compared exchanges of one atom for another lowers the objective; 0 when none does.
    exchanges_compared : int
        The number of exchanges that were compared.
    exhaustive : bool
        Whether these are all that there are.
    near_ties : list of (int, int, float)
        Atoms of the model, what could stand in their place, and how much the objective would rise.
    proven : float or None
        The number of all models of this size, where all were looked at or ruled out by a bound, so that none is better.
    lower_bound : float or None
        What no model of this size can beat, where that was proven.
    gap : float or None
        The objective is at most this share above the best possible, where that was proven.
    sentences : list of str
        The same in words.
    """

    stationarity: float
    exchange_gain: float
    exchanges_compared: int
    exhaustive: bool
    near_ties: list[tuple[int, int, float]]
    proven: float | None
    lower_bound: float | None
    gap: float | None
    sentences: list[str]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def quality_of(result: dict[str, Any] | None) -> Quality | None:
    """The quality that the kernels tell, if they do."""
    return None if result is None else Quality(**result)


class Coefficients:
    """The coefficients of several models, a row for each; only what is not 0 is stored.

    ``coefs[i]`` is a row as an array, and so is what a loop gives. ``coefs.tocsr()`` is the same as a sparse array of SciPy,
    and ``coefs.toarray()`` or ``np.asarray(coefs)`` a dense one.

    Attributes
    ----------
    shape : (int, int)
        Models and features.
    nnz : int
        The number of values that are stored.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, rows: Sequence[tuple[np.ndarray, np.ndarray]], n_features: int):
        self.shape = (len(rows), n_features)
        self._starts = np.cumsum([0, *(len(values) for _, values in rows)])
        self._indices = np.concatenate([np.zeros(0, np.int64), *(indices for indices, _ in rows)])
        self._values = np.concatenate([np.zeros(0), *(values for _, values in rows)])

    @property
    def nnz(self) -> int:
        return len(self._values)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any):
        at = np.arange(self.shape[0])[key]
        if np.ndim(at) > 0:
            return Coefficients([self._stored(row) for row in at], self.shape[1])
        row = np.zeros(self.shape[1])
        indices, values = self._stored(at)
        row[indices] = values
        return row

    def _stored(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        stored = slice(self._starts[row], self._starts[row + 1])
        return self._indices[stored], self._values[stored]

    def columns(self) -> Iterator[tuple[int, np.ndarray]]:
        """Each feature with a coefficient that is not 0, and its coefficients in all models."""
        features = np.unique(self._indices)
        table = np.array([row[features] for row in self]).reshape(len(self), len(features))
        return zip(features.tolist(), table.T)

    def toarray(self) -> np.ndarray:
        """A dense array, which takes the memory of every 0."""
        return np.array(list(self)).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.toarray().astype(dtype or self.dtype, copy=False)

    def tocsr(self):
        """A ``scipy.sparse.csr_array``."""
        from scipy.sparse import csr_array

        return csr_array((self._values, self._indices, self._starts), shape=self.shape)

    def __repr__(self) -> str:
        return f"Coefficients(shape={self.shape}, nnz={self.nnz})"


class Path:
    """Models of rising sizes, and what information criteria say of them.

    Attributes
    ----------
    support_sizes : ndarray of int
        The sizes.
    coefs : Coefficients of shape (n_sizes, n_features)
        The coefficients of each model, in the units of the data: ``coefs[i]``, ``coefs.tocsr()`` or ``coefs.toarray()``.
        Those of several responses or classes stand one after the other.
    standardized_coefs : Coefficients of shape (n_sizes, n_features)
        What a standard deviation of each feature does.
    intercepts : ndarray of shape (n_sizes,)
        Their intercepts; of several responses or classes a column for each.
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

    def __init__(self, result: dict[str, Any], n_features: int, feature_names: np.ndarray | None = None):
        models = result["models"]
        self.support_sizes = np.array([model["support_size"] for model in models])
        outputs = len(models[0]["intercepts"])
        self.coefs = Coefficients([model["coef"] for model in models], outputs * n_features)
        self.standardized_coefs = Coefficients([model["standardized"] for model in models], outputs * n_features)
        self.intercepts = np.array([model["intercepts"] for model in models])
        if outputs == 1:
            self.intercepts = self.intercepts[:, 0]
        self.supports = [np.unique(indices % n_features) for indices, _ in (model["coef"] for model in models)]
        self.chosen = [model["chosen"] for model in models]
        self.losses = np.array([model["loss"] for model in models])
        self.objectives = np.array([model["objective"] for model in models])
        self.statuses = [model["status"] for model in models]
        self.criteria = {name: np.array([model[name] for model in models]) for name in CRITERIA}
        self.null_loss = result["null_loss"]
        self.complete = result["complete"]
        self.n_passes = result["passes"]
        self.feature_names = feature_names
        self._best = result["best"]

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
            raise InvalidInputError(f"support_size is {support_size}; the path has models of the sizes {sizes}")
        return int(found[0])

    def __len__(self) -> int:
        return len(self.support_sizes)

    def __repr__(self) -> str:
        return f"Path(support_sizes={self.support_sizes.tolist()}, best={dict(self._best)})"
