"""The bench judges rightly: ratios, who is as good, who wins, what the file says. No peer is needed."""

import itertools
import json
import pathlib
import sys

import numpy as np
import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from beside import child, judging, quality, report, works  # noqa: E402  the bench is no package that is installed
from beside.quality import designs, driver, enumeration  # noqa: E402
from beside.quality import report as quality_report  # noqa: E402


def told(seconds, objective, *, ours=False, oracle=False, data="f64", cold=1.0, **rest):
    score = {"objective": objective, "hits": 9, "of": 10, "raw_objective": objective, "error": 0.1, "floor": 1e-9}
    return {
        "status": "ok",
        "ours": ours,
        "oracle": oracle,
        "data": data,
        "import_s": cold,
        "first_s": 0.5,
        "warm_s": [seconds, 3 * seconds, 0.1 * seconds],
        "loaded_mb": 90.0,
        "ready_mb": 100.0,
        "peak_mb": 130.0,
        "score": score,
        "told": {"reads": 2.0} if ours else {},
        **rest,
    }


def contest(**changed):
    contestants = {
        "katoms, f64": told(0.1, 5.0, ours=True, cold=0.3),
        "good": told(0.4, 5.0),
        "better and slow": told(2.0, 4.9),
        "hasty": told(0.01, 6.0),
        "told λ": told(0.05, 5.0, oracle=True),
        "late": {"status": "over", "message": "over 120 s", "ours": False, "oracle": False, "data": "f64"},
    }
    contestants.update(changed)
    return contestants


def test_times_and_memory():
    one = told(0.4, 5.0)
    assert judging.warm(one) == 0.4  # the median
    assert judging.cold(one) == 1.5
    assert judging.above_data(one) == 30.0
    assert judging.warm({**one, "warm_s": []}) == 0.5  # the first, where there was no other


@pytest.mark.parametrize(
    ("taken", "further"),
    [
        ([], True),
        ([0.3] * 4, True),  # fewer than were asked for
        ([0.3] * 5, False),
        ([0.001] * 900, True),  # short ones fill the window
        ([0.001] * 1100, False),
        ([4.0] * 3, False),  # no patience
    ],
)
def test_fits_are_repeated_so_often_and_so_long_at_least(taken, further):
    assert child.another(taken, {"repeats": 5, "window": 1.0, "patience": 10.0}) is further


def test_as_good_is_the_same_objective_or_a_lower_one():
    ours = {"objective": 5.0, "floor": 0.0}
    assert judging.as_good({"objective": 5.0 * (1 + 0.9e-6)}, ours)
    assert not judging.as_good({"objective": 5.0 * (1 + 2e-6)}, ours)
    assert judging.as_good({"objective": 1e-20}, {"objective": 1e-27, "floor": 1e-9})
    assert judging.better({"objective": 4.9}, ours)
    assert not judging.better({"objective": 5.0 * (1 - 0.5e-6)}, ours)
    assert judging.as_good({"objective": 5.04}, ours, tolerance=0.01)


def test_of_a_path_all_sizes_count():
    ours = {"objective": 5.0, "mean": 100.0}
    assert judging.as_good({"objective": 5.0, "mean": 100.0}, ours)
    assert not judging.as_good({"objective": 5.0, "mean": 101.0}, ours)
    assert judging.better({"objective": 5.0, "mean": 99.0}, ours)
    assert judging.as_good({"objective": 5.0, "mean": None}, ours), "who keeps no path is judged by the chosen model"
    path = told(2.0, 5.0)
    path["score"]["mean"] = 4.0
    mine = told(0.1, 5.0, ours=True)
    mine["score"]["mean"] = 5.0
    (sentence,) = judging.judged({"katoms, f64": mine, "path": path}, "katoms, f64")["wins"]
    assert sentence == "path has the better objectives over all sizes: 4, ours 5"


def test_memory_is_a_share_of_the_data():
    assert judging.memory_share(told(0.4, 5.0), {"f64": {"bytes": 3e8}}) == pytest.approx(0.1)
    assert judging.memory_share(told(0.4, 5.0), {}) is None


def test_the_best_peer_is_the_fastest_that_is_as_good():
    verdict = judging.judged(contest(), "katoms, f64")
    assert verdict["best"] == ("good", pytest.approx(4.0))
    assert verdict["best_known"] == ("told λ", pytest.approx(0.5))
    assert verdict["fastest"] == ("hasty", pytest.approx(0.1))
    assert verdict["cold"][1] == pytest.approx(1.5 / 0.8)


