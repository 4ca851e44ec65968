"""Fits with MPI: every rank runs the same script, and has some of the columns or some of the rows.

.. code-block:: python

    # mpirun -n 4 python -m mpi4py fit.py
    from mpi4py import MPI
    import numpy as np
    import katoms.mpi

    X = np.load(f"columns-{MPI.COMM_WORLD.rank}.npy", mmap_mode="r")
    y = np.load("y.npy")
    model = katoms.mpi.SparseRegressor(10).fit(katoms.mpi.columns(X), y)

:func:`columns` and :func:`rows` say what the arrays of a rank are; blocks are numbered by rank, then by place. Rank 0 has the
method, its state, warnings, callbacks and what is printed; the others multiply until the fit ends. Then every rank has the
same fitted attributes, or raises the same exception.

Give ``python -m mpi4py``, which ends the job where one rank fails outside of a fit. MPI ends the job when a rank dies, and
katoms cannot change that: what is left is a model that was saved before, from which a fit with ``warm_start=True`` goes on.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from katoms import _katoms, classification, regression, survival
from katoms._design import Design
from katoms._parameters import threads_of
from katoms.distributed import About, Blocks, File, Filled, Narrow, Shard, used_by
from katoms.exceptions import InvalidInputError, KatomsError

__all__ = [
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseCox",
    "SparseCoxCV",
    "SparseRegressor",
    "SparseRegressorCV",
    "columns",
    "rows",
]

#: The longest that a rank sleeps between two looks for a message, in seconds.
NAP = 0.001
#: Messages of at least so many bytes go to several ranks at once.
LARGE = 20_000
#: What fit and score take that has one value for each row.
_OF_ROWS = ("y", "sample_weight", "offset", "exposure", "groups")


def columns(X: Any, comm: Any = None) -> Local:
    """The columns that this rank has, all rows of them.

    Parameters
    ----------
    X : array, SciPy sparse matrix, frame, path of a file, or list of these
        A list holds blocks. Answers have the same bits for the same blocks, whichever ranks have them.
    comm : mpi4py.MPI.Comm, optional
        By default ``MPI.COMM_WORLD``.

    Returns
    -------
    Local
        What the estimators of this module take in the place of X; y and weights are then those of all rows, and are needed
        on rank 0 alone. Predictions of all rows come to every rank.
    """
    return Local(X, "columns", comm)


def rows(X: Any, comm: Any = None) -> Local:
    """The rows that this rank has, all columns of them.

    Parameters
    ----------
    X, comm
        As in :func:`columns`.

    Returns
    -------
    Local
        What the estimators of this module take in the place of X; y and weights are then those of these rows. Each rank
        predicts its own rows, and no other rank has a part in it.
    """
    return Local(X, "rows", comm)


class Local:
    """The part of a matrix that a rank has."""

    ndim = 2

    def __init__(self, X: Any, axis: str, comm: Any = None):
        from mpi4py import MPI

        parts = X if isinstance(X, (list, tuple)) else [X]
        self.blocks = [File(os.fspath(part)) if isinstance(part, (str, os.PathLike)) else part for part in parts]
        self.axis, self.comm = axis, MPI.COMM_WORLD if comm is None else comm

    def __repr__(self) -> str:
        return f"the {self.axis} of rank {self.comm.rank} ({len(self.blocks)} blocks)"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("this is the part of a matrix that one rank has; give it to an estimator of katoms.mpi")

    def __katoms_design__(self) -> Design:
        raise InvalidInputError("this is the part of a matrix that one rank has; give it to an estimator of katoms.mpi")


class Ranks:
    """Fits in which all ranks take part: what the estimators have before those of :mod:`katoms`."""

    def fit(self: Any, X: Local, y: Any = None, sample_weight: Any = None, **known: Any):
        """Find the model, on all ranks at once.

        Parameters
        ----------
        X : what :func:`columns` or :func:`rows` gives
        y, sample_weight, **known
            As the estimator of this name in :mod:`katoms` takes them: with columns those of all rows, which rank 0 alone
            needs; with rows those of this rank.

        Returns
        -------
        self
        """
        if not isinstance(X, Local):
            raise InvalidInputError(
                f"X is a {type(X).__name__}, but katoms.mpi.{type(self).__name__} takes what each rank has: "
                "fit(katoms.mpi.columns(X), y) of some of the columns, or fit(katoms.mpi.rows(X), y) of some of the rows"
            )
        team, given = _Team(X, self.n_jobs), {"y": y, "sample_weight": sample_weight, **known}
        parts: Any = X.comm.gather(given) if X.axis == "rows" else None

        def found() -> tuple[dict[str, Any], BaseException | None]:
            try:
                blocks = Blocks(team, team.sources, team.grid)
                whole = given if parts is None else _whole(parts, team.lengths(blocks.row_lengths))
                super(Ranks, self).fit(blocks, **whole)  # type: ignore[misc]
                failed = None
            except BaseException as error:
                failed = error
            # A fit that was ended keeps the best model so far.
            return {name: value for name, value in vars(self).items() if name not in self._parameters()}, failed

        state, failed = team.led(found) if X.comm.rank == 0 else team.served()
        if X.comm.rank != 0:
            for name in set(vars(self)) - set(self._parameters()):
                delattr(self, name)
            vars(self).update(state)
        if failed is not None:
            raise failed
        return self

    def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None, **known: Any) -> float:
        """As the estimator of this name in :mod:`katoms` has it: of the rows of all ranks, and the same on each."""
        score, given = super().score, {"y": y, "sample_weight": sample_weight, **known}  # type: ignore[misc]
        if not isinstance(X, Local):
            return score(X, **given)
        if X.axis == "columns":
            linear = self._linear(X)
            return _on_rank_0(X.comm, lambda: score(_Predicted(linear), **given))
        parts: Any = X.comm.gather((_tried(lambda: self._linear(X)), given))

        def judged() -> float:
            linears = [_result(linear) for linear, _ in parts]
            whole = _whole([one for _, one in parts], [len(linear) for linear in linears])
            return score(_Predicted(_joined(linears)), **whole)

        return _on_rank_0(X.comm, judged)

    def _linear(self: Any, X: Any) -> np.ndarray:
        if isinstance(X, _Predicted):
            return X.linear
        linear = super()._linear  # type: ignore[misc]
        if not isinstance(X, Local):
            return linear(X)
        self._check_fitted()
        if X.axis == "columns":
            return _of_columns(self, X, linear)
        if not X.blocks:
            return np.zeros((0, *np.shape(self.intercept_)[: np.size(self.intercept_) > 1]))
        return np.concatenate([linear(_loaded(block)) for block in X.blocks])


class SparseRegressor(Ranks, regression.SparseRegressor):
    """:class:`katoms.SparseRegressor`, fitted by all ranks."""


class SparseRegressorCV(Ranks, regression.SparseRegressorCV):
    """:class:`katoms.SparseRegressorCV`, fitted by all ranks."""


class SparseClassifier(Ranks, classification.SparseClassifier):
    """:class:`katoms.SparseClassifier`, fitted by all ranks."""


class SparseClassifierCV(Ranks, classification.SparseClassifierCV):
    """:class:`katoms.SparseClassifierCV`, fitted by all ranks."""


class SparseCox(Ranks, survival.SparseCox):
    """:class:`katoms.SparseCox`, fitted by all ranks."""


class SparseCoxCV(Ranks, survival.SparseCoxCV):
    """:class:`katoms.SparseCoxCV`, fitted by all ranks."""


# What ranks tell each other.


class _Failed(NamedTuple):
    """What was raised on a rank."""

    error: BaseException


def _tried(work: Callable[[], Any]) -> Any:
    """What some work gives, or what it raises."""
    try:
        return work()
    except BaseException as error:
        return _Failed(_portable(error))


def _result(answer: Any) -> Any:
    if isinstance(answer, _Failed):
        raise answer.error
    return answer


def _portable(error: BaseException) -> BaseException:
    """The exception, or where it cannot go to another process, its words."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return KatomsError(f"{type(error).__name__}: {error}")


