"""The example notebooks run, hold what they claim, and leave their figures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.py"))


def test_the_five_notebooks_are_there():
    assert [script.stem for script in NOTEBOOKS] == ["compressed_sensing", "genes", "groups", "image", "ratings"]


@pytest.mark.parametrize(
    "script",
    [pytest.param(script, marks=[] if script.stem == "ratings" else pytest.mark.long) for script in NOTEBOOKS],
    ids=lambda script: script.stem,
)
def test_a_notebook_holds_what_it_claims(script):
    pytest.importorskip("matplotlib")
    figure = ROOT / "target" / "notebooks" / f"{script.stem}.png"
    figure.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert done.stdout, "a notebook prints what it finds"
    assert "ConvergenceWarning" not in done.stderr


@pytest.mark.parametrize("script", NOTEBOOKS, ids=lambda script: script.stem)
def test_a_notebook_is_in_cells(script):
    text = script.read_text(encoding="utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("\n# %%\n") >= 3
