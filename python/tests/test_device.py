"""Fits on graphics cards. What needs a card is marked `gpu`; the rest is what is said where there is none, or of bad arrays."""

import ctypes
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import katoms
from katoms import _katoms, device, exceptions

RNG = np.random.default_rng(7)
X = RNG.normal(size=(160, 60))
y = 3 * X[:, 7] - 2 * X[:, 42] + X[:, 11] + 0.1 * RNG.normal(size=160)
LABELS = np.where(y > 0, "ill", "well")
HOLED = np.where((np.arange(160)[:, None] % 40 == 4) & (np.arange(60) == 2), np.nan, X)
MAKERS = [katoms.SparseRegressor, katoms.SparseRegressorCV, katoms.SparseClassifier, katoms.SparseClassifierCV]
KERNELS = Path(__file__).parents[2] / "crates/katoms-cuda/kernels"

without_card = pytest.mark.skipif(device.available(), reason="there is a card")


def numbers_or_classes(make):
    return LABELS if "Classifier" in make.__name__ else y


# Without a card.


@without_card
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("where", ["cuda", "cuda:1"])
def test_without_a_driver_one_sentence_says_what_to_do(make, where, capfd):
    with pytest.raises(exceptions.DeviceError, match="NVIDIA|CUDA") as raised:
        make([2], device=where).fit(X, numbers_or_classes(make))
    message = str(raised.value)
    assert "\n" not in message and "." not in message.rstrip("."), message
    assert "CPU" in message
    assert capfd.readouterr().err == ""
    assert not hasattr(make(device=where), "coef_")


@without_card
def test_no_card_is_available():
    assert not device.available()


@without_card
def test_a_path_says_so_as_well():
    with pytest.raises(exceptions.DeviceError):
        katoms.path(X, y, range(3), device="cuda")


HOLES = np.where(RNG.random((30, 20)) < 0.4, np.nan, RNG.normal(size=(30, 2)) @ RNG.normal(size=(2, 20)))
COMPLETIONS = [katoms.MatrixCompletion, katoms.MatrixCompletionCV]


@without_card
@pytest.mark.parametrize("make", COMPLETIONS)
def test_a_completion_says_so_as_well(make):
    with pytest.raises(exceptions.DeviceError, match="CPU"):
        make(2, scale=False, device="cuda").fit(HOLES)


@pytest.mark.parametrize("make", COMPLETIONS)
def test_a_completion_has_the_same_parameter(make):
    there, plain = make(2, scale=False, device="cpu").fit(HOLES), make(2, scale=False).fit(HOLES)
    assert (there.to_dense() == plain.to_dense()).all()
    with pytest.raises(katoms.InvalidInputError, match="'gpu'; it must be 'cpu', 'cuda'"):
        make(2, device="gpu").fit(HOLES)
    with pytest.raises(katoms.InvalidInputError, match="scale=True goes without device"):
        make(2, scale=True, device="cuda").fit(HOLES)


def test_the_error_can_be_caught_and_pickled():
    error = exceptions.DeviceError("gone")
    assert isinstance(error, katoms.KatomsError) and isinstance(error, RuntimeError)
    assert str(pickle.loads(pickle.dumps(error))) == "gone"


@pytest.mark.parametrize("make", MAKERS)
def test_the_host_is_a_device_as_well(make):
    target = numbers_or_classes(make)
    there, plain = make(range(5), device="cpu").fit(X, target), make(range(5)).fit(X, target)
    assert (there.coef_ == plain.coef_).all()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "", 0, True, b"cuda"])
def test_an_unknown_device_is_refused_with_those_that_work(make, name):
    with pytest.raises(katoms.InvalidInputError, match=r"device is .*; it must be 'cpu', 'cuda', 'cuda:1'"):
        make([2], device=name).fit(X, numbers_or_classes(make))


def test_it_is_a_parameter_like_others():
    model = katoms.SparseRegressor(2, device="cuda")
    assert model.get_params()["device"] == "cuda"
    assert model.set_params(device=None).device is None
    assert repr(katoms.SparseRegressorCV(device="cuda:1")) == "SparseRegressorCV(device='cuda:1')"


