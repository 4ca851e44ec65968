"""k-sparse least squares: a Gaussian design, k planted coefficients of ±1, without noise or with a fifth of it.

All planted coefficients have the same size: then most peers find them too, and the comparison is one of time.
"""

import pathlib

import numpy as np

from beside import numpy_iht, penalised, walk
from beside.contest import Contestant, Row
from beside.ours import told_by
from beside.problem import Problem
from beside.works import arrays

TITLE = "k-sparse least squares"
SHORT = "least squares,"
REFERENCES = ["katoms, f64", "katoms, f32"]
TOLERANCE = 1e-6
METRICS = [
    ("found", lambda score: f"{score['hits']}/{score['of']}"),
    ("objective, refitted", lambda score: f"{score['objective']:.5g}"),
    ("as it is", lambda score: f"{score['raw_objective']:.5g}"),
    ("error", lambda score: f"{score['error']:.2g}"),
]

SIZES = [(500, 1000, 10), (2500, 5000, 50), (5000, 10000, 100)]
SIZES += [(750, 20000, 50), (1500, 40000, 100), (3000, 80000, 200)]
#: The ratio of the variances of signal and noise; 0 stands for no noise.
RATIOS = [0, 5]
#: The size of the paper: in f32, for us alone.
FULL = (7500, 200_000, 500)


def _row(m, n, k, ratio, alone=False):
    noise = f"SNR {ratio}" if ratio else "noiseless"
    return Row(
        key=f"ls-{m}x{n}-{noise.replace(' ', '').lower()}",
        title=f"{m:,} × {n:,}, k = {k}, {noise}" + (", f32, katoms alone" if alone else ""),
        shape={"m": m, "n": n, "k": k, "ratio": ratio, "alone": alone, "data": f"gaussian-{m}x{n}"},
        memory=0.5 + (1.1 * 4 if alone else 3.5 * 8) * m * n / 1e9,
        quick=(m, n) == (500, 1000),
    )


ROWS = [_row(*size, ratio) for size in SIZES for ratio in RATIOS] + [_row(*FULL, ratio, True) for ratio in RATIOS]


def draw(folder, shape):
    kinds = ["f32"] if shape["alone"] else ["f64", "f32"]
    arrays.planted(folder, shape["m"], shape["n"], shape["k"], RATIOS, kinds)


def load(folder, shape, contestant):
    X = arrays.design(folder, contestant.data, contestant.order)
    return {"X": X, "y": np.load(pathlib.Path(folder) / f"y_{shape['ratio']}.npy").astype(X.dtype)}


def bytes_of(folder, shape):
    """What one pass reads, for each kind of array."""
    kinds = {"f32": 4} if shape["alone"] else {"f64": 8, "f32": 4}
    return {kind: size * shape["m"] * shape["n"] for kind, size in kinds.items()}


def score(folder, shape, data, answer):
    """Least squares on the support that was found, so that shrinkage is not punished; and the answer as it is."""
    coef, y = np.asarray(answer["coef"], float), np.load(pathlib.Path(folder) / f"y_{shape['ratio']}.npy")
    truth = np.load(pathlib.Path(folder) / "truth.npy")
    support = np.flatnonzero(coef)
    columns = arrays.columns_of(folder, support)
    raw = y - answer.get("intercept", 0.0) - columns @ coef[support]
    refitted = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0] if len(support) else y
    return {
        "size": len(support),
        "hits": int(np.count_nonzero(truth[support])),
        "of": shape["k"],
        "objective": float(refitted @ refitted) / 2,
        "raw_objective": float(raw @ raw) / 2,
        "error": float(np.linalg.norm(coef - truth) / np.linalg.norm(truth)),
        # Below this two objectives are the same: both are zero up to rounding, in f32 too.
        "floor": 1e-10 * float(y @ y) / 2,
    }


# Contestants. A setting that no user could know is marked as an oracle.


def katoms(**options):
    def setup(data, shape, hints):
        from katoms import SparseRegressor

        def fit():
            model = SparseRegressor(support_size=shape["k"], **options).fit(data["X"], data["y"])
            return {"coef": model.coef_, "intercept": model.intercept_, "told": told_by(model)}

        return fit

    return setup


def abess(**options):
    """abess stops too early unless the target has a variance of about 1."""

    def setup(data, shape, hints):
        from abess import LinearRegression

        scale = data["y"].std()
        chosen = {name: shape["k"] if value == "k" else value for name, value in options.items()}

        def fit():
            model = LinearRegression(support_size=shape["k"], fit_intercept=False, **chosen)
            model.fit(data["X"], data["y"] / scale, is_normal=False)
            return {"coef": model.coef_ * scale}

        return fit

    return setup


def _skscope(solver, **options):
    """The loss is divided by the rows, so that a step of 1 is that of an orthogonal design."""

    def setup(data, shape, hints):
        import jax.numpy as jnp
        import skscope

        def loss(coef, data):
            residual = data[1] - data[0] @ coef
            return jnp.sum(residual * residual) / (2 * shape["m"])

        def fit():
            pair = jnp.asarray(data["X"]), jnp.asarray(data["y"])
            kind = getattr(skscope, solver)(shape["n"], shape["k"], sample_size=shape["m"], **options)
            return {"coef": kind.solve(loss, data=pair, jit=True)}

        return fit

    return setup


