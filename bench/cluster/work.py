"""What a fit asks its workers, and the bytes of it."""

from typing import NamedTuple

from constants import TASKS


class Work(NamedTuple):
    """What a fit asks for, whoever is asked: round trips by kind, the residuals in them, and the columns that are listed."""

    trips: dict
    residuals: dict
    listed: dict
    reads: float
    driver: float

    @property
    def sweeps(self):
        """What makes workers go through their data, and the residuals in each such question."""
        of = {
            what: self.residuals.get(what, self.trips[what]) / self.trips[what] for what in TASKS if what in self.trips
        }
        return {what: max(1, round(each)) for what, each in of.items()}

    @property
    def by_task(self):
        """Round trips that go by the scheduler."""
        return sum(count for what, count in self.trips.items() if what in TASKS)

    @property
    def by_actor(self):
        """The others."""
        return sum(self.trips.values()) - self.by_task


def counted(told, shape, workers, reads, driver):
    """What was asked for, from the bytes that were counted with so many workers."""
    ranges, across = _ranges(shape.axis, shape.blocks)
    copies = workers if shape.axis == "columns" else 1
    residuals = {
        what: round(told.sent[what] / (8 * shape.rows * (across if what == "products" else copies)))
        for what in ("pass", "partial-pass", "products")
        if told.trips[what]
    }
    listed = {"columns": round(told.received["columns"] / (4 * shape.rows))}
    each = residuals.get("products", 0) / max(1, told.trips["products"])
    listed["products"] = round(told.received["products"] / (8 * ranges * max(1, each)))
    return Work(dict(told.trips), residuals, listed, reads, driver)


def _ranges(axis, blocks):
    return (1, blocks) if axis == "columns" else (blocks, 1)


def swept(work, shape, sweep):
    """Seconds of the reads of a fit. The first pass has its answer from the first read; columns that are multiplied one by one are
    their share of a pass, and those that are copied count with their bytes."""
    times = work.trips | ({"pass": work.trips.get("pass", 0) - 1} if "read" in work.trips else {})
    beside = work.listed["products"] / shape.columns * sweep.get("pass", 0)
    return beside + sum(times[what] * spent for what, spent in sweep.items())


def traffic(work, rows, columns, blocks, axis, workers):
    """Bytes to workers and back for each kind of question."""
    ranges, across = _ranges(axis, blocks)
    # Every worker with blocks of a range of rows is told of these rows; products are told to each block by itself.
    copies = workers if axis == "columns" else 1
    reads, residuals = work.trips.get("read", 0), work.residuals
    passes = {what: residuals.get(what, 0) for what in ("pass", "partial-pass")}
    each = residuals.get("products", 0) / max(1, work.trips.get("products", 0))
    out = {"read": 16 * rows * copies * reads, "products": 8 * rows * across * residuals.get("products", 0)}
    back = {
        "read": 24 * columns * ranges * reads,
        "columns": 4 * rows * work.listed["columns"],
        "products": 8 * ranges * work.listed["products"] * max(1, each),
    }
    if "cross-products" in work.trips:
        out["cross-products"] = 17 * rows * copies * work.trips["cross-products"]
        back["cross-products"] = 8 * (columns + 1) ** 2 * ranges * work.trips["cross-products"]
    out.update({what: 8 * rows * copies * count for what, count in passes.items()})
    back.update({what: 8 * columns * ranges * count for what, count in passes.items()})
    return out, back
