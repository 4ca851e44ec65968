"""Genotypes: 0, 1 or 2 copies of a variant, a byte each, 50 of 100,000 with an effect; half of the variance is noise.

Neighbours are correlated in blocks of twenty. We read the bytes as they are, standardise and have an intercept. Peers that
read single precision get standardised columns and a centred target before the clock starts; adelie also its own
format for genotypes, written before the clock starts as well.
"""

import importlib.util
import pathlib

import numpy as np

from beside import penalised
from beside.contest import Contestant, Row
from beside.problem import Problem
from beside.works import arrays, least_squares

TITLE = "Genotypes"
SHORT = "genotypes,"
REFERENCES = ["katoms, int8"]
TOLERANCE = 1e-6
METRICS = [
    ("found", lambda score: f"{score['hits']}/{score['of']}"),
    ("objective, refitted", lambda score: f"{score['objective']:.6g}"),
]
#: Neighbours that are inherited together, and the correlation of what lies behind two next to each other.
BLOCK, LINKED = 20, 0.8
QUICK = 10_000


def _row(m, n, k):
    shape = {"m": m, "n": n, "k": k, "data": f"genotypes-{m}x{n}"}
    memory = 0.5 + 6 * 4 * m * n / 1e9
    return Row(f"genotypes-{m}x{n}", f"{m:,} × {n:,}, k = {k}", shape, memory, quick=n == QUICK)


ROWS = [_row(1000, QUICK, 20), _row(2000, 100_000, 50)]


def draw(folder, shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    folder = pathlib.Path(folder)
    rng = np.random.default_rng([m, n])

    def opened(kind, dtype):
        return np.lib.format.open_memmap(folder / f"X_{kind}.npy", "w+", dtype, (m, n), fortran_order=True)

    bytes_, singles = opened("i8", "i1"), opened("f32", "f4")
    for first in range(0, n, BLOCK):
        # A copy is there where something normal that neighbours share lies above the quantile of its frequency.
        latent = rng.standard_normal((2, m, BLOCK), dtype=np.float32)
        for j in range(1, BLOCK):
            latent[..., j] = LINKED * latent[..., j - 1] + np.sqrt(1 - LINKED**2) * latent[..., j]
        least = np.sort(latent[..., 0].ravel())[(2 * m * (1 - rng.uniform(0.05, 0.5, BLOCK))).astype(int)]
        copies = (latent > least).sum(axis=0).astype(np.int8)
        bytes_[:, first : first + BLOCK] = copies
        singles[:, first : first + BLOCK] = (copies - copies.mean(axis=0)) / copies.std(axis=0)
    support = np.sort(rng.choice(n, k, replace=False))
    clean = singles[:, support] @ rng.choice([-1.0, 1.0], k)
    np.save(folder / "support.npy", support)
    np.save(folder / "y.npy", clean + clean.std() * rng.standard_normal(m))
    bytes_.flush()
    singles.flush()
    if importlib.util.find_spec("adelie"):
        import adelie

        adelie.io.snp_unphased(str(folder / "X.snpdat")).write(np.asfortranarray(bytes_))


def load(folder, shape, contestant):
    folder = pathlib.Path(folder)
    y = np.load(folder / "y.npy")
    if contestant.data == "i8":
        return {"X": arrays.design(folder, "i8", "F"), "y": y}
    data = {"X": np.load(folder / "X_f32.npy", mmap_mode="r"), "y": (y - y.mean()).astype(np.float32)}
    if contestant.data == "f32":
        data["X"] = arrays.design(folder, "f32", contestant.order)
    return {**data, "file": str(folder / "X.snpdat")}


def bytes_of(folder, shape):
    return {kind: size * shape["m"] * shape["n"] for kind, size in (("i8", 1), ("f32", 4))}


def score(folder, shape, data, answer):
    """Least squares with an intercept on what was selected."""
    folder = pathlib.Path(folder)
    chosen = np.flatnonzero(np.asarray(answer["coef"]).ravel())
    y = np.load(folder / "y.npy")
    columns = np.column_stack([np.load(folder / "X_i8.npy", mmap_mode="r")[:, chosen], np.ones(len(y))])
    residual = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    hits = int(np.isin(chosen, np.load(folder / "support.npy")).sum())
    return {"size": len(chosen), "hits": hits, "of": shape["k"], "objective": float(residual @ residual) / 2}


def _adelie_snp(data, shape, hints):
    """adelie on its own format in memory; the columns of refits are read from the file of the others.

    Its view of standardised columns gets their moments: those that it takes of its own format are others.
    """
    import adelie

    threads = shape["threads"]
    counts = np.load(pathlib.Path(data["file"]).with_name("X_i8.npy"), mmap_mode="r")
    centres, scales = counts.mean(axis=0, dtype=np.float32), counts.std(axis=0, dtype=np.float32)
    handler = adelie.io.snp_unphased(data["file"])
    handler.read()

    def fit():
        plain = adelie.matrix.snp_unphased(handler, n_threads=threads, dtype=np.float32)
        X = adelie.matrix.standardize(plain, centres, scales, n_threads=threads)
        products = np.empty(shape["n"], np.float32)
        X.mul(data["y"], np.full(shape["m"], 1 / shape["m"], np.float32), products)
        loss, problem = adelie.glm.gaussian(data["y"], dtype=np.float32), Problem(data["X"], data["y"], shape["k"])
        return penalised.adelie_down(problem, loss, threads, float(np.abs(products).max()), X)

    return fit


CONTESTANTS = [
    Contestant("katoms, int8", "katoms", least_squares.katoms(), data="i8"),
    Contestant("katoms, single run, int8", "katoms", least_squares.katoms(method="accelerated-iht"), data="i8"),
    Contestant("katoms, f32", "katoms", least_squares.katoms(), data="f32"),
    Contestant("abess", "abess", least_squares.abess(), data="f32", order="C"),
    Contestant("scikit-learn OMP, f32", "sklearn", least_squares.omp, data="f32"),
    Contestant("celer Lasso, path, f32", "celer", least_squares.walked(least_squares.celer), data="f32"),
    Contestant("skglm MCP, path, f32", "skglm", least_squares.walked(least_squares.skglm), data="f32"),
    Contestant("adelie, path, f32", "adelie", least_squares.adelie, data="f32"),
    Contestant("adelie, path, its genotypes", "adelie", _adelie_snp, data="snp"),
]
