"""Fits on Ray: datasets, objects and files whose blocks stay with actors of a cluster.

The estimators are those of :mod:`katoms`, and take a Ray Dataset, whose blocks are ranges of rows, in the place of an array.
:func:`blocks` makes ready once what several fits shall share, leaves the target out of the features, and takes objects of
Ray's store and files that the actors open by themselves; :func:`column` brings the target here, and :func:`predict` gives
predictions that stay with the cluster.

The actors reserve no CPU, so tasks that give blocks, now or anew where they were lost, never wait for them. They end with the
last matrix that they hold a block of.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from katoms._columns import numbers_in
from katoms._parameters import whole_of
from katoms.classification import SparseClassifier, SparseClassifierCV
from katoms.distributed import About, Blocks, File, Filled, Lost, Narrow, Shard, files, used_by
from katoms.exceptions import InvalidInputError, WorkersLostError
from katoms.regression import SparseRegressor, SparseRegressorCV
from katoms.survival import SparseCox, SparseCoxCV

__all__ = [
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseCox",
    "SparseCoxCV",
    "SparseRegressor",
    "SparseRegressorCV",
    "blocks",
    "column",
    "predict",
]

#: Seconds that an actor may take to start.
START = 60.0
#: Messages of at least so many bytes go to several actors by Ray's store: once for each machine.
LARGE = 100_000


def blocks(
    X: Any, *, axis: str | None = None, target: Any = (), workers: int | None = None, num_cpus: int | None = None
) -> Blocks:
    """A matrix whose blocks stay with actors of a Ray cluster.

    Parameters
    ----------
    X : ray.data.Dataset, list of ObjectRef, or list of paths
        The columns of a dataset are the features, or its only column of tensors has them all. Objects are arrays, sparse
        matrices of SciPy or frames. Files are ``.npy``, ``.npz`` and ``.parquet``, and every machine must see them. A list
        of lists has a row of blocks in each.
    axis : {"columns", "rows"}, optional
        What each of a list of objects or files holds some of.
    target : str or list of str, optional
        The columns of a dataset that are no features: the target, and such as weights. :func:`column` brings them here.
    workers : int, optional
        The number of actors; by default one for each CPU, but never more than blocks. Matrices that live at the same time
        share actors.
    num_cpus : int, optional
        The number of threads of each actor; by default they share the CPUs of the cluster. None is reserved.

    Returns
    -------
    Blocks
        What every estimator takes in the place of X. The actors hold the blocks as long as it lives.
    """
    if isinstance(X, Blocks):
        return X
    import ray

    for number, what in ((workers, "workers"), (num_cpus, "num_cpus")):
        if number is not None:
            whole_of(number, what, 1)
    if not ray.is_initialized():
        ray.init()
    left_out = (target,) if isinstance(target, str) else tuple(target)
    if hasattr(X, "iter_internal_ref_bundles"):
        sources: list[Any] = [_Rows(ref, left_out) for ref in _references(X)]
        grid = (len(sources), 1)
    elif not isinstance(X, (list, tuple)):
        raise InvalidInputError(
            f"a {type(X).__name__} is no matrix in blocks; give a Ray Dataset, or a list of objects or files"
        )
    elif left_out:
        raise InvalidInputError("target goes with a Ray Dataset; leave the target out of objects and files")
    else:
        sources, grid = files(X, axis, lambda of: _Object(of) if isinstance(of, ray.ObjectRef) else File(os.fspath(of)))
    return Blocks(_engine(workers, num_cpus, len(sources)), sources, grid)


def column(dataset: Any, name: str) -> np.ndarray:
    """A column of a Ray Dataset, such as the target, in the order of the rows that :func:`blocks` has.

    A dataset that is computed anew may come in another order: this one and :func:`blocks` compute it once, and keep its
    blocks in Ray's store as long as the dataset lives.
    """
    import ray

    read = ray.remote(num_cpus=0)(_column).options(name="katoms.column")
    return np.concatenate([_got(read.remote(ref, name)) for ref in _references(dataset)])


def predict(model: Any, dataset: Any, *, method: str = "predict", keep: Sequence[str] = ()) -> Any:
    """Predictions for each row of a Ray Dataset. They are made where the rows are, when they are asked for.

    Parameters
    ----------
    model : fitted estimator of katoms
    dataset : ray.data.Dataset
        Only the columns of the model are read.
    method : str, optional
        What predicts, such as ``"predict_proba"``.
    keep : list of str, optional
        Columns that go along, such as a key: Ray does not promise the order of rows.

    Returns
    -------
    ray.data.Dataset
        As yet not computed, with the columns of ``keep``, and ``prediction``.
    """
    model._check_fitted()
    listed = [name for name in dataset.columns() if name not in keep]
    loaded = getattr(model, "_loaded", None)
    if loaded is not None and loaded.unnamed is None:
        needed = loaded.columns
    elif hasattr(model, "feature_names_in_"):
        needed = [str(model.feature_names_in_[at]) for at in used_by(model)]
    elif len(listed) == 1 or loaded is not None:
        needed = listed
    else:
        if len(listed) != model.n_features_in_:
            raise InvalidInputError(
                f"the dataset has {len(listed)} columns beside those to keep; the model needs {model.n_features_in_}"
            )
        needed = [listed[at] for at in used_by(model)]
    absent = [name for name in [*needed, *keep] if name not in [*listed, *keep]]
    if absent:
        raise InvalidInputError(f"the dataset lacks {', '.join(map(repr, absent[:5]))}, which the model needs")
    # Without a column there would be no rows to count.
    read = list(dict.fromkeys([*needed, *keep])) or listed[:1]
    predictor = functools.partial(_predicted, model, method, needed, list(keep))
    return dataset.select_columns(read).map_batches(predictor, batch_format="numpy", batch_size=None)


# What a worker does with a dataset.


class _Object(NamedTuple):
    """A block in Ray's store: an array, a sparse matrix or a frame."""

    ref: Any

    def load(self) -> Any:
        import ray

        try:
            return ray.get(self.ref)
        except ray.exceptions.RayTaskError as error:
            raise InvalidInputError(f"the task that should give it failed: {error.cause!r}") from None
        except ray.exceptions.RayError as error:
            raise InvalidInputError(
                f"Ray has lost the object and cannot make it anew ({type(error).__name__}); make it by a task, not by ray.put, "
                "or write files"
            ) from None


