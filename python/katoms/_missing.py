"""Missing values: what takes their place, and what is said where nothing may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from katoms import _katoms
from katoms._frames import NAMED

if TYPE_CHECKING:
    from katoms._checks import Design

#: What the program's model files call the level of a value that is missing.
MISSING_LEVEL = "(missing)"


class Filling(NamedTuple):
    """What takes the place of missing values: a mean for each column, and which of them get an indicator."""

    means: np.ndarray
    indicated: np.ndarray

    def fill(self, design: Design) -> Design:
        """The design without missing values, its indicators behind its columns."""
        filled = _sparse if isinstance(design.matrix, tuple) else _dense
        matrix, shape = filled(design, self)
        names = design.names
        if names is not None:
            names = np.append(names, [f"{names[j]} {MISSING_LEVEL}" for j in self.indicated]).astype(object)
        return design._replace(matrix=matrix, shape=shape, names=names, filling=self)


def filling_of(design: Design, missing: Any, rows: np.ndarray | None = None) -> Filling | None:
    """What these rows, or all, say about missing values; None where they are an error."""
    if missing not in ("error", "mean", "indicator"):
        raise ValueError(f"missing is {missing!r}; it must be 'error', 'mean' or 'indicator'")
    if missing == "error":
        return None
    counts, _, means = _katoms.missing(design.matrix, None if rows is None else rows.tolist())
    if rows is None and np.isnan(means).any():
        column = called(design, int(np.flatnonzero(np.isnan(means))[0]))
        raise ValueError(f"{column} has no value at all, so no mean; leave it out")
    # A column without a value in these rows is constant there, whatever takes its place, and no model has it.
    means = np.where(np.isnan(means), 0.0, means)
    return Filling(means, np.flatnonzero(counts) if missing == "indicator" else np.zeros(0, dtype=np.int64))


def has_holes(design: Design) -> bool:
    """Whether any value is missing."""
    values = design.matrix[3] if isinstance(design.matrix, tuple) else design.matrix
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


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


def columns_of(design: Design, X: Any, support: np.ndarray) -> Any:
    """Columns of a sparse design, as the kind of matrix that X is."""
    shape, starts, indices, values = design.matrix
    if design.filling is None:
        return X.tocsc()[:, support]
    matrix = type(X.tocsc())((values, indices.astype(np.int64), starts.astype(np.int64)), shape=shape)
    return matrix[:, support].astype(X.dtype)


def called(design: Design, column: int) -> str:
    """A column, by its name or number."""
    return f"column {column} (counted from 0)" if design.names is None else f"column {str(design.names[column])!r}"


#: What to do about missing values.
FILL = "Give missing='mean' or missing='indicator' to the estimator, or fill them before with katoms.MatrixCompletion"


def not_finite(design: Design, advice: str = FILL) -> str | None:
    """Which columns hold what is not finite, and what to do about it; None where all are."""
    if isinstance(design.matrix, tuple) and callable(design.matrix[1]):
        return None
    counts, first, _ = _katoms.missing(design.matrix, None)
    holes = np.flatnonzero(counts)
    if len(holes) == 0:
        return infinite(design)
    told = []
    for j in holes[:NAMED]:
        values = "1 missing value (in" if counts[j] == 1 else f"{counts[j]} missing values (first in"
        told.append(f"{called(design, j)} has {values} row {first[j]})")
    more = f", and {len(holes) - NAMED} more columns have some" if len(holes) > NAMED else ""
    return f"X contains NaN: {', '.join(told)}{more}. {advice}"


def infinite(design: Design) -> str | None:
    """Which column holds infinity; None where none does."""
    if isinstance(design.matrix, tuple):
        (_, columns), starts, indices, values = design.matrix[:4]
        at = np.flatnonzero(np.isinf(values))
        places = [(indices[i], np.searchsorted(starts, i, side="right") - 1, values[i]) for i in at[:1]]
    else:
        places = [(i, j, design.matrix[i, j]) for i, j in np.argwhere(np.isinf(design.matrix))[:1]]
    for row, column, value in places:
        return f"X contains infinity: {called(design, column)} has {value} in row {row}; every value must be finite"
    return None
