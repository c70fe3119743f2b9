"""Where at least q of many piecewise quadratics are positive, as closed intervals on lines.

The signs of the quadratics give events: places where a set is entered or left. A sweep over the
events in order counts the sets, and the stretches with at least q of them are joined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray

SLIVER = 1e-11
"""Relative length below which an interval, or a gap between two, is rounding.

Where a quadratic vanishes at the end of its piece, its root is found a little inside or outside."""


def sign_changes(
    A: Array, B: Array, C: Array, lo: Array, hi: Array, tie: BoolArray
) -> tuple[BoolArray, Array, IntArray]:
    """Find where At² + Bt + C changes its sign in (lo, hi).

    Returns whether it is positive just after lo; the roots (..., 2) in order, NaN for those that
    do not exist or lie outside (a double root counts twice); and 1 or -1 for a root after which it
    is positive or negative. A quadratic that is zero throughout is decided by ``tie``.
    """
    largest = np.maximum(np.maximum(np.abs(A), np.abs(B)), np.abs(C))
    shrink = np.ldexp(1.0, -np.frexp(largest)[1])  # a power of two: no square overflows
    A, B, C = A * shrink, B * shrink, C * shrink
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(B * B - 4 * A * C)  # NaN without roots
        far = -(B + np.where(B >= 0, root, -root)) / 2
        one = np.where(A != 0, far / A, -C / B)
        two = np.where(A != 0, np.where(far != 0, C / far, 0.0), np.nan)  # without cancellation
        one = np.where(np.isfinite(one), one, np.nan)
        roots = np.sort(np.stack([one, two], axis=-1), axis=-1)  # NaN comes last
        before = (roots <= lo[..., None]).sum(axis=-1)
        inside = (roots > lo[..., None]) & (roots < hi[..., None])
    # The sign at minus infinity changes at every root, so parity gives all other signs.
    start = np.where(A != 0, A > 0, np.where(B != 0, B < 0, np.where(C != 0, C > 0, tie)))
    positive = start ^ (before % 2 == 1)
    roots = np.sort(np.where(inside, roots, np.nan), axis=-1)
    falls = np.stack([positive, positive ^ ~np.isnan(roots[..., 0])], axis=-1)
    return positive, roots, np.where(falls, -1, 1)


def sweep(group: IntArray, t: Array, change: IntArray, q: int) -> tuple[IntArray, Array]:
    """Return the stretches between events where the running count of a group is at least q.

    The first event of each group carries its initial count, and the last one closes it. Returns
    the groups and the stretches (k, 2), in order. A stretch of length zero is a point at which
    closed sets only touch.
    """
    order = np.lexsort((-change, t, group))  # at equal t openings first: closed sets
    group, t, change = group[order], t[order], change[order]
    count = np.cumsum(change)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    base = np.zeros(int(group.max(initial=-1)) + 1, dtype=count.dtype)
    base[group[first]] = count[first] - change[first]
    enough = (count - base[group])[:-1] >= q
    keep = np.flatnonzero(enough & (group[:-1] == group[1:]))
    return group[keep], np.stack([t[keep], t[keep + 1]], axis=1)


@final
@dataclass(frozen=True, eq=False)
class Spans:
    """Closed intervals on several lines: sorted and disjoint on each, in the order of the lines."""

    line: IntArray  # (k,)
    ends: Array  # (k, 2)

    @classmethod
    def joined(cls, line: IntArray, ends: Array, slack: float = SLIVER) -> Spans:
        """Sort intervals that overlap at most in their ends, and join those that touch.

        Two intervals touch if their distance, relative to their ends, is at most ``slack``.
        """
        if len(line) == 0:
            return cls(line, ends.reshape(0, 2))
        order = np.lexsort((ends[:, 1], ends[:, 0], line))
        line, (lo, hi) = line[order], ends[order].T
        apart = (line[1:] != line[:-1]) | (lo[1:] > hi[:-1] + slack * _size(lo[1:], hi[:-1]))
        first = np.flatnonzero(np.concatenate([[True], apart]))
        last = np.flatnonzero(np.concatenate([apart, [True]]))
        return cls(line[first], np.stack([lo[first], hi[last]], axis=1))

    def closed(
        self,
        shift: Array,
        members: Callable[[IntArray, Array], BoolArray] | None,
        likely: Callable[[Spans], tuple[IntArray, Array]] | None = None,
    ) -> Spans:
        """Move every line by its shift, and keep an interval without length only if it is a member.

        Without ``members`` none is kept. With it, t = 0 and other ``likely`` points are asked for
        as well, and members outside the intervals are added as [t, t].
        """
        longer = self.ends[:, 1] > self.ends[:, 0] + SLIVER * _size(*self.ends.T)
        proper = Spans(self.line[longer], self.ends[longer])
        spans = Spans(proper.line, proper.ends + shift[proper.line][:, None])
        if members is None:
            return spans
        touching = self.line[~longer]
        points = [
            (touching, self.ends[~longer, 0] + shift[touching]),
            (np.arange(len(shift)), np.zeros(len(shift))),
            *([] if likely is None else [likely(proper)]),
        ]
        line, t = (np.concatenate(part) for part in zip(*points, strict=True))
        outside = np.isfinite(t) & ~spans.cover(line, t)
        line, t = np.unique(np.stack([line[outside], t[outside]]), axis=1)
        line = line.astype(np.intp)
        if len(line):
            member = members(line, t)
            line, t = line[member], t[member]
        ends = np.concatenate([spans.ends, np.stack([t, t], axis=1)])
        return Spans.joined(np.concatenate([spans.line, line]), ends, slack=8 * EPS)

    def cover(self, line: IntArray, t: Array) -> BoolArray:
        """Whether the points t of these lines lie in one of the intervals."""
        lines = int(max(line.max(initial=-1), self.line.max(initial=-1))) + 1
        first = np.searchsorted(self.line, np.arange(lines))
        number = np.arange(len(self.line)) - first[self.line]
        table = np.full((2, lines, int(number.max(initial=-1)) + 1), np.nan)
        table[:, self.line, number] = self.ends.T
        lo, hi = table[:, line]
        return np.asarray(((lo <= t[:, None]) & (t[:, None] <= hi)).any(axis=1))

    def split(self, lines: int) -> list[Array]:
        """Return the intervals of each line."""
        ends = np.searchsorted(self.line, np.arange(lines + 1))
        return [self.ends[a:b] for a, b in pairwise(ends)]


def _size(x: Array, y: Array) -> Array:
    size = np.maximum(np.abs(x), np.abs(y))
    return np.where(np.isfinite(size), size, 0.0)