class _Rows(NamedTuple):
    """A block of a dataset, without some of its columns."""

    ref: Any
    left_out: tuple[str, ...]

    def load(self) -> Any:
        from ray.data.block import BlockAccessor

        block: Any = BlockAccessor.for_block(_Object(self.ref).load())
        names = block.column_names()
        _check_named(self.left_out, names)
        names = [name for name in names if name not in self.left_out]
        if len(names) == 1 and np.ndim(values := block.to_numpy(names[0])) == 2:
            return values
        return BlockAccessor.for_block(block.select(names)).to_pandas()


def _check_named(wanted: Sequence[str], names: list[str]) -> None:
    absent = [name for name in wanted if name not in names]
    if absent:
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise InvalidInputError(f"there is no column {absent[0]!r} in the dataset, which has {some}")


def _column(block: Any, name: str) -> np.ndarray:
    from ray.data.block import BlockAccessor

    accessor: Any = BlockAccessor.for_block(block)
    _check_named([name], accessor.column_names())
    return np.asarray(accessor.to_numpy(name))


#: The blocks of datasets that were computed here.
_computed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _references(dataset: Any) -> list[Any]:
    """The blocks of a dataset that have rows."""
    if dataset not in _computed:
        is_there = type(dataset).__name__ == "MaterializedDataset"
        bundles = list((dataset if is_there else dataset.materialize()).iter_internal_ref_bundles())
        known = [(ref, about.num_rows) for bundle in bundles for ref, about in zip(bundle.block_refs, bundle.metadata)]
        _computed[dataset] = [ref for ref, rows in known if rows != 0]
    if not _computed[dataset]:
        raise InvalidInputError("the dataset has no rows")
    return _computed[dataset]


