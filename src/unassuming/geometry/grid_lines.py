"""A region on lines where only membership is known: a grid, then bracketing (docs/theory.md 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from unassuming._batches import slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.lines import Lines

DECADES, PER_DECADE = 6, 24
"""The grid spans this many decades on either side of the unit, with so many points in each."""
_SECTIONS, _ROUNDS = 4, 30
"""A bracket is divided into so many parts at once, and that so many times."""
_TOGETHER = 64  # lines
_GRID = np.geomspace(10.0**-DECADES, 10.0**DECADES, 2 * DECADES * PER_DECADE + 1)


@final
@dataclass(frozen=True, eq=False)
class GridLines(Lines):
    """Approximate intervals: an interval or a gap between two points of the grid may be missed."""

    # Every end is bracketed between a member and a non-member, to the last digits, and the member
    # is returned. A member at the end of the grid counts as unbounded.
    exact: ClassVar[bool] = False

    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,)
    m: int

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals that the grid finds."""
        out: list[list[Array]] = [[] for _ in qs]
        for some in slices(len(origins), _TOGETHER):
            o, d = origins[some], directions[some]
            t = _units(o, d) * np.concatenate([-_GRID[::-1], [0.0], _GRID])
            rank = self._ranks(o, d, t)
            for found, q in zip(out, qs, strict=True):
                found += self._spans(o, d, t, rank <= self.m - q, q)
        return out

    def first_exits(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return the ends of the intervals that contain zero; what is beyond is not asked for."""
        t = _units(origins, directions) * np.append(0.0, _GRID)
        rank, going = np.full(t.shape, self.m), np.arange(len(t))
        for some in slices(t.shape[1], PER_DECADE):
            rank[going, some] = self._ranks(origins[going], directions[going], t[going, some])
            inside = rank[going, some] <= self.m - min(qs)
            going = going[inside.all(axis=1)]
        found = []
        for q in qs:
            last = np.logical_and.accumulate(rank <= self.m - q, axis=1).sum(axis=1) - 1
            line = np.flatnonzero(last >= 0)
            at, behind = last[line], np.minimum(last[line] + 1, t.shape[1] - 1)
            ends = t[line, at], t[line, behind]
            found.append(np.zeros(len(t)))
            found[-1][line] = self._end(origins[line], directions[line], *ends, q)
        return found

    def _ranks(self, o: Array, d: Array, t: Array) -> IntArray:
        """Return the ranks of o + t d for lines (N, d) and t (N, k)."""
        points = o[:, None] + t[:, :, None] * d[:, None]
        return self.ranks(points.reshape(-1, o.shape[1])).reshape(t.shape)

    def _spans(self, o: Array, d: Array, t: Array, member: BoolArray, q: int) -> list[Array]:
        """Return the runs of members (N, points) of each line, with refined ends."""
        step = np.diff(np.pad(member.astype(np.intp), ((0, 0), (1, 1))), axis=1)
        line, first = np.nonzero(step > 0)
        last = np.nonzero(step < 0)[1] - 1
        before, behind = np.maximum(first - 1, 0), np.minimum(last + 1, t.shape[1] - 1)
        ends = [
            self._end(o[line], d[line], t[line, point], t[line, beyond], q)
            for point, beyond in ((first, before), (last, behind))
        ]
        return np.split(np.stack(ends, axis=1), np.searchsorted(line, np.arange(1, len(o))))

    def _end(self, o: Array, d: Array, inside: Array, beyond: Array, q: int) -> Array:
        """Return the last member between a member and a point that is none; infinite for none."""
        endless, rows = inside == beyond, np.arange(len(o))
        parts = np.arange(_SECTIONS + 1) / _SECTIONS
        for _ in range(_ROUNDS if len(o) else 0):
            ladder = inside[:, None] + (beyond - inside)[:, None] * parts
            ladder[:, -1] = beyond
            if ((ladder == inside[:, None]) | (ladder == beyond[:, None])).all():
                break
            hit = self._ranks(o, d, ladder[:, 1:-1]) <= self.m - q
            kept = np.logical_and.accumulate(hit, axis=1).sum(axis=1)  # up to the first gap
            inside, beyond = ladder[rows, kept], ladder[rows, kept + 1]
        return np.where(endless, np.copysign(np.inf, inside), inside)


def _units(o: Array, d: Array) -> Array:
    """Return the t in the middle of the grid of lines o + t d, (N, 1)."""
    size = np.abs(d).max(axis=1, keepdims=True)
    unit = np.maximum(np.abs(o).max(axis=1, keepdims=True), 1.0)
    return np.where(size > 0, unit / np.where(size > 0, size, 1.0), 1.0)
