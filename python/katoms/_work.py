"""What estimators that work for long have in common: what the kernels hear before, and what is said after."""

from __future__ import annotations

import numbers
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from katoms._estimator import Estimator
from katoms._parameters import seconds_of, threads_of, whole_of
from katoms._results import quality_of
from katoms.exceptions import ConvergenceWarning, InvalidInputError, known_to_sklearn

_ENDED_WELL = "converged"


@dataclass(eq=False, repr=False, kw_only=True)
class Working(Estimator):
    """An estimator that may work for long."""

    max_iter: int = 1000
    tol: float = 1e-6
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callable[[dict[str, Any]], Any] | None = None

    def _begin(self) -> None:
        """Start the clock of a fit, which may ask the kernels more than once."""
        limit = seconds_of(self.time_limit)
        self._ends_at = None if limit is None else time.monotonic() + limit

    def _how_to_work(self, names: list[str]) -> dict[str, Any]:
        work = work_of(self.max_iter, self.tol, self.n_jobs, callback_of(self.callback, self.verbose), names)
        if self._ends_at is not None:
            # Where no time is left a fit still makes its first move.
            work["seconds"] = max(self._ends_at - time.monotonic(), 1e-9)
        return work

    def _keep_features(self, count: int, names: Any) -> None:
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = names
        else:
            vars(self).pop("feature_names_in_", None)

    def _keep_run(self, result: dict[str, Any]) -> None:
        self.n_iter_ = result["iterations"]
        self.n_passes_ = result["passes"]
        self.status_ = result["status"]
        self.quality_ = quality_of(result["quality"])
        self.trace_ = result["trace"]

    def _raise_if_ended(self, result: dict[str, Any]) -> None:
        """Raise what ended the work from outside: the best model so far is kept."""
        if result["ended_by"] is not None:
            raise result["ended_by"]

    def _warn_unless_converged(self, advice: str) -> None:
        warn_unless_converged(type(self).__name__, self.status_, self.n_iter_, advice)


def work_of(max_iter: Any, tol: Any, n_jobs: Any, callback: Any, names: list[str]) -> dict[str, Any]:
    """How the work is done, as the kernels take it."""
    if not isinstance(tol, numbers.Real):
        raise InvalidInputError(f"tol is {tol!r}; it must be a number of at least 0")
    return {
        "max_iter": whole_of(max_iter, "max_iter", 1),
        "tol": float(tol),
        "seconds": None,
        "n_jobs": threads_of(n_jobs),
        "callback": callback,
        "names": names,
    }


def warn_unless_converged(what: str, status: str, iterations: int, advice: str) -> None:
    """Warn of a fit that ended otherwise."""
    if status == _ENDED_WELL:
        return
    if status == "time-limit":
        advice = "this is the best so far; raise time_limit"
    if status == "stopped":
        advice = "it was ended by the callback, or could not go on, and this is the best so far"
    warn(f"{what} has not converged (status {status!r} after {iterations} iterations); {advice}")


def warn(message: str, category: type[Warning] | None = None) -> None:
    """A warning, of convergence unless told, that points at the first line that is not of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("katoms."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category or known_to_sklearn(ConvergenceWarning), stacklevel=level)


def callback_of(callback: Any, verbose: Any):
    """What is called after every move: the user's function, and a line to read."""
    if not verbose:
        return callback
    printed: list[Any] = []

    def tell(progress: dict[str, Any]):
        stands = progress["phase"], progress.get("iteration"), progress.get("done")
        if progress["phase"] == "reading" or stands in printed:
            pass  # a call while a move goes on
        elif "iteration" in progress:
            print(
                f"iteration {progress['iteration']}: objective {progress['objective']:.6g}, "
                f"{progress['reads']:.3g} passes, {progress['seconds']:.2f} s",
                flush=True,
            )
        else:
            print(f"{progress['done']} done", flush=True)
        printed[:] = [stands]
        return callback is not None and callback(progress)

    return tell
