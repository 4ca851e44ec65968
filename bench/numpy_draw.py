"""The draw of the wide problem on which the six variants were first tried, made with NumPy.

    python3 -m venv .venv && .venv/bin/pip install numpy
    .venv/bin/python bench/numpy_draw.py target/draw        (`make target/draw` does both)
    KATOMS_DRAW=target/draw cargo run --release -p katoms-bench --bin heart variants
"""

import pathlib
import sys

import numpy as np

if len(sys.argv) != 2:
    sys.exit("usage: numpy_draw.py FOLDER")
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

m, n, k = 750, 20_000, 50
rng = np.random.default_rng(0)
columns = rng.standard_normal((n, m), dtype=np.float32) / np.float32(np.sqrt(m))
support = rng.choice(n, k, replace=False)
signal = np.zeros(n)
signal[support] = rng.standard_normal(k)
signal /= np.linalg.norm(signal)

columns.tofile(folder / "design.f32")
signal.tofile(folder / "signal.f64")