def _on_rank_0(comm: Any, work: Callable[[], Any]) -> Any:
    """What some work of rank 0 gives, on every rank."""
    return _result(comm.bcast(_tried(work) if comm.rank == 0 else None))


def _whole(parts: list[dict[str, Any]], lengths: list[int]) -> dict[str, Any]:
    """What ranks tell of their own rows, as of all rows."""
    whole: dict[str, Any] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        values = [part.get(name) for part in parts]
        if all(value is None or np.ndim(value) == 0 for value in values):
            whole[name] = values[0]
            continue
        for rank, (value, length) in enumerate(zip(values, lengths)):
            found = "no" if value is None else len(value)
            if found != length and (length > 0 or value is not None):
                raise InvalidInputError(
                    f"{name} has {found} values on rank {rank}; one for each of its {length} rows is needed"
                )
        whole[name] = _joined([value for value in values if value is not None])
    return whole


def _joined(parts: list[Any]) -> Any:
    kind = type(parts[0]).__module__.partition(".")[0]
    if kind == "pandas":
        import pandas

        return pandas.concat(parts, ignore_index=True)
    if kind == "polars":
        import polars

        return polars.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])


# Predictions.


class _Predicted(NamedTuple):
    """Rows of which the linear predictions are known."""

    linear: np.ndarray


