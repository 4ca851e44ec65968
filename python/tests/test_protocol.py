"""The protocol of scikit-learn: its own checks, and the tools that people put estimators into."""

import pickle

import joblib
import numpy as np
import pandas
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import katoms

FEATURES = [
    katoms.SparseRegressor,
    katoms.SparseClassifier,
    katoms.SparseRegressorCV,
    katoms.SparseClassifierCV,
]


def separated(estimator):
    """Checks whose rows a few features separate completely: no finite coefficients are then the best."""
    if not isinstance(estimator, katoms.SparseClassifier):
        return {}
    why = "three classes of fifteen rows are separated, which the status says, and coefficients are no estimates"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@parametrize_with_checks([make() for make in FEATURES], expected_failed_checks=separated)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks([make(groups=[[0]]) for make in FEATURES], expected_failed_checks=separated)
def test_scikit_learns_own_checks_with_groups(estimator, check):
    check(estimator)


@pytest.fixture
def planted():
    """y depends on columns 3 and 11."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 30))
    return X, 2 * X[:, 3] - 3 * X[:, 11] + 0.1 * rng.normal(size=120)


def test_a_pipeline_fits_and_selects(planted):
    X, y = planted
    pipe = make_pipeline(StandardScaler(), katoms.SparseRegressor(2)).fit(X, y)
    assert pipe.score(X, y) > 0.99
    before = Pipeline([("select", katoms.SparseRegressor(2)), ("again", katoms.SparseRegressor(1))]).fit(X, y)
    assert before[-1].n_features_in_ == 2
    assert SelectFromModel(katoms.SparseRegressor(2)).fit(X, y).get_support(indices=True).tolist() == [3, 11]


def test_a_grid_search_finds_the_size(planted):
    X, y = planted
    grid = GridSearchCV(katoms.SparseRegressor(), {"support_size": [1, 2]}, n_jobs=2).fit(X, y)
    assert grid.best_params_ == {"support_size": 2}
    assert cross_val_score(katoms.SparseRegressor(2), X, y).min() > 0.98


def test_clones_and_pickles_keep_everything(planted, tmp_path):
    X, y = planted
    model = katoms.SparseRegressor(2, l2=0.5).fit(X, y)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "coef_")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(joblib.dump(model, tmp_path / "m")[0])):
        assert (copy.coef_ == model.coef_).all() and copy.quality_ == model.quality_
        assert (copy.predict(X) == model.predict(X)).all()


def test_parallel_workers_give_the_same_answer(planted):
    X, y = planted
    alone = katoms.SparseRegressor(2).fit(X, y)
    many = joblib.Parallel(n_jobs=2)(joblib.delayed(katoms.SparseRegressor(2).fit)(X, y) for _ in range(3))
    assert all((one.coef_ == alone.coef_).all() for one in many)


def test_set_output_gives_frames_with_names(planted):
    X, y = planted
    frame = pandas.DataFrame(X, columns=[f"gene{j}" for j in range(30)], index=np.arange(120) + 7)
    out = katoms.SparseRegressor(2).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert list(out.columns) == ["gene3", "gene11"] and (out.index == frame.index).all()
    polars = pytest.importorskip("polars")
    out = katoms.SparseRegressor(2).set_output(transform="polars").fit(frame, y).transform(frame)
    assert isinstance(out, polars.DataFrame) and out.columns == ["gene3", "gene11"]
    with sklearn.config_context(transform_output="pandas"):
        assert list(katoms.SparseRegressor(2).fit(frame, y).transform(frame).columns) == ["gene3", "gene11"]


def test_weights_are_routed(planted):
    X, y = planted
    weights = np.random.default_rng(2).integers(1, 4, size=120)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, katoms.SparseRegressor(2).set_fit_request(sample_weight=True))
        routed = pipe.fit(X, y, sample_weight=weights)[-1]
        grid = GridSearchCV(
            katoms.SparseRegressor(2).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            {"l2": [0.0]},
        )
        grid.fit(X, y, sample_weight=weights)
        refused = make_pipeline(scaler, katoms.SparseRegressor(2))
        with pytest.raises(ValueError, match="sample_weight"):
            refused.fit(X, y, sample_weight=weights)
    alone = katoms.SparseRegressor(2).fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    assert (routed.coef_ == alone.coef_).all()
    assert grid.best_estimator_.support_.tolist() == [3, 11]


def test_a_representation_says_what_differs_from_the_default():
    assert repr(katoms.SparseRegressor()) == "SparseRegressor()"
    assert repr(katoms.SparseRegressorCV([1, 2], l2=0.5)) == "SparseRegressorCV(support_size=[1, 2], l2=0.5)"
    with pytest.raises(ValueError, match="Invalid parameter 'size'.*support_size"):
        katoms.SparseRegressor().set_params(size=3)


def test_names_that_others_use_are_taken_with_a_message():
    for alias in ("n_nonzero_coefs", "sparsity", "k"):
        with pytest.warns(UserWarning, match=f"{alias} is called support_size here"):
            assert katoms.SparseRegressor(**{alias: 3}).support_size == 3
    with pytest.raises(TypeError, match="mean the same"):
        katoms.SparseRegressor(support_size=3, sparsity=3)


@pytest.mark.parametrize("make", [katoms.SparseRegressor, katoms.SparseClassifierCV, katoms.SparseRecovery])
def test_set_params_takes_the_names_that_the_constructor_takes(make):
    names = make._aliases
    assert names
    for alias, name in names.items():
        with pytest.warns(UserWarning, match=f"{alias} is called {name} here") as caught:
            assert getattr(make().set_params(**{alias: 3}), name) == 3
        assert caught[0].filename == __file__
        assert alias not in make().get_params()
        with pytest.raises(TypeError, match="mean the same"):
            make().set_params(**{alias: 3, name: 3})


@pytest.mark.parametrize("make", [katoms.MatrixCompletion, katoms.MatrixCompletionCV])
def test_k_of_a_matrix_is_its_rank(make):
    with pytest.warns(UserWarning, match="k is called rank here"):
        assert make().set_params(k=3).rank == 3
    with pytest.warns(UserWarning, match="k is called rank here"):
        assert make(k=2).rank == 2


def test_other_names_go_through_pipelines_and_grids(planted):
    X, y = planted
    pipe = make_pipeline(StandardScaler(), katoms.SparseRegressor())
    with pytest.warns(UserWarning, match="k is called support_size here"):
        assert pipe.set_params(sparseregressor__k=2)[-1].support_size == 2
    with pytest.warns(UserWarning, match="k is called support_size here"):
        grid = GridSearchCV(katoms.SparseRegressor(), {"k": [1, 2]}).fit(X, y)
    assert grid.best_estimator_.support_size == 2 and clone(grid.best_estimator_).support_size == 2


def test_a_matrix_of_single_precision_is_completed_in_single_precision(planted):
    X = planted[0].copy()
    X[::7, 2] = np.nan
    for given in (X.astype(np.float32), pandas.DataFrame(X.astype(np.float32))):
        model = katoms.MatrixCompletion(2).fit(given)
        assert model.transform(given).dtype == model.predict(given).dtype == np.float32
        assert model.transform(X).dtype == np.float64


@pytest.mark.parametrize("make", FEATURES)
def test_single_precision_in_is_single_precision_out(planted, make):
    X, y = planted
    classes = "Classifier" in make.__name__
    y = np.where(y + np.random.default_rng(0).normal(scale=3, size=120) > 0, 1, 0) if classes else y
    for given in (
        X.astype(np.float32),
        pandas.DataFrame(X.astype(np.float32)),
        scipy.sparse.csr_array(X.astype(np.float32)),
    ):
        model = make([1, 2]).fit(given, y)
        assert model.coef_.dtype == np.float32 and np.asarray(model.intercept_).dtype == np.float32
        ask = (model.decision_function, model.predict_proba, model.predict_log_proba) if classes else (model.predict,)
        assert all(one(given).dtype == np.float32 for one in ask)
        assert model.transform(given).dtype == np.float32 or hasattr(given, "columns")
        assert isinstance(model.score(given, y), float)
        assert all(one(X).dtype == np.float64 for one in ask if hasattr(given, "flags"))
    double = make([1, 2]).fit(X.astype(np.float32).astype(np.float64), y)
    single = make([1, 2]).fit(X.astype(np.float32), y)
    assert double.coef_.dtype == np.float64 and single.support_.tolist() == double.support_.tolist()
    # Worked out in double precision, and rounded at the end.
    assert np.array_equal(single.coef_, double.coef_.astype(np.float32))
    for dtype in (np.float16, np.int8, np.bool_):
        assert make([1, 2]).fit((X * 3).astype(dtype), y).coef_.dtype == np.float64
