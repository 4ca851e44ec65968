"""softImpute of R in NumPy and SciPy: alternating least squares (Hastie, Mazumder, Lee and Zadeh 2015), type "als".

scikit-learn has no completion of matrices with holes, and fancyimpute is dense; so this stands for the peer. The matrix
is kept as a sparse residual and a low-rank part and never made whole. With a strength of 0 it is hardImpute by ALS.
"""

import numpy as np
import scipy.sparse


def soft_impute_als(entries, shape, rank, strengths, iterations=100, tolerance=1e-5):
    """U, d, V with values ≈ (U d Vᵀ) at the places, and how many iterations it took.

    It minimises ½‖values − UdVᵀ‖² + strength·Σd for one strength after the other, each from the answer before, as R's
    documentation recommends. A strength ends where ‖UdVᵀ‖² moves by less than the tolerance (R's default), relatively.
    """
    rows, columns, values = entries
    residual = scipy.sparse.csr_matrix((values, (rows, columns)), shape=shape)
    by_row, by_column = np.repeat(np.arange(shape[0]), np.diff(residual.indptr)), residual.indices
    seen, total = residual.data.copy(), 0
    start = np.random.default_rng(0).standard_normal((shape[0], rank))
    U, d, V = np.linalg.qr(start)[0], np.ones(rank), np.zeros((shape[1], rank))

    def half(left, right, residual):
        """The factors of one side given those of the other, from the filled matrix residual + left·d·rightᵀ."""
        filled = ((residual @ right) + (left * d)) * (d / (d + strength))
        left, singular, turn = np.linalg.svd(filled, full_matrices=False)
        return left, singular, right @ turn.T

    for strength in strengths:
        for _ in range(iterations):
            before, total = (U, d, V), total + 1
            residual.data = seen - places(U * d, V, by_row, by_column)
            V, d, U = half(V, U, residual.T)
            residual.data = seen - places(U * d, V, by_row, by_column)
            U, d, V = half(U, V, residual)
            if moved(before, (U, d, V)) < tolerance:
                break
    # The last step of R: shrink the singular values of the filled matrix once.
    residual.data = seen - places(U * d, V, by_row, by_column)
    U, d, turn = np.linalg.svd((residual @ V) + (U * d), full_matrices=False)
    return U, np.maximum(d - strength, 0.0), V @ turn.T, total


def moved(before, now):
    """‖after − before‖² over ‖before‖², from the factors."""
    (U0, d0, V0), (U1, d1, V1) = before, now
    old = float(np.sum(d0**2)) if V0.any() else 0.0
    cross = float(np.sum((d0[:, None] * (V0.T @ V1) * d1) * (U0.T @ U1)))
    return (old + float(np.sum(d1**2)) - 2 * cross) / max(old, 1e-9)


def places(left, right, rows, columns, chunk=1_000_000):
    """The entries of left·rightᵀ at some places."""
    out = np.empty(len(rows))
    for at in range(0, len(rows), chunk):
        part = slice(at, at + chunk)
        np.einsum("ij,ij->i", left[rows[part]], right[columns[part]], out=out[part])
    return out
