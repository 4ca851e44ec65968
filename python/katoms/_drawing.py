"""What the plots have in common: colours, axes, and labels that do not overlap.

Matplotlib is imported only when something is drawn. Its settings are read, never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and vermilion of Okabe and Ito: told apart by colour-blind eyes, legible on white and on black.
ACCENT = "#0072b2"
NEGATIVE = "#d55e00"
GREY = "#a7afb8"
SMALL = 9.0
LONGEST_NAME = 36


def pyplot() -> Any:
    """Matplotlib's ``pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("plots need Matplotlib: pip install katoms[plots]") from error
    return matplotlib.pyplot


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes that were given, or those of a new figure with room for every label."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def count_along_x(ax: Axes, label: str, counts: np.ndarray) -> None:
    """Whole numbers along the horizontal axis: all that there are, if they are few."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    counts = np.unique(counts)
    apart = len(counts) == 1 or np.diff(counts).min() > (counts[-1] - counts[0]) / 30
    few = len(counts) <= 12 and apart
    ax.xaxis.set_major_locator(FixedLocator(counts.tolist()) if few else MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel(label)


def logarithmic_y(ax: Axes) -> None:
    """A logarithmic vertical axis, with numbers also where it spans less than a power of ten."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if high / low < 30:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
    else:
        ax.yaxis.set_major_formatter(LogFormatterSciNotation())


def shortened(name: Any) -> str:
    """A name on one line. A long one loses its middle: ends tell names of a family apart."""
    text = " ".join(str(name).split()).replace("$", r"\$")
    if len(text) <= LONGEST_NAME:
        return text
    front = LONGEST_NAME * 3 // 5
    return f"{text[:front].rstrip()}…{text[front + 1 - LONGEST_NAME :].lstrip()}"


class End(NamedTuple):
    """Where a line ends, what it is called, and how much that matters."""

    x: float
    y: float
    name: str
    weight: float


def label_ends(ax: Axes, ends: Sequence[End]) -> None:
    """Write names of lines right of the axes, moved apart where they would overlap.

    Where the axes are too low for all names, those of least weight stay out.
    """
    _, height = points(ax)
    gap = 1.3 * SMALL
    room = max(int(height / gap), 1)
    if len(ends) > room:
        kept = sorted(ends, key=lambda end: -end.weight)[: room - 1]
        place = (f"and {len(ends) - len(kept)} more", (1, 0), (10, -gap / 2), "axes fraction", "offset points")
        ax.annotate(*place, fontsize=SMALL, alpha=0.7)
        ends = kept
    if not ends:
        return
    ends = sorted(ends, key=lambda end: end.y)
    at = in_points(ax, [(end.x, end.y) for end in ends])[:, 1]
    for end, place, moved in zip(ends, at, spread(at, gap, (0.0, height))):
        _label_end(ax, end, moved - place)


def _label_end(ax: Axes, end: End, rise: float) -> None:
    """A name right of the axes, so many points above the end of its line."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    inches = ax.figure.dpi_scale_trans
    beside = blended_transform_factory(
        ax.transAxes + ScaledTranslation(10 / 72, 0, inches), ax.transData + ScaledTranslation(0, rise / 72, inches)
    )
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)}
    ax.annotate(
        shortened(end.name),
        (end.x, end.y),
        (1, end.y),
        textcoords=beside,
        va="center",
        fontsize=SMALL,
        arrowprops=line,
        annotation_clip=False,
    )


def spread(wanted: np.ndarray, gap: float, limits: tuple[float, float]) -> np.ndarray:
    """Places as near as possible to rising wanted ones (by squares), ``gap`` apart, within limits if there is room."""
    steps = gap * np.arange(len(wanted))
    blocks: list[list[float]] = []
    for value in np.asarray(wanted, dtype=float) - steps:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (first, count), (second, more) = blocks[-2:]
            blocks[-2:] = [[(first * count + second * more) / (count + more), count + more]]
    level = np.repeat([mean for mean, _ in blocks], [int(count) for _, count in blocks])
    low, high = limits
    return np.clip(level, low, max(low, high - steps[-1])) + steps


def points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes, in points."""
    extent = ax.get_window_extent()
    return extent.width * 72 / ax.figure.dpi, extent.height * 72 / ax.figure.dpi


def in_points(ax: Axes, places: Sequence[tuple[float, float]]) -> np.ndarray:
    """Where data lie within the axes, in points."""
    # Asking for the limits makes them follow what was drawn.
    ax.get_xlim(), ax.get_ylim()
    return ax.transAxes.inverted().transform(ax.transData.transform(places)) * points(ax)


def width_of(text: str) -> float:
    """About how wide small text is, in points."""
    return 0.56 * SMALL * len(text)


def mark_sizes(ax: Axes, marks: Sequence[tuple[float, str]]) -> None:
    """A line at each size, and above the axes what is to be said of it. Sizes rise."""
    wide, _ = points(ax)
    low, _ = ax.get_ylim()
    at = in_points(ax, [(size, low) for size, _ in marks])[:, 0]
    taken = 0.0
    for (size, text), place, room in zip(marks, at, _room_after(marks)):
        half = width_of(text) / 2
        moved = max(min(place, wide - room - half), taken + half)
        taken = moved + half + SMALL
        ax.axvline(size, color=ACCENT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        ax.annotate(
            text,
            (size, 1),
            (moved - place, 4),
            ("data", "axes fraction"),
            "offset points",
            ha="center",
            fontsize=SMALL,
            color=ACCENT,
        )


def _room_after(marks: Sequence[tuple[float, str]]) -> list[float]:
    """How much room the texts behind each need."""
    widths = [width_of(text) + SMALL for _, text in marks]
    return [sum(widths[number + 1 :]) for number in range(len(marks))]
