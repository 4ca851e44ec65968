"""Targets that are hard: far from 0, told without an error, of too many classes, with what is known besides; and bad ones."""

import warnings

import numpy as np
import pytest

import katoms
from katoms.losses import RowLoss

SQUARES = RowLoss(lambda y, z: (z - y) ** 2 / 2, lambda y, z: z - y, lambda y, z: np.ones_like(z))


def drawn(seed=0, rows=300, columns=12):
    """A matrix, linear predictions from two of its columns, noise, and the generator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 2] - 0.5 * X[:, 5], rng.normal(size=rows), rng


def quietly(model, *given, **known):
    """The same model, fitted without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(*given, **known)


# Far from 0.


@pytest.mark.parametrize("shift", [0.0, 100.0, -1e4, 1e9])
def test_quantiles_far_from_zero_are_those_near_it(shift):
    X, linear, e, _ = drawn()
    near = quietly(katoms.SparseRegressor(2, loss="quantile"), X, linear + e)
    far = quietly(katoms.SparseRegressor(2, loss="quantile"), X, shift + linear + e)
    assert far.support_.tolist() == near.support_.tolist() == [2, 5] and far.status_ == "converged"
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6 + 1e-12 * abs(shift))


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("smoothing", [None, 1e-2, 1e-4])
def test_without_features_a_quantile_is_that_of_the_target(quantile, smoothing):
    X, linear, e, _ = drawn()
    model = katoms.SparseRegressor(0, loss="quantile", quantile=quantile, smoothing=smoothing).fit(X, linear + e)
    assert abs(np.mean(linear + e <= model.intercept_) - quantile) < 0.02


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_a_narrow_smoothing_reaches_the_pinball_loss_of_linear_programming(quantile):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, linear, e, _ = drawn(1)
    y = linear + e
    model = katoms.SparseRegressor(2, loss="quantile", quantile=quantile, smoothing=1e-4).fit(X, y)
    other = linear_model.QuantileRegressor(quantile=quantile, alpha=0, solver="highs").fit(X[:, [2, 5]], y)

    def pinball(predicted):
        return np.maximum(quantile * (y - predicted), (quantile - 1) * (y - predicted)).mean()

    assert model.support_.tolist() == [2, 5]
    assert pinball(model.predict(X)) <= pinball(other.predict(X[:, [2, 5]])) * (1 + 1e-3)


@pytest.mark.parametrize("unit", [1e-50, 1.0, 1e50])
def test_amounts_in_every_unit_have_the_same_coefficients(unit):
    X, linear, e, _ = drawn()
    y = np.exp(linear + e)
    model = quietly(katoms.SparseRegressor(2, loss="gamma"), X, unit * y)
    np.testing.assert_allclose(model.coef_, katoms.SparseRegressor(2, loss="gamma").fit(X, y).coef_, atol=1e-7)


@pytest.mark.parametrize("offset", [-200.0, 200.0])
def test_a_log_link_knows_offsets_far_out(offset):
    X, linear, _, rng = drawn()
    y = rng.poisson(np.exp(linear)).astype(float)
    known = np.full(len(y), offset)
    model = quietly(katoms.SparseRegressor(2, loss="poisson"), X, y, offset=known)
    plain = katoms.SparseRegressor(2, loss="poisson").fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-7)
    assert abs(model.intercept_ + offset - plain.intercept_) < 1e-6


@pytest.mark.parametrize("shift", [1e3, -3e5, 1e7])
def test_a_loss_of_ones_own_takes_targets_far_from_zero(shift):
    X, linear, e, _ = drawn()
    model = quietly(katoms.SparseRegressor(2, loss=SQUARES), X, linear + e + shift)
    squares = katoms.SparseRegressor(2).fit(X, linear + e + shift)
    np.testing.assert_allclose(model.coef_, squares.coef_, atol=1e-6)


# Losses of one's own.


def test_a_loss_of_ones_own_that_is_no_number_somewhere_is_refused():
    X, linear, e, _ = drawn()

    def gap(values):
        return lambda y, z: np.where(z > 3, np.nan, values(y, z))

    loss = RowLoss(gap(SQUARES.value), gap(SQUARES.gradient), SQUARES.curvature)
    with pytest.raises(katoms.InvalidInputError, match="of the loss is NaN for y = .* and z = "):
        katoms.SparseRegressor(2, loss=loss).fit(X, 4 * linear + e)


