"""k-sparse logistic regression: a Gaussian design, k planted coefficients of the same size, log-odds of deviation 3.

The objective is the negative log-likelihood of the best model on the features that were found.
"""

import pathlib

import numpy as np

from beside import penalised, walk
from beside.contest import Contestant, Row
from beside.ours import told_by
from beside.problem import Problem
from beside.works import arrays

TITLE = "k-sparse logistic regression"
SHORT = "logistic,"
REFERENCES = ["katoms, f64", "katoms, f32"]
TOLERANCE = 1e-6
METRICS = [
    ("found", lambda score: f"{score['hits']}/{score['of']}"),
    ("objective, refitted", lambda score: f"{score['objective']:.7g}"),
    ("as it is", lambda score: f"{score['raw_objective']:.7g}"),
    ("error", lambda score: f"{score['error']:.2g}"),
]
SIZES = [(2000, 5000, 20), (5000, 10000, 100)]
#: The standard deviation of the log-odds.
STRENGTH = 3.0


def _row(m, n, k):
    shape = {"m": m, "n": n, "k": k, "data": f"classes-{m}x{n}"}
    return Row(f"logistic-{m}x{n}", f"{m:,} × {n:,}, k = {k}", shape, 0.5 + 4 * 8 * m * n / 1e9, quick=n == 5000)


ROWS = [_row(*size) for size in SIZES]


def draw(folder, shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    arrays.planted(folder, m, n, k, [0])
    folder = pathlib.Path(folder)
    truth, z = np.load(folder / "truth.npy"), np.load(folder / "y_0.npy")
    scale = STRENGTH / np.sqrt(k)
    np.save(folder / "truth.npy", scale * truth)
    np.save(folder / "labels.npy", (np.random.default_rng(n).random(m) < 1 / (1 + np.exp(-scale * z))).astype(float))


def load(folder, shape, contestant):
    X = arrays.design(folder, contestant.data, contestant.order)
    return {"X": X, "y": np.load(pathlib.Path(folder) / "labels.npy").astype(X.dtype)}


def bytes_of(folder, shape):
    return {kind: size * shape["m"] * shape["n"] for kind, size in {"f64": 8, "f32": 4}.items()}


def score(folder, shape, data, answer):
    folder = pathlib.Path(folder)
    coef, y = np.asarray(answer["coef"], float).ravel(), np.load(folder / "labels.npy")
    truth = np.load(folder / "truth.npy")
    support = np.flatnonzero(coef)
    columns = arrays.columns_of(folder, support)
    z = columns @ coef[support] + float(np.ravel(answer.get("intercept", 0.0))[0])
    return {
        "size": len(support),
        "hits": int(np.count_nonzero(truth[support])),
        "of": shape["k"],
        "objective": Problem(columns, y, shape["k"], "classes").refitted(np.arange(len(support)))[2],
        "raw_objective": float(np.sum(np.logaddexp(0.0, z) - y * z)),
        "error": float(np.linalg.norm(coef - truth) / np.linalg.norm(truth)),
    }


def _katoms(**options):
    def setup(data, shape, hints):
        from katoms import SparseClassifier

        def fit():
            model = SparseClassifier(support_size=shape["k"], **options).fit(data["X"], data["y"])
            return {"coef": model.coef_, "intercept": model.intercept_, "told": told_by(model)}

        return fit

    return setup


def _abess(**options):
    def setup(data, shape, hints):
        from abess import LogisticRegression

        def fit():
            model = LogisticRegression(support_size=shape["k"], fit_intercept=True, **options)
            model.fit(data["X"], data["y"])
            return {"coef": model.coef_, "intercept": model.intercept_}

        return fit

    return setup


def _skscope(data, shape, hints):
    import jax.numpy as jnp
    import skscope

    def loss(coef, data):
        z = data[0] @ coef
        return jnp.mean(jnp.logaddexp(0.0, z) - data[1] * z)

    def fit():
        pair = jnp.asarray(data["X"]), jnp.asarray(data["y"])
        solver = skscope.ScopeSolver(shape["n"], shape["k"], sample_size=shape["m"])
        return {"coef": solver.solve(loss, data=pair, jit=True)}

    return fit


def _problem(data, shape):
    return Problem(data["X"], data["y"], shape["k"], "classes")


def _largest(data):
    """The least strength of the mean logistic loss with an L1 penalty at which no feature is in."""
    return walk.largest_strength(data["X"], data["y"] - 0.5)


def _celer(data, shape, hints):
    solve = penalised.celer_solve(data["X"], 2 * data["y"] - 1, "logreg")
    return lambda: walk.down(_problem(data, shape), _largest(data), solve)


def _skglm_solve(data):
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    solver = ProxNewton(tol=penalised.TOLERANCE, fit_intercept=False, warm_start=True)
    return penalised.skglm_solve(data["X"], 2 * data["y"] - 1, Logistic(), L1(1.0), solver)


def _skglm(data, shape, hints):
    solve = _skglm_solve(data)
    return lambda: walk.down(_problem(data, shape), _largest(data), solve)


def _skglm_given(data, shape, hints):
    solve, strength = _skglm_solve(data), hints["skglm L1, path"]["strength"]
    return lambda: walk.at(_problem(data, shape), strength, solve)


def _sklearn_given(data, shape, hints):
    from sklearn.linear_model import LogisticRegression

    C = 1 / (hints["skglm L1, path"]["strength"] * shape["m"])

    def solve(strength, before):
        model = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", fit_intercept=False)
        return model.fit(data["X"], data["y"]).coef_.ravel()

    return lambda: walk.at(_problem(data, shape), 1 / (C * shape["m"]), solve)


def _adelie(data, shape, hints):
    import adelie

    def fit():
        loss = adelie.glm.binomial(data["y"], dtype=data["X"].dtype.type)
        return penalised.adelie_down(_problem(data, shape), loss, shape["threads"], _largest(data))

    return fit


def _adelie_given(data, shape, hints):
    import adelie

    strength = hints["adelie, path"]["strength"]

    def fit():
        loss = adelie.glm.binomial(data["y"], dtype=data["X"].dtype.type)
        return penalised.adelie_at(_problem(data, shape), loss, shape["threads"], strength)

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms()),
    Contestant("katoms, single run, f64", "katoms", _katoms(method="accelerated-iht")),
    Contestant("katoms, f32", "katoms", _katoms(), data="f32"),
    Contestant("abess", "abess", _abess(), order="C"),
    Contestant("abess, approximate Newton", "abess", _abess(approximate_Newton=True), order="C"),
    Contestant("skscope Scope", "skscope", _skscope),
    Contestant("celer L1, path", "celer", _celer),
    Contestant("skglm L1, path", "skglm", _skglm),
    Contestant("skglm L1, λ given", "skglm", _skglm_given, oracle=True),
    Contestant("scikit-learn liblinear L1, λ given", "sklearn", _sklearn_given, oracle=True),
    Contestant("adelie, path", "adelie", _adelie),
    Contestant("adelie, path, f32", "adelie", _adelie, data="f32"),
    Contestant("adelie, λ given", "adelie", _adelie_given, oracle=True),
]
