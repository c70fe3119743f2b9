"""The least value of quasi-convex functions of one variable: a grid, then golden sections."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unassuming._typing import Array

_GOLDEN = (np.sqrt(5) - 1) / 2


def least_value(value: Callable[[Array], Array], shift: Array, grid: Array, steps: int) -> Array:
    """Return the least value that was met, for many functions at once.

    Parameters
    ----------
    value : callable
        From points (s, 1) or (s, N) to the values (s, N) of s × N functions. Every value it returns
        has to be a bound, so that one may stop anywhere.
    shift : array of shape (s, 1) or (1, 1)
        The middle of the grid.
    grid : array of shape (G,)
        Increasing, relative to the middle.
    steps : int
        Golden sections between the neighbours of the best point of the grid.
    """
    values = np.stack([value(shift + t) for t in grid])
    best, least = values.argmin(axis=0), values.min(axis=0)
    low = shift + grid[np.maximum(best - 1, 0)]
    high = shift + grid[np.minimum(best + 1, len(grid) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    least = np.minimum(least, np.minimum(at_left, at_right))
    for _ in range(steps):
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        fresh = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_fresh = value(fresh)
        least = np.minimum(least, at_fresh)
        left, right = np.where(go_left, fresh, right), np.where(go_left, left, fresh)
        at_left, at_right = (
            np.where(go_left, at_fresh, at_right),
            np.where(go_left, at_left, at_fresh),
        )
    return np.asarray(least)
