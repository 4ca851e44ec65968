"""Fits whose data live with the workers of a Dask cluster: real processes, some of which are killed."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse

from katoms import InvalidInputError, SparseClassifier, SparseRegressor, SparseRegressorCV
from katoms.distributed import Blocks, WorkersLostError, files

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'katoms[dask]'")
import dask.array as da
from distributed import Client, LocalCluster

import katoms.dask as kd

ROWS, COLUMNS, K = 120, 600, 5


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


class Some(kd._Engine):
    """The first workers of a cluster."""

    def __init__(self, client, count):
        super().__init__(client)
        self._count = count

    def workers(self):
        return super().workers()[: self._count]


def planted(seed=0, rows=ROWS, columns=COLUMNS):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(rows, columns)).astype(np.float32))
    b = np.zeros(columns)
    b[rng.choice(columns, K, replace=False)] = rng.choice([-1.0, 1.0], K)
    return X, X @ b + 0.5 * rng.normal(size=rows)


def cut(X, down, across):
    rows, columns = np.array_split(np.arange(X.shape[0]), down), np.array_split(np.arange(X.shape[1]), across)
    return [np.asfortranarray(X[np.ix_(r, c)]) for r in rows for c in columns], (down, across)


@pytest.mark.parametrize("grid", [(1, 5), (4, 1), (3, 2)])
def test_any_number_of_workers_gives_the_same_bits(client, grid):
    X, y = planted()
    alone = SparseRegressor(K).fit(X, y)
    found = []
    for count in (1, 2, 3, 4):
        X_there = Blocks(Some(client, count), *cut(X, *grid))
        found.append(kd.SparseRegressor(K).fit(X_there, y))
        assert X_there.losses == [] and X_there.round_trips <= 3 * (X_there.trips["pass"] + X_there.trips["read"])
    for model in found:
        assert model.coef_.tobytes() == found[0].coef_.tobytes() and model.intercept_ == found[0].intercept_
        assert model.quality_.exchanges_compared == alone.quality_.exchanges_compared
    np.testing.assert_array_equal(found[0].support_, alone.support_)
    np.testing.assert_allclose(found[0].coef_, alone.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("chunks", [(ROWS, 150), (50, COLUMNS), (50, 250)])
def test_arrays_in_chunks_are_what_they_are_here(client, chunks):
    X, y = planted(1)
    lazy, weights = da.from_array(X, chunks=chunks), np.arange(ROWS) % 3
    for there, here in [
        (SparseRegressor(K), SparseRegressor(K)),
        (SparseRegressor(range(8), l2=0.1), SparseRegressor(range(8), l2=0.1)),
        (SparseRegressorCV(range(8)), SparseRegressorCV(range(8))),
    ]:
        there.fit(lazy, da.from_array(y, chunks=50), weights)
        here.fit(X, y, weights)
        np.testing.assert_array_equal(there.support_, here.support_)
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6, atol=1e-9)
    predicted = there.predict(lazy)
    assert isinstance(predicted, da.Array) and predicted.chunks == (lazy.chunks[0],)
    np.testing.assert_allclose(predicted.compute(), here.predict(X), rtol=1e-6, atol=1e-6)
    assert there.score(lazy, y) == pytest.approx(here.score(X, y))
    np.testing.assert_array_equal(there.transform(lazy).compute(), here.transform(X))


def test_classes_and_their_probabilities(client):
    X, y = planted(2)
    lazy, labels = da.from_array(X, chunks=(50, 250)), np.where(y > 0, "high", "low")
    there, here = SparseClassifier(3).fit(lazy, labels), SparseClassifier(3).fit(X, labels)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.predict_proba(lazy).compute(), here.predict_proba(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(there.predict(lazy).compute(), here.predict(X))
    assert there.score(lazy, labels) == here.score(X, labels)


def test_frames_have_names_and_missing_values_are_filled_where_they_are(client):
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", reason="Dask DataFrames need pandas and pyarrow")
    X, y = planted(3, columns=40)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    lazy = dd.from_pandas(frame, npartitions=3)
    here = SparseRegressor(K, missing="mean").fit(frame, y)
    there = SparseRegressor(K, missing="mean").fit(lazy, y)
    assert there.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-5)
    np.testing.assert_allclose(there.means_, here.means_, rtol=1e-6)
    array = SparseRegressor(K, missing="mean").fit(da.from_array(X, chunks=(50, 15)), y)
    predicted = array.predict(da.from_array(X, chunks=(50, 15))).compute()
    np.testing.assert_allclose(predicted, np.asarray(here.predict(frame)), rtol=1e-6)
    with pytest.raises(InvalidInputError, match=r"X contains NaN: column 'gene \d+' has .* missing='mean'"):
        SparseRegressor(K).fit(lazy, y)
    whole = dd.from_pandas(frame.fillna(0.0), npartitions=3)
    model = SparseRegressor(K).fit(whole, y)
    np.testing.assert_allclose(np.asarray(model.predict(whole)), model.predict(frame.fillna(0.0)))
    assert model.score(whole, y) == pytest.approx(model.score(frame.fillna(0.0), y))


@pytest.mark.parametrize("kind", ["float64", "float16", "int8", "sparse", "rows first"])
def test_numbers_of_every_kind(client, kind):
    X, y = planted(4)
    X = np.round(4 * X) if kind == "int8" else X
    X = np.where(np.abs(X) > 0.5, X, 0).astype(np.float64) if kind == "sparse" else X
    X = X.astype(kind) if kind in ("float64", "float16", "int8") else X
    blocks, grid = cut(X, 2, 2)
    blocks = [scipy.sparse.csc_array(block) if kind == "sparse" else block for block in blocks]
    blocks = [np.ascontiguousarray(block) if kind == "rows first" else block for block in blocks]
    there = SparseRegressor(K).fit(Blocks(kd._Engine(client), blocks, grid), y)
    here = SparseRegressor(K).fit(X, y)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6)


def written(folder, blocks):
    paths = [folder / f"block{at}.npy" for at in range(len(blocks))]
    for path, block in zip(paths, blocks):
        np.save(path, block)
    return paths


def test_files_that_each_worker_opens(client, tmp_path):
    X, y = planted(5)
    here = SparseRegressor(K).fit(X, y)
    paths = written(tmp_path, cut(X, 1, 5)[0])
    there = SparseRegressor(K).fit(kd.blocks(paths, axis="columns"), y)
    assert there.coef_.tobytes() == here.coef_.tobytes()
    np.savez(tmp_path / "block5.npz", X=X[:60])
    scipy.sparse.save_npz(tmp_path / "block6.npz", scipy.sparse.csc_array(X[60:]))
    with pytest.raises(InvalidInputError, match=r"block 1 \(.*block6.npz\) holds sparse and block 0 float32"):
        kd.blocks([tmp_path / "block5.npz", tmp_path / "block6.npz"], axis="rows")
    with pytest.raises(
        InvalidInputError, match=r"block 1 on worker tcp.*: there is no file .*absent.npy on this worker"
    ):
        kd.blocks([paths[0], tmp_path / "absent.npy"], axis="columns")
    np.save(tmp_path / "short.npy", X[:-1, :100])
    with pytest.raises(
        InvalidInputError, match=r"block 1 \(.*short.npy\) has 119 rows and 100 columns; beside block 0"
    ):
        kd.blocks([paths[0], tmp_path / "short.npy"], axis="columns")
    with pytest.raises(InvalidInputError, match="'columns' each, or some of the 'rows'"):
        kd.blocks(paths)
    assert files([["a.npy", "b.npy"], ["c.npy", "d.npy"]])[1] == (2, 2)


def test_files_that_are_larger_than_memory(tmp_path):
    """Dask ends workers that hold more than their limit, and counts pages of mapped files."""
    X = np.lib.format.open_memmap(tmp_path / "block.npy", "w+", np.float32, (10_000, 40_000), fortran_order=True)
    rng = np.random.default_rng(0)
    X[:, 5], X[:, 39_999] = rng.normal(size=(2, 10_000))
    y = 2 * X[:, 5] - X[:, 39_999].astype(float)
    del X
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit="800MB") as cluster,
        Client(cluster) as client,
    ):
        there = kd.blocks([tmp_path / "block.npy"], axis="columns", client=client)
        model = SparseRegressor(2).fit(there, y)
        assert model.support_.tolist() == [5, 39_999] and there.losses == []


def killing(client, X_there, after=0):
    """A callback that kills one of the workers that hold the blocks."""
    moves = []

    def callback(progress):
        moves.append(progress)
        if len(moves) == after + 1:
            os.kill(client.run(os.getpid)[X_there._shards[0].worker], signal.SIGKILL)

    return callback


@pytest.mark.parametrize("grid", [(1, 5), (4, 1)])
def test_a_worker_that_is_killed_changes_no_bit(client, grid):
    X, y = planted(6)
    expected = SparseRegressor(K).fit(Blocks(kd._Engine(client), *cut(X, *grid)), y)
    lazy = da.from_array(X, chunks=(-(-ROWS // grid[0]), -(-COLUMNS // grid[1])))
    for after in (0, 1):
        X_there = kd.blocks(lazy)
        model = SparseRegressor(K, callback=killing(client, X_there, after)).fit(X_there, y)
        assert len(X_there.losses) >= 1
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        client.wait_for_workers(4)


def test_without_workers_a_fit_ends_with_what_it_has_and_can_go_on(tmp_path):
    X, y = planted(7, rows=200, columns=2000)
    paths = written(tmp_path, cut(X, 1, 4)[0])
    expected = SparseRegressor(K).fit(X, y)

    def stop(progress):
        if progress["phase"] != "reading":
            cluster.scale(0)

    model = SparseRegressor(K, callback=stop, warm_start=True)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        with pytest.raises(WorkersLostError, match="there is no worker left.*warm_start=True"):
            model.fit(kd.blocks(paths, axis="columns", client=client), y)
    assert np.isfinite(model.coef_).all() and np.count_nonzero(model.coef_) <= K and model.status_ == "stopped"
    model.callback = None
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        model.fit(kd.blocks(paths, axis="columns", client=client), y)
    np.testing.assert_array_equal(model.support_, expected.support_)


def test_ctrl_c_keeps_the_best_so_far(client):
    X, y = planted(13)
    X_there = kd.blocks(da.from_array(X, chunks=(ROWS, 150)))
    sizes = range(1, K + 20)
    expected = SparseRegressor(sizes).fit(X_there, y)

    def interrupt(progress):
        if progress["phase"] != "reading":
            os.kill(os.getpid(), signal.SIGINT)

    model = SparseRegressor(sizes, callback=interrupt)
    # A library that was used before may have put a handler of its own in place of Python's.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X_there, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.status_ == "stopped" and np.isfinite(model.coef_).all() and len(model.support_) < K + 20
    # The workers are as they were.
    assert SparseRegressor(sizes).fit(X_there, y).coef_.tobytes() == expected.coef_.tobytes() and X_there.losses == []


def test_a_block_that_is_too_large_for_workers_is_named():
    dask = pytest.importorskip("dask")
    X, y = planted(14)
    huge = da.from_delayed(dask.delayed(np.ones)((ROWS, 1_000_000)), (ROWS, 1_000_000), float)
    lazy = da.concatenate([da.from_array(X.astype(float), chunks=X.shape), huge], axis=1)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit="500MB") as cluster,
        Client(cluster) as client,
        pytest.raises(WorkersLostError, match="blocks 0, 1 were lost .* in a row .*fit into a worker's memory"),
    ):
        SparseRegressor(K).fit(kd.blocks(lazy, client=client), y)


def test_data_that_only_a_lost_worker_had_are_an_error():
    X, y = planted(8)
    blocks, _ = cut(X, 1, 4)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        scattered = client.scatter(blocks)
        parts = [da.from_delayed(_same(f), block.shape, block.dtype) for f, block in zip(scattered, blocks)]
        X_there = kd.blocks(da.concatenate(parts, axis=1), client=client)
        del scattered, parts
        with pytest.raises(
            WorkersLostError, match="blocks? .* cannot be had again: .* only with a worker that is gone"
        ):
            SparseRegressor(K, callback=killing(client, X_there)).fit(X_there, y)


def _same(future):
    import dask

    return dask.delayed(lambda block: block)(future)


@pytest.mark.parametrize("kind", ["chunks of rows", "frame"])
def test_least_squares_on_many_rows_is_one_round_trip(client, kind):
    X, y = planted(12, rows=4000, columns=30)
    X[:, 3], weights = 7.0, np.arange(4000) % 3
    chunks = da.from_array(X, chunks=(700, 30))
    there = kd.blocks(chunks if kind == "chunks of rows" else chunks.to_dask_dataframe())
    assert there.shape == X.shape
    for model in (
        SparseRegressor(K),
        SparseRegressor(K, l2=3.0, fit_intercept=False),
        SparseRegressor(range(9), ic_type="bic"),
    ):
        there.trips.clear()
        found = model.fit(there, y, weights)
        # What was added up for one fit serves the next.
        assert set(there.trips) <= {"cross-products"} and there.round_trips <= 1
        coef, loss, quality = found.coef_, found.loss_, str(found.quality_)
        model.fit(X, y, weights)
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-9, atol=1e-12)
        assert loss == pytest.approx(model.loss_, rel=1e-9) and quality == str(model.quality_)
    folds = {"support_size": range(9), "cv": 4, "l2": [0.0, 10.0]}
    lazy, here = SparseRegressorCV(**folds).fit(there, y, weights), SparseRegressorCV(**folds).fit(X, y, weights)
    np.testing.assert_allclose(lazy.cv_results_["fold_losses"], here.cv_results_["fold_losses"], rtol=1e-9)
    np.testing.assert_allclose(lazy.coef_, here.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(lazy.fold_of_row_, here.fold_of_row_)
    X[5, 4] = np.nan
    with pytest.raises(InvalidInputError, match="column 4 .* has 1 missing value"):
        SparseRegressor(K).fit(da.from_array(X, chunks=(700, 30)), y)


def test_a_matrix_with_holes_is_completed_from_its_chunks(client):
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    X = np.where(rng.random(whole.shape) < 0.6, whole, np.nan)
    there = kd.MatrixCompletion(2).fit(da.from_array(X, chunks=(25, 17)))
    here = kd.MatrixCompletion(2).fit((*np.nonzero(~np.isnan(X)), X[~np.isnan(X)], X.shape))
    np.testing.assert_allclose(there.predict([0, 59], [0, 39]), here.predict([0, 59], [0, 39]), rtol=1e-9)


def test_the_dashboard_shows_what_is_done(client):
    X, y = planted(9)
    client.get_task_stream()  # from here on
    SparseRegressor(K).fit(da.from_array(X, chunks=(ROWS, 150)), y)
    names = {str(task["key"]).rsplit("-", 1)[0] for task in client.get_task_stream()}
    assert {"katoms-read", "katoms-pass"} <= names


def test_memory_is_given_back(client):
    X, y = planted(10)
    X_there = kd.blocks(da.from_array(X, chunks=(ROWS, 150)))
    count = sum(client.run(lambda: len(kd._Holder.here)).values())
    X_there.close()
    until = time.monotonic() + 10
    while sum(client.run(lambda: len(kd._Holder.here)).values()) >= count and time.monotonic() < until:
        time.sleep(0.05)
    assert sum(client.run(lambda: len(kd._Holder.here)).values()) < count


@pytest.mark.long
def test_two_hundred_fits_with_a_worker_killed_at_a_random_moment():
    X, y = planted(11, rows=400, columns=8000)
    lazy, draw, lost, slowest = da.from_array(X, chunks=(400, 1000)), random.Random(0), 0, 0.0
    expected, fits = SparseRegressor(K).fit(X, y), 0
    while fits < 200:
        # Dask gives up a worker that is killed while it starts: a new cluster now and then.
        with (
            LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            SparseRegressor(K).fit(lazy, y)
            while fits < 200 and len(client.nthreads()) > 1:
                X_there = kd.blocks(lazy)
                pid = draw.choice(sorted(client.run(os.getpid, on_error="ignore").values()))
                timer = threading.Timer(draw.uniform(0, 0.3), os.kill, (pid, signal.SIGKILL))
                timer.start()
                began = time.monotonic()
                model = SparseRegressor(K).fit(X_there, y)
                slowest = max(slowest, time.monotonic() - began)
                timer.join()
                fits, lost = fits + 1, lost + bool(X_there.losses)
                assert model.coef_.tobytes() == expected.coef_.tobytes()
    print(f"{lost} of {fits} fits lost a worker; the slowest took {slowest:.1f} s")
    assert lost > 50