def _predicted(
    model: Any, method: str, needed: list[str], keep: list[str], batch: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    rows = len(next(iter(batch.values())))
    X = _features(model, needed, {name: np.asarray(batch[name]) for name in needed}, rows)
    found = getattr(model, method)(X) if rows > 0 else np.zeros(0)
    return {**{name: batch[name] for name in keep}, "prediction": found}


def _features(model: Any, needed: list[str], given: dict[str, np.ndarray], rows: int) -> Any:
    """The columns of a model, as it takes them."""
    if hasattr(model, "_loaded"):
        import pandas

        columns = [given[name] for name in needed]
        return columns[0] if len(needed) == 1 and columns[0].ndim == 2 else pandas.DataFrame(given)
    places, count = used_by(model), model.n_features_in_
    if len(needed) == 1 and given[needed[0]].ndim == 2:
        values = given[needed[0]]
        if values.shape[1] != count:
            raise InvalidInputError(
                f"column {needed[0]!r} has {values.shape[1]} numbers a row; the model needs {count}"
            )
        values = values[:, places]
    else:
        values = np.empty((rows, len(needed)), order="F")
        for at, name in enumerate(needed):
            numbers = numbers_in(given[name])
            if numbers is None:
                raise InvalidInputError(f"column {name!r} holds what is no number")
            values[:, at] = numbers
    return Narrow(values, places, count, getattr(model, "feature_names_in_", None))


# Actors.


class KatomsActor:
    """Shards in a process of their own."""

    def __init__(self, place: int, n_jobs: int):
        self._place, self._n_jobs = place, n_jobs
        self._shards: dict[str, Shard] = {}

    def __repr__(self) -> str:
        return f"katoms actor {self._place}"

    def node(self) -> str:
        """The machine that this runs on."""
        import ray

        return ray.get_runtime_context().get_node_id()

    def load(self, token: str, sources: dict[int, Any]) -> dict[int, About]:
        """Take blocks."""
        import ray

        self._shards[token] = Shard(sources, self._n_jobs, f"{self!r} ({ray.util.get_node_ip_address()})")
        return self._shards[token].about()

    def call(self, token: str, method: str, arguments: tuple) -> Any:
        """Call a method of a shard."""
        import ray

        arguments = tuple(
            [ray.get(one) if isinstance(one, ray.ObjectRef) else one for one in argument]
            if isinstance(argument, list)
            else argument
            for argument in arguments
        )
        return getattr(self._shards[token], method)(*arguments)

    def release(self, token: str) -> None:
        """Let blocks go."""
        shard = self._shards.pop(token, None)
        if shard is not None:
            shard.close()


class _Handle(NamedTuple):
    """A shard of an actor."""

    worker: int
    actor: Any
    token: str
    about: dict[int, About]


class _Engine:
    """Actors, started where there are blocks to load and none of this number lives."""

    def __init__(self, session: str, wanted: tuple[int | None, int | None], count: int, cpus: int):
        self.session, self.wanted, self._cpus = session, wanted, cpus
        self._actors: dict[int, Any] = dict.fromkeys(range(count))
        self._nodes: dict[int, str] = {}
        self._tokens: dict[int, set[str]] = {place: set() for place in range(count)}

    @property
    def is_busy(self) -> bool:
        """Whether there are blocks with the actors."""
        return any(self._tokens.values())

    def workers(self) -> list[int]:
        why = self._start([place for place, actor in self._actors.items() if actor is None])
        if not self._actors:
            raise WorkersLostError(why)
        return list(self._actors)

    def _start(self, places: list[int]) -> str:
        """Start actors, on each machine by its CPUs; those that Ray cannot start are given up."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if not places:
            return ""
        machines = _machines()
        given = Counter(self._nodes[place] for place, actor in self._actors.items() if actor is not None)
        kind: Any = ray.remote(KatomsActor)
        starting: dict[Any, tuple[int, Any]] = {}
        for place in places:
            node = min(machines, key=lambda node: (given[node] + 1) / machines[node])
            given[node] += 1
            near = NodeAffinitySchedulingStrategy(node, soft=True)
            actor: Any = kind.options(num_cpus=0, scheduling_strategy=near).remote(place, self._cpus)
            starting[actor.node.options(name="katoms.start").remote()] = place, actor
        since, why = time.monotonic(), ""
        while starting and time.monotonic() - since < START:
            for answer in ray.wait(list(starting), timeout=0.5)[0]:
                place, actor = starting.pop(answer)
                since = time.monotonic()
                try:
                    self._nodes[place], self._actors[place] = _got(answer), actor
                except Exception as error:
                    why = f"Ray cannot start an actor for katoms: {error}"
                    del self._actors[place]
        for place, actor in starting.values():
            ray.kill(actor)
            del self._actors[place]
        if starting and not why:
            why = f"Ray started no actor within {START:g} s; see its logs or its dashboard, and fit again"
        return why

    def homes(self, sources: list[Any]) -> list[int | None]:
        """An actor on the machine that has the data; one that has its share already gets no more."""
        import ray

        refs = [_reference(source) for source in sources]
        homes: list[int | None] = [None] * len(sources)
        if len({self._nodes[place] for place in self._actors}) < 2 or not any(refs):
            return homes
        where = ray.experimental.get_object_locations([ref for ref in refs if ref is not None])
        given: Counter[int] = Counter()
        for at, ref in enumerate(refs):
            near = [place for place in self._actors if self._nodes[place] in where.get(ref, {}).get("node_ids", ())]
            near = [place for place in near if given[place] < -(-len(sources) // len(self._actors))]
            if near:
                home = homes[at] = min(near, key=lambda place: given[place])
                given[home] += 1
        return homes

    def load(self, placed: list[tuple[int, dict[int, Any]]]) -> list[Any]:
        actors = [self._actors[place] for place, _ in placed]
        tokens = [uuid.uuid4().hex for _ in placed]
        for (place, _), token in zip(placed, tokens):
            self._tokens[place].add(token)
        answers = [
            _asked(actor, "load", "load", token, sources) for actor, token, (_, sources) in zip(actors, tokens, placed)
        ]
        try:
            found = self._answers([(place, actor) for (place, _), actor in zip(placed, actors)], answers)
        except BaseException:
            self.release([_Handle(place, actor, token, {}) for (place, _), actor, token in zip(placed, actors, tokens)])
            raise
        return [
            about if isinstance(about, Lost) else _Handle(place, actor, token, about)
            for (place, _), actor, token, about in zip(placed, actors, tokens, found)
        ]

    def call(self, method: str, what: str, calls: list[tuple[_Handle, tuple]]) -> list[Any]:
        stored = _stored([one for _, arguments in calls if method == "call" for one in arguments[0]])
        answers = []
        for shard, arguments in calls:
            if method == "call":
                arguments = ([stored.get(id(one), one) for one in arguments[0]], *arguments[1:])
            answers.append(_asked(shard.actor, "call", what, shard.token, method, arguments))
        return self._answers([(shard.worker, shard.actor) for shard, _ in calls], answers)

    def _answers(self, actors: list[tuple[int, Any]], answers: list[Any]) -> list[Any]:
        """What actors answer, or Lost."""
        import ray

        found: list[Any] = []
        failed: BaseException | None = None
        for (place, actor), answer in zip(actors, answers):
            try:
                found.append(answer if isinstance(answer, Lost) else _got(answer))
            except (
                ray.exceptions.RayActorError,
                ray.exceptions.NodeDiedError,
                ray.exceptions.OutOfMemoryError,
            ) as error:
                found.append(Lost(f"actor {place} is gone: {str(error).strip().splitlines()[0]}"))
            except Exception as error:
                # The others are waited for as well, so that nobody is at work any more.
                failed = failed or error
                found.append(None)
            if isinstance(found[-1], Lost) and place in self._actors and self._actors[place] is actor:
                ray.kill(actor)
                self._actors[place], self._tokens[place] = None, set()
        if failed is not None:
            try:
                raise failed
            finally:
                del failed
        return found

    def release(self, shards: list[_Handle]) -> None:
        with contextlib.suppress(Exception):  # the cluster may be gone, and the blocks with it
            import ray

            for place, actor, token, _ in shards:
                tokens = self._tokens.get(place, set())
                if token not in tokens or not ray.is_initialized():
                    continue  # the actor is gone
                tokens.discard(token)
                if tokens:
                    actor.release.options(name="katoms.release").remote(token)
                else:
                    self._actors[place] = None
                    ray.kill(actor)


#: Those that matrices live with.
_engines: weakref.WeakSet[_Engine] = weakref.WeakSet()


def _engine(workers: int | None, num_cpus: int | None, count: int) -> _Engine:
    """The actors of another matrix, where they are such as are wanted, or new ones."""
    import ray

    context, wanted = ray.get_runtime_context(), (workers, num_cpus)
    session = f"{context.gcs_address} {context.get_job_id()}"
    for known in _engines:
        if known.session == session and known.is_busy and wanted in ((None, None), known.wanted):
            return known
    nodes = list(_machines().values())
    if num_cpus is not None and num_cpus > max(nodes):
        raise InvalidInputError(f"num_cpus is {num_cpus}, but no machine of the Ray cluster has more than {max(nodes)}")
    count = min(workers or sum(nodes), count, sum(node // (num_cpus or 1) for node in nodes))
    # An actor does not reach beyond its machine.
    fitting = (cpus for cpus in range(max(nodes), 0, -1) if sum(node // cpus for node in nodes) >= count)
    engine = _Engine(session, wanted, count, num_cpus or next(fitting))
    _engines.add(engine)
    return engine


def _machines() -> dict[str, int]:
    """The CPUs of the machines that live and have some, always in the same order."""
    import ray

    cpus = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]}
    machines = {node: cpus[node] for node in sorted(cpus) if cpus[node] > 0}
    if not machines:
        raise WorkersLostError("the Ray cluster has no machine with a CPU; add one and fit again")
    return machines


def _asked(actor: Any, method: str, what: str, *arguments: Any) -> Any:
    """The answer to come, or Lost."""
    import ray

    try:
        return getattr(actor, method).options(name=f"katoms.{what}").remote(*arguments)
    except ray.exceptions.RayActorError as error:
        return Lost(f"an actor is gone: {error}")


def _got(answer: Any) -> Any:
    """What a task gives; what it raises comes as it was raised."""
    import ray

    try:
        return ray.get(answer)
    except ray.exceptions.RayError as error:
        # Ray's frames know the error, and the error the frames: without them it keeps no matrix alive, and no actor.
        error.__traceback__ = None
        cause = getattr(error, "cause", None)
        failed = cause if isinstance(cause, Exception) else error
    try:
        raise failed
    finally:
        del failed


def _stored(messages: list[bytes]) -> dict[int, Any]:
    """Those of the messages that are large and go to several actors, in Ray's store."""
    import ray

    times = Counter(map(id, messages))
    return {id(one): ray.put(one) for one in messages if times[id(one)] > 1 and len(one) >= LARGE}


def _reference(source: Any) -> Any:
    while isinstance(source, Filled):
        source = source.source
    return getattr(source, "ref", None)
