"""A region on lines where only membership is known: a grid, then bracketing (docs/theory.md 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from unassuming._batches import slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.lines import Lines

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
        """About how many candidates are ranked on a line of two ends."""
        return 4 * DECADES * self.per_decade + 2 * (SECTIONS - 1) * self.rounds

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals that the grid finds."""
        out: list[list[Array]] = [[] for _ in qs]
        for some in slices(len(origins), _TOGETHER):
            o, d = origins[some], directions[some]
            half = np.geomspace(10.0**-DECADES, 10.0**DECADES, 2 * DECADES * self.per_decade + 1)
            t = self._units(o, d)[:, None] * np.concatenate([-half[::-1], [0.0], half])
            rank = self._ranks(o, d, t)
            for found, q in zip(out, qs, strict=True):
                found += self._spans(o, d, t, rank <= self.m - q, q)
        return out

    def _ranks(self, o: Array, d: Array, t: Array) -> IntArray:
        """Return the ranks of o + t d for lines (N, d) and t (N, k)."""
        points = o[:, None] + t[:, :, None] * d[:, None]
        return self.ranks(points.reshape(-1, o.shape[1])).reshape(t.shape)

    def _spans(self, o: Array, d: Array, t: Array, member: BoolArray, q: int) -> list[Array]:
        """Return the runs of members (N, points) of each line, with refined ends."""
        step = np.diff(np.pad(member.astype(np.intp), ((0, 0), (1, 1))), axis=1)
        line, first = np.nonzero(step > 0)
        last = np.nonzero(step < 0)[1] - 1
        ends = [
            self._end(o[line], d[line], t[line, point], t[line, beyond], q)
            for point, beyond in (
                (first, np.maximum(first - 1, 0)),
                (last, np.minimum(last + 1, t.shape[1] - 1)),
            )
        ]
        return np.split(np.stack(ends, axis=1), np.searchsorted(line, np.arange(1, len(o))))

    def _end(self, o: Array, d: Array, inside: Array, beyond: Array, q: int) -> Array:
        """Return the last member between a member and a point that is none; infinite for none."""
        endless, parts, rows = (
            inside == beyond,
            np.arange(SECTIONS + 1) / SECTIONS,
            np.arange(len(o)),
        )
        for _ in range(self.rounds if len(o) else 0):
            ladder = inside[:, None] + (beyond - inside)[:, None] * parts
            ladder[:, -1] = beyond
            if ((ladder == inside[:, None]) | (ladder == beyond[:, None])).all():
                break
            hit = self._ranks(o, d, ladder[:, 1:-1]) <= self.m - q
            kept = np.logical_and.accumulate(hit, axis=1).sum(axis=1)  # up to the first gap
            inside, beyond = ladder[rows, kept], ladder[rows, kept + 1]
        return np.where(endless, np.copysign(np.inf, inside), inside)

    def _units(self, o: Array, d: Array) -> Array:
        """Return the t in the middle of the grid of each line."""
        size = np.abs(d).max(axis=1)
        plain = np.maximum(np.abs(o).max(axis=1), 1.0) / np.where(size > 0, size, 1.0)
        return np.asarray(np.where(size > 0, plain if self.unit is None else self.unit(d), 1.0))
