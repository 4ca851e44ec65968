"""What the model says of more machines and more data."""

import statistics
from typing import NamedTuple

import numpy as np
from constants import TASKS
from tables import seconds, table
from work import swept, traffic

NETWORKS = (10, 25)
#: Rows of a design in blocks of columns, and columns of one in blocks of rows.
ROWS, COLUMNS = 7_500, 100_000
SOURCES = ("memory", "disks")
#: Bytes per second of one disk.
DISK = 1e9


def show(asked, known, lags):
    """The tables."""
    by_name = {told.shape.name: told for told in known}
    flat = by_name["few rows, SNR 5"]
    size = asked.terabytes * 1e12
    machines = asked.machines
    lag = {what: _line(lags, what, machines) for what in ("task", "actor")}
    half = by_name["few rows, half"]
    most, least = (_residuals(told.work) * told.shape.columns for told in (flat, half))
    per_column = max(flat.work.driver - half.work.driver, 0) / (most - least)
    vectors = flat.held / (8 * flat.shape.columns)
    print(f"{asked.terabytes:g} TB on {machines} machines, each as fast as this one, with its data in memory or on a disk "
          f"of {DISK / 1e9:g} GB/s. A round trip takes {1e3 * lag['task']:.0f} ms by task and {1e3 * lag['actor']:.0f} ms "
          f"by actor (a line through those of {', '.join(map(str, sorted(lags)))} workers). The driver works "
          f"{1e9 * per_column:.0f} ns for each column and pass, and holds {vectors:.1f} vectors of all columns.")  # fmt: skip
    lines = []
    for axis, names in (
        ("columns", ("wide, SNR 5, k 50", "wide, SNR 5")),
        ("rows", ("rows, SNR 5", "rows, SNR 5, k 200")),
    ):
        for name in names:
            told = by_name[name]
            rows, columns = (ROWS, int(size / 4 / ROWS)) if axis == "columns" else (int(size / 4 / COLUMNS), COLUMNS)
            design = Design(axis, rows, columns, size)
            held = 8 * vectors * columns if axis == "columns" else told.held * rows / told.shape.rows
            for network in NETWORKS:
                ahead = Ahead(told, design, network, lags, per_column)
                reads, spent = [ahead.reads(source, machines) for source in SOURCES], ahead.spent(machines)
                rest = sum(spent.values())
                lines.append((
                    axis, f"{rows:,} x {columns:,}", told.shape.k, f"{network} Gb/s", f"{told.work.reads:.1f}",
                    *map(seconds, reads), f"{ahead.moved(machines):,.0f}", *map(seconds, spent.values()),
                    *(seconds(read + rest) for read in reads), *(f"{ahead.saturates(source):,}" for source in SOURCES),
                    f"{held / 1e9:,.0f} GB",
                ))  # fmt: skip
    table(
        ("blocks of", "design", "k", "network", "reads", "from memory", "from disks", "GB moved", "moving", "trips",
         "driver", "in all, memory", "disks", "saturates at, memory", "disks", "driver holds"),
        lines,
    )  # fmt: skip
    print("It saturates at so many machines: there the reads take as long as all else, and twice as many machines make a fit "
          "at most a third faster.")  # fmt: skip


class Design(NamedTuple):
    """What is fitted ahead: its cut, its shape and its bytes."""

    axis: str
    rows: int
    columns: int
    bytes: float


class Ahead:
    """The time of a fit of a design on any number of machines."""

    def __init__(self, told, design, network, lags, per_column):
        self._told, self._design, self._lags = told, design, lags
        self._network = network * 1e9 / 8
        scale = _residuals(told.work) * design.columns * per_column if design.axis == "columns" else 0
        self._driver = told.work.driver * (design.rows / told.shape.rows) + scale
        whole = told.shape.rows * told.shape.columns * 4
        self._per_byte = {
            "memory": swept(told.work, told.shape, told.sweep) / whole,
            "disks": told.work.reads / DISK,
        }

    def reads(self, source, machines):
        """Seconds of reading from memory or from disks."""
        return self._per_byte[source] * self._design.bytes / machines

    def _traffic(self, machines):
        design = self._design
        return traffic(self._told.work, design.rows, design.columns, machines, design.axis, machines)

    def moved(self, machines):
        """Gigabytes over the network."""
        return sum(sum(way.values()) for way in self._traffic(machines)) / 1e9

    def spent(self, machines):
        """Seconds of all else."""
        work, (out, back) = self._told.work, self._traffic(machines)
        lag = {what: _line(self._lags, what, machines) for what in ("task", "actor")}
        moving = sum(
            size * (1 / getattr(self._told.by["task" if what in TASKS else "actor"], rate) + 1 / self._network)
            for way, rate in ((out, "out"), (back, "back"))
            for what, size in way.items()
        )
        return {"moving": moving, "trips": work.by_task * lag["task"] + work.by_actor * lag["actor"], "driver": self._driver}

    def saturates(self, source):
        """The machines with which the reads take as long as all else."""
        few, many = 1, 1
        while self.reads(source, many) > sum(self.spent(many).values()):
            few, many = many, 2 * many
        while many - few > 1:
            middle = (few + many) // 2
            if self.reads(source, middle) > sum(self.spent(middle).values()):
                few = middle
            else:
                many = middle
        return many


def _residuals(work):
    return sum(count for what, count in work.trips.items() if what in TASKS)


def _line(lags, what, machines):
    """Seconds of a round trip to so many machines."""
    counts = sorted(lags)
    slope, start = np.polyfit(counts, [statistics.median(lag[what] for lag in lags[n]) for n in counts], 1)
    return start + max(slope, 0) * machines
