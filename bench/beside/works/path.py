"""The models of all sizes from 1 to 50, on a Gaussian design with 25 planted coefficients of ±1 and SNR 5.

Every model of a path is refitted, and the one of the least EBIC judged: abess keeps only that one. The objective is
exp(EBIC/m): half the mean squared residual, with a price on each feature. Of a penalty's path, the first model of each
size counts; sizes that the path jumps over have the largest features of the next model.
"""

import pathlib

import numpy as np

from beside import penalised, walk
from beside.contest import Contestant, Row
from beside.problem import squares
from beside.works import arrays

TITLE = "Path over k = 1 to 50"
SHORT = "path,"
REFERENCES = ["katoms, f64", "katoms, f32"]
TOLERANCE = 1e-6
METRICS = [
    ("k chosen", lambda score: str(score["size"])),
    ("found", lambda score: f"{score['hits']}/{score['of']}"),
    ("objective", lambda score: f"{score['objective']:.6g}"),
    ("mean of ½‖r‖² over k", lambda score: f"{score['mean']:.5g}" if score.get("mean") else "keeps no path"),
]
PLANTED, LARGEST, RATIO = 25, 50, 5
SIZES = [(1000, 20000), (500, 8000)]


def _row(m, n):
    shape = {"m": m, "n": n, "k": PLANTED, "data": f"planted-{m}x{n}"}
    return Row(f"path-{m}x{n}", f"{m:,} × {n:,}", shape, memory=0.5 + 4 * 8 * m * n / 1e9, quick=n == 8000)


ROWS = [_row(*size) for size in SIZES]


def draw(folder, shape):
    arrays.planted(folder, shape["m"], shape["n"], shape["k"], [RATIO])


def load(folder, shape, contestant):
    X = arrays.design(folder, contestant.data, contestant.order)
    return {"X": X, "y": np.load(pathlib.Path(folder) / f"y_{RATIO}.npy").astype(X.dtype)}


def bytes_of(folder, shape):
    return {kind: size * shape["m"] * shape["n"] for kind, size in {"f64": 8, "f32": 4}.items()}


def ebic(objective, m, n, size):
    return m * np.log(2 * objective / m) + size * (np.log(m) + 2 * np.log(n))


def score(folder, shape, data, answer):
    """`supports` is a list of the supports of the sizes 1, 2, …; or of the one model that was kept."""
    m, n = shape["m"], shape["n"]
    y, truth = np.load(pathlib.Path(folder) / f"y_{RATIO}.npy"), np.load(pathlib.Path(folder) / "truth.npy")
    supports = [np.asarray(support, int) for support in answer["supports"]]
    objectives = [squares(arrays.columns_of(folder, support), y)[2] for support in supports]
    judged = [ebic(objective, m, n, len(support)) for objective, support in zip(objectives, supports)]
    best = int(np.argmin(judged))
    return {
        "size": len(supports[best]),
        "hits": int(np.count_nonzero(truth[supports[best]])),
        "of": shape["k"],
        "objective": float(np.exp(judged[best] / m)),
        "mean": float(np.mean(objectives)) if len(supports) == LARGEST else None,
    }


def supports_of(path):
    """The supports of the sizes 1 to 50 from coefficients along a penalty's path, columns × points."""
    counts = np.count_nonzero(path, axis=0)
    supports = []
    for size in range(1, LARGEST + 1):
        at = np.flatnonzero(counts >= size)
        coef = path[:, at[0]] if len(at) else path[:, -1]
        supports.append(np.sort(np.argsort(-np.abs(coef), kind="stable")[:size]))
    return supports


def _katoms(data, shape, hints):
    import katoms

    def fit():
        found = katoms.path(data["X"], data["y"], support_sizes=range(1, LARGEST + 1))
        return {"supports": [support.tolist() for support in found.supports]}

    return fit


def _abess(data, shape, hints):
    from abess import LinearRegression

    scale = data["y"].std()

    def fit():
        model = LinearRegression(support_size=range(1, LARGEST + 1), ic_type="ebic", fit_intercept=False)
        model.fit(data["X"], data["y"] / scale, is_normal=False)
        return {"supports": [np.flatnonzero(model.coef_).tolist()]}

    return fit


def _lars(data, shape, hints):
    from sklearn.linear_model import lars_path

    def fit():
        return {"supports": supports_of(lars_path(data["X"], data["y"], method="lar", max_iter=LARGEST)[2])}

    return fit


def _omp(data, shape, hints):
    from sklearn.linear_model import orthogonal_mp

    def fit():
        path = orthogonal_mp(data["X"], data["y"], n_nonzero_coefs=LARGEST, return_path=True, precompute=False)
        return {"supports": supports_of(path)}

    return fit


def _lasso(data, shape, hints):
    from sklearn.linear_model import lasso_path

    def fit():
        alphas = walk.largest_strength(data["X"], data["y"]) * np.logspace(0, -1, 50)
        return {"supports": supports_of(lasso_path(data["X"], data["y"], alphas=alphas)[1])}

    return fit


def _celer(data, shape, hints):
    from celer import celer_path

    def fit():
        alphas = walk.largest_strength(data["X"], data["y"]) * np.logspace(0, -1, 50)
        path = celer_path(data["X"], data["y"], "lasso", alphas=alphas, tol=penalised.TOLERANCE)[1]
        return {"supports": supports_of(path)}

    return fit


def _adelie(data, shape, hints):
    import adelie

    def fit():
        loss = adelie.glm.gaussian(data["y"], dtype=data["X"].dtype.type)
        alphas = walk.largest_strength(data["X"], data["y"]) * np.logspace(0, -1, 50)
        state = penalised.adelie_grpnet(
            data["X"],
            loss,
            shape["threads"],
            lmda_path=alphas.astype(data["X"].dtype),
            exit_cond=lambda state: state.betas[-1].nnz >= LARGEST,
        )
        return {"supports": supports_of(state.betas.toarray().T)}

    return fit


def _skscope(data, shape, hints):
    import jax.numpy as jnp
    import skscope

    def loss(coef, data):
        residual = data[1] - data[0] @ coef
        return jnp.sum(residual * residual) / (2 * shape["m"])

    def fit():
        pair = jnp.asarray(data["X"]), jnp.asarray(data["y"])
        sizes = np.arange(1, LARGEST + 1)

        def criterion(value, dimension, effective, rows):
            return ebic(value * rows, rows, dimension, effective)

        solver = skscope.ScopeSolver(shape["n"], sizes, sample_size=shape["m"], ic_method=criterion)
        return {"supports": [np.flatnonzero(solver.solve(loss, data=pair, jit=True)).tolist()]}

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms),
    Contestant("katoms, f32", "katoms", _katoms, data="f32"),
    Contestant("abess", "abess", _abess, order="C"),
    Contestant("scikit-learn OMP", "sklearn", _omp),
    Contestant("scikit-learn LARS", "sklearn", _lars),
    Contestant("scikit-learn Lasso", "sklearn", _lasso),
    Contestant("celer Lasso", "celer", _celer),
    Contestant("adelie", "adelie", _adelie),
    Contestant("adelie, f32", "adelie", _adelie, data="f32"),
    Contestant("skscope Scope", "skscope", _skscope),
]
