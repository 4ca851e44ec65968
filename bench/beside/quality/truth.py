"""Models that are known to be the best, since all of their size were compared: are they found, and said to be proven?

best_subset_truth.json has the best subsets of every size of three small sets. Pairs and triples of public sets and of
random designs with few rows and many columns are compared here. A model is found where its residual sum of squares is
that of the best one up to 1e-6.
"""

import json

import numpy as np

from beside.quality import Figure, designs, enumeration, models

TITLE = "Models that enumeration proves the best"
COMPARED = ["excess", "proven", "reads"]
COLUMNS = ["case", "above the best", "found", "proven", "reads"]
PAIRS = ["bardet_bspline", "trim32", "riboflavin", "wheat:0", "communities", "alon", "p53_pathways", "nki295_4919"]
PAIRS += ["golub72", "veer78_jacob"]
TRIPLES = ["bardet_bspline", "communities", "trim32"]
#: Rows and columns, and how many draws of each.
WIDE, DRAWS = [(12, 500), (12, 1000), (16, 500), (16, 1000), (20, 500), (20, 1000)], 3
WIDE_TRIPLES = [(12, 300), (16, 300), (20, 300)]


def cases():
    if designs.there():
        yield from of_the_file()
        for name in PAIRS:
            yield f"{name}, k = 2", lambda name=name: one(*designs.centred(name), 2)
        for name in TRIPLES:
            yield f"{name}, k = 3", lambda name=name: one(*designs.centred(name), 3)
    for m, n in WIDE:
        for draw in range(DRAWS):
            yield f"{m} × {n:,}, draw {draw}, k = 2", lambda m=m, n=n, draw=draw: one(*noise(m, n, draw), 2)
    for m, n in WIDE_TRIPLES:
        yield f"{m} × {n:,}, draw 0, k = 3", lambda m=m, n=n: one(*noise(m, n, 0), 3)


def of_the_file():
    for name, known in json.loads(designs.file("best_subset_truth.json").read_text()).items():
        for k, best in known["best"].items():
            case = name, int(k), best["support"]
            yield f"{name}, k = {k}", lambda case=case: beside(*designs.centred(case[0]), *case[1:])


def noise(m, n, seed):
    """Columns and a target that have nothing to do with each other."""
    rng = np.random.default_rng([seed, m, n])
    y = rng.standard_normal(m)
    return designs.unit(rng.standard_normal((m, n))), y - y.mean()


def one(X, y, k):
    return beside(X, y, k, enumeration.best(X, y, k))


def beside(X, y, k, best):
    model, seconds = models.fitted("squares", X, y, k)
    return {
        "excess": models.excess(models.residual(X, y, model.support_), models.residual(X, y, best)),
        "proven": models.proven(model),
        "reads": float(model.n_reads_),
        "seconds": seconds,
    }


def figures(cases):
    found = sum(case["excess"] <= models.SAME for case in cases.values())
    said = [case["proven"] for case in cases.values() if case["proven"] is not None]
    wrong = [case for case in cases.values() if case["proven"] and case["excess"] > models.SAME]
    return [
        Figure("best models that are found", found, len(cases), least=True),
        Figure("of", len(cases)),
        Figure("said to be proven", sum(said) if said else None),
        Figure("said to be proven and not the best", len(wrong) if said else None, 0),
        Figure("above the best, at most, in %", 100 * max(0.0, max(case["excess"] for case in cases.values()))),
        Figure("seconds of the fits", sum(case["seconds"] for case in cases.values())),
    ]


def rows(cases):
    """The cases that are not found, or not said to be proven where others are."""
    for name, case in cases.items():
        found = case["excess"] <= models.SAME
        if not found or case["proven"] is False:
            said = {None: "not told", True: "yes", False: "no"}[case["proven"]]
            share = "same" if found else f"{100 * case['excess']:.3g} %"
            yield [name, share, "yes" if found else "no", said, f"{case['reads']:.3g}"]
