"""Times until an event, as packages of survival analysis pass them."""

from __future__ import annotations

from typing import Any

import numpy as np

from katoms._columns import is_frame
from katoms.exceptions import InvalidInputError

_TIMES = ("time", "times", "duration", "survival_time", "futime", "t")
_EVENTS = ("event", "events", "status", "observed", "death", "dead", "fustat", "e", "cens")
_TRUTHS = {"1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0}
_RIGHT = (
    "give a structured array of (event, time), a frame with a column of times and one of events, or an array of two "
    "columns: times, and whether the event was seen"
)


def survival_of(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times, and whether the event was seen then."""
    if y is None:
        raise InvalidInputError(f"y is None; {_RIGHT}")
    times, events = _columns(y)
    times = np.ascontiguousarray(times, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(times) & (times > 0)))
    if len(wrong) > 0:
        raise InvalidInputError(
            f"the time of row {wrong[0]} (counted from 0) is {times[wrong[0]]:g}; a time must be finite and above 0"
        )
    if events.dtype != np.bool_:
        numbers = np.array([_TRUTHS.get(str(event).strip().lower(), np.nan) for event in events.tolist()])
        wrong = np.flatnonzero(np.isnan(numbers))
        if len(wrong) > 0:
            raise InvalidInputError(
                f"the event of row {wrong[0]} (counted from 0) is {events[wrong[0]]}; it must be 1 (true, yes) where the "
                "event was seen, and 0 (false, no) where the row was only seen until then"
            )
        events = numbers == 1
    if not events.any():
        raise InvalidInputError("no row has an event; a model of survival has nothing else to learn from")
    return times, np.ascontiguousarray(events)


def strata_of(strata: Any, rows: int) -> np.ndarray:
    """The label of the stratum of each row."""
    labels = np.asarray(strata.to_numpy() if hasattr(strata, "to_numpy") else strata)
    if labels.shape != (rows,):
        raise InvalidInputError(f"strata has shape {labels.shape}; give a label for each of {rows} rows")
    missing = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise InvalidInputError(f"strata has no label at row {missing[0]} (counted from 0); give each row one")
    return labels


def _columns(y: Any) -> tuple[np.ndarray, np.ndarray]:
    if is_frame(y):
        names = [str(name) for name in y.columns]
        return _named(names, lambda at: y[y.columns[at]].to_numpy())
    values = np.asarray(y)
    if values.dtype.names is not None:
        truths = [name for name in values.dtype.names if values.dtype[name] == np.bool_]
        others = [name for name in values.dtype.names if name not in truths]
        if len(truths) == 1 and len(others) == 1:
            return values[others[0]], values[truths[0]]
        return _named(list(values.dtype.names), lambda at: values[values.dtype.names[at]])
    if values.ndim != 2 or values.shape[1] != 2:
        raise InvalidInputError(f"y has shape {values.shape}; {_RIGHT}")
    return values[:, 0], values[:, 1]


def _named(names: list[str], column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns by their names."""
    found = [[at for at, name in enumerate(names) if name.lower() in known] for known in (_TIMES, _EVENTS)]
    if len(names) == 2 and len(found[0]) + len(found[1]) == 1:
        # The other one is what is left.
        known = (found[0] or found[1])[0]
        found = [[known], [1 - known]] if found[0] else [[1 - known], [known]]
    if [len(places) for places in found] != [1, 1]:
        raise InvalidInputError(f"y has the columns {', '.join(names)}; call one 'time' and one 'event'")
    return column(found[0][0]), column(found[1][0])
