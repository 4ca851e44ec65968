"""k groups of features: least squares with 20 of 1000 groups of 10 planted at SNR 5; and 3 overlapping pathways of p53.

The pathways share genes and the classes are two: logistic regression with a ridge of 1, so that a best model exists.
No peer has overlapping groups: for them every pathway gets its own copy of its columns (the latent group Lasso), and
the best model on the columns of the chosen pathways is what counts.
"""

import pathlib

import numpy as np

from beside import penalised, real_data, walk
from beside.contest import Contestant, Row
from beside.ours import told_by
from beside.problem import Problem
from beside.works import arrays

TITLE = "Groups, and groups that overlap"
SHORT = "groups,"
REFERENCES = ["katoms, f64"]
TOLERANCE = 1e-6
METRICS = [
    ("groups found", lambda score: f"{score['hits']}/{score['of']}" if score["hits"] is not None else ""),
    ("columns", lambda score: str(score["size"])),
    ("objective, refitted", lambda score: f"{score['objective']:.7g}"),
]
M, N, SIZE, ACTIVE, RATIO = 1000, 10_000, 10, 20, 5
PATHWAYS, RIDGE = 3, 1.0

ROWS = [
    Row(
        f"groups-{M}x{N}",
        f"{M:,} × {N:,}, {ACTIVE} of {N // SIZE} groups of {SIZE}, SNR {RATIO}",
        {"kind": "disjoint", "m": M, "n": N, "k": ACTIVE, "data": "groups"},
        memory=1.0,
        quick=True,
    ),
    Row(
        "groups-p53",
        f"p53, {PATHWAYS} of 308 overlapping pathways, logistic",
        {"kind": "overlapping", "k": PATHWAYS, "data": "p53"},
        quick=True,
    ),
]


def missing(shape):
    return real_data.missing("p53_pathways.npz") if shape["kind"] == "overlapping" else None


