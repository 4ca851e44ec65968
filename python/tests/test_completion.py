"""Matrices from some of their entries."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import katoms
from katoms import ConvergenceWarning, InvalidInputError, MatrixCompletion, MatrixCompletionCV

EXACT = {"l2": 0.0, "centring": "none", "clip": None}


def planted(rows=60, columns=40, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))


def holes(X, share=0.4, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def stars(rows=80, columns=50, seed=2):
    """Stars from 1 to 5: people and things have a level of their own, and a taste of rank 2."""
    rng = np.random.default_rng(seed)
    levels = 0.7 * rng.normal(size=(rows, 1)) + 0.7 * rng.normal(size=columns)
    taste = planted(rows, columns, 2, seed)
    return np.clip(np.round(3 + levels + 0.6 * taste + 0.4 * rng.normal(size=taste.shape)), 1, 5)


def forms(X):
    """The same entries as an array, in other orders and as other containers."""
    rows, columns = np.nonzero(~np.isnan(X))
    order = np.random.default_rng(9).permutation(len(rows))
    rows, columns = rows[order], columns[order]
    values = X[rows, columns]
    coo = sparse.coo_matrix((values, (rows, columns)), shape=X.shape)
    return {
        "array": X,
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "list": X.tolist(),
        "coo": coo,
        "csr": coo.tocsr(),
        "csc array": sparse.csc_array(coo),
        "entries": (rows, columns, values),
        "entries with a shape": (rows.tolist(), columns.tolist(), values.tolist(), X.shape),
    }


@parametrize_with_checks([MatrixCompletion(), MatrixCompletion(rank=1), MatrixCompletionCV()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_planted_matrix_is_found():
    whole = planted()
    model = MatrixCompletion(rank=3, **EXACT).fit(holes(whole))
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.to_dense(), whole, atol=1e-4)
    np.testing.assert_allclose(model.transform(holes(whole)), whole, atol=1e-3)
    assert (model.rank_, model.l2_, model.centring_, model.held_out_rmse_) == (3, 0.0, "none", None)
    assert len(model.trace_) == model.n_iter_ > 0 and model.n_passes_ >= model.n_iter_
    assert model.quality_.stationarity < 1e-4
    assert model.rmse_ < 1e-4


@pytest.mark.parametrize(("scale", "centring"), [("auto", "columns"), (False, "none")])
def test_without_a_word_the_rank_is_found(scale, centring):
    whole = planted(rank=2)
    model = MatrixCompletion(scale=scale, clip=None).fit(holes(whole))
    assert (model.rank_, model.centring_) == (2, centring)
    assert np.sqrt(np.mean((model.to_dense() - whole) ** 2)) < 1e-2 * whole.std()


@pytest.mark.parametrize("scale", [True, False])
def test_all_forms_of_input_give_the_same_bits(scale):
    X = holes(stars())
    fitted = {name: MatrixCompletion(rank=2, scale=scale).fit(form) for name, form in forms(X).items()}
    first = fitted["array"]
    for name, model in fitted.items():
        for ours, theirs in zip(model.factors_, first.factors_):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
        np.testing.assert_array_equal(model.to_dense(), first.to_dense(), err_msg=name)
        assert model.held_out_rmse_ == first.held_out_rmse_
    for name, form in forms(X).items():
        np.testing.assert_array_equal(first.transform(form), first.transform(X), err_msg=name)


def test_stored_zeros_are_seen():
    X = holes(stars()) - 3
    rows, columns = np.nonzero(~np.isnan(X))
    assert (X[rows, columns] == 0).any()
    stored = sparse.coo_matrix((X[rows, columns], (rows, columns)), shape=X.shape)
    model = MatrixCompletion(rank=2, scale=False)
    np.testing.assert_array_equal(model.fit(stored).to_dense(), model.fit(X).to_dense())


def test_repeated_entries_count_once_with_their_mean():
    X = holes(stars())
    rows, columns = np.nonzero(~np.isnan(X))
    values = X[rows, columns]
    twice = (np.r_[rows, rows], np.r_[columns, columns], np.r_[values - 0.5, values + 0.5], X.shape)
    model = MatrixCompletion(rank=2, l2=0.3, centring="effects").fit(twice)
    once = MatrixCompletion(rank=2, l2=0.3, centring="effects").fit(X)
    np.testing.assert_allclose(model.to_dense(), once.to_dense(), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_less_precision_agrees(dtype):
    X = holes(stars()).astype(dtype)
    single, double = (MatrixCompletion(rank=2).fit(form) for form in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(single.to_dense(), double.to_dense())
    assert single.transform(X).dtype == (np.float32 if dtype is np.float32 else np.float64)


def test_factors_and_effects_are_the_matrix():
    for centring in ("none", "mean", "effects"):
        model = MatrixCompletion(rank=2, l2=0.1, centring=centring).fit(holes(stars()))
        left, right = model.factors_
        assert left.shape == (80, 2) and right.shape == (50, 2)
        by_hand = model.mean_ + model.row_effects_[:, None] + model.column_effects_ + left @ right.T
        np.testing.assert_allclose(model.to_dense(), np.clip(by_hand, *model.bounds_), atol=1e-12)
        np.testing.assert_allclose(right.T @ right, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(left, axis=0), model.singular_values_)
        assert model.bounds_ == (1.0, 5.0)


def units(rows=120, columns=6, seed=5):
    """Two factors and noise, each column in a unit of its own and far from zero."""
    plain = planted(rows, columns, 2, seed) + 0.3 * np.random.default_rng(seed).normal(size=(rows, columns))
    return (plain + 20) * 10.0 ** np.arange(columns)


def test_scaled_columns_are_the_same_matrix():
    X = holes(units(), 0.2)
    for model in (MatrixCompletion(rank=2).fit(X), pickle.loads(pickle.dumps(MatrixCompletion(rank=2).fit(X)))):
        left, right = model.factors_
        np.testing.assert_allclose(np.nanstd(X, axis=0), model.scales_)
        by_hand = model.mean_ + model.row_effects_[:, None] + model.column_effects_ + left @ right.T
        np.testing.assert_allclose(model.to_dense(), np.clip(by_hand, *model.bounds_), rtol=1e-10)
        unit = right / model.scales_[:, None]
        np.testing.assert_allclose(unit.T @ unit, np.eye(2), atol=1e-10)
        np.testing.assert_array_equal(model.bounds_, [np.nanmin(X, axis=0), np.nanmax(X, axis=0)])
        assert (model.centring_, model.l2_) == ("columns", 0.0) and model.row_prior_ in ("normal", "rows")
        assert (model.noise_variance_ < 0.5 * model.scales_**2).all()
        # the model at a place, in a new row and in the whole are one
        seen = ~np.isnan(X)
        np.testing.assert_allclose(model.predict(X), model.to_dense(), rtol=1e-7)
        np.testing.assert_array_equal(model.transform(X)[seen], X[seen])
        np.testing.assert_array_equal(model.predict([3], [5]), model.to_dense()[[3], [5]])
    plain = MatrixCompletion(rank=2, scale=False).fit(X)
    assert plain.noise_variance_ is None and plain.row_prior_ == "ridge" and (plain.scales_ == 1).all()


def test_what_is_scaled_without_a_word():
    table = holes(units(), 0.2)
    rows, columns = np.nonzero(~np.isnan(table))
    entries = (rows, columns, table[rows, columns])
    for scaled, X in [
        (True, table),
        (True, table.astype(np.float32)),
        (True, holes(stars(), 0.3)),
        (False, holes(stars(), 0.7)),
        (False, entries),
        (False, sparse.coo_matrix((entries[2], entries[:2]))),
    ]:
        assert (MatrixCompletion(rank=1).fit(X).noise_variance_ is not None) == scaled
    assert MatrixCompletion(rank=1, l2=0.1).fit(table).noise_variance_ is None
    assert MatrixCompletion(rank=1, scale=True).fit(entries).noise_variance_ is not None


def test_new_rows_of_features():
    whole = units(200)
    model = MatrixCompletion().fit(holes(whole[:150], 0.2))
    new = holes(whole[150:], 0.3, seed=2)
    hidden = np.isnan(new)
    spread = whole.std(axis=0)

    def error(filled):
        return np.sqrt(np.mean(((filled - whole[150:]) / spread)[hidden] ** 2))

    means = np.broadcast_to(model.column_effects_, new.shape)
    assert error(model.transform(new)) < 0.5 * error(means)
    np.testing.assert_allclose(model.transform(np.full((1, 6), np.nan))[0], model.column_effects_)


def hidden_error(whole, holed, filled):
    """In standard deviations of the columns."""
    return np.sqrt(np.mean(((filled - whole) / whole.std(axis=0))[np.isnan(holed)] ** 2))


@pytest.mark.parametrize(
    ("name", "share", "draws"),
    [("wine", 0.2, 1)]
    + [
        pytest.param(name, share, 3, marks=pytest.mark.long)
        for name in ("wine", "breast_cancer")
        for share in (0.1, 0.2, 0.4)
    ],
)
def test_ordinary_tables_are_filled_better_than_by_simpler_imputers(name, share, draws):
    whole = getattr(datasets, f"load_{name}")().data

    def scaled(imputer, X):
        scaler = StandardScaler().fit(X)
        return scaler.inverse_transform(imputer.fit_transform(scaler.transform(X)))

    others = {
        "mean": lambda X: SimpleImputer().fit_transform(X),
        "knn": lambda X: KNNImputer().fit_transform(X),
        "scaled knn": lambda X: scaled(KNNImputer(), X),
        "iterative": lambda X: IterativeImputer(random_state=0).fit_transform(X),
        "scaled iterative": lambda X: scaled(IterativeImputer(random_state=0), X),
    }
    errors = {other: [] for other in ("katoms", *others)}
    for seed in range(draws):
        X = holes(whole, share, seed=100 + seed)
        filled = MatrixCompletion().fit_transform(X)
        missing = np.isnan(X)
        for low, high, column, gap in zip(np.nanmin(X, axis=0), np.nanmax(X, axis=0), filled.T, missing.T):
            assert (column[gap] >= low).all() and (column[gap] <= high).all()
        errors["katoms"].append(hidden_error(whole, X, filled))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IterativeImputer stops after ten rounds
            for other, fill in others.items():
                errors[other].append(hidden_error(whole, X, fill(X)))
    mean = {other: np.mean(found) for other, found in errors.items()}
    assert mean["katoms"] < min(mean["mean"], mean["knn"], mean["scaled knn"]), mean
    assert mean["katoms"] < 1.1 * min(mean["iterative"], mean["scaled iterative"]), mean


def test_noise_is_filled_with_means():
    whole = np.random.default_rng(4).normal(size=(200, 8))
    X = holes(whole, 0.2)
    means = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    assert hidden_error(whole, X, MatrixCompletion().fit_transform(X)) < 1.02 * hidden_error(whole, X, means)


def test_a_column_without_values_is_named():
    X = units(20)
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="column 3 .counted from 0. has no value at all"):
        MatrixCompletion().fit(X)


@pytest.mark.parametrize("library", [None, "pandas", "polars"])
def test_rows_and_columns_by_name(library):
    whole = stars(20, 12)
    X = holes(whole)
    rows, columns = np.nonzero(~np.isnan(X))
    people, films = np.array([f"p{i:02}" for i in range(20)]), np.array([f"f{j:02}" for j in range(12)])
    order = np.random.default_rng(3).permutation(len(rows))
    lines = people[rows[order]], films[columns[order]], X[rows, columns][order]
    given = lines
    if library is not None:
        frames = pytest.importorskip(library)
        given = frames.DataFrame(dict(zip(("who", "what", "stars"), lines)))
    model = MatrixCompletion(rank=1).fit(given)
    plain = MatrixCompletion(rank=1).fit((rows, columns, X[rows, columns]))
    np.testing.assert_array_equal(model.to_dense(), plain.to_dense())
    assert model.row_names_in_.tolist() == people.tolist() and model.feature_names_in_.tolist() == films.tolist()
    assert model.predict("p03", "f07") == plain.predict(3, 7)
    np.testing.assert_array_equal(model.predict(["p03", "p01"], ["f07", "f00"]), plain.predict([3, 1], [7, 0]))
    np.testing.assert_array_equal(model.predict("p03", films), plain.to_dense()[3])
    np.testing.assert_array_equal(model.predict(3, "f07"), plain.predict(3, 7))
    new = (["y", "x", "x"], ["f05", "f02", "f11"], [1.0, 5.0, 4.0])
    filled = model.transform(new)
    np.testing.assert_array_equal(filled, plain.transform(([1, 0, 0], [5, 2, 11], [1.0, 5.0, 4.0])))
    if library == "pandas":
        framed = model.set_output(transform="pandas").transform(new)
        assert framed.index.tolist() == ["x", "y"] and framed.columns.tolist() == films.tolist()
    with pytest.raises(ValueError, match="rows names 'p3', but no row of X is called so; did you mean 'p..'"):
        model.predict("p3", "f07")
    with pytest.raises(ValueError, match="columns names 'g', but no column of X is called so"):
        model.transform((["x"], ["g"], [1.0]))
    with pytest.raises(ValueError, match="rows names 'a', but the rows of X have no names; give indices from 0"):
        plain.predict("a", 1)


def test_rows_may_have_names_where_columns_have_none():
    half = MatrixCompletion(rank=1, l2=1.0).fit((["a", "b", "b"], [0, 1, 0], [1.0, 2.0, 3.0]))
    assert half.predict("b", 1) == half.predict(1, 1) and not hasattr(half, "feature_names_in_")


def test_a_matrix_that_does_not_fit_is_a_memory_error():
    script = """
        import resource
        import numpy as np
        from katoms import MatrixCompletion
        n = 60_000
        i = np.arange(n)
        rows, columns = np.tile(i, 2), np.concatenate([i, i * 7919 % n])
        model = MatrixCompletion(rank=1, l2=1.0, centring="effects", n_jobs=1).fit((rows, columns, rows % 5 + 1.0))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        for ask in (model.to_dense, lambda: model.transform((rows, columns, rows % 5 + 1.0))):
            try:
                ask()
            except MemoryError as error:
                print(error)
        print(model.predict([1, 2], [3, 4]).shape)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    assert len(words) == 3 and words[2] == "(2,)", done.stdout
    assert all("60000 × 60000 takes 28800 MB of memory" in line and "factors" in line for line in words[:2])


