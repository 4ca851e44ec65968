"""Parameters as people give them: sizes, seeds, threads, bounds, features and groups of features."""

from __future__ import annotations

import numbers
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._columns import called
from katoms._data import numbers_of
from katoms._design import Design
from katoms.exceptions import InvalidInputError

CRITERIA = ("aic", "bic", "ebic", "gic")


def method_of(method: Any) -> str | None:
    """The name of a method, in any case."""
    return None if method is None else str(method).lower()


def criterion_of(ic_type: Any) -> str:
    """The name of a criterion, in any case."""
    name = str(ic_type).lower()
    if name not in CRITERIA:
        raise InvalidInputError(f"ic_type is {ic_type!r}; it must be one of {', '.join(CRITERIA)}")
    return name


def whole_of(value: Any, what: str, least: int) -> int:
    """A whole number of at least this much."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not is_whole or not least <= int(value) < 2**63:
        raise InvalidInputError(f"{what} is {value!r}; it must be a whole number of at least {least}")
    return int(value)


def sizes_of(support_size: Sequence[int] | Any, what: str = "support_size", least: int = 0) -> list[int]:
    """Rising sizes from a range, a list or an array."""
    sizes = sorted({whole_of(size, what, least) for size in np.asarray(list(support_size)).ravel().tolist()})
    if not sizes:
        raise InvalidInputError(f"{what} is empty; give at least one size, such as range({least}, 11)")
    return sizes


def seed_of(random_state: Any) -> int:
    """A seed from an int, a generator, or None, which is 0: the same input gives the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return whole_of(random_state, "random_state", 0)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise InvalidInputError(f"random_state is {random_state!r}; give an int, a NumPy generator or None")
    return int(draw(0, 2**31 - 1))


def threads_of(n_jobs: Any) -> int | None:
    """A number of threads; -1 for all cores, -2 for all but one; None for as many as joblib, ``threadpoolctl`` or the
    environment allow."""
    joblib = sys.modules.get("joblib")
    # joblib before 1.3 has no `parallel_config`, and tells a number also where nobody gave one.
    if n_jobs is None and joblib is not None and hasattr(joblib, "parallel_config"):
        n_jobs = joblib.parallel.get_active_backend()[1]
    if n_jobs is None:
        return _openmp_threads()
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InvalidInputError(f"n_jobs is {n_jobs!r}; give a number of threads, -1 for all cores, or None")
    return int(n_jobs) if int(n_jobs) > 0 else max(1, _katoms.cores() + 1 + int(n_jobs))


#: The libraries of OpenMP that are loaded; looking for them takes longer than a small fit.
_openmp: list[Any] = []


def _openmp_threads() -> int | None:
    """The threads that OpenMP would start here, as ``threadpool_limits`` sets them for scikit-learn; None: nobody says."""
    threadpoolctl = sys.modules.get("threadpoolctl")
    if threadpoolctl is None or "RAYON_NUM_THREADS" in os.environ:
        return None
    if not _openmp:
        _openmp.extend(threadpoolctl.ThreadpoolController().select(user_api="openmp").lib_controllers)
    return min(_katoms.threads(), *(library.num_threads for library in _openmp)) if _openmp else None


def seconds_of(time_limit: Any) -> float | None:
    """A number of seconds; None for no limit."""
    if time_limit is None:
        return None
    if not isinstance(time_limit, numbers.Real) or not float(time_limit) > 0:
        raise InvalidInputError(f"time_limit is {time_limit!r}; give a number of seconds above 0, or None")
    return float(time_limit)


def bounds_of(bounds: Any, positive: Any, design: Design) -> tuple[np.ndarray, np.ndarray] | None:
    """The least and the largest coefficient of each column; None where there are no bounds.

    Bounds that are listed are those of the columns that were given: indicators of missing values have none.
    """
    count = design.shape[1]
    if bounds is None:
        return (np.zeros(count), np.full(count, np.inf)) if positive else None
    if positive:
        raise InvalidInputError("positive and bounds are both given; say it all with bounds, such as (0, None)")
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise InvalidInputError(
            "bounds must be a pair: the least and the largest coefficient, such as (-1, 1) or (0, None)"
        )
    free = count - design.inputs
    lower, upper = (
        np.full(count, bound) if np.ndim(bound) == 0 else np.append(np.asarray(bound), np.full(free, sign * np.inf))
        for bound, sign in zip(map(_infinite, bounds, (-1, 1)), (-1, 1))
    )
    pair = numbers_of(lower, "the lower bounds"), numbers_of(upper, "the upper bounds")
    for bound, what, sign, right in zip(pair, ("lower", "upper"), (1, -1), ("at most", "at least")):
        if len(bound) != count:
            raise InvalidInputError(
                f"there are {len(bound) - free} {what} bounds; give one for each of {design.inputs} columns"
            )
        wrong = np.flatnonzero(~(sign * bound <= 0))
        if len(wrong) > 0:
            raise InvalidInputError(
                f"the {what} bound of {called(design, wrong[0])} is {bound[wrong[0]]:g}; it must be {right} 0, since a "
                "feature that is not chosen has the coefficient 0"
            )
    return pair


def _infinite(bound: Any, sign: int) -> Any:
    """No bound is one that nothing reaches."""
    return sign * np.inf if bound is None else bound


def above_zero_of(value: Any, what: str) -> float | None:
    """A number above 0, or None."""
    if value is None:
        return None
    if not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise InvalidInputError(f"{what} is {value!r}; it must be a finite number above 0, or None")
    return float(value)