def _loaded(block: Any) -> Any:
    return block.load() if isinstance(block, File) else block


def _of_columns(model: Any, X: Local, linear: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Linear predictions of all rows: rank 0 gets the columns of the model, and tells everybody."""
    counts = X.comm.allgather(len(X.blocks))
    first, where = sum(counts[: X.comm.rank]), f"rank {X.comm.rank}"
    designs = _tried(lambda: [Shard._design(first + at, block, where) for at, block in enumerate(X.blocks)])
    known = X.comm.allgather(designs if isinstance(designs, _Failed) else [design.shape[1] for design in designs])
    widths = [width for one in known for width in _result(one)]
    ends = np.cumsum([0, *widths])
    used = used_by(model)

    def own() -> tuple[list[np.ndarray], list[np.ndarray | None]]:
        inside = [
            used[(used >= ends[at]) & (used < ends[at + 1])] - ends[at] for at in range(first, first + len(designs))
        ]
        return [_picked(*one) for one in zip(designs, inside)], [design.names for design in designs]

    parts: Any = X.comm.gather(_tried(own))

    def predicted() -> np.ndarray:
        told = [_result(part) for part in parts]
        values = [value for columns, _ in told for value in columns]
        names = [own for _, listed in told for own in listed]
        named = None if any(own is None for own in names) else np.concatenate(names)
        rows = {len(value) for value in values}
        if len(rows) != 1:
            raise InvalidInputError(f"the blocks of columns differ in their rows: {', '.join(map(str, sorted(rows)))}")
        within = used[used < ends[-1]]
        return linear(Narrow(np.hstack(values), within, int(ends[-1]), named))

    return _on_rank_0(X.comm, predicted)


def _picked(design: Design, places: np.ndarray) -> np.ndarray:
    """Some columns, as numbers in double precision."""
    matrix = design.matrix
    if not isinstance(matrix, tuple):
        return np.asarray(matrix[:, places], dtype=np.float64)
    picked = np.zeros((design.shape[0], len(places)), order="F")
    for at, place in enumerate(places.tolist()):
        if len(matrix) == 4:
            own = slice(matrix[1][place], matrix[1][place + 1])
            np.add.at(picked[:, at], matrix[2][own], matrix[3][own])
        else:
            picked[:, at] = _katoms.predict(matrix, np.eye(1, design.shape[1], place)[0], [0.0], [])
    return picked


# Fits.


class _Own(NamedTuple):
    """A block, by its rank and its place there."""

    rank: int
    place: int


class _Order(NamedTuple):
    """What rank 0 asks of another one: a method of a shard, or to load one."""

    method: str
    token: int = 0
    arguments: tuple = ()
    #: Whether messages to all ranks follow.
    shared: bool = False
    #: Shards that are needed no more.
    gone: tuple[int, ...] = ()


class _Handle(NamedTuple):
    """A shard of a rank."""

    worker: int
    token: int
    about: dict[int, About]


class _Team:
    """The ranks of a fit, as an engine where rank 0 asks them."""

    def __init__(self, X: Local, n_jobs: Any):
        from mpi4py import MPI

        self._machine = MPI.Get_processor_name()
        cores = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        threads = _tried(lambda: _threads(n_jobs))
        told = X.comm.allgather((threads, len(X.blocks), X.axis, (self._machine, cores)))
        for one in told:
            _result(one[0])
        axes = [axis for _, _, axis, _ in told]
        if len(set(axes)) > 1:
            other = next(rank for rank, axis in enumerate(axes) if axis != axes[0])
            raise InvalidInputError(
                f"rank 0 has {axes[0]} and rank {other} has {axes[other]}; all ranks need the same of the two"
            )
        # Ranks that may use the same cores share them.
        sharing = sum(one[3] == told[X.comm.rank][3] for one in told)
        self._threads = threads or max(1, _katoms.cores() // sharing)
        self.sources = [_Own(rank, place) for rank, one in enumerate(told) for place in range(one[1])]
        self.grid = (1, len(self.sources)) if X.axis == "columns" else (len(self.sources), 1)
        self._blocks = X.blocks
        self._shards: dict[int, Shard] = {}
        self._count = 0
        self._gone: dict[int, list[int]] = {}
        # Messages of a fit do not mix with those of the script.
        self._comm = X.comm.Dup()

    def lengths(self, of_blocks: list[int]) -> list[int]:
        """The rows of each rank."""
        lengths = [0] * self._comm.size
        for source, length in zip(self.sources, of_blocks):
            lengths[source.rank] += length
        return lengths

    # Rank 0: an engine.

    def workers(self) -> list[int]:
        return sorted({source.rank for source in self.sources})

    def homes(self, sources: list[Any]) -> list[int]:
        return [_own(source).rank for source in sources]

    def load(self, placed: list[tuple[int, dict[int, Any]]]) -> list[_Handle]:
        self._count += 1
        found = self._round({rank: _Order("load", self._count, (sources,)) for rank, sources in placed}, [])
        return [_Handle(rank, self._count, found[rank]) for rank, _ in placed]

    def call(self, method: str, what: str, calls: list[tuple[_Handle, tuple]]) -> list[Any]:
        """What each shard answers; every rank has one."""
        listed = [arguments[0] if method == "call" else [] for _, arguments in calls]
        times = Counter(id(message) for told in listed for message in told)
        large = [message for told in listed for message in told if times[id(message)] > 1 and len(message) >= LARGE]
        messages = {id(message): message for message in large}
        place = {known: at for at, known in enumerate(messages)}
        orders = {}
        for (shard, arguments), told in zip(calls, listed):
            if told:
                # What is long and told to several ranks goes out once.
                arguments = ([place.get(id(message), message) for message in told], *arguments[1:])
            orders[shard.worker] = _Order(method, shard.token, arguments)
        answers = self._round(orders, list(messages.values()))
        return [answers[shard.worker] for shard, _ in calls]

    def release(self, shards: list[_Handle]) -> None:
        # This may come at any time, from the collector of garbage: the ranks hear of it with the next order.
        for shard in shards:
            self._gone.setdefault(shard.worker, []).append(shard.token)

    def _round(self, orders: dict[int, _Order], shared: list[bytes]) -> dict[int, Any]:
        """What ranks answer: the others are asked first, and this one works while they do."""
        with _undisturbed() as interrupted:
            for rank, order in orders.items():
                orders[rank] = order._replace(shared=bool(shared), gone=tuple(self._gone.pop(rank, ())))
            for rank in range(1, self._comm.size):
                if rank in orders or shared:
                    self._comm.send(orders.get(rank, _Order("", shared=True)), rank)
            if shared:
                self._comm.bcast(shared)
            answers = {0: self._done(orders[0], shared)} if 0 in orders else {}
            answers |= {rank: _tried(lambda: _received(self._comm, rank)) for rank in orders if rank != 0}  # noqa: B023
        if interrupted:
            raise KeyboardInterrupt
        return {rank: _result(answers[rank]) for rank in sorted(answers)}

    def led(self, work: Callable[[], tuple[dict[str, Any], BaseException | None]]) -> tuple[dict[str, Any], Any]:
        """Rank 0: do the work, and tell the others how it ended."""
        try:
            state, failed = work()
        except BaseException as error:
            state, failed = {}, error
        with _undisturbed() as interrupted:
            told: Any = None if failed is None else _portable(failed)
            try:
                outcome = pickle.dumps((state, told))
            except Exception as error:
                failed = failed or KatomsError(f"what the fit found cannot be sent to the other ranks: {error}")
                outcome = pickle.dumps(({}, _portable(failed)))
            for rank in range(1, self._comm.size):
                self._comm.send(_Order("end", shared=True), rank)
            self._comm.bcast(outcome)
            self._close()
        return state, failed or (KeyboardInterrupt() if interrupted else None)

    # The other ranks.

    def served(self) -> tuple[dict[str, Any], BaseException | None]:
        """Answer to rank 0, until it tells how the fit ended."""
        with _undisturbed() as interrupted:
            while True:
                order = _received(self._comm, 0)
                shared: Any = self._comm.bcast(None) if order.shared else []
                if order.method == "end":
                    break
                if order.method:
                    answer = self._done(order, shared)
                    self._comm.send(_Failed(KeyboardInterrupt()) if interrupted else answer, 0)
            self._close()
        state, failed = pickle.loads(shared)
        return state, failed or (KeyboardInterrupt() if interrupted else None)

    def _done(self, order: _Order, shared: list[bytes]) -> Any:
        """What this rank answers to an order."""

        def answer() -> Any:
            for token in order.gone:
                self._shards.pop(token).close()
            if order.method != "load":
                arguments = [
                    [shared[one] if isinstance(one, int) else one for one in argument] if at == 0 else argument
                    for at, argument in enumerate(order.arguments)
                ]
                return getattr(self._shards[order.token], order.method)(*arguments)
            sources = {block: self._filled(source) for block, source in order.arguments[0].items()}
            where = f"rank {self._comm.rank} ({self._machine})"
            self._shards[order.token] = Shard(sources, self._threads, where)
            return self._shards[order.token].about()

        return _tried(answer)

    def _filled(self, source: Any) -> Any:
        if isinstance(source, Filled):
            return source._replace(source=self._filled(source.source))
        return self._blocks[source.place]

    def _close(self) -> None:
        for shard in self._shards.values():
            shard.close()
        self._shards = {}
        self._comm.Free()


def _own(source: Any) -> _Own:
    return _own(source.source) if isinstance(source, Filled) else source


def _threads(n_jobs: Any) -> int | None:
    """The threads that were asked for; None: nobody did. The library of MPI has to know that there are several."""
    from mpi4py import MPI

    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise InvalidInputError(
            "MPI was started for one thread alone, but a fit works on another one than the script; leave mpi4py.rc.thread_level "
            "as it is, or set it to 'serialized' or 'multiple' before mpi4py.MPI is imported"
        )
    if n_jobs is not None:
        return threads_of(n_jobs)
    listed = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(listed) if listed.isdigit() and int(listed) > 0 else None


def _received(comm: Any, rank: int) -> Any:
    """The next message of a rank. Those who wait leave their cores to those who work."""
    nap = 0.0
    while not comm.iprobe(rank):
        time.sleep(nap)
        nap = min(NAP, 2 * nap + 1e-5)
    return comm.recv(None, rank)


@contextlib.contextmanager
def _undisturbed() -> Iterator[list[int]]:
    """Ctrl-C is noted, and nothing is cut off in the middle of a message."""
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
