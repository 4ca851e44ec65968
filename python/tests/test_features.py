"""Models of features and groups: inputs of every kind, parameters, answers."""

import pickle
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import katoms
from katoms import InvalidInputError
from katoms._data import design_of


@pytest.fixture
def planted():
    """y depends on columns 3 and 11 of 40."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 40))
    return X, 2 * X[:, 3] - 3 * X[:, 11] + 5 + 0.1 * rng.normal(size=150)


@pytest.fixture
def classes(planted):
    X, y = planted
    return X, np.where(y - 5 + np.random.default_rng(2).normal(size=150) > 0, "yes", "no")


def least_squares(X, y, support):
    """An independent refit: coefficients and intercept."""
    A = np.column_stack([X[:, support], np.ones(len(y))])
    solution = np.linalg.lstsq(A, y, rcond=None)[0]
    return solution[:-1], solution[-1]


# What goes in.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_either_order_and_precision_are_not_copied(planted, dtype, order):
    X = np.asarray(planted[0], dtype=dtype, order=order)
    assert np.shares_memory(design_of(X).matrix, X)
    model = katoms.SparseRegressor(2).fit(X, planted[1])
    assert model.support_.tolist() == [3, 11]
    coef, intercept = least_squares(X.astype(float), planted[1], [3, 11])
    assert np.allclose(model.coef_[[3, 11]], coef, atol=1e-9) and np.isclose(model.intercept_, intercept)
    assert np.allclose(model.predict(X), X.astype(float) @ model.coef_ + model.intercept_)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8, np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
def test_small_numbers_are_read_where_they_lie_and_answer_as_doubles_do(planted, dtype, order, tmp_path):
    whole = np.clip(np.rint(40 * planted[0]), -100, 100)
    values = {np.float16: planted[0], np.int8: whole, np.uint8: whole + 100, np.bool_: whole > 0}[dtype]
    X = np.asarray(values, dtype=dtype, order=order)
    wide = X.astype(float, order=order)
    rng = np.random.default_rng(1)
    y = 2 * wide[:, 3] - wide[:, 11] + 0.1 * wide[:, 3].std() * rng.standard_normal(len(X))
    assert np.shares_memory(design_of(X).matrix, X)
    np.save(tmp_path / "X.npy", X)
    for given in (X, np.load(tmp_path / "X.npy", mmap_mode="r")):
        model, same = (katoms.SparseRegressor(2).fit(matrix, y) for matrix in (given, wide))
        assert model.support_.tolist() == [3, 11]
        assert (model.coef_ == same.coef_).all() and model.intercept_ == same.intercept_
        assert (model.predict(given) == same.predict(wide)).all()
        assert (model.transform(given) == wide[:, [3, 11]]).all()
    chosen, same = (katoms.SparseRegressorCV(4, cv=3).fit(matrix, y) for matrix in (X, wide))
    assert (chosen.support_ == same.support_).all() and (chosen.coef_ == same.coef_).all()


def test_half_precision_that_is_not_finite_is_named(planted):
    X = planted[0].astype(np.float16)
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match=r"column 2 .counted from 0. has inf in row 7"):
        katoms.SparseRegressor(2).fit(X, planted[1])


def test_read_only_memory_and_views_are_read(planted, tmp_path):
    X, y = planted
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(design_of(mapped).matrix, mapped)
    expected = katoms.SparseRegressor(2).fit(X, y).coef_
    assert (katoms.SparseRegressor(2).fit(mapped, y).coef_ == expected).all()
    wide = np.empty((150, 80))
    wide[:, ::2] = X
    assert np.allclose(katoms.SparseRegressor(2).fit(wide[:, ::2], y).coef_, expected)
    assert np.allclose(katoms.SparseRegressor(2).fit(X.astype(">f8"), y).coef_, expected)


@pytest.mark.parametrize("kind", ["csc", "csr", "coo", "lil"])
@pytest.mark.parametrize("container", ["matrix", "array"])
def test_sparse_matrices_are_as_dense_ones(kind, container):
    rng = np.random.default_rng(3)
    X = scipy.sparse.random(200, 60, density=0.1, random_state=4, data_rvs=rng.standard_normal)
    y = X.toarray() @ np.where(np.isin(np.arange(60), [5, 50]), 3.0, 0.0) + 1 + 0.01 * rng.normal(size=200)
    given = X.asformat(kind) if container == "matrix" else scipy.sparse.coo_array(X).asformat(kind)
    model = katoms.SparseRegressor(2).fit(given, y)
    dense = katoms.SparseRegressor(2).fit(X.toarray(), y)
    assert model.support_.tolist() == [5, 50]
    assert np.allclose(model.coef_, dense.coef_) and np.isclose(model.intercept_, dense.intercept_)
    assert np.allclose(model.predict(given), dense.predict(X.toarray()))


def test_sparse_columns_are_not_copied():
    X = scipy.sparse.random(50, 20, density=0.3, format="csc", random_state=0)
    _, _, indices, data = design_of(X).matrix
    assert np.shares_memory(indices, X.indices) and np.shares_memory(data, X.data)


def test_frames_bring_their_names(planted):
    X, y = planted
    names = [f"gene{j}" for j in range(40)]
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = katoms.SparseRegressor(2, always_select=["gene30"]).fit(frame, y)
        assert list(model.feature_names_in_) == names
        assert model.get_feature_names_out().tolist() == ["gene3", "gene11", "gene30"]
        assert model.support_.tolist() == [3, 11, 30] and model.support_size_ == 2
        assert np.allclose(model.predict(frame), X @ model.coef_ + model.intercept_)
    with pytest.raises(ValueError, match="did you mean 'gene30'"):
        katoms.SparseRegressor(2, always_select=["gene300"]).fit(frame, y)
    text = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "sex": ["m", "f", "m"]})
    with pytest.raises(ValueError, match="column 'sex' holds 'm', which is no number; encode it"):
        katoms.SparseRegressor(1).fit(text, [1.0, 2.0, 3.0])


# What is asked for.


GROUPS = {
    "labels": [j % 10 for j in range(40)],
    "labels of text": [f"g{j % 10}" for j in range(40)],
    "lists": [[g, g + 10, g + 20, g + 30] for g in range(10)],
    "lists in any order": [[g + 30, g, g + 20, g + 10] for g in range(10)][::-1],
    "names": [[f"x{g}", f"x{g + 10}", f"x{g + 20}", f"x{g + 30}"] for g in range(10)],
    "dictionary": {f"g{g}": [g, g + 10, g + 20, g + 30] for g in range(10)},
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_groups_in_every_notation(groups):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 40))
    y = X[:, 3] - 2 * X[:, 13] + X[:, 23] + 0.5 * X[:, 33] + 3 * X[:, 6] - X[:, 16] + X[:, 26] + X[:, 36]
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(40)])
    model = katoms.SparseRegressor(2, groups=groups).fit(frame, y)
    assert model.support_.tolist() == [3, 6, 13, 16, 23, 26, 33, 36]
    assert len(model.chosen_groups_) == 2


def test_sizes_and_sharing_groups():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 12))
    y = X[:, 3] + X[:, 4] - X[:, 5]
    by_sizes = katoms.SparseRegressor(1, groups=[3, 3, 6]).fit(X, y)
    assert by_sizes.support_.tolist() == [3, 4, 5] and by_sizes.chosen_groups_ == ["1"]
    partly = katoms.SparseRegressor(2, groups={"pair": [3, 4]}).fit(X, y)
    assert partly.support_.tolist() == [3, 4, 5] and partly.chosen_groups_ == ["pair", "x5"]
    sharing = katoms.SparseRegressor(1, groups=[[0, 1, 3], [3, 4, 5], [5, 6, 7]]).fit(X, y)
    assert sharing.support_.tolist() == [3, 4, 5]


def test_weights_stand_for_repetitions(planted):
    X, y = planted
    weights = np.random.default_rng(7).integers(0, 4, size=150)
    weighted = katoms.SparseRegressor().fit(X, y, sample_weight=weights)
    repeated = katoms.SparseRegressor().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.support_size_ == repeated.support_size_
    assert np.allclose(weighted.coef_, repeated.coef_)


def test_without_an_intercept_nothing_is_centred(planted):
    X, y = planted
    model = katoms.SparseRegressor(2, fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    expected = np.linalg.lstsq(X[:, model.support_], y, rcond=None)[0]
    assert np.allclose(model.coef_[model.support_], expected)


def test_coefficients_stay_within_bounds(planted):
    X, y = planted
    positive = katoms.SparseRegressor(3, positive=True).fit(X, y)
    assert (positive.coef_ >= 0).all() and 3 in positive.support_ and 11 not in positive.support_
    narrow = katoms.SparseRegressor(2, bounds=(-1, 1.5)).fit(X, y)
    assert narrow.coef_[3] == 1.5 and narrow.coef_[11] == -1
    wide = katoms.SparseRegressor(2, bounds=(None, np.full(40, 100.0))).fit(X, y)
    assert np.allclose(wide.coef_, katoms.SparseRegressor(2).fit(X, y).coef_)
    validated = katoms.SparseRegressorCV([1, 2, 3], positive=True).fit(X, y)
    assert (validated.coef_ >= 0).all() and (validated.cv_results_["coef"].toarray() >= 0).all()
    labels = np.where(y > 5, 1, 0)
    assert (katoms.SparseClassifier(2, positive=True).fit(X, labels).coef_ >= 0).all()


def test_a_range_of_sizes_is_judged_by_a_criterion(planted):
    X, y = planted
    model = katoms.SparseRegressor(range(1, 9), ic_type="ebic").fit(X, y)
    assert model.support_size_ == 2 == model.path_.best("ebic")
    assert katoms.SparseRegressor(range(1, 9), ic_type="BIC").fit(X, y).support_size_ == model.path_.best("bic")
    assert np.allclose(model.coef(support_size=2), model.coef_)
    assert np.count_nonzero(model.coef(support_size=5)) == 5
    m, losses = 150, model.path_.losses
    expected = m * np.log(2 * losses / m) + np.log(m) * (np.arange(1, 9) + 1)
    assert np.allclose(np.diff(model.path_.criteria["bic"]), np.diff(expected))
    with pytest.raises(ValueError, match="the path has models of the sizes 1, 2"):
        model.coef(support_size=20)
    with pytest.raises(ValueError, match="only size 2 was fitted"):
        katoms.SparseRegressor(2).fit(X, y).coef(support_size=3)


def test_path_is_the_estimators_path(planted):
    X, y = planted
    found = katoms.path(X, y, support_sizes=range(1, 9))
    model = katoms.SparseRegressor(range(1, 9)).fit(X, y)
    assert np.array_equal(found.coefs, model.path_.coefs) and found.best() == model.support_size_
    assert katoms.path(X, y).support_sizes.tolist() == katoms.SparseRegressor().fit(X, y).path_.support_sizes.tolist()


def test_a_path_stores_only_what_is_not_zero():
    """20,000 features, ten sizes: 55 coefficients, in memory and in a pickle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20_000)).astype(np.float32)
    y = X[:, :3].sum(axis=1) + rng.normal(size=100)
    model = katoms.SparseRegressor(range(11)).fit(X, y)
    validated = katoms.SparseRegressorCV(range(11), l2=0.0).fit(X, y)
    for coefs in (model.path_.coefs, model.path_.standardized_coefs, validated.cv_results_["coef"]):
        assert coefs.shape == (11, 20_000) and coefs.nnz == 55 and len(pickle.dumps(coefs)) < 4000
        assert np.array_equal(coefs.tocsr().toarray(), coefs.toarray()) and coefs[2:4].shape == (2, 20_000)
        assert np.array_equal(coefs[-1], list(coefs)[10]) and np.count_nonzero(coefs[3]) == 3
        with pytest.raises(IndexError):
            coefs[11]
    assert np.array_equal(model.path_.coefs[4], model.path_.coef(4))


