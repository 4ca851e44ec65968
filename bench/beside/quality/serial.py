"""The share of a fit that runs on one thread: 2·T₂/T₁ − 1, where T₁ and T₂ are its times with one and two threads.

3,000 × 80,000 in single precision, k = 200. Processes with one and with two threads take turns; a time is the best of all.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from beside import machine, memory
from beside.quality import Figure, Unavailable
from beside.works import arrays

TITLE = "The share that runs on one thread"
COLUMNS = ["case", "one thread, seconds", "two threads, seconds", "share", "reads"]
M, N, K, RATIOS = 3000, 80_000, 200, {0: "noiseless", 5: "SNR 5"}
ROUNDS, FITS, SHARE = 3, 4, 0.10
#: Gigabytes of memory for the design, and for the fit beside it.
MEMORY = 2.5

#: The fits of one process: the folder, the target and the number of fits are its arguments.
CHILD = """
import json, sys, time, warnings
import numpy as np
from katoms import SparseRegressor
warnings.simplefilter("ignore")
folder, ratio, fits, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
X, y = np.load(f"{folder}/X_f32.npy"), np.load(f"{folder}/y_{ratio}.npy").astype("f4")
taken = []
for _ in range(fits):
    start = time.perf_counter()
    model = SparseRegressor(k).fit(X, y)
    taken.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(taken), "reads": float(model.n_reads_)}))
"""


def cases():
    if (os.cpu_count() or 1) < 2:
        raise Unavailable("two cores are needed")
    if memory.available() < 1000 * MEMORY:
        raise Unavailable(f"it needs about {MEMORY} GB of memory")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quality-"))
    try:
        arrays.planted(folder, M, N, K, list(RATIOS), ["f32"])
        for ratio, name in RATIOS.items():
            yield f"{M:,} × {N:,}, k = {K}, f32, {name}", lambda ratio=ratio: one(folder, ratio)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one(folder, ratio):
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(ROUNDS):
        for threads in best:
            asked = [sys.executable, "-c", CHILD, str(folder), str(ratio), str(FITS), str(K)]
            environment = machine.environment(threads)
            told = json.loads(subprocess.run(asked, capture_output=True, check=True, env=environment).stdout)
            best[threads] = min(best[threads], told["seconds"])
    return {"one": best[1], "two": best[2], "share": 2 * best[2] / best[1] - 1, "reads": told["reads"]}


def figures(cases):
    for name, case in cases.items():
        yield Figure(f"{name.rpartition(', ')[2]}: share on one thread", case["share"], SHARE)
        yield Figure(f"{name.rpartition(', ')[2]}: seconds with two threads", case["two"])


def rows(cases):
    for name, case in cases.items():
        yield [name, f"{case['one']:.3g}", f"{case['two']:.3g}", f"{case['share']:.2f}", f"{case['reads']:.3g}"]