def test_predictions_at_places():
    model = MatrixCompletion(rank=2).fit(holes(stars()))
    whole = model.to_dense()
    np.testing.assert_array_equal(model.predict([3, 7], [1, 49]), whole[[3, 7], [1, 49]])
    np.testing.assert_array_equal(model.predict(3, np.arange(50)), whole[3])
    rows, columns = np.arange(80)[:, None], np.arange(50)
    np.testing.assert_array_equal(model.predict(rows, columns), whole)
    assert model.predict(3, 4).shape == ()
    assert model.predict([], []).shape == (0,)


def test_new_rows():
    whole = planted(100, 40)
    model = MatrixCompletion(rank=3, tol=1e-9, **EXACT).fit(holes(whole[:60]))
    new = holes(whole[60:], 0.7)
    filled = model.transform(new)
    seen = ~np.isnan(new)
    np.testing.assert_array_equal(filled[seen], new[seen])
    known = seen.sum(axis=1) >= 6
    assert known.sum() > 30
    np.testing.assert_allclose(filled[known], whole[60:][known], atol=1e-2)
    np.testing.assert_allclose(model.predict(new)[known], whole[60:][known], atol=1e-2)


def test_rows_of_the_fit_get_what_they_have_there():
    X = holes(stars())
    model = MatrixCompletion(rank=2, l2=0.3, centring="effects", tol=1e-9).fit(X)
    np.testing.assert_allclose(model.predict(X), model.to_dense(), atol=2e-3)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))
    assert not np.isnan(model.transform(X)).any()