def test_a_loss_that_falls_without_end_is_refused():
    X, linear, e, _ = drawn()
    loss = RowLoss(lambda y, z: -z, lambda y, z: -np.ones_like(z), lambda y, z: np.zeros_like(z))
    with pytest.raises(katoms.InvalidInputError, match="falls without end"):
        katoms.SparseRegressor(2, loss=loss).fit(X, linear + e)


def test_measures_judge_a_loss_of_ones_own():
    X, linear, e, _ = drawn()
    for scoring in ("mse", "rmse", "mae"):
        own = katoms.SparseRegressorCV(range(4), l2=0.0, loss=SQUARES, scoring=scoring).fit(X, linear + e)
        squares = katoms.SparseRegressorCV(range(4), l2=0.0, scoring=scoring).fit(X, linear + e)
        np.testing.assert_allclose(own.cv_results_["mean_score"], squares.cv_results_["mean_score"], rtol=1e-6)
    with pytest.raises(katoms.InvalidInputError, match="does not judge numbers"):
        katoms.SparseRegressorCV(range(4), l2=0.0, loss=SQUARES, scoring="auc").fit(X, linear + e)


# Grades in an order that is not that of their names.


def graded(rows=300):
    X, linear, _, rng = drawn(rows=rows)
    return X, np.array(["lo", "mid", "hi"])[np.digitize(2 * linear + rng.logistic(size=rows), [-1, 1])]


