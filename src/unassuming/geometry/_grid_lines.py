"""Intersect a region with lines when only membership can be tested: a grid, then bracketing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from unassuming._batches import slices
from unassuming._typing import Array, IntArray
from unassuming.geometry._lines import Lines

DECADES, PER_DECADE = 6, 24
"""The grid spans this many decades on either side of the unit, with so many points in each."""
SECTIONS, ROUNDS = 4, 30
"""A bracket is divided into so many parts at once, and that so many times."""
_ROUGH = 3, 6
"""The points in a decade and the divisions of brackets that are enough for a search."""
_TOGETHER = 64  # lines


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
    unit: Callable[[Array], Array] | None = None  # directions (N, d) -> typical t on them (N,)
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
        out: list[list[Array]] = [[] for _ in qs]
        for some in slices(len(origins), _TOGETHER):
            found = self._together(origins[some], directions[some], np.asarray(qs))
            for spans, more in zip(out, found, strict=True):
                spans.extend(more)
        return out

    def first_exits(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return the ends of the intervals that contain zero; points beyond are not asked about."""
        levels = np.asarray(qs)
        found = np.full((len(qs), len(origins)), -np.inf)
        grid = np.concatenate([[0.0], self._grid()])
        for some in slices(len(origins), _TOGETHER):
            o, d = origins[some], directions[some]
            t = self._units(o, d)[:, None] * grid
            last = np.full((len(qs), len(o)), -1)  # the last point before the first exit
            going = np.arange(len(o))
            for part in slices(len(grid), self.per_decade):
                rank = self.ranks(
                    _points(o[going], d[going], t[going, part]).reshape(-1, o.shape[1])
                )
                rank = rank.reshape(len(going), -1)
                member = rank <= (self.m - levels)[:, None, None]
                run = np.logical_and.accumulate(member, axis=-1).sum(axis=-1)
                here = last[:, going] == part.start - 1
                last[:, going] += np.where(here, run, 0)
                going = going[(last[:, going] == part.stop - 1).any(axis=0)]
                if not len(going):
                    break
            runs = np.argwhere(last >= 0)
            which = np.column_stack([runs, last[tuple(runs.T)]])
            found[runs[:, 0], some.start + runs[:, 1]] = self._ends(o, d, t, levels, which, 1)
        return list(found)

    def _together(self, o: Array, d: Array, qs: IntArray) -> list[list[Array]]:
        """Follow several lines at once."""
        grid = self._grid()
        t = self._units(o, d)[:, None] * np.concatenate([-grid[::-1], [0.0], grid])
        rank = self.ranks(_points(o, d, t).reshape(-1, o.shape[1])).reshape(t.shape)
        member = rank <= (self.m - qs)[:, None, None]  # (levels, lines, points)
        none = np.zeros((*member.shape[:2], 1), dtype=np.bool_)
        first = member & ~np.concatenate([none, member[..., :-1]], axis=-1)
        last = member & ~np.concatenate([member[..., 1:], none], axis=-1)
        ends = [
            self._ends(o, d, t, qs, np.argwhere(runs), step)
            for runs, step in ((first, -1), (last, 1))
        ]
        spans = np.stack(ends, axis=1)
        level, line, _ = np.argwhere(first).T
        return [[spans[(level == j) & (line == k)] for k in range(len(o))] for j in range(len(qs))]

    def _grid(self) -> Array:
        """Return the positive points of the grid, in units of each line."""
        return np.geomspace(10.0**-DECADES, 10.0**DECADES, 2 * DECADES * self.per_decade + 1)

    def _units(self, o: Array, d: Array) -> Array:
        """Return the t in the middle of the grid of each line."""
        size = np.abs(d).max(axis=1)
        plain = np.maximum(np.abs(o).max(axis=1), 1.0) / np.where(size > 0, size, 1.0)
        return np.asarray(np.where(size > 0, plain if self.unit is None else self.unit(d), 1.0))

    def _ends(self, o: Array, d: Array, t: Array, qs: IntArray, runs: IntArray, step: int) -> Array:
        """Refine the ends of runs of members, each given by its level, line and point."""
        level, line, point = runs.T
        inside = t[line, point]
        beyond = t[line, np.clip(point + step, 0, t.shape[1] - 1)]
        open_ended = inside == beyond
        parts = np.arange(1, SECTIONS) / SECTIONS
        for _ in range(self.rounds):
            inner = inside[:, None] + (beyond - inside)[:, None] * parts
            between = (inner != inside[:, None]) & (inner != beyond[:, None])
            going = np.flatnonzero(between.any(axis=1))
            if not len(going):
                break
            at, inner = line[going], inner[going]
            rank = self.ranks(_points(o[at], d[at], inner).reshape(-1, o.shape[1]))
            hit = rank.reshape(inner.shape) <= (self.m - qs[level[going]])[:, None]
            kept = np.logical_and.accumulate(hit, axis=1).sum(axis=1)  # up to the first gap
            ladder = np.column_stack([inside[going], inner, beyond[going]])
            row = np.arange(len(ladder))
            inside[going], beyond[going] = ladder[row, kept], ladder[row, kept + 1]
        return np.asarray(np.where(open_ended, np.copysign(np.inf, inside), inside))


def _points(o: Array, d: Array, t: Array) -> Array:
    """Return o + t d for lines (N, d) and t (N, k), shape (N, k, d)."""
    return np.asarray(o[:, None, :] + t[:, :, None] * d[:, None, :])
