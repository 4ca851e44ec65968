"""dask-ml's linear regression with an absolute penalty on blocks of rows, by consensus ADMM, its default for it."""

import json
import sys
import time

import dask.array as da
import numpy as np


def main():
    told = json.loads(sys.argv[1])
    from dask.distributed import Client
    from dask_ml.linear_model import LinearRegression

    with Client(n_workers=2, threads_per_worker=max(1, told["cores"] // 2), dashboard_address=None):
        parts = [np.load(path, mmap_mode="r") for path in told["paths"]]
        X = da.concatenate([da.from_array(part, chunks=part.shape) for part in parts]).persist()
        y = da.from_array(np.load(told["y"]), chunks=(X.chunks[0],)).persist()
        clock = time.perf_counter()
        model = LinearRegression(penalty="l1", solver="admm", C=told["strength"], fit_intercept=False).fit(X, y)
        took = time.perf_counter() - clock
    largest = np.sort(np.argsort(-np.abs(model.coef_))[: told["k"]])
    note = f"{np.sum(np.abs(model.coef_) > 1e-6)} atoms, the {told['k']} largest kept; strength given"
    print(json.dumps([{"seconds": took, "support": largest.tolist(), "note": note}]))


if __name__ == "__main__":
    main()
