"""From what people pass as a matrix with holes to what the kernels read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from katoms._card import stay_on_host
from katoms._columns import is_frame, lives_on_dask
from katoms._data import check_shape, design_of, is_sparse, numbers_of
from katoms.exceptions import InvalidInputError


class Entries(NamedTuple):
    """What was seen of a matrix: an array with NaN, or a shape, rows, columns and values."""

    matrix: Any
    shape: tuple[int, int]
    names: np.ndarray | None
    row_names: np.ndarray | None = None


class Known(NamedTuple):
    """What is known of the columns: how many there are, and what they are called."""

    width: int
    names: np.ndarray | None


def entries_of(X: Any, known: Known | None = None) -> Entries:
    """What was seen of a matrix. Arrays of float32 and float64 are not copied here."""
    if lives_on_dask(X):
        from katoms.dask import entries

        X = entries(X)
    if is_frame(X):
        X = _lines(X)
    if isinstance(X, tuple):
        return _listed(X, known)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if is_sparse(X):
        return _stored(X)
    stay_on_host(X, "X")
    design = design_of(X)
    matrix = design.matrix
    if matrix.dtype.type not in (np.float64, np.float32):
        matrix = matrix.astype(np.float64)
    return Entries(matrix, design.shape, design.names)


def _lines(X: Any) -> Any:
    """A frame of three columns, of which one of the first two holds words, as an entry on each line."""
    if X.shape[1] != 3:
        return X
    columns = [np.asarray(X[name]) for name in X.columns] if len(set(X.columns)) == 3 else []
    return tuple(columns) if any(_is_text(column) for column in columns[:2]) else X


def _is_text(places: np.ndarray) -> bool:
    return places.dtype.kind in "UT" or (places.dtype.kind == "O" and any(isinstance(v, str) for v in places.ravel()))


def _listed(X: tuple, known: Known | None) -> Entries:
    if len(X) not in (3, 4):
        raise InvalidInputError(
            f"X is a tuple of {len(X)}; give (rows, columns, values), or (rows, columns, values, shape) where the last "
            "rows or columns may have no entry"
        )
    rows, row_names = _numbered(X[0], "rows", None)
    columns, names = _numbered(X[1], "columns", known)
    values = numbers_of(X[2], "values")
    if len(X) == 4 and (row_names is not None or names is not None):
        raise InvalidInputError(
            "a shape goes with indices from 0; where rows or columns are names, the names say how many"
        )
    if len(X) == 4:
        if len(X[3]) != 2:
            raise InvalidInputError(f"the shape is {X[3]!r}; give the numbers of rows and of columns")
        shape = (int(X[3][0]), int(X[3][1]))
    else:
        width = known.width if known is not None else _most(columns, "columns")
        shape = (_most(rows, "rows"), width)
    check_shape(shape)
    return Entries((shape, rows, columns, values), shape, names, row_names)


def _numbered(listed: Any, what: str, known: Known | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Indices from 0, and what they are called where they came as names: those that are known, or all, sorted."""
    places = np.asarray(listed)
    if not _is_text(places):
        return places_of(places, what), None if known is None else known.names
    if known is not None:
        return places_of(places, what, known.names), known.names
    # NumPy makes words of the numbers in a list that also holds words.
    given = listed if isinstance(listed, (list, tuple)) else places.ravel().tolist()
    texts = [_text(v, at, what) for at, v in enumerate(given)]
    names, found = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return found.astype(np.uintp), names


def _text(value: Any, at: int, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{what} holds {value!r} at position {at} among names; give all as names, or all as indices"
        )
    return value


def _most(places: np.ndarray, what: str) -> int:
    most = int(places.max()) + 1 if len(places) else 0
    # A matrix with so many empty rows would not fit into memory, and nobody means it.
    if most > 10_000_000 and most > 1000 * len(places):
        raise InvalidInputError(
            f"{what} holds {most - 1} among {len(places)} entries; indices count from 0: renumber them, for example with "
            "numpy.unique(..., return_inverse=True)"
        )
    return most


def _stored(X: Any) -> Entries:
    if np.iscomplexobj(X.data if hasattr(X, "data") else X):
        raise InvalidInputError("Complex data not supported\nComplete real and imaginary parts one by one.")
    if len(X.shape) != 2:
        raise InvalidInputError(f"X has shape {X.shape}; a matrix has rows and columns")
    check_shape(X.shape)
    X = X.tocoo()
    shape = (int(X.shape[0]), int(X.shape[1]))
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    return Entries((shape, places_of(X.row, "rows"), places_of(X.col, "columns"), values), shape, None)


def places_of(listed: Any, what: str, names: np.ndarray | None = None) -> np.ndarray:
    """Indices from 0, of any shape; rows and columns also by their names."""
    places = np.asarray(listed)
    if _is_text(places):
        return _found(places, what, names)
    if places.size == 0:
        return places.astype(np.uintp)
    if places.dtype.kind not in "iu":
        raise InvalidInputError(f"{what} holds {places.ravel()[0]!r}; give indices, which are whole numbers from 0")
    if places.min() < 0:
        at = int(np.flatnonzero(places.ravel() < 0)[0])
        raise InvalidInputError(f"{what} holds {places.ravel()[at]} at position {at}; indices count from 0")
    return np.asarray(places, dtype=np.uintp, order="C")


def _found(places: np.ndarray, what: str, names: np.ndarray | None) -> np.ndarray:
    if names is None:
        raise InvalidInputError(
            f"{what} names {places.ravel().tolist()[0]!r}, but the {what} of X have no names; give indices from 0"
        )
    index = {name: at for at, name in reversed(list(enumerate(names)))}
    found = [index.get(name) for name in places.ravel().tolist()]
    if None in found:
        import difflib

        name = places.ravel().tolist()[found.index(None)]
        near = difflib.get_close_matches(str(name), [str(known) for known in names], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidInputError(f"{what} names {name!r}, but no {what[:-1]} of X is called so{hint}")
    return np.array(found, dtype=np.uintp).reshape(places.shape)
