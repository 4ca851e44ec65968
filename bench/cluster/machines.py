"""Clusters on this machine, and what is counted and measured on them."""

import contextlib
import os
import resource
import statistics
import threading
import time
from collections import Counter, defaultdict

import dask
import numpy as np
from dask.distributed import Client, LocalCluster

import katoms
import katoms.dask

#: Workers are told apart by what they hold alone. Dask counts mapped pages of files, which are no memory in need.
BY_ITSELF = {f"distributed.worker.memory.{what}": False for what in ("target", "spill", "pause", "terminate")}


@contextlib.contextmanager
def cluster(workers, threads, memory_limit=None, config=BY_ITSELF):
    """A client of a cluster of processes."""
    with (
        dask.config.set(config),
        LocalCluster(
            n_workers=workers, threads_per_worker=threads, dashboard_address=":0", memory_limit=memory_limit or 0
        ) as machines,
        Client(machines) as client,
    ):
        yield client


def held_by(client, paths, axis):
    """A design whose blocks are in these files."""
    with client.as_current():
        return katoms.dask.blocks(paths, axis=axis, client=client)


def threads_each(workers, cores):
    """Threads of a worker, where workers share cores."""
    return max(1, cores // workers)


def fit(X, y, k, cores):
    """A fit, and its seconds."""
    clock = time.perf_counter()
    model = katoms.SparseRegressor(k, n_jobs=cores).fit(X, y)
    return model, time.perf_counter() - clock


class Recorder:
    """Counts what a design asks its workers, by what it asks for."""

    def __init__(self, blocks):
        self._blocks, self._ask = blocks, blocks.ask
        blocks.ask = self._recorded
        self.clear()

    def clear(self):
        """Forget what was counted, and the cross-products that one fit leaves to the next."""
        self._blocks._products = None
        self.trips, self.sent, self.received = Counter(), Counter(), Counter()
        self.tasks, self.seconds = Counter(), defaultdict(float)

    def _recorded(self, what, messages, tasks):
        before = self._blocks.bytes_sent, self._blocks.bytes_received
        clock = time.perf_counter()
        replies = self._ask(what, messages, tasks)
        self.seconds[what] += time.perf_counter() - clock
        self.trips[what] += 1
        self.tasks[what] += len(tasks)
        self.sent[what] += self._blocks.bytes_sent - before[0]
        self.received[what] += self._blocks.bytes_received - before[1]
        return replies

    def passes(self):
        """Trips in which workers go through their data: the first read, passes, and partial ones."""
        return sum(self.trips[what] for what in ("read", "pass", "partial-pass", "pass-by-parts"))


def median_of(repeats, call, *arguments):
    """The median of the seconds of a call."""
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - clock)
    return statistics.median(times)


def status_of(process="self"):
    """What the system says of the memory of a process, in bytes."""
    with open(f"/proc/{process}/status") as lines:
        told = dict(line.split(":", 1) for line in lines)
    return {what: 1024 * int(told[what].split()[0]) for what in ("VmHWM", "VmRSS", "RssAnon", "RssFile")}


def read_from_disk(process="self"):
    """Bytes that a process had read from a disk."""
    with open(f"/proc/{process}/io") as lines:
        return int(dict(line.split(":") for line in lines)["read_bytes"])


class Watch:
    """The most memory that processes hold while it watches."""

    def __init__(self, processes):
        self.most = {process: Counter() for process in processes}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self._is_over.wait(0.05):
            for process, most in self.most.items():
                with contextlib.suppress(OSError, KeyError):
                    for what, value in status_of(process).items():
                        most[what] = max(most[what], value)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()


def limit_data(most):
    """Called on a worker: it can hold so many bytes of its own, and mapped pages of files beside them."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(most), int(most)))
    return os.getpid()


def forget(path):
    """Drops what the system has kept of a file, so that it is read from the disk."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def agree(one, other):
    """Whether two models have the same support, and the largest difference of their coefficients."""
    same = np.array_equal(one.support_, other.support_)
    return ("yes" if same else "NO"), f"{np.abs(one.coef_ - other.coef_).max():.1e}"
