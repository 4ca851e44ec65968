"""Functions: the models of all sizes, models of files, the theory, and the methods by name."""

from __future__ import annotations

import os
from typing import Any

from katoms import _katoms
from katoms._model_file import Loaded, classes_of, restore
from katoms._parameters import whole_of
from katoms._results import Path
from katoms.classification import SparseClassifier
from katoms.exceptions import InvalidInputError
from katoms.regression import _LOSSES, SparseRegressor
from katoms.survival import SparseCox

#: Losses that are no parameter of :class:`SparseRegressor`.
_ESTIMATORS: dict[str, Any] = {
    "logistic": lambda **parameters: SparseClassifier(**parameters),
    "ordinal": lambda **parameters: SparseClassifier(ordinal=True, **parameters),
    "cox": lambda **parameters: SparseCox(**parameters),
}


#: What a fit may know of rows besides their weight.
_KNOWN = ("offset", "exposure", "strata", "entry")


def path(
    X: Any,
    y: Any,
    support_sizes: Any = None,
    *,
    loss: str = "squared_error",
    sample_weight: Any = None,
    **parameters: Any,
) -> Path:
    """Fit a model of each size, and judge them by information criteria.

    Parameters
    ----------
    X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    support_sizes : sequence of int, optional
        The sizes; 0 is the model without features. None stands for 0 on, while ``ic_type`` prefers larger models and can
        be trusted with as many rows and columns.
    loss : str, default="squared_error"
        One of those of :class:`SparseRegressor`, or "logistic" (two or more classes), "ordinal" or "cox".
    sample_weight : array of shape (n_samples,), optional
    **parameters
        As in :class:`SparseRegressor`: ``groups``, ``l2``, ``fit_intercept``, ``standardize``, ``always_select``, ...; and
        what :meth:`fit` takes besides: ``offset``, ``exposure``, for survival ``strata`` and ``entry``.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np, katoms
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> found = katoms.path(X, y, support_sizes=range(1, 6))
    >>> found.best("ebic"), found.supports[1]
    (2, array([ 7, 42]))
    """
    known = {name: parameters.pop(name) for name in _KNOWN if name in parameters}
    if loss in _ESTIMATORS:
        model = _ESTIMATORS[loss](support_size=support_sizes, **parameters)
    elif loss in _LOSSES:
        model = SparseRegressor(support_size=support_sizes, loss=loss, **parameters)
    else:
        right = ", ".join(repr(name) for name in (*_LOSSES, *_ESTIMATORS))
        raise InvalidInputError(f"loss is {loss!r}; it must be one of {right}")
    model._known = known
    return model._path(X, y, sample_weight)


def _estimator_of(loaded: Loaded, **parameters: Any) -> SparseRegressor | SparseClassifier | SparseCox:
    """The estimator that a file's model is one of. What the fit estimated of its loss, it estimates again when fitted anew."""
    loss, given = loaded.fields["loss"], loaded.fields.get("parameters", {})
    if loss in ("logistic", "multinomial"):
        return SparseClassifier(**parameters)
    if loss == "ordinal":
        classes = classes_of(loaded)
        return SparseClassifier(ordinal=True if classes.dtype.kind in "iuf" else classes.tolist(), **parameters)
    if loss == "cox":
        return SparseCox(ties=given.get("ties", "efron"), **parameters)
    names = {of_kernel.replace("_", "-"): name for name, of_kernel in _LOSSES.items()}
    if loaded.fields.get("k_each"):
        parameters |= {"support_size": loaded.fields["k_each"], "share_features": False}
    if "quantile" in given:
        parameters["quantile"] = given["quantile"]
    return SparseRegressor(loss=names[loss], **parameters)


def load(path: Any) -> SparseRegressor | SparseClassifier | SparseCox:
    """Read a model that :meth:`SparseRegressor.save` or the program has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SparseRegressor, SparseClassifier or SparseCox
        With the loss of the model, fitted, and ready to predict, to the last bit as what was saved. It knows the columns that the model uses:
        frames may have others, in any order, and categories are those of the program's model, as words. Fitted again,
        it is as any other.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, katoms
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> model = katoms.SparseRegressor(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.json"))
    ...     again = katoms.load(os.path.join(folder, "model.json"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    with open(path, "rb") as file:
        loaded = Loaded(os.fspath(path), file.read())
    fields = loaded.fields
    missing = "mean" if fields["missing"] == "mean" else "error"
    known = {"l2": fields["ridge"], "standardize": fields["standardize"], "missing": missing}
    return restore(_estimator_of(loaded, support_size=fields["k"], **known), loaded)


def theory(
    alpha: float,
    beta: float,
    *,
    tau: float = 0.0,
    signal: float = 1.0,
    noise: float = 0.0,
    beta_2k: float | None = None,
    accuracy: float = 0.01,
) -> dict[str, Any]:
    """What is proven of accelerated iterative hard thresholding with step 2/(alpha+beta) and momentum ``tau``.

    Parameters
    ----------
    alpha, beta : float
        The least and the largest curvature over supports of 3k atoms.
    tau : float, default=0.0
        The momentum.
    signal, noise : float
        The norms of the signal and of the noise in the measurements.
    beta_2k : float, optional
        The largest curvature over 2k atoms, for the noise. Default: ``beta``.
    accuracy : float, default=0.01
        The error to be reached.

    Returns
    -------
    dict
        ``kappa``, ``xi``, ``step``, ``momentum`` (the range of tau that converges), ``radius`` (of the contraction),
        ``converges``, ``floor`` (the error that remains), ``iterations`` to the accuracy (None: never); and
        ``momentum_published``, ``iterations_published`` as the paper prints them.

    Examples
    --------
    >>> import katoms
    >>> result = katoms.theory(0.8, 1.2, tau=0.25)
    >>> result["converges"], round(result["kappa"], 3)
    (True, 1.5)
    """
    return _katoms.theory(
        {
            "alpha": alpha,
            "beta": beta,
            "tau": tau,
            "signal": signal,
            "noise": noise,
            "beta_2k": beta_2k,
            "accuracy": accuracy,
        }
    )


def phase_transition_k(n_samples: int, n_features: int, *, positive: bool = False) -> int:
    """The most entries of a signal that so many random measurements carry (Donoho and Tanner).

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the measurement matrix.
    positive : bool, default=False
        Whether it is known that no entry is negative.

    Returns
    -------
    int

    Examples
    --------
    >>> import katoms
    >>> katoms.phase_transition_k(200, 1000)
    49
    """
    shape = whole_of(n_samples, "n_samples", 0), whole_of(n_features, "n_features", 0)
    return _katoms.phase_transition_k(*shape, bool(positive))


def methods(problem: str | None = None) -> dict[str, str]:
    """Every method by name, and when to choose it.

    Parameters
    ----------
    problem : {"k atoms", "rank k", "a ball", "a penalty"}, optional
        Only the methods for such a problem.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> import katoms
    >>> "accelerated-iht" in katoms.methods("k atoms")
    True
    """
    return {name: when for name, problems, when in _katoms.methods() if problem is None or problem in problems}
