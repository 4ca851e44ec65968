"""Arrays on graphics cards: read where they are, and answered in kind."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._design import Design
from katoms.exceptions import InvalidInputError

#: Kinds of devices of DLPack: cards of NVIDIA, and memory that they share with the host.
_CARDS = (2, 13)


def lives_on_card(X: Any) -> bool:
    """Whether this is an array in the memory of a graphics card."""
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        return False
    if hasattr(X, "__dlpack_device__"):
        return _dlpack_device(X)[0] in _CARDS
    return hasattr(X, "__cuda_array_interface__")


def _dlpack_device(X: Any) -> tuple[int, int]:
    try:
        kind, place = X.__dlpack_device__()
    except Exception:
        # A library may not know of devices of other kinds.
        return 0, 0
    return int(kind), int(place)


def card_design(X: Any) -> Design:
    """A matrix that is on a card, without a copy. What its library has begun there is waited for."""
    if hasattr(X, "__dlpack_device__"):
        stream = _katoms.stream(_dlpack_device(X)[1])
        try:
            told = X.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:
            told = X.__dlpack__(stream=stream)
    else:
        told = X.__cuda_array_interface__
    matrix = _katoms.lent(X, told)
    return Design(matrix, matrix.shape, None, np.float32 if matrix.is_single else np.float64)


def place_of(device: Any) -> int | None:
    """The number of a card; -1 for the host, None where nobody says."""
    if device is None or device == "cpu":
        return None if device is None else -1
    found = re.fullmatch(r"cuda(?::(\d{1,4}))?", device) if isinstance(device, str) else None
    if found is None:
        raise InvalidInputError(
            f"device is {device!r}; it must be 'cpu', 'cuda', 'cuda:1' for the second card, or None"
        )
    return int(found[1] or 0)


def check_device(device: Any) -> None:
    """Whether there is such a device: before anything else is done."""
    place = place_of(device)
    if place is not None and place >= 0:
        _katoms.card(place)


def placed(design: Design, device: Any) -> Design:
    """A matrix on the device that is asked for. What is on a card is fitted there."""
    place = place_of(device)
    if is_on_card(design):
        there = design.matrix.ordinal
        if place is not None and place != there and device != "cuda":
            raise InvalidInputError(f"device is {device!r}, but X is on cuda:{there}; move it, or leave device out")
        return design
    if place is None or place < 0:
        return design
    is_sparse = isinstance(design.matrix, tuple) and len(design.matrix) == 4
    if not (is_sparse or isinstance(design.matrix, np.ndarray)):
        what = "lives with workers" if hasattr(design.matrix, "ask") else "holds genotypes of 2 bits"
        raise InvalidInputError(
            f"device is {device!r}, but X {what}; give an array or a sparse matrix, or leave device out"
        )
    return design._replace(matrix=_katoms.copied(design.matrix, place))


def is_on_card(design: Design) -> bool:
    """Whether a matrix is in the memory of a card."""
    return isinstance(design.matrix, _katoms.OnCard)


def stay_on_host(X: Any, what: str) -> None:
    """Refuse an array on a card where nothing is done on cards."""
    if lives_on_card(X):
        raise InvalidInputError(f"{what} is on a graphics card, and this is done on the host; give an array of NumPy")


def on_host(values: Any) -> Any:
    """What is on a card, as an array of NumPy; anything else as it is."""
    if not lives_on_card(values):
        return values
    library = _library(values)
    if library == "torch":
        values = values.detach().cpu()
        return (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    for name in ("get", "copy_to_host"):
        if hasattr(values, name):
            return getattr(values, name)()
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is None or array.dtype == object:
        raise InvalidInputError(f"a {type(values).__name__} on a card cannot be read from here; give an array of NumPy")
    return array


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def as_given(values: Any, X: Any) -> Any:
    """Numbers as the kind of array that X is, where that is on a card; libraries that are not known here get NumPy's."""
    if not lives_on_card(X) or not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        return values
    library, values = _library(X), np.ascontiguousarray(values)
    if library == "torch":
        import torch

        return torch.from_numpy(values).to(X.device)
    if library == "cupy":
        import cupy

        with X.device:
            return cupy.asarray(values)
    if library.startswith("jax"):
        import jax

        return jax.device_put(values, next(iter(X.devices())))
    return values


class Lent:
    """An array on a card as a matrix: what is told of it is NumPy's."""

    def __init__(self, X: Any):
        self._design = card_design(X)
        self.shape = self._design.shape

    def __katoms_design__(self) -> Design:
        return self._design


#: What gives something for each row of X, or judges all of them.
_METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "predict_partial_hazard",
    "predict_cumulative_hazard_function",
    "predict_survival_function",
)


def answer_in_kind(cls: type) -> None:
    """Let the methods of an estimator take arrays on cards, and give the same kind of array."""
    for name in _METHODS:
        if name in vars(cls):
            setattr(cls, name, _in_kind(vars(cls)[name]))


def _in_kind(method: Callable) -> Callable:
    @functools.wraps(method)
    def wrapper(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
        if not lives_on_card(X):
            return method(self, X, *arguments, **named)
        self._check_fitted()
        return as_given(method(self, Lent(X), *arguments, **named), X)

    return wrapper
