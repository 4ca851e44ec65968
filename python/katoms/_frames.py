"""What the columns of a frame hold, and what to do about those that hold no numbers."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

#: The columns that a message names, and the letters that it shows of a value.
NAMED = 5
SHOWN = 60


def is_frame(X: Any) -> bool:
    """Whether this is a frame of pandas or polars."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


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
        raise ValueError("\n".join(problems[:NAMED]) + more)
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


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix, a frame or a list, as the same kind of thing."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if is_frame(X) or hasattr(X, "shape") or hasattr(X, "to_numpy") else np.asarray(X)[rows]
