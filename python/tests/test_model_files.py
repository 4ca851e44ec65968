"""Model files: Python and the program read what the other has written, and predict the same bits."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier, is_regressor

import katoms
from katoms import InvalidInputError, KatomsError


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "katoms", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def predicted(model, data, *options):
    """What the program predicts: the numbers of its columns, by name."""
    return json.loads(program("predict", model, data, "--json", *options).stdout)["predictions"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(90, 6)), columns=["area", "age", "rooms of it", "x1", "größe", "noise"])
    y = 3 * X["area"] - 2 * X["größe"] + rng.normal(size=90)
    return X, y.rename("price")


def bits(values):
    return np.asarray(values, dtype=np.float64).tobytes()


# From Python to the program.


@pytest.mark.parametrize("make", [katoms.SparseRegressor, katoms.SparseRegressorCV])
def test_the_program_predicts_the_same_bits_from_named_columns(table, tmp_path, make):
    X, y = table
    model = make([1, 2, 3]).fit(X, y)
    model.save(tmp_path / "model.json")
    X[reversed(X.columns)].to_csv(tmp_path / "new.csv", index=False)
    assert bits(predicted(tmp_path / "model.json", tmp_path / "new.csv")["prediction"]) == bits(model.predict(X))
    fields = json.loads((tmp_path / "model.json").read_text())
    assert fields["schema"] == 1 and fields["target"]["name"] == "price" and fields["k"] == model.support_size_
    assert [one["name"] for one in fields["coefficients"]] == model.get_feature_names_out().tolist()
    assert fields["quality"]["exhaustive"] == model.quality_.exhaustive


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_program_predicts_the_same_bits_from_arrays(table, tmp_path, dtype, order):
    X, y = np.asarray(10 * table[0].to_numpy(), dtype=dtype, order=order), table[1].to_numpy()
    model = katoms.SparseRegressor(3).fit(X, y)
    model.save(str(tmp_path / "model.json"))
    np.save(tmp_path / "new.npy", X)
    told = predicted(tmp_path / "model.json", tmp_path / "new.npy")["prediction"]
    assert bits(np.array(told).astype(model.predict(X).dtype)) == bits(model.predict(X))
    columns = [one["column"] for one in json.loads((tmp_path / "model.json").read_text())["coefficients"]]
    assert columns == [f"x{j + 1}" for j in model.support_]
    np.save(tmp_path / "other.npy", X[:, :5])
    done = subprocess.run(
        [sys.executable, "-m", "katoms", "predict", tmp_path / "model.json", tmp_path / "other.npy"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "needs as many" in done.stderr


def test_all_ways_to_store_a_matrix_predict_the_same_bits(table):
    X, y = table[0].to_numpy(), table[1]
    model = katoms.SparseRegressor(4).fit(X, y)
    expected = bits(model.predict(X))
    for given in (np.asfortranarray(X), scipy.sparse.csc_array(X), scipy.sparse.csr_matrix(X), X[::-1][::-1]):
        assert bits(model.predict(given)) == expected


CLASSES = {
    "words": np.array(["no", "yes"]),
    "numbers": np.array([0, 1]),
    "other numbers": np.array([-3, 12]),
    "whole floats": np.array([0.0, 1.0]),
    "truths": np.array([False, True]),
    "numbers as words": np.array(["0", "1"]),
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("labels", CLASSES.values(), ids=CLASSES)
def test_classes_survive(table, tmp_path, labels):
    X, y = table[0], labels[(table[1] > 0).to_numpy().astype(int)]
    model = katoms.SparseClassifier(2).fit(X, y)
    model.save(tmp_path / "model.json")
    again = katoms.load(tmp_path / "model.json")
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert again.classes_.dtype.kind == model.classes_.dtype.kind or labels.dtype == object
    assert (again.predict(X) == model.predict(X)).all() and again.score(X, y) == model.score(X, y)
    assert bits(again.predict_proba(X)) == bits(model.predict_proba(X))
    X.to_csv(tmp_path / "new.csv", index=False)
    told = predicted(tmp_path / "model.json", tmp_path / "new.csv")
    probabilities = [values for name, values in told.items() if name.startswith("probability_")]
    assert bits(np.transpose(probabilities)) == bits(model.predict_proba(X))
    names = [
        str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
        for label in model.predict(X).tolist()
    ]
    assert told["prediction"] == names


@pytest.mark.parametrize("missing", ["mean", "indicator"])
@pytest.mark.parametrize("named", [True, False])
def test_missing_values_go_through_the_file(table, tmp_path, missing, named):
    X, y = table[0].copy(), table[1]
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    y = y + 5 * X["area"].isna()
    given = X if named else X.to_numpy()
    model = katoms.SparseRegressor(4, missing=missing).fit(given, y)
    assert missing == "mean" or any("(missing)" in name for name in model.get_feature_names_out())
    model.save(tmp_path / "model.json")
    again = katoms.load(tmp_path / "model.json")
    assert bits(again.predict(given)) == bits(model.predict(given))
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    if named:
        X.to_csv(tmp_path / "new.csv", index=False)
    else:
        np.save(tmp_path / "new.npy", given)
    told = predicted(tmp_path / "model.json", tmp_path / ("new.csv" if named else "new.npy"), "--missing", "mean")
    assert bits(told["prediction"]) == bits(model.predict(given))


# From the program to Python.


def test_python_predicts_the_programs_bits(table, tmp_path):
    X, y = table
    X.assign(price=y).to_csv(tmp_path / "data.csv", index=False)
    program("fit", tmp_path / "data.csv", "--target", "price", "-k", "3", "--out", tmp_path / "model.json")
    model = katoms.load(tmp_path / "model.json")
    assert is_regressor(model) and model.support_size_ == 3
    told = bits(predicted(tmp_path / "model.json", tmp_path / "data.csv")["prediction"])
    for frame in (X, X[reversed(X.columns)], X.assign(more=0.0), polars.from_pandas(X)):
        assert bits(model.predict(frame)) == told
    fitted = katoms.SparseRegressor(3).fit(X, y)
    assert model.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert bits(model.predict(X)) == bits(fitted.predict(X))
    assert np.array_equal(model.transform(X), fitted.transform(X)) and model.score(X, y) == fitted.score(X, y)
    # And the program's file is the same through Python.
    model.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((tmp_path / "model.json").read_text())


@pytest.mark.parametrize("target", [0, 2, 6])
def test_columns_without_names_are_found_by_their_places(table, tmp_path, target):
    X, y = table[0].to_numpy(), table[1].to_numpy()
    np.save(tmp_path / "data.npy", np.insert(X, target, y, axis=1))
    program("fit", tmp_path / "data.npy", "--target", f"x{target + 1}", "-k", "3", "--out", tmp_path / "model.json")
    model = katoms.load(tmp_path / "model.json")
    fitted = katoms.SparseRegressor(3).fit(X, y)
    told = predicted(tmp_path / "model.json", tmp_path / "data.npy")["prediction"]
    assert bits(model.predict(X)) == bits(fitted.predict(X)) == bits(told)
    assert np.array_equal(model.coef_, fitted.coef_) and model.support_.tolist() == fitted.support_.tolist()
    assert model.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert model.n_features_in_ == 6 and np.array_equal(model.get_support(), fitted.get_support())
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(model.predict(scipy.sparse.csr_array(X)), told)
    with pytest.raises(ValueError, match="X has 7 features, but the model is expecting 6"):
        model.predict(np.insert(X, target, y, axis=1))


def test_categories_of_the_program_are_words_in_python(tmp_path):
    data = pandas.read_csv("examples/houses.csv")
    program("fit", "examples/houses.csv", "--target", "price", "-k", "5", "--out", tmp_path / "model.json")
    model = katoms.load(tmp_path / "model.json")
    told = bits(predicted(tmp_path / "model.json", "examples/houses.csv")["prediction"])
    X = data.drop(columns="price")
    for frame in (X, X.astype({"district": "category"}), polars.read_csv("examples/houses.csv")):
        assert bits(model.predict(frame)) == told
    assert any(name.startswith("district=") for name in model.get_feature_names_out())
    assert model.transform(X).shape == (len(X), len(model.coef_)) and "district" in model.feature_names_in_
    framed = model.set_output(transform="pandas").transform(X)
    assert set(framed.filter(like="district=").to_numpy().ravel()) == {0.0, 1.0}
    with pytest.warns(UserWarning, match='a level of district that the fit did not see, the first "atlantis"'):
        model.predict(X.assign(district="atlantis"))
    with pytest.raises(KatomsError, match='"big", but the model needs numbers in this column'):
        model.predict(X.assign(area="big"))
    with pytest.raises(ValueError, match="X lacks 'district', which the model needs"):
        model.predict(X.drop(columns="district"))
    with pytest.raises(ValueError, match="the model finds its columns by name .*give a frame"):
        model.predict(X[["area"]].to_numpy())
    with pytest.raises(InvalidInputError, match="column 'area' has 1 missing value .in row 3"):
        model.predict(X.assign(area=X["area"].where(X.index != 3)))


@pytest.mark.parametrize(
    ("values", "labels"),
    [(["no", "yes"], ["no", "yes"]), ([0, 1], [0, 1]), ([1.5, 2], [1.5, 2.0]), (["True", "False"], [False, True])],
)
def test_classes_of_the_program_are_what_pandas_reads(table, tmp_path, values, labels):
    X, second = table[0], table[1] > 0
    X.assign(outcome=np.where(second, values[1], values[0])).to_csv(tmp_path / "data.csv", index=False)
    program(
        "fit",
        tmp_path / "data.csv",
        "--target",
        "outcome",
        "--loss",
        "logistic",
        "-k",
        "2",
        "--out",
        tmp_path / "model.json",
    )
    model = katoms.load(tmp_path / "model.json")
    assert is_classifier(model) and model.classes_.tolist() == labels
    outcome = pandas.read_csv(tmp_path / "data.csv")["outcome"]
    assert model.score(X, outcome) > 0.8
    told = predicted(tmp_path / "model.json", tmp_path / "data.csv")
    probabilities = [values for name, values in told.items() if name.startswith("probability_")]
    assert bits(np.transpose(probabilities)) == bits(model.predict_proba(X))


# What a loaded model is.


def test_a_loaded_model_is_an_estimator(table, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    X, y = table
    model = katoms.SparseRegressor(2, l2=0.5).fit(X, y)
    model.save(tmp_path / "model.json")
    again = katoms.load(tmp_path / "model.json")
    for copy in (again, pickle.loads(pickle.dumps(again))):
        assert bits(copy.predict(X)) == bits(model.predict(X))
    assert type(again) is katoms.SparseRegressor and repr(again) == "SparseRegressor(support_size=2, l2=0.5)"
    assert again.intercept_ == model.intercept_ and again.status_ == "converged"
    assert again.coef_.tolist() == model.coef_[model.support_].tolist()
    assert "area" in again._repr_html_()
    katoms.plot_coefficients(again)
    with pytest.raises(ValueError, match="knows only the columns that it uses"):
        again.inverse_transform(again.transform(X))
    assert not hasattr(clone(again), "coef_")
    # Fitted again it is as any other.
    assert np.array_equal(again.fit(X, y).coef_, model.coef_) and np.array_equal(again.transform(X), model.transform(X))


def test_single_precision_goes_through_the_file(table, tmp_path):
    X, y = table[0].astype(np.float32), table[1]
    model = katoms.SparseRegressor(3).fit(X, y)
    model.save(tmp_path / "model.json")
    assert np.array_equal(katoms.load(tmp_path / "model.json").predict(X), model.predict(X.astype(np.float64)))


def test_files_that_are_no_models(table, tmp_path):
    X, y = table
    with pytest.raises(FileNotFoundError):
        katoms.load(tmp_path / "nowhere.json")
    for text, words in (
        ("{}", "not a model of katoms: it has no field `schema`"),
        ('{"schema": 99}', "written by a newer katoms .schema 99"),
        ("not json", "not a model of katoms"),
    ):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(KatomsError, match=words):
            katoms.load(tmp_path / "bad.json")
    model = katoms.SparseRegressor(2)
    with pytest.raises(katoms.NotFittedError):
        model.save(tmp_path / "model.json")
    with pytest.raises(OSError, match="nowhere"):
        model.fit(X, y).save(tmp_path / "nowhere" / "model.json")
    assert os.listdir(tmp_path) == ["bad.json"]
    # Fields that others add are no reason to refuse.
    model.save(tmp_path / "model.json")
    fields = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "more.json").write_text(json.dumps({**fields, "alleles": {"rs1": ["A", "G"]}, "origins": None}))
    assert bits(katoms.load(tmp_path / "more.json").predict(X)) == bits(model.predict(X))


def test_a_target_that_is_called_as_a_feature_gets_another_name(table, tmp_path):
    X, y = table
    model = katoms.SparseRegressor(2).fit(X, y.rename(X.columns[0]))
    model.save(tmp_path / "model.json")
    X.to_csv(tmp_path / "new.csv", index=False)
    assert json.loads((tmp_path / "model.json").read_text())["target"]["name"] == "y"
    assert bits(predicted(tmp_path / "model.json", tmp_path / "new.csv")["prediction"]) == bits(model.predict(X))


@pytest.mark.parametrize("classes", [False, True])
def test_a_model_without_features_goes_through_the_file(table, tmp_path, classes):
    X, y = table
    make, y = (katoms.SparseClassifier, y > 0) if classes else (katoms.SparseRegressor, y)
    model = make(0).fit(X, y)
    model.save(tmp_path / "model.json")
    X.to_csv(tmp_path / "new.csv", index=False)
    again, told = katoms.load(tmp_path / "model.json"), predicted(tmp_path / "model.json", tmp_path / "new.csv")
    assert again.predict(X).tolist() == model.predict(X).tolist() and again.transform(X).shape == (len(X), 0)
    name = "probability_True" if classes else "prediction"
    assert bits(told[name]) == bits(model.predict_proba(X)[:, 1] if classes else model.predict(X))


def test_a_broken_off_fit_is_not_saved(table, tmp_path):
    def fails(move):
        raise RuntimeError("enough")

    model = katoms.SparseRegressor([1, 2], callback=fails)
    with pytest.raises(RuntimeError):
        model.fit(*table)
    with pytest.raises(ValueError, match="was broken off"):
        model.save(tmp_path / "model.json")


# Every loss.


def drawn(kind):
    """Features of which three matter, and a target."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(240, 6)), columns=list("abcdef"))
    linear = (0.9 * X["a"] - 0.7 * X["c"] + 0.5 * X["e"]).to_numpy()
    y = {
        "numbers": lambda: linear + 0.3 * rng.normal(size=240),
        "counts": lambda: rng.poisson(np.exp(linear + 1)).astype(float),
        "amounts": lambda: np.exp(linear + 1) * rng.gamma(2, 0.5, size=240),
        "grades": lambda: np.digitize(2 * linear + rng.logistic(size=240), [-1.5, 0, 1.5]),
        "words": lambda: np.array(["low", "mid", "top"])[np.digitize(2 * linear + rng.logistic(size=240), [-1, 1])],
        "responses": lambda: np.column_stack([linear, -2 * linear]) + rng.normal(size=(240, 2)),
    }[kind]()
    return X, y


