"""Several responses: shared features, features of their own, and models that go to the program and back."""

import json
import warnings

import numpy as np
import pytest

import katoms
from katoms._katoms import main

PLANTED = [[3, 11, 20], [7], [3, 15, 16, 30]]


def drawn(rows=150, columns=40, noise=0.2):
    """Three responses, each with features of its own."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, columns))
    Y = np.column_stack([X[:, own] @ np.linspace(1.0, 0.6, len(own)) for own in PLANTED])
    return X, Y + noise * rng.normal(size=Y.shape) + [1.0, 50.0, -7.0]


def supports(model):
    return [np.flatnonzero(row).tolist() for row in model.coef_]


def test_a_total_is_shared_out_and_a_size_for_each_is_a_fit_of_each():
    X, Y = drawn()
    model = katoms.SparseRegressor(8, share_features=False).fit(X, Y)
    assert supports(model) == PLANTED and model.support_sizes_.tolist() == [3, 1, 4] and model.support_size_ == 8
    assert model.support_.tolist() == [3, 7, 11, 15, 16, 20, 30] and model.coef_.shape == (3, 40)
    assert "to share 8 out among the responses" in str(model.quality_) and "y1: no exchange" in str(model.quality_)
    each = katoms.SparseRegressor([3, 1, 4], share_features=False).fit(X, Y)
    np.testing.assert_allclose(each.coef_, model.coef_, rtol=1e-9)
    for c, size in enumerate([3, 1, 4]):
        one = katoms.SparseRegressor(size).fit(X, Y[:, c])
        np.testing.assert_allclose(each.coef_[c], one.coef_, rtol=1e-12)
        assert each.intercept_[c] == pytest.approx(one.intercept_)
    ordinary = [np.linalg.lstsq(np.c_[X[:, own], np.ones(len(X))], y, rcond=None)[0] for own, y in zip(PLANTED, Y.T)]
    for row, own, expected in zip(model.coef_, PLANTED, ordinary):
        np.testing.assert_allclose(row[own], expected[:-1], rtol=1e-8)
    rss = ((Y - model.predict(X)) ** 2).sum()
    assert 2 * model.loss_ == pytest.approx(rss) and 0.9 < model.score(X, Y) < 1
    assert "k: y0 3, y1 1, y2 4" in model._repr_html_()
    fewer = katoms.SparseRegressor(2, share_features=False).fit(X, Y)
    assert fewer.support_sizes_.sum() == 2 and fewer.loss_ > model.loss_


def test_a_total_is_the_best_allocation():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 6))
    Y = X @ rng.normal(size=(6, 3)) + 2 * rng.normal(size=(60, 3))
    losses = [[katoms.SparseRegressor(k).fit(X, y).objective_ for k in range(7)] for y in Y.T]
    for total in (0, 1, 4, 9, 18):
        model = katoms.SparseRegressor(total, share_features=False).fit(X, Y)
        ways = [(a, b, c) for a in range(7) for b in range(7) for c in range(7) if a + b + c <= total]
        best = min(sum(of[k] for of, k in zip(losses, way)) for way in ways)
        assert model.objective_ == pytest.approx(best, rel=1e-9)


def test_a_criterion_and_held_out_rows_choose_a_size_for_each():
    X, Y = drawn()
    model = katoms.SparseRegressor(share_features=False).fit(X, Y)
    assert supports(model) == PLANTED and len(model.path_) == 3
    assert [path.best("ebic") for path in model.path_] == [3, 1, 4]
    with pytest.raises(katoms.InvalidInputError, match=r"path_\[0\]"):
        model.coef(2)
    chosen = katoms.SparseRegressorCV(range(8), share_features=False, rule="1se").fit(X, Y)
    assert supports(chosen) == PLANTED and chosen.k_1se_.tolist() == [3, 1, 4]
    results = chosen.cv_results_
    for c in range(3):
        one = katoms.SparseRegressorCV(range(8), l2=chosen.l2_, rule="1se").fit(X, Y[:, c])
        rows = (results["response"] == c) & (results["l2"] == chosen.l2_)
        np.testing.assert_allclose(results["mean_loss"][rows], one.cv_results_["mean_loss"], rtol=1e-9)
        np.testing.assert_allclose(chosen.coef_[c], one.coef_, rtol=1e-8)
    assert (chosen.fold_of_row_ == katoms.SparseRegressorCV(range(3)).fit(X, Y).fold_of_row_).all()
    with pytest.raises(katoms.InvalidInputError, match="each response"):
        chosen.coef(2)


def test_held_out_rows_of_every_kind_judge_each_response():
    model_selection = pytest.importorskip("sklearn.model_selection")
    X, Y = drawn()
    own = [[3, 11, 20], [7], [3, 15, 16, 30]]
    split = model_selection.ShuffleSplit(4, random_state=0)
    for cv, scoring in [(4, "mse"), (4, "r2"), (split, None), (split, "mae")]:
        model = katoms.SparseRegressorCV(range(7), l2=0.0, cv=cv, scoring=scoring, rule="1se", share_features=False)
        assert supports(model.fit(X, Y)) == own, (cv, scoring)
        assert ("mean_score" in model.cv_results_) == (scoring is not None)
    X[4, 3] = np.nan
    model = katoms.SparseRegressorCV(range(7), l2=0.0, missing="mean", rule="1se", share_features=False).fit(X, Y)
    assert supports(model) == own
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        katoms.SparseRegressorCV(range(3), share_features=False).fit(X[5:], Y[5:])
    assert any("of y2 the least held-out loss is at" in str(one.message) for one in caught)


def test_groups_weights_bounds_and_a_single_response():
    X, Y = drawn()
    groups = np.arange(40) // 4
    model = katoms.SparseRegressor([2, 1, 3], groups=groups, share_features=False).fit(X, Y)
    assert model.chosen_groups_ == [str(group) for group in np.unique(model.support_ // 4)]
    assert set(np.unique(np.flatnonzero(model.coef_[1]) // 4)) == {1}
    weights = np.arange(len(X)) % 3
    weighted = katoms.SparseRegressor([3, 1, 4], share_features=False).fit(X, Y, sample_weight=weights)
    repeated = katoms.SparseRegressor([3, 1, 4], share_features=False).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    positive = katoms.SparseRegressor(8, positive=True, share_features=False).fit(X, -Y)
    assert (positive.coef_ >= 0).all() and positive.support_sizes_.sum() <= 8
    one, plain = (
        katoms.SparseRegressor(3, share_features=False).fit(X, Y[:, 0]),
        katoms.SparseRegressor(3).fit(X, Y[:, 0]),
    )
    np.testing.assert_array_equal(one.coef_, plain.coef_)
    assert one.support_sizes_.tolist() == [3] and not hasattr(plain, "support_sizes_")


def test_what_does_not_go_with_features_of_its_own_is_named():
    X, Y = drawn(60)
    for parameters, expected in [
        ({"support_size": [1, 2]}, "support_size has 2 sizes, and y has 3 responses"),
        ({"support_size": 121}, "between 0 and 120"),
        ({"support_size": 3, "method": "omp"}, "leave the method out"),
        ({"method": "omp"}, "method and effort go with sizes"),
        ({"support_size": -1}, "at least 0"),
    ]:
        with pytest.raises(ValueError, match=expected):
            katoms.SparseRegressor(share_features=False, **parameters).fit(X, Y)
    with pytest.raises(katoms.InvalidInputError, match="one column of y at a time"):
        katoms.path(X, Y, [1, 2], share_features=False)
    by_name = katoms.SparseRegressor([1, 1, 1], method="omp", share_features=False).fit(X, Y)
    assert by_name.support_sizes_.tolist() == [1, 1, 1]


def frames():
    pandas = pytest.importorskip("pandas")
    X, Y = drawn()
    return pandas.DataFrame(X, columns=[f"f{j}" for j in range(40)]), pandas.DataFrame(Y, columns=["a", "b", "c"])


@pytest.mark.parametrize("parameters", [{"support_size": 5}, {"support_size": 8, "share_features": False}])
def test_models_go_to_the_program_and_back(tmp_path, capfd, parameters):
    X, Y = frames()
    model = katoms.SparseRegressor(**parameters).fit(X, Y)
    model.save(tmp_path / "model.json")
    fields = json.loads((tmp_path / "model.json").read_text())
    assert fields["target"]["responses"] == ["a", "b", "c"] and fields["schema"] == 3
    again = katoms.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert getattr(again, "support_sizes_", np.array([])).tolist() == fields.get("k_each", [])
    assert "→ b" in again._repr_html_()
    X.join(Y).to_csv(tmp_path / "d.csv", index=False)
    asked = ["--target", "a,b,c", "-k", str(parameters["support_size"])]
    asked += ["--separate-features"] if "share_features" in parameters else []
    program = tmp_path / "program.json"
    assert main(["katoms", "-q", "fit", str(tmp_path / "d.csv"), *asked, "--out", str(program)]) == 0
    theirs = katoms.load(program)
    np.testing.assert_allclose(theirs.predict(X), model.predict(X), rtol=1e-9)
    assert theirs.score(X, Y) == pytest.approx(model.score(X, Y))
    # and the program predicts what the package does
    for file in ("model.json", "program.json"):
        out = tmp_path / "predicted.csv"
        assert main(["katoms", "-q", "predict", str(tmp_path / file), str(tmp_path / "d.csv"), "--out", str(out)]) == 0
        head, *rows = out.read_text().splitlines()
        assert head == "prediction_a,prediction_b,prediction_c"
        found = np.array([[float(v) for v in row.split(",")] for row in rows])
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-9)
    # fitted anew it is the same again
    refitted = theirs.fit(X, Y)
    np.testing.assert_allclose(refitted.predict(X), model.predict(X), rtol=1e-9)


def test_columns_without_names_are_found_where_targets_stood(tmp_path):
    X, Y = drawn()
    np.save(tmp_path / "d.npy", np.c_[Y[:, :1], X[:, :10], Y[:, 1:]])
    np.save(tmp_path / "x.npy", X[:, :10])
    program, out = tmp_path / "m.json", tmp_path / "p.csv"
    arguments = ["fit", str(tmp_path / "d.npy"), "--target", "1,12,13", "-k", "3", "--out", str(program)]
    assert main(["katoms", "-q", *arguments]) == 0
    model, ours = katoms.load(program), katoms.SparseRegressor(3).fit(X[:, :10], Y)
    np.testing.assert_allclose(model.predict(X[:, :10]), ours.predict(X[:, :10]), rtol=1e-9)
    assert main(["katoms", "-q", "predict", str(program), str(tmp_path / "x.npy"), "--out", str(out)]) == 0
    np.testing.assert_allclose(np.loadtxt(out, delimiter=",", skiprows=1), ours.predict(X[:, :10]), rtol=1e-9)
