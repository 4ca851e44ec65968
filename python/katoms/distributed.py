"""Data that live with workers: what :mod:`katoms.dask`, :mod:`katoms.ray` and :mod:`katoms.mpi` have in common.

A matrix is cut into blocks. Each worker holds some of them as ordinary arrays and multiplies; the driver, where ``fit`` was
called, owns the method and all of its state. Residuals go out, products and the columns of candidates come back, and what
the blocks reply is added up by the numbers of the blocks: an answer does not depend on how many workers there are, on who
answers first, or on whether one was lost on the way.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import mmap
import os
import queue
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from katoms import _katoms
from katoms._card import stay_on_host
from katoms._columns import lives_on_dask
from katoms._data import design_of
from katoms._design import Design
from katoms.exceptions import InvalidInputError, WorkersLostError

__all__ = ["Blocks", "Engine", "File", "Lost", "Shard", "Source", "WorkersLostError", "files"]

#: How often a block may be lost with its worker, one time after the other, before it is given up.
MOST_LOSSES = 4
#: Seconds to wait for a worker where there is none.
PATIENCE = 5.0


class Source(Protocol):
    """Where a worker gets a block from. It travels to the worker, and to another one where the first is lost."""

    def load(self) -> Any:
        """The block: an array, a sparse matrix of SciPy, or a frame."""


class File(NamedTuple):
    """A block in a file that each worker can open: ``.npy``, which is memory-mapped; ``.npz`` of an array or of
    ``scipy.sparse.save_npz``; ``.parquet``, where pandas or polars is installed."""

    path: str

    def load(self) -> Any:
        """The block."""
        if not os.path.exists(self.path):
            raise InvalidInputError(f"there is no file {self.path} on this worker; every worker needs to see it")
        ending = os.path.splitext(self.path)[1].lower()
        if ending == ".npy":
            return np.load(self.path, mmap_mode="r", allow_pickle=False)
        if ending == ".npz":
            with np.load(self.path, allow_pickle=False) as arrays:
                if "indptr" not in arrays:
                    return arrays[arrays.files[0]]
            import scipy.sparse

            return scipy.sparse.load_npz(self.path)
        if ending == ".parquet":
            try:
                from pandas import read_parquet
            except ImportError:
                from polars import read_parquet
            return read_parquet(self.path)
        raise InvalidInputError(f"{self.path} is no block that katoms can open; write .npy, .npz or .parquet")


class Filled(NamedTuple):
    """A block with means in the place of missing values."""

    source: Any
    means: np.ndarray

    def load(self) -> Any:
        """The block."""
        values = _loaded(self.source)
        values = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
        return (
            np.where(np.isnan(values), self.means.astype(values.dtype), values) if values.dtype.kind == "f" else values
        )


def _loaded(source: Any) -> Any:
    return source.load() if hasattr(source, "load") else source


class About(NamedTuple):
    """What a worker tells of a block before it is read."""

    shape: tuple[int, int]
    dtype: str
    names: list[str] | None


#: The shards of this process.
_living: weakref.WeakSet[Shard] = weakref.WeakSet()


@atexit.register
def _end_threads() -> None:
    """A thread that came back from the kernels while the interpreter ends would take the process down."""
    for shard in list(_living):
        shard.close()
        shard._thread.join()


#: Seconds between two looks at the memory of a process that reads mapped files.
GLANCE = 0.01


class _Pages:
    """Where a process may hold so much memory: while it works, lets go of pages of mapped files that it has read. They are in
    nobody's way, but those who count what a process holds (Dask's nannies do) count them."""

    def __init__(self, limit: int | None):
        self._limit, self._maps = limit, list[Any]()
        self._turns: threading.Event | None = None

    def add(self, values: Any) -> None:
        """Watch over an array, where it is mapped."""
        mapped = getattr(values, "_mmap", None)
        if self._limit and hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
            self._maps.append(mapped)

    def clear(self) -> None:
        """Watch over nothing any more."""
        self._maps = []

    def __enter__(self) -> None:
        if self._maps:
            self._turns = threading.Event()
            threading.Thread(target=self._watch, args=(self._turns,), daemon=True, name="katoms-pages").start()

    def __exit__(self, *_: Any) -> None:
        if self._turns is not None:
            self._turns.set()
            self._turns = None

    def _watch(self, is_over: threading.Event) -> None:
        try:
            import psutil
        except ImportError:
            return
        process, limit = psutil.Process(), float(self._limit or 0)
        while not is_over.wait(GLANCE):
            held = process.memory_info()
            of_files = getattr(held, "shared", held.rss)
            # Dask speaks up at 70 % of the limit; what is held besides leaves room for some pages at least.
            if of_files > max(0.6 * limit - (held.rss - of_files), 0.1 * limit):
                for mapped in self._maps:
                    mapped.madvise(mmap.MADV_DONTNEED)


class Shard:
    """Blocks on a worker, and the thread that multiplies them. Its process may hold ``memory`` bytes, where that is known."""

    def __init__(self, sources: dict[int, Any], n_jobs: int | None = None, where: str = "", memory: int | None = None):
        self._pages = _Pages(memory)
        self._designs = {block: self._design(block, source, where, self._pages) for block, source in sources.items()}
        self._asked: queue.SimpleQueue = queue.SimpleQueue()
        self._told: queue.SimpleQueue = queue.SimpleQueue()
        self._turn = threading.Lock()
        self._thread = threading.Thread(target=self._serve, args=(n_jobs,), daemon=True, name="katoms")
        self._thread.start()
        _living.add(self)

    @staticmethod
    def _design(block: int, source: Any, where: str, pages: _Pages | None = None) -> Design:
        """A block as the kernels read it. What is wrong with it is told with its number, its file and its worker."""
        of = f"block {block}" + (f" on {where}" if where else "")
        try:
            values = _loaded(source)
            if pages is not None:
                pages.add(values)
            stay_on_host(values, "the array")
            return design_of(values)
        except MemoryError as error:
            raise MemoryError(f"{of} does not fit into memory ({error}); use smaller blocks or more workers") from None
        except (ValueError, TypeError, OSError) as error:
            raise InvalidInputError(f"{of}: {error}") from None

    def about(self) -> dict[int, About]:
        """What there is to know of the blocks."""
        return {block: _about(design) for block, design in self._designs.items()}

    def call(self, messages: Sequence[bytes], tasks: Sequence[tuple[int, int]]) -> list[bytes]:
        """The replies of the kernels to messages of the driver: one for each pair of a block and a message."""
        with self._turn, self._pages:
            self._asked.put((list(messages), list(tasks)))
            replies = self._told.get()
        if isinstance(replies, BaseException):
            raise replies
        return replies

    def missing(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Of each column of each block: how many values are missing, and the sum of the others."""
        with self._pages:
            return {block: _missing(design) for block, design in self._designs.items()}

    def close(self) -> None:
        """End the thread, and let the blocks go."""
        self._asked.put(None)
        self._designs = {}
        self._pages.clear()

    def _serve(self, n_jobs: int | None) -> None:
        def exchange(replies: list[bytes] | None) -> Any:
            if replies is not None:
                self._told.put(replies)
            return self._asked.get()

        try:
            _katoms.serve([(block, design.matrix) for block, design in self._designs.items()], exchange, n_jobs)
        except BaseException as error:
            self._told.put(error)
            while self._asked.get() is not None:
                self._told.put(error)


