"""The same models with ``effort="thorough"``: more seconds, fewer cases above the best known."""

from beside.quality import Figure, Unavailable, known, models

TITLE = "Best known models, thorough effort"
COMPARED, COLUMNS = known.COMPARED, known.COLUMNS
OPTIONS = {"effort": "thorough"}
ABOVE = 3


def cases():
    if not models.takes(models.estimator("squares"), "effort"):
        raise Unavailable('not available: this build has no effort="thorough"')
    return known.known_cases(OPTIONS)


def figures(cases):
    first = Figure("cases above the best known by more than 1e-6", known.above(cases, models.SAME), ABOVE)
    far = Figure("cases above by more than 5 %", known.above(cases, 0.05))
    return [first, far, *known.common_figures(cases)]


def rows(cases):
    """All cases, since each has its seconds; those that are above come first."""
    for name, case in sorted(cases.items(), key=lambda item: -item[1]["excess"]):
        share = f"{100 * case['excess']:+.3g} %" if abs(case["excess"]) > models.SAME else "same"
        better = f"; columns {case['support']}" if case["excess"] < -models.SAME else ""
        yield [name, share + better, f"{case['reads']:.3g}", f"{case['seconds']:.3g}"]