def features_of(listed: Any, names: np.ndarray | None, count: int, what: str) -> list[int]:
    """Indices of features that are listed by name, by index or by a mask."""
    if listed is None:
        return []
    if isinstance(listed, (str, numbers.Integral)):
        listed = [listed]
    listed = list(listed)
    if len(listed) == count and count > 0 and all(isinstance(v, (bool, np.bool_)) for v in listed):
        return [j for j, wanted in enumerate(listed) if wanted]
    return [_feature(item, names, count, what) for item in listed]


def _feature(item: Any, names: np.ndarray | None, count: int, what: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise InvalidInputError(
                f"{what} names {item!r}, but X has no column names; give indices, or a frame with names"
            )
        found = np.flatnonzero(names == item)
        if len(found) != 1:
            import difflib

            near = difflib.get_close_matches(item, list(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near and len(found) == 0 else ""
            kind = "no column" if len(found) == 0 else "more than one column"
            raise InvalidInputError(f"{what} names {item!r}, but {kind} of X is called so{hint}")
        return int(found[0])
    if not isinstance(item, numbers.Integral) or isinstance(item, (bool, np.bool_)):
        raise InvalidInputError(f"{what} holds {item!r}; give indices (from 0) or names of columns")
    if not -count <= int(item) < count:
        raise InvalidInputError(f"{what} holds index {item}, but X has only {count} columns (indices count from 0)")
    return int(item) % count


def groups_of(groups: Any, names: np.ndarray | None, count: int) -> tuple[list[list[int]], list[str]]:
    """Members and names of groups, from labels, sizes, lists, a dictionary, a function of names, or a separator."""
    if isinstance(groups, str):
        return _groups_by_name(_before(groups), names, f"groups is the separator {groups!r}")
    if callable(groups):
        return _groups_by_name(groups, names, "groups is a function of names")
    if isinstance(groups, dict):
        members = [_members(listed, names, count, f"group {name!r}") for name, listed in groups.items()]
        return _with_the_rest(members, [str(name) for name in groups], names, count)
    listed = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if any(isinstance(item, (list, tuple, np.ndarray, set, range)) for item in listed):
        members = [_members(item, names, count, f"group {g} (counted from 0)") for g, item in enumerate(listed)]
        return _with_the_rest(members, [str(g) for g in range(len(members))], names, count)
    return _flat_groups(listed, count)


def _members(listed: Any, names: np.ndarray | None, count: int, what: str) -> list[int]:
    """The members of a group, each once."""
    members = features_of(listed, names, count, what)
    if not members:
        raise InvalidInputError(f"{what} has no members; remove it, or give it at least one column")
    twice = next((j for j in members if members.count(j) > 1), None)
    if twice is not None:
        column = f"column {twice} (counted from 0)" if names is None else f"column {str(names[twice])!r}"
        raise InvalidInputError(f"{what} lists {column} twice; list each member once")
    return members


def with_indicators(members: list[list[int]], indicated: Any, count: int) -> list[list[int]]:
    """The same groups, with the indicators of missing values, which stand behind `count` features, in those of theirs."""
    place = {int(feature): count + at for at, feature in enumerate(indicated)}
    return [group + [place[j] for j in group if j in place] for group in members]


def _before(separator: str) -> Callable[[str], str | None]:
    """What a name has before the first separator; nothing, where it has none."""
    if not separator:
        raise InvalidInputError(
            "groups is an empty separator; give the text between a column and its level, such as '='"
        )
    return lambda name: name.partition(separator)[0] if separator in name else None


def _groups_by_name(
    group: Callable[[str], Any], names: np.ndarray | None, what: str
) -> tuple[list[list[int]], list[str]]:
    """Columns with the same group; those that it gives None are alone, by their own name."""
    if names is None:
        raise InvalidInputError(f"{what}, but X has no column names; give a frame, or a label for each column")
    members: dict[tuple[bool, str], list[int]] = {}
    for j, name in enumerate(names):
        label = group(name)
        members.setdefault((label is None, str(name if label is None else label)), []).append(j)
    return list(members.values()), [label for _, label in members]


def _with_the_rest(
    members: list[list[int]], called: list[str], names: np.ndarray | None, count: int
) -> tuple[list[list[int]], list[str]]:
    """The groups, and each feature that is in none of them as a group of its own."""
    inside = {j for group in members for j in group}
    rest = [j for j in range(count) if j not in inside]
    return members + [[j] for j in rest], called + [f"x{j}" if names is None else str(names[j]) for j in rest]


def _flat_groups(listed: list, count: int) -> tuple[list[list[int]], list[str]]:
    whole = all(isinstance(v, numbers.Integral) and int(v) > 0 for v in listed)
    sizes = whole and sum(listed) == count
    if len(listed) == count:
        if sizes and count > 1:
            raise InvalidInputError(
                "groups holds nothing but ones: as labels that is one group of all features, as sizes each feature "
                "alone. Write the groups as lists of indices, or leave groups out for features alone."
            )
        members: dict[Any, list[int]] = {}
        for j, label in enumerate(listed):
            members.setdefault(label, []).append(j)
        return list(members.values()), [str(label) for label in members]
    if not sizes:
        raise InvalidInputError(
            f"groups has {len(listed)} entries, but X has {count} columns. Give a label for each column, sizes that "
            "add up to the columns, or a list of lists of columns."
        )
    ends = np.cumsum(listed)
    return [list(range(end - size, end)) for end, size in zip(ends, listed)], [str(g) for g in range(len(listed))]