# Arrays that say they are on a card.


class Interface:
    """An array on a card by its interface: there is nothing at the address."""

    def __init__(self, **said):
        self.__cuda_array_interface__ = {
            "shape": (4, 3),
            "typestr": "<f4",
            "data": (4096, False),
            "version": 3,
            "strides": None,
            "stream": None,
            **said,
        }
        self.shape = self.__cuda_array_interface__["shape"]


BAD = [
    ({"shape": (4,)}, "array with dim 1"),
    ({"shape": (4, 3, 2)}, "array with dim 3"),
    ({"shape": (0, 3)}, "0 sample"),
    ({"shape": (4, 0)}, "0 feature"),
    ({"shape": (4, 1 << 40)}, "a card takes from 1 to"),
    ({"typestr": "<i8"}, "int64"),
    ({"typestr": "<c8"}, "complex64"),
    ({"typestr": "<u2"}, "uint16"),
    ({"typestr": ">f4"}, "type >f4"),
    ({"typestr": "float"}, "type float"),
    ({"typestr": ""}, "type "),
    ({"strides": (24, 8)}, "contiguous"),
    ({"strides": (-12, 4)}, "contiguous"),
    ({"strides": (12, -4)}, "contiguous"),
    ({"strides": (0, 4)}, "contiguous"),
    ({"strides": (4, 12)}, "contiguous"),
    ({"strides": (4,)}, "contiguous"),
    ({"strides": (13, 4)}, "read one by one"),
    ({"data": (4098, False)}, "read one by one"),
    ({"mask": "another array"}, "masked"),
]


@pytest.mark.parametrize("said, message", BAD, ids=[str(said) for said, _ in BAD])
def test_an_array_on_a_card_that_cannot_be_read_is_refused(said, message):
    with pytest.raises(katoms.InvalidInputError, match=message):
        katoms.SparseRegressor(1).fit(Interface(**said), y[:4])


@without_card
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"strides": (12, 4)},
        {"strides": (16, 4)},
        {"strides": (4, 16)},
        {"strides": (4, 20), "shape": (5, 3)},
        {"shape": (1, 3), "strides": (400, 4)},
        {"shape": (4, 1), "strides": (4, 400)},
        {"typestr": "|b1"},
        {"typestr": "|i1"},
        {"typestr": "<f8"},
        {"typestr": "<f2", "data": (4098, True)},
        {"stream": 1},
    ],
    ids=str,
)
def test_an_array_on_a_card_that_can_be_read_needs_the_card(said):
    with pytest.raises(exceptions.DeviceError, match="NVIDIA|CUDA"):
        katoms.SparseRegressor(1).fit(Interface(**said), y[: Interface(**said).shape[0]])


def test_an_interface_without_a_shape_or_a_type():
    for name in ("typestr", "data"):
        array = Interface()
        del array.__cuda_array_interface__[name]
        with pytest.raises(katoms.InvalidInputError, match=f"has no {name}"):
            katoms.SparseRegressor(1).fit(array, y[:4])


class Elsewhere:
    """An array of NumPy that says it is on a card."""

    def __init__(self, array, kind=2):
        self.array, self.kind, self.shape = array, kind, array.shape

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


