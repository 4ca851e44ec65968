"""Runs the program on a bad day, again and again: killed, without room on the disk, without memory, with others beside it.

    python3 tools/faults.py PROGRAM [--rounds N] [--seed S] [--loop NAME ...]

After every run: the exit code is one that is documented, an error has a message, outputs are whole or as they were, and
after the next run nothing is left behind. The standard library of Python suffices.
"""

import argparse
import gzip
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# done, less than --strict asked for, an input or a system that cannot be used, ended by Ctrl-C
CODES = {0, 1, 2, 130}
# Longer than any of these runs takes on a busy machine.
PATIENCE = 300


class Fault(Exception):
    """What was promised and not kept."""


class Desk:
    """A folder with data and the outputs of an earlier run."""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)
        draw = random.Random(7)
        rows = ["a,b,c,d,e,word,y"]
        for _ in range(400):
            x = [draw.gauss(0, 1) for _ in range(5)]
            y = 2 * x[0] - x[3] + draw.gauss(0, 0.5)
            rows.append(",".join(f"{v:.6f}" for v in x) + f",{draw.choice('uvw')},{y:.6f}")
        text = "\n".join(rows).encode() + b"\n"
        self.write("d.csv", text)
        self.write("d.csv.gz", gzip.compress(text, mtime=0))
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (4000, 50), }"
        numbers = struct.pack("<200000i", *(draw.randrange(1000) for _ in range(200_000)))
        self.write("x.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + f"{header:<117}\n".encode() + numbers)
        # what needs memory: more columns of numbers than the program itself takes
        self.write("large.csv", rows[0].encode() + b"\n" + text.split(b"\n", 1)[1] * 500)
        self.write("large.csv.gz", gzip.compress((self.folder / "large.csv").read_bytes(), compresslevel=1, mtime=0))
        cells = [[draw.randrange(1, 6) if draw.random() < 0.5 else "" for _ in range(40)] for _ in range(60)]
        names = ",".join(f"i{j}" for j in range(40))
        self.write("ratings.csv", (names + "\n" + "\n".join(",".join(map(str, row)) for row in cells)).encode() + b"\n")
        self.inputs = set(self.names())

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def names(self):
        return sorted(file.name for file in self.folder.iterdir())

    def start(self, words, limits=()):
        def limited():
            for kind, size in limits:
                resource.setrlimit(kind, (size, size))

        return subprocess.Popen(
            [self.program, *words], cwd=self.folder, preexec_fn=limited, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"RUST_BACKTRACE": "0"},
        )

    def ends(self, process, words):
        """The exit code and what was said, if that is as promised."""
        try:
            _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fault(f"{words}: no end after {PATIENCE} s") from None
        said = said.decode(errors="replace")
        if process.returncode not in CODES:
            raise Fault(f"{words}: exit code {process.returncode}: {said[-500:]}")
        if "panicked" in said:
            raise Fault(f"{words}: a panic was told: {said[-500:]}")
        if process.returncode == 2 and "katoms: " not in said and "error: " not in said:
            raise Fault(f"{words}: exit code 2 without a message: {said[-500:]}")
        return process.returncode, said

    def run(self, words, limits=()):
        return self.ends(self.start(words, limits), words)

    def check_outputs(self, before):
        """Every output is whole, and where a run did not get there, as it was."""
        for name in self.names():
            if name in self.inputs or name.startswith(".katoms-"):
                continue
            content = (self.folder / name).read_bytes()
            if content == before.get(name):
                continue
            if not is_whole(name, content):
                raise Fault(f"{name} is neither whole nor as it was: {len(content)} bytes, {content[-60:]!r}")

    def outputs(self):
        return {name: (self.folder / name).read_bytes() for name in self.names() if name not in self.inputs}

    def left_behind(self):
        return [name for name in self.names() if name.startswith(".katoms-")]


def is_whole(name, content):
    if name.endswith(".json"):
        try:
            return "schema" in json.loads(content)
        except ValueError:
            return False
    if name.endswith(".html"):
        return content.rstrip().endswith(b"</html>")
    if name.endswith(".csv"):
        lines = content.decode().splitlines()
        return content.endswith(b"\n") and len({line.count(",") for line in lines}) == 1
    return bool(content)


FIT = ["fit", "d.csv", "--target", "y", "-k", "3", "--out", "m.json", "--report", "r.html"]
PREDICT = ["predict", "m.json", "d.csv", "--out", "p.csv"]
COMPLETE = ["complete", "ratings.csv", "--rank", "2", "--out", "full.csv"]
WRITING = [FIT, PREDICT, COMPLETE]
LARGE = ["fit", "large.csv", "--target", "y", "-k", "3", "--out", "m.json"]
READING = [["inspect", name] for name in ("large.csv", "large.csv.gz", "x.npy")] + [LARGE, *WRITING]


