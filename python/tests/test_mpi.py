"""Fits with MPI: the same script on several ranks, which are processes of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi_fits import BLOCKS, hexed, problem

import katoms

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

MPIRUN = shutil.which("mpirun", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
if MPIRUN is None:
    pytest.skip("there is no mpirun", allow_module_level=True)


def run(ranks, script, *arguments, threads=None):
    """What rank 0 of a script prints; a job that does not end is a failure."""
    version = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout
    flags = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else []
    command = [MPIRUN, *flags, "-n", str(ranks), sys.executable, "-m", "mpi4py"]
    script = str(Path(__file__).parent / script)
    known = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    known |= {} if threads is None else {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([*command, script, *arguments], capture_output=True, text=True, timeout=300, env=known)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What 1, 2 and 3 ranks find of the same blocks."""
    folder, (X, _) = tmp_path_factory.mktemp("blocks"), problem()
    for block, places in enumerate(np.array_split(np.arange(X.shape[1]), BLOCKS)):
        np.save(folder / f"{block}.npy", X[:, places])
    # One thread is what queues often give: rank 0 works as the others do while its fit waits.
    return {
        ranks: run(ranks, "mpi_fits.py", str(folder), threads=threads) for ranks, threads in ((1, 1), (2, None), (3, 1))
    }


def test_any_number_of_ranks_gives_the_same_bits(found):
    assert len(found[1]) >= 9
    for name, model in found[1].items():
        assert model == found[2][name] == found[3][name], name


def test_ranks_find_the_model_of_one_machine(found):
    X, y = problem()
    for name in ("columns", "rows"):
        model = katoms.SparseRegressor(3).fit(X, y)
        assert found[2][name]["support"] == model.support_.tolist()
        assert np.allclose([float.fromhex(value) for value in found[2][name]["coef"]], model.coef_)
        assert found[2][name]["score"] == pytest.approx(model.score(X, y))
    labels = np.where(y > 0, "yes", "no")
    classifier = katoms.SparseClassifier(3).fit(X, labels)
    assert found[2]["classes"]["support"] == classifier.support_.tolist()
    assert found[2]["classes"]["score"] == pytest.approx(classifier.score(X, labels))
    times = np.column_stack([np.exp(-y / 4), np.arange(len(y)) % 4 > 0])
    hazards = katoms.SparseCox(3).fit(X, times, strata=labels)
    assert found[2]["hazards"]["support"] == hazards.support_.tolist()
    assert found[2]["hazards"]["score"] == pytest.approx(hazards.score(X, times))
    validated = katoms.SparseRegressorCV(range(1, 5), cv=3).fit(X, y)
    assert found[2]["cv"]["support"] == validated.support_.tolist()
    losses = [float.fromhex(value) for value in found[2]["cv"]["losses"]]
    assert np.allclose(losses, np.ravel(validated.cv_results_["fold_losses"]))
    weighted = katoms.SparseRegressor(3).fit(X, y, np.linspace(0.5, 2, len(y)), offset=0.1 * y)
    assert found[2]["weights"]["support"] == weighted.support_.tolist()
    assert hexed(katoms.SparseRegressor(3).fit(X, y).predict(X)) == found[3]["columns"]["predicted"]


def test_an_error_of_one_rank_is_raised_on_all():
    everybody = run(3, "mpi_errors.py")
    for name, (kind, words) in everybody[0].items():
        for rank, told in enumerate(everybody):
            # An exception that cannot be pickled arrives as its words.
            as_words = ["KatomsError", f"{kind}: {words}"]
            assert told[name] == [kind, words] or (name == "callback" and told[name] == as_words), (name, rank)
    words = {name: words for name, (_, words) in everybody[0].items()}
    assert words["no file"].startswith("block 2 on rank 2 (")
    assert "there is no file nowhere.npy" in words["no file"] and "block 2 on rank 2" in words["predicted"]
    assert "block 2 has 30 rows and 10 columns; beside block 0 it needs 40 and 10" in words["other rows"]
    assert "column 25" in words["NaN"]
    assert "katoms.mpi.columns(X)" in words["plain array"]
    assert words["both"] == "rank 0 has columns and rank 2 has rows; all ranks need the same of the two"
    assert words["y of other rows"] == words["scored"]
    assert words["y of other rows"] == "y has 35 values on rank 2; one for each of its 40 rows is needed"
    assert (
        everybody[2]["interrupt of rank 0"][0] == everybody[0]["interrupt of the last rank"][0] == "KeyboardInterrupt"
    )
