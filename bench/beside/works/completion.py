"""A matrix of rank k from some of its entries; the error on entries that were not seen.

A picture of 512 × 768 reduced to rank 60, of which 35 % are seen (drawn where the photograph is not there); ratings of
films (MovieLens 100k, a tenth held out, rank 5); and 20,000 × 10,000 of rank 20 with noise, 5 million entries seen. No
package of the peers completes matrices: softImpute's alternating least squares (R's `softImpute(type = "als")`) stands
for them, written in NumPy, along a path of strengths that ends at the best of a few tried.
"""

import pathlib

import numpy as np

from beside import real_data, soft_impute
from beside.contest import Contestant, Row

TITLE = "Completion of matrices"
SHORT = "completion,"
REFERENCES = ["katoms, f64"]
TOLERANCE = 0.01
METRICS = [
    ("RMSE on what was not seen", lambda score: f"{score['objective']:.4g}"),
    ("relative to the spread", lambda score: f"{score['relative']:.3g}"),
]

ROWS = [
    Row(
        "completion-picture",
        "512 × 768, rank 60, 35 % seen",
        {"kind": "picture", "rank": 60, "data": "picture"},
        quick=True,
    ),
    Row("completion-ml100k", "ratings, 943 × 1,682, rank 5", {"kind": "ratings", "rank": 5, "data": "ratings"}),
    Row(
        "completion-20000x10000",
        "20,000 × 10,000, rank 20, 5 million entries",
        {"kind": "large", "rank": 20, "data": "large-matrix"},
        memory=3.0,
    ),
]
#: Where softImpute's path of strengths ends, as a share of the largest singular value of what is seen: the best
#: of a few tried. And what is taken off before: ratings have a mean, the other two matrices have exactly their rank without it.
LAST = {"picture": 1e-5, "ratings": 0.3, "large": 1e-3}
CENTRING = {"picture": "none", "ratings": "effects", "large": "none"}
STRENGTHS = {"picture": 8, "ratings": 2, "large": 3}
#: A matrix without noise needs more of softImpute than its defaults.
EXACT = {"iterations": 300, "tolerance": 1e-9}


def missing(shape):
    return real_data.missing("ml100k.npz") if shape["kind"] == "ratings" else None


def draw(folder, shape):
    rng = np.random.default_rng(0)
    drawing = {"picture": _picture, "ratings": _ratings, "large": _large}[shape["kind"]]
    rows, columns, values, hidden, size = drawing(rng)
    parts = {"rows": rows, "columns": columns, "values": values, "hidden": hidden, "shape": np.array(size)}
    np.savez(pathlib.Path(folder) / "entries.npz", **parts)


def _picture(rng):
    whole = picture()
    U, d, V = np.linalg.svd(whole, full_matrices=False)
    whole = (U[:, :60] * d[:60]) @ V[:60]
    rows, columns = np.indices(whole.shape).reshape(2, -1)
    return rows, columns, whole.ravel(), rng.random(whole.size) >= 0.35, whole.shape


def picture():
    """The photograph in grey, or a drawn scene with the spectrum of photographs where it is not there."""
    file = real_data.file("kodim05.png")
    try:
        from PIL import Image

        return np.asarray(Image.open(file).convert("L"), float)
    except (ImportError, OSError):
        waves = np.fft.fft2(np.random.default_rng(1).standard_normal((512, 768)))
        frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(512), np.fft.fftfreq(768), indexing="ij"))
        scene = np.fft.ifft2(waves / np.maximum(frequency, 1 / 768) ** 1.2).real
        return 128 + 50 * (scene - scene.mean()) / scene.std()


def _ratings(rng):
    with np.load(real_data.file("ml100k.npz")) as archive:
        rows, columns = archive["user"].astype(int), archive["item"].astype(int)
        values = archive["rating"].astype(float)
    rows, columns = rows - rows.min(), columns - columns.min()
    return rows, columns, values, rng.random(len(rows)) < 0.1, (rows.max() + 1, columns.max() + 1)


