"""What abess, scikit-learn and skscope show in their documentation, asked of katoms in its own words.

The draws are of the kind that they show. Where columns were planted, they must be found; where none were, or noise
hides them, our choice must be no worse than theirs.
"""

import numpy as np
import pytest
import scipy.sparse
from judges import sum_of_squares

import katoms

ROUNDING = 1e-9


def planted(rng, n_features, k):
    return np.sort(rng.choice(n_features, size=k, replace=False))


def signs(rng, k):
    return rng.choice([-1.0, 1.0], size=k)


def support_of(coef):
    return np.flatnonzero(coef).tolist()


# abess: coefficients of very different sizes, of which the least is well above the noise.


def generalised_linear(seed, shape, k):
    """X, X·b and the columns that count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    columns = planted(rng, shape[1], k)
    least = 5 * np.sqrt(2 * np.log(shape[1]) / shape[0])
    b = np.zeros(shape[1])
    b[columns] = rng.uniform(least, 100 * least, size=k) * signs(rng, k)
    return X, X @ b, columns.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_abess_linear_regression_of_a_known_size(seed):
    X, signal, columns = generalised_linear(seed, (100, 50), 10)
    y = signal + np.random.default_rng(seed + 100).normal(size=100)
    assert katoms.SparseRegressor(support_size=10).fit(X, y).support_.tolist() == columns


@pytest.mark.parametrize("seed", range(3))
def test_abess_linear_regression_of_a_size_by_a_criterion(seed):
    X, signal, columns = generalised_linear(seed, (300, 1000), 10)
    y = signal + np.random.default_rng(seed + 100).normal(size=300)
    assert katoms.SparseRegressor(ic_type="ebic").fit(X, y).support_.tolist() == columns


def test_abess_linear_regression_of_a_size_by_cross_validation():
    X, signal, columns = generalised_linear(1, (300, 1000), 10)
    y = signal + np.random.default_rng(100).normal(size=300)
    model = katoms.SparseRegressorCV(support_size=range(1, 16), cv=5, rule="1se").fit(X, y)
    assert model.support_.tolist() == columns and model.k_1se_ == 10


def test_abess_sparse_inputs():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(1000, 200, density=0.05, random_state=1, data_rvs=rng.standard_normal, format="csr")
    columns = planted(rng, 200, 5)
    y = X[:, columns] @ (signs(rng, 5) * rng.uniform(3, 6, size=5)) + 0.1 * rng.normal(size=1000)
    assert katoms.SparseRegressor(5).fit(X, y).support_.tolist() == columns.tolist()


def test_abess_logistic_regression_tells_what_abess_tells():
    """So many strong columns for so few rows: both classes are told apart, by these columns or others."""
    abess = pytest.importorskip("abess")
    X, signal, _ = generalised_linear(0, (100, 50), 10)
    y = np.random.default_rng(100).binomial(1, 1 / (1 + np.exp(-np.clip(signal, -30, 30))))
    ours = katoms.SparseClassifier(support_size=10).fit(X, y)
    theirs = abess.LogisticRegression(support_size=10).fit(X, y)
    assert ours.score(X, y) >= theirs.score(X, y)


BLOCKS = np.repeat(np.arange(4), 5)


@pytest.mark.parametrize("seed", range(5))
def test_abess_groups_of_neighbours(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 20))
    y = X @ np.where(np.isin(BLOCKS, [0, 2]), 0.5, 0.0) + rng.normal(size=100)
    model = katoms.SparseRegressor(support_size=[1, 2], groups=BLOCKS).fit(X, y)
    assert model.support_.tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert model.chosen_groups_ == ["0", "2"]


@pytest.mark.parametrize("seed", range(5))
def test_abess_groups_that_are_not_neighbours(seed):
    """abess sorts the labels and leaves the columns where they are: it gives neighbours that are no group."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 12))
    labels = np.arange(12) % 4
    y = X[:, [1, 5, 9]] @ [1.0, -2.0, 3.0] + 0.1 * rng.normal(size=100)
    model = katoms.SparseRegressor(support_size=1, groups=labels).fit(X, y)
    assert model.support_.tolist() == [1, 5, 9] and model.chosen_groups_ == ["1"]
    classes = katoms.SparseClassifier(support_size=1, groups=labels).fit(X, y + rng.normal(size=100) > 0)
    assert classes.support_.tolist() == [1, 5, 9]


