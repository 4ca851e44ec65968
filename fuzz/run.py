"""Fuzzes every reader in turn, or reads every kept input once.

    python3 fuzz/run.py SECONDS [TARGET ...]     an equal share of the time for each target
    python3 fuzz/run.py replay [TARGET ...]      seeds, working corpus, and what once failed

The working corpus is in target/fuzz, made smaller after each run. An input that fails is kept in fuzz/found: write a test
of the reader that fails the same way, mend it, and commit the input where it is small; every run starts from it, too.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FIXTURES = ROOT / "crates/katoms-io/fixtures"
WORK = ROOT / "target/fuzz"
FOUND = HERE / "found"
# What an input may take. A run within these limits is an answer or an error; beyond them it is a find.
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-max_len=8192"]
# The coverage that libFuzzer is guided by, as cargo-fuzz asks for it; rustc takes these options without nightly.
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
]
# The files of other programs that are seeds of a target, by their ends.
ENDINGS = {"jpg": [".jpg"], "arrow": [".arrow", ".feather"], "gz": [".gz"], "zst": [".zst"], "any": [""]}


def targets(wanted):
    table = (HERE / "src/main.rs").read_text().split("const TARGETS", 1)[1].split("];", 1)[0]
    known = re.findall(r'^ *\("(\w+)", ', table, re.MULTILINE)
    if unknown := set(wanted) - set(known):
        sys.exit(f"there is no target {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    return wanted or known


def build():
    """The program, with what guides it; the target is named so that build scripts are left alone."""
    host = re.search(r"host: (\S+)", subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout)
    # the versions that the program is built with
    shutil.copy(ROOT / "Cargo.lock", HERE / "Cargo.lock")
    folder = ROOT / "target/fuzz-build"
    command = ["cargo", "build", "--release", "--manifest-path", HERE / "Cargo.toml", "--target", host[1], "--target-dir", folder]
    subprocess.run(command, env=environment(RUSTFLAGS=" ".join(COVERAGE)), check=True)
    return folder / host[1] / "release/fuzz"


def environment(**more):
    left_out = {"RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | more


def seeds(program, target):
    """The folders of inputs to start from; the working corpus first."""
    corpus, given = WORK / target, WORK / f"{target}-seeds"
    corpus.mkdir(parents=True, exist_ok=True)
    given.mkdir(exist_ok=True)
    for file in FIXTURES.iterdir():
        if file.name.endswith(tuple(ENDINGS.get(target, [f".{target}"]))) and file.suffix != ".py":
            shutil.copy(file, given / file.name)
    kept = HERE / "seeds" / target
    if kept.is_dir():
        shutil.copytree(kept, given, dirs_exist_ok=True)
    if target in ("checkpoint", "completion"):
        subprocess.run([program, "-runs=0"], env=environment(TARGET=target, SEEDS=str(given)), check=True, capture_output=True)
    found = FOUND / target
    return [corpus, given, *([found] if found.is_dir() else [])]


def fuzz(program, target, seconds):
    """Whether nothing was found, and how many inputs were tried."""
    folders = seeds(program, target)
    (FOUND / target).mkdir(parents=True, exist_ok=True)
    options = [*LIMITS, f"-max_total_time={seconds}", f"-artifact_prefix={FOUND / target}/", "-print_final_stats=1"]
    ran = subprocess.run([program, *options, *folders], env=environment(TARGET=target), capture_output=True, text=True, errors="replace")
    if not any((FOUND / target).iterdir()):
        (FOUND / target).rmdir()
    tried = re.search(r"number_of_executed_units:\s*(\d+)", ran.stderr)
    covered = re.findall(r"cov: (\d+)", ran.stderr)
    tried = int(tried[1]) if tried else 0
    print(f"{target:12} {tried:>11,} inputs, {covered[-1] if covered else 0:>6} edges", flush=True)
    if ran.returncode:
        print("\n".join(ran.stderr.splitlines()[-40:]), f"\n{target}: FOUND, see fuzz/found/{target}", flush=True)
    smaller(program, target, folders[0])
    return ran.returncode == 0, tried


def smaller(program, target, corpus):
    """Keeps of the working corpus what together covers as much as all of it."""
    merged = WORK / f"{target}-merged"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir()
    ran = subprocess.run([program, *LIMITS, "-merge=1", merged, corpus], env=environment(TARGET=target), capture_output=True)
    if ran.returncode == 0:
        shutil.rmtree(corpus)
        merged.rename(corpus)


def replay(program, target):
    folders = seeds(program, target)
    ran = subprocess.run([program, *LIMITS, "-runs=0", *folders], env=environment(TARGET=target), capture_output=True, text=True, errors="replace")
    count = sum(1 for folder in folders for _ in folder.iterdir())
    print(f"{target:12} {count:>6} inputs read" if ran.returncode == 0 else f"{ran.stderr}\n{target}: FAILED", flush=True)
    return ran.returncode == 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    what, wanted = sys.argv[1], targets(sys.argv[2:])
    program = build()
    if what == "replay":
        replayed = [replay(program, target) for target in wanted]
        sys.exit(0 if all(replayed) else 1)
    share = max(1, int(what) // len(wanted))
    results = [fuzz(program, target, share) for target in wanted]
    print(f"{sum(tried for _, tried in results):,} inputs in all")
    sys.exit(0 if all(good for good, _ in results) else 1)


if __name__ == "__main__":
    main()
