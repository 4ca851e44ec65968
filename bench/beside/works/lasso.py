"""The Lasso path of 100 strengths down to a thousandth of the largest, on sizes of scikit-learn's and celer's examples.

Ours is the library's path, which the Rust bin `lasso` of the bench times on the same data; it has no cold time in
Python. The objective is the largest duality gap along the path as a share of ‖y‖², computed here from the coefficients
and for ours by the bin; a path is as good as ours where it is within the tolerance asked for.
"""

import pathlib
import re
import subprocess
import time

import numpy as np

from beside.contest import Contestant, Row

TITLE = "Lasso path"
SHORT = "Lasso path,"
REFERENCES = ["katoms, f64"]
TOLERANCE = 1e-6
METRICS = [("largest gap", lambda score: f"{score['objective']:.1e}")]
#: scikit-learn's defaults.
EPS, TOL = "1e-3", "1e-4"
#: The designs of the bin, with their shapes.
DESIGNS = {
    "wide": (100, 10000),
    "large": (500, 5000),
    "medium": (1000, 2000),
    "correlated": (200, 1000),
    "tall": (2000, 500),
}
PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "target" / "release" / "lasso"

ROWS = [
    Row(f"lasso-{name}", f"{m:,} × {n:,} ({name})", {"name": name, "data": "lasso"}, quick=name == "wide")
    for name, (m, n) in DESIGNS.items()
]


def missing(shape):
    return None if PROGRAM.exists() else f"{PROGRAM} is not built: cargo build --release -p katoms-bench --bin lasso"


def draw(folder, shape):
    subprocess.run([PROGRAM, "draws", folder], check=True)


def load(folder, shape, contestant):
    m, n = DESIGNS[shape["name"]]
    X = np.fromfile(pathlib.Path(folder) / f"{shape['name']}_design.f64", "<f8").reshape(n, m).T
    return {"X": X, "y": np.fromfile(pathlib.Path(folder) / f"{shape['name']}_target.f64", "<f8"), "folder": folder}


def score(folder, shape, data, answer):
    gap = answer["gap"] if "gap" in answer else largest_gap(data["X"], data["y"], answer["alphas"], answer["coefs"])
    return {"objective": gap, "floor": 2 * float(TOL)}


def largest_gap(X, y, alphas, coefs):
    """The largest gap of ½‖y − Xb‖² + λ‖b‖₁ along a path, relative to ‖y‖²."""
    worst = 0.0
    for strength, coef in zip(np.asarray(alphas) * len(y), coefs.T):
        residual = y - X @ coef
        scale = min(1.0, strength / np.abs(X.T @ residual).max())
        primal = 0.5 * residual @ residual + strength * np.abs(coef).sum()
        dual = 0.5 * y @ y - 0.5 * (y - scale * residual) @ (y - scale * residual)
        worst = max(worst, primal - dual)
    return float(worst / (y @ y))


def _katoms(data, shape, hints):
    def fit():
        start = time.perf_counter()
        told = subprocess.run([PROGRAM, data["folder"]], check=True, capture_output=True, text=True).stdout
        line = re.search(rf"^{shape['name']} +\d+ +\d+ +{EPS} +{TOL} +([\d.]+) +([\de.+-]+)", told, re.MULTILINE)
        return {"seconds": float(line[1]), "gap": float(line[2]), "told": {"ran": time.perf_counter() - start}}

    return fit


def _alphas(data):
    return np.abs(data["X"].T @ data["y"]).max() / len(data["y"]) * np.logspace(0, np.log10(float(EPS)), 100)


def _sklearn(data, shape, hints):
    from sklearn.linear_model import lasso_path

    def fit():
        alphas, coefs, _ = lasso_path(data["X"], data["y"], alphas=_alphas(data), tol=float(TOL))
        return {"alphas": alphas, "coefs": coefs}

    return fit


def _celer(data, shape, hints):
    from celer import celer_path

    def fit():
        alphas, coefs = celer_path(data["X"], data["y"], "lasso", alphas=_alphas(data), tol=float(TOL))[:2]
        return {"alphas": alphas, "coefs": coefs}

    return fit


def _adelie(data, shape, hints):
    import adelie

    from beside import penalised

    def fit():
        state = penalised.adelie_grpnet(
            data["X"], adelie.glm.gaussian(data["y"]), shape["threads"], lmda_path=_alphas(data)
        )
        return {"alphas": state.lmdas, "coefs": state.betas.toarray().T}

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms),
    Contestant("scikit-learn", "sklearn", _sklearn),
    Contestant("celer", "celer", _celer),
    Contestant("adelie", "adelie", _adelie),
]
