"""How good the models are, and what they cost: rows of katoms alone, or beside enumerations, known models and abess.

A group of rows is a module with

- ``TITLE``, and what is measured as its docstring;
- ``cases()``: pairs of a name and a function that fits and returns a dictionary of numbers and words;
- ``figures(cases)``: what the table says of the cases that were run;
- ``COLUMNS`` and ``rows(cases)``: the cases that are worth a line of their own;
- ``COMPARED``, where there is one: the numbers of a case by which two builds are compared case by case.

A group that cannot be run here raises :class:`Unavailable` in ``cases``.
"""

import importlib
from dataclasses import dataclass
from typing import Any

NAMES = ["known", "thorough", "truth", "hard", "path", "sizes", "ratios", "classes", "reads", "serial"]


def named(name):
    return importlib.import_module(f"beside.quality.{name}")


class Unavailable(Exception):
    """Why a group cannot be run here."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    value: Any
    #: The largest value that is good enough, where there is one; ``least`` turns it into the smallest.
    limit: float | None = None
    least: bool = False

    @property
    def met(self):
        if self.limit is None or self.value is None:
            return None
        return bool(self.value >= self.limit) if self.least else bool(self.value <= self.limit)

    def told(self):
        return {"name": self.name, "value": self.value, "limit": self.limit, "least": self.least, "met": self.met}
