"""Support and prediction of scikit-learn's Lasso path on the AR(1) design that `best draws` wrote.

    .venv/bin/python bench/peers/lasso_correlated.py target/best

It writes FOLDER/correlated_lasso.csv (seed,k,method,auc,r2). The path is the exact one (`lars_path`,
method="lasso", on columns of norm 1). For each k the model is that of the first knot with exactly k
nonzeros, which is the end of the first stretch with k columns: its coefficients are the least shrunk of
that stretch, and its support the same. (The path changes by one column at a time, so every k occurs.)

- `lasso`: the coefficients as they are;
- `lasso-debiased`: least squares on their support;
- `lasso-best`: of the two the one with the better R² on the test half (an oracle's choice: an upper bound).

AUC ranks all columns by |coefficient|, the planted ones are the positives. The R² is on the test half.
"""

import csv
import json
import os
import pathlib
import sys
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import lars_path
from sklearn.metrics import r2_score, roc_auc_score


def models(design, y, ks):
    """For each k its two coefficient vectors."""
    norms = np.linalg.norm(design, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, path = lars_path(np.asfortranarray(design / norms), y, method="lasso", max_iter=5000)
    path[np.abs(path) <= 1e-12 * np.abs(path).max(axis=0)] = 0  # a column that leaves does so up to rounding
    path /= norms[:, None]
    counts = (path != 0).sum(axis=0)
    for k in ks:
        shrunk = path[:, np.flatnonzero(counts == k)[0]]
        support = np.flatnonzero(shrunk)
        debiased = np.zeros(design.shape[1])
        debiased[support] = np.linalg.lstsq(design[:, support], y, rcond=None)[0]
        yield k, {"lasso": shrunk, "lasso-debiased": debiased}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: lasso_correlated.py FOLDER")
    root = pathlib.Path(sys.argv[1])
    folder = root / "correlated"
    manifest = json.loads((folder / "manifest.json").read_text())
    with open(root / "correlated_lasso.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seed", "k", "method", "auc", "r2"])
        for seed in range(manifest["seeds"]):
            names = ("signal", "train_design", "test_design", "train_target", "test_target")
            signal, *designs, y, test_y = (np.fromfile(folder / f"{name}_{seed}.f64", "<f8") for name in names)
            train, test = (design.reshape(manifest["columns"], manifest["rows"]).T for design in designs)
            planted = signal != 0
            for k, found in models(train, y, manifest["ks"]):
                scores = {
                    name: (roc_auc_score(planted, np.abs(beta)), r2_score(test_y, test @ beta))
                    for name, beta in found.items()
                }
                scores["lasso-best"] = max(scores.values(), key=lambda s: s[1])
                for name, (auc, r2) in scores.items():
                    writer.writerow([seed, k, name, f"{auc:.6f}", f"{r2:.6f}"])


if __name__ == "__main__":
    main()