def test_wins_are_told_and_a_worse_answer_wins_nothing():
    wins = judging.judged(contest(), "katoms, f64")["wins"]
    assert len(wins) == 2
    assert "told λ" in wins[0] and "2.00 times" in wins[0]
    assert "better and slow has the better objective" in wins[1]
    assert not any("hasty" in sentence for sentence in wins)
    fast = contest(good=told(0.025, 5.0, cold=0.01))
    sentences = judging.judged(fast, "katoms, f64")["wins"]
    assert sentences[0] == "good is faster at the same or better quality: 4.00 times"
    assert "first answer earlier" in sentences[1]


def test_a_script_is_no_best_peer_but_its_win_is_told():
    verdict = judging.judged(contest(script=told(0.05, 5.0, naive=True, cold=0.0)), "katoms, f64")
    assert verdict["best"][0] == "good" and verdict["naive"] == ("script", pytest.approx(0.5))
    assert any(sentence.startswith("script is faster") for sentence in verdict["wins"])
    assert verdict["cold"][0] != "script"


def test_ours_in_f64_meets_f64_and_ours_in_f32_meets_all():
    both = contest(**{"katoms, f32": told(0.1, 5.0, ours=True, data="f32"), "short": told(0.2, 5.0, data="f32")})
    assert judging.judged(both, "katoms, f64")["best"][0] == "good"
    assert judging.judged(both, "katoms, f32")["best"] == ("short", pytest.approx(2.0))
    without = {name: other for name, other in both.items() if name != "short"}
    assert judging.judged(without, "katoms, f32")["best"][0] == "good"


def test_without_ours_there_is_no_verdict():
    assert judging.judged(contest(), "katoms, f32") is None
    none = {"status": "failed", "message": "?", "ours": True, "oracle": False, "data": "f64"}
    failed = contest(**{"katoms, f64": none})
    assert judging.judged(failed, "katoms, f64") is None


def test_the_limit_is_reads_times_bytes_over_bandwidth():
    ours = told(0.1, 5.0, ours=True)
    assert judging.within_limit(ours, {"f64": {"bytes": 1e9, "per_second": 4e10}}) == pytest.approx(2.0)
    assert judging.within_limit(ours, {}) is None
    assert judging.within_limit(told(0.1, 5.0), {"f64": {"bytes": 1e9, "per_second": 4e10}}) is None


@pytest.fixture
def written(tmp_path):
    """A folder with one row, and reasons for two."""
    machine = {"cpu": "a processor", "cores": 2, "memory_gb": 8.0, "threads": 2, "python": "3", "system": "Linux x86"}
    row = {
        "work": "least_squares",
        "key": "ls-500x1000-noiseless",
        "title": "500 × 1,000, k = 10, noiseless",
        "date": "2026-01-02 03:04",
        "machine": {**machine, "versions": {"katoms": "1.2.3", "abess": None}},
        "cap_s": 120,
        "bandwidth": {"f64": {"bytes": 4_000_000, "per_second": 4e10}},
        "contestants": contest(),
    }
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "one.json").write_text(json.dumps(row))
    (tmp_path / "why.md").write_text("head\n\n## ls-500x1000-*\n\nBecause of this.\n\n## cv-*\n\nBecause of that.\n")
    return tmp_path


def test_the_file_names_times_wins_and_the_reason_of_a_row_that_was_lost(written):
    text = report.assembled(written / "rows", written / "why.md")
    assert "a processor, 2 cores" in text and "katoms 1.2.3" in text and "abess" not in text.split("## Summary")[0]
    summary = next(line for line in text.splitlines() if line.startswith("| least squares"))
    assert "| good | 4 |" in summary and "| told λ | 0.5 |" in summary
    assert "Because of this." in text and "Because of that." not in text
    assert "| late | over 120 s |" in text
    assert "| hasty | 1.5 s | 10 ms | 0.1 | 9/10 |" in text


def test_no_reason_is_given_where_no_peer_wins(written):
    file = written / "rows" / "one.json"
    row = json.loads(file.read_text())
    row["contestants"] = {name: row["contestants"][name] for name in ("katoms, f64", "good", "hasty")}
    file.write_text(json.dumps(row))
    text = report.assembled(written / "rows", written / "why.md")
    assert "Nowhere in this run" in text and "Because" not in text


