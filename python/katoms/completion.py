"""A matrix of rank k from some of its entries."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._card import check_device, place_of
from katoms._columns import infinite
from katoms._data import check_same_features, is_sparse, run_kernel
from katoms._design import Design
from katoms._docs import documented
from katoms._entries import Entries, Known, entries_of, places_of
from katoms._estimator import GivesFrames, accepts_aliases
from katoms._names import feature_names_out
from katoms._parameters import method_of, seed_of, sizes_of, threads_of, whole_of
from katoms._work import Working
from katoms.exceptions import InvalidInputError

_CENTRINGS = ("auto", "none", "mean", "effects")
_TRIED = ("rank", "l2", "centring", "row_prior", "held_out_rmse", "held_out_mse", "standard_error", "seen_rmse")


@dataclass(eq=False, repr=False)
class Completing(GivesFrames, Working):
    """What the estimators of a matrix have in common."""

    rank: Any = None
    _: KW_ONLY
    l2: Any = None
    centring: str = "auto"
    scale: Any = "auto"
    clip: Any = "seen"
    method: str | None = None
    random_state: Any = None
    device: str | None = None

    def fit(self, X: Any, y: Any = None):
        """Complete a matrix.

        Parameters
        ----------
        X : array or frame with NaN, SciPy sparse matrix, or tuple (rows, columns, values)
            NaN stands for what was not seen. The stored entries of a sparse matrix are those that were seen, stored
            zeros among them. Rows and columns of a tuple are indices from 0, or names; a fourth item is the shape, where
            the last rows or columns may have no entry. A place that comes repeatedly counts once, with its mean. A frame
            of three columns, of which one of the first two holds names, is such a tuple.
        y : None
            Not used.

        Returns
        -------
        self
        """
        entries = entries_of(X)
        self._begin()
        result = run_kernel(
            _katoms.complete, entries, self._asked(self._scales(entries)), self._how_to_work([]), explain=_infinite
        )
        self._keep_features(entries.shape[1], entries.names)
        self.__dict__.pop("row_names_in_", None)
        if entries.row_names is not None:
            self.row_names_in_ = entries.row_names
        self._keep(result)
        self._raise_if_ended(result)
        if not result["held_out"]:
            taken = f"rank {self.rank_}, l2 {self.l2_:g} and centring {self.centring_!r}"
            if self.noise_variance_ is not None:
                taken = f"rank {self.rank_} and row prior {self.row_prior_!r}"
            warnings.warn(
                "every row and every column must keep an entry, so none can be held out to choose on: "
                f"{taken} are taken; give what you know yourself",
                UserWarning,
                stacklevel=2,
            )
        self._warn_unless_converged("raise max_iter or tol, or give a larger l2")
        return self

    def _ranks(self) -> list[int] | None:
        raise NotImplementedError

    def _ridges(self) -> list[float] | None:
        raise NotImplementedError

    def _scales(self, entries: Entries) -> bool | None:
        """Whether columns are features, each in a unit of its own; None if the values are to tell."""
        given = {"l2": self.l2 is not None, "centring": self.centring != "auto", "method": self.method is not None}
        named = [name for name, is_given in given.items() if is_given]
        if isinstance(self.scale, str) and self.scale == "auto":
            return False if isinstance(entries.matrix, tuple) or named else None
        if not isinstance(self.scale, (bool, np.bool_)):
            raise InvalidInputError(f"scale is {self.scale!r}; it must be 'auto', True or False")
        if self.scale and named:
            raise InvalidInputError(
                f"scale=True goes without {' and '.join(named)}: for scaled columns a factor analysis finds the noise of "
                "each column, which does the work of l2; leave it at its default, or give scale=False"
            )
        return bool(self.scale)

    def _asked(self, scale: bool | None) -> dict[str, Any]:
        """What is wanted of the kernels."""
        centring = "none" if self.centring is None else self.centring
        if centring not in _CENTRINGS:
            raise InvalidInputError(f"centring is {self.centring!r}; it must be one of {', '.join(_CENTRINGS)}")
        return {
            "scale": scale,
            "ranks": self._ranks(),
            "ridges": self._ridges(),
            "centring": centring,
            "clip": _clip(self.clip),
            "method": method_of(self.method),
            "held_out": 0.1,
            "rule": "min",
            "patience": 3,
            "seed": seed_of(self.random_state),
            "card": self._card(),
        }

    def _card(self) -> int | None:
        """The number of a card, where the products of the entries are computed on one."""
        place = place_of(self.device)
        if place is None or place < 0:
            return None
        if self.scale is True:
            raise InvalidInputError(
                "scale=True goes without device: a factor analysis is fitted on the CPU; leave one of them out"
            )
        check_device(self.device)
        return place

    def _keep(self, result: dict[str, Any]) -> None:
        self._matrix = result["matrix"]
        parts = self._matrix.parts()
        self.factors_ = self._matrix.factors()
        self.singular_values_ = parts["singular_values"]
        self.mean_ = parts["mean"]
        self.row_effects_ = parts["row_effects"]
        self.column_effects_ = parts["column_effects"]
        self.scales_ = parts["scales"]
        self.noise_variance_ = None if parts["noise"] is None else parts["noise"] * self.scales_**2
        self.bounds_ = parts["bounds"]
        self.rank_, self.l2_, self.centring_ = result["rank"], result["l2"], result["centring"]
        self.row_prior_ = result["row_prior"]
        self.rmse_ = result["rmse"]
        self.held_out_rmse_ = result["held_out_rmse"]
        self._keep_run(result)

    # What a completed matrix does.

    def predict(self, rows: Any, columns: Any = None) -> np.ndarray:
        """The low-rank values at some places of the matrix, or in all places of new rows.

        Parameters
        ----------
        rows : int, str, array of them, or array or frame with NaN
            Rows of the matrix, from 0, or their names. Without columns: new rows, as in :meth:`transform`.
        columns : int, str, or array of them, optional
            One column for each row, from 0, or their names. Shapes are broadcast.

        Returns
        -------
        ndarray
            One value for each place; for new rows an array of shape (n_samples, n_features). Unlike :meth:`transform`
            this gives the value of the model where an entry was seen, too.
        """
        self._check_fitted()
        if columns is None:
            if is_sparse(rows):
                raise InvalidInputError(
                    "X is a sparse matrix, and the predictions of all its places are dense; "
                    "use predict(rows, columns) for some places, or predict(X.toarray()) with NaN where nothing was seen"
                )
            return self._of_rows(self._matrix.predict_rows, self._read(rows))
        places = np.broadcast_arrays(
            places_of(rows, "rows", getattr(self, "row_names_in_", None)),
            places_of(columns, "columns", getattr(self, "feature_names_in_", None)),
        )
        flat = [np.ascontiguousarray(indices.ravel()) for indices in places]
        return self._matrix.predict(*flat).reshape(places[0].shape)

    def to_dense(self) -> np.ndarray:
        """The whole completed matrix: the low-rank values, also where an entry was seen.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        return self._matrix.to_dense()

    def transform(self, X: Any):
        """Fill the holes of new rows. What was seen stays as it is.

        The factors of a row are found from its seen entries, given those of the columns: rows of the matrix that was
        fitted get what they have there, up to the tolerance of the fit. A row without entries gets the effects of the
        columns.

        Parameters
        ----------
        X : array or frame with NaN, SciPy sparse matrix, or tuple (rows, columns, values)
            As in :meth:`fit`. Rows of a tuple are numbered anew, from 0; named ones come in the order of their names.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or a frame after :meth:`set_output`
        """
        self._check_fitted()
        entries = self._read(X)
        filled = self._of_rows(self._matrix.fill_rows, entries)
        named = X if entries.row_names is None else _Indexed(entries.row_names)
        return self._framed(filled, named)

    def _of_rows(self, function: Callable[..., np.ndarray], entries: Any) -> np.ndarray:
        """What the matrix says of rows, in single precision where they are."""
        result = run_kernel(function, entries, threads_of(self.n_jobs), explain=_infinite)
        return result.astype(np.float32) if getattr(entries.matrix, "dtype", None) == np.float32 else result

    def fit_transform(self, X: Any, y: Any = None):
        """Complete a matrix, and give it with its holes filled."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns."""
        self._check_fitted()
        return feature_names_out(self, input_features)

    def _read(self, X: Any) -> Entries:
        entries = entries_of(X, Known(self.n_features_in_, getattr(self, "feature_names_in_", None)))
        check_same_features(self, Design(entries.matrix, entries.shape, entries.names))
        return entries

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, TargetTags, TransformerTags

        return self._tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(sparse=True, allow_nan=True),
            transformer_tags=TransformerTags(),
        )


