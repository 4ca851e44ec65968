"""What test_mpi.py runs on every rank: fits of the same blocks, and what they give."""

import json
import sys

import numpy as np

#: How many blocks there are, whatever the number of ranks.
BLOCKS = 6


def problem():
    """Data with some columns that matter; the same on every rank."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(120, 90)))
    y = X[:, 4] - 2 * X[:, 31] + 1.5 * X[:, 77] + rng.normal(size=120)
    return X, y


def hexed(values):
    """The bits of numbers."""
    return [float(value).hex() for value in np.ravel(values)]


def own(count, comm):
    """The blocks of a rank, by number."""
    return np.array_split(np.arange(count), comm.size)[comm.rank].tolist()


def fits(comm, folder):
    """By name: the bits of the coefficients and of predictions, and more."""
    import scipy.sparse
    from sklearn.base import clone

    import katoms
    import katoms.mpi

    X, y = problem()
    mine = own(BLOCKS, comm)
    across, down = (np.array_split(np.arange(count), BLOCKS) for count in reversed(X.shape))
    at = np.concatenate([down[block] for block in mine]).astype(int)
    here = y if comm.rank == 0 else None
    columns = katoms.mpi.columns([X[:, across[block]].copy(order="F") for block in mine])
    rows = katoms.mpi.rows([X[down[block]] for block in mine])
    found = {}

    def keep(name, model, data, target):
        found[name] = {
            "coef": hexed(model.coef_),
            "support": model.support_.tolist(),
            "score": model.score(data, target),
        }
        return model

    model = katoms.mpi.SparseRegressor(3)
    assert clone(model).get_params() == model.get_params()
    assert model.fit(columns, here) is model
    predicted = keep("columns", model, columns, here).predict(columns)
    found["columns"]["predicted"] = hexed(predicted)
    assert np.array_equal(predicted, katoms.SparseRegressor(3).fit(X, y).predict(X))
    by_rows = keep("rows", katoms.mpi.SparseRegressor(3).fit(rows, y[at]), rows, y[at])
    assert np.allclose(by_rows.predict(rows), predicted[at])

    katoms.mpi.LARGE, usual = 1, katoms.mpi.LARGE
    keep("broadcast", katoms.mpi.SparseRegressor(3).fit(columns, here), columns, here)
    katoms.mpi.LARGE = usual

    weights = np.linspace(0.5, 2, len(y))
    weighted = katoms.mpi.SparseRegressor(3).fit(rows, y[at], weights[at], offset=0.1 * y[at])
    keep("weights", weighted, rows, y[at])

    files = katoms.mpi.columns([f"{folder}/{block}.npy" for block in mine])
    keep("files", katoms.mpi.SparseRegressor(range(6)).fit(files, here), files, here)
    sparse = katoms.mpi.columns([scipy.sparse.csc_matrix(np.where(X > 0.5, X, 0)[:, across[block]]) for block in mine])
    keep("sparse", katoms.mpi.SparseRegressor(3).fit(sparse, here), sparse, here)

    labels = np.where(y > 0, "yes", "no")
    classes = katoms.mpi.SparseClassifier(3).fit(rows, labels[at])
    assert classes.predict_proba(rows).shape == (len(at), 2) and classes.classes_.tolist() == ["no", "yes"]
    keep("classes", classes, rows, labels[at])
    times = np.column_stack([np.exp(-y / 4), np.arange(len(y)) % 4 > 0])
    hazards = katoms.mpi.SparseCox(3).fit(rows, times[at], strata=labels[at])
    keep("hazards", hazards, rows, times[at])
    keep("hazards of columns", katoms.mpi.SparseCoxCV([2, 3], cv=2).fit(columns, times), columns, times)
    validated = katoms.mpi.SparseRegressorCV(range(1, 5), cv=3).fit(columns, here)
    keep("cv", validated, columns, here)
    found["cv"]["losses"] = hexed(validated.cv_results_["fold_losses"])
    keep("cv of classes", katoms.mpi.SparseClassifierCV([2, 3, 5], cv=2).fit(rows, labels[at]), rows, labels[at])

    holes = X.copy()
    holes[::7, 31] = np.nan
    damaged = katoms.mpi.columns([holes[:, across[block]].copy(order="F") for block in mine])
    filled = keep("missing", katoms.mpi.SparseRegressor(3, missing="mean").fit(damaged, here), damaged, here)
    assert np.allclose(filled.predict(damaged), katoms.SparseRegressor(3, missing="mean").fit(holes, y).predict(holes))
    return found


def main():
    """All ranks find the same, and rank 0 prints it."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    everybody = comm.gather(fits(comm, sys.argv[1]))
    if comm.rank == 0:
        assert all(found == everybody[0] for found in everybody)
        print(json.dumps(everybody[0]))


if __name__ == "__main__":
    main()
