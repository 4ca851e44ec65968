"""PsFiT on blocks of rows: consensus ADMM with a projection onto k atoms, a worker of Ray for each block."""

import contextlib
import io
import json
import sys
import time

import numpy as np

#: Rounds of ADMM; epochs and learning rate of the workers' gradient steps. The rate is the largest of 0.01, 0.02, 0.05 and 0.1
#: that converges with the penalty of 5 that the workers have.
ROUNDS, EPOCHS, RATE = (50, 200), 5, 0.05


def main():
    told = json.loads(sys.argv[1])
    import psfit
    import ray
    from psfit.data import RandomRegressionDataset
    from psfit.optim.distributed import DistributedDataParallel, WorkerConfig, create_parameter_server, create_worker

    class Rows(RandomRegressionDataset):
        """A block of rows. PsFiT's own ArrayDataset gives rows that its loader cannot put together."""

        def __init__(self, X, y):
            self.X, self.y = X, y.reshape(-1, 1)
            self.m, self.n = X.shape

    ray.init(num_cpus=max(told["cores"], len(told["paths"]) + 1), include_dashboard=False, log_to_driver=False)
    y, first, results = np.load(told["y"]), 0, []
    parts = []
    for path in told["paths"]:
        X = np.load(path)
        parts.append(Rows(X, y[first : first + len(X)].astype(np.float32)))
        first += len(X)
    for rounds in ROUNDS:
        clock = time.perf_counter()
        server = create_parameter_server([psfit.ProjectionSparsifier(density=told["k"])])
        workers = []
        for at, part in enumerate(parts):
            config = WorkerConfig(
                worker_id=at, batch_size=part.m, model_size=(part.n, 1), sgd_lr=RATE, local_epochs=EPOCHS
            )
            ray.get(server.add_worker_config.remote(config))
            workers.append(create_worker(at, part, psfit.MSELoss(), server))
        ray.get([worker.get_local_state.remote() for worker in workers])
        start = time.perf_counter() - clock
        clock = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            method = DistributedDataParallel(workers, server)
            for _ in range(rounds):
                method.step()
            found = np.asarray(ray.get(server.get_param.remote()).array()).ravel()
        took = time.perf_counter() - clock
        note = f"{rounds} rounds of {EPOCHS} epochs; {start:.0f} s to start"
        results.append(
            {"with": f", {rounds} rounds", "seconds": took, "support": np.flatnonzero(found).tolist(), "note": note}
        )
    print(json.dumps(results))


if __name__ == "__main__":
    main()
