"""Single fits as k grows: a larger model can always do what a smaller one does, so its objective must not be higher.

The objective of k rises where it is above that of k − 1 by more than 1e-6 of it. Models are judged by the best
coefficients on the columns that they select.
"""

from beside.quality import Figure, designs, models

TITLE = "Single fits as k grows"
COMPARED = ["rises"]
COLUMNS = ["case", "sizes", "rises at k =", "the largest rise"]
PUBLIC = ["bardet_bspline", "trim32", "riboflavin", "wheat:0", "communities", "alon", "golub72"]
LARGEST = 25
SIMULATED = {
    "100 × 300, noise, squares": lambda: ("squares", *designs.gaussian(100, 300, 1, 0.01, 0)[:2], 40),
    "60 × 300, correlated, squares": lambda: ("squares", *designs.correlated(60, 300, 8, 0)[:2], 30),
    "16 × 1,000, noise, squares": lambda: ("squares", *designs.gaussian(16, 1000, 1, 0.01, 0)[:2], 10),
    "300 × 300, weak, logistic": lambda: ("logistic", *designs.two_classes(300, 300, 10, 0, strength=1.5)[:2], 15),
}


def cases():
    if designs.there():
        for name in PUBLIC:
            yield f"{name}, squares", lambda name=name: one("squares", *designs.table(name), LARGEST)
    for name, draw in SIMULATED.items():
        yield name, lambda draw=draw: one(*draw())


def one(loss, X, y, largest):
    values = [models.judged(loss, X, y, models.fitted(loss, X, y, k)[0].support_) for k in range(1, largest + 1)]
    rises = {k + 2: models.excess(now, before) for k, (before, now) in enumerate(zip(values, values[1:]))}
    return {
        "sizes": largest,
        "rises": [k for k, rise in rises.items() if rise > models.SAME],
        "worst": max(0.0, *rises.values()),
        "objectives": values,
    }


def figures(cases):
    return [
        Figure("sizes at which the objective rises", sum(len(case["rises"]) for case in cases.values())),
        Figure("the largest rise, in %", 100 * max(case["worst"] for case in cases.values())),
        Figure("sizes in all", sum(case["sizes"] for case in cases.values())),
    ]


def rows(cases):
    for name, case in cases.items():
        if case["rises"]:
            yield [name, case["sizes"], ", ".join(map(str, case["rises"])), f"{100 * case['worst']:.3g} %"]
