"""What an option costs: the time with it over the time without.

A ridge for classes, four ridges in a cross-validation, groups of one column each, and a column of two words in a table that
the program reads. A time is the best of some fits; the program's is that of its fit, without reading the file. Where
classes are separated without a ridge, the fit without it may end early.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from beside.quality import Figure, designs, models

TITLE = "What options cost"
COLUMNS = ["case", "with, seconds", "without, seconds", "ratio"]
RIDGES = [0.0, 0.1, 1.0, 10.0]
#: The largest ratio of each kind.
LIMITS = {"ridge": 3, "ridges": 2}
KINDS = {
    "ridge": "classes with l2 = 1 over without, largest ratio",
    "ridges": "cross-validation over four ridges over one, largest ratio",
    "groups": "groups of one column, and a column of two words, over plain columns, largest ratio",
}


def cases():
    yield "102 × 12,600, l2 = 1, k = 5", lambda: ridge(*designs.two_classes(102, 12_600, 5, 0)[:2], 5)
    if designs.there():
        for name in designs.GENES:
            yield f"{name}, l2 = 1, k = 5", lambda name=name: ridge(*designs.table(name), 5)
    for one in (0.0, 1.0):
        yield f"1,800 × 10,000, four ridges over {one:g}, squares", lambda one=one: ridges("squares", *numbers(), one)
        yield f"300 × 2,000, four ridges over {one:g}, logistic", lambda one=one: ridges("logistic", *classes(), one)
    for loss in ("squares", "logistic"):
        yield f"295 × 4,919, groups of one, {loss}, k = 5", lambda loss=loss: groups(loss, *small(), 5)
        yield f"295 × 4,919, a column of two words, {loss}, k = 5", lambda loss=loss: words(loss, *small(), 5)


def numbers():
    return designs.gaussian(1800, 10_000, 10, 5, 0)[:2]


def classes():
    return designs.two_classes(300, 2000, 5, 0)[:2]


def small():
    """The cohort of 295 patients where it is there, else a simulated one of its size."""
    return designs.table("nki295_4919") if designs.there() else designs.two_classes(295, 4919, 5, 0)[:2]


def ridge(X, y, k):
    fits = [lambda: models.fitted("logistic", X, y, k, l2=1.0), lambda: models.fitted("logistic", X, y, k)]
    separated = models.fitted("logistic", X, y, k)[0].status_ == "separated"
    return told("ridge", *models.timed(*fits)) | {"separated": separated}


def ridges(loss, X, y, one):
    import katoms

    kind = {"squares": katoms.SparseRegressorCV, "logistic": katoms.SparseClassifierCV}[loss]

    def fit(l2):
        return kind(range(1, 11), l2=l2, cv=5, random_state=0).fit(X, y)

    return told("ridges", *models.timed(lambda: fit(RIDGES), lambda: fit(one), repeats=1))


def groups(loss, X, y, k):
    import katoms

    kind = {"squares": katoms.SparseRegressor, "logistic": katoms.SparseClassifier}[loss]
    alone = np.arange(X.shape[1])
    return told("groups", *models.timed(lambda: kind(k, groups=alone).fit(X, y), lambda: models.fitted(loss, X, y, k)))


def words(loss, X, y, k):
    """The program on two tables: one has a column more, of two words that have nothing to do with y."""
    word = np.where(np.random.default_rng(0).random(len(y)) < 0.5, "left", "right")
    with tempfile.TemporaryDirectory() as folder:
        plain, with_words = os.path.join(folder, "plain.csv"), os.path.join(folder, "words.csv")
        names = [f"x{j}" for j in range(X.shape[1])]
        with open(plain, "w") as one, open(with_words, "w") as two:
            one.write(",".join(["y", *names]) + "\n")
            two.write(",".join(["y", "side", *names]) + "\n")
            for target, side, row in zip(y, word, X):
                numbers = ",".join(map(repr, row.tolist()))
                one.write(f"{target},{numbers}\n")
                two.write(f"{target},{side},{numbers}\n")
        return told("groups", program(with_words, loss, k), program(plain, loss, k))


def program(file, loss, k, repeats=3):
    """The seconds of a fit of the program as it tells them, the best of some."""
    command = [sys.executable, "-m", "katoms", "fit", file, "--target", "y", "-k", str(k), "--loss", loss]
    command += ["--json", "--quiet"]
    runs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(repeats)]
    return min(run["run"]["seconds"] for run in runs)


def told(kind, with_it, without):
    return {"kind": kind, "with": with_it, "without": without, "ratio": with_it / without}


def figures(cases):
    for kind, name in KINDS.items():
        ratios = [case["ratio"] for case in cases.values() if case["kind"] == kind]
        yield Figure(name, max(ratios, default=None), LIMITS.get(kind))
    overlapping = [case["ratio"] for case in cases.values() if not case.get("separated", True)]
    yield Figure("classes with l2 = 1 over without, where they overlap: largest ratio", max(overlapping, default=None), 3)


def rows(cases):
    for name, case in cases.items():
        yield [name, f"{case['with']:.3g}", f"{case['without']:.3g}", f"{case['ratio']:.2g}"]
