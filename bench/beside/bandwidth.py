"""How fast this machine reads an array of a given size: the physical limit of a pass.

    python -m beside.bandwidth THREADS BYTES...

It prints a JSON object from bytes to bytes a second. The fastest of three plain reads counts: eight streams a thread
(compiled by Numba), a matrix-vector product of BLAS, and sums of NumPy in threads. Small arrays stay in the cache, as
they do between the passes of a fit: so each size has its own figure.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Rows of the array that is read by columns.
ROWS = 2048


def seconds(read, least):
    """The least time of a read, over at least this many of them and at least a fifth of a second."""
    best, spent, count = np.inf, 0.0, 0
    while count < least or spent < 0.2:
        start = time.perf_counter()
        read()
        taken = time.perf_counter() - start
        best, spent, count = min(best, taken), spent + taken, count + 1
    return best


def numba_read(X):
    """Sums of eight columns at a time in each thread, or None where Numba is not there."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(parallel=True, fastmath=True)
    def read(columns, out):
        for block in numba.prange(columns.shape[0] // 8):
            a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            at = 8 * block
            for i in range(columns.shape[1]):
                a += columns[at, i]
                b += columns[at + 1, i]
                c += columns[at + 2, i]
                d += columns[at + 3, i]
                e += columns[at + 4, i]
                f += columns[at + 5, i]
                g += columns[at + 6, i]
                h += columns[at + 7, i]
            out[block] = a + b + c + d + e + f + g + h

    out = np.zeros(X.shape[0] // 8)
    read(X, out)
    return lambda: read(X, out)


def ceiling(size, threads):
    """Bytes a second, reading an array of this many bytes."""
    X = np.ones((max(8 * threads, size // (8 * ROWS)), ROWS))
    r = np.ones(ROWS)
    out = np.empty(X.shape[0])
    parts = np.array_split(X, threads)
    with ThreadPoolExecutor(threads) as pool:
        reads = [
            numba_read(X),
            lambda: np.dot(X, r, out=out),
            lambda: list(pool.map(np.add.reduce, [part.ravel() for part in parts])),
        ]
        return X.nbytes / min(seconds(read, 3) for read in reads if read is not None)


def main():
    threads = int(sys.argv[1])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    print(json.dumps({size: ceiling(int(size), threads) for size in sys.argv[2:]}))


if __name__ == "__main__":
    main()
