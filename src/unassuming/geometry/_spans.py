"""Where enough of many piecewise quadratics are positive: signs, a sweep, closed intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray

SLIVER = 1e-11
"""Relative length below which an interval, or a gap between two, is rounding.

Where a quadratic vanishes at the end of its piece, its root is found a little inside or outside."""


def sign_changes(
    A: Array, B: Array, C: Array, lo: Array, hi: Array, tie: BoolArray
) -> tuple[BoolArray, Array]:
    """Return whether At² + Bt + C is positive just after lo, and where in (lo, hi) it changes.

    The second is of shape (..., 2) and in order, NaN for roots that do not exist or lie outside; a
    double root counts twice. A quadratic that is zero throughout is decided by ``tie``.
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
    # The sign at minus infinity changes at every root: parity tells all other signs.
    start = np.where(A != 0, A > 0, np.where(B != 0, B < 0, np.where(C != 0, C > 0, tie)))
    with np.errstate(invalid="ignore"):
        before = (roots <= lo[..., None]).sum(axis=-1)
        inside = (roots > lo[..., None]) & (roots < hi[..., None])
    roots = np.sort(np.where(inside, roots, np.nan), axis=-1)
    return start ^ (before % 2 == 1), roots


def sweep(group: IntArray, t: Array, change: IntArray, q: int) -> tuple[IntArray, Array]:
    """Return the stretches between events where the running count of a group is at least q.

    The first event of each group carries the count that it starts with, the last one closes it.
    Returns the groups and the stretches (k, 2), in order. A stretch of length zero is a point at
    which closed sets only touch.
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


@dataclass(frozen=True, eq=False)
class Spans:
    """Closed intervals on several lines: sorted and disjoint on each, in the order of the lines."""

    line: IntArray  # (k,)
    ends: Array  # (k, 2)

    @classmethod
    def joined(cls, line: IntArray, ends: Array, slack: float = SLIVER) -> Spans:
        """Sort intervals that overlap in no more than their ends, and join those that touch.

        They touch if they are no farther apart than ``slack``, relative to their ends.
        """
        if len(line) == 0:
            return cls(line, ends.reshape(0, 2))
        order = np.lexsort((ends[:, 1], ends[:, 0], line))
        line, (lo, hi) = line[order], ends[order].T
        apart = (line[1:] != line[:-1]) | (lo[1:] > hi[:-1] + slack * _size(lo[1:], hi[:-1]))
        first = np.flatnonzero(np.concatenate([[True], apart]))
        last = np.flatnonzero(np.concatenate([apart, [True]]))
        return cls(line[first], np.stack([lo[first], hi[last]], axis=1))

    def proper(self) -> BoolArray:
        """Which of them are longer than rounding."""
        return np.asarray(self.ends[:, 1] > self.ends[:, 0] + SLIVER * _size(*self.ends.T))

    def take(self, which: BoolArray) -> Spans:
        """Return some of them."""
        return Spans(self.line[which], self.ends[which])

    def moved(self, shift: Array) -> Spans:
        """Return them with every line's own shift added."""
        return Spans(self.line, self.ends + shift[self.line][:, None])

    def with_points(self, line: IntArray, t: Array) -> Spans:
        """Return them with points added as [t, t]."""
        return Spans.joined(
            np.concatenate([self.line, line]),
            np.concatenate([self.ends, np.stack([t, t], axis=1)]),
            slack=8 * EPS,
        )

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
