"""Genotypes as PLINK stores them: what the estimators take as X without making numbers of it first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from katoms import _katoms

#: The bytes of a .bed file before its genotypes, and the genotypes in a byte.
_HEADER, _IN_BYTE = 3, 4
#: The code of a missing genotype, and what the others stand for.
_MISSING, _COPIES = 1, np.array([2.0, 0.0, 1.0, 0.0])
#: Variants that are looked at together.
_TOGETHER = 1024


@dataclass(frozen=True, eq=False, repr=False)
class Genotypes:
    """Genotypes of individuals (rows) at variants (columns), 2 bits each; from :func:`read_plink`.

    The estimators take it as X. ``X[rows]`` are some individuals, ``X[:, columns]`` are the numbers of some variants, and
    ``np.asarray(X)`` is all of them.

    Attributes
    ----------
    shape : (int, int)
        Individuals and variants.
    names : ndarray of str
        The id of each variant, with the allele that is counted behind it: ``rs123_A``.
    individuals : list of (str, str)
        Family and name (FID, IID).
    phenotype : ndarray
        What the .fam file says of each individual: 1 for cases and 0 for controls, or a number; NaN where it is unknown.
    means : ndarray
        What a missing genotype counts as: the mean of its variant over all individuals of the file.
    codes : ndarray of uint8
        The packed genotypes; of a whole file it is mapped into memory, not read.
    """

    shape: tuple[int, int]
    names: np.ndarray
    individuals: list[tuple[str, str]]
    phenotype: np.ndarray
    means: np.ndarray
    codes: np.ndarray

    ndim = 2
    dtype = np.dtype(np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Genotypes of {self.shape[0]} individuals at {self.shape[1]} variants"

    def __getitem__(self, key: Any):
        if isinstance(key, tuple):
            rows, columns = key
            numbers = self._numbers(np.atleast_1d(np.arange(self.shape[1])[columns]))
            return numbers[rows]
        rows = np.atleast_1d(np.arange(self.shape[0])[key])
        blocks = [_packed(self._codes(first)[:, rows]) for first in range(0, self.shape[1], _TOGETHER)]
        individuals = [self.individuals[i] for i in rows]
        shape = (len(rows), self.shape[1])
        return Genotypes(shape, self.names, individuals, self.phenotype[rows], self.means, np.concatenate(blocks))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._numbers(np.arange(self.shape[1])).astype(dtype or np.float64, copy=False)

    def _codes(self, first: int) -> np.ndarray:
        """The codes of some variants from this one on, a row for each."""
        return _unpacked(self.codes.reshape(self.shape[1], -1)[first : first + _TOGETHER], self.shape[0])

    def _numbers(self, columns: np.ndarray) -> np.ndarray:
        numbers = np.empty((self.shape[0], len(columns)), order="F")
        packed = self.codes.reshape(self.shape[1], -1)
        for place, j in enumerate(columns):
            codes = _unpacked(packed[j : j + 1], self.shape[0])[0]
            numbers[:, place] = np.where(codes == _MISSING, self.means[j], _COPIES[codes])
        return numbers


def _unpacked(packed: np.ndarray, rows: int) -> np.ndarray:
    """A code for each individual, from bytes of four."""
    return (packed[:, :, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).reshape(len(packed), -1)[:, :rows]


def _packed(codes: np.ndarray) -> np.ndarray:
    """The bytes of codes, variant after variant."""
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % _IN_BYTE))).reshape(len(codes), -1, _IN_BYTE)
    return np.bitwise_or.reduce(codes << np.arange(0, 8, 2, dtype=np.uint8), axis=2).ravel()


def read_plink(path: str | os.PathLike[str]) -> Genotypes:
    """Genotypes from the files of PLINK: .bed, .bim and .fam.

    Each is how often an individual has allele 1 of the .bim file. A missing genotype counts as the mean of its variant.

    Parameters
    ----------
    path : str or path-like
        The .bed file, or what the names of the three files begin with.

    Returns
    -------
    Genotypes
        What the estimators take as X.

    Examples
    --------
    >>> import katoms
    >>> X = katoms.read_plink("cohort.bed")  # doctest: +SKIP
    >>> known = ~np.isnan(X.phenotype)  # doctest: +SKIP
    >>> model = katoms.SparseRegressor(support_size=10).fit(X[known], X.phenotype[known])  # doctest: +SKIP
    """
    result = _katoms.read_plink(os.fspath(path))
    codes = np.memmap(result["bed"], np.uint8, "r", offset=_HEADER)
    names = np.array(result["names"], dtype=object)
    return Genotypes(tuple(result["shape"]), names, result["individuals"], result["phenotype"], result["means"], codes)
