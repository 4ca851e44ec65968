"""What is wrong with an input: one class to catch, and words that a Python user knows."""

import pickle

import numpy as np
import pandas
import pytest

import katoms
from katoms import exceptions

RNG = np.random.default_rng(1)
X = RNG.normal(size=(150, 40))
y = 2 * X[:, 3] - 3 * X[:, 11] + 5 + 0.1 * RNG.normal(size=150)
HOLED = np.where((np.arange(150)[:, None] == 4) & (np.arange(40) == 2), np.nan, X)
CLASSES = np.where(y > 5, "a", "b")
STARS = np.clip(np.round(3 + RNG.normal(size=(8, 5))), 1, 5)

FRAME = pandas.DataFrame(X[:, :5], columns=["area", "age", "rooms", "floor", "garden"])


def fitted(k=2, rows=X, target=y, weights=None, make=katoms.SparseRegressor, **parameters):
    return make(k, **parameters).fit(rows, target, weights)


def by_cv(k=(1,), rows=X, target=y, **parameters):
    return katoms.SparseRegressorCV(k, **parameters).fit(rows, target)


def recovered(support_size=5, A=X, b=y, **parameters):
    return katoms.recover(A, b, support_size, **parameters)


def completed(make=katoms.MatrixCompletion, **parameters):
    return make(**parameters).fit(STARS)


def ranks(**parameters):
    return completed(katoms.MatrixCompletionCV, **parameters)


def entries(X):
    return katoms.MatrixCompletion(rank=1).fit(X)


TIMES = (0, -1.0, "soon", float("nan"))

