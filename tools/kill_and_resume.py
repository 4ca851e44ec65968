#!/usr/bin/env python3
"""Kills katoms at random moments, resumes it from its checkpoint, and compares the answers.

A job that was killed and resumed any number of times must give the bits that it gives undisturbed. Each job runs once to
its end. Then it runs with --checkpoint and is killed (SIGKILL): at a random moment, or while a checkpoint is being written.
The next run goes on from what is there. Whenever a run comes to its end its answer is compared, and the next begins anew.

    python3 tools/kill_and_resume.py target/release/katoms --kills 200
    python3 tools/kill_and_resume.py target/debug/katoms --kills 20 --jobs fit complete --seed 7

Only the standard library is needed. Exit code 0: every answer had the same bits. 1: one had not, or a run failed.
"""

from __future__ import annotations

import argparse
import array
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STATE = "state.katoms"
# Often, so that many kills meet a checkpoint that is being written.
EVERY = "0.02"
# What no two runs have in common. A resumed run reads the columns again that the other one still had at hand.
OTHERS = {"seconds", "command"}
COSTS = {"columns"}


def write_npy(path: Path, shape: tuple[int, ...], values: array.array) -> None:
    """An NPY file of single-precision numbers, column after column."""
    head = f"{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values.tobytes())


def design(folder: Path, rows: int, columns: int, rng: random.Random) -> None:
    """Columns of which neighbours are alike, and a target of noise: the steps of a fit are short and many."""
    values, last = array.array("f"), [0.0] * rows
    for _ in range(columns):
        last = [0.95 * v + rng.random() - 0.5 for v in last]
        values.extend(last)
    write_npy(folder / "x.npy", (rows, columns), values)
    write_npy(folder / "y.npy", (rows,), array.array("f", [rng.random() - 0.5 for _ in range(rows)]))


def holes(folder: Path, rows: int, columns: int, rng: random.Random) -> None:
    """A table of rank 6 with noise, of which a third of the cells is empty."""
    left = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(rows)]
    right = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(columns)]
    lines = [",".join(f"c{j}" for j in range(columns))]
    for u in left:
        cells = (sum(a * b for a, b in zip(u, v)) + 0.3 * rng.gauss(0, 1) for v in right)
        lines.append(",".join(f"{cell:.6f}" if rng.random() < 0.65 else "" for cell in cells))
    (folder / "holes.csv").write_text("\n".join(lines) + "\n")


JOBS = {
    "fit": (lambda folder, rng: design(folder, 300, 3000, rng), "fit x.npy --target y.npy -k 30 --method iht --out m.json"),
    "search": (lambda folder, rng: design(folder, 300, 3000, rng), "fit x.npy --target y.npy -k 20 --out m.json"),
    "recover": (
        lambda folder, rng: design(folder, 300, 3000, rng),
        "recover --matrix x.npy --measurements y.npy -k 30 --method iht --out m.npy",
    ),
    "complete": (lambda folder, rng: holes(folder, 500, 300, rng), "complete holes.csv --rank 6 --ridge 0 --out m.csv"),
}


def answer_in(value: object, left_out: frozenset[str] = frozenset(OTHERS)) -> object:
    """The answer without what it cost."""
    if isinstance(value, dict):
        parts = ((key, part) for key, part in value.items() if key not in left_out)
        return {key: answer_in(part, left_out | COSTS if key == "run" else left_out) for key, part in parts}
    if isinstance(value, list):
        return [answer_in(part, left_out) for part in value]
    return value


class Job:
    """One job in a folder of its own."""

    def __init__(self, program: Path, name: str, folder: Path, rng: random.Random) -> None:
        prepare, words = JOBS[name]
        self.program, self.name, self.folder, self.rng = program, name, folder, rng
        self.words = [*words.split(), "--json"]
        self.out = folder / self.words[self.words.index("--out") + 1]
        prepare(folder, random.Random(1))

    def start(self, *more: str) -> subprocess.Popen:
        """The program on its way."""
        said = open(self.folder / "said", "wb"), open(self.folder / "errors", "wb")
        with said[0], said[1]:
            return subprocess.Popen([self.program, *self.words, *more], cwd=self.folder, stdout=said[0], stderr=said[1])

    def answer(self) -> tuple[object, bytes]:
        """What the last run gave: its JSON and its file."""
        out = self.out.read_bytes()
        if self.out.suffix == ".json":
            out = json.dumps(answer_in(json.loads(out)), sort_keys=True).encode()
        return answer_in(json.loads((self.folder / "said").read_bytes())), out

    def undisturbed(self) -> float:
        """Runs the job to its end; how long that takes."""
        clock = time.monotonic()
        self.ended(self.start())
        self.right = self.answer()
        return time.monotonic() - clock

    def ended(self, child: subprocess.Popen) -> None:
        """Waits for the end, which must be a good one."""
        if child.wait() != 0:
            raise SystemExit(f"{self.name}: exit code {child.returncode}\n{(self.folder / 'errors').read_text()}")

    def parts(self) -> list[str]:
        """Files that are being written, or were when the program was killed."""
        return [entry.name for entry in os.scandir(self.folder) if entry.name.endswith(".part")]

    def killed(self, child: subprocess.Popen, seconds: float) -> bool:
        """Kills a run; whether it was still on its way. Every other time while it writes a checkpoint."""
        at, writes = time.monotonic() + self.rng.uniform(0, seconds), self.rng.random() < 0.5
        known = set(self.parts())
        while child.poll() is None:
            if time.monotonic() >= at and (not writes or set(self.parts()) - known):
                child.kill()
                return child.wait() < 0
            if not writes:
                time.sleep(0.001)
        return False


def run(job: Job, kills: int) -> bool:
    """Kills a job so often; whether every answer was right."""
    seconds = job.undisturbed()
    done = within = resumed = answers = 0
    right = True
    while True:
        resumed += (job.folder / STATE).exists()
        child = job.start("--checkpoint", STATE, "--checkpoint-every", EVERY)
        before = len(job.parts())
        if done < kills and job.killed(child, seconds):
            done += 1
            within += len(job.parts()) > before
            continue
        job.ended(child)
        answers += 1
        if job.answer() != job.right:
            right = False
            print(f"{job.name}: answer {answers} after {done} kills has other bits: see {job.folder}")
        if (job.folder / STATE).exists():
            right = False
            print(f"{job.name}: a run that was done left its checkpoint behind")
        if done == kills:
            break
    print(
        f"{job.name}: {done} kills, {within} of them within a write, {resumed} runs resumed, {answers} answers, "
        f"{len(job.parts())} partial files left, undisturbed {seconds:.1f} s: {'the same bits' if right else 'WRONG'}",
        flush=True,
    )
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program, such as target/release/katoms")
    parser.add_argument("--kills", type=int, default=200, help="kills for each job [default: 200]")
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS), help="[default: all]")
    parser.add_argument("--seed", type=int, default=None, help="of the moments [default: another one each time]")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 31)
    print(f"seed {seed}")
    right = True
    for name in asked.jobs:
        folder = Path(tempfile.mkdtemp(prefix="katoms-kill-"))
        same = run(Job(asked.program.resolve(), name, folder, random.Random(f"{seed} {name}")), asked.kills)
        right &= same
        if same:
            shutil.rmtree(folder)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