@pytest.mark.parametrize(
    "array, message",
    [
        (X, "device of kind 1"),
        (np.asfortranarray(X), "device of kind 1"),
        (X.astype(np.int64), "int64"),
        (X.astype(np.complex64), "complex64"),
        (X[0], "array with dim 1"),
        (X[:, :, None], "array with dim 3"),
        (X[::2, ::2], "contiguous"),
        (X[::-1], "contiguous"),
        (X[:, 1:], "device of kind 1"),
        (X.astype(np.float16), "device of kind 1"),
    ],
)
def test_a_capsule_is_checked_before_the_card_is_asked(array, message):
    with pytest.raises(katoms.InvalidInputError, match=message):
        _katoms.lent(array, array.__dlpack__())


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Capsule:
    """An array on a card by a capsule of DLPack; its strides count numbers."""

    def __init__(self, at, shape, strides=None, code=2, bits=32, lanes=1, kind=2, version=None):
        self.shape, lists = shape, [ctypes.c_int64 * len(shape)] * 2
        self.lists = [make(*values) for make, values in zip(lists, (shape, strides or shape))]
        starts = [ctypes.cast(values, ctypes.POINTER(ctypes.c_int64)) for values in self.lists]
        steps = starts[1] if strides else None
        tensor = Tensor(at, kind, 0, len(shape), code, bits, lanes, starts[0], steps, 0)
        self.managed = Managed(tensor) if version is None else Versioned(version, 0, None, None, 0, tensor)
        self.name = b"dltensor" if version is None else b"dltensor_versioned"

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        made = ctypes.pythonapi.PyCapsule_New
        made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return made(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize(
    "said, message",
    [
        ({"kind": 10}, "device of kind 10"),
        ({"version": 2}, "version 2 of DLPack"),
        ({"lanes": 4}, "other numbers"),
        ({"code": 3, "bits": 64}, "other numbers"),
        ({"code": 5, "bits": 64}, "complex64"),
        ({"code": 4, "bits": 32}, "float32 on a card"),
        ({"bits": 8}, "float8"),
        ({"bits": 4}, "float4"),
        ({"shape": (-1, 3)}, "takes from 1 to"),
        ({"shape": (4, 3), "strides": (1 << 60, 1)}, "contiguous"),
        ({"shape": (4, 3), "strides": (-3, 1)}, "contiguous"),
        ({"shape": (1,) * 65}, "array with dim 0"),
    ],
    ids=str,
)
def test_a_capsule_with_something_else_is_refused(said, message):
    array = Capsule(**{"at": 4096, "shape": (4, 3), **said})
    with pytest.raises(katoms.InvalidInputError, match=message):
        _katoms.lent(array, array.__dlpack__())


@without_card
@pytest.mark.parametrize("version", [None, 1])
@pytest.mark.parametrize("code, bits", [(2, 64), (2, 32), (2, 16), (4, 16), (0, 8), (1, 8), (6, 8)])
def test_a_capsule_that_can_be_read_needs_the_card(code, bits, version):
    array = Capsule(4096, (4, 3), (1, 8), code, bits, version=version)
    with pytest.raises(exceptions.DeviceError):
        _katoms.lent(array, array.__dlpack__())


def test_what_is_no_capsule_is_refused():
    with pytest.raises(TypeError):
        _katoms.lent(X, 7)


@without_card
@pytest.mark.parametrize("kind", [2, 13])
def test_an_array_on_a_card_is_taken_there_without_being_asked(kind):
    for make in MAKERS:
        with pytest.raises(exceptions.DeviceError):
            make([1]).fit(Elsewhere(X, kind), numbers_or_classes(make))
    fitted = katoms.SparseRegressor(2).fit(X, y)
    with pytest.raises(exceptions.DeviceError):
        fitted.predict(Elsewhere(X, kind))


def test_a_matrix_with_holes_and_measurements_stay_on_the_host():
    with pytest.raises(katoms.InvalidInputError, match="X is on a graphics card"):
        katoms.MatrixCompletion(1).fit(Elsewhere(X))
    with pytest.raises(katoms.InvalidInputError, match="A is on a graphics card"):
        katoms.recover(Elsewhere(X), y, 2)


def test_a_target_on_a_card_of_an_unknown_library_is_refused():
    with pytest.raises(katoms.InvalidInputError, match="give an array of NumPy"):
        katoms.SparseRegressor(1).fit(X, Elsewhere(y))


def test_genotypes_are_refused_before_they_are_copied(monkeypatch):
    monkeypatch.setattr(_katoms, "card", lambda place: None)
    genotypes = katoms.Genotypes.__new__(katoms.Genotypes)
    vars(genotypes).update(shape=(4, 1), codes=np.array([228], np.uint8), means=np.ones(1), names=None)
    with pytest.raises(katoms.InvalidInputError, match="X holds genotypes of 2 bits; give an array or a sparse matrix"):
        katoms.SparseRegressor(1, device="cuda").fit(genotypes, y[:4])


def test_the_kernels_are_those_of_their_source():
    if importlib.util.find_spec("nvidia") is None:
        pytest.skip("the compiler of the kernels is not installed: pip install nvidia-cuda-nvrtc-cu12==12.1.105")
    done = subprocess.run([sys.executable, KERNELS / "compile.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# On a card: `pytest -m gpu python/tests/test_device.py`. The same model as on the host, up to rounding.

gpu = [pytest.mark.gpu, pytest.mark.skipif(not device.available(), reason="there is no card")]
on_card = pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.uint8])


def stored(dtype):
    return np.clip(np.round(20 * X + 100 * (dtype == np.uint8)), 0 if dtype == np.uint8 else -128, 127).astype(dtype)


def the_same(there, plain, tolerance=1e-9):
    assert there.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(there.coef_, plain.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(there.intercept_, plain.intercept_, rtol=tolerance, atol=tolerance)
    assert isinstance(there.coef_, np.ndarray) and there.coef_.dtype == plain.coef_.dtype


class Memory:
    """A copy of an array on the first card, made by the driver alone."""

    def __init__(self, array):
        self.array, self.at, self.cuda = array, ctypes.c_uint64(), ctypes.CDLL("libcuda.so.1")

    def asked(self, name, *arguments):
        assert getattr(self.cuda, name)(*arguments) == 0, name

    def __enter__(self):
        device, context, size = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_size_t(self.array.nbytes)
        self.asked("cuInit", 0)
        self.asked("cuDeviceGet", ctypes.byref(device), 0)
        self.asked("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.asked("cuCtxSetCurrent", context)
        self.asked("cuMemAlloc_v2", ctypes.byref(self.at), size)
        self.asked("cuMemcpyHtoD_v2", self.at, ctypes.c_void_p(self.array.ctypes.data), size)
        return self.at.value

    def __exit__(self, *_):
        self.asked("cuMemFree_v2", self.at)


class TestOnACard:
    pytestmark = gpu

    @pytest.mark.parametrize("order", ["C", "F"])
    @on_card
    def test_a_fit(self, dtype, order):
        matrix = np.array(stored(dtype), order=order)
        there, plain = (katoms.SparseRegressor(3, device=where).fit(matrix, y) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-5 if dtype == np.float32 else 1e-9)
        assert there.status_ == plain.status_
        np.testing.assert_allclose(there.predict(matrix), plain.predict(matrix), rtol=1e-5)

    @pytest.mark.parametrize("make", MAKERS)
    def test_every_estimator(self, make):
        target = numbers_or_classes(make)
        options = {"l2": 1.0}
        there, plain = (make([1, 2, 3], device=where, **options).fit(X, target) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-6)
        assert there.score(X, target) == pytest.approx(plain.score(X, target))

    @pytest.mark.parametrize("make", COMPLETIONS)
    def test_completions(self, make):
        there, plain = (make(2, scale=False, l2=0.1, device=where).fit(HOLES) for where in ("cuda", "cpu"))
        np.testing.assert_allclose(there.to_dense(), plain.to_dense(), rtol=1e-6, atol=1e-9)
        assert there.rank_ == plain.rank_

    @pytest.mark.parametrize("loss", ["huber", "quantile", "poisson", "gamma", "negative_binomial"])
    def test_every_loss(self, loss):
        target = np.exp(0.2 * y) if loss == "gamma" else np.round(np.exp(0.3 * y))
        there, plain = (katoms.SparseRegressor(2, loss=loss, device=where).fit(X, target) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-4)

    def test_several_responses_groups_and_survival(self):
        several = np.column_stack([y, X[:, 3] - X[:, 42]])
        for options in (
            {},
            {"share_features": False},
            {"groups": np.arange(60) // 3},
            {"groups": [3] * 20, "max_per_group": 1},
        ):
            target = several if "groups" not in options else y
            there, plain = (
                katoms.SparseRegressor(2, device=where, **options).fit(X, target) for where in ("cuda", "cpu")
            )
            the_same(there, plain, 1e-6)
        survival = np.array([(True, np.exp(-time)) for time in y], dtype=[("event", bool), ("time", float)])
        there, plain = (katoms.SparseCox(2, device=where).fit(X, survival) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-4)

    @pytest.mark.parametrize("make", MAKERS)
    def test_sparse_matrices(self, make):
        sparse = pytest.importorskip("scipy.sparse")
        matrix, target = sparse.csc_array(np.where(np.abs(X) > 1, X, 0)), numbers_or_classes(make)
        there, plain = (make([1, 2, 3], l2=1.0, device=where).fit(matrix, target) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-6)

    def test_a_path(self):
        there, plain = (katoms.path(X, y, range(5), device=where) for where in ("cuda", "cpu"))
        assert [list(s) for s in there.supports] == [list(s) for s in plain.supports]

    def test_missing_values_are_filled_before_the_copy(self):
        for make in (katoms.SparseRegressor, katoms.SparseRegressorCV):
            there, plain = (make([1, 2, 3], missing="mean", device=where).fit(HOLED, y) for where in ("cuda", "cpu"))
            the_same(there, plain, 1e-6)

    def test_a_large_design_has_partial_passes(self):
        rng = np.random.default_rng(0)
        wide = np.asfortranarray(rng.normal(size=(600, 20_000)).astype(np.float32))
        target = wide[:, :20] @ np.arange(1.0, 21.0) + rng.normal(size=600)
        there, plain = (katoms.SparseRegressor(20, device=where).fit(wide, target) for where in ("cuda", "cpu"))
        the_same(there, plain, 1e-5)

    def test_what_is_wrong_with_the_data_is_said(self):
        with pytest.raises(katoms.InvalidInputError, match="row 4, column 2"):
            katoms.SparseRegressor(2, device="cuda").fit(HOLED, y)
        with pytest.raises(katoms.InvalidInputError, match="interactions are looked for on the host"):
            katoms.SparseRegressor(2, device="cuda", interactions="weak").fit(X, y)
        with pytest.raises(exceptions.DeviceError, match="there is no device cuda:99"):
            katoms.SparseRegressor(2, device="cuda:99").fit(X, y)

    def test_a_matrix_that_is_larger_than_the_card(self, tmp_path):
        rows, columns = 1 << 17, 1 << 22
        huge = np.memmap(tmp_path / "huge", dtype=np.int8, mode="w+", shape=(rows, columns), order="F")
        with pytest.raises(exceptions.DeviceError, match=r"has .* GB of memory free, and 549.8 GB more are needed"):
            katoms.SparseRegressor(2, device="cuda").fit(huge, np.arange(float(rows)))

    def test_the_same_input_gives_the_same_bits(self):
        models = [katoms.SparseRegressor(3, device="cuda", n_jobs=n).fit(X, y) for n in (1, 2, None)]
        assert all((model.coef_ == models[0].coef_).all() for model in models)

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("by", ["interface", "capsule", "versioned"])
    @on_card
    def test_memory_of_the_driver_is_read_where_it_is(self, dtype, by, order):
        matrix = stored(dtype)
        lines = np.ascontiguousarray(matrix if order == "C" else matrix.T)
        padded = np.full((lines.shape[0], lines.shape[1] + 11), 77, dtype=dtype)
        padded[:, : lines.shape[1]] = lines
        steps = (padded.shape[1], 1) if order == "C" else (1, padded.shape[1])
        with Memory(padded) as at:
            if by == "interface":
                strides = tuple(step * padded.itemsize for step in steps)
                array = Interface(
                    shape=matrix.shape, typestr=padded.dtype.str, data=(at, True), strides=strides, stream=1
                )
            else:
                code, bits = {"f": 2, "i": 0, "u": 1}[padded.dtype.kind], 8 * padded.itemsize
                array = Capsule(at, matrix.shape, steps, code, bits, version=1 if by == "versioned" else None)
            there, plain = katoms.SparseRegressor(3).fit(array, y), katoms.SparseRegressor(3).fit(matrix, y)
            the_same(there, plain, 1e-5 if dtype == np.float32 else 1e-9)
            np.testing.assert_array_equal(there.predict(array), there.predict(matrix))
            with pytest.raises(katoms.InvalidInputError, match="X is on cuda:0"):
                katoms.SparseRegressor(3, device="cpu").fit(array, y)
            with pytest.raises(katoms.InvalidInputError, match="fill X on its card"):
                katoms.SparseRegressor(3, missing="mean").fit(array, y)
            again = katoms.SparseRegressorCV([2, 3], device="cuda").fit(array, y)
            assert again.support_.tolist() == plain.support_.tolist()

    def lent(self, matrix, module):
        """The matrix on the card, by a library."""
        library = pytest.importorskip(module)
        if module == "torch":
            if not library.cuda.is_available():
                pytest.skip("this PyTorch knows no card")
            return library.from_numpy(np.ascontiguousarray(matrix)).cuda()
        if module == "cupy":
            return library.asarray(matrix)
        if module == "jax":
            if library.default_backend() != "gpu":
                pytest.skip("this JAX knows no card")
            return library.numpy.asarray(matrix)
        return pytest.importorskip("numba.cuda").to_device(matrix)

    @pytest.mark.parametrize("module", ["torch", "cupy", "jax", "numba"])
    @on_card
    def test_arrays_of_other_libraries(self, module, dtype):
        matrix = stored(dtype)
        array = self.lent(matrix, module)
        matrix = matrix.astype(np.float32) if module == "jax" and dtype == np.float64 else matrix
        there, plain = katoms.SparseRegressor(3).fit(array, y), katoms.SparseRegressor(3).fit(matrix, y)
        the_same(there, plain, 1e-5)
        assert isinstance(there.coef_, np.ndarray)
        predicted = there.predict(array)
        kind = np.ndarray if module == "numba" else type(array)
        assert isinstance(predicted, kind)
        found = predicted if module == "numba" else katoms._card.on_host(predicted)
        np.testing.assert_allclose(found, plain.predict(matrix), rtol=1e-5)

    def test_bfloat16_columns_and_gradients_of_torch(self):
        torch = pytest.importorskip("torch")
        array = self.lent(X, "torch").to(torch.bfloat16)
        plain = katoms.SparseRegressor(3).fit(array.double().cpu().numpy(), y)
        the_same(katoms.SparseRegressor(3).fit(array, torch.from_numpy(y).cuda()), plain, 1e-4)
        by_columns = self.lent(X.T, "torch").T
        the_same(katoms.SparseRegressor(3).fit(by_columns, y), katoms.SparseRegressor(3).fit(X, y))
        padded = torch.zeros(160, 77, dtype=torch.float64, device="cuda")
        padded[:, :60] = self.lent(X, "torch")
        the_same(katoms.SparseRegressor(3).fit(padded[:, :60], y), katoms.SparseRegressor(3).fit(X, y))
        classes = katoms.SparseClassifierCV([1, 2], l2=1.0).fit(self.lent(X, "torch"), torch.from_numpy(y > 0).cuda())
        assert classes.predict_proba(self.lent(X, "torch")).is_cuda
        assert classes.transform(self.lent(X, "torch")).shape == (160, classes.support_size_)

    def test_what_a_library_has_begun_is_waited_for(self):
        torch = pytest.importorskip("torch")
        array = self.lent(np.zeros((4000, 4000)), "torch")
        filled = torch.randn(4000, 4000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        target = 3 * filled[:, 5].numpy()
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                array @ array
            array.copy_(filled.pin_memory(), non_blocking=True)
            model = katoms.SparseRegressor(1).fit(array, target)
        assert model.support_.tolist() == [5]

    def test_a_loaded_model_predicts_there(self, tmp_path):
        array = self.lent(X, "torch")
        katoms.SparseRegressor(3).fit(X, y).save(tmp_path / "model.json")
        loaded = katoms.load(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict(array).cpu().numpy(), loaded.predict(X))
