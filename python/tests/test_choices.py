"""Which size: none, one, or more than were tried; and which loss."""

import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import katoms

matplotlib.use("agg")

ESTIMATORS = [katoms.SparseRegressor, katoms.SparseClassifier]
CHOOSERS = [katoms.SparseRegressorCV, katoms.SparseClassifierCV]
grouped = pytest.mark.parametrize("groups", [None, np.arange(12) // 2], ids=["features", "groups"])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def noise(rows, columns, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=rows)


def data_for(estimator, seed=0):
    """Noise, for classes or numbers."""
    X, y = noise(80, 12, seed)
    y = np.where(y > 0.4, "yes", "no") if "Classifier" in estimator.__name__ else y + 3
    return X, y


@grouped
@pytest.mark.parametrize("estimator", ESTIMATORS + CHOOSERS)
@pytest.mark.parametrize("always", [[], [3]])
def test_no_feature_is_a_size(estimator, always, groups):
    X, y = data_for(estimator)
    model = estimator(0, always_select=always, groups=groups).fit(X, y)
    assert model.support_size_ == 0 and model.status_ == "converged" and model.support_.tolist() == always
    assert np.flatnonzero(model.coef_).tolist() == always
    assert model.transform(X).shape == (80, len(always)) and model.get_support().sum() == len(always)
    assert model.get_feature_names_out().tolist() == [f"x{j}" for j in always]
    if groups is not None:
        assert model.chosen_groups_ == []
    if not always:
        constant = (
            np.mean(y) if hasattr(model, "predict_proba") is False else np.log(np.mean(y == "yes") / np.mean(y == "no"))
        )
        assert np.ravel(model.intercept_)[0] == pytest.approx(constant)
        assert len(set(model.predict(X).tolist())) == 1 and np.isfinite(model.score(X, y))
    assert "k = 0" in model._repr_html_()
    katoms.plot_coefficients(model)


@grouped
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_path_may_begin_with_no_feature(estimator, groups):
    X, y = data_for(estimator)
    model = estimator(range(5), groups=groups).fit(X, y)
    assert model.path_.support_sizes.tolist() == [0, 1, 2, 3, 4]
    assert model.path_.losses[0] == pytest.approx(model.path_.null_loss)
    assert not model.coef(support_size=0).any() and model.path_.supports[0].tolist() == []
    katoms.plot_path(model)


@grouped
@pytest.mark.parametrize("estimator", CHOOSERS)
def test_no_feature_is_validated(estimator, groups):
    X, y = data_for(estimator)
    model = estimator(range(5), l2=0, rule="1se", groups=groups).fit(X, y)
    assert model.cv_results_["support_size"].tolist() == [0, 1, 2, 3, 4]
    assert model.support_size_ == model.k_1se_ == 0 and not model.coef_.any()
    held = model.fold_of_row_ == 0
    if "Classifier" in estimator.__name__:
        share = np.mean(y[~held] == "yes")
        expected = -np.mean(np.log(np.where(y[held] == "yes", share, 1 - share)))
    else:
        expected = 0.5 * np.mean((y[held] - y[~held].mean()) ** 2)
    assert model.cv_results_["fold_losses"][0, 0] == pytest.approx(expected)
    katoms.plot_cv(model)


@pytest.mark.parametrize(("rows", "columns"), [(100, 50), pytest.param(200, 1000, marks=pytest.mark.long)])
def test_on_noise_a_criterion_chooses_what_abess_does(rows, columns):
    abess = pytest.importorskip("abess")
    ours, theirs = [], []
    for seed in range(20):
        X, y = noise(rows, columns, seed)
        ours.append(katoms.SparseRegressor().fit(X, y).support_size_)
        peer = abess.LinearRegression(support_size=range(7), ic_type="ebic").fit(X, y)
        theirs.append(int(np.count_nonzero(peer.coef_)))
    assert ours == theirs, (ours, theirs)
    assert ours.count(0) >= 18


def test_what_is_planted_is_still_found():
    for seed in range(5):
        X, y = noise(100, 50, seed)
        y = y + 2 * X[:, 4] - 1.5 * X[:, 31]
        assert katoms.SparseRegressor().fit(X, y).support_.tolist() == [4, 31]
        assert set(katoms.SparseRegressorCV(rule="1se").fit(X, y).support_.tolist()) >= {4, 31}


def test_on_noise_rows_held_out_mostly_choose_nothing():
    chosen = [katoms.SparseRegressorCV(rule="1se").fit(*noise(100, 50, seed)).support_size_ for seed in range(20)]
    assert chosen.count(0) >= 18, chosen


def test_a_choice_at_the_edge_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    y = X[:, :10].sum(axis=1) + 0.1 * rng.normal(size=120)
    for model in (katoms.SparseRegressor(range(6)), katoms.SparseRegressorCV(range(6))):
        with pytest.warns(
            UserWarning, match=r"the largest size that was tried \(5\).*support_size=range\(0, 11\)"
        ) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (
            katoms.SparseRegressor(range(15)),
            katoms.SparseRegressorCV(rule="1se"),
            katoms.SparseRegressor(5),
        ):
            model.fit(X, y)
        katoms.SparseRegressorCV([5]).fit(X, y)


def test_a_default_range_goes_on_while_the_held_out_loss_falls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 200))
    y = X[:, :12] @ (5 * 0.7 ** np.arange(12)) + 0.02 * rng.normal(size=50)
    model = katoms.SparseRegressorCV().fit(X, y)
    assert model.cv_results_["support_size"].max() > 12 == model.k_min_
    with pytest.warns(UserWarning, match="beyond 6 no criterion can be trusted.*CV in its name"):
        chosen = katoms.SparseRegressor().fit(X, y)
    assert chosen.support_size_ == chosen.path_.support_sizes.max() == 6


def test_complete_separation_is_a_status():
    X, _ = noise(60, 5, 1)
    y = X[:, 0] > X[:, 2]
    with pytest.warns(katoms.ConvergenceWarning, match="separation.*tells True from False.*give an l2"):
        model = katoms.SparseClassifier(2).fit(X, y)
    assert model.status_ == "separated" and "separation" in model._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert katoms.SparseClassifier(2, l2=1.0).fit(X, y).status_ == "converged"
        assert katoms.SparseClassifier(1).fit(X, y).status_ == "converged"
        path = katoms.path(X, y, range(4), loss="logistic")
    assert path.statuses == ["converged", "converged", "separated", "separated"]


def test_a_target_of_two_numbers_is_noted(capsys):
    X, y = noise(60, 5, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        card = katoms.SparseRegressor(1).fit(X, np.where(y > 0, 2, 1))._repr_html_()
        assert "y has two values, 1 and 2" in card and "SparseClassifier" in card
        assert "two values" not in katoms.SparseRegressor(1).fit(X, y)._repr_html_()
    assert capsys.readouterr().out == ""
    katoms.SparseRegressor(1, verbose=1).fit(X, y > 0)
    assert "y has two values, 0 and 1" in capsys.readouterr().out
