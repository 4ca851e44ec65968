"""Designs that are made to be hard: differences of nearly equal columns, few rows and many columns, twins of every column.

Each fit is held against the planted model, and against the best exchange of one of its columns, or two, for any others, which
is found by trying all. *Above* is by which share the objective is larger than that other one's.
"""

import numpy as np

from beside.quality import Figure, designs, enumeration, models, truth

TITLE = "Designs made to be hard"
COMPARED = ["objective", "reads"]
COLUMNS = ["case", "above the planted model", "above the best exchange", "of two columns", "reads", "seconds", "status"]
DRAWS = 5
WIDE = [(12, 500, 4), (16, 500, 5), (20, 500, 6), (12, 2000, 4), (16, 2000, 5), (20, 2000, 6)]
#: The share of a column that is its own, where it is nearly equal to its neighbour; and the distance of twins.
OWN, DISTANCE = 0.05, 1e-6


def cases():
    for draw in range(DRAWS):
        yield f"120 × 200, differences, 12 planted, draw {draw}", lambda draw=draw: squares(*differences(draw), 12)
    for m, n, k in WIDE:
        for draw in range(2):
            case = m, n, draw
            yield f"{m} × {n:,}, k = {k}, draw {draw}", lambda case=case, k=k: squares(*truth.noise(*case), None, k)
    for draw in range(DRAWS):
        yield f"200 × 120, twins, two classes, k = 6, draw {draw}", lambda draw=draw: twins(draw)


def differences(seed, m=120, n=200, pairs=6):
    """Pairs of nearly equal columns. The target is made of the differences of some pairs, which no single column shows."""
    rng = np.random.default_rng([seed, m, n])
    base = rng.standard_normal((m, n // 2))
    own = rng.standard_normal((m, n // 2))
    X = np.empty((m, n))
    X[:, ::2], X[:, 1::2] = base, base + OWN * own
    chosen = np.sort(rng.choice(n // 2, pairs, replace=False))
    y = own[:, chosen] @ rng.choice([-1.0, 1.0], pairs) + 0.3 * rng.standard_normal(m)
    return designs.unit(X), y - y.mean(), np.sort(np.concatenate([2 * chosen, 2 * chosen + 1]))


def squares(X, y, planted, k):
    model, seconds = models.fitted("squares", X, y, k)
    value = models.residual(X, y, model.support_)
    others = {"exchange": enumeration.best_exchange(X, y, model.support_)}
    others["double"] = enumeration.best_double_exchange(X, y, model.support_)
    if planted is not None:
        others["planted"] = planted
    return told(model, seconds, value, {name: models.residual(X, y, other) for name, other in others.items()})


def twins(seed, m=200, n=60, k=6):
    """Every column has a twin at a distance of 1e-6 of its norm; the classes come from k of the columns."""
    X, z, planted = designs.gaussian(m, n, k, 0, seed)
    y = designs.drawn_classes(1.2 * z, seed)
    X = np.hstack([X, X + DISTANCE * np.random.default_rng([seed, n]).standard_normal((m, n))])
    model, seconds = models.fitted("logistic", X, y, k)
    support = [int(j) for j in model.support_]
    value = models.judged("logistic", X, y, support)
    others = [j for j in range(2 * n) if j not in support]
    exchanges = [support[:i] + support[i + 1 :] + [j] for i in range(len(support)) for j in others]
    exchanged = min(models.judged("logistic", X, y, exchange) for exchange in exchanges)
    return told(model, seconds, value, {"exchange": exchanged, "planted": models.judged("logistic", X, y, planted)})


def told(model, seconds, value, others):
    return {
        **{f"above_{name}": models.excess(value, other) for name, other in others.items()},
        "objective": value,
        "reads": float(model.n_reads_),
        "seconds": seconds,
        "status": model.status_,
    }


def figures(cases):
    for key, name in {
        "above_planted": "fits above the planted model",
        "above_exchange": "fits that the exchange of one column improves",
        "above_double": "fits that the exchange of two columns improves",
    }.items():
        above = [case[key] for case in cases.values() if key in case]
        yield Figure(f"{name}, of {len(above)}", sum(value > models.SAME for value in above))
        yield Figure(f"{name}: at most by, in %", 100 * max(0.0, *above))
    yield Figure("seconds of the fits", sum(case["seconds"] for case in cases.values()))


def rows(cases):
    for name, case in cases.items():
        above = [share(case.get(key)) for key in ("above_planted", "above_exchange", "above_double")]
        yield [name, *above, f"{case['reads']:.3g}", f"{case['seconds']:.3g}", case["status"]]


def share(value):
    if value is None:
        return ""
    return f"{100 * value:+.3g} %" if abs(value) > models.SAME else "same"