def test_nothing_measured_is_said(tmp_path):
    assert "Nothing was measured" in report.assembled(tmp_path, tmp_path / "why.md")


def test_the_rows_of_the_suite_have_keys_of_their_own():
    rows = [row for name in works.NAMES for row in works.named(name).ROWS]
    assert len({row.key for row in rows}) == len(rows)
    for name in works.NAMES:
        work = works.named(name)
        names = [contestant.name for contestant in work.CONTESTANTS]
        assert len(set(names)) == len(names) and set(work.REFERENCES) <= set(names)
        assert any(row.quick for row in work.ROWS)


# The rows of quality.


def known_case(excess, reads=5.0):
    return {"excess": excess, "reads": reads, "passes": 5, "seconds": 0.1, "proven": None, "support": [1, 2]}


def group(cases, **rest):
    machine = {"cpu": "a processor", "cores": 2, "memory_gb": 8.0, "threads": 2, "python": "3", "system": "Linux x86"}
    told = {"date": "2026-01-02 03:04", "machine": {**machine, "versions": {}}, "load": 0.1, "seconds": 3.0}
    return {"cases": cases, **told, **rest}


def line_of(text, figure):
    return next(line for line in text.splitlines() if figure in line)


def test_figures_of_quality_are_held_against_their_limits():
    cases = {
        "a/2": known_case(0.2),
        "b/3": known_case(0.01, 8.0),
        "c/5": known_case(-0.02, 9.0),
        "d/8": known_case(1e-9),
    }
    text = quality_report.summary({"known": group(cases)}, {})
    assert line_of(text, "above the best known").endswith("| 2 | ≤ 12 | met |")
    assert line_of(text, "by more than 5 %").endswith("| 1 | ≤ 4 | met |")
    assert line_of(text, "below the best known").endswith("| 1 |  |  |")
    many = {f"{at}": known_case(0.2, 9.0) for at in range(13)}
    text = quality_report.summary({"known": group(many)}, {})
    assert line_of(text, "above the best known").endswith("| 13 | ≤ 12 | **not met** |")
    assert line_of(text, "reads, median").endswith("| 9 | ≤ 7 | **not met** |")


def test_figures_of_another_build_stand_beside():
    now, before = {"a/2": known_case(0.0)}, {"a/2": known_case(0.2)}
    text = quality_report.summary({"known": group(now)}, {"known": group(before)})
    assert line_of(text, "above the best known").endswith("| 1 | 0 | ≤ 12 | met |")
    text = quality_report.differences({"known": group(now)}, {"known": group(before)})
    assert "| quality-known | a/2 | excess | 0.2 | 0 |" in text and "reads" not in text


def test_a_group_that_cannot_run_and_a_case_that_fails_are_told():
    results = {
        "thorough": group({}, missing="not available"),
        "known": group({"a/2": {"failed": "E"}, "b/2": known_case(0.0)}),
    }
    text = quality_report.assembled(results)
    assert "| quality-thorough | not available |" in text
    assert line_of(text, "cases that failed").endswith("| 1 | ≤ 0 | **not met** |")


def test_names_of_groups():
    assert driver.asked(["quality"]) == quality.NAMES
    assert driver.asked(["quality-path", "quality-known"]) == ["path", "known"]
    with pytest.raises(SystemExit, match="quality-known"):
        driver.asked(["quality-nothing"])


@pytest.mark.parametrize("k", [2, 3])
def test_enumeration_and_exchanges_are_those_of_trying_all(k):
    rng = np.random.default_rng(k)
    X, y = designs.unit(rng.normal(size=(9, 12))), rng.normal(size=9)
    y -= y.mean()

    def value(columns):
        return enumeration.explained(X, y, columns)

    best = max(itertools.combinations(range(12), k), key=value)
    assert sorted(enumeration.best(X, y, k)) == list(best)
    support = [0, 3, 7, 9]
    for size, found in [
        (1, enumeration.best_exchange(X, y, support)),
        (2, enumeration.best_double_exchange(X, y, support)),
    ]:
        models = (other for other in itertools.combinations(range(12), 4) if len(set(support) - set(other)) <= size)
        tried = max((other for other in models if size == 2 or set(other) != set(support)), key=value)
        assert sorted(found) == list(tried)