def _large(rng):
    m, n, rank, seen, held = 20_000, 10_000, 20, 5_000_000, 200_000
    left, right = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    places = np.unique(rng.integers(0, m * n, seen + held + 200_000))
    places = rng.permutation(places)[: seen + held]
    rows, columns = np.divmod(places, n)
    values = soft_impute.places(left, right, rows, columns) + rng.standard_normal(len(rows))
    return rows, columns, values, np.arange(len(rows)) >= seen, (m, n)


def load(folder, shape, contestant):
    with np.load(pathlib.Path(folder) / "entries.npz") as archive:
        told = {name: archive[name] for name in archive}
    seen = ~told["hidden"]
    return {
        "seen": (told["rows"][seen], told["columns"][seen], told["values"][seen]),
        "hidden": (told["rows"][~seen], told["columns"][~seen], told["values"][~seen]),
        "shape": tuple(int(length) for length in told["shape"]),
    }


def score(folder, shape, data, answer):
    truth = data["hidden"][2]
    error = float(np.sqrt(np.mean((answer["predict"](*data["hidden"][:2]) - truth) ** 2)))
    # Below a thousandth of the spread both are exact to the eye of a user.
    return {"objective": error, "relative": error / float(truth.std()), "floor": 1e-3 * float(truth.std())}


def _katoms(chosen):
    """All chosen by itself, or told what is known of the matrix."""

    def setup(data, shape, hints):
        from katoms import MatrixCompletion

        known = {"l2": 0.3 if shape["kind"] == "ratings" else 0.0, "centring": CENTRING[shape["kind"]]}

        def fit():
            model = MatrixCompletion(shape["rank"], **({} if chosen else known)).fit((*data["seen"], data["shape"]))
            return {"predict": model.predict, "told": {"status": model.status_, "l2": float(model.l2_)}}

        return fit

    return setup


def levels(entries, shape, kind):
    """What softImpute takes off before: the mean and the effects of rows and columns for ratings, as R's biScale."""
    rows, columns, values = entries
    mean, by_row, by_column = 0.0, np.zeros(shape[0]), np.zeros(shape[1])
    if CENTRING[kind] == "effects":
        mean = values.mean()
        for _ in range(10):
            for effect, at, other, there in ((by_row, rows, by_column, columns), (by_column, columns, by_row, rows)):
                # Three more entries of no effect for each: those with few ratings are not overfitted.
                total = np.bincount(at, values - mean - other[there], len(effect))
                effect[:] = total / (np.bincount(at, minlength=len(effect)) + 3)
    return lambda rows, columns: mean + by_row[rows] + by_column[columns]


def _soft_impute(data, shape, hints):
    import scipy.sparse.linalg

    rows, columns, values = data["seen"]

    def fit():
        level = levels(data["seen"], data["shape"], shape["kind"])
        entries = rows, columns, values - level(rows, columns)
        sparse = scipy.sparse.csr_matrix((entries[2], entries[:2]), shape=data["shape"])
        largest = scipy.sparse.linalg.svds(sparse, 1, return_singular_vectors=False)[0]
        strengths = largest * np.geomspace(0.5, LAST[shape["kind"]], STRENGTHS[shape["kind"]])
        how = EXACT if shape["kind"] == "picture" else {}
        U, d, V, count = soft_impute.soft_impute_als(entries, data["shape"], shape["rank"], strengths, **how)

        def predict(rows, columns):
            return level(rows, columns) + soft_impute.places(U * d, V, rows, columns)

        return {"predict": predict, "told": {"iterations": count}}

    return fit


CONTESTANTS = [
    Contestant("katoms, f64", "katoms", _katoms(chosen=False)),
    Contestant("katoms, ridge and centring chosen, f64", "katoms", _katoms(chosen=True)),
    Contestant("softImpute-ALS", "scipy", _soft_impute),
]
