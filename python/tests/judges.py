"""How good a choice of columns is, whoever made it: the least loss that it allows, with an intercept."""

import numpy as np

#: A loss of this share of that of the best constant is none: the classes can be told apart without error.
SEPARATED = 1e-6


def sum_of_squares(X, y, support):
    """The residual sum of squares of an exact fit."""
    A = np.column_stack([X[:, support], np.ones(len(y))])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return residual @ residual


def log_loss(X, y, support):
    """The negative log-likelihood of y in {0, 1} at its minimum, by Newton's method; 0 where classes are separated."""
    A = np.column_stack([X[:, support], np.ones(len(y))])
    beta = np.zeros(A.shape[1])
    share = y.mean()
    null = -len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    loss = _negative_log_likelihood(A, y, beta)
    for _ in range(200):
        if loss <= SEPARATED * null:
            return 0.0
        chance = 1 / (1 + np.exp(-np.clip(A @ beta, -700, 700)))
        gradient = A.T @ (chance - y)
        curvature = (A.T * (chance * (1 - chance))) @ A
        curvature[np.diag_indices_from(curvature)] += 1e-13 * np.trace(curvature)
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step <= 1e-13 * loss:
            return loss
        length = 1.0
        while (tried := _negative_log_likelihood(A, y, beta - length * step)) > loss and length > 1e-10:
            length /= 2
        if tried >= loss:
            return loss
        beta, loss = beta - length * step, tried
    return loss


def _negative_log_likelihood(A, y, beta):
    eta = A @ beta
    return np.sum(np.logaddexp(0, eta) - y * eta)
