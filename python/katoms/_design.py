"""A matrix for the kernels, and what takes the place of its missing values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: What the program's model files call the level of a value that is missing.
MISSING_LEVEL = "(missing)"


class Design(NamedTuple):
    """A matrix for the kernels: an array, or the arrays of sparse columns."""

    matrix: Any
    shape: tuple[int, int]
    names: np.ndarray | None
    #: The precision of what is told of it: that of its own numbers, where these are single or double.
    dtype: Any = np.float64
    #: What took the place of missing values, where anything does.
    filling: Filling | None = None

    @property
    def inputs(self) -> int:
        """The number of columns that were given: without indicators of missing values."""
        return self.shape[1] - (0 if self.filling is None else len(self.filling.indicated))


class Filling(NamedTuple):
    """What takes the place of missing values: a mean for each column, and which of them get an indicator."""

    means: np.ndarray
    indicated: np.ndarray

    def fill(self, design: Design) -> Design:
        """The design without missing values, its indicators behind its columns."""
        if hasattr(design.matrix, "ask"):
            return design._replace(matrix=design.matrix.filled(self.means), filling=self)
        filled = _sparse if isinstance(design.matrix, tuple) else _dense
        matrix, shape = filled(design, self)
        names = design.names
        if names is not None:
            names = np.append(names, [f"{names[j]} {MISSING_LEVEL}" for j in self.indicated]).astype(object)
        return design._replace(matrix=matrix, shape=shape, names=names, filling=self)


def _dense(design: Design, filling: Filling) -> tuple[np.ndarray, tuple[int, int]]:
    array = design.matrix
    if array.dtype.kind != "f":
        holes = np.zeros((len(array), len(filling.indicated)), dtype=array.dtype)
    else:
        is_hole = np.isnan(array)
        holes = is_hole[:, filling.indicated].astype(array.dtype)
        if is_hole.any():
            array = np.where(is_hole, filling.means.astype(array.dtype), array)
    if len(filling.indicated) or not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.asfortranarray(np.hstack([array, holes]))
    return array, array.shape


def _sparse(design: Design, filling: Filling) -> tuple[tuple, tuple[int, int]]:
    shape, starts, indices, values = design.matrix
    column = np.repeat(np.arange(shape[1]), np.diff(starts.astype(np.int64)))
    is_hole = np.isnan(values)
    holes = [indices[is_hole & (column == j)] for j in filling.indicated]
    ends = starts[-1] + np.cumsum([len(rows) for rows in holes], dtype=np.uintp)
    shape = (shape[0], shape[1] + len(holes))
    matrix = (
        shape,
        np.append(starts, ends).astype(np.uintp),
        np.concatenate([indices, *holes]).astype(np.uint32),
        np.concatenate([np.where(is_hole, filling.means[column], values), *(np.ones(len(rows)) for rows in holes)]),
    )
    return matrix, shape


class Linear(NamedTuple):
    """Coefficients of all outputs, one output after the other, a constant for each, and thresholds of ordered classes."""

    coef: np.ndarray
    intercepts: np.ndarray
    thresholds: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """The coefficients, a row for each output."""
        return self.coef.reshape(len(self.intercepts), -1)