@pytest.mark.parametrize("seed", range(5))
def test_abess_columns_that_are_always_there(seed):
    """Columns that resemble each other, under as much noise as signal; one of the three is known beforehand."""
    abess = pytest.importorskip("abess")
    rng = np.random.default_rng(seed)
    X = np.sqrt(0.4) * rng.normal(size=(100, 500)) + np.sqrt(0.6) * rng.normal(size=(100, 1))
    columns = planted(rng, 500, 3)
    signal = X[:, columns] @ (signs(rng, 3) * rng.uniform(1, 3, size=3))
    y = signal + np.sqrt(np.mean(signal**2) / 10**0.05) * rng.normal(size=100)
    known = int(columns[0])
    ours = katoms.SparseRegressor(support_size=2, always_select=[known]).fit(X, y).support_
    theirs = abess.LinearRegression(support_size=3, always_select=[known]).fit(X, y).coef_
    assert known in ours and len(ours) == 3
    assert known in support_of(theirs) and len(support_of(theirs)) == 3
    assert sum_of_squares(X, y, ours) <= sum_of_squares(X, y, support_of(theirs)) * (1 + ROUNDING)


# scikit-learn: a signal of 17 atoms of a dictionary of 512, seen in 100 numbers.


def coded_signal(seed):
    rng = np.random.default_rng(seed)
    dictionary = rng.normal(size=(100, 512))
    dictionary /= np.linalg.norm(dictionary, axis=0)
    columns = planted(rng, 512, 17)
    return dictionary, dictionary[:, columns] @ rng.normal(size=17), columns.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_scikit_learn_signal_in_a_dictionary(seed):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    dictionary, y, columns = coded_signal(seed)
    noisy = y + 0.05 * np.random.default_rng(seed + 100).normal(size=100)
    for target in (y, noisy):
        ours = katoms.SparseRegressor(17, fit_intercept=False).fit(dictionary, target)
        theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=17, fit_intercept=False).fit(dictionary, target).coef_
        if support_of(theirs) == columns:
            assert ours.support_.tolist() == columns
        nothing = 1e-9 * np.linalg.norm(target)
        rest = [max(np.linalg.norm(target - dictionary @ coef), nothing) for coef in (ours.coef_, theirs)]
        assert rest[0] <= rest[1] * (1 + ROUNDING)


def test_scikit_learn_regression_under_noise():
    from sklearn.datasets import make_regression

    X, y, coef = make_regression(n_samples=100, n_features=100, n_informative=10, noise=4, coef=True, random_state=0)
    assert katoms.SparseRegressor(10).fit(X, y).support_.tolist() == support_of(coef)
    chosen = katoms.SparseRegressorCV(range(1, 21), cv=5, rule="1se").fit(X, y)
    assert chosen.k_1se_ == 10 and chosen.support_.tolist() == support_of(coef)


def test_scikit_learn_name_of_the_size_is_understood():
    dictionary, y, columns = coded_signal(0)
    with pytest.warns(UserWarning, match="n_nonzero_coefs is called support_size here"):
        model = katoms.SparseRegressor(n_nonzero_coefs=17, fit_intercept=False)
    assert model.fit(dictionary, y).support_.tolist() == columns


# skscope: losses are written by hand there; here they have names.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(100, 10, 3), (200, 500, 5)])
def test_skscope_regression_without_noise(shape, seed):
    from sklearn.datasets import make_regression

    n_samples, n_features, k = shape
    X, y, coef = make_regression(n_samples, n_features, n_informative=k, coef=True, random_state=seed)
    for fit_intercept in (True, False):
        model = katoms.SparseRegressor(k, fit_intercept=fit_intercept).fit(X, y)
        assert model.support_.tolist() == support_of(coef)
        assert np.allclose(model.coef_, coef, rtol=1e-9, atol=0)


def test_skscope_linear_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 100))
    y = X[:, :3] @ [1, 2, 3] + rng.normal(size=500)
    model = katoms.SparseRegressor(3).fit(X, y)
    assert model.support_.tolist() == [0, 1, 2]
    assert np.sum((model.coef_[:3] - [1, 2, 3]) ** 2) < 0.05


