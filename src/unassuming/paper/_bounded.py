"""The levels at which a region is known to be bounded or unbounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array
from unassuming.regions import Region


@dataclass(frozen=True)
class Ends:
    """Regions up to level bounded/m are bounded, those from level unbounded/m on are not.

    For levels in between, boundedness is not known; bounded is 0, or unbounded is m, if no region
    is known to be so.
    """

    bounded: int
    unbounded: int

    def at(self, rank: int) -> str:
        """Report whether the region with the ranks up to this one is bounded."""
        if rank <= self.bounded:
            return "yes"
        return "no" if rank >= self.unbounded else "not known"

    def sentence(self, m: int) -> str:
        """Describe boundedness at all levels."""
        if self.unbounded == 1:
            return "unbounded at every level"
        if self.bounded >= m - 1:
            return "bounded at every level"
        if self.bounded + 1 == self.unbounded:
            return f"bounded up to level {self.bounded / m:g}"
        if self.unbounded == m:
            return "no unbounded direction was found"
        return f"unbounded from level {self.unbounded / m:g} on, not known below"


def ends(region: Region) -> Ends:
    """Find the levels at which a region is bounded and unbounded.

    Quadratic regions have a criterion (docs/theory.md 4.4). For the others some lines through the
    estimate are examined: one that is unbounded at a level proves that regions are unbounded from
    this level on. (With Ψ = I the statistics of LASSO grow quadratically, and along the eigenvector
    of K with the smallest eigenvalue none grows more slowly than Z_0.)
    """
    if region.shape.star_convex:
        bounded = round(region.max_bounded_level * region.m)
        return Ends(bounded, bounded + 1)
    unbounded = region.m
    for direction in _directions(region):
        if unbounded > 1 and _unbounded(region, direction, range(unbounded - 1, unbounded)):
            unbounded = min(_unbounded(region, direction, range(1, unbounded)))
    return Ends(0, unbounded)


def _unbounded(region: Region, direction: Array, ranks: range) -> list[int]:
    """Return those ranks whose region is unbounded along this line through the estimate."""
    spans = region.crossings(direction, level=[rank / region.m for rank in ranks])
    return [r for r, span in zip(ranks, spans.values(), strict=True) if np.isinf(span).any()]


def _directions(region: Region) -> Array:
    """Return eigenvectors of the kernel matrix, single fitted values, single coefficients."""
    objective, design = region.objective, region.problem.design("the directions need")
    vectors = np.linalg.eigh(design.matrix)[1].T
    values = objective.coefficients(np.eye(region.n))
    return np.concatenate([vectors, values, np.eye(objective.d)])
