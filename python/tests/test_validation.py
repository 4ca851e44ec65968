"""The size by cross-validation: any splits, any score, weights of classes."""

import warnings

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import katoms

SIZES = [0, 1, 2, 3, 4]


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    return X, 2 * X[:, 3] - 3 * X[:, 11] + rng.normal(size=120)


@pytest.fixture
def classes(numbers):
    X, y = numbers
    return X, np.where(y + 3 * np.random.default_rng(1).normal(size=120) > 2, "ill", "well")


# Splits.


SPLITTERS = {
    "ShuffleSplit": ShuffleSplit(4, test_size=0.3, random_state=0),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(4),
    "one split": ShuffleSplit(1, random_state=0),
    "PredefinedSplit": PredefinedSplit(np.where(np.arange(120) < 40, 0, -1)),
    "masks": [(np.arange(120) < 80, np.arange(120) >= 80), (np.arange(120) >= 40, np.arange(120) < 40)],
    "some rows unused": [(np.arange(50), np.arange(100, 120))],
    "a bootstrap": [(np.random.default_rng(0).integers(0, 90, size=120), np.arange(90, 120))],
}


@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_any_splits_are_those_of_fits_on_their_rows(numbers, cv):
    X, y = numbers
    model = katoms.SparseRegressorCV(SIZES, l2=0, cv=cv).fit(X, y)
    splits = list(cv.split(X, y)) if hasattr(cv, "split") else cv
    losses = model.cv_results_["fold_losses"]
    assert losses.shape == (5, len(splits)) and model.fold_of_row_ is None
    for fold, (train, test) in enumerate(splits):
        for at, size in enumerate(SIZES):
            inside = katoms.SparseRegressor(size).fit(X[train], y[train])
            assert np.isclose(losses[at, fold], 0.5 * np.mean((inside.predict(X[test]) - y[test]) ** 2), rtol=1e-6)
    assert model.k_min_ == SIZES[int(model.cv_results_["mean_loss"].argmin())]
    assert np.allclose(model.cv_results_["mean_loss"], losses.mean(axis=1))
    if len(splits) > 1:
        errors = losses.std(axis=1, ddof=1) / np.sqrt(len(splits))
        assert np.allclose(model.cv_results_["standard_error"], errors)
    whole = katoms.SparseRegressor(model.k_min_).fit(X, y)
    assert np.allclose(model.coef_, whole.coef_) and model.support_size_ == model.k_min_
    assert np.allclose(model.coef(2), katoms.SparseRegressor(2).fit(X, y).coef_)


def test_splits_that_are_folds_share_their_passes(numbers):
    """What holds out each row once is as the labels of its folds, to the bit."""
    X, y = numbers
    by_splitter = katoms.SparseRegressorCV(SIZES, cv=KFold(4)).fit(X, y)
    labels = np.repeat(np.arange(4), 30)
    assert by_splitter.fold_of_row_.tolist() == labels.tolist()
    by_labels = katoms.SparseRegressorCV(SIZES, cv=labels).fit(X, y)
    assert np.array_equal(by_splitter.cv_results_["fold_losses"], by_labels.cv_results_["fold_losses"])
    # And general splits agree with them.
    one_more = [*KFold(4).split(X), next(ShuffleSplit(1, random_state=0).split(X))]
    general = katoms.SparseRegressorCV(SIZES, cv=one_more).fit(X, y)
    assert np.allclose(general.cv_results_["fold_losses"][:, :4], by_labels.cv_results_["fold_losses"])


