"""MatrixCompletion as an imputer of ordinary tables, beside what scikit-learn has.

    python bench/imputation.py [--seeds 5] [TABLE ...]

Cells of whole tables are hidden at random and filled. An error is the root of the mean squared error over what was
hidden, in standard deviations of the columns, the mean over seeds. ``wine``, ``breast_cancer``, ``diabetes``, ``iris``
and ``digits`` are scikit-learn's; the others are made up: units and distributions of a census (``housing``), columns
that are skewed (``skewed``), of 0 and 1 (``binary``), nearly the same or constant (``duplicates``), few rows (``few``),
many columns (``wide``), and noise in all or half of the columns (``noise``, ``half_noise``), where nothing is better
than the mean.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.preprocessing import StandardScaler

from katoms import MatrixCompletion

SHARES = (0.1, 0.2, 0.4)
#: IterativeImputer fits a regression on all columns for each column: of 500 columns that takes a quarter of an hour.
MOST_COLUMNS = 100


def tables():
    """Tables without holes, by name."""
    rng = np.random.default_rng(7)

    def factors(rows, columns, rank, noise):
        return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns)) + noise * rng.normal(size=(rows, columns))

    real = {name: getattr(datasets, f"load_{name}")().data for name in ("wine", "breast_cancer", "diabetes", "iris")}
    real["digits"] = datasets.load_digits().data[:600]
    repeated = factors(200, 10, 4, 0.5)
    return {
        **real,
        "housing": _housing(rng, 1500),
        "skewed": np.exp(0.8 * factors(400, 12, 3, 0.3) / np.sqrt(3)) * 10.0 ** rng.integers(-2, 4, 12),
        "binary": (factors(300, 15, 2, 0.5) > rng.normal(size=15)).astype(float),
        "duplicates": np.c_[repeated, repeated[:, :3] + 0.01 * rng.normal(size=(200, 3)), np.full(200, 7.0)],
        "few": factors(30, 8, 2, 0.5) * 10.0 ** np.arange(8),
        "wide": factors(60, 500, 5, 1.0),
        "half_noise": np.c_[factors(250, 6, 2, 0.3), rng.normal(size=(250, 6))],
        "noise": rng.normal(size=(200, 10)),
    }


def _housing(rng, rows):
    income, latitude = np.exp(0.5 * rng.normal(size=rows) + 1), rng.choice([34, 38], rows) + rng.normal(size=rows)
    rooms = 5 + 0.8 * np.log(income) + 0.8 * rng.normal(size=rows)
    columns = [
        income,
        rng.uniform(1, 52, rows),
        rooms,
        1 + 0.05 * rooms + 0.05 * rng.normal(size=rows),
        np.exp(7 + 0.7 * rng.normal(size=rows)),
        np.exp(1 + 0.2 * rng.normal(size=rows)),
        latitude,
        -119 - 0.9 * (latitude - 36) + 0.6 * rng.normal(size=rows),
    ]
    return np.stack(columns, axis=1)


def hidden(X, share, seed):
    """The table with holes, and where they are; every column keeps two values."""
    holes = np.random.default_rng(1000 + seed).random(X.shape) < share
    for column in holes.T:
        if (~column).sum() < 2:
            column[:2] = False
    return np.where(holes, np.nan, X), holes


def scaled(imputer):
    """The imputer between StandardScaler and the way back."""

    def fill(X):
        scaler = StandardScaler().fit(X)
        return scaler.inverse_transform(imputer().fit_transform(scaler.transform(X)))

    return fill


def iterative():
    return IterativeImputer(random_state=0)


METHODS = {
    "mean": lambda X: SimpleImputer().fit_transform(X),
    "KNN": lambda X: KNNImputer().fit_transform(X),
    "KNN, scaled": scaled(KNNImputer),
    "iterative": lambda X: iterative().fit_transform(X),
    "iterative, scaled": scaled(iterative),
    "katoms": lambda X: MatrixCompletion().fit_transform(X),
}


def error(X, holes, filled):
    spread = X.std(axis=0)
    return float(np.sqrt(np.mean((((filled - X) / np.where(spread > 0, spread, 1.0))[holes]) ** 2)))


def main():
    known = tables()
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("tables", nargs="*", choices=[*known, []], default=list(known))
    asked = arguments.parse_args()
    warnings.filterwarnings("ignore")  # iterations of IterativeImputer that have not converged
    print(f"{'table':15}{'hidden':>8}" + "".join(f"{name:>19}" for name in METHODS) + f"{'katoms / iterative':>20}")
    for name in asked.tables:
        X = known[name]
        for share in SHARES:
            errors, seconds = {method: [] for method in METHODS}, {}
            for seed in range(asked.seeds):
                holed, holes = hidden(X, share, seed)
                for method, fill in METHODS.items():
                    if "iterative" in method and X.shape[1] > MOST_COLUMNS:
                        errors[method].append(np.nan)
                        continue
                    start = time.perf_counter()
                    errors[method].append(error(X, holes, fill(holed)))
                    seconds[method] = seconds.get(method, 0.0) + (time.perf_counter() - start) / asked.seeds
            means = {method: float(np.mean(values)) for method, values in errors.items()}
            cells = "".join(f"{f'{means[method]:.3f} ({seconds.get(method, 0):.1f} s)':>19}" for method in METHODS)
            ratio = means["katoms"] / min(means["iterative"], means["iterative, scaled"])
            print(f"{name:15}{share:8.0%}{cells}{ratio:20.3f}", flush=True)


if __name__ == "__main__":
    main()
