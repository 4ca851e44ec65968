"""Atoms that are groups of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from katoms._checks import Design
from katoms._groups import groups_of, with_indicators
from katoms._linear import LinearModel


@dataclass(eq=False, repr=False)
class Grouped(LinearModel):
    """A linear model whose atoms are groups of features."""

    _: KW_ONLY
    groups: Any = None

    def _members(self, design: Design) -> tuple[list[list[int]] | None, list[str]]:
        if self.groups is None:
            return super()._members(design)
        names = None if design.names is None else design.names[: design.inputs]
        members, called = groups_of(self.groups, names, design.inputs)
        indicated = () if design.filling is None else design.filling.indicated
        return with_indicators(members, indicated, design.inputs), called

    def _keep_groups(self, chosen: np.ndarray, names: list[str]) -> None:
        self.chosen_groups_ = [names[group] if names else f"x{group}" for group in chosen]
