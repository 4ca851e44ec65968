"""Frames as people have them: words, dates, missing values, one-hot columns."""

import datetime
import re

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import katoms
from katoms import InvalidInputError, NumericalError


@pytest.fixture
def houses():
    """A frame whose target depends on area and age, and the target."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(120, 5)), columns=["area", "age", "rooms", "floor", "noise"])
    return X, 3 * X["area"] - 2 * X["age"] + 0.1 * rng.normal(size=120)


def holed(X, share=0.1, columns=("area", "age"), seed=1):
    X, rng = X.copy(), np.random.default_rng(seed)
    for name in columns:
        X.loc[rng.random(len(X)) < share, name] = np.nan
    return X


# What is no number.


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (
            ["gas", "oil"] * 60,
            r"column 'new' holds 'gas', which is no number; encode it with pandas.get_dummies\(X, columns=\['new'\]\)",
        ),
        (
            pandas.date_range("2024-01-01", periods=120),
            r"column 'new' holds dates; .*\(X\['new'\] - X\['new'\].min\(\)\).dt.days",
        ),
        ([datetime.date(2024, 1, 1)] * 120, "column 'new' holds dates"),
        (["2024-01-05"] * 120, r"column 'new' holds dates as text \('2024-01-05'\); read them with pandas.to_datetime"),
        (pandas.to_timedelta(np.arange(120), unit="h"), r"column 'new' holds durations; .*X\['new'\].dt.total_seconds"),
        ([[1, 2]] * 120, r"column 'new' holds \[1, 2\], which is no number; make numbers of it, or leave it out"),
        ([1j] * 120, "Complex data not supported: column 'new'; give real and imaginary parts"),
        (["x" * 5000] * 120, "column 'new' holds 'x{59}[.][.][.], which"),
    ],
)
def test_a_column_without_numbers_is_named_with_what_to_do(houses, column, words):
    X, y = houses
    with pytest.raises(ValueError, match=words):
        katoms.SparseRegressor(2).fit(X.assign(new=column), y)


def test_all_columns_without_numbers_are_told_at_once(houses):
    X, y = houses
    X = X.assign(heating="gas", since=pandas.Timestamp("2024-01-01"))
    with pytest.raises(ValueError, match="(?s)column 'heating' holds 'gas'.*column 'since' holds dates"):
        katoms.SparseRegressor(2).fit(X, y)
    many = X.assign(**{f"word{j}": "a" for j in range(9)})
    with pytest.raises(ValueError, match="and 6 more$"):
        katoms.SparseRegressor(2).fit(many, y)


def test_what_is_said_of_polars_is_polars(houses):
    X, y = houses
    frame = polars.from_pandas(X).with_columns(polars.lit("gas").alias("heating"))
    with pytest.raises(ValueError, match=r"encode it with X.to_dummies\(\['heating'\]\)"):
        katoms.SparseRegressor(2).fit(frame, y)
    dated = polars.from_pandas(X).with_columns(polars.lit(datetime.date(2024, 1, 1)).alias("since"))
    with pytest.raises(ValueError, match=r"column 'since' holds dates; .*dt.total_days"):
        katoms.SparseRegressor(2).fit(dated, y)


def test_the_advice_about_dates_works(houses):
    X, y = houses
    X = X.assign(since=pandas.date_range("2024-01-01", periods=120))
    days = (X["since"] - X["since"].min()).dt.days
    assert katoms.SparseRegressor(2).fit(X.assign(since=days), y).support_size_ == 2


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,200", 1200),
        ("$ -1,200.50", -1200.5),
        ("-€5", -5),
        ("12 %", 12),
        ("3,5", 3.5),
        ("1.234,5", 1234.5),
        ("1 234,50 €", 1234.5),
    ],
)
@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_the_advice_about_numbers_as_text_works(frame, text, number):
    X = frame({"area": np.arange(6.0), "price": [text, "2"] * 3})
    with pytest.raises(ValueError, match="column 'price' holds numbers as text") as told:
        katoms.SparseRegressor(1).fit(X, np.arange(6.0))
    advice = str(told.value).partition("make numbers of them: ")[2]
    assert eval(advice, {"X": X}).to_list() == [number, 2.0] * 3


def test_columns_of_arrays_of_objects_are_told_by_place(houses):
    X, y = houses[0].astype(object).to_numpy().copy(), houses[1]
    X[4, 1] = None
    with pytest.raises(InvalidInputError, match=r"column 1 \(counted from 0\) has 1 missing value \(in row 4\)"):
        katoms.SparseRegressor(2).fit(X, y)
    for value in ("gas", pandas.Timestamp("2024-01-01")):
        X[7, 3] = value
        with pytest.raises((TypeError, ValueError), match=r"column 3 \(counted from 0\) holds what is no number"):
            katoms.SparseRegressor(2).fit(X, y)


def test_numbers_that_are_too_large_or_small_are_told_by_column(houses):
    X, y = houses
    model = katoms.SparseRegressor(2).fit(X, y)
    with pytest.raises(NumericalError, match="column 'area' holds 1.7e308 there"):
        model.predict(X.assign(area=1.7e308))
    with pytest.raises(NumericalError, match="column 'rooms' "):
        katoms.SparseRegressor(2, standardize=False).fit(X.assign(rooms=1e200 * X["rooms"]), y)
    with pytest.raises(NumericalError, match="the coefficient of column 'age' "):
        katoms.SparseRegressor(2).fit(X.assign(age=1e-300 * X["age"]), 1e100 * y)


def test_completion_and_recovery_name_columns_too(houses):
    X, y = houses
    infinite = X.assign(age=np.inf)
    for ask in (katoms.MatrixCompletion(1).fit, katoms.MatrixCompletion(1).fit(X).transform):
        with pytest.raises(InvalidInputError, match="infinity: column 'age' has inf in row 0"):
            ask(infinite)
        with pytest.raises(ValueError, match="column 'age' holds 'old', which is no number"):
            ask(X.assign(age="old"))
    missing = X.assign(age=np.nan)
    for ask in (
        lambda X: katoms.recover(X, y, 2),
        lambda X: katoms.SparseRecovery(2).fit(X, y),
        katoms.SparseRecovery(2).fit(X, y).predict,
    ):
        with pytest.raises(InvalidInputError, match="column 'age' has 120 missing values .* Leave out the rows"):
            ask(missing)
        with pytest.raises(ValueError, match="column 'age' holds 'old', which is no number"):
            ask(X.assign(age="old"))


# What is missing.


@pytest.mark.parametrize("as_frame", [lambda X: X, polars.from_pandas, lambda X: X.convert_dtypes()])
def test_missing_values_are_told_by_column_with_what_to_do(houses, as_frame):
    X, y = houses
    X.loc[[17, 20, 33], "age"] = np.nan
    with pytest.raises(InvalidInputError) as told:
        katoms.SparseRegressor(2).fit(as_frame(X), y)
    assert "column 'age' has 3 missing values (first in row 17)" in str(told.value)
    assert "missing='mean'" in str(told.value) and "missing='indicator'" in str(told.value)
    assert "katoms.MatrixCompletion" in str(told.value)
    X.loc[3, "rooms"] = np.nan
    for make in (katoms.SparseRegressor, katoms.SparseRegressorCV, lambda k: katoms.SparseRegressor([1, 2])):
        with pytest.raises(InvalidInputError, match="'age' has 3 .*column 'rooms' has 1 missing value .in row 3"):
            make(2).fit(as_frame(X), y)


def test_missing_values_of_arrays_and_sparse_matrices_are_told_by_place(houses):
    X, y = houses[0].to_numpy().copy(), houses[1]
    X[5, 3] = np.nan
    for given in (X, np.asfortranarray(X), X.astype(np.float32), scipy.sparse.csr_array(X)):
        with pytest.raises(InvalidInputError, match=r"column 3 \(counted from 0\) has 1 missing value \(in row 5\)"):
            katoms.SparseRegressor(2).fit(given, y)
    X[5, 3] = -np.inf
    for given in (X, scipy.sparse.csc_array(X)):
        with pytest.raises(InvalidInputError, match=r"infinity: column 3 \(counted from 0\) has -inf in row 5"):
            katoms.SparseRegressor(2).fit(given, y)


def test_missing_values_of_new_rows_are_told_too(houses):
    X, y = houses
    model = katoms.SparseRegressor(2).fit(X, y)
    new = X.assign(rooms=np.nan)
    for ask in (model.predict, model.transform):
        with pytest.raises(InvalidInputError, match="column 'rooms' has 120 missing values"):
            ask(new)
    for missing in (pandas.NA, np.nan, None):
        with pytest.raises(ValueError, match="y contains NaN: no value at row 4 .*; leave such rows out"):
            katoms.SparseRegressor(2).fit(X, pandas.Series([missing if row == 4 else row for row in range(120)]))


def test_means_take_the_place_of_missing_values(houses):
    X, y = houses
    X = holed(X)
    model = katoms.SparseRegressor(2, missing="mean").fit(X, y)
    assert np.allclose(model.means_, X.mean())
    pipe = make_pipeline(SimpleImputer(), katoms.SparseRegressor(2)).fit(X.to_numpy(), y)
    assert np.allclose(model.coef_, pipe[-1].coef_) and np.isclose(model.intercept_, pipe[-1].intercept_)
    # The means of the fit, also for rows that come later and for columns that lacked nothing.
    new = X.iloc[:3].assign(rooms=np.nan, area=[1.0, np.nan, np.nan])
    filled = new.fillna(dict(zip(X.columns, model.means_)))
    assert np.array_equal(model.predict(new), model.predict(filled))
    assert np.array_equal(model.transform(new), filled[["area", "age"]].to_numpy())


def test_an_indicator_is_a_column_of_its_own(houses):
    X, y = houses
    X = holed(X, 0.3, ["rooms", "floor"])
    y = y + 4 * X["rooms"].isna()
    model = katoms.SparseRegressor(3, missing="indicator").fit(X, y)
    assert model.get_feature_names_out().tolist() == ["area", "age", "rooms (missing)"]
    assert model.missing_features_.tolist() == [2, 3] and model.coef_.shape == (7,) and model.n_features_in_ == 5
    assert model.score(X, y) > 0.99
    assert model.transform(X)[:, 2].tolist() == X["rooms"].isna().astype(float).tolist()
    framed = model.set_output(transform="pandas").transform(X)
    assert framed.columns.tolist() == ["area", "age", "rooms (missing)"]
    assert model.inverse_transform(framed).shape == X.shape
    # None is missing: the indicator is 0.
    assert np.isfinite(model.predict(X.fillna(0.0))).all()
    plain = X.fillna(X.mean()).assign(**{"r?": X["rooms"].isna() * 1.0, "f?": X["floor"].isna() * 1.0})
    same = katoms.SparseRegressor(3).fit(plain, y)
    assert np.allclose(same.coef_, model.coef_)


def test_missing_values_in_sparse_matrices_and_in_single_precision(houses):
    X, y = holed(houses[0]), houses[1]
    model = katoms.SparseRegressor(3, missing="indicator").fit(X.to_numpy(), y)
    for given in (scipy.sparse.csr_matrix(X.to_numpy()), scipy.sparse.csc_array(X.to_numpy())):
        same = katoms.SparseRegressor(3, missing="indicator").fit(given, y)
        assert np.allclose(same.coef_, model.coef_) and np.allclose(same.predict(given), model.predict(X.to_numpy()))
        chosen = same.transform(given)
        assert isinstance(chosen, type(given.tocsc())) and np.allclose(chosen.toarray(), model.transform(X.to_numpy()))
    single = X.to_numpy(np.float32)
    found = katoms.SparseRegressor(3, missing="mean").fit(single, y)
    assert found.predict(single).dtype == np.float32


def test_whole_numbers_lack_nothing(houses):
    X, y = (houses[0] * 10).round().astype(np.int8), houses[1]
    plain, filled = (katoms.SparseRegressor(2, missing=how).fit(X, y) for how in ("error", "indicator"))
    assert np.array_equal(plain.coef_, filled.coef_)


def test_groups_and_bounds_know_of_indicators(houses):
    X, y = houses
    X = holed(X, 0.3, ["rooms"])
    y = y + 4 * X["rooms"].isna()
    groups = {"size": ["area", "rooms"], "when": ["age"]}
    model = katoms.SparseRegressor(2, groups=groups, missing="indicator").fit(X, y)
    assert model.chosen_groups_ == ["size", "when"]
    assert model.get_feature_names_out().tolist() == ["area", "age", "rooms", "rooms (missing)"]
    upward = katoms.SparseRegressor(3, positive=True, missing="indicator").fit(X, -y)
    assert (upward.coef_ >= 0).all()
    bounded = katoms.SparseRegressor(3, bounds=(np.full(5, -1.0), np.full(5, 1.0)), missing="indicator").fit(X, y)
    assert np.abs(bounded.coef_[:5]).max() <= 1.0 and bounded.coef_[5] > 1.0
    kept = katoms.SparseRegressor(1, always_select=["rooms (missing)"], missing="indicator").fit(X, y)
    assert "rooms (missing)" in kept.get_feature_names_out()


def test_held_out_rows_say_nothing_about_means(houses):
    """The losses of folds are those of pipelines that learn their means from the rows that train."""
    X, y = holed(houses[0], 0.3), houses[1]
    model = katoms.SparseRegressorCV([1, 2, 3], missing="mean", cv=4).fit(X, y)
    for fold in range(4):
        held = model.fold_of_row_ == fold
        for at, size in enumerate([0, 1, 2, 3]):
            pipe = make_pipeline(SimpleImputer(), katoms.SparseRegressor(size)).fit(X.to_numpy()[~held], y[~held])
            loss = 0.5 * np.mean((pipe.predict(X.to_numpy()[held]) - y[held]) ** 2)
            assert np.isclose(model.cv_results_["fold_losses"][at, fold], loss)


def test_a_column_that_no_row_has_is_refused(houses):
    X, y = houses
    with pytest.raises(ValueError, match="column 'age' has no value at all, so no mean; leave it out"):
        katoms.SparseRegressor(2, missing="mean").fit(X.assign(age=np.nan), y)
    with pytest.raises(ValueError, match="missing is 'median'; it must be 'error', 'mean' or 'indicator'"):
        katoms.SparseRegressor(2, missing="median").fit(X, y)
    # All of a fold's training rows may lack a column that others have.
    rows = np.arange(120) % 2
    lonely = X.assign(noise=np.where(rows == 0, X["noise"], np.nan))
    assert katoms.SparseRegressorCV([1, 2], missing="mean", cv=rows).fit(lonely, y).support_size_ == 2


def test_models_with_indicators_can_be_cloned_drawn_and_shown(houses):
    import matplotlib

    matplotlib.use("Agg")
    X, y = holed(houses[0], 0.3), houses[1]
    for model in (
        katoms.SparseRegressor([1, 2, 3], missing="indicator"),
        katoms.SparseRegressorCV([1, 2, 3], missing="indicator"),
        katoms.SparseRegressorCV([1, 2], groups=lambda name: name[0], missing="indicator"),
    ):
        model = clone(model).fit(X, y)
        katoms.plot_path(model)
        katoms.plot_coefficients(model)
        assert "area" in model._repr_html_()
    found = katoms.path(X, y, range(1, 4), missing="indicator")
    assert found.coefs.shape == (3, 7)
    katoms.plot_path(found)


@pytest.mark.long
@parametrize_with_checks([katoms.SparseRegressor(missing="mean"), katoms.SparseClassifierCV(missing="indicator")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# One-hot columns.


def one_hot(houses):
    X, y = houses
    rng = np.random.default_rng(5)
    district = rng.choice(["north", "south", "old_town"], size=120)
    X = X.assign(district=district)
    return pandas.get_dummies(X, prefix_sep="=", dtype=float), y + 3.0 * (district == "old_town") - (
        district == "north"
    )


def test_groups_by_a_separator_or_a_function_of_names(houses):
    X, y = one_hot(houses)
    by_labels = [name.partition("=")[0] for name in X.columns]
    expected = katoms.SparseRegressor(3, groups=by_labels).fit(X, y)
    assert sorted(expected.chosen_groups_) == ["age", "area", "district"]
    for groups in ("=", lambda name: name.split("=")[0], lambda name: "district" if "=" in name else None):
        for frame in (X, polars.from_pandas(X)):
            model = katoms.SparseRegressor(3, groups=groups).fit(frame, y)
            assert sorted(model.chosen_groups_) == ["age", "area", "district"]
            assert np.array_equal(model.coef_, expected.coef_)
    assert clone(katoms.SparseRegressor(3, groups="=")).groups == "="
    found = katoms.path(X, y, [1, 2, 3], groups="=")
    assert found.support_sizes.tolist() == [1, 2, 3]


def test_groups_by_name_need_names(houses):
    X, y = one_hot(houses)
    for groups, words in (
        ("=", "groups is the separator '=', but X has no column names; give a frame"),
        (str.lower, "groups is a function of names, but X has no column names"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            katoms.SparseRegressor(1, groups=groups).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="groups is an empty separator"):
        katoms.SparseRegressor(1, groups="").fit(X, y)
