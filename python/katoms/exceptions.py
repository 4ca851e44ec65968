"""What katoms raises, and what it warns of.

What is wrong with an argument is an :class:`InvalidInputError`, or a ``TypeError`` where it is not of the right kind at all;
what does not fit into memory is a ``MemoryError``, and a file that cannot be opened an ``OSError``, as everywhere in Python.

Importing scikit-learn takes longer than most fits, and whoever catches one of its exceptions, or filters one of its
warnings, has imported it: so its classes are looked up among the modules that are loaded.
"""

from __future__ import annotations

import functools
import sys

__all__ = [
    "ConvergenceWarning",
    "DataConversionWarning",
    "DeviceError",
    "InvalidInputError",
    "KatomsError",
    "NotFittedError",
    "NumericalError",
    "WorkersLostError",
]


class KatomsError(ValueError):
    """Every error that katoms raises itself. The message says what, where, and what would be right."""


class InvalidInputError(KatomsError):
    """Data, a parameter or a file that cannot be used."""


class NumericalError(KatomsError):
    """Numbers so large or so small that a sum of squares, a coefficient or a prediction is no number."""


class DeviceError(KatomsError, RuntimeError):
    """A graphics card that is not there, has no memory left, or has failed."""


class NotFittedError(KatomsError, AttributeError):
    """An estimator was asked for what only a fit can tell; scikit-learn's class as well, where that is loaded."""


class WorkersLostError(KatomsError, RuntimeError):
    """Workers of a cluster are gone, and what they held cannot be rebuilt."""


class ConvergenceWarning(UserWarning):
    """A fit ended before it converged; scikit-learn's class as well, where that is loaded."""


class DataConversionWarning(UserWarning):
    """An array was taken for another shape than it has; scikit-learn's class as well, where that is loaded."""


@functools.cache
def _joined(own: type, theirs: type) -> type:
    def reduce(self):
        return _again, (own, self.args)

    body = {"__doc__": own.__doc__, "__module__": own.__module__, "__reduce__": reduce}
    return type(own.__name__, (own, theirs), body)


def _again(own: type, args: tuple) -> Exception:
    """What a pickle of such an exception or warning makes."""
    return known_to_sklearn(own)(*args)


def known_to_sklearn(own: type) -> type:
    """This class; once scikit-learn is loaded, one that is its class of the same name as well."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), own.__name__, None)
    return own if theirs is None else _joined(own, theirs)