def _about(design: Design) -> About:
    matrix = design.matrix
    dtype = "sparse" if isinstance(matrix, tuple) else str(matrix.dtype)
    return About(design.shape, dtype, None if design.names is None else [str(name) for name in design.names])


def _missing(design: Design) -> tuple[np.ndarray, np.ndarray]:
    counts, _, means = _katoms.missing(design.matrix, None)
    present = design.shape[0] - counts
    return counts, np.where(present > 0, means * present, 0.0)


class Lost(NamedTuple):
    """A worker that is gone, and why; or one that lives, but what its blocks are computed from is gone."""

    reason: str
    inputs_gone: bool = False


class Engine(Protocol):
    """What starts shards on workers and carries messages to them: a cluster."""

    def workers(self) -> list[Any]:
        """The workers that live, always in the same order."""

    def homes(self, sources: list[Any]) -> list[Any]:
        """The worker that has the data of each source already, or None."""

    def load(self, placed: list[tuple[Any, dict[int, Any]]]) -> list[Any]:
        """A shard on each worker with these sources, or :class:`Lost`; each has the blocks' :class:`About` as ``about``."""

    def call(self, method: str, what: str, calls: list[tuple[Any, tuple]]) -> list[Any]:
        """What a method of :class:`Shard` gives for these arguments on each shard, all at once, or :class:`Lost`."""

    def release(self, shards: list[Any]) -> None:
        """Let shards go. Never fails."""


