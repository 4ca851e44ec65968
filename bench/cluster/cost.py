"""A model of the time of a fit on a cluster, beside what is measured."""

import contextlib
import statistics
from typing import NamedTuple

import ahead
from constants import TASKS, routes, swept_by_workers
from data import problem
from machines import Recorder, Watch, cluster, fit, held_by, status_of, threads_each
from tables import megabytes, table
from work import Work, counted, swept, traffic

WORKERS = (1, 2, 4)
#: Workers of the fit whose bytes are counted.
COUNTED = 2


class Shape(NamedTuple):
    """A fit whose time is predicted."""

    name: str
    rows: int
    columns: int
    axis: str
    blocks: int
    k: int
    snr: float


SHAPES = (
    Shape("wide, no noise", 7_500, 100_000, "columns", 16, 500, 0),
    Shape("wide, SNR 5", 7_500, 100_000, "columns", 16, 500, 5),
    Shape("wide, SNR 5, k 50", 7_500, 100_000, "columns", 16, 50, 5),
    Shape("few rows, half", 500, 750_000, "columns", 16, 20, 5),
    Shape("few rows, SNR 5", 500, 1_500_000, "columns", 16, 20, 5),
    Shape("rows, SNR 5", 200_000, 5_000, "rows", 8, 50, 5),
    Shape("rows, SNR 5, k 200", 200_000, 5_000, "rows", 8, 200, 5),
    Shape("tall, SNR 5", 2_000_000, 200, "rows", 8, 50, 5),
)


def add(parser):
    """The options."""
    parser.add_argument(
        "--scale", type=float, default=1, help="of the number of columns, or of rows where they are cut"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--terabytes", type=float, default=10)


def predicted(work, shape, by, sweep, workers):
    """Seconds: the driver's own, the workers' reads, round trips, and the way of the bytes."""
    out, back = traffic(work, shape.rows, shape.columns, shape.blocks, shape.axis, workers)

    def moved(way, rate):
        return sum(size / getattr(by["task" if what in TASKS else "actor"], rate) for what, size in way.items())

    return {
        "driver": work.driver,
        "reads": swept(work, shape, sweep),
        "trips": work.by_task * by["task"].latency + work.by_actor * by["actor"].latency,
        "bytes": moved(out, "out") + moved(back, "back"),
    }


class Told(NamedTuple):
    """What is known of a shape after it was run."""

    shape: Shape
    work: Work
    by: dict
    sweep: dict
    held: int


def run(asked):
    """Each shape: constants, the prediction, and then the fits."""
    lines, verbs, known, constants, lags = [], [], [], [], {}
    with contextlib.ExitStack() as stack:
        clients = {n: stack.enter_context(cluster(n, threads_each(n, asked.cores))) for n in WORKERS}
        for shape in SHAPES:
            scaled = "columns" if shape.axis == "columns" else "rows"
            shape = shape._replace(**{scaled: int(getattr(shape, scaled) * asked.scale)})
            told = _shape(asked, shape, clients, lines, verbs, constants, lags)
            known.append(told)
    print("Constants: a round trip that asks for nothing, by task and by actor; bytes to all workers together and back")
    table(("shape", "workers", "task", "actor", "MB/s to, task", "actor", "MB/s back, task", "actor", "GB/s of passes"), constants)
    print("Bytes for each kind of question with two workers")
    table(
        (
            "shape",
            "question",
            "trips",
            "residuals",
            "columns",
            "MB sent",
            "by the formula",
            "MB back",
            "by the formula",
        ),
        verbs,
    )
    print("Seconds, predicted before they were measured")
    table(("shape", "workers", "driver", "reads", "trips", "bytes", "predicted", "measured", "error"), lines)
    ahead.show(asked, known, lags)


def _shape(asked, shape, clients, lines, verbs, constants, lags):
    design = problem(asked.folder, shape.rows, shape.columns, shape.blocks, shape.axis)
    _, y = design.target(shape.k, shape.snr)
    held = {n: held_by(client, design.paths, shape.axis) for n, client in clients.items()}
    told = {n: Recorder(blocks) for n, blocks in held.items()}
    # Counts, and the seconds of the driver, come from fits that nobody times: the second of two, as the first fills caches.
    for n in (*WORKERS, COUNTED):
        told[n].clear()
        model, took = fit(held[n], y, shape.k, asked.cores)
    own = told[COUNTED]
    work = counted(own, shape, COUNTED, model.n_reads_, max(took - sum(own.seconds.values()), 0.0))
    verbs.extend(_verbs(shape, own, work))
    by = {n: routes(blocks) for n, blocks in held.items()}
    sweep = swept_by_workers(held[1], by[1], work.sweeps)
    for n in WORKERS:
        lags.setdefault(n, []).append({what: by[n][what].latency for what in ("task", "actor")})
    expected = {n: predicted(work, shape, by[n], sweep, n) for n in WORKERS}
    for n in WORKERS:
        rates = [(route.latency * 1e3, route.out / 1e6, route.back / 1e6) for route in (by[n]["task"], by[n]["actor"])]
        constants.append(
            (shape.name, n, *(f"{rate[0]:.1f} ms" for rate in rates),
             *(f"{rate[at]:,.0f}" for at in (1, 2) for rate in rates),
             f"{design.bytes / sweep['pass'] / 1e9:.1f}" if "pass" in sweep and n == 1 else "")
        )  # fmt: skip
    print(f"{shape.name}: the driver works {work.driver:.2f} s; one worker's {_few(sweep)}")
    times = {n: [] for n in WORKERS}
    base = status_of()["RssAnon"]
    with Watch(["self"]) as watch:
        for _ in range(asked.repeats):
            for n in WORKERS:
                told[n].clear()
                times[n].append(fit(held[n], y, shape.k, asked.cores)[1])
    for n in WORKERS:
        measured, parts = statistics.median(times[n]), expected[n]
        total = sum(parts.values())
        lines.append((shape.name, n, *(f"{parts[what]:.2f}" for what in ("driver", "reads", "trips", "bytes")),
                      f"{total:.2f}", f"{measured:.2f}", f"{100 * (total / measured - 1):+.0f} %"))  # fmt: skip
        print(f"  {n} workers: " + ", ".join(
            f"{what} {told[n].trips[what]} x {spent / told[n].trips[what]:.3f} s" for what, spent in told[n].seconds.items()
        ))  # fmt: skip
    for blocks in held.values():
        blocks.close()
    return Told(shape, work, by[max(WORKERS)], sweep, watch.most["self"]["RssAnon"] - base)


def _few(times):
    return ", ".join(f"{what} {time:.3f} s" for what, time in times.items())


def _verbs(shape, told, work):
    out, back = traffic(work, shape.rows, shape.columns, shape.blocks, shape.axis, COUNTED)
    for what in work.trips:
        sizes = (told.sent[what], out.get(what, 0), told.received[what], back.get(what, 0))
        counts = (work.trips[what], work.residuals.get(what, ""), work.listed.get(what, ""))
        yield shape.name, what, *counts, *map(megabytes, sizes)
