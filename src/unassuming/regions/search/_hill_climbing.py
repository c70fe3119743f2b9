"""Members that push functionals as far as a search finds: hill climbing over crossings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unassuming._progress import progress
from unassuming._rounding import SEEN
from unassuming._typing import Array, BoolArray
from unassuming.regions.search._hit_and_run import Members

_STALLED = 4
_WORTH = 1e-6
"""A gain that counts, relative to what has been gained since the first member."""
_INSIDE = 1e-9


def climb(
    g: Array,
    pool: Array,
    members: Members,
    accept: Callable[[Array], BoolArray],
    propose: Callable[[np.random.Generator, Array, Array, Array], list[tuple[Array, Array]]],
    rng: np.random.Generator,
    rounds: int,
) -> tuple[Array, Array]:
    """Return a member for each functional g (N, d) with gᵀa as large as was found, (N, d).

    Also the lines without end on which a functional grows: origins and directions, (2, N, d), NaN
    where none was met. The search for that functional ends there.

    Parameters
    ----------
    pool : array of shape (P, d)
        Members to start from: each functional takes the best.
    members, accept : callables
        The region on lines, and membership of points: what is returned has been accepted.
    propose : callable
        (rng, points, g, pool) to lines to try: pairs of origins and directions, (N, d) each.
    rounds : int
        It ends before if several rounds find nothing.
    """
    a, idle = pool[np.argmax(g @ pool.T, axis=1)], 0
    start = g @ pool[0]
    endless = np.full((2, *g.shape), np.nan)
    for _ in progress(((slice(j, j + 1), j) for j in range(rounds)), rounds, "rounds"):
        a = a[np.argmax(g @ a.T, axis=1)]  # what was found for one functional may serve another
        value = (g * a).sum(axis=1)
        better = np.zeros(len(g), dtype=np.bool_)
        for origins, directions in propose(rng, a, g, pool):
            spans = members(origins, directions)
            for j in np.flatnonzero(_never_ends(spans, directions, g)):
                endless[:, j] = origins[j], directions[j]
            t = _farthest(spans, directions, g)
            trial = origins + t[:, None] * directions
            gain = (g * trial).sum(axis=1) - value > _WORTH * (value - start)
            gain &= np.isnan(endless[0, :, 0])
            if not gain.any():
                continue
            gain[gain] = accept(trial[gain])
            a[gain] = trial[gain]
            value[gain] = (g[gain] * a[gain]).sum(axis=1)
            better |= gain
        idle = 0 if better.any() else idle + 1
        if idle == _STALLED or not np.isnan(endless[0, :, 0]).any():
            break
    return np.asarray(a), endless


def _never_ends(spans: list[Array], directions: Array, g: Array) -> BoolArray:
    """Whether gᵀa grows for ever on a line."""
    rise = (g * directions).sum(axis=1)
    seen = np.abs(rise) > SEEN * (np.abs(g) * np.abs(directions)).sum(axis=1)
    last = [
        len(ends) > 0 and bool(np.isinf(ends[-1, 1] if up > 0 else ends[0, 0]))
        for ends, up in zip(spans, rise, strict=True)
    ]
    return np.asarray(seen & np.array(last, dtype=np.bool_))


def _farthest(spans: list[Array], directions: Array, g: Array) -> Array:
    """Return the t that takes gᵀa farthest on each line, a little inside its interval, (N,)."""
    slope = (g * directions).sum(axis=1)
    t = np.zeros(len(g))
    for j, (ends, rise) in enumerate(zip(spans, slope, strict=True)):
        ends = ends if rise >= 0 else -ends[:, ::-1]
        ends = ends[np.isfinite(ends[:, 1])]
        if len(ends):
            low, high = ends[np.argmax(ends[:, 1])]
            inside = high - _INSIDE * (
                min(high - low, abs(high)) if np.isfinite(low) else abs(high)
            )
            t[j] = inside if rise >= 0 else -inside
    return t
