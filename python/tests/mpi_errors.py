"""What test_mpi.py runs on every rank: fits that go wrong, and what each rank hears of it."""

import json
import os
import signal
import time

import numpy as np


class Broken(Exception):
    """What a callback raises, with words that no pickle brings back."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def errors(comm):
    """By name: the exception and its words."""
    import katoms.mpi

    rng = np.random.default_rng(comm.rank)
    X = rng.normal(size=(40, 10))
    y = np.random.default_rng(9).normal(size=40)
    last = comm.rank == comm.size - 1
    columns, rows = katoms.mpi.columns, katoms.mpi.rows

    def fit(data, target=y, **parameters):
        return katoms.mpi.SparseRegressor(2, **parameters).fit(data, target)

    def interrupted(rank):
        def callback(progress):
            os.kill(pids[rank], signal.SIGINT)
            time.sleep(0.01)

        return fit(columns(X), callback=callback)

    def broken(progress):
        raise Broken("one thing", "another")

    def with_nan():
        holes = X.copy()
        holes[3, 5] = np.nan if last else 0.0
        return fit(columns(holes))

    pids = comm.allgather(os.getpid())
    wrong = {
        "no file": lambda: fit(columns("nowhere.npy" if last else X)),
        "no matrix": lambda: fit(columns(X[0] if last else X)),
        "other rows": lambda: fit(columns(X[: 30 if last else 40])),
        "other columns": lambda: fit(rows(X[:, : 9 if last else 10])),
        "NaN": with_nan,
        "plain array": lambda: fit(X),
        "both": lambda: fit(rows(X) if last else columns(X)),
        "no y": lambda: fit(columns(X), None),
        "no y on one rank": lambda: fit(rows(X), None if last else y),
        "y of other rows": lambda: fit(rows(X), y[:35] if last else y),
        "parameter": lambda: fit(columns(X), tol="small"),
        "callback": lambda: fit(columns(X), callback=broken),
        "interrupt of rank 0": lambda: interrupted(0),
        "interrupt of the last rank": lambda: interrupted(comm.size - 1),
        "predicted": lambda: fit(columns(X)).predict(columns("nowhere.npy" if last else X)),
        "scored": lambda: fit(rows(X)).score(rows(X), y[:35] if last else y),
    }
    told = {}
    for name, work in wrong.items():
        try:
            work()
            told[name] = None
        except BaseException as error:
            told[name] = [type(error).__name__, str(error)]
    # Nothing is left over of what went wrong.
    assert len(fit(columns(X)).support_) == 2
    return told


def main():
    """Rank 0 prints what each rank heard."""
    from mpi4py import MPI

    everybody = MPI.COMM_WORLD.gather(errors(MPI.COMM_WORLD))
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(everybody))


if __name__ == "__main__":
    main()
