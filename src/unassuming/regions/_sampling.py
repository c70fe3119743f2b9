"""Members of a region by hit-and-run on its exact lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.regions._seed import as_seed

Members = Callable[[Array, Array], list[Array]]
"""(origins, directions), each (N, d), to the intervals of t inside the region, N arrays (k, 2)."""

_CHAINS = 16


def hit_and_run(
    start: Array,
    axes: Array,
    members: Members,
    accept: Callable[[Array], Any],
    size: int,
    random_state: Any,
    thinning: int,
) -> Array:
    """Return members of a region, shape (size, d).

    Parameters
    ----------
    start : array of shape (d,)
        A member; every chain starts there.
    axes : array of shape (d, k)
        Directions are random combinations of these columns.
    members, accept
        The region on lines, and membership of points: what is returned has been accepted.
    size, thinning : int
        Number of samples, and of steps between two samples of a chain.
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(
            complaint("size", "is no count", "an integer >= 1", repr(size), "Pass e.g. size=1000.")
        )
    rng = np.random.default_rng(as_seed(random_state))
    chains = np.tile(start, (min(_CHAINS, int(size)), 1))
    kept: list[Array] = []
    total = 0
    while total < size:
        for _ in range(thinning):
            directions = rng.standard_normal((len(chains), axes.shape[1])) @ axes.T
            for j, spans in enumerate(members(chains, directions)):
                chains[j] = chains[j] + _uniform(spans, rng) * directions[j]
        inside = chains[np.asarray(accept(chains))]
        kept.append(inside.copy())
        total += len(inside)
    return np.concatenate(kept)[:size]


def _uniform(spans: Array, rng: np.random.Generator) -> float:
    """Return a uniform point of a union of bounded intervals; 0 if rounding left nothing."""
    length = spans[:, 1] - spans[:, 0]
    if not len(spans) or length.sum() == 0:
        return 0.0
    chosen = rng.choice(len(spans), p=length / length.sum())
    return float(rng.uniform(spans[chosen, 0], spans[chosen, 1]))
