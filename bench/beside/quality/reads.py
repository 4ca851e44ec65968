"""Reads of a default fit where noise hides the planted columns: 750 × 12,000, k = 40, five times as much signal as noise."""

import numpy as np

from beside.quality import Figure, designs, models

TITLE = "Reads at SNR 5"
COMPARED = ["objective", "reads"]
COLUMNS = ["case", "reads", "passes", "objective over that of the planted model", "planted columns found", "seconds"]
M, N, K, RATIO, DRAWS, READS = 750, 12_000, 40, 5, 5, 6


def cases():
    for draw in range(DRAWS):
        yield f"{M} × {N:,}, k = {K}, draw {draw}", lambda draw=draw: one(draw)


def one(draw):
    X, y, planted = designs.gaussian(M, N, K, RATIO, draw)
    model, seconds = models.fitted("squares", X, y, K)
    value, truth = models.residual(X, y, model.support_), models.residual(X, y, planted)
    return {
        "reads": float(model.n_reads_),
        "columns": int(model.n_columns_read_),
        "passes": int(model.n_passes_),
        "objective": value,
        "over_planted": value / truth,
        "found": len(set(model.support_.tolist()) & set(planted.tolist())),
        "seconds": seconds,
    }


def figures(cases):
    reads = [case["reads"] for case in cases.values()]
    return [
        Figure("reads, median", float(np.median(reads)), READS),
        Figure("reads, most", max(reads)),
        Figure("objective over that of the planted model, largest", max(case["over_planted"] for case in cases.values())),
        Figure("objective, sum over the draws", sum(case["objective"] for case in cases.values())),
        Figure("seconds, median", float(np.median([case["seconds"] for case in cases.values()]))),
    ]


def rows(cases):
    for name, case in cases.items():
        counts = [f"{case['reads']:.3g}", case["passes"], f"{case['over_planted']:.6f}", f"{case['found']} of {K}"]
        yield [name, *counts, f"{case['seconds']:.3g}"]
