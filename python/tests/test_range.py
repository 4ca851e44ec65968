"""Numbers near the ends of the range of double precision: answered in their units, or refused by name."""

import numpy as np
import pytest

import katoms
from katoms import NumericalError

ROWS, COLUMNS = 50, 8


def planted(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS)) + 0.5
    y = 3 * X[:, 1] - 2 * X[:, 5] + 1 + 0.1 * rng.normal(size=ROWS)
    return X, y


def exponents(seed):
    return [int(e) for e in np.random.default_rng(seed).integers(-996, 997, size=8)] + [-996, 996, -400, 400]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_power_of_two_in_the_target_changes_the_units_alone(order):
    X, y = planted()
    X = np.asarray(X, order=order)
    plain = katoms.SparseRegressor(support_size=2).fit(X, y)
    for e in exponents(1):
        scale = np.ldexp(1.0, e)
        try:
            model = katoms.SparseRegressor(support_size=2).fit(X, y * scale)
        except NumericalError as error:
            assert "y holds values of magnitude up to" in str(error) and "multiply it by 1e" in str(error)
            assert not -440 <= e <= 490
            continue
        np.testing.assert_array_equal(model.support_, plain.support_)
        np.testing.assert_allclose(model.coef_, plain.coef_ * scale, rtol=1e-13)
        assert model.intercept_ == pytest.approx(plain.intercept_ * scale, rel=1e-13)
        assert model.score(X, y * scale) == pytest.approx(plain.score(X, y), abs=1e-12)


@pytest.mark.parametrize("order", ["C", "F", "sparse"])
def test_a_power_of_two_in_a_column_changes_the_units_alone(order):
    X, y = planted()
    scipy_sparse = pytest.importorskip("scipy.sparse") if order == "sparse" else None

    def stored(X):
        return scipy_sparse.csc_matrix(X) if scipy_sparse else np.asarray(X, order=order)

    plain = katoms.SparseRegressor(support_size=2).fit(stored(X), y)
    for at, e in enumerate(exponents(2)):
        column = [1, 5, 3][at % 3]
        scaled = X.copy()
        scaled[:, column] *= np.ldexp(1.0, e)
        model = katoms.SparseRegressor(support_size=2).fit(stored(scaled), y)
        np.testing.assert_array_equal(model.support_, plain.support_)
        expected = plain.coef_.copy()
        expected[column] *= np.ldexp(1.0, -e)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-13)
        np.testing.assert_allclose(model.predict(stored(scaled)), plain.predict(stored(X)), rtol=1e-10)


def test_classes_and_validations():
    X, y = planted()
    labels = (y > np.median(y)).astype(int)
    labels[::7] = 1 - labels[::7]
    scaled = X.copy()
    scaled[:, 1] *= 1e-250
    scaled[:, 5] *= 1e250
    one, other = (katoms.SparseClassifier(support_size=2).fit(data, labels) for data in (X, scaled))
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(scaled), rtol=1e-9)
    plain = katoms.SparseRegressorCV(support_size=range(1, 5)).fit(X, y)
    large = katoms.SparseRegressorCV(support_size=range(1, 5)).fit(scaled, y * 1e40)
    np.testing.assert_array_equal(plain.support_, large.support_)
    assert plain.k_1se_ == large.k_1se_


def test_weights():
    X, y = planted()
    weights = np.random.default_rng(3).uniform(0.5, 2, size=ROWS)
    plain = katoms.SparseRegressor(support_size=2).fit(X, y, sample_weight=weights)
    for scale in (1e-250, 1e280):
        model = katoms.SparseRegressor(support_size=2).fit(X, y, sample_weight=weights * scale)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
        assert model.score(X, y, sample_weight=weights * scale) == pytest.approx(
            plain.score(X, y, sample_weight=weights)
        )
    with pytest.raises(NumericalError, match="sample_weight"):
        katoms.SparseRegressor(support_size=2).fit(X, y, sample_weight=weights * 1e-308)


def test_a_prediction_that_is_no_number_is_refused_with_its_place():
    X, y = planted()
    model = katoms.SparseRegressor(support_size=2).fit(X, y)
    new = X.copy()
    new[7, 5] = 1.7e308
    with pytest.raises(NumericalError, match=r"row 7 .* column 5 .* holds 1.7e308"):
        model.predict(new)


def test_columns_that_cannot_be_compared_are_refused():
    X, y = planted()
    X[:, 3] *= 1e200
    with pytest.raises(NumericalError, match=r"column 3 .* standardise the columns"):
        katoms.SparseRegressor(support_size=2, standardize=False).fit(X, y)
    X[:, 3] *= 1e-200
    X[:, 1] *= 1e-300
    with pytest.raises(NumericalError, match="the coefficient of column 1"):
        katoms.SparseRegressor(support_size=2).fit(X, y * 1e100)


def test_recovery_and_completion():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(30, 60))
    x = np.zeros(60)
    x[[4, 17, 33]] = [1.0, -2.0, 3.0]
    plain = katoms.recover(A, A @ x, 3)
    for of_a, of_b in [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e140), (1e150, 1e-130)]:
        found = katoms.recover(A * of_a, (A @ x) * of_b, 3)
        np.testing.assert_array_equal(found.support, plain.support)
        np.testing.assert_allclose(found.x * (of_a / of_b), plain.x, rtol=1e-9)
        assert found.status == "converged"
    with pytest.raises(NumericalError, match="the list of measurements"):
        katoms.recover(A, (A @ x) * 1e200, 3)
    M = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
    M[rng.random(M.shape) < 0.2] = np.nan
    plain = katoms.MatrixCompletion(rank=1).fit_transform(M)
    for scale in (2.0**450, 2.0**-430):
        np.testing.assert_allclose(katoms.MatrixCompletion(rank=1).fit_transform(M * scale), plain * scale, rtol=1e-12)
    # each column has a unit of its own; without one, squares of all are added up
    np.testing.assert_allclose(katoms.MatrixCompletion(rank=1).fit_transform(M * 1e306), plain * 1e306, rtol=1e-9)
    with pytest.raises(NumericalError, match="observed values"):
        katoms.MatrixCompletion(rank=1, scale=False).fit(M * 1e306)
