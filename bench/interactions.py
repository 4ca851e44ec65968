"""Products of features that are never stored, beside abess on a table of all of them.

    python bench/interactions.py [--seeds 10]

Planted: 4 features and 2 products of two of them, one of whose factors does nothing by itself, and noise (signal-to-noise ratio
5). For each shape: in how many draws all terms of the model are the planted ones, the median time of a fit in milliseconds, and
the most memory that the process has taken. abess takes the features and all their products as columns, where these fit into
memory; it knows no heredity. It needs katoms, and abess for its column.
"""

import argparse
import resource
import statistics
import time

import numpy as np

ROWS = 300
SHAPES = [100, 200, 1000, 5000]
#: Columns up to which a table of all products is made.
STORED = 25_000


def planted(columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, columns))
    a, b, c, d = rng.choice(columns, 4, replace=False)
    z = X[:, a] - X[:, b] + X[:, c] + 1.5 * X[:, a] * X[:, b] - 1.5 * X[:, c] * X[:, d]
    y = z + rng.normal(size=ROWS) * np.sqrt(z.var() / 5)
    pairs = {tuple(sorted(pair)) for pair in ((a, b), (c, d))}
    return X, y, {a, b, c, d}, pairs


def by_katoms(X, y):
    import katoms

    model = katoms.SparseRegressor(6, interactions="strong").fit(X, y)
    return set(model.support_.tolist()), {tuple(sorted(pair)) for pair in model.interactions_.tolist()}


def by_abess(X, y):
    from abess import LinearRegression

    i, j = np.triu_indices(X.shape[1], 1)
    model = LinearRegression(support_size=6).fit(np.hstack([X, X[:, i] * X[:, j]]), y)
    found = np.flatnonzero(model.coef_)
    singles = set(found[found < X.shape[1]].tolist())
    products = found[found >= X.shape[1]] - X.shape[1]
    return singles, {(int(i[at]), int(j[at])) for at in products}


def measured(fit, columns, seeds):
    right, times = 0, []
    for seed in range(seeds):
        X, y, singles, pairs = planted(columns, seed)
        clock = time.perf_counter()
        found = fit(X, y)
        times.append(1e3 * (time.perf_counter() - clock))
        right += found == (singles, pairs)
    return f"{right} of {seeds}", f"{statistics.median(times):.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    print(f"{'features':>9} {'products':>11} {'katoms':>10} {'ms':>7} {'MB':>6} {'abess':>10} {'ms':>7}")
    for columns in SHAPES:
        products = columns * (columns - 1) // 2
        own = measured(by_katoms, columns, seeds)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        peer = ("–", "–")
        if columns + products <= STORED:
            try:
                peer = measured(by_abess, columns, min(seeds, 3))
            except ImportError:
                pass
        print(
            f"{columns:>9} {products:>11,} {own[0]:>10} {own[1]:>7} {memory:>6.0f} {peer[0]:>10} {peer[1]:>7}",
            flush=True,
        )


if __name__ == "__main__":
    main()
