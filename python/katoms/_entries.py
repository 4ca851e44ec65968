"""From what people pass as a matrix with holes to what the kernels read."""

from __future__ import annotations

from typing import Any

import numpy as np

from katoms._checks import Design, check_shape, design_of, is_sparse, numbers_of
from katoms._groups import features_of


def entries_of(X: Any, columns: int | None = None) -> Design:
    """What was seen of a matrix: an array with NaN, or a shape, rows, columns and values.

    So many columns are taken for granted, if given. Arrays of float32 and float64 are not copied here.
    """
    if isinstance(X, tuple):
        return _listed(X, columns)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if is_sparse(X):
        return _stored(X)
    design = design_of(X)
    if design.matrix.dtype.type not in (np.float64, np.float32):
        design = design._replace(matrix=design.matrix.astype(np.float64))
    return design


def _listed(X: tuple, width: int | None) -> Design:
    if len(X) not in (3, 4):
        raise ValueError(
            f"X is a tuple of {len(X)}; give (rows, columns, values), or (rows, columns, values, shape) where the last "
            "rows or columns may have no entry"
        )
    rows, columns = places_of(X[0], "rows"), places_of(X[1], "columns")
    values = numbers_of(X[2], "values")
    if len(X) == 4:
        if len(X[3]) != 2:
            raise ValueError(f"the shape is {X[3]!r}; give the numbers of rows and of columns")
        shape = (int(X[3][0]), int(X[3][1]))
    else:
        shape = (_most(rows, "rows"), _most(columns, "columns") if width is None else width)
    check_shape(shape)
    return Design((shape, rows, columns, values), shape, None)


def _most(places: np.ndarray, what: str) -> int:
    most = int(places.max()) + 1 if len(places) else 0
    # A matrix with so many empty rows would not fit into memory, and nobody means it.
    if most > 10_000_000 and most > 1000 * len(places):
        raise ValueError(
            f"{what} holds {most - 1} among {len(places)} entries; indices count from 0: renumber them, for example with "
            "numpy.unique(..., return_inverse=True)"
        )
    return most


def _stored(X: Any) -> Design:
    if np.iscomplexobj(X.data if hasattr(X, "data") else X):
        raise ValueError("Complex data not supported\nComplete real and imaginary parts one by one.")
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {X.shape}; a matrix has rows and columns")
    check_shape(X.shape)
    X = X.tocoo()
    shape = (int(X.shape[0]), int(X.shape[1]))
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    return Design((shape, places_of(X.row, "rows"), places_of(X.col, "columns"), values), shape, None)


def places_of(listed: Any, what: str, names: np.ndarray | None = None) -> np.ndarray:
    """Indices from 0, of any shape; columns also by their names."""
    places = np.asarray(listed)
    if places.dtype.kind in "UO" and names is not None:
        found = features_of(places.ravel().tolist(), names, len(names), what)
        return np.array(found, dtype=np.uintp).reshape(places.shape)
    if places.size == 0:
        return places.astype(np.uintp)
    if places.dtype.kind not in "iu":
        raise ValueError(f"{what} holds {places.ravel()[0]!r}; give indices, which are whole numbers from 0")
    if places.min() < 0:
        at = int(np.flatnonzero(places.ravel() < 0)[0])
        raise ValueError(f"{what} holds {places.ravel()[at]} at position {at}; indices count from 0")
    return np.asarray(places, dtype=np.uintp, order="C")
