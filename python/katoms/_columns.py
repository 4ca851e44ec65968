"""What columns hold: numbers, what is no number, and missing values."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._card import is_on_card
from katoms._design import Design, Filling
from katoms.exceptions import InvalidInputError

#: The columns that a message names, and the letters that it shows of a value.
NAMED = 5
SHOWN = 60


def is_frame(X: Any) -> bool:
    """Whether this is a frame of pandas or polars."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


def lives_on_dask(X: Any) -> bool:
    """Whether this is an array or a frame of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def frame_values(X: Any) -> np.ndarray:
    """The numbers of a frame; what is missing is NaN."""
    values = X.to_numpy()
    # polars makes numbers of dates where other columns hold some.
    if values.dtype.kind in "fiub" and not any(dtype.is_temporal() for dtype in getattr(X, "schema", {}).values()):
        return values
    columns, problems = [], []
    for place, name in enumerate(X.columns):
        given = (X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place)).to_numpy()
        column = numbers_in(given)
        if column is None:
            problems.append(_problem(X, name, given))
        else:
            columns.append(column)
    if problems:
        more = f"\n... and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        raise InvalidInputError("\n".join(problems[:NAMED]) + more)
    return np.column_stack(columns)


def numbers_in(column: np.ndarray) -> np.ndarray | None:
    """Numbers in double precision, with NaN for what is missing; None where there is anything else."""
    if column.dtype.kind in "mMc":
        return None
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        pass
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in column.tolist()])
    except (TypeError, ValueError):
        return None


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or what pandas has in their place."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _problem(X: Any, name: Any, column: np.ndarray) -> str:
    """What a column holds in place of numbers, and what to do about it."""
    polars = type(X).__module__.startswith("polars")
    value = next((value for value in column.tolist() if not is_missing(value) and not _is_number(value)), None)
    if column.dtype.kind == "m" or isinstance(value, datetime.timedelta):
        return f"column {name!r} holds durations; make numbers of them: X[{name!r}].dt.total_seconds()"
    first = f"X[{name!r}] - X[{name!r}].min()"
    days = f"({first}).dt.total_days()" if polars else f"({first}).dt.days"
    if column.dtype.kind == "M" or isinstance(value, datetime.date):
        return f"column {name!r} holds dates; make numbers of them, such as days since the first: {days}"
    if column.dtype.kind == "c":
        return f"Complex data not supported: column {name!r}; give real and imaginary parts as columns of their own"
    shown = repr(value) if len(repr(value)) <= SHOWN else f"{repr(value)[:SHOWN]}..."
    if not isinstance(value, str):
        return f"column {name!r} holds {shown}, which is no number; make numbers of it, or leave it out"
    if re.fullmatch(_NUMBER, value):
        return f"column {name!r} holds numbers as text ({shown}); make numbers of them: X[{name!r}]{_cleaned(value, polars)}"
    if _is_date(value):
        read = f"X[{name!r}].str.to_date()" if polars else f"pandas.to_datetime(X[{name!r}])"
        return f"column {name!r} holds dates as text ({shown}); read them with {read}, then make days of them: {days}"
    encode = f"X.to_dummies([{name!r}])" if polars else f"pandas.get_dummies(X, columns=[{name!r}])"
    return f"column {name!r} holds {shown}, which is no number; encode it with {encode}, or leave it out"


#: A number with a currency, a percent sign, separators of thousands or a decimal comma.
_NUMBER = r"[^\w.,+-]*[+-]?[^\w.,+-]*\d[\d.,\s']*[^\w.,+-]*"


def _cleaned(value: str, polars: bool) -> str:
    """What makes numbers of such text, behind a column."""
    is_decimal_comma = re.search(r",\d*\D*$", value) and not re.search(r",\d{3}\D*$", value)
    digits = r"r'[^\d,+-]'" if is_decimal_comma else r"r'[^\d.+-]'"
    replace, regex, cast = (
        ("replace_all", "", ".cast(float)") if polars else ("replace", ", regex=True", ".astype(float)")
    )
    comma = f".str.{replace}(',', '.')" if is_decimal_comma else ""
    return f".str.{replace}({digits}, ''{regex}){comma}{cast}"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def filling_of(design: Design, missing: Any, rows: np.ndarray | None = None) -> Filling | None:
    """What these rows, or all, say about missing values; None where they are an error."""
    if missing not in ("error", "mean", "indicator"):
        raise InvalidInputError(f"missing is {missing!r}; it must be 'error', 'mean' or 'indicator'")
    if missing == "error":
        return None
    if is_on_card(design):
        raise InvalidInputError(
            f"missing is {missing!r}, which is for X in the memory of the host; fill X on its card, or give it as NumPy"
        )
    if hasattr(design.matrix, "ask"):
        if missing == "indicator" or rows is not None:
            raise InvalidInputError(
                "data that live with workers take missing='mean'; add indicators as columns beforehand"
            )
        counts, means = design.matrix.missing()
    else:
        counts, _, means = _katoms.missing(design.matrix, None if rows is None else rows.tolist())
    if rows is None and np.isnan(means).any():
        column = called(design, int(np.flatnonzero(np.isnan(means))[0]))
        raise InvalidInputError(f"{column} has no value at all, so no mean; leave it out")
    # A column without a value in these rows is constant there, whatever takes its place, and no model has it.
    means = np.where(np.isnan(means), 0.0, means)
    return Filling(means, np.flatnonzero(counts) if missing == "indicator" else np.zeros(0, dtype=np.int64))


def has_holes(design: Design) -> bool:
    """Whether any value is missing."""
    if hasattr(design.matrix, "ask"):
        return bool(design.matrix.missing()[0].any())
    values = design.matrix[3] if isinstance(design.matrix, tuple) else design.matrix
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


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
    if is_on_card(design) or (isinstance(design.matrix, tuple) and callable(design.matrix[1])):
        return None
    lives_with_workers = hasattr(design.matrix, "ask")
    if lives_with_workers:
        counts, first = design.matrix.missing()[0], None
    else:
        counts, first, _ = _katoms.missing(design.matrix, None)
    holes = np.flatnonzero(counts)
    if len(holes) == 0:
        return None if lives_with_workers else infinite(design)
    problems = []
    for j in holes[:NAMED]:
        values = "1 missing value" if counts[j] == 1 else f"{counts[j]} missing values"
        where = "" if first is None else f" ({'in' if counts[j] == 1 else 'first in'} row {first[j]})"
        problems.append(f"{called(design, j)} has {values}{where}")
    more = f", and {len(holes) - NAMED} more columns have some" if len(holes) > NAMED else ""
    return f"X contains NaN: {', '.join(problems)}{more}. {advice}"


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
