"""Who is fastest, and at which quality: from what the contestants of a row told. Pure functions."""

import statistics

#: Two objectives are the same up to this share, unless the work says otherwise.
TOLERANCE = 1e-6


def warm(told):
    """The median of the fits after the first; the first where there was no other."""
    return statistics.median(told["warm_s"]) if told["warm_s"] else told["first_s"]


def cold(told):
    """Imports and the first fit, in a fresh process."""
    return told["import_s"] + told["first_s"]


def above_data(told):
    """Megabytes at the peak of the first fit above what the process held before it."""
    return max(0.0, told["peak_mb"] - told["ready_mb"])


def as_good(score, ours, tolerance=TOLERANCE):
    """Whether a score is ours or better: its objective is at most ours, up to the tolerance and rounding; of two paths,
    the mean of the objectives of all sizes as well."""
    return all(as_good_at(score, ours, what, tolerance) for what in ("objective", "mean"))


def as_good_at(score, ours, what, tolerance):
    """The same for one figure, where both have it."""
    if score.get(what) is None or ours.get(what) is None:
        return True
    return score[what] <= ours[what] * (1 + tolerance) + ours.get("floor", 0.0)


def better(score, ours, tolerance=TOLERANCE):
    """Whether a score is better than ours by more than the tolerance and rounding."""
    return not as_good(ours, score, tolerance)


def memory_share(told, bandwidth):
    """The memory above the data at the peak of the first fit, over the data; None where their size is unknown."""
    read = bandwidth.get(told["data"])
    return 1e6 * above_data(told) / read["bytes"] if read else None


def within_limit(told, bandwidth):
    """Our time over the time to read the data as often at the bandwidth measured; None where that is unknown."""
    reads, read = told["told"].get("reads"), bandwidth.get(told["data"])
    if not reads or not read:
        return None
    return warm(told) / (reads * read["bytes"] / read["per_second"])


def judged(contestants, reference, tolerance=TOLERANCE):
    """A row as seen by one of ours.

    `best` is the fastest peer that a user can run and whose answer is as good as ours, `best_known` the same where what
    only an oracle knows is given, `naive` the fastest script as good, which is no package, `fastest` the fastest of all
    whatever its answer. Each is (name, ratio), the ratio
    being its warm time over ours: above 1 we are faster. `cold` is the least cold time of a peer as good, over ours.
    `wins` says where a peer is ahead of us. Ours in f64 meets peers in f64, ours in less peers in any precision.
    """
    ours = contestants.get(reference)
    if ours is None or ours["status"] != "ok":
        return None
    peers = {name: told for name, told in contestants.items() if told["status"] == "ok" and not told["ours"]}
    finished = {name: told for name, told in peers.items() if ours["data"] != "f64" or told["data"] != "f32"}
    as_ours = {name: told for name, told in finished.items() if as_good(told["score"], ours["score"], tolerance)}
    equal = {name: told for name, told in as_ours.items() if not told.get("naive")}
    naive = {name: told for name, told in as_ours.items() if told.get("naive")}
    open_to_users = {name: told for name, told in equal.items() if not told["oracle"]}
    verdict = {
        "reference": reference,
        "warm": warm(ours),
        "best": _least(open_to_users, warm, warm(ours)),
        "best_known": _least(equal, warm, warm(ours)),
        "fastest": _least(finished, warm, warm(ours)),
        "cold": _least(open_to_users, cold, cold(ours)),
        "naive": _least(naive, warm, warm(ours)),
    }
    verdict["wins"] = _wins(verdict, finished, ours, tolerance)
    return verdict


def _least(contestants, seconds, ours):
    if not contestants:
        return None
    name = min(contestants, key=lambda name: seconds(contestants[name]))
    return name, seconds(contestants[name]) / ours


def _wins(verdict, finished, ours, tolerance):
    """Sentences, one for each way in which a peer is ahead."""
    told = []
    faster = "is faster at the same or better quality"
    kinds = [("best", faster), ("naive", faster), ("cold", "has its first answer earlier")]
    for kind, words in kinds:
        if verdict[kind] and verdict[kind][1] < 1:
            name, ratio = verdict[kind]
            told.append(f"{name} {words}: {1 / ratio:.2f} times")
    known = verdict["best_known"]
    if known and known[1] < 1 and known != verdict["best"]:
        told.append(f"{known[0]} is faster, told what only an oracle knows: {1 / known[1]:.2f} times")
    for name, other in finished.items():
        if better(other["score"], ours["score"], tolerance):
            what = "objective" if not as_good_at(ours["score"], other["score"], "objective", tolerance) else "mean"
            words = "has the better objective" if what == "objective" else "has the better objectives over all sizes"
            told.append(f"{name} {words}: {other['score'][what]:.6g}, ours {ours['score'][what]:.6g}")
    return told
