"""Fits on Ray, whose actors are processes of their own."""

import os
import signal

import numpy as np
import pandas
import pytest
import scipy.sparse

import katoms
from katoms import InvalidInputError

ray = pytest.importorskip("ray", reason="Ray is not installed")
import katoms.ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=100 * 2**20,
    )
    yield
    ray.shutdown()


rng = np.random.default_rng(0)
X = np.asfortranarray(rng.normal(size=(120, 60)))
y = X[:, 4] - 2 * X[:, 31] + 1.5 * X[:, 47] + rng.normal(size=120)
NAMES = [f"feature {j}" for j in range(X.shape[1])]


def cut(count=4):
    """Blocks of columns."""
    return [X[:, part].copy(order="F") for part in np.array_split(np.arange(X.shape[1]), count)]


@pytest.fixture(scope="module")
def refs():
    return [ray.put(block) for block in cut()]


@pytest.fixture(scope="module")
def dataset():
    """Rows in three blocks, with a key and the target beside the features; and one block has no rows."""
    pytest.importorskip("pyarrow", reason="Ray's datasets need pyarrow")
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    frame = pandas.DataFrame(X, columns=NAMES).assign(key=np.arange(len(y)), y=y)
    return ray.data.from_pandas([frame[:50], frame[50:90], frame[:0], frame[90:]])


class Killing:
    """A callback that kills an actor once, in the middle of a fit."""

    def __init__(self, blocks):
        self.pid = ray.get(blocks._engine._actors[0].__ray_call__.remote(lambda actor: os.getpid()))
        self.calls = 0

    def __call__(self, progress):
        self.calls += 1
        if self.calls == 1:
            os.kill(self.pid, signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2])
def test_actors_that_die_change_no_bit(refs, workers, monkeypatch):
    expected = katoms.SparseRegressor(3).fit(X, y)
    blocks = katoms.ray.blocks(refs, axis="columns", workers=workers)
    model = katoms.ray.SparseRegressor(3).fit(blocks, y)
    assert model.support_.tolist() == expected.support_.tolist() and blocks.losses == []
    # The same blocks on one machine.
    assert np.array_equal(model.coef_, expected.coef_)
    monkeypatch.setattr(katoms.ray, "LARGE", 1)
    killing = Killing(blocks)
    again = katoms.SparseRegressor(3, callback=killing).fit(blocks, y)
    assert killing.calls > 0 and len(blocks.losses) == 1 and "actor 0 is gone" in blocks.losses[0]
    assert np.array_equal(again.coef_, model.coef_)


def test_rows_of_a_dataset(dataset):
    assert np.array_equal(katoms.ray.column(dataset, "y"), y)
    expected = katoms.SparseRegressor(3).fit(pandas.DataFrame(X, columns=NAMES), y)
    found = []
    for workers in (1, 2):
        blocks = katoms.ray.blocks(dataset, target=["key", "y"], workers=workers)
        assert blocks.shape == X.shape
        # Another matrix at the same time shares the actors.
        assert katoms.ray.blocks(dataset, target=["key", "y"])._engine is blocks._engine
        found.append(katoms.SparseRegressor(3).fit(blocks, y))
        blocks.close()
    assert np.array_equal(found[0].coef_, found[1].coef_)
    assert found[0].support_.tolist() == expected.support_.tolist()
    assert found[0].feature_names_in_.tolist() == NAMES
    assert np.allclose(found[0].coef_, expected.coef_)
    with pytest.raises(
        InvalidInputError, match="block 0 on .*there is no column 'z' in the dataset, which has feature 0, "
    ):
        katoms.ray.blocks(dataset, target="z")
    with pytest.raises(InvalidInputError, match="there is no column 'z'"):
        katoms.ray.column(dataset, "z")


def test_a_dataset_of_tensors_is_taken_by_estimators(dataset):
    whole = ray.data.from_numpy([X[:70], X[70:]])
    labels = np.where(y > 0, "yes", "no")
    model = katoms.SparseClassifier(3).fit(whole, labels)
    assert model.support_.tolist() == katoms.SparseClassifier(3).fit(X, labels).support_.tolist()
    found = np.concatenate(
        [row["prediction"][None] for row in katoms.ray.predict(model, whole, method="predict_proba").iter_rows()]
    )
    # Ray does not promise the order of rows.
    assert np.allclose(np.sort(found, axis=0), np.sort(model.predict_proba(X), axis=0))


def test_predictions_stay_with_the_cluster(dataset, tmp_path):
    frame = pandas.DataFrame(X, columns=NAMES)
    model = katoms.SparseRegressor(3, interactions="weak").fit(frame, y)
    model.save(tmp_path / "model.json")
    for used in (model, katoms.load(tmp_path / "model.json")):
        found = katoms.ray.predict(used, dataset, keep=["key"]).to_pandas().sort_values("key")
        assert list(found.columns) == ["key", "prediction"]
        assert np.allclose(found["prediction"], model.predict(frame))
    with pytest.raises(InvalidInputError, match="the dataset lacks 'feature 31'"):
        katoms.ray.predict(
            katoms.SparseRegressor(3).fit(frame, y), ray.data.from_pandas(frame.drop(columns="feature 31"))
        )


