# %% [markdown]
# # Pathways that tell relapse from health
#
# Genes work in pathways. Asking for the best genes gives a few of each; asking for the best pathways gives an answer
# that a biologist can read. `patients.csv` has 220 patients, their age, 60 genes and an outcome; `pathways.gmt` names
# twelve pathways of five or six genes, of which two share a gene. Pathways 2 and 7 were planted.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas
from sklearn.model_selection import cross_val_score

import katoms

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "examples" / "make.py").exists())
FIGURES = ROOT / "target" / "notebooks"
FIGURES.mkdir(parents=True, exist_ok=True)

# %%
table = pandas.read_csv(ROOT / "examples" / "patients.csv")
X, y = table.drop(columns="outcome"), table["outcome"]
with open(ROOT / "examples" / "pathways.gmt") as file:
    lines = [line.rstrip("\n").split("\t") for line in file]
pathways = {name: members for name, _, *members in lines}
shared = [gene for gene in X if sum(gene in members for members in pathways.values()) > 1]
print(f"{X.shape[0]} patients, {X.shape[1]} columns, {len(pathways)} pathways; in two pathways: {', '.join(shared)}")

# %% [markdown]
# ## How many pathways
#
# Cross-validation holds out patients. The age is in every model, for it is known to matter elsewhere, and it counts
# for nothing. The smallest model within one standard error of the best is taken.

# %%
model = katoms.SparseClassifierCV(support_size=range(1, 7), groups=pathways, always_select=["age"], rule="1se").fit(
    X, y
)
print(f"least held-out loss with {model.k_min_} pathways, within one standard error of it: {model.k_1se_}")
print("chosen:", ", ".join(model.chosen_groups_))
assert model.chosen_groups_ == ["pathway_2", "pathway_7"]

# %% [markdown]
# ## How good, how sure

# %%
print(model.quality_)
right = model.score(X, y)
more_common = max(np.mean(y == outcome) for outcome in model.classes_)
print(f"right for {right:.0%} of the patients of the fit; always saying the more common outcome: {more_common:.0%}")
assert model.status_ == "converged" and right > more_common + 0.2

# %% [markdown]
# A share of what was fitted is too kind. Here everything, the choice of the number of pathways too, is done anew
# without the patients that are judged.

# %%
outside = cross_val_score(model, X, y, cv=5)
print(f"right for {outside.mean():.0%} of patients that the model has not seen")
assert outside.mean() > more_common + 0.15

# %% [markdown]
# ## Genes one by one
#
# Without pathways, ten genes are chosen freely. Some of them are in neither pathway.

# %%
alone = katoms.SparseClassifier(support_size=10, always_select=["age"]).fit(X, y)
planted = set(pathways["pathway_2"]) | set(pathways["pathway_7"])
chosen = [name for name in alone.get_feature_names_out() if name != "age"]
strangers = [name for name in chosen if name not in planted]
print(f"10 genes chosen freely: {10 - len(strangers)} of the two pathways, and {', '.join(strangers) or 'no other'}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
katoms.plot_cv(model, ax=left)
left.set_title("patients held out", pad=22)
katoms.plot_coefficients(model, ax=right)
right.set_title("the chosen pathways", pad=22)
figure.savefig(FIGURES / "groups.png", dpi=100)