def test_skscope_effects_that_are_positive():
    """The strongest column has a negative effect, and is left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 100))
    y = X[:, :4] @ [1, 2, 3, -4] + rng.normal(size=500)
    assert katoms.SparseRegressor(3).fit(X, y).support_.tolist() == [1, 2, 3]
    model = katoms.SparseRegressor(3, positive=True).fit(X, y)
    assert model.support_.tolist() == [0, 1, 2] and (model.coef_ >= 0).all()


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_skscope_logistic_regression(rho):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 500))
    for j in range(1, 500):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    columns = planted(rng, 500, 5)
    y = rng.binomial(1, 1 / (1 + np.exp(-X[:, columns] @ rng.uniform(1, 2, size=5))))
    assert katoms.SparseClassifier(5).fit(X, y).support_.tolist() == columns.tolist()


def test_skscope_groups_and_columns_that_are_always_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    y = X @ [1, 10, 0, 0, -1, 5]
    model = katoms.SparseRegressor(2, groups=[0, 0, 1, 1, 2, 2]).fit(X, y)
    assert model.chosen_groups_ == ["0", "2"] and np.allclose(model.coef_, [1, 10, 0, 0, -1, 5])
    assert katoms.SparseRegressor(2, always_select=[0, 4]).fit(X, y).support_.tolist() == [0, 1, 4, 5]


def test_skscope_size_by_a_criterion_and_by_cross_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = X[:, [0, 2, 3]] @ [30.0, -50.0, 70.0] + rng.normal(size=100)
    for ic_type in ("gic", "ebic", "bic"):
        assert katoms.SparseRegressor(range(1, 6), ic_type=ic_type).fit(X, y).support_.tolist() == [0, 2, 3]
    assert katoms.SparseRegressorCV(range(1, 6), cv=10, rule="1se").fit(X, y).support_.tolist() == [0, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_skscope_compressed_sensing(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(120, 400)) / np.sqrt(120)
    columns = planted(rng, 400, 12)
    x = np.zeros(400)
    x[columns] = signs(rng, 12) * rng.uniform(0.5, 2, size=12)
    assert np.allclose(katoms.recover(A, A @ x, 12).x, x, atol=1e-9)
    model = katoms.SparseRegressor(12, fit_intercept=False).fit(A, A @ x)
    assert np.allclose(model.coef_, x, atol=1e-9)


def steps(n):
    """Sums of the first entries, as a matrix: a curve of k jumps has k coefficients."""
    return np.tril(np.ones((n, n)))


def test_skscope_jumps_of_a_curve():
    at, heights = [0, 60, 110, 111, 190], [1.0, 3.0, -2.0, 4.0, -5.0]
    jumps = np.zeros(250)
    jumps[at] = heights
    model = katoms.SparseRegressor(5, fit_intercept=False, standardize=False).fit(steps(250), np.cumsum(jumps))
    assert model.support_.tolist() == at and np.allclose(model.coef_[at], heights)


def least_rest(y, k):
    """The least sum of squares that k jumps leave, by dynamic programming over the place of the last jump."""
    sums, squares = np.append(0, np.cumsum(y)), np.append(0, np.cumsum(y**2))
    least = squares
    for _ in range(k):
        ends = [
            np.min(least[:end] + squares[end] - squares[:end] - (sums[end] - sums[:end]) ** 2 / (end - np.arange(end)))
            for end in range(1, len(y) + 1)
        ]
        least = np.minimum(least, np.append(0, ends))
    return least[-1]


def test_skscope_jumps_of_a_random_walk():
    skscope = pytest.importorskip("skscope")
    import jax.numpy as jnp

    y = np.cumsum(np.random.default_rng(0).normal(size=100))
    ours = katoms.SparseRegressor(5, fit_intercept=False, standardize=False).fit(steps(100), y).coef_
    theirs = skscope.ScopeSolver(100, 5).solve(lambda jumps: jnp.sum(jnp.square(y - jnp.cumsum(jumps))))
    rest = [np.sum((y - np.cumsum(coef)) ** 2) for coef in (ours, np.asarray(theirs, dtype=float))]
    assert least_rest(y, 5) * (1 - ROUNDING) <= rest[0] <= rest[1] * (1 + ROUNDING)
