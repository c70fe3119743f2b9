"""Members at which functionals are large: hill climbing along lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unassuming._progress import progress
from unassuming._rounding import SEEN
from unassuming._typing import Array, BoolArray
from unassuming.regions.search._hit_and_run import Members

_STALLED = 4
_WORTH = 1e-6
"""The smallest gain that counts, relative to the total gain since the first member."""
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
    """Return for each functional g (N, d) the member found with the largest gᵀa, (N, d).

    Also return lines without end on which a functional grows, (2, N, d): origins and directions,
    NaN where none was met. The search for that functional ends there.

    Each functional starts at the best member of the pool (P, d). ``propose`` gives lines to try:
    pairs of origins and directions, (N, d) each. Every returned member was accepted. The search
    ends before its last round if several rounds find nothing better.
    """
    a, idle = pool[np.argmax(g @ pool.T, axis=1)], 0
    start = g @ pool[0]
    endless = np.full((2, *g.shape), np.nan)
    for _ in progress(((slice(j, j + 1), j) for j in range(rounds)), rounds, "rounds"):
        a = a[np.argmax(g @ a.T, axis=1)]  # a member found for one functional may suit another
        value = (g * a).sum(axis=1)
        better = np.zeros(len(g), dtype=np.bool_)
        for origins, directions in propose(rng, a, g, pool):
            t, forever = _ends(members(origins, directions), directions, g)
            endless[:, forever] = origins[forever], directions[forever]
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


def _ends(spans: list[Array], directions: Array, g: Array) -> tuple[Array, BoolArray]:
    """Return the t with the largest gᵀa on each line, and whether gᵀa grows for ever, (N,) each.

    t is a little inside the end of its interval, and zero on lines without a finite end.
    """
    slope = (g * directions).sum(axis=1)
    t, forever = np.zeros(len(g)), np.zeros(len(g), dtype=np.bool_)
    for j, (ends, rise) in enumerate(zip(spans, slope, strict=True)):
        uphill = ends if rise >= 0 else -ends[:, ::-1]
        finite = uphill[np.isfinite(uphill[:, 1])]
        forever[j] = len(finite) < len(uphill)
        if len(finite):
            low, high = finite[np.argmax(finite[:, 1])]
            inside = high - _INSIDE * min(high - low, abs(high))
            t[j] = inside if rise >= 0 else -inside
    forever &= np.abs(slope) > SEEN * (np.abs(g) * np.abs(directions)).sum(axis=1)
    return t, forever