def test_new_rows_as_places():
    model = MatrixCompletion(rank=2, l2=0.3, centring="effects").fit(holes(stars()))
    new = np.full((3, 50), np.nan)
    new[0, 2], new[2, 5] = 1.0, 4.0
    np.testing.assert_array_equal(model.transform(([0, 2], [2, 5], [1.0, 4.0])), model.transform(new))
    with pytest.raises(ValueError, match="column index at position 0 is 50, but there are only 50"):
        model.transform(([0], [50], [1.0]))


def test_a_row_without_entries_gets_the_columns_effects():
    model = MatrixCompletion(rank=2, l2=0.3, centring="effects").fit(holes(stars()))
    empty = model.transform(np.full((1, 50), np.nan))
    np.testing.assert_allclose(empty[0], np.clip(model.mean_ + model.column_effects_, 1, 5))


def test_threads_change_nothing():
    X = holes(stars())
    one, two = (MatrixCompletion(rank=2, n_jobs=jobs).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.to_dense(), two.to_dense())


def test_ratings_are_predicted_better_than_by_means():
    whole = stars()
    X = holes(whole, 0.6)
    hidden = np.isnan(X)
    by_mean = np.sqrt(np.mean((np.nanmean(X) - whole[hidden]) ** 2))
    columns = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    by_columns = np.sqrt(np.mean((columns[hidden] - whole[hidden]) ** 2))
    model = MatrixCompletionCV(rank=range(1, 6)).fit(X)
    error = np.sqrt(np.mean((model.transform(X)[hidden] - whole[hidden]) ** 2))
    assert error < 0.8 * by_columns and error < 0.7 * by_mean
    # what was held out foretells what was hidden
    assert abs(model.held_out_rmse_ - error) < 0.15 * error