def test_groups_of_rows_go_to_the_splitter(numbers):
    X, y = numbers
    groups = np.arange(120) // 12
    model = katoms.SparseRegressorCV(SIZES, cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert all(len(set(model.fold_of_row_[groups == group])) == 1 for group in range(10))
    leave = katoms.SparseRegressorCV(SIZES, l2=0, cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert leave.cv_results_["fold_losses"].shape == (5, 10)
    shuffled = katoms.SparseRegressorCV(SIZES, cv=GroupShuffleSplit(3, random_state=0)).fit(X, y, groups=groups)
    assert shuffled.fold_of_row_ is None
    with pytest.raises(ValueError, match=r"cv=5 does not look at groups; give .* such as GroupKFold\(5\)"):
        katoms.SparseRegressorCV(SIZES).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"GroupKFold splits by groups of rows: give them to fit\(X, y, groups=...\)"):
        katoms.SparseRegressorCV(SIZES, cv=GroupKFold(5)).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        step = katoms.SparseRegressorCV(SIZES, cv=GroupKFold(5)).set_fit_request(groups=True)
        routed = make_pipeline(StandardScaler(), step).fit(X, y, groups=groups)[-1]
    assert routed.fold_of_row_.tolist() == model.fold_of_row_.tolist()
    assert model.fit_transform(X, y, groups=groups).shape == (120, model.support_size_)


def test_ridges_and_weights_go_through_any_splits(numbers):
    X, y = numbers
    weights = np.random.default_rng(3).integers(1, 4, size=120)
    cv = TimeSeriesSplit(3)
    model = katoms.SparseRegressorCV(SIZES, l2=[0.0, 5.0], cv=cv).fit(X, y, sample_weight=weights)
    assert model.cv_results_["l2"].tolist() == [0.0] * 5 + [5.0] * 5
    for fold, (train, test) in enumerate(cv.split(X)):
        # The ridge is that of all rows; a training set gets its share.
        share = 5.0 * weights[train].sum() / weights.sum()
        inside = katoms.SparseRegressor(2, l2=share).fit(X[train], y[train], sample_weight=weights[train])
        loss = 0.5 * np.average((inside.predict(X[test]) - y[test]) ** 2, weights=weights[test])
        assert np.isclose(model.cv_results_["fold_losses"][7, fold], loss, rtol=1e-6)


@pytest.mark.parametrize("kind", ["bounds", "groups", "sparse", "frame", "always", "no intercept"])
def test_any_splits_of_any_model(numbers, kind):
    X, y = numbers
    cv = ShuffleSplit(3, random_state=0)
    given = {"sparse": scipy.sparse.csr_array(X), "frame": polars.DataFrame(X)}.get(kind, X)
    parameters = {
        "groups": {"groups": np.arange(30) % 10},
        "bounds": {"bounds": (-2, 2)},
        "always": {"always_select": [0]},
        "no intercept": {"fit_intercept": False},
    }.get(kind, {})
    model = katoms.SparseRegressorCV([1, 2], cv=cv, **parameters).fit(given, y)
    train, test = next(cv.split(X))
    inside = katoms.SparseRegressor(2, **parameters).fit(X[train], y[train])
    assert np.isclose(model.cv_results_["fold_losses"][2, 0], 0.5 * np.mean((inside.predict(X[test]) - y[test]) ** 2))


def test_classes_of_any_splits(classes):
    X, y = classes
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = katoms.SparseClassifierCV([1, 2], l2=0, cv=cv).fit(X, y)
    train, test = next(cv.split(X, y))
    inside = katoms.SparseClassifier(2).fit(X[train], y[train])
    expected = log_loss(y[test], inside.predict_proba(X[test]))
    assert np.isclose(model.cv_results_["fold_losses"][2, 0], expected, rtol=1e-4)
    in_order = np.argsort(y)
    with pytest.raises(ValueError, match="split 0 of cv trains on one class alone"):
        katoms.SparseClassifierCV([1, 2], cv=TimeSeriesSplit(5)).fit(X[in_order], y[in_order])


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        ([], "cv has no splits"),
        ([(np.arange(60), np.arange(40, 120))], "split 0 of cv trains and tests on row 40"),
        ([(np.arange(60), np.arange(60, 121))], "split 0 of cv: the rows to test must be whole numbers below 120"),
        ([(np.arange(60), [])], "split 0 of cv has no rows to test"),
        ([np.arange(60)], "split 0 of cv is no pair"),
        ([(np.arange(60), [0.5])], "whole numbers"),
        ("ten", "cv is 'ten'"),
    ],
)
def test_splits_that_cannot_be(numbers, cv, words):
    with pytest.raises(ValueError, match=words):
        katoms.SparseRegressorCV(SIZES, cv=cv).fit(*numbers)


# Scores.


@pytest.mark.parametrize("cv", [StratifiedKFold(4), ShuffleSplit(4, random_state=0)], ids=["folds", "splits"])
@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_log_loss", "f1_macro"])
def test_scorers_judge_models_of_the_rows_that_train(classes, scoring, cv):
    X, y = classes
    model = katoms.SparseClassifierCV(SIZES, l2=0, cv=cv, scoring=scoring).fit(X, y)
    results = model.cv_results_
    assert results["fold_scores"].shape == (5, 4)
    assert np.allclose(results["mean_score"], results["fold_scores"].mean(axis=1))
    errors = results["fold_scores"].std(axis=1, ddof=1) / 2
    assert np.allclose(results["score_standard_error"], errors)
    assert model.k_min_ == SIZES[int(results["mean_score"].argmax())]
    best = results["mean_score"].max()
    near = [k for k, mean in zip(SIZES, results["mean_score"]) if mean >= best - errors[results["mean_score"].argmax()]]
    assert model.k_1se_ == min(near)
    assert "mean_loss" in results and "fold_losses" in results
    train, test = list(cv.split(X, y))[2]
    inside = katoms.SparseClassifier(2).fit(X[train], y[train])
    assert np.isclose(results["fold_scores"][2, 2], get_scorer(scoring)(inside, X[test], y[test]), rtol=1e-3)


