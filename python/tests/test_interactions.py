"""Products of features that come into a model beside their factors."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold

import katoms
from katoms import InvalidInputError, SparseClassifier, SparseCox, SparseRegressor, SparseRegressorCV


def planted(rows=150, columns=60, seed=0):
    """x3 − x7 + 1.5·x3·x11 + noise, of columns about 2."""
    rng = np.random.default_rng(seed)
    X = 2 + rng.normal(size=(rows, columns))
    Z = X - 2
    return X, Z[:, 3] - Z[:, 7] + 1.5 * Z[:, 3] * Z[:, 11], rng


def test_planted_products_are_found_and_fitted_as_ordinary_columns():
    X, z, rng = planted()
    y = z + 0.3 * rng.normal(size=len(z))
    model = SparseRegressor(4, interactions="strong").fit(X, y)
    assert model.support_.tolist() == [3, 7, 11]
    assert model.interactions_.tolist() == [[3, 11]]
    columns = np.column_stack([X[:, [3, 7, 11]], X[:, 3] * X[:, 11]])
    exact = LinearRegression().fit(columns, y)
    found = [*model.coef_[[3, 7, 11]], *model.interaction_coef_]
    np.testing.assert_allclose(found, exact.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), exact.predict(columns), rtol=1e-6)
    assert model.score(X, y) == pytest.approx(exact.score(columns, y))
    assert not model.quality_.exhaustive
    # a fit without them forgets them
    model.set_params(interactions=None).fit(X, y)
    assert not hasattr(model, "interactions_")


def test_one_factor_is_enough_for_weak_heredity():
    X, _, rng = planted(seed=1)
    y = X[:, 3] * (1 + X[:, 11]) + 0.1 * rng.normal(size=len(X))
    model = SparseRegressor(2, interactions="weak").fit(X, y)
    assert model.support_.tolist() == [3] and model.interactions_.tolist() == [[3, 11]]


def test_thousands_of_features_whose_products_would_fill_the_memory():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 5000)).astype(np.float32)
    y = 2 * X[:, 10] + X[:, 4000] - 2 * X[:, 10] * X[:, 4000] + 0.5 * rng.normal(size=200)
    model = SparseRegressor(3, interactions="strong").fit(X, y)
    assert model.support_.tolist() == [10, 4000] and model.interactions_.tolist() == [[10, 4000]]


@pytest.mark.parametrize("make", [SparseClassifier, SparseCox, SparseRegressor])
def test_classes_times_and_counts(make):
    X, z, rng = planted(rows=300, seed=3)
    if make is SparseClassifier:
        model, y = make(4, interactions="strong"), np.digitize(2 * z + rng.logistic(size=300), [-2, 2])
    elif make is SparseCox:
        times, ends = rng.exponential(np.exp(-z)), rng.exponential(20, size=300)
        model, y = make(4, interactions="strong"), np.column_stack([np.minimum(times, ends) + 1e-9, times <= ends])
    else:
        model, y = make(4, interactions="strong", loss="poisson"), rng.poisson(np.exp(0.5 * z + 1))
    model.fit(X, y)
    assert model.support_.tolist() == [3, 7, 11] and model.interactions_.tolist() == [[3, 11]]
    alone = type(model)(3, **({"loss": "poisson"} if make is SparseRegressor else {})).fit(X, y)
    assert model.score(X, y) > alone.score(X, y)


def test_a_parameter_of_the_loss_is_estimated_beside_the_products():
    X, z, rng = planted(seed=7)
    y = z + 0.3 * rng.standard_t(2, size=len(z))
    model = SparseRegressor(4, loss="huber", interactions="strong").fit(X, y)
    assert model.support_.tolist() == [3, 7, 11] and model.interactions_.tolist() == [[3, 11]]
    columns = np.column_stack([X[:, [3, 7, 11]], X[:, 3] * X[:, 11]])
    stored = SparseRegressor(4, loss="huber").fit(columns, y)
    assert model.delta_ == pytest.approx(stored.delta_, rel=1e-6)
    np.testing.assert_allclose(model.predict(X), stored.predict(columns), rtol=1e-5)
    visits = rng.poisson(np.exp(0.5 * z + 1) * rng.gamma(4, 0.25, size=len(z)))
    counted = SparseRegressor(4, loss="negative_binomial", interactions="strong").fit(X, visits)
    assert counted.interactions_.tolist() == [[3, 11]] and 0 < counted.dispersion_ < 1


def test_weights_repeat_rows_and_sparse_columns_multiply():
    X, z, rng = planted(columns=25, seed=8)
    y, weights = z + 0.3 * rng.normal(size=len(z)), rng.integers(0, 3, size=len(z))
    weighted = SparseRegressor(4, interactions="strong").fit(X, y, weights)
    repeated = SparseRegressor(4, interactions="strong").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.interactions_.tolist() == repeated.interactions_.tolist() == [[3, 11]]
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    model = SparseRegressor(4, interactions="strong").fit(sparse, y)
    dense = SparseRegressor(4, interactions="strong").fit(sparse.toarray(), y)
    assert model.interactions_.tolist() == dense.interactions_.tolist()
    np.testing.assert_allclose(model.predict(sparse), dense.predict(sparse.toarray()), rtol=1e-6)


def test_the_size_by_a_criterion_and_on_rows_held_out():
    X, z, rng = planted(columns=30, seed=4)
    y = z + 0.5 * rng.normal(size=len(z))
    model = SparseRegressor(range(7), interactions="strong").fit(X, y)
    assert model.support_size_ == 4 and model.interactions_.tolist() == [[3, 11]]
    path = katoms.path(X, y, range(5), interactions="strong")
    place = [str(name) for name in path.feature_names].index("x3:x11")
    assert path.coefs[4][place] == pytest.approx(model.interaction_coef_[0])
    model = SparseRegressorCV(range(1, 6), interactions="strong", rule="1se", l2=0.0, cv=4).fit(X, y)
    assert model.k_1se_ == 4 and model.interactions_.tolist() == [[3, 11]]
    # any splitter, and any score; each split has its own products
    again = SparseRegressorCV(
        [2, 4], interactions="strong", l2=0.0, scoring="r2", cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    ).fit(X, y)
    assert again.support_size_ == 4 and again.cv_results_["fold_scores"].shape[1] == 6
    by_kernel = SparseRegressorCV([2, 4], interactions="strong", l2=0.0, scoring="mse", cv=3).fit(X, y)
    np.testing.assert_allclose(
        -by_kernel.cv_results_["fold_scores"], 2 * by_kernel.cv_results_["fold_losses"], rtol=1e-9
    )


def test_frames_groups_missing_values_and_files(tmp_path):
    X, z, rng = planted(columns=12, seed=5)
    y = z + 0.3 * rng.normal(size=len(z))
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)])
    frame.iloc[5, 3] = np.nan
    model = SparseRegressor(4, interactions="strong", missing="mean").fit(frame, y)
    assert model.interactions_.tolist() == [[3, 11]]
    path = tmp_path / "model.json"
    model.save(path)
    loaded = katoms.load(path)
    np.testing.assert_allclose(loaded.predict(frame), model.predict(frame), rtol=1e-9)
    frame.to_csv(tmp_path / "new.csv", index=False)
    run = [sys.executable, "-m", "katoms", "predict", str(path), str(tmp_path / "new.csv"), "--missing", "mean"]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()[1:]
    np.testing.assert_allclose(np.array(told, dtype=float), model.predict(frame), rtol=1e-9)
    groups = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    grouped = SparseRegressor(4, groups=groups, interactions="strong").fit(X, y)
    assert "1:5" in grouped.chosen_groups_ and len(grouped.interactions_) == 4


def test_the_program_fits_paths_and_cross_validates(tmp_path):
    rng = np.random.default_rng(6)
    X = 2 + rng.normal(size=(150, 8))
    y = X[:, 1] - X[:, 2] + (X[:, 1] - 2) * (X[:, 5] - 2) + 0.2 * rng.normal(size=len(X))
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    frame.to_csv(tmp_path / "data.csv", index=False)

    def run(*arguments):
        whole = [sys.executable, "-m", "katoms", *arguments]
        return subprocess.run(whole, capture_output=True, text=True, check=True, cwd=tmp_path)

    asked = ["data.csv", "--target", "y", "--interactions", "strong"]
    run("fit", *asked, "-k", "4", "--out", "model.json", "--report", "report.html")
    assert "b:f" in (tmp_path / "report.html").read_text()
    loaded = katoms.load(tmp_path / "model.json")
    here = SparseRegressor(4, interactions="strong").fit(frame.drop(columns="y"), y)
    np.testing.assert_allclose(loaded.predict(frame), here.predict(frame.drop(columns="y")), rtol=1e-6)
    assert "b:f" in run("path", *asked, "-k", "0..6").stderr
    told = run("cv", *asked, "-k", "0..5", "--ridge", "0", "--choose", "1se", "--repeats", "2", "--score", "mae")
    assert "b:f" in told.stderr
    refused = subprocess.run(
        [sys.executable, "-m", "katoms", "fit", *asked, "-k", "4", "--stability"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert refused.returncode != 0 and "--stability does not go with --interactions" in refused.stderr


def test_what_does_not_go_with_interactions_is_refused():
    X, z, _ = planted(columns=12)
    with pytest.raises(InvalidInputError, match="'strong', 'weak' or None"):
        SparseRegressor(2, interactions=True).fit(X, z)
    with pytest.raises(InvalidInputError, match="leave one of them out"):
        SparseRegressor(2, interactions="weak", groups=[0] * 6 + [1] * 6, max_per_group=1).fit(X, z)
    with pytest.raises(InvalidInputError, match="bounds"):
        SparseRegressor(2, interactions="weak", positive=True).fit(X, z)
    with pytest.raises(InvalidInputError, match="method"):
        SparseRegressor(2, interactions="weak", method="omp").fit(X, z)
