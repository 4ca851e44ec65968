"""A signal of k entries from few measurements: compressed sensing."""

from __future__ import annotations

import functools
import math
import numbers
import re
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms import _docs, _katoms
from katoms._columns import not_finite
from katoms._data import check_same_features, run_kernel, target_of
from katoms._design import Design
from katoms._docs import documented
from katoms._estimator import ALIASES, accepts_aliases
from katoms._measurements import in_real_numbers, measuring_of, signal_dtype
from katoms._parameters import method_of, seconds_of, whole_of
from katoms._results import Quality, quality_of
from katoms._work import Working, callback_of, warn_unless_converged, work_of
from katoms.exceptions import InvalidInputError, KatomsError


@dataclass(frozen=True, eq=False)
class Recovered:
    """A recovered signal, and how far it can be trusted.

    Attributes
    ----------
    x : ndarray of shape (n_features,)
        The signal.
    support : ndarray of int
        The places that are not 0.
    residual_norm, relative_residual : float
        ``‖b − A·x‖``, and the same as a share of ``‖b‖``.
    most_entries : int
        The most entries that so many measurements of so many places carry, were A Gaussian.
    status : str
        How the work ended: ``"converged"``, ``"iteration-cap"``, ``"stopped"``, ...
    quality : Quality or None
        How good x is: ``print(found.quality)``.
    n_iter, n_passes : int
        Iterations that were made, and products with all of A.
    seconds : float
        The time that took.
    trace : list of dict
        Every move.
    """

    x: np.ndarray
    support: np.ndarray
    residual_norm: float
    relative_residual: float
    most_entries: int
    status: str
    quality: Quality | None
    n_iter: int
    n_passes: int
    seconds: float
    trace: list[dict[str, Any]]

    def __repr__(self) -> str:
        return (
            f"Recovered({len(self.support)} of {len(self.x)} entries, relative residual {self.relative_residual:.3g}, "
            f"{self.status})"
        )


def _recovered(result: dict[str, Any]) -> Recovered:
    same = ("x", "support", "residual_norm", "relative_residual", "most_entries", "status", "seconds", "trace")
    return Recovered(
        quality=quality_of(result["quality"]),
        n_iter=result["iterations"],
        n_passes=result["passes"],
        **{name: result[name] for name in same},
    )


def recover(
    A: Any,
    b: Any,
    support_size: int,
    *,
    noise: float | None = None,
    method: str | None = None,
    dtype: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Callable[[dict[str, Any]], Any] | None = None,
) -> Recovered:
    """Recover a signal of k entries from measurements b = A·x.

    Minimises ``½‖b − A·x‖²`` subject to at most ``support_size`` entries of x not being 0. Columns are taken as they are:
    nothing is centred or scaled, and there is no intercept.

    Parameters
    ----------
    A : array, SciPy sparse matrix, frame, SciPy ``LinearOperator`` or PyLops operator
        The measurements, of shape (n_measurements, n_places), real or complex. Of an operator, ``shape``, ``dtype``,
        ``matvec`` and ``rmatvec`` (the conjugate transpose) are used. Up to 16 million numbers it is written out as a
        matrix, which the search needs; a larger one is only multiplied with.
    b : array of shape (n_measurements,)
        What was measured, real or complex.
    support_size : int
        The most entries that are not 0.
    noise : float, optional
        The standard deviation of the noise in b, if it is known: a residual at its level ends the search. Of complex
        noise, the root of its mean squared magnitude.
    method : str, optional
        A single run of this method, by its name in :func:`katoms.methods`. None searches from the end of accelerated
        iterative hard thresholding for better entries.
    dtype : {float, complex}, optional
        What the entries of x are. None: complex where A or b is complex, else real. Where A is complex and x is known
        to be real, say ``dtype=float``: a complex measurement then tells two numbers of it. A complex entry counts as
        one, with both of its parts.
    max_iter, tol, time_limit, n_jobs, verbose, callback
        As in :class:`SparseRecovery`.

    Returns
    -------
    Recovered

    Examples
    --------
    >>> import numpy as np
    >>> import katoms
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(40, 200))
    >>> x = np.zeros(200)
    >>> x[[3, 77, 150]] = [2.0, -1.0, 0.5]
    >>> katoms.recover(A, A @ x, 3).support
    array([  3,  77, 150])
    """
    if support_size is None:
        raise InvalidInputError("support_size is None; give the number of entries that are not 0")
    work = work_of(max_iter, tol, n_jobs, callback_of(callback, verbose), [])
    work["seconds"] = seconds_of(time_limit)
    entries = signal_dtype(A, b, dtype)
    design, target = in_real_numbers(A, b, entries)
    is_complex = entries.kind == "c"
    # Real and imaginary part of complex noise have half of its variance each.
    parts = 2 if len(target) == 2 * len(b) else 1
    sought = {
        "support_size": whole_of(support_size, "support_size", 1),
        "noise": None if noise is None else _noise(noise) / math.sqrt(parts),
        "method": method_of(method),
        "complex": is_complex,
    }
    try:
        result = _asked(_katoms.recover, design, target, sought, work)
    except KatomsError as error:
        # Here, X and y are called A and b; what stands in quotes is the name of a column.
        message = re.sub(r"(?<!['\w])[Xy](?!['\w])", lambda found: {"X": "A", "y": "b"}[found[0]], str(error))
        raise type(error)(message) from None
    if result["ended_by"] is not None:
        raise result["ended_by"]
    half = len(result["x"]) // 2
    if is_complex:
        result["x"] = result["x"][:half] + 1j * result["x"][half:]
        result["support"] = np.flatnonzero(result["x"])
    result["x"] = result["x"].astype(entries)
    _warn_beyond(result, (len(b), len(result["x"])))
    warn_unless_converged("recover", result["status"], result["iterations"], "raise max_iter or tol")
    return _recovered(result)