def test_a_score_that_is_the_loss_chooses_as_the_loss(numbers):
    X, y = numbers
    by_loss = katoms.SparseRegressorCV(range(1, 9)).fit(X, y)
    by_score = katoms.SparseRegressorCV(range(1, 9), scoring="neg_mean_squared_error").fit(X, y)
    assert np.allclose(by_score.cv_results_["mean_score"], -2 * by_loss.cv_results_["mean_loss"])
    assert (by_score.k_min_, by_score.k_1se_) == (by_loss.k_min_, by_loss.k_1se_)
    assert np.array_equal(by_score.coef_, by_loss.coef_)


def test_scores_and_losses_may_choose_different_sizes(classes):
    X, y = classes[0][:50], classes[1][:50]
    models = [
        katoms.SparseClassifierCV(range(1, 9), scoring=s).fit(X, y)
        for s in (None, "roc_auc", "accuracy", "recall_macro")
    ]
    assert len({model.k_min_ for model in models}) > 1
    for model in models[1:]:
        tried = model.cv_results_
        at = np.flatnonzero((tried["support_size"] == model.support_size_) & (tried["l2"] == model.l2_))
        assert tried["mean_score"][at] == tried["mean_score"].max()


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, np.asarray, scipy.sparse.csr_matrix])
def test_a_function_may_score(classes, frame):
    X, y = classes
    seen = []

    def score(estimator, X, y):
        seen.append((type(X), len(y), estimator.support_size_, np.count_nonzero(estimator.coef_)))
        assert set(np.asarray(y)) <= {"ill", "well"} and estimator.classes_.tolist() == ["ill", "well"]
        return roc_auc_score(np.asarray(y) == "well", estimator.predict_proba(X)[:, 1])

    X = frame(X)
    if hasattr(X, "columns"):
        X.columns = [f"gene{j}" for j in range(30)]
    model = katoms.SparseClassifierCV([1, 2], l2=0, cv=3, scoring=score).fit(X, y)
    assert len(seen) == 9 and all(kind is type(X) or "sparse" in kind.__module__ for kind, *_ in seen)
    assert {(size, count) for *_, size, count in seen} == {(0, 0), (1, 1), (2, 2)}
    named = katoms.SparseClassifierCV([1, 2], l2=0, cv=3, scoring="roc_auc").fit(X, y)
    assert np.allclose(model.cv_results_["fold_scores"], named.cv_results_["fold_scores"])
    assert clone(model).scoring is score


def test_scorers_see_means_of_the_rows_that_train(numbers):
    X, y = numbers
    X = X.copy()
    X[np.random.default_rng(4).random(X.shape) < 0.2] = np.nan
    model = katoms.SparseRegressorCV([1, 2], missing="mean", scoring="neg_mean_squared_error").fit(X, y)
    assert np.allclose(model.cv_results_["fold_scores"], -2 * model.cv_results_["fold_losses"])


def test_weights_of_rows_weigh_scores_that_take_them(numbers):
    X, y = numbers
    weights = np.random.default_rng(3).integers(1, 4, size=120)
    model = katoms.SparseRegressorCV([1, 2], scoring="neg_mean_squared_error").fit(X, y, sample_weight=weights)
    assert np.allclose(model.cv_results_["fold_scores"], -2 * model.cv_results_["fold_losses"])
    plain = make_scorer(lambda a, b: mean_absolute_error(a, b), greater_is_better=False)
    assert katoms.SparseRegressorCV([1, 2], scoring=plain).fit(X, y, sample_weight=weights).k_min_ == 2


def test_scores_that_cannot_be(classes):
    X, y = classes
    with pytest.raises(ValueError, match="scoring is 3; give 'deviance' or None.*the name of a scorer"):
        katoms.SparseClassifierCV([1], scoring=3).fit(X, y)
    with pytest.raises(ValueError, match="auc2"):
        katoms.SparseClassifierCV([1], scoring="auc2").fit(X, y)
    lonely = [(np.flatnonzero(np.arange(120) != row), [row]) for row in range(3)]
    with warnings.catch_warnings(), pytest.raises(ValueError, match="is NaN on split 0, for support_size=0"):
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        katoms.SparseClassifierCV([1], cv=lonely, scoring="roc_auc").fit(X, y)


def test_scores_are_drawn(classes):
    import matplotlib

    matplotlib.use("Agg")
    model = katoms.SparseClassifierCV(SIZES, scoring="roc_auc").fit(*classes)
    assert "score" in katoms.plot_cv(model).get_ylabel()


# Weights of classes.


