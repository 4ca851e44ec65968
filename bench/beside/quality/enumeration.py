"""The best pairs and triples of columns, by comparing all of them; and the best exchange of one column.

Columns are centred and of norm 1 (or zero), y is centred. Pairs whose columns are nearly parallel are compared
as well: the few that promise most are refitted.
"""

import itertools

import numpy as np

#: Columns whose product is closer to ±1 than this are left out of the formula, which divides by 1 − g².
PARALLEL = 1e-10
REFITTED = 50


def best(X, y, k):
    """The columns of the best model of one, two or three columns."""
    if k == 1:
        return [int(np.argmax(np.abs(X.T @ y)))]
    return list(best_pair(X, y)[0] if k == 2 else best_triple(X, y))


def best_pair(X, y, block=512):
    """The best pair, and by how much it lowers the sum of squares."""
    c = X.T @ y
    found = []
    for first in range(0, X.shape[1], block):
        gains = pair_gains(X[:, first : first + block].T @ X, c[first : first + block], c)
        largest = np.argpartition(-gains, min(REFITTED, gains.size - 1), axis=None)[:REFITTED]
        found += [(gains.flat[at], first + at // gains.shape[1], at % gains.shape[1]) for at in largest]
    candidates = [(i, j) for _, i, j in sorted(found, reverse=True)[:REFITTED] if i != j]
    return max(((pair, explained(X, y, pair)) for pair in candidates), key=lambda item: item[1])


def pair_gains(products, c_rows, c):
    """By how much each pair lowers the sum of squares."""
    rest = 1 - products**2
    gains = c_rows[:, None] ** 2 + c[None, :] ** 2 - 2 * c_rows[:, None] * c[None, :] * products
    return np.where(rest > PARALLEL, gains / np.maximum(rest, PARALLEL), 0.0)


def best_triple(X, y):
    """The best triple: for each first column, the best pair of the others with what it explains taken off."""
    gram, c = X.T @ X, X.T @ y
    candidates = []
    for first in range(X.shape[1] - 2):
        later = np.arange(first + 1, X.shape[1])
        along = gram[first, later]
        left = 1 - along**2
        scale = np.where(left > PARALLEL, 1 / np.sqrt(np.maximum(left, PARALLEL)), 0.0)
        products = (gram[np.ix_(later, later)] - np.outer(along, along)) * np.outer(scale, scale)
        gains = pair_gains(products, *[(c[later] - along * c[first]) * scale] * 2)
        at = np.argpartition(-gains, 3, axis=None)[:3]
        candidates += [(c[first] ** 2 + gains.flat[i], first, later[i // len(later)], later[i % len(later)]) for i in at]
    triples = [triple for _, *triple in sorted(candidates, reverse=True)[:REFITTED] if len(set(triple)) == 3]
    return max(triples, key=lambda triple: explained(X, y, triple))


def explained(X, y, columns):
    """The part of the sum of squares of y that least squares on these columns explains."""
    A = X[:, list(columns)]
    predicted = A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return float(predicted @ predicted)


def best_exchange(X, y, support):
    """The support after the best exchange of one of its columns for any other, by least squares."""
    found = []
    for rest in without(support, 1):
        left, target = beyond(X, y, rest)
        gains = (left.T @ target) ** 2
        gains[list(support)] = 0.0
        found += [(explained(X, y, [*rest, j]), [*rest, int(j)]) for j in np.argsort(-gains)[:3]]
    return max(found)[1]


def best_double_exchange(X, y, support):
    """The support after the best exchange of two of its columns for any others; these may be the ones that left."""
    found = []
    for rest in without(support, 2):
        pair = best_pair(*beyond(X, y, rest))[0]
        found.append((explained(X, y, [*rest, *pair]), [*rest, *map(int, pair)]))
    return max(found)[1]


def without(support, size):
    """The support without each of its parts of this size."""
    for part in itertools.combinations([int(j) for j in support], size):
        yield [int(j) for j in support if j not in part]


def beyond(X, y, columns):
    """What these columns do not explain of the others, scaled to norm 1, and of y."""
    basis = np.linalg.qr(X[:, columns])[0]
    left = X - basis @ (basis.T @ X)
    norms = np.sqrt((left**2).sum(axis=0))
    return left * np.where(norms > 1e-5, 1 / np.maximum(norms, 1e-5), 0.0), y - basis @ (basis.T @ y)
