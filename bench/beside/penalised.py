"""The packages that penalise, each as a function ``solve(strength, coef before) -> coef``, in its documented best use."""

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
    """skglm's solver, warm. The compiled parts are made once and used again, as within its path."""
    from skglm.utils.jit_compilation import compiled_clone

    to_f32 = X.dtype == np.float32
    datafit, penalty = compiled_clone(datafit, to_f32), compiled_clone(penalty, to_f32)

    def solve(strength, coef):
        return solver.path(X, y, datafit, penalty, alphas=np.array([strength], dtype=X.dtype), w_init=coef)[1][:, 0]

    return solve


def adelie_grpnet(X, loss, threads, **options):
    """adelie's path; the strong rule was the fastest of its screening rules here."""
    import adelie
    import scipy.sparse

    if scipy.sparse.issparse(X):
        matrix = adelie.matrix.sparse(X, method="naive", n_threads=threads)
    else:
        matrix = adelie.matrix.dense(X, method="naive", n_threads=threads)
    fixed = {"intercept": False, "progress_bar": False, "early_exit": False, "screen_rule": "strong"}
    return adelie.grpnet(matrix, loss, n_threads=threads, **{**fixed, **options})


def adelie_down(problem, loss, threads, largest, **options):
    """adelie's path, which its own condition ends where the walk does."""
    way = walk.Walk(problem)

    def ends(state):
        return way.ends_at(state.betas[-1].toarray().ravel(), state.lmdas[-1])

    path = walk.strengths(largest).astype(problem.X.dtype)
    adelie_grpnet(problem.X, loss, threads, lmda_path=path, exit_cond=ends, **options)
    return way.answer()


def adelie_at(problem, loss, threads, strength, **options):
    path = np.array([strength], dtype=problem.X.dtype)
    return walk.at(
        problem,
        strength,
        lambda *_: adelie_grpnet(problem.X, loss, threads, lmda_path=path, **options).betas[-1].toarray().ravel(),
    )
