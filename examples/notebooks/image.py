# %% [markdown]
# # A picture of which two fifths were seen
#
# A picture is a matrix, and a picture of a harbour is close to a matrix of low rank. `harbour_seen.png` has 40 % of
# the pixels of `harbour.png`; the others are transparent. `MatrixCompletion` fills them.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import katoms

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "examples" / "make.py").exists())
FIGURES = ROOT / "target" / "notebooks"
FIGURES.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# The three colours stand side by side in one matrix, so that they share their rows.

# %%
whole = plt.imread(ROOT / "examples" / "harbour.png")[:, :, :3].astype(float)
pixels = plt.imread(ROOT / "examples" / "harbour_seen.png").astype(float)
height, width, _ = whole.shape
seen = pixels[:, :, 3] > 0
holed = np.where(seen[:, :, None], pixels[:, :, :3], np.nan)


def side_by_side(picture):
    """Height × width × 3 as height × (3 · width)."""
    return picture.transpose(0, 2, 1).reshape(height, 3 * width)


def in_colour(matrix):
    """The way back."""
    return matrix.reshape(height, 3, width).transpose(0, 2, 1)


def decibels(picture):
    """The peak signal-to-noise ratio on the pixels that nobody saw."""
    return -10 * np.log10(np.mean((picture - whole)[~seen] ** 2))


matrix = side_by_side(holed)
print(f"{height} × {width} pixels, {seen.mean():.0%} seen")

# %% [markdown]
# ## A rank, chosen on pixels held out
#
# The mean, and what each row and each column adds to it, are taken off first. A tenth of what was seen is held out to
# choose the rank of the rest and the ridge. Predictions stay within what was seen, so no pixel is brighter than white.

# %%
model = katoms.MatrixCompletionCV(rank=[4, 8, 12, 16], l2=[0.0, 0.03], centring="effects").fit(matrix)
print(f"rank {model.rank_}, ridge {model.l2_:g}, held-out error {model.held_out_rmse_:.4f}")
print(f"{model.status_} after {model.n_iter_} iterations")
completed = in_colour(model.transform(matrix))
assert model.status_ == "converged"
assert np.array_equal(completed[seen], holed[seen]), "what was seen stays as it is"

# %% [markdown]
# ## Against simpler ways
#
# The mean of each colour in its column, and a rank that is too small.

# %%
column_means = np.where(np.isnan(matrix), np.nanmean(matrix, axis=0), matrix)
small = katoms.MatrixCompletion(rank=2, l2=0.03, centring="effects").fit(matrix)
ways = {
    "the mean of the column": in_colour(column_means),
    "rank 2": in_colour(small.transform(matrix)),
    f"rank {model.rank_}": completed,
}
for way, picture in ways.items():
    print(f"{way:24} {decibels(picture):5.1f} dB on the pixels not seen")
assert decibels(completed) > decibels(ways["rank 2"]) + 1
assert decibels(completed) > decibels(ways["the mean of the column"]) + 3

# %%
shown = {"seen": np.where(seen[:, :, None], holed, 0.85), f"rank {model.rank_}": completed, "the whole": whole}
figure, places = plt.subplots(1, 3, figsize=(12, 3), layout="constrained")
for place, (title, picture) in zip(places, shown.items()):
    place.imshow(np.clip(picture, 0, 1), interpolation="nearest")
    place.set_title(title)
    place.axis("off")
figure.savefig(FIGURES / "image.png", dpi=100)
