"""Default fits of two classes: passes, seconds, and the loss and the seconds of abess on the same arrays.

A loss is that of the best model on the columns that were selected, over that of the best constant. abess has its default
settings and an intercept; without it these figures are left out.
"""

import importlib.util

import numpy as np
import scipy.sparse

from beside.quality import Figure, designs, models

TITLE = "Default fits of two classes"
COMPARED = ["loss", "passes"]
COLUMNS = ["case", "passes", "reads", "seconds", "time over abess's", "loss", "loss of abess", "status"]
#: The median of the passes, and the largest ratio of times.
PASSES, RATIO = 25, 5
SIMULATED = {
    "300 × 2,000, k = 5, draw 0": (lambda: designs.two_classes(300, 2000, 5, 0), 5),
    "300 × 2,000, k = 10, draw 0": (lambda: designs.two_classes(300, 2000, 10, 0), 10),
    "300 × 2,000, k = 10, draw 1": (lambda: designs.two_classes(300, 2000, 10, 1), 10),
    "300 × 2,000, k = 10, draw 2": (lambda: designs.two_classes(300, 2000, 10, 2), 10),
    "300 × 2,000, k = 10, weak, draw 0": (lambda: designs.two_classes(300, 2000, 10, 0, strength=1.5), 10),
    "300 × 2,000, k = 10, weak, draw 1": (lambda: designs.two_classes(300, 2000, 10, 1, strength=1.5), 10),
    "200 × 400, k = 20": (lambda: designs.two_classes(200, 400, 20, 0), 20),
    "2,600 × 500, noise, k = 15": (lambda: noise(2600, 500), 15),
    "800 × 88,000, counts, k = 20": (lambda: designs.counts(800, 88_000, 20, 0), 20),
}


def noise(m, n):
    """Classes that no column has to do with."""
    X = designs.gaussian(m, n, 1, 1, 0)[0]
    return X, designs.drawn_classes(np.zeros(m), 0), []


def cases():
    if designs.there():
        for name in designs.CLASSES:
            for k in (5, 10):
                yield f"{name}, k = {k}", lambda name=name, k=k: one(*designs.table(name), k)
    for name, (draw, k) in SIMULATED.items():
        yield name, lambda draw=draw, k=k: one(*draw()[:2], k)


def one(X, y, k):
    model, first = models.fitted("logistic", X, y, k)
    told = {
        "passes": int(model.n_passes_),
        "reads": float(model.n_reads_),
        "seconds": first,
        "loss": models.judged("logistic", X, y, model.support_),
        "status": model.status_,
    }
    if first < 5:
        told["seconds"] = min(first, *models.timed(lambda: models.fitted("logistic", X, y, k), repeats=2))
    if importlib.util.find_spec("abess"):
        told.update(beside_abess(X, y, k))
        told["ratio"] = told["seconds"] / told["abess_seconds"]
    return told


def beside_abess(X, y, k):
    """abess reads rows, is faster with a dense design in all of these cases, and does not take constant columns."""
    from abess import LogisticRegression

    varies = np.flatnonzero(spread_of(X) > 0)
    design = X[:, varies]
    design = np.ascontiguousarray(design.toarray() if scipy.sparse.issparse(design) else design)
    found = []

    def fit():
        found[:] = [LogisticRegression(support_size=k, fit_intercept=True).fit(design, y)]

    (seconds,) = models.timed(fit, repeats=2, patience=10.0)
    support = varies[np.flatnonzero(np.ravel(found[0].coef_))]
    return {"abess_seconds": seconds, "abess_loss": models.judged("logistic", X, y, support)}


def spread_of(X):
    """The difference of the largest and the least value of each column."""
    if scipy.sparse.issparse(X):
        return (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    return X.max(axis=0) - X.min(axis=0)


def figures(cases):
    ratios = [case["ratio"] for case in cases.values() if "ratio" in case]
    losses = [models.excess(case["loss"], case["abess_loss"]) for case in cases.values() if "ratio" in case]
    passes = [case["passes"] for case in cases.values()]
    return [
        Figure("passes, median", float(np.median(passes)), PASSES),
        Figure("passes, most", max(passes)),
        Figure("seconds over abess's, largest", max(ratios, default=None), RATIO),
        Figure("seconds over abess's, median", float(np.median(ratios)) if ratios else None),
        Figure("losses above abess's by more than 1e-6", sum(value > models.SAME for value in losses) if ratios else None),
        Figure("losses below abess's", sum(value < -models.SAME for value in losses) if ratios else None),
        Figure("seconds, slowest", max(case["seconds"] for case in cases.values())),
        Figure("seconds in all", sum(case["seconds"] for case in cases.values())),
    ]


def rows(cases):
    for name, case in cases.items():
        ratio = f"{case['ratio']:.2g}" if "ratio" in case else ""
        other = f"{case['abess_loss']:.6g}" if "ratio" in case else ""
        cost = [case["passes"], f"{case['reads']:.3g}", f"{case['seconds']:.3g}", ratio]
        yield [name, *cost, f"{case['loss']:.6g}", other, case["status"]]
