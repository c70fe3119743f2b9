"""The shapes of a user's own objective, checked once with two candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.objectives._base import Objective
from unassuming.objectives._designed import DesignedObjective

_SEE = (
    "See docs/howto/add-an-objective.md and the example of help(ua.register_objective); "
    "ua.testing.check_objective checks more."
)


def check_objective(objective: Any, factory: Any) -> None:
    """Raise unless a factory returned an objective whose methods return the right shapes."""
    if not isinstance(objective, Objective):
        name = getattr(factory, "__name__", repr(factory))
        given = "None" if objective is None else type(objective).__name__
        raise TypeError(
            f"the factory {name} did not return an objective: expected an instance of a subclass "
            f"of ua.objectives.Objective, given {given}. Return the objective from the factory. "
            f"{_SEE}"
        )
    if isinstance(objective, DesignedObjective):
        return  # residuals and gradient are those of the library
    name = type(objective).__name__
    n, d = objective.n, objective.d
    a = 1e-3 * np.linspace(1.0, 2.0, 2 * d).reshape(2, d)  # two candidates, none of them zero
    r = _shaped(
        f"{name}.residuals(coefficients)",
        lambda: objective.residuals(a),
        (2, n),
        f"coefficients of shape (2, {d}), two candidates at once",
        "Write e.g. y - coefficients @ X.T, which takes any number of candidates.",
    )
    perturbed = np.stack([r, -r, r[:, ::-1]], axis=1)
    what = f"{name}.gradient(coefficients, residuals)"
    z = _shaped(
        what,
        lambda: objective.gradient(a, r),
        (2, None),
        f"coefficients of shape (2, {d}) and residuals of shape (2, {n})",
        "Write e.g. residuals @ X, which takes any number of residual vectors.",
    )
    every = _shaped(
        what,
        lambda: objective.gradient(a, perturbed),
        (2, 3, z.shape[1]),
        f"coefficients of shape (2, {d}) and residuals of shape (2, 3, {n}), three transformations "
        "of each",
        "Insert the middle axes into terms of the coefficients alone: "
        "penalty.reshape(len(penalty), *(1,) * (residuals.ndim - 2), -1).",
    )
    if not np.allclose(every[:, 0], z, rtol=1e-6, atol=1e-9 * np.abs(every).max()):
        raise ValueError(
            f"{what} gives different numbers for several residual vectors at once and for one at a "
            f"time: expected the same, given {every[0, 0, :3]} and {z[0, :3]}. Check the axes: "
            f"candidates come first, rows last. {_SEE}"
        )


def _shaped(what: str, call: Any, shape: tuple[int | None, ...], given: str, remedy: str) -> Array:
    """Return the result of a user's method; raise unless it has this shape and no NaN."""
    expected = f"an array of shape ({', '.join('k' if s is None else str(s) for s in shape)})"
    try:
        found = np.asarray(call(), dtype=np.float64)
    except Exception as error:
        raise ValueError(
            f"{what} fails with {given}: expected {expected}, given {error!r}. {remedy} {_SEE}"
        ) from error
    fits = found.ndim == len(shape) and all(
        s is None or s == length for s, length in zip(shape, found.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"{what} has the wrong shape for {given}: expected {expected}, given shape "
            f"{found.shape}. {remedy} {_SEE}"
        )
    if np.isnan(found).any():
        raise ValueError(
            f"{what} is not a number for {given}: expected finite numbers, given "
            f"{int(np.isnan(found).sum())} NaN among {found.size}. Look for a division by zero or "
            f"the root of a negative number. {_SEE}"
        )
    return found
