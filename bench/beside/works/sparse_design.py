"""A design that is mostly zeros: words in messages of two newsgroups (logistic, k = 20), and a large random one.

The large one has ten entries in a column; 100 coefficients of ±1 are planted at SNR 5, and squares are minimised. The
words are scaled to a variance of 1 and not centred. All packages get the matrix as CSC and may not make it dense.
"""

import pathlib

import numpy as np
import scipy.sparse

from beside import penalised, real_data, walk
from beside.contest import Contestant, Row
from beside.ours import told_by
from beside.problem import Problem

TITLE = "Sparse design"
SHORT = "sparse design,"
REFERENCES = ["katoms, f64"]
TOLERANCE = 1e-6
METRICS = [
    ("features", lambda score: str(score["size"])),
    ("found", lambda score: f"{score['hits']}/{score['of']}" if score["hits"] is not None else ""),
    ("objective, refitted", lambda score: f"{score['objective']:.7g}"),
]
M, N, DENSITY, PLANTED, RATIO = 100_000, 200_000, 1e-4, 100, 5

ROWS = [
    Row(
        "sparse-basehock",
        "BASEHOCK, 1,993 × 4,862, k = 20, logistic",
        {"kind": "words", "k": 20, "data": "words"},
        quick=True,
    ),
    Row(
        "sparse-100000x200000",
        f"{M:,} × {N:,} at a density of {DENSITY:g}, k = {PLANTED}, SNR {RATIO}",
        {"kind": "random", "k": PLANTED, "data": "sparse"},
        memory=2.0,
    ),
]


def missing(shape):
    return real_data.missing("BASEHOCK.npz") if shape["kind"] == "words" else None


def draw(folder, shape):
    folder = pathlib.Path(folder)
    if shape["kind"] == "words":
        with np.load(real_data.file("BASEHOCK.npz")) as archive:
            parts = archive["data"].astype(float), archive["indices"], archive["indptr"]
            X = scipy.sparse.csr_matrix(parts, shape=tuple(archive["shape"])).tocsc()
            y = archive["y"].astype(float)
        spread = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel() - np.asarray(X.mean(axis=0)).ravel() ** 2)
        X = (X @ scipy.sparse.diags_array(1 / np.maximum(spread, 1e-12))).tocsc()
    else:
        rng = np.random.default_rng(N)
        X = scipy.sparse.random(M, N, DENSITY, format="csc", random_state=rng, data_rvs=rng.standard_normal)
        truth = np.zeros(N)
        truth[rng.choice(N, PLANTED, replace=False)] = rng.choice([-1.0, 1.0], PLANTED)
        clean = X @ truth
        y = clean + np.sqrt(clean.var() / RATIO) * rng.standard_normal(M)
        np.save(folder / "truth.npy", truth)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.sort_indices()
    scipy.sparse.save_npz(folder / "X.npz", scipy.sparse.csc_matrix(X), compressed=False)
    np.save(folder / "y.npy", y)


def load(folder, shape, contestant):
    folder = pathlib.Path(folder)
    return {"X": scipy.sparse.load_npz(folder / "X.npz"), "y": np.load(folder / "y.npy")}


def bytes_of(folder, shape):
    X = scipy.sparse.load_npz(pathlib.Path(folder) / "X.npz")
    return {"f64": X.data.nbytes + X.indices.nbytes}


def score(folder, shape, data, answer):
    support = np.flatnonzero(np.asarray(answer["coef"]).ravel())
    truth = pathlib.Path(folder) / "truth.npy"
    hits = int(np.count_nonzero(np.load(truth)[support])) if truth.exists() else None
    objective = _problem(data, shape).refitted(support)[2]
    return {"size": len(support), "hits": hits, "of": shape["k"], "objective": objective}


def _problem(data, shape):
    return Problem(data["X"], data["y"], shape["k"], "classes" if shape["kind"] == "words" else "squares")


def _largest(data, shape):
    return walk.largest_strength(data["X"], data["y"] - 0.5 if shape["kind"] == "words" else data["y"])


def _katoms(**options):
    def setup(data, shape, hints):
        import katoms

        kind = katoms.SparseClassifier if shape["kind"] == "words" else katoms.SparseRegressor

        def fit():
            model = kind(support_size=shape["k"], **options).fit(data["X"], data["y"])
            return {"coef": model.coef_, "told": told_by(model)}

        return fit

    return setup


def _abess(data, shape, hints):
    import abess

    words = shape["kind"] == "words"
    kind = abess.LogisticRegression if words else abess.LinearRegression
    y = data["y"] if words else data["y"] / data["y"].std()

    def fit():
        return {"coef": kind(support_size=shape["k"]).fit(data["X"], y).coef_}

    return fit


def _celer(data, shape, hints):
    words = shape["kind"] == "words"
    y = 2 * data["y"] - 1 if words else data["y"]
    solve = penalised.celer_solve(data["X"], y, "logreg" if words else "lasso")
    return lambda: walk.down(_problem(data, shape), _largest(data, shape), solve)


def _skglm(data, shape, hints):
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton

    how = {"tol": penalised.TOLERANCE, "fit_intercept": False, "warm_start": True}
    if shape["kind"] == "words":
        solve = penalised.skglm_solve(data["X"], 2 * data["y"] - 1, Logistic(), L1(1.0), ProxNewton(**how))
    else:
        solve = penalised.skglm_solve(data["X"], data["y"], Quadratic(), L1(1.0), AndersonCD(**how))
    return lambda: walk.down(_problem(data, shape), _largest(data, shape), solve)


def _sklearn_given(data, shape, hints):
    from sklearn.linear_model import Lasso, LogisticRegression

    strength = hints["celer L1, path"]["strength"]

    def solve(strength, before):
        if shape["kind"] == "words":
            C = 1 / (strength * len(data["y"]))
            return LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear").fit(data["X"], data["y"]).coef_.ravel()
        return Lasso(strength, fit_intercept=False).fit(data["X"], data["y"]).coef_

    return lambda: walk.at(_problem(data, shape), strength, solve)


def _adelie(data, shape, hints):
    import adelie

    def fit():
        loss = adelie.glm.binomial(data["y"]) if shape["kind"] == "words" else adelie.glm.gaussian(data["y"])
        return penalised.adelie_down(_problem(data, shape), loss, shape["threads"], _largest(data, shape))

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms()),
    Contestant("katoms, single run, f64", "katoms", _katoms(method="accelerated-iht")),
    Contestant("katoms, plain columns, f64", "katoms", _katoms(standardize=False, fit_intercept=False)),
    Contestant("abess", "abess", _abess),
    Contestant("celer L1, path", "celer", _celer),
    Contestant("skglm L1, path", "skglm", _skglm),
    Contestant("scikit-learn L1, λ given", "sklearn", _sklearn_given, oracle=True),
    Contestant("adelie, path", "adelie", _adelie),
]