def omp(data, shape, hints):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    def fit():
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=shape["k"], fit_intercept=False, precompute=False)
        return {"coef": model.fit(data["X"], data["y"]).coef_}

    return fit


def _lars(data, shape, hints):
    from sklearn.linear_model import lars_path

    def fit():
        _, _, coef = lars_path(data["X"], data["y"], method="lar", max_iter=shape["k"], return_path=False)
        return {"coef": coef}

    return fit


def celer(data, shape, hints):
    return penalised.celer_solve(data["X"], data["y"])


def skglm(data, shape, hints):
    from skglm.datafits import Quadratic
    from skglm.penalties import MCPenalty
    from skglm.solvers import AndersonCD

    solver = AndersonCD(tol=penalised.TOLERANCE, fit_intercept=False, warm_start=True)
    return penalised.skglm_solve(data["X"], data["y"], Quadratic(), MCPenalty(1.0, 3.0), solver)


def walked(solver):
    """A penalty as a user takes it: down the path to k features."""

    def setup(data, shape, hints):
        X, y, solve = data["X"], data["y"], solver(data, shape, hints)
        return lambda: walk.down(Problem(X, y, shape["k"]), walk.largest_strength(X, y), solve)

    return setup


def _given(solver, path):
    """A penalty of the strength at which its path ended."""

    def setup(data, shape, hints):
        solve, strength = solver(data, shape, hints), hints[path]["strength"]
        return lambda: walk.at(Problem(data["X"], data["y"], shape["k"]), strength, solve)

    return setup


def adelie(data, shape, hints):
    import adelie

    X, y = data["X"], data["y"]

    def fit():
        loss = adelie.glm.gaussian(y, dtype=X.dtype.type)
        problem = Problem(X, y, shape["k"])
        return penalised.adelie_down(problem, loss, shape["threads"], walk.largest_strength(X, y))

    return fit


def _adelie_given(data, shape, hints):
    import adelie

    X, y, strength = data["X"], data["y"], hints["adelie, path"]["strength"]

    def fit():
        loss = adelie.glm.gaussian(y, dtype=X.dtype.type)
        return penalised.adelie_at(Problem(X, y, shape["k"]), loss, shape["threads"], strength)

    return fit


def _numpy(data, shape, hints):
    def fit():
        coef, passes = numpy_iht.accelerated_iht(data["X"], data["y"], shape["k"])
        return {"coef": coef, "told": {"reads": float(passes)}}

    return fit


def _beside_others(shape):
    return not shape["alone"]


_PLAIN = {"fit_intercept": False, "standardize": False}
_SINGLE = {"method": "accelerated-iht"}

CONTESTANTS = [
    Contestant("katoms, f32", "katoms", katoms(), data="f32"),
    Contestant("katoms, single run, f32", "katoms", katoms(**_SINGLE), data="f32"),
    Contestant("katoms, plain columns, f32", "katoms", katoms(**_PLAIN), data="f32"),
] + [
    Contestant(*parts, **rest, takes=_beside_others)
    for parts, rest in [
        (("katoms, f64", "katoms", katoms()), {}),
        (("katoms, single run, f64", "katoms", katoms(**_SINGLE)), {}),
        (("katoms, plain columns, f64", "katoms", katoms(**_PLAIN)), {}),
        (("NumPy AccIHT", "numpy", _numpy), {}),
        (("NumPy AccIHT, f32", "numpy", _numpy), {"data": "f32"}),
        (("abess", "abess", abess()), {"order": "C"}),
        (("abess, wide splicing", "abess", abess(important_search=0, exchange_num="k")), {"order": "C"}),
        (("skscope HTP, tuned step", "skscope", _skscope("HTPSolver", step_size=1.0)), {}),
        (("skscope Scope", "skscope", _skscope("ScopeSolver")), {}),
        (("scikit-learn OMP", "sklearn", omp), {}),
        (("scikit-learn OMP, f32", "sklearn", omp), {"data": "f32"}),
        (("scikit-learn LARS", "sklearn", _lars), {}),
        (("celer Lasso, path", "celer", walked(celer)), {}),
        (("celer Lasso, λ given", "celer", _given(celer, "celer Lasso, path")), {"oracle": True}),
        (("celer Lasso, λ given, f32", "celer", _given(celer, "celer Lasso, path")), {"oracle": True, "data": "f32"}),
        (("skglm MCP, path", "skglm", walked(skglm)), {}),
        (("skglm MCP, λ given", "skglm", _given(skglm, "skglm MCP, path")), {"oracle": True}),
        (("skglm MCP, λ given, f32", "skglm", _given(skglm, "skglm MCP, path")), {"oracle": True, "data": "f32"}),
        (("adelie, path", "adelie", adelie), {}),
        (("adelie, path, f32", "adelie", adelie), {"data": "f32"}),
        (("adelie, λ given", "adelie", _adelie_given), {"oracle": True}),
        (("adelie, λ given, f32", "adelie", _adelie_given), {"oracle": True, "data": "f32"}),
    ]
]
