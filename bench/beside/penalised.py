"""The packages that penalise, each as a function ``solve(strength, coef before) -> coef``, in its best use."""

import warnings

import numpy as np

from beside import walk

#: The tolerance of celer and skglm: their estimators' default.
TOLERANCE = 1e-4


def celer_solve(X, y, kind="lasso", groups=None):
    """celer's path of one strength, warm. ``kind`` is "lasso", "logreg" (y of ±1) or "grouplasso"."""
    from celer import celer_path

    how = {"tol": TOLERANCE}
    if kind == "logreg":
        how["use_PN"] = True
    if groups is not None:
        how.update(groups=groups)

    def solve(strength, coef):
        # celer's logistic loss is a sum, its squares a mean.
        scale = len(y) if kind == "logreg" else 1
        asked = np.array([strength * scale], dtype=X.dtype)
        return celer_path(X, y, kind, alphas=asked, coef_init=coef, **how)[1][:, 0]

    return solve


def skglm_solve(X, y, datafit, penalty, solver):
    """skglm's solver, warm. The compiled parts are made once and used again, as within its own path."""
    from skglm.utils.jit_compilation import compiled_clone

    datafit, penalty = compiled_clone(datafit, to_float32=X.dtype == np.float32), compiled_clone(penalty)

    def solve(strength, coef):
        penalty.alpha = strength
        coef = np.zeros(X.shape[1], X.dtype) if coef is None else coef.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compiled parts are not to be given from its next version on
            return solver.solve(X, y, datafit, penalty, coef, X @ coef)[0]

    return solve


def adelie_grpnet(X, loss, threads, **options):
    """adelie's path, also on a matrix of its own; the strong rule was the fastest of its screening rules here."""
    import adelie
    import scipy.sparse

    matrix = X
    if scipy.sparse.issparse(X):
        matrix = adelie.matrix.sparse(X, method="naive", n_threads=threads)
    elif isinstance(X, np.ndarray):
        matrix = adelie.matrix.dense(X, method="naive", n_threads=threads)
    fixed = {"intercept": False, "progress_bar": False, "early_exit": False, "screen_rule": "strong"}
    return adelie.grpnet(matrix, loss, n_threads=threads, **{**fixed, **options})


def adelie_down(problem, loss, threads, largest, X=None, **options):
    """adelie's path, which its own condition ends where the walk does; on X where columns were repeated."""
    way, X = walk.Walk(problem), problem.X if X is None else X

    def ends(state):
        return way.ends_at(state.betas[-1].toarray().ravel(), state.lmdas[-1])

    path = walk.strengths(largest).astype(problem.X.dtype)
    adelie_grpnet(X, loss, threads, lmda_path=path, exit_cond=ends, **options)
    return way.answer()


def adelie_at(problem, loss, threads, strength, **options):
    path = np.array([strength], dtype=problem.X.dtype)
    return walk.at(
        problem,
        strength,
        lambda *_: adelie_grpnet(problem.X, loss, threads, lmda_path=path, **options).betas[-1].toarray().ravel(),
    )