@accepts_aliases(**ALIASES)
@documented(_docs.RECOVERY)
@dataclass(eq=False, repr=False)
class SparseRecovery(Working):
    """A signal of at most k entries from few measurements: compressed sensing.

    Minimises ``½‖y − X·x‖²`` subject to at most ``support_size`` entries of x not being 0. Columns are taken as they are:
    nothing is centred or scaled, and there is no intercept.

    Parameters
    ----------
    support_size : int or None, default=None
        The most entries that are not 0. None stands for the most that the shape of X carries, were it Gaussian
        (:func:`katoms.phase_transition_k`).
    noise : float or None, default=None
        The standard deviation of the noise in y, if it is known: a residual at its level ends the search.
    method : str or None, default=None
        A single run of this method, by its name in :func:`katoms.methods`. None searches from the end of accelerated
        iterative hard thresholding for better entries.
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The signal.
    support_ : ndarray of int
        The places that are not 0.
    support_size_ : int
        The size that was given, or taken from the shape.
    residual_norm_, relative_residual_ : float
        ``‖y − X·coef_‖``, and the same as a share of ``‖y‖``.
    most_entries_ : int
        The most entries that so many measurements of so many places carry, were X Gaussian.
    n_iter_ : int
        Iterations that were made.
    n_passes_ : int
        Products with all of X.
    status_ : str
        How the fit ended: ``"converged"``, ``"iteration-cap"``, ``"stopped"``, ...
    quality_ : Quality
        How good the signal is: ``print(model.quality_)``.
    trace_ : list of dict
        Every move.
    n_features_in_ : int
        The number of places.
    feature_names_in_ : ndarray of str
        Their names, where X had some.

    See Also
    --------
    recover : the same as a function.
    SparseRegressor : with an intercept and standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRecovery
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(40, 200))
    >>> x = np.zeros(200)
    >>> x[[3, 77, 150]] = [2.0, -1.0, 0.5]
    >>> model = SparseRecovery(3).fit(A, A @ x)
    >>> model.support_, model.coef_[model.support_].round(6)
    (array([  3,  77, 150]), array([ 2. , -1. ,  0.5]))
    """

    support_size: Any = None
    _: KW_ONLY
    noise: float | None = None
    method: str | None = None

    def fit(self, X: Any, y: Any):
        """Recover the signal.

        Parameters
        ----------
        X : array, SciPy sparse matrix, frame, SciPy ``LinearOperator`` or PyLops operator
            The measurements, of shape (n_measurements, n_places). See :func:`recover`.
        y : array of shape (n_measurements,)
            What was measured.

        Returns
        -------
        self
        """
        self._begin()
        design = measuring_of(X)
        target = target_of(y, self)
        size = None if self.support_size is None else whole_of(self.support_size, "support_size", 1)
        sought = {
            "support_size": size,
            "noise": None if self.noise is None else _noise(self.noise),
            "method": method_of(self.method),
            "complex": False,
        }
        names = [] if design.names is None else [str(name) for name in design.names]
        result = _asked(_katoms.recover, design, target, sought, self._how_to_work(names))
        self.n_samples_fit_ = design.shape[0]
        self._keep_features(design.shape[1], design.names)
        result["x"] = result["x"].astype(design.dtype, copy=False)
        self._keep(result)
        self._raise_if_ended(result)
        _warn_beyond(result, design.shape)
        self._warn_unless_converged("raise max_iter or tol")
        return self

    def _keep(self, result: dict[str, Any]) -> None:
        self.coef_ = result["x"]
        self.support_ = result["support"]
        self.support_size_ = result["support_size"]
        self.residual_norm_ = result["residual_norm"]
        self.relative_residual_ = result["relative_residual"]
        self.most_entries_ = result["most_entries"]
        self._keep_run(result)

    def predict(self, X: Any) -> np.ndarray:
        """What would be measured: ``X·coef_``.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        ndarray of shape (n_measurements,)
        """
        self._check_fitted()
        design: Design = measuring_of(X)
        check_same_features(self, design)
        predicted = _asked(_katoms.predict, design, self.coef_.astype(np.float64), [0.0], [])
        return predicted.astype(design.dtype, copy=False)

    def score(self, X: Any, y: Any) -> float:
        """R² of the measurements: 1 is perfect, 0 is what their mean does."""
        return _katoms.r_squared(target_of(y, self), self.predict(X).astype(np.float64), None)

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which entries are not 0: a mask, or their indices."""
        self._check_fitted()
        return self.support_ if indices else np.isin(np.arange(self.n_features_in_), self.support_)

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        return self._tags(estimator_type="regressor", regressor_tags=RegressorTags())


def _asked(function: Any, design: Design, *arguments: Any) -> Any:
    explain = functools.partial(not_finite, advice="Leave out the rows that lack a value, in X and in y")
    return run_kernel(function, design, *arguments, explain=explain)


def _noise(noise: Any) -> float:
    if not isinstance(noise, numbers.Real):
        raise InvalidInputError(f"noise is {noise!r}; give the standard deviation of the noise, or None")
    return float(noise)


def _warn_beyond(result: dict[str, Any], shape: tuple[int, ...]) -> None:
    if result["beyond"]:
        warnings.warn(
            f"support_size is {result['support_size']}, but {shape[0]} measurements of {shape[1]} places carry only "
            f"{result['most_entries']} entries (the phase transition of Gaussian measurements): what is found may explain "
            "the measurements and still be another signal",
            UserWarning,
            stacklevel=3,
        )
