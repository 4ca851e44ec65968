"""A design that is larger than the memory of all workers."""

import os

import numpy as np
from data import problem
from machines import Recorder, Watch, cluster, fit, forget, held_by, limit_data, read_from_disk, status_of
from tables import megabytes, seconds, table

GIGA = 10**9
#: Dask ends workers that hold more than this share of their limit, pages of mapped files counted.
DASK = {"distributed.worker.memory.terminate": 0.95}


def add(parser):
    """The options."""
    parser.add_argument("--gigabytes", type=float, default=30)
    parser.add_argument("--rows", type=int, default=7_500)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--snr", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", type=float, default=8, help="gigabytes of all workers together")
    parser.add_argument("--delete", action="store_true", help="deletes the files at the end")


def run(asked):
    """One fit, with files that no cache holds at the start."""
    files = max(asked.workers, round(2 * asked.gigabytes))
    columns = int(asked.gigabytes * GIGA) // (4 * asked.rows)
    design = problem(asked.folder, asked.rows, columns, files)
    try:
        _fitted(asked, design)
    finally:
        if asked.delete:
            for path in design.paths:
                os.unlink(path)


def _fitted(asked, design):
    planted, y = design.target(asked.k, asked.snr)
    each = int(asked.memory * GIGA / asked.workers)
    for path in design.paths:
        forget(path)
    before = status_of()["RssAnon"]
    with cluster(asked.workers, max(1, asked.cores // asked.workers), each, DASK) as client:
        processes = sorted(client.run(limit_data, each).values())
        held = held_by(client, design.paths, "columns")
        told = Recorder(held)
        disk = {process: read_from_disk(process) for process in processes}
        with Watch([*processes, "self"]) as watch:
            model, took = fit(held, y, asked.k, asked.cores)
        disk = sum(read_from_disk(process) - disk[process] for process in processes if _lives(process))
        held.close()
    found = len(np.intersect1d(model.support_, planted))
    most = watch.most
    table(
        ("GB", "k", "time", "reads", "GB from disk", "MB/s from disk", "trips", "MB sent", "received", "found", "lost"),
        [
            (
                f"{design.bytes / GIGA:.1f}", asked.k, seconds(took), f"{model.n_reads_:.2f}", f"{disk / GIGA:.1f}",
                f"{disk / took / 1e6:,.0f}", sum(told.trips.values()), megabytes(sum(told.sent.values())),
                megabytes(sum(told.received.values())), f"{found} of {asked.k}", len(held.losses),
            )
        ],
    )  # fmt: skip
    rows = [
        (name, *(megabytes(most[process][what]) for what in ("RssAnon", "RssFile", "VmRSS", "VmHWM")))
        for name, process in [*((f"worker {at}", process) for at, process in enumerate(processes)), ("driver", "self")]
    ]
    table(("peak in MB", "own memory", "pages of files", "resident", "resident, of its life"), rows)
    print(
        f"limit of each worker: {each / GIGA:g} GB; driver before the fit: {megabytes(before)} MB of its own"
    )
    print(f"status {model.status_}; seconds by question: " + _spent(told))
    for loss in held.losses:
        print(f"lost: {loss}")


def _spent(told):
    return ", ".join(
        f"{what} {told.trips[what]} x {spent / told.trips[what]:.2f}" for what, spent in told.seconds.items()
    )


def _lives(process):
    return os.path.exists(f"/proc/{process}/io")
