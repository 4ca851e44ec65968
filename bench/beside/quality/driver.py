"""Runs groups of rows, each in a process of its own, and keeps what they told."""

import json
import os
import subprocess
import sys
import time

from beside import machine, quality, real_data
from beside.quality import report
from beside.runner import BENCH, note

PREFIX = "quality"


def asked(rows):
    """The names of the groups that parts of keys stand for: all for ``quality``, one for ``quality-path``."""
    chosen = []
    for row in rows:
        names = [name for name in quality.NAMES if f"{PREFIX}-{name}".startswith(row)]
        if not names:
            raise SystemExit(f"no rows {row}; there are {', '.join(f'{PREFIX}-{name}' for name in quality.NAMES)}")
        chosen += names
    return list(dict.fromkeys(chosen))


def run(names, options):
    """Run the groups, write QUALITY.md from all that are kept, and print the table of those that were asked for."""
    folder = options.folder / PREFIX
    folder.mkdir(parents=True, exist_ok=True)
    if reason := real_data.missing("best_known.json"):
        note(f"rows of public data are left out: {reason}")
    try:
        for name in [] if options.assemble else names:
            note(f"{PREFIX}-{name}: {quality.named(name).TITLE}")
            one(name, folder / f"{name}.json", options)
    except KeyboardInterrupt:
        note("ended; the groups that are done are kept")
    write(names, folder, options)


def one(name, file, options):
    """The cases of a group. What an earlier run wrote stays until they are done."""
    scratch = file.with_suffix(".running")
    scratch.unlink(missing_ok=True)
    load = os.getloadavg()[0]
    command = [sys.executable, "-m", "beside.quality", name, str(scratch)]
    child = subprocess.Popen(command, cwd=BENCH, env=machine.environment(options.threads))
    ended = None
    try:
        if child.wait(options.group_cap):
            ended = f"The process ended with status {child.returncode}."
    except subprocess.TimeoutExpired:
        ended = f"Ended after {options.group_cap:.0f} s; the cases after those shown were not run."
    finally:
        child.kill()
        child.wait()
    told = json.loads(scratch.read_text()) if scratch.exists() else {"cases": {}, "seconds": 0.0}
    scratch.unlink(missing_ok=True)
    told.update({"date": time.strftime("%Y-%m-%d %H:%M"), "machine": machine.told(options.threads), "load": load})
    if ended:
        told["ended"] = ended
    file.write_text(json.dumps(told, indent=1))


def write(names, folder, options):
    kept = report.collected(folder)
    before = json.loads(options.against.read_text()) if options.against else None
    options.quality.write_text(report.assembled(kept))
    note(f"written: {options.quality}")
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1))
        note(f"written: {options.json}")
    shown = {name: kept[name] for name in names if name in kept}
    print(report.summary(shown, before or {}))
    if before:
        print(report.differences(shown, before))
