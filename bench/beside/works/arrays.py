"""Arrays on the disk: drawn once by the parent, read whole by every contestant."""

import pathlib

import numpy as np

#: Columns that are drawn at once, so that a large design never needs twice its memory.
CHUNK = 2000


def gaussian_design(folder, m, n, kinds, seed):
    """Write a Gaussian m × n design by columns, as X_f64.npy, X_f32.npy or both, rounded from the same draw."""
    files = {
        kind: np.lib.format.open_memmap(
            pathlib.Path(folder) / f"X_{kind}.npy", "w+", {"f64": "f8", "f32": "f4"}[kind], (m, n), fortran_order=True
        )
        for kind in kinds
    }
    rng = np.random.default_rng(seed)
    only_f32 = list(kinds) == ["f32"]
    for first in range(0, n, CHUNK):
        columns = rng.standard_normal((min(CHUNK, n - first), m), dtype=np.float32 if only_f32 else np.float64)
        for file in files.values():
            file[:, first : first + CHUNK] = columns.T
    for file in files.values():
        file.flush()


def design(folder, kind, order):
    """A design in memory, in the order that its reader likes best."""
    return np.require(np.load(pathlib.Path(folder) / f"X_{kind}.npy"), requirements=order)


def columns_of(folder, chosen):
    """Some columns of a design in f64, from the most precise file."""
    for kind in ("f64", "f32"):
        file = pathlib.Path(folder) / f"X_{kind}.npy"
        if file.exists():
            return np.asarray(np.load(file, mmap_mode="r")[:, chosen], dtype=np.float64)
    raise FileNotFoundError(f"no design in {folder}")


def planted(folder, m, n, k, ratios, kinds=("f64", "f32")):
    """A Gaussian design, k coefficients of ±1 (truth.npy), and a target for each ratio of variances (y_RATIO.npy)."""
    folder = pathlib.Path(folder)
    gaussian_design(folder, m, n, kinds, seed=m)
    rng = np.random.default_rng([n, k])
    truth = np.zeros(n)
    support = np.sort(rng.choice(n, k, replace=False))
    truth[support] = rng.choice([-1.0, 1.0], k)
    np.save(folder / "truth.npy", truth)
    clean = columns_of(folder, support) @ truth[support]
    noise = rng.standard_normal(m)
    for ratio in ratios:
        np.save(folder / f"y_{ratio}.npy", clean + (noise * np.sqrt(k / ratio) if ratio else 0.0))
