"""scikit-learn's Lasso on all rows together."""

import json
import sys
import time

import numpy as np
from sklearn.linear_model import Lasso


def main():
    told = json.loads(sys.argv[1])
    X = np.asfortranarray(np.concatenate([np.load(path) for path in told["paths"]]))
    y = np.load(told["y"])
    clock = time.perf_counter()
    model = Lasso(alpha=told["strength"] / len(y), fit_intercept=False).fit(X, y.astype(np.float32))
    took = time.perf_counter() - clock
    largest = np.sort(np.argsort(-np.abs(model.coef_))[: told["k"]])
    note = f"{np.count_nonzero(model.coef_)} atoms, the {told['k']} largest kept; strength given"
    print(json.dumps([{"seconds": took, "support": largest.tolist(), "note": note}]))


if __name__ == "__main__":
    main()
