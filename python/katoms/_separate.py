"""Several responses, each with features of its own: so many in all, or so many for each."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._data import run_kernel
from katoms._design import Design, Linear
from katoms._parameters import method_of, whole_of
from katoms.exceptions import InvalidInputError


def is_separate(model: Any, response: dict[str, Any]) -> bool:
    """Whether there are several responses that share no features."""
    separate = not getattr(model, "share_features", True) and response["loss"] == "responses"
    if separate and getattr(model, "interactions", None) is not None:
        raise InvalidInputError(
            "interactions go with features that all responses share; leave one of interactions and share_features=False out, "
            "or fit one column of y at a time"
        )
    return separate


def alone(problem: dict[str, Any]) -> list[dict[str, Any]]:
    """The problem of each response."""
    response = problem["response"]
    columns = response["target"].reshape(response["count"], -1)
    own = [{**response, "loss": "squares", "target": column.copy(), "count": None} for column in columns]
    return [{**problem, "response": one} for one in own]


def sizes_of_each(model: Any, count: int) -> int | list[int] | None:
    """So many features in all, or for each response; None where a criterion is to choose."""
    given = model.support_size
    if given is None:
        return None
    if isinstance(given, (str, numbers.Number)):
        return whole_of(given, "support_size", 0)
    sizes = [whole_of(size, "support_size", 0) for size in np.asarray(list(given)).ravel().tolist()]
    if len(sizes) != count:
        raise InvalidInputError(
            f"support_size has {len(sizes)} sizes, and y has {count} responses; with share_features=False give one size for "
            "each response, one number for all of them together, or None for a criterion"
        )
    return sizes


def response_names(model: Any, count: int) -> list[str]:
    """What the responses are called."""
    return list(getattr(model, "_response_names", ())) or [f"y{place}" for place in range(count)]


def joined(models: list[Linear]) -> Linear:
    """The models of all responses as one."""
    return Linear(np.concatenate([one.coef for one in models]), np.concatenate([one.intercepts for one in models]))


def fit_each(
    model: Any, design: Design, problem: dict[str, Any], sizes: int | list[int], start: Linear | None, chosen: Any
) -> None:
    """Fit models of so many features in all or for each response, and keep what there is to know about them.

    `chosen` is None where the sizes were given. Where they were chosen, `start` are the models that were judged: they are
    refitted and not searched for anew.
    """
    work = model._work(design)
    method = method_of(getattr(model, "method", None))
    if chosen is not None and problem["bounds"] is None and problem["inside"] is None:
        method = "accelerated-iht"
    question = {
        "total": sizes if isinstance(sizes, int) else None,
        "sizes": [] if isinstance(sizes, int) else sizes,
        "method": method,
        "effort": str(getattr(model, "effort", "default")) if chosen is None else "default",
        "start": None if start is None else (start.coef, start.intercepts.tolist()),
        "responses": response_names(model, problem["response"]["count"]),
        "atoms": "features" if model.groups is None else "groups",
    }
    result = run_kernel(_katoms.fit_each, design, problem, work, question)
    model.support_sizes_ = result["sizes"]
    model._keep_result(design, int(result["sizes"].sum()), result, chosen)