#: A call, its arguments, and what the message says.
WRONG = [
    # Features: parameters.
    (fitted, {"k": 41}, "support_size is 41; it must lie between 0 and 40"),
    (fitted, {"k": [0, 41]}, "support_size is 41; it must lie between 0 and 40"),
    (by_cv, {"k": [0, 41]}, "support_size is 41; it must lie between 0 and 40"),
    (fitted, {"k": "two"}, "support_size is 'two'; it must be a whole number"),
    (fitted, {"k": -1}, "support_size is -1; it must be a whole number"),
    (fitted, {"k": [1.5, 2]}, "support_size is 1.5"),
    (fitted, {"k": []}, "support_size is empty"),
    (fitted, {"k": 3, "groups": [20, 20]}, "support_size is 3; it must lie between 0 and 2"),
    (fitted, {"l2": -1.0}, "^l2 is -1; it must be finite and at least 0"),
    (fitted, {"l2": [0.0, 1.0]}, "SparseRegressorCV chooses among several"),
    (by_cv, {"l2": [-1.0]}, "^l2 is -1"),
    (by_cv, {"l2": []}, "l2 is empty"),
    (fitted, {"tol": 2.0}, "^tol is 2; it must be at least 0 and below 1"),
    (fitted, {"tol": "small"}, "tol is 'small'; it must be a number"),
    (fitted, {"max_iter": 0}, "max_iter is 0; it must be a whole number of at least 1"),
    *((fitted, {"time_limit": limit}, "time_limit is .*; give a number of seconds above 0") for limit in TIMES),
    *((completed, {"time_limit": limit}, "time_limit is .*; give a number of seconds above 0") for limit in TIMES),
    (fitted, {"n_jobs": 0}, "n_jobs is 0"),
    (fitted, {"effort": "great"}, "effort is great; it must be"),
    (fitted, {"method": "opm"}, "no method `opm` for k atoms; did you mean `omp`"),
    (fitted, {"method": "omp", "effort": "quick"}, "leave the effort out, or the method"),
    (fitted, {"method": "ecme-dore", "l2": 1.0}, "needs least squares without an l2 .*method='dore' serves every loss"),
    (fitted, {"method": "omp", "positive": True}, "leave the method out, or the bounds"),
    (fitted, {"k": [1, 2], "method": "omp"}, "give support_size one number"),
    (fitted, {"k": None, "ic_type": "cp"}, "ic_type is 'cp'; it must be one of"),
    (fitted, {"always_select": range(40)}, "not always selected is empty"),
    (by_cv, {"rule": "best"}, "rule is 'best'"),
    (by_cv, {"cv": -1}, "cv is -1; it must be a whole number"),
    (by_cv, {"cv": 1}, "cv is 1; it must be a whole number of at least 2"),
    (by_cv, {"cv": 151}, "^cv is 151; it must lie between 2 and 150"),
    (by_cv, {"cv": [0, 1]}, "cv has 2 labels"),
    (katoms.path, {"X": X, "y": y, "loss": "hinge"}, "loss is 'hinge'"),
    (fitted, {"class_weight": "even", "target": CLASSES, "make": katoms.SparseClassifier}, "give 'balanced', a dict"),
    (
        fitted,
        {"class_weight": {"sick": 2.0}, "target": CLASSES, "make": katoms.SparseClassifier},
        r"class_weight names 'sick', but the classes are \['a', 'b'\]",
    ),
    # Features: groups and bounds.
    (fitted, {"groups": [1] * 40}, "nothing but ones"),
    (fitted, {"groups": [1, 2]}, "groups has 2 entries, but X has 40 columns"),
    (fitted, {"groups": [[0, 90]]}, "group 0 .* holds index 90, but X has only 40 columns"),
    (fitted, {"groups": [[0], []]}, "group 1 .* has no members"),
    (fitted, {"groups": [["a"]]}, "X has no column names"),
    (fitted, {"rows": FRAME, "groups": {"size": ["area", "rooms", "area"]}}, "'size' lists column 'area' twice"),
    (fitted, {"rows": FRAME, "groups": [[0, 1], [2, 2]]}, "group 1 .* lists column 'rooms' twice"),
    (fitted, {"rows": FRAME, "groups": {"size": ["area"], "none": []}}, "group 'none' has no members"),
    (
        fitted,
        {"rows": FRAME, "bounds": ([-1, 0, 2, 0, 0], None)},
        "lower bound of column 'rooms' is 2; it must be at most 0",
    ),
    (fitted, {"rows": FRAME, "bounds": (None, [1, -1, 1, 1, 1])}, "upper bound of column 'age' is -1; .* at least 0"),
    (fitted, {"rows": FRAME, "bounds": (-1, [1, 1])}, "there are 2 upper bounds; give one for each of 5 columns"),
    (fitted, {"bounds": (1, 2)}, r"lower bound of column 0 \(counted from 0\) is 1; it must be at most 0"),
    (fitted, {"bounds": 3}, "bounds must be a pair"),
    (fitted, {"positive": True, "bounds": (0, 1)}, "positive and bounds are both given"),
    # Features: data.
    (fitted, {"rows": HOLED}, r"column 2 \(counted from 0\) has 1 missing value \(in row 4\)"),
    (fitted, {"rows": np.ma.masked_less(X, 0)}, "masked array"),
    (fitted, {"target": y[:-1]}, "^y has length 149, but 150 is needed .one value for each row of X"),
    (fitted, {"target": CLASSES}, "which is no number; for classes use SparseClassifier"),
    (fitted, {"target": y + 0j}, "Complex data not supported"),
    (fitted, {"target": np.where(y > 5, np.inf, y)}, "^y holds inf at position .*every value must be finite"),
    (fitted, {"target": [None] + ["a"] * 149, "make": katoms.SparseClassifier}, "no class at row 0"),
    (fitted, {"weights": -np.ones(150)}, "^sample_weight holds -1 at position 0"),
    (fitted, {"weights": np.ones(3)}, "^sample_weight has length 3, but 150 is needed"),
    (
        fitted,
        {"target": np.where(np.arange(150) == 7, "a", "b"), "make": katoms.SparseClassifierCV},
        "class a has one row only",
    ),
    (lambda: fitted().score(X, np.full(150, np.nan)), {}, "y contains NaN"),
    (lambda: fitted().score(X, y, np.zeros(150)), {}, "above zero"),
    # Signals.
    (recovered, {"support_size": 0}, "support_size is 0; it must be a whole number of at least 1"),
    (recovered, {"support_size": 41}, "support_size is 41; it must lie between 1 and 40"),
    (recovered, {"support_size": 2.5}, "support_size is 2.5; it must be a whole number"),
    (recovered, {"support_size": None}, "support_size is None"),
    (recovered, {"b": np.ones(149)}, "^b has length 149, but 150 is needed .one value for each row of A"),
    (recovered, {"b": np.full(150, np.nan)}, "^b holds NaN at position 0"),
    (recovered, {"b": np.ones((150, 2))}, "b must be a 1d array"),
    (recovered, {"A": np.full((150, 40), np.nan)}, r"^A contains NaN: column 0 .* has 150 missing values"),
    (recovered, {"A": np.ones(150)}, "Expected 2D array, got 1D array"),
    (recovered, {"noise": -1.0}, "^noise is -1"),
    (recovered, {"noise": "white"}, "noise is 'white'; give the standard deviation"),
    (recovered, {"tol": -1.0}, "^tol is -1"),
    (recovered, {"max_iter": -3}, "max_iter is -3"),
    (recovered, {"method": "pursue"}, "no method `pursue`"),
    (katoms.phase_transition_k, {"n_samples": -1, "n_features": 2}, "n_samples is -1"),
    # Matrices.
    (completed, {"rank": 7}, "^rank is 7; it must lie between 0 and 5"),
    (completed, {"rank": 7, "scale": False}, "^rank is 7; it must lie between 1 and 5"),
    (completed, {"scale": "yes"}, "scale is 'yes'; it must be 'auto', True or False"),
    (completed, {"scale": True, "l2": 1.0}, "scale=True goes without l2"),
    (completed, {"scale": True, "centring": "mean", "method": "dore"}, "goes without centring and method"),
    (completed, {"rank": 0}, "rank is 0; it must be a whole number of at least 1"),
    (completed, {"rank": 1.5}, "rank is 1.5; give a whole number"),
    (completed, {"rank": [1, 2]}, "several to choose from to MatrixCompletionCV"),
    (completed, {"l2": -1.0}, "^l2 is -1; it must be finite and at least 0"),
    (completed, {"l2": "strong"}, "l2 is 'strong'; give a number"),
    (completed, {"centring": "median"}, "centring is 'median'; it must be one of auto, none, mean, effects"),
    (completed, {"clip": "all"}, "clip is 'all'; it must be 'seen', a pair"),
    (completed, {"clip": (2, 1)}, "^clip is 1; the upper bound must be at least the lower one"),
    (completed, {"method": "omp"}, "omp"),
    (completed, {"max_iter": 0}, "max_iter is 0; it must be a whole number of at least 1"),
    (completed, {"n_jobs": 0}, "n_jobs is 0"),
    (completed, {"random_state": -1}, "random_state is -1"),
    (ranks, {"rule": "best"}, "rule is 'best'; it must be 'min' or '1se'"),
    (ranks, {"held_out": 0.9}, "^held_out is 0.9; it must be above 0 and at most 0.5"),
    (ranks, {"rank": []}, "rank is empty"),
    (ranks, {"rank": [0, 1]}, "rank is 0; it must be a whole number of at least 1"),
    (ranks, {"rank": "two"}, "rank is 'two'; give a whole number, several of them, or None"),
    (ranks, {"l2": []}, "^l2 is empty"),
    (ranks, {"patience": 0}, "patience is 0; it must be a whole number of at least 1"),
    (entries, {"X": [[np.nan, np.nan]]}, "the list of observed entries is empty; at least one is needed"),
    (entries, {"X": [[1.0, np.inf]]}, r"column 1 \(counted from 0\) has inf in row 0"),
    (entries, {"X": [1.0, 2.0]}, "Reshape your data"),
    (entries, {"X": ([0], [1])}, "X is a tuple of 2; give .rows, columns, values."),
    (entries, {"X": ([0, 1], [0], [1.0, 2.0])}, "column index has length 1, but 2 is needed"),
    (entries, {"X": ([0, -1], [0, 1], [1.0, 2.0])}, "rows holds -1 at position 1; indices count from 0"),
    (entries, {"X": ([0.5], [0], [1.0])}, "rows holds .*0.5.*; give indices"),
    (entries, {"X": ([0, 7], [0, 1], [1.0, 2.0], (3, 3))}, "row index at position 1 is 7, but there are only 3"),
    (entries, {"X": ([0], [0], [np.nan])}, "holds NaN at position 0"),
    (entries, {"X": ([], [], [])}, "Found array with 0 sample"),
    (entries, {"X": (["a", 3], [0, 1], [1.0, 2.0])}, "rows holds 3 at position 1 among names"),
    (entries, {"X": (["a", "b"], [0, 1], [1.0, 2.0], (2, 2))}, "a shape goes with indices from 0"),
    # Theory.
    (katoms.theory, {"alpha": -1.0, "beta": 2.0}, "alpha"),
]


