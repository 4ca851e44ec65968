"""Fits on Dask: arrays and frames whose chunks stay with the workers of a cluster.

The estimators are those of :mod:`katoms`, and take ``dask.array`` in chunks of columns, rows or both, and Dask DataFrames, in
the place of an array; :func:`blocks` makes ready once what several fits shall share, and reads files that the workers open
by themselves. They use the client that is current (``dask.distributed.get_client()``).
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import time
import uuid
from concurrent.futures import Future as Answer
from concurrent.futures import wait
from typing import Any, ClassVar, NamedTuple

import numpy as np

from katoms.classification import SparseClassifier, SparseClassifierCV
from katoms.completion import MatrixCompletion, MatrixCompletionCV
from katoms.distributed import About, Blocks, Filled, Lost, Narrow, Shard, files, used_by
from katoms.exceptions import InvalidInputError, WorkersLostError
from katoms.functions import path
from katoms.regression import SparseRegressor, SparseRegressorCV
from katoms.survival import SparseCox, SparseCoxCV

__all__ = [
    "MatrixCompletion",
    "MatrixCompletionCV",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseCox",
    "SparseCoxCV",
    "SparseRegressor",
    "SparseRegressorCV",
    "blocks",
    "entries",
    "path",
]

#: Seconds between two looks at which workers live.
LOOK = 0.2
#: Seconds between two looks at whether workers have what blocks are computed from, and how many reports of one worker in a
#: row must say that it has not.
INPUTS, REPORTS = 1.0, 4
#: Round trips that read all of the data.
_PASSES = ("read", "pass", "partial-pass", "pass-by-parts", "moments", "squared-norms", "cross-products", "missing")


def blocks(X: Any, *, axis: str | None = None, client: Any = None) -> Blocks:
    """A matrix whose blocks stay with the workers of a Dask cluster.

    Parameters
    ----------
    X : dask.array.Array, Dask DataFrame, or list of paths
        An array in chunks of columns, rows or both; chunks of SciPy's sparse matrices as well. Files are ``.npy``, ``.npz``
        and ``.parquet``, and every worker must see them; a list of lists has a row of blocks in each.
    axis : {"columns", "rows"}, optional
        What each of a list of files holds some of.
    client : distributed.Client, optional
        By default the current one.

    Returns
    -------
    Blocks
        What every estimator takes in the place of X. The workers hold the blocks as long as it lives.
    """
    if isinstance(X, Blocks):
        return X
    engine = _Engine(_client_of(client))
    if isinstance(X, (list, tuple)):
        sources, grid = files(X, axis)
        return Blocks(engine, sources, grid)
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        chunks = [_Chunk(part) for part in X.to_delayed()]
        return Blocks(engine, chunks, (len(chunks), 1))
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", None) != 2:
        raise InvalidInputError(
            f"a {type(X).__name__} is no matrix in chunks; give a dask.array, a Dask DataFrame or files"
        )
    chunks = X.to_delayed()
    return Blocks(engine, [_Chunk(chunk) for chunk in chunks.ravel()], chunks.shape)


def entries(X: Any) -> tuple:
    """What was seen of a matrix with holes, for :class:`MatrixCompletion`, which works where it is called: a row, a column
    and a value for each entry come here, and what is missing does not.

    Parameters
    ----------
    X : dask.array.Array with NaN, or Dask DataFrame of three columns: rows, columns, values

    Returns
    -------
    tuple
        Rows, columns and values; of an array the shape as well.
    """
    import dask

    if _is_frame(X):
        if X.shape[1] != 3:
            raise InvalidInputError(
                f"the frame has {X.shape[1]} columns; give the rows, the columns and the values of the entries, or an array "
                "with NaN: X.to_dask_array(lengths=True)"
            )
        table = X.compute()
        return tuple(table.iloc[:, at].to_numpy() for at in range(3))
    if any(np.isnan(length) for lengths in X.chunks for length in lengths):
        X.compute_chunk_sizes()
    seen = dask.compute(*[dask.delayed(_seen)(chunk) for chunk in X.to_delayed().ravel()])
    starts = [np.cumsum((0, *lengths))[:-1] for lengths in X.chunks]
    places = [(down, across) for down in starts[0] for across in starts[1]]
    rows = np.concatenate([own[0] + down for own, (down, _) in zip(seen, places)])
    columns = np.concatenate([own[1] + across for own, (_, across) in zip(seen, places)])
    # In the order that an array has, so that what is drawn from them is the same.
    order = np.lexsort((columns, rows))
    return rows[order], columns[order], np.concatenate([own[2] for own in seen])[order], X.shape


def _seen(chunk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(~np.isnan(chunk))
    return rows, columns, chunk[rows, columns].astype(np.float64)


def _client_of(client: Any) -> Any:
    from distributed import get_client

    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise InvalidInputError(
            "there is no Dask cluster; start one first: from dask.distributed import Client; client = Client()"
        ) from None


class _Chunk(NamedTuple):
    """A chunk of a collection: a worker computes it, and another one does so again where the first is lost."""

    delayed: Any


class _Holder:
    """A shard as an actor of Dask. Tasks on its worker find it by its token."""

    here: ClassVar[dict[str, _Holder]] = {}

    def __init__(self, token: str, sources: dict[int, Any], where: str):
        from distributed import get_worker

        worker = get_worker()
        self._shard = Shard(sources, worker.state.nthreads, where, worker.memory_manager.memory_limit)
        self._token = token
        _Holder.here[token] = self

    def call(self, method: str, arguments: tuple) -> Any:
        return getattr(self._shard, method)(*arguments)

    def close(self) -> None:
        _Holder.here.pop(self._token, None)
        self._shard.close()


class _Gone(Exception):
    """A shard that this process does not have: it was started after the one that had."""


def _pass(token: str, method: str, arguments: tuple) -> Any:
    holder = _Holder.here.get(token)
    if holder is None:
        raise _Gone(token)
    return holder.call(method, arguments)


class _Handle(NamedTuple):
    """A shard on a worker."""

    worker: str
    token: str
    actor: Any
    about: dict[int, About]


class _Engine:
    """Shards are actors, each on a worker of its own, and the scheduler has no part in most messages. Passes over the data
    are tasks, so that the dashboard shows them. Which workers live is looked up while anything is awaited: nothing waits for
    one that does not."""

    def __init__(self, client: Any):
        self._client = client

    def workers(self) -> list[str]:
        if self._client.status != "running":
            raise WorkersLostError(f"the Dask client is {self._client.status}; start a cluster and fit again")
        return sorted(self._client.nthreads())

    def homes(self, sources: list[Any]) -> list[str | None]:
        keys = [source.delayed.key for source in sources if isinstance(source, _Chunk)]
        where = self._client.who_has(keys) if keys else {}
        return [_first(where, source.delayed.key) if isinstance(source, _Chunk) else None for source in sources]

    def load(self, placed: list[tuple[str, dict[int, Any]]]) -> list[Any]:
        tokens, started = [uuid.uuid4().hex for _ in placed], []
        for token, (worker, sources) in zip(tokens, placed):
            # The chunks are computed where they are needed.
            own = {block: self._computed(source, worker) for block, source in sources.items()}
            started.append(
                (worker, self._submitted("blocks", worker, _Holder, token, own, f"worker {worker}", actor=True))
            )
        actors = self._done(started, with_inputs=True)
        living = [(worker, actor) for (worker, _), actor in zip(placed, actors) if not isinstance(actor, Lost)]
        told = iter(self._done([(worker, _asked(actor, worker, "about", ())) for worker, actor in living]))
        handles = []
        for token, (worker, _), actor in zip(tokens, placed, actors):
            about = actor if isinstance(actor, Lost) else next(told)
            handles.append(about if isinstance(about, Lost) else _Handle(worker, token, actor, about))
        return handles

    def _computed(self, source: Any, worker: str) -> Any:
        if isinstance(source, Filled):
            return source._replace(source=self._computed(source.source, worker))
        if not isinstance(source, _Chunk):
            return source
        return self._client.compute(source.delayed, workers=[worker], allow_other_workers=True)

    def _submitted(self, what: str, worker: str, function: Any, *arguments: Any, actor: bool = False) -> Any:
        key = f"katoms-{what}-{uuid.uuid4().hex}"
        return self._client.submit(
            function, *arguments, key=key, workers=[worker], pure=False, actor=actor, priority=10
        )

    def call(self, method: str, what: str, calls: list[tuple[_Handle, tuple]]) -> list[Any]:
        asked = []
        for shard, arguments in calls:
            if what in _PASSES:
                asked.append((shard.worker, self._submitted(what, shard.worker, _pass, shard.token, method, arguments)))
            else:
                asked.append((shard.worker, _asked(shard.actor, shard.worker, method, arguments)))
        return self._done(asked)

    def release(self, shards: list[_Handle]) -> None:
        if self._client.status != "running":
            return
        for shard in shards:
            with contextlib.suppress(Exception):  # the worker may be gone, and the blocks with it
                shard.actor.close()

    def _done(self, asked: list[tuple[str, Any]], with_inputs: bool = False) -> list[Any]:
        """What workers answer, or Lost."""
        loop = self._client.loop.asyncio_loop
        answers = [
            future if isinstance(future, Lost) else asyncio.run_coroutine_threadsafe(_result(future), loop)
            for _, future in asked
        ]
        left = {answer for answer in answers if not isinstance(answer, Lost)}
        seekers = _Seekers(self._client)
        while left:
            left = wait(left, timeout=LOOK).not_done
            if with_inputs and left and self._client.status == "running" and seekers.are_stuck():
                for waiting in left:
                    waiting.cancel()
                break
            alive = set(self._client.nthreads()) if left and self._client.status == "running" else set()
            for (worker, _), answer in zip(asked, answers):
                if answer in left and worker not in alive:
                    answer.cancel()
                    left.discard(answer)
        living = set(self._client.nthreads()) if self._client.status == "running" else set()
        return [_answer(worker, answer, worker in living) for (worker, _), answer in zip(asked, answers)]


class _Seekers:
    """Workers that seek what nobody has, and do nothing else. Dask lets them seek for ever where data that cannot be computed
    again were lost at the wrong moment."""

    def __init__(self, client: Any):
        self._client, self._looked = client, time.monotonic()
        #: Of each worker the time of its last report, and how many in a row said so.
        self._reports: dict[str, tuple[float, int]] = {}

    def are_stuck(self) -> bool:
        """Whether reports of one worker have said so often enough."""
        if time.monotonic() - self._looked < INPUTS:
            return False
        self._looked = time.monotonic()
        try:
            known = self._client.scheduler_info(n_workers=-1)
        except TypeError:  # before n_workers
            known = self._client.scheduler_info()
        reports = {}
        for name, worker in known["workers"].items():
            counts, seen = worker["metrics"].get("task_counts", {}), worker["last_seen"]
            if counts.get("missing") and not counts.get("executing"):
                before, count = self._reports.get(name, (0.0, 0))
                reports[name] = (seen, count + (seen > before))
        self._reports = reports
        return any(count >= REPORTS for _, count in reports.values())


def _asked(actor: Any, worker: str, method: str, arguments: tuple) -> Any:
    """A call of an actor, or Lost where its worker is known to be gone."""
    try:
        return actor.call(method, arguments)
    except RuntimeError as error:
        return Lost(f"worker {worker} is gone ({error})")


async def _result(future: Any) -> Any:
    return await future


def _answer(worker: str, answer: Answer | Lost, is_living: bool) -> Any:
    from distributed import CancelledError, KilledWorker

    if isinstance(answer, Lost):
        return answer
    if answer.cancelled():
        return _inputs_gone(worker) if is_living else Lost(f"worker {worker} is gone")
    error = answer.exception()
    if error is None:
        return answer.result()
    if isinstance(error, (CancelledError, asyncio.CancelledError)) and is_living:
        return _inputs_gone(worker)
    if isinstance(error, (_Gone, KilledWorker, OSError, CancelledError, asyncio.CancelledError)):
        return Lost(f"worker {worker} is gone ({type(error).__name__})")
    if isinstance(error, RuntimeError) and "holding Actor was lost" in str(error):
        return Lost(f"worker {worker} is gone")
    raise error


def _inputs_gone(worker: str) -> Lost:
    return Lost(f"worker {worker} lacks what its blocks are computed from", inputs_gone=True)


def _first(where: dict, key: str) -> str | None:
    return next(iter(sorted(where.get(key, ()))), None)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "map_partitions") and hasattr(X, "columns")


def _check_columns(model: Any, X: Any) -> None:
    if X.shape[1] != model.n_features_in_:
        raise InvalidInputError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features as input."
        )


def brought(model: Any, X: Any) -> Any:
    """The columns of X that a model reads, here."""
    if _is_frame(X):
        return Narrow(X.iloc[:, used_by(model)].compute().to_numpy(), used_by(model), X.shape[1], np.array(X.columns))
    _check_columns(model, X)
    return Narrow(X[:, used_by(model)].compute(), used_by(model), X.shape[1], getattr(model, "feature_names_in_", None))


def mapped(method: Any, model: Any, X: Any, *arguments: Any, **named: Any) -> Any:
    """What a method gives for each row of a collection, as a collection: nothing is computed yet."""
    if any(value is not None for value in (*arguments, *named.values())):
        raise InvalidInputError(
            "offset and exposure go with arrays that are here; add the offset to what predict gives"
        )
    model = copy.copy(model)
    model.callback = None
    if _is_frame(X):
        return X.map_partitions(method.__get__(model), meta=method(model, X._meta_nonempty))
    _check_columns(model, X)
    columns, names = used_by(model), getattr(model, "feature_names_in_", None)

    def of_rows(rows: np.ndarray) -> np.ndarray:
        return method(model, Narrow(rows, columns, X.shape[1], names))

    like = of_rows(np.zeros((1, len(columns))))
    rows = X[:, columns].rechunk({1: -1}) if len(columns) else X[:, :1].rechunk({1: -1})[:, :0]
    shaped = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
    return rows.map_blocks(of_rows, dtype=like.dtype, meta=like[:0], **shaped)