@pytest.mark.parametrize("class_weight", ["balanced", {"ill": 3.0, "well": 0.5}, {"ill": 2.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_weighted_as_in_scikit_learn(classes, class_weight, weighted):
    X, y = classes[0][:, :4], classes[1]
    weights = np.random.default_rng(0).integers(1, 4, size=120).astype(float) if weighted else None
    model = katoms.SparseClassifier(4, class_weight=class_weight).fit(X, y, sample_weight=weights)
    theirs = LogisticRegression(C=np.inf, class_weight=class_weight, tol=1e-10, max_iter=10_000)
    theirs.fit(X, y, sample_weight=weights)
    assert np.allclose(model.coef_, theirs.coef_, rtol=1e-3) and np.allclose(
        model.intercept_, theirs.intercept_, rtol=1e-3
    )
    if class_weight == "balanced" and not weighted:
        of_class = dict(zip(["ill", "well"], compute_class_weight("balanced", classes=np.unique(y), y=y)))
        rows = np.array([of_class[label] for label in y])
        assert np.array_equal(model.coef_, katoms.SparseClassifier(4).fit(X, y, sample_weight=rows).coef_)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [1.0, 2.0]], ids=str)
@pytest.mark.parametrize("cv", [3, ShuffleSplit(3, random_state=0)], ids=["folds", "splits"])
def test_numbers_and_truths_among_objects_are_classes(classes, labels, cv):
    X, y = classes
    plain = np.array(labels)[(np.asarray(y) == np.unique(y)[1]).astype(int)]
    for given in (plain.astype(object), pandas.Series(plain.astype(object))):
        model, expected = (
            katoms.SparseClassifierCV([0, 1, 2], cv=cv, scoring="accuracy").fit(X, one) for one in (given, plain)
        )
        assert model.classes_.dtype == plain.dtype
        assert np.array_equal(model.cv_results_["fold_scores"], expected.cv_results_["fold_scores"])


def test_class_weights_go_everywhere(classes):
    X, y = classes
    for make in (katoms.SparseClassifierCV, katoms.SparseClassifier):
        plain, balanced = (make([1, 2], class_weight=weight).fit(X, y) for weight in (None, {"ill": 5.0}))
        assert (balanced.predict(X) == "ill").sum() > (plain.predict(X) == "ill").sum()
    assert katoms.path(X, y, [1, 2], loss="logistic", class_weight="balanced").losses.shape == (2,)
    grid = GridSearchCV(katoms.SparseClassifier(2), {"class_weight": [None, "balanced"]}, scoring="recall_macro").fit(
        X, y
    )
    assert grid.best_score_ > 0


@pytest.mark.long
@parametrize_with_checks(
    [
        katoms.SparseRegressorCV(cv=ShuffleSplit(2, random_state=0)),
        katoms.SparseClassifierCV(
            cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), scoring="accuracy"
        ),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_sizes_and_ridges_that_nobody_gave(numbers, classes):
    """Folds and splits of the same rows try the same grid: geometric sizes, finer around the choice; ridges on the scale of the data."""
    for kind, single, (X, y), least in (
        (katoms.SparseRegressorCV, katoms.SparseRegressor, numbers, 0),
        (katoms.SparseClassifierCV, katoms.SparseClassifier, classes, 0.001),
    ):
        folds = np.arange(len(y)) % 4
        splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(4)]
        # The last split makes it no partition.
        for cv in (folds, [*splits, splits[0]]):
            model = kind(cv=cv).fit(X, y)
            tried = model.cv_results_
            ridges = sorted(set(tried["l2"].tolist()))
            assert np.allclose(ridges, [len(y) * share for share in (least, 0.01, 0.1, 1)])
            other = tried["support_size"][tried["l2"] != model.l2_].tolist()
            assert other[:7] == [0, 1, 2, 3, 4, 5, 7] and len(other) == 3 * len(set(other))
            mine = tried["support_size"][tried["l2"] == model.l2_].tolist()
            assert mine == sorted(mine) and set(other) <= set(mine)
            assert {model.support_size_ - 1, model.support_size_ + 1} <= {-1, *mine} or model.support_size_ > 8
            at = int(tried["mean_loss"].argmin())
            assert (tried["support_size"][at], tried["l2"][at]) == (model.support_size_, model.l2_)
            assert np.allclose(model.coef_, single(model.support_size_, l2=model.l2_).fit(X, y).coef_, atol=1e-6)
            assert clone(model).l2 is None
        # Twice the rows have twice the ridge, and columns in other units another one where they are not standardised.
        twice = kind(1, cv=folds).fit(X, y, sample_weight=np.full(len(y), 2.0))
        assert np.allclose(sorted(set(twice.cv_results_["l2"])), 2 * np.array(ridges))
        raw = [sorted(set(kind(1, cv=folds, standardize=False).fit(s * X, y).cv_results_["l2"])) for s in (1, 10)]
        assert np.allclose(100 * np.array(raw[0]), raw[1])