def test_real_ratings_of_new_people():
    beside = Path(__file__).parents[3] / "shared" / "data"
    file = Path(os.environ.get("KATOMS_DATA", beside)) / "ml100k.npz"
    if not file.exists():
        pytest.skip(f"no ratings at {file} (set KATOMS_DATA to the folder that has them)")
    data = np.load(file)
    people, things, ratings = (data[name].astype(int) for name in ("user", "item", "rating"))
    people, things = people - people.min(), things - things.min()
    X = np.full((people.max() + 1, things.max() + 1), np.nan)
    X[people, things] = ratings
    model = MatrixCompletion(rank=3, l2=0.3, centring="effects", tol=1e-4).fit(X[:800])
    new = X[800:].copy()
    hidden = ~np.isnan(new) & (np.random.default_rng(0).random(new.shape) < 0.3)
    truth = new[hidden]
    new[hidden] = np.nan

    def error(filled):
        return np.sqrt(np.mean((filled[hidden] - truth) ** 2))

    levels = np.broadcast_to(model.mean_ + model.column_effects_, new.shape)
    assert error(model.transform(new)) < 0.92 * error(levels)


def test_the_choice_is_told():
    rng = np.random.default_rng(3)
    X = holes(planted() + 0.3 * rng.normal(size=(60, 40)))
    model = MatrixCompletionCV(rank=range(1, 7), l2=[0.0, 0.1], centring="none").fit(X)
    tried = model.cv_results_
    assert set(tried) == {
        "rank",
        "l2",
        "centring",
        "row_prior",
        "held_out_rmse",
        "held_out_mse",
        "standard_error",
        "seen_rmse",
    }
    best = np.argmin(tried["held_out_mse"])
    assert (model.rank_, model.l2_) == (tried["rank"][best], tried["l2"][best])
    assert model.rank_min_ == model.rank_ == 3
    assert model.held_out_rmse_ == tried["held_out_rmse"][best]
    within = tried["held_out_mse"] <= tried["held_out_mse"][best] + tried["standard_error"][best]
    assert model.rank_1se_ == tried["rank"][within].min()
    simple = MatrixCompletionCV(rank=range(1, 7), l2=[0.0, 0.1], centring="none", rule="1se").fit(X)
    assert simple.rank_ == model.rank_1se_
    other = MatrixCompletionCV(rank=range(1, 7), l2=[0.0, 0.1], centring="none", random_state=5).fit(X)
    assert not np.array_equal(other.cv_results_["held_out_mse"][:1], tried["held_out_mse"][:1])


