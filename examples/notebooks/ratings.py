# %% [markdown]
# # What would they like to see?
#
# 120 people rated some of 60 films with one to five stars. Which film should be shown to whom? A matrix of low rank
# says that people differ in few tastes. Three were planted, beside generous people and good films.

# %%
from pathlib import Path

import numpy as np
import pandas

import katoms

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "examples" / "make.py").exists())
FIGURES = ROOT / "target" / "notebooks"
FIGURES.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# A list of ratings, as services keep them. Rows and columns are numbered; a tenth is put away for a test.

# %%
ratings = pandas.read_csv(ROOT / "examples" / "ratings.csv")
rows, people = pandas.factorize(ratings["person"])
columns, films = pandas.factorize(ratings["film"])
stars = ratings["rating"].to_numpy()
shape = (len(people), len(films))
test = np.random.default_rng(0).random(len(stars)) < 0.1
known = (rows[~test], columns[~test], stars[~test], shape)
print(f"{len(people)} people, {len(films)} films, {len(stars)} ratings: {len(stars) / np.prod(shape):.0%} of all pairs")

# %% [markdown]
# ## How many tastes
#
# When the mean, and what each person and each film adds to it, are taken off first, the rank counts tastes.

# %%
by_effects = katoms.MatrixCompletionCV(rank=range(1, 7), centring="effects").fit(known)
print(f"beside generous people and good films: {by_effects.rank_} tastes")
assert by_effects.rank_ == 3

# %% [markdown]
# Left to itself, the estimator finds out on ratings held out whether to take something off. A model that takes nothing
# off has more to tell with its rank, and may predict better all the same.

# %%
model = katoms.MatrixCompletionCV(rank=range(1, 7)).fit(known)
print(f"best on ratings held out: rank {model.rank_}, ridge {model.l2_:g}, centring {model.centring_!r}")


def error(predicted):
    """The root of the mean squared error on the ratings put away, in stars."""
    return float(np.sqrt(np.mean((predicted - stars[test]) ** 2)))


people_and_films = by_effects.mean_ + by_effects.row_effects_[rows[test]] + by_effects.column_effects_[columns[test]]
errors = {
    "the mean of all": error(stars[~test].mean()),
    "people and films": error(np.clip(people_and_films, *by_effects.bounds_)),
    "and 3 tastes": error(by_effects.predict(rows[test], columns[test])),
    f"rank {model.rank_}, {model.centring_}": error(model.predict(rows[test], columns[test])),
}
print("error on the ratings put away, in stars:")
for what, stars_off in errors.items():
    print(f"  {what:18} {stars_off:.2f}")
mean, effects, tastes, best = errors.values()
assert mean > effects > tastes >= best

# %% [markdown]
# ## Recommendations
#
# For the first person: the films that were not rated, best first.

# %%
person = 0
rated = set(columns[rows == person])
open_films = np.array([film for film in range(len(films)) if film not in rated])
guesses = pandas.Series(model.predict(person, open_films), index=films[open_films]).sort_values(ascending=False)
print(f"for {people[person]}:")
print(guesses.head(5).round(1).to_string())

# %% [markdown]
# ## Somebody new
#
# A newcomer rates five films. The model is not fitted again: the newcomer's tastes are found from the five ratings.

# %%
newcomer = np.full((1, len(films)), np.nan)
newcomer[0, :5] = [5.0, 1.0, 4.0, 2.0, 5.0]
filled = model.transform(newcomer)
print("for the newcomer:", ", ".join(films[np.argsort(-filled[0, 5:])[:3] + 5]))
assert filled.shape == (1, len(films)) and not np.isnan(filled).any()
assert (filled[0, :5] == newcomer[0, :5]).all(), "what was rated stays as it is"

# %%
array = np.full(shape, np.nan)
array[known[0], known[1]] = known[2]
places = katoms.plot_completion(model, array)
places[0].figure.savefig(FIGURES / "ratings.png", dpi=100)
