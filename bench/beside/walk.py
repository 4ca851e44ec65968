"""How a user of a penalty gets to k atoms: down a geometric path of strengths until k are there.

Where at least k atoms are not zero, the best model on the k largest is compared with the one before. The walk ends at
the first strength where that does not improve, or where nothing is left to improve. So it ends at a model of k atoms
that is not shrunk. With a strength that is known, one fit and one refit are enough: what an oracle would do.
"""

import numpy as np

from beside.problem import EXACT

#: The factor from one strength to the next, and how far the walk goes at most.
RATIO = 0.8
STEPS = 60


def strengths(largest):
    return largest * RATIO ** np.arange(1, STEPS + 1)


def largest_strength(X, y, groups=None):
    """The least strength with b = 0: of ‖y − Xb‖²/2m + λ‖b‖₁, or of λ times the sum of norms of groups."""
    correlation = np.asarray(X.T @ y).ravel()
    if groups is None:
        return float(np.abs(correlation).max()) / len(y)
    return max(float(np.linalg.norm(correlation[group])) for group in groups) / len(y)


class Walk:
    """Judges the coefficients along a path, and says when to end it."""

    def __init__(self, problem):
        self.problem = problem
        self.exact = EXACT * problem.null()
        self.best, self.model, self.strength, self.fits = np.inf, None, None, 0

    def ends_at(self, coef, strength):
        self.fits += 1
        atoms = self.problem.atoms(coef)
        if len(atoms) < self.problem.k:
            return False
        columns = self.problem.columns(atoms)
        values, intercept, objective = self.problem.refitted(columns)
        if objective >= self.best * (1 - 1e-6):
            return True
        self.best, self.strength, self.model = objective, float(strength), (columns, values, intercept)
        return objective <= self.exact

    def answer(self):
        """The best model of the walk; the empty one where k atoms were never reached."""
        columns, values, intercept = self.model or (np.empty(0, int), np.empty(0), 0.0)
        coef = np.zeros(self.problem.X.shape[1])
        coef[columns] = values
        return {"coef": coef, "intercept": intercept, "told": {"strength": self.strength, "fits": self.fits}}


def down(problem, largest, solve):
    """Walk with ``solve(strength, coef before)``."""
    walk, coef = Walk(problem), None
    for strength in strengths(largest):
        coef = solve(strength, coef)
        if walk.ends_at(coef, strength):
            break
    return walk.answer()


def at(problem, strength, solve):
    """One fit at a known strength, and the best model on its k largest atoms."""
    walk = Walk(problem)
    walk.ends_at(solve(strength, None), strength)
    return walk.answer()
