"""What every estimator has in common: the protocol of scikit-learn, without importing it.

Parameters, clones, tags, metadata routing and ``set_output`` work as scikit-learn expects them. Its modules are imported
only by the methods that it calls itself.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from katoms._card import on_host
from katoms.exceptions import InvalidInputError, NotFittedError, known_to_sklearn

UNCHANGED = "$UNCHANGED$"

C = TypeVar("C", bound=type)

#: What scikit-learn and others call the size of a model.
ALIASES = {"n_nonzero_coefs": "support_size", "sparsity": "support_size", "k": "support_size"}


def accepts_aliases(**aliases: str) -> Callable[[C], C]:
    """Decorate a class: names that other packages use are taken, and a message tells what they are called here."""

    def decorate(cls: C) -> C:
        init = cls.__init__  # type: ignore[misc]

        @functools.wraps(init)
        def wrapper(self, *args, **parameters):
            init(self, *args, **_without_aliases(aliases, parameters))

        cls.__init__ = wrapper  # type: ignore[misc]
        cls._aliases = aliases  # type: ignore[attr-defined]
        return cls

    return decorate


def _without_aliases(aliases: dict[str, str], parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters by the names that they have here."""
    for alias, name in aliases.items():
        if alias in parameters:
            if name in parameters:
                raise TypeError(f"{alias} and {name} mean the same; give {name} alone")
            warnings.warn(f"{alias} is called {name} here, and taken as such", UserWarning, stacklevel=3)
            parameters[name] = parameters.pop(alias)
    return parameters


class Estimator:
    """Parameters by name, as scikit-learn's ``BaseEstimator`` has them."""

    _aliases: ClassVar[dict[str, str]] = {}
    #: When the fit must end, by the monotonic clock.
    _ends_at: float | None = None
    status_: str
    n_iter_: int

    @classmethod
    def _parameters(cls) -> dict[str, inspect.Parameter]:
        listed = inspect.signature(cls.__init__).parameters
        return {name: parameter for name, parameter in listed.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, by name."""
        return {name: getattr(self, name) for name in sorted(self._parameters())}

    def set_params(self, **params: Any):
        """Set parameters by name; returns the estimator."""
        known = sorted(self._parameters())
        for name, value in _without_aliases(self._aliases, params).items():
            if name not in known:
                raise InvalidInputError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        def is_default(name: str, parameter: inspect.Parameter) -> bool:
            value = getattr(self, name, parameter.default)
            return value is parameter.default or (type(value) is type(parameter.default) and value == parameter.default)

        said = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in self._parameters().items()
            if not is_default(name, parameter)
        ]
        return f"{type(self).__name__}({', '.join(said)})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from katoms import _html

        # A fit that was refused leaves no status behind.
        return _html.card(self) if hasattr(self, "status_") else _html.unfitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "status_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            message = f"This {type(self).__name__} instance is not fitted yet; call fit with data first."
            raise known_to_sklearn(NotFittedError)(message)

    # Metadata routing: fit and score take sample weights, and fit with rows held out the groups of rows.

    def get_metadata_routing(self):
        """Which metadata the methods of this estimator ask for (scikit-learn's metadata routing)."""
        import copy

        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return copy.deepcopy(self._metadata_request)
        request = MetadataRequest(owner=type(self).__name__)
        for method in ("fit", "score"):
            takes = inspect.signature(getattr(self, method)).parameters if hasattr(self, method) else {}
            for param in ("sample_weight", "groups"):
                if param in takes:
                    getattr(request, method).add_request(param=param, alias=None)
        return request

    def _request(self, method: str, **asked):
        request = self.get_metadata_routing()
        for param, alias in asked.items():
            if alias != UNCHANGED:
                getattr(request, method).add_request(param=param, alias=alias)
        self._metadata_request = request
        return self

    def _tags(self, **tags):
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        usual = {
            "target_tags": TargetTags(required=True),
            "transformer_tags": TransformerTags(preserves_dtype=["float64", "float32"]),
            "input_tags": InputTags(sparse=True, allow_nan=getattr(self, "missing", "error") != "error"),
        }
        return Tags(**{**usual, **tags})


class TakesWeights(Estimator):
    """``set_fit_request`` and ``set_score_request`` for estimators whose ``fit`` and ``score`` take sample weights."""

    def set_fit_request(self, *, sample_weight: bool | str | None = UNCHANGED):
        """Ask metadata routing to pass ``sample_weight`` to ``fit``; returns the estimator."""
        return self._request("fit", sample_weight=sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None = UNCHANGED):
        """Ask metadata routing to pass ``sample_weight`` to ``score``; returns the estimator."""
        return self._request("score", sample_weight=sample_weight)


class GivesFrames(Estimator):
    """``set_output``: what ``transform`` gives is an array, or a frame with the names of its columns."""

    def set_output(self, *, transform: str | None = None):
        """Choose what ``transform`` gives.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            An array, or a frame with the names of :meth:`get_feature_names_out`. None changes nothing.

        Returns
        -------
        self
        """
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise InvalidInputError(f"transform is {transform!r}; it must be 'default', 'pandas' or 'polars'")
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that ``transform`` gives."""
        raise NotImplementedError

    def _framed(self, values, given):
        """The values as the kind of container that was asked for; `given` is what they were made from."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform")
        if wanted is None:
            sklearn = sys.modules.get("sklearn")
            wanted = "default" if sklearn is None else sklearn.get_config()["transform_output"]
        if wanted != "default":
            values = on_host(values)
        if wanted == "pandas":
            import pandas

            return pandas.DataFrame(values, index=getattr(given, "index", None), columns=self.get_feature_names_out())
        if wanted == "polars":
            import polars

            return polars.DataFrame(values, schema=list(self.get_feature_names_out()), orient="row")
        return values