@accepts_aliases(k="rank")
@documented(_docs.COMPLETION)
@dataclass(eq=False, repr=False)
class MatrixCompletion(Completing):
    """A matrix of rank k from some of its entries: ratings, pictures with holes, tables with blanks.

    Minimises ``½·Σ(x − effects − L)² + ½·l2·‖L‖²`` over the entries that were seen, subject to ``rank L ≤ rank``. As a
    transformer it is an imputer: :meth:`transform` keeps what was seen and fills the rest. Of a table whose columns are
    features, each in a unit of its own, L is the low-rank part of a factor analysis instead (``scale``).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MatrixCompletionCV : ranks and ridges to choose from.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import MatrixCompletion
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 10.0, 100.0])
    >>> X[3, 2] = np.nan
    >>> model = MatrixCompletion(rank=1, l2=0.0, centring="none", clip=None).fit(X)
    >>> model.predict([3], [2]).round(3)
    array([400.])
    >>> model.transform([[5.0, np.nan, np.nan]]).round(3)
    array([[  5.,  50., 500.]])
    """

    def _ranks(self) -> list[int] | None:
        if self.rank is None:
            return None
        if not isinstance(self.rank, numbers.Integral) or isinstance(self.rank, bool):
            raise InvalidInputError(
                f"rank is {self.rank!r}; give a whole number or None, or several to choose from to MatrixCompletionCV"
            )
        return [whole_of(self.rank, "rank", 1)]

    def _ridges(self) -> list[float] | None:
        if self.l2 is not None and not isinstance(self.l2, numbers.Real):
            raise InvalidInputError(
                f"l2 is {self.l2!r}; give a number or None, or several to choose from to MatrixCompletionCV"
            )
        return None if self.l2 is None else [float(self.l2)]


