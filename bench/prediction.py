"""How well the cross-validated estimators predict rows that they have not seen, beside abess and the Lasso.

    python bench/prediction.py [NAME ...]

Data sets are NumPy archives, ``NAME.npz``, in the folder that ``KATOMS_DATA`` names, or in ``../shared/data`` beside the
project; those that are not there are left out with a message. A target of two values is a question of classes, any other
one of numbers.

Rows are held out five times, a fifth of them each time, the classes in equal shares. On the others, everyone chooses by
a cross-validation of its own, with the defaults of its library: katoms' ``SparseRegressorCV()`` and
``SparseClassifierCV()`` (and once more with ``rule="1se"``), abess's ``LinearRegression(cv=5)`` and ``LogisticRegression(cv=5)``, scikit-learn's
``LassoCV``, and its ``LogisticRegressionCV`` with an l1 penalty. The Lasso gets columns of variance 1, as the others
have them, and abess a target of variance 1: it stops too early otherwise.

The table has the share of rows in the wrong class (less is better) or R² (more is better), mean ± standard error over
the five; the median number of features; and the seconds of all five fits. The last column is the goal: an error within
one standard error of the best of the others, with at most a third of the features of the Lasso. Where the Lasso takes
fewer than three features, there is no such third, and the error alone counts.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse
from beside import real_data
from beside.quality import designs
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from katoms import SparseClassifierCV, SparseRegressorCV

try:
    import abess
except ImportError:
    abess = None

CLASSES = ("golub72", "alon", "veer78_jacob", "nki295_4919", "p53_pathways", "arcene", "BASEHOCK")
NUMBERS = ("riboflavin", "trim32", "wheat")
FOLDS = 5


def varying(X):
    """The columns that are not constant."""
    if scipy.sparse.issparse(X):
        return np.flatnonzero((X.max(axis=0) != X.min(axis=0)).toarray().ravel())
    return np.flatnonzero(X.max(axis=0) != X.min(axis=0))


def methods(classes, sparse):
    """Who is compared: a name, and a function that makes an estimator."""

    def katoms(rule="min"):
        return SparseClassifierCV(rule=rule) if classes else SparseRegressorCV(rule=rule)

    def best_subset():
        if classes:
            return abess.LogisticRegression(cv=FOLDS)
        return TransformedTargetRegressor(abess.LinearRegression(cv=FOLDS), transformer=StandardScaler())

    def lasso():
        if classes:
            chosen = LogisticRegressionCV(penalty="l1", solver="liblinear", cv=FOLDS, random_state=0)
        else:
            chosen = LassoCV(cv=FOLDS)
        return make_pipeline(StandardScaler(with_mean=not sparse), chosen)

    return {"katoms": katoms, "katoms 1se": lambda: katoms("1se"), **({"abess": best_subset} if abess else {}), "Lasso": lasso}


def features(model):
    """The number of features of a fitted model."""
    last = model[-1] if hasattr(model, "steps") else getattr(model, "regressor_", model)
    return int(np.count_nonzero(last.coef_))


def compare(X, y):
    """For each method: score, number of features and seconds, fold by fold."""
    classes = len(np.unique(y)) == 2
    splitter = StratifiedKFold if classes else KFold
    told = {}
    for train, test in splitter(FOLDS, shuffle=True, random_state=0).split(X, y):
        # abess refuses columns that are constant.
        vary = varying(X[train])
        for name, make in methods(classes, scipy.sparse.issparse(X)).items():
            clock = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(X[train][:, vary], y[train])
            seconds = time.perf_counter() - clock
            predicted = np.asarray(model.predict(X[test][:, vary])).ravel()
            if classes:
                score = np.mean(predicted != y[test])
            else:
                score = 1 - np.sum((y[test] - predicted) ** 2) / np.sum((y[test] - y[test].mean()) ** 2)
            told.setdefault(name, []).append((score, features(model), seconds))
    return classes, {name: np.array(rows) for name, rows in told.items()}


def reached(classes, told):
    """Whether katoms is within one standard error of the best of the others, with a third of the Lasso's features."""
    sign = 1 if classes else -1
    mean = {name: sign * rows[:, 0].mean() for name, rows in told.items()}
    best = min((name for name in told if not name.startswith("katoms")), key=mean.get)
    error = told[best][:, 0].std(ddof=1) / np.sqrt(FOLDS)
    good = mean["katoms"] <= mean[best] + error + 1e-12
    size = {name: np.median(rows[:, 1]) for name, rows in told.items()}
    few = size["Lasso"] < 3 or 3 * size["katoms"] <= size["Lasso"]
    return {(True, True): "yes", (True, False): "too many", (False, True): "too far", (False, False): "no"}[good, few]


def main():
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[], metavar="name")
    asked = parser.parse_args()
    if abess is None:
        print("abess is not installed: it is left out\n")
    names = ["katoms", "katoms 1se", "abess", "Lasso"] if abess else ["katoms", "katoms 1se", "Lasso"]
    print("| data | rows × columns | metric | " + " | ".join(names), end=" | ")
    print(" | ".join(f"features {name}" for name in names), end=" | ")
    print(" | ".join(f"s {name}" for name in names), end=" | goal |\n")
    print("|---" * (4 + 3 * len(names)) + "|", flush=True)
    for name in asked.names or CLASSES + NUMBERS:
        if reason := real_data.missing(f"{name}.npz"):
            print(f"{name} is left out: {reason}", flush=True)
            continue
        X, y = designs.table(name)
        classes, told = compare(X, y)
        cells = [name, f"{X.shape[0]} × {X.shape[1]}", "error" if classes else "R²"]
        columns = [told[who].T for who in names]
        cells += [f"{score.mean():.3f} ± {score.std(ddof=1) / np.sqrt(FOLDS):.3f}" for score, _, _ in columns]
        cells += [f"{np.median(sizes):.0f}" for _, sizes, _ in columns]
        cells += [f"{seconds.sum():.1f}" for _, _, seconds in columns]
        print("| " + " | ".join([*cells, reached(classes, told)]) + " |", flush=True)


if __name__ == "__main__":
    main()
