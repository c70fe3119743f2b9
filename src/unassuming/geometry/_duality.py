"""Bounds by duality: a linear functional over a quadratic inequality and a ball.

For every multiplier θ >= 0 the ball plus θ times the inequality is one ellipsoid that holds their
intersection, so the support function of this ellipsoid is an upper bound. It is quasi-convex in θ:
a grid and golden sections find its least value, and the search may stop anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unassuming._typing import Array

_GOLDEN = (np.sqrt(5) - 1) / 2


def least_value(value: Callable[[Array], Array], shift: Array, grid: Array, steps: int) -> Array:
    """Return the least value found, for s × N functions of points (s, 1) or (s, N) at once.

    The grid (G,) is increasing and centred at ``shift`` (s, 1) or (1, 1). Golden sections refine it
    between the neighbours of its best point.
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


def centre_and_spread(h: Array, linear: Array, over: Array) -> tuple[Array, Array]:
    """Return hᵀ linear and hᵀ diag(over) h, (s, N) each, for functionals h (s, N, k).

    ``linear`` and ``over`` are of shape (s, N, k), or (s, 1, k) if θ is common to all functionals.
    """
    if over.shape[1] == 1:  # matrix products
        return (h @ linear[:, 0, :, None])[..., 0], (h**2 @ over[:, 0, :, None])[..., 0]
    return np.einsum("snk,snk->sn", h, linear), np.einsum("snk,snk,snk->sn", h, h, over)


def scaled_eigh(A: Array) -> tuple[Array, Array, Array]:
    """Diagonalise matrices (s, k, k) in units that make their diagonals one, where positive.

    Returns the units (s, k), the eigenvalues (s, k) and the eigenvectors (s, k, k) in columns.
    """
    diagonal = np.diagonal(A, axis1=1, axis2=2)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return unit, *np.linalg.eigh(unit[:, :, None] * A * unit[:, None, :])
