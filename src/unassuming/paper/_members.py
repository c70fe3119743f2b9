"""Random coefficients around the estimate, each with its rank, as the article draws regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.regions import Region

_BATCH = 2**12
_PILOTS = 256
_SHARE = 0.9
"""Median level of the candidates with the largest scale, at least."""

Follow: TypeAlias = Callable[[Iterable[Any], str, int], Iterator[Any]]
"""``follow(work, what, total)`` yields the work and may show the progress."""


@dataclass(frozen=True, eq=False)
class Members:
    """The number of candidates of each rank, (m + 1,); those of rank m are in no region."""

    counts: IntArray

    @property
    def total(self) -> int:
        """The number of candidates."""
        return int(self.counts.sum())

    def up_to(self, rank: int) -> int:
        """Return the number of candidates with at most this rank."""
        return int(self.counts[: rank + 1].sum())


def evaluate(
    region: Region,
    size: int,
    rng: np.random.Generator,
    mark: Callable[[Array, IntArray], None],
    follow: Follow,
    what: str,
) -> Members:
    """Rank ``size`` random candidates; pass those in some region to ``mark``.

    A candidate is the estimate plus s times a standard normal vector, where s is uniform between 0
    and a scale at which the median candidate has level 0.9, so that every level is reached.
    """
    scale = reaching_scale(region, rng)
    counts = np.zeros(region.m + 1, dtype=np.intp)
    starts = range(0, size, _BATCH)
    for start in follow(starts, what, len(starts)):
        count = min(_BATCH, size - start)
        a = around(region.estimate, scale * rng.uniform(size=(count, 1)), rng)
        ranks = region.rank(a)
        counts += np.bincount(ranks, minlength=region.m + 1)
        inside = ranks < region.m
        mark(a[inside], ranks[inside])
    return Members(counts)


def around(estimate: Array, scale: Any, rng: np.random.Generator) -> Array:
    """Draw one candidate for each scale (N, 1)."""
    return np.asarray(estimate + scale * rng.normal(size=(len(scale), len(estimate))))


def reaching_scale(region: Region, rng: np.random.Generator) -> float:
    """Return the smallest power of two at which the median candidate has level 0.9."""
    for power in range(-10, 11):
        a = around(region.estimate, np.full((_PILOTS, 1), 2.0**power), rng)
        if np.median(region.rank(a)) >= _SHARE * region.m:
            break
    return 2.0**power
