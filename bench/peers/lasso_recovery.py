"""Exact recovery by scikit-learn's Lasso path, on draws that `best draws` wrote.

    cargo run --release -p katoms-bench --bin best draws target/best
    python3 -m venv .venv && .venv/bin/pip install numpy scikit-learn
    .venv/bin/python bench/peers/lasso_recovery.py target/best [--draws N] [--every K] [--cd] [--check N]

It appends to FOLDER/recovery_lasso.csv (kind,k,draw,method,success) and skips what is there already.
The path is the exact one, by homotopy (`lars_path`, method="lasso"), from no atoms to the basis-pursuit
limit, and every knot of it counts. A success is a knot where the k largest coefficients, refitted by
least squares, are the planted vector; or where all selected columns, refitted, are (at most as many as
rows: more than k atoms on the way, but a residual of zero tells). Method `lasso`.

The planted vector is met at a relative error of at most 1e-6. `--cd` adds `lasso-cd`: the same on the grid of 100 values that
`lasso_path` takes by default. `--check N` compares OMP with `orthogonal_mp` on the first N draws, against
FOLDER/recovery_omp.csv.
"""

import argparse
import csv
import json
import multiprocessing
import os
import pathlib
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # two processes share two cores

import numpy as np  # noqa: E402
from sklearn.linear_model import lars_path, lasso_path, orthogonal_mp  # noqa: E402

HEADER = ["kind", "k", "draw", "method", "success"]
EXACT = 1e-6
# lars_path ends where alpha is 1e-7 in absolute terms: before the basis-pursuit limit of a target of size 1.
SCALE = 2.0**20


def refitted(design, y, support, truth):
    """Whether least squares on these columns gives the planted vector."""
    found = np.zeros_like(truth)
    found[support] = np.linalg.lstsq(design[:, support], y, rcond=None)[0]
    return np.linalg.norm(found - truth) <= EXACT * np.linalg.norm(truth)


def along(design, y, coefficients, truth):
    """Success at some point of a path (columns x points).

    Without noise a set that misses a planted column cannot give the planted vector, so only those that
    hold them all are refitted.
    """
    planted = np.flatnonzero(truth)
    k, rows = len(planted), design.shape[0]
    sizes = np.abs(coefficients)
    inside, outside = sizes[planted].min(axis=0), np.delete(sizes, planted, axis=0).max(axis=0)
    if any(
        refitted(design, y, np.argsort(-sizes[:, p], kind="stable")[:k], truth)
        for p in np.flatnonzero(inside > outside)[:1]
    ):
        return True
    selected = sizes > 1e-12 * sizes.max(axis=0)
    counts = selected.sum(axis=0)
    return any(
        refitted(design, y, np.flatnonzero(selected[:, p]), truth)
        for p in np.flatnonzero(selected[planted].all(axis=0) & (counts <= rows))[:3]
    )


def one(task):
    """All k of a draw and a kind: rows of the table."""
    folder, manifest, draw, kind, missing, with_cd = task
    rows, columns = manifest["rows"], manifest["columns"]
    design = np.fromfile(folder / f"design_{draw}.f64", "<f8").reshape(columns, rows).T
    signals = np.fromfile(folder / f"signals_{kind}_{draw}.f64", "<f8").reshape(-1, columns)
    norms = np.linalg.norm(design, axis=0)
    unit = np.asfortranarray(design / norms)
    out = []
    for k, truth in zip(manifest["ks"], signals):
        if k not in missing:
            continue
        y = design @ truth
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the path may stop early at the limit of precision
            _, _, path = lars_path(unit, y * SCALE, method="lasso", max_iter=5000)
        out.append((kind, k, draw, "lasso", int(along(design, y, path, truth))))
        if with_cd:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _, path, _ = lasso_path(unit, y, eps=1e-3, alphas=100)
            out.append((kind, k, draw, "lasso-cd", int(along(design, y, path, truth))))
    return out


def check_omp(folder, draws, manifest):
    """Our OMP against scikit-learn's."""
    with open(folder.parent / "recovery_omp.csv", newline="") as file:
        ours = {(r["kind"], int(r["k"]), int(r["draw"])): int(r["success"]) for r in csv.DictReader(file)}
    same = other = 0
    for draw in range(draws):
        design = np.fromfile(folder / f"design_{draw}.f64", "<f8").reshape(manifest["columns"], -1).T
        norms = np.linalg.norm(design, axis=0)
        for kind in manifest["kinds"]:
            signals = np.fromfile(folder / f"signals_{kind}_{draw}.f64", "<f8").reshape(-1, manifest["columns"])
            for k, truth in zip(manifest["ks"], signals):
                found = orthogonal_mp(design / norms, design @ truth, n_nonzero_coefs=k) / norms
                success = int(np.linalg.norm(found - truth) <= EXACT * np.linalg.norm(truth))
                if (kind, k, draw) in ours:
                    same += success == ours[kind, k, draw]
                    other += success != ours[kind, k, draw]
    print(f"OMP: {same} of {same + other} answers agree with orthogonal_mp")


def main():
    parser = argparse.ArgumentParser(description="Exact recovery by scikit-learn's Lasso path")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--draws", type=int, help="only the first N draws")
    parser.add_argument("--every", type=int, default=1, help="only multiples of this k")
    parser.add_argument("--cd", action="store_true", help="the default grid of lasso_path as well")
    parser.add_argument("--check", type=int, metavar="N", help="only compare OMP on the first N draws")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    folder, table = asked.folder / "recovery", asked.folder / "recovery_lasso.csv"
    manifest = json.loads((folder / "manifest.json").read_text())
    if asked.check:
        return check_omp(folder, min(asked.check, manifest["draws"]), manifest)

    done = set()
    if table.exists():
        with open(table, newline="") as file:
            done = {(r["kind"], int(r["draw"]), int(r["k"]), r["method"]) for r in csv.DictReader(file)}
    last = "lasso-cd" if asked.cd else "lasso"
    tasks = []
    for draw in range(min(asked.draws or manifest["draws"], manifest["draws"])):
        for kind in manifest["kinds"]:
            ks = [k for k in manifest["ks"] if k % asked.every == 0]
            missing = {k for k in ks if (kind, draw, k, last) not in done}
            if missing:
                tasks.append((folder, manifest, draw, kind, missing, asked.cd))
    total, finished, start = sum(len(t[4]) for t in tasks), 0, time.time()
    print(f"{total} paths to follow")
    with open(table, "a", newline="") as file, multiprocessing.Pool(asked.processes) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(HEADER)
        for rows in pool.imap_unordered(one, tasks):
            writer.writerows(r for r in rows if (r[0], r[2], r[1], r[3]) not in done)
            file.flush()
            finished += len({r[1] for r in rows})
            each = (time.time() - start) / finished
            print(f"{finished} of {total}, {each:.3f} s each, {each * (total - finished):.0f} s to go", flush=True)


if __name__ == "__main__":
    main()