def named(row):
    call, arguments, _ = row
    return f"{call.__name__}-{next(iter(arguments), '')}"


@pytest.mark.parametrize(("call", "arguments", "words"), WRONG, ids=map(named, WRONG))
def test_wrong_input_is_told(call, arguments, words):
    """In the names of Python, which ``conftest.py`` sees to."""
    with pytest.raises(katoms.InvalidInputError, match=words):
        call(**arguments)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fitted(target=y * 1e200), "^y holds values of magnitude"),
        (lambda: fitted(weights=np.full(150, 1e-308)), "^sample_weight holds values of magnitude"),
        (lambda: fitted().predict(np.where(np.arange(40) == 3, 1.7e308, X)), "the prediction of row 0"),
    ],
)
def test_numbers_beyond_double_precision_have_a_class_of_their_own(call, words):
    with pytest.raises(katoms.NumericalError, match=words):
        call()


def test_few_classes_to_catch():
    public = [getattr(exceptions, name) for name in exceptions.__all__]
    assert len(public) <= 8
    errors = [one for one in public if not issubclass(one, Warning)]
    assert all(issubclass(one, katoms.KatomsError) and issubclass(one, ValueError) for one in errors)
    with pytest.raises(katoms.KatomsError, match="not fitted yet"):
        katoms.SparseRegressor().predict(X)


def test_exceptions_and_warnings_can_be_pickled():
    kinds = [getattr(exceptions, name) for name in exceptions.__all__]
    for kind in kinds + [exceptions.known_to_sklearn(kind) for kind in kinds]:
        again = pickle.loads(pickle.dumps(kind("said")))
        assert isinstance(again, kind) and again.args == ("said",)
