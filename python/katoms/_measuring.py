"""From what people measure with to what the kernels read: a matrix, or functions in place of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from katoms._checks import Design, check_shape, design_of


def measuring_of(A: Any) -> Design:
    """A matrix as :func:`design_of` reads it, or an operator of SciPy or PyLops as two functions."""
    if isinstance(A, np.ndarray) or not all(hasattr(A, name) for name in ("shape", "matvec", "rmatvec")):
        return design_of(A)
    dtype = getattr(A, "dtype", None)
    if dtype is not None and np.issubdtype(dtype, np.complexfloating):
        raise ValueError(
            f"Complex data not supported\nThe operator has dtype {np.dtype(dtype)}; stack real and imaginary parts"
        )
    shape = tuple(int(count) for count in A.shape)
    if len(shape) != 2:
        raise ValueError(f"the operator has shape {shape}; it must have rows (measurements) and columns (places)")
    check_shape(shape)
    return Design((shape, _product(A.matvec), _product(A.rmatvec)), shape, None)


def _product(multiply: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The product as a vector in double precision."""

    def product(x: np.ndarray) -> np.ndarray:
        image = np.asarray(multiply(x))
        if np.iscomplexobj(image):
            raise ValueError("a product with the operator is complex; stack real and imaginary parts")
        return np.ascontiguousarray(image, dtype=np.float64).ravel()

    return product