@accepts_aliases(k="rank")
@documented(_docs.COMPLETION_CV)
@dataclass(eq=False, repr=False)
class MatrixCompletionCV(Completing):
    """A matrix of rank k from some of its entries, k and the ridge chosen on entries held out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MatrixCompletion : a given rank.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import MatrixCompletionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40)) + 0.3 * rng.normal(size=(60, 40))
    >>> X[rng.random(X.shape) < 0.4] = np.nan
    >>> model = MatrixCompletionCV(rank=range(1, 7), l2=0.0, centring="none").fit(X)
    >>> model.rank_min_, model.rank_
    (3, 3)
    """

    _: KW_ONLY
    held_out: float = 0.1
    rule: str = "min"
    patience: int = 3

    def _ranks(self) -> list[int] | None:
        if self.rank is None:
            return None
        if isinstance(self.rank, (str, bool, numbers.Number)):
            if not isinstance(self.rank, numbers.Integral) or isinstance(self.rank, bool):
                raise InvalidInputError(f"rank is {self.rank!r}; give a whole number, several of them, or None")
            return [whole_of(self.rank, "rank", 1)]
        return sizes_of(self.rank, "rank", 1)

    def _ridges(self) -> list[float] | None:
        if self.l2 is None:
            return None
        return [float(self.l2)] if isinstance(self.l2, numbers.Real) else [float(ridge) for ridge in self.l2]

    def _asked(self, scale: bool | None) -> dict[str, Any]:
        if self.rule not in ("min", "1se"):
            raise InvalidInputError(f"rule is {self.rule!r}; it must be 'min' or '1se'")
        if not isinstance(self.patience, numbers.Integral) or self.patience < 1:
            raise InvalidInputError(f"patience is {self.patience!r}; it must be a whole number of at least 1")
        held_out = {"held_out": float(self.held_out), "rule": self.rule, "patience": int(self.patience)}
        return {**super()._asked(scale), **held_out}

    def _keep(self, result: dict[str, Any]) -> None:
        super()._keep(result)
        # Without a choice the rank that was given is both.
        self.rank_min_ = self.rank_ if result["rank_min"] is None else result["rank_min"]
        self.rank_1se_ = self.rank_ if result["rank_1se"] is None else result["rank_1se"]
        self.cv_results_ = {name: np.array([trial[name] for trial in result["trials"]]) for name in _TRIED}


@dataclass
class _Indexed:
    """What gives a frame its index."""

    index: np.ndarray


def _infinite(entries: Any) -> str | None:
    """Which column holds infinity, where there are columns: NaN is a hole."""
    return None if isinstance(entries.matrix, tuple) else infinite(entries)


def _clip(clip: Any) -> str | tuple[float, float]:
    if clip is None or (isinstance(clip, str) and clip == "seen"):
        return "off" if clip is None else clip
    try:
        low, high = clip
        return float(low), float(high)
    except (TypeError, ValueError):
        raise InvalidInputError(f"clip is {clip!r}; it must be 'seen', a pair (low, high) or None") from None
