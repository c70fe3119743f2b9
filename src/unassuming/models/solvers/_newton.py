"""Newton's method with a line search, down to the rounding error of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unassuming._typing import Array


@dataclass(frozen=True)
class Point:
    """Coefficients and the objective there."""

    a: Array
    value: float
    blur: float  # the rounding error of the value
    error: float  # the largest entry of the gradient in units of its rounding error


P = TypeVar("P", bound=Point)


def largest_error(gradient: Array, rounding: Array) -> float:
    """Return the largest entry of the gradient in units of its rounding error."""
    positive = rounding > 0.0
    return float(np.max(np.abs(gradient[positive]) / rounding[positive], initial=0.0))


def descend(start: P, step: Callable[[P], P | None], rounds: int) -> P:
    """Take steps until the gradient is zero to rounding; return the best point met."""
    current = best = start
    for _ in range(rounds):
        trial = None if current.error <= 1.0 else step(current)
        if trial is None:
            break
        current = trial
        best = min(best, current, key=lambda point: point.error)
    return best


def backtrack(point: P, trial_at: Callable[[float], P], slope: float) -> P | None:
    """Halve the step until the value falls; None where rounding leaves nothing to gain."""
    length = 1.0
    for _ in range(60):
        trial = trial_at(length)
        fall = point.value - trial.value
        if fall > 1e-4 * length * -slope > 0.0:
            return trial
        # Close to the minimum the values differ by rounding only; the gradients do not.
        if abs(fall) <= point.blur and trial.error < 0.9 * point.error:
            return trial
        length /= 2.0
    return None