def test_classes_keep_their_names(classes):
    X, y = classes
    model = katoms.SparseClassifier(2).fit(X, y)
    assert model.support_.tolist() == [3, 11] and model.classes_.tolist() == ["no", "yes"]
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.allclose(probabilities[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    assert (model.predict(X) == np.where(probabilities[:, 1] > 0.5, "yes", "no")).all()
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    with pytest.warns(katoms.ConvergenceWarning, match="separation"):
        katoms.SparseClassifier(1).fit(X, X[:, 0] > 0)


def test_cross_validation_keeps_what_it_saw(planted):
    X, y = planted
    model = katoms.SparseRegressorCV(range(1, 7), l2=[0.0, 1.0], rule="1se").fit(X, y)
    results = model.cv_results_
    assert results["fold_losses"].shape == (14, 5)
    assert np.allclose(results["fold_losses"].mean(axis=1), results["mean_loss"])
    assert model.k_1se_ == model.support_size_ == 2 <= model.k_min_
    labels = model.fold_of_row_
    again = katoms.SparseRegressorCV(range(1, 7), l2=[0.0, 1.0], rule="1se", cv=labels).fit(X, y)
    assert (again.cv_results_["mean_loss"] == results["mean_loss"]).all()
    held = labels == 0
    inside = katoms.SparseRegressor(2).fit(X[~held], y[~held])
    at = np.flatnonzero((results["support_size"] == 2) & (results["l2"] == 0))[0]
    assert np.isclose(results["fold_losses"][at, 0], 0.5 * np.mean((inside.predict(X[held]) - y[held]) ** 2))


def test_folds_in_every_notation(planted):
    from sklearn.model_selection import GroupKFold, KFold

    X, y = planted
    by_splitter = katoms.SparseRegressorCV([1, 2], cv=KFold(4)).fit(X, y)
    by_splits = katoms.SparseRegressorCV([1, 2], cv=list(KFold(4).split(X))).fit(X, y)
    assert (by_splitter.fold_of_row_ == by_splits.fold_of_row_).all()
    assert katoms.SparseRegressorCV([1, 2], cv=4, random_state=1).fit(X, y).fold_of_row_.max() == 3
    grouped = GroupKFold(3).split(X, y, groups=np.arange(150) // 10)
    assert katoms.SparseRegressorCV([1, 2], cv=grouped).fit(X, y).fold_of_row_.max() == 2


# How it works.


def test_a_method_by_name_and_a_name_that_no_method_has(planted):
    X, y = planted
    assert katoms.SparseRegressor(2, method="OMP").fit(X, y).support_.tolist() == [3, 11]
    with pytest.raises(InvalidInputError, match="did you mean"):
        katoms.SparseRegressor(2, method="ompp").fit(X, y)


def test_not_converging_is_a_warning_of_scikit_learn(planted):
    from sklearn.exceptions import ConvergenceWarning

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 200)).cumsum(axis=1)
    y = rng.normal(size=50)
    with pytest.warns(ConvergenceWarning, match="has not converged.*raise max_iter") as caught:
        model = katoms.SparseRegressor(10, method="iht", max_iter=2).fit(X, y)
    assert issubclass(caught[0].category, katoms.ConvergenceWarning)
    assert model.status_ == "iteration-cap" and model.n_iter_ == 2


def test_warm_start_begins_at_the_last_answer(planted):
    X, y = planted
    model = katoms.SparseRegressor(2, method="iht", warm_start=True)
    first = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ < first
    assert model.support_.tolist() == [3, 11]


def test_a_callback_sees_every_move_and_may_stop(planted):
    X, y = planted
    seen = []
    model = katoms.SparseRegressor(2, method="iht", callback=seen.append).fit(X, y)
    iterations = [move["iteration"] for move in seen if move["phase"] != "reading"]
    # A move that takes long is told of again.
    assert list(dict.fromkeys(iterations)) == list(range(1, model.n_iter_ + 1))
    with pytest.warns(katoms.ConvergenceWarning):
        stopped = katoms.SparseRegressor(2, method="iht", callback=lambda move: move["iteration"] == 3).fit(X, y)
    assert stopped.status_ == "stopped" and stopped.n_iter_ == 3

    def fails(move):
        raise RuntimeError("as the callback says")

    with pytest.raises(RuntimeError, match="as the callback says"):
        katoms.SparseRegressor(2, callback=fails).fit(X, y)


def test_verbose_prints(planted, capsys):
    katoms.SparseRegressor(2, verbose=1).fit(*planted)
    assert "iteration 1: objective" in capsys.readouterr().out


def test_the_answer_does_not_depend_on_threads(planted):
    X, y = planted
    answers = [katoms.SparseRegressor(5, n_jobs=n).fit(X, y).coef_ for n in (None, 1, 2, -1)]
    assert all((answer == answers[0]).all() for answer in answers)


LONG = """
import os, signal
import numpy as np, katoms
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 1000)).cumsum(axis=1)
y = rng.normal(size=300)

interrupted = []

def interrupt(move):
    if not interrupted and (move.get("iteration", 0) >= 3 or move.get("done", 0) >= 2):
        interrupted.append(move)
        os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize(
    "model",
    [
        'katoms.SparseRegressor(60, method="iht", max_iter=10**9, tol=0.0, callback=interrupt)',
        "katoms.SparseRegressor(range(1, 100), callback=interrupt)",
        "katoms.SparseRegressorCV(range(1, 100), callback=interrupt)",
    ],
)
def test_ctrl_c_ends_a_fit_and_keeps_the_model(model):
    script = (
        LONG
        + f"""
model = {model}
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.status_, model.coef_.shape[0], len(model.predict(X)))
"""
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "stopped 1000 300\n", done.stderr


def test_other_threads_go_on_while_rust_works(planted):
    """One move of a thread that only Python moves, for each move of the fit: the lock is free in between."""
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)

    def other():
        while asked.acquire(timeout=60):
            answered.release()

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    moves = []

    def callback(move):
        asked.release()
        assert answered.acquire(timeout=60)
        moves.append(move)

    katoms.SparseRegressor(2, method="iht", callback=callback).fit(*planted)
    assert moves
    big = np.random.default_rng(0).normal(size=(2000, 3000))
    begun, seen = threading.Event(), []

    def fits():
        begun.set()
        katoms.SparseRegressorCV(range(1, 9)).fit(big, big[:, 0] + big[:, 1] + big[:, 2:5].sum(axis=1))
        seen.append("end")

    worker = threading.Thread(target=fits)
    worker.start()
    begun.wait()
    while worker.is_alive() and seen.count("tick") < 3:
        seen.append("tick")
        time.sleep(0.01)
    worker.join()
    assert seen[:3] == ["tick"] * 3


def test_a_callback_may_fit(planted):
    X, y = planted
    inner = []
    callback = lambda move: inner.append(katoms.SparseRegressor(2).fit(X, y).coef_)  # noqa: E731
    outer = katoms.SparseRegressor(2, n_jobs=1, callback=callback).fit(X, y)
    assert inner and (inner[0] == outer.coef_).all()


def test_a_choice_that_was_cut_short_says_so(planted):
    X, y = planted
    for model in (
        katoms.SparseRegressor(range(1, 9), callback=lambda move: move.get("done", 0) >= 2),
        katoms.SparseRegressorCV(range(1, 9), callback=lambda move: move.get("done", 0) >= 2),
    ):
        with pytest.warns(katoms.ConvergenceWarning, match="ended by the callback") as caught:
            model.fit(X, y)
        assert model.status_ == "stopped" and caught[0].filename == __file__


def test_a_fit_that_is_refused_leaves_the_model_as_it_was(planted):
    X, y = planted
    model = katoms.SparseRegressor([1, 2]).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="y has length 10"):
        model.fit(X[:, :3], y[:10])
    assert (model.predict(X) == before).all() and model.n_features_in_ == 40
    assert model.path_.support_sizes.tolist() == [1, 2]


def test_a_choice_that_was_broken_off_tells_nothing_of_the_model_before(planted):
    X, y = planted
    model = katoms.SparseRegressor([1, 2]).fit(X, y)

    def fails(move):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(callback=fails).fit(X[:, :20], y)
    assert model.status_ == "stopped" and model.n_features_in_ == 20 == len(model.coef_)
    assert not hasattr(model, "quality_") and not hasattr(model, "loss_")


def test_log_probabilities_are_finite_far_out():
    X = np.linspace(-3, 3, 40).reshape(-1, 1)
    y = (X[:, 0] + np.random.default_rng(0).normal(size=40) > 0).astype(int)
    model = katoms.SparseClassifier(1).fit(X, y)
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all()
    assert np.allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_misaligned_memory_is_read(planted):
    X, y = planted
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    odd = raw[1:].view(np.float64).reshape(X.shape)
    odd[:] = X
    assert not odd.flags.aligned
    assert (katoms.SparseRegressor(2).fit(odd, y).coef_ == katoms.SparseRegressor(2).fit(X, y).coef_).all()


def test_a_forked_process_has_threads_of_its_own():
    import multiprocessing

    # large enough to be read by several threads
    X = np.random.default_rng(0).normal(size=(600, 2000))
    y = X[:, 5] - X[:, 7]
    expected = _predicted(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            forked = pool.apply(_predicted, (X, y))
    assert (forked == expected).all()


def _predicted(X, y):
    return katoms.SparseRegressor(2).fit(X, y).predict(X)


# Bad days.


def test_python_is_rust_to_the_bit(planted, tmp_path):
    """The program reads the same numbers and gives the same model."""
    import json

    X, y = planted
    np.savez(tmp_path / "data.npz", X=X, y=y)
    for options, model in (
        (["fit", "-k", "3"], katoms.SparseRegressor(3)),
        (["fit", "-k", "3", "--ridge", "2.5"], katoms.SparseRegressor(3, l2=2.5)),
        (["fit", "-k", "2", "--no-standardize"], katoms.SparseRegressor(2, standardize=False)),
    ):
        command = [sys.executable, "-m", "katoms", options[0], str(tmp_path / "data.npz"), "--target", "y", "--json"]
        told = json.loads(subprocess.run(command + options[1:], capture_output=True, check=True, text=True).stdout)
        model.fit(X, y)
        written = told["model"]
        assert [feature["value"] for feature in written["coefficients"]] == model.coef_[model.support_].tolist()
        assert written["intercept"] == model.intercept_ and written["objective"] == model.objective_
        cost = (model.n_passes_, model.n_reads_, model.n_columns_read_)
        assert tuple(told["run"][name] for name in ("passes", "reads", "columns")) == cost and min(cost) > 0


def test_an_effort_is_heard_or_refused():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 40))
    y = X[:, :6].sum(axis=1) + rng.normal(size=60)
    quick, default, thorough = (katoms.SparseRegressor(6, effort=e).fit(X, y) for e in ("quick", "default", "thorough"))
    assert thorough.objective_ <= default.objective_ <= quick.objective_
    assert (katoms.SparseRegressor(6, effort=1).fit(X, y).support_ == default.support_).all()
    for kwargs, said in [
        ({"effort": "hard"}, "effort is hard"),
        ({"effort": -1}, "effort is -1"),
        ({"effort": "quick", "method": "omp"}, "leave the effort out, or the method"),
        ({"effort": "quick", "positive": True}, "leave the effort out, or the bounds"),
    ]:
        with pytest.raises(ValueError, match=said):
            katoms.SparseRegressor(6, **kwargs).fit(X, y)
    with pytest.raises(ValueError, match="for one size"):
        katoms.SparseRegressor([2, 3], effort="thorough").fit(X, y)
