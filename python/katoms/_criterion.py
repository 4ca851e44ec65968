"""One size, or the best of several by an information criterion."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._data import run_kernel
from katoms._design import Design, Linear
from katoms._linear import Chosen, LinearModel, Products, pairs_of
from katoms._names import names_of_products
from katoms._parameters import criterion_of
from katoms._results import Path
from katoms._separate import alone, fit_each, is_separate, joined, response_names, sizes_of_each
from katoms._work import warn, warn_unless_converged
from katoms.exceptions import InvalidInputError


@dataclass(eq=False, repr=False)
class ByCriterion(LinearModel):
    """A linear model whose size is given, or chosen by a criterion along a path."""

    _: KW_ONLY
    method: str | None = None
    effort: str | float = "default"
    ic_type: str = "ebic"
    warm_start: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Find the model.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
            Arrays of float64, float32, float16, int8, uint8 or bool in either order are read where they lie.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        design, problem = self._prepared(X, y, sample_weight)
        criterion = criterion_of(self.ic_type)
        if is_separate(self, problem["response"]):
            return self._fit_each(design, problem, criterion)
        size, start, chosen, path, edge = self._sizes(), self._start(design), None, None, None
        products: Products | None = None
        if not isinstance(size, int):
            if self.method is not None:
                raise InvalidInputError(
                    f"method is {self.method!r}, which runs for one size; give support_size one number"
                )
            if self.effort != "default":
                raise InvalidInputError(
                    f"effort is {self.effort!r}, which is for one size; give support_size one number"
                )
            result = run_kernel(_katoms.path, design, problem, self._work(design), size, criterion)
            # Sizes that were not reached for want of time say nothing about the range.
            edge = result["edge"][criterion] if result["cut"] is None else None
            products, pairs = result["products"], pairs_of(result["products"])
            path, chosen = _path(result, design), Chosen(result["cut"])
            size = path.best(criterion)
            place = path.place(size)
            start = Linear(path.coefs[place], np.atleast_1d(path.intercepts[place]))
            if result["ended_by"] is not None:
                self.path_: Any = path
            self._raise_if_ended_early(result, design, lambda: (size, start, pairs))
        self._finish(design, problem, size, start, chosen, products)
        vars(self).pop("path_", None)
        if path is not None:
            self.path_ = path
        if edge is not None:
            warn(f"{type(self).__name__}: {edge}", UserWarning)
        return self

    def _fit_each(self, design: Design, problem: dict[str, Any], criterion: str):
        """Several responses with features of their own: of sizes that are given, or those that a criterion prefers."""
        vars(self).pop("path_", None)
        sizes = sizes_of_each(self, problem["response"]["count"])
        if sizes is not None:
            fit_each(self, design, problem, sizes, self._start(design), None)
            return self
        if self.method is not None or self.effort != "default":
            raise InvalidInputError(
                "method and effort go with sizes that are given; give support_size a number, or a list with one for each "
                "response"
            )
        paths, best, starts, cut, edges = [], [], [], None, []
        for name, own in zip(response_names(self, problem["response"]["count"]), alone(problem)):
            result = run_kernel(_katoms.path, design, own, self._work(design), None, criterion)
            self._raise_if_ended(result)
            path = Path(result, design.shape[1], design.names)
            best.append(path.best(criterion))
            place = path.place(best[-1])
            starts.append(Linear(path.coefs[place], np.atleast_1d(path.intercepts[place])))
            paths.append(path)
            cut = cut or result["cut"]
            if result["cut"] is None and result["edge"][criterion] is not None:
                edges.append(f"{type(self).__name__}, response {name}: {result['edge'][criterion]}")
        fit_each(self, design, problem, best, joined(starts), Chosen(cut))
        self.path_ = paths
        for edge in edges:
            warn(edge, UserWarning)
        return self

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[Design, dict[str, Any]]:
        """The matrix, and what is to be predicted; the clock begins."""
        self._begin()
        design = self._read(X)
        return design, self._problem(design, y, sample_weight)

    def _path(self, X: Any, y: Any, sample_weight: Any) -> Path:
        """The models of all sizes alone."""
        design, problem = self._prepared(X, y, sample_weight)
        if is_separate(self, problem["response"]):
            raise InvalidInputError(
                "with share_features=False each response has a path of its own; call path with one column of y at a time"
            )
        size = self._sizes()
        sizes = [size] if isinstance(size, int) else size
        result = run_kernel(_katoms.path, design, problem, self._work(design), sizes, criterion_of(self.ic_type))
        self._raise_if_ended(result)
        if result["cut"] is not None:
            warn_unless_converged("path", result["cut"], len(result["models"]), "")
        return _path(result, design)

    def _start(self, design: Design) -> Linear | None:
        if not self.warm_start or not hasattr(self, "coef_") or self.interactions is not None:
            return None
        model = self._linear_part()
        return model if model.rows.shape[1] == design.shape[1] else None

    def _coef_of(self, support_size: int) -> np.ndarray:
        if not hasattr(self, "path_"):
            raise InvalidInputError(
                f"support_size is {support_size}, but only size {self.support_size_} was fitted; "
                "fit with several sizes, such as support_size=range(0, 11)"
            )
        if isinstance(self.path_, list):
            raise InvalidInputError(
                f"support_size is {support_size}, but each response has a path of its own: path_[0].coef({support_size})"
            )
        return self.path_.coef(support_size)


def _path(result: dict[str, Any], design: Design) -> Path:
    """The models of all sizes: of features, and behind them of products."""
    pairs = pairs_of(result["products"])
    return Path(result, design.shape[1] + len(pairs), names_of_products(design, pairs))
