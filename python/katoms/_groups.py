"""Features and groups of features, as people list them."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from katoms import _katoms


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
            raise ValueError(f"{what} names {item!r}, but X has no column names; give indices, or a frame with names")
        found = np.flatnonzero(names == item)
        if len(found) != 1:
            import difflib

            near = difflib.get_close_matches(item, list(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near and len(found) == 0 else ""
            kind = "no column" if len(found) == 0 else "more than one column"
            raise ValueError(f"{what} names {item!r}, but {kind} of X is called so{hint}")
        return int(found[0])
    if not isinstance(item, numbers.Integral) or isinstance(item, (bool, np.bool_)):
        raise ValueError(f"{what} holds {item!r}; give indices (from 0) or names of columns")
    if not -count <= int(item) < count:
        raise ValueError(f"{what} holds index {item}, but X has only {count} columns (indices count from 0)")
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
        raise _katoms.EmptyGroupError(f"{what} has no members; remove it, or give it at least one column")
    twice = next((j for j in members if members.count(j) > 1), None)
    if twice is not None:
        column = f"column {twice} (counted from 0)" if names is None else f"column {str(names[twice])!r}"
        raise _katoms.RepeatedInGroupError(f"{what} lists {column} twice; list each member once")
    return members


def with_indicators(members: list[list[int]], indicated: Any, count: int) -> list[list[int]]:
    """The same groups, with the indicators of missing values, which stand behind `count` features, in those of theirs."""
    place = {int(feature): count + at for at, feature in enumerate(indicated)}
    return [group + [place[j] for j in group if j in place] for group in members]


def _before(separator: str) -> Callable[[str], str | None]:
    """What a name has before the first separator; nothing, where it has none."""
    if not separator:
        raise ValueError("groups is an empty separator; give the text between a column and its level, such as '='")
    return lambda name: name.partition(separator)[0] if separator in name else None


def _groups_by_name(
    group: Callable[[str], Any], names: np.ndarray | None, what: str
) -> tuple[list[list[int]], list[str]]:
    """Columns with the same group; those that it gives None are alone, by their own name."""
    if names is None:
        raise ValueError(f"{what}, but X has no column names; give a frame, or a label for each column")
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
            raise ValueError(
                "groups holds nothing but ones: as labels that is one group of all features, as sizes each feature "
                "alone. Write the groups as lists of indices, or leave groups out for features alone."
            )
        members: dict[Any, list[int]] = {}
        for j, label in enumerate(listed):
            members.setdefault(label, []).append(j)
        return list(members.values()), [str(label) for label in members]
    if not sizes:
        raise ValueError(
            f"groups has {len(listed)} entries, but X has {count} columns. Give a label for each column, sizes that "
            "add up to the columns, or a list of lists of columns."
        )
    ends = np.cumsum(listed)
    return [list(range(end - size, end)) for end, size in zip(ends, listed)], [str(g) for g in range(len(listed))]
