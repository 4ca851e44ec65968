"""Real data, where they are there: a folder in ``KATOMS_DATA``, or ``shared/data`` beside the checkout."""

import functools
import os
import pathlib

import numpy as np
import pytest
import scipy.sparse

BESIDE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDER = pathlib.Path(os.environ.get("KATOMS_DATA", BESIDE))

#: A number is predicted.
REGRESSION = [
    "prostate",
    "diabetes",
    "bodyfat",
    "bardet_bspline",
    "trim32",
    "communities",
    "riboflavin",
    "wheat:0",
    "wheat:1",
    "wheat:2",
    "wheat:3",
    "abess_gamma",
    "mendeliht",
]

#: One of two classes is predicted.
CLASSES = ["alon", "golub72", "p53_pathways", "veer78_jacob", "nki295_4919", "arcene", "BASEHOCK"]


def file(name):
    """A file of the folder; the test is skipped where there is none."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"no real data: there is no {name} in the folder that KATOMS_DATA names, nor in ../shared/data")
    return path


@functools.lru_cache(maxsize=2)
def standardised(name):
    """X with columns of mean 0 and variance 1, constant ones left out, and y. So all may choose at equal scale."""
    X, y = genotypes() if name == "mendeliht" else table(name)
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    varies = spread > 1e-9 * np.abs(X).max(axis=0, initial=0.0)
    return np.asfortranarray(X[:, varies] / spread[varies]), y


def table(name):
    """The design and the target of an archive; ``wheat:2`` is its third target."""
    name, _, target = name.partition(":")
    with np.load(file(f"{name}.npz")) as archive:
        X = archive["X"] if "X" in archive else rows_of(archive).toarray()
        y = archive["Y"][:, int(target)] if target else archive["y"]
    return X.astype(float), y.astype(float)


def sparse_table(name):
    """A design that is stored without its zeros, and the target."""
    with np.load(file(f"{name}.npz")) as archive:
        return rows_of(archive).astype(float), archive["y"].astype(float)


def rows_of(archive):
    parts = archive["data"], archive["indices"], archive["indptr"]
    return scipy.sparse.csr_array(parts, shape=tuple(archive["shape"]))


def genotypes():
    """Alleles counted in a PLINK file, unknown ones as the mean of their column; and a trait."""
    y = np.loadtxt(file("mendeliht/phenotypes.txt"))
    packed = np.fromfile(file("mendeliht/normal.bed"), np.uint8)[3:].reshape(-1, -(-len(y) // 4))
    codes = (packed[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    counts = np.array([2.0, np.nan, 1.0, 0.0])[codes.reshape(len(packed), -1)[:, : len(y)].T]
    return np.where(np.isnan(counts), np.nanmean(counts, axis=0), counts), y