def killed(desk, draw):
    """kill -9 at a random moment; the next run removes what was left."""
    words = draw.choice(WRITING)
    started = time.perf_counter()
    desk.run(words)
    usual = time.perf_counter() - started
    before = desk.outputs()
    process = desk.start(words)
    time.sleep(draw.uniform(0, usual * 1.1))
    process.kill()
    process.communicate()
    desk.check_outputs(before)
    desk.run(words)
    if left := desk.left_behind():
        raise Fault(f"{words}: left behind after the next run: {left}")


def interrupted(desk, draw):
    """Ctrl-C or a request to end at a random moment."""
    words, before = draw.choice(WRITING), desk.outputs()
    process = desk.start(words)
    time.sleep(draw.uniform(0, 0.1))
    process.send_signal(draw.choice([signal.SIGINT, signal.SIGTERM]))
    try:
        desk.ends(process, words)
    except Fault:
        # before the program has begun, the signal ends it as it ends any other
        if process.returncode not in (-signal.SIGINT, -signal.SIGTERM):
            raise
    desk.check_outputs(before)
    desk.run(words)
    if left := desk.left_behind():
        raise Fault(f"{words}: left behind after the next run: {left}")


def file_size(desk, draw):
    """A limit on the size of files, as `ulimit -f` sets it: as on a full disk, writing fails in the middle."""
    words, before = draw.choice(WRITING), desk.outputs()
    desk.run(words, [(resource.RLIMIT_FSIZE, draw.choice([0, 1, 512, 1024, 4096, 16384, 1 << 17]))])
    desk.check_outputs(before)
    if left := desk.left_behind():
        raise Fault(f"{words}: left behind: {left}")


def full_disk(desk, draw):
    """A disk of a few kB, where this may be mounted; else the round is left out."""
    place = desk.folder.parent / "small"
    place.mkdir(exist_ok=True)
    size = draw.choice([4, 8, 16, 64, 256])
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", place], capture_output=True).returncode:
        return False
    try:
        words = [str(place / word) if word in ("m.json", "r.html", "full.csv") else word for word in draw.choice([FIT, COMPLETE])]
        desk.run(words)
        for file in place.iterdir():
            if file.name.startswith(".katoms-") or not is_whole(file.name, file.read_bytes()):
                raise Fault(f"{words}: on a disk of {size} kB, {file.name} of {file.stat().st_size} bytes is left")
    finally:
        subprocess.run(["umount", place], check=True)
    return True


def memory(desk, draw):
    """A limit on memory, as `ulimit -v` sets it, from what the program itself takes up to what the work needs."""
    words, before = draw.choice(READING), desk.outputs()
    least = Path(desk.program).stat().st_size + (24 << 20)
    desk.run(words, [(resource.RLIMIT_AS, least + draw.randrange(0, 200 << 20))])
    desk.check_outputs(before)
    if left := desk.left_behind():
        raise Fault(f"{words}: left behind: {left}")


def together(desk, draw):
    """Several at once in one folder, some of them killed: the others end well, and the next run removes what is left."""
    jobs = [["fit", "d.csv", "--target", "y", "-k", "2", "--out", f"m{i}.json"] for i in range(6)]
    running = [(words, desk.start(words)) for words in jobs]
    time.sleep(draw.uniform(0, 0.2))
    doomed = set(draw.sample(range(len(running)), 2))
    for i in doomed:
        running[i][1].kill()
    for i, (words, process) in enumerate(running):
        if i in doomed:
            process.communicate()
        elif desk.ends(process, words)[0]:
            raise Fault(f"{words}: did not end well beside others that were killed")
    desk.check_outputs({})
    desk.run(FIT)
    if left := desk.left_behind():
        raise Fault(f"left behind after the next run: {left}")


LOOPS = {loop.__name__: loop for loop in (killed, interrupted, file_size, full_disk, memory, together)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loop", choices=LOOPS, action="append")
    asked = parser.parse_args()
    faults = 0
    for name in asked.loop or LOOPS:
        done = 0
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "desk").mkdir()
            desk = Desk(asked.program, Path(folder) / "desk")
            desk.run(FIT)
            for number in range(asked.rounds):
                try:
                    done += LOOPS[name](desk, random.Random(f"{asked.seed} {name} {number}")) is not False
                except Fault as fault:
                    faults += 1
                    print(f"{name}, round {number}: {fault}", flush=True)
        left_out = asked.rounds - done
        print(f"{name:12} {done} rounds as promised" + (f", {left_out} not" if left_out else ""), flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
