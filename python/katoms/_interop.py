"""Classes of scikit-learn that katoms' own must be instances of, without importing scikit-learn.

Importing scikit-learn takes longer than most fits. Whoever catches one of its exceptions, or filters one of its
warnings, has imported it: so its classes are looked up among the modules that are loaded.
"""

from __future__ import annotations

import functools
import sys


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked for what only a fit can tell."""


class ConvergenceWarning(UserWarning):
    """A fit ended before it converged."""


class DataConversionWarning(UserWarning):
    """An array was taken for another shape than it has."""


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
    exceptions = sys.modules.get("sklearn.exceptions")
    theirs = getattr(exceptions, own.__name__, None)
    return own if theirs is None else _joined(own, theirs)
