"""One contestant on one row, in a process of its own.

    python -m beside.child ASKED.json TOLD.json

The clock of the cold time runs over the import of NumPy, the import of the package and the first fit; it stands while
the data are read from the disk. What is known is written after the first fit and again after the further ones, so that
a process that is ended for its time leaves what it has.
"""

import json
import os
import sys
import time


def main():
    asked = json.loads(open(sys.argv[1]).read())
    # No library can have more threads than this, whatever it reads from the environment.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked["threads"]])
    start = time.perf_counter()
    import numpy  # noqa: F401  the import is what is timed

    imported = time.perf_counter() - start
    from beside import memory, works

    work = works.named(asked["work"])
    shape = asked["shape"]
    contestant = next(c for c in work.CONTESTANTS if c.name == asked["contestant"])
    data = work.load(asked["folder"], shape, contestant)
    loaded = memory.resident()

    start = time.perf_counter()
    fit = contestant.setup(data, shape, asked["hints"])
    imported += time.perf_counter() - start
    ready = memory.resident()
    memory.forget_peak()
    answer, first = timed(fit)
    told = {
        "status": "ok",
        "import_s": imported,
        "first_s": first,
        "warm_s": [],
        "loaded_mb": loaded,
        "ready_mb": ready,
        "peak_mb": memory.peak(),
        "told": answer.get("told", {}),
    }
    told["score"] = work.score(asked["folder"], shape, data, answer)
    write(told)
    while another(told["warm_s"], asked):
        told["warm_s"].append(timed(fit)[1])
    write(told)


def another(taken, asked):
    """Whether a further fit is begun after those that took so long.

    Fits of a millisecond go on for a window of time: five of them would all fall into one moment, which may be another
    program's.
    """
    wanted = len(taken) < asked["repeats"] or sum(taken) < asked["window"]
    return wanted and sum(taken) < asked["patience"]


def timed(fit):
    """The answer, and its seconds: those that the answer tells where a program of its own was timed."""
    start = time.perf_counter()
    answer = fit()
    taken = time.perf_counter() - start
    return answer, answer.get("seconds", taken)


def write(told):
    """Write whole or not at all: the process may be ended at any time."""
    scratch = f"{sys.argv[2]}.part"
    with open(scratch, "w") as file:
        json.dump(told, file)
    os.replace(scratch, sys.argv[2])


if __name__ == "__main__":
    main()
