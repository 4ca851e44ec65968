"""The default fit beside the best least-squares models that long searches have found (best_known.json).

A case is above where its residual sum of squares is larger by more than 1e-6 of the known one, and below where it is
smaller by as much: then the file does not hold the best model.
"""

import json

import numpy as np

from beside.quality import Figure, designs, models

TITLE = "Best known models, default effort"
COMPARED = ["excess", "reads"]
COLUMNS = ["case", "above the best known", "reads", "seconds"]
OPTIONS = {}
#: How many cases may be above, and by more than 5 %; and the median of the reads.
ABOVE, FAR_ABOVE, READS = 12, 4, 7


def cases():
    return known_cases(OPTIONS)


def known_cases(options):
    known = json.loads(designs.file("best_known.json").read_text())["cases"]
    for key, best in known.items():
        yield key, lambda key=key, best=best: one(key, best, options)


def one(key, best, options):
    name, k = key.split("/")
    X, y = designs.centred(name)
    model, seconds = models.fitted("squares", X, y, int(k), **options)
    value = models.residual(X, y, model.support_)
    return {
        "excess": value / best["rss_frac"] - 1,
        "reads": float(model.n_reads_),
        "passes": int(model.n_passes_),
        "seconds": seconds,
        "proven": models.proven(model),
        "support": [int(j) for j in model.support_],
    }


def figures(cases):
    return [
        Figure("cases above the best known by more than 1e-6", above(cases, models.SAME), ABOVE),
        Figure("cases above by more than 5 %", above(cases, 0.05), FAR_ABOVE),
        Figure("reads, median", float(np.median([case["reads"] for case in cases.values()])), READS),
        *common_figures(cases),
    ]


def common_figures(cases):
    return [
        Figure("cases", len(cases)),
        Figure("cases below the best known", sum(case["excess"] < -models.SAME for case in cases.values())),
        Figure("reads, most", max(case["reads"] for case in cases.values())),
        Figure("seconds in all", sum(case["seconds"] for case in cases.values())),
        Figure("seconds, longest case", max(case["seconds"] for case in cases.values())),
    ]


def above(cases, share):
    return sum(case["excess"] > share for case in cases.values())


def rows(cases):
    """The cases that are above or below, the farthest first."""
    for name, case in sorted(cases.items(), key=lambda item: -abs(item[1]["excess"])):
        if abs(case["excess"]) > models.SAME:
            share = f"{100 * case['excess']:+.3g} %"
            better = f"; columns {case['support']}" if case["excess"] < 0 else ""
            yield [name, share + better, f"{case['reads']:.3g}", f"{case['seconds']:.3g}"]