FAMILIES = {
    "huber": (katoms.SparseRegressor(3, loss="huber"), "numbers"),
    "quantile": (katoms.SparseRegressor(3, loss="quantile", quantile=0.8), "numbers"),
    "poisson": (katoms.SparseRegressor(3, loss="poisson"), "counts"),
    "gamma": (katoms.SparseRegressor(3, loss="gamma"), "amounts"),
    "negative-binomial": (katoms.SparseRegressor(3, loss="negative_binomial"), "counts"),
    "multinomial": (katoms.SparseClassifier(3), "words"),
    "ordinal": (katoms.SparseClassifier(3, ordinal=True), "grades"),
    "ordinal words": (katoms.SparseClassifier(3, ordinal=["low", "mid", "top"]), "words"),
    "squares": (katoms.SparseRegressor(3), "responses"),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", FAMILIES)
def test_models_of_every_loss_go_through_the_file(tmp_path, name, named):
    estimator, kind = FAMILIES[name]
    X, y = drawn(kind)
    given = X if named else X.to_numpy()
    model = clone(estimator).fit(given, y)
    model.save(tmp_path / "model.json")
    fields = json.loads((tmp_path / "model.json").read_text())
    assert fields["loss"] == name.split()[0] and fields["schema"] == 3
    again = katoms.load(tmp_path / "model.json")
    assert repr(again) == repr(model)
    assert bits(again.predict(given) if kind != "words" else 0) == bits(model.predict(given) if kind != "words" else 0)
    assert again.score(given, y) == model.score(given, y)
    assert again.coef_.ndim == model.coef_.ndim
    used = model.coef_[..., model.support_]
    assert bits(again.coef_[..., again.support_]) == bits(used) and bits(again.intercept_) == bits(model.intercept_)
    assert bits(again.standardized_coef_[..., again.support_]) == bits(model.standardized_coef_[..., model.support_])
    for attribute in ("dispersion_", "delta_", "smoothing_"):
        assert getattr(again, attribute, None) == getattr(model, attribute, None)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    if named:
        X.to_csv(tmp_path / "new.csv", index=False)
    else:
        np.save(tmp_path / "new.npy", given)
    told = predicted(tmp_path / "model.json", tmp_path / ("new.csv" if named else "new.npy"))
    if hasattr(model, "classes_"):
        assert bits(again.predict_proba(given)) == bits(model.predict_proba(given))
        assert again.classes_.tolist() == model.classes_.tolist()
        assert bits(getattr(again, "thresholds_", 0)) == bits(getattr(model, "thresholds_", 0))
        probabilities = [values for column, values in told.items() if column.startswith("probability_")]
        assert bits(np.transpose(probabilities)) == bits(model.predict_proba(given))
        assert told["prediction"] == [str(label) for label in model.predict(given).tolist()]
    else:
        columns = [values for column, values in told.items() if column.startswith("prediction")]
        # NumPy has an exponential of its own.
        np.testing.assert_allclose(np.squeeze(np.transpose(columns)), model.predict(given), rtol=1e-14)


@pytest.mark.parametrize("strata", [None, "words", "numbers"])
def test_survival_goes_through_the_file(tmp_path, strata):
    X, y = drawn("numbers")
    rng = np.random.default_rng(1)
    times, ends = rng.exponential(np.exp(-y)), rng.exponential(2, size=240)
    y = np.column_stack([np.minimum(times, ends), times <= ends])
    labels = {"words": np.array(["u", "v"])[rng.integers(2, size=240)], "numbers": rng.integers(3, 5, size=240)}.get(
        strata
    )
    model = katoms.SparseCox(3, ties="breslow").fit(X, y, strata=labels)
    model.save(tmp_path / "model.json")
    again = katoms.load(tmp_path / "model.json")
    assert repr(again) == repr(model) and again.score(X, y) == model.score(X, y)
    assert bits(again.predict(X)) == bits(model.predict(X)) and bits(again.unique_times_) == bits(model.unique_times_)
    arrays = [
        one.predict_survival_function(X[:9], strata=None if labels is None else labels[:9], return_array=True)
        for one in (model, again)
    ]
    assert bits(arrays[0]) == bits(arrays[1])
    assert getattr(again, "strata_", np.empty(0)).tolist() == getattr(model, "strata_", np.empty(0)).tolist()
    X.assign(site="u" if labels is None else labels).to_csv(tmp_path / "new.csv", index=False)
    options = ["--at", "0.5,1"] + ([] if labels is None else ["--strata", "site"])
    told = predicted(tmp_path / "model.json", tmp_path / "new.csv", *options)
    assert bits(told["log_hazard_ratio"]) == bits(model.predict(X))
    functions = model.predict_survival_function(X, strata=labels)
    np.testing.assert_allclose(told["survival_0.5"], [one(0.5) for one in functions], rtol=1e-13)


PROGRAM = {
    "poisson": ("counts", "SparseRegressor(support_size=3, loss='poisson')"),
    "negative-binomial": ("counts", "SparseRegressor(support_size=3, loss='negative_binomial')"),
    "gamma": ("amounts", "SparseRegressor(support_size=3, loss='gamma')"),
    "huber": ("numbers", "SparseRegressor(support_size=3, loss='huber')"),
    "quantile": ("numbers", "SparseRegressor(support_size=3, loss='quantile')"),
    "ordinal": ("grades", "SparseClassifier(support_size=3, ordinal=True)"),
    "multinomial": ("words", "SparseClassifier(support_size=3)"),
}


@pytest.mark.parametrize("loss", PROGRAM)
def test_the_programs_models_of_every_loss_are_python_models(tmp_path, loss):
    kind, said = PROGRAM[loss]
    X, y = drawn(kind)
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    program("fit", tmp_path / "data.csv", "--target", "y", "--loss", loss, "-k", "3", "--out", tmp_path / "model.json")
    model = katoms.load(tmp_path / "model.json")
    assert repr(model) == said
    fitted = clone(model).fit(X, y)
    assert bits(model.coef_) == bits(fitted.coef_[..., fitted.support_]) and model.score(X, y) == fitted.score(X, y)
    model.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((tmp_path / "model.json").read_text())
    if hasattr(model, "classes_"):
        told = predicted(tmp_path / "model.json", tmp_path / "data.csv")
        probabilities = [values for name, values in told.items() if name.startswith("probability_")]
        assert bits(np.transpose(probabilities)) == bits(model.predict_proba(X))


def test_the_programs_survival_is_python_survival(tmp_path):
    X, y = drawn("numbers")
    rng = np.random.default_rng(1)
    times, ends = rng.exponential(np.exp(-y)), rng.exponential(2, size=240)
    frame = X.assign(time=np.minimum(times, ends), event=times <= ends, site=rng.choice(["u", "v"], size=240))
    frame.to_csv(tmp_path / "data.csv", index=False)
    asked = ["--time", "time", "--event", "event", "--strata", "site", "-k", "3", "--out", tmp_path / "model.json"]
    program("fit", tmp_path / "data.csv", *asked)
    model = katoms.load(tmp_path / "model.json")
    assert repr(model) == "SparseCox(support_size=3)" and model.strata_.tolist() == ["u", "v"]
    fitted = katoms.SparseCox(3).fit(X, frame[["time", "event"]], strata=frame["site"])
    assert bits(model.coef_) == bits(fitted.coef_[fitted.support_])
    arrays = [one.predict_survival_function(X, strata=frame["site"], return_array=True) for one in (model, fitted)]
    assert bits(arrays[0]) == bits(arrays[1])
    told = predicted(tmp_path / "model.json", tmp_path / "data.csv")
    assert bits(told["log_hazard_ratio"]) == bits(model.predict(X))


def test_a_loss_of_ones_own_is_not_saved(table, tmp_path):
    from katoms.losses import RowLoss

    own = RowLoss(
        value=lambda y, z: 0.5 * (z - y) ** 2, gradient=lambda y, z: z - y, curvature=lambda y, z: np.ones_like(z)
    )
    model = katoms.SparseRegressor(2, loss=own).fit(*table)
    with pytest.raises(InvalidInputError, match="a loss of your own is not saved"):
        model.save(tmp_path / "model.json")
