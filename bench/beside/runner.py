"""Runs the contestants of a row, each in a process of its own, and keeps what they told."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from beside import machine, memory, works

BENCH = pathlib.Path(__file__).resolve().parents[1]


class Runner:
    """One run of the bench: where things lie, how many threads, how long to wait."""

    def __init__(self, folder, options):
        self.folder = pathlib.Path(folder)
        self.options = options

    def result_file(self, row):
        return self.folder / "rows" / f"{row.key}.json"

    def run(self, name, row):
        """The contestants of a row. The result is written when all are done; what an earlier run wrote stays so long."""
        work = works.named(name)
        if reason := self.impossible(work, row):
            return note(f"{row.key}: left out, {reason}")
        data = self.drawn(work, row)
        if data is None:
            return None
        result = {
            "work": name,
            "key": row.key,
            "title": row.title,
            "date": time.strftime("%Y-%m-%d %H:%M"),
            "machine": machine.told(self.options.threads),
            "cap_s": self.options.cap,
            "bandwidth": self.bandwidth(getattr(work, "bytes_of", lambda folder, shape: {})(data, row.shape)),
            "contestants": {},
        }
        for _ in range(self.options.rounds):
            for contestant in work.CONTESTANTS:
                if contestant.takes(row.shape) and self.options.wants(contestant):
                    told = self.one(name, row, contestant, data, result["contestants"])
                    merge(result["contestants"], contestant, told)
                    note(f"  {contestant.name:32} {in_words(told)}")
        file = self.result_file(row)
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.options.only and file.exists():
            # Contestants that were not asked for stay as they were measured.
            result["contestants"] = {**json.loads(file.read_text())["contestants"], **result["contestants"]}
        file.write_text(json.dumps(result, indent=1))
        return result

    def impossible(self, work, row):
        """Why a row cannot be run here, or None."""
        if memory.available() < 1000 * row.memory:
            return f"it needs about {row.memory:.0f} GB of memory and {memory.available() / 1000:.0f} GB are free"
        if hasattr(work, "missing"):
            return work.missing(row.shape)
        return None

    def drawn(self, work, row):
        """The folder with the data of a row, which are drawn if they are not there."""
        data = self.folder / "data" / row.shape["data"]
        if (data / "whole").exists():
            return data
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        if shutil.disk_usage(data).free < 1.2e9 * row.memory:
            return note(f"{row.key}: left out, the disk has too little space")
        note(f"{row.key}: drawing {row.shape['data']}")
        work.draw(data, row.shape)
        (data / "whole").touch()
        return data

    def bandwidth(self, sizes):
        """Bytes a second for each kind of array."""
        if not sizes:
            return {}
        asked = [sys.executable, "-m", "beside.bandwidth", str(self.options.threads), *map(str, sizes.values())]
        told = subprocess.run(
            asked, capture_output=True, text=True, check=True, cwd=BENCH, env=machine.environment(self.options.threads)
        )
        speeds = json.loads(told.stdout)
        return {kind: {"bytes": size, "per_second": speeds[str(size)]} for kind, size in sizes.items()}

    def one(self, name, row, contestant, data, before):
        """What one contestant tells, or why it does not."""
        if importlib.util.find_spec(contestant.package) is None:
            return {"status": "missing", "message": f"{contestant.package} is not installed"}
        asked = {
            "work": name,
            "shape": {**row.shape, "threads": self.options.threads},
            "contestant": contestant.name,
            "folder": str(data),
            "threads": self.options.threads,
            "repeats": self.options.repeats,
            "window": self.options.window,
            "patience": self.options.patience,
            "hints": {other: told.get("told", {}) for other, told in before.items()},
        }
        with tempfile.TemporaryDirectory() as scratch:
            question, answer = pathlib.Path(scratch) / "asked.json", pathlib.Path(scratch) / "told.json"
            question.write_text(json.dumps(asked))
            with open(pathlib.Path(scratch) / "errors", "w+") as errors:
                child = subprocess.Popen(
                    [sys.executable, "-m", "beside.child", str(question), str(answer)],
                    cwd=BENCH,
                    env=machine.environment(self.options.threads),
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                )
                try:
                    child.wait(self.options.cap)
                except subprocess.TimeoutExpired:
                    pass
                finally:
                    child.kill()
                    child.wait()
                if answer.exists():
                    return json.loads(answer.read_text())
                if child.returncode == -9:
                    return {"status": "over", "message": f"over {self.options.cap:.0f} s"}
                errors.seek(0)
                lines = errors.read().strip().splitlines()
                return {"status": "failed", "message": (lines or ["it ended without a word"])[-1][:300]}


def merge(contestants, contestant, told):
    """Keep what a contestant told; a later round adds its times to those of an earlier one."""
    entry = {**told, "ours": contestant.ours, "oracle": contestant.oracle, "data": contestant.data}
    entry["naive"] = contestant.package == "numpy"
    before = contestants.get(contestant.name)
    if before and before["status"] == "ok" and told["status"] == "ok":
        entry["warm_s"] = before["warm_s"] + told["warm_s"]
        entry["first_s"] = min(before["first_s"], told["first_s"])
        entry["import_s"] = min(before["import_s"], told["import_s"])
    contestants[contestant.name] = entry


def in_words(told):
    if told["status"] != "ok":
        return told["message"]
    score = " ".join(f"{name} {value:.6g}" for name, value in told["score"].items() if value is not None)
    warm = sorted(told["warm_s"])[len(told["warm_s"]) // 2] if told["warm_s"] else told["first_s"]
    return f"cold {told['import_s'] + told['first_s']:.3f} s, warm {warm:.4f} s, {score} {told['told']}"


def note(line):
    print(line, file=sys.stderr, flush=True)
