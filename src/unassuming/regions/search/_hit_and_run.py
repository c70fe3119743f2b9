"""Members of a region by hit-and-run on its exact lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.inputs import as_seed

Members = Callable[[Array, Array], list[Array]]
"""(origins, directions), each (N, d), to the intervals of t inside the region, N arrays (k, 2)."""

Directions = Callable[[np.random.Generator, Array], Array]
"""Random directions (N, d) for chains at points (N, d)."""

Excursions = Callable[[np.random.Generator, Array], Array]
"""More points (E, d), reached from chains at points (N, d), which stay where they are."""

_CHAINS = 16


def hit_and_run(
    start: Array,
    directions: Directions,
    members: Members,
    accept: Callable[[Array], Any],
    size: int,
    random_state: Any,
    thinning: int,
    excursions: Excursions | None = None,
) -> Array:
    """Return members of a region, shape (size, d): every one of them was accepted.

    All chains begin at the member ``start`` (d,). A chain makes ``thinning`` steps between two
    samples; if its point is not accepted, it goes back to its last accepted one.
    """
    rng = np.random.default_rng(as_seed(random_state))
    chains = np.tile(start, (min(_CHAINS, int(size)), 1))

    def draws() -> Iterator[tuple[slice, Array]]:
        total = 0
        while total < size:
            last = chains.copy()
            walk(chains, directions, members, rng, thinning)
            accepted = np.asarray(accept(chains))
            chains[~accepted] = last[~accepted]
            inside = chains[accepted]
            if excursions is not None:
                more = excursions(rng, inside)
                inside = np.concatenate([inside, more[np.asarray(accept(more))]])
            yield slice(total, min(total + len(inside), size)), inside
            total += len(inside)

    return np.concatenate([inside for _, inside in progress(draws(), size, "samples")])[:size]


def walk(
    chains: Array, directions: Directions, members: Members, rng: np.random.Generator, steps: int
) -> None:
    """Move each chain (N, d) to a uniform point of the region on a random line, ``steps`` times."""
    for _ in range(steps):
        moves = directions(rng, chains)
        for j, spans in enumerate(members(chains, moves)):
            chains[j] = chains[j] + uniform_point(spans, rng) * moves[j]


def uniform_point(spans: Array, rng: np.random.Generator) -> float:
    """Return a uniform point of a union of bounded intervals; 0 if their length is zero."""
    length = spans[:, 1] - spans[:, 0]
    if not len(spans) or length.sum() == 0:
        return 0.0
    chosen = rng.choice(len(spans), p=length / length.sum())
    return float(rng.uniform(spans[chosen, 0], spans[chosen, 1]))
