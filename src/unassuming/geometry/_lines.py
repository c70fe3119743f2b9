"""The interface that every way of intersecting a region with lines implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from unassuming._typing import Array


class Lines(ABC):
    """The intersections of a region with lines, at any levels."""

    exact: ClassVar[bool] = True
    """Whether the intervals are exact rather than found on a grid."""

    @property
    def rough(self) -> Lines:
        """The same for a search, to which ends of a few digits are enough."""
        return self

    @property
    def candidates(self) -> int:
        """About how many candidates are ranked on a line; 0 if none has to be."""
        return 0

    @abstractmethod
    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the closed intervals of t on origins + t directions (N, d), for each q and line.

        Each is an array (k, 2), sorted and disjoint, of the t that lie in at least q of the sets
        {Z_0 ≼ Z_i}: closures of open intervals of members. A breakpoint (or t = 0) outside them is
        added as [t, t] if it is a member, unless ``points`` is False.
        """

    def first_exits(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q the end of the interval of t >= 0 that contains zero, (N,).

        Minus infinity, or zero, if zero is in no interval.
        """
        every = self.intervals(origins, directions, qs, points=False)
        return [np.array([_end(spans) for spans in lines]) for lines in every]


def _end(spans: Array) -> float:
    """Return the end of the interval that contains zero; zero if there is none."""
    here = (spans[:, 0] <= 0) & (spans[:, 1] >= 0)
    return float(spans[here, 1][0]) if here.any() else 0.0