ORDER = ["lo", "mid", "hi"]


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr"])
def test_scorers_of_scikit_learn_judge_grades_as_they_are(scoring):
    metrics = pytest.importorskip("sklearn.metrics")
    selection = pytest.importorskip("sklearn.model_selection")
    X, y = graded()
    model = katoms.SparseClassifier(2, ordinal=ORDER).fit(X, y)
    assert model.classes_.tolist() == sorted(ORDER) and model.grades_.tolist() == ORDER
    probabilities = model.predict_proba(X)
    assert (model.predict(X) == model.classes_[probabilities.argmax(axis=1)]).all()
    own = np.log(probabilities[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()
    assert abs(metrics.log_loss(y, probabilities, labels=model.classes_) + own) < 1e-12
    scores = selection.cross_val_score(model, X, y, scoring=scoring, cv=3)
    coded = katoms.SparseClassifier(2, ordinal=True)
    expected = selection.cross_val_score(coded, X, np.searchsorted(ORDER, y, sorter=[2, 0, 1]), scoring=scoring, cv=3)
    assert scores.mean() > (-1.0 if scoring == "neg_log_loss" else 0.6)
    assert scores.shape == expected.shape
    chosen = katoms.SparseClassifierCV(range(3), cv=3, l2=0.0, ordinal=ORDER, scoring=scoring).fit(X, y)
    assert chosen.support_size_ == 2


def test_of_two_grades_the_decision_is_for_the_second_class():
    metrics = pytest.importorskip("sklearn.metrics")
    X, y = graded()
    y = np.where(y == "hi", "hi", "lo")
    model = katoms.SparseClassifier(2, ordinal=["lo", "hi"]).fit(X, y)
    log_odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
    np.testing.assert_allclose(model.decision_function(X), log_odds, atol=1e-9)
    assert metrics.get_scorer("roc_auc")(model, X, y) > 0.7


def test_what_is_no_order_is_refused():
    pandas = pytest.importorskip("pandas")
    X, y = graded()
    with pytest.raises(katoms.InvalidInputError, match="'mid' twice"):
        katoms.SparseClassifier(2, ordinal=["lo", "mid", "hi", "mid"]).fit(X, y)
    for wrong in (1, 0, "lo"):
        with pytest.raises(katoms.InvalidInputError, match="give True, False, or the list"):
            katoms.SparseClassifier(2, ordinal=wrong).fit(X, y)
    categorical = pandas.Categorical(y, ORDER, ordered=True)
    for ordinal in (True, np.True_):
        model = katoms.SparseClassifier(2, ordinal=ordinal).fit(X, categorical)
        assert model.grades_.tolist() == ORDER


# What is known of rows besides.


@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile", "poisson", "gamma", "negative_binomial"])
def test_a_model_without_features_explains_nothing_beside_an_offset(loss):
    X, linear, e, rng = drawn()
    offset = 3 * rng.normal(size=len(e))
    mean = np.exp(offset + linear)
    y = {"poisson": rng.poisson(mean), "negative_binomial": rng.poisson(mean * rng.gamma(2, 0.5, size=len(mean)))}
    y = y.get(loss, mean if loss == "gamma" else offset + linear + e).astype(float)
    null = katoms.SparseRegressor(0, loss=loss).fit(X, y, offset=offset)
    # Huber's constant is not the mean, and the median is one of the smoothed loss.
    assert abs(null.score(X, y, offset=offset)) < (0.05 if loss in ("huber", "quantile") else 1e-9)
    assert 0.1 < katoms.SparseRegressor(2, loss=loss).fit(X, y, offset=offset).score(X, y, offset=offset) <= 1


def test_the_share_of_an_exposure_is_no_share_of_the_features():
    X, linear, _, rng = drawn()
    exposure = np.exp(2 * rng.normal(size=len(linear)))
    y = rng.poisson(exposure * np.exp(linear)).astype(float)
    model = katoms.SparseRegressor(2, loss="poisson").fit(X, y, exposure=exposure)

    def deviance(mean):
        return 2 * np.sum(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0) - y + mean)

    null = deviance(exposure * y.sum() / exposure.sum())
    expected = 1 - deviance(model.predict(X, exposure=exposure)) / null
    assert abs(model.score(X, y, exposure=exposure) - expected) < 1e-9


def test_measures_of_the_kernels_know_of_an_exposure():
    X, linear, _, rng = drawn()
    exposure = rng.uniform(0.5, 4, size=len(linear))
    y = rng.poisson(exposure * np.exp(linear)).astype(float)
    for scoring in ("deviance", "mse", "rmse", "mae"):
        model = katoms.SparseRegressorCV(range(4), l2=0.0, loss="poisson", scoring=scoring)
        assert model.fit(X, y, exposure=exposure).support_size_ >= 2
    with pytest.raises(katoms.InvalidInputError, match="does not know of an offset or exposure; take one that does"):
        katoms.SparseRegressorCV(range(4), loss="poisson", scoring="r2").fit(X, y, exposure=exposure)


def test_what_is_known_of_rows_is_checked():
    X, linear, e, rng = drawn()
    y = rng.poisson(np.exp(linear)).astype(float)
    model = katoms.SparseRegressor(2, loss="poisson").fit(X, y)
    for known, match in (
        ({"offset": np.ones(3)}, "offset has 3 rows"),
        ({"exposure": np.ones(3)}, "exposure has 3 rows"),
        ({"offset": ["a"] * len(y)}, "offset holds what is no number"),
        ({"exposure": -np.ones(len(y))}, "exposure is -1 at row 0"),
    ):
        with pytest.raises(katoms.InvalidInputError, match=match):
            model.predict(X, **known)
    for target, match in ((y[:5], "y has 5 rows"), (y > 1, "y has 5 rows")):
        fitted = model if target.dtype != bool else katoms.SparseClassifier(2).fit(X, target)
        with pytest.raises(katoms.InvalidInputError, match=match):
            fitted.score(X, target[:5])


@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile", "poisson"])
def test_weights_of_another_length_are_refused(loss):
    X, linear, e, _ = drawn()
    with pytest.raises(katoms.InvalidInputError, match="sample_weight has length 5, but 300 is needed"):
        katoms.SparseRegressor(2, loss=loss).fit(X, np.exp(linear), np.ones(5))


# Told without an error.


@pytest.mark.filterwarnings("ignore:.*has one row only")
def test_what_some_rows_tell_without_an_error_is_separated():
    X, linear, e, rng = drawn()
    noisy = (linear + e > 0).astype(int)
    signs = (X > 0).astype(float)
    cases = {
        "half of the rows": (katoms.SparseClassifier(2), signs, np.where(X[:, 2] > 0, 1, noisy)),
        "one of three classes": (katoms.SparseClassifier(1), signs[:, 2:3], np.where(X[:, 2] > 0, 2, noisy)),
        "the highest grade": (katoms.SparseClassifier(1, ordinal=True), signs[:, 2:3], np.where(X[:, 2] > 0, 2, noisy)),
        "no counts": (katoms.SparseRegressor(1, loss="poisson"), signs[:, 2:3], np.where(X[:, 2] > 0, 0, 1 + noisy)),
        "who lives": (katoms.SparseCox(1), signs[:, 2:3], np.c_[np.exp(e), np.where(X[:, 2] > 0, 0, 1)]),
    }
    for what, (model, design, y) in cases.items():
        with pytest.warns(Warning, match="separat"):
            model.fit(design, y)
        assert model.status_ == "separated", what
        ridged = type(model)(**{**model.get_params(), "l2": 1.0})
        assert quietly(ridged, design, y).status_ == "converged", what


def test_what_is_not_separated_is_not_said_to_be():
    X, linear, e, rng = drawn(3)
    quietly(katoms.SparseClassifier(2), X, (6 * linear + e > 0).astype(int))
    quietly(katoms.SparseClassifier(2), np.c_[X, X[:, 2]], (linear + e > 0).astype(int))
    quietly(katoms.SparseRegressor(2, loss="poisson"), 8 * X, rng.poisson(np.exp(4 * linear)).astype(float))
    quietly(katoms.SparseCox(2), X, np.c_[np.exp(-2 * linear + e), np.ones(len(X))])
    quietly(katoms.SparseRegressor(2, loss="gamma"), X, np.exp(20 * linear + e))


def test_hazards_that_are_told_without_an_error():
    X, *_ = drawn()
    with pytest.warns(Warning, match="which rows have their events first.*give an l2"):
        katoms.SparseCox(2).fit(X, np.c_[np.exp(-X[:, 2]), np.ones(len(X))])
    ended = np.zeros(len(X))
    ended[-1] = 1
    for times, events, known in (
        (np.arange(1.0, len(X) + 1), ended, {}),
        (np.exp(X[:, 1]), np.ones(len(X)), {"strata": np.arange(len(X))}),
    ):
        with pytest.raises(katoms.InvalidInputError, match="nothing to be compared with"):
            katoms.SparseCox(2).fit(X, np.c_[times, events], **known)
    assert katoms.SparseCox(2).fit(X, np.ones((len(X), 2))).support_.size == 0


# Classes.


def test_a_class_for_each_row_is_refused():
    X, *_ = drawn(rows=60, columns=6)
    for y in (np.arange(60), np.r_[np.arange(40), np.zeros(20, dtype=int)], [f"id{i}" for i in range(60)]):
        with pytest.raises(katoms.InvalidInputError, match="more than half of the rows have a class of their own"):
            katoms.SparseClassifier(2).fit(X, y)


@pytest.mark.parametrize("ordinal", [False, True])
def test_a_class_without_weight_is_named(ordinal):
    X, linear, e, _ = drawn()
    y = np.digitize(linear + e, [-1, 1]) + 10
    for labels, name in ((y, "12"), (np.minimum(y, 11), "11")):
        with pytest.raises(katoms.InvalidInputError, match=f"no row of class .*{name}.* has a weight"):
            katoms.SparseClassifier(2, ordinal=ordinal).fit(X, labels, (labels != int(name)).astype(float))


@pytest.mark.filterwarnings("ignore:.*has one row only")
def test_what_cannot_be_held_out_is_named():
    X, linear, e, _ = drawn()
    y = np.digitize(linear, [-0.5, 0.5]).astype(float)
    y[7] = 9.0
    with pytest.raises(katoms.InvalidInputError, match=r"class .*9\.0.* has one row only"):
        katoms.SparseClassifierCV().fit(X, y)
    events = np.arange(len(X)) == 5
    with pytest.raises(katoms.InvalidInputError, match="one row only has an event"):
        katoms.SparseCoxCV().fit(X, np.c_[np.exp(e), events])
    few = np.arange(len(X)) < 4
    with pytest.raises(katoms.InvalidInputError, match="split .* rows without an event.*hold out more rows"):
        katoms.SparseCoxCV(cv=np.arange(len(X)) % 100).fit(X, np.c_[np.exp(e), few])


# Several responses, survival.


def test_several_responses_are_checked():
    X, linear, e, _ = drawn()
    Y = np.c_[linear, e]
    Y[3, 1] = np.inf
    with pytest.raises(katoms.InvalidInputError, match="inf at row 3, column 1"):
        katoms.SparseRegressor(2).fit(X, Y)
    model = katoms.SparseRegressor(2).fit(X, np.c_[linear, e])
    for wrong, match in ((Y[:, :1], "1 columns, but the model predicts 2"), (linear, "a column for each response")):
        with pytest.raises(katoms.InvalidInputError, match=match):
            model.score(X, wrong)


def test_strata_and_events_are_checked():
    X, linear, e, _ = drawn()
    times, strata = np.exp(e - linear), np.where(np.arange(len(X)) % 2, "a", "b").astype(object)
    model = katoms.SparseCox(2).fit(X, np.c_[times, np.ones(len(X))], strata=strata)
    with pytest.raises(katoms.InvalidInputError, match="give a label for each of 3 rows"):
        model.predict_survival_function(X[:3], strata=["a"])
    strata[4] = None
    with pytest.raises(katoms.InvalidInputError, match="no label at row 4"):
        katoms.SparseCox(2).fit(X, np.c_[times, np.ones(len(X))], strata=strata)
    words = np.array([(time, "yes") for time in times], dtype=[("time", float), ("event", "U3")])
    told = katoms.SparseCox(2).fit(X, words)
    assert (told.coef_ == katoms.SparseCox(2).fit(X, np.c_[times, np.ones(len(X))]).coef_).all()
    words["event"][6] = "?"
    with pytest.raises(katoms.InvalidInputError, match=r"the event of row 6 .* is \?"):
        katoms.SparseCox(2).fit(X, words)
    with pytest.raises(katoms.InvalidInputError, match="by predict alone"):
        judge = lambda model, X, y: model.predict_survival_function(X)[0](1.0)  # noqa: E731
        katoms.SparseCoxCV(range(2), l2=0.0, scoring=judge).fit(X, np.c_[times, np.ones(len(X))])


# Methods and sizes.


def test_methods_say_what_they_cannot():
    X, linear, e, _ = drawn()
    for method in ("fista", "lasso", "frank-wolfe"):
        with pytest.raises(katoms.KatomsError, match="leave the method out"):
            katoms.SparseCox(2, method=method).fit(X, np.c_[np.exp(e - linear), np.ones(len(X))])


@pytest.mark.parametrize("loss", ["huber", "negative_binomial"])
def test_features_inside_groups_go_with_estimated_parameters(loss):
    X, linear, e, rng = drawn()
    y = rng.poisson(np.exp(linear)).astype(float) if loss == "negative_binomial" else linear + e
    model = katoms.SparseRegressor(2, loss=loss, groups=np.arange(12) // 4, max_per_group=1).fit(X, y)
    assert model.support_.tolist() == [2, 5]


def test_the_model_without_features_is_always_judged():
    X, linear, e, _ = drawn()
    for cv in (5, [(np.arange(200), np.arange(200, 300))]):
        model = katoms.SparseRegressorCV(range(1, 4), l2=[0.0, 1.0], cv=cv).fit(X, linear + e)
        assert sorted(set(model.cv_results_["support_size"])) == [0, 1, 2, 3] and len(model.cv_results_["l2"]) == 8
        noise = katoms.SparseRegressorCV([1, 2, 9], cv=cv, scoring="mse").fit(X, e)
        assert noise.support_size_ >= 1 and noise.k_min_ >= 1 and noise.k_1se_ >= 1
    one = katoms.SparseRegressorCV(2, l2=0.0).fit(X, linear + e)
    assert one.cv_results_["support_size"].tolist() == [0, 2] and one.k_1se_ == 2


def test_a_choice_at_the_smallest_size_is_told():
    X, linear, e, _ = drawn(3)
    for model in (katoms.SparseRegressorCV(range(5, 8), l2=0.0), katoms.SparseRegressor(range(5, 8))):
        with pytest.warns(UserWarning, match=r"smallest size that was tried \(5\).*range\(0, 8\)"):
            model.fit(X, linear + e)
    quietly(katoms.SparseRegressorCV(range(8)), X, e)
