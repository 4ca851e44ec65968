"""Losses of one's own, for ``SparseRegressor(loss=...)``.

A loss is an object with three methods ``value``, ``gradient`` and ``curvature`` of ``(y, z)``: arrays of the targets and of
the linear predictions of some rows, to one number for each row. The loss of a row must be convex in its prediction. With
JAX or torch, :func:`from_jax` and :func:`from_torch` take the derivatives.

Before a fit the derivatives are compared with differences, and an error tells where they disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from katoms.exceptions import InvalidInputError

Function = Callable[[np.ndarray, np.ndarray], Any]

#: Predictions at which derivatives are compared, steps of differences, and how far off they may be.
_POINTS = (-1.3, 0.4, 1.7)
_STEP = 1e-5
_TOLERANCE = 1e-3
#: How many steps look for the least loss of a row, and up to where at least a loss must be a number.
_STEPS, _REACH = 200, 1000.0


@dataclass(frozen=True)
class RowLoss:
    """A loss made of three functions of (y, z).

    Parameters
    ----------
    value, gradient, curvature : callable
        The loss of each row, and its first and second derivatives in z.
    inverse_link : callable, optional
        From linear predictions to what ``predict`` gives. None: the linear predictions themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressor
    >>> from katoms.losses import RowLoss
    >>> cosh = RowLoss(  # squares of small residuals, magnitudes of large ones
    ...     value=lambda y, z: np.logaddexp(z - y, y - z) - np.log(2),
    ...     gradient=lambda y, z: np.tanh(z - y),
    ...     curvature=lambda y, z: 1 - np.tanh(z - y) ** 2,
    ... )
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 500))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + rng.standard_t(2, size=200)
    >>> SparseRegressor(support_size=2, loss=cosh).fit(X, y).support_
    array([ 7, 42])
    """

    value: Function
    gradient: Function
    curvature: Function
    inverse_link: Callable[[np.ndarray], np.ndarray] | None = None


def from_jax(function: Function, inverse_link: Callable[[np.ndarray], np.ndarray] | None = None) -> RowLoss:
    """A loss from a function of JAX, which takes the derivatives, in double precision.

    Parameters
    ----------
    function : callable
        From arrays ``(y, z)`` to the loss of each row.
    inverse_link : callable, optional
        From linear predictions to what ``predict`` gives.

    Returns
    -------
    RowLoss
    """
    import jax

    def gradients(y: Any, z: Any) -> Any:
        return jax.grad(lambda z: function(y, z).sum())(z)

    def curvatures(y: Any, z: Any) -> Any:
        ones = jax.numpy.ones_like(z)
        return jax.jvp(lambda z: gradients(y, z), (z,), (ones,))[1]

    def doubled(function: Function) -> Function:
        compiled = jax.jit(function)

        def called(y: np.ndarray, z: np.ndarray) -> np.ndarray:
            with jax.enable_x64(True):
                return np.asarray(compiled(jax.numpy.asarray(y), jax.numpy.asarray(z)))

        return called

    return RowLoss(doubled(function), doubled(gradients), doubled(curvatures), inverse_link)


def from_torch(function: Function, inverse_link: Callable[[np.ndarray], np.ndarray] | None = None) -> RowLoss:
    """A loss from a function of torch, which takes the derivatives.

    Parameters
    ----------
    function : callable
        From tensors ``(y, z)`` to the loss of each row.
    inverse_link : callable, optional
        From linear predictions to what ``predict`` gives.

    Returns
    -------
    RowLoss
    """
    import torch

    def of_order(order: int) -> Function:
        return lambda y, z: derivative(y, z, order)

    def derivative(y: np.ndarray, z: np.ndarray, order: int) -> np.ndarray:
        at = torch.tensor(z, dtype=torch.float64, requires_grad=order > 0)
        found = function(torch.tensor(y, dtype=torch.float64), at)
        for left in reversed(range(order)):
            # A derivative that is the same everywhere has none of its own.
            if not found.requires_grad:
                return np.zeros(len(z))
            (found,) = torch.autograd.grad(found.sum(), at, create_graph=left > 0, materialize_grads=True)
        return found.detach().numpy()

    return RowLoss(of_order(0), of_order(1), of_order(2), inverse_link)


def functions_of(loss: Any) -> tuple[Function, Function, Function]:
    """The three functions of a loss, each of which gives an array of one number for each row."""
    absent = [name for name in ("value", "gradient", "curvature") if not callable(getattr(loss, name, None))]
    if absent:
        raise InvalidInputError(
            f"loss is {loss!r}, which has no {absent[0]}; give the name of a loss, or an object with value, gradient and "
            "curvature, such as katoms.losses.RowLoss"
        )

    def as_arrays(name: str) -> Function:
        function = getattr(loss, name)

        def called(y: np.ndarray, z: np.ndarray) -> np.ndarray:
            found = np.ascontiguousarray(function(y, z), dtype=np.float64)
            if found.shape != y.shape:
                raise InvalidInputError(
                    f"{name} of the loss gives the shape {found.shape} for {len(y)} rows; it must give one number for each "
                    "row, not their sum"
                )
            return found

        return called

    return as_arrays("value"), as_arrays("gradient"), as_arrays("curvature")


def check_derivatives(functions: tuple[Function, Function, Function], y: np.ndarray) -> None:
    """Whether the derivatives are those of the value. A kink at a single place is none of its business."""
    names = ("value", "gradient", "curvature")
    wrong: dict[str, list[np.ndarray]] = {"gradient": [], "curvature": []}
    seen: dict[tuple[str, float], tuple[np.ndarray, np.ndarray]] = {}
    for point in _POINTS:
        z = np.full(len(y), point)
        for which in (1, 2):
            below, above = (functions[which - 1](y, z + sign * _STEP) for sign in (-1, 1))
            said, found = functions[which](y, z), (above - below) / (2 * _STEP)
            for values, name in ((said, names[which]), (above, names[which - 1])):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad) > 0:
                    raise InvalidInputError(
                        f"{name} of the loss is {values[bad[0]]} at row {bad[0]} (y = {y[bad[0]]:g}, z = {point:g}); it must "
                        "be finite for every prediction"
                    )
            wrong[names[which]].append(np.abs(said - found) > _TOLERANCE * (1 + np.abs(said) + np.abs(found)))
            seen[names[which], point] = said, found
            if which == 2 and (said < -_TOLERANCE).any():
                row = int(np.argmin(said))
                raise InvalidInputError(
                    f"curvature of the loss is {said[row]:g} at row {row} (y = {y[row]:g}, z = {point:g}); a loss must be "
                    "convex in z, so that its curvature is nowhere below 0"
                )
    for name, of in (("gradient", "value"), ("curvature", "gradient")):
        rows = np.flatnonzero(np.sum(wrong[name], axis=0) > 1)
        if len(rows) > 0:
            row = rows[0]
            point = next(p for p, bad in zip(_POINTS, wrong[name]) if bad[row])
            said, found = (values[row] for values in seen[name, point])
            raise InvalidInputError(
                f"{name} of the loss is {said:.6g} at row {row} (y = {y[row]:g}, z = {point:g}), but differences of {of} say "
                f"{found:.6g}; one of the two is wrong"
            )


def without_gaps(functions: tuple[Function, Function, Function]) -> list[Function]:
    """The same functions, which tell of a NaN where they give one."""

    def told(name: str, function: Function) -> Function:
        def called(y: np.ndarray, z: np.ndarray) -> np.ndarray:
            found = function(y, z)
            wrong = np.isnan(found) & (np.abs(z) <= np.maximum(_REACH, 2 * np.abs(y)))
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                raise InvalidInputError(
                    f"{name} of the loss is NaN for y = {y[at]:g} and z = {z[at]:g}; it must be a number for every prediction"
                )
            return found

        return called

    return [told(name, function) for name, function in zip(("value", "gradient", "curvature"), functions)]


def least_of(functions: tuple[Function, Function, Function], y: np.ndarray) -> np.ndarray:
    """The least loss of each row, all rows at once: Newton's steps where they shrink inside what is known to hold it, else
    steps that double until something is, and then halves of that."""
    value, gradient, curvature = functions
    z, last, reach = np.zeros(len(y)), np.full(len(y), np.inf), np.full(len(y), 0.5)
    low, high = np.full(len(y), -np.inf), np.full(len(y), np.inf)
    best, first = value(y, z), np.abs(gradient(y, z))
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            slope = gradient(y, z)
            # A slope that is no number is one of far too far out.
            falls = np.where(np.isnan(slope), z < 0, slope < 0)
            low, high = np.where(falls, z, low), np.where(falls, high, z)
            newton = z - slope / curvature(y, z)
            inside = np.isfinite(newton) & (low <= newton) & (newton <= high)
            shrinks = inside & (2 * np.abs(newton - z) <= last)
            between = np.isfinite(low) & np.isfinite(high)
            reach = np.where(shrinks | between, reach, 2 * reach)
            further = np.where(between, _halved(low, high), z + np.where(falls, reach, -reach))
            following = np.where(slope == 0, z, np.where(shrinks, newton, further))
            last = np.abs(following - z)
            if (last <= np.finfo(float).eps * np.abs(following)).all():
                break
            z = following
            best = np.fmin(best, value(y, z))
        falling = np.flatnonzero(
            ~(np.isfinite(low) & np.isfinite(high)) & (np.abs(gradient(y, z)) > 1e-3 * first + 1e-9)
        )
    if len(falling) > 0:
        row = falling[0]
        raise InvalidInputError(
            f"the loss of row {row} (y = {y[row]:g}) falls without end as its prediction goes to {np.sign(z[row]) * np.inf}; "
            "a loss must have a least value"
        )
    return best


def _halved(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """What has as many numbers of double precision below it as above."""

    def place(v: np.ndarray) -> np.ndarray:
        bits = np.abs(np.where(np.isfinite(v), v, 0.0)).view(np.int64)
        return np.where(v < 0, -bits, bits)

    middle = place(low) // 2 + place(high) // 2
    return np.copysign(np.abs(middle).view(np.float64), middle)