def test_nothing_to_choose_from():
    model = MatrixCompletionCV(rank=2, l2=0.1, centring="effects").fit(holes(stars()))
    assert model.rank_min_ == model.rank_1se_ == 2
    assert len(model.cv_results_["rank"]) == 0
    same = MatrixCompletion(rank=2, l2=0.1, centring="effects").fit(holes(stars()))
    np.testing.assert_array_equal(model.to_dense(), same.to_dense())


def test_where_nothing_can_be_held_out_that_is_said():
    with pytest.warns(UserWarning, match="none can be held out to choose on: rank 1, l2 1 and centring 'effects'"):
        model = MatrixCompletion(scale=False).fit([[1.0, np.nan, 3.0]])
    assert model.transform([[1.0, np.nan, 3.0]])[0, 1] == pytest.approx(2.0)
    with pytest.warns(UserWarning, match="none can be held out to choose on: rank 0 and row prior 'normal'"):
        model = MatrixCompletion().fit([[1.0, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(model.transform([[1.0, np.nan]]), [[1.0, 3.0]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    X = holes(stars(20, 6))
    names = list("abcdef")
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    model = MatrixCompletion(rank=1).fit(frame)
    assert model.feature_names_in_.tolist() == names == model.get_feature_names_out().tolist()
    plain = MatrixCompletion(rank=1).fit(X)
    np.testing.assert_array_equal(model.transform(frame), plain.transform(X))
    np.testing.assert_array_equal(model.predict([0, 1], ["f", "b"]), plain.predict([0, 1], [5, 1]))
    filled = model.set_output(transform=library).transform(frame)
    assert isinstance(filled, frames.DataFrame) and list(filled.columns) == names
    np.testing.assert_array_equal(filled.to_numpy(), plain.transform(X))
    with pytest.raises(ValueError, match="columns names 'g', but no column of X is called so"):
        model.predict([0], ["g"])
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[list("abcdfe")])


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    X = holes(stars(20, 6))
    frame = pandas.DataFrame(X, columns=list("abcdef"), index=[f"row {i}" for i in range(20)]).astype("Int64")
    assert frame.isna().to_numpy().any()
    model = MatrixCompletion(rank=1).fit(frame).set_output(transform="pandas")
    filled = model.transform(frame)
    assert filled.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(filled.to_numpy(), MatrixCompletion(rank=1).fit_transform(X))
    frame["c"] = "x"
    with pytest.raises(ValueError, match="column 'c' holds 'x', which is no number"):
        model.fit(frame)


def test_copies():
    X = holes(stars())
    model = MatrixCompletion(rank=2, clip=(1, 5)).fit(X)
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(same.to_dense(), model.to_dense())
        np.testing.assert_array_equal(same.transform(X), model.transform(X))
        np.testing.assert_array_equal(same.predict([1], [2]), model.predict([1], [2]))
        assert same.get_params() == model.get_params()
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(katoms.NotFittedError):
        fresh.transform(X)
    uncentred = MatrixCompletion(rank=1, **EXACT).fit(([0, 0, 1], [0, 1, 0], [1.0, 2.0, 3.0], (4, 3)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(uncentred)).to_dense(), uncentred.to_dense())
    np.testing.assert_allclose(uncentred.to_dense()[3], 2.0)


def test_in_a_pipeline():
    whole = planted(80, 12, 2)
    y = whole[:, 0] + whole[:, 1]
    X = holes(whole, 0.2)
    search = GridSearchCV(make_pipeline(MatrixCompletion(**EXACT), Ridge()), {"matrixcompletion__rank": [1, 2]}, cv=3)
    assert search.fit(X, y).best_params_ == {"matrixcompletion__rank": 2}
    assert search.best_score_ > 0.9


def test_a_cap_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="has not converged .status 'iteration-cap' after 2 iterations"):
        model = MatrixCompletion(rank=3, max_iter=2, **EXACT).fit(holes(planted()))
    assert model.status_ == "iteration-cap" and model.n_iter_ == 2


def test_a_callback_hears_and_ends():
    heard = []

    def stop(progress):
        heard.append(progress)
        return progress["iteration"] == 4

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MatrixCompletion(rank=3, callback=stop, **EXACT).fit(holes(planted()))
    assert model.status_ == "stopped" and model.n_iter_ == 4 == len(heard)
    assert heard[-1]["objective"] == model.trace_[-1]["objective"]

    def fail(progress):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        MatrixCompletion(rank=3, callback=fail, **EXACT).fit(holes(planted()))


def test_ctrl_c_ends_a_fit():
    script = """
        import numpy as np, sys
        from katoms import MatrixCompletion
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 500))
        X[rng.random(X.shape) < 0.5] = np.nan
        told = []
        def first(progress):
            if not told:
                told.append(print("working", flush=True))
        try:
            MatrixCompletion(rank=60, l2=0.0, centring="none", max_iter=10**6, tol=0.0, callback=first).fit(X)
        except KeyboardInterrupt:
            print("interrupted")
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "working\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.read() == "interrupted\n"
    assert child.wait() == 0


def test_bad_places():
    model = MatrixCompletion(rank=1).fit(stars(8, 5))
    with pytest.raises(InvalidInputError, match="row index at position 1 is 8, but there are only 8"):
        model.predict([0, 8], [0, 0])
    with pytest.raises(ValueError, match="columns holds -1"):
        model.predict([0], [-1])
    with pytest.raises(ValueError, match="X has 4 features, but MatrixCompletion is expecting 5 features"):
        model.transform(np.ones((2, 4)))
    with pytest.raises(ValueError, match="sparse"):
        model.predict(sparse.eye(5))
