"""Members of a region by hit-and-run on its lines: every one of them was accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._progress import progress
from unassuming._typing import Array, BoolArray
from unassuming.objectives.norm_ball import NormBall

Members = Callable[[Array, Array], list[Array]]
"""(origins, directions), each (N, d), to the intervals of t inside the region, N arrays (k, 2)."""

_CHAINS = 16


def hit_and_run(
    start: Array,
    axes: Array,
    members: Members,
    accept: Callable[[Array], BoolArray],
    size: int,
    rng: np.random.Generator,
    thinning: int,
) -> Array:
    """Return members (size, d), from chains that begin at the member ``start`` (d,).

    Directions are normal combinations of ``axes`` (k, d). A chain makes ``thinning`` steps between
    two samples; if its point is not accepted, it goes back to its last accepted one.
    """
    chains = np.tile(start, (min(_CHAINS, size), 1))

    def draws() -> Iterator[tuple[slice, Array]]:
        total = 0
        while total < size:
            last = chains.copy()
            for _ in range(thinning):
                _step(chains, rng.normal(size=(len(chains), len(axes))) @ axes, members, rng)
            accepted = accept(chains)
            chains[~accepted] = last[~accepted]
            yield slice(total, min(total + len(chains), size)), chains[accepted]
            total += int(accepted.sum())

    return np.concatenate([inside for _, inside in progress(draws(), size, "samples")])[:size]


def _step(chains: Array, moves: Array, members: Members, rng: np.random.Generator) -> None:
    """Move each chain (N, d) to a uniform point of the region on its line."""
    for j, spans in enumerate(members(chains, moves)):
        length = spans[:, 1] - spans[:, 0]
        if np.isinf(length).any():
            raise NotAvailable(
                "sampling needs a bounded region, and this one has a line without end: ask for a "
                "lower level, or pass norm_bound=B to sample within the ball."
            )
        if length.sum() > 0:
            one = rng.choice(len(spans), p=length / length.sum())
            chains[j] += rng.uniform(*spans[one]) * moves[j]


def confined(members: Members, ball: NormBall, bound: float) -> Members:
    """Return the parts of the lines in the ball of that norm."""
    root = np.sqrt(ball.nu)[:, None] * ball.forward

    def inside(origins: Array, directions: Array) -> list[Array]:
        x, u = origins @ root.T, directions @ root.T
        a, b = (u * u).sum(axis=1), (x * u).sum(axis=1)
        room = np.maximum(bound * bound - (x * x).sum(axis=1), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            half = np.sqrt(b * b + a * room)
            ends = np.where(a > 0, np.stack([-b - half, half - b]) / a, [[-np.inf], [np.inf]])
        found = []
        for spans, low, high in zip(members(origins, directions), *ends, strict=True):
            some = spans[(spans[:, 0] <= high) & (spans[:, 1] >= low)]
            found.append(some.clip(low, high))
        return found

    return inside
