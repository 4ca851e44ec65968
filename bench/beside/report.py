"""RESULTS.md: from the files of the rows to tables."""

import fnmatch
import json
import re

from beside import judging, machine, works

HEAD = """# Results

Written by `make bench` ({dates}). [README.md](README.md) says how to run it and how to read it.

{machine}

"""

LEGEND = """\
A time is the median of the fits after the first (*warm*), or imports and the first fit in a fresh process (*cold*).
A ratio is the peer's time over ours: above 1 katoms is faster. *Best peer* is the fastest one that a user can run whose
objective, refitted on what it selected, is the same as ours or better; *oracle* also admits peers that were given the
strength of penalty that the search before had found. *Limit* is our time over the time to read the data as often as the
fit did, at the bandwidth measured on an array of that size. *Memory* is what we held above the data at the peak, over the
data; some 5 MB of it are threads and code. *NumPy* is the ratio to the same method in forty lines of
NumPy, where that is as good; it is no package and no best peer, and the wins below name it. Rows may come from several
runs, and a contestant that a table does not name was left out of that run (`--only`).
"""


def assembled(folder, why_file):
    """The whole file, from the results that are there."""
    results = {}
    for file in sorted(folder.glob("*.json")):
        result = json.loads(file.read_text())
        results[result["key"]] = result
    if not results:
        return "# Results\n\nNothing was measured yet: `make bench`.\n"
    paragraphs = reasons(why_file.read_text() if why_file.exists() else "")
    parts = [head(results.values()), LEGEND, "\n## Summary\n\n", "", ""]
    summary, wins, details = [], [], []
    for name in works.NAMES:
        work = works.named(name)
        rows = [results[row.key] for row in work.ROWS if row.key in results]
        if not rows:
            continue
        details.append(f"## {work.TITLE}\n\n{(work.__doc__ or '').strip()}\n")
        for result in rows:
            verdicts = [
                verdict
                for reference in work.REFERENCES
                if (verdict := judging.judged(result["contestants"], reference, work.TOLERANCE))
            ]
            summary += [summary_line(work, result, verdict) for verdict in verdicts]
            wins += where_a_peer_wins(work, result, verdicts, paragraphs)
            details.append(details_of(work, result, verdicts))
    columns = ["row", "ours", "warm", "limit", "memory", "best peer", "ratio", "oracle", "ratio", "cold", "ratio", "NumPy"]
    parts[3] = table(columns, summary) + "\n"
    parts[4] = "\n## Where a peer wins\n\n" + ("\n".join(wins) if wins else "Nowhere in this run.\n") + "\n"
    return "".join(parts) + "\n".join(details)


def head(results):
    results = list(results)
    dates = sorted({result["date"][:10] for result in results})
    lines = []
    for told in {json.dumps(result["machine"], sort_keys=True): result["machine"] for result in results}.values():
        lines.append(machine.in_words(told))
    reads = [(read["bytes"], read["per_second"]) for result in results for read in result["bandwidth"].values()]
    if reads:
        size, speed = max(reads)
        lines.append(f"A plain read of {size / 1e9:.2g} GB: {speed / 1e9:.1f} GB/s.")
    return HEAD.format(dates=" to ".join(dict.fromkeys([dates[0], dates[-1]])), machine="\n\n".join(lines))


def summary_line(work, result, verdict):
    ours = result["contestants"][verdict["reference"]]
    limit = judging.within_limit(ours, result["bandwidth"])
    cells = [f"{work.SHORT} {result['title']}", verdict["reference"], seconds(verdict["warm"])]
    cells.append("" if limit is None else f"{limit:.1f}")
    memory = judging.memory_share(ours, result["bandwidth"])
    cells.append("" if memory is None else f"{100 * memory:.0f} %")
    cells += pair(verdict["best"])
    cells += pair(verdict["best_known"]) if verdict["best_known"] != verdict["best"] else ["", ""]
    return cells + pair(verdict["cold"]) + [times(verdict["naive"][1]) if verdict["naive"] else ""]


def pair(found):
    return [found[0], times(found[1])] if found else ["none as good", ""]


def where_a_peer_wins(work, result, verdicts, paragraphs):
    """A heading, the sentences, and the paragraph that says why, if there is one."""
    lines = []
    for verdict in verdicts:
        lines += [f"- beside {verdict['reference']}: {sentence}" for sentence in verdict["wins"]]
    if not lines:
        return []
    why = [text for pattern, text in paragraphs if fnmatch.fnmatch(result["key"], pattern)]
    return [f"### {work.SHORT} {result['title']}\n", *lines, "", *[f"{text}\n" for text in why]]


def details_of(work, result, verdicts):
    columns = ["contestant", "cold", "warm", "ratio", *[title for title, _ in work.METRICS], "peak", "above data"]
    ours = {verdict["reference"]: verdict["warm"] for verdict in verdicts}
    lines = []
    for name, told in result["contestants"].items():
        if told["status"] != "ok":
            lines.append([name, told["message"].replace("|", "/")] + [""] * (len(columns) - 2))
            continue
        beside = next((ours[reference] for reference in ours if reference.endswith(told["data"])), None)
        beside = beside or next(iter(ours.values()), None)
        ratio = times(judging.warm(told) / beside) if beside else ""
        metrics = [show(told["score"]) for _, show in work.METRICS]
        lines.append(
            [name, seconds(judging.cold(told)), seconds(judging.warm(told)), ratio, *metrics]
            + [megabytes(told["peak_mb"]), megabytes(judging.above_data(told))]
        )
    words = [f"\n### {result['title']}\n"]
    for verdict in verdicts:
        fastest = verdict["fastest"]
        if fastest and fastest != verdict["best"]:
            reference, ratio = verdict["reference"], times(fastest[1])
            words.append(f"The fastest beside {reference} at any quality: {fastest[0]}, {ratio}.\n")
    return words[0] + "\n" + table(columns, lines) + ("\n" + "\n".join(words[1:]) if words[1:] else "")


def reasons(text):
    """The paragraphs of why.md: (pattern of keys, text), in order."""
    sections = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)[1:]
    return [(pattern, words.strip()) for pattern, words in zip(sections[::2], sections[1::2])]


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def seconds(value):
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def times(ratio):
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"


def megabytes(value):
    return f"{value:.0f} MB" if value < 10_000 else f"{value / 1000:.1f} GB"
