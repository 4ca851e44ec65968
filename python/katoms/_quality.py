"""How good an answer is, as numbers and as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quality:
    """What is known about how good a model is. ``print`` it to read it.

    Attributes
    ----------
    stationarity : float
        How far a gradient step would move the model, relative to its norm; 0 at a stationary point. NaN where that
        could not be judged.
    exchange_gain : float
        How much the best of the compared exchanges of one atom for another lowers the objective; 0 when none does.
    exchanges_compared : int
        The number of exchanges that were compared.
    exhaustive : bool
        Whether these are all that there are.
    near_ties : list of (int, int, float)
        Atoms of the model, what could stand in their place, and how much the objective would rise.
    proven : float or None
        The number of all models of this size, where all were looked at or ruled out by a bound, so that none is better.
    lower_bound : float or None
        What no model of this size can beat, where that was proven.
    gap : float or None
        The objective is at most this share above the best possible, where that was proven.
    sentences : list of str
        The same in words.
    """

    stationarity: float
    exchange_gain: float
    exchanges_compared: int
    exhaustive: bool
    near_ties: list[tuple[int, int, float]]
    proven: float | None
    lower_bound: float | None
    gap: float | None
    sentences: list[str]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def quality_of(told: dict[str, Any] | None) -> Quality | None:
    """The quality that the kernels tell, if they do."""
    return None if told is None else Quality(**told)
