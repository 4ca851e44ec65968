"""katoms beside PsFiT and dask-ml, each on the same blocks of rows.

PsFiT and dask-ml want other versions of what they build on, and are run by Pythons of their own:

    python -m venv psfit && psfit/bin/pip install psfit==0.1.1
    python -m venv dask-ml && dask-ml/bin/pip install dask-ml "dask[complete]"
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
from data import problem
from machines import cluster, fit, held_by, threads_each
from tables import table

HERE = pathlib.Path(__file__).parent


def add(parser):
    """The options."""
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--snr", type=float, default=5)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--psfit", help="a Python that has psfit")
    parser.add_argument("--dask-ml", help="a Python that has dask-ml")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a contestant")


def run(asked):
    """Every contestant, one after the other."""
    design = problem(asked.folder, asked.rows, asked.columns, asked.blocks, "rows", whole=True)
    X = np.load(design.whole, mmap_mode="r")
    planted, y = design.target(asked.k, asked.snr)
    target = asked.folder / "peers-y.npy"
    np.save(target, y)
    # A strength that suits: what an oracle who knows the noise would choose.
    strength = float(np.sqrt(asked.k / asked.snr) * np.sqrt(2 * np.log(asked.columns) * asked.rows))
    told = {"paths": design.paths, "y": str(target), "k": asked.k, "strength": strength, "cores": asked.cores}
    lines = []

    def line(name, took, support, note=""):
        found = len(np.intersect1d(support, planted))
        lines.append((name, f"{took:.2f}", f"{found} of {asked.k}", len(support), f"{_error(X, y, support):.4f}", note))

    with cluster(2, threads_each(2, asked.cores)) as client:
        held = held_by(client, design.paths, "rows")
        fit(held, y, asked.k, asked.cores)
        model, took = fit(held, y, asked.k, asked.cores)
        line("katoms, two Dask workers", took, model.support_, f"{model.n_reads_:.1f} reads, no strength to choose")
        held.close()
    model, took = fit(X, y, asked.k, asked.cores)
    line("katoms, one process", took, model.support_)
    for name, python, script in (
        ("PsFiT 0.1.1, Ray", asked.psfit, "peer_psfit.py"),
        ("dask-ml, ADMM, two workers", asked.dask_ml, "peer_dask_ml.py"),
        ("scikit-learn Lasso, one process", sys.executable, "peer_lasso.py"),
    ):
        if python is None:
            print(f"{name}: not asked for")
            continue
        try:
            done = subprocess.run(
                [python, str(HERE / script), json.dumps(told)], capture_output=True, text=True, timeout=asked.limit
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: not done after {asked.limit:g} s")
            continue
        if done.returncode != 0:
            print(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
            continue
        for one in json.loads(done.stdout.strip().splitlines()[-1]):
            line(
                f"{name}{one.get('with', '')}", one["seconds"], np.array(one["support"], dtype=int), one.get("note", "")
            )
    line("the planted atoms", 0, planted)
    table(("", "seconds", "planted found", "atoms", "mean squared error, refitted", ""), lines)


def _error(X, y, support):
    """Of least squares on these columns."""
    chosen = np.column_stack([np.ones(len(y)), X[:, support]]).astype(float)
    return float(np.mean((y - chosen @ np.linalg.lstsq(chosen, y, rcond=None)[0]) ** 2))
