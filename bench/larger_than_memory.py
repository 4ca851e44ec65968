"""A fit of a file that is larger than the memory it may use.

    cargo build --release -p katoms-cli && pip install .        (or .venv-bench, which `make bench` fills)
    python bench/larger_than_memory.py FOLDER [--gigabytes 30] [--cap 4]

Writes FOLDER/larger.npy, a Gaussian design of 10,000 rows in single precision with 50 planted columns, and its target.
If the disk has no room for that and a tenth more, the file is made smaller, with a message. Then the file is read once
from end to end, and fitted by `katoms fit` and in Python (a memory-mapped array), each in a process whose resident
memory is capped: by a control group, which counts pages of the file as well. That needs the right to make one, mostly
root's; without it the script says so and runs uncapped. What is printed: the seconds of the plain read, those of each
fit, how often it read the data, and the time of one such read over the plain one.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

ROWS, PLANTED = 10_000, 50
#: Columns that are drawn and written together: 40 MB.
TOGETHER = 1_000
GIGA = 10**9
#: The program reads the file once more, for missing values and for the checksum that a model keeps.
CHECKSUM = 1
#: Where control groups of memory are: version 1, and version 2; with the file that holds the cap.
GROUPS = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]

IN_PYTHON = """
import json, sys, time
import numpy as np, katoms
X = np.load(sys.argv[1], mmap_mode="r")
y = np.load(sys.argv[2])
clock = time.perf_counter()
model = katoms.SparseRegressor(support_size=int(sys.argv[3])).fit(X, y)
seconds = time.perf_counter() - clock
told = {"status": model.status_, "reads": model.n_reads_, "support": model.support_.tolist()}
print(json.dumps({"seconds": seconds, **told}))
"""


def affordable(folder, wanted):
    """The bytes that the file may have: what is wanted, or what the disk has room for."""
    free = shutil.disk_usage(folder).free
    room = int(free / 1.1) - 2 * GIGA
    if room >= wanted:
        return wanted
    if room < GIGA:
        sys.exit(f"{folder} has {free / GIGA:.1f} GB left; at least 4 GB are needed: name a folder on another disk")
    print(f"{folder} has {free / GIGA:.1f} GB left: the file is made {room / GIGA:.1f} GB in place of {wanted / GIGA:.0f}")
    return room


def write(design, target, size):
    """The planted problem, column after column, and its columns in the model."""
    columns = size // (4 * ROWS)
    rng = np.random.default_rng(0)
    planted = np.sort(rng.choice(columns, size=PLANTED, replace=False))
    values = dict(zip(planted.tolist(), rng.choice([-1.0, 1.0], size=PLANTED)))
    y = np.zeros(ROWS)
    with open(design, "wb") as file:
        header = {"descr": "<f4", "fortran_order": True, "shape": (ROWS, columns)}
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, columns, TOGETHER):
            block = rng.standard_normal((min(TOGETHER, columns - first), ROWS), dtype=np.float32)
            for j in planted[(planted >= first) & (planted < first + len(block))].tolist():
                y += values[j] * block[j - first]
            block.tofile(file)
            print(f"\rwritten {100 * (first + len(block)) // columns} %", end="", file=sys.stderr)
        print(file=sys.stderr)
        file.flush()
        os.fsync(file.fileno())
    np.save(target, y)
    return planted.tolist()


@contextlib.contextmanager
def group(cap):
    """A control group with this cap on memory: what puts a process into it; `None` where none can be made."""
    for root, limit in GROUPS:
        folder = pathlib.Path(root) / f"larger-than-memory-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit).write_text(str(cap))
            yield lambda place=folder: (place / "cgroup.procs").write_text(str(os.getpid()))
            return
        except OSError:
            continue
        finally:
            with contextlib.suppress(OSError):
                folder.rmdir()
    print("no control group can be made here: the runs are not capped")
    yield None


def forget(path):
    """Drops what the system has kept of a file, so that it is read from the disk."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def plain_read(path):
    """Seconds of one read of a file from end to end."""
    forget(path)
    buffer = bytearray(16 << 20)
    clock = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - clock


def fitted(name, command, into_group, path):
    """What a process prints as JSON at its end, and the seconds that it took."""
    forget(path)
    clock = time.perf_counter()
    done = subprocess.run(command, preexec_fn=into_group, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - clock
    if done.returncode != 0:
        print(f"{name} ended with {done.returncode}: {'killed for memory' if done.returncode == -9 else done.stdout}")
        return None
    return seconds, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=30, help="the size of the file")
    parser.add_argument("--cap", type=float, default=4, help="gigabytes of resident memory")
    parser.add_argument("--program", default="target/release/katoms", help="the program")
    parser.add_argument("--keep", action="store_true", help="leaves the files there")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    design, target = asked.folder / "larger.npy", asked.folder / "target.npy"
    try:
        planted = write(design, target, affordable(asked.folder, int(asked.gigabytes * GIGA)))
        size = design.stat().st_size
        with group(int(asked.cap * GIGA)) as into_group:
            read = plain_read(design)
            print(f"{size / GIGA:.1f} GB, at most {asked.cap:g} GB resident; a plain read takes {read:.1f} s")
            program = [asked.program, "fit", design, "--target", target, "-k", str(PLANTED), "--json"]
            told = fitted("katoms fit", [*map(str, program)], into_group, design)
            if told:
                run, atoms = told[1]["run"], told[1]["model"]["atoms"]
                found = sorted(int(name.lstrip("x")) - 1 for name in atoms)
                report("katoms fit", told[0], run["reads"] + CHECKSUM, read, run["status"], found == planted)
            told = fitted("Python", [sys.executable, "-c", IN_PYTHON, design, target, str(PLANTED)], into_group, design)
            if told:
                seconds, fit = told[1]["seconds"], told[1]
                report("Python", seconds, fit["reads"], read, fit["status"], fit["support"] == planted)
    finally:
        if not asked.keep:
            for path in (design, target):
                path.unlink(missing_ok=True)


def report(name, seconds, reads, plain, status, right):
    """One line of the table."""
    ratio = seconds / reads / plain
    found = "the planted columns" if right else "OTHER COLUMNS than planted"
    print(f"{name}: {status}, {found}; {seconds:.1f} s for {reads:.1f} reads, each {ratio:.2f} of a plain one")


if __name__ == "__main__":
    main()
