"""At which levels a region is bounded, as far as that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array
from unassuming.regions import Region


@dataclass(frozen=True)
class Ends:
    """Regions up to one rank are bounded, from another on they are not; between, nobody knows.

    Attributes
    ----------
    bounded : int
        The region of level bounded/m and all smaller ones are bounded; 0 if none is known to be.
    unbounded : int
        The region of level unbounded/m and all larger ones are not; m if none is known not to be.
    """

    bounded: int
    unbounded: int

    def at(self, rank: int) -> str:
        """Say whether the region that holds the ranks up to this one is bounded."""
        if rank <= self.bounded:
            return "yes"
        return "no" if rank >= self.unbounded else "not known"

    def sentence(self, m: int) -> str:
        """Say it for all levels."""
        if self.unbounded == 1:
            return "bounded at no level"
        if self.bounded >= m - 1:
            return "bounded at every level"
        if self.bounded + 1 == self.unbounded:
            return f"bounded up to level {self.bounded / m:g}"
        if self.unbounded == m:
            return "no line without end was found"
        return f"unbounded from level {self.unbounded / m:g} on, below not known"


def ends(region: Region) -> Ends:
    """Find out where a region ends to be bounded.

    Quadratic regions have a criterion (docs/theory.md 4.4). Of the others some lines through the
    estimate are followed: one without end proves that the region has none, from its level on. (With
    Ψ = I the statistics of LASSO grow quadratically, and along the eigenvector of K with the
    smallest eigenvalue none grows less than Z_0.)
    """
    if region.shape.star_convex:
        bounded = round(region.max_bounded_level * region.m)
        return Ends(bounded, bounded + 1)
    unbounded = region.m
    for direction in _directions(region):
        if unbounded > 1 and _open(region, direction, range(unbounded - 1, unbounded)):
            unbounded = min(_open(region, direction, range(1, unbounded)))
    return Ends(0, unbounded)


def _open(region: Region, direction: Array, ranks: range) -> list[int]:
    """Return the ranks up to which a region has no end on this line through the estimate."""
    spans = region.crossings(direction, level=[rank / region.m for rank in ranks])
    return [r for r, span in zip(ranks, spans.values(), strict=True) if np.isinf(span).any()]


def _directions(region: Region) -> Array:
    """Eigenvectors of the kernel matrix, single fitted values, single coefficients."""
    objective, design = region.objective, region.problem.design("the directions need")
    vectors = np.linalg.eigh(design.matrix)[1].T
    values = objective.coefficients(np.eye(region.n))
    return np.concatenate([vectors, values, np.eye(objective.d)])
