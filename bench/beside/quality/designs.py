"""The public data sets where they are there, and simulated designs."""

import functools

import numpy as np
import scipy.sparse

from beside import real_data
from beside.quality import Unavailable

#: A number is predicted.
REGRESSION = ["prostate", "diabetes", "bodyfat", "bardet_bspline", "trim32", "communities", "riboflavin"]
REGRESSION += ["wheat:0", "wheat:1", "wheat:2", "wheat:3", "abess_gamma", "mendeliht"]
#: One of two classes is predicted; all but the last are stored as dense tables.
CLASSES = ["alon", "golub72", "p53_pathways", "veer78_jacob", "nki295_4919", "arcene", "BASEHOCK"]
GENES = ["alon", "golub72", "p53_pathways", "veer78_jacob", "nki295_4919"]


def file(name):
    """A file of the folder of public data."""
    if reason := real_data.missing(name):
        raise Unavailable(reason)
    return real_data.file(name)


def there():
    """Whether the folder of public data is there."""
    return real_data.missing("best_known.json") is None


@functools.lru_cache(maxsize=1)
def table(name):
    """X and y of a public set; ``wheat:2`` has the third trait as y. Columns with missing values are left out.

    A sparse design stays sparse. Classes are 0 and 1.
    """
    if name == "mendeliht":
        return genotypes()
    name, _, trait = name.partition(":")
    with np.load(file(f"{name}.npz"), allow_pickle=True) as archive:
        X = archive["X"] if "X" in archive else sparse_rows(archive)
        y = archive["Y"][:, int(trait or 0)] if "Y" in archive else archive["y"]
    values = np.unique(y)
    y = (y == values[1]).astype(float) if len(values) == 2 else y.astype(float)
    known = np.isfinite(y)
    if scipy.sparse.issparse(X):
        return X[np.flatnonzero(known)], y[known]
    X = np.asarray(X, float)[known]
    return np.asfortranarray(X[:, np.isfinite(X).all(axis=0)]), y[known]


def sparse_rows(archive):
    parts = archive["data"].astype(float), archive["indices"], archive["indptr"]
    return scipy.sparse.csr_matrix(parts, shape=tuple(archive["shape"])).tocsc()


def genotypes():
    """Alleles counted in a PLINK file, unknown ones as the mean of their column; and a trait."""
    y = np.loadtxt(file("mendeliht/phenotypes.txt"))
    packed = np.fromfile(file("mendeliht/normal.bed"), np.uint8)[3:].reshape(-1, -(-len(y) // 4))
    codes = (packed[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    counts = np.array([2.0, np.nan, 1.0, 0.0])[codes.reshape(len(packed), -1)[:, : len(y)].T]
    return np.asfortranarray(np.where(np.isnan(counts), np.nanmean(counts, axis=0), counts)), y


@functools.lru_cache(maxsize=1)
def centred(name):
    """A public set with centred columns of norm 1, constant ones as zeros, and a centred y."""
    X, y = table(name)
    return unit(X.toarray() if scipy.sparse.issparse(X) else X), y - y.mean()


def unit(X):
    """Centred columns of norm 1; a constant column becomes zero."""
    X = X - X.mean(axis=0)
    norms = np.sqrt((X**2).sum(axis=0))
    return np.asfortranarray(X / np.where(norms > 1e-12 * norms.max(), norms, np.inf))


def gaussian(m, n, k, ratio, seed):
    """A Gaussian design, k planted coefficients of ±1, and a target with this ratio of signal to noise (0: no noise)."""
    rng = np.random.default_rng([seed, m, n, k])
    X = np.asfortranarray(rng.standard_normal((m, n)))
    planted = np.sort(rng.choice(n, k, replace=False))
    y = X[:, planted] @ rng.choice([-1.0, 1.0], k)
    return X, y + (np.sqrt(k / ratio) * rng.standard_normal(m) if ratio else 0.0), planted


def two_classes(m, n, k, seed, strength=3.0):
    """A Gaussian design and classes 0 and 1 with log-odds of this standard deviation from k planted columns."""
    X, z, planted = gaussian(m, n, k, 0, seed)
    return X, drawn_classes(strength / np.sqrt(k) * z, seed), planted


def drawn_classes(z, seed):
    """Classes 0 and 1 with the log-odds z."""
    return (np.random.default_rng([seed, len(z)]).random(len(z)) < 1 / (1 + np.exp(-z))).astype(float)


def correlated(m, n, k, seed, rho=0.9):
    """Neighbouring columns with correlation rho, k planted coefficients of ±1, as much noise as signal."""
    rng = np.random.default_rng([seed, m, n])
    X = rng.standard_normal((m, n))
    for j in range(1, n):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    planted = np.sort(rng.choice(n, k, replace=False))
    signal = X[:, planted] @ rng.choice([-1.0, 1.0], k)
    return np.asfortranarray(X), signal + signal.std() * rng.standard_normal(m), planted


def counts(m, n, k, seed):
    """Counts of words as a sparse design: a few frequent words, many that occur once; classes from k of the frequent."""
    rng = np.random.default_rng([seed, m, n])
    shares = 1 / np.arange(2, n + 2)
    lengths = rng.integers(80, 320, m)
    words = np.concatenate([rng.choice(n, lengths.sum(), p=shares / shares.sum()), np.arange(n)])
    rows = np.concatenate([np.repeat(np.arange(m), lengths), rng.integers(0, m, n)])
    # Entries at the same place are added up.
    X = scipy.sparse.csc_matrix((np.ones(len(words)), (rows, words)), shape=(m, n))
    planted = np.sort(rng.choice(np.arange(20, 400), k, replace=False))
    z = np.asarray(X[:, planted] @ rng.choice([-1.5, 1.5], k)).ravel()
    return X, drawn_classes(z - np.median(z), seed), planted
