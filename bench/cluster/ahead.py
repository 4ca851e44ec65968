"""What the model says of more machines and more data."""

import statistics

import numpy as np
from constants import TASKS
from tables import seconds, table
from work import traffic

NETWORKS = (10, 25)
#: Rows of a design in blocks of columns, and columns of one in blocks of rows.
ROWS, COLUMNS = 7_500, 100_000
#: Bytes per second of one disk.
DISK = 1e9


def show(asked, known, lags):
    """The tables."""
    by_name = {told.shape.name: told for told in known}
    flat = by_name["few rows, SNR 5"]
    size = asked.terabytes * 1e12
    machines = asked.machines
    lag = {what: _line(lags, what, machines) for what in ("pass", "columns")}
    half = by_name["few rows, half"]
    most, least = (_residuals(told.work) * told.shape.columns for told in (flat, half))
    per_column = max(flat.work.driver - half.work.driver, 0) / (most - least)
    vectors = flat.held / (8 * flat.shape.columns)
    print(f"{asked.terabytes:g} TB on {machines} machines, each as fast as this one, with its data in memory or on a disk "
          f"of {DISK / 1e9:g} GB/s. A round trip takes {1e3 * lag['pass']:.0f} ms by task and {1e3 * lag['columns']:.0f} ms "
          f"by actor (a line through those of {', '.join(map(str, sorted(lags)))} workers). The driver works "
          f"{1e9 * per_column:.0f} ns for each column and pass, and holds {vectors:.1f} vectors of all columns.")  # fmt: skip
    lines = []
    for axis, names in (
        ("columns", ("wide, SNR 5, k 50", "wide, SNR 5")),
        ("rows", ("rows, SNR 5", "rows, SNR 5, k 500")),
    ):
        for name in names:
            told = by_name[name]
            rows, columns = (ROWS, int(size / 4 / ROWS)) if axis == "columns" else (int(size / 4 / COLUMNS), COLUMNS)
            work = told.work
            scale = _residuals(work) * columns * per_column if axis == "columns" else 0
            driver = work.driver * (rows / told.shape.rows) + scale
            out, back = traffic(work, rows, columns, machines, axis, machines)
            trips = work.by_task * lag["pass"] + work.by_actor * lag["columns"]
            speed = told.shape.rows * told.shape.columns * 4 / told.sweep.full * machines
            held = 8 * vectors * columns if axis == "columns" else told.held * rows / told.shape.rows
            for network in NETWORKS:
                moved = sum(
                    size * (1 / getattr(told.by["task" if what in TASKS else "actor"], rate) + 8 / (network * 1e9))
                    for way, rate in ((out, "out"), (back, "back"))
                    for what, size in way.items()
                )
                total = [work.reads * size / per + driver + trips + moved for per in (speed, DISK * machines)]
                lines.append((
                    axis, f"{rows:,} x {columns:,}", told.shape.k, f"{network} Gb/s", f"{work.reads:.1f}",
                    seconds(work.reads * size / speed), seconds(work.reads * size / DISK / machines),
                    f"{(sum(out.values()) + sum(back.values())) / 1e9:,.0f}", seconds(moved), seconds(trips),
                    seconds(driver), *map(seconds, total), f"{held / 1e9:,.0f} GB",
                ))  # fmt: skip
    table(
        ("blocks of", "design", "k", "network", "reads", "from memory", "from disks", "GB moved", "moving", "trips",
         "driver", "in all, memory", "disks", "driver holds"),
        lines,
    )  # fmt: skip


def _residuals(work):
    return sum(count for what, count in work.trips.items() if what in TASKS)


def _line(lags, what, machines):
    """Seconds of a round trip to so many machines."""
    counts = sorted(lags)
    slope, start = np.polyfit(counts, [statistics.median(lag[what] for lag in lags[n]) for n in counts], 1)
    return start + max(slope, 0) * machines
