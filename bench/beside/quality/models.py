"""Fits of katoms as the rows need them, and the objectives that judge them."""

import inspect
import time

import numpy as np
import scipy.sparse

from beside import problem

#: Two objectives are the same where they differ by less than this share.
SAME = 1e-6
#: A loss of less than this share of that of the best constant counts as 0: the model separates the classes, and the loss
#: depends on when the coefficients stop growing.
SEPARATED = 1e-4


def estimator(loss):
    import katoms

    return {"squares": katoms.SparseRegressor, "logistic": katoms.SparseClassifier}[loss]


def takes(kind, option):
    """Whether an estimator of this build has this option."""
    return option in inspect.signature(kind.__init__).parameters


def once(work):
    """What some work returns, and its seconds."""
    start = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - start


def fitted(loss, X, y, k, **options):
    """A model, and the seconds of its fit."""
    return once(lambda: estimator(loss)(k, **options).fit(X, y))


def timed(*fits, repeats=3, patience=20.0):
    """The seconds of each fit, the best of some: other work on the machine only adds to them.

    The fits take turns. After this many seconds no further turn is begun.
    """
    turns = []
    while len(turns) <= repeats and np.sum(turns) < patience:
        turns.append([once(fit)[1] for fit in fits])
    return [float(seconds) for seconds in np.min(turns, axis=0)]


def proven(model):
    """Whether the model says that no other of its size is better; None where the build has no such statement."""
    for place in ("quality_", "quality"):
        said = getattr(getattr(model, place, None), "proven", None)
        if said is not None:
            return bool(said() if callable(said) else said)
    return None


def residual(X, y, support):
    """The residual sum of squares over the total, of least squares with an intercept on these columns."""
    A = X[:, support]
    A = A.toarray() if scipy.sparse.issparse(A) else np.asarray(A, float)
    A, y = A - A.mean(axis=0), y - y.mean()
    norms = np.linalg.norm(A, axis=0)
    A = A / np.where(norms > 0, norms, 1.0)
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return float(left @ left) / float(y @ y)


def deviance(X, y, support, l2=0.0):
    """The loss of the best logistic model with an intercept on these columns, over that of the best constant.

    ``l2`` is a ridge on standardised columns.
    """
    A = X[:, support]
    A = A.toarray() if scipy.sparse.issparse(A) else np.asarray(A, float)
    A = A - A.mean(axis=0)
    spread = A.std(axis=0)
    A = A / np.where(spread > 0, spread, 1.0)
    null = problem.classes(A[:, :0], y)[2]
    return problem.classes(A, y, l2)[2] / null


def judged(loss, X, y, support):
    """The objective of the best model on these columns, over that of the best constant; 0 for classes told apart."""
    if loss == "squares":
        return residual(X, y, support)
    value = deviance(X, y, support)
    return value if value > SEPARATED else 0.0


def excess(value, best):
    """By which share an objective is above another; both are shares of that of the best constant.

    Above a model that separates the classes, it is that share itself.
    """
    return (value - best) / best if best > SEPARATED else value - best
