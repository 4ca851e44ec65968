"""Long work: how it is heard of, ended and limited."""

import os
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from scipy.sparse.linalg import LinearOperator
from sklearn.model_selection import ShuffleSplit

import katoms


def long_problem(rows=400, columns=1500, seed=0):
    """Columns that resemble their neighbours: fits take long."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).cumsum(axis=1)
    return X, X[:, ::100].sum(axis=1) + 20 * rng.normal(size=rows)


LONG = {
    "fit": lambda **parameters: katoms.SparseRegressor(40, **parameters),
    "method": lambda **parameters: katoms.SparseRegressor(40, method="iht", max_iter=10**9, tol=0.0, **parameters),
    "path": lambda **parameters: katoms.SparseRegressor(range(1, 150), **parameters),
    "cv": lambda **parameters: katoms.SparseRegressorCV(range(1, 150), cv=10, **parameters),
    "splits": lambda **parameters: katoms.SparseRegressorCV(range(1, 100), cv=ShuffleSplit(20), **parameters),
    "bounds": lambda **parameters: katoms.SparseRegressor(60, positive=True, **parameters),
}


# Time limits.


@pytest.mark.parametrize("kind", LONG)
def test_a_time_limit_ends_with_the_best_model_so_far(kind):
    X, y = long_problem()
    model = LONG[kind](time_limit=0.02)
    with pytest.warns(katoms.ConvergenceWarning, match="status 'time-limit' .*raise time_limit") as warned:
        model.fit(X, y)
    # What was not reached is no edge of the range.
    assert len(warned) == 1
    assert model.status_ == "time-limit"
    assert model.score(X, y) >= 0 and len(model.support_) <= model.support_size_
    assert all(model.objective_ <= move["objective"] * (1 + 1e-9) for move in model.trace_)
    if kind not in ("bounds", "method"):
        assert model.loss_ < 0.9 * model.null_loss_


def test_a_time_limit_that_is_not_reached_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    y = X[:, 0] + rng.normal(size=100)
    for make in (katoms.SparseRegressor, katoms.SparseRegressorCV):
        with_limit, without = (make([1, 2, 3], time_limit=limit).fit(X, y) for limit in (1e6, None))
        assert with_limit.status_ == "converged" and np.array_equal(with_limit.coef_, without.coef_)
    assert katoms.SparseRegressor(2, time_limit=float("inf")).fit(X, y).status_ == "converged"


def test_time_limits_of_functions():
    X, y = long_problem()
    with pytest.warns(katoms.ConvergenceWarning, match="time-limit"):
        found = katoms.path(X, y, range(1, 150), time_limit=0.02)
    assert 0 < len(found) <= 149
    with pytest.warns(katoms.ConvergenceWarning, match="time-limit"):
        assert katoms.recover(X, y, 60, time_limit=0.01).status == "time-limit"
    with pytest.warns(katoms.ConvergenceWarning, match="time-limit"):
        assert katoms.SparseRecovery(60, time_limit=0.01).fit(X, y).status_ == "time-limit"
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.5, np.nan, X)
    for model in (
        katoms.MatrixCompletion(20, time_limit=0.05),
        katoms.MatrixCompletionCV(range(1, 30), time_limit=0.05),
    ):
        with pytest.warns(katoms.ConvergenceWarning, match="time-limit"):
            assert model.fit(rows).status_ == "time-limit"
        assert np.isfinite(model.transform(rows[:3])).all()


# Callbacks.


class Heard:
    """Counts calls for as long as that takes; then ends the work."""

    def __init__(self, calls):
        self.moves, self.left, self.keys = [], calls, set()

    def __call__(self, progress):
        self.moves.append(progress)
        self.keys.add(tuple(progress))
        self.left -= 1
        return self.left <= 0


def quiet():
    """A move that takes a second, and in which the work itself calls nobody."""
    asleep = []

    def slow(x):
        if len(asleep) == 10:
            time.sleep(1.0)
        asleep.append(x)
        return A @ x

    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 100))
    x = np.zeros(100)
    x[:5] = 1.0
    return LinearOperator(A.shape, matvec=slow, rmatvec=lambda r: A.T @ r, dtype=float), A @ x


def test_a_callback_is_called_while_a_move_takes_long():
    """In a second in which the work itself says nothing, ten calls at least."""
    A, b = quiet()
    heard = Heard(10**9)
    katoms.recover(A, b, 5, method="accelerated-iht", callback=heard)
    again = [move for move, next in zip(heard.moves, heard.moves[1:]) if move.get("iteration") == next.get("iteration")]
    assert len(again) >= 10
    assert len(heard.keys) <= 2


@pytest.mark.parametrize("kind", LONG)
def test_a_callback_may_end_long_work_between_its_moves(kind):
    X, y = long_problem()
    heard = Heard(5)
    with pytest.warns(katoms.ConvergenceWarning, match="ended by the callback"):
        model = LONG[kind](callback=heard).fit(X, y)
    assert model.status_ == "stopped" and heard.left <= 0


def test_every_dictionary_has_the_keys_of_its_phase():
    X, y = long_problem()
    heard = []
    katoms.SparseRegressor(40, callback=heard.append).fit(X, y)
    moves = {
        "phase",
        "support_size",
        "iteration",
        "atoms",
        "objective",
        "change",
        "entered",
        "step",
        "momentum",
        "passes",
        "reads",
        "seconds",
    }
    assert all(set(move) - {"done"} == moves for move in heard)
    seconds = [move["seconds"] for move in heard if move["phase"] == "final"]
    assert min(seconds) >= 0 and all(move["objective"] > 0 for move in heard if move["phase"] == "final")


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_a_callback_may_fit_while_a_move_goes_on(n_jobs):
    """The thread that waits calls as well: a fit in there must not wait for the threads that wait for it."""
    A, b = quiet()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    inner = []

    def callback(progress):
        inner.append(katoms.SparseRegressor(1, n_jobs=n_jobs).fit(X, X[:, 0]).support_.tolist())

    katoms.recover(A, b, 5, method="accelerated-iht", callback=callback, n_jobs=n_jobs)
    assert len(inner) >= 10 and all(found == [0] for found in inner)


def test_verbose_prints_each_move_once(capsys):
    A, b = quiet()
    katoms.recover(A, b, 5, method="accelerated-iht", verbose=1)
    lines = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines and len(lines) == len(set(lines))


# Threads.


COUNT = """
import os, sys
import numpy as np, katoms
before = len(os.listdir("/proc/self/task"))
most = [0]
def count(progress):
    most[0] = max(most[0], len(os.listdir("/proc/self/task")))
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 400))
katoms.SparseRegressor(5, callback=count, n_jobs={n_jobs}).fit(X, X[:, 0] + rng.normal(size=300))
# One thread runs the job, the others are the pool's.
print(most[0] - before - 1, len(os.sched_getaffinity(0)))
"""

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")


def threads(code, **limits):
    clean = {name: value for name, value in os.environ.items() if not name.endswith(("_NUM_THREADS", "_CPU_COUNT"))}
    # Libraries of NumPy's own must not start threads within the count.
    environment = {**clean, "OPENBLAS_NUM_THREADS": "1", **limits}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@needs_proc
@pytest.mark.parametrize(
    ("n_jobs", "limits", "expected"),
    [
        (None, {"OMP_NUM_THREADS": "3"}, 3),
        (None, {"OMP_NUM_THREADS": "4,2"}, 4),
        (None, {"OMP_NUM_THREADS": "3", "RAYON_NUM_THREADS": "5"}, 5),
        (2, {"OMP_NUM_THREADS": "3"}, 2),
        (7, {}, 7),
        (None, {}, "cores"),
        (-1, {"OMP_NUM_THREADS": "1"}, "cores"),
        (None, {"OMP_NUM_THREADS": "many"}, "cores"),
        (None, {"LOKY_MAX_CPU_COUNT": "1"}, 1),
        (-1, {"LOKY_MAX_CPU_COUNT": "1"}, 1),
        (None, {"LOKY_MAX_CPU_COUNT": "1000"}, "cores"),
    ],
)
def test_threads_are_those_that_were_asked_for(n_jobs, limits, expected):
    found, cores = threads(COUNT.format(n_jobs=n_jobs), **limits)
    assert found == (cores if expected == "cores" else expected)


def _count():
    """The threads that a fit adds to a worker."""
    scope = {}
    exec(COUNT.format(n_jobs=None).replace("print(", "told = ("), scope)
    return scope["told"][0], os.environ.get("OMP_NUM_THREADS")


@needs_proc
@pytest.mark.parametrize("inner", [1, 3])
def test_workers_of_joblib_have_the_threads_that_joblib_allows(inner):
    # Workers of earlier tests have a pool already.
    get_reusable_executor().shutdown(wait=True)
    with joblib.parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=inner):
        told = joblib.Parallel()(joblib.delayed(_count)() for _ in range(2))
    assert told == [(inner, str(inner))] * 2


@needs_proc
def test_workers_of_joblib_share_the_cores():
    """Without a word, two workers have half of the cores each."""
    get_reusable_executor().shutdown(wait=True)
    told = joblib.Parallel(n_jobs=2)(joblib.delayed(_count)() for _ in range(2))
    inner = max(1, joblib.cpu_count() // 2)
    assert told == [(inner, str(inner))] * 2


@needs_proc
@pytest.mark.parametrize(
    ("context", "n_jobs", "expected"),
    [
        ("joblib.parallel_config(n_jobs=3)", None, 3),
        ("joblib.parallel_config(n_jobs=3)", 2, 2),
        ("threadpoolctl.threadpool_limits(1)", None, 1),
        ("threadpoolctl.threadpool_limits(1, user_api='openmp')", None, 1),
        ("threadpoolctl.threadpool_limits(1)", 2, 2),
    ],
)
def test_a_context_around_the_fit_says_how_many_threads_there_are(context, n_jobs, expected):
    """As for scikit-learn's estimators that use OpenMP, which is loaded with them."""
    code = COUNT.format(n_jobs=n_jobs).replace("katoms.Sparse", f"with {context}: katoms.Sparse")
    assert threads(f"import joblib, threadpoolctl, sklearn.utils\n{code}")[0] == expected


