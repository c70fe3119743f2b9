"""Members near the ends of functionals: one search along the lines of any shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.regions.search.walk import Members

EXACT, ON_A_GRID = (8, 60), (3, 10)
"""Searches for each end, and lines that each of them follows; lines on a grid take long."""

_INSIDE = 1 - 1e-9
"""Steps end a little before the region does, so that rounding leaves them members."""


def climb(
    g: Array,
    start: Array,
    axes: Array,
    members: Members,
    accept: Callable[[Array], BoolArray],
    rng: np.random.Generator,
    effort: tuple[int, int] = EXACT,
) -> Array:
    """Return members (2, N, d) that come near the least and the largest gᵀa, g (N, d).

    The search begins at the member ``start``, and follows lines towards the end, turned at random
    in the coordinates of ``axes`` (k, d). It does not follow lines without end.
    """
    starts, rounds = effort
    both = np.repeat(np.concatenate([-g, g]), starts, axis=0)
    slope = both @ axes.T
    size = np.linalg.norm(slope, axis=1, keepdims=True)
    a = np.tile(start, (len(both), 1))
    for turn in range(rounds):
        scale = 10 ** rng.uniform(-2, 1.5, size=(len(both), 1)) * (turn > 0)
        unit = rng.normal(size=slope.shape) / np.sqrt(len(axes))
        moves = (slope + scale * size * unit) @ axes
        moves *= np.where((moves * both).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        ends = np.array([_farthest(spans) for spans in members(a, moves)])
        points = a + (_INSIDE * ends)[:, None] * moves
        better = ((points - a) * both).sum(axis=1) > 0
        better[better] = accept(points[better])
        a[better] = points[better]
    values = (a * both).sum(axis=1).reshape(-1, starts)
    best = np.argmax(values, axis=1) + starts * np.arange(len(values))
    return np.asarray(a[best].reshape(2, *g.shape))


def _farthest(spans: Array) -> float:
    """Return the largest finite end after zero; zero if there is none."""
    ends = spans[:, 1]
    return float(ends[np.isfinite(ends)].max(initial=0.0))
