"""scikit-learn's `lasso_path` on the data that `lasso draws` wrote.

    cargo run --release -p katoms-bench --bin lasso draws target/lasso
    python3 -m venv .venv && .venv/bin/pip install numpy scikit-learn
    .venv/bin/python bench/peers/lasso_path.py target/lasso [--repeats N]
    cargo run --release -p katoms-bench --bin lasso target/lasso

It writes FOLDER/sklearn.csv (problem,eps,tol,seconds,gap). Seconds are the best of N, without the copy of the
data to Fortran order. The gap is the largest duality gap of the path of 100 values, relative to the squared
norm of the target, and computed here from the coefficients: it is not what scikit-learn says.
OPENBLAS_NUM_THREADS says how many threads it may have.
"""

import argparse
import csv
import os
import pathlib
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from sklearn.linear_model import lasso_path  # noqa: E402

SETTINGS = [("1e-2", "1e-4"), ("1e-2", "1e-6"), ("1e-3", "1e-4"), ("1e-3", "1e-6")]


def largest_gap(design, y, alphas, coefficients):
    """The largest gap of ½‖y − Xβ‖² + λ‖β‖₁ along a path, relative to ‖y‖²."""
    worst = 0.0
    for lam, beta in zip(alphas * len(y), coefficients.T):
        r = y - design @ beta
        s = min(1.0, lam / np.abs(design.T @ r).max())
        primal = 0.5 * r @ r + lam * np.abs(beta).sum()
        dual = 0.5 * y @ y - 0.5 * (y - s * r) @ (y - s * r)
        worst = max(worst, primal - dual)
    return worst / (y @ y)


def main():
    parser = argparse.ArgumentParser(description="scikit-learn's Lasso path")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with open(asked.folder / "sklearn.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["problem", "eps", "tol", "seconds", "gap"])
        for shape in sorted(asked.folder.glob("*.txt")):
            rows, columns = map(int, shape.read_text().split())
            design = np.fromfile(asked.folder / f"{shape.stem}_design.f64", "<f8").reshape(columns, rows).T
            y = np.fromfile(asked.folder / f"{shape.stem}_target.f64", "<f8")
            for eps, tol in SETTINGS:
                seconds = np.inf
                for _ in range(asked.repeats):
                    start = time.perf_counter()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # where it does not converge, the gap tells
                        alphas, path, _ = lasso_path(design, y, eps=float(eps), alphas=100, tol=float(tol))
                    seconds = min(seconds, time.perf_counter() - start)
                gap = largest_gap(design, y, alphas, path)
                print(f"{shape.stem:12} eps {eps} tol {tol}: {seconds:8.3f} s, gap {gap:.1e}", flush=True)
                table.writerow([shape.stem, eps, tol, f"{seconds:.4f}", f"{gap:.2e}"])
                file.flush()


if __name__ == "__main__":
    main()