def test_predictions_with_missing_values():
    holes = X.copy()
    holes[::7, 31] = np.nan
    frame = pandas.DataFrame(holes, columns=NAMES)
    model = katoms.SparseRegressor(4, missing="indicator").fit(frame, y)
    columns = {name: frame[name].to_numpy() for name in NAMES}
    needed = [NAMES[at] for at in katoms.distributed.used_by(model)]
    found = katoms.ray._predicted(model, "predict", needed, [], {name: columns[name] for name in needed})
    assert np.allclose(found["prediction"], model.predict(frame))


def test_files_and_a_grid(tmp_path):
    paths = []
    for i, rows in enumerate(np.array_split(X, 2)):
        paths.append([tmp_path / f"{i}-{j}.npy" for j in range(3)])
        for path, block in zip(paths[-1], np.array_split(rows, 3, axis=1)):
            np.save(path, block)
    labels = np.digitize(y, [-1, 1])
    with_files = katoms.ray.blocks(paths, num_cpus=1)
    model = katoms.ray.SparseClassifier(3).fit(with_files, labels)
    assert model.support_.tolist() == katoms.SparseClassifier(3).fit(X, labels).support_.tolist()
    validated = katoms.ray.SparseRegressorCV(range(1, 5), cv=3).fit(with_files, y)
    assert validated.support_.tolist() == katoms.SparseRegressorCV(range(1, 5), cv=3).fit(X, y).support_.tolist()


def test_sparse_blocks_and_missing_values():
    holes = np.where(X > 0, X, 0)
    holes[3, 5] = np.nan
    blocks = [ray.put(scipy.sparse.csc_matrix(part)) for part in np.array_split(holes, 3, axis=1)]
    model = katoms.ray.SparseRegressor(3, missing="mean").fit(katoms.ray.blocks(blocks, axis="columns"), y)
    assert model.support_.tolist() == katoms.SparseRegressor(3, missing="mean").fit(holes, y).support_.tolist()


@ray.remote
def failing():
    raise RuntimeError("out of luck")


@ray.remote(num_cpus=0)
class Owner:
    """What it puts into the store is lost with it."""

    def put(self):
        return [ray.put(X)]


def test_what_is_wrong_with_a_block_is_told_with_its_number(refs, tmp_path):
    owner = Owner.remote()
    (orphan,) = ray.get(owner.put.remote())
    ray.kill(owner)
    holes = X.copy()
    holes[2, 3] = np.nan
    # Its actors are those of all matrices here.
    living = katoms.ray.blocks(refs, axis="columns")
    for blocks, words in (
        ([*refs, ray.put(X[:7])], r"block 4 has 7 rows and 60 columns; beside block 0 it needs 120 and 60"),
        ([*refs, ray.put(X[0])], r"block 4 on katoms actor \d \(.*\): Expected 2D array"),
        ([*refs, tmp_path / "nowhere.npy"], r"block 4 on katoms actor \d \(.*\): there is no file .*nowhere.npy"),
        (
            [*refs, failing.remote()],
            r"block 4 on .*: the task that should give it failed: RuntimeError\('out of luck'\)",
        ),
        ([*refs, orphan], r"block 4 on .*: Ray has lost the object and cannot make it anew"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            katoms.ray.blocks(blocks, axis="columns")
    with pytest.raises(InvalidInputError, match="column 63"):
        katoms.ray.SparseRegressor(3).fit(katoms.ray.blocks([*refs, ray.put(holes)], axis="columns"), y)
    assert living.losses == []


def test_wrong_arguments(refs):
    for arguments, words in (
        ({"X": refs}, "say whether the blocks hold some of the 'columns' each"),
        ({"X": refs, "axis": "columns", "workers": 0}, "workers is 0; it must be a whole number of at least 1"),
        ({"X": refs, "axis": "columns", "num_cpus": 8}, "no machine of the Ray cluster has more than 2"),
        ({"X": refs, "axis": "columns", "target": "y"}, "target goes with a Ray Dataset"),
        ({"X": X}, "a ndarray is no matrix in blocks"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            katoms.ray.blocks(**arguments)


@ray.remote(num_cpus=2)
class Hog:
    """Holds all CPUs."""

    def ready(self):
        pass


def test_actors_and_other_work_do_not_wait_for_each_other(refs, dataset):
    hog = Hog.remote()
    ray.get(hog.ready.remote())
    blocks = katoms.ray.blocks(refs, axis="columns")
    assert katoms.SparseRegressor(3).fit(blocks, y).status_ == "converged"
    ray.kill(hog)
    # Tasks that are still to give a block, and a dataset that is to be computed, have CPUs while the matrix lives.
    put = ray.remote(lambda block: block)
    lazy = katoms.ray.blocks([put.remote(block) for block in cut()], axis="columns")
    assert np.array_equal(katoms.SparseRegressor(3).fit(lazy, y).coef_, katoms.SparseRegressor(3).fit(blocks, y).coef_)
    computed = katoms.ray.column(dataset.map_batches(lambda batch: batch), "y")
    assert np.array_equal(np.sort(computed), np.sort(y))
