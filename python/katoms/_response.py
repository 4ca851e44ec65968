"""What is predicted, as the kernels take it."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What the kernels hear of a response; what a loss does not need is None.
_KEYS = (
    "loss",
    "target",
    "weights",
    "offset",
    "exposure",
    "count",
    "quantile",
    "smoothing",
    "delta",
    "dispersion",
    "events",
    "entries",
    "strata",
    "ties",
    "functions",
    "least",
)


def response_of(loss: str, target: np.ndarray, **known: Any) -> dict[str, Any]:
    """A response: numbers, labels of classes or times, and what is known besides."""
    return {**dict.fromkeys(_KEYS), "loss": loss, "target": target, **known}
