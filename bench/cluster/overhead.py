"""The same fit in one process and on clusters of this machine."""

import contextlib
import statistics

import numpy as np
from data import problem
from machines import Recorder, agree, cluster, fit, held_by, threads_each
from tables import megabytes, table

WORKERS = (1, 2)
HEADER = (
    "SNR", "workers", "ratio", "least", "most", "reads", "trips", "per pass", "MB sent", "received", "same", "difference"
)  # fmt: skip


def add(parser):
    """The options."""
    parser.add_argument("--rows", type=int, default=7_500)
    parser.add_argument("--columns", type=int, default=200_000)
    parser.add_argument("--k", type=int, default=500)
    parser.add_argument("--snr", type=float, nargs="+", default=[0, 5])
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)


def run(asked):
    """Pairs of fits, one after the other: what else runs on the machine slows both of a pair."""
    design = problem(asked.folder, asked.rows, asked.columns, asked.files, whole=True)
    X = np.load(design.whole, mmap_mode="r")
    rows = []
    with contextlib.ExitStack() as stack:
        clients = {n: stack.enter_context(cluster(n, threads_each(n, asked.cores))) for n in WORKERS}
        blocks = {n: held_by(clients[n], design.paths, "columns") for n in WORKERS}
        recorders = {n: Recorder(blocks[n]) for n in WORKERS}
        for snr in asked.snr:
            _, y = design.target(asked.k, snr)
            ratios, alone = {n: [] for n in WORKERS}, []
            for repeat in range(asked.repeats + 1):
                for n in WORKERS:
                    one, before = fit(X, y, asked.k, asked.cores)
                    recorders[n].clear()
                    other, after = fit(blocks[n], y, asked.k, asked.cores)
                    # The first round fills the cache of files.
                    if repeat > 0:
                        ratios[n].append(after / before)
                        alone.append(before)
            for n in WORKERS:
                told = recorders[n]
                trips, passes = sum(told.trips.values()), told.passes()
                sent, received = (megabytes(sum(count.values())) for count in (told.sent, told.received))
                rows.append(
                    (f"{snr:g}", n, f"{statistics.median(ratios[n]):.2f}", f"{min(ratios[n]):.2f}",
                     f"{max(ratios[n]):.2f}", f"{other.n_reads_:.2f}", trips, f"{trips / passes:.2f}", sent, received,
                     *agree(one, other))
                )  # fmt: skip
            print(f"SNR {snr:g}: one process with {asked.cores} threads takes {statistics.median(alone):.2f} s, "
                  f"{one.n_reads_:.2f} reads; {dict(told.trips)}")  # fmt: skip
        for held in blocks.values():
            held.close()
    table(HEADER, rows)
