# %% [markdown]
# # A signal from fewer measurements than numbers
#
# A signal has 512 numbers, of which twelve are not zero. It was measured by 96 rows of the cosine transform. From
# these alone the signal is found exactly, since it is known to be sparse.

# %%
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.fft
import scipy.sparse.linalg

import katoms

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "examples" / "make.py").exists())
FIGURES = ROOT / "target" / "notebooks"
FIGURES.mkdir(parents=True, exist_ok=True)

# %%
truth = np.load(ROOT / "examples" / "signal.npy")
rows = np.load(ROOT / "examples" / "signal_rows.npy")
measured = np.load(ROOT / "examples" / "signal_measured.npy")
k = np.count_nonzero(truth)
print(f"{len(truth)} numbers, {k} not zero, {len(measured)} measurements")

# %% [markdown]
# ## Measuring without a matrix
#
# The measurements are two functions: the transform and its transpose. No matrix is written by us. An operator of
# PyLops goes in the same way.


# %%
def transform(x):
    """Some rows of the orthonormal cosine transform."""
    return scipy.fft.dct(x.ravel(), norm="ortho")[rows]


def transpose(r):
    """The transpose of it."""
    full = np.zeros(len(truth))
    full[rows] = r.ravel()
    return scipy.fft.idct(full, norm="ortho")


cosines = scipy.sparse.linalg.LinearOperator((len(rows), len(truth)), matvec=transform, rmatvec=transpose, dtype=float)
found = katoms.recover(cosines, measured, k)
print(found)
print(found.quality)
assert found.status == "converged"
assert np.abs(found.x - truth).max() < 1e-9 * np.abs(truth).max(), "the signal is found exactly"

# %% [markdown]
# ## What least squares does without sparsity
#
# There are many signals with these measurements. The one of least norm is spread over all places.

# %%
spread = transpose(measured)
print(
    f"relative error: least norm {np.linalg.norm(spread - truth) / np.linalg.norm(truth):.2f}, sparse "
    f"{np.linalg.norm(found.x - truth) / np.linalg.norm(truth):.0e}"
)
assert np.allclose(transform(spread), measured) and np.linalg.norm(spread - truth) > 0.5 * np.linalg.norm(truth)

# %% [markdown]
# ## How many entries can so many measurements carry?
#
# Random measurements have a threshold (Donoho and Tanner). Below it, ten signals of ten are found; far above it, none.

# %%
rng = np.random.default_rng(0)
threshold = katoms.phase_transition_k(96, 512)
sizes = [threshold // 2, threshold - 4, threshold, threshold + 6, threshold + 12, 2 * threshold]
shares = []
for size in sizes:
    hits = 0
    for _ in range(10):
        A = rng.normal(size=(96, 512))
        x = np.zeros(512)
        x[rng.choice(512, size, replace=False)] = rng.normal(size=size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # above the threshold it warns, and rightly so
            hits += np.allclose(katoms.recover(A, A @ x, size).x, x, atol=1e-6)
    shares.append(hits / 10)
    print(f"{size:3} entries: {hits:2} of 10 found")
assert shares[0] == 1.0 and shares[-1] < 0.5

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained")
left.plot(spread, color="0.7", linewidth=0.8, label="least norm")
left.plot(np.flatnonzero(truth), truth[truth != 0], "o", markersize=9, mfc="none", color="C1", label="truth")
left.plot(found.support, found.x[found.support], ".", color="C0", label="found")
left.set(title="96 measurements of 512 numbers", xlabel="place", ylabel="value")
left.legend()
right.plot(sizes, shares, "o-")
right.axvline(threshold, color="0.6", linestyle=":")
right.annotate("threshold", (threshold, 0.02), (4, 0), textcoords="offset points", color="0.4")
right.set(title="random measurements, ten signals each", xlabel="entries that are not zero", ylabel="share found")
figure.savefig(FIGURES / "compressed_sensing.png", dpi=100)
