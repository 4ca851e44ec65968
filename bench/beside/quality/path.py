"""Rows of a path beside single fits of the same size.

All public sets with least squares, those of two classes with logistic regression as well, and simulated designs; k from
1 to 10. Models are judged by the best coefficients on the columns that they select. A row is above where its objective is
larger than that of the single fit by more than 1e-6 of it.
"""

from beside.quality import Figure, designs, models

TITLE = "Paths beside single fits"
COMPARED = ["above", "below"]
COLUMNS = ["case", "sizes with the path above the fit", "the farthest", "sizes with the path below"]
COLUMNS += ["the fits, seconds", "the path, seconds"]
LARGEST = 10
SIMULATED = {
    "60 × 300, correlated, squares": lambda: ("squares", *designs.correlated(60, 300, 8, 0)[:2]),
    "200 × 1,000, SNR 1, squares": lambda: ("squares", *designs.gaussian(200, 1000, 20, 1, 0)[:2]),
    "200 × 500, logistic": lambda: ("logistic", *designs.two_classes(200, 500, 8, 0)[:2]),
}


def cases():
    if designs.there():
        for name in designs.REGRESSION + designs.CLASSES:
            yield f"{name}, squares", lambda name=name: one("squares", *designs.table(name))
        for name in designs.CLASSES:
            yield f"{name}, logistic", lambda name=name: one("logistic", *designs.table(name))
    for name, draw in SIMULATED.items():
        yield name, lambda draw=draw: one(*draw())


def one(loss, X, y):
    import katoms

    sizes = range(1, min(LARGEST, X.shape[1]) + 1)
    fits = [models.fitted(loss, X, y, k) for k in sizes]
    path, seconds = models.once(lambda: katoms.path(X, y, sizes, loss={"squares": "squared_error"}.get(loss, loss)))
    single = [models.judged(loss, X, y, model.support_) for model, _ in fits]
    rows = [models.judged(loss, X, y, support) for support in path.supports]
    behind = [models.excess(row, fit) for row, fit in zip(rows, single)]
    return {
        "above": sum(value > models.SAME for value in behind),
        "worst": max(behind),
        "below": sum(value < -models.SAME for value in behind),
        "sizes": len(sizes),
        "missing": len(sizes) - len(rows),
        "seconds": sum(taken for _, taken in fits),
        "path_seconds": seconds,
    }


def figures(cases):
    total = {key: sum(case[key] for case in cases.values()) for key in ("above", "below", "sizes", "missing")}
    return [
        Figure("rows of paths above the fit of their size by more than 1e-6", total["above"], 0),
        Figure("the farthest, in %", 100 * max(0.0, max(case["worst"] for case in cases.values()))),
        Figure("rows of paths below the fit of their size", total["below"]),
        Figure("rows that a path has not", total["missing"]),
        Figure("rows in all", total["sizes"]),
        Figure("seconds of the fits", sum(case["seconds"] for case in cases.values())),
        Figure("seconds of the paths", sum(case["path_seconds"] for case in cases.values())),
    ]


def rows(cases):
    for name, case in cases.items():
        if case["above"] or case["below"]:
            far = f"{100 * case['worst']:.3g} %" if case["above"] else ""
            seconds = [f"{case['seconds']:.3g}", f"{case['path_seconds']:.3g}"]
            yield [name, f"{case['above']} of {case['sizes']}", far, case["below"], *seconds]
