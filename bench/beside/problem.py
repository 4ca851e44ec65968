"""A problem of k atoms as the bench sees it: which atoms coefficients choose, and the best model on them.

The same refit judges every answer and ends every walk along a penalty, so that shrinkage is not punished.
"""

import numpy as np
import scipy.sparse

#: An objective of this share of that of the empty model is zero up to rounding.
EXACT = 1e-12


class Problem:
    """k features, or k groups of them where ``groups`` lists their indices; squares, or classes 0 and 1.

    ``ridge`` adds ½·ridge·‖b‖². Least squares has no intercept, classes have one. ``back`` says which column of X an
    index of the coefficients stands for, where columns were repeated.
    """

    def __init__(self, X, y, k, loss="squares", groups=None, ridge=0.0, back=None):
        self.X, self.y, self.k, self.loss, self.groups, self.ridge = X, np.asarray(y, float), k, loss, groups, ridge
        self.back = back

    def norms(self, coef):
        """The size of each atom."""
        if self.groups is None:
            return np.abs(coef)
        return np.array([np.linalg.norm(coef[group]) for group in self.groups])

    def atoms(self, coef):
        """The k largest atoms that are not zero, in order of their numbers."""
        norms = self.norms(coef)
        largest = np.argpartition(-norms, min(self.k, len(norms)) - 1)[: self.k]
        return np.sort(largest[norms[largest] > 0])

    def columns(self, atoms):
        """The columns of X that these atoms hold."""
        if self.groups is None:
            return atoms
        members = np.concatenate([self.groups[atom] for atom in atoms]) if len(atoms) else np.empty(0, int)
        return np.unique(members if self.back is None else self.back[members])

    def refitted(self, columns):
        """The best model on these columns: values, intercept, objective."""
        part = self.X[:, columns]
        if self.loss == "squares":
            if scipy.sparse.issparse(part):
                return sparse_squares(part, self.y)
            return squares(np.asarray(part, float), self.y)
        return classes(np.asarray(part.toarray() if scipy.sparse.issparse(part) else part, float), self.y, self.ridge)

    def null(self):
        """The objective of the empty model."""
        return self.refitted(np.empty(0, int))[2]


def squares(part, y):
    """Least squares, and half its squared residual."""
    values = np.linalg.lstsq(part, y, rcond=None)[0] if part.shape[1] else np.empty(0)
    residual = y - part @ values
    return values, 0.0, float(residual @ residual) / 2


def sparse_squares(part, y):
    """The same by the normal equations: a sparse design has few entries in a column and is never made dense."""
    gram = (part.T @ part).toarray()
    values = np.linalg.lstsq(gram, part.T @ y, rcond=None)[0] if part.shape[1] else np.empty(0)
    residual = y - part @ values
    return values, 0.0, float(residual @ residual) / 2


def classes(part, y, ridge=0.0):
    """Logistic regression by Newton's method with an intercept, and its negative log-likelihood with the ridge.

    Where the classes can be told apart there is no best model; the steps end at a likelihood of 1 up to rounding.
    """
    if ridge > 0 and part.shape[1] > part.shape[0]:
        # The best values lie in the span of the rows: as many unknowns as rows are enough.
        basis, short = np.linalg.qr(part.T)
        values, intercept, objective = classes(short.T, y, ridge)
        return basis @ values, intercept, objective
    wide = np.column_stack([part, np.ones(len(y))])
    pull = np.full(wide.shape[1], ridge)
    pull[-1] = 0.0
    beta = np.zeros(wide.shape[1])

    def value(beta):
        z = wide @ beta
        return float(np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * pull @ beta**2)

    objective = value(beta)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(wide @ beta, -35, 35)))
        gradient = wide.T @ (p - y) + pull * beta
        curvature = wide.T @ (wide * (p * (1 - p))[:, None]) + np.diag(pull + 1e-10)
        step, length = np.linalg.solve(curvature, gradient), 1.0
        while value(beta - length * step) > objective and length > 1e-6:
            length /= 2
        beta = beta - length * step
        now = value(beta)
        if objective - now <= 1e-12 * max(1.0, abs(now)):
            break
        objective = now
    return beta[:-1], float(beta[-1]), value(beta)
