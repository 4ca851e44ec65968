"""Pictures of matrices: what was seen, what was completed, and how well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from katoms import _charts as charts
from katoms import _drawing as drawing
from katoms._columns import is_frame
from katoms._data import is_sparse
from katoms.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More rows or columns than this are more than a screen has points.
MOST = 1000
#: Neither on the colour scale nor taken for a value.
HOLE = "#d9dde2"


def draw_completion(model: Any, X: Any, shape: tuple[int, int] | None, ax: Any) -> np.ndarray:
    """The pictures that there are numbers for."""
    tried = charts.validation_of(model)
    pictures = (["seen", "completed"] if X is not None else []) + (["error"] if tried is not None else [])
    pictures = pictures or ["completed"]
    part = _part(model, shape)
    axes = _axes_for(pictures, part, ax)
    matrices = [(place, one) for place, one in zip(axes, pictures) if one != "error"]
    if matrices:
        _draw_matrices(model, X, part, matrices)
    if tried is not None:
        _draw_error(model, axes[-1], tried)
    return axes


def _axes_for(pictures: list[str], part: tuple[int, int], ax: Any) -> np.ndarray:
    if ax is None:
        widths = [4.6 if one == "error" else 3.6 for one in pictures]
        like_the_matrix = np.clip(2.9 * part[0] / part[1], 1.2, 3.8) if _is_to_scale(part) else 2.9
        high = 0.9 + (max(like_the_matrix, 2.7) if "error" in pictures else like_the_matrix)
        figure = drawing.pyplot().figure(figsize=(sum(widths), high), layout="constrained")
        return figure.subplots(1, len(pictures), squeeze=False, gridspec_kw={"width_ratios": widths})[0]
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != len(pictures):
        raise InvalidInputError(f"ax holds {len(axes)} axes, but {len(pictures)} are needed: {', '.join(pictures)}")
    return axes


def _is_to_scale(part: tuple[int, int]) -> bool:
    """Whether entries are drawn as squares: a matrix much longer than wide would be a thread."""
    return max(part) <= 3 * min(part)


def _part(model: Any, shape: tuple[int, int] | None) -> tuple[int, int]:
    """The rows and columns to draw."""
    full = _shape(model)
    wanted = (MOST, MOST) if shape is None else shape
    if len(wanted) != 2 or min(wanted) < 1:
        raise InvalidInputError(f"shape is {shape!r}; give how many rows and columns to draw, each at least 1")
    return min(full[0], int(wanted[0])), min(full[1], int(wanted[1]))


def _shape(model: Any) -> tuple[int, int]:
    left, right = model.factors_[0], model.factors_[-1]
    return left.shape[0], right.shape[0]


def _seen(X: Any, part: tuple[int, int]) -> np.ndarray:
    """The entries that were seen; NaN elsewhere."""
    seen = np.full(part, np.nan)
    if is_sparse(X):
        X = X.tocoo()
        X = (X.row, X.col, X.data)
    if isinstance(X, tuple):
        rows, columns, values = (np.asarray(each) for each in X[:3])
        inside = (rows < part[0]) & (columns < part[1])
        seen[rows[inside], columns[inside]] = values[inside]
        return seen
    array = np.asarray(X.to_numpy() if is_frame(X) else X, dtype=float)
    if array.ndim != 2:
        raise InvalidInputError(f"X has {array.ndim} dimensions; give a matrix with NaN, or (rows, columns, values)")
    seen[: array.shape[0], : array.shape[1]] = array[: part[0], : part[1]]
    return seen


def _draw_matrices(model: Any, X: Any, part: tuple[int, int], places: list[tuple[Axes, str]]) -> None:
    rows, columns = np.indices(part)
    completed = np.asarray(model.predict(rows.ravel(), columns.ravel()), dtype=float).reshape(part)
    seen = completed if X is None else _seen(X, part)
    # Colours mean the same in both pictures: the range is that of what was seen.
    known = seen[np.isfinite(seen)]
    low, high = (known.min(), known.max()) if len(known) else (completed.min(), completed.max())
    colours = drawing.pyplot().get_cmap("viridis").with_extremes(bad=HOLE)
    aspect: Any = "equal" if _is_to_scale(part) else "auto"
    drawn: Any = None
    for ax, kind in places:
        matrix = np.ma.masked_invalid(seen if kind == "seen" else completed)
        drawn = ax.imshow(matrix, cmap=colours, vmin=low, vmax=high, interpolation="nearest", aspect=aspect)
        ax.set_title(_title(model, kind, seen, part), fontsize=10)
        ax.set_xlabel("column")
        if ax is places[0][0]:
            ax.set_ylabel("row")
        ax.locator_params(integer=True, nbins=5)
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    beyond = extend[bool(completed.min() < low), bool(completed.max() > high)]
    last = places[-1][0]
    last.figure.colorbar(drawn, ax=[ax for ax, _ in places], extend=beyond, shrink=0.9, pad=0.02)


def _title(model: Any, kind: str, seen: np.ndarray, part: tuple[int, int]) -> str:
    whole = _shape(model)
    where = "" if part == whole else f"\n(first {part[0]} × {part[1]} of {whole[0]} × {whole[1]})"
    if kind == "completed":
        return f"completed with rank {model.rank_}{where}"
    return f"seen: {np.isfinite(seen).mean():.0%}, holes grey{where}"


def _draw_error(model: Any, ax: Axes, tried: charts.Validation) -> None:
    drawing.axes_of(ax, (0, 0))
    drawing.count_along_x(ax, "rank", tried.sizes)
    charts.draw_validation(ax, tried)
    drawing.mark_sizes(ax, [(model.rank_, f"{model.rank_}: chosen")])
