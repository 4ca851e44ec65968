"""Gaussian designs in files, and targets with planted columns."""

import os
import pathlib
import shutil
import sys
from typing import NamedTuple

import numpy as np

#: Values that are drawn and written together: 32 MB.
TOGETHER = 8_000_000


class Problem(NamedTuple):
    """A design: its blocks, and the same in one file where it was asked for."""

    rows: int
    columns: int
    axis: str
    paths: list
    whole: pathlib.Path | None

    @property
    def bytes(self):
        """Of the design."""
        return 4 * self.rows * self.columns

    def target(self, k, snr, seed=1):
        """The planted columns, and their sum with signs and noise; `snr` 0 is no noise."""
        rng = np.random.default_rng(seed)
        planted = np.sort(rng.choice(self.columns, k, replace=False))
        signs = rng.choice([-1.0, 1.0], k)
        if self.axis == "rows":
            parts = (np.load(path, mmap_mode="r") for path in self.paths)
            y = np.concatenate([part[:, planted].astype(float) @ signs for part in parts])
        else:
            y, first = np.zeros(self.rows), 0
            for path in self.paths:
                part = np.load(path, mmap_mode="r")
                own = (planted >= first) & (planted < first + part.shape[1])
                for j, sign in zip(planted[own] - first, signs[own]):
                    y += sign * part[:, j]
                first += part.shape[1]
        if snr > 0:
            y += np.sqrt(k / snr) * rng.standard_normal(self.rows)
        return planted, y


def problem(folder, rows, columns, blocks, axis="columns", whole=False):
    """The design in this folder, written there by pieces unless it is."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{rows}x{columns}-{axis}"
    edges = np.linspace(0, columns if axis == "columns" else rows, blocks + 1).astype(int)
    paths = [folder / f"{stem}-{block:03}-of-{blocks:03}.npy" for block in range(blocks)]
    together = folder / f"{stem}.npy" if whole else None
    missing = [path for path in paths if not path.exists()]
    needed = 4 * rows * columns * (len(missing) / blocks + (whole and not together.exists()))
    if needed > 0.9 * shutil.disk_usage(folder).free:
        sys.exit(f"{folder} has no room for {needed / 1e9:.0f} GB; name another with --folder")
    for block, path in enumerate(paths):
        if not path.exists():
            length = int(edges[block + 1] - edges[block])
            shape = (rows, length) if axis == "columns" else (length, columns)
            _write(path, shape, axis, np.random.default_rng([7, block]))
            print(f"\rwritten {block + 1} of {blocks} files", end="", file=sys.stderr)
    if missing:
        print(file=sys.stderr)
    if whole and not together.exists():
        _join(together, paths, (rows, columns), axis)
    return Problem(rows, columns, axis, [str(path) for path in paths], together)


def _header(file, shape, axis):
    header = {"descr": "<f4", "fortran_order": axis == "columns", "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _write(path, shape, axis, rng):
    """Lines of the file are columns, or rows."""
    lines, length = shape[::-1] if axis == "columns" else shape
    partial = path.with_suffix(".partial")
    with open(partial, "wb") as file:
        _header(file, shape, axis)
        step = max(1, TOGETHER // length)
        for first in range(0, lines, step):
            rng.standard_normal((min(step, lines - first), length), dtype=np.float32).tofile(file)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


def _join(whole, paths, shape, axis):
    partial = whole.with_suffix(".partial")
    with open(partial, "wb") as file:
        _header(file, shape, axis)
        for path in paths:
            with open(path, "rb") as part:
                np.lib.format.read_magic(part)
                np.lib.format.read_array_header_1_0(part)
                shutil.copyfileobj(part, file, 1 << 24)
    partial.rename(whole)
