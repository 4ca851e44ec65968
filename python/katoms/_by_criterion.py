"""One size, or the best of several by an information criterion."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from katoms import _katoms
from katoms._checks import Design, weights_of
from katoms._linear import LinearModel
from katoms._paths import Path, criterion_of


@dataclass(eq=False, repr=False)
class ByCriterion(LinearModel):
    """A linear model whose size is given, or chosen by a criterion along a path."""

    _: KW_ONLY
    ic_type: str = "ebic"

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Find the model.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
            Arrays of float32 or float64 in either order are read where they lie.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        design = self._read_first(X)
        problem = self._problem(design, self._target(y), weights_of(sample_weight, design.shape[0]))
        size, start = self._sizes(design, problem), self._start(design)
        vars(self).pop("path_", None)
        if isinstance(size, list):
            self.path_ = self._walk(design, problem, size)
            size = self.path_.best(criterion_of(self.ic_type))
            place = self.path_.place(size)
            start = (self.path_.coefs[place], float(self.path_.intercepts[place]))
        self._finish(design, problem, size, start)
        return self

    def _path(self, X: Any, y: Any, sample_weight: Any) -> Path:
        """The models of all sizes alone."""
        design = self._read_first(X)
        problem = self._problem(design, self._target(y), weights_of(sample_weight, design.shape[0]))
        size = self._sizes(design, problem)
        return self._walk(design, problem, [size] if isinstance(size, int) else size)

    def _walk(self, design: Design, problem: dict[str, Any], sizes: list[int]) -> Path:
        told = _katoms.path(design.matrix, problem, self._work(design), sizes)
        self._raise_if_ended(told)
        return Path(told, design.names)
