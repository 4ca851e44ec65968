"""QUALITY.md: from the files of the groups to tables."""

import json

from beside import machine, quality
from beside.report import table

HEAD = """# Quality

Written by `make bench ROWS=quality` ({dates}). [README.md](README.md) says how to run it. Figures without a limit are there to be
compared.

{machine}

"""


def collected(folder):
    """What is stored of each group, by its name."""
    files = {name: folder / f"{name}.json" for name in quality.NAMES}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}


def judged(name, told):
    """The figures of a group, from the cases that have not failed."""
    good = {case: numbers for case, numbers in told["cases"].items() if "failed" not in numbers}
    figures = [figure.told() for figure in quality.named(name).figures(good)] if good else []
    failed = len(told["cases"]) - len(good)
    if failed:
        figures.append(quality.Figure("cases that failed", failed, 0).told())
    return figures


def assembled(results, before=None):
    """The whole file; ``before`` holds the results of another build, which are shown beside."""
    if not results:
        return "# Quality\n\nNothing was measured yet: `make bench ROWS=quality`.\n"
    dates = sorted({told["date"][:10] for told in results.values()})
    machines = dict.fromkeys(machine.in_words(told["machine"]) for told in results.values())
    head = HEAD.format(dates=" to ".join(dict.fromkeys([dates[0], dates[-1]])), machine="\n\n".join(machines))
    details = [details_of(name, told) for name, told in results.items()]
    return head + summary(results, before or {}) + "\n" + "\n".join(details)


def summary(results, before):
    """One line for each figure, with that of another build beside it."""
    columns = ["row", "figure", *(["before"] if before else []), "value", "limit", ""]
    lines = []
    for name, told in results.items():
        old = {figure["name"]: figure["value"] for figure in judged(name, before[name])} if name in before else {}
        if "missing" in told:
            lines.append([f"quality-{name}", told["missing"], *([""] if before else []), "", "", ""])
        for figure in judged(name, told):
            limit = "" if figure["limit"] is None else f"{'≥' if figure['least'] else '≤'} {figure['limit']:g}"
            verdict = {None: "", True: "met", False: "**not met**"}[figure["met"]]
            beside = [number(old.get(figure["name"]))] if before else []
            lines.append([f"quality-{name}", figure["name"], *beside, number(figure["value"]), limit, verdict])
    return table(columns, lines)


def differences(results, before):
    """The cases in which two builds differ, in what does not depend on the machine."""
    lines = []
    for name, told in results.items():
        for case, numbers in told["cases"].items():
            old = before.get(name, {"cases": {}})["cases"].get(case, {})
            for key in getattr(quality.named(name), "COMPARED", []):
                if key in old and key in numbers and differ(old[key], numbers[key]):
                    lines.append([f"quality-{name}", case, key, precise(old[key]), precise(numbers[key])])
    return table(["row", "case", "number", "before", "value"], lines) if lines else "No case differs.\n"


def differ(old, new):
    if isinstance(old, float) and isinstance(new, float):
        return abs(new - old) > 1e-6 * max(abs(old), abs(new)) and abs(new - old) > 1e-9
    return old != new


def precise(value):
    return f"{value:.8g}" if isinstance(value, float) else str(value)


def details_of(name, told):
    group = quality.named(name)
    words = [f"## {group.TITLE}\n", group.__doc__.strip() + "\n"]
    words.append(f"`make bench ROWS=quality-{name}`: {told['seconds']:.0f} s, load {told['load']:.1f} when it began.\n")
    good = {case: numbers for case, numbers in told["cases"].items() if "failed" not in numbers}
    rows = list(group.rows(good)) if good else []
    if rows:
        words.append(table(group.COLUMNS, rows))
    words += [f"{case}: {numbers['failed']}\n" for case, numbers in told["cases"].items() if "failed" in numbers]
    words += [f"{told[key]}\n" for key in ("missing", "ended") if key in told]
    return "\n".join(words)


def number(value):
    if value is None:
        return "not told"
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"
