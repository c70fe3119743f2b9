"""Intersect a region with lines when only membership can be tested: a grid, then bracketing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._lines import Lines

DECADES, PER_DECADE = 6, 24
"""The grid spans this many decades on either side of the unit, with so many points in each."""
SECTIONS, ROUNDS = 4, 30
"""A bracket is divided into so many parts at once, and that so many times."""
_ROUGH = 3, 6
"""The points in a decade and the divisions of brackets that are enough for a search."""


@final
@dataclass(frozen=True, eq=False)
class GridLines(Lines):
    """Approximate intervals: an interval or a gap between two points of the grid may be missed.

    Every end is bracketed between a member and a non-member, to the last digits, and the member is
    returned. A member at the end of the grid counts as unbounded.
    """

    exact: ClassVar[bool] = False

    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,)
    m: int
    per_decade: int = PER_DECADE
    rounds: int = ROUNDS

    @property
    def rough(self) -> GridLines:
        """A grid of fewer points, and ends of about three digits; every end is a member still."""
        per_decade, rounds = _ROUGH
        return replace(self, per_decade=per_decade, rounds=rounds)

    @property
    def candidates(self) -> int:
        """The points of the grid, and those that divide the brackets of two ends."""
        return 4 * DECADES * self.per_decade + 2 * (SECTIONS - 1) * self.rounds

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals that the grid finds."""
        del points
        grid = np.geomspace(10.0**-DECADES, 10.0**DECADES, 2 * DECADES * self.per_decade + 1)
        out: list[list[Array]] = [[] for _ in qs]
        for o, d in zip(origins, directions, strict=True):
            size = np.abs(d).max()
            unit = max(float(np.abs(o).max()), 1.0) / size if size > 0 else 1.0
            t = unit * np.concatenate([-grid[::-1], [0.0], grid])
            rank = self.ranks(o + t[:, None] * d)
            for found, q in zip(out, qs, strict=True):
                found.append(self._bisect(o, d, t, rank <= self.m - q, q))
        return out

    def _bisect(self, o: Array, d: Array, t: Array, member: BoolArray, q: int) -> Array:
        """Refine the ends of each run of members among the points t of the grid."""
        starts = np.flatnonzero(member & ~np.r_[False, member[:-1]])
        stops = np.flatnonzero(member & ~np.r_[member[1:], False])
        inside = t[np.r_[starts, stops]]
        beyond = t[np.r_[np.maximum(starts - 1, 0), np.minimum(stops + 1, len(t) - 1)]]
        open_ended = inside == beyond
        parts = np.arange(1, SECTIONS) / SECTIONS
        for _ in range(self.rounds):
            inner = inside[:, None] + (beyond - inside)[:, None] * parts
            if not ((inner != inside[:, None]) & (inner != beyond[:, None])).any():
                break
            candidates = o + inner.reshape(-1, 1) * d
            hit = (self.ranks(candidates) <= self.m - q).reshape(inner.shape)
            kept = np.logical_and.accumulate(hit, axis=1).sum(axis=1)  # up to the first gap
            ladder = np.column_stack([inside, inner, beyond])
            row = np.arange(len(ladder))
            inside, beyond = ladder[row, kept], ladder[row, kept + 1]
        inside = np.where(open_ended, np.copysign(np.inf, inside), inside)
        return np.stack(np.split(inside, 2), axis=1)
