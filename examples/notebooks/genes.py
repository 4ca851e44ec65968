# %% [markdown]
# # Ten genes out of twenty thousand
#
# A study has 100 patients, 20,000 genes of each, and a response. Which ten genes explain it best, how sure is that,
# and should it be ten? The data are made up here, so that the answers can be compared with the truth.

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
# Six genes act on the response. One of them, `gene00500`, has a companion that is nearly a copy of it: 100 patients
# cannot tell the two apart.

# %%
rng = np.random.default_rng(0)
values = rng.normal(size=(100, 20_000))
values[:, 501] = values[:, 500] + 0.01 * rng.normal(size=100)
acting = np.sort(np.append(rng.choice(np.arange(1000, 20_000), 5, replace=False), 500))
effects = np.zeros(20_000)
effects[acting] = rng.permutation(np.linspace(1.0, 2.5, 6)) * rng.choice([-1, 1], 6)
response = 5 + values @ effects + rng.normal(size=100)
X = pandas.DataFrame(values, columns=[f"gene{j:05d}" for j in range(20_000)])
copies = {"gene00500", "gene00501"}

# %% [markdown]
# ## The best ten

# %%
model = katoms.SparseRegressor(support_size=10).fit(X, response)
chosen = model.get_feature_names_out()
columns = {"coefficient": model.coef_[model.support_], "planted": effects[model.support_]}
table = pandas.DataFrame(columns, index=chosen)
print(table.round(2).to_string())
print(f"\n{model.status_} after {model.n_iter_} iterations, R² {model.score(X, response):.3f} on these patients")
assert model.status_ == "converged"
assert set(X.columns[acting]) - copies <= set(chosen) and copies & set(chosen)

# %% [markdown]
# ## How sure are these ten?
#
# Each of the ten was compared with each of the other 19,990 in its place. No exchange improves the fit, and one is
# nearly as good: the copy.

# %%
print(model.quality_)
rivals = [{X.columns[inside], X.columns[outside]} for inside, outside, _ in model.quality_.near_ties]
assert model.quality_.exhaustive and model.quality_.exchange_gain == 0
assert copies in rivals

# %% [markdown]
# ## Should it be ten?
#
# All this was said of ten genes. That ten are too many, it cannot say: with 20,000 candidates for 100 patients there
# is always a gene that explains a little more. Criteria judge on the patients of the fit, and with so many candidates
# they take too many. Cross-validation judges on patients held out.

# %%
path = katoms.path(X, response, support_sizes=range(1, 16))
validated = katoms.SparseRegressorCV(support_size=range(1, 16), rule="1se").fit(X, response)
for criterion in ("aic", "bic", "gic", "ebic"):
    print(f"{criterion.upper():4} chooses {path.best(criterion):2}")
print(f"cross-validation: least loss with {validated.k_min_}, smallest within one standard error {validated.k_1se_}")
assert validated.k_min_ == validated.k_1se_ == 6 <= path.best("ebic")

# %% [markdown]
# ## Against the truth

# %%
found = set(validated.get_feature_names_out())
print("found: ", ", ".join(sorted(found)))
print("act:   ", ", ".join(X.columns[acting]))
assert found - copies == set(X.columns[acting]) - copies and len(found & copies) == 1

# %% [markdown]
# In the left picture the six keep their coefficients whatever the size. Where the line of `gene00500` drops to zero,
# the copy stands in its place.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.4), layout="constrained")
katoms.plot_path(validated, ax=left)
left.set_title("coefficients by size", pad=22)
katoms.plot_cv(validated, ax=right)
right.set_title("patients held out", pad=22)
figure.savefig(FIGURES / "genes.png", dpi=100)
