"""Signals of k entries from few measurements."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas
import pytest
from scipy import sparse
from scipy.fft import dct, idct
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import katoms
from katoms import ConvergenceWarning, InvalidInputError, SparseRecovery, recover


def planted(rows=60, columns=200, entries=5, seed=0):
    """(A, x, b)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, columns)) / np.sqrt(rows)
    x = np.zeros(columns)
    x[rng.choice(columns, entries, replace=False)] = rng.choice([-1.0, 1.0], entries) * (1 + rng.random(entries))
    return A, x, A @ x


def cosines(rows, columns, seed=0):
    """Some rows of a cosine transform, as an operator that has no matrix."""
    kept = np.sort(np.random.default_rng(seed).choice(columns, rows, replace=False))

    def backward(r):
        full = np.zeros(columns)
        full[kept] = np.ravel(r)
        return idct(full, norm="ortho")

    return LinearOperator((rows, columns), lambda x: dct(np.ravel(x), norm="ortho")[kept], backward, dtype=float)


class Bare:
    """No subclass of anything: a shape and two products."""

    def __init__(self, A):
        self.A, self.shape = A, A.shape

    def matvec(self, x):
        return self.A @ x

    def rmatvec(self, r):
        return self.A.T @ r


@parametrize_with_checks([SparseRecovery(), SparseRecovery(1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_planted_signal_is_found():
    A, x, b = planted()
    found = recover(A, b, 5)
    np.testing.assert_allclose(found.x, x, atol=1e-10)
    np.testing.assert_array_equal(found.support, np.flatnonzero(x))
    assert found.status == "converged" and found.relative_residual < 1e-10
    assert found.residual_norm == pytest.approx(np.linalg.norm(b - A @ found.x), abs=1e-12)
    assert found.most_entries == katoms._katoms.phase_transition_k(60, 200, False)
    assert found.n_passes > 0 and found.n_iter > 0 and found.seconds >= 0 and len(found.trace) > 0
    assert found.quality.exchange_gain == 0 and "5 of 200 entries" in repr(found)


def test_all_forms_of_a_matrix_find_the_same():
    pylops = pytest.importorskip("pylops")
    A, x, b = planted()
    A[np.abs(A) < 0.05] = 0.0
    b = A @ x + 1e-3 * np.random.default_rng(1).normal(size=60)
    forms = {
        "array": A,
        "fortran": np.asfortranarray(A),
        "list": A.tolist(),
        "csc": sparse.csc_matrix(A),
        "csr": sparse.csr_array(A),
        "operator": aslinearoperator(A),
        "pylops": pylops.MatrixMult(A),
        "bare": Bare(A),
        "float32": Bare(A.astype(np.float32)),
    }
    first = recover(A, b, 5)
    np.testing.assert_array_equal(first.support, np.flatnonzero(x))
    for name, form in forms.items():
        found = recover(form, b, 5)
        np.testing.assert_array_equal(found.support, first.support, err_msg=name)
        np.testing.assert_allclose(found.x, first.x, atol=1e-6, err_msg=name)
        model = SparseRecovery(5).fit(form, b)
        np.testing.assert_array_equal(model.coef_, found.x, err_msg=name)
        np.testing.assert_allclose(model.predict(form), A @ found.x, atol=1e-6, err_msg=name)
        assert model.score(form, b) > 0.999


def test_an_operator_that_is_never_written_out():
    A = cosines(1024, 2**15)
    rng = np.random.default_rng(4)
    x = np.zeros(2**15)
    x[rng.choice(2**15, 40, replace=False)] = rng.choice([-1.0, 1.0], 40)
    found = recover(A, A.matvec(x), 40)
    np.testing.assert_allclose(found.x, x, atol=1e-8)


def test_a_method_by_name():
    A, x, b = planted()
    for method in ("cosamp", "subspace-pursuit", "htp"):
        np.testing.assert_allclose(recover(A, b, 5, method=method).x, x, atol=1e-6)
        np.testing.assert_allclose(recover(aslinearoperator(A), b, 5, method=method).x, x, atol=1e-6)
    with pytest.raises(InvalidInputError, match="pursue"):
        recover(A, b, 5, method="pursue")


def test_columns_are_taken_as_they_are():
    """No column is centred or scaled, and there is no intercept."""
    A, x, _ = planted()
    scaled = A * np.where(np.arange(200) % 2, 1.0, 10.0) + 1.0
    found = recover(scaled, scaled @ x, 5)
    np.testing.assert_allclose(found.x, x, atol=1e-9)
    assert recover(A, np.zeros(60), 5).support.size == 0


def test_beyond_the_phase_transition_that_is_said():
    A, _, b = planted()
    most = katoms._katoms.phase_transition_k(60, 200, False)
    words = f"support_size is {most + 5}, but 60 measurements of 200 places carry only {most} entries"
    with pytest.warns(UserWarning, match=words):
        recover(A, b, most + 5)
    with pytest.warns(UserWarning, match=words):
        SparseRecovery(most + 5).fit(aslinearoperator(A), b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseRecovery().fit(A, b)
    assert model.support_size_ == most == model.most_entries_


def test_noise_that_is_known_ends_the_search():
    A, x, b = planted(200, 800, 10)
    noisy = b + 0.05 * np.random.default_rng(7).normal(size=200)
    found = recover(A, noisy, 10, noise=0.05)
    np.testing.assert_array_equal(found.support, np.flatnonzero(x))


def test_the_estimator_tells_what_the_function_tells():
    A, x, b = planted()
    model, found = SparseRecovery(5).fit(A, b), recover(A, b, 5)
    assert (model.status_, model.n_iter_, model.n_passes_) == (found.status, found.n_iter, found.n_passes)
    assert (model.residual_norm_, model.relative_residual_) == (found.residual_norm, found.relative_residual)
    np.testing.assert_array_equal(model.get_support(), x != 0)
    np.testing.assert_array_equal(model.get_support(indices=True), model.support_)
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict(A), model.predict(A))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(katoms.NotFittedError):
        clone(model).predict(A)
    with pytest.warns(UserWarning, match="n_nonzero_coefs is called support_size here"):
        assert SparseRecovery(n_nonzero_coefs=3).support_size == 3


def test_frames_name_their_columns():
    pandas = pytest.importorskip("pandas")
    A, x, b = planted(entries=2)
    frame = pandas.DataFrame(A, columns=[f"place {j}" for j in range(200)])
    model = SparseRecovery(2).fit(frame, b)
    assert model.feature_names_in_[0] == "place 0"
    np.testing.assert_array_equal(model.support_, np.flatnonzero(x))


class Broken(Exception):
    """What an operator raises."""


@pytest.mark.parametrize("method", [None, "accelerated-iht"])
@pytest.mark.parametrize("where", ["matvec", "rmatvec"])
@pytest.mark.parametrize("after", [0, 3])
def test_an_error_inside_an_operator_arrives_as_it_is(method, where, after):
    A, _, b = planted()
    calls = []

    def broken(times):
        def product(v):
            calls.append(times)
            if len(calls) > after:
                raise Broken(f"after {after}")
            return times @ v

        return product

    forward, backward = (broken(A) if where == "matvec" else A.__matmul__), A.T.__matmul__
    if where == "rmatvec":
        backward = broken(A.T)
        # a search writes the operator out and multiplies with its transpose no more
        method = method or "subspace-pursuit"
    operator = LinearOperator(A.shape, forward, backward, dtype=float)
    with pytest.raises(Broken, match=f"after {after}") as caught:
        recover(operator, b, 5, method=method)
    assert caught.traceback[-1].name == "product"
    assert len(calls) == after + 1
    calls.clear()
    with pytest.raises(Broken):
        SparseRecovery(5, method=method).fit(operator, b)


def test_an_error_inside_an_operator_of_a_prediction():
    A, _, b = planted()
    model = SparseRecovery(5).fit(A, b)

    def broken(v):
        raise Broken

    with pytest.raises(Broken):
        model.predict(LinearOperator(A.shape, broken, broken, dtype=float))


def test_operators_that_do_not_fit():
    A, _, b = planted()
    short = Bare(A)
    short.matvec = lambda x: (A @ x)[:-1]
    with pytest.raises(ValueError, match="a product with the operator has length 59; 60 is needed"):
        recover(short, b, 5)
    with pytest.raises(
        ValueError, match="Complex data not supported\nThe operator has dtype complex128; katoms.recover"
    ):
        SparseRecovery(5).fit(aslinearoperator(A + 1j), b)
    imaginary = Bare(A)
    imaginary.matvec = lambda x: A @ x + 1j
    with pytest.raises(ValueError, match="a product with the operator is complex"):
        recover(imaginary, b, 5)
    infinite = Bare(A)
    infinite.matvec = lambda x: A @ x + np.inf
    with pytest.raises(ValueError, match="inf at row 0, column 0"):
        recover(infinite, b, 5)
    without_transpose = LinearOperator(A.shape, A.__matmul__, dtype=float)
    with pytest.raises(NotImplementedError):
        recover(without_transpose, b, 5, method="cosamp")


def fourier(rows, columns, seed=0):
    """Some rows of the discrete Fourier transform, as an operator that is never a matrix."""
    kept = np.sort(np.random.default_rng(seed).choice(columns, rows, replace=False))

    def transpose(r):
        full = np.zeros(columns, dtype=complex)
        full[kept] = r.ravel()
        return np.fft.ifft(full, norm="ortho")

    measure = lambda x: np.fft.fft(x.ravel(), norm="ortho")[kept]  # noqa: E731
    return LinearOperator((rows, columns), matvec=measure, rmatvec=transpose, dtype=complex)


def spikes(columns, entries, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = np.zeros(columns, dtype=dtype)
    values = rng.normal(size=entries) + (1j * rng.normal(size=entries) if dtype is complex else 0)
    x[rng.choice(columns, entries, replace=False)] = values
    return x


def dense(operator):
    return np.column_stack([operator.matvec(column) for column in np.eye(operator.shape[1])])


@pytest.mark.parametrize("method", [None, "accelerated-iht"])
@pytest.mark.parametrize("kind", ["operator", "array", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_complex_measurements_of_real_and_complex_signals(dtype, kind, method):
    A = fourier(48, 200)
    x = spikes(200, 9, dtype)
    b = A.matvec(x)
    A = {"operator": A, "array": dense(A), "sparse": sparse.csr_array(dense(A))}[kind]
    found = recover(A, b, 9, dtype=dtype, method=method)
    assert found.x.dtype == dtype and np.allclose(found.x, x, atol=1e-6)
    assert found.support.tolist() == np.flatnonzero(x).tolist()
    # A complex measurement tells two real numbers.
    shapes = {float: (96, 200), complex: (48, 200)}
    assert found.most_entries >= katoms.phase_transition_k(*shapes[dtype])


def test_an_entry_of_a_complex_signal_counts_once():
    A, x = fourier(64, 200), spikes(200, 12, complex)
    assert np.isclose(recover(A, A.matvec(x), 12).relative_residual, 0.0, atol=1e-6)
    few = recover(A, A.matvec(x), 11)
    assert len(few.support) == 11 and few.relative_residual > 1e-3
    assert few.quality.near_ties == [] or max(j for _, j, _ in few.quality.near_ties) < 200


def test_what_a_complex_signal_is():
    A, x = fourier(64, 200), spikes(200, 5, float)
    assert recover(A, A.matvec(x), 5).x.dtype == complex
    single = recover(dense(A).astype(np.complex64), A.matvec(x).astype(np.complex64), 5)
    assert single.x.dtype == np.complex64 and np.allclose(single.x, x, atol=1e-4)
    real = np.random.default_rng(0).normal(size=(64, 200))
    imaginary = recover(real, real @ (1j * x), 5)
    assert np.allclose(imaginary.x, 1j * x, atol=1e-6)
    bare = LinearOperator(real.shape, matvec=lambda v: real @ v, rmatvec=lambda v: real.T @ v, dtype=float)
    assert np.allclose(recover(bare, real @ (1j * x), 5).x, 1j * x, atol=1e-6)
    for given in (pandas.DataFrame(real), real.tolist()):
        assert np.allclose(recover(given, real @ (1j * x), 5).x, 1j * x, atol=1e-6)
    for given in (pandas.DataFrame(dense(A)), dense(A).tolist()):
        assert np.allclose(recover(given, A.matvec(x), 5).x, x, atol=1e-6)
    with pytest.raises(ValueError, match="no real signal measures so; give dtype=complex"):
        recover(real, real @ (1j * x), 5, dtype=float)
    with pytest.raises(ValueError, match="the entries of a signal are float or complex"):
        recover(real, real @ x, 5, dtype=int)


def test_known_noise_of_complex_measurements_ends_the_search():
    rng = np.random.default_rng(3)
    A, x = fourier(96, 200), spikes(200, 10, complex)
    noise = 0.01 * (rng.normal(size=96) + 1j * rng.normal(size=96)) / np.sqrt(2)
    found = recover(A, A.matvec(x) + noise, 10, noise=0.01)
    assert found.support.tolist() == np.flatnonzero(x).tolist()
    assert found.residual_norm <= 1.2 * 0.01 * np.sqrt(96)


def test_beyond_the_transition_of_complex_signals_that_is_said():
    A, x = fourier(40, 200), spikes(200, 39, complex)
    with pytest.warns(UserWarning, match="40 measurements of 200 places carry only"):
        recover(A, A.matvec(x), 39, method="accelerated-iht")


def test_single_precision_stays_single():
    A, x, b = planted()
    found = recover(A.astype(np.float32), b, 5)
    assert found.x.dtype == np.float32 and np.allclose(found.x, x, atol=1e-4)
    model = SparseRecovery(5).fit(A.astype(np.float32), b)
    assert model.coef_.dtype == model.predict(A.astype(np.float32)).dtype == np.float32
    assert model.predict(A).dtype == np.float64


def test_a_cap_is_a_warning():
    A, _, b = planted(60, 200, 15)
    with pytest.warns(ConvergenceWarning, match="recover has not converged .status 'iteration-cap' after 1 iter"):
        assert recover(A, b, 15, method="iht", max_iter=1).status == "iteration-cap"


def test_a_callback_hears_and_ends():
    A, _, b = planted()
    heard = []
    recover(A, b, 5, callback=heard.append)
    assert heard and {"iteration", "objective", "passes"} <= set(heard[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert recover(A, b, 5, callback=lambda progress: True).status == "stopped"


@pytest.mark.parametrize("kind", ["matrix", "operator"])
def test_ctrl_c_ends_a_fit(kind):
    script = f"""
        import numpy as np
        from scipy.sparse.linalg import LinearOperator
        import katoms
        rng = np.random.default_rng(0)
        A, b = rng.normal(size=(500, 2000)), rng.normal(size=500)
        def first(progress, told=[]):
            if not told:
                told.append(print("working", flush=True))
        if {kind!r} == "operator":
            M = A
            A = LinearOperator(M.shape, lambda x: first(0) or M @ x, lambda r: M.T @ r, dtype=float)
        try:
            katoms.recover(A, b, 120, method="iht", max_iter=10**9, tol=0.0, callback=first)
            katoms.recover(A, b, 120, max_iter=10**9, tol=0.0)
        except KeyboardInterrupt:
            print("interrupted")
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "working\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.read() == "interrupted\n"
    assert child.wait() == 0
