"""k of 1 to 50 by cross-validation over the same five folds; a penalty's strength for those that penalise.

The objective is the risk of the final model on new rows, which is known here: the variance of the noise and the squared
distance of the coefficients from the planted ones. Two risks within 1 % are the same.
"""

import pathlib

import numpy as np

from beside import penalised, walk
from beside.contest import Contestant, Row
from beside.works import path

TITLE = "Five-fold cross-validation over k = 1 to 50"
SHORT = "CV,"
REFERENCES = ["katoms, f64", "katoms, f32"]
TOLERANCE = 0.01
METRICS = [
    ("features", lambda score: str(score["size"])),
    ("found", lambda score: f"{score['hits']}/{score['of']}"),
    ("risk", lambda score: f"{score['objective']:.5g}"),
    ("error", lambda score: f"{score['error']:.2g}"),
]
FOLDS = 5
SIZES = range(1, path.LARGEST + 1)
#: The last strength of a penalty, as a share of the largest: beyond it the models of this data only get worse.
REACH = 0.05


def _row(m, n):
    shape = {"m": m, "n": n, "k": path.PLANTED, "data": f"planted-{m}x{n}"}
    return Row(f"cv-{m}x{n}", f"{m:,} × {n:,}", shape, memory=0.5 + 8 * 8 * m * n / 1e9, quick=n == 8000)


ROWS = [_row(*size) for size in path.SIZES]
draw, bytes_of = path.draw, path.bytes_of


def load(folder, shape, contestant):
    return {**path.load(folder, shape, contestant), "fold": np.arange(shape["m"]) % FOLDS}


def score(folder, shape, data, answer):
    coef, truth = np.asarray(answer["coef"], float), np.load(pathlib.Path(folder) / "truth.npy")
    distance = float(np.sum((coef - truth) ** 2))
    return {
        "size": int(np.count_nonzero(coef)),
        "hits": int(np.count_nonzero(truth[coef != 0])),
        "of": shape["k"],
        "objective": shape["k"] / path.RATIO + distance + float(answer.get("intercept", 0.0)) ** 2,
        "error": float(np.sqrt(distance) / np.linalg.norm(truth)),
    }


def _splits(data):
    return [(np.flatnonzero(data["fold"] != f), np.flatnonzero(data["fold"] == f)) for f in range(FOLDS)]


def _katoms(data, shape, hints):
    from katoms import SparseRegressorCV

    def fit():
        model = SparseRegressorCV(SIZES, l2=0, cv=data["fold"]).fit(data["X"], data["y"])
        return {"coef": model.coef_, "intercept": model.intercept_}

    return fit


def _abess(data, shape, hints):
    from abess import LinearRegression

    scale = data["y"].std()

    def fit():
        model = LinearRegression(support_size=SIZES, cv=FOLDS, thread=shape["threads"], fit_intercept=False)
        model.fit(data["X"], data["y"] / scale, is_normal=False, cv_fold_id=data["fold"])
        return {"coef": model.coef_ * scale}

    return fit


def _sklearn(estimator, **options):
    def setup(data, shape, hints):
        import sklearn.linear_model

        def fit():
            kind = getattr(sklearn.linear_model, estimator)
            model = kind(cv=_splits(data), n_jobs=shape["threads"], fit_intercept=False, **options)
            return {"coef": model.fit(data["X"], data["y"]).coef_}

        return fit

    return setup


def _celer(data, shape, hints):
    """celer's path in each fold, as its LassoCV does; that class does not go with scikit-learn 1.9."""
    from celer import celer_path
    from joblib import Parallel, delayed

    X, y = data["X"], data["y"]

    def held_out(train, test, alphas):
        part = np.asfortranarray(X[train])
        coefs = celer_path(part, y[train], "lasso", alphas=alphas, tol=penalised.TOLERANCE)[1]
        return np.mean((y[test, None] - X[test] @ coefs) ** 2, axis=0)

    def fit():
        alphas = walk.largest_strength(X, y) * np.logspace(0, np.log10(REACH), 100)
        losses = Parallel(shape["threads"])(delayed(held_out)(*split, alphas) for split in _splits(data))
        best = int(np.argmin(np.mean(losses, axis=0)))
        path = celer_path(X, y, "lasso", alphas=alphas[: best + 1], tol=penalised.TOLERANCE)[1]
        return {"coef": path[:, -1]}

    return fit


def _adelie(data, shape, hints):
    import adelie

    def fit():
        X, loss = data["X"], adelie.glm.gaussian(data["y"], dtype=data["X"].dtype.type)
        how = {"min_ratio": REACH, "intercept": False, "progress_bar": False, "screen_rule": "strong"}
        found = adelie.cv_grpnet(X, loss, n_threads=shape["threads"], n_folds=FOLDS, seed=0, **how)
        state = found.fit(X, loss, n_threads=shape["threads"], **how)
        return {"coef": state.betas[-1].toarray().ravel()}

    return fit


def _skscope(data, shape, hints):
    import jax.numpy as jnp
    import skscope

    def loss(coef, data):
        residual = data[1] - data[0] @ coef
        return jnp.sum(residual * residual)

    def part(data, rows):
        return data[0][rows, :], data[1][rows]

    def fit():
        pair = jnp.asarray(data["X"]), jnp.asarray(data["y"])
        how = {"sample_size": shape["m"], "cv": FOLDS, "split_method": part, "cv_fold_id": data["fold"]}
        solver = skscope.ScopeSolver(shape["n"], np.array(SIZES), **how)
        return {"coef": solver.solve(loss, data=pair, jit=True)}

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms),
    Contestant("katoms, f32", "katoms", _katoms, data="f32"),
    Contestant("abess", "abess", _abess, order="C"),
    Contestant("scikit-learn OMP", "sklearn", _sklearn("OrthogonalMatchingPursuitCV", max_iter=path.LARGEST)),
    Contestant("scikit-learn Lasso", "sklearn", _sklearn("LassoCV", eps=REACH)),
    Contestant("celer Lasso", "celer", _celer),
    Contestant("adelie", "adelie", _adelie),
    Contestant("adelie, f32", "adelie", _adelie, data="f32"),
    Contestant("skscope Scope", "skscope", _skscope),
]
