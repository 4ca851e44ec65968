"""What a row and a contestant are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One problem, on which all contestants of a work are timed."""

    key: str
    title: str
    shape: dict[str, Any]
    #: Gigabytes of memory that the largest contestant may take.
    memory: float = 1.0
    #: Whether the row belongs to the quick subset.
    quick: bool = False


@dataclass(frozen=True)
class Contestant:
    """One way to do the work of a row.

    ``setup(data, row, hints)`` imports the package, whose time counts as cold, and gives a function without arguments:
    the fit that is timed. That function returns a dictionary, of which ``score`` of the work makes the quality.
    ``hints`` are what contestants before it told, by name.
    """

    name: str
    package: str
    setup: Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Callable[[], dict[str, Any]]]
    #: Which of the work's arrays it reads, such as "f64"; and in which order they lie before the clock starts.
    data: str = "f64"
    order: str = "F"
    #: What no user has: a setting that was found with knowledge of the answer.
    oracle: bool = False
    #: Whether it can take part in a row.
    takes: Callable[[dict[str, Any]], bool] = field(default=lambda shape: True)

    @property
    def ours(self) -> bool:
        return self.package == "katoms"