@needs_proc
@pytest.mark.parametrize(
    ("limits", "expected"), [({"OMP_NUM_THREADS": "3"}, 3), ({"RAYON_NUM_THREADS": "5"}, 5), ({}, "cores")]
)
def test_scikit_learn_changes_no_number_of_threads(limits, expected):
    found, cores = threads(f"import sklearn.utils\n{COUNT.format(n_jobs=None)}", **limits)
    assert found == (cores if expected == "cores" else expected)


@needs_proc
def test_the_program_has_the_threads_that_the_environment_allows(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(2000, 3000)), y=rng.normal(size=2000))
    script = f"""
import os, threading, time
from katoms._katoms import main
before, most, done = len(os.listdir("/proc/self/task")), 0, []
work = threading.Thread(target=lambda: done.append(main(["katoms", "-q", "fit", {str(tmp_path / "data.npz")!r}, "--target", "y", "-k", "3", "--out", {str(tmp_path / "model.json")!r}])))
work.start()
while work.is_alive():
    most = max(most, len(os.listdir("/proc/self/task")))
    time.sleep(0.001)
print(most - before - 1, done[0])
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "3"}
    environment.pop("RAYON_NUM_THREADS", None)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.split() in (["3", "0"], ["4", "0"]), done.stdout + done.stderr