def draw(folder, shape):
    folder = pathlib.Path(folder)
    if shape["kind"] == "overlapping":
        with np.load(real_data.file("p53_pathways.npz")) as archive:
            X = archive["X"].astype(float)
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            np.save(folder / "X_f64.npy", np.asfortranarray(X))
            np.save(folder / "y.npy", archive["y"].astype(float))
            np.savez(folder / "groups.npz", group=archive["group_id"], column=archive["group_col"])
        return
    arrays.gaussian_design(folder, M, N, ["f64"], seed=M)
    rng = np.random.default_rng(N)
    active = np.sort(rng.choice(N // SIZE, ACTIVE, replace=False))
    columns = (SIZE * active[:, None] + np.arange(SIZE)).ravel()
    clean = arrays.columns_of(folder, columns) @ rng.standard_normal(len(columns))
    np.save(folder / "y.npy", clean + np.sqrt(clean.var() / RATIO) * rng.standard_normal(M))
    np.savez(folder / "groups.npz", group=np.repeat(np.arange(N // SIZE), SIZE), column=np.arange(N), active=active)


def load(folder, shape, contestant):
    with np.load(pathlib.Path(folder) / "groups.npz") as archive:
        group, column = archive["group"], archive["column"]
    groups = [np.unique(column[group == g]) for g in np.unique(group)]
    y = np.load(pathlib.Path(folder) / "y.npy")
    return {"X": arrays.design(folder, "f64", contestant.order), "y": y, "groups": groups}


def bytes_of(folder, shape):
    return {"f64": 8 * shape["m"] * shape["n"]} if shape["kind"] == "disjoint" else {}


def score(folder, shape, data, answer):
    """The objective of the best model on the columns that are in; groups found where they were planted."""
    problem = _problem(data, shape)
    support = np.flatnonzero(np.asarray(answer["coef"]).ravel())
    hits = None
    if shape["kind"] == "disjoint":
        with np.load(pathlib.Path(folder) / "groups.npz") as archive:
            hits = len(np.intersect1d(np.unique(support // SIZE), archive["active"]))
    return {"size": len(support), "hits": hits, "of": shape["k"], "objective": problem.refitted(support)[2]}


def _problem(data, shape):
    """The problem, with columns repeated in front of whoever needs groups that share none."""
    overlapping = shape["kind"] == "overlapping"
    if not overlapping:
        return Problem(data["X"], data["y"], shape["k"], groups=data["groups"])
    ends = np.cumsum([len(group) for group in data["groups"]])
    own = np.split(np.arange(ends[-1]), ends[:-1])
    return Problem(
        data["X"], data["y"], shape["k"], "classes", groups=own, ridge=RIDGE, back=np.concatenate(data["groups"])
    )


def _repeated(data, problem):
    return data["X"] if problem.back is None else np.asfortranarray(data["X"][:, problem.back])


def _largest(data, problem):
    centred = data["y"] - 0.5 if problem.loss == "classes" else data["y"]
    return walk.largest_strength(_repeated(data, problem), centred, problem.groups)


def _katoms(**options):
    def setup(data, shape, hints):
        import katoms

        overlapping = shape["kind"] == "overlapping"
        kind = katoms.SparseClassifier if overlapping else katoms.SparseRegressor
        groups = [group.tolist() for group in data["groups"]]
        chosen = {"l2": RIDGE, **options} if overlapping else options

        def fit():
            model = kind(shape["k"], groups=groups, **chosen).fit(data["X"], data["y"])
            return {"coef": model.coef_, "told": told_by(model)}

        return fit

    return setup


def _abess(**options):
    def setup(data, shape, hints):
        from abess import LinearRegression

        labels = np.repeat(np.arange(len(data["groups"])), [len(group) for group in data["groups"]])
        scale = data["y"].std()

        def fit():
            model = LinearRegression(support_size=shape["k"], group=labels, fit_intercept=False, **options)
            model.fit(data["X"], data["y"] / scale, is_normal=False)
            return {"coef": model.coef_}

        return fit

    return setup


def _celer(data, shape, hints):
    problem = _problem(data, shape)
    solve = penalised.celer_solve(data["X"], data["y"], "grouplasso", groups=SIZE)
    return lambda: walk.down(problem, _largest(data, problem), solve)


def _skglm(data, shape, hints):
    from skglm.datafits import LogisticGroup, QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD, GroupProxNewton
    from skglm.utils.data import grp_converter

    problem = _problem(data, shape)
    X = _repeated(data, problem)
    indices, starts = grp_converter([group.tolist() for group in problem.groups], X.shape[1])
    penalty = WeightedGroupL2(1.0, np.ones(len(problem.groups)), starts, indices)
    if problem.loss == "classes":
        loss, target, solver = LogisticGroup(starts, indices), 2 * data["y"] - 1, GroupProxNewton
    else:
        loss, target, solver = QuadraticGroup(starts, indices), data["y"], GroupBCD
    solve = penalised.skglm_solve(
        X, target, loss, penalty, solver(tol=penalised.TOLERANCE, fit_intercept=False, warm_start=True)
    )
    return lambda: walk.down(problem, _largest(data, problem), solve)


def _adelie(data, shape, hints):
    import adelie

    def fit():
        problem = _problem(data, shape)
        loss = adelie.glm.binomial(data["y"]) if problem.loss == "classes" else adelie.glm.gaussian(data["y"])
        starts = np.array([group[0] for group in problem.groups])
        return penalised.adelie_down(
            problem,
            loss,
            shape["threads"],
            _largest(data, problem),
            X=_repeated(data, problem),
            groups=starts,
            penalty=np.ones(len(starts)),
        )

    return fit


def _disjoint(shape):
    return shape["kind"] == "disjoint"


_WIDE = {"important_search": 0, "exchange_num": ACTIVE}

CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms()),
    Contestant("katoms, single run, f64", "katoms", _katoms(method="accelerated-iht")),
    Contestant("abess", "abess", _abess(), order="C", takes=_disjoint),
    Contestant("abess, wide splicing", "abess", _abess(**_WIDE), order="C", takes=_disjoint),
    Contestant("celer group Lasso, path", "celer", _celer, takes=_disjoint),
    Contestant("skglm group Lasso, path", "skglm", _skglm),
    Contestant("adelie group Lasso, path", "adelie", _adelie),
]
