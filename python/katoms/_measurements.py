"""From what people measure with to what the kernels read: a matrix, or functions in place of one.

The kernels know real numbers. Complex measurements are told as their real parts, followed by the imaginary ones, and a
complex signal likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from katoms._card import stay_on_host
from katoms._columns import frame_values, is_frame
from katoms._data import check_shape, design_of, is_sparse, numbers_of
from katoms._design import Design
from katoms.exceptions import InvalidInputError

Product = Callable[[np.ndarray], np.ndarray]


def measuring_of(A: Any) -> Design:
    """A matrix as :func:`design_of` reads it, or an operator of SciPy or PyLops as two functions."""
    stay_on_host(A, "A")
    if not is_operator(A):
        return design_of(A)
    if _is_complex(A):
        raise InvalidInputError(
            f"Complex data not supported\nThe operator has dtype {np.dtype(A.dtype)}; katoms.recover takes complex ones"
        )
    shape = _shape(A)
    return Design((shape, _real(A.matvec), _real(A.rmatvec)), shape, None)


def is_operator(A: Any) -> bool:
    """Whether this is an operator of SciPy or PyLops."""
    return not isinstance(A, np.ndarray) and all(hasattr(A, name) for name in ("shape", "matvec", "rmatvec"))


def _dtype(A: Any) -> np.dtype:
    """Of an operator that does not say, double precision."""
    given = getattr(A, "dtype", None) if is_operator(A) or hasattr(A, "dtype") else np.asarray(A).dtype
    return np.dtype(np.float64) if given is None else np.dtype(given)


def _is_complex(A: Any) -> bool:
    return _dtype(A).kind == "c"


def _shape(A: Any) -> tuple[int, int]:
    shape = tuple(int(count) for count in A.shape)
    if len(shape) != 2:
        raise InvalidInputError(
            f"the operator has shape {shape}; it must have rows (measurements) and columns (places)"
        )
    check_shape(shape)
    return shape[0], shape[1]


def signal_dtype(A: Any, b: Any, dtype: Any) -> np.dtype:
    """What the entries of the signal are: as asked, else complex where A or b is, in single precision where A is."""
    stay_on_host(A, "A")
    A_dtype = _dtype(A)
    if A_dtype.kind not in "fc":
        A_dtype = np.dtype(np.float64)
    if dtype is not None:
        wanted = np.dtype(dtype)
        if wanted.kind not in "fc":
            raise InvalidInputError(f"dtype is {dtype!r}; the entries of a signal are float or complex")
    else:
        wanted = np.dtype(np.complex128 if A_dtype.kind == "c" or np.iscomplexobj(b) else np.float64)
        if A_dtype in (np.float32, np.complex64) and not is_operator(A):
            wanted = np.dtype(np.complex64 if wanted.kind == "c" else np.float32)
    if wanted.kind == "f" and A_dtype.kind == "f" and np.iscomplexobj(b):
        raise InvalidInputError(
            "b is complex, but A and dtype are real: no real signal measures so; give dtype=complex"
        )
    return wanted


def in_real_numbers(A: Any, b: Any, dtype: np.dtype) -> tuple[Design, np.ndarray]:
    """A and b in real numbers, for a signal of this dtype."""
    if not (_is_complex(A) or dtype.kind == "c"):
        return measuring_of(A), numbers_of(b, "b")
    if not (is_operator(A) or is_sparse(A)):
        A = np.asarray(A if _is_complex(A) or not is_frame(A) else frame_values(A))
    b = np.asarray(b)
    target = numbers_of(np.concatenate([b.real, b.imag]), "b") if b.ndim == 1 else numbers_of(b, "b")
    shape = _shape(A)
    if is_operator(A):
        real = (2 * shape[0], shape[1] * (2 if dtype.kind == "c" else 1))
        return Design((real, *_products(A, dtype)), real, None), target
    blocks = [[A.real, -A.imag], [A.imag, A.real]] if dtype.kind == "c" else [[A.real], [A.imag]]
    if not is_sparse(A):
        return design_of(np.block(blocks)), target
    from scipy.sparse import bmat

    return design_of(bmat(blocks)), target


def _products(A: Any, dtype: np.dtype) -> tuple[Product, Product]:
    """x to A·x and r to Aᴴ·r, both in real numbers."""
    of_signal = _split if dtype.kind == "c" else _real_part

    def forward(x: np.ndarray) -> np.ndarray:
        return _split(_applied(A, A.matvec, _joined(x) if dtype.kind == "c" else x))

    def backward(r: np.ndarray) -> np.ndarray:
        return of_signal(_applied(A, A.rmatvec, _joined(r)))

    return forward, backward


def _applied(A: Any, multiply: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    """A product with complex numbers. An operator of real ones is asked for both parts."""
    if np.iscomplexobj(x) and not _is_complex(A):
        return np.asarray(multiply(x.real.copy())).ravel() + 1j * np.asarray(multiply(x.imag.copy())).ravel()
    return np.asarray(multiply(x)).ravel()


def _joined(x: np.ndarray) -> np.ndarray:
    half = len(x) // 2
    return x[:half] + 1j * x[half:]


def _split(z: np.ndarray) -> np.ndarray:
    return np.concatenate([z.real, z.imag]).astype(np.float64, copy=False)


def _real_part(z: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(z.real, dtype=np.float64)


def _real(multiply: Callable[[np.ndarray], Any]) -> Product:
    """The product as a vector in double precision."""

    def product(x: np.ndarray) -> np.ndarray:
        image = np.asarray(multiply(x))
        if np.iscomplexobj(image):
            raise InvalidInputError(
                "a product with the operator is complex, but its dtype is real: make it an operator of dtype complex, "
                "and give recover dtype=float or dtype=complex for the signal"
            )
        return np.ascontiguousarray(image, dtype=np.float64).ravel()

    return product
