"""python -m beside [ROWS] [options], from the folder bench."""

import argparse
import os
import pathlib
import shutil

from beside import quality, report, runner, works
from beside.quality import driver

#: Packages that compile for long at the first fit: a quick run goes without.
COMPILING = {"skglm", "skscope"}
ROOT = pathlib.Path(__file__).resolve().parents[2]


def parsed():
    parser = argparse.ArgumentParser(prog="beside", description="katoms beside its peers")
    parser.add_argument("rows", nargs="*", default=["all"], help="all, quick, a work, parts of the keys of rows; quality, quality-path, ...")
    parser.add_argument("--only", action="append", help="only contestants whose names hold this (also several times)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeats", type=int, default=5, help="further fits after the first, at least")
    parser.add_argument("--window", type=float, default=1.0, help="seconds for which further fits go on, at least")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds after which no further fit is begun")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds after which a contestant is ended")
    parser.add_argument("--rounds", type=int, default=1, help="how often the contestants take turns")
    parser.add_argument("--folder", default=ROOT / "target" / "bench", type=pathlib.Path)
    parser.add_argument("--results", default=ROOT / "bench" / "RESULTS.md", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true", help="keep the arrays on the disk")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--assemble", action="store_true", help="only write the results anew from what is kept")
    group = parser.add_argument_group("rows of quality")
    group.add_argument("--quality", default=ROOT / "bench" / "QUALITY.md", type=pathlib.Path, help="where the tables go")
    group.add_argument("--json", type=pathlib.Path, help="a file for the figures of all groups that are kept")
    group.add_argument("--against", type=pathlib.Path, help="such a file of another build, shown beside")
    group.add_argument("--group-cap", type=float, default=900.0, help="seconds after which a group is ended")
    options = parser.parse_args()
    quick = options.rows == ["quick"]

    def wants(contestant):
        named = not options.only or any(part in contestant.name for part in options.only)
        return named and not (quick and (contestant.oracle or contestant.package in COMPILING))

    options.wants = wants
    return options


def chosen(asked):
    """The rows that were asked for, as (name of the work, row)."""
    for name in works.NAMES:
        for row in works.named(name).ROWS:
            named = any(part == name or part in row.key or (part == "quick" and row.quick) for part in asked)
            if "all" in asked or named:
                yield name, row


def main():
    options = parsed()
    of_quality = [part for part in options.rows if part.startswith(driver.PREFIX)]
    groups = driver.asked([driver.PREFIX] if "all" in options.rows else of_quality)
    others = [part for part in options.rows if part not in of_quality]
    rows = list(chosen(others))
    if options.list:
        print("".join(f"{row.key:36} {works.named(name).TITLE}: {row.title}\n" for name, row in rows), end="")
        return print("\n".join(f"{f'{driver.PREFIX}-{name}':36} {quality.named(name).TITLE}" for name in groups))
    if groups:
        driver.run(groups, options)
    if not others:
        return None
    if not options.assemble:
        run(options, rows)
    options.results.write_text(report.assembled(options.folder / "rows", ROOT / "bench" / "why.md"))
    runner.note(f"written: {options.results}")


def run(options, rows):
    """The rows one by one. Ctrl-C keeps those that are done."""
    bench = runner.Runner(options.folder, options)
    try:
        for at, (name, row) in enumerate(rows):
            runner.note(f"[{at + 1} of {len(rows)}] {row.key}: {works.named(name).TITLE}, {row.title}")
            bench.run(name, row)
            later = {other.shape["data"] for _, other in rows[at + 1 :]}
            if not options.keep and row.shape["data"] not in later:
                shutil.rmtree(options.folder / "data" / row.shape["data"], ignore_errors=True)
    except KeyboardInterrupt:
        runner.note("ended; the rows that are done are kept")


if __name__ == "__main__":
    main()
