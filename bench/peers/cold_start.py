"""Seconds from nothing to a first answer: a fresh process imports a package and fits 10 of 1000 columns, 500 rows.

    python3 -m venv .venv && .venv/bin/pip install . scikit-learn abess skscope
    .venv/bin/python bench/peers/cold_start.py [--runs N]

Packages that are not installed are left out. Every run is a process of its own, and packages take turns, so that a
busy moment of the machine meets them all. The clock starts in the process, before the first import: starting Python
itself is not counted. All draw the same problem with NumPy; the draw is not counted either, but the import of NumPy
is. The medians are printed, with the least and the largest; then where the time goes, part by part.
"""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys

TIMED = """
import time
marks = [time.perf_counter()]
import numpy as np
marks.append(time.perf_counter())
{imports}
marks.append(time.perf_counter())
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 1000))
columns = rng.choice(1000, size=10, replace=False)
y = X[:, columns] @ rng.choice([-2.0, 2.0], size=10) + 0.5 * rng.normal(size=500)
drawn = time.perf_counter()
{fit}
marks.append(time.perf_counter() - drawn + marks[-1])
assert set(support) == set(columns.tolist()), "the planted columns were not found"
print(*[b - a for a, b in zip(marks, marks[1:])])
"""

#: What is imported, and how the columns are found.
PACKAGES = {
    "katoms": (
        "from katoms import SparseRegressor",
        "support = SparseRegressor(support_size=10).fit(X, y).support_.tolist()",
    ),
    "sklearn": (
        "from sklearn.linear_model import OrthogonalMatchingPursuit",
        "support = np.flatnonzero(OrthogonalMatchingPursuit(n_nonzero_coefs=10).fit(X, y).coef_).tolist()",
    ),
    "abess": (
        "from abess import LinearRegression",
        "support = np.flatnonzero(LinearRegression(support_size=10).fit(X, y).coef_).tolist()",
    ),
    "skscope": (
        "import jax.numpy as jnp\nfrom skscope import ScopeSolver",
        "support = np.flatnonzero(ScopeSolver(1000, 10).solve(lambda b: jnp.sum((y - X @ b) ** 2))).tolist()",
    ),
}

PARTS = ["import numpy", "import the package", "first fit"]


def run(package):
    """The seconds of each part, in a fresh process."""
    imports, fit = PACKAGES[package]
    told = subprocess.run(
        [sys.executable, "-c", TIMED.format(imports=imports, fit=fit)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    return [float(seconds) for seconds in told.stdout.split()]


def spread(seconds):
    return f"{statistics.median(seconds):7.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})"


def main():
    parser = argparse.ArgumentParser(description="Import and first fit in a fresh process")
    parser.add_argument("--runs", type=int, default=11)
    asked = parser.parse_args()
    packages = [name for name in PACKAGES if importlib.util.find_spec(name)]
    for package in packages:
        run(package)  # files are read from the disk once before the clock counts
    taken = {package: [] for package in packages}
    for _ in range(asked.runs):
        for package in packages:
            taken[package].append(run(package))
    print(f"imports and a first fit of 500 x 1000, k = 10: median of {asked.runs} processes, least and largest")
    for package in packages:
        print(f"  {package:20}{spread([sum(parts) for parts in taken[package]])}")
    for package in packages:
        print(f"{package}, part by part")
        for part, seconds in zip(PARTS, zip(*taken[package])):
            print(f"  {part:20}{spread(seconds)}")


if __name__ == "__main__":
    main()
