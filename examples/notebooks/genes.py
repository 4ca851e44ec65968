# %% [markdown]
# # Ten genes out of twenty thousand
#
# A study has 100 patients, 20,000 genes each, and one measured response. Which ten genes explain it, and how sure is
# that? The data are made up here, so the answer can be compared with the truth.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas

import katoms

ROOT = next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "examples" / "make.py").exists())
FIGURES = ROOT / "target" / "notebooks"
FIGURES.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# Ten genes act on the response, some strongly and some weakly. One of the ten, `gene00500`, has a companion that is
# nearly a copy of it: no method can tell the two apart from 100 patients, and a good one says so.

# %%
rng = np.random.default_rng(6)
patients, genes = 100, 20_000
names = [f"gene{j:05d}" for j in range(genes)]
values = rng.normal(size=(patients, genes))
values[:, 501] = values[:, 500] + 0.05 * rng.normal(size=patients)
acting = np.sort(np.append(rng.choice(np.arange(1000, genes), 9, replace=False), 500))
effects = np.zeros(genes)
effects[acting] = rng.permutation(np.linspace(1.0, 2.5, 10)) * rng.choice([-1, 1], 10)
response = 5 + values @ effects + 0.5 * rng.normal(size=patients)
X = pandas.DataFrame(values, columns=names)

# %% [markdown]
# ## The best ten

# %%
model = katoms.SparseRegressor(support_size=10).fit(X, response)
found = pandas.DataFrame(
    {"coefficient": model.coef_[model.support_], "planted": effects[model.support_]},
    index=model.get_feature_names_out(),
)
print(found.round(2))
print(f"\n{model.status_} after {model.n_iter_} iterations; R² {model.score(X, response):.3f}")
assert model.status_ == "converged"
assert len(set(model.support_) & set(acting)) >= 9, "the strong genes are found"

# %% [markdown]
# ## How sure is each gene?
#
# Every exchange of one chosen gene for one of the other 19,990 was compared. A near tie is a pair that does almost as
# well when exchanged.

# %%
print(model.quality_)
rivals = {names[inside]: names[outside] for inside, outside, _ in model.quality_.near_ties}
assert model.quality_.exhaustive and model.quality_.exchange_gain == 0
assert rivals.get("gene00500", rivals.get("gene00501")) in ("gene00500", "gene00501"), "the copy is named"

# %% [markdown]
# ## Why ten?
#
# In a real study nobody tells the number. A criterion judges the models of each size on the data of the fit;
# cross-validation judges them on patients held out. Of the sizes that are as good as the best within one standard
# error, the smallest is taken.

# %%
path = katoms.path(X, response, support_sizes=range(1, 16))
validated = katoms.SparseRegressorCV(support_size=range(1, 16), rule="1se").fit(X, response)
print("by EBIC:", path.best("ebic"), "genes")
print(f"by cross-validation: {validated.k_min_} genes, within one standard error: {validated.k_1se_}")

# %% [markdown]
# ## Against the truth

# %%
for what, support in (("best 10", model.support_), ("EBIC", path.supports[path.place(path.best())]),
                      ("cross-validation, 1se", validated.support_)):
    hits = len(set(support.tolist()) & set(acting.tolist()))
    print(f"{what:22} {len(support):2} genes, {hits:2} of the 10 that act")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.4), layout="constrained")
katoms.plot_path(path, ax=left)
left.set_title("coefficients by size")
katoms.plot_cv(validated, ax=right)
right.set_title("error on patients held out")
figure.savefig(FIGURES / "genes.png", dpi=100)