class Blocks:
    """A matrix in blocks that live with workers: estimators take it in the place of an array.

    Parameters
    ----------
    engine : Engine
    sources : list
        Where the blocks come from, row by row of the grid.
    grid : (int, int)
        The number of blocks down and across.
    names : list of str, optional
        The names of the columns; where the blocks are frames, they have them.

    Attributes
    ----------
    shape : (int, int)
    trips : Counter
        How often the driver asked the workers, by what it asked for. ``bytes_sent`` and ``bytes_received`` count what went
        over the network.
    losses : list of str
        The workers that were lost, and why.
    """

    #: Estimators ask for an array in vain.
    ndim = 2

    def __init__(self, engine: Engine, sources: Sequence[Any], grid: tuple[int, int], names: Any = None):
        if len(sources) == 0 or len(sources) != grid[0] * grid[1]:
            raise InvalidInputError(f"there are {len(sources)} blocks; a grid of {grid[0]} by {grid[1]} needs as many")
        self._engine, self._sources, self._grid = engine, list(sources), grid
        self.trips: Counter[str] = Counter()
        self.bytes_sent = self.bytes_received = 0
        self.losses: list[str] = []
        self._reads: dict[int, bytes] = {}
        self._products: tuple[bytes, list[bytes]] | None = None
        self._failures = dict.fromkeys(range(len(sources)), 0)
        self._shards: list[Any] = []
        self._home: dict[int, Any] = {}
        self._about: dict[int, About] = {}
        try:
            self._place(list(range(len(sources))))
            self.row_lengths, self.column_lengths = self._lengths()
            self.shape = (sum(self.row_lengths), sum(self.column_lengths))
            self.names = np.array(names, dtype=object) if names is not None else self._names()
        except BaseException:
            # Whoever looks at the error keeps this object, but not what the workers hold.
            self.close()
            raise
        self.dtype = np.dtype(np.float32 if self._about[0].dtype == "float32" else np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Blocks({rows} x {columns}, {self._grid[0]} x {self._grid[1]} blocks, {len(self._shards)} shards)"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("this matrix lives with workers and is not brought here; give what it is for to an estimator")

    def __katoms_design__(self) -> Design:
        return Design(self, self.shape, self.names, self.dtype.type)

    @property
    def round_trips(self) -> int:
        """How often the driver asked the workers."""
        return sum(self.trips.values())

    def close(self) -> None:
        """Let the workers forget the blocks. Happens by itself where nobody holds this object any more."""
        shards, self._shards, self._home = self._shards, [], {}
        self._engine.release(shards)

    def __del__(self) -> None:
        if getattr(self, "_shards", None):
            self.close()

    # The way of a message.

    def ask(self, what: str, messages: Sequence[bytes], tasks: Sequence[tuple[int, int]]) -> list[bytes]:
        """One round trip: the replies of some blocks to messages. What a lost worker held is rebuilt by others, and asked
        again."""
        if what == "read":
            self._reads.update({block: messages[at] for block, at in tasks})
        if what == "cross-products":
            # One job after the other asks for these: a fit, and what is said of its sizes.
            asked = hashlib.blake2b(b"".join(messages)).digest()
            if self._products is None or self._products[0] != asked:
                self._products = (asked, self._told(what, messages, tasks))
            return self._products[1]
        return self._told(what, messages, tasks)

    def _told(self, what: str, messages: Sequence[bytes], tasks: Sequence[tuple[int, int]]) -> list[bytes]:
        self.trips[what] += 1
        replies: dict[int, bytes] = {}
        self._asked(what, messages, dict(tasks), replies)
        return [replies[block] for block, _ in tasks]

    def _asked(self, what: str, messages: Sequence[bytes], left: dict[int, int], replies: dict[int, bytes]) -> None:
        while left:
            self._place([block for block in left if block not in self._home])
            calls, asked = [], []
            for shard in self._shards:
                own = [block for block in shard.about if block in left]
                if own:
                    used = sorted({left[block] for block in own})
                    told = [messages[at] for at in used]
                    self.bytes_sent += sum(map(len, told))
                    asked.append((shard, own))
                    calls.append((shard, (told, [(block, used.index(left[block])) for block in own])))
            answers = self._engine.call("call", what, calls)
            for (shard, own), answer in zip(asked, answers):
                if isinstance(answer, Lost):
                    self._lose(shard, answer)
                    continue
                self.bytes_received += sum(map(len, answer))
                for block, reply in zip(own, answer):
                    replies[block] = reply
                    self._failures[block] = 0
                    del left[block]

    def _lose(self, shard: Any, lost: Lost) -> None:
        self.losses.append(lost.reason)
        if shard in self._shards:
            self._shards.remove(shard)
            self._engine.release([shard])
        for block in shard.about:
            self._home.pop(block, None)
        self._failed(list(shard.about), lost)

    def _failed(self, blocks: list[int], lost: Lost) -> None:
        for block in blocks:
            # What is gone comes back from nowhere; but a worker may be slow to say that it is well.
            self._failures[block] += MOST_LOSSES // 2 if lost.inputs_gone else 1
        hopeless = [block for block in blocks if self._failures[block] >= MOST_LOSSES]
        if not hopeless:
            return
        one = len(hopeless) == 1
        listed = ("block " if one else "blocks ") + ", ".join(map(str, hopeless[:10]))
        listed += ", ..." if len(hopeless) > 10 else ""
        if lost.inputs_gone:
            raise WorkersLostError(
                f"{listed} cannot be had again: what {'it is' if one else 'they are'} computed from was only with a worker that "
                f"is gone; give files, or what Dask can compute anew. {RESUME}"
            )
        raise WorkersLostError(
            f"{listed} {'was lost with its' if one else 'were lost with their'} worker {MOST_LOSSES} times in a row (at last: "
            f"{lost.reason}); {'does it' if one else 'do they'} fit into a worker's memory? {RESUME}"
        )

    def _place(self, blocks: list[int]) -> None:
        """Give blocks to workers, those with the least first, and tell them what they were told before."""
        while blocks:
            placed = self._placed(blocks)
            shards = self._engine.load(placed)
            for (_, sources), shard in zip(placed, shards):
                if isinstance(shard, Lost):
                    self.losses.append(shard.reason)
                    self._failed(list(sources), shard)
                    continue
                self._shards.append(shard)
                self._about.update(shard.about)
                self._home.update(dict.fromkeys(shard.about, shard))
            again = [block for block in blocks if block in self._home and block in self._reads]
            if again:
                self._asked("read", [self._reads[block] for block in again], dict(zip(again, range(len(again)))), {})
            blocks = [block for block in blocks if block not in self._home]

    def _placed(self, blocks: list[int]) -> list[tuple[Any, dict[int, Any]]]:
        workers = self._workers()
        load = dict.fromkeys(workers, 0)
        for shard in self._shards:
            if shard.worker in load:
                load[shard.worker] += sum(self._size(block) for block in shard.about)
        homes = self._engine.homes([self._sources[block] for block in blocks])
        placed: dict[Any, dict[int, Any]] = {}
        for at, (block, home) in enumerate(zip(blocks, homes)):
            if home not in load:
                # Neighbours go to one worker, as many to each; what a lost worker had goes to those with the least.
                spread = workers[at * len(workers) // len(blocks)]
                home = min(workers, key=lambda worker: load[worker]) if self._shards else spread
            load[home] += self._size(block)
            placed.setdefault(home, {})[block] = self._sources[block]
        return list(placed.items())

    def _size(self, block: int) -> int:
        about = self._about.get(block)
        return 1 if about is None else about.shape[0] * about.shape[1]

    def _workers(self) -> list[Any]:
        until = time.monotonic() + PATIENCE
        while not (workers := self._engine.workers()):
            if time.monotonic() > until:
                raise WorkersLostError(f"there is no worker left. {RESUME}")
            time.sleep(0.1)
        return workers

    # What the blocks are.

    def _lengths(self) -> tuple[list[int], list[int]]:
        down, across = self._grid
        rows = [self._about[i * across].shape[0] for i in range(down)]
        columns = [self._about[j].shape[1] for j in range(across)]
        first = self._about[0].dtype
        for block, about in sorted(self._about.items()):
            needed = (rows[block // across], columns[block % across])
            if about.shape != needed:
                beside = block // across * across if about.shape[0] != needed[0] else block % across
                raise InvalidInputError(
                    f"block {block}{_of(self._sources[block])} has {about.shape[0]} rows and {about.shape[1]} columns; beside "
                    f"block {beside}{_of(self._sources[beside])} it needs {needed[0]} and {needed[1]}"
                )
            if about.dtype != first:
                raise InvalidInputError(
                    f"block {block}{_of(self._sources[block])} holds {about.dtype} and block 0 {first}; write all blocks in one "
                    "type"
                )
        return rows, columns

    def _names(self) -> np.ndarray | None:
        names = [self._about[j].names for j in range(self._grid[1])]
        if any(own is None for own in names):
            return None
        for block, about in sorted(self._about.items()):
            if about.names != names[block % self._grid[1]]:
                raise InvalidInputError(
                    f"block {block}{_of(self._sources[block])} has other column names than block {block % self._grid[1]}"
                )
        return np.array([name for own in names if own is not None for name in own], dtype=object)

    def missing(self) -> tuple[np.ndarray, np.ndarray]:
        """How many values each column lacks, and the mean of the others; NaN where there are none."""
        across = self._grid[1]
        starts = np.cumsum([0, *self.column_lengths])
        counts, sums = np.zeros(self.shape[1], dtype=np.int64), np.zeros(self.shape[1])
        found: dict[int, Any] = {}
        while len(found) < len(self._sources):
            self._place([block for block in range(len(self._sources)) if block not in self._home])
            shards = [shard for shard in self._shards if not set(shard.about) <= set(found)]
            for shard, answer in zip(
                shards, self._engine.call("missing", "missing", [(shard, ()) for shard in shards])
            ):
                if isinstance(answer, Lost):
                    self._lose(shard, answer)
                else:
                    found.update(answer)
        for block, (count, total) in sorted(found.items()):
            own = slice(starts[block % across], starts[block % across + 1])
            counts[own] += count
            sums[own] += total
        present = self.shape[0] - counts
        return counts, np.where(present > 0, sums / np.maximum(present, 1), np.nan)

    def filled(self, means: np.ndarray) -> Blocks:
        """The same with means in the place of missing values, each block by its worker."""
        starts, across = np.cumsum([0, *self.column_lengths]), self._grid[1]
        own = [slice(starts[block % across], starts[block % across + 1]) for block in range(len(self._sources))]
        sources = [Filled(source, means[part]) for source, part in zip(self._sources, own)]
        return Blocks(self._engine, sources, self._grid, self.names)


RESUME = (
    "The best model so far is kept in the estimator: save it, or fit again with warm_start=True once there are workers"
)


def _of(source: Any) -> str:
    return f" ({source.path})" if isinstance(source, File) else ""


def files(
    paths: Sequence[Any], axis: str | None = None, source: Callable[[Any], Source] | None = None
) -> tuple[list[Any], tuple[int, int]]:
    """The sources and the grid of blocks in files: a list with ``axis`` "columns" or "rows", or a list of lists, a row of
    blocks in each. ``source`` makes a source of what is no path."""
    source = source or (lambda path: File(os.fspath(path)))
    nested = [isinstance(path, (list, tuple)) for path in paths]
    if all(nested) and nested:
        widths = {len(row) for row in paths}
        if len(widths) != 1:
            raise InvalidInputError("lists of blocks differ in length; each row of blocks needs as many")
        return [source(path) for row in paths for path in row], (len(paths), widths.pop())
    if axis not in ("columns", "rows"):
        raise InvalidInputError(
            f"axis is {axis!r}; say whether the blocks hold some of the 'columns' each, or some of the 'rows'"
        )
    sources = [source(path) for path in paths]
    return sources, (1, len(sources)) if axis == "columns" else (len(sources), 1)


class Narrow:
    """A matrix of which only the columns of a model were brought here."""

    def __init__(self, columns: np.ndarray, support: np.ndarray, count: int, names: Any):
        self._columns = np.asfortranarray(columns, dtype=np.float64)
        self._support, self._count, self._names = support, count, names
        self.shape = (self._columns.shape[0], count)

    def __katoms_design__(self) -> Design:
        rows = self._columns.shape[0]
        lengths = np.zeros(self._count + 1, dtype=np.int64)
        lengths[self._support + 1] = rows
        indices = np.tile(np.arange(rows, dtype=np.uint32), len(self._support))
        values = self._columns.ravel(order="F")
        return Design((self.shape, np.cumsum(lengths).astype(np.uintp), indices, values), self.shape, self._names)


def used_by(model: Any) -> np.ndarray:
    """The places of the columns from which a model predicts."""
    # Indicators of missing values stand behind the columns that were given.
    place = np.append(np.arange(model.n_features_in_), getattr(model, "missing_features_", ())).astype(np.int64)
    used = np.append(model.support_, np.ravel(getattr(model, "interactions_", ()))).astype(np.int64)
    return np.unique(place[used])


#: What gives a row for each row of X; and what judges all of them.
_BY_ROWS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
_JUDGES = ("score",)


def stay_lazy(cls: type) -> None:
    """Let the methods of an estimator take collections of Dask: what they give for each row stays where the rows are."""
    for name in (*_BY_ROWS, *_JUDGES):
        if name in vars(cls):
            setattr(cls, name, _lazy(vars(cls)[name], name in _JUDGES))


def _lazy(method: Callable, judges: bool) -> Callable:
    @functools.wraps(method)
    def wrapper(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
        if not lives_on_dask(X):
            return method(self, X, *arguments, **named)
        from katoms import dask

        self._check_fitted()
        if judges:
            return method(self, dask.brought(self, X), *arguments, **named)
        return dask.mapped(method, self, X, *arguments, **named)

    return wrapper
